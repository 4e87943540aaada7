"""Hosted pages as plain HTTP requests: no browser, no cookie, no script."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.merchant_client import MerchantClient, RawReply
from tests.running import Deployment

CARD = {"card_no": "4111111111111111", "expiry_month": "12", "expiry_year": "39", "ccv": "200"}
DONE = "https://shop.example/done?order=7"
RIGHT, WRONG, LOST = "123456", "000000", "999999"


class HostedPage(NamedTuple):
    """A payment whose payer is asked on a page."""

    shop: MerchantClient
    reference: str
    path: str

    def open(self, part: str = "") -> RawReply:
        return self.shop.connection.send("GET", self.path + part)

    def send(self, **fields: str) -> RawReply:
        """The form of the page, filled in: its hidden fields come along."""
        hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', self.open().raw.decode())
        form = urlencode({**dict(hidden), **fields}).encode()
        headers = {"content-type": "application/x-www-form-urlencoded"}
        return self.shop.connection.send("POST", self.path, form, headers)

    def verified(self) -> Any:
        return self.shop.put("payment", action="verify", txnRef=self.reference).body


def ask_card(shop: MerchantClient, **fields: Any) -> HostedPage:
    """A card payment that waits for 3-D Secure."""
    body = {"paymentType": "card", "card": CARD, "amount": "1500.00", "redirect_url": DONE} | fields
    body = {name: value for name, value in body.items() if value is not None}
    begun = shop.put("payment", action="initiate", **body).body
    assert (begun["status"], begun["apply_auth"]) == (202, "3DSecure"), begun
    asked = shop.put("payment", action="charge", txnRef=begun["txnRef"], auth_type="3DSecure", **body).body
    assert asked["status"] == 202, asked
    return HostedPage(shop, begun["txnRef"], urlsplit(asked["authURL"]).path)


def token_of(deployment: Deployment, shop: MerchantClient, reference: str) -> str:
    """Returns the page token of a payment from the database, as no reply has it."""
    query = (
        "select p.detail->>'page' from payment p join merchant m on m.merchant_id = p.merchant_id"
        " where m.mid = $1 and p.txn_ref = $2"
    )
    return str(deployment.fetch(query, shop.mid, reference)[0][0])


def outcome(reply: RawReply) -> str:
    """Returns the status that a page redirects to the merchant with."""
    assert reply.http == 303, reply
    address = urlsplit(reply.headers["location"])
    result = parse_qs(address.query)
    assert (address.netloc, address.path, result["order"]) == ("shop.example", "/done", ["7"])
    return result["txnStatus"][0]


def test_the_right_code_pays_and_leads_back(shop: MerchantClient) -> None:
    asked = ask_card(shop)
    page = asked.open().raw.decode()
    assert "411111******1111" in page
    assert "NGN\N{NO-BREAK SPACE}1,500.00" in page
    assert "4111111111111111" not in page
    before = shop.wallet().balance
    assert outcome(asked.send(otp=RIGHT, decision="approve")) == "successful"
    assert asked.verified()["txnStatus"] == "successful"
    assert shop.wallet().balance == before + 150_000 - 2_250 - 169
    # Opened or sent again, the page only says how it ended.
    assert outcome(asked.open()) == "successful"
    assert outcome(asked.send(decision="decline")) == "successful"
    assert shop.wallet().balance == before + 150_000 - 2_250 - 169


def test_without_a_redirect_url_the_page_returns_the_result_as_json(shop: MerchantClient) -> None:
    asked = ask_card(shop, redirect_url=None)
    reply = asked.send(otp=RIGHT, decision="approve")
    assert (reply.http, reply.headers["content-type"]) == (200, "application/json")
    assert reply.body["txnStatus"] == "successful"
    assert reply.body["txnRef"] == asked.reference
    assert reply.body["cardToken"]
    assert reply.headers["content-security-policy"].endswith("frame-ancestors *")


def test_declining_fails_the_payment(shop: MerchantClient) -> None:
    asked = ask_card(shop)
    before = shop.wallet().balance
    assert outcome(asked.send(decision="decline", otp="")) == "failed"
    assert asked.verified()["txnStatus"] == "failed"
    assert shop.wallet().balance == before


def test_a_third_wrong_code_on_the_page_fails_the_payment(shop: MerchantClient) -> None:
    asked = ask_card(shop)
    for left in (2, 1):
        again = asked.send(otp=WRONG, decision="approve")
        assert again.http == 200
        assert f"The code is not right. Please try again. Attempts left: {left}" in again.raw.decode()
        assert asked.verified()["txnStatus"] == "pending"
    assert outcome(asked.send(otp=WRONG, decision="approve")) == "failed"
    assert outcome(asked.send(otp=RIGHT, decision="approve")) == "failed"
    assert asked.verified()["txnStatus"] == "failed"


def test_a_bank_that_cannot_be_reached_is_asked_again_by_the_payer(shop: MerchantClient) -> None:
    asked = ask_card(shop)
    shop.put("sandbox", action="fault", rail="card", kind="unavailable", times=1)
    away = asked.send(otp=RIGHT, decision="approve")
    assert "Your bank cannot be reached at the moment" in away.raw.decode()
    assert outcome(asked.send(otp=RIGHT, decision="approve")) == "successful"


def test_an_unknown_outcome_is_shown_as_pending(shop: MerchantClient) -> None:
    asked = ask_card(shop)
    assert outcome(asked.send(otp=LOST, decision="approve")) == "pending"
    assert outcome(asked.open()) == "pending"
    shop.advance(seconds=10)
    assert outcome(asked.open()) == "successful"


def test_an_expired_page_redirects_with_the_failure(shop: MerchantClient) -> None:
    asked = ask_card(shop)
    shop.advance(minutes=11)
    assert outcome(asked.open()) == "failed"
    assert outcome(asked.send(otp=RIGHT, decision="approve")) == "failed"


def test_the_page_answers_straight_after_initiate(shop: MerchantClient) -> None:
    body: Any = {"paymentType": "card", "card": CARD, "amount": "1500.00", "redirect_url": DONE}
    begun = shop.put("payment", action="initiate", **body).body
    asked = HostedPage(shop, begun["txnRef"], urlsplit(begun["authURL"]).path)
    assert outcome(asked.send(otp=RIGHT, decision="approve")) == "successful"


def test_a_card_that_is_asked_for_an_otp_has_no_page(shop: MerchantClient, deployment: Deployment) -> None:
    """Its token exists, and was told to nobody."""
    begun = shop.put(
        "payment", action="initiate", paymentType="card", card={**CARD, "ccv": "000"}, amount="1500.00"
    ).body
    assert "authURL" not in begun
    assert shop.connection.send("GET", f"/pay/{token_of(deployment, shop, begun['txnRef'])}").http == 404


@pytest.mark.parametrize(("decision", "status"), [("approve", "successful"), ("decline", "failed")])
def test_a_wallet_hands_the_payer_back(shop: MerchantClient, decision: str, status: str) -> None:
    charged = shop.put(
        "payment", action="charge", paymentType="mobile_money", type="paga", amount="1500.00", redirect_url=DONE
    ).body
    asked = HostedPage(shop, charged["txnRef"], urlsplit(charged["authURL"]).path)
    assert b"Pay with Paga" in asked.open().raw
    assert outcome(asked.send(decision=decision)) == status
    assert asked.verified()["txnStatus"] == status


def test_a_qr_code_is_a_picture_and_a_page_that_waits(shop: MerchantClient) -> None:
    charged = shop.put("payment", action="charge", paymentType="qrpay", amount="1500.00", business_name="Ọlá & Co").body
    picture = urlsplit(charged["qr_image"]).path
    asked = HostedPage(shop, charged["txnRef"], picture.removesuffix("/qr.svg"))
    assert shop.mid in charged["qr_code"]
    assert asked.open("/qr.svg").headers["content-type"] == "image/svg+xml"
    assert "Scan to pay Ọlá &amp; Co" in asked.open().raw.decode()
    assert asked.open("/state").body == {"txnStatus": "pending"}
    shop.put("sandbox", action="settle", txnRef=charged["txnRef"], outcome="successful")
    assert asked.open("/state").body == {"txnStatus": "successful"}
    assert b"Payment successful" in asked.open().raw


def test_a_transfer_page_shows_where_to_pay_and_what_has_come(shop: MerchantClient, deployment: Deployment) -> None:
    charged = shop.put(
        "payment", action="charge", paymentType="bank_transfer", amount="1500.00", redirect_url=DONE
    ).body
    token = token_of(deployment, shop, charged["txnRef"])
    asked = HostedPage(shop, charged["txnRef"], f"/pay/{token}")
    page = asked.open().raw.decode()
    assert charged["accountNumber"] in page
    assert charged["bankName"] in page
    shop.put("sandbox", action="pay_account", accountNumber=charged["accountNumber"], amount="500.00")
    assert "NGN\N{NO-BREAK SPACE}500.00 has arrived" in asked.open().raw.decode()
    shop.put("sandbox", action="pay_account", accountNumber=charged["accountNumber"], amount="1000.00")
    ended = asked.open().raw.decode()
    assert "Payment successful" in ended
    assert "txnStatus=successful" in ended


def test_a_form_that_is_sent_by_many_at_once_pays_once(shop: MerchantClient, deployment: Deployment) -> None:
    asked = ask_card(shop)
    before = shop.wallet().balance

    def send(n: int) -> str:
        with deployment.connect() as wire:
            mine = HostedPage(MerchantClient(wire, shop.mid, shop.key), asked.reference, asked.path)
            return outcome(mine.send(otp=RIGHT, decision="approve" if n % 4 else "decline"))

    with ThreadPoolExecutor(8) as threads:
        outcomes = set(threads.map(send, range(8)))
    ended = asked.verified()["txnStatus"]
    assert outcomes == {ended}
    assert shop.wallet().balance == before + (150_000 - 2_250 - 169 if ended == "successful" else 0)


def test_a_payer_of_one_merchant_sees_nothing_of_another(shop: MerchantClient) -> None:
    mine, theirs = ask_card(shop), ask_card(shop)
    assert mine.path != theirs.path
    assert theirs.reference not in mine.open().raw.decode()


def test_the_payers_code_is_neither_stored_nor_logged(shop: MerchantClient, deployment: Deployment) -> None:
    asked = ask_card(shop)
    asked.send(otp="872354", decision="approve")
    asked.send(otp=RIGHT, decision="approve")
    explanation = shop.put("sandbox", action="explain", txnRef=asked.reference).body
    assert "872354" not in str(explanation)
    assert "872354" not in deployment.out.read_text()
