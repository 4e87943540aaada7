"""The command `kasuwa`: its commands by name. The module of each is imported only when the command runs.

A shell asks for completions at every press of the tab key, and the commands take most of a second to import.
"""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from kasuwa.commands.plain_values import convert_plain_values

# Each command with the module below commands/ and the name of the function or group in it, and its help.
COMMANDS = {
    "serve": ("serve:serve", "Run the service: API, job worker, console and, unless given one, its own PostgreSQL."),
    "status": ("status:status", "Say whether a server is up and ready. The exit code is 1 if it is not."),
    "migrate": ("migrate:migrate_database", "Bring the database's schema up to date."),
    "database": ("distribute:command", "Distribute the database over several servers."),
    "doctor": ("doctor:doctor", "Say what is wrong with this deployment, and how to mend it."),
    "audit": (
        "audit:audit",
        "Check the laws of the books, the chains, the closes and the codes of rows.",
    ),
    "close": ("close:close", "Close the books: sign the heads of all merchants' chains, and publish them."),
    "verify": ("verify:verify", "Check a proof or a manifest of evidence, without the database."),
    "evidence": ("evidence:make", "Write what an auditor asks for to a directory, and sign it."),
    "restore-test": (
        "restore_test:check_restore",
        "Check a restored backup, and record the result in the audit trail.",
    ),
    "docs": ("docs:write_docs", "Write the documentation to a directory, as a static site."),
    "listen": ("events:listen_to_events", "Print a merchant's events as they happen, and forward them, signed."),
    "trigger": (
        "events:trigger_event",
        "Send the event of a reference again, or make an event happen on a test server.",
    ),
    "log": ("request_log:show_log", "Show a merchant's requests to a test server, with their replies."),
    "certify": ("certify:certify", "Check whether an application that uses the service survives reality."),
    "record": (
        "record:record",
        "Run an application, and keep its requests and the replies of a test server in a file.",
    ),
    "mcp": ("mcp:serve_assistant", "Serve a running server to an assistant, by the Model Context Protocol."),
    "keys": ("keys:command", "List, rotate and drop the keys that encrypt."),
    "merchant": ("merchant:command", "List, add and change merchants."),
    "user": ("user:command", "Manage users of the console."),
    "bills": ("bills:command", "Manage the bill catalogue."),
    "client": ("client:command", "Export, find and erase the personal data of a client."),
    "customer": ("customer:command", "Export, find and erase the data of a customer."),
    "mail": ("mail:command", "Record what comes back of mails."),
    "loan": ("loan:command", "Write off loans."),
    "dispute": ("dispute:command", "Open, decide and hand in disputes of payments."),
    "rail": ("rail:command", "Report on rails, and check one that speaks the rail protocol."),
    "rates": ("rates:command", "Show and set exchange rates."),
    "reconcile": (
        "reconcile:command",
        "Compare statements with the books, and show disputes, settlements and unclaimed money of the rails.",
    ),
    "export": ("export:command", "Write the books for accounting programs."),
    "report": ("report:command", "Report on all merchants."),
    "twin": ("twin:command", "Simulate the API of a vendor on this machine."),
    "world": (
        "world:command",
        "Store, restore, copy, compare, export and import the worlds of a merchant of a test server.",
    ),
    "case": ("case:command", "Take what happened to a reference out of a deployment, and play it in a test server."),
    "split": ("split:command", "Manage the beneficiaries of split payments."),
}

convert_plain_values()


@contextlib.contextmanager
def without_rich() -> Iterator[None]:
    """Lets the imports of the block find no package `rich`. structlog would import it to draw the tracebacks of errors:
    none is drawn here, and that takes a tenth of all the imports of a start."""
    if "rich" in sys.modules:
        yield
        return
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["rich"]


def load_command(name: str) -> Any:
    """Imports a command. Returns it as typer runs it: a TyperCommand, or a TyperGroup with commands."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    with without_rich():
        command = getattr(importlib.import_module(f"kasuwa.commands.{module}"), attribute)
    if not isinstance(command, typer.Typer):
        alone = typer.Typer(add_completion=False)
        alone.command(name=name)(command)
        command = alone
    command.rich_markup_mode = "markdown"  # joins the lines of a paragraph
    return typer.main.get_command(command)


class LazyCommands(TyperGroup):
    """Holds an empty command with the help of each command, and loads the real one when it is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (_, text) in COMMANDS.items():
            self.add_command(TyperCommand(name, help=text, short_help=text))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Prints the list of commands as plain text: to draw it takes longer to import than all else together."""
        self.rich_markup_mode = None
        super().format_help(ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load_command(str(name)), rest


command = typer.Typer(
    cls=LazyCommands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(is_given: bool) -> None:
    if is_given:
        # Imported here: a start needs no git.
        from kasuwa.commands.build_commit import describe_version

        typer.echo(describe_version())
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option(
        "--version", callback=print_version, is_eager=True, help="Print the version and its commit, and exit."
    ),
]


@command.callback()
def describe(version: VersionOption = False) -> None:
    """Run and administer a Kasuwa deployment. Every error is reported in one line."""


def main() -> None:
    try:
        command(prog_name="kasuwa")
    except OSError as error:  # such as a home directory that --install-completion cannot write to
        sys.exit(f"kasuwa: {error}")


if __name__ == "__main__":
    main()
