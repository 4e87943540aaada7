"""Look-ups of bills: the catalogue, from memory; and whose a customer reference is, from the biller rail."""

from datetime import UTC, datetime

from kasuwa.core.action import Foresight, Prepared, Rule, prepare
from kasuwa.core.billers import Biller, Item, Listed, Listing
from kasuwa.core.decision import Fault, Merchant, Refusal, refuse_fields
from kasuwa.core.money import MINOR_PER_MAJOR
from kasuwa.core.scenario import PlanCall
from kasuwa.methods.bills.decide import NO_SUCH_PAYCODE, UNKNOWN_PAYCODE, amount_fault, reference_fault
from kasuwa.methods.bills.wire import (
    BillLine,
    CatalogueLines,
    CategoryLine,
    ItemLine,
    PullReply,
    PullRequest,
    ResolveReply,
    ResolveRequest,
)
from kasuwa.rails.ports import CustomerQuery, NoAnswer, Rails, Unavailable, refuse_unanswered

UNKNOWN_CATEGORY = "no category has this code"
UNKNOWN_BILL = "no bill has this id, or not in this category"

FOUND = "Customer found"
OTHER_NAME = "Customer found, but under another name: check the reference before you pay"
NO_NAMES = "This biller has no name query; the reference has its form"


# --- what is meant otherwise --------------------------------------------------------------------------------------


def means_to_pay(merchant: Merchant, said: object) -> str | None:
    """Two public clients resolve with an amount and an orderRef and believe they have paid. Spec silent: D30"""
    return None if said is None else "resolve pays nothing: send action pay"


# --- what the catalogue has against a body that is refused anyway -----------------------------------------------


def names_category(merchant: Merchant, foresight: Foresight, category: str | None) -> str | None:
    return next((fault.reason for fault in selection_faults(foresight.rails.shelf.listing, category, None)), None)


def names_bill(merchant: Merchant, foresight: Foresight, bills_id: int | None) -> str | None:
    return next((fault.reason for fault in selection_faults(foresight.rails.shelf.listing, None, bills_id)), None)


def names_item(merchant: Merchant, foresight: Foresight, paycode: str) -> str | None:
    return NO_SUCH_PAYCODE if find_item(foresight.rails, paycode) is None else None


def fits_biller(merchant: Merchant, foresight: Foresight, paycode: str, reference: str) -> str | None:
    listed = find_item(foresight.rails, paycode)
    return None if listed is None else reference_fault(merchant, listed.terms, reference)


def fits_price(merchant: Merchant, foresight: Foresight, paycode: str, amount: int | None) -> str | None:
    listed = find_item(foresight.rails, paycode)
    return None if listed is None else amount_fault(merchant, listed.terms, amount)


def find_item(rails: Rails, paycode: str) -> Listed | None:
    return rails.shelf.listing.find(paycode, datetime.now(UTC))


PULL_RULES = (Rule(("category",), names_category, foretells=True), Rule(("bills_id",), names_bill, foretells=True))
CUSTOMER_RULES = (
    Rule(("paycode",), names_item, foretells=True),
    Rule(("paycode", "reference"), fits_biller, foretells=True),
)
RESOLVE_RULES = (Rule(("amount",), means_to_pay), Rule(("order_ref",), means_to_pay), *CUSTOMER_RULES)
PAY_RULES = (
    *CUSTOMER_RULES,
    Rule(("paycode", "amount"), fits_price, foretells=True),
)


# --- the catalogue --------------------------------------------------------------------------------------------


def pull_catalogue(request: PullRequest, merchant: Merchant, rails: Rails) -> Prepared | Refusal:
    """Made once an edition for each selection: everybody gets the same."""
    listing = rails.shelf.listing
    chosen = (request.category, request.bills_id)
    prepared = listing.prepared.get(chosen)
    return prepared if prepared is not None else prepare_reply(listing, *chosen)


def prepare_reply(listing: Listing, category: str | None, bills_id: int | None) -> Prepared | Refusal:
    faults = selection_faults(listing, category, bills_id)
    if faults:
        return refuse_fields(*faults)
    billers = [biller for biller in listing.sheet.billers if is_chosen(biller, category, bills_id)]
    wanted = [line for line in listing.sheet.categories if category in (None, line.code)]
    if bills_id is not None:
        wanted = [line for line in wanted if line.code == billers[0].category]
    ids = {biller.id for biller in billers}
    lines = CatalogueLines(
        categories=[CategoryLine(name=line.name, code=line.code) for line in wanted],
        bills=[BillLine(id=b.id, name=b.name, reference=b.reference, category=b.category) for b in billers],
        items=[item_line(item) for item in listing.sheet.items if item.bills_id in ids],
    )
    prepared = prepare(PullReply(data=lines))
    listing.prepared[category, bills_id] = prepared
    return prepared


def selection_faults(listing: Listing, category: str | None, bills_id: int | None) -> list[Fault]:
    """Whether a bill is in a category can only be said of one that exists."""
    codes = [line.code for line in listing.sheet.categories]
    faults = [] if category is None or category in codes else [Fault("category", UNKNOWN_CATEGORY)]
    biller = None if bills_id is None else listing.billers.get(bills_id)
    wrong = biller is None or (not faults and category not in (None, biller.category))
    return [*faults, Fault("bills_id", UNKNOWN_BILL)] if bills_id is not None and wrong else faults


def is_chosen(biller: Biller, category: str | None, bills_id: int | None) -> bool:
    return category in (None, biller.category) and bills_id in (None, biller.id)


def item_line(item: Item) -> ItemLine:
    return ItemLine(
        name=item.name,
        bills_id=item.bills_id,
        amount=item.amount,
        discount=float(item.discount),
        fee=item.fee / MINOR_PER_MAJOR,
        paycode=item.paycode,
        require_name_query=1 if item.require_name_query else 0,
    )


# --- the customer -------------------------------------------------------------------------------------------------


async def resolve_customer(
    request: ResolveRequest, merchant: Merchant, rails: Rails, plan: PlanCall
) -> ResolveReply | Refusal:
    listed = find_item(rails, request.paycode)
    if listed is None:
        # Another process may have taken a newer edition within this second.
        await rails.shelf.look()
        listed = find_item(rails, request.paycode)
    if listed is None:
        return UNKNOWN_PAYCODE
    item, biller = listed.item, listed.biller
    reason = reference_fault(merchant, listed.terms, request.reference)
    if reason is not None:
        return refuse_fields(Fault("reference", reason))
    query = CustomerQuery(biller.slug, item.paycode, request.reference, item.require_name_query, await plan())
    try:
        answer = await rails.biller.customer(query)
    except (Unavailable, NoAnswer) as trouble:
        return refuse_unanswered("biller", trouble)
    if answer.name is None:
        return refuse_fields(Fault("reference", f"{biller.name} has no such customer"))
    reply = ResolveReply(
        status=200,
        message=OTHER_NAME if answer.mismatch else FOUND if answer.name else NO_NAMES,
        cust_name=answer.name,
        reference=request.reference,
        paycode=request.paycode,
    )
    if answer.mismatch:
        reply.mismatch = True
    return reply
