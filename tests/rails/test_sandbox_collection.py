"""The collection rails of the test environment: every magic card, account and telephone, every fault, now and later."""

import asyncio
from datetime import date
from typing import Any

import msgspec
import pytest

from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, CardSecrets, CollectionOrder, NoAnswer, Unavailable
from kasuwa.rails.sandbox.collection import SandboxCards, SandboxDebit, SandboxMobile
from kasuwa.rails.sandbox.magic import SandboxOutcome, outcome_of_card

CARDS, DEBIT, MOBILE = SandboxCards(), SandboxDebit(), SandboxMobile()
MAGIC: dict[str, Any] = load_reference_data("magic_values")
ROWS = [(row, row[brand]) for row in MAGIC["cards"] for brand in ("visa", "mastercard", "verve")]
NUMBERS = [f"{row['rr']}-{number[:2]}" for row, number in ROWS]
ACCOUNTS = MAGIC["accounts"]["list"]
PHONES = MAGIC["phones"]["rr"]
TELEPHONES = ("080000000", "02400000", "07000000")

# What is open at first, and how a re-query finds it after five business seconds.
LATER = {"09": "successful", "68": "successful", "06": "failed", "96": "failed", "99": "open"}
REQUERY_SECONDS = 5.0
RIGHT, WRONG, EXPIRED, LOST = "123456", "000000", "111111", "999999"
OPEN = (orders.UNKNOWN, orders.PROCESSING)
PROVED = SandboxOutcome(auth="PIN", pin="00", proof="right")


def order(method: str = "card", **changes: Any) -> CollectionOrder:
    return msgspec.structs.replace(CollectionOrder("GP|1", method, 150_000, "NGN"), **changes)


def card(number: str, cvv: str = "100", pin: str = "1234") -> CardSecrets:
    return CardSecrets(number, "12", "30", cvv, pin)


def run(call: Any) -> Answer:
    answer: Answer = asyncio.run(call)
    return answer


def session(number: str, cvv: str = "100") -> str:
    return run(CARDS.begin(order(), card(number, cvv))).facts["session"]


def charge(number: str, pin: str = "1234", **changes: Any) -> Answer:
    return run(CARDS.charge(order(session=session(number), **changes), card(number, pin=pin)))


def ask_card(number: str, age: float = REQUERY_SECONDS, **changes: Any) -> Answer:
    """Queries a charge that was sent with the right PIN."""
    outcome = outcome_of_card(number, "100", "1234")
    sent = order(step=orders.CHARGE, session=session(number), sandbox_outcome=outcome, age_seconds=age, **changes)
    return run(CARDS.query(sent, None))


def sent_with(step: str, asked: CollectionOrder, **changes: Any) -> CollectionOrder:
    """An order as it is asked after, once the payer has proved it."""
    return msgspec.structs.replace(asked, step=step, sandbox_outcome=PROVED, **changes)


def token(number: str, **changes: Any) -> Answer:
    return run(CARDS.charge(order("token", **changes), card(number)))


# --- cards ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cvv", "auth"), [("000", "OTP"), ("100", "PIN"), ("200", "3DSecure"), ("731", "OTP")])
def test_the_cvv_chooses_the_authentication(cvv: str, auth: str) -> None:
    begun = run(CARDS.begin(order(), card("4111110000000013", cvv)))
    assert (begun.status, begun.facts["auth"]) == (orders.SUCCESSFUL, auth)
    charged = run(CARDS.charge(order(session=begun.facts["session"]), card("4111110000000013", cvv)))
    assert charged.status == (orders.SUCCESSFUL if auth == "PIN" else orders.CHALLENGE)


def test_a_session_tells_nothing_of_the_card_but_its_codes() -> None:
    assert session("4111115100000011") == "sbx-51-00-PIN"


@pytest.mark.parametrize(("row", "number"), ROWS, ids=NUMBERS)
def test_every_magic_card_answers_its_code_at_once_or_stays_open(row: dict[str, str], number: str) -> None:
    if row["rr"] == "68":
        with pytest.raises(NoAnswer):
            charge(number)
        return
    answer = charge(number)
    if row["rr"] in LATER:
        assert (answer.status, answer.code) == (orders.UNKNOWN, row["rr"])
    else:
        assert (answer.status, answer.code, answer.message) == (row["txnStatus"], row["rr"], row["bank_message"])
    assert answer.facts.get("fraud") == ("flagged" if row["rr"] == "59" else None)


@pytest.mark.parametrize(("row", "number"), ROWS, ids=NUMBERS)
def test_every_magic_card_ends_as_its_table_says_and_not_before_its_time(row: dict[str, str], number: str) -> None:
    assert ask_card(number, REQUERY_SECONDS - 0.01).status in OPEN
    late = ask_card(number)
    expected = LATER.get(row["rr"], row["txnStatus"])
    assert late.status == (orders.UNKNOWN if expected == "open" else expected)
    assert ask_card(number, 10 * 24 * 3600).status == late.status


@pytest.mark.parametrize(("row", "number"), ROWS, ids=NUMBERS)
def test_an_otp_leads_to_the_same_end_as_a_pin(row: dict[str, str], number: str) -> None:
    asked = order(session=session(number, "000"))
    if row["rr"] == "68":
        with pytest.raises(NoAnswer):
            run(CARDS.validate(asked, RIGHT))
        return
    assert run(CARDS.validate(asked, RIGHT)) == charge(number)


@pytest.mark.parametrize(("pin", "code"), [("0000", "55"), ("9999", "75"), ("4321", "00")])
def test_the_pin_may_be_wrong(pin: str, code: str) -> None:
    assert charge("4111110000000013", pin).code == code


@pytest.mark.parametrize("rail", [CARDS, DEBIT])
def test_a_wrong_or_expired_code_is_wrong_a_lost_one_unknown_and_none_a_refusal(rail: Any) -> None:
    asked = order("card" if rail is CARDS else "account", session="sbx-00-00-OTP", payer="0000000000")
    assert run(rail.validate(asked, WRONG)).message == "The OTP is not right"
    assert run(rail.validate(asked, EXPIRED)).message == "The OTP has expired"
    assert {run(rail.validate(asked, code)).status for code in (WRONG, EXPIRED)} == {orders.WRONG_CODE}
    with pytest.raises(NoAnswer):
        run(rail.validate(asked, LOST))
    assert run(rail.validate(asked, None)).message == "Customer cancellation"


@pytest.mark.parametrize("special", MAGIC["special_cards"], ids=lambda row: row["name"][:40])
def test_special_cards_do_as_their_names_say(special: dict[str, str]) -> None:
    name, number = special["name"], special["pan"]
    assert charge(number).status == orders.SUCCESSFUL
    if "decline 51" in name or "decline 54" in name:
        assert token(number).code == ("51" if "51" in name else "54")
    elif "token charge 91" in name:
        assert [token(number, attempt=n).status for n in (1, 2, 3)] == [orders.FAILED, orders.FAILED, orders.SUCCESSFUL]
        asked = [run(CARDS.query(order("token", attempt=n, age_seconds=9), card(number))).status for n in (1, 3)]
        assert asked == [orders.FAILED, orders.SUCCESSFUL]
    elif "refund" in name:
        back = run(CARDS.refund(order(session=session(number))))
        assert back.status == (orders.FAILED if "fails" in name else orders.UNKNOWN)
        later = run(CARDS.query_refund(order(session=session(number), age_seconds=REQUERY_SECONDS)))
        assert later.status == (orders.FAILED if "fails" in name else orders.SUCCESSFUL)
    else:
        assert token(number).status == orders.SUCCESSFUL


@pytest.mark.parametrize("number", ["4111111111111111", "5123450000000008", "5399830000000008"])
def test_ordinary_cards_are_approved(number: str) -> None:
    assert (charge(number).status, token(number).status) == (orders.SUCCESSFUL, orders.SUCCESSFUL)
    assert run(CARDS.refund(order(session=session(number)))).status == orders.SUCCESSFUL


def test_a_session_of_which_neither_number_nor_card_is_known_was_never_opened() -> None:
    assert run(CARDS.query(order(age_seconds=60), None)).status == orders.NOT_FOUND
    assert run(CARDS.query(order("token", age_seconds=60), card("4111110000000013"))).status == orders.SUCCESSFUL


def test_a_saved_card_whose_answer_was_lost_is_refunded_as_its_number_says() -> None:
    """A query of the charge returns the session that the refund needs."""
    found = run(CARDS.query(order("token", age_seconds=60), card("4111110000050018")))
    assert found.facts == token("4111110000050018").facts
    assert run(CARDS.refund(order("token", session=found.facts["session"]))).code == "05"


def test_a_saved_card_under_suspicion_is_flagged_as_any_other() -> None:
    assert token("4111110000000013", scenario=Scenario(rr="59")).facts["fraud"] == "flagged"


@pytest.mark.parametrize(
    ("number", "day", "code"),
    [
        ("4111110000000013", date(2030, 12, 31), "00"),
        ("4111110000000013", date(2031, 1, 1), "54"),
        ("5438898014560229", date(2031, 1, 1), "00"),
    ],
)
def test_a_saved_card_is_declined_once_it_has_expired(number: str, day: date, code: str) -> None:
    """The sample card of the public clients never does."""
    assert token(number, sent_on=day).code == code
    asked = order("token", step=orders.CHARGE, sent_on=day, age_seconds=REQUERY_SECONDS)
    assert run(CARDS.query(asked, card(number))).code == code


# --- accounts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ACCOUNTS, ids=lambda row: row["account"])
def test_every_magic_account_answers_after_its_otp_as_a_transfer_to_it_would(row: dict[str, Any]) -> None:
    asked = order("account", payer=row["account"], provider="058")
    assert run(DEBIT.begin(asked, None)).facts == {"auth": "OTP"}
    first = run(DEBIT.validate(asked, RIGHT))
    if row["after_seconds"] == 0:
        assert (first.status, first.code) == (row["final"], row["response_code"])
        return
    assert first.status not in (orders.SUCCESSFUL, orders.FAILED)
    later = run(DEBIT.query(sent_with(orders.VALIDATE, asked, age_seconds=REQUERY_SECONDS), None))
    assert later.status == (orders.NOT_FOUND if row["response_code"] == "25" else row["final"])


def test_the_third_figure_of_an_account_says_how_the_answer_comes() -> None:
    slow, manual = order("account", payer="0000000010"), order("account", payer="0000000020")
    assert run(DEBIT.validate(slow, RIGHT)).status in OPEN
    late = sent_with(orders.VALIDATE, slow, age_seconds=REQUERY_SECONDS)
    assert run(DEBIT.query(late, None)).status == orders.SUCCESSFUL
    assert run(DEBIT.validate(manual, RIGHT)).status in OPEN
    assert run(DEBIT.query(sent_with(orders.VALIDATE, manual, age_seconds=1e6), None)).status in OPEN


def test_an_ordinary_account_is_debited_and_an_inbound_transfer_stays_pending() -> None:
    assert run(DEBIT.validate(order("account", payer="0123456785"), RIGHT)).status == orders.SUCCESSFUL
    shown = order("bank_transfer", age_seconds=1e6)
    assert run(DEBIT.begin(shown, None)).status == orders.CHALLENGE
    assert run(DEBIT.query(shown, None)).status in OPEN


# --- telephones -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("head", TELEPHONES)
@pytest.mark.parametrize("code", sorted(PHONES))
def test_every_magic_telephone_does_as_its_table_says(head: str, code: str) -> None:
    asked = order("phone", payer=f"{head}{code}")
    first = run(MOBILE.begin(asked, None))
    later = run(MOBILE.query(msgspec.structs.replace(asked, age_seconds=REQUERY_SECONDS), None))
    at_once = {"00": orders.SUCCESSFUL, "51": orders.FAILED, "17": orders.FAILED, "91": orders.FAILED}
    assert first.status == at_once.get(code, orders.CHALLENGE)
    ends = {"09": orders.SUCCESSFUL, "06": orders.FAILED, **at_once}
    assert later.status == ends.get(code, orders.UNKNOWN)


def test_an_ordinary_telephone_waits_for_its_owner() -> None:
    asked = order("phone", payer="08031234567", age_seconds=1e6)
    assert run(MOBILE.begin(asked, None)).status == orders.CHALLENGE
    assert run(MOBILE.query(asked, None)).status in OPEN


@pytest.mark.parametrize(("bank", "head"), [("gtb", "*737*000*"), ("zenith", "*966*000*")])
def test_a_ussd_code_is_its_banks_and_the_same_for_the_same_payment(bank: str, head: str) -> None:
    codes = [run(MOBILE.begin(order("ussd", provider=bank), None)).facts["ussd_code"] for _ in range(2)]
    assert codes[0] == codes[1]
    assert codes[0].startswith(head)
    assert codes[0].endswith("#")


@pytest.mark.parametrize("provider", ["paga", "paga_connect"])
def test_a_hand_off_is_approved_or_declined_by_its_payer(provider: str) -> None:
    asked = order("mobile_money", provider=provider)
    assert run(MOBILE.begin(asked, None)).facts == {"auth": "redirect"}
    assert run(MOBILE.validate(asked, "")).status == orders.SUCCESSFUL
    assert run(MOBILE.validate(asked, None)).message == "Customer cancellation"


# --- faults ---------------------------------------------------------------------------------------------------------

CALLS: dict[str, Any] = {
    "begin": lambda rail, asked: rail.begin(asked, card("4111110000000013")),
    "charge": lambda rail, asked: rail.charge(asked, card("4111110000000013")),
    "validate": lambda rail, asked: rail.validate(asked, RIGHT),
    "refund": lambda rail, asked: rail.refund(asked),
}
RAILS = {"card": CARDS, "account": DEBIT, "phone": MOBILE}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("method", RAILS)
@pytest.mark.parametrize("http", ["timeout", "reset", "500", "unavailable"])
def test_every_call_meets_its_fault(call: str, method: str, http: str) -> None:
    asked = order(method, session="sbx-00-00-PIN", payer="08031234567", scenario=Scenario(http=http))
    with pytest.raises(Unavailable if http == "unavailable" else NoAnswer):
        run(CALLS[call](RAILS[method], asked))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("method", RAILS)
def test_a_rail_that_was_away_is_back_by_the_first_query(call: str, method: str) -> None:
    away = Scenario(http="unavailable")
    payer = "08000000000" if method == "phone" else "0000000000"
    asked = order(method, session="sbx-00-00-PIN", payer=payer, scenario=away, age_seconds=REQUERY_SECONDS)
    assert run(CALLS[call](RAILS[method], asked)).status in (orders.SUCCESSFUL, orders.CHALLENGE)


@pytest.mark.parametrize("method", RAILS)
def test_what_was_reset_was_never_seen(method: str) -> None:
    asked = order(method, session="sbx-00-00-PIN", scenario=Scenario(http="reset"), age_seconds=3600)
    assert run(RAILS[method].query(asked, None)).status == orders.NOT_FOUND
    assert run(RAILS[method].query_refund(asked)).status == orders.NOT_FOUND


@pytest.mark.parametrize("method", RAILS)
def test_what_timed_out_has_happened_all_the_same(method: str) -> None:
    payer = {"account": "0000000000", "phone": "08000000000"}.get(method, "")
    sent = order(method, session="sbx-00-00-PIN", payer=payer, scenario=Scenario(http="timeout"), age_seconds=5)
    asked = sent_with(orders.VALIDATE if method == "account" else orders.CHARGE, sent)
    assert run(RAILS[method].query(asked, None)).status == orders.SUCCESSFUL


@pytest.mark.parametrize("method", RAILS)
@pytest.mark.parametrize(("code", "end"), [("00", orders.SUCCESSFUL), ("51", orders.FAILED)])
def test_the_scenario_overrides_everything_and_delays_as_it_says(method: str, code: str, end: str) -> None:
    rail = RAILS[method]
    late = Scenario(rr=code, delay=60)
    asked = order(method, session="sbx-99-00-PIN", payer="08000000099", scenario=late)
    first = run(rail.begin(asked, None)) if method == "phone" else run(rail.validate(asked, RIGHT))
    assert first.status in (orders.UNKNOWN, orders.CHALLENGE)
    for age, status in ((59.0, orders.UNKNOWN), (60.0, end)):
        step = orders.BEGIN if method == "phone" else orders.VALIDATE
        found = run(rail.query(sent_with(step, asked, age_seconds=age), None))
        assert found.status == status
    refunded = run(rail.refund(order(method, session="sbx-00-00-PIN", scenario=Scenario(rr=code))))
    assert refunded.status == end


def test_a_code_that_nobody_knows_cannot_be_read() -> None:
    assert charge("4111110000000013", scenario=Scenario(rr="ZZ")).status == orders.UNREADABLE
    assert NO_SCENARIO.rr is None
