"""Invitations of users and operators, and their approval."""

from collections.abc import Iterator

import pytest

from tests.console.visitor import PageReply, Visitor, link_for, numbers, sign_in_as, sign_in_link
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments

pytestmark = pytest.mark.xdist_group("console")

PASSWORD = "correct horse battery"


def new_address(what: str) -> str:
    return f"{what}{next(numbers)}@people.example"


def open_approval(visitor: Visitor) -> int:
    """The number of the newest proposal that is open."""
    text = visitor.get("/operator/approvals").text
    return int(text.partition("/operator/approvals/")[2].partition("/")[0])


def approve(visitor: Visitor, number: int) -> PageReply:
    visitor.get("/operator/approvals")
    return visitor.post(f"/operator/approvals/{number}/approve")


def invite_operator(first: Visitor, second: Visitor, email: str, role: str = "operator:admin") -> None:
    first.get("/team")
    assert first.post("/team", email=email, role=role).place == "/operator/approvals"
    assert approve(second, open_approval(second)).http == 303


def accept(deployment: Deployment, link: str) -> Visitor:
    visitor = Visitor(deployment)
    visitor.get(link)
    assert visitor.post(link, password=PASSWORD, again=PASSWORD).http == 303
    visitor.get("/account")
    return visitor


@pytest.fixture
def admins(deployment: Deployment) -> tuple[Visitor, Visitor]:
    return sign_in_as(deployment, "operator:admin"), sign_in_as(deployment, "operator:admin")


def user_id_of(deployment: Deployment, email: str) -> int:
    [[user_id]] = deployment.fetch("select user_id from console_user where email = $1", email)
    return int(user_id)


# --- operators ----------------------------------------------------------------------------------------------------


def test_inviting_an_operator_needs_approval_and_nobody_else_sees_the_link(
    deployment: Deployment, admins: tuple[Visitor, Visitor]
) -> None:
    (first, second), email = admins, new_address("third")
    first.get("/team")
    proposed = first.post("/team", email=email, role="operator:admin")
    number = open_approval(first)
    assert deployment.fetch("select 1 from console_user where email = $1", email) == []
    assert "another operator must decide" in approve(first, number).words
    approved = approve(second, number)
    pages = [proposed, approved, first.get("/team"), second.get(approved.place), second.get("/operator/trail")]
    assert all("/link/" not in page.text for page in pages)
    third = accept(deployment, link_for(deployment, email))
    assert third.get("/operator/merchants").http == 200


def test_proposer_and_invited_operator_cannot_approve_each_other(
    deployment: Deployment, admins: tuple[Visitor, Visitor], shop: MerchantClient
) -> None:
    """Nor the other way round: who let somebody in does not approve what they propose."""
    (first, second), email, before = admins, new_address("puppet"), shop.wallet()
    invite_operator(first, second, email)
    puppet = accept(deployment, link_for(deployment, email))
    for proposer, decider in ((first, puppet), (puppet, first)):
        proposer.get("/operator/approvals")
        movement = {"mid": shop.mid, "debit": "outside:funding:NGN", "credit": "wallet:main:NGN", "amount": "9.00"}
        assert proposer.post("/operator/approvals/posting", **movement, reason="for me").http == 303
        number = open_approval(proposer)
        assert "not independent" in approve(decider, number).words
        with pytest.raises(Exception, match="cannot be approved by this person"):
            deployment.fetch(
                "update approval set state = 'approved', decided_by = u.user_id from console_user u"
                " where approval_id = $1 and u.email = $2 and proposed_by <> u.user_id or"
                " approval_id = $1 and u.user_id = (select made_by from console_user where email = $2)"
                " and proposed_by <> u.user_id",
                number,
                email,
            )
        assert shop.wallet() == before
        assert approve(second, number).http == 303
        before = shop.wallet()


@pytest.mark.parametrize("change", ["reset", "role", "enable"])
def test_resetting_promoting_or_enabling_an_operator_needs_approval(
    deployment: Deployment, admins: tuple[Visitor, Visitor], change: str
) -> None:
    (first, second), (email, link) = admins, sign_in_link(deployment, "operator:support", purpose="invitation")
    person = accept(deployment, link)
    user_id = user_id_of(deployment, email)
    if change == "enable":
        assert first.post(f"/team/{user_id}/disable", confirmed="yes").http == 303
    path = "role" if change == "role" else "invite"
    assert first.post(f"/team/{user_id}/{path}", role="operator:admin").place == "/operator/approvals"
    state = "select role, password is not null, disabled_at is not null from console_user where email = $1"
    assert tuple(deployment.fetch(state, email)[0]) == ("operator:support", True, change == "enable")
    assert (person.get("/account").http == 200) is (change != "enable")
    assert approve(second, open_approval(second)).http == 303
    assert person.get("/account").http == 303, "sessions from before it are over"
    role, has_password, is_off = deployment.fetch(state, email)[0]
    assert (role, is_off) == ("operator:admin" if change == "role" else "operator:support", False)
    assert has_password is (change == "role")


def test_an_operator_cannot_approve_a_change_of_their_own_account(
    deployment: Deployment, admins: tuple[Visitor, Visitor]
) -> None:
    email, link = sign_in_link(deployment, "operator:admin", purpose="invitation")
    person, finance = accept(deployment, link), sign_in_as(deployment, "operator:finance")
    assert admins[0].post(f"/team/{user_id_of(deployment, email)}/role", role="operator:finance").http == 303
    number = open_approval(admins[0])
    assert "about your own account" in approve(person, number).words
    assert "Your role does not allow" in approve(finance, number).words


@pytest.fixture(scope="module")
def careful(deployments: Deployments) -> Iterator[Deployment]:
    settings = {"KASUWA_COOLING_OFF_HOURS": "24", "KASUWA_LARGE_AMOUNT": "1000.00"}
    with deployments.fresh("careful", **settings) as running:
        yield running


def test_a_new_operator_cannot_approve_during_the_cooling_off_period(careful: Deployment) -> None:
    first, second = (sign_in_as(careful, "operator:admin") for _ in range(2))
    email = new_address("new")
    invite_operator(first, second, email)
    new = accept(careful, link_for(careful, email))
    finance = sign_in_as(careful, "operator:finance")
    finance.get("/operator/approvals")
    rate = {"currency": "KES", "buy": "11.50", "sell": "12.25", "reason": "why"}
    assert finance.post("/operator/approvals/rate", **rate).http == 303
    number = open_approval(finance)
    assert "You can approve from" in approve(new, number).words
    careful.fetch_as_service("update console_user set approves_from = now() where email = $1", email)
    assert approve(new, number).http == 303


def test_an_operator_added_by_the_command_has_the_cooling_off_period_too(careful: Deployment) -> None:
    sign_in_as(careful, "operator:admin")
    email = new_address("added")
    careful.run_command("user", "add", email, "--role", "operator:admin")
    waits = "select approves_from > now() + interval '23 hours' from console_user where email = $1"
    assert careful.fetch(waits, email)[0][0] is True


@pytest.mark.parametrize("name", ["wallet:other:NGN", "rail:nowhere:NGN", "wallet:main:XXX", "loan_principal:LN9:NGN"])
def test_a_manual_posting_to_an_unknown_account_is_refused(
    deployment: Deployment, admins: tuple[Visitor, Visitor], shop: MerchantClient, name: str
) -> None:
    first, second = admins
    first.get("/operator/approvals")
    for debit, credit, fault in ((name, "wallet:main:NGN", "debit"), ("wallet:main:NGN", name, "credit")):
        movement = {"mid": shop.mid, "debit": debit, "credit": credit, "amount": "1.00", "reason": "why"}
        refused = first.post("/operator/approvals/posting", **movement)
        assert (refused.http, f'id="fault-posting-{fault}"' in refused.text) == (422, True)
    # One that was proposed when names were not looked at is not carried out either.
    proposal = f'{{"debit": "outside:funding:NGN", "credit": "{name}", "amount": 100, "kind": "manual posting"}}'
    [[number]] = deployment.fetch_as_service(
        "insert into approval (mid, kind, proposal, reason, proposed_by) select $1, 'posting', $2::text::json, 'old',"
        " min(user_id) from console_user where mid is null returning approval_id",
        shop.mid,
        proposal,
    )
    assert "does not exist" in approve(second, number).words
    assert second.post(f"/operator/approvals/{number}/reject").http == 303


# --- merchants ----------------------------------------------------------------------------------------------------


def test_only_administrators_can_invite_and_only_the_first_owner(
    deployment: Deployment, admins: tuple[Visitor, Visitor], shop: MerchantClient
) -> None:
    admin, page = admins[0], f"/operator/merchants/{shop.mid}/invite"
    support = sign_in_as(deployment, "operator:support")
    assert support.post(page, email=new_address("mine")).http == 403
    wrong, right = new_address("mistyped"), new_address("owner")
    admin.get(f"/operator/merchants/{shop.mid}")
    assert admin.post(page, email=wrong, role="merchant:read-only").http == 303
    assert admin.post(page, email=right).http == 303
    assert Visitor(deployment).get(link_for(deployment, wrong)).http == 404, "it is withdrawn"
    owner = accept(deployment, link_for(deployment, right))
    assert owner.get("/transfers").http == 200, "an owner, whatever role was sent"
    again = admin.post(page, email=new_address("second"))
    assert (again.http, "invited by the owner" in again.words) == (422, True)
    assert "Invite owner" not in admin.get(f"/operator/merchants/{shop.mid}").words
    assert "invited the first owner" in owner.get("/settings/trail").words


def test_inviting_an_address_in_use_elsewhere_reveals_nothing(deployment: Deployment, shop: MerchantClient) -> None:
    """The inviter learns nothing, neither from the answer nor from the list; the person does, from the link."""
    taken, link = sign_in_link(deployment, "merchant:owner", deployment.open_shop().mid, "invitation")
    accept(deployment, link)
    owner, free = sign_in_as(deployment, "merchant:owner", shop.mid), new_address("free")
    owner.get("/team")
    result = []
    for email in (taken, free):
        answer = owner.post("/team", email=email, role="merchant:finance")
        team = owner.get(answer.place)
        result.append((answer.http, answer.place, team.words.count(email), team.words.count("invited")))
    assert result[0][:3] == result[1][:3]
    assert result[1][3] == result[0][3] + 1, "both are shown as invited"
    invited, link = Visitor(deployment), link_for(deployment, taken)
    invited.get(link)
    refused = invited.post(link, password=PASSWORD, again=PASSWORD)
    assert (refused.http, "another account" in refused.words) == (409, True)
    invited.get("/sign-in")
    assert invited.post("/sign-in", email=taken, password=PASSWORD).place == "/", "the first place is as it was"
    [[places]] = deployment.fetch("select count(*) from console_user where email = $1 and joined_at is not null", taken)
    assert places == 1
