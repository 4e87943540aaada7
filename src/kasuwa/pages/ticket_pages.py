"""Serves the pages of links that sell tickets, below /pay/link/, and shows tickets on the receipt.

The form chooses how many tickets of each kind, and opens a checkout for them. Contract: resources#tickets
"""

import os
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from kasuwa.core.decision import Merchant, Refusal
from kasuwa.engine import token_index
from kasuwa.engine.progress import RequestProgress
from kasuwa.http.page import Page
from kasuwa.methods.checkout.model import ACTIVE, LINK, LINK_DETAIL_DECODER, PayLink
from kasuwa.methods.checkout.store import read_link
from kasuwa.methods.tickets.actions import OPEN_TICKET_PURCHASE
from kasuwa.methods.tickets.model import MAX_TICKETS, TICKET, TicketKind
from kasuwa.methods.tickets.payer_model import OpenTicketPurchase
from kasuwa.methods.tickets.store import find_kinds
from kasuwa.pages.hosted_checkout import (
    LINK_PATH,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    NOT_IN_USE,
    TOO_MANY_REQUESTS,
    TRY_AGAIN,
    HostedServices,
)
from kasuwa.pages.hosted_forms import CONTACT_PHONE, EMAIL_FIELD, FULLNAME, FormField, read_fields
from kasuwa.pages.hosted_render import PageForm, redirect, render_hosted
from kasuwa.pages.render import format_amount
from kasuwa.terms.checkout_origins import CheckoutOrigins
from kasuwa.transactions.checkouts import TOKEN_DIGITS

# Tickets of one kind that the form offers at once.
MOST_OFFERED = 10
COUNT = re.compile("[0-9]{1,2}", re.ASCII)


def read_count(text: str) -> str:
    count = text.strip() or "0"
    if not COUNT.fullmatch(count) or int(count) > MAX_TICKETS:
        raise ValueError(f"Choose 0 to {MAX_TICKETS}")
    return count


def count_field(kind: TicketKind, currency: str) -> FormField:
    """Returns the field of a kind that is not sold out."""
    most = min(kind.left, MOST_OFFERED)
    return FormField(
        name=f"count_{kind.place}",
        label=f"{kind.name}, {format_amount(kind.amount, currency)}",
        read=read_count,
        type="select",
        options=tuple((str(count), str(count)) for count in range(most + 1)),
        is_required=False,
    )


class TicketPages:
    def __init__(self, services: HostedServices) -> None:
        self._services = services

    async def serve(
        self, method: str, path: str, form: Mapping[str, str], address: str, progress: RequestProgress
    ) -> Page | None:
        """Returns the page of a link that sells tickets, or None if the path is none of ours."""
        match = LINK_PATH.fullmatch(path)
        if match is None:
            return None
        services = self._services
        owner = await token_index.find_owner(services.reads.tokens, services.vault, LINK, match[1])
        link = None if owner is None else await read_link(*owner, services.reads.rows_of(owner[0]))
        if link is None or link.kind != TICKET:
            return None
        if method not in ("GET", "HEAD", "POST"):
            return METHOD_NOT_ALLOWED
        if method == "POST" and services.take is not None and services.take(address) > 0:
            return TOO_MANY_REQUESTS
        merchant = await services.merchants.get_by_id(link.merchant_id)
        if merchant.suspended:
            return NOT_FOUND
        if link.state != ACTIVE:
            return NOT_IN_USE
        kinds = await find_kinds(link.merchant_id, link.link_id, services.reads.rows_of(link.merchant_id))
        if method != "POST":
            return render_tickets(link, kinds, merchant, PageForm(person_fields(link)))
        return await self._open_purchase(link, kinds, merchant, form, progress)

    async def _open_purchase(
        self,
        link: PayLink,
        kinds: list[TicketKind],
        merchant: Merchant,
        form: Mapping[str, str],
        progress: RequestProgress,
    ) -> Page:
        counts = tuple(count_field(kind, link.currency) for kind in kinds)
        fields = person_fields(link)
        entered = read_fields((*counts, *fields), form)
        shown = PageForm(fields, form, entered.errors)
        if entered.errors:
            return render_tickets(link, kinds, merchant, shown)
        token = os.urandom(TOKEN_DIGITS // 2).hex()
        chosen = tuple((kind.place, int(entered.values.get(f"count_{kind.place}", 0))) for kind in kinds)
        request = OpenTicketPurchase(
            reference=link.link_id,
            page_token=token,
            chosen=tuple(pair for pair in chosen if pair[1]),
            fullname=entered.values["fullname"],
            email=entered.values["email"],
            phone=entered.values.get("contact_phone", ""),
        )
        reply = await self._services.writes.run_write(OPEN_TICKET_PURCHASE, request, merchant, progress)
        if not isinstance(reply, Refusal):
            return redirect(f"/pay/checkout/{token}")
        ticket_kinds = await find_kinds(link.merchant_id, link.link_id, self._services.reads.rows_of(link.merchant_id))
        return render_tickets(
            link, ticket_kinds, merchant, msgspec.structs.replace(shown, problem=reply.message or TRY_AGAIN)
        )


def person_fields(link: PayLink) -> tuple[FormField, ...]:
    phone = (CONTACT_PHONE,) if LINK_DETAIL_DECODER.decode(link.detail).asks_phone else ()
    return (FULLNAME, EMAIL_FIELD, *phone)


def render_tickets(link: PayLink, kinds: list[TicketKind], merchant: Merchant, form: PageForm) -> Page:
    lines = [
        {
            "item": count_field(kind, link.currency) if kind.left > 0 else None,
            "text": f"{kind.name}, {format_amount(kind.amount, link.currency)}: sold out",
        }
        for kind in kinds
    ]
    values: dict[str, Any] = {
        "link": link,
        "address": f"/pay/link/{link.slug}",
        "merchant_name": merchant.name,
        "logo": merchant.logo,
        "is_test": merchant.environment == "test",
        "description": LINK_DETAIL_DECODER.decode(link.detail).description,
        "kinds": lines,
        "can_buy": any(kind.left > 0 for kind in kinds),
        "form": form,
        "polls": False,
    }
    return render_hosted("tickets.html", values, None, merchant.terms(CheckoutOrigins).origins)
