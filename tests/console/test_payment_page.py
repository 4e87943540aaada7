"""The page of a payment over HTTP: payer, amounts, refunds, disputes, settlement, next steps and sandbox buttons."""

from urllib.parse import quote

import pytest

from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient, card
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

ADA = {"firstname": "Adaeze", "lastname": "Obiora", "email": "adaeze@example.com"}


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def path_of(reference: str) -> str:
    return f"/transactions/{quote(reference, safe='')}"


def test_a_payment_shows_payer_card_net_settlement_and_remaining_amount(owner: Visitor, shop: MerchantClient) -> None:
    customer = shop.put("resources", request="customer", name="Adaeze Obiora", email=ADA["email"]).body["data"]
    paid = PaymentClient(shop).paid(user=ADA, customer_txnref="basket-7")["txnRef"]
    page = owner.get(path_of(paid))
    for text in ("Visa •••• 0013", "411111******0013", "Sandbox Bank", "adaeze@example.com", "basket-7"):
        assert text in page.words
    assert f'href="/customers/{customer["customer_id"]}">Adaeze Obiora</a>' in page.text
    assert "You get NGN 1,475.81" in page.words
    assert "Left to refund NGN 1,500.00" in page.words
    assert "You can refund up to NGN 1,500.00." in page.words
    settlement = page.text.partition('href="/settlements/')[2].partition('"')[0]
    assert "1,500.00" in owner.get(f"/settlements/{settlement}").words


def test_a_refund_is_asked_for_first_and_linked_both_ways(owner: Visitor, shop: MerchantClient) -> None:
    paid = PaymentClient(shop).paid()["txnRef"]
    owner.get(path_of(paid))
    before = shop.wallet()
    asked = owner.post(f"{path_of(paid)}/refund", amount="400.00", comment="one came back")
    assert (asked.http, "Refund NGN 400.00?" in asked.words) == (200, True)
    assert 'name="comment" value="one came back"' in asked.text
    assert f'href="{path_of(paid)}">Cancel</a>' in asked.text
    assert shop.wallet() == before
    done = owner.post(f"{path_of(paid)}/refund", amount="400.00", comment="one came back", confirmed="yes")
    assert done.place == path_of(paid)
    page = owner.get(path_of(paid))
    assert "partly refunded" in page.words
    assert "Refunded NGN 400.00 Left to refund NGN 1,100.00" in page.words
    assert 'value="1100.00"' in page.text
    [refund] = shop.put("payment", action="verify", txnRef=paid).body["refunds"]
    assert path_of(refund["refundRef"]) in page.text
    assert path_of(paid) in owner.get(path_of(refund["refundRef"])).text
    assert "partly refunded" in owner.get("/transactions").words
    assert owner.post(f"{path_of(paid)}/refund", amount="1100.00", confirmed="yes").http == 303
    full = owner.get(path_of(paid))
    assert "It was refunded in full." in full.words
    assert f"{path_of(paid)}/refund" not in full.text
    assert owner.post(f"{path_of(paid)}/refund", amount="1.00", confirmed="yes").http == 404


def test_a_refund_beyond_the_remaining_amount_is_refused_before_it_is_confirmed(
    owner: Visitor, shop: MerchantClient
) -> None:
    paid = PaymentClient(shop).paid()["txnRef"]
    owner.get(path_of(paid))
    for amount, reason in (("1500.01", "at most 1500.00, what is left to refund"), ("x", "digits with at most")):
        refused = owner.post(f"{path_of(paid)}/refund", amount=amount)
        assert (refused.http, reason in refused.words) == (422, True), refused.words


def test_a_failed_payment_shows_no_fee_and_no_refund_form(owner: Visitor, shop: MerchantClient) -> None:
    payments, given = PaymentClient(shop), card(auth="3DSecure")
    begun = payments.initiate(given)
    payments.charge(begun, given)
    shop.put("sandbox", action="settle", txnRef=begun["txnRef"], outcome="failed")
    page = owner.get(path_of(begun["txnRef"]))
    assert "Fees None: it failed." in page.words
    assert "Nobody was charged." in page.words
    assert "22.50" not in page.words
    assert "Left to refund" not in page.words


def test_a_pending_payment_has_the_payers_link_and_is_ended_from_its_page(owner: Visitor, shop: MerchantClient) -> None:
    payments, given = PaymentClient(shop), card(auth="3DSecure")
    begun = payments.initiate(given)
    charged = payments.charge(begun, given)
    page = owner.get(path_of(begun["txnRef"]))
    assert f'href="{charged["authURL"]}"' in page.text
    assert "The payer has to approve the payment on the bank's page." in page.words
    assert "Fee, if it succeeds NGN 22.50" in page.words
    ended = owner.post("/sandbox/settle", txnRef=begun["txnRef"], outcome="successful", next=path_of(begun["txnRef"]))
    assert ended.place == path_of(begun["txnRef"])
    assert payments.verify(begun["txnRef"])["txnStatus"] == "successful"
    assert "Sandbox: complete" not in owner.get(path_of(begun["txnRef"])).words


def test_a_dispute_is_opened_and_decided_from_the_pages_it_concerns(owner: Visitor, shop: MerchantClient) -> None:
    paid = PaymentClient(shop).paid()["txnRef"]
    owner.get(path_of(paid))
    opened = owner.post("/sandbox/dispute", txnRef=paid, reason="fraudulent", next=path_of(paid))
    assert opened.place == path_of(paid)
    page = owner.get(path_of(paid))
    assert "Answer the dispute before its deadline." in page.words
    assert "disputed" in page.words
    dispute = page.text.partition('href="/disputes/')[2].partition('"')[0]
    shown = owner.get(f"/disputes/{dispute}")
    assert path_of(paid) in shown.text
    [found] = shop.put("payment", action="disputes").body["data"]
    decided = owner.post(
        "/sandbox/dispute_outcome", dispute_id=found["dispute_id"], outcome="won", next=f"/disputes/{dispute}"
    )
    assert decided.place == f"/disputes/{dispute}"
    assert shop.put("payment", action="disputes").body["data"][0]["state"] == "won"


@pytest.mark.parametrize("next_path", ["//evil.example/x", "https://evil.example", "/\\evil.example", "evil"])
def test_a_sandbox_form_returns_only_to_pages_of_the_console(owner: Visitor, next_path: str) -> None:
    owner.get("/sandbox")
    assert owner.post("/sandbox/fund_wallet", amount="1.00", currency="NGN", next=next_path).place == "/sandbox"


def test_roles_see_only_the_forms_that_they_may_send(deployment: Deployment, shop: MerchantClient) -> None:
    paid = PaymentClient(shop).paid()["txnRef"]
    pages = {
        role: sign_in_as(deployment, f"merchant:{role}", shop.mid).get(path_of(paid))
        for role in ("finance", "developer", "read-only")
    }
    refund, dispute = f'action="{path_of(paid)}/refund"', 'action="/sandbox/dispute"'
    assert {role: (refund in page.text, dispute in page.text) for role, page in pages.items()} == {
        "finance": (True, False),
        "developer": (False, True),
        "read-only": (False, False),
    }
    reader = sign_in_as(deployment, "merchant:read-only", shop.mid)
    assert reader.post(f"{path_of(paid)}/refund", amount="1.00", confirmed="yes").http == 403
    assert reader.post("/sandbox/advance", days="1").http == 403


def test_the_clock_of_the_header_is_advanced_on_any_page(owner: Visitor, shop: MerchantClient) -> None:
    page = owner.get("/customers?search=ada")
    assert 'action="/sandbox/advance"' in page.text
    before = shop.now()
    moved = owner.post("/sandbox/advance", days="7", next="/customers?search=ada")
    assert moved.place == "/customers?search=ada"
    assert shop.now()[:10] > before[:10]
    assert "moved" in owner.get("/customers").words


def test_reset_asks_first_and_changes_nothing_until_confirmed(owner: Visitor, shop: MerchantClient) -> None:
    sent = shop.transfer()["txnRef"]
    owner.get("/sandbox")
    assert "Reset this merchant?" in owner.post("/sandbox/reset").words
    assert owner.get(path_of(sent)).http == 200
    assert owner.post("/sandbox/reset", confirmed="yes").http == 303
    assert owner.get(path_of(sent)).http == 404
