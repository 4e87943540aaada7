"""`kasuwa merchant`: list, add and change merchants."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from kasuwa.authority.acts import SETTINGS_KIND, acts_of_settings
from kasuwa.boot import supervise
from kasuwa.boot.supervise import ServeError
from kasuwa.commands import merchant_keys
from kasuwa.commands.database import record_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.commands.proposing import must_propose, propose
from kasuwa.console.operator.settings import apply_changes, read_changes
from kasuwa.core.calendar import utc_text
from kasuwa.core.vault import Vault
from kasuwa.merchants import merchants
from kasuwa.merchants.keys import replace_secret
from kasuwa.merchants.merchant_settings import MerchantSettings, read_logo
from kasuwa.outbound.url_policy import url_fault
from kasuwa.settings.available_rails import check_merchant_rails
from kasuwa.settings.settings import Settings, loopback_allowed
from kasuwa.terms.checkout_origins import read_origins

command = typer.Typer(no_args_is_help=True, add_completion=False, help="List, add and change merchants.")

MAX_NAME_LENGTH = 200


class ListedMerchant(msgspec.Struct):
    """A merchant as `list --json` prints it."""

    mid: str
    name: str
    status: str  # active or suspended
    created: str
    environment: str


@command.command(name="list")
def list_merchants(
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON a merchant.")] = False,
    data: DataOption = None,
) -> None:
    """List all merchants, oldest first: mid, status, time of creation, environment, name."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[ListedMerchant]:
        return [
            ListedMerchant(
                row.mid,
                row.name,
                "suspended" if row.is_suspended else "active",
                utc_text(row.created_at),
                settings.environment,
            )
            for row in await merchants.list_merchants(connection)
        ]

    summaries = run_with_connection(data, work)
    for one in summaries:
        line = f"{one.mid}  {one.status:<9}  {one.created}  {one.environment}  {one.name}"
        typer.echo(msgspec.json.encode(one).decode() if json else line)
    if not summaries and not json:
        typer.echo("there are no merchants")


@command.command(name="add")
def add_merchant(
    name: str,
    own_secret: Annotated[
        bool,
        typer.Option("--own-secret/--key-signs", help="Sign events with a secret of their own, or with the key."),
    ] = True,
    data: DataOption = None,
) -> None:
    """Add a merchant with empty books and print its mid, its key and the secret that signs its events.

    Key and secret cannot be shown again."""
    if not name.strip() or not name.isprintable() or len(name) > MAX_NAME_LENGTH:
        sys.exit(f"kasuwa: a merchant's name has 1 to {MAX_NAME_LENGTH} printable characters")

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        async with connection.transaction():
            merchant_id, mid, key = await merchants.add_merchant(connection, vault, name)
            lines = [f"mid {mid}", f"key {key}"]
            if own_secret:
                secret = await replace_secret(connection, vault, merchant_id, timedelta())
                lines.append(f"secret {secret}")
            await record_audit_entry(connection, merchant_id, "added the merchant", mid, after=name)
        return lines

    typer.echo("\n".join(run_with_connection(data, work)))


merchant_keys.register(command)


OriginsOption = Annotated[
    str | None,
    typer.Option(help="Sites that may show checkouts in a frame, with commas: https://shop.example. Empty: none."),
]


@command.command(name="set")
def set_merchant(
    mid: str,
    webhook_url: Annotated[
        str | None, typer.Option(help="URL that events are sent to. Empty switches them off.")
    ] = None,
    webhook_order: Annotated[str | None, typer.Option(help="loose, or strict: events of one object in order.")] = None,
    http_codes: Annotated[str | None, typer.Option(help="compat or strict.")] = None,
    tariff: Annotated[str | None, typer.Option(help="JSON that overrides the default tariff.")] = None,
    limits: Annotated[str | None, typer.Option(help='JSON such as {"NGN": ["1.00", "500000.00"]}.')] = None,
    rate: Annotated[str | None, typer.Option(help="Requests per second and burst, such as 100,200.")] = None,
    settlement_days: Annotated[
        int | None, typer.Option(help="Business days until collections settle. 0 settles at once.")
    ] = None,
    inbound_bank: Annotated[str | None, typer.Option(help="Bank of the accounts that customers pay into.")] = None,
    lending: Annotated[str | None, typer.Option(help='JSON such as {"penalty_rate": "0.1"}.')] = None,
    savings: Annotated[str | None, typer.Option(help='JSON such as {"dormancy_months": 12}.')] = None,
    rails: Annotated[
        str | None, typer.Option(help='JSON such as {"bank": ["monnify", "paystack"]}. {} follows the settings.')
    ] = None,
    dispute_credit: Annotated[
        str | None,
        typer.Option(help='How far disputes may take a wallet below zero: {"NGN": "50000.00"}.'),
    ] = None,
    reserve: Annotated[
        str | None, typer.Option(help='Rolling reserve: JSON such as {"percent": "5", "days": 90}. {} ends it.')
    ] = None,
    payouts: Annotated[
        str | None, typer.Option(help='JSON of the policy for money out, such as {"approve_above": "500000.00"}.')
    ] = None,
    client_tiers: Annotated[
        str | None, typer.Option(help='Limits by tier of clients: JSON such as {"is_on": true}. {} ends them.')
    ] = None,
    checkout_origins: OriginsOption = None,
    data: DataOption = None,
) -> None:
    """Change a merchant's settings. In live, changes of tariff, limits, terms, rails, webhook URL, the policy for
    money out and the sites that may show checkouts are proposed, and two operators approve them."""
    changes = parse_settings(
        checkout_origins=checkout_origins,
        client_tiers=client_tiers,
        payouts=payouts,
        webhook_url=webhook_url,
        webhook_order=webhook_order,
        http_codes=http_codes,
        tariff=tariff,
        limits=limits,
        rate=rate,
        settlement_days=settlement_days,
        inbound_bank=inbound_bank,
        lending=lending,
        savings=savings,
        rails=rails,
        dispute_credit=dispute_credit,
        reserve=reserve,
    )

    async def work(connection: Any, vault: Vault, settings: Settings) -> str:
        check_changes(changes, settings)
        if await must_propose(connection, *acts_of_settings(changes)):
            return await propose(connection, vault, SETTINGS_KIND, mid, changes, f"changed {', '.join(changes)}")
        async with connection.transaction():
            before, changed = await apply_changes(connection, vault, mid, changes)
            chain = await merchants.find_merchant_id(connection, mid)
            values = [msgspec.json.encode(value).decode() for value in (before, changes)]
            await record_audit_entry(connection, chain, "changed settings", mid, *values)
        return msgspec.json.encode(msgspec.structs.replace(changed, logo="")).decode()

    typer.echo(run_with_connection(data, work))


def check_changes(changes: dict[str, Any], settings: Settings) -> None:
    """Raises ServeError if the deployment does not allow the endpoint, the origins or the rails."""
    if changes.get("webhook_url"):
        allowed = loopback_allowed(settings)
        fault = url_fault(changes["webhook_url"], environment=settings.environment, loopback_allowed=allowed)
        if fault is not None:
            raise ServeError(f"--webhook-url: {fault}")
    try:
        read_origins(changes.get("checkout_origins", ()), settings.environment)
    except ValueError as error:
        raise ServeError(f"--checkout-origins: {error}") from None
    faults = check_merchant_rails(settings, changes.get("rails", {}))
    if faults:
        raise ServeError(f"--rails: {'; '.join(faults)}")


@command.command(name="logo")
def set_logo(
    mid: str,
    file: Annotated[Path | None, typer.Argument(help="A PNG or JPEG of at most 32 KiB. Left out: no logo.")] = None,
    data: DataOption = None,
) -> None:
    """Set the picture that payers see on the merchant's checkouts and links, or remove it."""
    try:
        logo = "" if file is None else read_logo(file.read_bytes())
    except (OSError, ValueError) as error:
        sys.exit(f"kasuwa: {supervise.one_line(error)}")

    async def work(connection: Any, vault: Vault, settings: Settings) -> None:
        def change(current: MerchantSettings) -> MerchantSettings:
            return msgspec.structs.replace(current, logo=logo)

        async with connection.transaction():
            await merchants.change_settings(connection, vault, mid, change, is_endpoint_set=False)
            chain = await merchants.find_merchant_id(connection, mid)
            after = f"{len(logo)} characters" if logo else "none"
            await record_audit_entry(connection, chain, "changed the logo", mid, after=after)

    run_with_connection(data, work)
    typer.echo("logo set" if logo else "logo removed")


JSON_SETTINGS = (
    "tariff",
    "limits",
    "lending",
    "savings",
    "rails",
    "dispute_credit",
    "reserve",
    "payouts",
    "client_tiers",
)


def parse_settings(**options: Any) -> dict[str, Any]:
    """Parses and validates the given options as merchant settings. Exits with one line if one is invalid."""
    values = {name: value for name, value in options.items() if value is not None}
    try:
        for name in JSON_SETTINGS:
            if name in values:
                values[name] = msgspec.json.decode(values[name])
        if "checkout_origins" in values:
            values["checkout_origins"] = read_origins(list(filter(None, values["checkout_origins"].split(","))))
        if "rate" in values:
            values["rate"] = [int(part) for part in values["rate"].split(",")]
        return read_changes(values)
    except (ValueError, msgspec.MsgspecError) as error:
        sys.exit(f"kasuwa: {supervise.one_line(error)}")
