"""From a bill to the bytes of a page. Nothing here asks anybody anything.

Every page is whole in itself: one small stylesheet inside it, no cookie, no address but its own and the merchant's.
The policy sent with it allows just that, by hash, so that nothing else would run even if it got in.
"""

import base64
import io
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import segno
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kasuwa.core.calendar import LAGOS
from kasuwa.core.money import format_minor
from kasuwa.core.page import Page
from kasuwa.pages.checkout_view import CheckoutView

LOADER = PackageLoader("kasuwa", "pages/templates")
TEMPLATES = Environment(loader=LOADER, autoescape=True, undefined=StrictUndefined, auto_reload=False)
STYLE, POLL_SCRIPT = (Markup(LOADER.get_source(TEMPLATES, name)[0]) for name in ("style.css", "wait.js"))

# The payer's bank or wallet, which api.md lets a merchant show in a frame. The others are windows of their own.
EMBEDDABLE_PAGES = frozenset({"challenge", "handoff"})
HTML = "text/html; charset=utf-8"
JSON = "application/json"
SVG = "image/svg+xml"

HEADINGS = {"successful": "Payment successful", "failed": "Payment failed", "pending": "Payment pending"}

# What may stand in an address as it is; everything else is escaped.
URL_CHARACTERS = "%/:?#[]@!$&'()*+,;=~"

# 15 % of a code may be covered; enough for a screen, and the picture stays coarse enough for a cheap camera.
ERROR_CORRECTION = "m"
QUIET_ZONE = 4
PIXELS_PER_MODULE = 6


def csp_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


STYLE_HASH, POLL_SCRIPT_HASH = csp_hash(STYLE), csp_hash(POLL_SCRIPT)


# --- headers ------------------------------------------------------------------------------------------------------


def security_headers(content_type: str, policy: str) -> tuple[tuple[str, str], ...]:
    """An address with a token in it is a secret: it is kept out of caches and out of what the next site is told."""
    return (
        ("content-type", content_type),
        ("content-security-policy", policy),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
    )


def content_security_policy(*, embeddable: bool = False, polls: bool = False, form_sources: str = "'none'") -> str:
    ancestors = "*" if embeddable else "'none'"
    script = f"; script-src {POLL_SCRIPT_HASH}; connect-src 'self'" if polls else ""
    return (
        f"default-src 'none'; style-src {STYLE_HASH}{script}; base-uri 'none';"
        f" form-action {form_sources}; frame-ancestors {ancestors}"
    )


def form_action_sources(redirect_url: str | None) -> str:
    """Where the form's answer may lead: browsers hold a redirect after it to the same rule, and the merchant's own
    redirects from there on."""
    if redirect_url is None:
        return "'self'"
    return "'self' https:" if redirect_url.startswith("https:") else "'self' https: http:"


def make_raw_page(content_type: str, body: bytes, http: int = 200) -> Page:
    return Page(http, body, security_headers(content_type, "default-src 'none'; frame-ancestors *"))


# --- pages --------------------------------------------------------------------------------------------------------


def render_template(template: str, policy: str, facts: dict[str, Any], http: int = 200) -> Page:
    body = TEMPLATES.get_template(template).render(facts, style=STYLE)
    return Page(http, body.encode(), security_headers(HTML, policy))


def format_amount(amount: int, currency: str) -> str:
    """`NGN 1,500.00`. A card may be confirmed before anything is due. Contract: payment#installment"""
    if not amount:
        return "Nothing is charged now"
    whole, _, cents = format_minor(amount).partition(".")
    return f"{currency}\N{NO-BREAK SPACE}{int(whole):,}.{cents}"


def render_checkout(bill: CheckoutView, address: str, problem: str | None = None) -> Page:
    """The page of a payment, as it stands now."""
    if bill.page_kind in EMBEDDABLE_PAGES:
        return render_approval_form(bill, address, problem) if bill.is_awaiting_payer else render_return(bill)
    return render_instructions(bill, address) if bill.is_awaiting_payer else render_receipt(bill)


def render_approval_form(bill: CheckoutView, address: str, problem: str | None) -> Page:
    """The payer is asked to approve: 3-D Secure with its code, or a wallet's hand-off.

    Contract: payment#charge, payment#mobile-money
    """
    policy = content_security_policy(embeddable=True, form_sources=form_action_sources(bill.redirect_url))
    facts: dict[str, Any] = {
        "bill": bill,
        "address": address,
        "problem": problem,
        "sum": format_amount(bill.amount, bill.currency),
    }
    return render_template(f"{bill.page_kind}.html", policy, facts)


def render_instructions(bill: CheckoutView, address: str) -> Page:
    """What the payer does elsewhere: scan a code, transfer to an account.

    Contract: payment#qrpay, payment#bank-transfer
    """
    facts: dict[str, Any] = {
        "bill": bill,
        "address": address,
        "script": POLL_SCRIPT,
        "sum": format_amount(bill.amount, bill.currency),
        "until": f"{bill.expires_at.astimezone(LAGOS):%H:%M on %d %B %Y} (Lagos)",
        "picture": Markup(draw_qr_svg(bill.qr_payload).decode()) if bill.qr_payload else "",
        "received": format_amount(bill.received_amount, bill.currency) if bill.received_amount else "",
        "rest": format_amount(bill.amount - bill.received_amount, bill.currency),
    }
    return render_template(f"{bill.page_kind}.html", content_security_policy(polls=True), facts)


def render_return(bill: CheckoutView) -> Page:
    """Back to the merchant, with how it ended; without an address to go to, the bare result.

    Contract: payment#charge
    """
    back = merchant_return_url(bill)
    if back is None:
        return make_raw_page(JSON, bill.result_json)
    return Page(303, b"", (("location", back), *security_headers(HTML, content_security_policy(embeddable=True))))


def render_receipt(bill: CheckoutView) -> Page:
    facts: dict[str, Any] = {
        "bill": bill,
        "heading": HEADINGS[bill.status],
        "sum": format_amount(bill.amount, bill.currency),
        "back": merchant_return_url(bill),
    }
    return render_template("ended.html", content_security_policy(), facts)


def render_notice(http: int, heading: str, words: str) -> Page:
    facts = {"bill": None, "heading": heading, "words": words}
    return render_template("notice.html", content_security_policy(embeddable=True), facts, http)


def merchant_return_url(bill: CheckoutView) -> str | None:
    """Where the payer goes from here; None where there is no address, or none that a browser could be sent to."""
    return bill.redirect_url and add_outcome_params(bill.redirect_url, bill.reference, bill.status)


def add_outcome_params(url: str, reference: str, status: str) -> str | None:
    """The merchant's address with how it ended, after what it may already ask. What is not ASCII in it is escaped as
    browsers do. None where it cannot be read: the payment is over, and its page must be shown all the same."""
    try:
        parts = urlsplit(url)
        port_is_read = parts.port is None or parts.port >= 0
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or not parts.netloc.isascii() or not port_is_read:
        return None
    outcome = urlencode({"txnRef": reference, "txnStatus": status})
    whole = urlunsplit(parts._replace(query=f"{parts.query}&{outcome}" if parts.query else outcome))
    return quote(whole, safe=URL_CHARACTERS)


# --- the QR code as a picture ---------------------------------------------------------------------------------------


def draw_qr_svg(payload: str, *, scale: int | None = None) -> bytes:
    """Dark on white in every theme: many scanners do not read it the other way round. With no scale it fills what it
    is put into."""
    picture = io.BytesIO()
    size = {"omitsize": True} if scale is None else {"scale": scale}
    code = segno.make(payload, error=ERROR_CORRECTION, micro=False)
    code.save(picture, kind="svg", xmldecl=False, nl=False, border=QUIET_ZONE, light="#fff", svgclass=None, **size)
    return picture.getvalue()


def render_qr_image(payload: str) -> Page:
    return make_raw_page(SVG, draw_qr_svg(payload, scale=PIXELS_PER_MODULE))
