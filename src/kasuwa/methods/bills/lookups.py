"""Look-ups of bills: `pull` reads the catalogue from memory, `resolve` asks the biller rail for a customer's name.

Also the preflight checks of bills, which compare a body with the catalogue.
"""

from datetime import UTC, datetime

from kasuwa.core.action import FieldRule, PreencodedReply, PreflightContext, preencode_reply
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
from kasuwa.rails.catalogue.catalogue import Biller, Catalogue, CatalogueItem, Item
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.orders import CustomerQuery, NoAnswer, Unavailable, refuse_unanswered

UNKNOWN_CATEGORY = "no category has this code"
UNKNOWN_BILL = "no bill has this id, or not in this category"

FOUND = "Customer found"
OTHER_NAME = "Customer found, but under another name: check the reference before you pay"
NO_NAMES = "This biller has no name query; the reference has its form"


def check_not_paying(merchant: Merchant, value: object) -> str | None:
    """Refuses fields of a payment: public clients exist that send them with resolve and believe they have paid.

    Contract: bills#resolve
    """
    return None if value is None else "resolve pays nothing: send action pay"


# --- preflight checks ---------------------------------------------------------------------------------------------


def check_category(merchant: Merchant, preflight: PreflightContext, category: str | None) -> str | None:
    return next(
        (fault.reason for fault in selection_faults(preflight.rails.catalogue_cache.catalogue, category, None)), None
    )


def check_bill(merchant: Merchant, preflight: PreflightContext, bills_id: int | None) -> str | None:
    return next(
        (fault.reason for fault in selection_faults(preflight.rails.catalogue_cache.catalogue, None, bills_id)), None
    )


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
    """Returns the encoded reply, which is made once per selection and catalogue edition: all merchants share it."""
    catalogue = rails.catalogue_cache.catalogue
    selection = (request.category, request.bills_id)
    reply = catalogue.encoded_replies.get(selection)
    return reply if reply is not None else prepare_reply(catalogue, *selection)


def prepare_reply(catalogue: Catalogue, category: str | None, bills_id: int | None) -> PreencodedReply | Refusal:
    faults = selection_faults(catalogue, category, bills_id)
    if faults:
        return refuse_fields(*faults)
    billers = [biller for biller in catalogue.contents.billers if is_selected(biller, category, bills_id)]
    categories = [line for line in catalogue.contents.categories if category in (None, line.code)]
    if bills_id is not None:
        categories = [line for line in categories if line.code == billers[0].category]
    ids = {biller.id for biller in billers}
    lines = CatalogueLines(
        categories=[CategoryLine(name=line.name, code=line.code) for line in categories],
        bills=[BillLine(id=b.id, name=b.name, reference=b.reference, category=b.category) for b in billers],
        items=[item_line(item) for item in catalogue.contents.items if item.bills_id in ids],
    )
    reply = preencode_reply(PullReply(data=lines))
    catalogue.encoded_replies[category, bills_id] = reply
    return reply


def selection_faults(catalogue: Catalogue, category: str | None, bills_id: int | None) -> list[FieldError]:
    """Returns what is wrong with a selection. An unknown category is not compared with the bill's own."""
    codes = [line.code for line in catalogue.contents.categories]
    faults = [] if category is None or category in codes else [FieldError("category", UNKNOWN_CATEGORY)]
    biller = None if bills_id is None else catalogue.billers.get(bills_id)
    wrong = biller is None or (not faults and category not in (None, biller.category))
    return [*faults, FieldError("bills_id", UNKNOWN_BILL)] if bills_id is not None and wrong else faults


def is_selected(biller: Biller, category: str | None, bills_id: int | None) -> bool:
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
    request: ResolveRequest, merchant: Merchant, rails: Rails, take_scenario: TakeCallScenario
) -> ResolveReply | Refusal:
    listed = find_item(rails, request.paycode)
    if listed is None:
        # Another process may have loaded a newer edition within this second.
        await rails.catalogue_cache.refresh()
        listed = find_item(rails, request.paycode)
    if listed is None:
        return UNKNOWN_PAYCODE
    item, biller = listed.item, listed.biller
    reason = check_reference(merchant, listed.terms, request.reference)
    if reason is not None:
        return refuse_fields(FieldError("reference", reason))
    query = CustomerQuery(
        biller=biller.slug,
        paycode=item.paycode,
        reference=request.reference,
        is_name_required=item.require_name_query,
        scenario=await take_scenario(),
        rails=merchant.rails.get("bills", ()),
    )
    try:
        answer = await rails.biller.find_customer(query)
    except (Unavailable, NoAnswer) as error:
        return refuse_unanswered("biller", error)
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
