"""Serves hosted checkouts and payment links below /pay/.

    /pay/checkout/<token>               the checkout: a form, instructions, or the receipt
    /pay/checkout/<token>/<channel>     the form of another channel
    /pay/checkout/<token>/state         a text that changes with the page, for pages that poll
    /pay/checkout/<token>/receipt.pdf   the receipt as a file
    /pay/link/<slug>                    a payment link: its form opens a checkout

The token is the only credential, and nothing of a payer is kept in a cookie, so that no other site can act for a payer.
Card numbers, PINs and codes are passed on in memory. Contract: payment#checkout-page
"""

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kasuwa.core.codes import NOT_VALIDATED
from kasuwa.core.decision import Refusal
from kasuwa.core.keyring import UnsealError
from kasuwa.core.vault import NONCE_BYTES, Vault
from kasuwa.engine import token_index
from kasuwa.engine.progress import RequestProgress
from kasuwa.http.page import Page
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.methods.checkout.actions import (
    ABANDON_ATTEMPT,
    BEGIN_ATTEMPT,
    CHARGE_ATTEMPT,
    CONFIRM_ATTEMPT,
    OPEN_FROM_LINK,
)
from kasuwa.methods.checkout.model import ACTIVE, LINK, LINK_DETAIL_DECODER, PayLink
from kasuwa.methods.checkout.payer_model import (
    AbandonAttempt,
    BeginAttempt,
    ChargeAttempt,
    ConfirmAttempt,
    EnteredCard,
    OpenFromLink,
)
from kasuwa.methods.checkout.rules.served_channels import CHANNELS, mobile_providers, served_channels, ussd_banks
from kasuwa.methods.checkout.store import read_checkout, read_link, read_saved_cards
from kasuwa.methods.payment.model import INITIATED
from kasuwa.methods.payment.store import read_payment
from kasuwa.methods.statements.links import decode_link, encode_link
from kasuwa.methods.statements.store import business_now
from kasuwa.methods.tickets.model import TICKET
from kasuwa.methods.tickets.rules.records import read_code
from kasuwa.methods.tickets.store import list_purchase
from kasuwa.methods.tickets.ticket_codes import format_ticket_code
from kasuwa.pages import hosted_forms, hosted_view
from kasuwa.pages.checkout import PageReads, WriteRunner
from kasuwa.pages.hosted_forms import FormField, ReadForm, errors_for_payer, make_card, read_fields
from kasuwa.pages.hosted_render import (
    NO_FORM,
    PageForm,
    receipt_file,
    redirect,
    render_link,
    render_step,
    stay_in_frame,
)
from kasuwa.pages.hosted_view import HostedView, ShownTicket, find_bank_page, make_view
from kasuwa.pages.render import JSON, make_raw_page, render_notice
from kasuwa.terms.vendors import CollectionVendors
from kasuwa.transactions.checkouts import CHECKOUT_PAGE, PAID, TOKEN_DIGITS, Checkout
from kasuwa.transactions.payers import hash_customer

CHECKOUT_PATH = re.compile(rf"/pay/checkout/([0-9a-f]{{{TOKEN_DIGITS}}})(/[a-z_.]{{1,30}})?", re.ASCII)
LINK_PATH = re.compile(r"/pay/link/([a-z0-9-]{3,60})", re.ASCII)

NOT_FOUND = render_notice(
    404, "Page not found", "Check the address, or ask the merchant for a new link.", notice="not_found"
)
NOT_IN_USE = render_notice(
    410, "This link is not in use", "Please ask the merchant for another way to pay.", notice="link_not_in_use"
)
METHOD_NOT_ALLOWED = render_notice(405, "Method not allowed", "Go back and try again.")
TOO_MANY_REQUESTS = render_notice(
    429,
    "Please wait a moment",
    "Too many requests came from your network. Try again soon.",
    notice="rate_limited",
    again="Try again",
    retry_after=5,
)

TRY_AGAIN = "That did not work, and nothing was charged. Please try again"
WRONG_CODE = "The code is not right. Attempts left: {}"
CARD_DECODER: "msgspec.json.Decoder[EnteredCard]" = msgspec.json.Decoder(EnteredCard)


class HostedServices(msgspec.Struct, frozen=True):
    """The services that the pages use."""

    reads: PageReads
    vault: Vault
    merchants: MerchantDirectory
    writes: WriteRunner
    public_url: str
    vendors: CollectionVendors
    # take(address): seconds until an address may send another form, 0 if it may now. None: no limit.
    take: Callable[[str], float] | None = None


class HostedCheckouts:
    def __init__(self, services: HostedServices) -> None:
        self._services = services

    async def serve(
        self, method: str, path: str, form: Mapping[str, str], address: str, progress: RequestProgress
    ) -> Page | None:
        """Returns the page of a path, or None if it is none of ours."""
        checkout, link = CHECKOUT_PATH.fullmatch(path), LINK_PATH.fullmatch(path)
        if checkout is None and link is None:
            return None
        if method not in ("GET", "HEAD", "POST"):
            return METHOD_NOT_ALLOWED
        take = self._services.take
        if method == "POST" and take is not None and take(address) > 0:
            return TOO_MANY_REQUESTS
        if link is not None:
            return await self._serve_link(method, link[1], form, progress)
        assert checkout is not None
        view = await self._find(checkout[1])
        if view is None:
            return NOT_FOUND
        part = (checkout[2] or "").removeprefix("/")
        if method == "POST":
            page = await self._submit(view, form, address, progress)
            return stay_in_frame(page, view) if form.get("framed") == "yes" else page
        return await (self._show_channel(view, part) if part in view.channels else self._show(view, part))

    # --- showing ------------------------------------------------------------------------------------------------

    async def _find(self, token: str) -> HostedView | None:
        services = self._services
        owner = await token_index.find_owner(services.reads.tokens, services.vault, CHECKOUT_PAGE, token)
        return None if owner is None else await self._load(*owner)

    async def _load(self, merchant_id: int, reference: str) -> HostedView | None:
        services = self._services
        rows = services.reads.rows_of(merchant_id)
        merchant = await services.merchants.get_by_id(merchant_id)
        checkout = await read_checkout(merchant_id, reference, rows)
        if checkout is None or merchant.suspended:
            return None
        newest = checkout.payment_ref or checkout.attempt_ref
        attempt = await read_payment(newest, merchant, rows) if newest else None
        now = await business_now(merchant_id, rows)
        view = make_view(checkout, attempt, merchant, (), now, services)
        served = served_channels(view.detail.channels, checkout.currency, services.vendors, merchant)
        tickets = await find_tickets(checkout, services) if checkout.state == PAID else ()
        view = msgspec.structs.replace(view, channels=served, tickets=tickets)
        if "token" not in served or await self._saved_cards(view):
            return view
        return msgspec.structs.replace(view, channels=tuple(channel for channel in served if channel != "token"))

    async def _show(self, view: HostedView, part: str) -> Page:
        if part == "state":
            return make_raw_page(JSON, msgspec.json.encode({"state": view.fingerprint, "status": view.status}))
        if part == "receipt.pdf":
            # Made in a thread: other requests are not to wait for it.
            return await asyncio.to_thread(receipt_file, view) if view.step == hosted_view.RECEIPT else NOT_FOUND
        if part:
            # A channel that is not offered any more.
            return redirect(view.address) if part in CHANNELS else NOT_FOUND
        return await show_step(view, first_channel(view), await self._form_of_step(view))

    async def _show_channel(self, view: HostedView, channel: str) -> Page:
        if view.step != hosted_view.CHOOSE:
            return redirect(view.address)
        fields = await self._choose_fields(view, channel)
        return await show_step(view, channel, PageForm(fields, make_initial_values(view)))

    async def _form_of_step(self, view: HostedView) -> PageForm:
        if view.step == hosted_view.CHOOSE:
            return PageForm(await self._choose_fields(view, first_channel(view)), make_initial_values(view))
        if view.step == hosted_view.PIN:
            return PageForm((*hosted_forms.CARD_FIELDS, hosted_forms.PIN_FIELD))
        return PageForm((hosted_forms.OTP_FIELD,)) if view.step == hosted_view.OTP else NO_FORM

    def _plain_fields(self, view: HostedView, channel: str) -> tuple[FormField, ...]:
        vendors, currency = self._services.vendors, view.checkout.currency
        fields: tuple[FormField, ...] = ()
        if not view.detail.is_payer_given:
            fields = (hosted_forms.FULLNAME, hosted_forms.EMAIL_FIELD)
        if channel == "card" and not vendors.has_card_page(view.merchant.rails):
            fields += hosted_forms.CARD_FIELDS
        elif channel == "account":
            fields += hosted_forms.account_fields()
        elif channel == "ussd":
            fields += hosted_forms.ussd_fields(ussd_banks(vendors, view.merchant))
        elif channel == "phone":
            fields += (hosted_forms.PHONE_FIELD,)
        elif channel == "mobile_money":
            fields += hosted_forms.mobile_fields(mobile_providers(currency, vendors, view.merchant)[0])
        return fields

    async def _choose_fields(self, view: HostedView, channel: str) -> tuple[FormField, ...]:
        if channel != "token":
            return self._plain_fields(view, channel)
        cards = await self._saved_cards(view)
        return (hosted_forms.saved_card_field(tuple((name, label) for name, (label, _) in cards.items())),)

    async def _saved_cards(self, view: HostedView) -> dict[str, tuple[str, str]]:
        """Returns the saved cards of a payer whom the merchant named: label and token by the name in the form.

        Contract: payment#checkout-saved-cards
        """
        services, merchant_id = self._services, view.merchant.merchant_id
        if not view.detail.is_payer_given or not view.detail.email:
            return {}
        customer = hash_customer(services.vault.digest, merchant_id, view.detail.email).hex()
        cards = await read_saved_cards(merchant_id, customer, services.reads.rows_of(merchant_id))
        return {
            services.vault.digest(f"saved card {view.checkout.txn_ref} {card.token}".encode()).hex()[:16]: (
                f"{(card.brand or 'Card').title()} ending {card.mask[-4:]}",
                card.token,
            )
            for card in cards
        }

    # --- links --------------------------------------------------------------------------------------------------

    async def _serve_link(self, method: str, slug: str, form: Mapping[str, str], progress: RequestProgress) -> Page:
        services = self._services
        owner = await token_index.find_owner(services.reads.tokens, services.vault, LINK, slug)
        link = None if owner is None else await read_link(*owner, services.reads.rows_of(owner[0]))
        if link is None:
            return NOT_FOUND
        merchant = await services.merchants.get_by_id(link.merchant_id)
        if merchant.suspended:
            return NOT_FOUND
        if link.state != ACTIVE:
            return NOT_IN_USE
        fields = fields_of_link(link)
        if method != "POST":
            return render_link(link, merchant, PageForm(fields))
        entered = read_fields(fields, form)
        if entered.errors:
            return render_link(link, merchant, PageForm(fields, form, entered.errors))
        token = os.urandom(TOKEN_DIGITS // 2).hex()
        request = OpenFromLink(
            reference=link.link_id,
            page_token=token,
            amount=int(entered.values.get("amount", "0")),
            fullname=entered.values["fullname"],
            email=entered.values["email"],
            phone=entered.values.get("contact_phone", ""),
        )
        reply = await services.writes.run_write(OPEN_FROM_LINK, request, merchant, progress)
        if isinstance(reply, Refusal):
            errors, problem = errors_for_payer(reply.field_errors, fields)
            shown = PageForm(fields, form, errors, problem or ("" if errors else reply.message or TRY_AGAIN))
            return render_link(link, merchant, shown)
        return redirect(f"/pay/checkout/{token}")

    # --- forms --------------------------------------------------------------------------------------------------

    async def _submit(self, view: HostedView, form: Mapping[str, str], address: str, progress: RequestProgress) -> Page:
        wanted = form.get("do")
        if wanted == "abandon":
            request = AbandonAttempt(reference=view.checkout.txn_ref, attempt_ref=form.get("attempt", ""))
            return await self._run(view, ABANDON_ATTEMPT, request, NO_FORM, progress)
        if wanted == "pay" and form.get("channel") in view.channels:
            return await self._begin(view, form["channel"], form, address, progress)
        if form.get("attempt", "") != view.checkout.attempt_ref:
            return redirect(view.address)
        if wanted == "otp":
            return await self._confirm(view, form, progress)
        if wanted == "pin":
            return await self._charge_with_pin(view, form, progress)
        return redirect(view.address)

    async def _run(
        self, view: HostedView, action: Any, request: Any, shown: PageForm, progress: RequestProgress, channel: str = ""
    ) -> Page:
        """Runs a payer's action and leads on to the next step, or shows what was refused on the same form."""
        reply = await self._services.writes.run_write(action, request, view.merchant, progress)
        after = await self._load(view.merchant.merchant_id, view.checkout.txn_ref)
        if after is None:
            return NOT_FOUND
        if not isinstance(reply, Refusal) or after.fingerprint != view.fingerprint:
            if reply_is_wrong_code(reply) and after.step == hosted_view.OTP:
                return await show_step(after, "", code_error(after))
            return lead_on(after)
        errors, problem = errors_for_payer(reply.field_errors, shown.fields)
        problem = problem or ("" if errors else reply.message or TRY_AGAIN)
        refused = msgspec.structs.replace(shown, errors=errors, problem=problem, total=reply.total or 0)
        return await show_step(after, channel or first_channel(after), refused)

    async def _begin(
        self, view: HostedView, channel: str, form: Mapping[str, str], address: str, progress: RequestProgress
    ) -> Page:
        if view.step != hosted_view.CHOOSE:
            return redirect(view.address)
        fields = await self._choose_fields(view, channel)
        entered = read_fields(fields, form)
        if entered.errors:
            return await show_step(view, channel, PageForm(fields, form, entered.errors))
        request = await self._make_attempt(view, channel, entered, form, address)
        page = await self._run(view, BEGIN_ATTEMPT, request, PageForm(fields, form), progress, channel)
        if request.card is None or page.http != 303:
            return page
        return await self._continue_card(view, request.card, progress) or page

    async def _make_attempt(
        self, view: HostedView, channel: str, entered: ReadForm, form: Mapping[str, str], address: str
    ) -> BeginAttempt:
        values = entered.values
        token = ""
        if channel == "token":
            token = (await self._saved_cards(view))[values["saved"]][1]
        provider = ""
        if channel == "mobile_money":
            provider = mobile_providers(view.checkout.currency, self._services.vendors, view.merchant)[0]
        number, total = form.get("number_of_attempt", ""), form.get("total", "")
        return BeginAttempt(
            reference=view.checkout.txn_ref,
            number=int(number) if number.isascii() and number.isdecimal() and len(number) < 4 else 0,
            channel=channel,
            shown_total=int(total) if total.isascii() and total.isdecimal() and len(total) < 16 else 0,
            card=make_card(values) if "number" in values else None,
            token=token,
            bank_code=values.get("bank_code", ""),
            account_number=values.get("account_number", ""),
            ussd_bank=values.get("ussd_bank", ""),
            provider=provider,
            network=values.get("network", ""),
            phone=values.get("phone", ""),
            fullname=values.get("fullname", ""),
            email=values.get("email", ""),
            contact_phone=values.get("contact_phone", ""),
            address=address,
        )

    async def _continue_card(self, view: HostedView, card: EnteredCard, progress: RequestProgress) -> Page | None:
        """Charges a card whose bank wants a code, or asks for the PIN. Returns None if there is nothing to do."""
        after = await self._load(view.merchant.merchant_id, view.checkout.txn_ref)
        if after is None or after.attempt is None or after.attempt.payment.stage != INITIATED:
            return None
        if after.step == hosted_view.PIN:
            return await show_step(after, "", PageForm((hosted_forms.PIN_FIELD,), sealed=self._seal(after, card)))
        request = ChargeAttempt(reference=after.checkout.txn_ref, attempt_ref=after.checkout.attempt_ref, card=card)
        return await self._run(after, CHARGE_ATTEMPT, request, NO_FORM, progress)

    async def _confirm(self, view: HostedView, form: Mapping[str, str], progress: RequestProgress) -> Page:
        fields = (hosted_forms.OTP_FIELD,)
        entered = read_fields(fields, form)
        if view.step != hosted_view.OTP:
            return redirect(view.address)
        if entered.errors:
            return await show_step(view, "", PageForm(fields, {}, entered.errors))
        request = ConfirmAttempt(
            reference=view.checkout.txn_ref, attempt_ref=view.checkout.attempt_ref, otp=entered.values["otp"]
        )
        return await self._run(view, CONFIRM_ATTEMPT, request, PageForm(fields), progress)

    async def _charge_with_pin(self, view: HostedView, form: Mapping[str, str], progress: RequestProgress) -> Page:
        if view.step != hosted_view.PIN:
            return redirect(view.address)
        sealed = form.get("sealed", "")
        card = self._unseal(view, sealed)
        fields = (hosted_forms.PIN_FIELD,) if card is not None else (*hosted_forms.CARD_FIELDS, hosted_forms.PIN_FIELD)
        entered = read_fields(fields, form)
        shown = PageForm(fields, {}, entered.errors, sealed=sealed if card is not None else "")
        if entered.errors:
            return await show_step(view, "", shown)
        pin = entered.values["pin"]
        whole = make_card(entered.values, pin) if card is None else msgspec.structs.replace(card, pin=pin)
        request = ChargeAttempt(reference=view.checkout.txn_ref, attempt_ref=view.checkout.attempt_ref, card=whole)
        return await self._run(view, CHARGE_ATTEMPT, request, shown, progress)

    def _seal(self, view: HostedView, card: EnteredCard) -> str:
        """Encrypts a card for the second step of its attempt. Only the payer's page holds it: nothing is stored."""
        place = f"checkout card {view.checkout.attempt_ref}"
        plain = msgspec.json.encode(card)
        nonce = os.urandom(NONCE_BYTES)
        return encode_link(self._services.vault.seal(view.merchant.merchant_id, place, plain, nonce))

    def _unseal(self, view: HostedView, sealed: str) -> EnteredCard | None:
        encoded = decode_link(sealed) if sealed else None
        if encoded is None:
            return None
        place = f"checkout card {view.checkout.attempt_ref}"
        try:
            return CARD_DECODER.decode(self._services.vault.unseal(view.merchant.merchant_id, place, encoded))
        except (UnsealError, msgspec.ValidationError, msgspec.DecodeError):
            return None


async def find_tickets(checkout: Checkout, services: HostedServices) -> tuple[ShownTicket, ...]:
    """Returns the tickets that a checkout has paid for. Empty if it was not for tickets."""
    if checkout.source != TICKET:
        return ()
    bought = await list_purchase(checkout.merchant_id, checkout.txn_ref, services.reads.rows_of(checkout.merchant_id))
    return tuple(
        ShownTicket(kind, format_ticket_code(read_code(ticket, services.vault.unseal)), ticket.state)
        for ticket, kind in bought
    )


# --- what follows -------------------------------------------------------------------------------------------------


async def show_step(view: HostedView, channel: str, form: PageForm = NO_FORM) -> Page:
    """Renders a step in a thread: it may have many QR codes, and other requests are not to wait for them."""
    return await asyncio.to_thread(render_step, view, channel, form)


def first_channel(view: HostedView) -> str:
    return view.channels[0] if view.channels else "card"


def make_initial_values(view: HostedView) -> dict[str, str]:
    return {"fullname": view.detail.fullname, "email": view.detail.email}


def fields_of_link(link: PayLink) -> tuple[FormField, ...]:
    amount = () if link.amount else (hosted_forms.AMOUNT_FIELD,)
    phone = (hosted_forms.CONTACT_PHONE,) if LINK_DETAIL_DECODER.decode(link.detail).asks_phone else ()
    return (*amount, hosted_forms.FULLNAME, hosted_forms.EMAIL_FIELD, *phone)


def reply_is_wrong_code(reply: Any) -> bool:
    return isinstance(reply, Refusal) and reply.code == NOT_VALIDATED


def code_error(view: HostedView) -> PageForm:
    return PageForm((hosted_forms.OTP_FIELD,), {}, {"otp": WRONG_CODE.format(view.tries_left)})


def lead_on(view: HostedView) -> Page:
    """Redirects to the checkout, or to the page on which the payer confirms."""
    return redirect(find_bank_page(view) if view.step == hosted_view.BANK_PAGE else view.address)
