"""What the outside can be asked, and how it may answer.

A rail is whatever moves money or knows something beyond our books. Each port is a Protocol; the sandbox and
an HTTP adapter implement it. A rail answers, or raises one of two things, and the difference is money:

    Unavailable   nothing was done: it may be tried again under the same key
    NoAnswer      it may have been done: it must be asked after, never sent anew

A look-up does nothing, so of these two it matters only what they tell; each has a kind that only look-ups raise.

A rail keeps the deadline itself: what has not been answered after ten seconds is NoAnswer, and whoever waits for it is
told "processing". Contract: disburse#transfer
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import date, datetime
from typing import Any, Protocol

import msgspec

from kasuwa.core import requery
from kasuwa.core.billers import Catalogue, CatalogueEdition
from kasuwa.core.codes import ERROR, UNREADABLE_ANSWER
from kasuwa.core.decision import Job, Refusal
from kasuwa.core.magic import DEFAULT_OUTCOME, SandboxOutcome
from kasuwa.core.scenario import NO_SCENARIO, Scenario


class Unavailable(Exception):
    """Refused or unreachable before anything was done."""


class NoAnswer(Exception):
    """Sent, and the answer was lost, late or unreadable as HTTP."""


class LookupDeclined(Unavailable):
    """A look-up was refused, in these words. They say nothing of the account, customer or person asked after."""


class UnreadableAnswer(NoAnswer):
    """A look-up was answered, and we cannot read it."""


def refuse_unanswered(whom: str, trouble: Unavailable | NoAnswer) -> Refusal:
    """What is answered to a look-up of which nothing was learnt. (Contract: #errors)"""
    if isinstance(trouble, UnreadableAnswer):
        return Refusal(UNREADABLE_ANSWER, f"The {whom} answered something that cannot be read; try again later")
    if isinstance(trouble, LookupDeclined):
        return Refusal(ERROR, f"The {whom} declined: {trouble}")
    if isinstance(trouble, Unavailable):
        return Refusal(ERROR, f"The {whom} does not answer now; try again later")
    return Refusal(ERROR, f"The {whom} has not answered in time; try again later")


# What an answer means, whatever its code. `not_found` and `unreadable` are not failures: see D28 and D4. `challenge`:
# the payer must act first; `wrong`: the code the payer gave is not right.
SUCCESSFUL = "successful"
FAILED = "failed"
UNKNOWN = "unknown"
PROCESSING = "processing"
NOT_FOUND = requery.NOT_FOUND
UNREADABLE = "unreadable"
UNAVAILABLE = requery.UNAVAILABLE
CHALLENGE = "challenge"
WRONG_CODE = "wrong"


class Answer(msgspec.Struct, frozen=True):
    """`facts` is what else the rail told: a session, a meter's token, a card's issuer."""

    status: str
    code: str | None
    message: str
    facts: Mapping[str, str] = {}


# What is heard of a rail that raises.
RAIL_UNAVAILABLE = Answer(UNAVAILABLE, None, "The rail is not available")
RAIL_SILENT = Answer(UNKNOWN, None, "The rail has not answered")

NO_CALL_MADE = Answer(SUCCESSFUL, None, "")


async def call_no_rail(rails: "Rails", job: Job, now: datetime, secrets: object) -> Answer:
    """The call of a step whose work is all ours: a due date, an expiry, a monthly fee."""
    return NO_CALL_MADE


async def send_or_query(
    job: Job, query_kind: str, send: Callable[[], Awaitable[Answer]], query: Callable[[], Awaitable[Answer]]
) -> Answer:
    """What a job does at its rail. One taken up from somebody who died may have been sent already: the rail is
    asked first, and what it never saw is sent under the same key."""
    taken_over = job.claims > 1
    if job.kind == query_kind or taken_over:
        answer = await query()
        if job.kind == query_kind or answer.status != NOT_FOUND:
            return answer
    return await send()


# --- banks --------------------------------------------------------------------------------------------------


class TransferOrder(msgspec.Struct, frozen=True):
    """One transfer as a rail sees it. `key` is its idempotency key over all merchants: the same key never pays twice.
    `age_seconds` (business time since it was first sent) and `scenario` are for the sandbox alone."""

    key: str
    amount: int
    currency: str
    bank_code: str
    account_number: str
    sender_name: str
    narration: str
    age_seconds: float = 0
    scenario: Scenario = NO_SCENARIO


class NameEnquiry(msgspec.Struct, frozen=True):
    bank_code: str
    account_number: str
    scenario: Scenario = NO_SCENARIO


class NameAnswer(msgspec.Struct, frozen=True):
    """`name` is None where there is no such account."""

    name: str | None
    message: str = ""


class BankRail(Protocol):
    async def transfer(self, order: TransferOrder) -> Answer: ...

    async def query(self, order: TransferOrder) -> Answer: ...

    async def find_account_name(self, enquiry: NameEnquiry) -> NameAnswer: ...


# --- collections --------------------------------------------------------------------------------------------------


class CardSecrets(msgspec.Struct, frozen=True):
    """A card as its holder gave it. It lives in the memory of one request, and says nothing of itself in a trace."""

    number: str
    expiry_month: str
    expiry_year: str
    cvv: str = ""
    pin: str = ""

    def __repr__(self) -> str:
        return "CardSecrets(…)"


# The steps of a payment at its rail.
BEGIN = "begin"
CHARGE = "charge"
VALIDATE = "validate"


class CollectionOrder(msgspec.Struct, frozen=True):
    """One payment, or the refund of one, as a rail sees it. `key` is its idempotency key over all merchants; `step` is
    the step that is sent or, in a query, the one that was sent last; `shop` is whom payers know the merchant as;
    `session` is what the rail called it when it began; `payer` is whom it asks (a telephone, an account), `provider`
    through whom; `attempt` counts the tries of one due date; `issued` says that the card is of our own ranges; a refund
    is that of the payment whose key is `refund_of`. `sent_on` (the business day of the step), `age_seconds`, `told`
    and `scenario` are for the sandbox alone."""

    key: str
    method: str
    amount: int
    currency: str
    step: str = ""
    session: str = ""
    payer: str = ""
    provider: str = ""
    attempt: int = 1
    merchant_name: str = ""
    is_issued_here: bool = False
    refund_of: str = ""
    sent_on: date | None = None
    age_seconds: float = 0
    sandbox_outcome: SandboxOutcome = DEFAULT_OUTCOME
    scenario: Scenario = NO_SCENARIO


class CollectionRail(Protocol):
    """Whoever takes money from payers: a card network, the banks' direct debit, the mobile operators.

    `begin` opens a session; its facts say which (`session`) and what the payer must do (`auth`). `charge` takes the
    money, or answers CHALLENGE where the payer must act first. `validate` brings the payer's code, or None where the
    payer declined.

    `query` answers for `order.step`, the step that was sent last under the key, with what that step has answered or
    would have answered had its answer not been lost. It brings no secret and proves nothing, so:

        SUCCESSFUL   begin: the session is open, with its `session` and `auth` as facts; nothing was charged.
                     charge, validate: the money was taken, with the payer's proof (PIN, code, approval on a page)
        CHALLENGE    the payer must still act: the payment waits for it until it expires
        WRONG        the code that `validate` brought is not right: it counts as a try
        FAILED       declined, by the payer or the payer's bank
        UNKNOWN, PROCESSING   the rail is at it: it is asked again later
        NOT_FOUND    the rail never saw the step

    A rail that cannot tell a wrong code from none at all answers CHALLENGE. A query never answers SUCCESSFUL for a
    charge or a validate whose proof the rail has not checked. Facts that the step would have told come with the query
    as well. tests/rails/collection_contract.py holds every adapter to this.
    """

    async def begin(self, order: CollectionOrder, card: CardSecrets | None) -> Answer: ...

    async def charge(self, order: CollectionOrder, card: CardSecrets | None) -> Answer: ...

    async def validate(self, order: CollectionOrder, otp: str | None) -> Answer: ...

    async def query(self, order: CollectionOrder, card: CardSecrets | None) -> Answer: ...

    async def refund(self, order: CollectionOrder) -> Answer: ...

    async def query_refund(self, order: CollectionOrder) -> Answer: ...


# --- billers ------------------------------------------------------------------------------------------------


class BillOrder(msgspec.Struct, frozen=True):
    """One bill as a rail sees it. `key` is its idempotency key over all merchants: the same key never delivers twice.
    `age_seconds` (business time since it was first sent) and `scenario` are for the sandbox alone."""

    key: str
    biller: str
    paycode: str
    fulfillment: str
    reference: str
    amount: int
    currency: str
    age_seconds: float = 0
    scenario: Scenario = NO_SCENARIO


class CustomerQuery(msgspec.Struct, frozen=True):
    """Who a customer reference belongs to. Where a biller has no name query (`required` is False) the rail need ask
    nobody, and answers an empty name."""

    biller: str
    paycode: str
    reference: str
    is_name_required: bool
    scenario: Scenario = NO_SCENARIO


class CustomerAnswer(msgspec.Struct, frozen=True):
    """`name` is None where the biller has no such customer; `mismatch` where it has one under another name."""

    name: str | None
    is_name_mismatch: bool = False


class BillerRail(Protocol):
    """`catalogue` is asked with the number that the answer will have here; `reprint` tells once more what a bill
    that was delivered under this key brought: a token, a PIN."""

    async def fetch_catalogue(self, edition: int) -> CatalogueEdition: ...

    async def find_customer(self, query: CustomerQuery) -> CustomerAnswer: ...

    async def pay(self, order: BillOrder) -> Answer: ...

    async def query(self, order: BillOrder) -> Answer: ...

    async def reprint(self, order: BillOrder) -> Mapping[str, str]: ...


class CatalogueCache(Protocol):
    """The newest catalogue, in memory; `look` goes and sees whether there is a newer one."""

    @property
    def catalogue(self) -> Catalogue: ...

    async def refresh(self) -> None: ...


# --- who people are -----------------------------------------------------------------------------------------------


class IdentityQuery(msgspec.Struct, frozen=True):
    bvn: str
    scenario: Scenario = NO_SCENARIO


class Person(msgspec.Struct, frozen=True):
    """Who a Bank Verification Number belongs to. `agrees` names what counts as equal to whatever it is compared with:
    the sandbox's person whose name is everybody's."""

    bvn: str
    firstname: str
    lastname: str
    middlename: str
    dob: str
    phone: str
    is_watch_listed: bool = False
    always_matching: tuple[str, ...] = ()


class IdentityRail(Protocol):
    async def find_person(self, enquiry: IdentityQuery) -> Person | None: ...


# --- cards that were issued here -----------------------------------------------------------------------------------


class PurchaseOrder(msgspec.Struct, frozen=True):
    """A shop asks whether one of our own virtual cards pays. `key` is its idempotency key, over all merchants: it
    begins with who asks. `expiry` is YYYY-MM; `cvv` is None where a shop charges a card that it has saved, which no
    CVV may be; `category` the shop's four-digit category, where known. `scenario` is for the test environment alone."""

    key: str
    pan: str
    expiry: str
    cvv: str | None
    amount: int
    currency: str
    merchant_name: str
    category: str | None = None
    scenario: Scenario = NO_SCENARIO


class RefundOrder(msgspec.Struct, frozen=True):
    """So much of the purchase `purchase_key` goes back, in the currency it was made in, once under its own `key`."""

    key: str
    purchase_key: str
    amount: int
    scenario: Scenario = NO_SCENARIO


class IssuerRail(Protocol):
    """The other side of a card that was issued here: its merchant's books, which may be anybody's. A card that is not
    ours, and a key that never arrived, are NOT_FOUND. `facts` tell the issuing side's `txnRef`."""

    async def authorize(self, order: PurchaseOrder) -> Answer: ...

    async def refund(self, order: RefundOrder) -> Answer: ...

    async def query(self, key: str) -> Answer: ...


# app.py gives a deployment all of its rails; a test gives those that it is about.
NOT_CONFIGURED: Any = None


class Rails(msgspec.Struct, frozen=True):
    """Every rail a deployment has, and what the biller rail sells."""

    bank: BankRail
    card: CollectionRail = NOT_CONFIGURED
    debit: CollectionRail = NOT_CONFIGURED
    mobile: CollectionRail = NOT_CONFIGURED
    identity: IdentityRail = NOT_CONFIGURED
    biller: BillerRail = NOT_CONFIGURED
    catalogue_cache: CatalogueCache = NOT_CONFIGURED
    issuer: IssuerRail = NOT_CONFIGURED
