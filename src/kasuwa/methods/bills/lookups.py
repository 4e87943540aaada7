"""Look-ups of bills: the catalogue, from memory; and whose a customer reference is, from the biller rail."""

import asyncio
from datetime import UTC, datetime

from kasuwa.core.action import Prepared, prepare
from kasuwa.core.billers import Biller, Item, Listing, may_be_customer
from kasuwa.core.codes import ERROR
from kasuwa.core.decision import Fault, Merchant, Refusal, refuse_fields
from kasuwa.core.money import MINOR_PER_MAJOR
from kasuwa.core.scenario import Scenario
from kasuwa.methods.bills.decide import UNKNOWN_PAYCODE
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
from kasuwa.rails import ports
from kasuwa.rails.ports import CustomerQuery, NoAnswer, Rails, Unavailable

UNKNOWN_CATEGORY = refuse_fields(Fault("category", "no category has this code"))
UNKNOWN_BILL = refuse_fields(Fault("bills_id", "no bill has this id, or not in this category"))
BILLER_UNAVAILABLE = Refusal(ERROR, "The biller does not answer now; try again later")
BILLER_LATE = Refusal(ERROR, "The biller has not answered in time; try again later")

FOUND = "Customer found"
OTHER_NAME = "Customer found, but under another name: check the reference before you pay"
NO_NAMES = "This biller has no name query; the reference has its form"


# --- the catalogue --------------------------------------------------------------------------------------------


def pull_catalogue(request: PullRequest, merchant: Merchant, rails: Rails) -> Prepared | Refusal:
    """Made once an edition for each selection: everybody gets the same."""
    listing = rails.shelf.listing
    chosen = (request.category, request.bills_id)
    prepared = listing.prepared.get(chosen)
    return prepared if prepared is not None else prepare_reply(listing, *chosen)


def prepare_reply(listing: Listing, category: str | None, bills_id: int | None) -> Prepared | Refusal:
    billers = [biller for biller in listing.sheet.billers if is_chosen(biller, category, bills_id)]
    wanted = [line for line in listing.sheet.categories if category is None or line.code == category]
    if category is not None and not wanted:
        return UNKNOWN_CATEGORY
    if bills_id is not None:
        if not billers:
            return UNKNOWN_BILL
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
    request: ResolveRequest, merchant: Merchant, rails: Rails, scenario: Scenario
) -> ResolveReply | Refusal:
    listed = rails.shelf.listing.find(request.paycode, datetime.now(UTC))
    if listed is None:
        # Another process may have taken a newer edition within this second.
        await rails.shelf.look()
        listed = rails.shelf.listing.find(request.paycode, datetime.now(UTC))
    if listed is None:
        return UNKNOWN_PAYCODE
    item, biller = listed.item, listed.biller
    if not may_be_customer(merchant, biller.pattern, request.reference):
        return refuse_fields(Fault("reference", f"not a customer reference of {biller.name}"))
    query = CustomerQuery(biller.slug, item.paycode, request.reference, item.require_name_query, scenario)
    try:
        # A rail keeps its deadline itself; a look-up must not depend on that.
        async with asyncio.timeout(ports.DEADLINE_SECONDS):
            answer = await rails.biller.customer(query)
    except Unavailable:
        return BILLER_UNAVAILABLE
    except (NoAnswer, TimeoutError):
        return BILLER_LATE
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
