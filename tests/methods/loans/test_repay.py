"""The rules of a repayment: how much it is, where it goes, what closes a loan, and payments made for one.

Contract: loans#request
"""

from datetime import date, timedelta
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Decision, LoadedRows, Needs, NeedsMore, PostingGroup, Refusal
from kasuwa.methods.loans.auto_repay_model import need_auto_repayment
from kasuwa.methods.loans.model import MORE_THAN_OWED, REPAYMENT_PURPOSE, UNKNOWN_LOAN, loan_account
from kasuwa.methods.loans.rules.repay import end_repayment, new_repayment
from kasuwa.methods.loans.rules.write_off import decide_operator_write_off, need_operator_write_off
from kasuwa.methods.loans.wire import RepayRequest
from kasuwa.transactions.purpose import TransactionEffects, TransactionPurpose, effects_of_purpose
from kasuwa.transactions.transactions import FAILED, PENDING, SUCCESSFUL, Transaction
from tests.hypothesis_settings import without_deadline
from tests.methods.loans.in_memory_lender import Lender, context_at, seen_by
from tests.walk.bounds import LOAN_DUE_DAY, RECOVERED


@pytest.fixture
def lender() -> Lender:
    return Lender()


def refused_amount(outcome: Any) -> str:
    assert isinstance(outcome, Refusal), outcome
    (fault,) = outcome.field_errors
    assert fault.field == "amount"
    return fault.reason


def allocation(reply: Any) -> dict[str, str]:
    return {part: amount for part, amount in msgspec.to_builtins(reply.allocation).items() if amount != "0.00"}


# --- how much ---------------------------------------------------------------------------------------------------


def test_without_an_amount_and_nothing_due_the_next_installment_is_paid_ahead(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(5)
    reply = lender.repay(loan_id)
    assert (reply.charged_amount, allocation(reply)) == ("315.47", {"interest": "17.86", "principal": "297.61"})
    assert [line.state for line in reply.data.schedule] == ["partially_paid", "pending", "pending", "pending"]
    assert reply.data.outstanding.principal == "702.39"


@LOAN_DUE_DAY.tries
def test_without_an_amount_all_that_is_due_is_paid_today_included(lender: Lender, value: str, is_within: bool) -> None:
    loan_id = lender.lend()
    lender.pass_days((date.fromisoformat(value) - date.fromisoformat(lender.today)).days)
    assert lender.today == value
    reply = lender.repay(loan_id)
    assert (reply.charged_amount, reply.data.state) == ("630.94" if is_within else "315.47", "active")
    second = "315.47" if is_within else "0.00"
    assert [line.paid for line in reply.data.schedule] == ["315.47", second, "0.00", "0.00"]


def test_the_last_installment_paid_early_is_no_more_than_the_payoff(lender: Lender) -> None:
    loan_id = lender.lend(period=1)
    lender.pass_days(14)
    reply = lender.repay(loan_id)
    assert (reply.charged_amount, reply.data.state) == ("1050.00", "closed_repaid")


# --- where it goes ------------------------------------------------------------------------------------------------


def test_a_part_payment_covers_interest_with_its_tax_then_principal_of_the_oldest(lender: Lender) -> None:
    loan_id = lender.lend(tax_applied=True, tax_rate=10)
    lender.pass_days(28)
    assert allocation(lender.repay(loan_id, "55.00")) == {"interest": "50.00", "tax": "5.00"}
    second = lender.repay(loan_id, "65.00")
    assert allocation(second) == {"interest": "50.00", "tax": "5.00", "principal": "10.00"}
    assert second.data.schedule[0].state == "partially_paid"
    assert second.data.schedule[0].paid == "120.00"
    assert lender.owed(loan_id) == {"principal": 99_000, "interest": 16_188, "tax": 1_620, "penalty": 0}


def test_the_claim_moves_alone_and_its_parts_are_earned(lender: Lender) -> None:
    loan_id = lender.lend(tax_applied=True, tax_rate=10)
    lender.pass_days(28)
    wallet = lender.wallet()
    reply = lender.repay(loan_id, "325.47")
    assert lender.wallet() == wallet
    moved = [row for row in lender.database.postings if row.reference == reply.txn_ref]
    assert [(row.debit.partition(":")[0], row.credit, row.amount, row.kind) for row in moved] == [
        ("loan_principal", "lending:principal:NGN", 21_547, "principal repaid"),
        ("loan_interest", "lending:interest_earned:NGN", 10_000, "interest repaid"),
        ("loan_tax", "lending:tax_earned:NGN", 1_000, "tax repaid"),
    ]


def test_a_repayment_is_a_final_transaction_with_its_event(lender: Lender) -> None:
    loan_id = lender.lend()
    reply = lender.repay(loan_id, "100.00")
    assert reply.txn_ref.startswith("GP|LR|")
    row = next(row for row in lender.database.all(Transaction, lender.merchant_id) if row.txn_ref == reply.txn_ref)
    assert (row.status, row.amount, row.fee, row.final_at) == (SUCCESSFUL, 10_000, 0, lender.now)
    payload = msgspec.json.decode(lender.database.events[-1].payload)
    assert (payload["paymentMethod"], payload["chargedAmount"], payload["txnRef"]) == (
        "wallet",
        "100.00",
        reply.txn_ref,
    )


# --- what closes it -----------------------------------------------------------------------------------------------


def test_exactly_the_payoff_closes_it_and_unused_interest_is_not_asked_for(lender: Lender) -> None:
    loan_id = lender.lend(tax_applied=True, tax_rate=10)
    lender.pass_days(14)  # half of February
    payoff = "1055.00"
    assert refused_amount(lender.repay(loan_id, "1055.01")) == "at most 1055.00, which closes the loan today"
    reply = lender.repay(loan_id, payoff)
    assert (reply.message, reply.data.state, reply.data.closed_at) == (
        "Loan Repaid",
        "closed_repaid",
        "2026-02-14T09:00:00.000Z",
    )
    assert allocation(reply) == {"interest": "50.00", "tax": "5.00", "principal": "1000.00"}
    assert {line.state for line in reply.data.schedule} == {"paid"}
    assert sum(float(line.total) for line in reply.data.schedule) == 1055.0
    assert lender.owed(loan_id) == dict.fromkeys(("principal", "interest", "tax", "penalty"), 0)
    assert (lender.lending("interest_agreed"), lender.lending("interest_earned")) == (-5_000, 5_000)
    assert (lender.lending("tax_agreed"), lender.lending("tax_earned")) == (-500, 500)
    assert lender.lending("principal") == 0
    assert lender.client().open_accounts == 0


def test_a_kobo_less_than_the_payoff_leaves_it_open(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(14)
    reply = lender.repay(loan_id, "1049.99")
    assert reply.data.state == "active"
    assert lender.client().open_accounts == 1


def test_on_the_day_it_was_paid_out_only_the_principal_is_owed(lender: Lender) -> None:
    loan_id = lender.lend()
    assert lender.repay(loan_id, "1000.00").data.state == "closed_repaid"
    assert lender.lending("interest_agreed") == 0


def test_the_payoff_holds_all_that_is_overdue_and_the_running_interval_by_its_days(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(42)
    assert lender.today == "2026-03-14"  # 14 of 31 days into the second interval
    reply = lender.repay(loan_id, "1135.43")
    assert reply.data.state == "closed_repaid"
    assert lender.lending("interest_earned") == 10_000 + 3_543  # 78.45 × 14 ÷ 31 = 35.43


def test_prepaid_principal_lowers_the_principal_that_earns_interest(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.repay(loan_id, "100.00")
    lender.pass_days(1)
    assert refused_amount(lender.repay(loan_id, "1000.00")).startswith("at most 903.21")  # 90.00 ÷ 28
    assert lender.repay(loan_id, "903.21").data.state == "closed_repaid"
    assert lender.lending("interest_earned") == 321


def test_paying_every_installment_in_time_closes_the_loan(lender: Lender) -> None:
    loan_id = lender.lend()
    for days in (28, 31, 30, 31):
        lender.pass_days(days)
        reply = lender.repay(loan_id)
    assert (reply.data.state, reply.charged_amount) == ("closed_repaid", "315.47")
    assert lender.lending("interest_earned") == 26_188


def test_installments_that_come_to_no_principal_do_not_keep_a_loan_open() -> None:
    """A hundred kobo in 366 installments: after the hundredth only interest of future days is left."""
    lender = Lender()
    settings = {"interestRate": "1", "interestFrequency": "every_day"}
    loan_id = lender.lend(amount="1.00", period=366, method="flat", interestSettings=settings)
    reply = lender.repay(loan_id, "1.00")
    assert reply.data.state == "closed_repaid"
    loan_id = lender.lend(amount="1.00", period=3, method="flat", interestSettings=settings)
    lender.repay(loan_id, "0.99")
    assert lender.loan(loan_id).state == "active"


def test_a_repaid_loan_takes_no_repayment(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.repay(loan_id, "1000.00")
    assert lender.repay(loan_id, "1.00") == Refusal(
        104, "The loan is closed_repaid and cannot be repaid", error_code="loan_state"
    )


# --- recovery -----------------------------------------------------------------------------------------------------


def write_off(lender: Lender, **terms: Any) -> str:
    """Returns a loan that was written off."""
    loan_id = lender.lend(**terms)
    lender.submit(need_operator_write_off(loan_id, lender.merchant), partial(decide_operator_write_off, loan_id))
    return loan_id


def test_a_repayment_of_a_loan_that_was_written_off_is_recovered(lender: Lender) -> None:
    loan_id = write_off(lender)
    assert (lender.lending("written_off"), lender.lending("recovered")) == (100_000, 0)
    reply = lender.repay(loan_id, "500.00")
    assert (reply.data.state, reply.message) == ("closed_written_off", "Repayment Successful")
    assert (reply.allocation.interest, reply.allocation.principal) == ("178.45", "321.55")
    assert lender.lending("recovered") == 50_000
    assert lender.lending("written_off") == 100_000 - 32_155
    assert (lender.balance(loan_account("credit", loan_id)), lender.client().credit) == (0, 0)
    assert refused_amount(lender.repay(loan_id, "761.89"))
    lender.repay(loan_id, "761.88")
    assert (lender.lending("written_off"), lender.lending("recovered")) == (0, 126_188)
    refusal = lender.repay(loan_id, "1.00")
    assert refusal == Refusal(
        104, "The loan is closed_written_off and cannot be repaid: all of it was recovered", error_code="loan_state"
    )


@RECOVERED.tries
def test_repayments_are_recovered_up_to_what_was_written_off(lender: Lender, value: int, is_within: bool) -> None:
    loan_id = write_off(lender)
    most = max(RECOVERED.within)
    assert collect(lender, loan_id, value).surplus == (0 if is_within else value - most)
    assert lender.lending("recovered") == min(value, most)


def test_only_what_is_paid_beyond_a_loan_that_was_written_off_is_credit(lender: Lender) -> None:
    loan_id = write_off(lender)
    assert collect(lender, loan_id, 126_188).surplus == 0
    added = collect(lender, loan_id, 300)
    assert (added.surplus, lender.client().credit) == (300, 300)
    assert lender.lending("recovered") == 126_188
    assert lender.balance(loan_account("credit", loan_id)) == 300


def test_a_loan_that_is_not_paid_out_or_not_known_takes_none(lender: Lender) -> None:
    loan_id = lender.request().data.loan_id
    assert lender.repay(loan_id) == Refusal(
        104, "The loan is pending_approval and cannot be repaid", error_code="loan_state"
    )
    assert lender.repay("LN0") == UNKNOWN_LOAN


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"payment_method": "barter"}, {"payment_method"}),
        ({"payment_method": None}, {"payment_method"}),
        ({"amount": "-1"}, {"amount"}),
        ({"dry_run": "yes", "amount": "0"}, {"dry_run", "amount"}),
    ],
)
def test_a_wrong_field_is_named(lender: Lender, fields: dict[str, Any], named: set[str]) -> None:
    refusal = lender.ask("repay", {"loan_id": "LN0", "payment_method": "wallet"} | fields)
    assert {fault.field for fault in refusal.field_errors} == named


# --- a dry run ----------------------------------------------------------------------------------------------------


def test_a_dry_run_of_a_repayment_tells_what_the_real_one_does_and_changes_nothing() -> None:
    lender = Lender(penalty_rate="0.1")
    loan_id = lender.lend(tax_applied=True, tax_rate=10)
    lender.pass_days(38)
    before = lender.database.contents()
    dry = lender.repay(loan_id, dry_run=True)
    assert lender.database.contents() == before
    explained = {figure.what: (figure.amount, figure.how) for figure in dry.explained}
    assert explained == {
        "amount": ("327.62", "all that is due up to today"),
        "due": ("327.62", "owed of installments due up to 2026-03-10"),
        "payoff": ("1139.99", "penalty 2.15, interest 125.31, tax 12.53, principal 1000.00"),
        "installment 1": ("327.62", "penalty 2.15, interest 100.00, tax 10.00, principal 215.47"),
        "next installment 2": ("323.32", "what is left of it, due on 2026-03-31"),
    }
    assert (dry.dry_run, dry.txn_ref, dry.txn_status) == (True, msgspec.UNSET, msgspec.UNSET)
    real = lender.repay(loan_id)
    assert (real.charged_amount, real.allocation, real.data) == (dry.charged_amount, dry.allocation, dry.data)


def test_a_dry_run_of_a_payoff_names_what_is_forgiven(lender: Lender) -> None:
    loan_id = lender.lend()
    figures = {figure.what: figure for figure in lender.repay(loan_id, "1000.00", dry_run=True).explained}
    assert figures["amount"].how == "as asked"
    assert (figures["forgiven"].amount, figures["forgiven"].how) == (
        "261.88",
        "agreed and no longer due: interest 261.88",
    )
    assert lender.loan(loan_id).state == "active"


def test_a_dry_run_is_refused_as_the_repayment_would_be(lender: Lender) -> None:
    loan_id = lender.lend()
    assert refused_amount(lender.repay(loan_id, "1000.01", dry_run=True))


# --- payments made for a loan -------------------------------------------------------------------------------------


def payment(lender: Lender, amount: int, status: str = SUCCESSFUL, txn_ref: str = "GP1") -> Transaction:
    request = msgspec.convert({"loan_id": "LN1", "payment_method": "wallet"}, RepayRequest)
    return msgspec.structs.replace(new_repayment(amount, context_at(lender), request), status=status, txn_ref=txn_ref)


def collect(
    lender: Lender, loan_id: str, amount: int, status: str = SUCCESSFUL, txn_ref: str = "GP1"
) -> TransactionEffects:
    """Returns the effects on the loan of a payment that ended, applied in one posting group."""
    row = payment(lender, amount, status, txn_ref)
    kept: list[TransactionEffects] = []

    def rule(context: Any, rows: LoadedRows) -> Decision | NeedsMore:
        added = effects_of_purpose(row, TransactionPurpose(REPAYMENT_PURPOSE, loan_id), context, rows)
        if isinstance(added, NeedsMore):
            return added
        kept[:] = [added]
        groups = (PostingGroup(row.txn_ref, MORE_THAN_OWED, postings=added.posts),) if added.posts else ()
        return Decision(groups=groups, rows=added.rows, notices=added.notices)

    assert isinstance(lender.submit(Needs(), rule), Decision)
    return kept[0]


def test_a_successful_payment_credits_the_loan_with_its_whole_amount(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(29)
    assert lender.loan(loan_id).state == "active_in_arrears"
    added = collect(lender, loan_id, 31_547)
    assert lender.loan(loan_id).state == "active"
    assert lender.owed(loan_id)["principal"] == 100_000 - 21_547
    assert added.notices == ()
    assert sum(post.amount for post in added.posts) == 31_547


def test_a_payment_that_is_exactly_the_payoff_closes_the_loan(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(14)
    collect(lender, loan_id, 105_000)
    assert lender.loan(loan_id).state == "closed_repaid"
    assert lender.client().open_accounts == 0


def test_a_payment_that_is_pending_adds_nothing(lender: Lender) -> None:
    loan_id = lender.lend()
    assert collect(lender, loan_id, 31_547, PENDING) == TransactionEffects()


def test_a_payment_that_failed_is_not_pending_any_more_and_adds_nothing_else(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.client().pending_payments = 1
    added = collect(lender, loan_id, 31_547, FAILED)
    assert added == TransactionEffects(rows=(lender.client(),))
    assert lender.client().pending_payments == 0


def test_an_overpayment_stays_the_clients_and_an_operator_is_notified(lender: Lender) -> None:
    loan_id = lender.lend()
    added = collect(lender, loan_id, 100_500)
    assert lender.loan(loan_id).state == "closed_repaid"
    assert lender.balance(loan_account("credit", loan_id)) == 500
    (notice,) = added.notices
    assert notice.message == f"5.00 was paid beyond what was owed on loan {loan_id}: refund it to the client"
    collect(lender, loan_id, 200)
    assert lender.balance(loan_account("credit", loan_id)) == 700
    assert lender.lending("overpaid") == -700


def test_a_payments_end_asks_for_the_loan_then_for_its_installments(lender: Lender) -> None:
    loan_id = lender.lend()
    row, context = payment(lender, 100), context_at(lender)
    first = effects_of_purpose(row, TransactionPurpose(REPAYMENT_PURPOSE, loan_id), context, LoadedRows({}))
    assert isinstance(first, NeedsMore)
    keys = [key for _, key in first.needs.rows]
    assert keys == [
        lender.loan(loan_id).key,
        lender.waiting()[0].key,
        *(key for _, key in need_auto_repayment(lender.merchant_id, loan_id).rows),
    ]
    second = end_repayment(row, loan_id, context, seen_by(lender, *keys))
    assert isinstance(second, NeedsMore)
    assert {key for _, key in second.needs.rows} == {
        lender.client().key,
        *(line.key for line in lender.lines(loan_id)),
    }


# --- any run ------------------------------------------------------------------------------------------------------

terms = st.fixed_dictionaries(
    {
        "amount": st.integers(100, 10**9).map(lambda minor: f"{minor // 100}.{minor % 100:02d}"),
        "interestSettings": st.fixed_dictionaries(
            {
                "interestRate": st.sampled_from(["0", "0.5", "3", "24", "99.999999"]),
                "interestFrequency": st.sampled_from(
                    ["annualized", "every_month", "every_four_weeks", "every_week", "every_day"]
                ),
            }
        ),
        "period": st.integers(1, 6),
        "method": st.sampled_from(["declining_equal_instalments", "equal_principal", "flat"]),
        "tax_applied": st.booleans(),
        "tax_rate": st.sampled_from(["0", "7.5", "33.33"]),
    }
)
steps = st.lists(st.tuples(st.integers(0, 45), st.integers(0, 120)), max_size=8)


@without_deadline(60)
@given(terms, steps, st.sampled_from(["0", "0.1", "2.345678"]), st.integers(0, 5))
def test_over_any_run_the_books_say_what_the_schedule_says_and_the_end_is_zero(
    fields: dict[str, Any], run: list[tuple[int, int]], penalty_rate: str, tolerance: int
) -> None:
    """Each step lets days pass and repays a part (in hundredths of the payoff) of the loan; `Lender` checks the books
    after each. Then the payoff closes it, and all that was ever paid is principal or earned."""
    lender = Lender(penalty_rate=penalty_rate, tolerance_days=tolerance)
    loan_id, paid = lender.lend(**fields), 0
    for days, hundredths in run:
        lender.pass_days(days)
        payoff = kobo(lender.repay(loan_id, dry_run=True).explained[2].amount)
        amount = max(1, payoff * hundredths // 100)
        outcome = lender.repay(loan_id, text(amount))
        if amount > payoff:
            assert refused_amount(outcome) == f"at most {text(payoff)}, which closes the loan today"
            continue
        paid += amount
        if outcome.data.state == "closed_repaid":
            assert outcome.data.outstanding.total == "0.00"
            break
        assert kobo(outcome.data.outstanding.payoff) <= kobo(outcome.data.outstanding.total)
    else:
        payoff = kobo(lender.repay(loan_id, dry_run=True).explained[2].amount)
        assert lender.repay(loan_id, text(payoff)).data.state == "closed_repaid"
        paid += payoff
    assert lender.owed(loan_id) == dict.fromkeys(("principal", "interest", "tax", "penalty"), 0)
    assert lender.lending("principal") == 0
    earned = sum(lender.lending(f"{part}_earned") for part in ("interest", "tax", "penalty"))
    assert paid == lender.loan(loan_id).amount + earned
    assert earned == -sum(lender.lending(f"{part}_agreed") for part in ("interest", "tax", "penalty"))
    assert lender.client().open_accounts == 0


def kobo(text: str) -> int:
    return int(text.replace(".", ""))


def text(minor: int) -> str:
    return f"{minor // 100}.{minor % 100:02d}"


@without_deadline(30)
@given(terms, st.lists(st.integers(0, 40), min_size=2, max_size=6))
def test_the_payoff_of_a_loan_nobody_pays_never_falls(fields: dict[str, Any], waits: list[int]) -> None:
    lender = Lender(penalty_rate="0.1")
    loan_id, figures = lender.lend(**fields), []
    for days in waits:
        lender.now += timedelta(days=days)
        figures.append(kobo(lender.repay(loan_id, dry_run=True).explained[2].amount))
    assert figures == sorted(figures)
