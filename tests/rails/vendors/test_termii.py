"""Text messages at Termii, against its twin, and with the forms that the twin does not have."""

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from kasuwa.rails.mail_system import MailPace, PacedSms
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.mail import REPLY_CODE
from kasuwa.rails.ports.orders import Answer, NoAnswer, NothingSent, Unavailable, UnreadableAnswer
from kasuwa.rails.twins.server import FaultKind
from kasuwa.rails.twins.termii import TermiiRules
from kasuwa.rails.vendors.client import VendorReply
from kasuwa.rails.vendors.termii import TermiiSms, TermiiTerms, read_sending
from kasuwa.terms.sms import MAX_SMS_LENGTH, Sms
from tests.rails.vendors.adapters import FAULTS_OF_ORDERS, Observed, twin_of

TERMS = TermiiTerms("TL-test-1", "Kasuwa", "dnd")
ADA = "+2348031234567"
TEXT = "Ada Stores: NGN 1,500.00 received. Reference GP1"


async def send(
    to: str = ADA,
    text: str = TEXT,
    *,
    fault: FaultKind | None = None,
    terms: TermiiTerms = TERMS,
    rules: TermiiRules | None = None,
    times: int = 1,
) -> list[Answer | Exception]:
    """Sends a message to the twin. Returns what each try brought."""
    outcomes: list[Answer | Exception] = []
    async with twin_of(rules or TermiiRules()) as (twin, transport):
        if fault is not None:
            twin.add_fault(fault)
        rail = TermiiSms(transport, twin.url, terms, Observed())
        for _ in range(times):
            try:
                outcomes.append(await rail.send(Sms(to=to, text=text)))
            except (Unavailable, NoAnswer) as error:
                outcomes.append(error)
    return outcomes


def test_a_message_is_sent_from_our_name_on_the_chosen_route() -> None:
    rules = TermiiRules()
    [answer] = asyncio.run(send(rules=rules))
    assert isinstance(answer, Answer)
    assert (answer.status, answer.facts) == (orders.SUCCESSFUL, {REPLY_CODE: "200"})
    [message] = rules.messages
    assert (message.to, message.sender, message.text, message.channel, message.pages) == (
        "2348031234567",
        "Kasuwa",
        TEXT,
        "dnd",
        1,
    )


@pytest.mark.parametrize("names_codes", [True, False])
@pytest.mark.parametrize(
    ("to", "notice"),
    [
        ("+2348031230400", ""),
        ("+2348031230402", "fund it"),
        ("+2348031230403", "register KASUWA_SMS_FROM"),
        ("+2348031230422", "KASUWA_TERMII_CHANNEL"),
    ],
)
def test_a_refusal_is_final_for_the_message_unless_it_is_about_our_account(
    to: str, notice: str, names_codes: bool
) -> None:
    rules = TermiiRules()
    rules.names_codes = names_codes
    [outcome] = asyncio.run(send(to, rules=rules))
    if notice:
        assert isinstance(outcome, Unavailable)
        assert not isinstance(outcome, NothingSent)
        assert notice in outcome.notice
    else:
        assert isinstance(outcome, Answer)
        assert (outcome.status, outcome.facts) == (orders.FAILED, {REPLY_CODE: "400"})
        assert to.removeprefix("+") not in outcome.message
    assert rules.messages == []


def test_a_used_up_balance_is_left_for_the_operator() -> None:
    rules = TermiiRules()
    rules.balance = 4
    first, second = asyncio.run(send(rules=rules, times=2))
    assert isinstance(first, Answer)
    assert isinstance(second, Unavailable)
    assert (len(rules.messages), rules.balance) == (1, 0)


@pytest.mark.parametrize("fault", FAULTS_OF_ORDERS)
def test_faults(fault: FaultKind) -> None:
    expected, is_sent = FAULTS_OF_ORDERS[fault]
    rules = TermiiRules()
    [outcome] = asyncio.run(send(rules=rules, fault=fault))
    assert isinstance(outcome, expected)
    assert len(rules.messages) == is_sent


def test_too_many_requests_hold_the_next_message_back() -> None:
    rules = TermiiRules()
    first, second = asyncio.run(send(rules=rules, fault="too_many", times=2))
    assert isinstance(first, Unavailable)
    assert first.retry_after == 7
    assert isinstance(second, NothingSent)
    assert second.retry_after > 0
    assert rules.messages == []


@pytest.mark.parametrize(
    "reply",
    [
        VendorReply(200, {"message": "Successfully Sent"}),
        VendorReply(200, {"message": "Queued", "code": "later"}),
        VendorReply(200, {"message": "Successfully Sent", "code": 200}),
        VendorReply(202, {"message": "Accepted"}),
    ],
)
def test_an_answer_that_nobody_documents_is_not_known(reply: VendorReply) -> None:
    with pytest.raises(NoAnswer):
        read_sending(reply)


def test_a_message_without_the_code_that_it_was_taken_is_not_known() -> None:
    rules = TermiiRules()
    [outcome] = asyncio.run(send("+2348031230200", rules=rules))
    assert isinstance(outcome, NoAnswer)
    assert len(rules.messages) == 1


@pytest.mark.parametrize(
    ("to", "text"),
    [
        ("08031234567", TEXT),
        ("", TEXT),
        ("+0803123456", TEXT),
        (ADA, ""),
        (ADA, "x" * (MAX_SMS_LENGTH + 1)),
        (ADA, "Ada\u202e"),
        (ADA, "a; b"),
        (ADA, "a\nb"),
    ],
)
def test_what_cannot_be_one_message_is_refused_before_it_leaves(to: str, text: str) -> None:
    rules = TermiiRules()
    [outcome] = asyncio.run(send(to, text, rules=rules))
    assert isinstance(outcome, Answer)
    assert (outcome.status, outcome.facts, rules.messages) == (orders.FAILED, {}, [])


def test_a_wrong_key_tells_the_operator_and_is_not_shown() -> None:
    terms = TermiiTerms("TL-hidden", "Kasuwa", "dnd")
    with capture_logs() as logs:
        [outcome] = asyncio.run(send(terms=terms))
    assert isinstance(outcome, Unavailable)
    assert "check the keys" in outcome.notice
    for secret in ("TL-hidden", ADA, ADA.removeprefix("+"), TEXT):
        assert secret not in f"{outcome!r} {outcome.notice} {terms!r} {Sms(to=ADA, text=TEXT)!r} {logs}"


def test_the_balance_is_in_minor_units() -> None:
    async def ask(key: str = "TL-test-1", **changes: Any) -> dict[str, int]:
        rules = TermiiRules()
        for name, value in changes.items():
            setattr(rules, name, value)
        async with twin_of(rules) as (twin, transport):
            return await TermiiSms(transport, twin.url, TermiiTerms(key, "Kasuwa", "dnd"), Observed()).balance()

    assert asyncio.run(ask(balance=1047.57)) == {"NGN": 104_757}
    with pytest.raises(UnreadableAnswer):
        asyncio.run(ask(balance="much"))
    with pytest.raises(Unavailable):
        asyncio.run(ask("other"))


def test_messages_beyond_the_share_of_the_deployment_wait() -> None:
    async def run() -> tuple[Answer, Unavailable, int]:
        rules = TermiiRules()
        async with twin_of(rules) as (twin, transport):
            rail = PacedSms(TermiiSms(transport, twin.url, TERMS, Observed()), MailPace(1))
            first = await rail.send(Sms(to=ADA, text=TEXT))
            with pytest.raises(NothingSent) as held:
                await rail.send(Sms(to=ADA, text=TEXT))
            return first, held.value, len(rules.messages)

    first, held, sent = asyncio.run(run())
    assert (first.status, sent) == (orders.SUCCESSFUL, 1)
    assert held.retry_after > 0
