"""A Checkout in memory, and an HTTP server for its pages and for a merchant's own pages."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

from kasuwa.engine.progress import RequestProgress
from kasuwa.pages.checkout_view import CheckoutView
from kasuwa.pages.router import CheckoutPages
from kasuwa.transactions.qr_payload import QrPayment, write_payload

TOKEN = "a1B2c3D4e5F6g7H8i9J0kL"
ADDRESS = f"/pay/{TOKEN}"
RIGHT_CODE = "123456"
REFERENCE = "GP12345678920260105K"


def make_view(kind: str = "challenge", **facts: Any) -> CheckoutView:
    shown: dict[str, Any] = {
        "reference": REFERENCE,
        "status": "pending",
        "is_awaiting_payer": True,
        "merchant_name": "Ada Stores",
        "amount": 150_000,
        "currency": "NGN",
        "expires_at": datetime(2026, 1, 5, 9, 40, tzinfo=UTC),
        "is_test": True,
        "result_json": b'{"status":200,"txnRef":"GP12345678920260105K","txnStatus":"pending"}',
    }
    if kind == "challenge":
        shown |= {"card_mask": "411111******1111"}
    elif kind == "handoff":
        shown |= {"provider": "Paga"}
    elif kind == "qr":
        shown |= {"qr_payload": write_payload(QrPayment("GP0000001", REFERENCE, 150_000, "NGN", "Ada Stores"))}
    else:
        shown |= {"account_number": "0123456789", "account_name": "Ada Stores", "bank_name": "Wema Bank"}
    return CheckoutView(page_kind=kind, **(shown | facts))


class InMemoryCheckout:
    """One bill. The right code approves it; it notes what it was told."""

    def __init__(self, bill: CheckoutView) -> None:
        self.view = bill
        self.answers: list[str | None] = []

    async def find(self, token: str) -> CheckoutView | None:
        return self.view if token == TOKEN else None

    async def submit_answer(self, token: str, otp: str | None, progress: RequestProgress) -> CheckoutView | str:
        self.answers.append(otp)
        if otp not in (None, "", RIGHT_CODE):
            return "The code is not right. 2 tries are left"
        self.end("failed" if otp is None else "successful")
        return self.view

    def end(self, status: str) -> None:
        result = msgspec.json.encode({"status": 200, "txnRef": self.view.reference, "txnStatus": status})
        self.view = msgspec.structs.replace(self.view, status=status, is_awaiting_payer=False, result_json=result)


class PageServer(ThreadingHTTPServer):
    """`seen` are the addresses that were asked of it."""

    daemon_threads = True
    checkout_pages: CheckoutPages | None = None
    pages: dict[str, str]
    requested_paths: list[str]

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class PageRequestHandler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        self.server.requested_paths.append(self.path)
        if self.server.checkout_pages is None:
            body = self.server.pages.get(self.path.partition("?")[0], "").encode()
            self.reply(200, (("content-type", "text/html; charset=utf-8"),), body)
        else:
            self.show("GET", b"")

    def do_POST(self) -> None:
        self.show("POST", self.rfile.read(int(self.headers["content-length"])))

    def show(self, verb: str, form: bytes) -> None:
        assert self.server.checkout_pages is not None
        page = asyncio.run(self.server.checkout_pages.serve(verb, self.path, form))
        self.reply(page.http, page.headers, page.body)

    def reply(self, http: int, headers: tuple[tuple[str, str], ...], body: bytes) -> None:
        self.send_response(http)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: Any) -> None:
        pass


@contextlib.contextmanager
def running_page_server(
    checkout: InMemoryCheckout | None = None, pages: dict[str, str] | None = None
) -> Iterator[PageServer]:
    server = PageServer(("127.0.0.1", 0), PageRequestHandler)
    server.checkout_pages, server.pages, server.requested_paths = (
        (None if checkout is None else CheckoutPages(checkout)),
        pages or {},
        [],
    )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
