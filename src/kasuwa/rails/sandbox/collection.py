"""The collection rails of the test environment: cards, direct debit, mobile operators. They keep no state.

The payer's details hold two-digit response codes: RR, SS and FF of a magic card number, RR of a magic account or
telephone number. A card's session passes the codes from one step to the next, as a real network's session would. An
open order ends by business time, not by being queried. (data/magic_values.md)

Each rail computes the result of a step in one place (`decide_result`). The step returns it at once. A query returns the
same result for a step whose answer was lost, from the order's `sandbox_outcome` (its card and the payer's proof).
"""

from functools import cache
from hashlib import blake2b

import msgspec

from kasuwa.core.banks import MAGIC_PREFIX
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.references import reference_of_rail_key
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, CardSecrets, CollectionOrder, NoAnswer
from kasuwa.rails.sandbox import bank
from kasuwa.rails.sandbox.magic import (
    APPROVED,
    SAMPLE_CARD,
    SandboxOutcome,
    card_outcome_codes,
    choose_proof,
    outcome_of_card,
)

CANCELLED, CANCELLATION = "17", "Customer cancellation"
WRONG_PIN = "55"
EXPIRED_CARD = "54"
FLAGGED = "59"
NO_ANSWER = "68"
# Codes that are open at first, with the code at the first re-query. 99 ends only by a simulated call-back.
CODE_AFTER_REQUERY = {"09": APPROVED, NO_ANSWER: APPROVED, "06": "06", "96": "96"}
NEVER_ENDS = "99"
OPEN_AT_FIRST = frozenset({*CODE_AFTER_REQUERY, NEVER_ENDS})

# An issuer that is down for two attempts of one due date and back for the third.
RECOVERS_ON_ATTEMPT = {"91": 3}

MAGIC_PHONES = ("080000000", "02400000", "07000000")
USSD_PREFIX = {"gtb": "*737*000*", "zenith": "*966*000*"}

NOT_FOUND = Answer(orders.NOT_FOUND, "25", "Unable to locate record")


@cache
def card_meanings() -> dict[str, str]:
    meanings = {row["code"]: row["meaning"] for row in load_reference_data("response_codes")["iso8583"]}
    return (
        meanings
        | {row["rr"]: row["bank_message"] for row in load_reference_data("magic_values")["cards"]}
        | {CANCELLED: CANCELLATION}
    )


@cache
def approved_codes() -> frozenset[str]:
    return frozenset(
        row["code"] for row in load_reference_data("response_codes")["iso8583"] if row["retry_class"] == "ok"
    )


# --- answers for codes --------------------------------------------------------------------------------------------


def in_progress(code: str) -> Answer:
    return Answer(orders.UNKNOWN, code, card_meanings().get(code, "Request in progress"))


def final_answer(code: str) -> Answer:
    meaning = card_meanings().get(code)
    if meaning is None:
        return Answer(orders.UNREADABLE, code, "The rail's answer could not be read")
    fraud = {"fraud": "flagged"} if code == FLAGGED else {}
    return Answer(orders.SUCCESSFUL if code in approved_codes() else orders.FAILED, code, meaning, fraud)


def answer_send(order: CollectionOrder, code: str) -> Answer:
    if order.scenario.delay > 0 or code in OPEN_AT_FIRST:
        if code == NO_ANSWER and order.scenario.delay == 0:
            raise NoAnswer("the rail does not answer")
        return in_progress("09" if code in approved_codes() else code)
    if order.attempt >= RECOVERS_ON_ATTEMPT.get(code, order.attempt + 1):
        return final_answer(APPROVED)
    return final_answer(code)


def answer_query(order: CollectionOrder, code: str) -> Answer:
    if code == NEVER_ENDS:
        return in_progress(code)
    if code in CODE_AFTER_REQUERY:
        end = CODE_AFTER_REQUERY[code]
        return final_answer(end) if end == APPROVED else Answer(orders.FAILED, end, card_meanings()[end])
    if order.attempt >= RECOVERS_ON_ATTEMPT.get(code, order.attempt + 1):
        return final_answer(APPROVED)
    return final_answer(code)


def is_before_requery(order: CollectionOrder) -> bool:
    """Tells whether the order is too young for a query to return its outcome."""
    return order.age_seconds < max(order.scenario.delay, bank.FIRST_REQUERY_SECONDS)


def check_proof(order: CollectionOrder) -> Answer | None:
    """Returns the answer to a wrong OTP or a cancellation. Returns None if the OTP is right, also if the answer gets
    lost."""
    proof = order.sandbox_outcome.proof
    if proof == "declined":
        return Answer(orders.FAILED, CANCELLED, CANCELLATION)
    if proof in ("right", "lost"):
        return None
    return Answer(orders.WRONG_CODE, None, "The OTP has expired" if proof == "expired" else "The OTP is not right")


def with_facts(answer: Answer, facts: dict[str, str]) -> Answer:
    return msgspec.structs.replace(answer, facts={**answer.facts, **facts}) if facts else answer


class SandboxCollection:
    """Base of the three rails: answers a step at once, or when it is queried."""

    def decide_result(self, order: CollectionOrder, card: CardSecrets | None) -> Answer | str:
        """Returns the result of the step: an answer, or the response code that decides it at once or later."""
        raise NotImplementedError

    def make_facts(self, order: CollectionOrder, card: CardSecrets | None) -> dict[str, str]:
        """Returns the facts that the answers to the step and to its queries carry."""
        return {}

    def choose_refund_code(self, order: CollectionOrder) -> str:
        return order.scenario.rr or APPROVED

    async def begin(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        return self._send(msgspec.structs.replace(order, step=orders.BEGIN), card)

    async def charge(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        return self._send(msgspec.structs.replace(order, step=orders.CHARGE), card)

    async def validate(self, order: CollectionOrder, otp: str | None) -> Answer:
        outcome = msgspec.structs.replace(order.sandbox_outcome, proof=choose_proof(otp))
        return self._send(msgspec.structs.replace(order, step=orders.VALIDATE, sandbox_outcome=outcome), None)

    def _send(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        bank.raise_scenario_fault(order, "rail")
        result = self.decide_result(order, card)
        if isinstance(result, str):
            if order.step == orders.VALIDATE and order.sandbox_outcome.proof == "lost":
                raise NoAnswer("the rail does not answer")
            result = self.answer_sent_code(order, result)
        return with_facts(result, self.make_facts(order, card))

    async def query(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        if order.scenario.http == "reset":
            return NOT_FOUND
        result = self.decide_result(order, card)
        if result is NOT_FOUND:
            return result
        if is_before_requery(order):
            result = in_progress(NEVER_ENDS if result == NEVER_ENDS else "09")
        elif isinstance(result, str):
            result = self.answer_queried_code(order, result)
        return with_facts(result, self.make_facts(order, card))

    def answer_sent_code(self, order: CollectionOrder, code: str) -> Answer:
        return answer_send(order, code)

    def answer_queried_code(self, order: CollectionOrder, code: str) -> Answer:
        return answer_query(order, code)

    async def refund(self, order: CollectionOrder) -> Answer:
        bank.raise_scenario_fault(order, "rail")
        return answer_send(order, self.choose_refund_code(order))

    async def query_refund(self, order: CollectionOrder) -> Answer:
        if order.scenario.http == "reset":
            return NOT_FOUND
        code = self.choose_refund_code(order)
        if is_before_requery(order):
            return in_progress(code if code == NEVER_ENDS else "09")
        return answer_query(order, code)


# --- cards --------------------------------------------------------------------------------------------------------


def has_expired(order: CollectionOrder, card: CardSecrets) -> bool:
    if order.sent_on is None or card.number == SAMPLE_CARD:
        return False
    return (2000 + int(card.expiry_year), int(card.expiry_month)) < (order.sent_on.year, order.sent_on.month)


class SandboxCards(SandboxCollection):
    """The card rail. Sessions are `sbx-RR-FF-AUTH`. The charge of a saved card opens its own session, which queries
    return too, because a refund needs it."""

    def decide_result(self, order: CollectionOrder, card: CardSecrets | None) -> Answer | str:
        if order.method == "token":
            return self.token_code(order, card)
        session = self.make_session(order, card)
        if not session:
            # Neither the session nor the card is known, so the session counts as never opened.
            return NOT_FOUND
        _, code, _, auth = session.split("-")
        if order.step == orders.BEGIN:
            return Answer(orders.SUCCESSFUL, APPROVED, "")
        code = order.scenario.rr or code
        if order.step == orders.VALIDATE and order.sandbox_outcome.proof:
            return check_proof(order) or code
        if auth != "PIN" or order.step == orders.VALIDATE:
            return Answer(orders.CHALLENGE, None, "", {"auth": auth})
        return self.pin_result(order, card, code)

    def pin_result(self, order: CollectionOrder, card: CardSecrets | None, code: str) -> Answer | str:
        outcome = self.choose_outcome(order, card)
        if order.step != orders.CHARGE or not outcome.auth:
            # It is not known which PIN was sent, or whether one was.
            return NOT_FOUND
        if order.scenario.rr or outcome.pin == APPROVED:
            return code
        return outcome.pin or WRONG_PIN

    def token_code(self, order: CollectionOrder, card: CardSecrets | None) -> str:
        assert card is not None, "a saved card is charged by its number"
        return order.scenario.rr or (EXPIRED_CARD if has_expired(order, card) else card_outcome_codes(card.number)[1])

    def choose_outcome(self, order: CollectionOrder, card: CardSecrets | None) -> SandboxOutcome:
        return order.sandbox_outcome if card is None else outcome_of_card(card.number, card.cvv, card.pin)

    def make_session(self, order: CollectionOrder, card: CardSecrets | None) -> str:
        outcome = self.choose_outcome(order, card)
        return order.session or (f"sbx-{outcome.charge}-{outcome.refund}-{outcome.auth}" if outcome.auth else "")

    def make_facts(self, order: CollectionOrder, card: CardSecrets | None) -> dict[str, str]:
        if order.method == "token":
            assert card is not None, "a saved card is charged by its number"
            _, charge, refund = card_outcome_codes(card.number)
            return {"session": f"sbx-{charge}-{refund}-token"}
        session = self.make_session(order, card)
        return {} if order.session or not session else {"session": session, "auth": session.split("-")[3]}

    def choose_refund_code(self, order: CollectionOrder) -> str:
        return order.scenario.rr or (order.session.split("-")[2] if order.session else APPROVED)


# --- direct debit and inbound transfers ------------------------------------------------------------------------------


class SandboxDebit(SandboxCollection):
    """The direct debit rail. An account is debited after its holder's OTP. An inbound transfer stays open until the
    scenario or a simulated call-back ends it."""

    def decide_result(self, order: CollectionOrder, card: CardSecrets | None) -> Answer | str:
        if order.step == orders.VALIDATE and order.sandbox_outcome.proof:
            return check_proof(order) or self.choose_code(order)
        return Answer(orders.CHALLENGE, None, "") if order.method == "account" else self.choose_code(order)

    def make_facts(self, order: CollectionOrder, card: CardSecrets | None) -> dict[str, str]:
        return {"auth": "OTP" if order.method == "account" else "device"}

    def choose_code(self, order: CollectionOrder) -> str:
        if order.scenario.rr is not None:
            return order.scenario.rr
        if order.method != "account":
            return NEVER_ENDS
        if not order.payer.startswith(MAGIC_PREFIX):
            return APPROVED
        return NEVER_ENDS if order.payer[8] == bank.UNTIL_CALLBACK else order.payer[6:8]

    def answer_sent_code(self, order: CollectionOrder, code: str) -> Answer:
        if order.step == orders.BEGIN:
            return Answer(orders.CHALLENGE, None, "")
        slow = order.payer.startswith(MAGIC_PREFIX) and order.payer[8] == bank.PROCESSING_FIRST
        return bank.in_progress() if slow or order.scenario.delay > 0 else bank.answer_for_code(code)

    def answer_queried_code(self, order: CollectionOrder, code: str) -> Answer:
        return bank.in_progress() if code == NEVER_ENDS else bank.answer_requery(code)


# --- mobile operators: telephone, USSD, QR, mobile money -----------------------------------------------------------


class SandboxMobile(SandboxCollection):
    """The mobile operators' rail. The payer confirms at the operator: at once, later, or by a simulated call-back. On a
    wallet's page the payer's answer comes by `validate`."""

    def decide_result(self, order: CollectionOrder, card: CardSecrets | None) -> Answer | str:
        code = self.choose_code(order)
        if order.step != orders.VALIDATE or not order.sandbox_outcome.proof:
            return code
        if order.sandbox_outcome.proof == "declined":
            return Answer(orders.FAILED, CANCELLED, CANCELLATION)
        return APPROVED if code == NEVER_ENDS else code

    def answer_sent_code(self, order: CollectionOrder, code: str) -> Answer:
        if order.step == orders.BEGIN and (code in OPEN_AT_FIRST or order.scenario.delay > 0):
            return Answer(orders.CHALLENGE, None, "")
        return final_answer(code)

    def make_facts(self, order: CollectionOrder, card: CardSecrets | None) -> dict[str, str]:
        if order.step == orders.VALIDATE:
            return {}
        if order.method != "ussd":
            return {"auth": "redirect" if order.provider.startswith("paga") else "device"}
        chance = blake2b(reference_of_rail_key(order.key).encode(), digest_size=2).digest()
        number = int.from_bytes(chance, "big") % 9000 + 1000
        return {"auth": "ussd", "ussd_code": f"{USSD_PREFIX[order.provider]}{number}#"}

    def choose_code(self, order: CollectionOrder) -> str:
        if order.scenario.rr is not None:
            return order.scenario.rr
        magic = next((head for head in MAGIC_PHONES if order.payer.startswith(head)), None)
        if magic is None or len(order.payer) != len(magic) + 2:
            return NEVER_ENDS
        # 68 means no answer here too, but no money was taken, so the order stays open until it expires.
        return NEVER_ENDS if order.payer[-2:] == NO_ANSWER else order.payer[-2:]
