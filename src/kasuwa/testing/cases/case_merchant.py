"""Sends the requests of a case to a test server."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any

# An advance by months runs everything on the way.
ANSWER_SECONDS = 120.0


class CannotReplay(Exception):
    """A case cannot be played at all. The text says why."""


class Wire:
    """A merchant of a test server."""

    def __init__(self, url: str, mid: str, key: str) -> None:
        self.url, self.mid, self._key = url.rstrip("/"), mid, key

    def send(self, path: str, body: Mapping[str, Any], scenario: str = "") -> dict[str, Any]:
        """Returns the reply, also a refusal. Raises CannotReplay."""
        headers = {"mid": self.mid, "key": self._key, "content-type": "application/json"}
        if scenario:
            headers["x-sandbox-scenario"] = scenario
        request = urllib.request.Request(
            f"{self.url}/{path}", data=json.dumps(body).encode(), method="PUT", headers=headers
        )
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answered:
                http, reply = answered.status, json.load(answered)
        except urllib.error.HTTPError as error:
            http, reply = error.code, json.loads(error.read() or b"{}")
        except (OSError, ValueError, HTTPException) as error:
            raise CannotReplay(f"{self.url} cannot be reached: {getattr(error, 'reason', error)}") from None
        if http == 401:
            raise CannotReplay(f"{self.url} does not know this mid and key")
        return dict(reply)

    def act(self, action: str, **fields: Any) -> dict[str, Any]:
        """Requests an action of the sandbox. Raises CannotReplay if it is refused."""
        reply = self.send("sandbox", {"action": action, **fields})
        if reply.get("status") != 200:
            raise CannotReplay(f"{self.url} refused {action}: {reply.get('message')}")
        return reply
