"""Validity of JSON bodies: UTF-8 everywhere, and at most 32 levels deep."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.wire.body import MAX_DEPTH, InvalidJson, check_json


def nested(levels: int, kind: str) -> bytes:
    if kind == "arrays":
        return b"[" * levels + b"]" * levels
    if kind == "objects":
        return b'{"a":' * levels + b"1" + b"}" * levels
    return b'{"a":[' * (levels // 2) + b"[]" * (levels % 2) + b"]}" * (levels // 2)


@pytest.mark.parametrize("kind", ["arrays", "objects", "both"])
def test_thirty_two_levels_are_accepted_and_thirty_three_are_not(kind: str) -> None:
    check_json(nested(MAX_DEPTH, kind))
    with pytest.raises(InvalidJson, match="deeper than 32"):
        check_json(nested(MAX_DEPTH + 1, kind))


@pytest.mark.parametrize("levels", [100, 5_000, 200_000])
def test_very_deep_nesting_is_refused(levels: int) -> None:
    for kind in ("arrays", "objects"):
        with pytest.raises(InvalidJson):
            check_json(nested(levels, kind))


def test_many_brackets_side_by_side_are_not_deep() -> None:
    check_json(b'{"data":[' + b",".join([b'{"a":[]}'] * 1_000) + b"]}")


def test_brackets_inside_a_text_are_not_nesting() -> None:
    check_json(b'{"note":"' + b"[{" * 500 + b'"}')


def test_a_deep_part_is_found_next_to_shallow_ones() -> None:
    with pytest.raises(InvalidJson, match="deeper"):
        check_json(b'{"a":1,"b":[1,2,' + nested(MAX_DEPTH - 1, "arrays") + b'],"c":{}}')
    check_json(b'{"a":1,"b":[1,2,' + nested(MAX_DEPTH - 2, "arrays") + b'],"c":{}}')


BAD_UTF8 = [b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80"]


@pytest.mark.parametrize("bad", BAD_UTF8)
@pytest.mark.parametrize("body", [b'{"a":"%b"}', b'{"%b":1}', b'{"a":1}%b', b'%b{"a":1}', b'{"a":["x",{"b":"%b"}]}'])
def test_invalid_utf8_is_refused_anywhere_in_the_body(body: bytes, bad: bytes) -> None:
    with pytest.raises(InvalidJson, match="UTF-8"):
        check_json(body % bad)


json_values: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=3), below, max_size=3),
    max_leaves=60,
)


def depth(value: object) -> int:
    below = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if below is None else 1 + max(map(depth, below), default=0)


@given(json_values, st.integers(min_value=0, max_value=40))
def test_only_the_depth_of_a_json_text_decides(value: object, wrapped: int) -> None:
    for _ in range(wrapped):
        value = [value]
    body = msgspec.json.encode(value)
    if depth(value) > MAX_DEPTH:
        with pytest.raises(InvalidJson):
            check_json(body)
    else:
        check_json(body)
