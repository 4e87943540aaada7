"""Checkouts over HTTP, as the merchant and the payer see them. Contract: payment#checkout"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kasuwa.merchants.merchant_settings import read_logo
from tests.merchant_client import MerchantClient
from tests.methods.checkout.payer import DECLINED_CARD, OK_CARD, Payer, open_checkout, verify
from tests.pages.pdf_text import read_pdf_pages
from tests.running import Deployment
from tests.simulate.processes import wait_until
from tests.walk.bounds import LINK_PAYMENTS

Visit = Callable[..., Payer]


@pytest.fixture
def visit(shop: MerchantClient, deployment: Deployment) -> Iterator[Visit]:
    """Opens windows of a payer."""
    opened: list[Payer] = []

    def open_one(begun: Any) -> Payer:
        opened.append(Payer(shop, begun.get("checkoutURL") or begun["link"], deployment.port))
        return opened[-1]

    yield open_one
    for payer in opened:
        payer.close()


def events_of(shop: MerchantClient) -> list[Any]:
    return [line["payload"] for line in shop.put("resources", inquire="event_feed", after=0).body["data"]]


# --- to the end by each channel -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("auth", "do", "code"), [("OTP", "otp", "123456"), ("PIN", "pin", "1234")])
def test_a_card_pays_and_the_page_shows_a_receipt(
    shop: MerchantClient, visit: Visit, auth: str, do: str, code: str
) -> None:
    begun = open_checkout(shop, customer_txnref="basket-1", title="Two shirts")
    payer = visit(begun)
    before = shop.wallet().balance
    payer.pay_by_card(auth=auth)
    assert verify(shop, begun["txnRef"])["txnStatus"] == "pending"
    payer.send(do, **{do: code})
    assert payer.heading == "Payment successful"
    assert "Two shirts" in payer.html
    assert f"https://shop.example/done?order=7&txnRef={begun['txnRef'].replace('|', '%7C')}&status=successful" in (
        payer.html.replace("&amp;", "&")
    )
    assert OK_CARD not in payer.html
    found = verify(shop, begun["txnRef"])
    assert (found["txnStatus"], found["txnRef"], found["chargedAmount"]) == ("successful", begun["txnRef"], 1500.0)
    assert (found["checkout"]["state"], found["checkout"]["attempts"]) == ("paid", 1)
    assert shop.put("payment", action="verify", customer_txnref="basket-1").body == found
    assert shop.wallet().balance == before + 150_000 - 2_250 - 169
    file = payer.open("/receipt.pdf")
    assert (file.http, file.headers["content-type"], file.raw[:5]) == (200, "application/pdf", b"%PDF-")
    assert [(event["kind"], event["txnStatus"]) for event in events_of(shop)] == [
        ("payment", "successful"),
        ("checkout", "successful"),
    ]


def test_three_d_secure_leads_to_the_bank_and_back(shop: MerchantClient, visit: Visit) -> None:
    begun = open_checkout(shop)
    payer = visit(begun)
    away = payer.pay_by_card(auth="3DSecure")
    bank = away.headers["location"]
    assert payer.open(path=bank).http == 200
    back = payer.post({"decision": "approve", "otp": "123456"}, path=bank)
    assert back.headers["location"].split("?")[0].endswith(payer.path)
    payer.open()
    assert payer.heading == "Payment successful"


@pytest.mark.parametrize(
    ("channel", "fields", "shown"),
    [
        ("ussd", {"ussd_bank": "gtb"}, "*737*000*"),
        ("qrpay", {}, "<svg"),
        ("phone", {"phone": "08031234567"}, "08031234567"),
        ("bank_transfer", {}, "Account number"),
    ],
)
def test_a_payer_who_pays_elsewhere_sees_the_page_confirm_it(
    shop: MerchantClient, visit: Visit, channel: str, fields: dict[str, str], shown: str
) -> None:
    begun = open_checkout(shop)
    payer = visit(begun)
    payer.open(f"/{channel}")
    payer.send("pay", **fields)
    assert shown in payer.html
    first = payer.open("/state").body
    attempt = verify(shop, begun["txnRef"])["checkout"]["attemptRef"]
    shop.put("sandbox", action="settle", txnRef=attempt, outcome="successful")
    then = payer.open("/state").body
    assert (first["status"], then["status"], first["state"] != then["state"]) == ("pending", "successful", True)
    payer.open()
    assert payer.heading == "Payment successful"


def test_an_account_is_debited_after_a_code_and_a_wrong_one_is_named_at_its_field(
    shop: MerchantClient, visit: Visit
) -> None:
    payer = visit(open_checkout(shop))
    payer.open("/account")
    payer.send("pay", bank_code="058", account_number="0000000000")
    payer.send("otp", otp="000000")
    assert 'id="otp-error">The code is not right. Attempts left: 2' in payer.html
    payer.send("otp", otp="123456")
    assert payer.heading == "Payment successful"


def test_paga_is_approved_on_its_page(shop: MerchantClient, visit: Visit) -> None:
    payer = visit(open_checkout(shop))
    payer.open("/mobile_money")
    bank = payer.send("pay").headers["location"]
    payer.post({"decision": "approve"}, path=bank)
    payer.open()
    assert payer.heading == "Payment successful"


def test_a_saved_card_is_offered_to_a_payer_whom_the_merchant_named(shop: MerchantClient, visit: Visit) -> None:
    first = visit(open_checkout(shop))
    first.pay_by_card()
    first.send("otp", otp="123456")
    again = visit(open_checkout(shop, channels=["card", "token"]))
    again.open("/token")
    assert "ending 0013" in again.html
    saved = again.html.split('name="saved" value="')[1].split('"')[0]
    again.send("pay", saved=saved)
    assert again.heading == "Payment successful"
    stranger = visit(open_checkout(shop, channels=["card", "token"], user={"email": "eve@example.com"}))
    stranger.open()
    assert "Saved card" not in stranger.html
    by_default = visit(open_checkout(shop))
    by_default.open()
    assert "Saved card" not in by_default.html


# --- errors and retries -------------------------------------------------------------------------------------------


def test_a_declined_card_is_followed_by_another_attempt_of_the_same_checkout(
    shop: MerchantClient, visit: Visit
) -> None:
    begun = open_checkout(shop)
    payer = visit(begun)
    payer.pay_by_card(DECLINED_CARD)
    payer.send("otp", otp="123456")
    assert "Your last attempt did not succeed: " in payer.html
    payer.pay_by_card()
    payer.send("otp", otp="123456")
    found = verify(shop, begun["txnRef"])
    assert (found["txnStatus"], found["checkout"]["attempts"]) == ("successful", 2)
    kinds = [(event["kind"], event["txnStatus"]) for event in events_of(shop)]
    assert kinds == [("payment", "failed"), ("payment", "successful"), ("checkout", "successful")]


def test_each_wrong_field_is_named_at_its_place_and_no_secret_comes_back(shop: MerchantClient, visit: Visit) -> None:
    begun = open_checkout(shop, user=None)
    payer = visit(begun)
    payer.open()
    payer.send("pay", fullname="Ada", email="nobody", number="4111110000000014", expiry="13/30", cvv="12")
    for name in ("email", "number", "expiry", "cvv"):
        assert f'id="{name}-error"' in payer.html
    assert 'value="Ada"' in payer.html
    assert "4111110000000014" not in payer.html
    assert verify(shop, begun["txnRef"])["checkout"]["attempts"] == 0
    payer.send("pay", fullname="Ada", email="a@example.com", number=OK_CARD, expiry="01/20", cvv="000")
    assert 'id="expiry-error">This card has expired' in payer.html


def test_a_card_with_a_higher_fee_is_charged_after_the_payer_has_seen_it(shop: MerchantClient, visit: Visit) -> None:
    begun = open_checkout(shop, bearer="customer")
    payer = visit(begun)
    payer.pay_by_card("4242424242424242")
    assert "With this card the total is NGN" in payer.html
    assert verify(shop, begun["txnRef"])["checkout"]["attempts"] == 0
    shown = int(payer.hidden("pay")["total"])
    payer.send("pay", number="4242424242424242", expiry="12/30", cvv="000")
    payer.send("otp", otp="123456")
    assert payer.heading == "Payment successful"
    assert verify(shop, begun["txnRef"])["chargedAmount"] == shown / 100


def test_overdue_installments_are_no_fee_and_the_rest_is_named(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop(now="2026-01-30T09:30:00+01:00")
    schedule = {"30-01-2026": 20, "05-02-2026": 40, "20-02-2026": 40}
    plan = {"payment_schedule": schedule, "total": "1500.00"}
    begun = open_checkout(shop, amount=None, installment=plan, expires="2026-02-25T00:00:00Z")
    shop.advance(days=13)
    payer = Payer(shop, begun["checkoutURL"], deployment.port)
    rest = "Further NGN\N{NO-BREAK SPACE}600.00 on 20 February 2026"
    payer.open("/card")
    assert "Pay NGN\N{NO-BREAK SPACE}900.00</button>" in payer.html
    assert (rest in payer.html, "a fee of" in payer.html) == (True, False)
    payer.send("pay", number=OK_CARD, expiry="12/30", cvv="000")
    assert payer.heading == "Enter the code from your bank", "the total is the one that the page has shown"
    payer.send("otp", otp="123456")
    assert (payer.heading, rest in payer.html) == ("Payment successful", True)
    [drawn] = read_pdf_pages(payer.open("/receipt.pdf").raw)
    assert rest.replace("\N{NO-BREAK SPACE}", " ") in drawn
    assert verify(shop, begun["txnRef"])["chargedAmount"] == 900.0
    shop.advance(days=8)
    [kept] = shop.put("resources", inquire="installments").body
    assert (kept["paid"], kept["state"]) == ("1500.00", "finished")
    payer.close()


def test_a_payer_can_change_the_way_to_pay(shop: MerchantClient, visit: Visit) -> None:
    begun = open_checkout(shop)
    payer = visit(begun)
    payer.open("/ussd")
    payer.send("pay", ussd_bank="gtb")
    payer.send("abandon")
    assert 'aria-label="Ways to pay"' in payer.html
    payer.pay_by_card()
    payer.send("otp", otp="123456")
    assert payer.heading == "Payment successful"


def test_a_page_that_is_loaded_again_asks_for_the_card_with_the_pin(shop: MerchantClient, visit: Visit) -> None:
    payer = visit(open_checkout(shop))
    payer.pay_by_card(auth="PIN")
    assert 'id="number"' not in payer.html
    payer.open()
    payer.send("pin", number=OK_CARD, expiry="12/30", cvv="100", pin="1234")
    assert payer.heading == "Payment successful"


def test_unknown_pages_are_not_found_and_other_merchants_checkouts_neither(shop: MerchantClient, visit: Visit) -> None:
    payer = visit(open_checkout(shop))
    for path in ("/pay/checkout/" + "0" * 48, "/pay/checkout/short", "/pay/link/no-such-link", "/pay/link/X"):
        assert payer.open(path=path).http == 404
    assert payer.open("/receipt.pdf").http == 404
    assert payer.open("/nothing").http == 404
    assert payer.connection.send("DELETE", payer.path).http == 405


def test_a_reset_closes_the_page(shop: MerchantClient, visit: Visit) -> None:
    payer = visit(open_checkout(shop))
    shop.put("sandbox", action="reset")
    assert payer.open().http == 404


def test_a_checkout_expires_with_the_merchants_clock_also_during_a_challenge(
    shop: MerchantClient, visit: Visit
) -> None:
    begun = open_checkout(shop)
    payer = visit(begun)
    shop.advance(hours=23, minutes=55)
    payer.pay_by_card()
    shop.advance(minutes=20)
    payer.post({**payer.hidden("otp"), "otp": "123456"})
    payer.open()
    assert payer.heading == "This page has expired"
    assert "status=failed" in payer.html
    found = verify(shop, begun["txnRef"])
    assert (found["txnStatus"], found["checkout"]["state"]) == ("failed", "expired")
    assert [event["kind"] for event in events_of(shop)] == ["payment", "checkout"]


def test_a_payment_of_a_checkout_is_refunded_as_any_other(shop: MerchantClient, visit: Visit) -> None:
    begun = open_checkout(shop)
    payer = visit(begun)
    payer.pay_by_card()
    payer.send("otp", otp="123456")
    paid = verify(shop, begun["txnRef"])["checkout"]["paymentRef"]
    refund = shop.put("payment", action="refund", txnRef=paid, amount="500.00").body
    assert refund["txnStatus"] == "successful"
    assert verify(shop, begun["txnRef"])["refundedAmount"] == "500.00"
    assert verify(shop, paid)["checkoutRef"] == begun["txnRef"]


# --- links --------------------------------------------------------------------------------------------------------


def make_link(shop: MerchantClient, **fields: Any) -> Any:
    reply = shop.put("resources", request="paylink", **{"title": "Cooking class", **fields}).body
    assert reply["status"] == 200, reply
    return reply["data"]


def test_a_link_is_paid_and_counted(shop: MerchantClient, visit: Visit) -> None:
    link = make_link(shop, amount="5000.00", payer_bears_fees="yes", custom_message="See you on Saturday")
    assert (link["type"], link["status"], link["amount"], link["currency"]) == ("one_time", "active", "5000.00", "NGN")
    payer = visit(link)
    payer.open()
    reply = payer.post({"fullname": "Bola Ade", "email": "bola@example.com"})
    payer.path = reply.headers["location"]
    payer.open()
    assert "and a fee of" in payer.html
    payer.pay_by_card()
    payer.send("otp", otp="123456")
    assert "See you on Saturday" in payer.html
    shown = shop.put("resources", inquire="paylink", link_id=link["link_id"]).body["data"]
    assert (shown["checkouts"], shown["paid_count"], shown["total"]) == (1, 1, "5000.00")
    [payment] = shown["payments"]
    assert (payment["fullname"], payment["amount"], payment["method"]) == ("Bola Ade", "5000.00", "card")
    listed = shop.put("resources", inquire="paylink").body
    assert (listed["total"], listed["data"]) == (1, [link])
    event = next(event for event in events_of(shop) if event["kind"] == "checkout")
    assert (event["source"], event["source_id"]) == ("link", link["link_id"])


def test_a_link_is_shown_with_its_newest_50_payments(shop: MerchantClient, visit: Visit) -> None:
    link, paid = make_link(shop, amount="5000.00"), 0
    payer = visit(link)
    page = payer.path
    for count, shown in LINK_PAYMENTS.sides:
        for number in range(paid + 1, count + 1):
            payer.path = page
            payer.open()
            payer.path = payer.post({"fullname": f"Bola {number}", "email": "b@example.com"}).headers["location"]
            payer.open()
            payer.pay_by_card()
            payer.send("otp", otp="123456")
        paid = count
        data = shop.put("resources", inquire="paylink", link_id=link["link_id"]).body["data"]
        assert (data["paid_count"], len(data["payments"])) == (count, shown)
        assert data["payments"][0]["fullname"] == f"Bola {count}"


def test_a_payer_chooses_the_amount_of_a_link_without_one(shop: MerchantClient, visit: Visit) -> None:
    payer = visit(make_link(shop, amount=0, description=None, accept_number=1))
    payer.open()
    assert payer.post({"amount": "x", "fullname": "B", "email": "b@example.com", "contact_phone": "1"}).http == 200
    who = {"fullname": "Bola", "email": "b@example.com", "contact_phone": "08031234567"}
    small = payer.post({"amount": "0.50", **who})
    assert 'id="amount-error"' in small.raw.decode()
    payer.path = payer.post({"amount": "2,000.50", **who}).headers["location"]
    payer.open()
    assert "2,000.50" in payer.html


def test_a_recurring_link_starts_a_recurrent_payment(shop: MerchantClient, visit: Visit) -> None:
    link = make_link(shop, amount="700.00", type="subscription", frequency="weekly")
    assert link["type"] == "recurring"
    payer = visit(link)
    payer.open()
    payer.path = payer.post({"fullname": "Bola", "email": "b@example.com"}).headers["location"]
    payer.pay_by_card()
    payer.send("otp", otp="123456")
    [plan] = shop.put("resources", inquire="recurrents").body
    assert (plan["amount"], plan["frequency"], plan["state"]) == ("700.00", "weekly", "active")
    shop.advance(days=8)
    [plan] = shop.put("resources", inquire="recurrents").body
    assert plan["paid"] == "1400.00"


def test_a_disabled_link_takes_no_payer_until_it_is_enabled(shop: MerchantClient, visit: Visit) -> None:
    link = make_link(shop, amount="100.00")
    payer = visit(link)
    for status, http in (("disable", 410), ("disable", 410), ("enable", 200)):
        switched = shop.put("resources", inquire="paylink", link_id=link["link_id"], status=status).body
        assert switched["data"]["status"] == ("disabled" if http == 410 else "active")
        assert payer.open().http == http
    assert shop.put("resources", inquire="paylink", link_id="PLx", status="disable").body["status"] == 104
    assert shop.put("resources", inquire="paylink", link_id="PLx").body["status"] == 104


def test_a_custom_link_is_unique_in_the_deployment_and_free_after_a_reset(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    name = f"class-{shop.mid.lower()}"
    assert make_link(shop, custom_link=name)["link"].endswith(f"/pay/link/{name}")
    other = open_shop()
    for merchant in (shop, other):
        taken = merchant.put("resources", request="paylink", title="x", custom_link=name).body
        assert (taken["status"], taken["errors"][0]["field"]) == (104, "custom_link")
    shop.put("sandbox", action="reset")
    assert make_link(shop, custom_link=name)["status"] == "active"


@pytest.mark.parametrize("spelled", ["one_time", "onetime", "single", "fixed", None])
def test_types_have_synonyms_and_absent_fields_may_be_null(shop: MerchantClient, spelled: str | None) -> None:
    nothing = dict.fromkeys(
        ("description", "amount", "currency", "frequency", "payer_bears_fees", "accept_number", "custom_link",
         "redirect_url", "custom_message", "notification_email")
    )  # fmt: skip
    link = make_link(shop, type=spelled, **nothing)
    assert (link["type"], link["amount"]) == ("one_time", "0.00")


def test_every_fault_of_a_link_is_named(shop: MerchantClient) -> None:
    refused = shop.put(
        "resources", request="paylink", amount="-1", type="weekly", accept_number="perhaps", custom_link="A b",
        payer_bears_fees=2, notification_email="x", frequency="yearly",
    ).body  # fmt: skip
    assert {error["field"] for error in refused["errors"]} == {
        "title",
        "amount",
        "type",
        "accept_number",
        "custom_link",
        "payer_bears_fees",
        "notification_email",
        "frequency",
    }


def test_checkouts_and_links_are_found_by_their_references(shop: MerchantClient, visit: Visit) -> None:
    begun = open_checkout(shop, customer_txnref="basket-9")
    payer = visit(begun)
    payer.pay_by_card()
    payer.send("otp", otp="123456")
    found = shop.put("resources", inquire="transaction", reference=begun["txnRef"]).body["data"]
    assert (found["kind"], found["state"], found["orderRef"], found["amount"]) == (
        "checkout",
        "paid",
        "basket-9",
        "1500.00",
    )
    [payment] = found["related"]
    assert payment["kind"] == "payment"
    related = shop.put("resources", inquire="transaction", reference=payment["reference"]).body["data"]["related"]
    assert {"kind": "checkout", "reference": begun["txnRef"], "state": None} in related
    link = make_link(shop)
    assert shop.put("resources", inquire="transaction", reference=link["link_id"]).body["data"]["kind"] == "link"


def test_the_page_shows_the_merchants_logo(
    shop: MerchantClient, visit: Visit, deployment: Deployment, tmp_path: Path
) -> None:
    picture = tmp_path / "logo.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + (64).to_bytes(4) + (32).to_bytes(4) + bytes(100))
    deployment.run_command("merchant", "logo", shop.mid, str(picture))
    payer = visit(open_checkout(shop))

    def shown() -> bool:
        payer.open()
        return '<img class="logo" src="data:image/png;base64,iVBORw0KGgo' in payer.html

    wait_until("the settings are read again", shown)


@pytest.mark.parametrize("content", [b"<svg></svg>", b"GIF89a", b"", b"\xff\xd8\xff" + bytes(32 * 1024)])
def test_a_logo_of_another_kind_or_size_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="a logo"):
        read_logo(content)
