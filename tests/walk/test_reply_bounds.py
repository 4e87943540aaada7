"""Every reply has a limited size: it is a page of a list, has no list, or the limits of its lists are named here."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from kasuwa.audit.make_close import MARK_EVERY
from kasuwa.methods.auto_repay.wire import MAX_RETRIES
from kasuwa.methods.checkout.store import MAX_PAYMENTS_SHOWN as MAX_LINK_PAYMENTS
from kasuwa.methods.clients.store import MAX_HELD_SHOWN
from kasuwa.methods.customers.store import MAX_CARDS_SHOWN, MAX_PAYMENTS_SHOWN
from kasuwa.methods.disputes.model import MAX_FILES
from kasuwa.methods.groups.model import MAX_MEMBERS
from kasuwa.methods.groups.store import MAX_LOANS_SHOWN
from kasuwa.methods.investments.store import MAX_PLANS_SHOWN
from kasuwa.methods.invoices.rules.receive import MAX_RECEIPTS
from kasuwa.methods.invoices.store import MAX_PAYMENTS
from kasuwa.methods.invoices.wire import MAX_ITEMS
from kasuwa.methods.keys.store import MAX_KEYS_SHOWN
from kasuwa.methods.loans.guarantee_model import MAX_COLLATERAL, MAX_GUARANTEES
from kasuwa.methods.loans.portfolio.store import MAX_GROUPS as MAX_LOAN_GROUPS
from kasuwa.methods.loans.rules.reschedule import MAX_RESCHEDULES
from kasuwa.methods.payment.rules.receipts.reject_transfer import MOST_KEPT
from kasuwa.methods.references.store import MAX_RELATED, MAX_STEPS
from kasuwa.methods.resources.store import MOST_ATTEMPTS
from kasuwa.methods.statements.proofs.store import MAX_GROUPS
from kasuwa.methods.tickets.model import MAX_KINDS
from kasuwa.terms.checkout_origins import MAX_ORIGINS
from kasuwa.terms.loan_charges import MAX_CHARGES, MAX_CHARGES_OF_LINE
from kasuwa.terms.loan_schedule import BUCKETS
from kasuwa.transactions.schedule import MAX_INSTALLMENTS
from kasuwa.wire.paging import Paged, PagedArray
from tests.walk.rows import ACTION_ROWS, ActionRow

# The limits of lists in replies that are not pages, by row and place.
SCHEDULE = "one line an installment: at most 366"
# The figures of every dry run.
ANYWHERE = {"explained": "one line a figure, and those of a schedule: at most 366"}
RETRIES = f"those that were agreed on: at most {MAX_RETRIES}"
GROUP_MEMBERS = f"one line a member: at most {MAX_MEMBERS}"
DOCUMENTS = "as many as were sent: at most 20"
SECURITY = {
    "data.guarantees": f"those of one loan: at most {MAX_GUARANTEES}",
    "data.collateral": f"that of one loan: at most {MAX_COLLATERAL}",
    "data.collateral[].documents": DOCUMENTS,
}
LOAN = {
    "data.schedule": SCHEDULE,
    "data.waiting_write_off.parts": "at most the five parts",
    "data.auto_repay.retry": RETRIES,
    "data.agreed_charges": f"at most {MAX_CHARGES}",
    "data.charges": f"of each installment at most {MAX_CHARGES_OF_LINE}, and as agreed at most {MAX_CHARGES}",
    "data.schedules": f"one a reschedule: at most {MAX_RESCHEDULES}",
    "data.schedules[].schedule": SCHEDULE,
    **SECURITY,
}
PRODUCT = {"charges": f"at most {MAX_CHARGES}", "allocation": "the four parts"}
CLIENT_FIELDS = {
    "addresses": "at most 20",
    "bankAccount": "as it was sent",
    "meta": "as it was sent",
    "identification": "as it was sent: at most 4 KiB",
}
CLIENT = {f"data.{name}": why for name, why in CLIENT_FIELDS.items()} | {
    "held": f"the newest {MAX_HELD_SHOWN} (clients/store.py)",
    "tier.used.held": f"the newest {MAX_HELD_SHOWN} (clients/store.py)",
    "tier.next.missing": "the kinds of what a tier needs",
}
SHOWS_SAVINGS = (
    "investments-create_savings",
    "investments-view_savings",
    "investments-reactivate_savings",
    "investments-decide_reactivation",
)
PLANS = f"the newest {MAX_PLANS_SHOWN} (investments/store.py)"
DATES = f"one line a date: at most {MAX_INSTALLMENTS}"
PAYMENTS_OF_LINK = {"data.payments": f"the newest {MAX_LINK_PAYMENTS} (checkout/store.py)"}
INSTALLMENTS = {"data.payment_schedule": DATES}
CATEGORIES = "at most 50 categories of shops"
CARD_LIMITS = {
    "categories": CATEGORIES,
    "blocked_categories": CATEGORIES,
    "merchants": "at most 50, in the request",
    "blocked_merchants": "at most 50, in the request",
    "countries": "at most 50, in the request",
    "velocity": "at most 5, in the request",
    "channels": "the kinds of channels",
}
EVENTS = {
    "data[].attempts": f"the newest {MOST_ATTEMPTS} (resources/store.py)",
    "data[].payload": "an event as it was sent: a transaction, and its meta of at most 64 KiB",
}
HASHES = "one hash a level of a tree"
PROOF = {
    "groups": f"the groups up to the next mark: about {MARK_EVERY} postings, and those of the page",
    "groups[].postings": "what one decision posts together",
    "path": HASHES,
    "mark.path": HASHES,
}
INVOICE = {
    "data.items": f"as many as were sent: at most {MAX_ITEMS}",
    "data.payments": f"the newest {MAX_PAYMENTS} (invoices/store.py)",
    "data.received": f"at most {MAX_RECEIPTS} (invoices/rules/receive.py)",
}
BOUNDS: dict[str, dict[str, str]] = {
    "disburse-transfer-bulk": {"data": "as many lines as orders: at most 1,000"},
    "disburse-verify": {
        "data": "as many lines as the bulk has orders: at most 1,000",
        "approval.reasons": "one line a rule of the policy",
    },
    **{key: {"data": "the orders of a bulk: at most 1,000"} for key in ("disburse-approve", "disburse-reject")},
    "payment-verify": {
        "meta": "as it was sent",
        "refunds": "the newest 200 (payment/store.py)",
        "rejections": f"at most {MOST_KEPT} (payment/rules/receipts/reject_transfer.py)",
    },
    "payment-dispute": {
        "data.evidence.files": f"at most {MAX_FILES} names",
        "data.timeline": "one line a state and reminder",
    },
    "virtualcard-view_dispute": {
        "data.evidence.files": f"at most {MAX_FILES} names",
        "data.timeline": "one line a state and refund, until the trail is full",
    },
    "resources-settlement": {
        "data.lines": "one line a kind",
        "data.payouts": "those of one day: at most one a schedule",
    },
    "bills-pull": dict.fromkeys(("data.categories", "data.bills", "data.items"), "the catalogue of billers"),
    **dict.fromkeys(("clients-create", "clients-update", "clients-view"), CLIENT),
    **dict.fromkeys(("loans-request", "loans-process", "loans-repay", "loans-view"), LOAN),
    **dict.fromkeys(("loans-charge", "loans-waive", "loans-reschedule", "loans-top_up"), LOAN),
    "loans-request_of_product": LOAN,
    **{
        key: {f"data.{name}": why for name, why in PRODUCT.items()}
        for key in ("loans-create_product", "loans-update_product", "loans-close_product", "loans-view_product")
    },
    "loans-list_products": {f"data[].{name}": why for name, why in PRODUCT.items()},
    **dict.fromkeys(("loans-write_off", "loans-decide_write_off"), LOAN),
    "loans-call_guarantee": LOAN | {"guarantees": SECURITY["data.guarantees"]},
    **{key: {"data.documents": DOCUMENTS} for key in ("loans-collateral", "loans-return_collateral")},
    **{key: {"data.retry": RETRIES} for key in ("loans-auto_repay", "loans-stop_auto_repay")},
    **{key: {"data.members": GROUP_MEMBERS} for key in ("loans-create_group", "loans-update_group")},
    "loans-view_group": {
        "data.members": GROUP_MEMBERS + ", and clients who have left and still owe something",
        "data.loans": f"the newest {MAX_LOANS_SHOWN} (groups/store.py)",
        "data.loans[].loans": GROUP_MEMBERS,
    },
    **{
        key: {"data.loans": GROUP_MEMBERS}
        for key in (
            "loans-request_group_loan",
            "loans-request_group_loan_of_product",
            "loans-process_group_loan",
        )
    },
    "loans-collection_sheet": {"data.lines": "one line an open loan of a member"},
    "loans-collect": {"data": "one line an amount: at most 60"},
    "loans-reverse": LOAN | {"reallocated": "one line a later repayment"},
    "loans-portfolio": {
        "data.buckets": f"the {len(BUCKETS)} buckets",
        "data.groups": f"the largest {MAX_LOAN_GROUPS} (loans/portfolio/store.py)",
    },
    "clients-list": {f"data[].{name}": why for name, why in CLIENT_FIELDS.items()},
    **{key: {"data.plans": PLANS} for key in SHOWS_SAVINGS},
    "investments-list_savings": {"data[].plans": PLANS},
    "investments-set_rollover": {"data.plans": PLANS},
    **dict.fromkeys(("resources-events", "resources-event_feed"), EVENTS),
    "resources-installments": {"[].payment_schedule": DATES},
    **{
        key: {f"limits.{name}": why for name, why in CARD_LIMITS.items()}
        for key in ("virtualcard-create", "virtualcard-get")
    },
    "virtualcard-limits": {f"data.{name}": why for name, why in CARD_LIMITS.items()},
    "resources-banks": {"": "the list of banks"},
    "resources-supported_chargable_banks": {"data": "the list of banks"},
    "resources-keys": {
        "data": f"the newest {MAX_KEYS_SHOWN} (keys/store.py)",
        "data[].scopes": "one line a scope",
        "data[].addresses": "at most 50 ranges",
    },
    "sandbox-trigger": {name.replace("[]", ""): why for name, why in EVENTS.items()},
    "sandbox-new_key": {"scopes": "one line a scope"},
    "sandbox-checkout_origins": {"origins": f"at most {MAX_ORIGINS}, in the request"},
    "resources-wallet": {"data": "one line a currency"},
    "resources-transactions": {"data": "at most 100 lines of limited texts (transactions/wire.py)"},
    "resources-transaction": {
        "data.related": f"the newest {MAX_RELATED} of each kind (references/store.py)",
        "data.timeline": f"the newest {MAX_STEPS} steps (references/store.py)",
    },
    "resources-statement": {
        "data": "at most 200 lines",
        "totals": "one line a kind of movement: at most 8",
        **{f"proof.{name}": why for name, why in PROOF.items()},
    },
    "resources-proof": {
        "data": f"at most {MAX_GROUPS} proofs (statements/proofs/store.py)",
        **{f"data[].{name}": why for name, why in PROOF.items()},
    },
    **dict.fromkeys(("resources-invoice", "resources-invoice_detail", "resources-invoice-void"), INVOICE),
    **dict.fromkeys(("resources-invoice_received", "resources-invoice_not_received"), INVOICE),
    "resources-ticket": {"data.ticket_data": f"as many as were sent: at most {MAX_KINDS}"},
    "resources-ticket_links": {"data[].ticket_data": f"as many as were sent: at most {MAX_KINDS}"},
    "resources-ticket_sales": {"sale.ticket_data": f"as many as were sent: at most {MAX_KINDS}"},
    "resources-customer_detail": {
        "data.totals": "one line a currency",
        "data.invoices": "one line a currency",
        "data.cards": f"the newest {MAX_CARDS_SHOWN} (customers/store.py)",
        "data.transactions": f"the newest {MAX_PAYMENTS_SHOWN} (customers/store.py)",
    },
    "resources-paylink_detail": PAYMENTS_OF_LINK,
    "resources-paylink_by_id": PAYMENTS_OF_LINK,
    **dict.fromkeys(
        ("resources-installments-resume", "resources-installments-pause", "resources-installments-cancel"),
        INSTALLMENTS,
    ),
    "sandbox-worlds": {
        "data": "at most 20 worlds (sandbox/worlds/records.py)",
        "running": "one line a kind of act: the key of world_progress has the merchant and the act",
    },
    "sandbox-compare_worlds": {"data": "one line a table"},
    "sandbox-explain": {"data": "the newest 1,000 entries, in at most 1 MiB (projections/timeline.py)"},
    "sandbox-audit": {"data": "at most 20 lines an invariant (audit/invariants/ledger.py)"},
    "sandbox-advance": {"ran": "one count a kind of job"},
}

# Fields of the request that every reply about a payment repeats.
META = {"meta": "as it was sent: at most 64 KiB"}
TELL_PAYMENTS = ("payment-initiate", "payment-charge", "payment-validate", "loans-repay", "loans-validate")
for title in [row.title for row in ACTION_ROWS]:
    if title.startswith(TELL_PAYMENTS) or title in ("investments-deposit", "investments-validate"):
        BOUNDS[title] = {**META, **BOUNDS.get(title, {})}

GROWING = (
    inspect.ListType,
    inspect.VarTupleType,
    inspect.SetType,
    inspect.FrozenSetType,
    inspect.DictType,
    inspect.AnyType,
    inspect.RawType,
)


def growing(kind: inspect.Type, path: str = "", above: tuple[type, ...] = ()) -> Iterator[str]:
    """Yields the places of a reply's type that can have any number of elements, also within each line of a list. A
    free-form object has a limit as a whole."""
    if isinstance(kind, GROWING):
        yield path
        if isinstance(kind, inspect.ListType | inspect.VarTupleType) and is_struct(kind.item_type):
            yield from growing(kind.item_type, f"{path}[]", above)
    elif isinstance(kind, inspect.Metadata):
        yield from growing(kind.type, path, above)
    elif isinstance(kind, inspect.UnionType):
        for option in kind.types:
            yield from growing(option, path, above)
    elif isinstance(kind, inspect.StructType) and kind.cls not in above:
        for field in kind.fields:
            where = f"{path}.{field.encode_name}" if path else field.encode_name
            yield from growing(field.type, where, (*above, kind.cls))


def is_struct(kind: inspect.Type) -> bool:
    return isinstance(kind.type if isinstance(kind, inspect.Metadata) else kind, inspect.StructType)


def is_paged(action: Any) -> bool:
    """Returns whether the reply is cut to the requested page and to the limit in bytes (wire/paging.py)."""
    if hasattr(action.reply, "placed_by"):
        return True
    if issubclass(action.request, PagedArray):
        return inspect.type_info(action.reply).__class__ is inspect.ListType
    fields = getattr(action.reply, "__struct_fields__", ())
    return issubclass(action.request, Paged) and {"data", "offset", "limit", "total"} <= set(fields)


def unbounded(row: ActionRow) -> tuple[str, ...]:
    """Returns the places without a limit. The list of a page is cut; lists within its lines are not."""
    found = dict.fromkeys(growing(inspect.type_info(row.action.reply)))
    pages = ("", "data") if is_paged(row.action) else ()
    return tuple(place for place in found if place not in (*pages, *ANYWHERE))


@pytest.mark.parametrize("row", ACTION_ROWS, ids=lambda row: row.title)
def test_what_bounds_each_reply_is_known(row: ActionRow) -> None:
    assert set(unbounded(row)) == set(BOUNDS.get(row.title, ()))


def test_every_bound_belongs_to_a_row() -> None:
    assert BOUNDS.keys() <= {row.title for row in ACTION_ROWS}


# --- the check itself --------------------------------------------------------------------------------------------


class Line(msgspec.Struct):
    names: tuple[str, ...]


class Reply(msgspec.Struct):
    status: int
    data: Line | None
    lines: list[Line]
    meta: dict[str, str] | msgspec.UnsetType = msgspec.UNSET


def test_lists_are_found_at_every_depth() -> None:
    assert set(growing(inspect.type_info(Reply))) == {"data.names", "lines", "lines[].names", "meta"}
    assert list(growing(inspect.type_info(list[int]))) == [""]
    assert list(growing(inspect.type_info(int | str))) == []


def test_a_list_that_takes_no_limit_is_not_a_page() -> None:
    listing = next(row for row in ACTION_ROWS if row.title == "clients-list").action
    plain = msgspec.structs.replace(listing, request=Line)
    assert is_paged(listing)
    assert not is_paged(plain)
    nested = tuple(f"data[].{name}" for name in CLIENT_FIELDS)
    assert unbounded(ActionRow("clients", "action", listing)) == nested
    assert unbounded(ActionRow("clients", "action", plain)) == ("data", *nested)
