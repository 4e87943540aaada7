"""Who may frame payers' pages, as headers and settings, and how the script is served. Contract: payment#embedding"""

import base64
import gzip
import re
from hashlib import sha384
from typing import Any
from urllib.parse import urlsplit

import pytest

from kasuwa.api.checkout_script import EDITIONS, SCRIPTS, edition_path
from kasuwa.terms.checkout_origins import MAX_ORIGINS, read_origin, read_origins
from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient, RawReply
from tests.methods.checkout.payer import open_checkout
from tests.methods.invoices.test_http import made as make_invoice
from tests.methods.payment.test_http_pages import ask_card
from tests.methods.tickets.test_http import make_link as make_ticket_link
from tests.pages.shop_site import allow
from tests.running import Deployment
from tests.simulate.processes import wait_until
from tests.source_rules import REPOSITORY

GUIDE = REPOSITORY / "docs" / "guides" / "embed-the-checkout.md"
SHOP = "https://shop.example"


def ancestors(reply: RawReply) -> str:
    [found] = re.findall(r"frame-ancestors ([^;]*)", reply.headers["content-security-policy"])
    return str(found)


def pages_of(shop: MerchantClient) -> dict[str, str]:
    """Returns the path of each kind of page that a payer of this merchant sees."""
    begun = open_checkout(shop)
    link = shop.put("resources", request="paylink", title="Cooking class").body["data"]["link"]
    urls = {
        "checkout": begun["checkoutURL"],
        "link": link,
        "invoice": make_invoice(shop)["link"],
        "tickets": make_ticket_link(shop)["link"],
    }
    paths = {name: urlsplit(url).path for name, url in urls.items()}
    qr = shop.put("payment", action="charge", paymentType="qrpay", amount="1500.00").body
    return {
        **paths,
        "QR code": urlsplit(qr["qr_image"]).path.removesuffix("/qr.svg"),
        "3-D Secure": ask_card(shop).path,
    }


def test_pages_are_framed_by_the_sites_of_their_merchant_and_by_no_others(
    shop: MerchantClient, deployment: Deployment
) -> None:
    paths = pages_of(shop)
    before = {name: ancestors(shop.connection.send("GET", path)) for name, path in paths.items()}
    # Contract: payment#3ds-page. The page of the bank could always be framed.
    assert before == {name: "*" if name == "3-D Secure" else "'none'" for name in paths}
    allow(shop, SHOP, "http://localhost:5173")
    for name, path in paths.items():
        reply = shop.connection.send("GET", path)
        assert (name, ancestors(reply)) == (name, f"{SHOP} http://localhost:5173")
        assert "x-frame-options" not in reply.headers
        assert "set-cookie" not in reply.headers
    # Another merchant's pages stay as they are.
    other = deployment.open_shop()
    assert ancestors(other.connection.send("GET", urlsplit(open_checkout(other)["checkoutURL"]).path)) == "'none'"
    allow(shop)
    assert {name: ancestors(shop.connection.send("GET", path)) for name, path in paths.items()} == before


def test_the_outcome_on_the_page_of_the_bank_is_framed_by_the_same_sites(shop: MerchantClient) -> None:
    allow(shop, SHOP)
    asked = ask_card(shop, redirect_url=None)
    assert ancestors(asked.send(otp="123456", decision="approve")) == SHOP


def test_the_reply_has_the_access_code_of_the_address(shop: MerchantClient) -> None:
    begun = open_checkout(shop)
    assert begun["checkoutURL"].endswith(f"/pay/checkout/{begun['access_code']}")
    assert re.fullmatch("[0-9a-f]{48}", begun["access_code"])


# --- the list ----------------------------------------------------------------------------------------------------

ACCEPTED = [
    ("https://shop.example", SHOP),
    ("HTTPS://Shop.Example/", SHOP),
    ("https://shop.example:443", SHOP),
    ("https://shop.example:8443", "https://shop.example:8443"),
    ("https://xn--rj-8ja.example", "https://xn--rj-8ja.example"),
    ("https://203.0.113.9", "https://203.0.113.9"),
    ("http://localhost:80", "http://localhost"),
    ("http://127.0.0.1:5173", "http://127.0.0.1:5173"),
]
REFUSED = [
    "*",
    "https://*",
    "https://*.shop.example",
    "https://shop.example/cart",
    "https://shop.example?a=b",
    "https://shop.example#a",
    "https://ada:secret@shop.example",
    "https://shop.example:0",
    "https://shop.example:99999",
    "https://shop.example; script-src *",
    "https://shop.example https://evil.example",
    "https://shop.example,https://evil.example",
    "https://ọjà.example",
    "https://shop_1.example",
    "https://127.1",
    "https://0x7f.0.0.1",
    "https://[::1]",
    "https://",
    "https:shop.example",
    "//shop.example",
    "shop.example",
    "null",
    "'self'",
    "javascript:alert(1)",
    "data:text/html,a",
    "file:///etc/passwd",
    "ftp://shop.example",
    "http://shop.example",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "https://shop.example\r\nx-evil: 1",
    "",
]


@pytest.mark.parametrize(("text", "origin"), ACCEPTED)
def test_an_origin_is_kept_as_browsers_write_it(text: str, origin: str) -> None:
    assert read_origin(text) == origin


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_origin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=re.compile(".")):
        read_origin(text)


def test_in_live_an_origin_is_encrypted() -> None:
    assert read_origin(SHOP, "live") == SHOP
    for text in ("http://localhost:5173", "http://127.0.0.1"):
        with pytest.raises(ValueError, match="https"):
            read_origin(text, "live")


def test_a_list_has_each_origin_once_and_at_most_twenty() -> None:
    assert read_origins([SHOP, f"{SHOP}/", f"{SHOP}:443"]) == (SHOP,)
    most = [f"https://shop{number}.example" for number in range(MAX_ORIGINS)]
    assert len(read_origins(most)) == MAX_ORIGINS
    with pytest.raises(ValueError, match="at most 20"):
        read_origins([*most, SHOP])


def test_the_action_names_every_origin_that_is_wrong(shop: MerchantClient) -> None:
    reply = shop.put("sandbox", action="checkout_origins", origins=["*", SHOP, "http://shop.example"]).body
    assert reply["status"] == 104
    assert [error["field"] for error in reply["errors"]] == ["origins.0", "origins.2"]
    assert ancestors(shop.connection.send("GET", urlsplit(open_checkout(shop)["checkoutURL"]).path)) == "'none'"


def test_an_owner_sets_the_list_in_the_console_and_nobody_else(deployment: Deployment, shop: MerchantClient) -> None:
    path = urlsplit(open_checkout(shop)["checkoutURL"]).path
    owner, developer = (sign_in_as(deployment, f"merchant:{role}", shop.mid) for role in ("owner", "developer"))
    developer.get("/settings")
    assert developer.post("/settings/origins", origins=SHOP).http == 403
    owner.get("/settings")
    wrong = owner.post("/settings/origins", origins=f"{SHOP} https://*.example")
    assert (wrong.http, "https://*.example: must be a scheme" in wrong.words) == (422, True)
    owner.get("/settings")
    assert owner.post("/settings/origins", origins=f"{SHOP}/  https://www.shop.example").place == "/settings"
    set_to = f"{SHOP} https://www.shop.example"
    wait_until("the list is in force", lambda: ancestors(shop.connection.send("GET", path)) == set_to)
    assert f'value="{set_to}"' in owner.get("/settings").text
    assert set_to in developer.get("/settings").words
    assert "changed the sites of checkouts" in owner.get("/settings/trail").words


def test_a_command_sets_the_list(deployment: Deployment, shop: MerchantClient) -> None:
    path = urlsplit(open_checkout(shop)["checkoutURL"]).path
    refused = deployment.run_any_command(
        "merchant", "set", shop.mid, "--checkout-origins", f"{SHOP},http://shop.example"
    )
    assert (refused.returncode, "http://shop.example: must be https" in refused.stderr) == (1, True)
    done = deployment.run_command("merchant", "set", shop.mid, "--checkout-origins", f"{SHOP},http://localhost:5173")
    assert f'"checkout_origins":["{SHOP}","http://localhost:5173"]' in done
    set_to = f"{SHOP} http://localhost:5173"
    wait_until("the list is in force", lambda: ancestors(shop.connection.send("GET", path)) == set_to)
    deployment.run_command("merchant", "set", shop.mid, "--checkout-origins", "")
    wait_until("it is empty", lambda: ancestors(shop.connection.send("GET", path)) == "'none'")


# --- the script --------------------------------------------------------------------------------------------------


def integrity_of(content: bytes) -> str:
    return f"sha384-{base64.b64encode(sha384(content).digest()).decode()}"


def test_the_script_is_small_public_and_kept_by_browsers(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        edition, newest = wire.send("GET", edition_path(EDITIONS[-1])), wire.send("GET", "/kasuwa.js")
        assert edition.raw == newest.raw
        assert 0 < len(edition.raw) < 10_000
        for reply in (edition, newest):
            assert reply.headers["content-type"] == "text/javascript; charset=utf-8"
            assert reply.headers["access-control-allow-origin"] == "*"
            assert reply.headers["cross-origin-resource-policy"] == "cross-origin"
            assert reply.headers["x-content-type-options"] == "nosniff"
            assert "set-cookie" not in reply.headers
        assert edition.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert newest.headers["cache-control"] == "public, max-age=300"
        again = wire.send("GET", "/kasuwa.js", headers={"if-none-match": newest.headers["etag"]})
        assert (again.http, again.raw) == (304, b"")
        packed = wire.send("GET", "/kasuwa.js", headers={"accept-encoding": "gzip"})
        assert (packed.headers["content-encoding"], gzip.decompress(packed.raw)) == ("gzip", newest.raw)
        assert wire.send("HEAD", "/kasuwa.js").http == 200
    with deployment.connect() as wire:
        refused = wire.send("POST", "/kasuwa.js", b"{}")
        assert (refused.http, refused.headers["allow"]) == (405, "GET, HEAD")
    with deployment.connect() as wire:
        assert wire.send("GET", "/kasuwa-2.js").http == 404


def test_the_guide_names_the_hash_of_the_script_that_is_served(deployment: Deployment) -> None:
    written: Any = dict(re.findall(r'src="\S*?(/kasuwa-\d+\.js)"\s+integrity="(sha384-\S+)"', GUIDE.read_text()))
    assert set(written) == {edition_path(EDITIONS[-1])}
    with deployment.connect() as wire:
        for path, script in SCRIPTS.items():
            served = integrity_of(wire.send("GET", path).raw)
            assert served == script.integrity
            assert written.get(path, served) == served


def test_an_edition_is_the_file_that_it_always_was() -> None:
    """Pages name its hash, and load it no more once it is another. A change of the script is a new edition."""
    editions = {"/kasuwa-1.js": "sha384-ICkp1/NrM8Ch0X6E/1sAHL4VA2YCBiZJQSgGv9hlBlIYiZLmMK3U6sAB/bYdvvSO"}
    assert {path: script.integrity for path, script in SCRIPTS.items()} == editions
