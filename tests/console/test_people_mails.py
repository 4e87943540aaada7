"""Mails to people over HTTP: links, alerts and choices, read on the page, by the API and nowhere else."""

from typing import Any

import pytest

from kasuwa.people import passwords
from tests.console.test_step_up import expire_step_up, sign_in_user
from tests.console.test_user_invitations import PASSWORD, accept, new_address, user_id_of
from tests.console.visitor import Visitor, link_for, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")


def read_outbox(shop: MerchantClient, **fields: Any) -> list[dict[str, Any]]:
    """Returns the mails to the people of a merchant, oldest first."""
    return list(reversed(shop.put("sandbox", action="people_mails", **fields).body["data"]))


def purposes_to(shop: MerchantClient, email: str) -> list[str]:
    return [mail["purpose"] for mail in read_outbox(shop) if mail["to"] == email]


def invite(deployment: Deployment, shop: MerchantClient, role: str = "merchant:finance") -> tuple[Visitor, str]:
    """Has the owner invite somebody. Returns the owner's browser and the address."""
    owner, email = sign_in_as(deployment, "merchant:owner", shop.mid), new_address("invited")
    owner.get("/team")
    assert owner.post("/team", email=email, role=role).place == "/team"
    return owner, email


def join(deployment: Deployment, shop: MerchantClient) -> tuple[Visitor, str]:
    """Returns the browser of somebody who has just joined, and their address."""
    _, email = invite(deployment, shop)
    return accept(deployment, link_for(deployment, email)), email


def sign_in(visitor: Visitor, email: str, password: str = PASSWORD) -> None:
    visitor.get("/sign-in")
    assert visitor.post("/sign-in", email=email, password=password).http == 303


def test_an_invitation_is_in_the_outbox_and_lets_its_person_in(deployment: Deployment, shop: MerchantClient) -> None:
    owner, email = invite(deployment, shop)
    wait_until("it is sent", lambda: [mail["status"] for mail in read_outbox(shop)] == ["sent"])
    [mail] = read_outbox(shop)
    assert (mail["purpose"], mail["to"]) == ("invitation", email)
    assert "Ada" not in mail["subject"]
    link = "/link/" + mail["text"].partition("/link/")[2].split()[0]
    assert link == link_for(deployment, email)
    page = owner.get("/team/mails")
    assert (page.http, "Your invitation to the Kasuwa console" in page.words, link in page.text) == (200, True, True)
    person = accept(deployment, link)
    assert person.get("/account").http == 200


def test_a_link_that_was_sent_again_is_mailed_as_a_reset_once_the_person_has_joined(
    deployment: Deployment, shop: MerchantClient
) -> None:
    owner, email = invite(deployment, shop)
    accept(deployment, link_for(deployment, email))
    owner.get("/team")
    assert owner.post(f"/team/{user_id_of(deployment, email)}/invite").place == "/team"
    assert purposes_to(shop, email) == ["invitation", "password_reset"]


def test_a_sign_in_is_mailed_if_its_browser_or_its_network_is_new(deployment: Deployment, shop: MerchantClient) -> None:
    _, email = join(deployment, shop)
    browser = Visitor(deployment)
    for _ in range(2):
        sign_in(browser, email)
        browser.get("/account")
        browser.post("/sign-out")
    assert purposes_to(shop, email) == ["invitation", "sign_in_alert"]
    elsewhere = "update console_device set network = '\\x00' where user_id = $1"
    deployment.fetch(elsewhere, user_id_of(deployment, email))
    sign_in(browser, email)
    alerts = [mail for mail in read_outbox(shop) if mail["purpose"] == "sign_in_alert"]
    assert ["in a new browser" in mail["text"] for mail in alerts] == [True, False]
    assert "from a new address" in alerts[1]["text"]
    assert all("127.0.0.1" in mail["text"] for mail in alerts)


def test_a_changed_password_is_mailed_without_it(deployment: Deployment, shop: MerchantClient) -> None:
    person, email = join(deployment, shop)
    person.get("/account")
    fresh = "another horse battery"
    assert passwords.password_faults(fresh, fresh, email) == {}
    assert person.post("/account/password", current=PASSWORD, password=fresh, again=fresh).http == 303
    [mail] = [mail for mail in read_outbox(shop) if mail["purpose"] == "account_changed"]
    assert (fresh in mail["text"], PASSWORD in mail["text"], mail["to"]) == (False, False, email)


def test_a_person_chooses_which_mails_come_and_nobody_elses(deployment: Deployment, shop: MerchantClient) -> None:
    person, email = join(deployment, shop)
    page = person.get("/account").text
    assert page.count('type="checkbox"') == 3
    assert person.post("/account/mails", disputes_waiting="yes", sign_in_alert="no").place == "/account"
    rows = deployment.fetch(
        "select purpose from person_mail_off where user_id = $1 order by 1", user_id_of(deployment, email)
    )
    assert [purpose for (purpose,) in rows] == ["approvals_waiting", "endpoints_failing"]


def test_the_mails_of_a_merchants_people_are_seen_by_that_merchant_alone(
    deployment: Deployment, open_shop: Any
) -> None:
    ours, theirs = open_shop(), open_shop()
    _, email = invite(deployment, theirs)
    assert read_outbox(ours) == []
    owner = sign_in_as(deployment, "merchant:owner", ours.mid)
    page = owner.get("/team/mails")
    assert (page.http, email in page.text) == (200, False)
    assert sign_in_as(deployment, "merchant:finance", theirs.mid).get("/team/mails").http == 403


def test_only_an_owner_who_was_asked_again_reads_the_links_of_others_by_try_it(
    deployment: Deployment, shop: MerchantClient
) -> None:
    _, email = invite(deployment, shop)
    link, body = link_for(deployment, email), '{"action":"people_mails"}'
    developer = sign_in_as(deployment, "merchant:developer", shop.mid)
    refused = developer.post("/docs/sandbox/people_mails", body=body)
    assert (refused.http, link in refused.text) == (403, False)
    owner, owner_email = sign_in_user(deployment, shop)
    expire_step_up(deployment, owner_email)
    asked = owner.post("/docs/sandbox/people_mails", body=body)
    assert (asked.http, link in asked.text) == (401, False)
    shown = owner.post("/docs/sandbox/people_mails", body=body, confirm_password=PASSWORD)
    assert (shown.http, link in shown.text) == (200, True)


def test_the_log_of_requests_does_not_have_the_links_of_mails(deployment: Deployment, shop: MerchantClient) -> None:
    _, email = invite(deployment, shop)
    token = link_for(deployment, email).rpartition("/")[2]
    assert token in read_outbox(shop)[0]["text"]

    def find_logged() -> list[str]:
        logged = shop.put("sandbox", action="requests").body["data"]
        return [one["reply_body"] for one in logged if one["action"] == "people_mails"]

    wait_until("it is logged", lambda: len(find_logged()) == 1)
    [logged] = find_logged()
    assert ("/link/***" in logged, token in logged) == (True, False)


def test_pages_of_the_outbox_follow_each_other(deployment: Deployment, shop: MerchantClient) -> None:
    for _ in range(3):
        invite(deployment, shop)
    first = shop.put("sandbox", action="people_mails", limit=2).body
    second = shop.put("sandbox", action="people_mails", limit=2, before=first["last"]).body
    numbers = [mail["number"] for page in (first, second) for mail in page["data"]]
    assert numbers == sorted(numbers, reverse=True)
    assert (len(numbers), first["more"], second["more"]) == (3, True, False)
