"""Access to pages: every route for every role, forms without CSRF token, and objects of other merchants.

The table of routes is walked, so that a new page is covered at once. The expected rights are written here by hand.
"""

from urllib.parse import quote

import pytest

from kasuwa.authority.roles import MERCHANT_ROLES, OPERATOR_ROLES, ROLES
from kasuwa.console.kit.access import NO_SESSION, PASSWORD_ONLY
from kasuwa.console.records.table import RECORD_KINDS
from kasuwa.console.routes import ConsolePage
from tests.console.sample_merchant import SampleMerchant, belongs_to_merchant
from tests.console.visitor import DEPLOYED, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import NEWEST, Deployment, Deployments

pytestmark = pytest.mark.xdist_group("console")

# What nobody has: the answer of a page to who may open it is then "not found" or "fill it in", never "not allowed".
NOTHING = {
    "merchant_id": "1",
    "notice_id": "999999999",
    "batch_ref": "GP|BT|999999999|20260105A",
    "ref": "GP|FD|000000000|20260101A",
    "transaction_form": "refund",
    "seq": "999999",
    "action": "no-such-action",
    "method": "disburse",
    "user_id": "999999999",
    "mid": "GP9999999",
    "name": "wallet:main:NGN",
    "approval_id": "999999999",
    "account_id": "999999999",
    "item": "line-1",
    "verdict": "approve",
    "kind": "posting",
    "key": "00" * 16,
    "key_id": "999999999",
    "token": "nonsense",
    "reference": "nobody",
    "number": "999999999",
    "form": "no-such-form",
    "endpoint_id": "999999999",
    "list_name": "no-such-list",
}
GUARDED = [page for page in DEPLOYED if page.access not in (NO_SESSION, PASSWORD_ONLY)]
# Done at once when asked for, whatever the form says: not part of a walk that asks for everything.
STOPS_THE_WALK = ("/sign-out", "/settings/key")

# What changes something, and for whom: written by hand, against the table.
RECORDS = {kind.name for kind in RECORD_KINDS}
CHANGES = {
    "merchant:owner": {"transfers", "transactions", "events", "settings", "sandbox", "docs", "team"},
    "merchant:developer": {"events", "settings", "sandbox", "docs"},
    "merchant:finance": {"transfers", "transactions", "docs"},
    "merchant:read-only": {"docs"},
    "operator:admin": {
        "operator/merchants",
        "operator/approvals",
        "operator/laws",
        "operator/work",
        "operator/reconciliation",
        "operator/closes",
        "operator/notices",
        "team",
    },
    "operator:finance": {
        "operator/merchants",
        "operator/approvals",
        "operator/laws",
        "operator/reconciliation",
        "operator/closes",
        "operator/notices",
    },
    "operator:support": {"operator/merchants", "operator/work", "operator/notices"},
    "operator:read-only": set(),
}


def filled(page: ConsolePage) -> str:
    path = page.path
    for name, value in NOTHING.items():
        path = path.replace("{" + name + "}", quote(value, safe=""))
    assert "{" not in path, f"{page.path}: say here what nobody has"
    return path


@pytest.fixture(scope="module")
def visitors(deployments: Deployments) -> dict[str, Visitor]:
    """One of each role; the merchants' are of one merchant of their own."""
    deployment = deployments.for_version(NEWEST)
    shop = deployment.open_shop()
    shop.connection.close()
    return {role: sign_in_as(deployment, role, shop.mid if role in MERCHANT_ROLES else None) for role in ROLES}


def area_of(page: ConsolePage) -> str:
    words = page.path.strip("/").split("/")
    return "/".join(words[:2]) if words[0] == "operator" else words[0]


@pytest.mark.parametrize("page", GUARDED, ids=lambda page: f"{page.http_method} {page.path}")
def test_a_page_opens_for_its_roles_and_no_others(visitors: dict[str, Visitor], page: ConsolePage) -> None:
    if page.path in STOPS_THE_WALK:
        return
    for role, visitor in visitors.items():
        seen = visitor.get(filled(page)) if page.http_method == "GET" else visitor.post(filled(page))
        assert isinstance(page.access, frozenset)
        refused = seen.http == 403 or seen.place == "/operator/home"
        assert refused is (role not in page.access), (role, seen.http, seen.words[:200])
        assert seen.http < 500


@pytest.mark.parametrize("role", ROLES)
def test_each_role_can_change_only_its_own_areas(role: str) -> None:
    may = {
        area_of(page)
        for page in GUARDED
        if page.http_method == "POST" and isinstance(page.access, frozenset) and role in page.access
    }
    # Saved filters and columns are a user's own, as the account is.
    assert may - {"account", "sign-out", "lists"} - RECORDS == CHANGES[role]
    assert bool(may & RECORDS) is (role in ("merchant:owner", "merchant:finance"))


def test_only_account_team_and_docs_are_open_to_merchants_and_operators() -> None:
    both = {
        area_of(page)
        for page in GUARDED
        if isinstance(page.access, frozenset)
        and page.access & set(OPERATOR_ROLES)
        and page.access & set(MERCHANT_ROLES)
    }
    assert both == {"account", "sign-out", "docs", "team"}


@pytest.mark.parametrize("page", GUARDED, ids=lambda page: f"{page.http_method} {page.path}")
def test_a_browser_without_a_session_is_sent_to_sign_in(deployment: Deployment, page: ConsolePage) -> None:
    stranger = Visitor(deployment)
    seen = stranger.get(filled(page)) if page.http_method == "GET" else stranger.post(filled(page))
    assert (seen.http, seen.place.partition("?")[0]) == (303, "/sign-in")


@pytest.mark.parametrize(
    "page",
    [page for page in DEPLOYED if page.http_method == "POST"],
    ids=lambda page: f"{page.http_method} {page.path}",
)
def test_a_form_without_its_token_is_refused_on_every_page(visitors: dict[str, Visitor], page: ConsolePage) -> None:
    for role, visitor in visitors.items():
        if page.access is NO_SESSION or (isinstance(page.access, frozenset) and role in page.access):
            for token in (None, "", "wrong"):
                assert visitor.post(filled(page), csrf=token).http == 403


# --- tenancy ------------------------------------------------------------------------------------------------------

OWNED = [page for page in GUARDED if belongs_to_merchant(page)]


@pytest.fixture(scope="module")
def world(deployments: Deployments) -> SampleMerchant:
    return SampleMerchant(deployments.for_version(NEWEST))


@pytest.fixture(scope="module")
def both(deployments: Deployments, world: SampleMerchant, visitors: dict[str, Visitor]) -> tuple[Visitor, Visitor]:
    """The owner of what there is, and the owner of another merchant."""
    return sign_in_as(deployments.for_version(NEWEST), "merchant:owner", world.mid), visitors["merchant:owner"]


@pytest.mark.parametrize("page", OWNED, ids=lambda page: f"{page.http_method} {page.path}")
def test_another_merchants_page_is_not_found(
    world: SampleMerchant, both: tuple[Visitor, Visitor], page: ConsolePage
) -> None:
    """Read, it is there for its own and not found by the other; what is sent to it finds as little."""
    (mine, theirs), path = both, world.path_of(page.path.replace("{form}", form_of(page)))
    if page.http_method == "GET":
        # A statement as a file leads to its link.
        assert mine.get(path).http == (303 if "/statement." in path else 200)
    seen = theirs.get(path) if page.http_method == "GET" else theirs.post(path, amount="1.00")
    assert seen.http == 404, seen.words
    assert all(reference not in seen.words for reference in (world.reference, *world.records.values()))


def form_of(page: ConsolePage) -> str:
    """A form that the records of this page have: what can be done with them, of which the first will do."""
    kind = next((kind for kind in RECORD_KINDS if page.path.startswith(f"/{kind.name}/")), None)
    return kind.update_forms[0].name if kind is not None and kind.update_forms else "none"


def test_forms_of_another_merchants_records_change_nothing(
    world: SampleMerchant, both: tuple[Visitor, Visitor]
) -> None:
    mine, theirs = both
    before = mine.get("/").words.partition("Balances")[2].partition("Transactions per day")[0]
    for kind in RECORD_KINDS:
        for form in kind.update_forms:
            assert theirs.post(world.path_of(f"/{kind.name}/{{reference}}/{form.name}"), amount="1.00").http == 404
    assert mine.get("/").words.partition("Balances")[2].partition("Transactions per day")[0] == before


def test_another_merchants_transaction_looks_like_an_unknown_one(
    deployment: Deployment, shop: MerchantClient, visitors: dict[str, Visitor]
) -> None:
    sent = shop.transfer()
    reference = quote(sent["txnRef"], safe="")
    mine = sign_in_as(deployment, "merchant:owner", shop.mid)
    theirs = visitors["merchant:owner"]
    assert mine.get(f"/transactions/{reference}").http == 200
    unknown = theirs.get(f"/transactions/{quote(NOTHING['ref'], safe='')}")
    other = theirs.get(f"/transactions/{reference}")
    assert (other.http, other.content) == (unknown.http, unknown.content)
    assert unknown.http == 404
    assert "This page does not exist" in unknown.content
    assert theirs.post(f"/transactions/{reference}/refund").http == 404
    assert sent["txnRef"] not in theirs.get("/transactions").words
    assert "No results" in theirs.get(f"/transactions?q={reference}").words
    assert sent["txnRef"] not in theirs.get("/transactions.csv").text
    assert mine.get("/events/1").http == 200
    assert theirs.get("/events/1").http == 404
    assert theirs.post("/events/1/resend").http == 404


def test_a_reference_used_by_two_merchants_finds_each_their_own(deployment: Deployment) -> None:
    """Searched by the reference of the merchant, of the customer and of the order."""
    found = []
    for _ in range(2):
        shop = deployment.open_shop()
        with shop.connection:
            paid = PaymentClient(shop).paid(customer_txnref="CUSTOMER-17")
            sent = shop.transfer(orderRef="ORDER-17")
        visitor = sign_in_as(deployment, "merchant:owner", shop.mid)
        found.append((visitor, paid["txnRef"], sent["txnRef"]))
    for visitor, payment, transfer in found:
        for words, reference in (("CUSTOMER-17", payment), ("ORDER-17", transfer), (payment, payment)):
            seen = visitor.get(f"/transactions?q={quote(words)}")
            assert (seen.http, seen.place) == (303, f"/transactions/{quote(reference, safe='')}"), seen.words
            exported = visitor.get(f"/transactions.csv?q={quote(words)}").text
            assert (exported.count("\n"), reference in exported) == (2, True)


def test_users_of_another_merchant_or_of_the_operator_cannot_be_changed(
    deployment: Deployment, shop: MerchantClient, visitors: dict[str, Visitor]
) -> None:
    sign_in_as(deployment, "merchant:read-only", shop.mid)
    sign_in_as(deployment, "operator:read-only")
    rows = deployment.fetch("select user_id, mid from console_user order by user_id desc limit 2")
    for user_id, _ in rows:
        for what in ("role", "invite", "disable"):
            assert visitors["merchant:owner"].post(f"/team/{user_id}/{what}", role="merchant:owner").http == 404
    assert visitors["operator:admin"].post(f"/team/{rows[1][0]}/disable").http == 404
    assert "merchant:owner" not in {
        row[0] for row in deployment.fetch("select role from console_user where mid is null")
    }


def test_a_merchants_owner_cannot_invite_an_operator(visitors: dict[str, Visitor]) -> None:
    refused = visitors["merchant:owner"].post("/team", email="somebody@example.com", role="operator:admin")
    assert (refused.http, "choose a role" in refused.words) == (422, True)


def test_operator_pages_of_an_unknown_merchant_are_not_found(visitors: dict[str, Visitor]) -> None:
    for path in ("", "/books", "/accounts/wallet:main:NGN", "/postings/1"):
        assert visitors["operator:admin"].get(f"/operator/merchants/GP9999999{path}").http == 404
