"""Effects of rules: what a part has is added completely."""

from typing import Any

from kasuwa.core.decision import Decision, Effects


def numbered(kind: type[Any], number: int) -> Any:
    """Returns effects that have the number in each field."""
    return kind(**{field: number if field == "numbers_used" else (number,) for field in Effects.__struct_fields__})


def test_all_effects_of_a_part_are_added_after_those_before() -> None:
    decision = numbered(Decision, 1)
    decision.add(numbered(Effects, 2))
    for field in Effects.__struct_fields__:
        assert getattr(decision, field) == (3 if field == "numbers_used" else (1, 2)), field


def test_adding_leaves_the_part_and_what_only_a_decision_has_as_they_are() -> None:
    part, decision = numbered(Decision, 2), Decision[str](reply="own")
    part.reply = "of the part"
    decision.add(part)
    decision.add(part)
    assert decision.reply == "own"
    assert decision.rows == part.rows + part.rows
    assert len(part.rows) == 1
