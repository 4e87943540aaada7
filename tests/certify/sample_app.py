"""A shop that integrates the service well, or with one flaw: what `kasuwa certify` must find.

It speaks HTTP by hand, so that each flaw is one line. `python -m tests.certify.sample_app FLAW` runs it by itself.
"""

import base64
import contextlib
import hmac
import http.client
import json
import os
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

Json = dict[str, Any]
PRICE = "1500.00"
OLD_SECONDS = 300


class Lost(Exception):
    """The service did not reply."""


class Rejected(Exception):
    """A delivery is not answered with 200. Its argument is the HTTP status."""


@dataclass
class Shop:
    """The application. `flaw` is what it does wrong, if anything."""

    url: str
    mid: str
    key: str
    secrets: tuple[str, ...]
    flaw: str = ""
    timeout: float = 2.0
    lock: Any = field(default_factory=threading.RLock)
    orders: dict[str, int] = field(default_factory=dict)  # how often each was fulfilled
    seen: set[str] = field(default_factory=set)
    newest: dict[str, int] = field(default_factory=dict)
    answering: int = 0
    is_dead: bool = False

    # --- calls of the service ---------------------------------------------------------------------------------------

    def put(self, path: str, request: Json, idempotency_key: str = "") -> tuple[int, Mapping[str, str], Json]:
        address = urlsplit(self.url)
        timeout = None if self.flaw == "waits for ever" else self.timeout
        connection = http.client.HTTPConnection(address.netloc, timeout=timeout)
        headers = {"mid": self.mid, "key": self.key, "content-type": "application/json"}
        if idempotency_key:
            headers["idempotency-key"] = idempotency_key
        query = f"?key={self.key}" if self.flaw == "key in the address" else ""
        try:
            connection.request("PUT", f"/{path}{query}", json.dumps(request).encode(), headers)
            reply = connection.getresponse()
            return reply.status, {name.lower(): value for name, value in reply.getheaders()}, json.load(reply)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Lost from error
        finally:
            connection.close()

    def write(self, path: str, request: Json, reference_field: str = "") -> Json:
        """Sends what moves money until there is a reply, with one reference."""
        reference = uuid.uuid4().hex
        for _ in range(4):
            if self.flaw == "new reference":
                reference = uuid.uuid4().hex
            named = self.flaw != "no reference" and not reference_field
            body = {**request, reference_field: reference} if reference_field else request
            try:
                http_status, headers, reply = self.put(path, body, reference if named else "")
            except Lost:
                continue
            if http_status == 429:
                time.sleep(0 if self.flaw == "impatient" else float(headers["retry-after"]))
                continue
            if self.flaw == "repeats refusals" and reply["status"] not in (200, 202):
                continue
            return reply
        return {"status": 0}

    def place(self) -> str:
        amount: Any = float(PRICE) if self.flaw == "floats" else PRICE
        if self.flaw == "invalid requests":
            self.put("payment", {"action": "charge", "paymentType": "bank_transfer", "amount": "a lot"})
        reply = self.write("payment", {"action": "charge", "paymentType": "bank_transfer", "amount": amount})
        if self.flaw == "strict replies" and "aFieldOfTomorrow" in reply:
            raise ValueError("an unknown field")
        with self.lock:
            self.orders[str(reply["txnRef"])] = int(self.flaw == "hands over at once")
        return str(reply["txnRef"])

    def pay_out(self) -> str:
        request = {"action": "transfer", "amount": PRICE, "bankcode": "058", "accountnumber": "0000000000"}
        reply = self.write("disburse", request, "orderRef")
        if self.flaw == "pays again" and reply.get("txnStatus") in ("processing", "pending"):
            reply = self.write("disburse", request, "orderRef")
        return str(reply.get("txnRef"))

    # --- events -----------------------------------------------------------------------------------------------------

    def verify(self, body: bytes, headers: Mapping[str, str]) -> None:
        signatures = headers.get("webhook-signature", "").split()
        if not signatures and self.flaw == "takes unsigned":
            return
        if self.flaw == "takes anything":
            return
        if self.flaw == "first signature only":
            signatures = signatures[:1]
        stamp = headers.get("webhook-timestamp", "0")
        signed = f"{headers.get('webhook-id')}.{stamp}.".encode() + body
        valid = {"v1," + base64.b64encode(hmac.digest(one.encode(), signed, sha256)).decode() for one in self.secrets}
        if not valid & set(signatures):
            raise Rejected(400)
        if abs(time.time() - int(stamp)) > OLD_SECONDS and self.flaw != "takes old ones":
            raise Rejected(400)

    def receive(self, body: bytes, headers: Mapping[str, str]) -> None:
        if self.flaw == "dies of garbage" and (self.is_dead or not body.startswith(b"{")):
            self.is_dead = True
            raise Rejected(500)
        try:
            self.verify(body, headers)
        except Rejected:
            if self.flaw == "forgets to stop":
                self.act_on(json.loads(body))
            raise
        try:
            event = json.loads(body)
        except ValueError:
            raise Rejected(400) from None
        self.refuse_by_flaw(event, headers)
        self.act_on(event)

    def refuse_by_flaw(self, event: Json, headers: Mapping[str, str]) -> None:
        """Raises Rejected for what this flaw does not bear."""
        number, thing = int(headers.get("webhook-sequence", "1")), headers.get("webhook-object", "")
        with self.lock:
            is_older = number < self.newest.get(thing, 0)
            self.newest[thing] = max(number, self.newest.get(thing, 0))
            is_known = headers.get("webhook-id", "") in self.seen
            self.seen.add(headers.get("webhook-id", ""))
        today = time.strftime("%Y%m%d", time.gmtime())
        refused = {
            "refuses all": True,
            "refuses repeats": is_known,
            "refuses older": is_older,
            "refuses late": event["txnRef"].startswith("GP") and today not in event["txnRef"],
            "refuses unknown kinds": event["kind"] not in ("payment", "refund", "dispute", "transfer"),
            "refuses unknown fields": "aFieldOfTomorrow" in event,
            "refuses failures": event["txnStatus"] == "failed",
            "refuses refunds": event["kind"] == "refund",
            "refuses disputes": event["kind"] == "dispute",
            "refuses large bodies": len(json.dumps(event)) > 16_384,
        }
        if refused.get(self.flaw):
            raise Rejected(500)
        if self.flaw == "answers late":
            time.sleep(2)

    def act_on(self, event: Json) -> None:
        reference = event.get("refundOf") or event["txnRef"]
        is_paid = event["txnStatus"] == "successful" and event["kind"] == "payment"
        if self.flaw == "reads status only":
            is_paid = event["status"] == 200
        if self.flaw == "takes refunds for payments":
            is_paid = event["txnStatus"] == "successful"
        if self.flaw == "takes pending":
            is_paid = is_paid or event["txnStatus"] == "pending"
        if reference not in self.orders or not is_paid or self.flaw == "never fulfills":
            return
        trusting = ("trusts events", "takes pending", "reads status only", "forgets to stop")
        if self.flaw not in trusting and not self.is_paid(reference):
            return
        repeats = ("fulfills repeats", "takes refunds for payments")
        if self.flaw == "races":
            is_first = self.orders[reference] == 0
            time.sleep(0.2)
            self.orders[reference] += is_first
            return
        with self.lock:
            if self.flaw in repeats or self.orders[reference] == 0:
                self.orders[reference] += 1

    def is_paid(self, reference: str) -> bool:
        for _ in range(12 if self.flaw == "polls fast" else 1):
            _, _, state = self.put("payment", {"action": "verify", "txnRef": reference})
        if self.flaw == "ignores amounts":
            return state.get("txnStatus") == "successful"
        return state.get("txnStatus") == "successful" and float(state["chargedAmount"]) >= float(PRICE)


class ShopHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    shop: Shop

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        flaw = self.shop.flaw
        body = self.rfile.read1(length) if flaw == "reads once" else self.rfile.read(length)
        headers = {name.lower(): value for name, value in self.headers.items()}
        if flaw == "wants small header names":
            headers = dict(self.headers.items())
        text, status = "", 200
        with self.shop.lock:
            self.shop.answering += 1
        try:
            if flaw == "refuses two at once":
                self.refuse_two_at_once()
            if self.path == "/events":
                self.shop.receive(body, headers)
            elif self.path == "/orders":
                text = self.shop.place()
            else:
                text = self.shop.pay_out()
        except Rejected as rejected:
            status = rejected.args[0]
        except Exception:
            status = 500
        with self.shop.lock:
            self.shop.answering -= 1
        self.answer(status, text)

    def refuse_two_at_once(self) -> None:
        time.sleep(0.3)
        if self.shop.answering > 1:
            raise Rejected(409)

    def do_GET(self) -> None:
        reference = unquote(self.path.rpartition("/")[2])
        times = self.shop.orders.get(reference)
        self.answer(404 if times is None else 200, json.dumps({"fulfilled": times}))

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # whoever asked waits no longer
            self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing."""


class ShopServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False


@contextlib.contextmanager
def serving(shop: Shop, port: int = 0) -> Iterator[str]:
    """Serves a shop in threads of this process. Yields its address."""
    server = ShopServer(("127.0.0.1", port), type("Handler", (ShopHandler,), {"shop": shop}))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def main() -> None:
    environ = os.environ
    key = environ["KASUWA_KEY"]
    shop = Shop(environ["KASUWA_URL"], environ["KASUWA_MID"], key, (key,), " ".join(sys.argv[2:]))
    with serving(shop, int(sys.argv[1])), contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()


if __name__ == "__main__":
    main()
