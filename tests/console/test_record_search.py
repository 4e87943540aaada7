"""Records are found by whole words of their names and titles, by last digits and by email addresses: by their merchant,
and by operators with every merchant."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from kasuwa.methods.searched_records import TABLES
from kasuwa.rails.sandbox.bank import person_name
from tests.console.sample_merchant import SampleMerchant
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")

DUE = "select 1 from record_word_due join merchant using (merchant_id) where mid = $1"
BEHIND = """
    select 1 from merchant_state s join merchant m using (merchant_id) left join payment_word_mark k using (merchant_id)
    where m.mid = $1 and m.current and s.last_event_seq > coalesce(k.event_seq, 0)
"""
WORDS = "select w.word, w.kind from record_word w join merchant using (merchant_id) where mid = $1"
PERSON: Any = {"firstname": "Ngozi", "middlename": "Ifunanya", "lastname": "Balogun-Cole", "phone": "08031234567"}


def wait_for_words(deployment: Deployment, shop: MerchantClient) -> None:
    wait_until(
        "the words are made", lambda: not (deployment.fetch(DUE, shop.mid) or deployment.fetch(BEHIND, shop.mid))
    )


def make_client(shop: MerchantClient, **fields: Any) -> str:
    made: Any = shop.put("clients", action="create", data={**PERSON, **fields}, status="active").body
    return str(made["data"]["client_id"])


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


@pytest.fixture
def operator(deployment: Deployment) -> Visitor:
    return sign_in_as(deployment, "operator:support")


def finds(visitor: Visitor, text: str, reference: str, path: str = "/search") -> bool:
    """Whether a search finds a record: among others, or alone with a redirect to its page."""
    page = visitor.get(f"{path}?q={quote(text)}")
    assert page.http in (200, 303), page.http
    return quote(reference, safe="") in (page.place or page.text)


@pytest.fixture(scope="module")
def only_sample(deployments: Deployments) -> Iterator[tuple[Deployment, SampleMerchant]]:
    """A deployment where no other merchant has records with the same names."""
    with deployments.fresh("record_search") as running:
        yield running, SampleMerchant(running)


def test_every_kind_of_record_is_found_by_its_words(only_sample: tuple[Deployment, SampleMerchant]) -> None:
    deployment, sample = only_sample
    owner = sign_in_as(deployment, "merchant:read-only", sample.mid)
    operator = sign_in_as(deployment, "operator:support")
    wait_until("the words are made", lambda: not deployment.fetch(DUE, sample.mid))
    assert {row["kind"] for row in deployment.fetch(WORDS, sample.mid)} == {kind for kind, *_ in TABLES}
    for kind, text in (
        ("links", "cooking CLASS"),
        ("tickets", "Jazz"),
        ("beneficiaries", "bola ade"),
        ("accounts", "Ada Obi"),
        ("accounts", "ada@example.com"),
        ("customers", "Nwachukwu"),
        ("customers", "Adaeze.Obiora@example.com"),
    ):
        assert finds(owner, text, sample.records[kind]), (kind, text)
        assert finds(operator, text, sample.records[kind], "/operator/search"), (kind, text)
    for record in ("recurrents", "instalments", "cards", "savings", "thrift"):
        page = owner.get(f"/{record}/{quote(sample.records[record], safe='')}")
        assert page.http == 200, record


def test_a_client_is_found_by_any_word_and_by_email_until_they_are_erased(
    deployment: Deployment, owner: Visitor, operator: Visitor, shop: MerchantClient
) -> None:
    client = make_client(shop, email="Ngozi@Example.com")
    wait_for_words(deployment, shop)
    for text in ("balogun", "Ifunanya Cole", "ngozi@example.com"):
        assert finds(owner, text, client), text
        assert finds(operator, text, client, "/operator/search"), text
    assert not finds(owner, "Balogun Ade", client)
    assert not finds(owner, "Balo", client), "words are whole"
    shop.put("clients", action="update", client_id=client, data={"lastname": "Danjuma"})
    wait_for_words(deployment, shop)
    assert finds(owner, "Danjuma", client)
    assert not finds(owner, "Balogun", client)
    deployment.run_command("client", "erase", shop.mid, client, "--yes")
    assert deployment.fetch(WORDS, shop.mid) == []
    assert not finds(operator, "Danjuma", client, "/operator/search")


def test_another_merchant_finds_nothing_of_it(deployment: Deployment, shop: MerchantClient) -> None:
    client = make_client(shop)
    stranger = deployment.open_shop()
    with stranger.connection:
        own = make_client(stranger)
        wait_for_words(deployment, shop)
        wait_for_words(deployment, stranger)
        page = sign_in_as(deployment, "merchant:owner", stranger.mid).get("/search?q=Balogun")
        assert own in page.text
        assert client not in page.text


def test_transfers_are_found_by_the_name_on_the_account_and_its_last_digits(
    deployment: Deployment, owner: Visitor, operator: Visitor, shop: MerchantClient
) -> None:
    sent = shop.transfer(accountnumber="0123456785", amount="7350.25")["txnRef"]
    name = person_name("000013", "0123456785")
    wait_for_words(deployment, shop)
    for text in (name, "6785", "7,350.25"):
        assert finds(owner, text, sent), text
        assert finds(operator, text, sent, "/operator/search"), text


def test_an_erased_transfer_loses_its_words_in_the_same_commit(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    sent = shop.transfer(accountnumber="0123456785")["txnRef"]
    wait_for_words(deployment, shop)
    assert finds(owner, "6785", sent)
    erase = (
        "update transaction t set facts_sealed = null from merchant m where m.merchant_id = t.merchant_id and mid = $1"
    )
    deployment.fetch(erase, shop.mid)
    assert not finds(owner, "6785", sent)


def test_operators_find_payments_by_payer_amount_and_invoice_number(
    deployment: Deployment, operator: Visitor, shop: MerchantClient
) -> None:
    payer = {"firstname": "Zainab", "lastname": "Okonkwo", "email": "zainab@example.com"}
    paid = PaymentClient(shop).paid("5123450000000016", user=payer, amount="81,234.50".replace(",", ""))["txnRef"]
    person: Any = {"name": "Zainab Okonkwo", "email": "zainab@example.com"}
    customer = shop.put("resources", request="customer", **person).body["data"]["customer_id"]
    goods: Any = {"items": [{"description": "Fabric", "quantity": 1, "amount": "12500.00"}]}
    invoice = shop.put("resources", request="invoice", customer_id=customer, **goods).body["data"]
    wait_for_words(deployment, shop)
    for text in ("okonkwo ZAINAB", "zainab@example.com", "81,234.50", "81234.5"):
        assert finds(operator, text, paid, "/operator/search"), text
    assert finds(operator, invoice["number"], invoice["invoice_id"], "/operator/search")
    page = operator.get("/operator/search?q=Okonkwo").words
    assert "Zainab Okonkwo" not in page, "operators are shown references, not personal data"


def test_words_of_earlier_marks_are_completed(deployment: Deployment, owner: Visitor, shop: MerchantClient) -> None:
    sent = shop.transfer(accountnumber="0123456785")["txnRef"]
    wait_for_words(deployment, shop)
    deployment.fetch(
        "delete from payment_word w using merchant m where m.merchant_id = w.merchant_id and mid = $1", shop.mid
    )
    deployment.fetch(
        "update payment_word_mark k set scope = 1 from merchant m where m.merchant_id = k.merchant_id and mid = $1",
        shop.mid,
    )
    scope = "select 1 from payment_word_mark k join merchant m using (merchant_id) where mid = $1 and scope = 2"
    wait_until("they are completed", lambda: bool(deployment.fetch(scope, shop.mid)))
    assert finds(owner, "6785", sent)
