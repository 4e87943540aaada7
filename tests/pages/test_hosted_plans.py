"""Pages of checkouts with a plan: what is due today, and what is charged later. Contract: payment#checkout"""

from datetime import timedelta
from html import unescape
from typing import Any

import msgspec
import pytest

from kasuwa.pages.hosted_render import PageForm, mark_up_notes, receipt_file, render_step
from kasuwa.pages.hosted_view import HostedView, make_view
from kasuwa.pages.receipt_pdf import Receipt, render_receipt_pdf
from kasuwa.transactions.schedule import MAX_INSTALLMENTS
from tests.methods.checkout.in_memory_checkouts import InMemoryCheckout
from tests.pages.pdf_text import read_pdf_pages
from tests.rule_context import NOW

SCHEDULE = {"05-01-2026": 20, "10-01-2026": 40, "20-01-2026": 40}
LEAD = "Your card will be charged the rest in installments:"


def open_plan(schedule: dict[str, Any] = SCHEDULE, total: str = "1500.00", **fields: Any) -> InMemoryCheckout:
    plan = {"payment_schedule": schedule, "total": total}
    return InMemoryCheckout(amount=None, installment=plan, expires="2026-02-03T00:00:00Z", **fields)


def view_of(checkout: InMemoryCheckout, **changes: Any) -> HostedView:
    payments, reference = checkout.payments, checkout.row.payment_ref
    attempt = None
    if reference:
        attempt = payments.transaction(reference), msgspec.structs.replace(payments.payment(reference), **changes)
    return make_view(checkout.row, attempt, payments.merchant, ("card",), payments.now, payments.context())


def page_text(view: HostedView, form: PageForm | None = None) -> str:
    page = render_step(view, "card", form or PageForm())
    return unescape(page.body.decode()).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("days", "due", "later"),
    [
        (0, "300.00", ["NGN 600.00 on 10 January 2026", "NGN 600.00 on 20 January 2026"]),
        (5, "900.00", ["NGN 600.00 on 20 January 2026"]),
        (12, "900.00", ["NGN 600.00 on 20 January 2026"]),
        (15, "1,500.00", []),
    ],
)
def test_the_page_asks_for_what_is_due_today_and_names_the_rest(days: int, due: str, later: list[str]) -> None:
    checkout = open_plan()
    checkout.payments.advance(days=days)
    text = page_text(view_of(checkout))
    assert f'<p class="sum">NGN {due}</p>' in text
    assert f"Pay NGN {due}</button>" in text
    assert "a fee of" not in text
    assert (LEAD in text, text.count("Further NGN")) == (bool(later), len(later))
    assert all(f"Further {line}" in text for line in later)


@pytest.mark.parametrize("days", [0, 5, 12, 15])
def test_the_total_of_the_page_is_what_an_attempt_charges(days: int) -> None:
    for bearer in ("merchant", "customer"):
        checkout = open_plan(bearer=bearer)
        checkout.payments.advance(days=days)
        total = view_of(checkout).total_by("card")
        assert checkout.begin(shown_total=total).payment.charged == total


def test_a_fee_that_the_payer_bears_is_counted_from_what_is_due_today() -> None:
    checkout = open_plan(bearer="customer")
    checkout.payments.advance(days=12)
    view = view_of(checkout)
    assert view.amount_due == 90_000
    fee = view.total_by("card") - 90_000
    assert f"NGN 900.00 and a fee of NGN {fee / 100:.2f}" in page_text(view)
    assert "NGN 900.00 and a fee of NGN 45.00" in page_text(view, PageForm(total=94_500)), "a card with a higher fee"
    assert "Further NGN 600.00 and the fee on 20 January 2026" in page_text(view)


def test_the_receipt_names_what_the_payment_left_to_be_charged() -> None:
    checkout = open_plan()
    checkout.payments.advance(days=12)
    checkout.pay()
    checkout.payments.advance(days=30)
    view = view_of(checkout)
    text = page_text(view)
    assert '<p class="sum">NGN 900.00</p>' in text
    assert f"{LEAD}<br>\nFurther NGN 600.00 on 20 January 2026</p>" in text
    [drawn] = read_pdf_pages(receipt_file(view).body)
    assert drawn[-2:] == [LEAD, "Further NGN 600.00 on 20 January 2026"]
    assert "Fee" not in drawn


@pytest.mark.parametrize("recurrent", [None, {"frequency": "weekly"}])
def test_a_receipt_promises_no_later_charge_of_a_card_that_was_not_saved(recurrent: Any) -> None:
    checkout = open_plan() if recurrent is None else InMemoryCheckout(recurrent=recurrent)
    checkout.pay()
    assert "Your card will be charged" in page_text(view_of(checkout))
    assert "Your card will be charged" not in page_text(view_of(checkout, token=None))


def test_a_payment_without_a_plan_has_no_note() -> None:
    checkout = InMemoryCheckout()
    checkout.payments.advance(hours=3)
    assert (view_of(checkout).amount_due, view_of(checkout).installments) == (150_000, None)
    assert "Your card will be charged" not in page_text(view_of(checkout))


def test_the_dates_of_the_longest_plan_go_on_further_pages_of_the_receipt() -> None:
    days = [NOW + timedelta(days=30 * n) for n in range(MAX_INSTALLMENTS)]
    checkout = open_plan({f"{day:%d-%m-%Y}": "10.00" for day in days}, "1200.00")
    checkout.pay()
    pages = read_pdf_pages(receipt_file(view_of(checkout)).body)
    lines = [line for page in pages for line in page if line.startswith("Further NGN 10.00 on ")]
    assert (len(pages) > 1, len(lines)) == (True, MAX_INSTALLMENTS - 1)
    assert all(page for page in pages)


def test_a_note_stays_within_the_page_of_a_receipt_with_many_items() -> None:
    items = [(f"item {n}", "NGN 1.00") for n in range(30)]
    pages = read_pdf_pages(render_receipt_pdf(Receipt("Ada Stores", "NGN 30.00", [("a", "b")], items, ["note"])))
    assert (len(pages), pages[-1]) == (2, ["note"])


def test_notes_are_escaped() -> None:
    assert mark_up_notes(["<b>", "a & b"]) == '<p class="soft">&lt;b&gt;<br>\na &amp; b</p>\n'
    assert mark_up_notes([]) == ""
