"""Mails of a live service: handed to a mail server by the worker, and what a killed worker leaves behind."""

import base64
from collections.abc import Iterator
from typing import NamedTuple

import psutil
import pytest

from tests.merchant_client import MerchantClient
from tests.methods.invoices.test_http import made
from tests.methods.mail.test_http import read, send
from tests.outbound.mail_server import SENDER, SmtpServer, taking_mail
from tests.privacy.test_key_rotation import pids
from tests.rails.live_merchant import add_merchant
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until


class Live(NamedTuple):
    service: Deployment
    shop: MerchantClient
    server: SmtpServer

    def mail_invoice(self) -> str:
        return str(send(self.shop, made(self.shop)["invoice_id"])["data"]["mail_id"])

    def wait_for(self, mail_id: str, status: str) -> None:
        wait_until(f"the mail is {status}", lambda: read(self.shop, mail_id)["data"]["status"] == status)


@pytest.fixture(scope="module")
def live(deployments: Deployments) -> Iterator[Live]:
    with taking_mail() as server:
        settings = {
            "KASUWA_ENVIRONMENT": "live",
            "KASUWA_CONSOLE": "off",
            "KASUWA_SECRET_KEY": base64.b64encode(bytes(range(32))).decode(),
            "KASUWA_SMTP_URL": server.url,
            "KASUWA_MAIL_FROM": SENDER.address,
        }
        with deployments.fresh("mail", **settings) as service:
            shop, _ = add_merchant(service)
            with shop.connection:
                yield Live(service, shop, server)


@pytest.fixture(autouse=True)
def forget(live: Live) -> None:
    live.server.letters.clear()


def test_an_invoice_reaches_the_mail_server_of_the_deployment(live: Live) -> None:
    mail_id = live.mail_invoice()
    live.wait_for(mail_id, "sent")
    [letter] = live.server.letters
    assert (letter.sender, letter.to) == (SENDER.address, "ada@example.com")
    assert str(letter.message["Message-ID"]) == f"<{mail_id.lower()}@example.com>"
    assert str(letter.message["From"]) == "Ada Stores <console@example.com>"
    assert letter.text == read(live.shop, mail_id)["data"]["text"]


def test_a_refused_recipient_is_seen_by_the_merchant(live: Live) -> None:
    live.server.faults.recipients["ada@example.com"] = b"550 5.1.1 ada@example.com: nobody"
    try:
        mail_id = live.mail_invoice()
        live.wait_for(mail_id, "failed")
    finally:
        live.server.faults.recipients.clear()
    assert (read(live.shop, mail_id)["data"]["reply_code"], live.server.letters) == ("550 5.1.1", [])


def test_a_mail_whose_worker_is_killed_behind_its_content_is_not_sent_twice(live: Live) -> None:
    """The server has the mail, and its answer never reaches the worker. Whoever takes the job over cannot know."""
    live.server.faults.hangs_at = "."
    try:
        mail_id = live.mail_invoice()
        wait_until("the server has the mail", lambda: len(live.server.letters) == 1)
        for pid in pids(live.service, "worker"):
            psutil.Process(pid).kill()
    finally:
        live.server.faults.hangs_at = ""
    live.wait_for(mail_id, "unknown")
    assert len(live.server.letters) == 1
    assert live.shop.put("resources", request="mail", mail_id=mail_id).body["status"] == 200
    live.wait_for(mail_id, "sent")
    ids = {str(letter.message["Message-ID"]) for letter in live.server.letters}
    assert (len(live.server.letters), len(ids)) == (2, 1)
