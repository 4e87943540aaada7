"""What the recipes need: a merchant that speaks to the service, tells what it does, and counts its money itself.

The standard library is all it takes. Each run opens a merchant of its own whose clock stands at a fixed moment, so that
the story is the same every time and nobody else's time is moved.
"""

import argparse
import json
import urllib.request
from typing import Any

BEGINS = "2026-01-05T09:30:00+01:00"
ANSWER_SECONDS = 60


class Surprise(Exception):
    """Something was not as the recipe says it is."""


def kobo(text: str | float) -> int:
    """Money as a whole number of kobo: "1500.25" is 150025. Money never passes through a float here."""
    whole, _, cents = str(text).partition(".")
    return int(whole) * 100 + int(cents.ljust(2, "0"))


def naira(amount: int) -> str:
    return f"{'-' if amount < 0 else ''}{abs(amount) // 100:,}.{abs(amount) % 100:02d}"


def percent(amount: int, rate: str | float) -> int:
    """Returns a percentage of an amount, rounded half up."""
    hundredths = kobo(rate)
    return (2 * amount * hundredths + 10_000) // 20_000


def read_arguments(what: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--address", default="http://127.0.0.1:8080", help="where `make serve` listens")
    parser.add_argument("--mid", default="GP0000001", help="a merchant of the test environment")
    parser.add_argument("--key", default="123456789")
    return parser.parse_args()


class Merchant:
    """`wallet` is what this script expects in the wallet: it counts every movement by itself, and `check` compares."""

    def __init__(self, address: str, mid: str, key: str) -> None:
        self.address = address
        self.mid = mid
        self.key = key
        self.steps = 0
        self.wallet = 0
        self.transactions: set[str] = set()

    # --- asking ---------------------------------------------------------------------------------------------

    def ask(self, method: str, /, **fields: Any) -> Any:
        """The reply, whatever it says."""
        headers = {"mid": self.mid, "key": self.key, "content-type": "application/json"}
        body = json.dumps(fields).encode()
        request = urllib.request.Request(f"{self.address}/{method}", body, headers, method="PUT")
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as reply:
            received = json.load(reply)
        if isinstance(received, dict) and "txnRef" in received:
            self.transactions.add(received["txnRef"])
        return received

    def put(self, method: str, status: int | str = 200, /, **fields: Any) -> Any:
        """The reply, which must have this status."""
        received = self.ask(method, **fields)
        if received["status"] != status:
            raise Surprise(f"{method} {fields} was answered {received}")
        return received

    def advance(self, until: str) -> None:
        ran = self.put("sandbox", action="advance", until=until)
        while ran.get("more"):  # one call takes no longer than a client waits
            ran = self.put("sandbox", action="advance", until=until)
        self.tell(f"  ... it is {ran['now'][:10]} now; on the way there ran {ran['ran'] or 'nothing'}")

    # --- telling --------------------------------------------------------------------------------------------

    def step(self, text: str) -> None:
        self.steps += 1
        print(f"\n{self.steps}. {text}")

    def tell(self, text: str) -> None:
        print(f"   {text}")

    def show(self, reply: Any, *names: str) -> None:
        """The part of a reply that matters."""
        print("   ->", json.dumps({name: reply[name] for name in names if name in reply}))

    # --- checking -------------------------------------------------------------------------------------------

    def same(self, what: str, expected: object, found: object) -> None:
        if expected != found:
            raise Surprise(f"{what}: {expected} expected, {found} found")
        self.tell(f"right: {what}: {found}")

    def check_wallet(self) -> None:
        """Counted here and kept there: the same to the kobo, and nothing held back."""
        [line] = [line for line in self.put("resources", inquire="wallet")["data"] if line["currency"] == "NGN"]
        self.same("the wallet", naira(self.wallet), naira(kobo(line["balance"])))
        self.same("held for what is still open", "0.00", line["held"])

    def check_events(self) -> None:
        """Everything that became final has one event; nothing is left open, so every transaction has."""
        references: list[str] = []
        while page := self.put("resources", inquire="events", offset=len(references), limit=200)["data"]:
            references += [line["txnRef"] for line in page]
        self.same("events, one for each transaction", len(references), len(set(references)))
        self.same("transactions of this story without an event", [], sorted(self.transactions - set(references)))


def open_merchant(arguments: argparse.Namespace, name: str) -> Merchant:
    """A fresh one, made by the merchant that was named."""
    asks = Merchant(arguments.address, arguments.mid, arguments.key)
    made = asks.put("sandbox", action="new_merchant", name=name, now=BEGINS)
    merchant = Merchant(arguments.address, made["mid"], made["key"])
    [line] = [line for line in merchant.put("resources", inquire="wallet")["data"] if line["currency"] == "NGN"]
    merchant.wallet = kobo(line["balance"])
    print(f"{name} is merchant {merchant.mid}; its wallet holds {naira(merchant.wallet)} naira")
    return merchant
