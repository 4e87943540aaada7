"""Transactions of every kind: the row, its trail (history), and how a transaction becomes final.

A transaction is pending or processing until it is successful or failed, which are final. The decision that ends it
writes its event, and the job that delivers the event, in the same commit. Contract: #states, events#payload
"""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar, Literal, get_args

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Context, Decision, Event, HeldAmount, Job, OperatorNotice, Row, make_job
from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.core.money import format_minor
from kasuwa.core.references import ordered_key, row_key
from kasuwa.core.scenario import Scenario, webhook_delay
from kasuwa.terms.tariff import NO_FEES, FeeBreakdown
from kasuwa.transactions.event_payloads import build_event

PENDING = "pending"
PROCESSING = "processing"
SUCCESSFUL = "successful"
FAILED = "failed"
FINAL = frozenset({SUCCESSFUL, FAILED})

NO_DETAIL = "{}"

# Kinds whose detail describes who paid.
KINDS_OF_PAYERS = ("payment", "deposit", "repayment")


class Transaction(Row):
    """A transaction. Its key is made of kind and order reference, so a repeated reference finds the first one."""

    table: ClassVar[str] = "transaction"
    coded_columns: ClassVar[tuple[str, ...]] = (
        "kind",
        "txn_ref",
        "order_ref",
        "batch_ref",
        "currency",
        "amount",
        "fee",
        "vat",
        "duty",
        "digest",
        "detail",
        "held",
        "held_on",
    )
    coded_parts: ClassVar[Mapping[str, str]] = {"detail": f"case when kind not in {KINDS_OF_PAYERS} then detail end"}
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "status",
        "code",
        "message",
        "trail",
        "final_at",
        "rail",
        "rail_account",
        "facts_sealed",
    )

    kind: str
    txn_ref: str
    order_ref: str
    batch_ref: str | None
    currency: str
    amount: int
    fee: int
    vat: int
    duty: int
    status: str
    code: str | None
    message: str
    digest: bytes
    detail: str
    trail: str
    created_at: datetime
    final_at: datetime | None
    rail: str = ""  # the rail that it goes to; "" if it needs none
    rail_account: str = ""  # our account with the rail that it is sent with (core/routing.py)
    held: int = 0  # what it reserves as long as it is open (ledger/holds.py)
    held_on: str = ""  # the account
    row_code: bytes | None = None
    facts_sealed: bytes | None = None  # what the rail reported of a paid transfer (methods/disburse/receipts.py)

    @property
    def coded_detail(self) -> str | None:
        """The detail as far as it decides: that of KINDS_OF_PAYERS is about the payer, and is encrypted anew."""
        return None if self.kind in KINDS_OF_PAYERS else self.detail

    @property
    def is_final(self) -> bool:
        return self.status in FINAL

    @property
    def is_open(self) -> bool:
        return self.status not in FINAL


@lru_cache(maxsize=8192)
def transaction_key(merchant_id: int, kind: str, order_ref: str) -> bytes:
    return row_key(merchant_id, "transaction", f"{kind} {order_ref}")


class NewTransaction(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that a slice sets of a transaction that it begins."""

    kind: str
    txn_ref: str
    amount: int
    currency: str = "NGN"
    order_ref: str | None = None  # chosen by the merchant; without one, `txn_ref` is the order reference
    batch_ref: str | None = None  # of the bulk order, the purchase that is refunded, or the authorization captured
    fees: FeeBreakdown = NO_FEES
    status: str = PROCESSING
    message: str = ""
    digest: bytes = b""  # of the request, to recognize a repeated order reference with other content
    detail: Any = None  # stored as JSON
    held: HeldAmount | None = None  # what it reserves
    rail: str = ""  # of Context.choose_rail
    rail_account: str | None = None  # None: the one that the settings have now


def begin_transaction(context: Context, new: NewTransaction) -> Transaction:
    """Returns the row of a new transaction. Its kind must be one of TRANSACTION_KINDS."""
    assert new.kind in TRANSACTION_KINDS, f"add {new.kind} to TRANSACTION_KINDS"
    merchant_id, order_ref = context.merchant.merchant_id, new.order_ref or new.txn_ref
    # By place: a struct of so many fields takes ten times as long by name.
    return Transaction(
        transaction_key(merchant_id, new.kind, order_ref),
        merchant_id,
        new.kind,
        new.txn_ref,
        order_ref,
        new.batch_ref,
        new.currency,
        new.amount,
        new.fees.fee,
        new.fees.vat,
        new.fees.duty,
        new.status,
        None,  # code
        new.message,
        new.digest,
        NO_DETAIL if new.detail is None else encode_text(new.detail),
        begin_trail(context.now, "requested"),
        context.now,
        None,  # final_at
        new.rail,
        context.find_rail_account(new.rail) if new.rail_account is None else new.rail_account,
        0 if new.held is None else new.held.amount,
        "" if new.held is None else new.held.account,
    )


# Every kind of transaction. The list of all transactions reads them kind by kind, so a kind that is not here is not
# listed: `begin_transaction` refuses it.
TransactionKind = Literal[
    "payment",
    "transfer",
    "bill",
    "refund",
    "cashcode",
    "repayment",
    "deposit",
    "cashout",
    "card_purchase",
    "card_refund",
    "card_authorization",
]
TRANSACTION_KINDS: tuple[str, ...] = get_args(TransactionKind)

# Kinds whose order reference the merchant chooses. A bare reference in a request is looked up among these.
MERCHANT_REFERENCED_KINDS = ("transfer", "bill", "cashcode")
# Kinds whose key follows from an order reference that may differ from the transaction's own. That of payments,
# repayments and deposits may differ too, but several of these may have the same one: they are found by an index.
ORDER_KEYED_KINDS = (*MERCHANT_REFERENCED_KINDS, "card_purchase", "card_refund")

# Kinds whose amount two operators book, if a rail says otherwise than they have ended. Of payments only what was taken
# back is booked like this: one that is paid late is returned to its payer.
CORRECTED_KINDS = frozenset({"transfer", "bill", "refund"})


def contradiction_notices(row: Transaction, reported_status: str) -> tuple[OperatorNotice, ...]:
    """Returns a notice to the operator if a rail reports another status for a final transaction.

    The transaction itself never changes any more. Two operators decide whether the rail's word is booked: it may be a
    mistake, or the second half of one. Contract: #states
    """
    if reported_status == row.status:
        return ()
    message = f"the {row.kind} is {row.status}, but its rail now says {reported_status}"
    is_decided = row.kind in CORRECTED_KINDS or (row.kind == "payment" and row.status == SUCCESSFUL)
    return (OperatorNotice(row.txn_ref, message, is_contradiction=is_decided),)


def add_rail_notice(decision: Decision, earlier: Transaction | None, notice: str) -> Decision:
    """Returns the decision on a rail's answer with the answer's notice to the operator.

    A rail says the same at every query: the notice is given when the transaction's code changes, and when it ends.
    """
    for row in decision.rows:
        if isinstance(row, Transaction) and (row.is_final or earlier is None or row.code != earlier.code):
            decision.notices += (OperatorNotice(row.txn_ref, notice),)
    return decision


# --- the trail ------------------------------------------------------------------------------------------


def begin_trail(at: datetime, step: str, message: str = "") -> str:
    return "[" + trail_entry(at, step, message) + "]"


def extend_trail(trail: str, at: datetime, step: str, message: str = "") -> str:
    return trail[:-1] + "," + trail_entry(at, step, message) + "]"


@lru_cache(maxsize=64)
def trail_entry(at: datetime, step: str, message: str) -> str:
    """Returns an entry as JSON. Cached, because all decisions of a batch are made at one moment."""
    return f'{{"at":"{utc_text(at)}","step":"{step}","said":{msgspec.json.encode(message).decode()}}}'


# --- the end ----------------------------------------------------------------------------------------------

DELIVER_EVENT = "webhook.deliver"
WEBHOOK_LANE = "webhook"


class FinalTransaction(msgspec.Struct):
    """A transaction that has become final."""

    row: Transaction
    event: Event
    jobs: tuple[Job, ...]  # that deliver the event, one for each endpoint that gets it


class TransactionOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a transaction: its final status, and the further fields of its event."""

    status: str  # successful or failed
    message: str
    method: str  # paymentMethod of the event
    scenario: Scenario  # test environment: how the delivery of the event behaves
    code: str | None = None  # response code of the rail
    charged: int | None = None  # charged amount in the event, if it is not the transaction's amount
    # Fields that only events of this kind have (transactions/event_payloads.py). Without them it has the order
    # reference.
    event_fields: Mapping[str, str] | None = None


def end_transaction(context: Context, row: Transaction, outcome: TransactionOutcome) -> FinalTransaction:
    """Returns the final row, its event and the jobs that deliver it."""
    status, event_fields = outcome.status, outcome.event_fields
    ended = msgspec.structs.replace(
        row,
        status=status,
        code=outcome.code,
        message=outcome.message,
        final_at=context.now,
        trail=extend_trail(row.trail, context.now, status, outcome.message),
    )
    paid = row.amount if outcome.charged is None else outcome.charged
    payload = {
        "status": 200,
        "txn_status": status,
        "txn_ref": row.txn_ref,
        "charged_amount": format_minor(paid if status == SUCCESSFUL else 0),
        "payment_method": outcome.method,
        "endpoint": context.merchant.environment,
        "currency": row.currency,
        **({"order_ref": row.order_ref} if event_fields is None else event_fields),
    }
    event = Event(row.txn_ref, row.kind, msgspec.json.encode(build_event(row.kind, payload)))
    return FinalTransaction(ended, event, make_delivery_jobs(context, row, event, outcome.scenario))


def make_delivery_jobs(context: Context, row: Row, event: Event, scenario: Scenario) -> tuple[Job, ...]:
    """Returns the jobs that deliver an event about a row: one for each endpoint that gets events of its kind.

    A row may have several events at one moment, so their jobs are keyed by their references."""
    return tuple(
        make_job(
            key=delivery_key(context, row, event, endpoint.number),
            merchant_id=row.merchant_id,
            kind=DELIVER_EVENT,
            lane=WEBHOOK_LANE,
            reference=event.reference,
            subject=row.key,
            due=context.now + webhook_delay(scenario),
            work=encode_text(scenario),
            endpoint_id=endpoint.number,
        )
        for endpoint in context.endpoints
        if endpoint.wants(event.kind)
    )


def delivery_key(context: Context, row: Row, event: Event, endpoint_id: int) -> bytes:
    # The event that ends a transaction, at the first endpoint: nearly every delivery, and its key need not be hashed.
    is_end = endpoint_id == FIRST_ENDPOINT and isinstance(row, Transaction) and event.reference == row.txn_ref
    unique = row.key if is_end else row_key(row.merchant_id, f"event {endpoint_id}", event.reference)
    return ordered_key(max(0, int(context.now.timestamp() * 1000)), DELIVER_EVENT, unique)


def make_transaction_job(context: Context, kind: str, lane: str, row: Transaction, work: str) -> Job:
    """Returns a job that calls the rail of a transaction, due now."""
    job = make_ordered_job(context, kind, lane, row, row.txn_ref, context.now, work)
    job.rail, job.rail_account = row.rail, row.rail_account
    return job


def make_ordered_job(context: Context, kind: str, lane: str, row: Row, reference: str, due: datetime, work: str) -> Job:
    """Returns a job about a row that is not looked up. Its key begins with the time of the decision."""
    return make_job(
        key=ordered_key(max(0, int(context.now.timestamp() * 1000)), kind, row.key),
        merchant_id=row.merchant_id,
        kind=kind,
        lane=lane,
        reference=reference,
        subject=row.key,
        due=due,
        work=work,
    )


def encode_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
