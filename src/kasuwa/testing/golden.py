"""Golden files: the whole exchange of a scenario, recorded once and compared in every later run.

A scenario runs on a merchant of its own, whose clock stands still at GOLDEN_NOW and whose random outcomes follow from
the seed, so times, amounts and outcomes are the same in every run and on every server. References, tokens and account
numbers belong to the merchant and differ: each is replaced by its name and the order of its appearance (`<txnRef 1>`),
everywhere the same. So the file also shows which values are equal.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kasuwa.testing.exchanges import Exchange, write_exchanges

if TYPE_CHECKING:  # it needs the Python client, and recordings and cases are written without it
    from kasuwa.testing.events import Delivery

GOLDEN_NOW = "2026-01-05T09:30:00+01:00"
# The seed of a run, unless --kasuwa-seed says otherwise.
DEFAULT_SEED = "kasuwa"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

# Fields whose values belong to one merchant, server or run.
VOLATILE_NAMES = frozenset(
    {
        "txnRef",
        "batchRef",
        "refundRef",
        "refundOf",
        "ref_code",
        "event_id",
        "mid",
        "key",
        "token",
        "cardToken",
        "client_id",
        "loan_id",
        "savings_id",
        "thrift_id",
        "accountNumber",
        "hash",
        "qr_code",
        "qr_image",
        "ussd_code",
        "authURL",
        "receiptURL",
        "cashcode",
        "cardpan",
        "maskedpan",
        "cvv",
        "origin",
        "ms",
    }
)
# References by their form, also within texts: those of the service, and those that the client makes.
REFERENCES = (
    ("reference", re.compile(r"GP\|[A-Z]{2}\|[0-9]{9}\|[0-9]{8}[A-Z]")),
    ("reference", re.compile(r"\bGP[0-9]{17}[A-Z]\b")),
    ("card", re.compile(r"[A-Z0-9]+\|GVC\|[0-9]+\|[A-Za-z0-9_-]{22}")),
    ("event", re.compile(r"\bevt_[0-9a-f]{20,}\b")),
    ("made", re.compile(r"\bkc-[0-9a-f]{32}\b")),
)
# Besides, in golden files: ids such as that of an invoice, and the tokens of pages.
IDS_AND_PAGES = (
    ("id", re.compile(r"\b[A-Z]{2}[0-9A-Za-z]{22}\b")),
    ("page", re.compile(r"\b[0-9a-f]{48}\b")),
    ("page", re.compile(r"(?<=/pay/link/)[0-9a-f]{12}\b")),
)
MASKED = "***"
# Stands for the address of the server.
URL_NAME = "<url>"


@dataclass(frozen=True)
class GoldenFiles:
    """The directory of golden files, and whether they are written instead of compared."""

    directory: Path = Path("golden")
    is_updating: bool = False
    seed: str = DEFAULT_SEED

    def make_seed(self, name: str) -> str:
        """Returns the seed of a scenario. It does not depend on the test, nor on the order of tests."""
        return f"{self.seed} {name}"

    def check(self, name: str, recorded: str) -> None:
        """Writes or compares a file. Raises AssertionError with the differences."""
        __tracebackhide__ = True
        if not NAME.fullmatch(name):
            raise ValueError(f"a golden file cannot be named {name!r}: use letters, digits, '-', '_' and '.'")
        path = self.directory / f"{name}.json"
        if self.is_updating:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(recorded, encoding="utf-8")
            return
        if not path.exists():
            raise AssertionError(f"there is no golden file {path}: record it with --kasuwa-update-golden")
        expected = path.read_text(encoding="utf-8")
        if expected != recorded:
            compared = difflib.unified_diff(
                expected.splitlines(), recorded.splitlines(), f"{name} (golden)", f"{name} (now)", lineterm=""
            )
            raise AssertionError(
                "\n".join([f"{path} differs. If that is right, use --kasuwa-update-golden.", *compared])
            )


def render(exchanges: list[Exchange], deliveries: "list[Delivery]", *, url: str, seed: str) -> str:
    """Returns the text of a golden file: the seed, the exchanges in order, and the events in the order of their log."""
    stable = StableNames(url, forms=(*REFERENCES, *IDS_AND_PAGES))
    shown = [
        replace(exchange, request=stable.replace(exchange.request), reply=stable.replace(exchange.reply))
        for exchange in exchanges
    ]
    events = {delivery.headers["webhook-id"]: delivery.event.raw for delivery in deliveries}
    logged = [stable.replace(events[event_id]) for event_id in sorted(events)]
    return write_exchanges(shown, logged, seed=seed)


class StableNames:
    """Replaces values that differ between runs by stable names: those of fields with these names, and those of some
    forms. A field of `known` has a name only if another field gave its value one."""

    def __init__(
        self,
        url: str,
        volatile: frozenset[str] = VOLATILE_NAMES,
        known: frozenset[str] = frozenset(),
        forms: tuple[tuple[str, re.Pattern[str]], ...] = REFERENCES,
    ) -> None:
        self._volatile, self._known, self._forms = volatile, known, forms
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._url = url

    def replace(self, value: Any, name: str = "") -> Any:
        if isinstance(value, Mapping):
            return {key: self.replace(part, key) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.replace(part, name) for part in value]
        if name in self._volatile and isinstance(value, str | int) and value not in ("", MASKED):
            return self._assign_name(str(value), name)
        if name in self._known and value in self._names:
            return self._names[value]
        return self._replace_within(value) if isinstance(value, str) else value

    def _replace_within(self, text: str) -> str:
        text = text.replace(self._url, URL_NAME) if self._url else text
        for name, pattern in self._forms:
            text = pattern.sub(lambda match, name=name: self._assign_name(match[0], name), text)  # type: ignore[misc]
        return text

    def _assign_name(self, value: str, name: str) -> str:
        if value not in self._names:
            self._counts[name] = self._counts.get(name, 0) + 1
            self._names[value] = f"<{name} {self._counts[name]}>"
        return self._names[value]
