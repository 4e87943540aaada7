"""Begin of payments other than by card: required fields, what the payer is shown, refusals."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.banks import banks_by_code, is_account_number
from kasuwa.core.token_index import make_token_entry
from kasuwa.methods.payment.model import DETAIL_DECODER, JOB_DATA_DECODER, RAIL_ROUTES, EnrolledPhone
from kasuwa.methods.payment.payer_model import read_detail
from kasuwa.methods.payment.rules.channels import chargeable_banks
from kasuwa.methods.payment.rules.erase import ErasablePayment, erase_payer
from kasuwa.methods.payment.steps import make_collection_order
from kasuwa.transactions.inbound_accounts import ACCOUNT
from tests.methods.payment.in_memory_payments import (
    BEGUN,
    BODIES,
    DECLINED,
    URL,
    InMemoryPayments,
    PaymentInProgress,
    begin,
    challenge,
    fields_of,
)
from tests.rule_context import VAULT, merchant

GHANA = {"type": "ghana", "country": "GH", "currency": "GHS", "phonenumber": "0240000001", "network": "MTN"}
MPESA = {"type": "mpesa", "country": "KE", "currency": "KES", "phonenumber": "0700000001"}
PAGA = {"type": "paga", "redirect_url": "https://shop.example/back"}


@pytest.fixture
def payments() -> InMemoryPayments:
    return InMemoryPayments()


def ask(payments: InMemoryPayments, method: str, **changes: Any) -> Any:
    return payments.put("charge", method, **{"amount": "1500.00", **BODIES[method], **changes})


# --- shared ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", sorted(BODIES))
def test_a_payment_begins_with_one_job_on_its_own_rails_lane(payments: InMemoryPayments, method: str) -> None:
    paying = begin(payments, method, customer_txnref="basket-1")
    assert paying.state == ("pending", "charging", "payment.charge")
    assert (paying.job.lane, paying.begun.follow_up) == (RAIL_ROUTES[method].rail, paying.job)
    assert (paying.row.order_ref, paying.payment.method, paying.begun.numbers_used) == ("basket-1", method, 1)
    work = JOB_DATA_DECODER.decode(paying.job.work)
    assert (work.amount, work.currency) == (paying.payment.charged, "NGN")


@pytest.mark.parametrize("method", sorted(BODIES))
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"amount": "0.99"}, ["amount"]),
        ({"is_recurring": True}, ["is_recurring"]),
        ({"currency": "USD"}, ["currency"]),
        ({"country": "GH"}, ["country"]),
        ({"split": [{"ref_code": "RSnobody", "percentage": "10"}]}, ["split.0.ref_code"]),
    ],
)
def test_every_method_refuses_these_fields(
    payments: InMemoryPayments, method: str, changes: dict[str, Any], named: list[str]
) -> None:
    assert fields_of(ask(payments, method, **changes)) == named
    assert payments.rows == {}


@pytest.mark.parametrize(
    ("method", "instructions"),
    [
        ("account", {"auth_type": "OTP", "validate": "Enter the OTP that the bank sent to the customer"}),
        ("ussd", {"auth_type": "ussd", "ussd_code": "*737*000*1234#", "expires": 600}),
        ("phone", {"auth_type": "device", "enrolment": True}),
        ("qrpay", {"auth_type": "device", "expires": 600}),
        ("bank_transfer", {"auth_type": "device", "accountExpires": 600, "amount": "1500.00"}),
    ],
)
def test_the_reply_instructs_the_payer(payments: InMemoryPayments, method: str, instructions: dict[str, Any]) -> None:
    paying = begin(payments, method)
    reply = msgspec.to_builtins(paying.receive_answer(BEGUN[method]).reply)
    assert reply.items() >= {"status": 202, "txnRef": paying.txn_ref, **instructions}.items()
    assert "txnStatus" not in reply


# --- account --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("account", "named"),
    [
        ({"accountnumber": "0000000000", "bankcode": "999"}, ["account.bankcode"]),
        ({"accountnumber": "0123456780", "bankcode": "058"}, ["account.accountnumber"]),
    ],
)
def test_an_account_must_be_one_of_a_bank_that_can_be_debited(
    payments: InMemoryPayments, account: Any, named: list[str]
) -> None:
    assert fields_of(ask(payments, "account", account=account)) == named


def test_only_commercial_banks_are_debited(payments: InMemoryPayments) -> None:
    others = [bank for bank in banks_by_code().values() if bank.kind != "commercial" and bank.cbn_code]
    assert others
    refused = ask(payments, "account", account={"accountnumber": "0000000000", "bankcode": others[0].cbn_code})
    assert fields_of(refused) == ["account.bankcode"]
    names = [bank.name for bank in chargeable_banks()]
    assert names == sorted(set(names))


# --- telephone and USSD ---------------------------------------------------------------------------------------------


def test_zenith_requires_phone_and_account_number(payments: InMemoryPayments) -> None:
    assert fields_of(ask(payments, "ussd", bank="zenith")) == ["phonenumber", "accountnumber"]
    given = {"phonenumber": "08031234567", "accountnumber": "0000000000"}
    assert isinstance(PaymentInProgress(payments, ask(payments, "ussd", bank="zenith", **given)), PaymentInProgress)


def test_a_phone_is_enrolled_once_for_each_merchant(payments: InMemoryPayments) -> None:
    first, second = begin(payments, "phone"), begin(payments, "phone")
    assert [one.detail.enrolment for one in (first, second)] == [True, False]
    assert len(payments.of_type(EnrolledPhone)) == 1
    assert "enrolment" not in msgspec.to_builtins(second.receive_answer(challenge()).reply)
    spelled_otherwise = begin(payments, "phone", phonenumber="+2348031234567")
    assert not spelled_otherwise.detail.enrolment
    other = begin(payments, "phone", phonenumber="08031234568")
    assert other.detail.enrolment


@pytest.mark.parametrize(
    ("method", "fields", "expected"),
    [
        (
            "ussd",
            {"bank": "zenith", "phonenumber": "08031234567", "accountnumber": "0000000000"},
            {"payer": "08031234567", "payer_account": "0000000000", "provider": "zenith"},
        ),
        ("mobile_money", GHANA, {"payer": GHANA["phonenumber"], "provider": "ghana", "network": GHANA["network"]}),
    ],
)
def test_every_required_field_of_the_payer_reaches_the_rail(
    payments: InMemoryPayments, method: str, fields: dict[str, Any], expected: dict[str, str]
) -> None:
    paying = PaymentInProgress(payments, payments.put("charge", method, amount="1500.00", **fields))
    order = make_collection_order(paying.job, JOB_DATA_DECODER.decode(paying.opened_job.work), payments.now)
    assert {name: getattr(order, name) for name in expected} == expected
    stored = paying.detail
    assert {name: getattr(stored, name) for name in expected} == expected
    paying.receive_answer(DECLINED)
    erased = erase_payer(ErasablePayment(*msgspec.structs.astuple(paying.payment)))
    assert isinstance(erased, ErasablePayment)
    left = read_detail(erased, VAULT.unseal)
    assert (left.payer, left.payer_account, left.network) == ("", "", "")


# --- shown ----------------------------------------------------------------------------------------------------------


def test_a_qr_code_names_merchant_amount_and_page(payments: InMemoryPayments) -> None:
    paying = begin(payments, "qrpay", business_name="Ada Shirts")
    reply = msgspec.to_builtins(paying.receive_answer(challenge()).reply)
    assert "1500.00" in reply["qr_code"]
    assert "Ada Shirts" in reply["qr_code"]
    page = paying.detail.page_token
    assert reply["qr_image"] == f"{URL}/pay/{page}/qr.svg"


def test_every_bank_transfer_has_an_account_number_of_its_own_at_the_merchants_bank(payments: InMemoryPayments) -> None:
    shown = [msgspec.to_builtins(begin(payments, "bank_transfer").receive_answer(challenge()).reply) for _ in range(3)]
    numbers = {line["accountNumber"] for line in shown}
    assert len(numbers) == 3
    bank = banks_by_code()[payments.merchant.inbound_bank]
    assert all(is_account_number(bank, number) for number in numbers)
    assert {line["bankName"] for line in shown} == {bank.name}
    assert {line["accountName"] for line in shown} == {payments.merchant.name}


def test_an_account_number_in_use_is_not_given_again(payments: InMemoryPayments) -> None:
    # The entropy of the first decision is always the same.
    number = DETAIL_DECODER.decode(begin(InMemoryPayments(), "bank_transfer").payment.detail).inbound_account_number
    taken = make_token_entry(payments.context(), ACCOUNT, number, "payment GP|another")
    payments.rows[taken.key] = taken
    assert DETAIL_DECODER.decode(begin(payments, "bank_transfer").payment.detail).inbound_account_number != number


# --- mobile money ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [PAGA, {**PAGA, "type": "paga_connect"}])
def test_a_provider_with_a_page_sends_the_payer_there(payments: InMemoryPayments, fields: dict[str, str]) -> None:
    paying = PaymentInProgress(payments, payments.put("charge", "mobile_money", amount="1500.00", **fields))
    reply = msgspec.to_builtins(paying.receive_answer(challenge("redirect")).reply)
    assert reply["authURL"] == f"{URL}/pay/{paying.detail.page_token}"
    assert "auth_type" not in reply


@pytest.mark.parametrize("fields", [GHANA, MPESA])
def test_a_provider_without_a_page_prompts_the_phone(payments: InMemoryPayments, fields: dict[str, str]) -> None:
    paying = PaymentInProgress(payments, payments.put("charge", "mobile_money", amount="1500.00", **fields))
    assert paying.row.currency == fields["currency"]
    reply = msgspec.to_builtins(paying.receive_answer(challenge()).reply)
    assert (reply["auth_type"], "authURL" in reply) == ("device", False)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({**PAGA, "redirect_url": None}, ["redirect_url"]),
        ({**PAGA, "country": "KE", "currency": "KES"}, ["country", "currency"]),
        ({**GHANA, "network": None}, ["network"]),
        ({**GHANA, "phonenumber": None, "network": None}, ["phonenumber", "network"]),
        ({**GHANA, "country": None, "currency": None}, ["country", "currency"]),
        ({**MPESA, "phonenumber": None}, ["phonenumber"]),
        ({**MPESA, "currency": "USD"}, ["currency"]),
    ],
)
def test_a_missing_or_wrong_field_of_a_provider_is_named(
    payments: InMemoryPayments, fields: dict[str, Any], named: list[str]
) -> None:
    assert fields_of(payments.put("charge", "mobile_money", amount="1500.00", **fields)) == named


def test_a_merchant_may_have_another_inbound_bank() -> None:
    payments = InMemoryPayments(of=merchant(inbound_bank="058"))
    reply = begin(payments, "bank_transfer").receive_answer(challenge()).reply
    assert reply.bank_name == banks_by_code()["058"].name
