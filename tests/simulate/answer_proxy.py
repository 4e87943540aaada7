"""A proxy in front of PostgreSQL that loses the answer to one message and keeps the connection open.

It reads the protocol in both directions. When a client of a role (its application_name) sends a message of a kind, the
message is forwarded, and from the first message on that answers it the server's words are dropped: the client is left
with a connection that is open and silent, as behind a middlebox that forgot it. Other connections are not touched.

    Parse      the statement is prepared, ParseComplete is lost
    Execute    the statement has run, its rows and its completion are lost
    Sync       all was answered except ReadyForQuery: the transaction has ended, and nobody says so
"""

import asyncio
import contextlib
import struct
import threading
from collections import Counter

from tests.simulate.faulty_proxy import FaultyProxy

SSL_REQUEST, CANCEL_REQUEST, GSS_REQUEST = 80877103, 80877102, 80877104
KINDS = {
    b"Q": "Query",
    b"P": "Parse",
    b"B": "Bind",
    b"D": "Describe",
    b"E": "Execute",
    b"S": "Sync",
    b"C": "Close",
    b"H": "Flush",
    b"p": "Password",
    b"d": "CopyData",
    b"c": "CopyDone",
    b"f": "CopyFail",
    b"F": "FunctionCall",
    b"X": "Terminate",
}
# The messages by which the server answers. A kind that is not here is answered by whatever comes next.
ANSWERS = {
    "Parse": b"1",
    "Bind": b"2",
    "Close": b"3",
    "Describe": b"tTn",
    "Execute": b"DCIs",
    "Sync": b"Z",
    "CopyData": b"CZ",
    "CopyDone": b"CZ",
}
ANY_ROLE = "any"


class Line:
    """One connection through the proxy."""

    def __init__(self) -> None:
        self.role = ""
        self.is_deaf = False
        # The types of messages of which the first is lost, and all after it. None: none is lost; empty: any.
        self.losing: bytes | None = None
        self.fault: tuple[str, str] | None = None
        # The server answers a request for encryption by one byte without a length.
        self.is_byte_expected = False


class AnswerProxy(FaultyProxy):
    """`sent` counts the messages of clients by role and kind. `lost` is set once an answer was lost."""

    sslmode = "disable"

    def __init__(self, cluster, user: str = "kasuwa") -> None:  # type: ignore[no-untyped-def]
        super().__init__(cluster)
        self.sent: Counter[tuple[str, str]] = Counter()
        self.lost = threading.Event()
        self._user = user
        self._fault: tuple[str, str] | None = None

    @property
    def dsn(self) -> str:
        return f"postgresql://{self._user}@127.0.0.1:{self._port}/kasuwa?sslmode={self.sslmode}"

    def lose_answer(self, role: str, kind: str) -> None:
        """Loses the answer to the next message of this kind that a connection of this role sends."""
        self.lost.clear()
        self._fault = (role, kind)

    def _note(self, line: Line, kind: str) -> None:
        self.sent[line.role, kind] += 1
        if self._fault in ((line.role, kind), (ANY_ROLE, kind)):
            line.fault, self._fault = self._fault, None
            line.losing = ANSWERS.get(kind, b"")
            if kind == "Terminate":  # has no answer; the server's end of the connection is not told
                line.is_deaf = True
                self.lost.set()

    async def _let_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._state == "refusing":
            writer.transport.abort()
            return
        answers, requests = await self._connect()
        self._open |= {writer, requests}
        line = Line()
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await asyncio.gather(self._send(line, reader, requests), self._return(line, answers, writer))
        finally:
            if line.losing is not None and not line.is_deaf:
                self._fault = line.fault  # the connection ended before the answer came: lose that of another
            self._open -= {writer, requests}
            requests.close()
            writer.close()

    async def _send(self, line: Line, reader: asyncio.StreamReader, requests: asyncio.StreamWriter) -> None:
        """Forwards what the client says."""
        try:
            await self._begin(line, reader, requests)
            while True:
                head = await reader.readexactly(5)
                body = await reader.readexactly(struct.unpack("!I", head[1:])[0] - 4)
                self._note(line, KINDS[head[:1]])
                requests.write(head + body)
        finally:
            requests.transport.abort()

    async def _begin(self, line: Line, reader: asyncio.StreamReader, requests: asyncio.StreamWriter) -> None:
        """Forwards the messages up to the one that names the session."""
        while True:
            size = await reader.readexactly(4)
            body = await reader.readexactly(struct.unpack("!I", size)[0] - 4)
            [code] = struct.unpack("!I", body[:4])
            if code in (SSL_REQUEST, GSS_REQUEST):
                line.is_byte_expected = True
                self._note(line, "SSLRequest")
            elif code != CANCEL_REQUEST:
                words = [word.decode() for word in body[4:].rstrip(b"\0").split(b"\0")]
                line.role = dict(zip(words[::2], words[1::2], strict=True)).get("application_name", "")
                self._note(line, "Startup")
            requests.write(size + body)
            if code not in (SSL_REQUEST, GSS_REQUEST):
                return

    async def _return(self, line: Line, answers: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forwards what the server says, as long as the line is not deaf. Also that it has ended, unless it is."""
        while not (line.is_deaf and answers.at_eof()):
            if line.is_byte_expected:
                head, body, line.is_byte_expected = await answers.readexactly(1), b"", False
            else:
                head = await answers.readexactly(5)
                body = await answers.readexactly(struct.unpack("!I", head[1:])[0] - 4)
            if line.losing is not None and (not line.losing or head[:1] in line.losing):
                line.is_deaf = True
                self.lost.set()
            if line.is_deaf:
                await answers.read()
            else:
                writer.write(head + body)
