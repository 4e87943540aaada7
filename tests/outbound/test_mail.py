"""Sign-in links by mail: handed to a test mail server by SMTP."""

import asyncio
import re
from collections.abc import Iterator

import pytest

from kasuwa.outbound.mail import LinkSender, read_mail_server
from kasuwa.settings.settings import read_settings
from kasuwa.settings.values import SettingsError
from tests.outbound.postbox import Postbox, taking_mail

LINK = "https://console.example.com/link/a-token-that-lets-somebody-in"


@pytest.fixture
def postbox() -> Iterator[Postbox]:
    with taking_mail() as running:
        yield running


def test_a_link_goes_to_its_person_and_the_page_says_so_without_it(postbox: Postbox) -> None:
    result = asyncio.run(LinkSender(postbox.url).deliver("ada@example.com", LINK))
    [(to, text)] = postbox.letters
    assert (to, LINK in re.sub("=\r\n", "", text)) == ("ada@example.com", True)
    assert ("ada@example.com" in result, LINK in result) == (True, False)


def test_an_unreachable_mail_server_is_reported_without_the_link() -> None:
    result = asyncio.run(LinkSender("smtp://127.0.0.1:9?from=console@example.com").deliver("ada@example.com", LINK))
    assert ("could not be sent" in result, LINK in result) == (True, False)


def test_without_mail_the_system_administrator_hands_it_over(capsys: pytest.CaptureFixture[str]) -> None:
    result = asyncio.run(LinkSender("command").deliver("ada@example.com", LINK))
    assert ("kasuwa user link ada@example.com" in result, LINK in result, capsys.readouterr().out) == (True, False, "")
    assert LINK not in asyncio.run(LinkSender("print").deliver("ada@example.com", LINK))
    assert LINK in capsys.readouterr().out


def test_a_mail_server_is_read_from_its_address() -> None:
    found = read_mail_server("smtps://ada:p%40ss@mail.example.com?from=console@example.com")
    assert (found.host, found.port, found.user, found.password) == ("mail.example.com", 465, "ada", "p@ss")
    assert read_mail_server("smtp://mail.example.com?from=c@example.com").port == 587


@pytest.mark.parametrize(
    "address",
    [
        "smtp://mail.example.com",
        "smtp://?from=c@example.com",
        "http://mail.example.com?from=c@x",
        "smtp://h:port?from=a@b",
    ],
)
def test_an_address_that_is_none_is_refused_without_being_repeated(address: str) -> None:
    with pytest.raises(ValueError, match="mail server") as error:
        read_mail_server(address)
    assert address not in str(error.value)


def test_live_prints_no_links_and_a_wrong_way_is_named() -> None:
    with pytest.raises(SettingsError, match="KASUWA_INVITATIONS"):
        read_settings({"KASUWA_ENVIRONMENT": "live", "KASUWA_INVITATIONS": "print"})
    for wrong in ("pigeon", "smtp://no-sender"):
        with pytest.raises(SettingsError, match="KASUWA_INVITATIONS"):
            read_settings({"KASUWA_INVITATIONS": wrong})
    for wrong in ("lots", "0", "-1"):
        with pytest.raises(SettingsError, match="KASUWA_LARGE_AMOUNT"):
            read_settings({"KASUWA_LARGE_AMOUNT": wrong})
