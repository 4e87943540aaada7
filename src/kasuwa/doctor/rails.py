"""The findings of `kasuwa doctor` about rails: keys, balances, lists of banks, clocks, and stuck orders."""

from collections.abc import Iterator, Mapping
from typing import Any

from kasuwa.core.money import format_minor
from kasuwa.doctor.findings import Finding, passed, problem, warning
from kasuwa.observe.metrics import Metrics
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.rails.choice import RailChoice
from kasuwa.rails.ports.orders import EnvironmentRail, FundedRail, NoAnswer, TwoFactorRail, Unavailable
from kasuwa.rails.remote import client as remote
from kasuwa.rails.routing.orders import BankLister
from kasuwa.rails.vendor_rails import list_known_accounts
from kasuwa.rails.vendors.termii import TermiiSms
from kasuwa.rails.watch import records, vendor_accounts
from kasuwa.settings.available_rails import configured_rails
from kasuwa.settings.rail_needs import RAIL_VENDORS
from kasuwa.settings.settings import Settings, get_shadow, rails_of_purpose

# VTpass compares the time in a bill's identifier with its own clock, and tokens expire by the vendor's.
MAX_SKEW_SECONDS = 60
SHOWN_BANKS = 8
# What a rail that speaks the rail protocol must serve for a purpose.
REMOTE_SERVICES = {
    "bank": "transfers",
    "bills": "bills",
    "identity": "identity",
    "card": "payments",
    "collect": "payments",
    "accounts": "accounts",
}


async def examine_rails(settings: Settings) -> list[Finding]:
    """Returns the findings about each vendor that is configured. Each is called once or twice, and nothing is paid."""
    choice = RailChoice(settings, Metrics(), DatabaseClock())
    findings = list(describe_choice(settings))
    try:
        # A vendor may serve several purposes. The rail that is paid from our balance there tells the most.
        rails = sorted(choice.router.list_rails(), key=lambda listed: isinstance(listed[2], FundedRail))
        vendors = {name: rail for _, name, rail in rails if name != "sandbox"}
        for name, rail in vendors.items():
            findings += await examine_vendor(settings, name, rail)
            if name == remote.NAME:
                findings += await examine_services(settings, choice.make_remote())
            skew = choice.monitors[name].clock_skew
            if skew is not None:
                findings.append(examine_clock(name, skew))
        sms = choice.make_sms()
        if sms is not None:
            findings.append(await examine_sms(sms))
        for (name, account), rail in choice.former_funded().items():
            findings.append(await examine_former(name, account, rail))
    finally:
        await choice.close()
    return findings


def describe_choice(settings: Settings) -> Iterator[Finding]:
    """Yields the rails of each purpose that has more than one, or one in shadow mode."""
    for purpose in RAIL_VENDORS:
        names, shadow = rails_of_purpose(settings, purpose), get_shadow(settings, purpose)
        if len(names) > 1:
            yield passed(f"orders for {purpose} go to {names[0]}, else to {' or '.join(names[1:])}")
        if shadow:
            yield passed(f"{shadow} runs in shadow mode for {purpose}: it is asked and never paid by")


async def examine_vendor(settings: Settings, name: str, rail: object) -> list[Finding]:
    """Returns whether a vendor answers with our keys, our balance there, and the banks that it cannot pay."""
    findings = []
    try:
        if isinstance(rail, EnvironmentRail):
            await rail.check_environment(settings.environment)
        if isinstance(rail, FundedRail):
            findings.append(examine_balance(settings, name, await rail.balance()))
        if isinstance(rail, BankLister):
            findings.append(examine_banks(name, await rail.list_unmapped_banks()))
        if isinstance(rail, TwoFactorRail) and await rail.uses_two_factor():
            what = f"{name} asked for a code with the last transfer: such transfers never end by themselves"
            findings.append(problem(what, "have two-factor authentication switched off there for transfers by the API"))
    except (Unavailable, NoAnswer) as error:
        notice = error.notice if isinstance(error, Unavailable) else ""
        mend = notice or f"check KASUWA_{name.upper()}_BASE_URL, and that the vendor is up"
        findings.append(problem(f"{name} does not answer: {error}", mend))
    return findings


async def examine_former(name: str, account: str, rail: FundedRail) -> Finding:
    """Returns whether a former account still answers with its keys."""
    try:
        await rail.balance()
    except (Unavailable, NoAnswer) as error:
        what = f"{name} does not answer with the keys of the former account {account}: {error}"
        return problem(what, "correct them in KASUWA_RAIL_FORMER_ACCOUNTS, or remove them if it has no open orders")
    return passed(f"{name} answers with the keys of the former account {account}")


async def examine_sms(rail: TermiiSms) -> Finding:
    """Returns whether the vendor of text messages answers with our key, and our balance there."""
    try:
        balances = await rail.balance()
    except (Unavailable, NoAnswer) as error:
        notice = error.notice if isinstance(error, Unavailable) else ""
        return problem(f"termii does not answer: {error}", notice or "check KASUWA_TERMII_BASE_URL")
    texts = [f"{format_minor(amount)} {currency}" for currency, amount in balances.items()]
    return passed(f"termii answers; our balance there is {', '.join(texts)}")


async def examine_services(settings: Settings, client: remote.RemoteClient) -> list[Finding]:
    """Returns a problem for each purpose that the rail of the operator's own is chosen for, and does not serve."""
    chosen = [purpose for purpose in REMOTE_SERVICES if remote.NAME in rails_of_purpose(settings, purpose)]
    try:
        served = await client.list_services() if chosen else []
    except (Unavailable, NoAnswer):
        return []  # examine_vendor has reported it
    return [
        problem(
            f"remote does not serve {REMOTE_SERVICES[purpose]}, and is chosen for {purpose}",
            f"take it out of KASUWA_RAIL_{purpose.upper()}, or run `kasuwa rail check` against it",
        )
        for purpose in chosen
        if REMOTE_SERVICES[purpose] not in served
    ]


def examine_balance(settings: Settings, name: str, balances: Mapping[str, int]) -> Finding:
    texts = [f"{format_minor(amount)} {currency}" for currency, amount in balances.items()]
    what = f"{name} answers; our balance there is {', '.join(texts) or 'none'} (keys for {settings.environment})"
    least = settings.rail_float_least
    low = [currency for currency, amount in balances.items() if amount < least.get(currency, amount)]
    return problem(what, f"fund it: KASUWA_RAIL_FLOAT_LEAST is above it for {', '.join(low)}") if low else passed(what)


def examine_banks(name: str, unmapped: list[str]) -> Finding:
    """Returns how many banks a vendor cannot pay, with the largest of them, which are the first of the list."""
    if not unmapped:
        return passed(f"{name} can pay every bank")
    more = len(unmapped) - SHOWN_BANKS
    names = ", ".join(unmapped[:SHOWN_BANKS]) + (f" and {more} more" if more > 0 else "")
    what = f"{name}: {len(unmapped)} banks cannot be paid there, the largest are {names}"
    return warning(what, "set a second rail for transfers, or have the vendor add them")


def examine_clock(name: str, skew: float) -> Finding:
    if abs(skew) > MAX_SKEW_SECONDS:
        what = f"this machine's clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} that of {name}"
        return problem(what, "set it by NTP: tokens and bills of the vendor depend on it")
    return passed(f"this machine's clock agrees with that of {name}")


async def examine_open_orders(settings: Settings, connection: Any) -> list[Finding]:
    """Returns a problem for each rail, and each account with one, that has open orders and is not configured: they are
    sent nowhere else."""
    known = {name for purpose in RAIL_VENDORS for name in configured_rails(settings, purpose)}
    accounts = list_known_accounts(settings)
    accounts.update(await vendor_accounts.list_aliases(connection))
    orders = await records.count_open_orders(connection)
    unset = [row for row in orders if accounts.find(row.rail, row.rail_account) is None]
    others = [
        problem(
            f"{row.count} orders in the queue {row.lane} were sent with account {row.rail_account} at {row.rail}, "
            "whose keys are not set",
            f"add them to KASUWA_RAIL_FORMER_ACCOUNTS, or run `kasuwa rail accounts --same {row.rail}` if only the key "
            "is another",
        )
        for row in unset
        if row.rail in known
    ]
    return others + [
        problem(
            f"{row.count} orders in the queue {row.lane} wait for {row.rail}, which is not configured",
            f"set the keys of {row.rail} again until its orders have ended",
        )
        for row in orders
        if row.rail not in known and (row in unset or not row.rail_account)
    ]
