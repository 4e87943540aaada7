"""Rules of loan products: created, changed for new loans, closed, and loans that are requested of one.

Contract: loans#products
"""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Refusal
from kasuwa.methods.clients.model import UNKNOWN_CLIENT
from kasuwa.methods.loan_products.model import PRODUCT_CLOSED, UNKNOWN_PRODUCT, LoanProduct, make_product_id
from kasuwa.methods.loan_products.rules.manage import ALREADY_CLOSED, CODE_IN_USE
from tests.methods.loans.in_memory_lender import Lender
from tests.methods.loans.test_charges import reasons
from tests.methods.loans.test_repay import allocation
from tests.rule_context import MERCHANT
from tests.walk.bounds import PRODUCT_PERIOD, PRODUCT_TOLERANCE

RANGES: dict[str, Any] = {
    "amount": {"min": "500.00", "max": "5000.00", "default": "1000.00"},
    "period": {"min": 3, "max": 12, "default": 4},
    "interestRate": {"min": 5, "max": 15, "default": 10},
}
PRODUCT: dict[str, Any] = {
    "name": "Market women",
    "code": "MW-12",
    "ranges": RANGES,
    "interestFrequency": "every_month",
}
PRODUCT_ID = make_product_id(MERCHANT.merchant_id, "MW-12")


@pytest.fixture
def lender() -> Lender:
    return Lender(tolerance_days=1, penalty_rate="0.1")


def create(lender: Lender, **changes: Any) -> Any:
    return lender.ask("create_product", PRODUCT | changes)


def request(lender: Lender, **fields: Any) -> Any:
    return lender.ask("request_of_product", {"client_id": "CL1", "product_id": PRODUCT_ID, **fields})


def lend(lender: Lender, **fields: Any) -> str:
    loan_id = request(lender, **fields).data.loan_id
    assert lender.process(loan_id).data.state == "active"
    return str(loan_id)


# --- products ---------------------------------------------------------------------------------------------------------


def test_a_product_is_created_with_its_ranges(lender: Lender) -> None:
    data = create(lender, penalty={"rate": "0.2", "tolerance_days": 5, "from": "due"}, grace={"principal": 1}).data
    assert (data.product_id, data.code, data.state, data.name) == (PRODUCT_ID, "MW-12", "open", "Market women")
    assert (data.ranges.amount.least, data.ranges.amount.most, data.ranges.amount.default) == (
        "500.00",
        "5000.00",
        "1000.00",
    )
    assert (data.ranges.interest_rate.least, data.ranges.period.default) == ("5", 4)
    assert (data.penalty.rate, data.penalty.tolerance_days, data.penalty.since) == ("0.2", 5, "due")
    assert data.grace.principal == 1
    assert data.allocation == ["penalty", "charge", "interest", "principal"]


def test_a_dry_run_shows_a_loan_of_the_defaults_and_stores_nothing(lender: Lender) -> None:
    reply = create(lender, dry_run=True)
    assert (reply.dry_run, reply.data.product_id) == (True, None)
    figures = {figure.what: figure.amount for figure in reply.explained}
    assert (figures["installment"], figures["total"]) == ("315.47", "1261.88")
    assert lender.database.all(LoanProduct, lender.merchant_id) == []
    without_default = RANGES | {"period": {"min": 3, "max": 12}}
    assert create(lender, ranges=without_default, dry_run=True).explained is msgspec.UNSET


def test_a_code_is_used_once_also_after_its_product_was_closed(lender: Lender) -> None:
    create(lender)
    assert create(lender) == CODE_IN_USE
    lender.ask("close_product", {"product_id": PRODUCT_ID})
    assert create(lender) == CODE_IN_USE


def test_codes_that_differ_in_their_last_character_are_two_products(lender: Lender) -> None:
    codes = ["a" * 99 + "1", "a" * 99 + "2", "ọ" * 99 + "1", "ọ" * 99 + "2"]
    assert len({create(lender, code=code).data.product_id for code in codes}) == 4


def test_all_faults_of_a_product_are_named_at_once(lender: Lender) -> None:
    faults = reasons(
        create(
            lender,
            ranges={
                "amount": {"min": "0.50", "max": "5000.00", "default": "6000.00"},
                "period": {"min": 0, "max": 367},
                "interestRate": {"min": 20, "max": 10},
            },
            tax_rate=101,
            penalty={"rate": 101, "tolerance_days": 366},
            allocation=["penalty", "penalty", "interest", "principal"],
            charges=[{"name": "Fee", "when": "installment"}],
            grace={"principal": 1, "interest": 2},
        )
    )
    assert set(faults) == {"ranges", "tax_rate", "penalty", "allocation", "charges", "grace"}
    assert faults["ranges"] == (
        ".amount.min: at least 1.00; .period.min: at least 1; .period.max: at most 366; .amount.default: from min to"
        " max; .interestRate.min: no larger than max"
    )
    assert faults["penalty"] == ".rate: a percentage from 0 to 100; .tolerance_days: at most 365"


def test_terms_that_no_loan_could_have_are_refused(lender: Lender) -> None:
    charge = {"name": "Fee", "amount": "10.00", "when": "named_day", "due": "2026-03-01"}
    faults = reasons(create(lender, charges=[charge], grace={"principal": 3, "first_due": "2026-03-05"}))
    assert faults == {
        "charges[0].when": "not on a named day: a product has no days",
        "grace.first_due": "only in a request of a loan",
        "grace.principal": "less than ranges.period.min, 3",
    }


@pytest.mark.parametrize(("most", "is_within"), PRODUCT_PERIOD.sides)
def test_a_product_has_up_to_366_installments(lender: Lender, most: int, is_within: bool) -> None:
    reply = create(lender, ranges=RANGES | {"period": {"min": 1, "max": most}})
    assert isinstance(reply, Refusal) is not is_within


@pytest.mark.parametrize(("days", "is_within"), PRODUCT_TOLERANCE.sides)
def test_a_product_has_up_to_365_days_of_tolerance(lender: Lender, days: int, is_within: bool) -> None:
    reply = create(lender, penalty={"rate": "0.1", "tolerance_days": days})
    assert isinstance(reply, Refusal) is not is_within


def test_a_change_is_for_new_loans_alone(lender: Lender) -> None:
    create(lender, tax_rate="7.5")
    before = request(lender).data.loan_id
    reply = lender.ask("update_product", {"product_id": PRODUCT_ID, "tax_rate": 0, "name": "Traders"})
    assert (reply.data.name, reply.data.tax_rate, reply.data.ranges.amount.most) == ("Traders", "0", "5000.00")
    assert reply.data.date_changed != msgspec.UNSET
    assert lender.process(before).data.tax_rate == 7.5
    assert lender.process(request(lender).data.loan_id).data.tax_rate == 0


def test_a_change_that_is_sent_again_changes_nothing(lender: Lender) -> None:
    create(lender, tax_rate="7.5")
    asked = {"product_id": PRODUCT_ID, "tax_rate": 0, "name": "Traders"}
    changed = lender.ask("update_product", asked)
    count = len(lender.database.events)
    lender.pass_days(1)
    assert lender.ask("update_product", asked) == changed
    assert len(lender.database.events) == count
    assert reasons(lender.ask("update_product", {"product_id": PRODUCT_ID, "dry_run": True})) == {
        "name": "required, or another term that is to change"
    }
    assert lender.ask("update_product", asked | {"name": "Weavers"}).data.name == "Weavers"
    assert len(lender.database.events) == count + 1


def test_a_change_that_goes_against_other_terms_is_refused(lender: Lender) -> None:
    create(lender, grace={"principal": 2})
    shorter = RANGES | {"period": {"min": 2, "max": 12}}
    assert reasons(lender.ask("update_product", {"product_id": PRODUCT_ID, "ranges": shorter})) == {
        "grace.principal": "less than ranges.period.min, 2"
    }
    ended = {"product_id": PRODUCT_ID, "ranges": shorter, "grace": {}}
    assert lender.ask("update_product", ended).data.grace is msgspec.UNSET


def test_a_closed_product_has_no_new_loans_and_its_old_ones_go_on(lender: Lender) -> None:
    create(lender)
    loan_id = request(lender).data.loan_id
    reply = lender.ask("close_product", {"product_id": PRODUCT_ID, "dry_run": True})
    assert (reply.dry_run, reply.data.state) == (True, "closed")
    assert lender.ask("close_product", {"product_id": PRODUCT_ID}).data.state == "closed"
    assert request(lender) == PRODUCT_CLOSED
    assert lender.ask("close_product", {"product_id": PRODUCT_ID}) == ALREADY_CLOSED
    assert lender.ask("update_product", {"product_id": PRODUCT_ID, "name": "X"}) == ALREADY_CLOSED
    assert lender.process(loan_id).data.state == "active"


# --- loans ------------------------------------------------------------------------------------------------------------


def test_what_a_request_leaves_out_comes_from_the_product(lender: Lender) -> None:
    create(
        lender,
        tax_rate="7.5",
        method="equal_principal",
        grace={"principal": 1},
        charges=[{"name": "Fee", "amount": "10.00", "when": "disbursement", "deduct": True}],
        penalty={"rate": "0.2", "tolerance_days": 5},
    )
    data = request(lender).data
    assert (data.product_id, data.amount, data.period, data.method) == (PRODUCT_ID, "1000.00", 4, "equal_principal")
    assert (data.interest_settings.interest_rate, data.tax_applied, data.tax_rate) == ("10", True, 7.5)
    assert (data.penalty_rate, data.tolerance_days, data.net_amount) == ("0.2", 5, "990.00")
    assert [line.principal for line in data.schedule] == ["0.00", "333.33", "333.33", "333.34"]


def test_without_a_penalty_of_the_product_the_lending_setting_counts(lender: Lender) -> None:
    create(lender)
    data = request(lender).data
    assert (data.penalty_rate, data.tolerance_days) == ("0.1", 1)


def test_what_is_outside_a_range_is_refused_all_at_once(lender: Lender) -> None:
    create(lender, grace={"principal": 1})
    refusal = request(
        lender,
        amount="5000.01",
        period=2,
        interestSettings={"interestRate": 15.5, "interestFrequency": "every_week"},
        grace={"principal": 2, "interest": 1},
    )
    assert reasons(refusal) == {
        "amount": "from 500.00 to 5000.00, the range of the product",
        "period": "from 3 to 12, the range of the product",
        "interestSettings.interestRate": "from 5 to 15, the range of the product",
        "interestSettings.interestFrequency": "every_month, that of the product",
        "grace.principal": "from 0 to 1, the range of the product",
        "grace.interest": "from 0 to 0, the range of the product",
    }
    assert {error.code for error in refusal.field_errors} == {"outside_product_range"}


@pytest.mark.parametrize(("field", "values"), [("amount", ("500.00", "5000.00")), ("period", (3, 12))])
def test_the_ends_of_a_range_are_inside(lender: Lender, field: str, values: tuple[Any, Any]) -> None:
    create(lender)
    assert [request(lender, **{field: value}).status for value in values] == [200, 200]


def test_what_has_no_default_is_required(lender: Lender) -> None:
    create(
        lender,
        ranges={
            "amount": {"min": "500.00", "max": "5000.00"},
            "period": {"min": 3, "max": 12},
            "interestRate": {"min": 5, "max": 15},
        },
    )
    refusal = request(lender)
    assert set(reasons(refusal)) == {"amount", "period", "interestSettings.interestRate"}
    assert {error.code for error in refusal.field_errors} == {"field_required"}


def test_a_request_may_have_less_grace_than_its_product_and_a_first_due_date(lender: Lender) -> None:
    create(lender, grace={"interest": 2, "capitalize": True})
    assert request(lender, grace={"first_due": "2026-03-10"}).data.grace.interest == 2
    less = request(lender, grace={"interest": 1}).data.grace
    assert (less.principal, less.interest, less.capitalize) == (1, 1, True)
    other = reasons(request(lender, grace={"interest": 1, "capitalize": False}))
    assert other == {"grace.capitalize": "that of the product"}
    assert list(reasons(request(lender, grace={"principal": 0, "interest": 1}))) == ["grace.interest"]


def test_an_unknown_product_or_client_is_refused(lender: Lender) -> None:
    assert request(lender) == UNKNOWN_PRODUCT
    create(lender)
    assert lender.ask("request_of_product", {"client_id": "CL2", "product_id": PRODUCT_ID}) == UNKNOWN_CLIENT


# --- what a product decides later -----------------------------------------------------------------------------------


def test_a_product_may_have_another_order_of_allocation(lender: Lender) -> None:
    create(lender, allocation=["principal", "interest", "charge", "penalty"], penalty={"rate": 1})
    loan_id = lend(lender)
    lender.pass_days(38)
    assert allocation(lender.repay(loan_id, "215.47")) == {"principal": "215.47"}
    assert allocation(lender.repay(loan_id, "110.00")) == {"interest": "100.00", "penalty": "10.00"}


@pytest.mark.parametrize(("since", "penalties"), [("tolerance", [0, 0, 215, 430]), ("due", [0, 0, 1_292, 1_508])])
def test_days_of_tolerance_are_charged_if_the_product_says_so(lender: Lender, since: str, penalties: list[int]) -> None:
    """1 % a day of 215.47, late six days after 2026-02-28 with five days of tolerance."""
    create(lender, penalty={"rate": 1, "tolerance_days": 5, "from": since})
    loan_id, found = lend(lender), []
    lender.pass_days(28)
    for days in (0, 5, 1, 1):
        lender.pass_days(days)
        found.append(lender.owed(loan_id)["penalty"])
    assert [abs(one - two) <= 1 for one, two in zip(found, penalties, strict=True)] == [True] * 4


def test_a_late_run_charges_the_same_penalties(lender: Lender) -> None:
    create(lender, penalty={"rate": 1, "tolerance_days": 5, "from": "due"})
    on_time, late = lend(lender), lend(lender)
    lender.pass_days(40)
    assert lender.owed(on_time) == lender.owed(late)
    before = lender.owed(on_time)["penalty"]
    fresh = Lender()
    create(fresh, penalty={"rate": 1, "tolerance_days": 5, "from": "due"})
    loan_id = lend(fresh)
    fresh.now = lender.now
    assert fresh.repay(loan_id, dry_run=True).allocation.penalty == f"{before // 100}.{before % 100:02}"
