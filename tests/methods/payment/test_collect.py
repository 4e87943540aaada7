"""A payment made for another slice: every type, the fee held from the wallet, the money whole to its purpose."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, Refusal
from kasuwa.core.purpose import PurposeEffects, PurposeRules, TransactionPurpose
from kasuwa.core.scenario import InjectedFault
from kasuwa.core.transactions import Transaction
from kasuwa.ledger.chart import Hold
from kasuwa.methods.payment.model import DETAIL_DECODER, WALLET_INSUFFICIENT
from kasuwa.methods.payment.rules.collect import REQUIRED_FIELDS, PayerFields, collect_payment, need_collect
from kasuwa.methods.payment.rules.refund import USED_FOR_LOAN_OR_SAVINGS
from kasuwa.methods.payment.settlement_model import Beneficiary, beneficiary_key
from kasuwa.methods.payment.wire_reply import InboundReply
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    BODIES,
    CARD,
    DECLINED,
    SILENT,
    InMemoryPayments,
    PaymentInProgress,
    challenge,
    fields_of,
    paid_card,
)

ERRAND = TransactionPurpose("deposit", "SV1")
FUNDS = 100_000


def need_deposit(merchant: Merchant, reference: str) -> Needs:
    """Any row of its own stands for what a slice keeps; the account is where the money goes."""
    key = beneficiary_key(merchant.merchant_id, reference)
    return Needs(((Beneficiary, key),), (account_of(reference, "NGN"),))


def account_of(reference: str, currency: str) -> str:
    return f"beneficiary:{reference}:{currency}"


def end_deposit(row: Transaction, reference: str, context: Context, seen: LoadedRows) -> PurposeEffects:
    said = InboundReply(txn_status="pending", txn_ref=row.txn_ref, message=f"deposit {row.status}")
    if not row.is_final:
        return PurposeEffects(reply=said)
    key = beneficiary_key(row.merchant_id, reference)
    assert seen.get(Beneficiary, key) is None
    return PurposeEffects(
        reply=said, rows=(Beneficiary(key, row.merchant_id, reference, row.status, "", "", context.now),)
    )


DEPOSIT = PurposeRules("deposit", need_deposit, end_deposit, account_of)
FREE_OF_ACCOUNT = PurposeRules("repayment", need_deposit, end_deposit)


@pytest.fixture
def desk() -> InMemoryPayments:
    return InMemoryPayments(funds=FUNDS, purposes=(DEPOSIT, FREE_OF_ACCOUNT))


def ask(
    desk: InMemoryPayments,
    method: str,
    errand: TransactionPurpose = ERRAND,
    state: str = "",
    amount: int = 150_000,
    **said: Any,
) -> Any:
    fields = msgspec.convert(said, PayerFields, dec_hook=lambda kind, value: kind(value))
    needs = need_collect(method, fields, desk.merchant)
    wallet = Needs(needs.rows, ("wallet:main:NGN",))
    return desk.decide(wallet, lambda given, seen: collect_payment(method, fields, amount, errand, given, seen, state))


def body(desk: InMemoryPayments, method: str) -> dict[str, Any]:
    if method == "card":
        return {"card": CARD}
    return {"token": paid_card(desk).payment.token} if method == "token" else BODIES[method]


@pytest.mark.parametrize("method", sorted(REQUIRED_FIELDS))
def test_every_type_can_pay_for_an_errand_and_the_fee_is_the_wallets(desk: InMemoryPayments, method: str) -> None:
    said = body(desk, method)
    before = desk.balance("wallet:main:NGN")
    paying = PaymentInProgress(desk, ask(desk, method, **said))
    assert paying.state == ("pending", "charging", "payment.charge")
    costs = paying.row.fee + paying.row.vat
    assert desk.account("wallet:main:NGN").held == costs > 0
    reply = paying.receive_answer(APPROVED).reply
    assert reply.message == "deposit successful"
    assert desk.balance("beneficiary:SV1:NGN") == paying.payment.charged == 150_000
    assert desk.balance("wallet:main:NGN") == before - costs
    assert [row.name for row in desk.of_type(Beneficiary)] == ["successful"]


@pytest.mark.parametrize("method", sorted(REQUIRED_FIELDS))
def test_what_fails_gives_the_held_fee_back_and_tells_its_purpose(desk: InMemoryPayments, method: str) -> None:
    paying = PaymentInProgress(desk, ask(desk, method, **body(desk, method)))
    before = desk.balances()
    paying.receive_answer(DECLINED)
    assert (desk.balances(), desk.account("wallet:main:NGN").held) == (before, 0)
    assert {hold.state for hold in desk.of_type(Hold)} == {"voided"}
    assert [row.name for row in desk.of_type(Beneficiary)] == ["failed"]


def test_a_wallet_that_cannot_pay_the_fee_is_told_before_anything_begins() -> None:
    desk = InMemoryPayments(purposes=(DEPOSIT,))
    assert ask(desk, "phone", **BODIES["phone"]) == WALLET_INSUFFICIENT
    assert desk.rows == {}


def test_a_purpose_without_an_account_leaves_the_money_with_the_merchant(desk: InMemoryPayments) -> None:
    paying = PaymentInProgress(desk, ask(desk, "phone", TransactionPurpose("repayment", "LN1"), **BODIES["phone"]))
    assert desk.account("wallet:main:NGN").held == 0
    paying.receive_answer(APPROVED)
    assert desk.balance("wallet:main:NGN") == FUNDS + paying.payment.settled


@pytest.mark.parametrize("method", sorted(name for name, fields in REQUIRED_FIELDS.items() if fields))
def test_what_a_type_needs_is_named(desk: InMemoryPayments, method: str) -> None:
    assert fields_of(ask(desk, method)) == list(REQUIRED_FIELDS[method])


def test_the_types_own_rules_hold(desk: InMemoryPayments) -> None:
    assert fields_of(ask(desk, "phone", phonenumber="08031234567", country="GH")) == ["country"]
    assert fields_of(ask(desk, "token", token="nobody.1")) == ["token"]
    assert fields_of(ask(desk, "ussd", bank="zenith")) == ["phonenumber", "accountnumber"]
    assert fields_of(ask(desk, "phone", amount=99, phonenumber="08031234567")) == ["amount"]


def test_a_purpose_is_told_while_nothing_is_known_and_says_it_in_its_own_words(desk: InMemoryPayments) -> None:
    paying = PaymentInProgress(desk, ask(desk, "phone", **BODIES["phone"]))
    assert paying.receive_answer(SILENT).reply.message == "deposit pending"
    assert desk.of_type(Beneficiary) == []


def test_a_card_is_charged_at_once_and_its_code_is_brought_as_ever(desk: InMemoryPayments) -> None:
    paying = PaymentInProgress(desk, ask(desk, "card", state="otp", card=CARD))
    reply = paying.receive_answer(challenge("OTP", session="S-9")).reply
    assert (reply.status, reply.state) == (202, "otp")
    assert isinstance(desk.put("validate", txnRef=paying.txn_ref, otp="123456"), Decision)
    assert paying.receive_answer(APPROVED).reply.message == "deposit successful"
    again = desk.put("validate", txnRef=paying.txn_ref, otp="123456")
    assert (again.reply.message, again.reply.txn_status) == ("Validation Successful", "successful")


def test_what_was_made_for_another_slice_is_not_refunded_by_payments(desk: InMemoryPayments) -> None:
    paying = PaymentInProgress(desk, ask(desk, "card", card=CARD))
    paying.receive_answer(APPROVED)
    assert desk.put("refund", txnRef=paying.txn_ref, amount="1.00") == USED_FOR_LOAN_OR_SAVINGS


def test_a_planned_fault_is_used_up_by_a_collection_too(desk: InMemoryPayments) -> None:
    desk.faults = (InjectedFault("mobile", "timeout", 1),)
    ask(desk, "phone", **BODIES["phone"])
    assert not desk.faults


def test_the_errand_is_kept_with_what_was_asked(desk: InMemoryPayments) -> None:
    paying = PaymentInProgress(desk, ask(desk, "qrpay", state="later"))
    detail = DETAIL_DECODER.decode(paying.payment.detail)
    assert (detail.purpose, detail.otp_reply_state, detail.bearer) == (ERRAND, "later", "merchant")
    assert not isinstance(ask(desk, "qrpay"), Refusal)
