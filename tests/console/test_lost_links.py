"""Links whose console died between the commit that made them and the mail: they can be sent again from the console."""

import contextlib
import http.client
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from tests.console.test_process import console_of, readiness
from tests.console.test_user_invitations import PASSWORD, accept, approve, new_address, open_approval, user_id_of
from tests.console.visitor import Visitor, sign_in_as, sign_in_link
from tests.outbound.postbox import Postbox, taking_mail
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")


class Ground(NamedTuple):
    running: Deployment
    postbox: Postbox

    def lose_link(self, send: Callable[[], object]) -> None:
        """Kills the console while it hands over the link of what is sent: the link is committed by then."""
        with ThreadPoolExecutor() as threads:
            self.postbox.is_open.clear()
            sending = threads.submit(send)
            wait_until("a link is being handed over", lambda: self.postbox.waiting > 0)
            console = console_of(self.running)
            assert console is not None
            console.kill()
            with contextlib.suppress(OSError, http.client.HTTPException):
                sending.result()
        wait_until("it is missed", lambda: console_of(self.running) not in (None, console))
        wait_until("it is back", lambda: readiness(self.running) == "ready")
        self.postbox.letters.clear()
        self.postbox.is_open.set()

    def link_in_mail(self, email: str) -> str:
        [text] = [text for to, text in self.postbox.letters if to == email]
        found = re.search(r"(/link/[\w-]+)", re.sub("=\r\n", "", text))
        assert found is not None
        return found[1]


@pytest.fixture(scope="module")
def ground(deployments: Deployments) -> Iterator[Ground]:
    with taking_mail() as postbox, deployments.fresh("lost_links", KASUWA_INVITATIONS=postbox.url) as running:
        yield Ground(running, postbox)


def test_the_lost_link_of_a_merchants_user_is_sent_again(ground: Ground) -> None:
    shop, email = ground.running.open_shop(), new_address("finance")
    shop.connection.close()
    owner = sign_in_as(ground.running, "merchant:owner", shop.mid)
    owner.get("/team")
    ground.lose_link(lambda: owner.post("/team", email=email, role="merchant:finance"))
    about = owner.get("/team").words.partition(email)[2]
    assert "Resend link" in about.partition("Disable")[0]
    assert owner.post(f"/team/{user_id_of(ground.running, email)}/invite").place == "/team"
    accept(ground.running, ground.link_in_mail(email))


def test_the_lost_link_of_a_first_owner_is_sent_again(ground: Ground) -> None:
    shop, email = ground.running.open_shop(), new_address("owner")
    shop.connection.close()
    admin, page = sign_in_as(ground.running, "operator:admin"), f"/operator/merchants/{shop.mid}"
    admin.get(page)
    ground.lose_link(lambda: admin.post(f"{page}/invite", email=email))
    assert "(invited)" in admin.get(page).words.partition(f"{email}, ")[2].partition(".")[0]
    assert admin.post(f"{page}/invite", email=email).place == page
    accept(ground.running, ground.link_in_mail(email))


@pytest.mark.parametrize("change", ["invite", "reset"])
def test_the_lost_link_of_an_operator_is_sent_again_without_a_second_approval(ground: Ground, change: str) -> None:
    """A reset operator has no password, so that a new link needs no approval."""
    running, email = ground.running, new_address("operator")
    first, second = (sign_in_as(running, "operator:admin") for _ in range(2))
    first.get("/team")
    if change == "invite":
        proposed = first.post("/team", email=email, role="operator:support")
    else:
        email, link = sign_in_link(running, "operator:support", purpose="invitation")
        accept(running, link)
        proposed = first.post(f"/team/{user_id_of(running, email)}/invite")
    assert proposed.place == "/operator/approvals"
    number = open_approval(second)
    ground.lose_link(lambda: approve(second, number))
    first.get("/team")
    sent = first.post(f"/team/{user_id_of(running, email)}/invite")
    assert (sent.place, len(ground.postbox.letters)) == ("/team", 1)
    person = accept(running, ground.link_in_mail(email))
    assert person.get("/operator/merchants").http == 200


def test_resetting_an_operator_with_a_password_needs_approval(ground: Ground) -> None:
    running = ground.running
    admin, (email, link) = (
        sign_in_as(running, "operator:admin"),
        sign_in_link(running, "operator:support", None, "invitation"),
    )
    accept(running, link)
    admin.get("/team")
    assert admin.post(f"/team/{user_id_of(running, email)}/invite").place == "/operator/approvals"
    again = Visitor(running)
    again.get("/sign-in")
    assert again.post("/sign-in", email=email, password=PASSWORD).http == 303
