"""Decoding of request bodies to structs, and the field errors of invalid ones."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, field

from kasuwa.core.action import FieldRule, PreflightContext
from kasuwa.core.decision import FieldError, Merchant
from kasuwa.merchants.merchant_settings import MerchantSettings, make_merchant
from kasuwa.wire.body import check_json
from kasuwa.wire.decoding import decode
from kasuwa.wire.fields import (
    AMOUNT_REASON,
    PERCENT_OR_AMOUNT_REASON,
    AccountNumber,
    Amount,
    BankCode,
    NonNegativeInt,
    PercentOrAmount,
    Probability,
    Reference,
    ShortText,
    Timestamp,
)

NOW = datetime(2026, 1, 5, tzinfo=UTC)
MERCHANT = make_merchant(1, "GP0000001", "Ada Stores", "test", MerchantSettings())


class Address(msgspec.Struct, kw_only=True):
    street: ShortText
    number: int
    code: BankCode | None = None


class Order(msgspec.Struct, kw_only=True):
    amount: Amount
    account: AccountNumber
    order_ref: Reference | None = field(name="orderRef", default=None)
    note: ShortText | None = None
    color: Literal["red", "blue"] = "red"
    times: Annotated[int, Meta(ge=1, le=5, description="1 to 5")] = 1
    urgent: bool | None = None
    address: Address | None = None


def fits_account(merchant: Merchant, account: str, amount: int) -> str | None:
    return "too much for this account" if account == "0000000000" and amount > 100 else None


RULES = (FieldRule(("account", "amount"), fits_account),)
GOOD: dict[str, Any] = {"amount": "5.00", "account": "0123456789"}


def read(value: object, rules: tuple[FieldRule, ...] = RULES) -> Any:
    return decode(Order, value if isinstance(value, bytes) else msgspec.json.encode(value), rules, MERCHANT)


def errors_of(value: object) -> dict[str, str]:
    found = read(value)
    assert isinstance(found, tuple), found
    assert found, "refused without naming a fault"
    assert all(isinstance(fault, FieldError) for fault in found)
    return {fault.field: fault.reason.partition("; ")[0] for fault in found}  # without how an amount is misspelled


# --- what is read -------------------------------------------------------------------------------------------


def test_a_good_body_becomes_its_struct() -> None:
    order = read({**GOOD, "orderRef": "a", "address": {"street": "Broad St", "number": 7}})
    assert order == Order(
        amount=Amount(500), account="0123456789", order_ref="a", address=Address(street="Broad St", number=7)
    )


def test_unknown_extra_fields_are_ignored() -> None:
    assert read({**GOOD, "extra": {"deep": [1, {}]}, "": None, "Amount": "x"}) == read(GOOD)


@pytest.mark.parametrize("name", ["orderRef", "note", "urgent", "address", "color", "times"])
def test_a_null_optional_field_is_an_absent_field(name: str) -> None:
    assert read({**GOOD, name: None}) == read(GOOD)


@pytest.mark.parametrize("name", ["amount", "account"])
def test_a_null_required_field_is_missing(name: str) -> None:
    assert errors_of({**GOOD, name: None}) == {name: "required"}


def test_a_null_inside_an_object_is_absent_there() -> None:
    order = read({**GOOD, "address": {"street": "Broad St", "number": 7, "code": None}})
    assert order.address == Address(street="Broad St", number=7)


# --- every fault, at once -------------------------------------------------------------------------------------


def test_every_field_error_is_reported_at_once_with_its_path() -> None:
    fields = {
        "amount": "1e5",
        "account": "12",
        "orderRef": "x" * 101,
        "note": 7,
        "color": "green",
        "times": 9,
        "urgent": "yes",
        "address": {"street": ["x"], "code": "ab"},
    }
    assert errors_of(fields) == {
        "amount": AMOUNT_REASON,
        "account": "ten digits",
        "orderRef": "1 to 100 characters",
        "note": "text, not a number: at most 200 characters",
        "color": "one of blue, red",
        "times": "1 to 5",
        "urgent": "true or false",
        "address.street": "text, not an array: at most 200 characters",
        "address.number": "required",
        "address.code": "a bank code of 3, 5 or 6 digits",
    }


def test_an_empty_body_lists_what_is_required() -> None:
    assert errors_of({}) == {"amount": "required", "account": "required"}


def test_a_rule_is_asked_when_all_its_fields_could_be_read() -> None:
    broken = {"amount": "5.00", "account": "0000000000"}
    assert errors_of(broken) == {"amount": "too much for this account"}
    assert errors_of({**broken, "color": "green"}) == {
        "amount": "too much for this account",
        "color": "one of blue, red",
    }
    assert errors_of({**broken, "amount": "x"}) == {"amount": AMOUNT_REASON}


def test_a_preflight_rule_runs_only_on_a_body_that_is_refused_anyway() -> None:
    def check_is_known(merchant: Merchant, preflight: PreflightContext, account: str) -> str | None:
        return None if account in preflight.rails else "not a known account"

    preflight_rules = (*RULES, FieldRule(("account",), check_is_known, is_preflight=True))

    def faults(fields: dict[str, Any], known_accounts: set[str]) -> list[str]:
        found = decode(
            Order, msgspec.json.encode(fields), preflight_rules, MERCHANT, PreflightContext(NOW, known_accounts)
        )
        return [fault.field for fault in found] if isinstance(found, tuple) else []

    assert faults(GOOD, set()) == []
    assert faults({**GOOD, "color": "green"}, set()) == ["color", "account"]
    assert faults({**GOOD, "color": "green"}, {"0123456789"}) == ["color"]
    assert faults({"amount": "5.00", "account": "0000000000"}, set()) == ["amount", "account"]
    assert faults({**GOOD, "account": "x"}, set()) == ["account"]
    refused = decode(Order, msgspec.json.encode({**GOOD, "color": "green"}), preflight_rules, MERCHANT)
    assert [fault.field for fault in refused] == ["color"]


@pytest.mark.parametrize("name", ["note", "account", "orderRef"])
@pytest.mark.parametrize("number", [b"1.5", b"-0.1", b"1e5", b"15"])
def test_a_number_in_a_text_field_is_named(name: str, number: bytes) -> None:
    body = msgspec.json.encode({**GOOD, name: "NUMBER"}).replace(b'"NUMBER"', number)
    assert set(errors_of(body)) == {name}


@pytest.mark.parametrize("value", ["x", ["street"], 7, True])
def test_something_else_than_an_object_is_named(value: object) -> None:
    assert errors_of({**GOOD, "address": value}) == {"address": "an object"}


KEYS = st.sampled_from(["amount", "account", "orderRef", "note", "color", "times", "urgent", "address"])
INNER = st.dictionaries(st.sampled_from(["street", "number", "code"]), st.none() | st.integers() | st.text(max_size=9))
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(["5.00", "0123456789", "0000000000", "red", "a\0b"]),
    st.lists(st.integers(), max_size=2),
    INNER,
)


@given(st.dictionaries(KEYS, VALUES, max_size=3), st.booleans())
def test_any_object_is_decoded_or_refused_with_field_errors(fields: dict[str, Any], complete: bool) -> None:
    found = read(GOOD | fields if complete else fields)
    if isinstance(found, tuple):
        assert found
        assert {fault.field.partition(".")[0] for fault in found} <= {*fields, "amount", "account"}
    else:
        assert isinstance(found, Order)
        assert isinstance(found.amount, int)


@pytest.mark.parametrize("digits", [16, 30, 4300, 4301, 100_000])
def test_an_integer_of_any_length_is_an_error_of_its_field(digits: int) -> None:
    body = b'{"account":"0123456789","amount":' + b"9" * digits + b"}"
    check_json(body)
    assert errors_of(body) == {"amount": AMOUNT_REASON}


def test_a_very_long_integer_in_an_ignored_field_hides_no_error() -> None:
    body = b'{"account":"12","amount":"5.00","extra":' + b"9" * 5_000 + b"}"
    check_json(body)
    assert errors_of(body) == {"account": "ten digits"}


# --- U+0000 -----------------------------------------------------------------------------------------------------


def is_known_street(merchant: Merchant, street: str | None) -> str | None:
    return "no such street" if street == "Nowhere" else None


DEEP_RULES = (FieldRule(("address.street",), is_known_street),)


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({**GOOD, "address": {"street": "Nowhere", "number": 7}}, ["address.street"]),
        ({**GOOD, "address": {"street": "Nowhere", "number": "x"}}, ["address.street", "address.number"]),
        ({**GOOD, "address": {"street": "Nowhere"}, "color": "green"}, ["address.street", "address.number", "color"]),
        ({**GOOD, "address": {"street": 5, "number": 7}}, ["address.street"]),
        ({**GOOD, "address": None, "color": "green"}, ["color"]),
        ({**GOOD, "address": "x"}, ["address"]),
        (GOOD, []),
    ],
)
def test_a_rule_on_a_part_runs_whatever_else_is_wrong_with_the_whole(given: dict[str, Any], fields: list[str]) -> None:
    found = decode(Order, msgspec.json.encode(given), DEEP_RULES, MERCHANT)
    assert sorted(() if isinstance(found, Order) else (fault.field for fault in found)) == sorted(fields)


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({**GOOD, "note": "a\0b"}, ["note"]),
        ({**GOOD, "note": "\0", "orderRef": "x\0"}, ["note", "orderRef"]),
        ({**GOOD, "extra": ["x", {"y": "\0"}]}, ["extra.1.y"]),
        ({**GOOD, "address": {"street": "\0", "number": 7}}, ["address.street"]),
        ({**GOOD, "note": "\0", "color": "green"}, ["note", "color"]),
        ({**GOOD, "extra": {"a\0": {"b\0": 1}}}, ["extra.a\\u0000", "extra.a\\u0000.b\\u0000"]),
    ],
)
def test_a_nul_in_any_text_is_an_error_with_its_path(given: dict[str, Any], fields: list[str]) -> None:
    assert sorted(errors_of(given)) == sorted(fields)


def test_a_nul_is_found_next_to_a_number_that_is_too_long() -> None:
    inner = b'{"street":"\\u0000","number":7,"extra":' + b"9" * 5_000 + b"}"
    assert errors_of(b'{"amount":"5.00","account":"0123456789","address":' + inner + b"}")


def test_a_backslash_before_u0000_is_no_nul() -> None:
    assert read(b'{"amount":"5.00","account":"0123456789","note":"\\\\u0000"}').note == "\\u0000"


# --- amounts, moments, percents -----------------------------------------------------------------------------------

AMOUNTS = [
    (b"5", 500),
    (b"5.5", 550),
    (b"5.50", 550),
    (b"0.01", 1),
    (b'"5"', 500),
    (b'"5.05"', 505),
    (b"9999999999999.99", 999_999_999_999_999),
    (b"1.10", 110),  # as a float this is not a whole number of kobo
    (b"1005.01", 100_501),
]
NO_AMOUNTS = [b"0", b"0.00", b'"0"', b"-1", b"-5.00", b"1e5", b"1E5", b"5.005", b"1.000", b"99999999999999.99"]
NO_AMOUNTS += [b"1000000000000000", b"true", b"[5]", b"{}", b'"+1"', b'" 5"', b'"5 "', b'"1,000"', b'"NaN"', b'""']
NO_AMOUNTS += ['"٣"'.encode(), b'"1e5"', b'"5\\n"']


@pytest.mark.parametrize(("text", "minor"), AMOUNTS)
def test_an_amount_is_read_from_the_text_of_a_number_or_of_a_string(text: bytes, minor: int) -> None:
    assert read(b'{"account":"0123456789","amount":' + text + b"}").amount == minor


@pytest.mark.parametrize("text", NO_AMOUNTS)
def test_an_invalid_amount_is_refused_with_the_reason(text: bytes) -> None:
    assert errors_of(b'{"account":"0123456789","amount":' + text + b"}") == {"amount": AMOUNT_REASON}


@given(st.integers(min_value=1, max_value=10**15 - 1), st.booleans())
def test_every_amount_reads_back_exactly(minor: int, quoted: bool) -> None:
    text = f"{minor // 100}.{minor % 100:02d}"
    assert (
        read({**GOOD, "amount": text} if quoted else f'{{"account":"0123456789","amount":{text}}}'.encode()).amount
        == minor
    )


class SampleRequest(msgspec.Struct, kw_only=True):
    until: Timestamp | None = None
    chance: Probability | None = None
    times: NonNegativeInt | None = None


def decoded(body: bytes) -> Any:
    return decode(SampleRequest, body, (), MERCHANT)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-05T09:30:00+01:00", datetime(2026, 1, 5, 8, 30, tzinfo=UTC)),
        ("2026-01-05T09:30:00Z", datetime(2026, 1, 5, 9, 30, tzinfo=UTC)),
        ("2026-01-05T09:30:00", datetime(2026, 1, 5, 8, 30, tzinfo=UTC)),
        ("2026-01-05", datetime(2026, 1, 4, 23, 0, tzinfo=UTC)),
        ("1900-06-01T00:00:00Z", datetime(1900, 6, 1, tzinfo=UTC)),
    ],
)
def test_a_moment_without_a_zone_is_in_lagos(text: str, moment: datetime) -> None:
    assert decoded(b'{"until":"%b"}' % text.encode()).until == moment


@pytest.mark.parametrize("text", [b'"soon"', b'" "', b"5", b'"0001-01-01"', b'"9999-12-31T23:59:59Z"', b"true", b"1.5"])
def test_an_invalid_timestamp_is_refused(text: bytes) -> None:
    assert [fault.field for fault in decoded(b'{"until":' + text + b"}")] == ["until"]


@pytest.mark.parametrize(("text", "percent"), [(b"0", 0), (b"1", 100), (b"0.5", 50), (b"0.005", 1), (b"1.0", 100)])
def test_a_probability_becomes_whole_percent(text: bytes, percent: int) -> None:
    assert decoded(b'{"chance":' + text + b"}").chance == percent


@pytest.mark.parametrize("text", [b"1.1", b"-0.5", b"2", b"true", b"1e-1", b'"x"'])
def test_an_invalid_probability_is_refused(text: bytes) -> None:
    assert [fault.field for fault in decoded(b'{"chance":' + text + b"}")] == ["chance"]


class Parts(msgspec.Struct, kw_only=True):
    by_day: dict[str, PercentOrAmount] | None = None
    in_order: list[Amount] | None = None


@pytest.mark.parametrize("text", ["0", "20", "33.3333", '"12.5"', "9999999999999"])
def test_a_figure_stays_the_text_that_was_sent(text: str) -> None:
    parts = decode(Parts, b'{"by_day":{"a":%b}}' % text.encode(), (), MERCHANT)
    assert parts.by_day == {"a": text.strip('"')}


@pytest.mark.parametrize(
    "text", [b"-1", b"1e2", b'""', b'"5 %"', b"true", b"null", b"0.00001", b"1000000000000000", b"{}"]
)
def test_an_invalid_number_is_reported_with_its_own_path(text: bytes) -> None:
    body = b'{"by_day":{"good":1,"bad":' + text + b'},"in_order":[1,' + text + b"]}"
    faults = decode(Parts, body, (), MERCHANT)
    assert [(fault.field, fault.reason.partition("; ")[0]) for fault in faults] == [
        ("by_day.bad", PERCENT_OR_AMOUNT_REASON),
        ("in_order.1", AMOUNT_REASON),
    ]


@pytest.mark.parametrize(
    ("text", "times"), [(b"0", 0), (b"7", 7), (b'"1440"', 1440), (b'"007"', 7), (b"1.0", 1), (b'"1.0"', 1)]
)
def test_a_whole_number_may_come_as_text(text: bytes, times: int) -> None:
    assert decoded(b'{"times":' + text + b"}").times == times


@pytest.mark.parametrize("text", [b"-1", b"1.5", b'"1.5"', b'" "', b'" 1"', b'"+1"', b"true", b"1e3", b'"1234567890"'])
def test_a_value_that_is_not_a_whole_number_is_refused(text: bytes) -> None:
    assert [fault.field for fault in decoded(b'{"times":' + text + b"}")] == ["times"]
