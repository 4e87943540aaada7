"""Look-ups of bills: the catalogue, from memory; and whose a customer reference is, from the biller rail."""

from datetime import UTC, datetime

from kasuwa.core.action import FieldRule, PreencodedReply, PreflightContext, preencode_reply
from kasuwa.core.billers import Biller, Catalogue, CatalogueItem, Item
from kasuwa.core.decision import FieldError, Merchant, Refusal, refuse_fields
from kasuwa.core.money import MINOR_PER_MAJOR
from kasuwa.core.scenario import TakeCallScenario
from kasuwa.methods.bills.rules.pay_bill import NO_SUCH_PAYCODE, UNKNOWN_PAYCODE, check_amount, check_reference
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


def check_not_paying(merchant: Merchant, said: object) -> str | None:
    """Two public clients resolve with an amount and an orderRef and believe they have paid. Contract: bills#pay"""
    return None if said is None else "resolve pays nothing: send action pay"


# --- what the catalogue has against a body that is refused anyway -----------------------------------------------


def check_category(merchant: Merchant, preflight: PreflightContext, category: str | None) -> str | None:
    return next((fault.reason for fault in selection_faults(preflight.rails.shelf.listing, category, None)), None)


def check_bill(merchant: Merchant, preflight: PreflightContext, bills_id: int | None) -> str | None:
    return next((fault.reason for fault in selection_faults(preflight.rails.shelf.listing, None, bills_id)), None)


def check_paycode(merchant: Merchant, preflight: PreflightContext, paycode: str) -> str | None:
    return NO_SUCH_PAYCODE if find_item(preflight.rails, paycode) is None else None


def check_customer_reference(
    merchant: Merchant, preflight: PreflightContext, paycode: str, reference: str
) -> str | None:
    listed = find_item(preflight.rails, paycode)
    return None if listed is None else check_reference(merchant, listed.terms, reference)


def check_item_amount(merchant: Merchant, preflight: PreflightContext, paycode: str, amount: int | None) -> str | None:
    listed = find_item(preflight.rails, paycode)
    return None if listed is None else check_amount(merchant, listed.terms, amount)


def find_item(rails: Rails, paycode: str) -> CatalogueItem | None:
    return rails.catalogue_cache.catalogue.find(paycode, datetime.now(UTC))


PULL_RULES = (
    FieldRule(("category",), check_category, is_preflight=True),
    FieldRule(("bills_id",), check_bill, is_preflight=True),
)
CUSTOMER_RULES = (
    FieldRule(("paycode",), check_paycode, is_preflight=True),
    FieldRule(("paycode", "reference"), check_customer_reference, is_preflight=True),
)
RESOLVE_RULES = (FieldRule(("amount",), check_not_paying), FieldRule(("order_ref",), check_not_paying), *CUSTOMER_RULES)
PAY_RULES = (
    *CUSTOMER_RULES,
    FieldRule(("paycode", "amount"), check_item_amount, is_preflight=True),
)


# --- the catalogue --------------------------------------------------------------------------------------------


def pull_catalogue(request: PullRequest, merchant: Merchant, rails: Rails) -> PreencodedReply | Refusal:
    """Made once an edition for each selection: everybody gets the same."""
    listing = rails.catalogue_cache.catalogue
    chosen = (request.category, request.bills_id)
    prepared = listing.encoded_replies.get(chosen)
    return prepared if prepared is not None else prepare_reply(listing, *chosen)


def prepare_reply(listing: Catalogue, category: str | None, bills_id: int | None) -> PreencodedReply | Refusal:
    faults = selection_faults(listing, category, bills_id)
    if faults:
        return refuse_fields(*faults)
    billers = [biller for biller in listing.contents.billers if is_chosen(biller, category, bills_id)]
    wanted = [line for line in listing.contents.categories if category in (None, line.code)]
    if bills_id is not None:
        wanted = [line for line in wanted if line.code == billers[0].category]
    ids = {biller.id for biller in billers}
    lines = CatalogueLines(
        categories=[CategoryLine(name=line.name, code=line.code) for line in wanted],
        bills=[BillLine(id=b.id, name=b.name, reference=b.reference, category=b.category) for b in billers],
        items=[item_line(item) for item in listing.contents.items if item.bills_id in ids],
    )
    prepared = preencode_reply(PullReply(data=lines))
    listing.encoded_replies[category, bills_id] = prepared
    return prepared


def selection_faults(listing: Catalogue, category: str | None, bills_id: int | None) -> list[FieldError]:
    """Whether a bill is in a category can only be said of one that exists."""
    codes = [line.code for line in listing.contents.categories]
    faults = [] if category is None or category in codes else [FieldError("category", UNKNOWN_CATEGORY)]
    biller = None if bills_id is None else listing.billers.get(bills_id)
    wrong = biller is None or (not faults and category not in (None, biller.category))
    return [*faults, FieldError("bills_id", UNKNOWN_BILL)] if bills_id is not None and wrong else faults


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
    request: ResolveRequest, merchant: Merchant, rails: Rails, plan: TakeCallScenario
) -> ResolveReply | Refusal:
    listed = find_item(rails, request.paycode)
    if listed is None:
        # Another process may have taken a newer edition within this second.
        await rails.catalogue_cache.refresh()
        listed = find_item(rails, request.paycode)
    if listed is None:
        return UNKNOWN_PAYCODE
    item, biller = listed.item, listed.biller
    reason = check_reference(merchant, listed.terms, request.reference)
    if reason is not None:
        return refuse_fields(FieldError("reference", reason))
    query = CustomerQuery(biller.slug, item.paycode, request.reference, item.require_name_query, await plan())
    try:
        answer = await rails.biller.find_customer(query)
    except (Unavailable, NoAnswer) as trouble:
        return refuse_unanswered("biller", trouble)
    if answer.name is None:
        return refuse_fields(FieldError("reference", f"{biller.name} has no such customer"))
    reply = ResolveReply(
        status=200,
        message=OTHER_NAME if answer.is_name_mismatch else FOUND if answer.name else NO_NAMES,
        cust_name=answer.name,
        reference=request.reference,
        paycode=request.paycode,
    )
    if answer.is_name_mismatch:
        reply.mismatch = True
    return reply
