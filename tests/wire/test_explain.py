"""Field errors of a body: absent fields, whole numbers, error texts, suggested names and bounds."""

from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta, inspect

from kasuwa.core.decision import FieldError, refuse_fields
from kasuwa.wire.body import check_json, unwrap_single_object
from kasuwa.wire.decoding import decode
from kasuwa.wire.documents import Document
from kasuwa.wire.fields import (
    Amount,
    CardNumber,
    LagosDate,
    Limit,
    Otp,
    PercentOrAmount,
    Reference,
    ShortText,
    echo_amount,
)
from tests.rule_context import MERCHANT
from tests.walk.rows import ACTION_ROWS


class Inner(msgspec.Struct, kw_only=True):
    name: ShortText | None = None
    code: Reference | None = None
    flag: bool = False


class Noted(Document):
    known_struct = Inner


class Body(msgspec.Struct, kw_only=True):
    url: ShortText
    otp: Otp | None = None
    limit: Limit | None = None
    times: Annotated[int, Meta(ge=1, le=5, description="1 to 5")] = 1
    amount: Amount | None = None
    day: LagosDate | None = None
    card: CardNumber | None = None
    inner: Inner | None = None
    parts: Annotated[list[Inner], Meta(max_length=3, description="at most 3 parts")] | None = None
    shares: Annotated[dict[str, PercentOrAmount], Meta(max_length=3, description="at most 3 shares")] | None = None
    note: Noted | None = None
    words: list[ShortText] | None = None


def read(**fields: Any) -> Any:
    return decode(Body, msgspec.json.encode({"url": "x", **fields}), (), MERCHANT)


def reasons(**fields: Any) -> dict[str, str]:
    found = read(**fields)
    assert isinstance(found, tuple), found
    return {fault.field: fault.reason for fault in found}


@pytest.mark.parametrize("name", ["otp", "limit", "times", "amount", "day", "card", "inner", "parts", "shares", "note"])
def test_an_empty_text_in_an_optional_field_is_an_absent_field(name: str) -> None:
    assert read(**{name: ""}) == read()


@pytest.mark.parametrize("name", ["inner", "shares", "note"])
def test_an_empty_array_where_an_object_is_expected_is_an_absent_field(name: str) -> None:
    assert read(**{name: []}) == read()


def test_an_empty_array_of_an_array_is_an_empty_array() -> None:
    assert read(parts=[]).parts == []


def test_an_empty_text_in_a_required_field_is_itself() -> None:
    assert read(url="").url == ""


@pytest.mark.parametrize("inner", [{"name": "", "code": "", "flag": ""}, {"name": None, "code": None, "flag": None}])
def test_empty_fields_inside_of_objects_are_absent_there(inner: dict[str, Any]) -> None:
    found = read(inner=inner, parts=[inner, {"code": "c"}], note={**inner, "other": ""})
    assert found.inner == Inner()
    assert found.parts == [Inner(), Inner(code="c")]
    assert found.note == '{"other":""}'
    assert read(inner={"name": ""}, parts=[{"name": ""}]).parts == [Inner()]


@pytest.mark.parametrize("text", ["3", "3.0", '"3"', '"3.0"', "3.000"])
def test_a_whole_number_is_read_however_it_is_written(text: str) -> None:
    found = decode(Body, f'{{"url":"x","limit":{text},"times":{text}}}'.encode(), (), MERCHANT)
    assert (found.limit, found.times) == (3, 3)


@pytest.mark.parametrize("text", ["3.5", '"3.5"', "3e0", '"three"', '" 3"', "true", "[3]", "9", '"9"'])
def test_a_value_that_is_not_a_whole_number_is_refused(text: str) -> None:
    found = decode(Body, f'{{"url":"x","times":{text}}}'.encode(), (), MERCHANT)
    assert [fault.field for fault in found] == ["times"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"otp": 123456}, "text, not a number: 4 to 8 digits"),
        ({"otp": True}, "text, not true or false: 4 to 8 digits"),
        ({"otp": {}}, "text, not an object: 4 to 8 digits"),
        ({"otp": "12"}, "4 to 8 digits"),
        ({"words": [None]}, "text, not null: at most 200 characters"),
        (
            {"card": 5123450000000008},
            "text, not a number: a card number: its digits, with a right length and check digit",
        ),
        ({"day": 20260105}, "text, not a number: a date such as 2026-01-05"),
        ({"times": "many"}, "a whole number, 1 to 5"),
        ({"times": 9}, "1 to 5"),
        ({"inner": "x"}, "an object"),
        ({"parts": {}}, "at most 3 parts"),
    ],
)
def test_a_reason_says_which_kind_of_value_is_wanted(fields: dict[str, Any], reason: str) -> None:
    assert list(reasons(**fields).values()) == [reason]


@pytest.mark.parametrize("sent", ["ulr", "URL", "Url"])
def test_a_near_spelling_of_a_missing_field_is_named(sent: str) -> None:
    [fault] = decode(Body, msgspec.json.encode({sent: "x", "z": 1}), (), MERCHANT)
    assert (fault.field, fault.reason) == ("url", f"required (did you mean it by {sent}?)")
    [fault] = decode(Body, b'{"otp":"1234","color":"x"}', (), MERCHANT)
    assert fault.reason == "required"


def test_elements_of_an_array_that_is_too_long_are_not_decoded() -> None:
    assert reasons(parts=[{"flag": "x"}] * 4, shares=dict.fromkeys("abcd", "x")) == {
        "parts": "at most 3 parts",
        "shares": "at most 3 shares",
    }
    assert reasons(parts=[{}, {"flag": "x"}], shares={"a": "x"}) == {
        "parts.1.flag": "true or false",
        "shares.a": "a number, not negative, with at most four decimals",
    }


@pytest.mark.parametrize("size", [10, 20_000])
def test_a_large_body_is_read_like_a_small_one(size: int) -> None:
    inner = {"name": "n", "code": "c", "flag": True}
    found = read(inner=inner, parts=[inner], shares={"a": 1}, note=inner, amount="1.10", times="2", extra="x" * size)
    assert found.parts == [found.inner] == [Inner(name="n", code="c", flag=True)]
    assert (found.shares, found.amount, found.times, found.note) == (
        {"a": "1"},
        110,
        2,
        '{"name":"n","code":"c","flag":true}',
    )


def test_an_object_that_is_kept_has_a_bound() -> None:
    assert reasons(note={"other": "x" * 65_536}) == {"note": "an object of at most 64 KiB"}
    assert reasons(note={"other": [0] * 33_000}) == {"note": "an object of at most 64 KiB"}
    assert len(read(note={"other": "x" * 65_000}).note) > 65_000


def test_the_message_names_three_errors_and_counts_the_others() -> None:
    faults = [FieldError(f"f{n}", "required") for n in range(60)]
    assert refuse_fields(faults[0]).message == "f0: required"
    refusal = refuse_fields(*faults)
    assert refusal.message == "f0: required; f1: required; f2: required; and 57 more"
    assert len(refusal.field_errors) == 50


@pytest.mark.parametrize("body", [b'[{"a":1}]', b' \n[ {"a":1} ] '])
def test_an_array_of_one_is_its_element(body: bytes) -> None:
    assert msgspec.json.decode(unwrap_single_object(body)) == {"a": 1}


@pytest.mark.parametrize("body", [b'{"a":[1]}', b"[]", b"[{},{}]", b"[{}", b"x", b""])
def test_anything_else_is_left_as_it_is(body: bytes) -> None:
    assert unwrap_single_object(body) == body


def test_a_body_has_a_bound_on_its_parts() -> None:
    check_json(b'{"a":[' + b",".join([b"[]"] * 19_998) + b"]}")
    with pytest.raises(Exception, match="more than 20,000"):
        check_json(b'{"a":[' + b",".join([b"[]"] * 20_000) + b"]}")


@pytest.mark.parametrize(
    ("text", "echoed"),
    [(b"1500", b"1500"), (b"1500.0", b"1500.0"), (b'"1500"', b'"1500"'), (b'"1500.00"', b'"1500.00"')],
)
def test_an_amount_is_echoed_as_it_was_sent(text: bytes, echoed: bytes) -> None:
    request = decode(Body, b'{"url":"x","amount":' + text + b"}", (), MERCHANT)
    assert msgspec.json.encode(echo_amount("1500.00", request.amount)) == echoed
    assert echo_amount("1501.00", request.amount) == "1501.00"


def containers(kind: inspect.Type) -> list[inspect.ListType | inspect.DictType]:
    """The arrays and maps in a request's type, at every depth."""
    found = [kind] if isinstance(kind, inspect.ListType | inspect.DictType) else []
    inner = [field.type for field in kind.fields] if isinstance(kind, inspect.StructType) else []
    inner += [getattr(kind, name) for name in ("type", "item_type", "value_type") if hasattr(kind, name)]
    return found + [one for option in (*inner, *getattr(kind, "types", ())) for one in containers(option)]


def test_every_array_and_map_of_a_request_has_a_bound() -> None:
    """An unbounded one would let a client choose how long the error report takes."""
    found = [(row.title, one) for row in ACTION_ROWS for one in containers(inspect.type_info(row.action.request))]
    assert len(found) > 5
    assert [title for title, one in found if one.max_length is None] == []
