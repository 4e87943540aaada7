"""A rail for bank transfers, with the standard library alone: a beginning for one of your own (docs/rail-protocol.md).

It pays from a pretended balance and keeps its orders in a file: python example_rail.py --secret-file secret
"""

import argparse
import hmac
import json
import re
import sqlite3
import threading
import time
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

Fields = dict[str, Any]
LARGEST_AMOUNT, BALANCE, WINDOW_SECONDS = 2**53 - 1, 2**52, 300
PAYS, FAILS, STAYS_OPEN, UNKNOWN = "0123456785", "0123400002", "0123400001", "0123400009"
ABOUT: Fields = {"name": "Example rail", "protocol": 1}
DEFAULTS: Fields = {"port": 9100, "data": "rail.db", "key-id": "key-1", "callback": ""}
DEFAULTS |= {"open-seconds": 1.0, "environment": "test"}
SAMPLES = {"bank_code": "000013", "account_number": PAYS, "failing_account_number": FAILS}
SAMPLES |= {"open_account_number": STAYS_OPEN, "unknown_account_number": UNKNOWN}
SIGNATURE = re.compile(r"t=([0-9]{1,12}),k=([A-Za-z0-9._-]{1,64}),v1=([0-9a-f]{64})")
INSERT = "insert or replace into entry values (?, ?, ?, ?, ?)"


class Refused(Exception):
    """Raised with an HTTP status, a word and a sentence. Nothing was done."""


def sign(secret: bytes, moment: int, first: str, second: str, body: bytes) -> str:
    return hmac.new(secret, f"{moment}\n{first}\n{second}\n".encode() + body, "sha256").hexdigest()


class Rail:
    """The orders. `secrets` are by key id, and the first of them signs call-backs."""

    samples: ClassVar[dict[str, Fields]] = {"transfers": SAMPLES}
    spending: ClassVar[tuple[str, ...]] = ("transfers",)  # orders that are paid from the balance

    def __init__(self, data: str, secrets: dict[str, bytes], callback: str, open_seconds: float) -> None:
        self.secrets, self.callback, self.open_seconds = secrets, callback, open_seconds
        self.lock = threading.RLock()
        self.db = sqlite3.connect(data, check_same_thread=False, isolation_level=None)
        self.db.execute("create table if not exists entry (kind, key, content, answer, spent, primary key (kind, key))")
        self.orders: dict[str, Callable[[Fields], Fields]] = {"transfers": self.transfer}
        self.lookups: dict[str, Callable[[Fields], Fields]] = {
            "about": lambda _: ABOUT | {"serves": list(self.samples), "samples": self.samples},
            "balance": lambda _: {"balances": {"NGN": self.balance()}},
            "names": lambda asked: {} if asked["account_number"] == UNKNOWN else {"name": "ADA OBI"},
        }

    def balance(self) -> int:
        return int(BALANCE - (self.db.execute("select sum(spent) from entry").fetchone()[0] or 0))

    def find(self, kind: str, key: str) -> tuple[str, Fields] | None:
        row = self.db.execute("select content, answer from entry where kind = ? and key = ?", (kind, key)).fetchone()
        if row is None:
            return None
        answer = json.loads(row[1])
        before = answer.pop("before", {"outcome": "processing"})
        return row[0], answer | (before if answer.pop("open_until", 0) > time.time() else {})

    def query(self, kind: str, key: str) -> Fields:
        found = self.find(kind, key)
        return found[1] if found else {"outcome": "not_found", "key": key}

    def order(self, kind: str, request: Fields) -> Fields:
        """Does an order once: it is recorded before it is answered, and repeats are answered from the record."""
        content = json.dumps(request, sort_keys=True)
        with self.lock:
            if found := self.find(kind, request["key"]):
                if found[0] != content:
                    raise Refused(409, "key_reused", "this key belongs to another order")
                return found[1]
            answer = {"outcome": "successful", "rail_reference": f"R-{kind}-{request['key']}"}
            answer |= {name: request[name] for name in ("key", "amount", "currency") if name in request}
            answer |= self.orders[kind](request)
            spent = request["amount"] if kind in self.spending and answer["outcome"] != "failed" else 0
            if spent > self.balance():
                raise Refused(402, "insufficient_balance", "your balance does not cover it")
            self.record(kind, request["key"], content, answer, spent)
            return self.query(kind, request["key"])

    def record(self, kind: str, key: str, content: str, answer: Fields, spent: int) -> None:
        self.db.execute(INSERT, (kind, key, content, json.dumps(answer), spent))

    def transfer(self, request: Fields) -> Fields:
        bank, account, currency = (request[name] for name in ("bank_code", "account_number", "currency"))
        if not bank or account in (FAILS, UNKNOWN) or currency != "NGN":
            return {"outcome": "failed", "code": "07", "message": "There is no such account"}
        if account == STAYS_OPEN:
            threading.Timer(self.open_seconds, self.call_back, [request["key"]]).start()
            return {"open_until": time.time() + self.open_seconds}
        return {"code": "00"}

    def call_back(self, key: str, event: str = "order", reference: str = "") -> None:
        if self.callback:
            fields, moment = {"event": event, "key": key, "rail_reference": reference}, int(time.time())
            body = json.dumps(fields).encode()
            key_id, secret = next(iter(self.secrets.items()))
            header = f"t={moment},k={key_id},v1={sign(secret, moment, 'POST', '/rails/remote', body)}"
            request = urllib.request.Request(self.callback, body, {"Kasuwa-Signature": header})
            urllib.request.urlopen(request, timeout=10).close()

    def answer(self, path: str, request: Fields) -> Fields:
        amount = request.get("amount", 1)
        if type(amount) is not int or not 1 <= amount <= LARGEST_AMOUNT:
            raise Refused(400, "invalid_request", "amount: a whole number of minor units, above zero")
        if path in self.orders:
            return self.order(path, request)
        if path.removesuffix("/query") in self.orders:
            return self.query(path.removesuffix("/query"), request["key"])
        if path not in self.lookups:
            raise Refused(404, "no_such_path", f"there is no {path}")
        found = self.lookups[path](request)
        return {"outcome": "found" if found else "not_found"} | found


class Handler(BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", -1
    rail: Rail

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        key_id, digest = next(iter(self.rail.secrets)), ""
        try:
            key_id, digest = self.check(body)
            status, answer = 200, self.rail.answer(self.path.removeprefix("/v1/"), read_object(body))
        except Refused as refusal:
            status, answer = refusal.args[0], {"error": refusal.args[1], "message": refusal.args[2]}
        except KeyError as missing:
            status, answer = 400, {"error": "invalid_request", "message": f"{missing} is missing"}
        reply, moment = json.dumps(answer).encode(), int(time.time())
        signature = sign(self.rail.secrets[key_id], moment, str(status), digest, reply)
        self.send_response(status)
        self.send_header("Kasuwa-Signature", f"t={moment},k={key_id},v1={signature}")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def check(self, body: bytes) -> tuple[str, str]:
        """Returns the key id and the digest of a request whose signature is right."""
        given = SIGNATURE.fullmatch(self.headers.get("Kasuwa-Signature", ""))
        if given is None or given[2] not in self.rail.secrets:
            raise Refused(401, "unauthorized", "there is no signature with a known key")
        expected = sign(self.rail.secrets[given[2]], int(given[1]), "POST", self.path, body)
        if not hmac.compare_digest(expected, given[3]) or abs(time.time() - int(given[1])) > WINDOW_SECONDS:
            raise Refused(401, "unauthorized", "the signature is wrong or too old")
        return given[2], given[3]

    def log_message(self, *_: object) -> None:
        pass  # the requests hold account numbers


def read_object(body: bytes) -> Fields:
    try:
        return dict(json.loads(body).items())
    except (ValueError, AttributeError):
        raise Refused(400, "invalid_request", "the body is not a JSON object") from None


def serve(kind: type[Rail]) -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--secret-file", required=True)
    for name, default in DEFAULTS.items():
        options.add_argument(f"--{name}", type=type(default), default=default)
    given = options.parse_args()
    ABOUT["environment"] = given.environment
    secrets = {given.key_id: Path(given.secret_file).read_bytes().strip()}
    Handler.rail = kind(given.data, secrets, given.callback, given.open_seconds)
    ThreadingHTTPServer(("127.0.0.1", given.port), Handler).serve_forever()


if __name__ == "__main__":
    serve(Rail)
