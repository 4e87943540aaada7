"""`kasuwa mail`: what comes back of mails that were sent. Contract: resources#mail-states"""

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.commands.database import connect_patiently, make_audit_entry, record_audit_entry, run_with_services
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.decision import Decision
from kasuwa.core.mail import MailTry
from kasuwa.engine.batch import Submission
from kasuwa.engine.entropy import draw_entropy
from kasuwa.methods.mail.rules.on_bounce import (
    NOT_SENT_YET,
    NOTED,
    NOTHING_CHANGED,
    decide_bounce,
    need_bounced_mail,
)
from kasuwa.outbound.delivery_reports import FAILED, MAX_BYTES, DeliveryReport, read_report
from kasuwa.outbound.return_addresses import ReturnAddresses, may_name_try
from kasuwa.people import mails

if TYPE_CHECKING:
    from kasuwa.boot.composition import Services

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Record what comes back of mails.")

# The exit code by which a mail server keeps a mail, and gives it again later (EX_TEMPFAIL of sysexits.h).
TRY_AGAIN = 75
NOT_OURS = f"{NOTHING_CHANGED}: the report is not about a mail sent from here"


@command.callback()
def group() -> None:
    """Keeps `bounced` a word of its own while it is the only command."""


@command.command(name="bounced")
def record_returned(
    recipient: Annotated[str | None, typer.Option(help="Address that the mail was sent to.")] = None,
    data: DataOption = None,
) -> None:
    """Read one mail from standard input, and record the bounce if it is one of a mail sent from here.

    For the mailbox or the pipe that KASUWA_MAIL_BOUNCES leads to. Any other mail changes nothing. The exit code is 75
    if the mail is to be given again later."""
    content = read_bounded(sys.stdin.buffer)
    report = read_report(content)
    if report is None:
        typer.echo("nothing changed: this mail does not report that a mail failed or is late")
        return
    addressed = (recipient or "").encode() + b"\n" + content
    if not may_name_try(addressed):  # without asking the database: anybody can send such mails
        typer.echo(NOT_OURS)
        return
    try:
        typer.echo(run_with_services(data, partial(record, report, addressed)))
    except SystemExit as error:
        typer.echo(error.code, err=True)
        raise typer.Exit(TRY_AGAIN) from None
    except Exception as error:  # the mail server takes any other code for the end of a bounce
        typer.echo(f"kasuwa: {type(error).__name__}: the mail is to be given again", err=True)
        raise typer.Exit(TRY_AGAIN) from None


def read_bounded(stream: BinaryIO) -> bytes:
    """Returns the first MAX_BYTES. The rest is read too, so that whoever writes it can finish."""
    content = stream.read(MAX_BYTES)
    while stream.read(MAX_BYTES):
        pass
    return content


async def record(report: DeliveryReport, content: bytes, services: "Services") -> str:
    """Records a report, and returns a line about it that has nothing of any mail."""
    sent_as = ReturnAddresses(services.vault, "").find_try(content)
    if sent_as is None:
        return NOT_OURS
    is_final = report.action == FAILED
    write = record_of_merchant if sent_as.merchant_id else record_of_person
    outcome = await write(sent_as, report.code, is_final, services)
    return f"{sent_as.mail_id}: {outcome} {report.code}".rstrip()


def describe(is_final: bool) -> str:
    return "recorded a bounce" if is_final else "recorded that a mail is late"


async def record_of_merchant(sent_as: MailTry, code: str, is_final: bool, services: "Services") -> str:
    merchant = await services.merchant_directory.get_by_id(sent_as.merchant_id)
    entry = make_audit_entry(describe(is_final), sent_as.mail_id, after=code)
    rule = partial(decide_bounce, sent_as, code, is_final, entry)
    submission = Submission(merchant, need_bounced_mail(sent_as), rule, draw_entropy())
    result = await services.writer.submit(submission)
    assert isinstance(result, Decision), result
    if result.reply == NOT_SENT_YET:
        sys.exit(f"kasuwa: {NOT_SENT_YET}")
    return str(result.reply)


async def record_of_person(sent_as: MailTry, code: str, is_final: bool, services: "Services") -> str:
    connection = await connect_patiently(services.dsn)
    try:
        async with connection.transaction():
            if await mails.is_being_sent(connection, sent_as):
                sys.exit(f"kasuwa: {NOT_SENT_YET}")
            if not await mails.record_bounce(connection, sent_as, code, is_final=is_final):
                return NOTHING_CHANGED
            await record_audit_entry(connection, OPERATOR_CHAIN_ID, describe(is_final), sent_as.mail_id, after=code)
    finally:
        await connection.close()
    return mails.BOUNCED if is_final else NOTED
