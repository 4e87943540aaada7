"""What became of a reference, in lines that can be compared: those of `explain`, without what is one deployment's."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kasuwa.testing.cases.case_file import CaseLine

# Lines that depend on when one looks, or where events go.
LEFT_OUT = frozenset({"job", "webhook", "left out"})
# Steps between the beginning and the end: how often a rail was asked, and on whose page the payer was, is no outcome.
OPEN_STEPS = frozenset(
    {"asked", "awaiting_payer", "charged", "initiated", "moved", "pending", "processing", "rail away", "sent"}
)
# Fields of an event that say what happened. Others are references, people and texts.
EVENT_FIELDS = ("kind", "txnStatus", "status", "amount", "currency", "chargedAmount", "state")


def list_lines(timeline: Iterable[Mapping[str, Any]], starts_at: datetime) -> list[CaseLine]:
    return list(iterate_lines(timeline, starts_at))


def iterate_lines(timeline: Iterable[Mapping[str, Any]], starts_at: datetime) -> Iterator[CaseLine]:
    for line in timeline:
        what = str(line["what"])
        if what in LEFT_OUT or what in OPEN_STEPS:
            continue
        at_ms = (msgspec.convert(line["at"], datetime) - starts_at) // timedelta(milliseconds=1)
        yield CaseLine(at_ms, what, describe(what, line))


def describe(what: str, line: Mapping[str, Any]) -> dict[str, str]:
    if what == "posting":
        accounts = {side: name_account(str(line[side])) for side in ("debit", "credit")}
        return {"kind": str(line["said"]), "amount": str(line["amount"]), **accounts}
    if what == "hold":
        return {
            "amount": str(line["amount"]),
            "state": str(line["state"]),
            "account": name_account(str(line["account"])),
        }
    if what == "event":
        payload = line["payload"]
        return {name: str(payload[name]) for name in EVENT_FIELDS if isinstance(payload.get(name), str | int | float)}
    return {"step": str(line["said"])} if what == "dispute" else {}


def name_account(name: str) -> str:
    """Returns the kind and currency of an account: who it is of is another one in every deployment."""
    kind, _, rest = name.partition(":")
    return f"{kind} {rest.rpartition(':')[2]}"
