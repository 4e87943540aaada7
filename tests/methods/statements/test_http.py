"""Statements over HTTP: balances that join, every kind of account, and links to files. (Contract:
resources#statements)"""

import csv
import io
import itertools
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from kasuwa.methods.statements.model import TOO_LONG_FOR_PDF
from tests.merchant_client import MerchantClient, RawReply, to_minor_units
from tests.methods.investments import savers
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import NEWEST, Deployment, Deployments
from tests.walk.bounds import PDF_MOVEMENTS

NOW = "2026-01-05T09:30:00+01:00"
DAYS: dict[str, Any] = {"from": "2026-01-01", "to": "2026-03-31"}
TERMS: dict[str, Any] = {"interestSettings": {"interestRate": "24", "interestFrequency": "annualized"}, "period": 12}


def minor(text: str) -> int:
    return -to_minor_units(text[1:]) if text.startswith("-") else to_minor_units(text)


def state(shop: MerchantClient, account: str = "wallet", **fields: Any) -> Any:
    body = shop.put("resources", inquire="statement", account=account, **{**DAYS, **fields}).body
    assert body["status"] == 200, body
    return body


def whole(shop: MerchantClient, account: str = "wallet", **fields: Any) -> Any:
    """Returns a statement with the movements of all its pages, after checking that they add up."""
    first = page = state(shop, account, **fields)
    lines = list(first["data"])
    while page["next_cursor"] is not None:
        page = state(shop, account, **fields, cursor=page["next_cursor"])
        assert page["totals"] is None
        assert page["closing_balance"] == first["closing_balance"]
        lines += page["data"]
    balance = minor(first["opening_balance"])
    for line in lines:
        balance += minor(line["amount"])
        assert balance == minor(line["balance"]), line
    assert balance == minor(first["closing_balance"])
    assert sum(minor(total["amount"]) for total in first["totals"]) == balance - minor(first["opening_balance"])
    assert sum(total["count"] for total in first["totals"]) == len(lines)
    return {**first, "data": lines}


class Books:
    """A merchant with an account of each kind, and movements over two months."""

    def __init__(self, shop: MerchantClient) -> None:
        self.shop = shop
        payments = PaymentClient(shop)
        made = shop.put("sandbox", action="beneficiary", name="Bola", bankcode="058", accountnumber="0000000000").body
        self.beneficiary = str(made["ref_code"])
        paid = payments.paid(split=[{"ref_code": self.beneficiary, "share": "100.00"}])
        payments.refund(paid["txnRef"], "50.00")
        self.card = CardClient(shop, amount=100, currency="USD")
        self.card.buy("5.00", currency="USD")
        client = savers.enroll(shop)
        self.savings = savers.open_savings(shop, client, deposit="100000.00", tax_applied=True, tax_rate="10")
        self.loan = shop.put("loans", action="request", client_id=client, amount=1000, **TERMS).body["data"]["loan_id"]
        assert shop.put("loans", action="process", loan_id=self.loan, status="approve").body["status"] == 200
        shop.put("loans", action="repay", loan_id=self.loan, payment_method="wallet", amount="300.00")
        shop.advance(until="2026-02-10T12:00:00+01:00")
        for _ in range(3):
            shop.transfer()
        self.accounts: dict[str, dict[str, Any]] = {
            "wallet": {},
            "card": {"id": self.card.reference},
            "savings": {"id": self.savings},
            "loan": {"id": self.loan},
            "beneficiary": {"id": self.beneficiary},
        }


@pytest.fixture(scope="module")
def books(deployments: Deployments) -> Iterator[Books]:
    shop = deployments.for_version(NEWEST).open_shop(now=NOW)
    with shop.connection:
        yield Books(shop)


@pytest.mark.parametrize("account", ["wallet", "card", "savings", "loan", "beneficiary"])
def test_opening_and_movements_are_closing_and_consecutive_statements_join(books: Books, account: str) -> None:
    fields = books.accounts[account]
    full = whole(books.shop, account, **fields)
    assert len(full["data"]) >= 2
    for limit in (1, 3):
        assert whole(books.shop, account, **fields, limit=limit)["data"] == full["data"]
    parts = [
        whole(books.shop, account, **fields, **{"from": first, "to": last})
        for first, last in (("2026-01-01", "2026-01-05"), ("2026-01-06", "2026-02-09"), ("2026-02-10", "2026-03-31"))
    ]
    assert [line for part in parts for line in part["data"]] == full["data"]
    for earlier, later in itertools.pairwise(parts):
        assert earlier["closing_balance"] == later["opening_balance"]
    assert (parts[0]["opening_balance"], parts[-1]["closing_balance"]) == (
        full["opening_balance"],
        full["closing_balance"],
    )


def test_the_closing_balances_are_those_of_the_accounts(books: Books) -> None:
    shop = books.shop
    assert minor(whole(shop)["closing_balance"]) == shop.wallet().balance
    assert minor(whole(shop, "card", id=books.card.reference)["closing_balance"]) == books.card.balance
    saved = shop.put("investments", action="view_savings", savings_id=books.savings).body["data"]
    assert whole(shop, "savings", id=books.savings)["closing_balance"] == saved["balance"]
    loan = shop.put("loans", action="view", loan_id=books.loan).body["data"]
    assert whole(shop, "loan", id=books.loan)["closing_balance"] == loan["outstanding"]["total"]
    assert whole(shop, "beneficiary", id=books.beneficiary)["closing_balance"] == "0.00"


def test_a_wallet_in_a_foreign_currency_has_its_own_statement(books: Books) -> None:
    found = whole(books.shop, currency="USD")
    assert (found["currency"], found["opening_balance"]) == ("USD", "0.00")
    assert minor(found["closing_balance"]) == (
        books.shop.wallets()["USD"].balance if "USD" in books.shop.wallets() else 0
    )


def test_totals_name_interest_tax_refunds_and_payouts(books: Books) -> None:
    wallet = {total["kind"]: minor(total["amount"]) for total in whole(books.shop)["totals"]}
    assert {"collected", "fees", "vat", "refunds", "payouts", "interest"} <= set(wallet)
    assert wallet["refunds"] == -5_000
    saved = {
        total["kind"]: minor(total["amount"]) for total in whole(books.shop, "savings", id=books.savings)["totals"]
    }
    assert saved["interest"] > 0 > saved["tax"]


def test_an_account_of_nobody_is_refused(books: Books) -> None:
    for account in ("card", "savings", "loan", "beneficiary"):
        body = books.shop.put("resources", inquire="statement", account=account, id="nothing", **DAYS).body
        assert (body["status"], body["message"]) == (104, "Invalid Account Reference")
    body = books.shop.put("resources", inquire="statement", account="loan", **DAYS).body
    assert (body["status"], body["errors"][0]["field"]) == (104, "id")
    turned: dict[str, Any] = {"from": "2026-02-01", "to": "2025-01-01"}
    body = books.shop.put("resources", inquire="statement", account="wallet", **turned).body
    assert body["errors"][0]["field"] == "to"


# --- files --------------------------------------------------------------------------------------------------------


def open_link(shop: MerchantClient, link: str, verb: str = "GET") -> RawReply:
    """Opens a link without mid and key."""
    return shop.connection.send(verb, urlsplit(link).path)


@pytest.mark.parametrize("account", ["wallet", "loan"])
def test_a_csv_has_the_lines_of_the_statement(books: Books, account: str) -> None:
    fields = books.accounts[account]
    answer = state(books.shop, account, **fields, format="csv")
    assert (answer["data"], answer["totals"], answer["next_cursor"]) == ([], None, None)
    file = open_link(books.shop, answer["link"])
    assert (file.http, file.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert file.headers["cache-control"] == "no-store"
    full = whole(books.shop, account, **fields)
    rows = list(csv.DictReader(io.StringIO(file.raw.decode())))
    assert rows[0] | {"date": ""} == {
        **dict.fromkeys(rows[0], ""),
        "kind": "opening balance",
        "balance": full["opening_balance"],
    }
    count = len(full["data"])
    assert [(row["reference"], row["amount"], row["balance"]) for row in rows[1 : count + 1]] == [
        (line["reference"], line["amount"], line["balance"]) for line in full["data"]
    ]
    assert rows[count + 1]["balance"] == full["closing_balance"]
    assert {row["kind"]: row["amount"] for row in rows[count + 2 :]} == {
        f"total {total['kind']}": total["amount"] for total in full["totals"]
    }


def test_a_pdf_is_a_pdf(books: Books) -> None:
    file = open_link(books.shop, state(books.shop, format="pdf")["link"])
    assert (file.http, file.headers["content-type"]) == (200, "application/pdf")
    assert file.raw.startswith(b"%PDF-")
    assert file.raw.rstrip().endswith(b"%%EOF")


def test_a_link_that_was_changed_does_not_work(books: Books) -> None:
    link = state(books.shop, format="csv")["link"]
    head, _, ending = link.rpartition(".")
    changed = [f"{head[:-1]}{'A' if head[-1] != 'A' else 'B'}.{ending}", f"{head}.pdf", f"{head}.csv.csv"]
    for other in (*changed, link.replace("/statements/", "/statements/x"), "/statements/", "/statements/a.csv"):
        assert open_link(books.shop, other).http == 404
    assert open_link(books.shop, link, "POST").http == 405
    assert open_link(books.shop, link).http == 200


def test_two_links_to_the_same_statement_differ_and_show_nothing(books: Books) -> None:
    first, second = (state(books.shop, format="csv")["link"] for _ in range(2))
    assert first != second
    assert books.shop.mid not in first


def test_a_link_lives_an_hour(shop: MerchantClient) -> None:
    shop.transfer()
    answer = state(shop, format="csv", **{"from": shop.now()[:10], "to": shop.now()[:10]})
    shop.advance(minutes=59)
    assert open_link(shop, answer["link"]).http == 200
    shop.advance(minutes=1)
    assert open_link(shop, answer["link"]).http == 404


def test_reset_and_suspension_end_a_link(shop: MerchantClient, deployment: Deployment) -> None:
    link = state(shop, format="csv")["link"]
    suspend = "update merchant set settings = settings || $2::jsonb where mid = $1"
    deployment.fetch_as_service(suspend, shop.mid, '{"suspended": true}')
    wait_until_answered(shop, link, 404)
    deployment.fetch_as_service(suspend, shop.mid, '{"suspended": false}')
    wait_until_answered(shop, link, 200)
    assert shop.put("sandbox", action="reset").body["status"] == 200
    assert open_link(shop, link).http == 404


def wait_until_answered(shop: MerchantClient, link: str, http: int) -> None:
    """Merchants are cached for less than a second."""
    until = time.monotonic() + 20
    while open_link(shop, link).http != http:
        assert time.monotonic() < until, f"the link is not answered with {http}"
        time.sleep(0.1)


def test_no_log_line_has_the_token_of_a_link(shop: MerchantClient, deployment: Deployment) -> None:
    link = state(shop, format="csv")["link"]
    token = link.rpartition("/")[2]
    assert open_link(shop, link).http == 200
    assert token not in deployment.new_stderr()


def test_a_pdf_has_5000_movements_and_no_more(shop: MerchantClient) -> None:
    """Each transfer is three movements: the amount, its fee and VAT. The opening balance is one."""
    day = shop.now()[:10]
    asked: dict[str, Any] = {"inquire": "statement", "account": "wallet", "format": "pdf", "from": day, "to": day}
    order = {"accountnumber": "0000000000", "amount": "100.00", "bankcode": "058"}
    for size in (1_000, 666):
        shop.bulk([order] * size)
    shop.advance(minutes=1)
    made = 4_999
    for number, is_within in PDF_MOVEMENTS.sides:
        for _ in range(number - made):
            assert shop.put("sandbox", action="fund_wallet", amount="1.00").body["status"] == 200
        made = number
        assert sum(total["count"] for total in state(shop, **{"from": day, "to": day})["totals"]) == number
        reply = shop.put("resources", **asked).body
        reason = TOO_LONG_FOR_PDF.field_errors[0].reason
        fault = {"field": "format", "reason": reason, "code": "statement_too_long_for_pdf", "value": "pdf"}
        assert reply.get("errors", []) == ([] if is_within else [fault]), number
