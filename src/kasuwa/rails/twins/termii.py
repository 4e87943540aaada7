"""The twin of Termii: text messages, which it keeps in memory, and the balance that they cost.

The last digits of a number choose special answers:

    …400  the number is refused               …402  our balance is used up
    …403  our sender is not registered        …422  the route is not set up for us
    …200  an answer without the code that says it was taken
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from aiohttp import web

from kasuwa.rails.twins.facts import TERMII
from kasuwa.rails.twins.forms import Problem
from kasuwa.rails.twins.server import BODY

SPECIAL = {
    "400": (400, "Invalid phone number"),
    "402": (400, "Insufficient balance"),
    "403": (404, "ApplicationSenderId not found for applicationId: 3 and sender: Kasuwa"),
    "422": (422, "You are not set up on this route"),
}
PAGE_COST = 4
SINGLE_PAGE, SPECIAL_PAGE = 160, 70
# Characters after which the vendor counts pages of 70. Its documentation lists them, two slashes among them.
SPECIAL_CHARACTERS = (";", "//", "^", "{", "}", "\\", "[", "~", "]", "|", "€", "'", "”")


class SentMessage(msgspec.Struct, frozen=True):
    """A message that the vendor took."""

    message_id: str
    to: str
    sender: str
    text: str
    channel: str
    pages: int


def count_pages(text: str) -> int:
    size = SPECIAL_PAGE if any(part in text for part in SPECIAL_CHARACTERS) else SINGLE_PAGE
    return -(-len(text) // size)


class TermiiRules:
    name = "termii"
    facts = TERMII

    def __init__(self, api_key: str = "TL-test-1", senders: tuple[str, ...] = ("Kasuwa",)) -> None:
        self.api_key = api_key
        self.senders = senders
        self.balance = 1_000
        self.messages: list[SentMessage] = []
        self.names_codes = True  # whether a refusal has the code of its HTTP status in the body

    def routes(self) -> Iterable[web.RouteDef]:
        return [web.post("/api/sms/send", self.send), web.get("/api/get-balance", self.tell_balance)]

    def refuse(self, request: web.Request) -> web.Response | None:
        """Every key is in the body or the query, which have a form: the calls look at it themselves."""
        return None

    def refuse_form(self, problem: Problem) -> web.Response:
        return self.decline(400, f"The {problem.name} field is {problem.kind}.")

    def decline(self, status: int, message: str) -> web.Response:
        body: dict[str, Any] = {"message": message, "status": "error"}
        return web.json_response(body | ({"code": status} if self.names_codes else {}), status=status)

    async def tell_balance(self, request: web.Request) -> web.Response:
        if request.query["api_key"] != self.api_key:
            return self.decline(401, "Unauthorized")
        return web.json_response({"user": "Ada Obi", "balance": self.balance, "currency": "NGN"})

    async def send(self, request: web.Request) -> web.Response:
        body = request[BODY]
        if body["api_key"] != self.api_key:
            return self.decline(401, "Unauthorized")
        special = SPECIAL.get(body["to"][-3:])
        if special is not None:
            return self.decline(*special)
        if body["from"] not in self.senders:
            return self.decline(404, "ApplicationSenderId not found")
        pages = count_pages(body["sms"])
        if self.balance < pages * PAGE_COST:
            return self.decline(400, "Insufficient balance")
        self.balance -= pages * PAGE_COST
        message_id = f"30175440544590838198{len(self.messages):05}"
        self.messages.append(
            SentMessage(message_id, body["to"], body["from"], body["sms"], body["channel"], pages),
        )
        taken = {"message": "Successfully Sent", "message_id": message_id, "balance": self.balance, "user": "Ada Obi"}
        return web.json_response(taken if body["to"].endswith("200") else {"code": "ok", **taken})
