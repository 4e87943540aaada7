"""Excerpts of endpoints' answers: bounded, printable, without secrets."""

import pytest

from kasuwa.webhooks.response_excerpt import MASK, MAX_CHARS, make_excerpt
from tests.walk.bounds import EXCERPT


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("ok", "ok"),
        ('{"error": "unknown order", "code": 42}', '{"error": "unknown order", "code": 42}'),
        ('{"api_key": "abc123", "user": "ada"}', f'{{"api_key": "{MASK}", "user": "ada"}}'),
        ("password=hunter2&user=ada", f"password={MASK}&user=ada"),
        ("Authorization: Bearer abcdefgh.ijkl", f"Authorization: Bearer {MASK}"),
        ("DB_SECRET_KEY = 'long value'", f"DB_SECRET_KEY = '{MASK} value'"),
        ("card 5399 8300 0000 0008 declined", f"card {MASK} declined"),
        ("set whsec_c2VjcmV0IHZhbHVl now", f"set {MASK} now"),
        ("the monkey: banana", "the monkey: banana"),
    ],
)
def test_values_that_look_like_secrets_are_masked(body: str, shown: str) -> None:
    assert make_excerpt(body.encode(), ()) == shown


def test_the_merchants_own_keys_are_masked_wherever_they_are() -> None:
    assert make_excerpt(b"you sent tk_own_key, thanks", [b"tk_own_key"]) == f"you sent {MASK}, thanks"


def test_an_excerpt_is_bounded_and_says_that_it_was_cut() -> None:
    excerpt = make_excerpt(b"x" * 100_000, ())
    assert len(excerpt) <= MAX_CHARS
    assert excerpt.endswith("…")
    assert make_excerpt(b"x" * MAX_CHARS, ()) == "x" * MAX_CHARS


def test_a_secret_at_the_end_of_the_excerpt_is_not_shown_in_part() -> None:
    secret = b"tk_" + b"s" * 60
    for at in range(MAX_CHARS - 70, MAX_CHARS + 10, 7):
        assert "tk_s" not in make_excerpt(b"." * at + secret + b"." * 5_000, [secret])


def test_unprintable_characters_are_replaced() -> None:
    assert make_excerpt(b"a\x00b\x1b[31m\xff", ()) == "a\ufffdb\ufffd[31m\ufffd"


@pytest.mark.parametrize("unit", [b"a", b"key", b"1 ", b"key=", b"'", b"secret_", b"- "])
def test_a_hostile_answer_is_masked_without_backtracking(unit: bytes) -> None:
    """Expressions that backtrack would hold the sender for minutes here."""
    assert len(make_excerpt(unit * 100_000, ())) <= MAX_CHARS


def test_the_first_1000_characters_of_an_answer_are_kept() -> None:
    for size, kept in EXCERPT.sides:
        found = make_excerpt(b"a" * size, [])
        assert (len(found), found.endswith("…")) == (kept, kept < size), size
