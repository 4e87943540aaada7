"""The server that an assistant works with, and the merchants whose keys this process holds.

The keys stay here. Everything that a request answers is passed on as the request log has it: without keys, tokens,
card numbers and links that let somebody in.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kasuwa.integration.application import AppAnswer, send
from kasuwa.sandbox.request_bodies import mask_body
from kasuwa.wire.masking import HIDDEN

ANSWER_SECONDS = 30.0
# Of one request: it may move business time by weeks.
ADVANCE_SECONDS = 120.0
# Longer answers would fill what an assistant can read.
MOST_ANSWER_BYTES = 256 * 1024
# The only scope that a key may have where money is real.
READ_ONLY = ["read"]


class AssistantError(Exception):
    """A tool, or the command, cannot do what is asked. The text says why."""


class Readiness(msgspec.Struct):
    """A server's word about itself. A live one does not name its environment."""

    environment: str = "live"


class KeyFacts(msgspec.Struct):
    """A server's word about a key."""

    scopes: list[str]
    is_this: bool


class Keys(msgspec.Struct):
    data: list[KeyFacts]


class Credentials(msgspec.Struct):
    mid: str
    key: str


class Connection:
    """A running server. `is_test` says whether it is of the test environment."""

    def __init__(self, url: str, mid: str, key: str, keys_file: Path | None = None) -> None:
        self.url = url.rstrip("/")
        self.main_mid = mid
        self.is_test = False
        self._keys = {mid: key}
        self._keys_file = keys_file

    @property
    def mids(self) -> list[str]:
        """The merchants whose keys are held."""
        return list(self._keys)

    def check(self) -> None:
        """Asks the server for its environment and for the rights of the key. Raises AssistantError if nobody may work
        with it here: in live a key must have the scope `read` and no other."""
        self.is_test = self._read_environment() == "test"
        answer = self._put("resources", {"inquire": "keys"}, self.main_mid)
        if self.is_test and answer.http_status != 401:
            return
        scopes = read_own_scopes(answer.text)
        if scopes is None:
            raise AssistantError(f"{self.url} does not say what the key of {self.main_mid} may do: {self._why(answer)}")
        if scopes != READ_ONLY:
            raise AssistantError(
                f"{self.url} is live: only a key of scope read can be used, and this one has {', '.join(scopes)}"
            )

    def confirm(self) -> None:
        """Raises AssistantError if another environment than at the start is behind the address by now."""
        if self._read_environment() != ("test" if self.is_test else "live"):
            raise AssistantError(f"{self.url} is another environment than when this began: start again")

    def request(
        self,
        path: str,
        body: Mapping[str, Any],
        mid: str | None = None,
        headers: Mapping[str, str] = {},
        seconds: float = ANSWER_SECONDS,
    ) -> str:
        """Sends a request as a merchant whose key is held, and returns the reply without secrets. The key of a merchant
        that the reply has is held from then on. Raises AssistantError if nothing was answered."""
        self.confirm()
        answer = self._put(path, body, mid or self.main_mid, headers, seconds)
        if answer.http_status is None:
            raise AssistantError(f"{self.url}: {self._why(answer)}")
        if len(answer.text.encode()) > MOST_ANSWER_BYTES:
            raise AssistantError(f"the answer has more than {MOST_ANSWER_BYTES:,} bytes: ask for less, such as a limit")
        self._hold_merchant(answer.text)
        return self.hide_keys(mask_body(answer.text.encode()))

    def read_document(self, path: str) -> str:
        """Returns a public document of the server. Raises AssistantError."""
        answer = send("GET", f"{self.url}{path}", b"", {}, timeout=ANSWER_SECONDS)
        if answer.http_status != 200:
            raise AssistantError(f"{self.url}{path} cannot be read: {answer}")
        return answer.text

    def hide_keys(self, text: str) -> str:
        """Returns a text without any key that is held."""
        words = "|".join(re.escape(key) for key in self._keys.values() if key)
        return re.sub(rf"(?<!\w)(?:{words})(?!\w)", HIDDEN, text) if words else text

    def find_key(self, mid: str) -> str:
        """Returns the key of a merchant. Raises AssistantError if none is held."""
        if mid not in self._keys:
            held = ", ".join(self._keys)
            raise AssistantError(f"there is no merchant {mid[:40]!r} here: make_merchant makes one; there are {held}")
        return self._keys[mid]

    def _read_environment(self) -> str:
        answer = send("GET", f"{self.url}/readyz", b"", {}, timeout=ANSWER_SECONDS)
        if answer.http_status != 200:
            raise AssistantError(f"there is no Kasuwa server ready at {self.url}: {answer}")
        try:
            return msgspec.json.decode(answer.text, type=Readiness).environment
        except msgspec.DecodeError:
            raise AssistantError(f"{self.url} is no Kasuwa server") from None

    def _put(
        self,
        path: str,
        body: Mapping[str, Any],
        mid: str,
        headers: Mapping[str, str] = {},
        seconds: float = ANSWER_SECONDS,
    ) -> AppAnswer:
        credentials = {"mid": mid, "key": self.find_key(mid), "content-type": "application/json"}
        try:
            sent = msgspec.json.encode(body)
            return send(
                "PUT",
                f"{self.url}/{path}",
                sent,
                {**headers, **credentials},
                timeout=seconds,
            )
        except RecursionError:
            raise AssistantError("the fields are nested too deeply") from None
        except ValueError:  # without its text, which may have the value
            raise AssistantError("a field, a header, the mid or the key has characters that cannot be sent") from None

    def _hold_merchant(self, text: str) -> None:
        """Keeps the key of a reply that shows one with its merchant, as `new_merchant` and `fork` do."""
        try:
            credentials = msgspec.json.decode(text, type=Credentials)
        except msgspec.DecodeError:
            return
        self._keys[credentials.mid] = credentials.key
        if self._keys_file is not None:
            write_credentials(self._keys_file, credentials)

    def _why(self, answer: AppAnswer) -> str:
        if answer.http_status is None:
            return answer.failure
        return self.hide_keys(mask_body(answer.text.encode()))[:500]


def read_own_scopes(text: str) -> list[str] | None:
    """Returns the scopes of the key that asked for the list of keys, or None if that was refused."""
    try:
        keys = msgspec.json.decode(text, type=Keys).data
    except msgspec.DecodeError:
        return None
    return next((key.scopes for key in keys if key.is_this), None)


def write_credentials(path: Path, credentials: Credentials) -> None:
    """Adds a merchant to a file that its owner alone can read. Raises AssistantError."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        with os.fdopen(file, "w") as lines:
            os.fchmod(file, 0o600)  # also one that was there
            lines.write(f"KASUWA_MID={credentials.mid} KASUWA_KEY={credentials.key}\n")
    except OSError as error:
        raise AssistantError(f"the keys cannot be written to {path}: {error.strerror}") from None


def is_loopback(url: str) -> bool:
    """Returns whether an address is one of this machine, by its spelling: no name is looked up."""
    try:
        address = urlsplit(url)
        host, has_port = address.hostname or "", address.port != 0
    except ValueError:
        return False
    is_local = host in ("localhost", "::1") or re.fullmatch(r"127\.\d{1,3}\.\d{1,3}\.\d{1,3}", host) is not None
    return address.scheme in ("http", "https") and is_local and has_port and address.username is None
