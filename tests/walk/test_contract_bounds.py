"""Every bound that the contract names is tried at, below and above: by the tests that the table names, or here."""

import ast
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.api.dispatch import DEADLINE_SECONDS
from kasuwa.core.callers import check_key_name
from kasuwa.core.decision import Decision, Refusal
from kasuwa.core.money import DECIMALS, parse_minor
from kasuwa.jobs.steps import RAIL_DEADLINE_SECONDS
from kasuwa.merchants.merchant_settings import check_amount_limits
from kasuwa.methods.tickets.rules import open_sale
from kasuwa.outbound.egress import EgressLimits
from kasuwa.projections.timeline import TimelineEntry, render_timeline
from kasuwa.rails.routing import deciders
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
from tests.methods.shares.society import Society
from tests.methods.tickets.in_memory_tickets import InMemoryTickets
from tests.rule_context import merchant
from tests.running import Deployment
from tests.source_rules import REPOSITORY
from tests.walk.bounds import (
    CHECKOUT_LIFE,
    DISPUTED,
    INTEREST_A_YEAR,
    INVOICE_PART,
    INVOICE_VAT,
    KEY_NAME,
    KEY_OVERLAP_HOURS,
    LEAST_LISTED,
    LOAN_INSTALLMENTS,
    MOST_LISTED,
    OWN_OBJECT,
    PAYER_FORM,
    PAYOUT,
    PLAN_MEMBERS,
    PLAN_START,
    PROVED_GROUPS,
    SAVINGS_MONTHS,
    SEARCHED_LETTERS,
    SETTLEMENT_DAYS,
    SHARES,
    STATEMENT_DAYS,
    TAX,
    TERM_DAYS,
    TICKETS,
    TIMELINE,
    VALID_KEYS,
    Bound,
    Shown,
    named_bounds,
)
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
    named = {one.test for rows in BOUNDS.values() for tests in rows.values() for one in tests}
    assert {test for test in named if not read_test(test)} == set()


def test_every_bound_is_tried_on_both_sides_by_the_test_that_it_names() -> None:
    """A test that takes its values from a bound tries all of them."""
    for name, bound in named_bounds():
        assert not isinstance(bound, Bound) or (bound.within and bound.beyond), name
        assert f"{name}.sides" in read_test(bound.test) or f"@{name}.tries" in read_test(bound.test), name


def test_every_bound_belongs_to_words_of_the_contract() -> None:
    tried = {one for rows in BOUNDS.values() for tests in rows.values() for one in tests}
    assert [name for name, bound in named_bounds() if bound not in tried] == []


def test_what_a_reply_shows_at_most_is_tried_around_that_number() -> None:
    assert Shown("", 3).sides == ((2, 2), (3, 3), (4, 3))


def read_test(title: str) -> str:
    """Returns the text of a test with its decorators, or "" if there is none of this name."""
    path, _, name = title.partition("::")
    file = REPOSITORY / "tests" / path
    nodes = ast.parse(file.read_text()).body if file.exists() else []
    found = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name]
    return "\n".join(ast.unparse(node) for node in found)


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
    def pay_out(funds: int) -> Transaction:
        payouts = InMemoryPayouts(funds)
        [sent] = [row for row in payouts.pay_out(payouts.job).rows if isinstance(row, Transaction)]
        return sent

    largest = pay_out(2 * PAYOUT.most)
    charges = largest.fee + largest.vat + largest.duty
    for amount, sent in PAYOUT.sides:
        assert pay_out(amount + charges).amount == sent


def test_transactions_are_filtered_by_amounts_both_included(shop: MerchantClient) -> None:
    for amount in ("99.99", "100.00", "100.01"):
        shop.transfer(amount=amount, orderRef=amount)

    def found(**filters: Any) -> set[str]:
        lines = shop.put("resources", inquire="transactions", **filters).body["data"]
        return {line["orderRef"] for line in lines}

    for amount, is_within in LEAST_LISTED.sides:
        assert (amount in found(min_amount="100.00")) == is_within
    for amount, is_within in MOST_LISTED.sides:
        assert (amount in found(max_amount="100.00")) == is_within
    assert found(min_amount="100.00", max_amount="100.00") == {"100.00"}


def test_what_was_charged_and_not_refunded_can_be_disputed_and_no_more(shop: MerchantClient) -> None:
    client = PaymentClient(shop)
    for amount, is_within in DISPUTED.sides:
        paid = client.paid()["txnRef"]
        assert client.refund(paid, "500.00")["status"] == 200
        assert open_dispute(client, paid, amount=amount)["status"] == (200 if is_within else 104), amount
        assert client.refund(paid, "0.02")["status"] == (104 if is_within else 200)


def test_a_part_of_an_invoice_has_and_leaves_at_least_the_smallest_amount() -> None:
    for amount, is_within in INVOICE_PART.sides:
        invoices = InMemoryInvoices()
        opened = invoices.try_open(invoices.make(charge_user="parts"), amount)
        assert isinstance(opened, Decision) == is_within, amount


def test_the_vat_of_an_invoice_is_at_most_100_percent() -> None:
    invoices = InMemoryInvoices()
    fields = {"customer_id": invoices.customer_id, "items": [{"name": "Fabric", "amount": "500.00"}]}
    for vat, is_within in INVOICE_VAT.sides:
        assert isinstance(invoices.put("invoice", **fields, vat=vat), Decision) == is_within, vat


# --- saving and lending ---------------------------------------------------------------------------------------------


def is_saved(**changes: Any) -> bool:
    books = InMemorySavings()
    books.client()
    return not isinstance(books.ask("create_savings", **SAVINGS | changes), Refusal)


def is_planned(**changes: Any) -> bool:
    return not isinstance(InMemorySavings("2026-01-05").ask("create_plan", **PLAN | changes), Refusal)


def test_savings_mature_after_1_to_600_months() -> None:
    for months, is_within in SAVINGS_MONTHS.sides:
        assert is_saved(period=months) == is_within, months


def test_a_fixed_deposit_is_for_1_to_3650_days() -> None:
    for days, is_within in TERM_DAYS.sides:
        assert is_saved(period=None, term_days=days) == is_within, days


def test_a_request_is_for_1_to_1000000_shares() -> None:
    for shares, is_within in SHARES.sides:
        society = Society(price="0.01")
        society.member("ADA")
        assert (not isinstance(society.buy("ADA", shares), Refusal)) == is_within, shares


@INTEREST_A_YEAR.tries
def test_interest_comes_to_1000_percent_a_year_and_no_more(value: tuple[str, str], is_within: bool) -> None:
    rate, frequency = value
    assert is_saved(interestSettings={"interestRate": rate, "interestFrequency": frequency}) == is_within


def test_tax_is_at_most_all_of_the_interest() -> None:
    for rate, is_within in TAX.sides:
        assert is_saved(tax_applied=True, tax_rate=rate) == is_within, rate
        assert isinstance(Lender().request(tax_applied=True, tax_rate=rate), Refusal) != is_within, rate


def test_a_loan_has_1_to_366_installments() -> None:
    for number, is_within in LOAN_INSTALLMENTS.sides:
        assert isinstance(Lender().request(period=number), Refusal) != is_within, number


def test_a_plan_has_2_to_500_members() -> None:
    for number, is_within in PLAN_MEMBERS.sides:
        assert is_planned(member_required=number) == is_within, number


def test_a_plan_starts_today_or_within_ten_years() -> None:
    for day, is_within in PLAN_START.sides:
        assert is_planned(start_date=day) == is_within, day


# --- checkouts, links and pages -------------------------------------------------------------------------------------


@CHECKOUT_LIFE.tries
def test_a_checkout_lives_a_minute_to_30_days(value: str, is_within: bool) -> None:
    assert isinstance(InMemoryCheckout(expires=value).opened, Decision) == is_within


def test_a_payer_chooses_twenty_tickets_and_no_more() -> None:
    for number, is_within in TICKETS.sides:
        for choice in ([(1, number)], [(0, 1), (1, number - 1)]):
            chosen = InMemoryTickets().try_choose(*choice)
            assert isinstance(chosen, Decision) if is_within else chosen == open_sale.TOO_MANY, choice


def test_a_form_of_a_payer_has_4_kib_and_no_more(deployment: Deployment) -> None:
    for size, is_within in PAYER_FORM.sides:
        with deployment.connect() as wire:
            assert wire.send("POST", f"/pay/{'0' * 48}", b"x" * size).http == (404 if is_within else 413), size


def test_an_object_of_ones_own_has_64_kib_and_no_more(shop: MerchantClient) -> None:
    client, frame = PaymentClient(shop), len(msgspec.json.encode({"note": ""}))
    for size, is_within in OWN_OBJECT.sides:
        fields = client.body(paymentType="qrpay", meta={"note": "x" * (size - frame)})
        reply = client.pay(action="charge", **fields)
        assert reply["status"] == (202 if is_within else 104), size
        assert [fault["field"] for fault in reply.get("errors", [])] == ([] if is_within else ["meta"])


def test_rails_and_endpoints_have_ten_seconds_to_answer() -> None:
    """The tests of what comes too late lower these limits."""
    assert (DEADLINE_SECONDS, RAIL_DEADLINE_SECONDS, EgressLimits().response_seconds) == (10, 10, 10)


def test_deciders_have_two_seconds_to_answer() -> None:
    """The tests of deciders lower the limit, and have a clock of their own for the pause."""
    assert (deciders.WAIT_SECONDS, deciders.PAUSE_SECONDS) == (2, 15)


# --- lists ----------------------------------------------------------------------------------------------------------


def list_days(shop: MerchantClient, days: int, **fields: Any) -> Any:
    """Asks for a number of days, the first and the last included."""
    first = date(2026, 1, 1)
    last = first + timedelta(days=days - 1)
    return shop.put("resources", **{**fields, "from": str(first), "to": str(last)}).body


def test_a_statement_covers_367_days(shop: MerchantClient) -> None:
    for days, is_within in STATEMENT_DAYS.sides:
        reply = list_days(shop, days, inquire="statement", account="wallet")
        assert reply["status"] == (200 if is_within else 104), days
        assert [fault["field"] for fault in reply.get("errors", [])] == ([] if is_within else ["to"])


def test_a_list_of_settlements_covers_93_days(shop: MerchantClient) -> None:
    for days, is_within in SETTLEMENT_DAYS.sides:
        reply = list_days(shop, days, inquire="settlements")
        assert reply["status"] == (200 if is_within else 104), days
        assert [fault["field"] for fault in reply.get("errors", [])] == ([] if is_within else ["to"])


def test_customers_are_searched_by_three_letters_of_a_word(shop: MerchantClient) -> None:
    register(shop, name="Adaobi Eze")
    for letters, is_within in SEARCHED_LETTERS.sides:
        assert listed(shop, search=letters) == (["Adaobi Eze"] if is_within else []), letters


def test_a_proof_has_20_groups_of_postings_and_no_more(shop: MerchantClient) -> None:
    """Each part of what a payer transfers is a group of its own."""
    fields = PaymentClient(shop).body(paymentType="bank_transfer", amount="100.00")
    begun = shop.put("payment", action="charge", **fields).body
    counts = []
    for _ in range(21):
        paid = {"action": "pay_account", "accountNumber": begun["accountNumber"], "amount": "1.00"}
        assert shop.send_fields("sandbox", paid).body["status"] == 200
        counts.append(len(shop.put("resources", inquire="proof", reference=begun["txnRef"]).body["data"]))
    assert [(made, counts[made - 1]) for made, _ in PROVED_GROUPS.sides] == list(PROVED_GROUPS.sides)


@TIMELINE.tries
def test_a_timeline_has_its_newest_1000_entries(count: int, shown: int) -> None:
    first = datetime(2026, 1, 5, tzinfo=UTC)
    entries = [TimelineEntry(first + timedelta(seconds=n), 1, "posting", f"{n}") for n in range(count)]
    lines = [line for line in render_timeline(entries) if line["what"] != "left out"]
    assert [line["said"] for line in lines] == [f"{n}" for n in range(count - shown, count)]


# --- keys -----------------------------------------------------------------------------------------------------------


def test_the_name_of_a_key_has_1_to_60_characters() -> None:
    for size, is_within in KEY_NAME.sides:
        assert (check_key_name("x" * size) is None) == is_within, size


def test_a_merchant_has_50_valid_keys_and_no_more(shop: MerchantClient) -> None:
    # The shop has its first key.
    replies = {number: shop.put("sandbox", action="new_key", scopes=["read"]).body for number in range(2, 52)}
    for number, is_within in VALID_KEYS.sides:
        assert replies[number]["status"] == (200 if is_within else 104), number
    assert "at most 50 valid keys" in str(replies[51])


def test_a_rolled_key_overlaps_for_seven_days_at_most(deployment: Deployment, shop: MerchantClient) -> None:
    def roll(hours: str) -> int:
        return deployment.run_any_command("merchant", "roll-key", shop.mid, "--overlap-hours", hours).returncode

    for hours, is_within in KEY_OVERLAP_HOURS.sides:
        assert (roll(hours) == 0) == is_within, hours


def test_a_live_merchant_has_its_rate_unless_another_is_set() -> None:
    assert merchant("live").rate_limit == (100, 200)
    assert merchant("live", rate=(1, 5)).rate_limit == (1, 5)
    assert merchant("test").rate_limit is None
