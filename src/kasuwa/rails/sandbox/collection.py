"""The collection rails of the test environment: cards, direct debit, mobile operators. They keep nothing.

A two-digit code rides in what the payer gives: RR, SS and FF of a magic card number, RR of a magic account or
telephone. A card's session carries the codes on from one step to the next, as a real network's session would. What
stays open ends by business time, never by being looked at. (data/magic_values.md)
"""

from functools import cache
from hashlib import blake2b

from kasuwa.core.banks import MAGIC_PREFIX
from kasuwa.core.catalogue import load
from kasuwa.core.references import reference_in
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer, CardSecrets, CollectOrder, NoAnswer, Unavailable
from kasuwa.rails.sandbox import bank

MAGIC_BINS = frozenset({"411111", "512345", "506099"})
# BIN(6) RR SS FF NNN C: the charge, later charges by token, the refund.
CHARGE_CODE, TOKEN_CODE, REFUND_CODE = slice(6, 8), slice(8, 10), slice(10, 12)

AUTH_BY_CVV = {"000": "OTP", "100": "PIN", "200": "3DSecure"}
DEFAULT_AUTH = "OTP"

RIGHT_OTP, EXPIRED_OTP, UNKNOWN_OTP = "123456", "111111", "999999"
PIN_CODES = {"0000": "55", "9999": "75"}

APPROVED = "00"
CANCELLED, CANCELLATION = "17", "Customer cancellation"
FLAGGED = "59"
NO_ANSWER = "68"
# Open at first; how the first re-query finds them. 99 ends only by being told.
ENDS_LATER = {"09": APPROVED, NO_ANSWER: APPROVED, "06": "06", "96": "96"}
NEVER_ENDS = "99"
OPEN_AT_FIRST = frozenset({*ENDS_LATER, NEVER_ENDS})

# An issuer that is down for two attempts of one due date and back for the third.
BACK_AFTER = {"91": 3}

MAGIC_PHONES = ("080000000", "02400000", "07000000")
USSD_PREFIX = {"gtb": "*737*000*", "zenith": "*966*000*"}


@cache
def card_meanings() -> dict[str, str]:
    meanings = {row["code"]: row["meaning"] for row in load("response_codes")["iso8583"]}
    return (
        meanings | {row["rr"]: row["bank_message"] for row in load("magic_values")["cards"]} | {CANCELLED: CANCELLATION}
    )


@cache
def approved_codes() -> frozenset[str]:
    return frozenset(row["code"] for row in load("response_codes")["iso8583"] if row["retry_class"] == "ok")


# --- what a code means --------------------------------------------------------------------------------------------


def in_progress(code: str) -> Answer:
    return Answer(ports.UNKNOWN, code, card_meanings().get(code, "Request in progress"))


def final(code: str) -> Answer:
    meaning = card_meanings().get(code)
    if meaning is None:
        return Answer(ports.UNREADABLE, code, "The rail's answer could not be read")
    fraud = {"fraud": "flagged"} if code == FLAGGED else {}
    return Answer(ports.SUCCESSFUL if code in approved_codes() else ports.FAILED, code, meaning, fraud)


def answer_first(order: CollectOrder, code: str) -> Answer:
    if order.scenario.delay > 0 or code in OPEN_AT_FIRST:
        if code == NO_ANSWER and order.scenario.delay == 0:
            raise NoAnswer("the rail does not answer")
        return in_progress("09" if code in approved_codes() else code)
    if order.attempt >= BACK_AFTER.get(code, order.attempt + 1):
        return final(APPROVED)
    return final(code)


def answer_later(order: CollectOrder, code: str) -> Answer:
    if order.scenario.http == "reset":
        return Answer(ports.NOT_FOUND, "25", "Unable to locate record")
    early = order.age_seconds < max(order.scenario.delay, bank.FIRST_REQUERY_SECONDS)
    if early or code == NEVER_ENDS:
        return in_progress("09" if code != NEVER_ENDS else code)
    if code in ENDS_LATER:
        end = ENDS_LATER[code]
        return final(end) if end == APPROVED else Answer(ports.FAILED, end, card_meanings()[end])
    if order.attempt >= BACK_AFTER.get(code, order.attempt + 1):
        return final(APPROVED)
    return final(code)


def meet_fault(order: CollectOrder) -> None:
    """What a scenario puts between us and the rail."""
    http = order.scenario.http
    if http == "unavailable":
        if order.age_seconds < bank.FIRST_REQUERY_SECONDS:
            raise Unavailable("the rail refuses calls")
    elif http is not None:
        raise NoAnswer(f"the rail: {http}")


def judge_otp(otp: str | None) -> Answer | None:
    """What a wrong code answers; None for the right one."""
    if otp is None:
        return Answer(ports.FAILED, CANCELLED, CANCELLATION)
    if otp == UNKNOWN_OTP:
        raise NoAnswer("the rail does not answer")
    if otp == RIGHT_OTP:
        return None
    return Answer(ports.WRONG, None, "The OTP has expired" if otp == EXPIRED_OTP else "The OTP is not right")


class Sandbox:
    """What the three rails have in common: a code, first or later."""

    def code_of(self, order: CollectOrder, card: CardSecrets | None) -> str:
        raise NotImplementedError

    def refund_code_of(self, order: CollectOrder) -> str:
        return order.scenario.rr or APPROVED

    async def begin(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        raise NotImplementedError

    async def charge(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        meet_fault(order)
        return answer_first(order, self.code_of(order, card))

    async def validate(self, order: CollectOrder, otp: str | None) -> Answer:
        meet_fault(order)
        return judge_otp(otp) or answer_first(order, self.code_of(order, None))

    async def query(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        return answer_later(order, self.code_of(order, card))

    async def refund(self, order: CollectOrder) -> Answer:
        meet_fault(order)
        return answer_first(order, self.refund_code_of(order))

    async def query_refund(self, order: CollectOrder) -> Answer:
        return answer_later(order, self.refund_code_of(order))


# --- cards --------------------------------------------------------------------------------------------------------


def codes_in(number: str) -> tuple[str, str, str]:
    """RR, SS and FF of a card number."""
    if number[:6] not in MAGIC_BINS:
        return APPROVED, APPROVED, APPROVED
    return number[CHARGE_CODE], number[TOKEN_CODE], number[REFUND_CODE]


def with_session(answer: Answer, card: CardSecrets | None) -> Answer:
    """A saved card's charge opens its session itself: a refund goes under it, so whoever asks is told it too."""
    assert card is not None, "a saved card is charged by its number"
    _, charge, refund = codes_in(card.number)
    facts = {**answer.facts, "session": f"sbx-{charge}-{refund}-token"}
    return Answer(answer.status, answer.code, answer.message, facts)


class SandboxCards(Sandbox):
    """Sessions are `sbx-RR-FF-AUTH`."""

    async def begin(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        meet_fault(order)
        assert card is not None, "a card payment begins with a card"
        charge, _, refund = codes_in(card.number)
        auth = AUTH_BY_CVV.get(card.cvv, DEFAULT_AUTH)
        return Answer(ports.SUCCESSFUL, APPROVED, "", {"session": f"sbx-{charge}-{refund}-{auth}", "auth": auth})

    async def charge(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        meet_fault(order)
        if order.method == "token":
            return with_session(answer_first(order, self.code_of(order, card)), card)
        auth = order.session.split("-")[3]
        if auth != "PIN":
            return Answer(ports.CHALLENGE, None, "", {"auth": auth})
        pin = card.pin if card is not None else ""
        code = self.code_of(order, card) if order.scenario.rr else PIN_CODES.get(pin, self.code_of(order, card))
        return answer_first(order, code)

    def code_of(self, order: CollectOrder, card: CardSecrets | None) -> str:
        if order.scenario.rr is not None:
            return order.scenario.rr
        if card is not None and order.method == "token":
            return codes_in(card.number)[1]
        return order.session.split("-")[1] if order.session else APPROVED

    async def query(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        if order.method != "token" and not order.session:
            # A session whose number nobody heard: to us it is as if it had never been opened.
            return Answer(ports.NOT_FOUND, "25", "Unable to locate record")
        answer = await super().query(order, card)
        return with_session(answer, card) if order.method == "token" else answer

    def refund_code_of(self, order: CollectOrder) -> str:
        return order.scenario.rr or (order.session.split("-")[2] if order.session else APPROVED)


# --- direct debit and inbound transfers ------------------------------------------------------------------------------


class SandboxDebit(Sandbox):
    """An account is debited after its holder's OTP; an inbound transfer comes when it comes (or is told to)."""

    async def begin(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        meet_fault(order)
        auth = "OTP" if order.method == "account" else "device"
        return Answer(ports.CHALLENGE, None, "", {"auth": auth})

    def code_of(self, order: CollectOrder, card: CardSecrets | None) -> str:
        if order.scenario.rr is not None:
            return order.scenario.rr
        if order.method != "account":
            return NEVER_ENDS
        if not order.payer.startswith(MAGIC_PREFIX):
            return APPROVED
        return NEVER_ENDS if order.payer[8] == bank.UNTIL_TOLD else order.payer[6:8]

    async def validate(self, order: CollectOrder, otp: str | None) -> Answer:
        meet_fault(order)
        wrong = judge_otp(otp)
        if wrong is not None:
            return wrong
        code = self.code_of(order, None)
        slow = order.payer.startswith(MAGIC_PREFIX) and order.payer[8] == bank.PROCESSING_FIRST
        if slow or order.scenario.delay > 0:
            return bank.in_progress()
        return bank.answer_with(code)

    async def query(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        code = self.code_of(order, None)
        if order.scenario.http == "reset":
            return bank.not_found()
        if code == NEVER_ENDS or order.age_seconds < max(order.scenario.delay, bank.FIRST_REQUERY_SECONDS):
            return bank.in_progress()
        return bank.answer_when_asked(code)


# --- mobile operators: telephone, USSD, QR, mobile money -----------------------------------------------------------


class SandboxMobile(Sandbox):
    async def begin(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        meet_fault(order)
        facts = {"auth": "redirect" if order.provider.startswith("paga") else "device"}
        if order.method == "ussd":
            chance = blake2b(reference_in(order.key).encode(), digest_size=2).digest()
            number = int.from_bytes(chance, "big") % 9000 + 1000
            facts = {"auth": "ussd", "ussd_code": f"{USSD_PREFIX[order.provider]}{number}#"}
        code = self.code_of(order, card)
        if code in OPEN_AT_FIRST or order.scenario.delay > 0:
            return Answer(ports.CHALLENGE, None, "", facts)
        answer = final(code)
        return Answer(answer.status, answer.code, answer.message, facts)

    def code_of(self, order: CollectOrder, card: CardSecrets | None) -> str:
        if order.scenario.rr is not None:
            return order.scenario.rr
        magic = next((head for head in MAGIC_PHONES if order.payer.startswith(head)), None)
        if magic is None or len(order.payer) != len(magic) + 2:
            return NEVER_ENDS
        # 68 means no answer here too, but nobody took anything: it stays open until it expires.
        return NEVER_ENDS if order.payer[-2:] == NO_ANSWER else order.payer[-2:]

    async def validate(self, order: CollectOrder, otp: str | None) -> Answer:
        meet_fault(order)
        if otp is None:
            return Answer(ports.FAILED, CANCELLED, CANCELLATION)
        code = self.code_of(order, None)
        return final(APPROVED if code == NEVER_ENDS else code)
