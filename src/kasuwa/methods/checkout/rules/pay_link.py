"""Payment links: making and switching them, and the checkout of each payer. Contract: resources#paylinks"""

from datetime import timedelta
from functools import partial

import msgspec

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
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import opaque_id
from kasuwa.core.token_index import TokenIndexEntry, make_page_entry, token_key
from kasuwa.merchants.merchant_settings import check_amount_limits
from kasuwa.methods.checkout.model import (
    ACTIVE,
    DISABLED,
    ID_PREFIX,
    LINK,
    LINK_DETAIL_DECODER,
    ONE_TIME,
    PLAIN,
    RECURRING,
    UNKNOWN_LINK,
    LinkDetail,
    PayLink,
    link_key,
    link_url,
)
from kasuwa.methods.checkout.payer_model import OpenFromLink
from kasuwa.methods.checkout.rules.served_channels import DEFAULT_CHANNELS, channels_of_plan, served_channels
from kasuwa.methods.checkout.wire import PaylinkRecord, PaylinkReply, PaylinkRequest, SwitchPaylink
from kasuwa.terms.tariff import Tariff
from kasuwa.terms.vendors import CollectionVendors
from kasuwa.transactions.checkouts import LINK_SOURCE, CheckoutDetail, NewCheckout, begin_checkout
from kasuwa.transactions.pricing import choose_bearer
from kasuwa.transactions.transactions import encode_text

SLUG_TAKEN = refuse_fields(FieldError("custom_link", "taken: choose another", "custom_link_taken"))
LINK_DISABLED = Refusal(
    INVALID_REQUEST,
    "This link is not in use at the moment. Please ask the merchant",
    error_code="payment_link_disabled",
)
NOT_SERVED = FieldError("currency", "one that payments can be made in here")
NOT_SERVED_NOW = Refusal(
    INVALID_REQUEST,
    "This link cannot be paid at the moment. Please ask the merchant",
    error_code="payment_link_not_payable",
)
# How long a payer who has filled in a link's page can pay.
LINK_CHECKOUT_LIFE = timedelta(hours=1)
RANDOM_SLUG_DIGITS = 12


def need_link(request: PaylinkRequest, merchant: Merchant) -> Needs:
    """The key of a slug is made with the vault, which only the decision has: it asks for the entry itself."""
    return Needs()


def decide_link(
    request: PaylinkRequest, context: Context, rows: LoadedRows, kind: str = PLAIN
) -> Decision[PaylinkReply] | Refusal | NeedsMore:
    """Makes a link. Its row is the first of the decision. Links of other kinds than PLAIN have no amount."""
    slug = str(request.custom_link or "") or context.draw_page_token("pay link")[:RANDOM_SLUG_DIGITS]
    key = token_key(context.vault, LINK, slug)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((TokenIndexEntry, key),)))
    link = build_link(request, slug, kind, context)
    faults = link_faults(link, context)
    if rows.get(TokenIndexEntry, key) is not None:
        faults.append(SLUG_TAKEN.field_errors[0])
    if faults:
        return refuse_fields(*faults)
    reply = PaylinkReply(message="Link created", data=show_link(link, context.public_url))
    return Decision(reply=reply, rows=(link, make_page_entry(context, LINK, slug, link.link_id)))


def build_link(request: PaylinkRequest, slug: str, kind: str, context: Context) -> PayLink:
    link_id = opaque_id(ID_PREFIX, context.entropy)
    link_type = str(request.type or ONE_TIME)
    bears = request.payer_bears_fees
    default_bearer = choose_bearer(context.merchant.terms(Tariff), None)
    detail = LinkDetail(
        description=request.description or "",
        type=link_type,
        frequency=(request.frequency or "monthly") if link_type == RECURRING else "",
        payer_bears_fees=default_bearer == "customer" if bears is None else bool(bears),
        asks_phone=bool(request.accept_number),
        redirect_url=request.redirect_url or "",
        message=request.custom_message or "",
        notification_email=request.notification_email or "",
    )
    return PayLink(
        key=link_key(context.merchant.merchant_id, link_id),
        merchant_id=context.merchant.merchant_id,
        link_id=link_id,
        kind=kind,
        slug=slug,
        title=request.title,
        currency=str(request.currency or "NGN"),
        amount=int(request.amount or 0) if kind == PLAIN else 0,
        state=ACTIVE,
        detail=encode_text(detail),
        created_at=context.now,
        changed_at=context.now,
    )


def link_faults(link: PayLink, context: Context) -> list[FieldError]:
    reason = check_amount_limits(context.merchant, link.currency, link.amount) if link.amount else None
    faults = [] if reason is None else [FieldError("amount", reason)]
    return faults if list_channels(link, context) else [*faults, NOT_SERVED]


def list_channels(link: PayLink, context: Context) -> tuple[str, ...]:
    """Returns the channels that a link can be paid by now."""
    plan = CheckoutDetail(frequency=LINK_DETAIL_DECODER.decode(link.detail).frequency)
    wanted = tuple(channel for channel in DEFAULT_CHANNELS if channel in channels_of_plan(plan))
    return served_channels(wanted, link.currency, context.terms(CollectionVendors), context.merchant)


def show_link(link: PayLink, public_url: str) -> PaylinkRecord:
    return PaylinkRecord(
        link_id=link.link_id,
        link=link_url(public_url, link.slug),
        title=link.title,
        amount=format_minor(link.amount),
        currency=link.currency,
        type=LINK_DETAIL_DECODER.decode(link.detail).type,  # type: ignore[arg-type]
        status=link.state,  # type: ignore[arg-type]
    )


# --- switching ----------------------------------------------------------------------------------------------------


def need_switch(request: SwitchPaylink, merchant: Merchant) -> Needs:
    return Needs(((PayLink, link_key(merchant.merchant_id, request.link_id)),))


def decide_switch(
    status: str, request: SwitchPaylink, context: Context, rows: LoadedRows
) -> Decision[PaylinkReply] | Refusal:
    """Disables or enables a link. Checkouts that are open stay open. May be repeated."""
    link = rows.get(PayLink, link_key(context.merchant.merchant_id, request.link_id))
    if link is None:
        return UNKNOWN_LINK
    state = DISABLED if status == "disable" else ACTIVE
    reply = partial(PaylinkReply, message="Link disabled" if state == DISABLED else "Link enabled")
    if link.state == state:
        return Decision(reply=reply(data=show_link(link, context.public_url)))
    switched = msgspec.structs.replace(link, state=state, changed_at=context.now)
    return Decision(reply=reply(data=show_link(switched, context.public_url)), rows=(switched,))


# --- the checkout of a payer ----------------------------------------------------------------------------------------


def need_open(request: OpenFromLink, merchant: Merchant) -> Needs:
    return Needs(((PayLink, link_key(merchant.merchant_id, request.reference)),))


def decide_open(request: OpenFromLink, context: Context, rows: LoadedRows) -> Decision | Refusal:
    link = rows.get(PayLink, link_key(context.merchant.merchant_id, request.reference))
    if link is None or link.kind != PLAIN:
        return UNKNOWN_LINK
    if link.state != ACTIVE:
        return LINK_DISABLED
    amount = link.amount or request.amount
    reason = check_amount_limits(context.merchant, link.currency, amount)
    if reason is not None:
        return refuse_fields(FieldError("amount", reason))
    channels = list_channels(link, context)
    if not channels:
        return NOT_SERVED_NOW
    terms = LINK_DETAIL_DECODER.decode(link.detail)
    detail = CheckoutDetail(
        page_token=request.page_token,
        title=link.title,
        description=terms.description,
        channels=channels,
        bearer="customer" if terms.payer_bears_fees else "merchant",
        frequency=terms.frequency,
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
        source=LINK_SOURCE,
        source_id=link.link_id,
    )
    _, decision = begin_checkout(new, context)
    return decision
