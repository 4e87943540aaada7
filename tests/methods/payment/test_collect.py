"""Payments made for another slice: every method, the fee held on the wallet, the full amount to the purpose."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import (
    Context,
    Decision,
    Event,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    OperatorNotice,
    Posting,
    PostingGroup,
    Refusal,
)
from kasuwa.core.scenario import InjectedFault
from kasuwa.methods.payment.model import WALLET_INSUFFICIENT
from kasuwa.methods.payment.rules.collect import REQUIRED_FIELDS, PayerFields, collect_payment, need_collect
from kasuwa.methods.payment.rules.refund import SEND_REFUND, USED_FOR_LOAN_OR_SAVINGS
from kasuwa.methods.payment.settlement_model import Beneficiary, beneficiary_key
from kasuwa.methods.payment.wire_reply import InboundReply
from kasuwa.transactions.purpose import PurposeRules, TransactionEffects, TransactionPurpose
from kasuwa.transactions.transactions import Transaction
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

PURPOSE = TransactionPurpose("deposit", "SV1")
FUNDS = 100_000


def need_deposit(merchant: Merchant, reference: str) -> Needs:
    """Any row of its own stands for what a slice keeps; the account is where the money goes."""
    key = beneficiary_key(merchant.merchant_id, reference)
    return Needs(((Beneficiary, key),), (account_of(reference, "NGN"),))


def account_of(reference: str, currency: str) -> str:
    return f"beneficiary:{reference}:{currency}"


def end_deposit(row: Transaction, reference: str, context: Context, rows: LoadedRows) -> TransactionEffects:
    result = InboundReply(txn_status="pending", txn_ref=row.txn_ref, message=f"deposit {row.status}")
    if not row.is_final:
        return TransactionEffects(reply=result)
    key = beneficiary_key(row.merchant_id, reference)
    assert rows.get(Beneficiary, key) is None
    return TransactionEffects(
        reply=result, rows=(Beneficiary(key, row.merchant_id, reference, row.status, "", "", context.now),)
    )


DEPOSIT = PurposeRules("deposit", need_deposit, end_deposit, account_of)
FREE_OF_ACCOUNT = PurposeRules("repayment", need_deposit, end_deposit)


@pytest.fixture
def payments() -> InMemoryPayments:
    return InMemoryPayments(funds=FUNDS, purposes=(DEPOSIT, FREE_OF_ACCOUNT))


def ask(
    payments: InMemoryPayments,
    method: str,
    purpose: TransactionPurpose = PURPOSE,
    state: str = "",
    amount: int = 150_000,
    **changes: Any,
) -> Any:
    fields = msgspec.convert(changes, PayerFields, dec_hook=lambda kind, value: kind(value))
    needs = need_collect(method, fields, payments.merchant)
    wallet = Needs(needs.rows, ("wallet:main:NGN",))
    return payments.decide(
        wallet, lambda given, seen: collect_payment(method, fields, amount, purpose, given, seen, state)
    )


def body(payments: InMemoryPayments, method: str) -> dict[str, Any]:
    if method == "card":
        return {"card": CARD}
    return {"token": paid_card(payments).payment.token} if method == "token" else BODIES[method]


@pytest.mark.parametrize("method", sorted(REQUIRED_FIELDS))
def test_every_method_can_pay_for_a_purpose_and_the_wallet_pays_the_fee(
    payments: InMemoryPayments, method: str
) -> None:
    received = body(payments, method)
    before = payments.balance("wallet:main:NGN")
    paying = PaymentInProgress(payments, ask(payments, method, **received))
    assert paying.state == ("pending", "charging", "payment.charge")
    costs = paying.row.fee + paying.row.vat
    assert payments.account("wallet:main:NGN").held == costs > 0
    reply = paying.receive_answer(APPROVED).reply
    assert reply.message == "deposit successful"
    assert payments.balance("beneficiary:SV1:NGN") == paying.payment.charged == 150_000
    assert payments.balance("wallet:main:NGN") == before - costs
    assert [row.name for row in payments.of_type(Beneficiary)] == ["successful"]


@pytest.mark.parametrize("method", sorted(REQUIRED_FIELDS))
def test_a_failed_payment_releases_the_held_fee_and_calls_its_purpose(payments: InMemoryPayments, method: str) -> None:
    paying = PaymentInProgress(payments, ask(payments, method, **body(payments, method)))
    before = payments.balances()
    paying.receive_answer(DECLINED)
    assert (payments.balances(), payments.account("wallet:main:NGN").held) == (before, 0)
    assert [row.name for row in payments.of_type(Beneficiary)] == ["failed"]


def test_a_wallet_that_does_not_cover_the_fee_is_refused() -> None:
    payments = InMemoryPayments(purposes=(DEPOSIT,))
    assert ask(payments, "phone", **BODIES["phone"]) == WALLET_INSUFFICIENT
    assert payments.rows == {}


def test_a_purpose_without_an_account_leaves_the_money_with_the_merchant(payments: InMemoryPayments) -> None:
    paying = PaymentInProgress(
        payments, ask(payments, "phone", TransactionPurpose("repayment", "LN1"), **BODIES["phone"])
    )
    assert payments.account("wallet:main:NGN").held == 0
    paying.receive_answer(APPROVED)
    assert payments.balance("wallet:main:NGN") == FUNDS + paying.payment.settled


@pytest.mark.parametrize("method", sorted(name for name, fields in REQUIRED_FIELDS.items() if fields))
def test_a_missing_field_of_a_method_is_named(payments: InMemoryPayments, method: str) -> None:
    assert fields_of(ask(payments, method)) == list(REQUIRED_FIELDS[method])


def test_the_rules_of_each_method_apply(payments: InMemoryPayments) -> None:
    assert fields_of(ask(payments, "phone", phonenumber="08031234567", country="GH")) == ["country"]
    assert fields_of(ask(payments, "token", token="nobody.1")) == ["token"]
    assert fields_of(ask(payments, "ussd", bank="zenith")) == ["phonenumber", "accountnumber"]
    assert fields_of(ask(payments, "phone", amount=99, phonenumber="08031234567")) == ["amount"]


def test_a_purpose_gives_the_reply_while_the_outcome_is_unknown(payments: InMemoryPayments) -> None:
    paying = PaymentInProgress(payments, ask(payments, "phone", **BODIES["phone"]))
    assert paying.receive_answer(SILENT).reply.message == "deposit pending"
    assert payments.of_type(Beneficiary) == []


def test_a_card_is_charged_at_once_and_validated_by_otp(payments: InMemoryPayments) -> None:
    paying = PaymentInProgress(payments, ask(payments, "card", state="otp", card=CARD))
    reply = paying.receive_answer(challenge("OTP", session="S-9")).reply
    assert (reply.status, reply.state) == (202, "otp")
    assert isinstance(payments.put("validate", txnRef=paying.txn_ref, otp="123456"), Decision)
    assert paying.receive_answer(APPROVED).reply.message == "deposit successful"
    again = payments.put("validate", txnRef=paying.txn_ref, otp="123456")
    assert (again.reply.message, again.reply.txn_status) == ("Validation Successful", "successful")


def test_a_payment_made_for_another_slice_is_not_refunded(payments: InMemoryPayments) -> None:
    paying = PaymentInProgress(payments, ask(payments, "card", card=CARD))
    paying.receive_answer(APPROVED)
    assert payments.put("refund", txnRef=paying.txn_ref, amount="1.00") == USED_FOR_LOAN_OR_SAVINGS


def test_all_effects_of_the_purpose_are_written_with_a_refund() -> None:
    move = Posting("wallet:main:NGN", account_of("LN1", "NGN"), 1, "refund")
    effects = TransactionEffects(
        groups=(PostingGroup("LN1", WALLET_INSUFFICIENT, postings=(move,)),),
        events=(Event("LN1", "loan", b"{}"),),
        notices=(OperatorNotice("LN1", "look at it"),),
    )

    def end_with_surplus(row: Transaction, reference: str, context: Context, rows: LoadedRows) -> TransactionEffects:
        return TransactionEffects(surplus=row.amount)

    rules = PurposeRules("overpaid", need_deposit, end_with_surplus, on_refund=lambda *_: effects)
    payments = InMemoryPayments(funds=FUNDS, purposes=(rules,))
    paying = PaymentInProgress(payments, ask(payments, "card", TransactionPurpose("overpaid", "LN1"), card=CARD))
    paying.receive_answer(APPROVED)
    payments.put("refund", txnRef=paying.txn_ref, amount="1.00")
    [job] = [job for job in payments.of_type(Job) if job.kind == SEND_REFUND]
    decision = payments.receive_answer(job, APPROVED)
    assert (decision.groups[-1], decision.events[-1]) == (*effects.groups, *effects.events)
    assert decision.notices == effects.notices
    assert payments.balance(account_of("LN1", "NGN")) == 1


def test_a_collection_uses_up_an_injected_fault(payments: InMemoryPayments) -> None:
    payments.faults = (InjectedFault("mobile", "timeout", 1),)
    ask(payments, "phone", **BODIES["phone"])
    assert not payments.faults


def test_the_purpose_is_stored_with_the_payment(payments: InMemoryPayments) -> None:
    paying = PaymentInProgress(payments, ask(payments, "qrpay", state="later"))
    detail = paying.detail
    assert (detail.purpose, detail.otp_reply_state, detail.bearer) == (PURPOSE, "later", "merchant")
    assert not isinstance(ask(payments, "qrpay"), Refusal)
