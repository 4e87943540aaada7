"""Ports of the rails: the external systems that move money or look something up.

Each port is a Protocol that the sandbox and an HTTP adapter implement. A rail returns an answer or raises one of:

    Unavailable   nothing was done: it may be sent again under the same key
    NoAnswer      it may have been done: it must be queried, and never sent under a new key

Look-ups change nothing, so for them the two differ only in the message. Each has a subclass that only look-ups raise.

A rail keeps a deadline of ten seconds itself and then raises NoAnswer. The merchant's reply then says "processing".
Contract: disburse#transfer
"""

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import date, datetime
from typing import Protocol, runtime_checkable

import msgspec

from kasuwa.core.banks import Bank
from kasuwa.core.codes import ERROR, UNREADABLE_ANSWER
from kasuwa.core.decision import Job, Refusal
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.rails.catalogue.catalogue import Catalogue, CatalogueEdition
from kasuwa.rails.sandbox.magic import DEFAULT_OUTCOME, SandboxOutcome
from kasuwa.transactions import requery


class Unavailable(Exception):
    """Raised if the rail refused or could not be reached. Nothing was done.

    `retry_after` is how many seconds the rail wants to be left alone. `notice` tells the operator what to do about it
    (keys, balance, products): merchants never see it.
    """

    def __init__(self, reason: str = "", *, retry_after: float = 0, notice: str = "") -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.notice = notice
        self.facts: Mapping[str, str] = {}  # as those of an answer


class NothingSent(Unavailable):
    """Raised if certainly no byte of the order has left: the order may go to another rail (core/routing.py).

    A rail that received the order and refused it raises Unavailable."""


class FloatShort(Unavailable):
    """Raised if the rail refused an order because our balance there does not cover it."""


class NoAnswer(Exception):
    """Raised if the answer was lost, late or not valid HTTP. The request may have been executed."""

    facts: Mapping[str, str] = {}  # as those of an answer


class LookupDeclined(Unavailable):
    """Raised if a look-up was declined. The text is the rail's and says nothing about the subject of the look-up."""


class UnreadableAnswer(NoAnswer):
    """Raised if the answer to a look-up cannot be decoded."""


# Who is asked, as messages name them, and as codes do.
ASKED = {"bank": "bank", "biller": "biller", "BVN register": "bvn_register"}
LOOKUP_UNREADABLE = {
    whom: Refusal(
        UNREADABLE_ANSWER,
        f"The {whom} answered something that cannot be read; try again later",
        error_code=f"{name}_answer_unreadable",
    )
    for whom, name in ASKED.items()
}
LOOKUP_DECLINED = {
    whom: Refusal(ERROR, f"The {whom} declined: {{reason}}", error_code=f"{name}_declined")
    for whom, name in ASKED.items()
}
LOOKUP_UNAVAILABLE = {
    whom: Refusal(ERROR, f"The {whom} does not answer now; try again later", error_code=f"{name}_unavailable")
    for whom, name in ASKED.items()
}
LOOKUP_TIMEOUT = {
    whom: Refusal(ERROR, f"The {whom} has not answered in time; try again later", error_code=f"{name}_timeout")
    for whom, name in ASKED.items()
}


def refuse_unanswered(whom: str, trouble: Unavailable | NoAnswer) -> Refusal:
    """Returns the refusal of a look-up that got no answer. Contract: #errors"""
    if isinstance(trouble, UnreadableAnswer):
        return LOOKUP_UNREADABLE[whom]
    if isinstance(trouble, LookupDeclined):
        return LOOKUP_DECLINED[whom].fill(reason=trouble)
    return LOOKUP_UNAVAILABLE[whom] if isinstance(trouble, Unavailable) else LOOKUP_TIMEOUT[whom]


# Statuses of an answer. `not_found` and `unreadable` do not mean that the transaction failed. `challenge`: the payer
# must act first. `wrong`: the payer's code is wrong.
SUCCESSFUL = "successful"
FAILED = "failed"
UNKNOWN = "unknown"
PROCESSING = "processing"
NOT_FOUND = requery.NOT_FOUND
UNREADABLE = "unreadable"
UNAVAILABLE = requery.UNAVAILABLE
CHALLENGE = "challenge"
WRONG_CODE = "wrong"


class VendorToken(msgspec.Struct, frozen=True):
    """A saved card as its vendor knows it. It works at that vendor only, with our account there that it was made with,
    and only with the email address that it was made with."""

    vendor: str
    token: str
    email: str
    account: str = ""  # "" until RoutedCollections has noted it, and at a rail without accounts

    def __repr__(self) -> str:
        return "VendorToken(…)"


class VendorCard(msgspec.Struct, frozen=True):
    """The card that a payer used on a vendor's page, as far as the vendor tells it."""

    identity: str  # equal for the same card
    mask: str  # first six and last four digits
    bin: str
    brand: str | None = None
    type: str | None = None
    issuer: str | None = None
    country: str | None = None
    token: VendorToken | None = None  # None if the card cannot be charged again


class Answer(msgspec.Struct, frozen=True):
    """The answer of a rail."""

    status: str
    code: str | None
    message: str
    facts: Mapping[str, str] = {}  # further data: a session, a meter's token, a card's issuer
    retry_after: float = 0  # seconds that the rail wants to be left alone
    notice: str = ""  # tells the operator what to do about it; merchants never see it
    is_unsent: bool = False  # certainly no byte of the order has left: it may go to another rail
    card: VendorCard | None = None  # the card that paid, if a vendor took it
    can_resend: bool = True  # False: an order that was not found must not be sent again, as the rail knows no keys


def without_words(answer: Answer) -> Answer:
    """Returns an answer without what the rail says in words, which may name somebody."""
    return msgspec.structs.replace(answer, message="", notice="")


# Answers recorded for a rail that raised.
RAIL_UNAVAILABLE = Answer(UNAVAILABLE, None, "The rail is not available")
RAIL_SILENT = Answer(UNKNOWN, None, "The rail has not answered")


def record_unavailable(trouble: Unavailable) -> Answer:
    """Returns the answer that is recorded for a rail that raised Unavailable."""
    is_unsent = isinstance(trouble, NothingSent)
    if not trouble.retry_after and not trouble.notice and not is_unsent and not trouble.facts:
        return RAIL_UNAVAILABLE
    return msgspec.structs.replace(
        RAIL_UNAVAILABLE,
        retry_after=trouble.retry_after,
        notice=trouble.notice,
        is_unsent=is_unsent,
        facts=trouble.facts,
    )


def record_silence(trouble: NoAnswer | TimeoutError) -> Answer:
    """Returns the answer that is recorded for a rail that has not answered."""
    facts = trouble.facts if isinstance(trouble, NoAnswer) else {}
    return msgspec.structs.replace(RAIL_SILENT, facts=facts) if facts else RAIL_SILENT


@contextlib.contextmanager
def before_sending() -> Iterator[None]:
    """Marks the look-ups of a rail that precede the order itself: if they fail, nothing of the order has left."""
    try:
        yield
    except Unavailable as error:
        raise NothingSent(str(error), retry_after=error.retry_after, notice=error.notice) from None


@contextlib.contextmanager
def after_sending() -> Iterator[None]:
    """Marks the calls of a rail that follow a refusal of the order: a part of it has left already."""
    try:
        yield
    except NothingSent as error:
        raise Unavailable(str(error), retry_after=error.retry_after, notice=error.notice) from None


NO_CALL_MADE = Answer(SUCCESSFUL, None, "")


async def call_no_rail(rails: object, job: Job, now: datetime, secrets: object) -> Answer:
    """The `call` of a step that needs no rail: a due date, an expiry, a monthly fee."""
    return NO_CALL_MADE


async def send_or_query(
    job: Job, query_kind: str, send: Callable[[], Awaitable[Answer]], query: Callable[[], Awaitable[Answer]]
) -> Answer:
    """Sends or queries an order.

    A process that died may have sent the order of a job that was claimed before, also earlier than by the claim before
    this one. The rail is queried first, and the order is sent under the same key only if the rail does not know it. If
    the rail cannot be queried, this raises Unavailable: the order waits, and is queried first again."""
    if job.kind == query_kind:
        return await query()
    taken_over = job.claims > 1 or job.is_queried_first
    if taken_over:
        try:
            answer = await query()
        except NoAnswer as error:
            raise Unavailable(f"the rail has not told whether it has the order: {error}") from None
        if answer.status != NOT_FOUND or not answer.can_resend:
            return answer
    return await send()


@runtime_checkable
class EnvironmentRail(Protocol):
    """A rail that tells which environment it is for. Raises Unavailable if that is another one."""

    async def check_environment(self, environment: str) -> None: ...


@runtime_checkable
class FundedRail(Protocol):
    """A rail that is paid from a balance of ours with its vendor."""

    async def balance(self) -> Mapping[str, int]:
        """Returns our balance with the vendor in minor units, by currency. Raises Unavailable or NoAnswer."""
        ...


@runtime_checkable
class TwoFactorRail(Protocol):
    """A bank rail whose vendor may ask for a code with each transfer. Such transfers never end by themselves."""

    async def uses_two_factor(self) -> bool | None:
        """Returns whether it asked for one with the last transfer. None without any. Raises Unavailable or NoAnswer."""
        ...


# --- banks --------------------------------------------------------------------------------------------------


class TransferOrder(msgspec.Struct, frozen=True):
    """A transfer."""

    key: str  # idempotency key, unique over all merchants
    amount: int
    currency: str
    bank: Bank  # with its codes by NIP and by the CBN: each vendor knows it by one of its own
    account_number: str
    sender_name: str
    narration: str
    # The fields `age_seconds` (business time since it was first sent) and `scenario` are used by the sandbox only.
    age_seconds: float = 0
    scenario: Scenario = NO_SCENARIO
    rail: str = ""  # the rail that was written with it
    sent_at: datetime | None = None  # when it left or, before that, when it was first tried
    account: str = ""  # our account with the rail
    # The name on the account that a rail found at an earlier try. None: nobody has looked it up yet.
    beneficiary_name: str | None = None


class NameEnquiry(msgspec.Struct, frozen=True):
    """Asks for the name on an account. `rails` are those of the merchant, if it has rails of its own."""

    bank: Bank
    account_number: str
    scenario: Scenario = NO_SCENARIO
    rails: tuple[str, ...] = ()


class NameAnswer(msgspec.Struct, frozen=True):
    """`name` is None where there is no such account."""

    name: str | None
    message: str = ""


# A fact of an answer to a transfer: the name on the account, as the rail has looked it up before it sent the order.
BENEFICIARY_NAME = "beneficiary_name"
# A fact of an answer to a transfer that was paid: the rail's id of the payment, by which banks find it.
SESSION_ID = "session_id"


class BankRail(Protocol):
    """A rail that pays to bank accounts. `transfer` looks up the name on the account at this rail before it sends, and
    tells it as the fact BENEFICIARY_NAME. It sends nothing if the order has a name that is somebody else's
    (rails/routing/beneficiaries.py)."""

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


# A fact of a payment that has the vendor's reference and none of ours: a transfer into an account.
TRANSACTION_FACT = "transaction"

# The steps of a payment at its rail.
BEGIN = "begin"
CHARGE = "charge"
VALIDATE = "validate"


class CollectionOrder(msgspec.Struct, frozen=True):
    """A payment, or the refund of one."""

    key: str  # idempotency key, unique over all merchants
    method: str
    amount: int
    currency: str
    step: str = ""  # the step that is sent or, in a query, the one that was sent last
    session: str = ""  # the rail's identifier of the payment, from `begin`
    payer: str = ""  # phone or account number
    payer_account: str = ""  # the payer's account number, if `payer` is a phone and the provider needs both
    provider: str = ""  # mobile-money provider or bank
    network: str = ""  # the payer's mobile network, if the provider serves several
    attempt: int = 1  # counts the attempts for one due date
    merchant_name: str = ""  # shown to the payer
    is_issued_here: bool = False  # the card number is in our own ranges
    refund_of: str = ""  # for a refund: the key of its payment
    vendor: str = ""  # the vendor that it is sent to; "" for a rail that is no vendor's
    account: str = ""  # our account with the vendor
    sent_at: datetime | None = None  # when the step, or the refund, was first sent
    age_seconds: float = 0  # business time since then
    expires_at: datetime | None = None  # when the payer's time is over
    payer_email: str = ""  # as the merchant gave it; vendors that require one get an address of the operator's
    payer_name: str = ""
    payer_phone: str = ""
    return_url: str = ""  # where the payer is sent after the vendor's page
    saved_card: VendorToken | None = None  # the saved card to charge, if a vendor keeps it
    # Facts of earlier answers that the vendor needs again: its identifiers, the page's address. A refund has those of
    # its payment as well.
    rail_facts: Mapping[str, str] = {}
    # The fields below are used by the sandbox only.
    sent_on: date | None = None  # business day of the step
    sandbox_outcome: SandboxOutcome = DEFAULT_OUTCOME
    scenario: Scenario = NO_SCENARIO


class CollectionRail(Protocol):
    """A rail that collects money from payers: a card network, direct debit, a mobile operator.

    `begin` opens a session and returns its identifier and the authentication it requires as the facts `session` and
    `auth`. `charge` takes the money, or answers CHALLENGE if the payer must act first. `validate` sends the payer's
    code, or None if the payer declined.

    A rail that takes no card numbers is called with `card` None: `begin` answers CHALLENGE with the facts `auth`
    "redirect" and `url`, the page on which the payer enters the card. A query of such a begin answers SUCCESSFUL once
    the payer has paid. If the answer to `begin` was lost and the page's address cannot be asked for, the query answers
    FAILED: nobody was shown the page, so nobody can pay there.

    The answer to a successful payment has the card that the payer used there, which is saved as the vendor's token. The
    fact `excess` is what the payer paid beyond the order.

    `query` answers for `order.step`, the step that was sent last under the key, with what that step has answered or
    would have answered had its answer not been lost. It has no secrets of the payer, so:

        SUCCESSFUL   begin: the session is open, with its `session` and `auth` as facts; nothing was charged.
                     charge, validate: the money was taken, with the payer's proof (PIN, code, approval on a page)
        CHALLENGE    the payer must still act: the payment waits for it until it expires
        WRONG        the code that `validate` brought is not right: it counts as a try
        FAILED       declined, by the payer or the payer's bank
        UNKNOWN, PROCESSING   the step is in progress: it is queried again later
        NOT_FOUND    the rail never saw the step

    An answer about a refund may bring the fact `refund_id`. A rail that knows no keys of refunds answers a query with
    `can_resend` False if it finds none.

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
    `sent_at` is when it was first sent, `rail` the rail that was written with it, `account` our account there. `phone`
    is the customer's telephone number in E.164 form, or empty. `age_seconds` (business time since then) and `scenario`
    are used by the sandbox only."""

    key: str
    biller: str
    paycode: str
    fulfillment: str
    reference: str
    amount: int
    currency: str
    sent_at: datetime
    age_seconds: float = 0
    scenario: Scenario = NO_SCENARIO
    rail: str = ""
    phone: str = ""
    account: str = ""


class CustomerQuery(msgspec.Struct, frozen=True):
    """Asks for the name of a biller's customer. If the biller has no name query (`is_name_required` is False), the rail
    may answer an empty name. `rails` are those of the merchant, if it has rails of its own."""

    biller: str
    paycode: str
    reference: str
    is_name_required: bool
    scenario: Scenario = NO_SCENARIO
    rails: tuple[str, ...] = ()


class CustomerAnswer(msgspec.Struct, frozen=True):
    """The name of a biller's customer."""

    name: str | None  # None if the biller has no such customer
    is_name_mismatch: bool = False  # the biller has the customer under another name


class BillerRail(Protocol):
    """A rail that pays bills. `fetch_catalogue` is given the number that the edition will have here. `reprint` returns
    again what a paid bill delivered: a token, a PIN."""

    async def fetch_catalogue(self, edition: int) -> CatalogueEdition: ...

    async def find_customer(self, query: CustomerQuery) -> CustomerAnswer: ...

    async def pay(self, order: BillOrder) -> Answer: ...

    async def query(self, order: BillOrder) -> Answer: ...

    async def reprint(self, order: BillOrder) -> Mapping[str, str]: ...


class CatalogueCache(Protocol):
    """The newest catalogue, in memory. `refresh` loads a newer one if there is one."""

    @property
    def catalogue(self) -> Catalogue: ...

    async def refresh(self) -> None: ...


# --- identity -----------------------------------------------------------------------------------------------------


class IdentityQuery(msgspec.Struct, frozen=True):
    """Asks for the person of a BVN. `rails` are those of the merchant, if it has rails of its own."""

    bvn: str
    scenario: Scenario = NO_SCENARIO
    rails: tuple[str, ...] = ()
    consent: str = ""  # reference of the person's consent, if the rail needs it (identities.py)


class Person(msgspec.Struct, frozen=True):
    """The person that a Bank Verification Number belongs to. The fields in `always_matching` count as equal to any
    value they are compared with (the sandbox's wildcard person)."""

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
