"""Renders the pages of hosted checkouts and payment links: from a view to a response. Does no I/O.

As all payers' pages they are self-contained: inline style and script, allowed by hash, no cookies. They work without
script; with it, codes can be copied, the time left is counted down, and a page that waits sees the payment end.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import msgspec
from markupsafe import Markup

from kasuwa.core.calendar import LAGOS
from kasuwa.core.decision import Merchant
from kasuwa.http.page import Page
from kasuwa.methods.checkout.model import LINK_DETAIL_DECODER, PayLink
from kasuwa.methods.payment.model import FACTS_DECODER
from kasuwa.methods.payment.rules.plans.installments import read_due_day
from kasuwa.pages import hosted_forms, hosted_view
from kasuwa.pages.hosted_forms import FormField
from kasuwa.pages.hosted_view import HostedView
from kasuwa.pages.receipt_pdf import Receipt, render_receipt_pdf
from kasuwa.pages.render import (
    FRAME_SCRIPT,
    FRAME_SCRIPT_HASH,
    HTML,
    LOADER,
    STYLE,
    STYLE_HASH,
    TEMPLATES,
    URL_CHARACTERS,
    csp_hash,
    draw_qr_svg,
    format_amount,
    frame_ancestors,
    security_headers,
)
from kasuwa.terms.checkout_origins import CheckoutOrigins
from kasuwa.transactions.checkouts import PAID

HOSTED_STYLE, SCRIPT = (Markup(LOADER.get_source(TEMPLATES, name)[0]) for name in ("hosted.css", "hosted.js"))
STYLE_SOURCES = f"{STYLE_HASH} {csp_hash(HOSTED_STYLE)}"
SCRIPT_SOURCES = f"{csp_hash(SCRIPT)} {FRAME_SCRIPT_HASH}"

CHANNEL_NAMES = {
    "card": "Card",
    "bank_transfer": "Transfer",
    "ussd": "USSD",
    "account": "Bank account",
    "qrpay": "QR code",
    "phone": "Phone",
    "mobile_money": "Mobile money",
    "token": "Saved card",
}
METHOD_NAMES = {**CHANNEL_NAMES, "bank_transfer": "Bank transfer", "token": "Saved card"}
FREQUENCIES = {"daily": "every day", "weekly": "every week", "monthly": "every month"}
# Hints of the test environment, by step.
TEST_HINTS = {
    "card": "Card 5123 4500 0000 0008, any later expiry; CVV 000 asks for a code, 100 for a PIN, 200 for 3-D Secure."
    " 4111 1151 0000 0011 is declined.",
    "account": "Account 0000000000 of any bank pays.",
    "phone": "08000000000 approves at once.",
    hosted_view.OTP: "The code 123456 is right, 000000 is wrong.",
    hosted_view.PIN: "The PIN 1234 is right, 0000 is wrong.",
}


class PageForm(msgspec.Struct, frozen=True):
    """The form of a page, with what the payer entered and what is wrong with it."""

    fields: tuple[FormField, ...] = ()
    entered: Mapping[str, str] = {}
    errors: Mapping[str, str] = {}
    problem: str = ""  # that belongs to no field
    sealed: str = ""  # a card on its way to the second step, encrypted
    total: int = 0  # what the payer would pay, if that is not what the channel usually costs


NO_FORM = PageForm()


def make_policy(view: HostedView | None, origins: Sequence[str]) -> str:
    """Returns the policy of a page. Its forms may lead on to the page of a bank or vendor, and to the merchant."""
    insecure = " http:" if view is None or view.is_test else ""
    return (
        f"default-src 'none'; style-src {STYLE_SOURCES}; script-src {SCRIPT_SOURCES}; connect-src 'self';"
        f" img-src data:; base-uri 'none'; form-action 'self' https:{insecure};"
        f" frame-ancestors {frame_ancestors(origins)}"
    )


def render_hosted(
    template: str, values: dict[str, Any], view: HostedView | None, origins: Sequence[str] = (), http: int = 200
) -> Page:
    """`origins` are the sites that may show the page in a frame."""
    scripts = {"script": SCRIPT, "frame_script": FRAME_SCRIPT}
    body = TEMPLATES.get_template(template).render(
        {"notice": ""} | values, view=view, origins=origins, style=STYLE, hosted_style=HOSTED_STYLE, **scripts
    )
    return Page(http, body.encode(), security_headers(HTML, make_policy(view, origins)))


def render_checkout_step(template: str, values: dict[str, Any], view: HostedView) -> Page:
    return render_hosted(template, values, view, view.origins)


def redirect(address: str) -> Page:
    headers = security_headers(HTML, "default-src 'none'; frame-ancestors 'none'")
    return Page(303, b"", (("location", address), *headers))


def is_ours(address: str) -> bool:
    """Returns whether an address is a page of ours, not of a bank or vendor."""
    return address.startswith("/pay/")


def stay_in_frame(page: Page, view: HostedView) -> Page:
    """Returns where a form of a framed page leads: to a page of ours. That has a link to a vendor's, which may refuse
    to be framed and opens in a window of its own. Contract: payment#embedding"""
    location = dict(page.headers).get("location", "")
    return page if not location or is_ours(location) else redirect(view.address)


def shared_values(view: HostedView) -> dict[str, Any]:
    """Returns the values that every page of a checkout shows."""
    currency = view.checkout.currency
    return {
        "title": view.detail.title or f"Payment to {view.merchant_name}",
        "amount": format_amount(view.amount_due, currency),
        "items": [
            (
                item.name if item.quantity == 1 else f"{item.quantity} × {item.name}",
                format_amount(item.amount * item.quantity, currency) if item.amount else "",
            )
            for item in view.detail.items
        ],
        "again": FREQUENCIES.get(view.detail.frequency, ""),
        "later": mark_up_notes(later_notes(view)),
        "return_url": merchant_url(view),
        "logo": view.merchant.logo,
        "is_paid": view.step == hosted_view.RECEIPT,
        "polls": view.step in (hosted_view.INSTRUCTIONS, hosted_view.WAITING, hosted_view.BANK_PAGE),
    }


def later_notes(view: HostedView) -> list[str]:
    """Returns what an installment plan charges later, a line for each date. Empty if there is nothing.

    Until the payment has begun, its card is not known, and so neither is the fee. Then the lines show what is charged.
    Contract: payment#price-kept"""
    plan = view.installments
    if plan is None or not plan.later_charges:
        return []
    fee = " and the fee" if view.bearer == "customer" and not plan.prices else ""
    currency = view.checkout.currency
    amounts = [price.charged for price in plan.prices] or [amount for _, amount in plan.later_charges]
    lines = [
        f"Further {format_amount(amount, currency)}{fee} on {read_due_day(due):%d %B %Y}"
        for (due, _), amount in zip(plan.later_charges, amounts, strict=True)
    ]
    return ["Your card will be charged the rest in installments:", *lines]


def mark_up_notes(notes: Sequence[str]) -> Markup:
    """Returns notes as a paragraph with a line each, escaped. Empty if there are none."""
    return Markup('<p class="soft">{}</p>\n').format(Markup("<br>\n").join(notes)) if notes else Markup()


def merchant_url(view: HostedView) -> str | None:
    """Returns the merchant's URL with `txnRef` and `status`, or None if there is none or it cannot be used.

    Contract: payment#checkout
    """
    try:
        parts = urlsplit(view.detail.redirect_url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.netloc.isascii()
        is_usable = is_usable and (parts.port is None or parts.port >= 0)
    except ValueError:
        return None
    if not is_usable:
        return None
    outcome = urlencode({"txnRef": view.checkout.txn_ref, "status": view.status})
    return quote(urlunsplit(parts._replace(query=f"{parts.query}&{outcome}" if parts.query else outcome)),
                 safe=URL_CHARACTERS)  # fmt: skip


# --- the steps ----------------------------------------------------------------------------------------------------


def render_step(view: HostedView, channel: str, form: PageForm = NO_FORM) -> Page:
    """Renders the page of the checkout's step. `channel` is the one that the payer looks at, and `form` its form."""
    if view.step == hosted_view.RECEIPT:
        return render_receipt(view)
    if view.step == hosted_view.CLOSED:
        return render_closed(view)
    if view.step == hosted_view.CHOOSE:
        return render_choice(view, channel, form)
    if view.step in (hosted_view.PIN, hosted_view.OTP):
        return render_code_form(view, form)
    return render_attempt(view, form.problem)


def render_choice(view: HostedView, channel: str, form: PageForm) -> Page:
    total = form.total or view.total_by(channel)
    fee = total - view.amount_due
    values = shared_values(view) | {
        "channel": channel,
        "channels": [(name, CHANNEL_NAMES[name]) for name in view.channels],
        "form": form,
        "total": format_amount(total, view.checkout.currency),
        "total_minor": total,
        "fee": format_amount(fee, view.checkout.currency) if fee else "",
        "failure": view.failure,
        "hint": TEST_HINTS.get(channel, ""),
        "has_card_page": channel == "card" and not any(field.name == "number" for field in form.fields),
    }
    return render_checkout_step("hosted_choose.html", values, view)


def render_code_form(view: HostedView, form: PageForm) -> Page:
    assert view.attempt is not None
    values = shared_values(view) | {
        "form": form,
        "step": view.step,
        "total": format_amount(view.attempt.payment.charged, view.checkout.currency),
        "hint": TEST_HINTS[view.step],
        "attempt_ref": view.checkout.attempt_ref,
        "is_account": view.attempt.payment.method == "account",
        "tries_left": view.tries_left,
    }
    return render_checkout_step("hosted_code.html", values, view)


def render_attempt(view: HostedView, problem: str = "") -> Page:
    """Renders what the payer must do elsewhere, or that the bank is being asked."""
    assert view.attempt is not None
    payment = view.attempt.payment
    detail, facts = view.attempt.detail, FACTS_DECODER.decode(payment.facts)
    remaining = payment.charged - payment.received
    values = shared_values(view) | {
        "step": view.step,
        "method": payment.method,
        "problem": problem,
        "total": format_amount(payment.charged, view.checkout.currency),
        "attempt_ref": view.checkout.attempt_ref,
        "bank_page": hosted_view.find_bank_page(view),
        "is_bank_page_ours": is_ours(hosted_view.find_bank_page(view)),
        "is_three_d_secure": payment.auth == "3DSecure",
        "provider": hosted_forms.PROVIDERS.get(detail.provider.partition("_")[0], "your provider"),
        "ussd_code": facts.ussd_code,
        "payer": detail.payer,
        "qr_svg": Markup(draw_qr_svg(detail.qr).decode()) if detail.qr else "",
        "account_number": facts.rail.get("account_number", detail.inbound_account_number),
        "account_name": facts.rail.get("account_name", detail.business_name),
        "bank_name": facts.rail.get("bank_name", detail.provider),
        "received": format_amount(payment.received, view.checkout.currency) if payment.received else "",
        "remaining": format_amount(remaining, view.checkout.currency),
    }
    return render_checkout_step("hosted_attempt.html", values, view)


def render_closed(view: HostedView) -> Page:
    is_expired = view.now >= view.checkout.expires_at
    ended = {"is_expired": is_expired, "notice": "expired" if is_expired else "closed"}
    values = shared_values(view) | {"failure": view.failure} | ended
    return render_checkout_step("hosted_closed.html", values, view)


# --- the receipt --------------------------------------------------------------------------------------------------


def make_receipt(view: HostedView) -> Receipt:
    """Returns the receipt of a checkout that was paid."""
    assert view.attempt is not None
    assert view.checkout.state == PAID
    row, payment, currency = view.attempt.row, view.attempt.payment, view.checkout.currency
    detail = view.attempt.detail
    card = detail.card or FACTS_DECODER.decode(payment.facts).card
    method = METHOD_NAMES[payment.method] + (f" ending {card.mask[-4:]}" if card is not None else "")
    lines = [("Paid to", view.merchant_name)]
    if detail.fullname:
        lines.append(("Paid by", detail.fullname))
    if payment.charged != row.amount:
        lines.append(("Amount", format_amount(row.amount, currency)))
        lines.append(("Fee", format_amount(payment.charged - row.amount, currency)))
    lines += [
        ("Method", method),
        ("Date", f"{(row.final_at or view.now).astimezone(LAGOS):%d %B %Y, %H:%M} (Lagos)"),
        ("Payment reference", row.txn_ref),
        ("Checkout reference", view.checkout.txn_ref),
    ]
    values = shared_values(view)
    items = values["items"] or ([(view.detail.title, "")] if view.detail.title else [])
    notes = later_notes(view)
    if values["again"] and view.is_card_saved:
        notes = [f"Your card will be charged {values['again']}, until you or the merchant stop it."]
    return Receipt(
        view.merchant_name,
        format_amount(payment.charged, currency),
        lines,
        items,
        notes,
        is_test=view.is_test,
        tickets=view.tickets,
        event=view.detail.title if view.tickets else "",
        event_text=view.detail.description if view.tickets else "",
    )


def render_receipt(view: HostedView) -> Page:
    drawn = [(ticket, Markup(draw_qr_svg(ticket.code).decode())) for ticket in view.tickets]
    receipt = make_receipt(view)
    values = shared_values(view) | {"receipt": receipt, "notes": mark_up_notes(receipt.notes), "tickets": drawn}
    return render_checkout_step("hosted_receipt.html", values, view)


def receipt_file(view: HostedView) -> Page:
    headers = (
        *security_headers("application/pdf", "default-src 'none'; frame-ancestors 'none'"),
        ("content-disposition", f'attachment; filename="receipt-{view.checkout.payment_ref}.pdf"'),
    )
    return Page(200, render_receipt_pdf(make_receipt(view)), headers)


# --- links --------------------------------------------------------------------------------------------------------


def render_link(link: PayLink, merchant: Merchant, form: PageForm) -> Page:
    """Renders the page of a payment link, on which the payer says who pays, and how much if that is open."""
    terms = LINK_DETAIL_DECODER.decode(link.detail)
    values = {
        "link": link,
        "address": f"/pay/link/{link.slug}",
        "merchant_name": merchant.name,
        "logo": merchant.logo,
        "is_test": merchant.environment == "test",
        "description": terms.description,
        "amount": format_amount(link.amount, link.currency) if link.amount else "",
        "again": FREQUENCIES.get(terms.frequency, ""),
        "form": form,
        "polls": False,
    }
    return render_hosted("hosted_link.html", values, None, merchant.terms(CheckoutOrigins).origins)
