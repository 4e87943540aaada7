"""`kasuwa twin`: simulators of vendors' APIs, to try a deployment with a vendor's rail before there are keys."""

import asyncio
import signal
from typing import Annotated, Protocol

import typer

from kasuwa.commands.database import one_line_errors
from kasuwa.rails.twins.dojah import DojahRules
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.monnify_collection import MonnifyCollectionRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.paystack_collection import PaystackCollectionRules
from kasuwa.rails.twins.server import Twin
from kasuwa.rails.twins.termii import TermiiRules
from kasuwa.rails.twins.vtpass import VtpassRules

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Simulate the API of a vendor on this machine.")

PortOption = Annotated[int, typer.Option(help="Port to listen on; 0 chooses a free one.", min=0, max=65535)]

PaystackKeyOption = Annotated[str, typer.Option(help="Secret key that it takes; sk_live_… plays its live mode.")]


@command.command(name="vtpass")
def simulate_vtpass(port: PortOption = 0) -> None:
    """Simulate VTpass: it sells bills from a small catalogue and keeps them in memory."""
    rules = VtpassRules()
    api_key, public_key, secret_key = rules.keys
    settings = {
        "RAIL_BILLS": "vtpass",
        "VTPASS_API_KEY": api_key,
        "VTPASS_PUBLIC_KEY": public_key,
        "VTPASS_SECRET_KEY": secret_key,
        "VTPASS_PHONE": "08039999999",
    }
    run_twin(Twin(rules), port, settings)


@command.command(name="dojah")
def simulate_dojah(port: PortOption = 0) -> None:
    """Simulate Dojah: BVNs that begin with 222 belong to somebody."""
    rules = DojahRules()
    settings = {"RAIL_IDENTITY": "dojah", "DOJAH_APP_ID": rules.app_id, "DOJAH_SECRET_KEY": rules.secret_key}
    run_twin(Twin(rules), port, settings)


@command.command(name="termii")
def simulate_termii(port: PortOption = 0) -> None:
    """Simulate Termii: it takes text messages and keeps them in memory. A test environment sends none: they stay in its
    outbox."""
    rules = TermiiRules()
    run_twin(Twin(rules), port, {"TERMII_API_KEY": rules.api_key, "SMS_FROM": rules.senders[0]})


@command.command(name="paystack")
def simulate_paystack(port: PortOption = 0, key: PaystackKeyOption = "sk_test_1") -> None:
    """Simulate Paystack: it pays transfers, collects payments, opens accounts, and keeps all in memory."""
    rules = PaystackRules(key)
    collection = PaystackCollectionRules(rules)
    settings = {
        **dict.fromkeys(("RAIL_BANK", "RAIL_CARD", "RAIL_COLLECT", "RAIL_ACCOUNTS"), "paystack"),
        "RAIL_EMAIL_DOMAIN": "payers.example.com",
        "PAYSTACK_SECRET_KEY": rules.secret_key,
        "PAYSTACK_PHONE": "08039999999",
    }
    run_twin(Twin(rules, collection), port, settings, collection)


@command.command(name="monnify")
def simulate_monnify(port: PortOption = 0) -> None:
    """Simulate Monnify: it pays transfers, collects payments, reserves accounts, and keeps all in memory."""
    rules = MonnifyRules()
    collection = MonnifyCollectionRules(rules)
    settings = {
        **dict.fromkeys(("RAIL_BANK", "RAIL_CARD", "RAIL_COLLECT", "RAIL_ACCOUNTS"), "monnify"),
        "RAIL_EMAIL_DOMAIN": "payers.example.com",
        "MONNIFY_API_KEY": rules.api_key,
        "MONNIFY_SECRET_KEY": rules.secret_key,
        "MONNIFY_WALLET_ACCOUNT": rules.wallet_account,
        "MONNIFY_CONTRACT_CODE": rules.accounts.contract_code,
    }
    run_twin(Twin(rules, collection), port, settings, collection)


class HostedPages(Protocol):
    """A part of a twin that has pages for payers. `base_url` is their address."""

    base_url: str


def run_twin(twin: Twin, port: int, settings: dict[str, str], pages: HostedPages | None = None) -> None:
    """Serves a twin until SIGINT or SIGTERM. Prints the settings that a deployment needs to use it."""

    async def serve() -> None:
        await twin.start(port)
        if pages is not None:
            pages.base_url = twin.url
        lines = {**settings, f"{twin.rules.name.upper()}_BASE_URL": twin.url}
        typer.echo(f"The twin of {twin.rules.name} listens on {twin.url}. To use it, start kasuwa serve with:\n")
        typer.echo("\n".join(f"export KASUWA_{name}={value}" for name, value in lines.items()))
        stopping = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        typer.echo("\nCtrl-C stops it.")
        await stopping.wait()
        await twin.stop()

    with one_line_errors():
        try:
            asyncio.run(serve())
        except OSError as error:
            raise typer.BadParameter(f"port {port} cannot be used: {error.strerror}") from None
