"""Text messages of a live service: taken by the twin of the vendor, and what a killed worker leaves behind."""

import base64
from collections.abc import Iterator
from typing import NamedTuple

import psutil
import pytest

from kasuwa.rails.twins.server import Twin, TwinThread
from kasuwa.rails.twins.termii import TermiiRules
from tests.merchant_client import MerchantClient
from tests.methods.mail.test_http import read, send_text_to
from tests.privacy.test_key_rotation import pids
from tests.rails.live_merchant import add_merchant
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until


class Live(NamedTuple):
    service: Deployment
    shop: MerchantClient
    twin: Twin
    rules: TermiiRules

    def wait_for(self, mail_id: str, status: str) -> None:
        wait_until(f"the message is {status}", lambda: read(self.shop, mail_id)["data"]["status"] == status)


@pytest.fixture(scope="module")
def live(deployments: Deployments) -> Iterator[Live]:
    rules = TermiiRules()
    with TwinThread(Twin(rules)) as twin:
        settings = {
            "KASUWA_ENVIRONMENT": "live",
            "KASUWA_CONSOLE": "off",
            "KASUWA_SECRET_KEY": base64.b64encode(bytes(range(32))).decode(),
            "KASUWA_RAIL_LOOPBACK": "on",
            "KASUWA_TERMII_BASE_URL": twin.url,
            "KASUWA_TERMII_API_KEY": rules.api_key,
            "KASUWA_SMS_FROM": rules.senders[0],
        }
        with deployments.fresh("sms", **settings) as service:
            shop, _ = add_merchant(service)
            service.change_settings(shop.mid, mail={"sms": True})
            with shop.connection:
                yield Live(service, shop, twin, rules)


@pytest.fixture(autouse=True)
def forget(live: Live) -> None:
    live.rules.messages.clear()
    live.twin.clear_faults()


def test_a_text_message_reaches_the_vendor_of_the_deployment(live: Live) -> None:
    mail_id = send_text_to(live.shop, "08031234567")
    live.wait_for(mail_id, "sent")
    [message] = live.rules.messages
    record = read(live.shop, mail_id)["data"]
    assert (message.to, message.sender, message.text) == ("2348031234567", "Kasuwa", record["text"])
    assert (record["reply_code"], record["attempts"]) == ("200", 1)


def test_a_refused_number_is_seen_by_the_merchant(live: Live) -> None:
    mail_id = send_text_to(live.shop, "08031230400")
    live.wait_for(mail_id, "failed")
    assert (read(live.shop, mail_id)["data"]["reply_code"], live.rules.messages) == ("400", [])


def test_a_text_message_whose_answer_is_lost_is_not_sent_twice(live: Live) -> None:
    live.twin.add_fault("lose")
    mail_id = send_text_to(live.shop, "08031234568")
    live.wait_for(mail_id, "unknown")
    assert len(live.rules.messages) == 1


def test_a_text_message_whose_worker_is_killed_behind_it_is_not_sent_twice(live: Live) -> None:
    live.twin.add_fault("hold")
    mail_id = send_text_to(live.shop, "08031234569")
    wait_until("the vendor has the message", lambda: len(live.rules.messages) == 1)
    for pid in pids(live.service, "worker"):
        psutil.Process(pid).kill()
    live.twin.release()
    live.wait_for(mail_id, "unknown")
    assert len(live.rules.messages) == 1


def test_doctor_asks_the_vendor_for_our_balance(live: Live) -> None:
    output = live.service.run_any_command("doctor").stdout
    assert "termii answers; our balance there is" in output
    assert live.rules.api_key not in output
