"""How the outside was told to behave, in the test environment (sandbox.md).

One request can say it in its `x-sandbox-scenario` header; `PUT /sandbox` `fault` says it for a merchant's next
calls of a rail. Either way it becomes a `Scenario` that rides with the job, so that the sandbox rails need no
state of their own and answer alike in every process and in a replay. In live there is never one.
"""

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import lru_cache
from typing import Literal

import msgspec

RailName = Literal["card", "bank", "biller", "mobile", "identity", "issuer"]
FaultKind = Literal["timeout", "reset", "unavailable", "decline", "none"]

DECLINED = "05"
# Headers up to this length are remembered with what they mean.
LONGEST_KEPT = 100


class Scenario(msgspec.Struct, frozen=True, omit_defaults=True):
    """`rr` the rail's answer, `delay` in business seconds, `http` a fault between us and the rail."""

    rr: str | None = None
    delay: int = 0
    http: str | None = None
    webhook: str | None = None


NO_SCENARIO = Scenario()

# How the next call of a rail will go. Whoever asks this must call the rail then: a planned fault is used up by it.
TakeCallScenario = Callable[[], Awaitable[Scenario]]

SCENARIO_PATTERNS = {
    "rr": re.compile(r"[0-9A-Z]{2}", re.ASCII),
    "delay": re.compile(r"[0-9]{1,8}", re.ASCII),
    "http": re.compile("timeout|reset|500|unavailable"),
    "webhook": re.compile(r"ok|drop|dup|late:[0-9]{1,8}|bad-hash", re.ASCII),
}


def read_scenario(text: str) -> Scenario | None:
    """The scenario that a header names, or None where it cannot be read."""
    return read_short_scenario(text) if len(text) <= LONGEST_KEPT else parse_scenario(text)


@lru_cache(maxsize=256)
def read_short_scenario(text: str) -> Scenario | None:
    """As `parse_scenario`. Kept, because a client sends the same header again and again."""
    return parse_scenario(text)


def parse_scenario(text: str) -> Scenario | None:
    found: dict[str, str] = {}
    for word in filter(None, (piece.strip() for piece in text.split(";"))):
        name, _, value = word.partition("=")
        if name not in SCENARIO_PATTERNS or not SCENARIO_PATTERNS[name].fullmatch(value):
            return None
        found[name] = value
    return Scenario(
        rr=found.get("rr"),
        delay=int(found.get("delay", 0)),
        http=found.get("http"),
        webhook=found.get("webhook"),
    )


def webhook_delay(scenario: Scenario) -> timedelta:
    """How much later than at once an event is first sent: `webhook=late:<s>`."""
    word, _, seconds = (scenario.webhook or "").partition(":")
    return timedelta(seconds=int(seconds)) if word == "late" else timedelta(0)


class InjectedFault(msgspec.Struct, frozen=True):
    """A merchant's next `times` calls of a rail fail so, each with this chance (percent)."""

    rail: str
    kind: str
    times: int
    percent: int = 100


FAULTS: "msgspec.json.Decoder[tuple[InjectedFault, ...]]" = msgspec.json.Decoder(tuple[InjectedFault, ...])


def read_faults(kept: str | None) -> tuple[InjectedFault, ...]:
    return () if kept is None else FAULTS.decode(kept)


def take_call_scenario(
    requested: Scenario, faults: tuple[InjectedFault, ...], rail: str, random_number: int
) -> tuple[Scenario, tuple[InjectedFault, ...] | None]:
    """How the next call of a rail will go, and the faults that are left (None: as they were).
    The header overrides; `luck` is any number, its hundredths decide a fault with a probability."""
    if requested is not NO_SCENARIO and requested != Scenario(webhook=requested.webhook):
        return requested, None
    for n, fault in enumerate(faults):
        if fault.rail != rail:
            continue
        left = (msgspec.structs.replace(fault, times=fault.times - 1),) if fault.times > 1 else ()
        rest = faults[:n] + left + faults[n + 1 :]
        if random_number % 100 >= fault.percent:
            return requested, rest
        if fault.kind == "decline":
            return Scenario(rr=DECLINED, webhook=requested.webhook), rest
        return Scenario(http=fault.kind, webhook=requested.webhook), rest
    return requested, None
