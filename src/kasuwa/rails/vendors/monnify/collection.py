"""Monnify: collects payments by its page (cards, USSD, telephone numbers), by one-time accounts, and by saved cards.

A payment is first made known to the vendor under our reference, which it refuses a second time: such a refusal is
looked up. A one-time account is then opened for the payment by a second call, which may be repeated. Cards are entered
on the vendor's page alone. A refund has a reference of ours, by which the vendor knows it.
"""

from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import quote

import msgspec

from kasuwa.core.money import MINOR_PER_MAJOR, format_minor
from kasuwa.core.references import wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import (
    Answer,
    CardSecrets,
    CollectionOrder,
    NoAnswer,
    Unavailable,
    VendorCard,
    VendorToken,
    after_sending,
)
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.vendors.client import CallObserver, VendorReply
from kasuwa.rails.vendors.declines import decline_code
from kasuwa.rails.vendors.monnify.session import (
    LONGEST_MESSAGE,
    NAME,
    MonnifyKeys,
    MonnifySession,
    MonnifyTokens,
    get_response_body,
    read_message,
)
from kasuwa.rails.vendors.monnify.transfers import DONE, IN_PROGRESS, REFUSED
from kasuwa.terms.vendors import CollectionVendor

BEGIN = "/api/v1/merchant/transactions/init-transaction"
OPEN_ACCOUNT = "/api/v1/merchant/bank-transfer/init-payment"
CHARGE_TOKEN = "/api/v1/merchant/cards/charge-card-token"
QUERY = "/api/v2/merchant/transactions/query"
REFUND = "/api/v1/refunds/initiate-refund"
QUERY_REFUND = "/api/v1/refunds/"

LEAST_AMOUNT = 20_00
LONGEST_DESCRIPTION = 100
LONGEST_REASON = 64

SERVED = CollectionVendor(
    name=NAME,
    methods=frozenset({"card", "token", "bank_transfer", "ussd", "phone"}),
    currencies=frozenset({"NGN"}),
    least_amounts={"NGN": LEAST_AMOUNT},
)
PAYMENT_METHODS = {"card": "CARD", "ussd": "USSD", "bank_transfer": "ACCOUNT_TRANSFER", "phone": "PHONE_NUMBER"}

# `paymentStatus`. One that is PENDING waits for its payer.
STATUSES: dict[str, tuple[str, str | None]] = {
    "PAID": (orders.SUCCESSFUL, DONE),
    "OVERPAID": (orders.SUCCESSFUL, DONE),
    # The vendor has a part of the money, so that the payment does not expire.
    "PARTIALLY_PAID": (orders.UNKNOWN, None),
    "PENDING": (orders.PROCESSING, IN_PROGRESS),
    "FAILED": (orders.FAILED, REFUSED),
    "CANCELLED": (orders.FAILED, "17"),
    "ABANDONED": (orders.FAILED, REFUSED),
    "EXPIRED": (orders.FAILED, REFUSED),
    "REVERSED": (orders.FAILED, REFUSED),
}
FAILURES = {
    "FAILED": "The payment was declined",
    "CANCELLED": "Customer cancellation",
    "ABANDONED": "The customer did not complete the payment",
    "EXPIRED": "The customer did not complete the payment in time",
    "REVERSED": "The payment was reversed",
}
OVERPAID = "a customer paid more than was asked for at monnify: the excess is being returned"
PARTIALLY_PAID = "monnify has a part of a payment: it sends it back, or the rest must come"

REFUND_STATUSES = {"COMPLETED": orders.SUCCESSFUL, "IN_PROGRESS": orders.PROCESSING, "FAILED": orders.FAILED}
# Codes of refused refunds.
REFUND_FAILURES = {"R1": "25", "R2": REFUSED, "R3": "13", "R12": "13", "R4": "13", "R6": REFUSED, "R8": REFUSED}
WALLET_SHORT = ("R5", "R10")
NO_SUCH_REFUND, USED_REFUND, NAMES_AWAY = "R7", "R9", "R11"

OUR_CONTRACT = {
    "contract": "monnify refuses our contract code: check KASUWA_MONNIFY_CONTRACT_CODE",
    "not enabled": "monnify has not switched on a payment method for us",
    "not permitted": "monnify has not switched on a payment method for us",
}
UNKNOWN_PAYMENT = ("not found", "does not exist", "could not find", "no transaction")
NOT_FOUND = Answer(orders.NOT_FOUND, None, "The rail does not know the payment")
PAGE_LOST = Answer(orders.FAILED, "96", "The payment page could not be opened")
NO_CARD_NUMBERS = "monnify is given no card numbers"


class MonnifyCollection(MonnifySession):
    """The collection rail. `email_domain` makes the address of a payer who gave none."""

    def __init__(
        self,
        transport: HttpTransport,
        base_url: str,
        keys: MonnifyKeys,
        observe: CallObserver,
        email_domain: str,
        tokens: MonnifyTokens | None = None,
    ) -> None:
        super().__init__(transport, base_url, keys, observe, tokens)
        self._email_domain = email_domain

    # --- a payment begins ----------------------------------------------------------------------------------------

    async def begin(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        if card is not None:
            raise Unavailable(NO_CARD_NUMBERS)
        if order.method not in PAYMENT_METHODS:
            return Answer(orders.FAILED, "57", "This payment type is not served")
        body = {
            **self._common(order),
            "paymentMethods": [PAYMENT_METHODS[order.method]],
            **({"redirectUrl": order.return_url} if order.return_url else {}),
        }
        reply = await self._call("POST", BEGIN, moves_money=True, body=body)
        if not reply.body["requestSuccessful"]:
            return await self._judge_refusal(reply, order)
        return await self._show_payer(get_response_body(reply), order)

    async def _show_payer(self, body: dict[str, Any], order: CollectionOrder) -> Answer:
        """Returns what the payer must do for a payment that the vendor knows."""
        reference, url = body.get("transactionReference"), body.get("checkoutUrl")
        if not isinstance(reference, str):
            raise NoAnswer("the answer has no reference of the vendor's")
        facts = {"session": reference, "rail_id": reference}
        if order.method != "bank_transfer":
            if not isinstance(url, str) or not url.startswith("http"):
                return PAGE_LOST
            return Answer(orders.CHALLENGE, None, "", {**facts, "auth": "redirect", "url": url})
        with after_sending():
            reply = await self._call("POST", OPEN_ACCOUNT, moves_money=True, body={"transactionReference": reference})
        account = get_response_body(reply)
        if not reply.body["requestSuccessful"] or not isinstance(account.get("accountNumber"), str):
            raise NoAnswer(read_message(reply))
        shown = {
            "account_number": account["accountNumber"],
            "account_name": str(account.get("accountName") or ""),
            "bank_name": str(account.get("bankName") or ""),
        }
        return Answer(orders.CHALLENGE, None, "", {**facts, "auth": "device", **shown})

    def _common(self, order: CollectionOrder) -> dict[str, Any]:
        reference = wire_reference(order.key)
        description = f"Payment to {order.merchant_name}" if order.merchant_name else f"Payment {reference}"
        return {
            "amount": msgspec.Raw(format_minor(order.amount).encode()),
            "customerName": order.payer_name or reference,
            "customerEmail": order.payer_email or f"{reference}@{self._email_domain}",
            "paymentReference": reference,
            "paymentDescription": description[:LONGEST_DESCRIPTION],
            "currencyCode": order.currency,
            "contractCode": self._keys.contract_code,
        }

    async def charge(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        saved = order.saved_card
        if card is not None or saved is None or saved.vendor != NAME:
            raise Unavailable(NO_CARD_NUMBERS)
        own = {"cardToken": saved.token, "customerEmail": saved.email, "apiKey": self._keys.api_key}
        reply = await self._call("POST", CHARGE_TOKEN, moves_money=True, body={**self._common(order), **own})
        if reply.body["requestSuccessful"]:
            return read_payment(get_response_body(reply), order)
        words = read_message(reply)
        if "token" in words.lower() and "duplicate" not in words.lower():
            return Answer(orders.FAILED, "54" if "expired" in words.lower() else "14", words)
        return await self._judge_refusal(reply, order)

    async def validate(self, order: CollectionOrder, otp: str | None) -> Answer:
        raise Unavailable("monnify asks for no codes here")

    # --- queries ---------------------------------------------------------------------------------------------------

    async def query(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        reply = await self._find_payment(order)
        if reply is None:
            return NOT_FOUND
        body = get_response_body(reply)
        answer = read_payment(body, order)
        is_shown = order.session or order.step != orders.BEGIN
        if is_shown or body.get("paymentStatus") != "PENDING":
            return answer
        # The answer to `begin` was lost, and with it what the payer must do.
        return await self._show_payer(body, order)

    async def _find_payment(self, order: CollectionOrder) -> VendorReply | None:
        reply = await self._call("GET", QUERY, query={"paymentReference": wire_reference(order.key)})
        if reply.body["requestSuccessful"]:
            return reply
        if any(text in read_message(reply).lower() for text in UNKNOWN_PAYMENT):
            return None
        raise Unavailable(read_message(reply))

    async def _judge_refusal(self, reply: VendorReply, order: CollectionOrder) -> Answer:
        """Returns what a refused payment means. It is looked up, because a used reference is refused as well."""
        words = read_message(reply)
        for word, notice in OUR_CONTRACT.items():
            if word in words.lower():
                raise Unavailable(words, notice=notice)
        answer = await self.query(msgspec.structs.replace(order, session=""), None)
        is_duplicate = "duplicate" in words.lower()
        if answer.status != orders.NOT_FOUND or is_duplicate or order.method == "token":
            return answer
        # No payer was shown anything.
        return Answer(orders.FAILED, decline_code(words), words)

    # --- refunds -----------------------------------------------------------------------------------------------------

    async def refund(self, order: CollectionOrder) -> Answer:
        body = {
            "transactionReference": await self._find_reference(order),
            "refundReference": wire_reference(order.key),
            "refundAmount": msgspec.Raw(format_minor(order.amount).encode()),
            "refundReason": "Refund"[:LONGEST_REASON],
            "customerNote": "Refund",
        }
        reply = await self._call("POST", REFUND, moves_money=True, body=body)
        if reply.body["requestSuccessful"]:
            return read_refund(get_response_body(reply), order)
        code, words = str(reply.body.get("responseCode", "")), read_message(reply)
        if code in WALLET_SHORT:
            raise Unavailable(words, notice="our wallet with monnify does not cover a refund: fund it")
        if code == NAMES_AWAY:
            raise Unavailable(words)
        if code in REFUND_FAILURES:
            notice = f"monnify refused the form of a refund: {words}" if code == "R8" else ""
            return Answer(orders.FAILED, REFUND_FAILURES[code], words, notice=notice)
        return await self.query_refund(order)

    async def _find_reference(self, order: CollectionOrder) -> str:
        """Returns the vendor's reference of the payment that is refunded. Nothing is sent yet."""
        known = order.rail_facts.get("rail_id") or order.session
        if known:
            return known
        try:
            reply = await self._find_payment(msgspec.structs.replace(order, key=order.refund_of))
        except NoAnswer as error:
            raise Unavailable(str(error)) from None
        reference = None if reply is None else get_response_body(reply).get("transactionReference")
        if not isinstance(reference, str):
            raise Unavailable("monnify does not know the payment")
        return reference

    async def query_refund(self, order: CollectionOrder) -> Answer:
        reply = await self._call("GET", QUERY_REFUND + quote(wire_reference(order.key), safe=""))
        if reply.body["requestSuccessful"]:
            return read_refund(get_response_body(reply), order)
        if str(reply.body.get("responseCode", "")) == NO_SUCH_REFUND:
            return Answer(orders.NOT_FOUND, None, "The rail does not know the refund")
        raise Unavailable(read_message(reply))


# --- answers ---------------------------------------------------------------------------------------------------------


def read_payment(body: dict[str, Any], order: CollectionOrder) -> Answer:
    """Returns the state of a payment. An undocumented state, or one that is not of this payment, is unreadable."""
    word = str(body.get("paymentStatus") or body.get("status"))
    status, code = STATUSES.get(word, (orders.UNREADABLE, None))
    if status == orders.UNREADABLE:
        return Answer(status, None, "The rail answered an unknown status")
    reference = wire_reference(order.key)
    currency = body.get("currency") or body.get("currencyCode") or order.currency
    if body.get("paymentReference", reference) != reference or currency != order.currency:
        return other_payment("reference or currency")
    if status == orders.FAILED:
        return Answer(status, code, FAILURES[word])
    if status == orders.UNKNOWN:
        return Answer(status, code, "A part of the payment has arrived", notice=PARTIALLY_PAID)
    if status == orders.PROCESSING:
        return Answer(status, code, "The payment is not finished")
    paid = read_minor(body.get("amountPaid"))
    if paid is None or paid < order.amount or (word == "PAID" and paid != order.amount):
        return other_payment("amount")
    vendor_reference = body.get("transactionReference")
    facts = {"rail_id": vendor_reference} if isinstance(vendor_reference, str) else {}
    if paid > order.amount:
        facts["excess"] = str(paid - order.amount)
    card = read_card(body) if order.method == "card" else None
    return Answer(status, code, "Approved", facts, card=card, notice=OVERPAID if paid > order.amount else "")


def read_card(body: dict[str, Any]) -> VendorCard | None:
    """Returns the card that paid. Its token is kept if it can be charged again, with the address it is bound to."""
    card, customer = body.get("cardDetails"), body.get("customer")
    if not isinstance(card, dict):
        return None
    first, last = str(card.get("bin") or "")[:6], str(card.get("last4") or "")[-4:]
    token, email = card.get("cardToken"), customer.get("email") if isinstance(customer, dict) else None
    is_reusable = card.get("reusable") is True and isinstance(token, str) and isinstance(email, str)
    return VendorCard(
        identity=f"{NAME} {first} {last} {card.get('expMonth')} {card.get('expYear')}",
        mask=f"{first}{'*' * 6}{last}",
        bin=first,
        brand=card["cardType"] if isinstance(card.get("cardType"), str) else None,
        token=VendorToken(NAME, str(token), str(email)) if is_reusable else None,
    )


def read_refund(body: dict[str, Any], order: CollectionOrder) -> Answer:
    status = REFUND_STATUSES.get(str(body.get("refundStatus")), orders.UNREADABLE)
    if status == orders.UNREADABLE:
        return Answer(status, None, "The rail answered an unknown status")
    amount = read_minor(body.get("refundAmount", format_minor(order.amount)))
    if amount != order.amount or body.get("refundReference", wire_reference(order.key)) != wire_reference(order.key):
        notice = "monnify answered with another amount or reference of a refund than was ordered"
        return Answer(orders.UNREADABLE, None, "The rail answered for another refund", notice=notice)
    if status == orders.SUCCESSFUL:
        return Answer(status, DONE, "Approved")
    if status == orders.FAILED:
        words = str(body.get("comment") or "The refund was not paid")[:LONGEST_MESSAGE]
        return Answer(status, REFUSED, words)
    return Answer(status, IN_PROGRESS, "The refund is being paid")


def read_minor(value: Any) -> int | None:
    """Returns an amount in naira, a number or a text, as kobo. None if it is none, or has parts of a kobo."""
    try:
        amount = Decimal(str(value)) * MINOR_PER_MAJOR
    except InvalidOperation:
        return None
    return int(amount) if amount.is_finite() and amount == int(amount) else None


def other_payment(what: str) -> Answer:
    notice = f"monnify answered with another {what} than was ordered: compare the payment with its dashboard"
    return Answer(orders.UNREADABLE, None, "The rail answered for another payment", notice=notice)
