"""`kasuwa rail`: what is known of the rails, and the check of one that speaks the rail protocol."""

from typing import Annotated, Any

import msgspec
import typer

from kasuwa.authority.acts import VENDOR_ACCOUNT
from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.commands.database import record_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.commands.proposing import must_propose, propose
from kasuwa.commands.rail_conformance import check_rail
from kasuwa.console.operator.approvals import ProposedAccounts
from kasuwa.core.calendar import utc_text
from kasuwa.core.vault import Vault
from kasuwa.rails.watch import records, vendor_accounts
from kasuwa.rails.watch.records import OpenOrders, ShadowCount, ShadowDifference
from kasuwa.rails.watch.vendor_accounts import AccountUse
from kasuwa.settings.settings import Settings, get_shadow
from kasuwa.settings.values import SettingsError

HELP = "Report on rails, and check one that speaks the rail protocol."
command = typer.Typer(no_args_is_help=True, add_completion=False, help=HELP)
command.command(name="check")(check_rail)

OUTCOMES = ("agreed", "differed", "unanswered")


@command.callback()
def describe() -> None:
    """Report on rails, and check one that speaks the rail protocol."""


class ShadowReport(msgspec.Struct):
    """The comparisons of one question with one rail in shadow mode."""

    shadow: str
    question: str
    agreed: int
    differed: int
    unanswered: int
    rail_ms: int | None  # mean time of the rail that serves
    shadow_ms: int | None  # mean time of the rail in shadow mode


@command.command(name="shadow")
def report_shadow(
    days: Annotated[int, typer.Option(min=1, max=records.KEPT_SHADOW_DAYS, help="Days to report.")] = 7,
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON a question.")] = False,
    data: DataOption = None,
) -> None:
    """Report how the rail in shadow mode compares: agreed, differed, unanswered, and mean times. Names are masked."""

    async def work(
        connection: Any, vault: Vault, settings: Settings
    ) -> tuple[str, list[ShadowReport], list[ShadowDifference]]:
        reports = summarize(await records.list_shadow(connection, days))
        return get_shadow(settings, "bank"), reports, await records.list_differences(connection, 20)

    shadow, reports, differences = run_with_connection(data, work)
    if json:
        for report in reports:
            typer.echo(msgspec.json.encode(report).decode())
        return
    typer.echo(f"in shadow mode now: {shadow or 'none (KASUWA_RAIL_BANK_SHADOW)'}")
    for report in reports:
        typer.echo(
            f"{report.shadow} {report.question}: {report.agreed} agreed, {report.differed} differed, "
            f"{report.unanswered} unanswered; {describe_ms(report.rail_ms)} and {describe_ms(report.shadow_ms)} there"
        )
    for one in differences:
        typer.echo(f"{utc_text(one.at)}  {one.shadow} {one.question}: {one.ours} here, {one.theirs} there")
    if not reports:
        typer.echo("nothing was compared")


@command.command(name="accounts")
def list_accounts(
    same: Annotated[
        str, typer.Option(metavar="RAIL", help="Only the key of this rail was replaced: its account is the same.")
    ] = "",
    data: DataOption = None,
) -> None:
    """List when which account with a vendor was used, and how many open orders each has. An order is sent and asked
    after with the account that it was taken with. In live --same is proposed, and two operators approve it."""

    from kasuwa.rails.vendor_rails import list_known_accounts

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        accounts = list_known_accounts(settings)
        if same and same not in accounts.own:
            raise SettingsError(f"the keys of {same} are not set ({' or '.join(accounts.own) or 'nothing'} is)")
        if same:
            former = [account for rail, account in accounts.former if rail == same]
            others = await vendor_accounts.list_others(connection, same, accounts.own[same], former)
            named = f"{len(others)} other keys are of the same account"
            if await must_propose(connection, VENDOR_ACCOUNT):
                proposal = ProposedAccounts(others)
                return [await propose(connection, vault, VENDOR_ACCOUNT.name, None, proposal, f"{same}: {named}")]
            async with connection.transaction():
                await vendor_accounts.add_aliases(connection, others)
                await record_audit_entry(connection, OPERATOR_CHAIN_ID, "rail.same_account", same, after=named)
        uses = await vendor_accounts.list_uses(connection)
        accounts.update(await vendor_accounts.list_aliases(connection))
        orders = await records.count_open_orders(connection)
        return [describe_use(use, accounts, orders) for use in uses]

    lines = run_with_connection(data, work)
    for line in lines:
        typer.echo(line)
    if not lines:
        typer.echo("no account with a vendor was used")


def describe_use(use: AccountUse, accounts: Any, orders: list[OpenOrders]) -> str:
    account = accounts.find(use.rail, use.account)
    if account is None:
        mark = "keys not set"
    elif account != use.account:
        mark = f"the same as {account}"
    else:
        mark = "set now" if account == accounts.own.get(use.rail) else "set as a former account"
    count = sum(row.count for row in orders if (row.rail, row.rail_account) == (use.rail, use.account))
    times = f"{utc_text(use.began_at)} to {utc_text(use.last_used_at)}"
    return f"{use.rail} {use.account}: {times}, {count} open orders, {mark}"


def describe_ms(mean: int | None) -> str:
    return "not measured" if mean is None else f"{mean} ms"


def summarize(rows: list[ShadowCount]) -> list[ShadowReport]:
    """Returns the sums over all days and serving rails, by rail in shadow mode and question."""
    reports = []
    for shadow, question in sorted({(row.shadow, row.question) for row in rows}):
        ours = [row for row in rows if (row.shadow, row.question) == (shadow, question)]
        counts = {outcome: sum(row.count for row in ours if row.outcome == outcome) for outcome in OUTCOMES}
        # The waiting time of what was not answered is our own deadline, so it is left out of the mean.
        answered = [row for row in ours if row.outcome != "unanswered"]
        total = sum(row.count for row in answered)
        rail_ms, shadow_ms = (sum(getattr(row, name) for row in answered) for name in ("rail_ms", "shadow_ms"))
        means = (rail_ms // total if question == "name" else None, shadow_ms // total) if total else (None, None)
        reports.append(ShadowReport(shadow, question, *counts.values(), *means))
    return reports
