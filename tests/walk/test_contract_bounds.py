"""Every bound that the contract names is tried at, below and above: by the tests that the table names, or here."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.callers import check_key_name
from kasuwa.core.decision import Decision, Refusal
from kasuwa.core.money import DECIMALS, parse_minor
from kasuwa.merchants.merchant_settings import check_amount_limits
from kasuwa.methods.tickets.rules import open_sale
from kasuwa.transactions.transactions import Transaction
from tests.merchant_client import MerchantClient
from tests.methods.checkout.in_memory_checkouts import InMemoryCheckout
from tests.methods.customers.test_http import listed, register
from tests.methods.disputes.dispute_client import open_dispute
from tests.methods.investments.books import InMemorySavings
from tests.methods.invoices.in_memory_invoices import InMemoryInvoices
from tests.methods.loans.in_memory_lender import Lender
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.payouts.test_rules import InMemoryPayouts
from tests.methods.tickets.in_memory_tickets import InMemoryTickets
from tests.rule_context import merchant
from tests.running import Deployment
from tests.source_rules import REPOSITORY
from tests.walk.contract_bounds import BOUNDS, FOLDER, NO_BOUND, SHOWN, pages, uncovered

PLAN: dict[str, Any] = {"name": "Esusu", "amount": "100.00", "frequency": "every_month", "member_required": 3}
PLAN |= {"start_date": "2026-02-01"}
SAVINGS: dict[str, Any] = {"name": "x", "client_id": "CL1", "period": 1}
SAVINGS |= {"interestSettings": {"interestRate": "1", "interestFrequency": "annualized"}}
LIMITS = "| Currency | Smallest | Largest |\n|---|---|---|\n"


# --- the table ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", pages())
def test_every_bound_of_a_page_is_in_the_table(page: str) -> None:
    assert list(uncovered(page, pages()[page])) == []


def test_a_bound_that_is_in_no_table_is_noticed() -> None:
    text = "A merchant has at most 50 valid keys. A key has at most 7 owners, within 9 days."
    assert len(list(uncovered("keys", text))) == 3


def test_every_row_of_the_table_is_in_its_page() -> None:
    rows = [(page, words) for table in (BOUNDS, SHOWN, NO_BOUND) for page in table for words in table[page]]
    every = " ".join(pages().values())
    assert [(page, words) for page, words in rows if words not in pages().get(page, every)] == []


def test_every_test_that_the_table_names_exists() -> None:
    named = {test for rows in BOUNDS.values() for tests in rows.values() for test in tests}
    missing = {test for test in named if not has_test(*test.split("::"))}
    assert missing == set()


def has_test(path: str, name: str) -> bool:
    file = REPOSITORY / "tests" / path
    return file.exists() and f"def {name}(" in file.read_text()


# --- amounts --------------------------------------------------------------------------------------------------------


def amounts_of_contract() -> list[tuple[str, int, int]]:
    """Returns each currency with its smallest and largest amount, as the contract's table has them."""
    table = (FOLDER / "README.md").read_text().partition(LIMITS)[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return [(currency, minor(least), minor(most)) for currency, least, most in cells]


def minor(text: str) -> int:
    found = parse_minor(text.replace(",", ""))
    assert found is not None, text
    return found


@pytest.mark.parametrize(("currency", "least", "most"), amounts_of_contract())
def test_amounts_are_within_the_limits_of_their_currency(currency: str, least: int, most: int) -> None:
    assert DECIMALS == 2
    refused = [check_amount_limits(merchant(), currency, amount) for amount in (least - 1, most + 1)]
    assert None not in refused
    assert [check_amount_limits(merchant(), currency, amount) for amount in (least, most)] == [None, None]


def test_a_payout_is_at_most_the_largest_transfer() -> None:
    most = merchant().limits["NGN"].max_amount
    for funds, is_cut in ((most, False), (most + 10_000_000, True)):
        payouts = InMemoryPayouts(funds)
        decision = payouts.pay_out(payouts.job)
        [sent] = [row for row in decision.rows if isinstance(row, Transaction)]
        assert (sent.amount == most, sent.amount <= most) == (is_cut, True)


def test_transactions_are_filtered_by_amounts_both_included(shop: MerchantClient) -> None:
    for amount in ("99.99", "100.00", "100.01"):
        shop.transfer(amount=amount, orderRef=amount)

    def found(**filters: Any) -> set[str]:
        lines = shop.put("resources", inquire="transactions", **filters).body["data"]
        return {line["orderRef"] for line in lines}

    assert found(min_amount="100.00") == {"100.00", "100.01"}
    assert found(max_amount="100.00") == {"99.99", "100.00"}
    assert found(min_amount="100.00", max_amount="100.00") == {"100.00"}


def test_what_was_charged_and_not_refunded_can_be_disputed_and_no_more(shop: MerchantClient) -> None:
    client = PaymentClient(shop)
    paid = client.paid()["txnRef"]
    assert client.refund(paid, "500.00")["status"] == 200
    assert open_dispute(client, paid, amount="1000.01")["status"] == 104
    assert open_dispute(client, paid, amount="1000.00")["status"] == 200
    assert client.refund(paid, "0.01")["status"] == 104


def test_a_part_of_an_invoice_has_and_leaves_at_least_the_smallest_amount() -> None:
    for amount, is_open in ((99, False), (100, True), (99_900, True), (99_901, False), (100_000, True)):
        invoices = InMemoryInvoices()
        opened = invoices.try_open(invoices.make(charge_user="parts"), amount)
        assert isinstance(opened, Decision) == is_open, amount


def test_the_vat_of_an_invoice_is_at_most_100_percent() -> None:
    invoices = InMemoryInvoices()
    invoices.make(vat="0")
    invoices.make(vat="100")
    fields = {"customer_id": invoices.customer_id, "items": [{"name": "Fabric", "amount": "500.00"}]}
    assert not isinstance(invoices.put("invoice", **fields, vat="100.000001"), Decision)


# --- saving and lending ---------------------------------------------------------------------------------------------


def is_saved(**changes: Any) -> bool:
    books = InMemorySavings()
    books.client()
    return not isinstance(books.ask("create_savings", **SAVINGS | changes), Refusal)


def is_planned(**changes: Any) -> bool:
    return not isinstance(InMemorySavings("2026-01-05").ask("create_plan", **PLAN | changes), Refusal)


def test_savings_mature_after_1_to_600_months() -> None:
    assert [is_saved(period=months) for months in (0, 1, 600, 601)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("rate", "frequency", "is_accepted"),
    [
        ("1000", "annualized", True),
        ("83.333333", "every_month", True),
        ("83.333334", "every_month", False),
        ("1000", "every_month", False),
    ],
)
def test_interest_comes_to_1000_percent_a_year_and_no_more(rate: str, frequency: str, is_accepted: bool) -> None:
    settings = {"interestRate": rate, "interestFrequency": frequency}
    assert is_saved(interestSettings=settings) == is_accepted


def test_tax_is_at_most_all_of_the_interest() -> None:
    rates = ("0", "100", "100.000001")
    assert [is_saved(tax_applied=True, tax_rate=rate) for rate in rates] == [True, True, False]
    requested = [Lender().request(tax_applied=True, tax_rate=rate) for rate in rates]
    assert [isinstance(reply, Refusal) for reply in requested] == [False, False, True]


def test_a_loan_has_1_to_366_installments() -> None:
    requested = [Lender().request(period=number) for number in (0, 1, 366, 367)]
    assert [isinstance(reply, Refusal) for reply in requested] == [True, False, False, True]


def test_a_plan_has_2_to_500_members() -> None:
    assert [is_planned(member_required=number) for number in (1, 2, 500, 501)] == [False, True, True, False]


def test_a_plan_starts_today_or_within_ten_years() -> None:
    days = ("2026-01-04", "2026-01-05", "2036-01-05", "2036-01-06")
    assert [is_planned(start_date=day) for day in days] == [False, True, True, False]


# --- checkouts, links and pages -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expires", "is_accepted"),
    [
        ("2026-01-05T09:31:00.123456+00:00", False),
        ("2026-01-05T09:31:00.123457+00:00", True),
        ("2026-02-04T09:30:00.123457+00:00", True),
        ("2026-02-04T09:30:00.123458+00:00", False),
    ],
)
def test_a_checkout_lives_a_minute_to_30_days(expires: str, is_accepted: bool) -> None:
    assert isinstance(InMemoryCheckout(expires=expires).opened, Decision) == is_accepted


def test_a_payer_chooses_twenty_tickets_and_no_more() -> None:
    tickets = InMemoryTickets()
    assert isinstance(tickets.try_choose((1, 20)), Decision)
    assert tickets.try_choose((1, 21)) == open_sale.TOO_MANY
    assert tickets.try_choose((0, 1), (1, 20)) == open_sale.TOO_MANY


def test_a_form_of_a_payer_has_4_kib_and_no_more(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        found = [wire.send("POST", f"/pay/{'0' * 48}", b"x" * size).http for size in (4096, 4097)]
    assert found == [404, 413]


def test_an_object_of_ones_own_has_64_kib_and_no_more(shop: MerchantClient) -> None:
    client, room = PaymentClient(shop), 64 * 1024 - len(msgspec.json.encode({"note": ""}))
    fields = client.body(paymentType="qrpay")
    replies = [client.pay(action="charge", **fields, meta={"note": "x" * size}) for size in (room, room + 1)]
    assert [reply["status"] for reply in replies] == [202, 104]
    assert [fault["field"] for fault in replies[1]["errors"]] == ["meta"]


# --- lists ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "last", "beyond"),
    [
        ({"inquire": "statement", "account": "wallet"}, "2027-01-02", "2027-01-03"),
        ({"inquire": "settlements"}, "2026-04-03", "2026-04-04"),
    ],
)
def test_a_statement_covers_367_days_and_a_list_of_settlements_93(
    shop: MerchantClient, fields: dict[str, Any], last: str, beyond: str
) -> None:
    """Both name the days between the first and the last, and include both."""
    asked = [shop.put("resources", **{**fields, "from": "2026-01-01", "to": day}).body for day in (last, beyond)]
    assert [reply["status"] for reply in asked] == [200, 104]
    assert [fault["field"] for fault in asked[1]["errors"]] == ["to"]


def test_customers_are_searched_by_three_letters_of_a_word(shop: MerchantClient) -> None:
    register(shop, name="Adaobi Eze")
    assert listed(shop, search="ada") == listed(shop, search="adao") == ["Adaobi Eze"]
    assert listed(shop, search="ad") == []


def test_a_proof_has_20_groups_of_postings_and_no_more(shop: MerchantClient) -> None:
    """Each part of what a payer transfers is a group of its own."""
    fields = PaymentClient(shop).body(paymentType="bank_transfer", amount="100.00")
    begun = shop.put("payment", action="charge", **fields).body
    counts = []
    for _ in range(21):
        paid = {"action": "pay_account", "accountNumber": begun["accountNumber"], "amount": "1.00"}
        assert shop.send_fields("sandbox", paid).body["status"] == 200
        counts.append(len(shop.put("resources", inquire="proof", reference=begun["txnRef"]).body["data"]))
    assert counts[-3:] == [19, 20, 20]


# --- keys -----------------------------------------------------------------------------------------------------------


def test_the_name_of_a_key_has_1_to_60_characters() -> None:
    assert [check_key_name("x" * size) is None for size in (0, 1, 60, 61)] == [False, True, True, False]


def test_a_merchant_has_50_valid_keys_and_no_more(shop: MerchantClient) -> None:
    replies = [shop.put("sandbox", action="new_key", scopes=["read"]).body for _ in range(50)]
    assert [reply["status"] for reply in replies] == [200] * 49 + [104]
    assert "at most 50 valid keys" in str(replies[-1])


def test_a_rolled_key_overlaps_for_seven_days_at_most(deployment: Deployment, shop: MerchantClient) -> None:
    def roll(hours: str) -> int:
        return deployment.run_any_command("merchant", "roll-key", shop.mid, "--overlap-hours", hours).returncode

    assert [roll("168") == 0, roll("168.01") == 0] == [True, False]


def test_a_live_merchant_has_its_rate_unless_another_is_set() -> None:
    assert merchant("live").rate_limit == (100, 200)
    assert merchant("live", rate=(1, 5)).rate_limit == (1, 5)
    assert merchant("test").rate_limit is None
