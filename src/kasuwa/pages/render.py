"""Renders payers' pages: from a CheckoutView to a response. Does no I/O.

Every page is self-contained: an inline stylesheet, no cookies, and no links except to itself and the merchant. Its
Content-Security-Policy allows exactly the inline style and script, by hash, so that injected code would not run.
"""

import base64
import io
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import msgspec
import segno
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kasuwa.core.calendar import LAGOS
from kasuwa.core.money import format_grouped, format_minor
from kasuwa.http.page import Page
from kasuwa.pages.checkout_view import CheckoutView

LOADER = PackageLoader("kasuwa", "pages/templates")
TEMPLATES = Environment(loader=LOADER, autoescape=True, undefined=StrictUndefined, auto_reload=False)
STYLE, POLL_SCRIPT, FRAME_SCRIPT = (
    Markup(LOADER.get_source(TEMPLATES, name)[0]) for name in ("style.css", "poll.js", "frame.js")
)

# Pages that a merchant without a list of sites may show in an iframe anywhere: those that stand for the payer's bank or
# wallet. Contract: payment#3ds-page, payment#embedding
EMBEDDABLE_PAGES = frozenset({"challenge", "handoff"})
HTML = "text/html; charset=utf-8"
JSON = "application/json"
SVG = "image/svg+xml"

HEADINGS = {"successful": "Payment successful", "failed": "Payment failed", "pending": "Payment pending"}

# Characters that are kept in a URL. All others are percent-encoded.
URL_CHARACTERS = "%/:?#[]@!$&'()*+,;=~"

# Level M corrects 15 % of errors: enough for a screen, and the modules stay large enough for cheap cameras.
ERROR_CORRECTION = "m"
QUIET_ZONE = 4
PIXELS_PER_MODULE = 6


def csp_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


STYLE_HASH, POLL_SCRIPT_HASH, FRAME_SCRIPT_HASH = csp_hash(STYLE), csp_hash(POLL_SCRIPT), csp_hash(FRAME_SCRIPT)


# --- headers ------------------------------------------------------------------------------------------------------


def security_headers(content_type: str, policy: str) -> tuple[tuple[str, str], ...]:
    """Returns the headers of a page. Its URL holds a secret token, so it must not be cached or sent as a referrer."""
    return (
        ("content-type", content_type),
        ("content-security-policy", policy),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
    )


def frame_ancestors(origins: Sequence[str], otherwise: str = "'none'") -> str:
    """Returns the sources of sites that may frame a page: those of the merchant's list. Contract: payment#embedding"""
    return " ".join(origins) or otherwise


def content_security_policy(*, ancestors: str = "'none'", script: str = "", form_sources: str = "'none'") -> str:
    """`script` is the source of the page's script, if it has one."""
    allowed = f"; script-src {script}; connect-src 'self'" if script else ""
    return (
        f"default-src 'none'; style-src {STYLE_HASH}{allowed}; base-uri 'none';"
        f" form-action {form_sources}; frame-ancestors {ancestors}"
    )


def form_action_sources(redirect_url: str | None) -> str:
    """Returns the form-action sources of a page. Browsers apply them also to the redirects that follow the form."""
    if redirect_url is None:
        return "'self'"
    return "'self' https:" if redirect_url.startswith("https:") else "'self' https: http:"


def make_raw_page(content_type: str, body: bytes, http: int = 200, ancestors: str = "*") -> Page:
    return Page(http, body, security_headers(content_type, f"default-src 'none'; frame-ancestors {ancestors}"))


# --- pages --------------------------------------------------------------------------------------------------------


def compile_templates() -> None:
    """Compiles all templates, which takes about 0.2 s. Call it in a thread: other requests wait for the event loop."""
    for name in TEMPLATES.list_templates(extensions=["html"]):
        TEMPLATES.get_template(name)


def render_template(template: str, policy: str, values: dict[str, Any], http: int = 200) -> Page:
    body = TEMPLATES.get_template(template).render({"frame_script": "", "notice": ""} | values, style=STYLE)
    return Page(http, body.encode(), security_headers(HTML, policy))


def group_thousands(minor: int) -> str:
    """Formats minor units with thousands separators: -1234567 becomes "−12,345.67"."""
    return f"−{format_grouped(-minor)}" if minor < 0 else format_grouped(minor)


TEMPLATES.filters["group_thousands"] = group_thousands


def format_amount(amount: int, currency: str) -> str:
    """Formats an amount, such as `NGN 1,500.00`. Zero occurs if a card is confirmed before anything is due.

    Contract: payment#installment
    """
    if not amount:
        return "Nothing is charged now"
    whole, _, cents = format_minor(amount).partition(".")
    return f"{currency}\N{NO-BREAK SPACE}{int(whole):,}.{cents}"


def render_checkout(view: CheckoutView, address: str, problem: str | None = None) -> Page:
    """Renders the page that fits the payment's kind and current state."""
    if view.page_kind in EMBEDDABLE_PAGES:
        return render_approval_form(view, address, problem) if view.is_awaiting_payer else render_return(view)
    if view.is_awaiting_payer:
        return render_instructions(view, address)
    return render_return(view) if view.page_kind == "hosted" and merchant_return_url(view) else render_receipt(view)


def render_approval_form(view: CheckoutView, address: str, problem: str | None) -> Page:
    """Renders the form on which the payer approves or declines: 3-D Secure with a code, or a wallet's page.

    Contract: payment#3ds-page, payment#mobile-money
    """
    policy = content_security_policy(
        ancestors=frame_ancestors(view.origins, "*"),
        script=FRAME_SCRIPT_HASH if view.origins else "",
        form_sources=form_action_sources(view.redirect_url),
    )
    values: dict[str, Any] = {
        "view": view,
        "frame_script": FRAME_SCRIPT if view.origins else "",
        "address": address,
        "problem": problem,
        "amount": format_amount(view.amount, view.currency),
    }
    return render_template(f"{view.page_kind}.html", policy, values)


def render_instructions(view: CheckoutView, address: str) -> Page:
    """Renders the QR code, the account to pay into, or what a payer sees who comes back from a vendor's page.

    The page polls until the payment ends. Contract: payment#qrpay, payment#bank-transfer, payment#hosted-card
    """
    values: dict[str, Any] = {
        "view": view,
        "address": address,
        "script": POLL_SCRIPT,
        "amount": format_amount(view.amount, view.currency),
        "expires": f"{view.expires_at.astimezone(LAGOS):%H:%M on %d %B %Y} (Lagos)",
        "qr_svg": Markup(draw_qr_svg(view.qr_payload).decode()) if view.qr_payload else "",
        "received": format_amount(view.received_amount, view.currency) if view.received_amount else "",
        "remaining": format_amount(view.amount - view.received_amount, view.currency),
    }
    policy = content_security_policy(ancestors=frame_ancestors(view.origins), script=POLL_SCRIPT_HASH)
    return render_template(f"{view.page_kind}.html", policy, values)


def render_return(view: CheckoutView) -> Page:
    """Redirects to the merchant with the outcome, or returns the result as JSON if there is no usable URL.

    Contract: payment#3ds-page
    """
    return_url, ancestors = merchant_return_url(view), frame_ancestors(view.origins, "*")
    if return_url is None:
        return make_raw_page(JSON, view.result_json, ancestors=ancestors)
    policy = content_security_policy(ancestors=ancestors)
    return Page(303, b"", (("location", return_url), *security_headers(HTML, policy)))


def render_receipt(view: CheckoutView) -> Page:
    values: dict[str, Any] = {
        "view": view,
        "heading": HEADINGS[view.status],
        "amount": format_amount(view.amount, view.currency),
        "return_url": merchant_return_url(view),
    }
    policy = content_security_policy(ancestors=frame_ancestors(view.origins))
    return render_template("receipt.html", policy, values)


def render_notice(
    http: int, heading: str, text: str, *, notice: str = "", again: str = "", retry_after: int | None = None
) -> Page:
    """Returns a page with a message.

    notice       its code, which a page of any site hears that shows it by kasuwa.js. Contract: payment#embedding
    again        words of a link that loads the page again
    retry_after  tells clients in how many seconds to try again
    """
    values = {"view": None, "heading": heading, "text": text, "again": again, "notice": notice}
    values |= {"frame_script": FRAME_SCRIPT if notice else ""}
    policy = content_security_policy(ancestors="*", script=FRAME_SCRIPT_HASH if notice else "")
    page = render_template("notice.html", policy, values, http)
    if retry_after is None:
        return page
    return msgspec.structs.replace(page, headers=(*page.headers, ("retry-after", str(retry_after))))


def merchant_return_url(view: CheckoutView) -> str | None:
    """Returns the merchant's URL with the outcome, or None if there is none or it cannot be used."""
    return view.redirect_url and add_outcome_params(view.redirect_url, view.reference, view.status)


def add_outcome_params(url: str, reference: str, status: str) -> str | None:
    """Appends txnRef and txnStatus to the query of a URL. Percent-encodes non-ASCII characters as browsers do.

    Returns None if the URL cannot be parsed: the payment is over, and its page must be shown nevertheless.
    """
    try:
        parts = urlsplit(url)
        is_port_valid = parts.port is None or parts.port >= 0
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or not parts.netloc.isascii() or not is_port_valid:
        return None
    outcome = urlencode({"txnRef": reference, "txnStatus": status})
    full_url = urlunsplit(parts._replace(query=f"{parts.query}&{outcome}" if parts.query else outcome))
    return quote(full_url, safe=URL_CHARACTERS)


# --- QR code --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def draw_qr_svg(payload: str, *, scale: int | None = None) -> bytes:
    """Draws a QR code as SVG. Without `scale` it fills its container.

    That takes milliseconds, so the pages with codes are rendered in threads, and those drawn last are cached. A code is
    dark on white in every theme, because many scanners cannot read the inverse.
    """
    svg = io.BytesIO()
    size = {"omitsize": True} if scale is None else {"scale": scale}
    code = segno.make(payload, error=ERROR_CORRECTION, micro=False)
    code.save(svg, kind="svg", xmldecl=False, nl=False, border=QUIET_ZONE, light="#fff", svgclass=None, **size)
    return svg.getvalue()


def render_qr_image(payload: str) -> Page:
    return make_raw_page(SVG, draw_qr_svg(payload, scale=PIXELS_PER_MODULE))
