"""A merchant's pages over HTTP."""

import csv
import io
from collections.abc import Callable
from urllib.parse import quote

import msgspec
import pytest

from kasuwa.console.kit.timelines import make_step
from kasuwa.console.merchant.transfers import MAX_ORDERS
from tests.console.visitor import Visitor, link_for, sign_in_as
from tests.contract import reply_fields, request_fields
from tests.merchant_client import MerchantClient, to_minor_units
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment
from tests.walk.rows import ACTION_ROWS

pytestmark = pytest.mark.xdist_group("console")


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


# --- transactions -------------------------------------------------------------------------------------------------


def test_pages_of_a_merchant_without_transactions_say_so(owner: Visitor) -> None:
    for path in ("/", "/transactions", "/events", "/settings/trail"):
        assert owner.get(path).http == 200
    assert "No transactions yet" in owner.get("/transactions").words
    assert "No events yet" in owner.get("/events").words


def test_query_parameters_filter_the_transaction_list(owner: Visitor, shop: MerchantClient) -> None:
    good, bad, pending = (shop.transfer(accountnumber=n)["txnRef"] for n in ("0000000000", "0000005100", "0000000020"))
    assert all(ref in owner.get("/transactions").words for ref in (good, bad, pending))
    for status, shown in (("successful", good), ("failed", bad), ("pending", pending)):
        page = owner.get(f"/transactions?status={status}").words
        assert [ref for ref in (good, bad, pending) if ref in page] == [shown]
    assert "The filter was not applied" in owner.get("/transactions?kind=no-such-kind").words
    assert "No results" in owner.get("/transactions?to=2001-01-01").words
    assert good in owner.get("/transactions?kind=transfer&from=2001-01-01").words
    assert "a date such as" in owner.get("/transactions?from=tomorrow").words


def test_a_failed_transaction_shows_no_charges(owner: Visitor, shop: MerchantClient) -> None:
    good, bad = (shop.transfer(accountnumber=number)["txnRef"] for number in ("0000000000", "0000005100"))
    rows = {row["txnRef"]: row for row in csv.DictReader(io.StringIO(owner.get("/transactions.csv").text))}
    assert (rows[bad]["status"], rows[bad]["charges"]) == ("failed", "0.00")
    assert rows[good]["charges"] != "0.00"
    pages = {ref: owner.get(f"/transactions/{quote(ref, safe='')}").words for ref in (good, bad)}
    assert "Fees None: it failed." in pages[bad]
    assert "VAT" not in pages[bad].partition("Amounts")[2].partition("Timeline")[0]
    assert "Fee NGN 10.00 VAT NGN 0.75" in pages[good]


def test_a_search_by_reference_redirects_to_the_transaction(owner: Visitor, shop: MerchantClient) -> None:
    sent = shop.transfer(orderRef="mine-1")
    for words in (sent["txnRef"], "mine-1"):
        assert owner.get(f"/transactions?q={quote(words)}").place == f"/transactions/{quote(sent['txnRef'], safe='')}"


def test_pagination_shows_every_transaction_once(owner: Visitor, shop: MerchantClient) -> None:
    orders = [
        {"amount": "10.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": f"o{n}"} for n in range(120)
    ]
    sent = [line["txnRef"] for line in shop.bulk(orders)["data"]]
    seen, path = [], "/transactions"
    while path:
        page = owner.get(path)
        seen += [ref for ref in sent if f'/transactions/{quote(ref, safe="")}"' in page.text]
        link = page.text.partition('">Older</a>')[0].rpartition('href="')[2] if "Older" in page.text else ""
        path = link.replace("&amp;", "&")
    assert sorted(seen) == sorted(sent)


def test_an_export_contains_every_row_and_no_formula(owner: Visitor, shop: MerchantClient) -> None:
    orders = [
        {"amount": "10.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": f"=SUM({n})"}
        for n in range(300)
    ]
    shop.bulk(orders)
    answer = owner.get("/transactions.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 300
    assert {row["orderRef"] for row in rows} == {f"'=SUM({n})" for n in range(300)}
    assert {row["amount"] for row in rows} == {"10.00"}
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert len(list(csv.DictReader(io.StringIO(owner.get("/transactions.csv?status=failed").text)))) == 0


def test_an_export_has_the_times_of_pages_and_narrations(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop(now="2026-01-05T23:30:00Z")
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    shop.transfer(narration="Invoice 1042")
    [row] = csv.DictReader(io.StringIO(owner.get("/transactions.csv").text))
    assert (row["created"], row["narration"]) == ("2026-01-06T00:30:00.000+01:00", "Invoice 1042")
    assert "6 Jan 2026, 00:30:00" in owner.get("/transactions").words
    [entry, *_] = csv.DictReader(io.StringIO(owner.get("/settings/trail.csv").text))
    assert entry["time"].endswith("+01:00")


def test_a_transaction_page_shows_the_timeline_of_explain_in_words(owner: Visitor, shop: MerchantClient) -> None:
    sent = shop.transfer(narration="<script>alert(1)</script>")
    page = owner.get(f"/transactions/{quote(sent['txnRef'], safe='')}")
    story = shop.put("sandbox", action="explain", txnRef=sent["txnRef"]).body["data"]
    timeline = page.words.partition("Timeline")[2]
    for step in story:
        title = make_step(step).title
        assert title in timeline
        timeline = timeline.partition(title)[2]
    assert "wallet:main:NGN" in page.words
    assert "<script>alert(1)" not in page.text


# --- transfers ----------------------------------------------------------------------------------------------------


def test_a_transfer_is_previewed_and_sent_once_if_submitted_twice(owner: Visitor, shop: MerchantClient) -> None:
    owner.get("/transfers")
    before = shop.wallet()
    order = {"amount": "1500.00", "bankcode": "058", "accountnumber": "0040000008", "narration": "Rent"}
    preview = owner.post("/transfers/preview", **order)
    assert "Confirm transfer" in preview.words
    assert "NGN 1,500.00" in preview.words
    assert shop.wallet() == before
    reference = preview.text.partition('name="orderRef" value="')[2].partition('"')[0]
    sent = [owner.post("/transfers/send", **order, orderRef=reference) for _ in range(2)]
    assert [answer.http for answer in sent] == [303, 303]
    assert sent[0].place == sent[1].place
    assert "Rent" in owner.get(sent[0].place).words
    kept = shop.verify(reference)
    assert before.balance - shop.wallet().balance == sum(
        to_minor_units(kept[name]) for name in ("amount", "fee", "vat")
    )
    assert shop.put("resources", inquire="events").body["total"] == 1


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"amount": "1,5"}, "digits with at most two decimals"),
        ({"amount": "0.10"}, "between 1.00 and"),
        ({"accountnumber": "123"}, "ten digits"),
        ({"accountnumber": "0123456789"}, "not an account number of"),
    ],
)
def test_errors_of_a_transfer_are_shown_at_their_fields(owner: Visitor, changed: dict[str, str], text: str) -> None:
    order = {"amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000", **changed}
    answer = owner.post("/transfers/preview", **order)
    [field] = changed
    assert answer.http == 422
    assert f'id="fault-{field}"' in answer.text
    assert text in answer.words


def test_a_transfer_beyond_the_balance_is_refused(owner: Visitor, shop: MerchantClient) -> None:
    order = {"amount": "9999999.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": "large"}
    owner.post("/transfers/send", **order)
    assert "does not cover" in owner.post("/transfers/send", **{**order, "orderRef": "larger"}).words


def test_a_bulk_preview_shows_errors_and_sends_the_valid_orders(owner: Visitor, shop: MerchantClient) -> None:
    owner.get("/transfers")
    lines = [
        "amount,bankcode,accountnumber,narration,orderRef",
        "100.00,058,0000000000,one,b1",
        "abc,058,0000000000,two,b2",
        "100.00,058,0000000000,three,b1",
        "200.00,058,0000000000,four,",
    ]
    preview = owner.upload("/transfers/bulk/preview", "file", "\n".join(lines).encode("utf-8-sig"))
    assert "2 of 4 orders are valid" in preview.words
    assert "used twice in this file" in preview.words
    packed = preview.text.partition('name="orders" value="')[2].partition('"')[0].replace("&#34;", '"')
    assert len(msgspec.json.decode(packed)) == 2
    sent = owner.post("/transfers/bulk/send", orders=packed)
    page = owner.get(sent.place)
    assert "Bulk transfer accepted" in page.words
    again = owner.get(owner.post("/transfers/bulk/send", orders=packed).place)
    assert "repeated 2 NGN 300.00" in again.words
    assert sorted(ref for ref in again.words.split() if ref.startswith("GP|FD|")) == sorted(
        ref for ref in page.words.split() if ref.startswith("GP|FD|")
    )
    assert shop.put("resources", inquire="events").body["total"] <= 2


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "must be a CSV file"),
        (b"\xff\xfe\x00", "must be a CSV file"),
        (b"amount,bankcode\n1,058\n", "missing: accountnumber"),
        (b"amount,bankcode,accountnumber\n" + b"1,058,0000000000\n" * (MAX_ORDERS + 1), "at most 1000 orders"),
    ],
)
def test_an_invalid_bulk_file_is_refused(owner: Visitor, content: bytes, text: str) -> None:
    owner.get("/transfers")
    answer = owner.upload("/transfers/bulk/preview", "file", content)
    assert (answer.http, text in answer.words) == (422, True)
    assert owner.post("/transfers/bulk/send", orders="nonsense").http == 422


# --- settings and people ------------------------------------------------------------------------------------------


def test_a_new_key_works_and_the_old_one_stops_after_the_overlap(owner: Visitor, shop: MerchantClient) -> None:
    owner.get("/settings")
    assert owner.post("/settings/key", overlap="9").http == 422
    page = owner.post("/settings/key", overlap="24")
    key = page.text.partition("data-key>")[2].partition("<")[0]
    assert key not in owner.get("/settings").text
    for used in (key, shop.key):
        assert MerchantClient(shop.connection, shop.mid, used).put("resources", inquire="wallet").http == 200
    assert "rolled the key" in owner.get("/settings/trail").words


def test_api_options_are_validated_saved_and_recorded(owner: Visitor, shop: MerchantClient) -> None:
    owner.get("/settings")
    assert owner.post("/settings/wire", http_codes="odd", webhook_order="loose").http == 422
    assert owner.post("/settings/wire", http_codes="strict", webhook_order="strict").http == 303
    assert owner.post("/settings/mail", receipts="yes", sms="yes").http == 303
    assert 'name="sms" value="yes" checked' in owner.get("/settings").text
    assert "changed how mails are sent" in owner.get("/settings/trail").words
    assert owner.post("/settings/webhook", url="ftp://elsewhere").http == 422
    assert "switched off" in owner.get(owner.post("/settings/webhook", url="").place).words
    assert (
        "Field Before After Http codes compat strict Webhook order loose strict" in owner.get("/settings/trail").words
    )


def test_team_members_are_invited_changed_and_disabled(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    owner.get("/team")
    email = f"colleague.{shop.mid}@example.com"
    assert "an email address such as" in owner.post("/team", email="nobody", role="merchant:finance").words
    reply = owner.get(owner.post("/team", email=email, role="merchant:finance").place)
    link = link_for(deployment, email)
    assert ("is printed" in reply.words, "/link/" in reply.text) == (True, False)
    assert "a member of your team has this address" in owner.post("/team", email=email, role="merchant:finance").words
    colleague = Visitor(deployment)
    colleague.get(link)
    password = "three words together"
    assert colleague.post(link, password=password, again=password).http == 303
    assert colleague.get("/transfers").http == 200
    [[user_id]] = deployment.fetch("select user_id from console_user where email = $1", email)
    assert owner.post(f"/team/{user_id}/role", role="nonsense").http == 422
    assert owner.post(f"/team/{user_id}/role", role="merchant:read-only").http == 303
    colleague.get("/sign-in")
    colleague.post("/sign-in", email=email, password=password)
    assert colleague.get("/transfers").http == 403
    asked = owner.post(f"/team/{user_id}/disable")
    assert (asked.http, "Nothing has been changed yet" in asked.words) == (200, True)
    assert owner.post(f"/team/{user_id}/disable", confirmed="yes").http == 303
    assert colleague.get("/").http == 303
    assert owner.post(f"/team/{user_id}/invite").http == 303
    assert link_for(deployment, email) != link
    assert "invited again" in owner.get("/settings/trail").words


def test_a_user_cannot_disable_themselves(deployment: Deployment, owner: Visitor) -> None:
    [[user_id]] = deployment.fetch("select max(user_id) from console_user")
    assert owner.post(f"/team/{user_id}/disable").http == 404
    assert owner.get("/team").http == 200


# --- the reference ------------------------------------------------------------------------------------------------


def test_every_action_has_a_page_and_can_be_tried(owner: Visitor, shop: MerchantClient) -> None:
    contents = owner.get("/docs").text
    links = [part.partition('"')[0] for part in contents.split('href="/docs/')[1:]]
    assert {"disburse/transfer", "disburse/transfer-bulk", "resources/wallet", "sandbox/advance"} <= set(links)
    for link in links:
        shown = owner.get(f"/docs/{link}")
        assert (shown.http, "Reply" in shown.words) == (200, True)
    body = msgspec.json.encode({"inquire": "wallet"}).decode()
    assert "10000000.00" in owner.post("/docs/resources/wallet", body=body).words
    assert "must be one JSON object" in owner.post("/docs/resources/wallet", body="[").words
    assert owner.get("/docs/resources/no-such").http == 404


def without_marks(text: str) -> str:
    """Returns a text without spaces and backticks: code is an element of its own in a page."""
    return "".join(text.replace("`", "").split())


def test_the_reference_shows_the_meaning_of_every_field(owner: Visitor) -> None:
    for row in ACTION_ROWS:
        shown = owner.get(f"/docs/{row.method}/{row.title.removeprefix(f'{row.method}-')}").words
        for line in [*request_fields(row), *reply_fields(row)]:
            assert without_marks(line.meaning) in without_marks(shown), (row.title, line.name)


def test_the_sandbox_page_advances_the_clock_and_funds_the_wallet(owner: Visitor, shop: MerchantClient) -> None:
    owner.get("/sandbox")
    before = shop.wallet().balance
    owner.post("/sandbox/fund_wallet", currency="NGN", amount="5.00")
    assert shop.wallet().balance == before + 500
    pending = shop.transfer(accountnumber="0000000900", orderRef="later")["txnRef"]
    moved = owner.post("/sandbox/advance", hours="1")
    assert moved.http == 303
    assert shop.status_of(pending) == "successful"
    assert owner.post("/sandbox/advance", hours="x").http == 422
    assert owner.post("/sandbox/new_merchant").http == 404


def test_pages_show_nothing_of_another_merchant(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    one, other = open_shop(name="One"), open_shop(name="Other")
    visitor = sign_in_as(deployment, "merchant:owner", one.mid)
    sent = other.transfer(orderRef="secret-order")["txnRef"]
    for path in ("/", "/transactions", "/transactions.csv", "/search?q=secret", "/events", "/settings", "/team"):
        page = visitor.get(path).text
        assert other.mid not in page
        assert "secret-order" not in page
        assert (sent in page, quote(sent, safe="") in page) == (False, False)


def test_a_pin_is_neither_shown_again_nor_recorded(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    made = shop.put("cashcode", action="generate", amount="50.00", pin="2580", channel="ATM", orderRef="c1").body
    owner.get("/sandbox")
    drawn = {"cashcode": made["cashcode"], "amount": "50.00", "channel": "ATM"}
    refused = owner.post("/sandbox/redeem_cashcode", **drawn, pin="9631")
    assert (refused.http, "9631" in refused.text, made["cashcode"] in refused.text) == (422, False, False)
    assert owner.post("/sandbox/redeem_cashcode", **drawn, pin="2580").http == 303
    # The port in the address of who did it may have any digits.
    trail = owner.get("/settings/trail").words.replace(str(deployment.port), "")
    assert "redeem_cashcode" in trail
    assert not any(secret in trail for secret in ("2580", made["cashcode"]))
    again = owner.post("/cashcodes/new/generate", amount="x", pin="7412", channel="ATM", orderRef="c2")
    assert (again.http, "7412" in again.text) == (422, False)


def test_the_not_found_page_has_the_navigation_of_the_signed_in_user(deployment: Deployment, owner: Visitor) -> None:
    for visitor, framed in ((owner, True), (Visitor(deployment), False)):
        seen = visitor.get("/no-such-page")
        assert (seen.http, "This page does not exist" in seen.words, "Sign out" in seen.words) == (404, True, framed)


# --- what pages offer -----------------------------------------------------------------------------------------------


def test_a_transfer_that_waits_does_not_offer_the_banks_answer(owner: Visitor, shop: MerchantClient) -> None:
    shop.put("sandbox", action="payout_policy", approve_above="0.00")
    waiting = shop.transfer()["txnRef"]
    page = owner.get(f"/transactions/{quote(waiting, safe='')}")
    assert ("Complete as successful" in page.words, "It waits for approval" in page.words) == (False, True)
    assert 'href="/transfers/waiting"' in page.text
    events = owner.get("/events?kind=transfer_approval").words
    assert ("NGN 1,500.00" in events, "NGN 0.00" in events) == (True, False)


def test_a_payment_that_cannot_be_refunded_has_nothing_left_to_refund(owner: Visitor, shop: MerchantClient) -> None:
    payments = PaymentClient(shop)
    begun = payments.pay(action="charge", **payments.body(paymentType="qrpay"))
    shop.put("sandbox", action="settle", txnRef=begun["txnRef"], outcome="successful")
    page = owner.get(f"/transactions/{quote(begun['txnRef'], safe='')}").words
    assert ("cannot be refunded" in page, "Left to refund" in page) == (True, False)


def test_pages_and_styles_are_compressed_for_browsers_that_take_it(owner: Visitor) -> None:
    for path in ("/transactions", "/static/console.css", "/static/console.js"):
        plain, packed = owner.get(path), owner.get(path, {"accept-encoding": "gzip"})
        assert "content-encoding" not in plain.headers
        assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
        assert int(packed.headers["content-length"]) < len(plain.text) / 2


def test_pages_have_an_icon_and_a_style_for_paper(owner: Visitor) -> None:
    assert '<link rel="icon" type="image/svg+xml" href="/static/icon.svg">' in owner.get("/account").text
    icon = owner.get("/static/icon.svg")
    assert (icon.http, icon.headers["content-type"]) == (200, "image/svg+xml")
    assert "@media print" in owner.get("/static/console.css").text
