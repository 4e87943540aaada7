"""Signing in: passwords, codes, links and sessions."""

import time

import pyotp
import pytest

from kasuwa.people.passwords import TOTP_SECONDS
from tests.console.visitor import PageReply, Visitor, sign_in_as, sign_in_link
from tests.merchant_client import MerchantClient
from tests.running import DEMO_MID, Deployment
from tests.webhooks.event_log import wait_until

OWNER = "merchant:owner"
OF_USER = "user_id = (select user_id from console_user where email = $1)"
PASSWORD = "correct horse battery"


@pytest.fixture
def visitor(deployment: Deployment) -> Visitor:
    return Visitor(deployment)


def accept_invitation(deployment: Deployment, visitor: Visitor) -> str:
    """A person with a password, signed in; their address."""
    email, link = sign_in_link(deployment, OWNER, DEMO_MID, "invitation")
    visitor.get(link)
    assert visitor.post(link, password=PASSWORD, again=PASSWORD).http == 303
    visitor.get("/account")
    return email


def sign_in(visitor: Visitor, email: str, password: str = PASSWORD, path: str = "/sign-in") -> PageReply:
    visitor.get(path)
    return visitor.post(path, email=email, password=password)


def offered_secret(page: PageReply) -> tuple[str, str]:
    secret = page.text.partition('<code class="copyable">')[2].partition("<")[0].replace(" ", "")
    sealed = page.text.partition('name="sealed" value="')[2].partition('"')[0]
    return secret, sealed


def set_up_codes(visitor: Visitor) -> str:
    secret, sealed = offered_secret(visitor.get("/account/second-factor"))
    given = {"sealed": sealed, "code": pyotp.TOTP(secret).now(), "current": PASSWORD}
    assert visitor.post("/account/second-factor", **given).http == 303
    return secret


def next_code(secret: str) -> str:
    """A code that was not used: that of the step to come, which a slow clock may bring already."""
    return pyotp.TOTP(secret).at(int(time.time()) + TOTP_SECONDS)


# --- strangers ----------------------------------------------------------------------------------------------------


def test_signing_in_leads_back_to_the_requested_page(deployment: Deployment, visitor: Visitor) -> None:
    email = accept_invitation(deployment, Visitor(deployment))
    sent = visitor.get("/account")
    assert (sent.http, sent.place) == (303, "/sign-in?next=/account")
    assert sign_in(visitor, email, path=sent.place).place == "/account"
    assert visitor.get("/account").http == 200


def test_signing_in_leads_back_to_a_page_with_its_filter(deployment: Deployment, shop: MerchantClient) -> None:
    visitor, wanted = Visitor(deployment), "/transactions?status=failed&min_amount=50000"
    email, link = sign_in_link(deployment, "merchant:owner", shop.mid, "invitation")
    other = Visitor(deployment)
    other.get(link)
    assert other.post(link, password=PASSWORD, again=PASSWORD).http == 303
    sent = visitor.get(wanted)
    assert sent.http == 303
    assert sign_in(visitor, email, path=sent.place).place == wanted
    secret = set_up_codes(visitor)
    visitor.cookies.clear()
    asked = sign_in(visitor, email, path=visitor.get(wanted).place).place
    assert asked.startswith("/sign-in/code?next=")
    visitor.get(asked)
    assert visitor.post(asked, code=next_code(secret)).place == wanted


@pytest.mark.parametrize("elsewhere", ["https://elsewhere.example", "//elsewhere.example", "/\\elsewhere.example"])
def test_signing_in_does_not_redirect_to_another_site(deployment: Deployment, visitor: Visitor, elsewhere: str) -> None:
    email = accept_invitation(deployment, Visitor(deployment))
    assert sign_in(visitor, email, path=f"/sign-in?next={elsewhere}").place == "/"


def test_a_wrong_password_and_an_unknown_address_get_the_same_response(
    deployment: Deployment, visitor: Visitor
) -> None:
    email = accept_invitation(deployment, Visitor(deployment))
    wrong, unknown = sign_in(visitor, email, "wrong"), sign_in(visitor, f"no-{email}")
    assert (wrong.http, unknown.http) == (401, 401)
    assert wrong.words.replace(email, "") == unknown.words.replace(f"no-{email}", "")


def test_failed_sign_ins_are_throttled_for_known_and_unknown_addresses(
    deployment: Deployment, visitor: Visitor
) -> None:
    email = accept_invitation(deployment, Visitor(deployment))
    for address in (email, f"no-{email}"):
        answers = [sign_in(visitor, address, "wrong").http for _ in range(6)]
        assert answers == [401] * 5 + [429]
        assert sign_in(visitor, address).http == 429
    deployment.fetch("update sign_in_throttle set locked_until = now() where locked_until is not null")
    assert sign_in(visitor, email).http == 303


def test_the_sign_in_form_needs_its_csrf_token(deployment: Deployment, visitor: Visitor) -> None:
    email = accept_invitation(deployment, Visitor(deployment))
    visitor.get("/sign-in")
    assert visitor.post("/sign-in", csrf=None, email=email, password=PASSWORD).http == 403
    assert Visitor(deployment).post("/sign-in", csrf=visitor.token, email=email, password=PASSWORD).http == 403


def test_a_form_sent_by_another_site_is_refused(deployment: Deployment, visitor: Visitor) -> None:
    email = accept_invitation(deployment, Visitor(deployment))
    visitor.get("/sign-in")
    elsewhere = {"sec-fetch-site": "cross-site"}
    assert visitor.post("/sign-in", elsewhere, email=email, password=PASSWORD).http == 403


# --- links --------------------------------------------------------------------------------------------------------


def test_a_link_works_once_and_a_get_does_not_redeem_it(deployment: Deployment, visitor: Visitor) -> None:
    _, link = sign_in_link(deployment, OWNER, DEMO_MID)
    assert [visitor.get(link).http for _ in range(2)] == [200, 200]
    assert visitor.post(link).http == 303
    assert visitor.get("/account").http == 200
    assert Visitor(deployment).get(link).http == 404
    assert Visitor(deployment).get("/link/nonsense").http == 404


def test_an_invitation_requires_a_valid_password(deployment: Deployment, visitor: Visitor) -> None:
    _, link = sign_in_link(deployment, OWNER, DEMO_MID, "invitation")
    visitor.get(link)
    assert "12 to 200 characters" in visitor.post(link, password="short", again="short").words
    assert "differs" in visitor.post(link, password=PASSWORD, again=PASSWORD + "!").words
    assert visitor.post(link, password=PASSWORD, again=PASSWORD).http == 303


def test_an_expired_link_does_not_work(deployment: Deployment, visitor: Visitor) -> None:
    email, link = sign_in_link(deployment, OWNER, DEMO_MID)
    deployment.fetch_as_service(f"update console_link set expires_at = now() where {OF_USER}", email)
    assert visitor.get(link).http == 404


# --- codes --------------------------------------------------------------------------------------------------------


def test_with_a_second_factor_the_password_alone_opens_nothing(deployment: Deployment, visitor: Visitor) -> None:
    first = Visitor(deployment)
    email = accept_invitation(deployment, first)
    secret = set_up_codes(first)
    assert sign_in(visitor, email, path="/sign-in?next=/account").place == "/sign-in/code?next=/account"
    assert visitor.get("/account").place == "/sign-in/code"
    visitor.get("/sign-in/code")
    assert visitor.post("/sign-in/code", code="000000").http == 401
    code = next_code(secret)
    half = visitor.cookies["kasuwa_session"]
    assert visitor.post("/sign-in/code?next=/account", code=code).place == "/account"
    assert visitor.get("/account").http == 200
    assert visitor.cookies["kasuwa_session"] != half
    # What was known before the code was given is worth nothing after it: not whole, and not half any more either.
    before = Visitor(deployment)
    before.cookies["kasuwa_session"] = half
    assert (before.get("/account").place, before.get("/sign-in/code").place) == (
        "/sign-in?next=/account",
        "/sign-in?next=/sign-in/code",
    )


def test_a_code_works_once(deployment: Deployment, visitor: Visitor) -> None:
    first = Visitor(deployment)
    email = accept_invitation(deployment, first)
    code = next_code(set_up_codes(first))
    for who, answer in ((visitor, 303), (Visitor(deployment), 401)):
        sign_in(who, email)
        who.get("/sign-in/code")
        assert who.post("/sign-in/code", code=code).http == answer


def test_a_totp_secret_takes_effect_only_after_its_code_was_entered(deployment: Deployment, visitor: Visitor) -> None:
    accept_invitation(deployment, visitor)
    secret, sealed = offered_secret(visitor.get("/account/second-factor"))
    refused = visitor.post("/account/second-factor", sealed=sealed, code="000000")
    assert (refused.http, offered_secret(refused)[0]) == (422, secret)
    assert visitor.post("/account/second-factor", sealed="00", code=pyotp.TOTP(secret).now()).http == 200
    assert "Set up second factor" in visitor.get("/account").words


# --- sessions -----------------------------------------------------------------------------------------------------


def grow_older(deployment: Deployment, email: str, column: str, minutes: int) -> None:
    aged = f"{column} = {column} - interval '{minutes} minutes'"
    deployment.fetch_as_service(f"update console_session set {aged} where {OF_USER}", email)


@pytest.mark.parametrize(("column", "minutes"), [("seen_at", 31), ("created_at", 12 * 60 + 1)])
def test_a_session_ends_after_the_idle_and_the_absolute_timeout(
    deployment: Deployment, visitor: Visitor, column: str, minutes: int
) -> None:
    email = accept_invitation(deployment, visitor)
    grow_older(deployment, email, column, minutes - 2)
    assert visitor.get("/account").http == 200
    grow_older(deployment, email, column, minutes)
    assert visitor.get("/account").http == 303


def test_a_session_token_rotates_and_the_previous_one_expires_soon(deployment: Deployment, visitor: Visitor) -> None:
    email = accept_invitation(deployment, visitor)
    old = visitor.cookies["kasuwa_session"]
    grow_older(deployment, email, "rotated_at", 16)
    assert visitor.get("/account").http == 200
    assert visitor.cookies["kasuwa_session"] != old
    before = Visitor(deployment)
    before.cookies["kasuwa_session"] = old
    assert before.get("/account").http == 200
    grow_older(deployment, email, "rotated_at", 1)
    assert before.get("/account").http == 303
    assert visitor.get("/account").http == 200


def test_signing_out_ends_the_session_and_not_just_the_cookie(deployment: Deployment, visitor: Visitor) -> None:
    accept_invitation(deployment, visitor)
    kept = dict(visitor.cookies)
    assert visitor.post("/sign-out").place == "/sign-in"
    assert "kasuwa_session" not in visitor.cookies
    visitor.cookies = kept
    assert visitor.get("/account").http == 303


def test_a_new_password_ends_the_other_sessions(deployment: Deployment, visitor: Visitor) -> None:
    email = accept_invitation(deployment, visitor)
    other = Visitor(deployment)
    sign_in(other, email)
    assert other.get("/account").http == 200
    assert visitor.post("/account/password", current="wrong", password=PASSWORD, again=PASSWORD).http == 422
    new = PASSWORD + " staple"
    assert visitor.post("/account/password", current=PASSWORD, password=new, again=new).http == 303
    assert (visitor.get("/account").http, other.get("/account").http) == (200, 303)
    assert sign_in(Visitor(deployment), email, new).http == 303


def test_cookies_and_pages_have_their_security_attributes(deployment: Deployment) -> None:
    visitor = Visitor(deployment)
    email, link = sign_in_link(deployment, OWNER, DEMO_MID)
    visitor.get(link)
    headers = visitor.post(link).headers
    assert "httponly" in headers["set-cookie"].lower()
    assert "samesite=lax" in headers["set-cookie"].lower()
    headers = visitor.get("/account").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert (headers["x-frame-options"], headers["cache-control"]) == ("DENY", "no-store")
    assert headers["x-content-type-options"] == "nosniff"
    assert email in visitor.get("/account").words


# --- the command --------------------------------------------------------------------------------------------------


def test_users_are_added_listed_and_disabled_by_the_command(deployment: Deployment, visitor: Visitor) -> None:
    email = f"added.{deployment.port}@example.com"
    link = deployment.run_command("user", "add", email, "--role", "operator:support").strip()
    path = "/link/" + link.rpartition("/")[2]
    visitor.get(path)
    assert visitor.post(path, password=PASSWORD, again=PASSWORD).place == "/operator/merchants"
    assert f"{email}  operator:support  -  active" in deployment.run_command("user", "list")
    assert "already" in deployment.run_refused_command("user", "add", email, "--role", "operator:admin")
    assert "--role" in deployment.run_refused_command("user", "add", f"x{email}", "--role", "merchant:owner")
    assert "no merchant" in deployment.run_refused_command(
        "user", "add", f"x{email}", "--role", "merchant:owner", "--mid", "GP9999999"
    )
    deployment.run_command("user", "disable", email)
    assert visitor.get("/account").http == 303
    assert sign_in(visitor, email).http == 401
    assert "nobody" in deployment.run_refused_command("user", "disable", f"x{email}")


def test_the_first_start_of_a_test_environment_prints_sign_in_links(deployment: Deployment) -> None:
    wait_until("it is printed", lambda: "Ctrl-C" in deployment.out.read_text())
    printed = deployment.out.read_text()
    assert "sign in once as owner@kasuwa.test" in printed
    assert "sign in once as operator@kasuwa.test" in printed


def test_forms_of_a_signed_in_user_need_their_csrf_token(deployment: Deployment) -> None:
    visitor = sign_in_as(deployment, OWNER, DEMO_MID)
    assert visitor.post("/account/password", csrf="", password=PASSWORD, again=PASSWORD).http == 403
    assert visitor.post("/account/password", csrf=None, password=PASSWORD, again=PASSWORD).http == 403
