"""Receives the call-backs of a rail that is being checked, and checks their signatures."""

import asyncio
import time

import msgspec
from aiohttp import web

from kasuwa.rails.check.card_network import CardNetwork
from kasuwa.rails.remote.callbacks import PATH
from kasuwa.rails.remote.cards import PATH as CARDS_PATH
from kasuwa.rails.remote.messages import Callback
from kasuwa.rails.remote.signing import HEADER, RemoteSecret, SignatureRefused, check_signature


class CallbackListener:
    """Listens on an address. `keys` gets the key of each call-back for an order, `credit <reference>` for a credit, and
    "" for one that is wrong."""

    def __init__(self, secret: RemoteSecret) -> None:
        self._secrets = {secret.key_id: secret}
        self._runner: web.AppRunner | None = None
        self.keys: asyncio.Queue[str] = asyncio.Queue()
        self.network = CardNetwork(secret)

    async def start(self, host: str, port: int) -> None:
        application = web.Application()
        application.router.add_post(PATH, self._receive)
        application.router.add_post(CARDS_PATH, self.network.receive)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _receive(self, request: web.Request) -> web.Response:
        body = await request.read()
        try:
            check_signature(request.headers.get(HEADER), self._secrets, time.time(), "POST", PATH, body)
            callback = msgspec.json.decode(body, type=Callback)
        except (SignatureRefused, msgspec.DecodeError, UnicodeDecodeError):
            self.keys.put_nowait("")
            return web.json_response({}, status=401)
        is_order = callback.event == "order"
        self.keys.put_nowait(callback.key if is_order else f"credit {callback.rail_reference}")
        return web.json_response({})
