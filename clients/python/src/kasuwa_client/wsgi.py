"""A WSGI application that receives events: for WSGI servers and frameworks, and to run by itself during development."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol
from wsgiref.simple_server import WSGIRequestHandler, make_server

from kasuwa_client.errors import InvalidSignature
from kasuwa_client.events import Event

LOGGER = logging.getLogger("kasuwa_client")
MAX_BODY_BYTES = 1_048_576
# A connection that sends nothing for so long is closed, so that it does not keep others waiting.
IDLE_SECONDS = 10.0


class Verifier(Protocol):
    """Verifies deliveries: a client, or anything that has its method verify_event."""

    def verify_event(self, raw_body: bytes | str, headers: Mapping[str, str]) -> Event: ...


class Answer(NamedTuple):
    status: str
    text: str


class EventApp:
    """A WSGI application that verifies deliveries and passes their events to a function.

    client: verifies deliveries by the merchant's key.
    receive: called with each event. The text that it returns, if any, is the answer. If it raises an exception, the
        answer is HTTP 500 and the service sends the event again later. The same event may arrive several times.
    path: where events are received.
    routes: functions of further paths. They get the body of a POST request as text and return the text of the answer.
    log: called with a line about each request and its answer.
    """

    def __init__(
        self,
        client: Verifier,
        receive: Callable[[Event], object],
        *,
        path: str = "/events",
        routes: Mapping[str, Callable[[str], object]] | None = None,
        log: Callable[[str], object] | None = None,
    ) -> None:
        self._client = client
        self._receive = receive
        self._path = path
        self._routes = dict(routes or {})
        self._log = log

    def handle(self, body: bytes, headers: Mapping[str, str]) -> str:
        """Verifies a delivery, passes its event on and returns the text of the answer. Raises InvalidSignature. For
        servers that are not WSGI, and for tests."""
        return as_text(self._receive(self._client.verify_event(body, headers)))

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        answer = self._answer(environ)
        if self._log is not None:
            code = answer.status.partition(" ")[0]
            self._log(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}: {code} {answer.text}".rstrip())
        content = f"{answer.text}\n".encode() if answer.text else b""
        headers = [("content-type", "text/plain; charset=utf-8"), ("content-length", str(len(content)))]
        start_response(answer.status, headers)
        return [content]

    def serve(self, port: int, host: str = "127.0.0.1") -> None:
        """Serves one request at a time until it is interrupted, and prints a line about each. For development: use a
        WSGI server in production."""
        self._log = self._log or print_line
        with make_server(host, port, self, handler_class=QuietHandler) as server:
            self._log(f"receiving events on http://{host}:{server.server_port}{self._path}")
            server.serve_forever()

    def _answer(self, environ: dict[str, Any]) -> Answer:
        path = environ["PATH_INFO"]
        if path != self._path and path not in self._routes:
            return Answer("404 Not Found", "there is nothing at this path")
        if environ["REQUEST_METHOD"] != "POST":
            return Answer("405 Method Not Allowed", "use POST")
        length = environ.get("CONTENT_LENGTH") or ""
        if not (length.isascii() and length.isdigit()):
            return Answer("411 Length Required", "the request has no content-length")
        if int(length) > MAX_BODY_BYTES:
            return Answer("413 Content Too Large", f"a body may have {MAX_BODY_BYTES} bytes")
        body: bytes = environ["wsgi.input"].read(int(length))
        try:
            if path == self._path:
                return Answer("200 OK", self.handle(body, headers_of(environ)))
            return Answer("200 OK", as_text(self._routes[path](body.decode())))
        except InvalidSignature as error:
            return Answer("400 Bad Request", f"rejected: {error}")
        except UnicodeDecodeError:
            return Answer("400 Bad Request", "the body is not UTF-8")
        except Exception:
            LOGGER.exception("POST %s failed", path)
            return Answer("500 Internal Server Error", "failed")


def headers_of(environ: Mapping[str, Any]) -> dict[str, str]:
    """Returns the headers of a WSGI request, with their names in lower case."""
    return {
        name[len("HTTP_") :].replace("_", "-").lower(): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }


def as_text(result: object) -> str:
    return "" if result is None else str(result)


def print_line(line: str) -> None:
    print(line, flush=True)


class QuietHandler(WSGIRequestHandler):
    """Writes no lines of its own: the application does."""

    timeout = IDLE_SECONDS

    def log_message(self, format: str, *args: Any) -> None:
        LOGGER.debug(format, *args)
