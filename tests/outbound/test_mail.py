"""Mails by SMTP, against a mail server with faults: what was sent, what certainly was not, and what nobody knows."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from kasuwa.core.mail import Mail, is_address
from kasuwa.outbound import mail as mail_module
from kasuwa.outbound.mail import (
    MailNotSent,
    MailOutcomeUnknown,
    MailRefused,
    MailTransport,
    compose,
)
from kasuwa.rails.mail_system import MailPace, SmtpMail
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.mail import REPLY_CODE
from kasuwa.rails.ports.orders import NoAnswer, NothingSent, Unavailable
from kasuwa.settings.mail_server import read_mail_server, read_sender
from kasuwa.settings.settings import choose_invitations, parse_mail_server, read_settings
from kasuwa.settings.values import SettingsError
from kasuwa.terms.mail import find_reply_to_fault
from tests.certificates import Authority
from tests.outbound.mail_server import SENDER, SmtpServer, make_server_context, taking_mail

AT = datetime(2026, 3, 5, 9, 30, tzinfo=UTC)
MAIL = Mail(
    message_id="ml0001",
    to="ada@example.com",
    to_name="Ada Obi",
    subject="Invoice INV-000001",
    text=".\n..dots begin these lines\nNGN 12,500.00 – ₦\n",
    html="<p>NGN 12,500.00</p>",
    sender_name="Bola & Sons",
    reply_to="office@example.com",
    at=AT,
)


class Encrypted(NamedTuple):
    """A server with a certificate, and the CA by which clients know it."""

    server: SmtpServer
    ca: Path


@pytest.fixture
def server() -> Iterator[SmtpServer]:
    with taking_mail() as running:
        yield running


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("mail"), "mail")


@pytest.fixture
def encrypted(authority: Authority) -> Iterator[Encrypted]:
    files = authority.issue("localhost", is_client=False)
    with taking_mail(make_server_context(files.certificate, files.key)) as running:
        yield Encrypted(running, files.ca)


def send(transport: MailTransport, mail: Mail = MAIL) -> None:
    try:
        asyncio.run(transport.send(mail))
    finally:
        transport.close()


def failure(transport: MailTransport, mail: Mail = MAIL) -> Exception:
    with pytest.raises((MailRefused, MailNotSent, MailOutcomeUnknown)) as error:
        send(transport, mail)
    for secret in (mail.to, mail.text, "pass-word"):
        assert secret not in repr(error.value)
    return error.value


# --- what is sent ---------------------------------------------------------------------------------------------------


def test_a_mail_arrives_as_it_was_written(server: SmtpServer) -> None:
    send(server.transport())
    [letter] = server.letters
    message = letter.message
    assert (letter.sender, letter.to) == (SENDER.address, MAIL.to)
    assert letter.text == MAIL.text
    html = message.get_body(("html",))
    assert html is not None
    assert html.get_content().strip() == MAIL.html
    assert [str(message[name]) for name in ("From", "To", "Reply-To", "Subject", "Message-ID", "Auto-Submitted")] == [
        "Bola & Sons <console@example.com>",
        "Ada Obi <ada@example.com>",
        "office@example.com",
        MAIL.subject,
        "<ml0001@example.com>",
        "auto-generated",
    ]
    assert str(message["Date"]) == "Thu, 05 Mar 2026 09:30:00 +0000"
    assert max(map(len, letter.content.split(b"\r\n"))) <= 998
    assert letter.content.isascii()


def test_every_try_of_a_mail_has_the_same_message_id() -> None:
    assert compose(MAIL, SENDER).count(b"Message-ID: <ml0001@example.com>\r\n") == 1


def test_a_line_break_in_a_header_is_refused_before_anything_is_sent(server: SmtpServer) -> None:
    error = failure(server.transport(), msgspec.structs.replace(MAIL, subject="Invoice\r\nBcc: all@example.com"))
    assert isinstance(error, MailRefused)
    assert server.commands == []


BAD_ADDRESSES = (
    "adé@example.com",
    "ada",
    "ada@",
    "@example.com",
    "a b@example.com",
    "a@b>x",
    "ada@example..com",
    "ada@example.com.",
    ".ada@example.com",
    "ada.@example.com",
    "a..b@example.com",
    "a@[b",
    "a[x@b.c",
    "a@b:c",
    "ada@[127.0.0.1]",
    "a@b@c",
    "ada@example.com\n",
    '"a b"@example.com',
)


@pytest.mark.parametrize("address", ["ada@example.com", "o'neil+x@sub.example.co.uk", "a.b_c-d/e=f@localhost"])
def test_an_address_is_words_with_dots_between_them(server: SmtpServer, address: str) -> None:
    assert is_address(address)
    send(server.transport(), msgspec.structs.replace(MAIL, to=address, reply_to=address))
    assert [letter.to for letter in server.letters] == [address]


@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_a_reply_address_that_is_none_is_refused_before_anything_is_sent(server: SmtpServer, address: str) -> None:
    assert find_reply_to_fault(address) is not None
    rail = SmtpMail(server.transport(), MailPace(600))
    if address.isascii():
        answer = asyncio.run(rail.send(msgspec.structs.replace(MAIL, reply_to=address)))
        assert (answer.status, dict(answer.facts), server.commands) in [
            (orders.FAILED, {}, []),
            (orders.SUCCESSFUL, {}, server.commands),
        ]


def test_a_mail_that_the_server_was_not_asked_about_has_no_reply_code(server: SmtpServer) -> None:
    for changed in ({"to": "a[x@b.c"}, {"reply_to": "a@[b"}, {"subject": "Invoice\r\nBcc: all@example.com"}):
        rail = SmtpMail(server.transport(), MailPace(600))
        answer = asyncio.run(rail.send(msgspec.structs.replace(MAIL, **changed)))
        assert (answer.status, dict(answer.facts), server.commands) == (orders.FAILED, {}, [])
        assert answer.message


@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_an_address_that_smtp_cannot_carry_is_refused(server: SmtpServer, address: str) -> None:
    assert not is_address(address)
    error = failure(server.transport(), msgspec.structs.replace(MAIL, to=address, text="-"))
    assert (type(error), server.commands) == (MailRefused, [])


# --- TLS ------------------------------------------------------------------------------------------------------------


def test_a_mail_goes_by_starttls_with_the_login_behind_it(encrypted: Encrypted) -> None:
    send(encrypted.server.transport(ca=encrypted.ca, user="console"))
    [letter] = encrypted.server.letters
    assert (letter.is_encrypted, letter.user) == (True, "console")
    assert encrypted.server.commands[:4] == ["EHLO", "STARTTLS", "EHLO", "AUTH"]


def test_a_mail_goes_by_tls_from_the_start(authority: Authority) -> None:
    files = authority.issue("localhost", is_client=False)
    with taking_mail(make_server_context(files.certificate, files.key), has_implicit_tls=True) as server:
        send(server.transport(ca=files.ca, user="console"))
        [letter] = server.letters
        assert (letter.is_encrypted, letter.user, "STARTTLS" in server.commands) == (True, "console", False)


@pytest.mark.parametrize("fault", ["not offered", "refused", "another name", "another CA"])
def test_without_the_tls_that_is_asked_for_nothing_is_sent(authority: Authority, tmp_path: Path, fault: str) -> None:
    files = authority.issue("elsewhere.example" if fault == "another name" else "localhost", is_client=False)
    ca = Authority(tmp_path, "stranger").path if fault == "another CA" else files.ca
    with taking_mail(make_server_context(files.certificate, files.key)) as server:
        server.faults.offers_starttls = fault != "not offered"
        if fault == "refused":
            server.faults.starttls_reply = b"454 4.7.0 not now"
        assert isinstance(failure(server.transport(ca=ca, user="console")), MailNotSent)
        assert (server.letters, {"AUTH", "MAIL", "DATA"} & set(server.commands)) == ([], set())


def test_a_reply_in_clear_does_not_count_behind_starttls(encrypted: Encrypted) -> None:
    encrypted.server.faults.injects_after_starttls = True
    try:
        send(encrypted.server.transport(ca=encrypted.ca))
    except MailNotSent:
        assert encrypted.server.letters == []
    else:
        assert [letter.is_encrypted for letter in encrypted.server.letters] == [True]


def test_a_wrong_login_is_not_the_mails_fault(encrypted: Encrypted) -> None:
    error = failure(encrypted.server.transport(ca=encrypted.ca, user="stranger"))
    assert isinstance(error, MailNotSent)
    assert (error.code, encrypted.server.letters) == ("535 5.7.8", [])


# --- outcomes -------------------------------------------------------------------------------------------------------


def test_a_refused_recipient_is_final_and_only_its_code_is_shown(server: SmtpServer) -> None:
    server.faults.recipients[MAIL.to] = b"550 5.1.1 ada@example.com is nobody here"
    error = failure(server.transport())
    assert (type(error), str(error), server.letters) == (MailRefused, "550 5.1.1", [])
    send(server.transport(), msgspec.structs.replace(MAIL, to="bola@example.com"))
    assert [letter.to for letter in server.letters] == ["bola@example.com"]


@pytest.mark.parametrize(
    ("reply", "kind", "code"),
    [
        (b"450 4.2.1 busy", MailNotSent, "450 4.2.1"),
        (b"421 closing", MailNotSent, "421"),
        (b"552 5.3.4 too big", MailRefused, "552 5.3.4"),
    ],
)
@pytest.mark.parametrize("place", ["recipient", "content"])
def test_a_reply_of_4yz_is_tried_again_and_one_of_5yz_is_not(
    server: SmtpServer, reply: bytes, kind: type[Exception], code: str, place: str
) -> None:
    if place == "recipient":
        server.faults.recipients[MAIL.to] = reply
    else:
        server.faults.content_reply = reply
    error = failure(server.transport())
    assert (type(error), server.letters) == (kind, [])
    assert code == (error.code if isinstance(error, MailNotSent) else str(error))


def test_a_server_that_turns_everybody_away_is_not_the_mails_fault(server: SmtpServer) -> None:
    server.faults.greeting = b"554 5.3.2 no service"
    assert isinstance(failure(server.transport()), MailNotSent)


@pytest.mark.parametrize("command", ["EHLO", "MAIL", "RCPT", "DATA"])
def test_a_connection_lost_before_the_content_is_tried_again(server: SmtpServer, command: str) -> None:
    server.faults.drops_at = command
    assert isinstance(failure(server.transport()), MailNotSent)
    assert server.letters == []


def test_a_connection_lost_behind_the_content_leaves_the_outcome_unknown(server: SmtpServer) -> None:
    server.faults.drops_after_content = True
    assert isinstance(failure(server.transport()), MailOutcomeUnknown)
    assert len(server.letters) == 1


def test_an_answer_to_the_content_that_cannot_be_read_leaves_the_outcome_unknown(server: SmtpServer) -> None:
    server.faults.content_reply = b"2x0 what"
    assert isinstance(failure(server.transport()), MailOutcomeUnknown)


def test_a_lost_goodbye_changes_nothing(server: SmtpServer) -> None:
    server.faults.drops_at = "QUIT"
    send(server.transport())
    assert len(server.letters) == 1


@pytest.mark.parametrize(("command", "kind"), [("RCPT", MailNotSent), (".", MailOutcomeUnknown)])
def test_a_server_that_never_answers_is_given_up(
    server: SmtpServer, monkeypatch: pytest.MonkeyPatch, command: str, kind: type[Exception]
) -> None:
    monkeypatch.setattr(mail_module, "SEND_SECONDS", 0.3)
    server.faults.hangs_at = command
    assert type(failure(server.transport())) is kind


def test_a_mail_that_finds_all_connections_busy_was_not_sent(
    server: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_module, "MAX_CONNECTIONS", 1)
    monkeypatch.setattr(mail_module, "QUEUE_SECONDS", 0.1)
    server.is_open.clear()

    async def send_two() -> None:
        transport = server.transport()
        first = asyncio.ensure_future(transport.send(MAIL))
        while not server.waiting:
            await asyncio.sleep(0.01)
        with pytest.raises(MailNotSent, match="busy"):
            await transport.send(MAIL)
        server.is_open.set()
        await first
        transport.close()

    asyncio.run(send_two())
    assert len(server.letters) == 1


def test_an_unreachable_server_was_sent_nothing() -> None:
    server = read_mail_server("smtp://127.0.0.1:9")
    assert isinstance(failure(MailTransport(server, SENDER)), MailNotSent)


def test_the_rail_tells_the_outcomes_apart(server: SmtpServer) -> None:
    async def try_all() -> None:
        rail = SmtpMail(server.transport(), MailPace(600))
        assert (await rail.send(MAIL)).status == orders.SUCCESSFUL
        server.faults.recipients[MAIL.to] = b"550 5.1.1 nobody"
        refused = await rail.send(MAIL)
        assert (refused.status, refused.facts) == (orders.FAILED, {REPLY_CODE: "550 5.1.1"})
        server.faults.recipients[MAIL.to] = b"450 4.2.1 busy"
        with pytest.raises(Unavailable) as later:
            await rail.send(MAIL)
        assert later.value.facts == {REPLY_CODE: "450 4.2.1"}
        server.faults.recipients.clear()
        server.faults.drops_after_content = True
        with pytest.raises(NoAnswer):
            await rail.send(MAIL)

    asyncio.run(try_all())


# --- names that people wrote ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["service@bank.example", "Bank <x@bank.example>", "service\uff20bank.example", "\r\nBcc: all@example.com"],
)
def test_a_name_that_looks_like_an_address_or_a_header_is_not_shown(server: SmtpServer, name: str) -> None:
    asyncio.run(server.transport().send(msgspec.structs.replace(MAIL, sender_name=name, to_name=name)))
    [letter] = server.letters
    assert str(letter.message["From"]) == "Kasuwa <console@example.com>"
    assert str(letter.message["To"]) == MAIL.to
    assert letter.message["Bcc"] is None


def test_a_name_is_shown_on_one_line_without_what_cannot_be_seen(server: SmtpServer) -> None:
    asyncio.run(server.transport().send(msgspec.structs.replace(MAIL, sender_name="Ada\n\u202eStores", to_name="")))
    assert str(server.letters[0].message["From"]) == "Ada Stores <console@example.com>"


# --- the share of the deployment ------------------------------------------------------------------------------------


def test_mails_beyond_the_share_of_the_deployment_wait_one_after_the_other() -> None:
    pace = MailPace(60)
    assert [pace.take(100.0) for _ in range(10)] == [0.0] * 10
    waits = [pace.take(100.0) for _ in range(3)]
    assert waits == sorted(set(waits))
    assert waits[0] >= 1.0
    assert pace.take(100.0 + waits[0]) == 0.0


def test_a_mail_that_is_held_back_is_no_try(server: SmtpServer) -> None:
    async def send_two() -> NothingSent:
        rail = SmtpMail(server.transport(), MailPace(1))
        await rail.send(MAIL)
        with pytest.raises(NothingSent) as held:
            await rail.send(MAIL)
        return held.value

    assert asyncio.run(send_two()).retry_after > 0
    assert len(server.letters) == 1


# --- settings -------------------------------------------------------------------------------------------------------


def test_a_mail_server_is_read_from_its_address() -> None:
    found = read_mail_server("smtps://ada:p%40ss@mail.example.com")
    assert (found.host, found.port, found.user, found.password) == ("mail.example.com", 465, "ada", "p@ss")
    assert (found.has_implicit_tls, found.is_in_clear, "p@ss" in repr(found)) == (True, False, False)
    by_starttls, local = read_mail_server("smtp://mail.example.com"), read_mail_server("smtp://127.0.0.1:25")
    assert (by_starttls.port, by_starttls.has_implicit_tls, by_starttls.is_in_clear) == (587, False, False)
    assert (local.port, local.is_in_clear) == (25, True)


@pytest.mark.parametrize(
    "address",
    ["smtp://mail.example.com?from=c@example.com", "smtp://", "http://mail.example.com", "smtp://h:port", "smtp://h/x"],
)
def test_an_address_that_is_none_is_refused_without_being_repeated(address: str) -> None:
    with pytest.raises(ValueError, match=r"^(must be smtp|cannot be read)") as error:
        read_mail_server(address)
    assert address == "smtp://" or address not in str(error.value)
    with pytest.raises(SettingsError, match="KASUWA_SMTP_URL"):
        read_settings({"KASUWA_SMTP_URL": address, "KASUWA_MAIL_FROM": "us@example.com"})


def test_a_sender_is_an_address_with_or_without_a_name() -> None:
    assert (read_sender("us@example.com").address, read_sender("us@example.com").name) == ("us@example.com", "")
    assert read_sender("Kasuwa <us@example.com>").name == "Kasuwa"
    for wrong in ("Kasuwa", "us@", "a@b, c@d"):
        with pytest.raises(SettingsError, match="KASUWA_MAIL_FROM"):
            read_settings({"KASUWA_SMTP_URL": "smtp://mail.example.com", "KASUWA_MAIL_FROM": wrong})
    with pytest.raises(SettingsError, match="needs KASUWA_MAIL_FROM"):
        read_settings({"KASUWA_SMTP_URL": "smtp://mail.example.com"})


def test_links_are_mailed_in_live_if_there_is_a_server() -> None:
    live = {"KASUWA_ENVIRONMENT": "live"}
    server = {"KASUWA_SMTP_URL": "smtp://mail.example.com", "KASUWA_MAIL_FROM": "us@example.com"}
    assert choose_invitations(read_settings(live)) == "command"
    assert choose_invitations(read_settings(live | server)) == "mail"
    assert choose_invitations(read_settings(server)) == "print"
    assert choose_invitations(read_settings(live | server | {"KASUWA_INVITATIONS": "command"})) == "command"
    assert parse_mail_server(read_settings(live)) is None


def test_live_prints_no_links_and_a_wrong_way_is_named() -> None:
    with pytest.raises(SettingsError, match="KASUWA_INVITATIONS"):
        read_settings({"KASUWA_ENVIRONMENT": "live", "KASUWA_INVITATIONS": "print"})
    with pytest.raises(SettingsError, match="KASUWA_INVITATIONS is mail, which needs KASUWA_SMTP_URL"):
        read_settings({"KASUWA_INVITATIONS": "mail"})
    for wrong in ("pigeon", "smtp://me:secret@mail.example.com?from=us@example.com"):
        with pytest.raises(SettingsError, match="KASUWA_INVITATIONS") as error:
            read_settings({"KASUWA_INVITATIONS": wrong})
        assert "secret" not in str(error.value)
    for wrong in ("lots", "0", "-1"):
        with pytest.raises(SettingsError, match="KASUWA_LARGE_AMOUNT"):
            read_settings({"KASUWA_LARGE_AMOUNT": wrong})
