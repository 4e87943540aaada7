"""Card payments step by step: what each step accepts, writes and refuses."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision
from kasuwa.core.scenario import InjectedFault, Scenario
from kasuwa.methods.payment import model
from kasuwa.methods.payment.model import JOB_DATA_DECODER, SEALED_CARD_DECODER, sealed_card_aad
from kasuwa.methods.payment.rules import charge_card
from kasuwa.methods.payment.rules.begin import make_page_token
from kasuwa.methods.payment.rules.charge_card import (
    OTP_ATTEMPTS_OVER,
    PAYMENT_EXPIRED,
    PAYMENT_FAILED,
    VALIDATION_NOT_AWAITED,
    PayerCode,
)
from kasuwa.rails.ports.orders import CardSecrets
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    CARD,
    DECLINED,
    NOBODY_ASKED,
    SILENT,
    WRONG,
    InMemoryPayments,
    PaymentInProgress,
    begin,
    challenge,
    charge,
    charge_token,
    fields_of,
    initiate,
    opened,
    paid_card,
)
from tests.rule_context import NOW, VAULT, context
from tests.walk.bounds import OTP_SECONDS

MINUTE = timedelta(minutes=1)


@pytest.fixture
def payments() -> InMemoryPayments:
    return InMemoryPayments()


# --- initiate -------------------------------------------------------------------------------------------------------


def test_a_card_payment_begins_at_the_rail_with_its_secrets_outside_the_job(payments: InMemoryPayments) -> None:
    paying = initiate(payments)
    assert paying.state == ("pending", "opening", "payment.open")
    assert paying.begun.follow_up == paying.job
    assert paying.begun.secrets == CardSecrets("4111110000000013", "12", "30", "000", "1234")
    assert paying.payment.expires_at == NOW + 10 * MINUTE


def test_only_number_and_expiry_are_stored_and_only_encrypted(payments: InMemoryPayments) -> None:
    paying = initiate(payments, card={**CARD, "ccv": "731", "pin": "8642"})
    written = b"".join(msgspec.msgpack.encode(msgspec.structs.asdict(row)) for row in payments.rows.values())
    assert b"4111110000000013" not in written
    assert b"731" not in paying.job.work.encode()
    assert b"8642" not in written
    assert paying.payment.sealed_card is not None
    kept = VAULT.unseal(payments.merchant.merchant_id, sealed_card_aad(paying.txn_ref), paying.payment.sealed_card)
    assert msgspec.json.decode(kept) == {"number": "4111110000000013", "expiry_month": "12", "expiry_year": "30"}


def test_the_repr_of_a_secret_shows_no_value() -> None:
    for secret in (
        CardSecrets("4111", "12", "30", "731", "8642"),
        PayerCode("123456"),
        SEALED_CARD_DECODER.decode(b'{"number":"4111","expiry_month":"12","expiry_year":"30"}'),
        charge_card.ChallengeAnswer("GP", "123456"),
    ):
        assert "4111" not in repr(secret)
        assert "123456" not in repr(secret)


INSTALLMENT = {"payment_schedule": {"05-02-2026": "1000", "05-03-2026": "500"}, "total": "1500.00"}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"card": {**CARD, "expiry_month": "12", "expiry_year": "25"}}, ["card.expiry_year"]),
        ({"currency": "KES"}, ["currency"]),
        ({"country": "GH", "currency": "NGN"}, ["currency"]),
        ({"country": "ZA"}, ["country"]),
        ({"country": "US", "currency": "GHS"}, ["currency"]),
        ({"amount": None}, ["amount"]),
        ({"amount": "0.99"}, ["amount"]),
        ({"amount": "10000000.01"}, ["amount"]),
        ({"is_recurring": False, "recurrent": {"frequency": "daily"}}, ["is_recurring"]),
        ({"recurrent": {"value": "31"}}, ["recurrent.value"]),
        ({"amount": None, "recurrent": {}, "installment": INSTALLMENT}, ["installment"]),
        ({"is_recurring": True, "recurrent": {"frequency": "monthly", "value": "31"}}, ["recurrent.value"]),
        ({"split": [{"ref_code": "RSnobody", "percentage": "50"}]}, ["split.0.ref_code"]),
        ({"card": {**CARD, "expiry_year": "25"}, "country": "ZA"}, ["card.expiry_year", "country"]),
        ({"card": {**CARD, "card_no": "4111110000000014"}}, ["card.card_no"]),
    ],
)
def test_invalid_fields_are_named_and_nothing_is_stored(
    payments: InMemoryPayments, changes: dict[str, Any], named: list[str]
) -> None:
    refused = payments.put("initiate", "card", **{"amount": "1500.00", "card": CARD, **changes})
    assert fields_of(refused) == named
    assert payments.rows == {}


def test_a_card_is_good_until_the_end_of_its_month() -> None:
    card = {**CARD, "expiry_month": "01", "expiry_year": "26"}
    last = InMemoryPayments(datetime.fromisoformat("2026-01-31T23:59:59+01:00"))
    assert initiate(last, card=card).row.status == "pending"
    over = InMemoryPayments(datetime.fromisoformat("2026-02-01T00:00:00+01:00"))
    assert fields_of(over.put("initiate", "card", amount="10.00", card=card)) == ["card.expiry_month"]


@pytest.mark.parametrize(("country", "currency"), [("NG", "USD"), ("GH", "GHS"), ("KE", "KES"), ("US", "USD")])
def test_cards_are_charged_in_their_countrys_currency_or_in_dollars(
    payments: InMemoryPayments, country: str, currency: str
) -> None:
    assert initiate(payments, country=country, currency=currency).row.currency == currency


@pytest.mark.parametrize(
    ("auth", "instructions"),
    [
        ("PIN", {"apply_auth": "PIN"}),
        ("OTP", {"apply_auth": "OTP", "validate": "Enter the OTP that the bank sent to the customer"}),
        ("3DSecure", {"apply_auth": "3DSecure"}),
    ],
)
def test_an_opened_session_asks_for_the_cards_authentication(
    payments: InMemoryPayments, auth: str, instructions: dict[str, str]
) -> None:
    paying = initiate(payments)
    reply = msgspec.to_builtins(paying.receive_answer(opened(auth)).reply)
    assert paying.state == ("pending", "initiated", "payment.expire")
    assert paying.job.due == paying.payment.expires_at
    assert reply.items() >= {"status": 202, "txnRef": paying.txn_ref, **instructions}.items()
    assert ("authURL" in reply) == (auth == "3DSecure")
    assert (paying.payment.session, paying.payment.auth) == ("S-1", auth)
    assert JOB_DATA_DECODER.decode(paying.job.work).session == "S-1"


# --- charge -------------------------------------------------------------------------------------------------------


def initiated(payments: InMemoryPayments, auth: str = "PIN") -> PaymentInProgress:
    paying = initiate(payments)
    paying.receive_answer(opened(auth))
    return paying


def test_a_charge_takes_the_card_to_the_rail_under_its_session(payments: InMemoryPayments) -> None:
    paying = initiated(payments)
    decision = charge(payments, paying, "PIN")
    assert paying.state == ("pending", "charging", "payment.charge")
    assert (decision.follow_up, decision.secrets.pin) == (paying.job, "1234")
    assert (JOB_DATA_DECODER.decode(paying.job.work).session, paying.job.attempt) == ("S-1", 0)


@pytest.mark.parametrize(
    ("auth", "changes", "named"),
    [
        ("OTP", {}, ["auth_type"]),
        ("PIN", {"amount": "1500.01"}, ["amount"]),
        ("PIN", {"currency": "USD"}, ["currency"]),
        ("PIN", {"card": {**CARD, "card_no": "5123450000000016"}}, ["card.card_no"]),
        ("PIN", {"card": {**CARD, "expiry_year": "31"}}, ["card.card_no"]),
        ("PIN", {"card": {**CARD, "pin": None}}, ["card.pin"]),
        ("OTP", {"amount": "1.00", "card": {**CARD, "expiry_year": "31"}}, ["auth_type", "amount", "card.card_no"]),
    ],
)
def test_a_charge_that_differs_from_its_first_step_changes_nothing(
    payments: InMemoryPayments, auth: str, changes: dict[str, Any], named: list[str]
) -> None:
    paying = initiated(payments)
    before = dict(payments.rows)
    assert fields_of(charge(payments, paying, auth, **changes)) == named
    assert payments.rows == before


def test_a_charge_with_the_reference_of_another_method_is_unknown(payments: InMemoryPayments) -> None:
    other = begin(payments, "account")
    for reference in ("GP123456789202601051A", other.txn_ref):
        assert payments.put("charge", "card", txnRef=reference, auth_type="PIN", card=CARD) == model.UNKNOWN_REFERENCE


@pytest.mark.parametrize(("auth", "stage"), [("OTP", "awaiting_otp"), ("3DSecure", "awaiting_3ds")])
def test_a_charge_that_is_repeated_while_the_payer_is_awaited_answers_the_same_step(
    payments: InMemoryPayments, auth: str, stage: str
) -> None:
    paying = initiated(payments, auth)
    charge(payments, paying, auth)
    first = paying.receive_answer(challenge(auth)).reply
    assert paying.state == ("pending", stage, "payment.expire")
    again = charge(payments, paying, auth)
    assert (again.reply, again.rows, again.jobs, again.follow_up, again.in_progress) == (first, (), (), None, False)


def test_a_charge_that_is_repeated_while_it_is_at_the_rail_waits_for_it(payments: InMemoryPayments) -> None:
    paying = initiated(payments)
    charge(payments, paying, "PIN")
    again = charge(payments, paying, "PIN")
    assert (again.in_progress, again.follow_up, again.rows) == (True, None, ())


def test_a_charge_that_is_repeated_after_the_end_answers_the_result(payments: InMemoryPayments) -> None:
    paying = paid_card(payments)
    again = charge(payments, paying, "PIN")
    assert (again.reply.txn_status, again.follow_up) == ("successful", None)


# --- validate -------------------------------------------------------------------------------------------------------


def awaiting(payments: InMemoryPayments, auth: str = "OTP") -> PaymentInProgress:
    paying = initiated(payments, auth)
    charge(payments, paying, auth)
    paying.receive_answer(challenge(auth))
    return paying


def validate(payments: InMemoryPayments, txn_ref: str, otp: str = "123456") -> Any:
    return payments.put("validate", txnRef=txn_ref, otp=otp)


def test_an_otp_goes_to_the_rail_and_is_not_stored(payments: InMemoryPayments) -> None:
    paying = awaiting(payments)
    decision = validate(payments, paying.txn_ref, "735192")
    assert paying.state == ("pending", "validating", "payment.validate")
    assert decision.secrets == PayerCode("735192")
    assert all("735192" not in str(msgspec.structs.asdict(row)) for row in payments.rows.values())


def test_a_code_may_come_straight_after_initiate(payments: InMemoryPayments) -> None:
    otp, pin = initiated(payments), initiated(payments, "OTP")
    assert isinstance(validate(payments, pin.txn_ref), Decision)
    assert validate(payments, otp.txn_ref) == VALIDATION_NOT_AWAITED


def test_a_validated_payment_replies_with_its_token(payments: InMemoryPayments) -> None:
    paying = awaiting(payments)
    validate(payments, paying.txn_ref)
    reply = paying.receive_answer(APPROVED).reply
    assert (reply.message, reply.txn_status, reply.card_token) == (
        "Validation Successful",
        "successful",
        paying.payment.token,
    )


def test_three_wrong_codes_fail_a_payment_and_no_fourth_is_taken(payments: InMemoryPayments) -> None:
    paying = awaiting(payments)
    for left in (2, 1):
        validate(payments, paying.txn_ref)
        assert paying.receive_answer(WRONG).reply.code == 203
        assert paying.state == ("pending", "awaiting_otp", "payment.expire")
        assert paying.payment.tries == 3 - left
    validate(payments, paying.txn_ref)
    assert paying.receive_answer(WRONG).reply.message == "The OTP was wrong three times; the payment has failed"
    assert paying.state == ("failed", "done", None)
    for _ in range(2):
        assert validate(payments, paying.txn_ref) == OTP_ATTEMPTS_OVER


def test_an_otp_after_ten_minutes_is_refused_even_before_the_expiry_job_has_run(
    payments: InMemoryPayments,
) -> None:
    for seconds, is_within in OTP_SECONDS.sides:
        paying = awaiting(payments)
        payments.advance(seconds=seconds)
        assert (validate(payments, paying.txn_ref) != PAYMENT_EXPIRED) == is_within, seconds
    paying.receive_answer(NOBODY_ASKED)
    assert paying.row.message == "The customer did not complete the payment in time"
    assert validate(payments, paying.txn_ref) == PAYMENT_EXPIRED


def test_an_otp_for_a_declined_or_unknown_payment_is_refused(payments: InMemoryPayments) -> None:
    declined = awaiting(payments)
    validate(payments, declined.txn_ref)
    declined.receive_answer(DECLINED)
    refused = validate(payments, declined.txn_ref)
    assert refused == PAYMENT_FAILED.fill(message=DECLINED.message)
    assert validate(payments, "GP|nothing") == model.UNKNOWN_REFERENCE


def test_a_repeated_otp_of_a_successful_payment_gets_its_outcome(payments: InMemoryPayments) -> None:
    paying = awaiting(payments)
    validate(payments, paying.txn_ref)
    first = paying.receive_answer(APPROVED).reply
    again = validate(payments, paying.txn_ref)
    assert isinstance(again, Decision)
    assert (again.reply, again.rows, again.jobs, again.groups) == (first, (), (), ())


def test_an_otp_while_the_outcome_of_the_last_one_is_unknown_gets_pending(payments: InMemoryPayments) -> None:
    lost = awaiting(payments)
    validate(payments, lost.txn_ref)
    lost.receive_answer(SILENT)
    validated = validate(payments, lost.txn_ref)
    assert (validated.reply.status, validated.reply.txn_status, validated.follow_up, validated.rows) == (
        200,
        "pending",
        None,
        (),
    )


def test_a_second_code_while_the_first_is_at_the_rail_waits_for_it(payments: InMemoryPayments) -> None:
    paying = awaiting(payments)
    validate(payments, paying.txn_ref)
    again = validate(payments, paying.txn_ref)
    assert (again.in_progress, again.follow_up, again.secrets) == (True, None, None)


# --- pages ----------------------------------------------------------------------------------------------------------


def test_a_challenge_is_answered_on_its_page_and_not_by_validate(payments: InMemoryPayments) -> None:
    paying = awaiting(payments, "3DSecure")
    assert validate(payments, paying.txn_ref) == VALIDATION_NOT_AWAITED
    assert payments.answer_page(paying.txn_ref, "123456").secrets == PayerCode("123456")
    assert paying.state == ("pending", "validating", "payment.validate")


def test_a_payer_who_declines_on_the_page_sends_no_code(payments: InMemoryPayments) -> None:
    paying = awaiting(payments, "3DSecure")
    assert payments.answer_page(paying.txn_ref, None).secrets == PayerCode(None)


def test_a_hand_off_is_answered_on_its_page(payments: InMemoryPayments) -> None:
    paying = begin(payments, "mobile_money")
    paying.receive_answer(challenge("redirect"))
    assert isinstance(payments.answer_page(paying.txn_ref, ""), Decision)
    assert paying.state == ("pending", "validating", "payment.validate")


@pytest.mark.parametrize("method", ["qrpay", "bank_transfer", "phone", "ussd"])
def test_a_method_that_is_paid_elsewhere_cannot_be_approved_on_a_page(payments: InMemoryPayments, method: str) -> None:
    paying = begin(payments, method)
    paying.receive_answer(challenge())
    assert payments.answer_page(paying.txn_ref, "") == VALIDATION_NOT_AWAITED
    assert payments.answer_page("GP|nothing", "") == model.UNKNOWN_REFERENCE


# --- how a step's call goes ---------------------------------------------------------------------------------------


def test_a_request_scenario_precedes_an_injected_fault_and_the_step_before(payments: InMemoryPayments) -> None:
    paying = PaymentInProgress(
        payments, payments.put("initiate", "card", Scenario(rr="09", http="500"), amount="10.00", card=CARD)
    )
    paying.receive_answer(opened("PIN"))
    charge(payments, paying, "PIN")
    assert JOB_DATA_DECODER.decode(paying.job.work).scenario == Scenario(rr="09")
    other = initiated(payments)
    payments.faults = (InjectedFault("card", "timeout", 2),)
    charge(payments, other, "PIN")
    assert JOB_DATA_DECODER.decode(other.job.work).scenario == Scenario(http="timeout")
    assert payments.faults == (InjectedFault("card", "timeout", 1),)
    result = initiated(payments)
    payments.faults = (InjectedFault("card", "timeout", 1),)
    payments.put("charge", "card", Scenario(rr="51"), txnRef=result.txn_ref, auth_type="PIN", card=CARD)
    assert JOB_DATA_DECODER.decode(result.job.work).scenario == Scenario(rr="51")


def test_every_step_that_calls_a_rail_uses_up_an_injected_fault(payments: InMemoryPayments) -> None:
    payments.faults = (
        InjectedFault("card", "reset", 3),
        InjectedFault("bank", "reset", 1),
        InjectedFault("mobile", "reset", 1),
    )
    paying = initiate(payments)
    paying.receive_answer(opened("OTP"))
    charge(payments, paying, "OTP")
    paying.receive_answer(challenge("OTP"))
    validate(payments, paying.txn_ref)
    assert [fault.rail for fault in payments.faults] == ["bank", "mobile"]
    begin(payments, "account")
    begin(payments, "phone")
    assert not payments.faults


# --- a saved card ---------------------------------------------------------------------------------------------------


def test_a_saved_card_is_charged_without_secrets(payments: InMemoryPayments) -> None:
    token = paid_card(payments).payment.token
    assert token is not None
    paying = charge_token(payments, token)
    assert paying.state == ("pending", "charging", "payment.charge")
    assert (paying.begun.secrets, paying.payment.sealed_card) == (None, None)
    paying.receive_answer(APPROVED)
    assert (paying.row.status, paying.payment.token) == ("successful", token)


def test_a_declined_token_charge_shows_no_token(payments: InMemoryPayments) -> None:
    token = paid_card(payments).payment.token
    assert token is not None
    reply = msgspec.to_builtins(charge_token(payments, token).receive_answer(DECLINED).reply)
    assert (reply["txnStatus"], reply["bank_message"], "cardToken" in reply) == ("failed", "Insufficient Funds", False)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, ["token"]),
        ({"country": "GH"}, ["token", "currency"]),
        ({"is_recurring": True}, ["token", "is_recurring"]),
        ({"amount": None}, ["token", "amount"]),
        ({"amount": "0.01"}, ["token", "amount"]),
    ],
)
def test_every_field_error_of_a_token_charge_is_named(
    payments: InMemoryPayments, changes: dict[str, Any], named: list[str]
) -> None:
    fields = {"token": "nobody.1", "amount": "10.00", **changes}
    assert fields_of(payments.put("charge", "token", **fields)) == named


def test_page_tokens_are_long_and_differ() -> None:
    tokens = {make_page_token(context(entropy=bytes([n]) * 32)) for n in range(10)}
    assert len(tokens) == 10
    assert all(len(token) >= 40 for token in tokens)
