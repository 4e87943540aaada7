"""Plays Kasuwa towards a rail that announces what the card network asks of cards: receives, and decides as told."""

import asyncio
import time
from typing import Literal

import msgspec
from aiohttp import web

from kasuwa.rails.ports.callbacks import CallbackRefused
from kasuwa.rails.remote.cards import RemoteCards, UnreadableMessage
from kasuwa.rails.remote.messages import CardDecision, CardMessage
from kasuwa.rails.remote.signing import HEADER, RemoteSecret, sign

# `lost`: no decision. `forged`: an approval that another secret has signed.
Verdict = Literal["approved", "declined", "lost", "forged"]
OTHER_SECRET = "a secret that the rail does not know, 12345678"


class CardNetwork:
    """`messages` gets each message whose signature and form are right, and for any other a sentence about it."""

    def __init__(self, secret: RemoteSecret) -> None:
        self._secret = secret
        self._cards = RemoteCards((secret,), time.time)
        self.messages: asyncio.Queue[CardMessage | str] = asyncio.Queue()
        self.verdicts: list[Verdict] = []  # of the next messages; those after them are approved
        self.begun: set[str] = set()  # keys of the authorizations of the check that runs
        self._over: set[str] = set()  # of those before: their messages may still come

    def forget(self) -> None:
        """Leaves the purchases before to themselves: `next` skips what is still announced of them."""
        self._over |= self.begun
        self.begun = set()

    async def next(self) -> CardMessage | str:
        """Returns the next message of the purchases that this check has begun, or a sentence about a wrong one."""
        while True:
            message = await self.messages.get()
            if isinstance(message, str):
                return message
            if not self._over & {message.key, message.original_key}:
                self.begun |= {message.key} if message.event == "authorize" else set()
                return message

    async def receive(self, request: web.Request) -> web.Response:
        body = await request.read()
        try:
            signature = self._cards.check(request.headers.get, body)
            message = self._cards.read(body)
        except CallbackRefused:
            self.messages.put_nowait("A message about a card was not signed rightly.")
            return web.json_response({"error": "unauthorized"}, status=401)
        except UnreadableMessage as fault:
            self.messages.put_nowait(f"A message about a card has another form than documented: {fault}.")
            return web.json_response({"error": "invalid_request"}, status=400)
        self.messages.put_nowait(message)
        is_over = bool(self._over & {message.key, message.original_key})
        verdict = self.verdicts.pop(0) if self.verdicts and not is_over else "approved"
        if verdict == "lost":
            return web.json_response({"error": "no_decision"}, status=503)
        is_declined = verdict == "declined"
        decision = CardDecision(
            outcome="declined" if is_declined else "approved", key=message.key, code="51" if is_declined else "00"
        )
        answer = msgspec.json.encode(decision)
        header = self._cards.sign(signature, 200, answer)
        if verdict == "forged":
            wrong = RemoteSecret(self._secret.key_id, OTHER_SECRET)
            header = HEADER, str(sign(wrong, int(time.time()), "200", signature.digest, answer))
        return web.Response(body=answer, headers=dict((header,)), content_type="application/json")
