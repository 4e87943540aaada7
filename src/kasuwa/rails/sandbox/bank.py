"""The bank rail of the test environment. The account number, the scenario and the age of an order determine its answer.

It keeps no state: the account number holds the response code (000000 RR V X), and an open order ends by business time,
not by being queried. So it works across several processes and gives the same answers in a replay.
(data/magic_values.md)
"""

from functools import cache
from hashlib import blake2b
from typing import NoReturn, Protocol

import msgspec

from kasuwa.core.banks import MAGIC_PREFIX, Bank
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.references import first_rail_key
from kasuwa.core.scenario import Scenario
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import (
    Answer,
    LookupDeclined,
    NameAnswer,
    NameEnquiry,
    NoAnswer,
    NothingSent,
    TransferOrder,
    Unavailable,
    UnreadableAnswer,
)
from kasuwa.rails.routing.beneficiaries import OTHER_BENEFICIARY, add_name, are_names_of_one

APPROVED = "00"
IN_PROGRESS = "09"
RECORD_NOT_FOUND = "25"
NEVER_ENDS = "99"

# The digit V of a magic account number: how the answer comes.
PROCESSING_FIRST = "1"
UNTIL_CALLBACK = "2"

# An order that is open at first ends at the first re-query, which comes after this many business seconds.
FIRST_REQUERY_SECONDS = 5
SUCCEED_ON_REQUERY = frozenset({"01", "09", "26", "68", "94", "97"})
FAIL_ON_REQUERY = frozenset({"91", "96"})

UNKNOWN_ACCOUNT_CODES = frozenset({"07", "16", "25"})
LOOKUP_UNAVAILABLE_CODES = frozenset({"91", "96"})
TIMED_OUT = "97"
DORMANT = "06"
# With which the ids of payments begin: the code of a bank that does not exist.
NIP_CODE = "999999"

FIRST_NAMES = ("ADA", "AMINA", "BOLA", "CHIDI", "EFE", "FATIMA", "IBRAHIM", "KUNLE", "NGOZI", "SADE", "TUNDE", "UCHE")
LAST_NAMES = ("ADEYEMI", "BELLO", "EZE", "IDRIS", "LAWAL", "MUSA", "NWOSU", "OBI", "OKAFOR", "SANI", "UDO", "YAKUBU")


class ResponseCode(msgspec.Struct, frozen=True):
    code: str
    meaning: str
    txn_status: str = msgspec.field(name="txnStatus")
    handling: str


@cache
def response_codes() -> dict[str, ResponseCode]:
    rows = msgspec.convert(load_reference_data("response_codes")["nip"], tuple[ResponseCode, ...])
    return {row.code: row for row in rows}


def choose_response_code(order: TransferOrder) -> str:
    if order.scenario.rr is not None:
        return order.scenario.rr
    account = order.account_number
    return account[6:8] if account.startswith(MAGIC_PREFIX) else APPROVED


def choose_answer_mode(order: TransferOrder) -> str:
    account = order.account_number
    if order.scenario.rr is not None or not account.startswith(MAGIC_PREFIX):
        return "0"
    return account[8]


def answer_send(order: TransferOrder) -> Answer:
    """Returns the rail's answer when the transfer is sent."""
    mode = choose_answer_mode(order)
    if mode == PROCESSING_FIRST:
        return Answer(orders.PROCESSING, IN_PROGRESS, "Transfer is being processed")
    if mode == UNTIL_CALLBACK or order.scenario.delay > 0:
        return in_progress()
    return answer_for_code(choose_response_code(order))


def in_progress() -> Answer:
    return Answer(orders.UNKNOWN, IN_PROGRESS, response_codes()[IN_PROGRESS].meaning)


def answer_for_code(code: str) -> Answer:
    if code == NEVER_ENDS:
        return in_progress()
    row = response_codes().get(code)
    if row is None:
        return Answer(orders.UNREADABLE, code, "The bank's answer could not be read")
    if row.handling != "final":
        return Answer(orders.UNKNOWN, code, row.meaning)
    return Answer(orders.SUCCESSFUL if code == APPROVED else orders.FAILED, code, row.meaning)


def answer_query(order: TransferOrder) -> Answer:
    """Returns the rail's answer to a query for the outcome of a transfer."""
    if order.scenario.http == "reset":
        return not_found()
    code = choose_response_code(order)
    if choose_answer_mode(order) == UNTIL_CALLBACK or order.age_seconds < max(
        order.scenario.delay, FIRST_REQUERY_SECONDS
    ):
        return in_progress()
    return answer_requery(code)


def answer_requery(code: str) -> Answer:
    if code in SUCCEED_ON_REQUERY:
        return answer_for_code(APPROVED)
    if code in FAIL_ON_REQUERY:
        return Answer(orders.FAILED, code, response_codes()[code].meaning)
    if code == RECORD_NOT_FOUND:
        return not_found()
    return answer_for_code(code)


def not_found() -> Answer:
    return Answer(orders.NOT_FOUND, RECORD_NOT_FOUND, response_codes()[RECORD_NOT_FOUND].meaning)


def person_name(bank_code: str, account_number: str) -> str:
    """Returns a name that is always the same for the same account."""
    chance = blake2b(f"{bank_code} {account_number}".encode(), digest_size=2).digest()
    return f"{FIRST_NAMES[chance[0] % len(FIRST_NAMES)]} {LAST_NAMES[chance[1] % len(LAST_NAMES)]}"


def name_on(bank: Bank, account_number: str, code: str = "") -> str:
    """Returns the name on an account. That of a magic account has the response code that it selects."""
    if account_number.startswith(MAGIC_PREFIX):
        return f"SANDBOX {code or account_number[6:8]} ACCOUNT"
    return person_name(bank.nip_code or bank.cbn_code or "", account_number)


def raise_for_code(code: str, meaning: str | None = None) -> NoReturn:
    """Raises the error of a look-up for a response code of the scenario that the look-up does not handle itself."""
    row = response_codes().get(code)
    if row is None and code != NEVER_ENDS:
        raise UnreadableAnswer(code)
    if row is None or not row.txn_status.startswith(orders.FAILED):
        raise NoAnswer(code)
    raise LookupDeclined(meaning or row.meaning)


class SandboxOrder(Protocol):
    """An order of any rail, as far as its scenario is concerned."""

    @property
    def scenario(self) -> Scenario: ...

    @property
    def age_seconds(self) -> float: ...


def raise_scenario_fault(order: SandboxOrder, rail: str) -> None:
    """Raises Unavailable or NoAnswer if the scenario has an HTTP fault.

    An unavailable rail refuses the first call. The same order sent again later is accepted."""
    http = order.scenario.http
    if http == "unavailable":
        if order.age_seconds < FIRST_REQUERY_SECONDS:
            raise NothingSent(f"the {rail} refuses calls")
    elif http is not None:
        raise NoAnswer(f"the {rail}: {http}")


def add_session(answer: Answer, order: TransferOrder) -> Answer:
    """Returns the answer to a transfer with the rail's id of the payment, if it was paid: 30 digits, the same for every
    answer to an order."""
    if answer.status != orders.SUCCESSFUL:
        return answer
    digits = int.from_bytes(blake2b(f"session {first_rail_key(order.key)}".encode(), digest_size=12).digest()) % 10**24
    return msgspec.structs.replace(answer, facts={**answer.facts, orders.SESSION_ID: f"{NIP_CODE}{digits:024d}"})


class SandboxBank:
    async def transfer(self, order: TransferOrder) -> Answer:
        raise_scenario_fault(order, "bank rail")
        answer, name = answer_send(order), name_on(order.bank, order.account_number)
        if order.beneficiary_name and not are_names_of_one(order.beneficiary_name, name):
            return OTHER_BENEFICIARY
        if answer.code in UNKNOWN_ACCOUNT_CODES:
            return answer
        return add_session(add_name(answer, name), order)

    async def query(self, order: TransferOrder) -> Answer:
        return add_session(answer_query(order), order)

    async def find_account_name(self, enquiry: NameEnquiry) -> NameAnswer:
        scenario, account = enquiry.scenario, enquiry.account_number
        magic = account.startswith(MAGIC_PREFIX)
        code = scenario.rr or (account[6:8] if magic else APPROVED)
        if scenario.http == "timeout" or (scenario.http is None and code == TIMED_OUT):
            raise NoAnswer("the bank does not answer in time")
        if scenario.http is not None or code in LOOKUP_UNAVAILABLE_CODES:
            raise Unavailable("the bank does not answer")
        if code in UNKNOWN_ACCOUNT_CODES:
            return NameAnswer(None, "No such account")
        if scenario.rr not in (None, APPROVED, DORMANT):
            raise_for_code(code)
        return NameAnswer(name_on(enquiry.bank, account, code), "Account is dormant" if code == DORMANT else "")
