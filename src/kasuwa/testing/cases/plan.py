"""How what rails answered in a case is said to the sandbox: as scenarios, faults, cards and call-backs.

An answer that came at once is asked for with the request. One that came later is told by a call-back at its time; until
then the sandbox keeps the order open.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kasuwa.testing.cases.case_file import Case, CaseFile, CaseInput

# An answer within so many milliseconds of the request was the one that the request waited for.
AT_ONCE_MS = 2_000
# Seconds for which an order is kept open until it is told: longer than any case.
OPEN = "delay=99999999"
FINAL = frozenset({"successful", "failed"})
RIGHT_OTP, WRONG_OTP, LOST_OTP = "123456", "000000", "999999"
PIN = "1234"
APPROVED, DECLINED = "00", "05"
# A card whose payer gives a PIN with the charge, and so pays when `charge` is sent.
CARD_BIN, PIN_CVV = "411111", "100"
# A customer of a biller, and an account, that the sandbox always knows.
CUSTOMER, ACCOUNT = "0000000000", "0000000000"
# The number of a document that identifies a client: as long as a National Identification Number.
DOCUMENT_NUMBER = "00000000000"
# Requests that send a further step of a payment.
LATER_STEPS = ("payment.validate", "payment.charge card")
RAILS = (("disburse.", "bank"), ("bills.", "biller"), ("payment.", "card"))


class Answers(msgspec.Struct):
    """The answers of a rail to one order, or to one step of it."""

    sent_ms: int
    inputs: list[CaseInput] = []

    @property
    def last(self) -> CaseInput | None:
        """The answer that ended it, or None if it is open."""
        return next((one for one in self.inputs if one.content.get("status") in FINAL), None)

    @property
    def is_ended_at_once(self) -> bool:
        return bool(self.inputs) and self.last is self.inputs[0] and self.inputs[0].at_ms - self.sent_ms < AT_ONCE_MS

    @property
    def code(self) -> str:
        """The response code of the end."""
        return APPROVED if self.last is None else choose_code(self.last.content)

    @property
    def is_successful(self) -> bool:
        return self.last is not None and self.last.content["status"] == "successful"

    @property
    def statuses(self) -> list[str]:
        return [str(one.content.get("status")) for one in self.inputs]

    def scenario(self) -> str:
        """Returns the header of the request that sends the order."""
        if self.is_ended_at_once:
            return f"rr={self.code}"
        first = self.inputs[0].content if self.inputs else {}
        if first.get("status") == "unavailable":
            return f"http=unavailable;{OPEN}"
        is_silent = first.get("status") == "unknown" and not first.get("code")
        return f"http=timeout;{OPEN}" if is_silent else OPEN


def choose_code(content: Mapping[str, Any]) -> str:
    """Returns the response code of an answer that ends an order. The sandbox takes none that says the contrary."""
    is_successful = content["status"] == "successful"
    usual = APPROVED if is_successful else DECLINED
    code = str(content.get("code") or usual)
    return code if (code == APPROVED) is is_successful else usual


def list_answers(case: Case, reference: str, after_ms: int = -1, before_ms: int | None = None) -> list[CaseInput]:
    return [
        one
        for one in case.inputs
        if one.kind == "answer"
        and one.reference == reference
        and after_ms <= one.at_ms
        and (before_ms is None or one.at_ms < before_ms)
    ]


def find_answers(file: CaseFile, reference: str, at_ms: int) -> Answers:
    """Returns the answers to the step that was sent at a time: until the next request about the same reference."""
    steps = [one for one in file.exchanges if one.action in LATER_STEPS and one.request.get("txnRef") == reference]
    times = [one.timing["at_ms"] for one in steps if one.timing is not None]
    later = [time for time in times if time > at_ms]
    return Answers(at_ms, list_answers(file.case, reference, at_ms, min(later, default=None)))


def make_account(answers: Answers) -> str:
    """Returns the account of a transfer in a bulk, whose orders share a header: it has the outcome."""
    return f"000000{answers.code}00" if answers.is_ended_at_once else "0000000020"


def make_card(answers: Answers) -> dict[str, str]:
    """Returns a card whose charge is answered as recorded."""
    code = answers.code if answers.last is not None and len(answers.code) == 2 else APPROVED
    digits = f"{CARD_BIN}{code}0000001"
    expiry = {"expiry_month": "12", "expiry_year": "99"}
    return {"card_no": digits + check_digit(digits), **expiry, "ccv": PIN_CVV, "pin": PIN}


def check_digit(digits: str) -> str:
    """Returns the digit that makes a card number valid (Luhn)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if place % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return str(-total % 10)


def choose_otp(answers: Answers) -> str:
    if "wrong" in answers.statuses[:1]:
        return WRONG_OTP
    return LOST_OTP if answers.statuses[:1] == ["unknown"] else RIGHT_OTP


def choose_rail(case: Case, reference: str) -> str:
    """Returns the sandbox's name of the rail that an order of a job goes to."""
    name = next((one.name for one in case.inputs if one.reference == reference), "")
    return next((rail for prefix, rail in RAILS if name.startswith(prefix)), "card")


def plan_fault(case: Case, reference: str) -> dict[str, Any] | None:
    """Returns the fault that makes the order of a job be answered as recorded, or None if none is needed."""
    inputs = list_answers(case, reference)
    answers = Answers(inputs[0].at_ms if inputs else 0, inputs)
    rail = choose_rail(case, reference)
    if answers.is_ended_at_once:
        return None if answers.is_successful else {"rail": rail, "kind": "decline", "code": answers.code}
    return {"rail": rail, "kind": "unavailable" if answers.statuses[:1] == ["unavailable"] else "timeout"}


def choose_item(wanted: Mapping[str, str], items: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Returns the item of the sandbox whose price and fee are most like those of a recorded one."""

    def differs_by(item: Mapping[str, Any]) -> tuple[bool, float, float]:
        fee, discount = abs(item["fee"] - float(wanted["fee"])), abs(item["discount"] - float(wanted["discount"]))
        return item["amount"] != wanted["amount"], fee, discount

    return min(items, key=differs_by)
