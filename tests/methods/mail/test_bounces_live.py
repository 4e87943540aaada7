"""Bounces of the mails of a live service: recorded once, by whoever has the token of the mail, and by nobody else."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kasuwa.core.mail import MailTry
from kasuwa.core.mail_text import MailText
from kasuwa.core.row_codes import OPERATOR_ID
from kasuwa.outbound.return_addresses import HEADER, ReturnAddresses
from kasuwa.people import mails, users
from tests.command_processes import run_kasuwa
from tests.merchant_client import MerchantClient
from tests.methods.invoices.test_http import made
from tests.methods.mail.test_http import read, send
from tests.outbound import bounce_samples as samples
from tests.outbound.bounce_samples import fill
from tests.outbound.mail_server import SENDER, Letter, SmtpServer, taking_mail
from tests.rails.live_merchant import add_merchant
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until

TRIED_AGAIN = 75


class Live:
    """A live service, a merchant of it, and the mail server."""

    def __init__(self, service: Deployment, shop: MerchantClient, server: SmtpServer) -> None:
        self.service = service
        self.shop = shop
        self.server = server

    def mail_invoice(self) -> tuple[str, Letter]:
        mail_id = str(send(self.shop, made(self.shop)["invoice_id"])["data"]["mail_id"])
        return mail_id, self.take_letter(mail_id)

    def take_letter(self, mail_id: str) -> Letter:
        self.wait_for(mail_id, "sent")
        return next(one for one in reversed(self.server.letters) if mail_id.lower() in str(one.message["Message-ID"]))

    def wait_for(self, mail_id: str, status: str) -> None:
        wait_until(f"the mail is {status}", lambda: self.state(mail_id)[0] == status)

    def state(self, mail_id: str) -> tuple[str, str | None]:
        mail = read(self.shop, mail_id)["data"]
        return mail["status"], mail["reply_code"]

    def give(self, content: bytes, *options: str) -> str:
        """Gives a mail to the command, and returns what it says."""
        done = self.service.run_reading_command(content, "mail", "bounced", *options)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout.strip()

    def entries(self, mail_id: str) -> list[Any]:
        query = "select action, after from audit_entry where subject = $1 order by at"
        return [tuple(row) for row in self.service.fetch(query, mail_id)]


@pytest.fixture(scope="module")
def live(deployments: Deployments) -> Iterator[Live]:
    with taking_mail() as server:
        settings = {
            "KASUWA_ENVIRONMENT": "live",
            "KASUWA_CONSOLE": "off",
            "KASUWA_SECRET_KEY": base64.b64encode(bytes(range(32))).decode(),
            "KASUWA_SMTP_URL": server.url,
            "KASUWA_MAIL_FROM": SENDER.address,
            "KASUWA_MAIL_BOUNCES": "bounces@example.com",
        }
        with deployments.fresh("bounces", **settings) as service:
            shop, _ = add_merchant(service)
            with shop.connection:
                yield Live(service, shop, server)


def header_of(letter: Letter) -> str:
    return f"{HEADER}: {letter.message[HEADER]}"


def test_a_bounce_is_seen_by_the_merchant_and_recorded_once(live: Live) -> None:
    mail_id, letter = live.mail_invoice()
    assert re.fullmatch(r"bounces\+[a-z2-7]{44,50}@example\.com", letter.sender)
    assert str(letter.message["From"]) == "Ada Stores <console@example.com>"
    assert letter.sender == f"bounces+{letter.message[HEADER]}@example.com"
    bounce = fill(samples.POSTFIX, letter.sender, header_of(letter))
    assert live.give(bounce) == f"{mail_id}: bounced 550 5.1.1"
    assert live.state(mail_id) == ("bounced", "550 5.1.1")
    changed_at = read(live.shop, mail_id)["data"]["changed_at"]
    assert live.give(bounce).startswith(f"{mail_id}: nothing changed")
    assert live.give(fill(samples.SES, letter.sender)).startswith(f"{mail_id}: nothing changed")
    assert read(live.shop, mail_id)["data"]["changed_at"] == changed_at
    assert live.entries(mail_id) == [("recorded a bounce", "550 5.1.1")]
    listed = live.shop.put("resources", inquire="mail", status="bounced").body["data"]
    assert mail_id in [mail["mail_id"] for mail in listed]


def test_a_late_mail_is_noted_and_may_still_bounce(live: Live) -> None:
    mail_id, letter = live.mail_invoice()
    late = fill(samples.POSTFIX_DELAYED, letter.sender)
    assert live.give(late) == f"{mail_id}: noted 4.4.1"
    assert live.give(late).startswith(f"{mail_id}: nothing changed")
    assert live.state(mail_id) == ("sent", "4.4.1")
    assert live.give(fill(samples.POSTFIX_EXPIRED, letter.sender)) == f"{mail_id}: bounced 4.4.1"
    assert live.give(late).startswith(f"{mail_id}: nothing changed")
    assert live.state(mail_id) == ("bounced", "4.4.1")
    assert live.entries(mail_id) == [("recorded that a mail is late", "4.4.1"), ("recorded a bounce", "4.4.1")]


def test_a_bounce_of_an_earlier_try_changes_nothing(live: Live) -> None:
    mail_id, first = live.mail_invoice()
    live.give(fill(samples.EXIM, first.sender))
    assert live.state(mail_id) == ("bounced", "550 5.1.1")
    assert live.shop.put("resources", request="mail", mail_id=mail_id).body["status"] == 200
    second = live.take_letter(mail_id)
    assert (second.sender != first.sender, second.message["Message-ID"]) == (True, first.message["Message-ID"])
    assert live.give(fill(samples.EXIM, first.sender)).startswith(f"{mail_id}: nothing changed")
    assert live.state(mail_id)[0] == "sent"
    live.give(fill(samples.EXIM, second.sender))
    assert live.state(mail_id) == ("bounced", "550 5.1.1")


def test_a_mail_server_that_writes_another_sender_is_understood_by_the_header(live: Live) -> None:
    mail_id, letter = live.mail_invoice()
    live.give(fill(samples.GMAIL, "console@example.com", header_of(letter)))
    assert live.state(mail_id) == ("bounced", "550 5.1.1")


def test_the_address_may_be_given_as_an_option(live: Live) -> None:
    mail_id, letter = live.mail_invoice()
    live.give(fill(samples.EXIM_OLD, "postmaster@example.com"), "--recipient", letter.sender)
    assert live.state(mail_id) == ("bounced", None)


def test_a_bounce_without_the_token_of_the_mail_changes_nothing(live: Live) -> None:
    """The id of a mail, as its Message-ID has it, is not enough."""
    mail_id, letter = live.mail_invoice()
    token = str(letter.message[HEADER])
    guessed = letter.sender.replace(token[:8], "aaaaaaaa")
    for to in (guessed, f"bounces+{mail_id.lower()}@example.com", "bounces@example.com"):
        output = live.give(fill(samples.POSTFIX, to, f"Message-ID: {letter.message['Message-ID']}"))
        assert output == "nothing changed: the report is not about a mail sent from here"
    assert live.state(mail_id)[0] == "sent"
    assert live.entries(mail_id) == []


def test_an_answer_of_a_person_or_a_machine_changes_nothing(live: Live) -> None:
    mail_id, letter = live.mail_invoice()
    for sample in (samples.VACATION, samples.RECEIPT, samples.COMPLAINT):
        output = live.give(fill(sample, letter.sender, header_of(letter)))
        assert output == "nothing changed: this mail does not report that a mail failed or is late"
    assert live.state(mail_id)[0] == "sent"


def test_a_bounce_that_comes_before_the_answer_is_to_be_given_again(live: Live) -> None:
    """A try that is to come has not been answered, as one that is running."""
    live.server.faults.content_reply = b"451 4.3.0 later"
    try:
        mail_id = str(send(live.shop, made(live.shop)["invoice_id"])["data"]["mail_id"])
        wait_until("the first try has ended", lambda: live.state(mail_id) == ("queued", "451 4.3.0"))
    finally:
        live.server.faults.content_reply = b"250 2.0.0 taken"

    async def make_token(connection: Any) -> str:
        vault = await live.service.open_vault(connection)
        merchant_id = await connection.fetchval("select merchant_id from merchant where mid = $1", live.shop.mid)
        return ReturnAddresses(vault, "").make_token(MailTry(merchant_id, mail_id, 1))

    token = live.service.run_on_connection(make_token)
    given = live.service.run_reading_command(fill(samples.POSTFIX, f"bounces+{token}@example.com"), "mail", "bounced")
    assert (given.returncode, given.stdout, given.stderr) == (TRIED_AGAIN, "", "kasuwa: the mail is still being sent\n")
    assert live.state(mail_id) == ("queued", "451 4.3.0")


def mail_person(live: Live, email: str) -> str:
    """Queues a mail to a new person of the merchant, and returns its id."""

    async def queue(connection: Any) -> None:
        vault = await live.service.open_vault(connection)
        async with connection.transaction():
            user_id = await users.add_user(connection, vault, email, live.shop.mid, "merchant:owner")
            token = await users.make_link(connection, vault, user_id, "sign_in")
            assert await users.redeem_link(connection, vault, token)
            person = await users.get_user(connection, vault, user_id, live.shop.mid)
            assert person is not None
            await mails.queue_mail(connection, vault, person, mails.SIGN_IN_ALERT, email, MailText("Hi", "Hi,", ("?",)))

    live.service.run_on_connection(queue)
    [(mail_id,)] = live.service.fetch("select mail_id from person_mail order by number desc limit 1")
    return str(mail_id)


def person_state(live: Live, mail_id: str) -> tuple[str, str]:
    [row] = live.service.fetch("select status, reply_code from person_mail where mail_id = $1", mail_id)
    status, reply_code = row
    return str(status), str(reply_code)


def test_a_mail_to_a_person_that_comes_back_before_the_answer_is_given_again(live: Live) -> None:
    live.server.faults.content_reply = b"451 4.3.0 later"
    try:
        mail_id = mail_person(live, "ada@bounces.example")
        wait_until("the first try has ended", lambda: person_state(live, mail_id) == ("queued", "451 4.3.0"))
    finally:
        live.server.faults.content_reply = b"250 2.0.0 taken"

    async def make_token(connection: Any) -> str:
        vault = await live.service.open_vault(connection)
        return ReturnAddresses(vault, "").make_token(MailTry(OPERATOR_ID, mail_id, 1))

    bounce = fill(samples.POSTFIX, f"bounces+{live.service.run_on_connection(make_token)}@example.com")
    given = live.service.run_reading_command(bounce, "mail", "bounced")
    assert (given.returncode, given.stdout, given.stderr) == (TRIED_AGAIN, "", "kasuwa: the mail is still being sent\n")
    assert person_state(live, mail_id) == ("queued", "451 4.3.0")


def test_the_database_is_asked_only_about_what_looks_like_a_token(tmp_path: Path) -> None:
    """Anybody can write to the address of the bounces. Here is no database to be asked."""
    environment = {"KASUWA_DATA": str(tmp_path)}
    outcomes = []
    for to in ("bounces@example.com", f"bounces+{'a' * 44}@example.com"):
        done = run_kasuwa(("mail", "bounced"), environment, given=fill(samples.POSTFIX, to))
        outcomes.append((done.returncode, done.stdout, done.stderr != ""))
    not_ours = "nothing changed: the report is not about a mail sent from here\n"
    assert outcomes == [(0, not_ours, False), (TRIED_AGAIN, "", True)]


def test_a_mail_to_a_person_that_comes_back_is_seen_by_the_team(live: Live) -> None:
    def states() -> list[tuple[str, str]]:
        return [person_state(live, mail_id)]

    mail_id = mail_person(live, "bola@bounces.example")
    wait_until("the mail is sent", lambda: [status for status, _ in states()] == ["sent"])
    letter = next(one for one in reversed(live.server.letters) if one.to == "bola@bounces.example")
    assert live.give(fill(samples.POSTFIX_DELAYED, letter.sender)) == f"{mail_id}: noted 4.4.1"
    assert live.give(fill(samples.POSTFIX_DELAYED, letter.sender)).startswith(f"{mail_id}: nothing changed")
    assert states() == [("sent", "4.4.1")]
    assert live.give(fill(samples.EXCHANGE, letter.sender)) == f"{mail_id}: bounced 550 5.1.10"
    assert live.give(fill(samples.EXCHANGE, letter.sender)).startswith(f"{mail_id}: nothing changed")
    assert states() == [("bounced", "550 5.1.10")]
    assert live.entries(mail_id) == [("recorded that a mail is late", "4.4.1"), ("recorded a bounce", "550 5.1.10")]
