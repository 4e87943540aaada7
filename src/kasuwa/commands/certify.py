"""`kasuwa certify`: checks how an application integrates the service."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from kasuwa.commands.listening import ListenError, check_address
from kasuwa.settings.settings import DEMO_KEY, DEMO_MID

if TYPE_CHECKING:  # they need the Python client, which comes with kasuwa[testing]
    from kasuwa.integration.application import Application
    from kasuwa.integration.check import Check, Pace, Session
    from kasuwa.integration.run import Outcome

CANNOT_RUN = 2
DEFAULT_SERVER = "http://127.0.0.1:8080"


def certify(
    app: Annotated[str, typer.Option(help="URL at which the application receives events.")],
    run: Annotated[
        str | None, typer.Option(help="Command that starts the application; it is ended when the checks are done.")
    ] = None,
    order: Annotated[
        str | None, typer.Option(help="URL of the application that takes an order, by POST, paid by bank transfer.")
    ] = None,
    order_body: Annotated[str, typer.Option(help="The body of that request.")] = "",
    payout: Annotated[str | None, typer.Option(help="URL of the application that pays out, by POST.")] = None,
    payout_body: Annotated[str, typer.Option(help="The body of that request.")] = "",
    fulfilled: Annotated[
        str | None,
        typer.Option(
            help="URL that answers how often an order is fulfilled, with {txnRef} or {customerRef} of its payment."
        ),
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Run only this check. May be given several times.")] = None,
    junit: Annotated[Path | None, typer.Option(help="File to write the findings to, as JUnit.")] = None,
    html: Annotated[Path | None, typer.Option(help="File to write the findings to, as one HTML page.")] = None,
    server: Annotated[
        str | None,
        typer.Option(envvar="KASUWA_URL", help="Address of a running test server. With --run, one is started if none."),
    ] = None,
    mid: Annotated[str, typer.Option(envvar="KASUWA_MID", help="Without --run, the merchant of the application.")] = (
        DEMO_MID
    ),
    key: Annotated[str, typer.Option(envvar="KASUWA_KEY", help="Its key.")] = DEMO_KEY,
    secret: Annotated[
        str | None, typer.Option(envvar="KASUWA_SIGNING_SECRET", help="Its signing secret, if that is not the key.")
    ] = None,
    hold: Annotated[
        float, typer.Option(min=0, help="Seconds for which a reply is withheld, to see that the application gives up.")
    ] = 65.0,
) -> None:
    """Check whether an application that uses the service survives reality.

    Events are played to it: repeated, forged, late, in pieces. With --run it is started with a new test merchant
    behind a gateway, and what it sends is read: it takes orders that are paid, or not. The exit code is 0 if no check
    failed, 1 if one did, and 2 if none could run."""
    if find_spec("kasuwa_client") is None:
        refuse("certify needs the Python client: pip install 'kasuwa[testing]'")
    from kasuwa.integration.application import Application
    from kasuwa.integration.check import Pace
    from kasuwa.integration.run import CannotRun, observe
    from kasuwa.testing.server import ServerFailed

    try:
        for url in filter(None, (app, order, payout, fulfilled, server)):
            check_address(url.replace("{", "").replace("}", ""))
        for option, command_url in (("--order", order), ("--payout", payout)):
            if command_url is not None and run is None:
                raise CannotRun(f"{option} needs --run: orders of certify are those of a test merchant of its own")
        application = Application(app, fulfilled, order, order_body, payout, payout_body)
        checks, pace = choose_checks(only), Pace(hold=hold)
        with ExitStack() as at_end:
            if run is not None:
                session = at_end.enter_context(start(run, application, pace, server))
            else:
                session = observe(application, pace, server, mid, key, secret or key)
            outcome = play(session, checks, f"{(server or DEFAULT_SERVER).rstrip('/')}/docs/")
    except (CannotRun, ServerFailed, ListenError) as error:
        refuse(str(error))
    try:
        write_reports(outcome, junit, html)
    except OSError as error:
        typer.echo(f"kasuwa: the report cannot be written: {error}", err=True)
        raise typer.Exit(CANNOT_RUN) from None
    raise typer.Exit(1 if outcome.is_failed else 0)


def refuse(reason: str) -> NoReturn:
    typer.echo(f"kasuwa: no check was run. {reason}", err=True)
    raise typer.Exit(CANNOT_RUN)


def choose_checks(only: list[str] | None) -> "list[Check]":
    """Returns the checks of these ids, or all. Raises ListenError for an id that no check has."""
    from kasuwa.integration.all_checks import ALL_CHECKS

    known = {check.id: check for check in ALL_CHECKS}
    for check_id in only or ():
        if check_id not in known:
            raise ListenError(f"there is no check {check_id}: choose from {', '.join(known)}")
    return [known[check_id] for check_id in only] if only else list(ALL_CHECKS)


@contextmanager
def start(command: str, application: "Application", pace: "Pace", url: str | None) -> "Iterator[Session]":
    """Starts the application with a new merchant of a running server, or of one that is started too."""
    from kasuwa.integration.run import started
    from kasuwa.testing.server import serve

    with serve(url=url) as server, started(command, application, server, pace) as session:
        yield session


def play(session: "Session", checks: "list[Check]", documentation: str) -> "Outcome":
    """Runs the checks, and prints a line for each when it is done, and what is to mend at the end."""
    from kasuwa.integration import report, run

    outcome = run.play(session, checks, documentation, lambda finding: typer.echo(report.describe_line(finding)))
    typer.echo(report.describe(outcome))
    return outcome


def write_reports(outcome: "Outcome", junit: Path | None, html: Path | None) -> None:
    """Raises OSError."""
    from kasuwa.integration import report

    if junit is not None:
        junit.write_bytes(report.render_junit(outcome))
    if html is not None:
        html.write_text(report.render_html(outcome), encoding="utf-8")
