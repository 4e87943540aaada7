"""Calls a rail as the conformance kit does: rightly signed, wrongly signed, and with the connection cut.

Faults that concern every answer (a signature, a form) are collected, so that they are reported once.
"""

import asyncio
import ssl
import time
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec

from kasuwa.rails.remote.messages import Refusal
from kasuwa.rails.remote.signing import HEADER, RemoteSecret, Signature, SignatureRefused, check_signature, sign

# How long an answer is waited for.
CALL_SECONDS = 10.0
# A rail is called within the ten seconds that a merchant's request may wait.
SLOW_SECONDS = 9.0
MOST_BYTES = 4 * 1024 * 1024


class Fault(Exception):
    """A sentence that says what the rail does wrong."""


class TooLate(Fault):
    """The rail did not answer in time."""


class RailReply(msgspec.Struct, frozen=True):
    """An answer of the rail. `fields` is empty if the body is not a JSON object."""

    status: int
    fields: dict[str, Any]

    @property
    def outcome(self) -> str:
        return str(self.fields.get("outcome", ""))

    def __str__(self) -> str:
        if self.fields.get("error"):
            return f"HTTP {self.status} {self.fields['error']!r}"
        return f"HTTP {self.status} {self.outcome!r}" if self.outcome else f"HTTP {self.status}"


class Call(msgspec.Struct, frozen=True):
    """A signed request, ready to be sent."""

    path: str
    body: bytes
    signature: Signature | None


class RailClient:
    """The kit's client. `faults` has a sentence for each fault that every answer may have, by its kind."""

    def __init__(self, base_url: str, secret: RemoteSecret, seconds: float = CALL_SECONDS) -> None:
        self._seconds = seconds
        self._base_url = base_url.rstrip("/")
        self._secret = secret
        self._session: aiohttp.ClientSession | None = None
        self.faults: dict[str, str] = {}
        self.calls = 0

    async def __aenter__(self) -> "RailClient":
        timeout = aiohttp.ClientTimeout(total=self._seconds)
        self._session = aiohttp.ClientSession(timeout=timeout, auto_decompress=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    def prepare(
        self, path: str, request: Any, *, secret: RemoteSecret | None = None, age: int = 0, signed_path: str = ""
    ) -> Call:
        """Returns a request, signed with `secret`, `age` seconds ago, for `signed_path`: rightly by default."""
        body = request if isinstance(request, bytes) else msgspec.json.encode(request)
        signed = f"/v1{signed_path or path}"
        return Call(path, body, sign(secret or self._secret, int(time.time()) - age, "POST", signed, body))

    async def call(self, path: str, request: Any) -> RailReply:
        """Sends a request with the right signature. Raises Fault if there is no answer."""
        return await self.send(self.prepare(path, request))

    async def send(self, call: Call) -> RailReply:
        assert self._session is not None
        self.calls += 1
        headers = {"Content-Type": "application/json"}
        if call.signature is not None:
            headers[HEADER] = str(call.signature)
        began = time.monotonic()
        url = f"{self._base_url}/v1{call.path}"
        try:
            async with self._session.post(url, data=call.body, headers=headers, allow_redirects=False) as response:
                body = await response.content.read(MOST_BYTES)
        except TimeoutError:
            late = f"{call.path} answers too late: there was no answer within {self._seconds:.0f} seconds."
            self._note("slow", late)
            raise TooLate(late) from None
        except (aiohttp.ClientError, OSError) as error:
            raise Fault(f"{call.path} was not answered: {describe(error)}.") from None
        if time.monotonic() - began > SLOW_SECONDS:
            self._note("slow", f"{call.path} answers too late: it took longer than {SLOW_SECONDS:.0f} seconds.")
        self._check_answer(call, response.status, response.headers.get(HEADER), body)
        reply = RailReply(response.status, read_fields(body))
        if 400 <= reply.status <= 499:
            self.note_form(f"{call.path} (HTTP {reply.status})", reply, Refusal)
        return reply

    async def send_and_cut(self, call: Call) -> None:
        """Sends a request and closes the connection without reading the answer."""
        self.calls += 1
        parts = urlsplit(self._base_url)
        is_tls = parts.scheme == "https"
        port = parts.port or (443 if is_tls else 80)
        context = ssl.create_default_context() if is_tls else None
        try:
            async with asyncio.timeout(self._seconds):
                _, writer = await asyncio.open_connection(parts.hostname, port, ssl=context)
                head = (
                    f"POST {parts.path}/v1{call.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
                    f"{HEADER}: {call.signature}\r\n"
                    f"Content-Type: application/json\r\nContent-Length: {len(call.body)}\r\n\r\n"
                )
                writer.write(head.encode() + call.body)
                await writer.drain()
                writer.close()
        except (OSError, TimeoutError) as error:
            raise Fault(f"no connection could be made: {describe(error)}.") from None

    def _check_answer(self, call: Call, status: int, header: str | None, body: bytes) -> None:
        """Notes an answer without a right signature. A rail need not sign HTTP 401, 429 and from 500."""
        if call.signature is None or status in (401, 429) or status >= 500:
            return
        secrets = {self._secret.key_id: self._secret}
        try:
            check_signature(header, secrets, time.time(), str(status), call.signature.digest, body)
        except SignatureRefused as error:
            self._note("signature", f"The answer to {call.path} (HTTP {status}) is not signed rightly: {error}.")

    def _note(self, kind: str, sentence: str) -> None:
        self.faults.setdefault(kind, sentence)

    def note_form(self, path: str, reply: RailReply, form: type[Any]) -> None:
        """Notes an answer that has another form than the protocol says."""
        try:
            msgspec.convert(reply.fields, form)
        except msgspec.ValidationError as error:
            self._note("form", f"The answer to {path} has another form than the protocol says: {error}.")


def read_fields(body: bytes) -> dict[str, Any]:
    try:
        fields = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def describe(error: BaseException) -> str:
    return "there was no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
