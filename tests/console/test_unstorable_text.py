"""Text that no table can hold, in every place where a visitor can write: refused as the visitor's, never as ours.

The table of routes is walked, so a page that is added is covered at once.
"""

from urllib.parse import quote

import pytest

from kasuwa.console.routes import ConsolePage
from kasuwa.console.server import is_storable
from tests.console.test_access import filled
from tests.console.visitor import DEPLOYED, Visitor, sign_in_as
from tests.running import NEWEST, Deployment, Deployments

pytestmark = pytest.mark.xdist_group("console")

NUL = "a\0b"
FIELDS = ("email", "password", "q", "amount", "narration", "orderRef", "body", "url", "name", "reason", "comment")
ROLES = ("merchant:owner", "operator:admin")


@pytest.fixture(scope="module")
def visitors(deployments: Deployments) -> list[Visitor]:
    deployment = deployments.for_version(NEWEST)
    shop = deployment.open_shop()
    shop.connection.close()
    people = [sign_in_as(deployment, role, shop.mid if role.startswith("merchant") else None) for role in ROLES]
    return [Visitor(deployment), *people]


# Whoever signs out is not let in by the pages that come after it.
WALKED = [page for page in DEPLOYED if page.path != "/sign-out"]


@pytest.mark.parametrize("page", WALKED, ids=lambda page: f"{page.http_method} {page.path}")
def test_nul_is_a_client_error_on_every_page(
    deployment: Deployment, visitors: list[Visitor], page: ConsolePage
) -> None:
    named = filled(page) if "{" not in page.path else filled(page).replace("nobody", quote(NUL))
    for visitor in visitors:
        visitor.get("/sign-in")
        for path in (f"{named}?q={quote(NUL)}", f"{named}?{quote(NUL)}=1", with_nul(page)):
            seen = visitor.get(path) if page.http_method == "GET" else visitor.post(path)
            assert seen.http < 500, (path, seen.words[:200])
        if page.http_method == "POST":
            seen = visitor.post(named, **dict.fromkeys(FIELDS, NUL))
            assert seen.http < 500, seen.words[:200]


def with_nul(page: ConsolePage) -> str:
    """The page's address with NUL in each of its parts that names something."""
    parts = page.path.split("/")
    return "/".join(quote(NUL, safe="") if part.startswith("{") else part for part in parts)


def test_the_error_names_the_field_with_nul(deployment: Deployment, visitors: list[Visitor]) -> None:
    owner = visitors[1]
    owner.get("/transfers")
    seen = owner.post("/transfers/preview", amount="1.00", narration=NUL)
    assert seen.http == 422
    assert "narration" in seen.words
    assert owner.get(f"/transactions?q={quote(NUL)}").http == 400


def test_a_form_that_cannot_be_parsed_is_a_client_error(deployment: Deployment, visitors: list[Visitor]) -> None:
    headers = {"content-type": "multipart/form-data; boundary=x"}
    for body in (b"--y\r\nnonsense", b"", b"--x\r\n\r\n\r\n--x--\r\n"):
        seen = visitors[1]._send("POST", "/transfers/preview", body, headers)
        assert 400 <= seen.http < 500, seen.words[:200]


@pytest.mark.parametrize(
    ("text", "storable"), [("", True), ("é€😀\x01", True), ("\0", False), ("a\0", False), ("\ud800", False)]
)
def test_texts_that_postgresql_can_store(text: str, storable: bool) -> None:
    assert is_storable(text) is storable
