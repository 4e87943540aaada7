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
from kasuwa.pages.bill import Bill

LOADER = PackageLoader("kasuwa", "pages/templates")
TEMPLATES = Environment(loader=LOADER, autoescape=True, undefined=StrictUndefined, auto_reload=False)
STYLE, WAIT = (Markup(LOADER.get_source(TEMPLATES, name)[0]) for name in ("style.css", "wait.js"))

# The payer's bank or wallet, which api.md lets a merchant show in a frame. The others are windows of their own.
FRAMED = frozenset({"challenge", "handoff"})
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


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


STYLE_HASH, WAIT_HASH = hashed(STYLE), hashed(WAIT)


# --- headers ------------------------------------------------------------------------------------------------------


def headers_of(content_type: str, policy: str) -> tuple[tuple[str, str], ...]:
    """An address with a token in it is a secret: it is kept out of caches and out of what the next site is told."""
    return (
        ("content-type", content_type),
        ("content-security-policy", policy),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
    )


def policy_of(*, framed: bool = False, waits: bool = False, form_targets: str = "'none'") -> str:
    ancestors = "*" if framed else "'none'"
    script = f"; script-src {WAIT_HASH}; connect-src 'self'" if waits else ""
    return (
        f"default-src 'none'; style-src {STYLE_HASH}{script}; base-uri 'none';"
        f" form-action {form_targets}; frame-ancestors {ancestors}"
    )


def form_targets(redirect_url: str | None) -> str:
    """Where the form's answer may lead: browsers hold a redirect after it to the same rule, and the merchant's own
    redirects from there on."""
    if redirect_url is None:
        return "'self'"
    return "'self' https:" if redirect_url.startswith("https:") else "'self' https: http:"


def bare(content_type: str, body: bytes, http: int = 200) -> Page:
    return Page(http, body, headers_of(content_type, "default-src 'none'; frame-ancestors *"))


# --- pages --------------------------------------------------------------------------------------------------------


def draw(template: str, policy: str, facts: dict[str, Any], http: int = 200) -> Page:
    body = TEMPLATES.get_template(template).render(facts, style=STYLE)
    return Page(http, body.encode(), headers_of(HTML, policy))


def sum_of(amount: int, currency: str) -> str:
    """`NGN 1,500.00`. A card may be confirmed before anything is due. Spec silent: D26"""
    if not amount:
        return "Nothing is charged now"
    whole, _, cents = format_minor(amount).partition(".")
    return f"{currency}\N{NO-BREAK SPACE}{int(whole):,}.{cents}"


def render_bill(bill: Bill, address: str, problem: str | None = None) -> Page:
    """The page of a payment, as it stands now."""
    if bill.kind in FRAMED:
        return render_question(bill, address, problem) if bill.awaits_payer else render_end(bill)
    return render_waiting(bill, address) if bill.awaits_payer else render_receipt(bill)


def render_question(bill: Bill, address: str, problem: str | None) -> Page:
    """The payer is asked to approve: 3-D Secure with its code, or a wallet's hand-off. Spec silent: D15, D24"""
    policy = policy_of(framed=True, form_targets=form_targets(bill.redirect_url))
    facts: dict[str, Any] = {
        "bill": bill,
        "address": address,
        "problem": problem,
        "sum": sum_of(bill.amount, bill.currency),
    }
    return draw(f"{bill.kind}.html", policy, facts)


def render_waiting(bill: Bill, address: str) -> Page:
    """What the payer does elsewhere: scan a code, transfer to an account. Spec silent: D22, D23"""
    facts: dict[str, Any] = {
        "bill": bill,
        "address": address,
        "script": WAIT,
        "sum": sum_of(bill.amount, bill.currency),
        "until": f"{bill.expires_at.astimezone(LAGOS):%H:%M on %d %B %Y} (Lagos)",
        "picture": Markup(draw_code(bill.payload).decode()) if bill.payload else "",
        "received": sum_of(bill.received, bill.currency) if bill.received else "",
        "rest": sum_of(bill.amount - bill.received, bill.currency),
    }
    return draw(f"{bill.kind}.html", policy_of(waits=True), facts)


def render_end(bill: Bill) -> Page:
    """Back to the merchant, with how it ended; without an address to go to, the bare result. Spec silent: D15"""
    back = way_back(bill)
    if back is None:
        return bare(JSON, bill.result)
    return Page(303, b"", (("location", back), *headers_of(HTML, policy_of(framed=True))))


def render_receipt(bill: Bill) -> Page:
    facts: dict[str, Any] = {
        "bill": bill,
        "heading": HEADINGS[bill.status],
        "sum": sum_of(bill.amount, bill.currency),
        "back": way_back(bill),
    }
    return draw("ended.html", policy_of(), facts)


def render_notice(http: int, heading: str, words: str) -> Page:
    facts = {"bill": None, "heading": heading, "words": words}
    return draw("notice.html", policy_of(framed=True), facts, http)


def way_back(bill: Bill) -> str | None:
    """Where the payer goes from here; None where there is no address, or none that a browser could be sent to."""
    return bill.redirect_url and with_outcome(bill.redirect_url, bill.reference, bill.status)


def with_outcome(url: str, reference: str, status: str) -> str | None:
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


def draw_code(payload: str, *, scale: int | None = None) -> bytes:
    """Dark on white in every theme: many scanners do not read it the other way round. With no scale it fills what it
    is put into."""
    picture = io.BytesIO()
    size = {"omitsize": True} if scale is None else {"scale": scale}
    code = segno.make(payload, error=ERROR_CORRECTION, micro=False)
    code.save(picture, kind="svg", xmldecl=False, nl=False, border=QUIET_ZONE, light="#fff", svgclass=None, **size)
    return picture.getvalue()


def render_code(payload: str) -> Page:
    return bare(SVG, draw_code(payload, scale=PIXELS_PER_MODULE))
