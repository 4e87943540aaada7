"""Card payments step by step: what may be asked when, what each step writes, and what is refused. (D15, D16)"""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision
from kasuwa.core.scenario import PlannedFault, Scenario
from kasuwa.methods.payment import decide, decide_card
from kasuwa.methods.payment.decide import KEPT, WORK, sealed_card_place
from kasuwa.methods.payment.decide_card import NOT_AWAITED, TIME_IS_OVER, TRIES_ARE_OVER, Code
from kasuwa.rails.ports import CardSecrets
from tests.methods.payment.desk import (
    APPROVED,
    CARD,
    DECLINED,
    NOBODY_ASKED,
    SILENT,
    WRONG,
    Desk,
    Paying,
    begin,
    challenge,
    charge,
    charge_token,
    fields_of,
    initiate,
    opened,
    paid_card,
)
from tests.rules import NOW, VAULT, context

MINUTE = timedelta(minutes=1)


@pytest.fixture
def desk() -> Desk:
    return Desk()


# --- initiate -------------------------------------------------------------------------------------------------------


def test_a_card_payment_begins_at_the_rail_with_its_secrets_beside_the_job(desk: Desk) -> None:
    paying = initiate(desk)
    assert paying.stands == ("pending", "opening", "payment.open")
    assert paying.begun.then == paying.job
    assert paying.begun.beside == CardSecrets("4111110000000013", "12", "30", "000", "1234")
    assert paying.payment.expires_at == NOW + 10 * MINUTE


def test_only_number_and_expiry_are_kept_and_only_sealed(desk: Desk) -> None:
    paying = initiate(desk, card={**CARD, "ccv": "731", "pin": "8642"})
    written = b"".join(msgspec.msgpack.encode(msgspec.structs.asdict(row)) for row in desk.rows.values())
    assert b"4111110000000013" not in written
    assert b"731" not in paying.job.work.encode()
    assert b"8642" not in written
    assert paying.payment.sealed_card is not None
    kept = VAULT.open(desk.merchant.merchant_id, sealed_card_place(paying.txn_ref), paying.payment.sealed_card)
    assert msgspec.json.decode(kept) == {"number": "4111110000000013", "expiry_month": "12", "expiry_year": "30"}


def test_nothing_that_holds_a_secret_shows_it_in_a_trace() -> None:
    for secret in (
        CardSecrets("4111", "12", "30", "731", "8642"),
        Code("123456"),
        KEPT.decode(b'{"number":"4111","expiry_month":"12","expiry_year":"30"}'),
        decide_card.AnswerChallenge("GP", "123456"),
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
def test_what_is_wrong_is_named_and_nothing_is_kept(desk: Desk, changes: dict[str, Any], named: list[str]) -> None:
    refused = desk.put("initiate", "card", **{"amount": "1500.00", "card": CARD, **changes})
    assert fields_of(refused) == named
    assert desk.rows == {}


def test_a_card_is_good_until_the_end_of_its_month() -> None:
    card = {**CARD, "expiry_month": "01", "expiry_year": "26"}
    last = Desk(datetime.fromisoformat("2026-01-31T23:59:59+01:00"))
    assert initiate(last, card=card).row.status == "pending"
    over = Desk(datetime.fromisoformat("2026-02-01T00:00:00+01:00"))
    assert fields_of(over.put("initiate", "card", amount="10.00", card=card)) == ["card.expiry_month"]


@pytest.mark.parametrize(("country", "currency"), [("NG", "USD"), ("GH", "GHS"), ("KE", "KES"), ("US", "USD")])
def test_cards_are_charged_in_their_countrys_currency_or_in_dollars(desk: Desk, country: str, currency: str) -> None:
    assert initiate(desk, country=country, currency=currency).row.currency == currency


@pytest.mark.parametrize(
    ("auth", "told"),
    [
        ("PIN", {"apply_auth": "PIN"}),
        ("OTP", {"apply_auth": "OTP", "validate": "Enter the OTP that the bank sent to the customer"}),
        ("3DSecure", {"apply_auth": "3DSecure"}),
    ],
)
def test_an_opened_session_asks_for_the_cards_authentication(desk: Desk, auth: str, told: dict[str, str]) -> None:
    paying = initiate(desk)
    reply = msgspec.to_builtins(paying.hear(opened(auth)).reply)
    assert paying.stands == ("pending", "initiated", "payment.expire")
    assert paying.job.due == paying.payment.expires_at
    assert reply.items() >= {"status": 202, "txnRef": paying.txn_ref, **told}.items()
    assert ("authURL" in reply) == (auth == "3DSecure")
    assert (paying.payment.session, paying.payment.auth) == ("S-1", auth)
    assert WORK.decode(paying.job.work).session == "S-1"


# --- charge -------------------------------------------------------------------------------------------------------


def initiated(desk: Desk, auth: str = "PIN") -> Paying:
    paying = initiate(desk)
    paying.hear(opened(auth))
    return paying


def test_a_charge_takes_the_card_to_the_rail_under_its_session(desk: Desk) -> None:
    paying = initiated(desk)
    decision = charge(desk, paying, "PIN")
    assert paying.stands == ("pending", "charging", "payment.charge")
    assert (decision.then, decision.beside.pin) == (paying.job, "1234")
    assert (WORK.decode(paying.job.work).session, paying.job.attempt) == ("S-1", 0)


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
    desk: Desk, auth: str, changes: dict[str, Any], named: list[str]
) -> None:
    paying = initiated(desk)
    before = dict(desk.rows)
    assert fields_of(charge(desk, paying, auth, **changes)) == named
    assert desk.rows == before


def test_a_charge_of_no_card_payment_is_unknown(desk: Desk) -> None:
    other = begin(desk, "account")
    for reference in ("GP123456789202601051A", other.txn_ref):
        assert desk.put("charge", "card", txnRef=reference, auth_type="PIN", card=CARD) == decide.UNKNOWN_REFERENCE


@pytest.mark.parametrize(("auth", "stage"), [("OTP", "awaiting_otp"), ("3DSecure", "awaiting_3ds")])
def test_a_charge_that_is_repeated_while_the_payer_is_awaited_answers_the_same_step(
    desk: Desk, auth: str, stage: str
) -> None:
    paying = initiated(desk, auth)
    charge(desk, paying, auth)
    first = paying.hear(challenge(auth)).reply
    assert paying.stands == ("pending", stage, "payment.expire")
    again = charge(desk, paying, auth)
    assert (again.reply, again.rows, again.jobs, again.then, again.wait) == (first, (), (), None, False)


def test_a_charge_that_is_repeated_while_it_is_at_the_rail_waits_for_it(desk: Desk) -> None:
    paying = initiated(desk)
    charge(desk, paying, "PIN")
    again = charge(desk, paying, "PIN")
    assert (again.wait, again.then, again.rows) == (True, None, ())


def test_a_charge_that_is_repeated_after_the_end_answers_the_result(desk: Desk) -> None:
    paying = paid_card(desk)
    again = charge(desk, paying, "PIN")
    assert (again.reply.txn_status, again.then) == ("successful", None)


# --- validate -------------------------------------------------------------------------------------------------------


def awaiting(desk: Desk, auth: str = "OTP") -> Paying:
    paying = initiated(desk, auth)
    charge(desk, paying, auth)
    paying.hear(challenge(auth))
    return paying


def validate(desk: Desk, txn_ref: str, otp: str = "123456") -> Any:
    return desk.put("validate", txnRef=txn_ref, otp=otp)


def test_the_code_goes_to_the_rail_in_memory_alone(desk: Desk) -> None:
    paying = awaiting(desk)
    decision = validate(desk, paying.txn_ref, "735192")
    assert paying.stands == ("pending", "validating", "payment.validate")
    assert decision.beside == Code("735192")
    assert all("735192" not in str(msgspec.structs.asdict(row)) for row in desk.rows.values())


def test_a_code_may_come_straight_after_initiate(desk: Desk) -> None:
    otp, pin = initiated(desk), initiated(desk, "OTP")
    assert isinstance(validate(desk, pin.txn_ref), Decision)
    assert validate(desk, otp.txn_ref) == NOT_AWAITED


def test_a_validated_payment_is_told_so_with_its_token(desk: Desk) -> None:
    paying = awaiting(desk)
    validate(desk, paying.txn_ref)
    reply = paying.hear(APPROVED).reply
    assert (reply.message, reply.txn_status, reply.card_token) == (
        "Validation Successful",
        "successful",
        paying.payment.token,
    )


def test_three_wrong_codes_fail_a_payment_and_no_fourth_is_taken(desk: Desk) -> None:
    paying = awaiting(desk)
    for left in (2, 1):
        validate(desk, paying.txn_ref)
        assert paying.hear(WRONG).reply.code == 203
        assert paying.stands == ("pending", "awaiting_otp", "payment.expire")
        assert paying.payment.tries == 3 - left
    validate(desk, paying.txn_ref)
    assert paying.hear(WRONG).reply.message == "The OTP was wrong three times; the payment has failed"
    assert paying.stands == ("failed", "done", None)
    for _ in range(2):
        assert validate(desk, paying.txn_ref) == TRIES_ARE_OVER


def test_after_ten_minutes_a_code_is_too_late_whether_or_not_somebody_has_ended_the_payment(desk: Desk) -> None:
    paying = awaiting(desk)
    desk.wait(minutes=10)
    assert validate(desk, paying.txn_ref) == TIME_IS_OVER
    paying.hear(NOBODY_ASKED)
    assert paying.row.message == "The customer did not complete the payment in time"
    assert validate(desk, paying.txn_ref) == TIME_IS_OVER


def test_a_code_for_what_ended_otherwise_or_is_unknown_is_refused(desk: Desk) -> None:
    declined = awaiting(desk)
    validate(desk, declined.txn_ref)
    declined.hear(DECLINED)
    refused = validate(desk, declined.txn_ref)
    assert (refused.code, DECLINED.message in refused.message) == (104, True)
    assert validate(desk, "GP|nothing") == decide.UNKNOWN_REFERENCE


def test_a_repeated_code_of_a_successful_payment_is_answered_its_outcome(desk: Desk) -> None:
    paying = awaiting(desk)
    validate(desk, paying.txn_ref)
    first = paying.hear(APPROVED).reply
    again = validate(desk, paying.txn_ref)
    assert isinstance(again, Decision)
    assert (again.reply, again.rows, again.jobs, again.groups) == (first, (), (), ())


def test_a_code_while_the_outcome_of_the_last_one_is_unknown_is_answered_pending(desk: Desk) -> None:
    lost = awaiting(desk)
    validate(desk, lost.txn_ref)
    lost.hear(SILENT)
    told = validate(desk, lost.txn_ref)
    assert (told.reply.status, told.reply.txn_status, told.then, told.rows) == (200, "pending", None, ())


def test_a_second_code_while_the_first_is_at_the_rail_waits_for_it(desk: Desk) -> None:
    paying = awaiting(desk)
    validate(desk, paying.txn_ref)
    again = validate(desk, paying.txn_ref)
    assert (again.wait, again.then, again.beside) == (True, None, None)


# --- pages ----------------------------------------------------------------------------------------------------------


def test_a_challenge_is_answered_on_its_page_and_not_by_validate(desk: Desk) -> None:
    paying = awaiting(desk, "3DSecure")
    assert validate(desk, paying.txn_ref) == NOT_AWAITED
    assert desk.answer_page(paying.txn_ref, "123456").beside == Code("123456")
    assert paying.stands == ("pending", "validating", "payment.validate")


def test_a_payer_who_declines_on_the_page_sends_no_code(desk: Desk) -> None:
    paying = awaiting(desk, "3DSecure")
    assert desk.answer_page(paying.txn_ref, None).beside == Code(None)


def test_a_hand_off_is_answered_on_its_page(desk: Desk) -> None:
    paying = begin(desk, "mobile_money")
    paying.hear(challenge("redirect"))
    assert isinstance(desk.answer_page(paying.txn_ref, ""), Decision)
    assert paying.stands == ("pending", "validating", "payment.validate")


@pytest.mark.parametrize("method", ["qrpay", "bank_transfer", "phone", "ussd"])
def test_nobody_can_approve_on_a_page_what_is_paid_elsewhere(desk: Desk, method: str) -> None:
    paying = begin(desk, method)
    paying.hear(challenge())
    assert desk.answer_page(paying.txn_ref, "") == NOT_AWAITED
    assert desk.answer_page("GP|nothing", "") == decide.UNKNOWN_REFERENCE


# --- how a step's call goes ---------------------------------------------------------------------------------------


def test_a_step_goes_as_its_own_request_says_else_as_planned_else_as_the_step_before(desk: Desk) -> None:
    paying = Paying(desk, desk.put("initiate", "card", Scenario(rr="09", http="500"), amount="10.00", card=CARD))
    paying.hear(opened("PIN"))
    charge(desk, paying, "PIN")
    assert WORK.decode(paying.job.work).scenario == Scenario(rr="09")
    other = initiated(desk)
    desk.faults = (PlannedFault("card", "timeout", 2),)
    charge(desk, other, "PIN")
    assert WORK.decode(other.job.work).scenario == Scenario(http="timeout")
    assert desk.faults == (PlannedFault("card", "timeout", 1),)
    said = initiated(desk)
    desk.faults = (PlannedFault("card", "timeout", 1),)
    desk.put("charge", "card", Scenario(rr="51"), txnRef=said.txn_ref, auth_type="PIN", card=CARD)
    assert WORK.decode(said.job.work).scenario == Scenario(rr="51")


def test_planned_faults_are_used_up_by_every_step_that_calls_a_rail(desk: Desk) -> None:
    desk.faults = (
        PlannedFault("card", "reset", 3),
        PlannedFault("bank", "reset", 1),
        PlannedFault("mobile", "reset", 1),
    )
    paying = initiate(desk)
    paying.hear(opened("OTP"))
    charge(desk, paying, "OTP")
    paying.hear(challenge("OTP"))
    validate(desk, paying.txn_ref)
    assert [fault.rail for fault in desk.faults] == ["bank", "mobile"]
    begin(desk, "account")
    begin(desk, "phone")
    assert not desk.faults


# --- a saved card ---------------------------------------------------------------------------------------------------


def test_a_saved_card_is_charged_without_secrets(desk: Desk) -> None:
    token = paid_card(desk).payment.token
    assert token is not None
    paying = charge_token(desk, token)
    assert paying.stands == ("pending", "charging", "payment.charge")
    assert (paying.begun.beside, paying.payment.sealed_card) == (None, None)
    paying.hear(APPROVED)
    assert (paying.row.status, paying.payment.token) == ("successful", token)


def test_a_declined_token_charge_shows_no_token(desk: Desk) -> None:
    token = paid_card(desk).payment.token
    assert token is not None
    reply = msgspec.to_builtins(charge_token(desk, token).hear(DECLINED).reply)
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
def test_every_fault_of_a_token_charge_is_named(desk: Desk, changes: dict[str, Any], named: list[str]) -> None:
    said = {"token": "nobody.1", "amount": "10.00", **changes}
    assert fields_of(desk.put("charge", "token", **said)) == named


def test_a_page_is_found_by_what_nobody_guesses() -> None:
    tokens = {decide_card.page_token(context(entropy=bytes([n]) * 32)) for n in range(10)}
    assert len(tokens) == 10
    assert all(len(token) >= 40 for token in tokens)
