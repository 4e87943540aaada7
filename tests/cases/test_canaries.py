"""Marked values in every field of every request and answer: none of them is in what is recorded, nor in the file of a
case."""

import base64
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from msgspec import inspect

from kasuwa.cases.export import CaseNames, make_exchange, make_input
from kasuwa.cases.row_inputs import Recorded
from kasuwa.core.action import Write
from kasuwa.core.decision import Decision, Merchant
from kasuwa.core.vault import Vault
from kasuwa.engine.decision_inputs import DecisionInput, RecordedInput, make_rows
from kasuwa.rails.ports.feed_entries import AnnouncedDispute
from kasuwa.rails.ports.orders import Answer, VendorCard, VendorToken, without_words
from kasuwa.rails.ports.rejections import Rejection
from kasuwa.testing.cases.case_file import Case, CaseFile, render_case
from kasuwa.transactions.inbound_accounts import ArrivedReceipt
from kasuwa.wire.decoding import decode
from kasuwa.wire.documents import Document
from kasuwa.wire.fields import Amount, CardNumber, LagosDate, NonNegativeInt, Probability, Timestamp
from kasuwa.wire.without_people import HARMLESS_TYPES, REFERENCE_NAMES, has_choices
from tests.walk.rows import ACTION_ROWS, ActionRow

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
MERCHANT = Merchant(1, "M1", "Ada Stores", "test", False, {})
VAULT = Vault(bytes(range(32)))
# A name, ways to reach somebody, and numbers of theirs.
CANARIES = (
    "Ngozi Canary-Okafor",
    "canaryngozi",
    "ngozi.canary@example.org",
    "08039998877",
    "+2348039998877",
    "22219998877",
    "0198887776",
    "1987-06-05",
    "5399831234567895",
    "73926481",
    "https://canary.example.org/private?key=canary",
)
# Fields that no person's value gets into: a code that is looked up before anything is decided, and days of plans.
NOT_TRIED = frozenset({"paycode", "start_date", "from_date"})
WRITES = [row for row in ACTION_ROWS if isinstance(row.action, Write)]


def fill(kind: inspect.Type, canary: str) -> Any:
    """Returns a value of a type with a canary in every text that takes it."""
    if isinstance(kind, inspect.UnionType):
        options = [one for one in kind.types if not isinstance(one, inspect.NoneType | inspect.CustomType)]
        return fill((options or list(kind.types))[0], canary)
    if isinstance(kind, inspect.Metadata):
        return fill(kind.type, canary)
    if isinstance(kind, inspect.StructType):
        tried = [field for field in kind.fields if field.encode_name not in NOT_TRIED]
        left_out = {field.name: None for field in kind.fields if field.encode_name in NOT_TRIED}
        return kind.cls(**left_out, **{field.name: fill(field.type, canary) for field in tried})
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        return [fill(kind.item_type, canary)]
    if isinstance(kind, inspect.DictType):
        return {canary: canary, "name": canary}
    if isinstance(kind, inspect.LiteralType):
        return kind.values[0]
    if isinstance(kind, inspect.StrType):
        fits = kind.pattern is None or re.search(kind.pattern, canary)
        return canary if fits and (kind.max_length is None or len(canary) <= kind.max_length) else None
    if isinstance(kind, inspect.RawType):
        return msgspec.Raw(json.dumps({"accountnumber": canary, "sender_name": canary, canary: canary}).encode())
    return fill_custom(kind, canary)


def fill_custom(kind: inspect.Type, canary: str) -> Any:
    if isinstance(kind, inspect.BoolType):
        return True
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        return 3
    if not isinstance(kind, inspect.CustomType):
        return None
    if issubclass(kind.cls, Amount | NonNegativeInt | Probability):
        return kind.cls(300)
    if issubclass(kind.cls, Timestamp | LagosDate) or issubclass(kind.cls, HARMLESS_TYPES) or has_choices(kind.cls):
        return None
    if issubclass(kind.cls, Document):
        known = kind.cls.known_struct
        fields = fill(inspect.type_info(known), canary) if known else None
        return kind.cls(json.dumps({**msgspec.to_builtins(fields or {}), canary: canary, "name": canary}))
    if issubclass(kind.cls, CardNumber | str):
        return str.__new__(kind.cls, canary)
    return None


def forms_of(canary: str) -> Iterator[str]:
    """Yields a text as it may be spelled in a file."""
    raw = canary.encode()
    yield from (canary, canary.casefold(), raw.hex(), quote(canary, safe=""), json.dumps(canary)[1:-1])
    for shift in range(3):
        yield base64.b64encode(b"\0" * shift + raw).decode()[4 if shift else 0 : -4]


def record(sent: DecisionInput, reply: Any = None) -> RecordedInput:
    [row] = make_rows(sent, 1, Decision(reply=reply), NOW, ["GP|FD|1"], VAULT.hash_person)
    return msgspec.json.decode(row.body, type=RecordedInput)


def strip_references(value: Any) -> Any:
    """Returns a recorded value without what merchants named themselves. It is renamed in the file of a case."""
    if isinstance(value, dict):
        return {name: strip_references(part) for name, part in value.items() if name not in REFERENCE_NAMES}
    return [strip_references(part) for part in value] if isinstance(value, list) else value


def write_file(kind: str, name: str, body: RecordedInput) -> str:
    recorded, names = Recorded(1, NOW, kind, name, "GP|FD|1", body), CaseNames()
    case = Case(kasuwa="1", environment="live", reference="<txnRef 1>", starts_at=NOW)
    if kind == "request":
        return render_case(CaseFile(case, [names.rename(make_exchange(recorded, NOW))]))
    case.inputs = [names.rename(make_input(recorded, NOW))]
    return render_case(CaseFile(case, []))


def assert_hidden(canary: str, text: str) -> None:
    for form in forms_of(canary):
        assert form not in text, form
        assert form not in json.dumps(json.loads(text), ensure_ascii=False), form


@pytest.mark.parametrize("row", WRITES, ids=lambda row: row.title)
def test_no_field_of_a_request_gets_into_a_case(row: ActionRow) -> None:
    for canary in CANARIES:
        request = fill(inspect.type_info(row.action.request), canary)
        body = record(DecisionInput("request", row.title.replace("-", ".", 1), request))
        assert_hidden(canary, json.dumps(strip_references(body.content)))
        path, _, title = row.title.partition("-")
        assert_hidden(canary, write_file("request", f"{path}.{title}", body))


@pytest.mark.parametrize("canary", CANARIES)
def test_no_word_of_a_rail_gets_into_a_case(canary: str) -> None:
    card = VendorCard(canary, canary, canary, canary, canary, canary, canary, VendorToken(canary, canary, canary))
    facts = {"session": canary, "token": canary, "beneficiary_name": canary, "url": canary, canary: "1"}
    answer = without_words(Answer("failed", "51", canary, facts, notice=canary, card=card))
    receipt = ArrivedReceipt("paystack", "8", canary, canary, 100, "NGN", canary, canary)
    dispute = AnnouncedDispute(
        rail="paystack", rail_dispute_id="9", txn_ref="GP|FD|1", amount=1, reason=canary, due_at=None, outcome=None
    )
    rejection = Rejection("1 GP|FD|1", canary, canary, 100)
    for kind, value in (("answer", answer), ("receipt", receipt), ("dispute", dispute), ("rejection", rejection)):
        body = record(DecisionInput(kind, "x", value, "GP|FD|1"))  # type: ignore[arg-type]
        assert_hidden(canary, json.dumps(body.content))
        assert_hidden(canary, write_file(kind, "x", body))


BULK = next(row for row in WRITES if row.title == "disburse-transfer-bulk")
CARD = "4111111111111111"
ORDERS: list[dict[str, Any]] = [
    {"accountnumber": 1234567890, "narration": 2348012345678, "orderRef": CARD},
    {"accountnumber": "1234567890", "sender_name": 2348012345678.0, "orderRef": int(CARD)},
    {"accountnumber": [1234567890], "orderRef": [int(CARD)], "narration": {"token": 2348012345678}},
    {"amount": int(CARD), "bankcode": 1234567890, "code": CARD},
    {"amount": CARD, "beneficiary_name": 1234567890, "paycode": CARD},
]


@pytest.mark.parametrize("order", ORDERS)
def test_no_number_of_an_order_of_a_bulk_gets_into_a_case(order: dict[str, Any]) -> None:
    orders = [order, {"amount": "1500.00", "orderRef": "a1"}, int(CARD), CARD]
    request = decode(BULK.action.request, json.dumps({"data": orders}).encode(), (), MERCHANT)
    body = record(DecisionInput("request", "disburse.transfer bulk", request))
    for shown in (json.dumps(body.content), write_file("request", "disburse.transfer bulk", body)):
        for number in (CARD, "1234567890", "2348012345678"):
            assert number not in shown
    assert len(body.content["data"]) == 4


@pytest.mark.parametrize("amount", ["1500.00", "250000", 1500, 1500.5])
def test_the_amounts_of_a_bulk_are_kept(amount: Any) -> None:
    orders = json.dumps({"data": [{"amount": amount, "bankcode": "058", "orderRef": "a1"}]}).encode()
    request = decode(BULK.action.request, orders, (), MERCHANT)
    content = record(DecisionInput("request", "disburse.transfer bulk", request)).content
    assert content["data"] == [{"amount": amount, "bankcode": "058", "orderRef": "a1"}]


@pytest.mark.parametrize("depth", [100, 700, 900])
def test_an_order_of_many_lists_is_left_out(depth: int) -> None:
    order = "[" * depth + "]" * depth
    request = decode(BULK.action.request, f'{{"data":[{order},{order}]}}'.encode(), (), MERCHANT)
    assert record(DecisionInput("request", "disburse.transfer bulk", request)).content["data"] == [None, None]


class AccountReply(msgspec.Struct, rename="camel"):
    """A reply whose numbers are a payer's."""

    account_number: str
    card_token: str
    name: str
    data: "AccountReply | None" = None


@pytest.mark.parametrize("canary", CANARIES)
def test_no_number_of_a_reply_gets_into_a_case(canary: str) -> None:
    reply = AccountReply(canary, canary, canary, AccountReply(canary, canary, canary))
    body = record(DecisionInput("request", "payment.charge bank_transfer", None), reply)
    assert set(body.results) == {"accountNumber", "cardToken"}
    assert_hidden(canary, json.dumps(body.results))
    assert_hidden(canary, write_file("answer", "x", body))


def test_a_job_has_nothing_but_its_reference() -> None:
    assert record(DecisionInput("job", "disburse.send", None, "GP|FD|1")) == RecordedInput(None, {}, ["GP|FD|1"])


def test_what_a_replay_needs_is_kept() -> None:
    [row] = [row for row in WRITES if row.title == "payment-refund"]
    request = row.action.request(txn_ref="GP1", comment="for Ngozi", amount=Amount(150_000))
    content = record(DecisionInput("request", "payment.refund", request)).content
    assert content["txnRef"] == "GP1"
    assert content["amount"] == "1500.00"
    assert content["comment"] != "for Ngozi"
