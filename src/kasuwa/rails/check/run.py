"""Runs the checks of the conformance kit against one rail, one after the other, and collects what each finds."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec

from kasuwa.rails.check.card_network import CardNetwork
from kasuwa.rails.check.client import Fault, RailClient, RailReply, TooLate
from kasuwa.rails.remote.messages import AboutAnswer, BalanceAnswer, OrderAnswer

CHECK_SECONDS = 60.0
WAIT_SECONDS = 15.0
# Checks that got no answer in time, after which no further one is run: each would wait as long.
MOST_LATE_CHECKS = 2
CURRENCY = "NGN"
TEST_AMOUNT, LIVE_AMOUNT = 10_000, 100

SAMPLES_OF_TEST = {
    "transfers": (
        "bank_code",
        "account_number",
        "failing_account_number",
        "open_account_number",
        "unknown_account_number",
    ),
    "bills": ("paycode", "reference", "unknown_reference", "amount"),
    "payments": ("method", "otp", "wrong_otp"),
    "accounts": ("name", "credited_name"),
    "identity": ("bvn", "unknown_bvn"),
    "cards": ("card_number", "currency"),
}


class NotRun(Exception):
    """Raised by a check that cannot run here. The text says why."""


class RefusedToRun(Exception):
    """Raised if no check may run: the rail moves real money, or it cannot be reached."""


class CheckResult(msgspec.Struct, frozen=True):
    name: str
    result: Literal["passed", "failed", "not run"]
    sentence: str = ""  # what the rail does wrong, or why the check did not run


class Report(msgspec.Struct, frozen=True):
    """The results of a run."""

    rail: str
    environment: str
    checks: list[CheckResult]
    calls: int
    seconds: float

    @property
    def failed(self) -> list[CheckResult]:
        return [check for check in self.checks if check.result == "failed"]


class Options(msgspec.Struct, frozen=True):
    """Options of a run."""

    is_live_allowed: bool = False
    seconds: float = 300.0  # the longest time of the whole run
    restart: Callable[[], Awaitable[None]] | None = None  # restarts the rail and waits until it is there again
    callbacks: "asyncio.Queue[str] | None" = (
        None  # of call-backs with right signatures: a key or `credit <reference>`; "" for others
    )
    network: "CardNetwork | None" = None  # receives what the rail announces of cards, and decides


class Order(msgspec.Struct, frozen=True):
    """An order that was made for a check: its path, its request and what its answers must repeat."""

    path: str
    request: dict[str, Any]

    @property
    def key(self) -> str:
        return str(self.request["key"])

    @property
    def amount(self) -> int:
        return int(self.request["amount"])


class CheckRun:
    """A run: the rail's description, and the calls that checks are made of. Keys begin with the run's own prefix."""

    def __init__(self, client: RailClient, about: AboutAnswer, options: Options) -> None:
        self.client = client
        self.about = about
        self.options = options
        self.is_live = about.environment == "live"
        self.least = LIVE_AMOUNT if self.is_live else TEST_AMOUNT
        self.late_checks = 0  # how many got no answer in time
        self._prefix = f"check-{secrets.token_hex(6)}"
        self._count = 0

    def new_key(self) -> str:
        self._count += 1
        return f"{self._prefix}-{self._count}"

    def sample(self, service: str, name: str) -> str:
        """Returns a sample of the rail. Raises NotRun if it has none."""
        if service not in self.about.serves:
            raise NotRun(f"the rail does not serve {service}")
        value = self.about.samples.get(service, {}).get(name)
        if value is None:
            raise NotRun(f"the rail gives no sample {name} of {service}")
        return value

    # --- orders ---------------------------------------------------------------------------------------------------

    def new_transfer(self, account: str = "account_number", **changes: Any) -> Order:
        """Returns a transfer to a sample account."""
        request = {
            "key": self.new_key(),
            "amount": self.least,
            "currency": CURRENCY,
            "bank_code": self.sample("transfers", "bank_code"),
            "account_number": self.sample("transfers", account),
            "sender_name": "Conformance kit",
            "narration": "Check of the rail",
            **changes,
        }
        return Order("/transfers", request)

    def new_bill(self, **changes: Any) -> Order:
        request = {
            "key": self.new_key(),
            "amount": int(self.sample("bills", "amount")),
            "currency": CURRENCY,
            "paycode": self.sample("bills", "paycode"),
            "reference": self.sample("bills", "reference"),
            **changes,
        }
        return Order("/bills", request)

    async def send(self, order: Order) -> RailReply:
        """Sends an order. Raises Fault unless it is answered with its state."""
        return self.read_state(order, await self.client.call(order.path, order.request))

    async def query(self, order: Order) -> RailReply:
        path = f"{order.path}/query"
        reply = await self.client.call(path, {"key": order.key})
        if reply.status != 200 or not reply.outcome:
            raise Fault(f"{path} answered {reply}: the state of an order is HTTP 200 with its outcome.")
        self.client.note_form(path, reply, OrderAnswer)
        if reply.fields.get("key") != order.key:
            raise Fault(f"{path} answered for the key {reply.fields.get('key')!r} instead of {order.key!r}.")
        return reply

    def read_state(self, order: Order, reply: RailReply) -> RailReply:
        if reply.status != 200 or not reply.outcome:
            raise Fault(f"{order.path} answered {reply} to a valid order.")
        self.client.note_form(order.path, reply, OrderAnswer)
        if reply.outcome == "not_found":
            raise Fault(f"{order.path} answered not_found to an order: only a query may.")
        ordered = {"key": order.key, "amount": order.amount, "currency": order.request["currency"]}
        others = [
            f"the {name} {reply.fields.get(name)!r} instead of {value!r}"
            for name, value in ordered.items()
            if reply.fields.get(name) != value
        ]
        if others:
            raise Fault(f"{order.path} answered with {', '.join(others)}.")
        return reply

    async def pay(self, order: Order) -> RailReply:
        """Sends an order and waits for its end. Raises Fault unless it succeeds."""
        ended = await self.wait_for_end(order, await self.send(order))
        if ended.outcome != "successful":
            raise Fault(
                f"{order.path} did not succeed with the sample that pays: {ended} {ended.fields.get('message')}"
            )
        if not ended.fields.get("rail_reference"):
            raise Fault(f"{order.path} succeeded without a rail_reference.")
        return ended

    async def wait_for_end(self, order: Order, reply: RailReply) -> RailReply:
        """Queries an order until it has ended. Raises Fault if it is forgotten meanwhile, or does not end."""
        deadline, pause = time.monotonic() + WAIT_SECONDS, 0.05
        while reply.outcome == "processing":
            if time.monotonic() > deadline:
                raise Fault(f"{order.path} is still processing after {WAIT_SECONDS:.0f} seconds.")
            await asyncio.sleep(pause)
            pause = min(pause * 2, 1.0)
            reply = await self.query(order)
            if reply.outcome == "not_found":
                raise Fault(f"{order.path}/query answered not_found for an order that is in progress.")
        return reply

    # --- money ----------------------------------------------------------------------------------------------------

    async def read_balance(self) -> int:
        reply = await self.client.call("/balance", {})
        self.client.note_form("/balance", reply, BalanceAnswer)
        balances = reply.fields.get("balances")
        balance = balances.get(CURRENCY) if isinstance(balances, dict) else None
        if reply.status != 200 or not isinstance(balance, int | float):
            raise Fault(f"/balance answered {reply} without a balance in {CURRENCY}.")
        return int(balance)

    async def expect_spent(self, before: int, amount: int, after_what: str) -> None:
        """Raises Fault unless the balance fell by an amount. Other orders change the balance of a live rail."""
        if self.is_live:
            return
        spent = before - await self.read_balance()
        if amount and spent == 2 * amount:
            raise Fault(f"{after_what} was paid twice: the balance fell by {spent} instead of {amount}.")
        if spent != amount:
            raise Fault(f"After {after_what.lower()} the balance fell by {spent} instead of {amount}.")

    async def expect_unknown(self, order: Order, after_what: str) -> None:
        """Raises Fault unless an order was never recorded."""
        reply = await self.query(order)
        if reply.outcome != "not_found":
            raise Fault(f"{after_what} was carried out: its query answered {reply.outcome!r}.")


Check = Callable[[CheckRun], Awaitable[None]]


async def read_about(client: RailClient, options: Options) -> AboutAnswer:
    """Returns the rail's description of itself. Raises RefusedToRun if nothing may be ordered."""
    try:
        reply = await client.call("/about", {})
    except Fault as error:
        raise RefusedToRun(str(error)) from None
    if reply.status == 401:
        raise RefusedToRun("The rail refuses the signature of /about: check the secret, the key id and the clocks.")
    try:
        about = msgspec.convert(reply.fields, AboutAnswer)
    except msgspec.ValidationError as error:
        raise RefusedToRun(f"/about answered {reply}, which is not its form: {error}.") from None
    if about.environment == "live" and not options.is_live_allowed:
        raise RefusedToRun("This rail moves real money: add --live to order small amounts from it.")
    return about


async def run_checks(client: RailClient, checks: dict[str, Check], options: Options) -> Report:
    """Runs the checks. Raises RefusedToRun before anything is ordered, if nothing may be."""
    began = time.monotonic()
    about = await read_about(client, options)
    run = CheckRun(client, about, options)
    results = [check_samples(about)]
    for name, check in checks.items():
        if run.late_checks >= MOST_LATE_CHECKS:
            results.append(CheckResult(name, "not run", "the rail answers too late"))
            continue
        remaining_seconds = options.seconds - (time.monotonic() - began)
        results.append(await run_check(run, name, check, min(remaining_seconds, CHECK_SECONDS)))
    for kind, name in EVERY_ANSWER.items():
        fault = client.faults.get(kind)
        results.append(CheckResult(name, "failed", fault) if fault else CheckResult(name, "passed"))
    return Report(about.name, about.environment, results, client.calls, round(time.monotonic() - began, 3))


EVERY_ANSWER = {
    "signature": "every answer is signed",
    "form": "every answer has its documented form",
    "slow": "every answer comes in time",
}


async def run_check(run: CheckRun, name: str, check: Check, seconds: float) -> CheckResult:
    if seconds <= 0:
        return CheckResult(name, "not run", "the time of the run is over")
    try:
        async with asyncio.timeout(seconds):
            await check(run)
    except TooLate as fault:
        run.late_checks += 1
        return CheckResult(name, "failed", str(fault))
    except Fault as fault:
        return CheckResult(name, "failed", str(fault))
    except NotRun as reason:
        return CheckResult(name, "not run", str(reason))
    except TimeoutError:
        return CheckResult(name, "failed", f"The check did not end within {seconds:.0f} seconds.")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # A check reads what a rail answers, which may have any form.
        return CheckResult(name, "failed", f"An answer has another form than the protocol says ({error}).")
    return CheckResult(name, "passed")


def check_samples(about: AboutAnswer) -> CheckResult:
    """Checks that a test rail gives every sample, because the other checks need them."""
    name = "a test rail describes its samples"
    if about.environment == "live":
        return CheckResult(name, "not run", "a live rail gives the samples that may be paid")
    wanted = [(service, sample) for service in about.serves for sample in SAMPLES_OF_TEST[service]]
    missing = [f"{service}.{sample}" for service, sample in wanted if sample not in about.samples.get(service, {})]
    if missing:
        return CheckResult(name, "failed", f"/about gives no samples {', '.join(missing)}.")
    return CheckResult(name, "passed")
