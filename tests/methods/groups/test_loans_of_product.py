"""Loans of a group that have a product: what is left out comes from it, and what is outside a range is refused."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Refusal
from kasuwa.methods.groups.model import GROUP_CLOSED, UNKNOWN_GROUP
from kasuwa.methods.groups.rules.request import TOO_MANY_OPEN
from kasuwa.methods.loan_products.model import PRODUCT_CLOSED, UNKNOWN_PRODUCT
from kasuwa.methods.loans.rules.origination import NOTHING_PAID_OUT
from tests.methods.groups.group_lender import MEMBERS, GroupLender
from tests.methods.loan_products.test_products import PRODUCT_ID, RANGES, create
from tests.methods.loans.in_memory_lender import GOOD
from tests.methods.loans.test_charges import reasons
from tests.walk.bounds import GROUP_INSTALLMENTS_OF_PRODUCT

FEE = {"name": "Fee", "amount": "10.00", "when": "disbursement", "deduct": True}


@pytest.fixture
def lender() -> GroupLender:
    return GroupLender(tolerance_days=1, penalty_rate="0.1")


def request(lender: GroupLender, amounts: dict[str, str | None] | None = None, **fields: Any) -> Any:
    parts = dict.fromkeys(MEMBERS) if amounts is None else amounts
    loans = [{"client_id": name} | ({"amount": amount} if amount else {}) for name, amount in parts.items()]
    asked = {"group_id": lender.group_id, "product_id": PRODUCT_ID, "loans": loans, **fields}
    return lender.ask("request_group_loan_of_product", asked)


def request_single(lender: GroupLender, client_id: str, **fields: Any) -> Any:
    return lender.ask("request_of_product", {"client_id": client_id, "product_id": PRODUCT_ID, **fields})


def test_each_loan_is_what_a_single_loan_of_the_product_is(lender: GroupLender) -> None:
    create(
        lender,
        tax_rate="7.5",
        method="equal_principal",
        grace={"principal": 1},
        charges=[FEE],
        penalty={"rate": "0.2", "tolerance_days": 5, "from": "due"},
        allocation=["principal", "interest", "charge", "penalty"],
    )
    chosen = {
        "period": 6,
        "interestSettings": {"interestRate": 12, "interestFrequency": "every_month"},
        "grace": {"first_due": "2026-03-20"},
        "officer": "O1",
        "branch": "B1",
    }
    made = request(lender, {"ADA": "2000.00", "BOLA": None}, **chosen).data
    assert (made.amount, [line.amount for line in made.loans]) == ("3000.00", ["2000.00", "1000.00"])
    for line in made.loans:
        single = request_single(lender, line.client_id, amount=line.amount, **chosen).data
        own, other = lender.loan(line.loan_id), lender.loan(single.loan_id)
        assert (own.group_id, own.group_loan_id, own.product) == (lender.group_id, made.group_loan_id, PRODUCT_ID)
        names = ("key", "loan_id", "number", "group_id", "group_loan_id")
        assert msgspec.structs.replace(own, **{name: getattr(other, name) for name in names}) == other


def test_what_the_request_leaves_out_comes_from_the_product(lender: GroupLender) -> None:
    create(lender)
    loans = [lender.loan(line.loan_id) for line in request(lender).data.loans]
    assert {(loan.amount, loan.period, loan.rate, loan.frequency) for loan in loans} == {
        (100_000, 4, "10", "every_month")
    }
    assert {(loan.penalty_rate, loan.tolerance_days) for loan in loans} == {("0.1", 1)}


@pytest.mark.parametrize("disbursement", ["one", "each"])
def test_deducted_charges_lower_what_is_paid_out(lender: GroupLender, disbursement: str) -> None:
    create(lender, charges=[FEE])
    made = request(lender, disbursement=disbursement).data
    before = lender.wallet()
    explained = {figure.what: figure.amount for figure in process_dry(lender, made.group_loan_id).explained}
    assert explained["paid out"] == "2970.00"
    lender.process_group(made.group_loan_id)
    for job in lender.waiting("disburse.send"):
        lender.receive_answer(job, GOOD)
    assert [lender.owed(line.loan_id)["principal"] for line in made.loans] == [100_000] * 3
    fees = round(float(explained["fees"]) * 100)
    assert before - lender.wallet() == 297_000 + fees
    lender.check_books()


def process_dry(lender: GroupLender, group_loan_id: str) -> Any:
    return lender.process_group(group_loan_id, dry_run=True)


def test_a_dry_run_explains_what_is_deducted_and_asked_and_stores_nothing(lender: GroupLender) -> None:
    create(lender, charges=[FEE])
    reply = request(lender, {"ADA": None, "BOLA": "2000.00"}, disbursement="one", dry_run=True)
    assert (reply.dry_run, reply.data.group_loan_id, reply.data.amount) == (True, None, "3000.00")
    figures = [(figure.what, figure.amount) for figure in reply.explained]
    assert figures == [
        ("amount", "3000.00"),
        ("deducted", "20.00"),
        ("loan of ADA", "1000.00"),
        ("loan of BOLA", "2000.00"),
    ]
    assert reply.explained[2].how.startswith("1261.88 in 4 installments")
    assert (lender.group.loans, lender.client("ADA").open_accounts) == (0, 0)


def test_a_product_that_is_unknown_or_closed_is_refused(lender: GroupLender) -> None:
    assert request(lender) == UNKNOWN_PRODUCT
    create(lender)
    lender.ask("close_product", {"product_id": PRODUCT_ID})
    assert request(lender) == PRODUCT_CLOSED
    assert request(lender, dry_run=True) == PRODUCT_CLOSED
    assert lender.group.loans == 0


def test_the_refusals_of_the_group_come_first(lender: GroupLender) -> None:
    assert request(lender, group_id="GRnobody") == UNKNOWN_GROUP
    stranger = request(lender, {"CL1": None})
    assert [(error.field, error.code) for error in stranger.field_errors] == [("loans[0].client_id", "not_a_member")]
    twice = request(lender, loans=[{"client_id": "ADA"}] * 2)
    assert reasons(twice) == {"loans": "one loan for each member"}
    create(lender)
    for _ in range(10):
        assert request(lender, {"ADA": None}).status == 200
    assert request(lender, {"ADA": None}) == TOO_MANY_OPEN
    empty = lender.make_group()
    lender.ask("update_group", {"group_id": empty, "close": True})
    assert request(lender, group_id=empty) == GROUP_CLOSED


def test_a_group_in_arrears_borrows_nothing_of_a_product(lender: GroupLender) -> None:
    create(lender)
    lender.lend_group()
    lender.pass_days(40)
    assert request(lender).error_code == "group_in_arrears"


def test_what_is_outside_a_range_is_refused_all_at_once(lender: GroupLender) -> None:
    create(lender, grace={"principal": 1})
    refusal = request(
        lender,
        {"ADA": "5000.01", "BOLA": "5000.00", "CHI": "499.99"},
        period=2,
        interestSettings={"interestRate": 15.5, "interestFrequency": "every_week"},
        grace={"principal": 2, "interest": 1},
    )
    assert reasons(refusal) == {
        "loans[0].amount": "from 500.00 to 5000.00, the range of the product",
        "loans[2].amount": "from 500.00 to 5000.00, the range of the product",
        "period": "from 3 to 12, the range of the product",
        "interestSettings.interestRate": "from 5 to 15, the range of the product",
        "interestSettings.interestFrequency": "every_month, that of the product",
        "grace.principal": "from 0 to 1, the range of the product",
        "grace.interest": "from 0 to 0, the range of the product",
    }
    assert {error.code for error in refusal.field_errors} == {"outside_product_range"}
    assert lender.group.loans == 0


def test_what_has_no_default_is_required(lender: GroupLender) -> None:
    ranges = {name: {key: own[key] for key in ("min", "max")} for name, own in RANGES.items()}
    create(lender, ranges=ranges)
    refusal = request(lender, {"ADA": "500.00", "BOLA": None})
    assert set(reasons(refusal)) == {"loans[1].amount", "period", "interestSettings.interestRate"}
    assert {error.code for error in refusal.field_errors} == {"field_required"}


@pytest.mark.parametrize(("field", "values"), [("amount", ("500.00", "5000.00")), ("period", (3, 12))])
def test_the_ends_of_a_range_are_inside(lender: GroupLender, field: str, values: tuple[Any, Any]) -> None:
    create(lender)
    for value in values:
        made = request(lender, {"ADA": value}) if field == "amount" else request(lender, **{field: value})
        assert made.status == 200


@GROUP_INSTALLMENTS_OF_PRODUCT.tries
def test_loans_of_a_product_have_at_most_2000_installments(lender: GroupLender, value: int, is_within: bool) -> None:
    """`value` installments, by ten members, as the product says and as the request says."""
    names = [f"M{n}" for n in range(10)]
    for name in names:
        lender.add_client(name)
    lender.update(add=names)
    period = {"min": 1, "max": 366, "default": value // 10}
    create(lender, ranges=RANGES | {"period": period})
    for chosen in ({}, {"period": value // 10}):
        made = request(lender, dict.fromkeys(names), **chosen)
        assert isinstance(made, Refusal) != is_within
        assert is_within or set(reasons(made)) == {"period"}


def test_one_member_who_is_refused_keeps_the_others(lender: GroupLender) -> None:
    create(lender)
    lender.add_client("BOLA", status="inactive")
    refused = request(lender)
    assert (refused.error_code, refused.message.startswith("loans[1]: ")) == ("client_inactive", True)
    assert (lender.group.loans, lender.client("ADA").open_accounts) == (0, 0)


def test_charges_that_leave_nothing_to_pay_out_are_refused(lender: GroupLender) -> None:
    create(lender, charges=[FEE | {"amount": "600.00"}])
    refused = request(lender, {"ADA": "700.00", "BOLA": "600.00"})
    assert refused.message == f"loans[1]: {NOTHING_PAID_OUT.message}"
    assert [error.code for error in refused.field_errors] == ["nothing_to_pay_out"]


@pytest.mark.parametrize("disbursement", ["one", "each"])
def test_a_first_due_date_that_has_passed_keeps_the_loans_from_being_paid_out(
    lender: GroupLender, disbursement: str
) -> None:
    create(lender)
    today = lagos_day(lender.now).isoformat()
    refused = request(lender, grace={"first_due": today})
    assert [(error.field, error.code) for error in refused.field_errors] == [
        ("grace.first_due", "first_due_not_possible")
    ]
    made = request(lender, grace={"first_due": "2026-02-10"}, disbursement=disbursement).data
    lender.pass_days(10)
    for dry_run in (True, False):
        assert lender.process_group(made.group_loan_id, dry_run=dry_run).error_code == "first_due_passed"
    assert {lender.loan(line.loan_id).state for line in made.loans} == {"pending_approval"}
    assert lender.process_group(made.group_loan_id, "cancel").status == 200


def test_a_change_of_the_product_is_for_new_loans_alone(lender: GroupLender) -> None:
    create(lender, tax_rate="7.5")
    before = request(lender).data
    lender.ask("update_product", {"product_id": PRODUCT_ID, "tax_rate": 0})
    after = request(lender).data
    assert {lender.loan(line.loan_id).tax_rate for line in before.loans} == {"7.5"}
    assert {lender.loan(line.loan_id).tax_rate for line in after.loans} == {"0"}
