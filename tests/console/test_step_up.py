"""Step-up authentication, replacing a second factor, and cookies."""

import base64
from collections.abc import Iterator

import msgspec
import pyotp
import pytest

from kasuwa.console.routes import PAGES
from tests.console.test_signing_in import (
    PASSWORD,
    accept_invitation,
    next_code,
    offered_secret,
    set_up_codes,
    sign_in,
)
from tests.console.visitor import PageReply, Visitor, sign_in_link
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments

pytestmark = pytest.mark.xdist_group("console")

SECRET = base64.b64encode(bytes(range(32))).decode()
# What asks again who it is, besides much money: written by hand, against the table of routes.
CONFIRMS = {
    "/settings/key",
    "/settings/keys",
    "/settings/keys/{key_id}/revoke",
    "/settings/keys/{key_id}/roll",
    "/settings/origins",
    "/settings/payouts",
    "/settings/secret",
    "/settings/webhook",
    "/settings/endpoints",
    "/settings/endpoints/{endpoint_id}/save",
    "/settings/endpoints/{endpoint_id}/remove",
    "/settings/endpoints/{endpoint_id}/secret",
    "/sandbox/worlds/{action}",
    "/team",
    "/team/{user_id}/role",
    "/team/{user_id}/invite",
    "/team/{user_id}/disable",
    "/operator/merchants",
    "/operator/merchants/{mid}/limits",
    "/operator/merchants/{mid}/invite",
    "/operator/merchants/{mid}/rails",
    "/operator/merchants/{mid}/resume",
    "/operator/reconciliation/{account_id}/{item}",
    "/operator/approvals/{kind}",
    "/operator/approvals/{approval_id}/{verdict}",
}


def expire_step_up(deployment: Deployment, email: str) -> None:
    """Moves the last verification one hour into the past."""
    deployment.fetch_as_service(
        "update console_session set verified_at = now() - interval '1 hour'"
        " where user_id = (select user_id from console_user where email = $1)",
        email,
    )


def sign_in_user(deployment: Deployment, shop: MerchantClient, role: str = "merchant:owner") -> tuple[Visitor, str]:
    """Returns a signed-in user with a password, and their email."""
    visitor = Visitor(deployment)
    email, link = sign_in_link(deployment, role, shop.mid, "invitation")
    visitor.get(link)
    assert visitor.post(link, password=PASSWORD, again=PASSWORD).http == 303
    visitor.get("/account")
    return visitor, email


def hidden_fields(page: PageReply) -> dict[str, str]:
    """The fields that a page holds for the next form."""
    pieces = page.text.split('<input type="hidden" name="')[1:]
    return {piece.partition('"')[0]: piece.partition('value="')[2].partition('"')[0] for piece in pieces}


# --- the second factor --------------------------------------------------------------------------------------------


def test_a_second_factor_is_replaced_with_password_and_code_and_ends_other_sessions(deployment: Deployment) -> None:
    visitor, other = Visitor(deployment), Visitor(deployment)
    email = accept_invitation(deployment, visitor)
    secret = set_up_codes(visitor)
    sign_in(other, email)
    other.get("/sign-in/code")
    assert other.post("/sign-in/code", code=next_code(secret)).http == 303
    assert other.get("/account").http == 200
    fresh, sealed = offered_secret(visitor.get("/account/second-factor"))
    given = {"sealed": sealed, "code": pyotp.TOTP(fresh).now()}
    deployment.fetch("update console_user set totp_step = totp_step - 2 where email = $1", email)
    current = {"current_code": pyotp.TOTP(secret).now()}
    assert 'id="fault-current"' in visitor.post("/account/second-factor", **given, **current).text
    wrong = visitor.post("/account/second-factor", **given, current=PASSWORD, current_code="000000")
    assert (wrong.http, 'id="fault-current-code"' in wrong.text) == (422, True)
    assert visitor.post("/account/second-factor", **given, current="wrong", **current).http == 422
    assert other.get("/account").http == 200
    assert visitor.post("/account/second-factor", **given, current=PASSWORD, **current).http == 303
    assert (visitor.get("/account").http, other.get("/account").http) == (200, 303)


# --- what matters most --------------------------------------------------------------------------------------------


def test_exactly_these_pages_need_step_up_authentication() -> None:
    assert {page.path for page in PAGES if page.needs_step_up} == CONFIRMS
    assert all(page.http_method == "POST" for page in PAGES if page.needs_step_up)


def test_creating_a_key_needs_step_up_authentication(deployment: Deployment, shop: MerchantClient) -> None:
    owner, email = sign_in_user(deployment, shop)
    expire_step_up(deployment, email)
    asked = owner.post("/settings/key", overlap="24")
    assert (asked.http, hidden_fields(asked)["overlap"]) == (401, "24")
    keys = "select count(*) from merchant_key join merchant using (merchant_id) where mid = $1"
    assert deployment.fetch(keys, shop.mid)[0][0] == 1
    wrong = owner.post("/settings/key", overlap="24", confirm_password="wrong")
    assert (wrong.http, hidden_fields(wrong)["overlap"], deployment.fetch(keys, shop.mid)[0][0]) == (401, "24", 1)
    assert owner.post("/settings/key", overlap="24", confirm_password=PASSWORD).http == 200
    assert deployment.fetch(keys, shop.mid)[0][0] == 2
    assert owner.post("/settings/webhook", url="").http == 303, "it holds for a while"


def test_step_up_with_a_second_factor_needs_a_code_not_the_password(
    deployment: Deployment, shop: MerchantClient
) -> None:
    owner, email = sign_in_user(deployment, shop)
    secret = set_up_codes(owner)
    expire_step_up(deployment, email)
    assert owner.post("/team", email="x@example.com", role="merchant:finance", confirm_password=PASSWORD).http == 401
    deployment.fetch("update console_user set totp_step = totp_step - 2 where email = $1", email)
    code = pyotp.TOTP(secret).now()
    colleague = f"by-code.{shop.mid}@example.com"
    assert owner.post("/team", email=colleague, role="merchant:finance", confirm_code=code).http == 303
    expire_step_up(deployment, email)
    assert owner.post("/settings/webhook", url="", confirm_code=code).http == 401, "a code works once"


def test_failed_passwords_in_a_stolen_session_are_throttled(deployment: Deployment, shop: MerchantClient) -> None:
    owner, email = sign_in_user(deployment, shop)
    expire_step_up(deployment, email)
    for _ in range(5):
        assert owner.post("/settings/webhook", url="", confirm_password="a guess").http == 401
    slowed = owner.post("/settings/webhook", url="", confirm_password=PASSWORD)
    assert (slowed.http, "too many failed attempts" in slowed.words) == (401, True)


ORDER = {"bankcode": "058", "accountnumber": "0000000000"}


def test_large_payments_need_step_up_authentication(deployment: Deployment, shop: MerchantClient) -> None:
    owner, email = sign_in_user(deployment, shop, "merchant:finance")
    shop.put("sandbox", action="fund_wallet", currency="NGN", amount="9000000.00")
    expire_step_up(deployment, email)
    before = shop.wallet()
    assert owner.post("/transfers/send", **ORDER, amount="999999.99", orderRef="small").http == 303
    after_small = shop.wallet()
    assert after_small.balance < before.balance
    large = {**ORDER, "amount": "1000000.00", "orderRef": "large", "narration": "Invoice & more"}
    asked = owner.post("/transfers/send", **large)
    assert (asked.http, hidden_fields(asked)["orderRef"]) == (401, "large")
    orders = msgspec.json.encode([{**ORDER, "amount": "600000.00"}, {**ORDER, "amount": "400000.00"}]).decode()
    assert owner.post("/transfers/bulk/send", orders=orders).http == 401
    body = '{"action":"transfer","amount":"1000000.00","bankcode":"058","accountnumber":"0000000000","orderRef":"t"}'
    assert owner.post("/docs/disburse/transfer", body=body).http == 401
    assert shop.wallet() == after_small
    assert owner.post("/transfers/send", **large, confirm_password=PASSWORD).http == 303
    assert shop.verify("large")["txnStatus"] == "successful"


def test_fields_that_an_action_ignores_do_not_spare_step_up_authentication(
    deployment: Deployment, shop: MerchantClient
) -> None:
    shop.put("sandbox", action="fund_wallet", currency="NGN", amount="9000000.00")
    owner, email = sign_in_user(deployment, shop)
    large = {"action": "transfer", **ORDER, "amount": "1500000.00", "orderRef": "hidden"}
    approval = {"action": "approve", "txnRef": "T"}
    loan = {"action": "process", "loan_id": "L", "status": "approve"}
    expire_step_up(deployment, email)
    before = shop.wallet()
    for page, body in (("disburse/transfer", large), ("disburse/approve", approval), ("loans/process", loan)):
        extras: list[dict[str, object]] = [{}, {"data": []}, {"data": [{"amount": "1.00"}]}]
        if body != large:
            extras.append({"amount": "1.00"})
        for extra in extras:
            tried = owner.post(f"/docs/{page}", body=msgspec.json.encode({**body, **extra}).decode())
            assert tried.http == 401, (page, extra)
    assert shop.wallet() == before
    assert shop.verify("hidden")["status"] == 104


def test_the_audit_entry_of_a_tried_action_names_only_fields_of_its_request(
    deployment: Deployment, shop: MerchantClient
) -> None:
    owner, email = sign_in_user(deployment, shop)
    body = {"action": "transfer", **ORDER, "amount": "150.00", "orderRef": "plain", "data": [1, 2], "status": "reject"}
    assert owner.post("/docs/disburse/transfer", body=msgspec.json.encode(body).decode()).http == 200
    entry = deployment.fetch(
        "select after from audit_entry where actor = $1 and action = 'tried disburse transfer'", email
    )[0][0]
    assert msgspec.json.decode(entry) == {
        "action": "disburse transfer",
        "amount": "150.00",
        "bankcode": "058",
        "accountnumber": "0000000000",
    }


def test_the_step_up_page_does_not_carry_secret_fields(deployment: Deployment, shop: MerchantClient) -> None:
    owner, email = sign_in_user(deployment, shop)
    expire_step_up(deployment, email)
    asked = owner.post("/cashcodes/new/generate", amount="2000000.00", pin="2580", channel="ATM", orderRef="c1")
    assert (asked.http, "2580" in asked.text, hidden_fields(asked)["orderRef"]) == (401, False, "c1")


# --- cookies ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def behind_tls(deployments: Deployments) -> Iterator[Deployment]:
    """A live console that people reach by https; a proxy would end the TLS."""
    settings = {"KASUWA_ENVIRONMENT": "live", "KASUWA_SECRET_KEY": SECRET}
    with deployments.fresh("tls", **settings, KASUWA_CONSOLE_URL="https://console.example.com") as running:
        yield running


def test_cookies_are_bound_to_the_host_on_https(behind_tls: Deployment) -> None:
    visitor = Visitor(behind_tls)
    _, link = sign_in_link(behind_tls, "operator:admin", purpose="invitation")
    visitor.get(link)
    answer = visitor.post(link, password=PASSWORD, again=PASSWORD)
    attributes = answer.headers["set-cookie"].lower()
    assert all(word in attributes for word in ("__host-kasuwa_session=", "secure", "httponly", "path=/"))
    assert "domain" not in attributes
    assert all(name.startswith("__Host-") for name in visitor.cookies)
    assert visitor.get("/account/second-factor").http == 200
    plain = Visitor(behind_tls)
    plain.cookies["kasuwa_session"] = visitor.cookies["__Host-kasuwa_session"]
    assert plain.get("/account/second-factor").http == 303, (
        "a cookie that any page of the domain could set is not taken"
    )


def test_cookies_have_plain_names_on_http(deployment: Deployment) -> None:
    visitor = Visitor(deployment)
    email = accept_invitation(deployment, visitor)
    sign_in(visitor, email)
    assert "kasuwa_session" in visitor.cookies
    assert not any(name.startswith("__Host-") for name in visitor.cookies)
