"""Makes links that sell tickets, and opens the checkout of a purchase. Contract: resources#tickets"""

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.merchants.merchant_settings import check_amount_limits
from kasuwa.methods.checkout.model import (
    ACTIVE,
    LINK_DETAIL_DECODER,
    ONE_TIME,
    UNKNOWN_LINK,
    PayLink,
    link_key,
)
from kasuwa.methods.checkout.rules.pay_link import (
    LINK_CHECKOUT_LIFE,
    LINK_DISABLED,
    NOT_SERVED_NOW,
    decide_link,
    list_channels,
)
from kasuwa.methods.tickets.model import MAX_QUANTITY, MAX_TICKETS, TICKET, TicketKind, ticket_kind_key
from kasuwa.methods.tickets.payer_model import OpenTicketPurchase
from kasuwa.methods.tickets.rules.records import show_ticket_link
from kasuwa.methods.tickets.rules.sell import refuse_sold_out
from kasuwa.methods.tickets.wire import TicketKindFields, TicketLinkReply, TicketLinkRequest
from kasuwa.transactions.checkouts import CheckoutDetail, CheckoutItem, NewCheckout, begin_checkout

WRONG_TOTAL = Refusal(INVALID_REQUEST, "The total must be {reason}", error_code="total_out_of_bounds")
NOTHING_CHOSEN = Refusal(INVALID_REQUEST, "Choose at least one ticket", error_code="no_ticket_chosen")
TOO_MANY = Refusal(INVALID_REQUEST, f"Choose at most {MAX_TICKETS} tickets at a time", error_code="too_many_tickets")


# --- the link -----------------------------------------------------------------------------------------------------


def check_ticket_data(merchant: Merchant, kinds: list[TicketKindFields]) -> str | None:
    """Returns what is wrong with the kinds of a link, or None."""
    if len({kind.name.strip().casefold() for kind in kinds}) < len(kinds):
        return "each name once"
    wrong = [place for place, kind in enumerate(kinds) if not is_quantity(kind.quantity)]
    return f"{wrong[0]}.quantity: 1 to {MAX_QUANTITY}" if wrong else None


def is_quantity(quantity: int | None) -> bool:
    return quantity is None or 1 <= quantity <= MAX_QUANTITY


def check_one_time(merchant: Merchant, link_type: str | None) -> str | None:
    return None if link_type in (None, ONE_TIME) else "one_time: a ticket is paid once"


def need_ticket_link(request: TicketLinkRequest, merchant: Merchant) -> Needs:
    """The key of a slug is made with the vault, which only the decision has: it asks for the entry itself."""
    return Needs()


def decide_ticket_link(
    request: TicketLinkRequest, context: Context, rows: LoadedRows
) -> Decision[TicketLinkReply] | Refusal | NeedsMore:
    """Makes a payment link of kind `ticket`, with its kinds of tickets. The link has no amount of its own."""
    decided = decide_link(request, context, rows, TICKET)
    if isinstance(decided, NeedsMore):
        return decided
    faults = price_faults(request, context)
    if isinstance(decided, Refusal):
        return refuse_fields(*decided.field_errors, *faults) if faults else decided
    if faults:
        return refuse_fields(*faults)
    link, *others = decided.rows
    assert isinstance(link, PayLink), "the link is the first row"
    kinds = [make_kind(link, place, kind) for place, kind in enumerate(request.ticket_data)]
    record = show_ticket_link(link, kinds, context.public_url)
    return Decision(reply=TicketLinkReply(message="Tickets created", data=record), rows=(link, *others, *kinds))


def price_faults(request: TicketLinkRequest, context: Context) -> list[FieldError]:
    reasons = [
        check_amount_limits(context.merchant, request.currency or "NGN", kind.amount) for kind in request.ticket_data
    ]
    return [
        FieldError(f"ticket_data.{place}.amount", reason) for place, reason in enumerate(reasons) if reason is not None
    ]


def make_kind(link: PayLink, place: int, fields: TicketKindFields) -> TicketKind:
    return TicketKind(
        key=ticket_kind_key(link.merchant_id, link.link_id, place),
        merchant_id=link.merchant_id,
        link_id=link.link_id,
        place=place,
        name=fields.name.strip(),
        amount=int(fields.amount),
        quantity=None if fields.quantity is None else int(fields.quantity),
        sold=0,
        reserved=0,
        used=0,
    )


# --- the checkout of a purchase -----------------------------------------------------------------------------------


def need_purchase(request: OpenTicketPurchase, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    kinds: tuple[tuple[type[Row], bytes], ...] = tuple(
        (TicketKind, ticket_kind_key(merchant_id, request.reference, place)) for place, _ in request.chosen
    )
    return Needs(((PayLink, link_key(merchant_id, request.reference)), *kinds))


def decide_purchase(request: OpenTicketPurchase, context: Context, rows: LoadedRows) -> Decision | Refusal:
    """Opens a checkout for the chosen tickets. Nothing is reserved until its payer begins to pay."""
    merchant_id = context.merchant.merchant_id
    link = rows.get(PayLink, link_key(merchant_id, request.reference))
    if link is None or link.kind != TICKET:
        return UNKNOWN_LINK
    if link.state != ACTIVE:
        return LINK_DISABLED
    count = sum(quantity for _, quantity in request.chosen)
    if count < 1 or any(quantity < 0 for _, quantity in request.chosen):
        return NOTHING_CHOSEN
    if count > MAX_TICKETS:
        return TOO_MANY
    items: list[CheckoutItem] = []
    for place, quantity in request.chosen:
        kind = rows.get(TicketKind, ticket_kind_key(merchant_id, request.reference, place))
        if kind is None:
            return NOTHING_CHOSEN
        if quantity > kind.left:
            return refuse_sold_out(kind)
        if quantity:
            items.append(CheckoutItem(kind.name, quantity, kind.amount, str(place)))
    return open_purchase(request, link, tuple(items), context)


def open_purchase(
    request: OpenTicketPurchase, link: PayLink, items: tuple[CheckoutItem, ...], context: Context
) -> Decision | Refusal:
    amount = sum(item.quantity * item.amount for item in items)
    reason = check_amount_limits(context.merchant, link.currency, amount)
    if reason is not None:
        return WRONG_TOTAL.fill(reason=reason)
    channels = list_channels(link, context)
    if not channels:
        return NOT_SERVED_NOW
    terms = LINK_DETAIL_DECODER.decode(link.detail)
    detail = CheckoutDetail(
        page_token=request.page_token,
        title=link.title,
        description=terms.description,
        items=items,
        channels=channels,
        bearer="customer" if terms.payer_bears_fees else "merchant",
        redirect_url=terms.redirect_url,
        message=terms.message,
        fullname=request.fullname,
        email=request.email,
        phone=request.phone,
        is_payer_given=True,
    )
    new = NewCheckout(
        amount=amount,
        currency=link.currency,
        detail=detail,
        expires_at=context.now + LINK_CHECKOUT_LIFE,
        source=TICKET,
        source_id=link.link_id,
    )
    _, decision = begin_checkout(new, context)
    return decision
