"""Sandbox scenarios: how rails and webhooks behave in the test environment.

A request selects one in its `x-sandbox-scenario` header, and `PUT /sandbox` `fault` injects faults into a merchant's
next rail calls. Either becomes a `Scenario` that is stored with the job, so that the sandbox rails are stateless and
answer alike in every process and in a replay. In live there is none.

Contract: sandbox#fault
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Literal

import msgspec

RailName = Literal["card", "bank", "biller", "mobile", "identity", "issuer", "decider"]
FaultKind = Literal["timeout", "reset", "unavailable", "decline", "none"]
# What a fault can be limited to: calls of one operation of its rail.
FaultOperation = Literal[
    "transfer",
    "initiate",
    "charge",
    "validate",
    "refund",
    "accountname",
    "pay",
    "resolve",
    "bvn",
    "purchase",
    "authorize",
]
OPERATIONS: Mapping[str, tuple[FaultOperation, ...]] = {
    "card": ("initiate", "charge", "validate", "refund"),
    "bank": ("transfer", "charge", "validate", "refund", "accountname"),
    "biller": ("pay", "resolve"),
    "mobile": ("charge", "validate", "refund"),
    "identity": ("bvn",),
    "issuer": ("purchase", "authorize"),
    "decider": ("purchase", "authorize"),
}

DECLINED = "05"
# Longest header whose parsed scenario is cached.
MAX_CACHED_LENGTH = 100


class Scenario(msgspec.Struct, frozen=True, omit_defaults=True):
    rr: str | None = None  # response code of the rail
    delay: int = 0  # of the rail's answer, in seconds of business time
    http: str | None = None  # fault of the connection to the rail
    webhook: str | None = None  # how the event is delivered


NO_SCENARIO = Scenario()

# Returns the scenario of the next rail call and uses up an injected fault. The call must follow.
TakeCallScenario = Callable[[], Awaitable[Scenario]]

SCENARIO_PATTERNS = {
    "rr": re.compile(r"[0-9A-Z]{2}", re.ASCII),
    "delay": re.compile(r"[0-9]{1,8}", re.ASCII),
    "http": re.compile("timeout|reset|500|unavailable"),
    "webhook": re.compile(r"ok|drop|dup|late:[0-9]{1,8}|bad-hash", re.ASCII),
}


def read_scenario(text: str) -> Scenario | None:
    """Parses the header. Returns None if it is invalid."""
    return read_short_scenario(text) if len(text) <= MAX_CACHED_LENGTH else parse_scenario(text)


@lru_cache(maxsize=256)
def read_short_scenario(text: str) -> Scenario | None:
    """Like `parse_scenario`, cached: clients repeat the same header."""
    return parse_scenario(text)


def parse_scenario(text: str) -> Scenario | None:
    values: dict[str, str] = {}
    for word in filter(None, (piece.strip() for piece in text.split(";"))):
        name, _, value = word.partition("=")
        if name not in SCENARIO_PATTERNS or not SCENARIO_PATTERNS[name].fullmatch(value):
            return None
        values[name] = value
    return Scenario(
        rr=values.get("rr"),
        delay=int(values.get("delay", 0)),
        http=values.get("http"),
        webhook=values.get("webhook"),
    )


NO_DELAY = timedelta(0)


def webhook_delay(scenario: Scenario) -> timedelta:
    """Returns how long the first delivery of an event is delayed (`webhook=late:<s>`)."""
    if scenario.webhook is None:
        return NO_DELAY
    word, _, seconds = scenario.webhook.partition(":")
    return timedelta(seconds=int(seconds)) if word == "late" else NO_DELAY


class InjectedFault(msgspec.Struct, frozen=True):
    """Makes a merchant's next `times` calls of a rail fail, each with a probability in percent."""

    rail: str
    kind: str
    times: int
    percent: int = 100
    on: str = ""  # the operation that it is limited to (OPERATIONS); "" for none
    code: str = ""  # of a decline; "" for DECLINED


FAULTS: "msgspec.json.Decoder[tuple[InjectedFault, ...]]" = msgspec.json.Decoder(tuple[InjectedFault, ...])


def read_faults(stored: str | None) -> tuple[InjectedFault, ...]:
    return () if stored is None else FAULTS.decode(stored)


def take_call_scenario(
    requested: Scenario, faults: tuple[InjectedFault, ...], rail: str, operation: str, random_number: int
) -> tuple[Scenario, tuple[InjectedFault, ...] | None]:
    """Returns the scenario of the next rail call, and the faults left (None if unchanged).

    A scenario requested by header takes precedence over injected faults. `operation` is one of the rail's OPERATIONS.
    `random_number` decides whether a fault with a probability occurs.
    """
    if requested is not NO_SCENARIO and requested != Scenario(webhook=requested.webhook):
        return requested, None
    for n, fault in enumerate(faults):
        if fault.rail != rail or fault.on not in ("", operation):
            continue
        remaining = (msgspec.structs.replace(fault, times=fault.times - 1),) if fault.times > 1 else ()
        rest = faults[:n] + remaining + faults[n + 1 :]
        if random_number % 100 >= fault.percent:
            return requested, rest
        if fault.kind == "decline":
            return Scenario(rr=fault.code or DECLINED, webhook=requested.webhook), rest
        return Scenario(http=fault.kind, webhook=requested.webhook), rest
    return requested, None
