"""ASGI middleware that sets the client address from X-Forwarded-For if the request came through a trusted proxy."""

from collections.abc import Sequence
from typing import Any

from kasuwa.core.addresses import Network, client_address


class ForwardedClient:
    def __init__(self, app: Any, proxies: Sequence[Network]) -> None:
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        client = scope.get("client")
        if client is not None and self._proxies:
            # Several headers of the same name form one list.
            values = [value for name, value in scope["headers"] if name.lower() == b"x-forwarded-for"]
            forwarded = b",".join(values).decode("latin-1")
            scope = {**scope, "client": (client_address(client[0], forwarded, self._proxies), client[1])}
        await self._app(scope, receive, send)
