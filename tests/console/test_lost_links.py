"""Links that never reached their person, or were lost by them: they can be sent again from the console."""

import pytest

from tests.console.test_user_invitations import PASSWORD, accept, approve, new_address, open_approval, user_id_of
from tests.console.visitor import Visitor, link_for, sign_in_as, sign_in_link
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")


def test_the_lost_link_of_a_merchants_user_is_sent_again(deployment: Deployment, shop: MerchantClient) -> None:
    email = new_address("finance")
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    owner.get("/team")
    owner.post("/team", email=email, role="merchant:finance")
    lost = link_for(deployment, email)
    about = owner.get("/team").words.partition(email)[2]
    assert "Resend link" in about.partition("Disable")[0]
    assert owner.post(f"/team/{user_id_of(deployment, email)}/invite").place == "/team"
    assert Visitor(deployment).get(lost).http == 404
    accept(deployment, link_for(deployment, email))


def test_the_lost_link_of_a_first_owner_is_sent_again(deployment: Deployment, shop: MerchantClient) -> None:
    email = new_address("owner")
    admin, page = sign_in_as(deployment, "operator:admin"), f"/operator/merchants/{shop.mid}"
    admin.get(page)
    admin.post(f"{page}/invite", email=email)
    assert "(invited)" in admin.get(page).words.partition(f"{email}, ")[2].partition(".")[0]
    assert admin.post(f"{page}/invite", email=email).place == page
    accept(deployment, link_for(deployment, email))


@pytest.mark.parametrize("change", ["invite", "reset"])
def test_the_lost_link_of_an_operator_is_sent_again_without_a_second_approval(
    deployment: Deployment, change: str
) -> None:
    """A reset operator has no password, so that a new link needs no approval."""
    running, email = deployment, new_address("operator")
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
    approve(second, number)
    first.get("/team")
    sent = first.post(f"/team/{user_id_of(running, email)}/invite")
    assert sent.place == "/team"
    person = accept(running, link_for(running, email))
    assert person.get("/operator/merchants").http == 200


def test_resetting_an_operator_with_a_password_needs_approval(deployment: Deployment) -> None:
    running = deployment
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
