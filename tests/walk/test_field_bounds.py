"""Every bound of every field's type is tried at, below and above, in every request that has the field."""

import pytest

from tests.walk.field_bounds import bounded_fields, is_accepted, sides_of
from tests.walk.rows import ACTION_ROWS, ActionRow


@pytest.mark.parametrize("row", ACTION_ROWS, ids=lambda row: row.title)
def test_a_field_accepts_what_its_words_say_and_no_more(row: ActionRow) -> None:
    for field in bounded_fields():
        sides = sides_of(field.words) if field.row == row else None
        if sides is not None:
            refused = [value for value in sides.accepted if not is_accepted(field.spec, value)]
            assert refused == [], (field.title, field.words)
            accepted = [value for value in sides.refused if is_accepted(field.spec, value)]
            assert accepted == [], (field.title, field.words)


def test_how_to_try_every_bound_is_known() -> None:
    unknown = {field.words: field.title for field in bounded_fields() if sides_of(field.words) is None}
    assert unknown == {}
    assert len(bounded_fields()) > 400
