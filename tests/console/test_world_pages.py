"""The page of worlds over HTTP: stored, listed, compared, restored, copied and deleted by those who may."""

import pytest

from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

PAGE = "/sandbox/worlds"


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def store(visitor: Visitor, name: str) -> None:
    visitor.get(PAGE)
    assert visitor.post("/sandbox/snapshot", name=name, next=PAGE).place == PAGE


def test_worlds_are_stored_compared_and_deleted_on_their_page(owner: Visitor, shop: MerchantClient) -> None:
    assert "No worlds yet" in owner.get(PAGE).words
    store(owner, "before")
    shop.transfer(accountnumber="0000000000")
    store(owner, "after")
    compared = owner.get(f"{PAGE}?first=before&other=after").words
    assert "transaction 0 1 0" in compared
    assert "Both worlds are the same." in owner.get(f"{PAGE}?first=after&other=after").words
    assert "There is no world of this name" in owner.get(f"{PAGE}?first=after&other=unknown").words
    assert owner.post("/sandbox/delete_world", name="before", next=PAGE).place == PAGE
    assert "before" not in owner.get(PAGE).words.partition("Actions")[2]


def test_a_restore_is_asked_for_first(owner: Visitor, shop: MerchantClient) -> None:
    store(owner, "start")
    wallet = shop.wallet()
    shop.transfer(accountnumber="0000000000")
    asked = owner.post(f"{PAGE}/restore", name="start")
    assert (asked.http, "Restore start?" in asked.words) == (200, True)
    assert shop.wallet() != wallet
    assert owner.post(f"{PAGE}/restore", name="start", confirmed="yes").place == PAGE
    assert shop.wallet() == wallet


def test_a_copy_is_shown_with_its_key(owner: Visitor, shop: MerchantClient) -> None:
    store(owner, "start")
    page = owner.post(f"{PAGE}/fork", name="start")
    shown = page.words.partition("Its key is shown this once.")[2].split()
    mid, key = shown[1], shown[3]
    assert MerchantClient(shop.connection, mid, key).wallet() == shop.wallet()


def test_a_developer_stores_worlds_and_only_an_owner_restores_them(
    deployment: Deployment, shop: MerchantClient
) -> None:
    developer = sign_in_as(deployment, "merchant:developer", shop.mid)
    store(developer, "start")
    for action in ("restore", "fork"):
        assert developer.post(f"{PAGE}/{action}", name="start", confirmed="yes").http == 403


def test_a_world_is_downloaded_and_taken_in_again(owner: Visitor, shop: MerchantClient) -> None:
    store(owner, "before the/sale")
    given = {"name": "before the/sale", "passphrase": "a passphrase of the team"}
    file = owner.post("/sandbox/world-file/export", **given)
    assert (file.http, file.headers["content-disposition"]) == (
        200,
        'attachment; filename="before-the-sale.kasuwa-world"',
    )
    owner.get(PAGE)
    upload = {"name": "again", "passphrase": given["passphrase"]}
    taken = owner.upload("/sandbox/world-file/import", "file", file.body, **upload)
    assert taken.place == PAGE
    assert "again" in owner.get(PAGE).words
    wrong = {"name": "third", "passphrase": "another passphrase"}
    refused = owner.upload("/sandbox/world-file/import", "file", file.body, **wrong)
    assert (refused.http, "The passphrase is not that of the file" in refused.words) == (422, True)
