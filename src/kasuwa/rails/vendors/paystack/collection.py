"""Paystack: collects by its page (cards, QR codes), by bank, USSD, transfer, mobile money, and by saved cards.

The vendor knows a payment by our reference and refuses it a second time: such a refusal is looked up. Cards are entered
on its page alone. A payment that the payer has not finished is "abandoned" there, and may still be paid.

Refunds have no key of ours: see refunds.py.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC
from typing import Any

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
    before_sending,
)
from kasuwa.rails.vendors.bank_codes import UNSERVED_BANK
from kasuwa.rails.vendors.client import VendorClient, VendorReply
from kasuwa.rails.vendors.declines import decline_code
from kasuwa.rails.vendors.paystack.refunds import PaystackRefunds
from kasuwa.rails.vendors.paystack.transfers import (
    DONE,
    IN_PROGRESS,
    LONGEST_MESSAGE,
    NAME,
    REFUSED,
    get_data,
    read_message,
)
from kasuwa.terms.vendors import CollectionVendor

SERVED = CollectionVendor(
    name=NAME,
    methods=frozenset({"card", "token", "account", "bank_transfer", "ussd", "mobile_money", "qrpay"}),
    currencies=frozenset({"NGN", "GHS", "KES", "USD"}),
    providers={"mobile_money": frozenset({"ghana", "mpesa"})},
)

# Methods that are paid on the vendor's page, by its name of their channel.
PAGE_CHANNELS = {"card": "card", "qrpay": "qr"}

# USSD services by our name of the bank, and mobile networks by what merchants call them.
USSD_TYPES = {"gtb": "737", "uba": "919", "sterling": "822", "zenith": "966"}
NETWORKS = {
    **dict.fromkeys(("mtn",), "mtn"),
    **dict.fromkeys(("vodafone", "vod", "telecel"), "vod"),
    **dict.fromkeys(("airteltigo", "atl", "tigo", "airtel"), "atl"),
}
# A pending charge is not asked after sooner than this after it was sent.
SECONDS_BEFORE_CHARGE_QUERY = 10
CANCELLED = "17"

# `data.status` of a transaction. The bank may be at work on those without a code: such a payment does not expire.
STATUSES: dict[str, tuple[str, str | None]] = {
    "success": (orders.SUCCESSFUL, DONE),
    "failed": (orders.FAILED, REFUSED),
    "reversed": (orders.FAILED, REFUSED),
    "abandoned": (orders.UNKNOWN, IN_PROGRESS),
    "ongoing": (orders.UNKNOWN, IN_PROGRESS),
    "pending": (orders.PROCESSING, None),
    "processing": (orders.PROCESSING, None),
    "queued": (orders.PROCESSING, None),
}
# What the payer must do that neither we nor the vendor's page can ask for.
UNSERVED_STEPS = {
    "send_pin": "The bank asks for a PIN, which cannot be given here",
    "send_phone": "The bank asks for the customer's telephone number, which cannot be given here",
    "send_birthday": "The bank asks for the customer's date of birth, which cannot be given here",
    "send_address": "The bank asks for the customer's address, which cannot be given here",
}
# Refusals that are about our account with the vendor, by a word of theirs.
OUR_ACCOUNT = {
    "currency not supported": "paystack has not switched on a currency for us: ask for it on its dashboard",
    "not available for your business": "paystack has not switched on a payment channel for us",
    "channel is not": "paystack has not switched on a payment channel for us",
    "merchant may be inactive": "paystack has deactivated our account",
}
NOT_FOUND = Answer(orders.NOT_FOUND, None, "The rail does not know the payment")
PAGE_LOST = Answer(orders.FAILED, "96", "The payment page could not be opened")
WAITING = Answer(orders.UNKNOWN, None, "The rail has not answered")
OPEN_STATUSES = (orders.UNKNOWN, orders.PROCESSING, orders.CHALLENGE)
UNKNOWN_TOKEN = ("not found", "does not exist", "deactivated", "inactive")
NO_CARD_NUMBERS = "paystack is given no card numbers"


class PaystackCollection(PaystackRefunds):
    """The collection rail. `domain` is the mode that answers must have: `live` or `test`.

    `email_domain` makes the address of a payer who gave none. `find_bank_code` returns the vendor's code of a bank.
    """

    def __init__(
        self,
        client: VendorClient,
        secret_key: str,
        domain: str,
        email_domain: str,
        find_bank_code: Callable[[str], Awaitable[str | None]],
    ) -> None:
        super().__init__(client, {"Authorization": f"Bearer {secret_key}"})
        self._domain = domain
        self._email_domain = email_domain
        self._find_bank_code = find_bank_code

    # --- a payment begins ----------------------------------------------------------------------------------------

    async def begin(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        if card is not None:
            raise Unavailable(NO_CARD_NUMBERS)
        if order.method in PAGE_CHANNELS:
            return await self._open_page(order)
        with before_sending():
            channel = await self._make_channel_fields(order)
        if isinstance(channel, Answer):
            return channel
        reply = await self._post("/charge", {**self._common(order), **channel})
        if is_good(reply) or get_data(reply).get("status"):
            return self._read_charge(reply, order)
        return await self._judge_refusal(reply, order)

    async def _open_page(self, order: CollectionOrder) -> Answer:
        body = {**self._common(order), "channels": [PAGE_CHANNELS[order.method]]}
        if order.return_url:
            body["callback_url"] = order.return_url
        reply = await self._post("/transaction/initialize", body)
        if not is_good(reply):
            return await self._judge_refusal(reply, order)
        data = get_data(reply)
        url, access_code = data.get("authorization_url"), data.get("access_code")
        if not isinstance(url, str) or not url.startswith("http") or data.get("reference") != wire_reference(order.key):
            raise NoAnswer("the answer has no page for this payment")
        facts = {"auth": "redirect", "url": url, "session": str(access_code or wire_reference(order.key))}
        return Answer(orders.CHALLENGE, None, "", facts)

    async def _make_channel_fields(self, order: CollectionOrder) -> dict[str, Any] | Answer:
        """Returns the part of a charge that depends on its method, or the answer to one that cannot be sent."""
        if order.method == "bank_transfer":
            expires = {} if order.expires_at is None else {"account_expires_at": iso_time(order)}
            return {"bank_transfer": expires}
        if order.method == "ussd":
            return {"ussd": {"type": USSD_TYPES[order.provider]}}
        if order.method == "account":
            code = await self._find_bank_code(order.provider)
            return UNSERVED_BANK if code is None else {"bank": {"code": code, "account_number": order.payer}}
        if order.method != "mobile_money":
            return Answer(orders.FAILED, "57", "This payment type is not served")
        provider = "mpesa" if order.provider == "mpesa" else NETWORKS.get(order.network.lower().replace(" ", ""))
        if provider is None:
            return Answer(orders.FAILED, "16", "The mobile network is not known")
        return {"mobile_money": {"phone": order.payer, "provider": provider}}

    def _common(self, order: CollectionOrder) -> dict[str, Any]:
        return {
            "email": order.payer_email or f"{wire_reference(order.key)}@{self._email_domain}",
            "amount": order.amount,
            "currency": order.currency,
            "reference": wire_reference(order.key),
        }

    # --- a saved card, a code --------------------------------------------------------------------------------------

    async def charge(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        saved = order.saved_card
        if card is not None or saved is None or saved.vendor != NAME:
            raise Unavailable(NO_CARD_NUMBERS)
        body = {**self._common(order), "email": saved.email, "authorization_code": saved.token}
        reply = await self._post("/transaction/charge_authorization", body)
        data = get_data(reply)
        url = data.get("authorization_url")
        if is_good(reply) and data.get("paused") is True and isinstance(url, str):
            return Answer(
                orders.CHALLENGE, None, "", {"auth": "redirect", "url": url, "session": data_reference(order)}
            )
        if is_good(reply) or data.get("status"):
            return self._read_transaction(reply, order)
        return await self._judge_refusal(reply, order)

    async def deactivate_token(self, token: VendorToken) -> Answer:
        reply = await self._post("/customer/authorization/deactivate", {"authorization_code": token.token})
        words = read_message(reply).lower()
        # One that is deactivated already is refused as unknown.
        if is_good(reply) or any(text in words for text in UNKNOWN_TOKEN):
            return Answer(orders.SUCCESSFUL, DONE, "The card is deactivated")
        return Answer(orders.FAILED, REFUSED, read_message(reply))

    async def validate(self, order: CollectionOrder, otp: str | None) -> Answer:
        if otp is None:
            outcome = await self._verify(order)
            return (
                Answer(orders.FAILED, CANCELLED, "Customer cancellation")
                if outcome.status in OPEN_STATUSES
                else outcome
            )
        reply = await self._post("/charge/submit_otp", {"otp": otp, "reference": wire_reference(order.key)})
        answer = self._read_charge(reply, order) if get_data(reply).get("status") else NOT_FOUND
        if is_good(reply) and answer.status not in (orders.FAILED, orders.CHALLENGE, orders.NOT_FOUND):
            return answer
        if is_good(reply) and answer.facts.get("auth") == "redirect":
            return answer
        # The vendor does not say whether a code was wrong. The payment is still open then.
        outcome = await self._verify(order)
        return Answer(orders.WRONG_CODE, None, read_message(reply)) if outcome.status in OPEN_STATUSES else outcome

    # --- queries ---------------------------------------------------------------------------------------------------

    async def query(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        answer = await self._verify(order)
        if answer.status not in OPEN_STATUSES:
            return answer
        if order.step == orders.VALIDATE and answer.status == orders.UNKNOWN:
            return Answer(orders.CHALLENGE, None, "", {"auth": "OTP"})
        if order.step != orders.BEGIN or order.session:
            return answer
        # The answer to `begin` was lost, and with it what the payer must do.
        if order.method in PAGE_CHANNELS:
            return PAGE_LOST if answer.status == orders.UNKNOWN else answer
        if order.age_seconds < SECONDS_BEFORE_CHARGE_QUERY:
            return WAITING
        reply = await self._get(f"/charge/{wire_reference(order.key)}")
        return self._read_charge(reply, order) if is_good(reply) else answer

    async def _verify(self, order: CollectionOrder) -> Answer:
        reply = await self._get(f"/transaction/verify/{wire_reference(order.key)}")
        if is_good(reply):
            return self._read_transaction(reply, order)
        if is_unknown_transaction(reply):
            return NOT_FOUND
        raise Unavailable(read_message(reply))

    async def _judge_refusal(self, reply: VendorReply, order: CollectionOrder) -> Answer:
        """Returns what a refused payment means. A refusal is looked up, because a used reference is refused as well."""
        words = read_message(reply)
        for word, notice in OUR_ACCOUNT.items():
            if word in words.lower():
                raise Unavailable(words, notice=notice)
        answer = await self.query(order, None)
        if answer.status != orders.NOT_FOUND or is_duplicate(reply):
            return answer
        if order.method == "token" and reply.body.get("type") != "validation_error":
            return answer
        return Answer(orders.FAILED, decline_code(words), words)

    # --- answers -----------------------------------------------------------------------------------------------------

    def _read_charge(self, reply: VendorReply, order: CollectionOrder) -> Answer:
        """Returns what the answer to a charge asks of the payer, or its outcome."""
        data = get_data(reply)
        status, session = str(data.get("status")), data_reference(order)
        words = str(data.get("display_text") or "")[:LONGEST_MESSAGE]
        if status in UNSERVED_STEPS:
            return Answer(orders.FAILED, "57", UNSERVED_STEPS[status])
        if status == "send_otp":
            return Answer(orders.CHALLENGE, None, words, {"auth": "OTP", "session": session})
        if status == "open_url" and isinstance(data.get("url"), str):
            return Answer(orders.CHALLENGE, None, words, {"auth": "redirect", "url": data["url"], "session": session})
        if status == "pay_offline":
            code = data.get("ussd_code")
            shown = {"auth": "ussd", "ussd_code": code} if isinstance(code, str) else {"auth": "device"}
            return Answer(orders.CHALLENGE, None, words, {**shown, "session": session})
        if status == "pending_bank_transfer":
            return read_account(data, session)
        return self._read_transaction(reply, order)

    def _read_transaction(self, reply: VendorReply, order: CollectionOrder) -> Answer:
        """Returns the state of a payment. An undocumented state, or one that is not of this payment, is unreadable."""
        data = get_data(reply)
        status, code = STATUSES.get(str(data.get("status")), (orders.UNREADABLE, None))
        if status == orders.UNREADABLE:
            return Answer(status, None, "The rail answered an unknown status")
        if data.get("reference", wire_reference(order.key)) != wire_reference(order.key):
            return other_payment("another reference")
        if data.get("domain", self._domain) != self._domain:
            return other_payment("another mode")
        if status == orders.FAILED:
            words = str(data.get("gateway_response") or "Declined")[:LONGEST_MESSAGE]
            return Answer(status, decline_code(words), words)
        if status != orders.SUCCESSFUL:
            return Answer(status, code, "The payment is not finished")
        if (data.get("amount"), data.get("currency")) != (order.amount, order.currency):
            return other_payment("another amount or currency")
        facts = {"rail_id": str(data["id"])} if "id" in data else {}
        words = str(data.get("gateway_response") or "Approved")[:LONGEST_MESSAGE]
        return Answer(status, code, words, facts, card=read_card(data) if order.method == "card" else None)


def read_account(data: dict[str, Any], session: str) -> Answer:
    """Returns the account that the payer transfers to."""
    bank = data.get("bank")
    facts = {
        "auth": "device",
        "session": session,
        "account_number": data.get("account_number"),
        "account_name": data.get("account_name"),
        "bank_name": bank.get("name") if isinstance(bank, dict) else None,
    }
    if not isinstance(facts["account_number"], str) or not isinstance(facts["bank_name"], str):
        raise NoAnswer("the answer has no account")
    return Answer(orders.CHALLENGE, None, "", {name: str(value) for name, value in facts.items() if value})


def read_card(data: dict[str, Any]) -> VendorCard | None:
    """Returns the card that paid. Its code is kept if it can be charged again, with the address it is bound to."""
    authorization, customer = data.get("authorization"), data.get("customer")
    if not isinstance(authorization, dict) or authorization.get("channel") != "card":
        return None
    first, last = str(authorization.get("bin") or "")[:6], str(authorization.get("last4") or "")[-4:]
    code, email = authorization.get("authorization_code"), customer.get("email") if isinstance(customer, dict) else None
    signature = authorization.get("signature") or f"{first} {last}"
    is_reusable = authorization.get("reusable") is True and isinstance(code, str) and isinstance(email, str)
    return VendorCard(
        identity=f"{NAME} {signature} {authorization.get('exp_month')} {authorization.get('exp_year')}",
        mask=f"{first}{'*' * 6}{last}",
        bin=first,
        brand=text_or_none(authorization.get("brand")),
        type=text_or_none(authorization.get("card_type")),
        issuer=text_or_none(authorization.get("bank")),
        country=text_or_none(authorization.get("country_code")),
        token=VendorToken(NAME, str(code), str(email)) if is_reusable else None,
    )


def text_or_none(value: Any) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None


def other_payment(what: str) -> Answer:
    notice = f"paystack answered for {what} than was ordered: compare the payment with its dashboard"
    return Answer(orders.UNREADABLE, None, "The rail answered for another payment", notice=notice)


def is_good(reply: VendorReply) -> bool:
    return bool(reply.body["status"]) and reply.status < 300


def is_duplicate(reply: VendorReply) -> bool:
    return reply.body.get("code") == "duplicate_reference" or "duplicate" in read_message(reply).lower()


def is_unknown_transaction(reply: VendorReply) -> bool:
    known = reply.body.get("code") == "transaction_not_found" or "reference not found" in read_message(reply).lower()
    return reply.status in (400, 404) and known


def data_reference(order: CollectionOrder) -> str:
    return wire_reference(order.key)


def iso_time(order: CollectionOrder) -> str:
    assert order.expires_at is not None
    return f"{order.expires_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.000Z"
