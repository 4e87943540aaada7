"""Termii: sends text messages (SMS) to one telephone each.

The vendor has no key by which it would know a message again, and cannot be asked for one by anything of ours: a message
whose answer was lost is never sent again from here. A refusal is final for the message unless it is about our account.
"""

from typing import Any

import msgspec
import structlog

from kasuwa.rails.ports import orders
from kasuwa.rails.ports.mail import REPLY_CODE
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable, UnreadableAnswer
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.vendors.amounts import read_balance
from kasuwa.rails.vendors.client import CallObserver, RefusedCredentials, VendorClient, VendorReply
from kasuwa.terms.sms import Sms, is_one_sms, is_sms_number

log = structlog.get_logger("kasuwa.sms")

NAME = "termii"
# The vendor names an address to each account; this one has served all that were seen. It has no test environment.
BASE_URL = "https://api.ng.termii.com"

SEND = "/api/sms/send"
BALANCE = "/api/get-balance"
OK = 200
TAKEN = "ok"
KEY_REFUSED = "termii refuses our key: check KASUWA_TERMII_API_KEY and KASUWA_TERMII_BASE_URL"
# Words of refusals that are about our account. Which words the vendor uses is documented in part, their HTTP status is
# not. What has none of them is taken for a refusal of this message.
OF_OUR_ACCOUNT = {
    "balance": "the balance of our account with termii does not cover a message: fund it",
    "sender": "termii does not know our sender: register KASUWA_SMS_FROM there",
    "not active": "our account with termii is not active: have it activated",
    "route": "our account with termii may not send on this route: have it set up, or change KASUWA_TERMII_CHANNEL",
    "daily limit": "our account with termii has reached its limit of the day",
    "inactive": "termii has not activated a country for us: have it activated",
    "api key": KEY_REFUSED,
}


class TermiiTerms(msgspec.Struct, frozen=True):
    """Our key, the name that messages are sent from, and the vendor's route: dnd or generic."""

    api_key: str
    sender: str
    channel: str

    def __repr__(self) -> str:
        return f"TermiiTerms({self.sender}, {self.channel})"


def is_envelope(body: dict[str, Any]) -> bool:
    return isinstance(body.get("message"), str) or "balance" in body


class TermiiSms:
    def __init__(self, transport: HttpTransport, base_url: str, terms: TermiiTerms, observe: CallObserver) -> None:
        self._client = VendorClient(NAME, base_url, transport, is_envelope, observe)
        self._terms = terms

    async def send(self, sms: Sms) -> Answer:
        if not (is_sms_number(sms.to) and is_one_sms(sms.text)):
            return Answer(orders.FAILED, None, "The number or the text cannot be used")
        body = {
            "api_key": self._terms.api_key,
            "to": sms.to.removeprefix("+"),
            "from": self._terms.sender,
            "sms": sms.text,
            "type": "plain",
            "channel": self._terms.channel,
        }
        try:
            # Sent once, as an order that moves money: it costs some, and may not be repeated after a lost answer.
            reply = await self._client.call("POST", SEND, moves_money=True, headers={}, body=body)
        except RefusedCredentials:
            log.warning("sms not sent", notice=KEY_REFUSED)
            raise
        return read_sending(reply)

    async def balance(self) -> dict[str, int]:
        query = {"api_key": self._terms.api_key}
        reply = await self._client.call("GET", BALANCE, moves_money=False, headers={}, query=query)
        if reply.status != OK:
            raise Unavailable(f"HTTP {reply.status}", notice=find_notice(reply))
        currency = reply.body.get("currency")
        if not isinstance(currency, str):
            raise UnreadableAnswer("the balance has another form than documented")
        return {currency: read_balance(reply.body.get("balance"))}


def read_sending(reply: VendorReply) -> Answer:
    """Returns the answer to a message. Raises Unavailable or NoAnswer. The vendor's words are not kept: they may have
    the number."""
    if 200 <= reply.status < 300:
        if reply.body.get("code") == TAKEN:
            return Answer(orders.SUCCESSFUL, None, "The vendor has the message", {REPLY_CODE: str(reply.status)})
        raise NoAnswer("the answer has another form than documented")
    notice = find_notice(reply)
    if notice:
        log.warning("sms not sent", notice=notice)
        trouble = Unavailable(f"HTTP {reply.status}", notice=notice)
        trouble.facts = {REPLY_CODE: str(reply.status)}
        raise trouble
    return Answer(orders.FAILED, None, "The vendor refused the message", {REPLY_CODE: str(reply.status)})


def find_notice(reply: VendorReply) -> str:
    """Returns what the operator must do about a refusal, or "" if it is not about our account."""
    words = str(reply.body.get("message", "")).lower()
    return next((notice for part, notice in OF_OUR_ACCOUNT.items() if part in words), "")
