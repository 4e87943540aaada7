"""Any sequence of all acts of a loan, reversals among them: the books, the last act reversed, and every earlier day.

`Lender` checks after every act that the ledger and the installments say the same, and that the acts give them.
"""

from datetime import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Refusal
from kasuwa.ledger.posting_kinds import LOAN_PARTS
from kasuwa.methods.loans.model import loan_account
from tests.hypothesis_settings import without_deadline
from tests.methods.loans.in_memory_lender import Lender
from tests.methods.loans.test_charges import agreed, take_step
from tests.methods.loans.test_grace import graces, with_room
from tests.methods.loans.test_repay import terms
from tests.methods.loans.test_reschedule import plans, take
from tests.methods.loans.test_reverse import facts, penalties

# What is done, after how many days, and its size: the percent of a repayment, or which one is reversed.
acts = st.lists(
    st.tuples(
        st.sampled_from(["repay", "repay", "reverse", "charge", "waive", "part", "reschedule", "give_up"]),
        st.integers(0, 40),
        st.integers(1, 100),
        plans,
        st.integers(0, 60),
        st.booleans(),
    ),
    min_size=1,
    max_size=9,
)
kinds_of_grace: st.SearchStrategy[dict[str, Any]] = st.one_of(st.just({}), graces)
tolerances = st.integers(0, 5)
Acts = list[tuple[str, int, int, dict[str, Any], int, bool]]


class Played:
    """A loan of any terms, on which acts are done. What is refused is left out."""

    def __init__(
        self, fields: dict[str, Any], grace: dict[str, Any], charges: list[dict[str, Any]], penalty: str, days: int
    ) -> None:
        self.lender = Lender(
            penalty_rate=penalty, tolerance_days=days, provision_rates=("1", "5", "25", "50", "75", "100")
        )
        small = fields["amount"] <= "9"  # charges may be more than such a loan
        self.loan_id = self.lender.lend(**with_room(fields, grace), **({} if small else {"charges": charges}))
        self.repaid: list[str] = []

    def play(self, run: Acts) -> None:
        for what, days, size, plan, wait, moves in run:
            self.lender.pass_days(days)
            if what == "give_up":
                self.lender.write_off(self.loan_id)
            elif what != "reverse":
                txn_ref = take(self.lender, self.loan_id, what, size, plan, wait, moves)
                self.repaid += [txn_ref] if txn_ref else []
            elif self.repaid:
                self.lender.reverse(self.repaid[size % len(self.repaid)])

    def repay(self, percent: int) -> str:
        """Returns the txnRef of a repayment, or "" if nothing can be repaid."""
        return take_step(self.lender, self.loan_id, "repay", percent)

    def owed(self) -> dict[str, int]:
        return {part: self.lender.balance(loan_account(part, self.loan_id)) for part in LOAN_PARTS}


@without_deadline(20)
@given(terms, kinds_of_grace, agreed, penalties, tolerances, acts)
def test_any_acts_end_at_zero_and_without_repayments_nothing_was_paid(
    fields: dict[str, Any], grace: dict[str, Any], charges: list[Any], penalty: str, days: int, run: Acts
) -> None:
    played = Played(fields, grace, charges, penalty, days)
    lender, loan_id = played.lender, played.loan_id
    deducted = sum(line.paid for line in lender.lines(loan_id))
    played.play(run)
    played.repaid.append(played.repay(100))
    assert sum(played.owed().values()) == 0
    assert lender.loan(loan_id).state.startswith("closed_")
    for txn_ref in filter(None, played.repaid):
        lender.reverse(txn_ref)
    assert sum(line.paid + line.paid_penalty for line in lender.lines(loan_id)) == deducted
    assert lender.client().credit == 0


@without_deadline(20)
@given(terms, kinds_of_grace, agreed, penalties, tolerances, acts, st.integers(1, 100))
def test_the_reverse_of_the_last_act_is_the_state_before_it(
    fields: dict[str, Any],
    grace: dict[str, Any],
    charges: list[Any],
    penalty: str,
    days: int,
    run: Acts,
    percent: int,
) -> None:
    """The next day a loan with a repayment that was reversed at once is that of a twin without it, with its books."""
    one, twin = (Played(fields, grace, charges, penalty, days) for _ in range(2))
    for played in (one, twin):
        played.play(run)
    if not (txn_ref := one.repay(percent)):
        return
    assert one.lender.reverse(txn_ref).status == 200
    for played in (one, twin):
        played.lender.pass_days(1)
    assert facts(one.lender, one.loan_id) == facts(twin.lender, twin.loan_id)


@without_deadline(15)
@given(terms, kinds_of_grace, agreed, penalties, tolerances, acts, st.integers(1, 10_000))
def test_a_charge_that_is_waived_at_once_leaves_what_is_owed(
    fields: dict[str, Any], grace: dict[str, Any], charges: list[Any], penalty: str, days: int, run: Acts, size: int
) -> None:
    played = Played(fields, grace, charges, penalty, days)
    lender, loan_id = played.lender, played.loan_id
    played.play(run)
    before = lender.repay(loan_id, dry_run=True)
    charged = lender.charge(loan_id, f"{size}.00")
    if isinstance(charged, Refusal) or isinstance(before, Refusal):
        return
    waived = lender.waive(loan_id, charge_id=f"A{lender.loan(loan_id).acts}")
    assert waived.data.outstanding.payoff == before.explained[2].amount
    assert lender.repay(loan_id, dry_run=True).explained == before.explained


@without_deadline(20)
@given(terms, kinds_of_grace, agreed, penalties, tolerances, acts)
def test_the_journal_gives_what_was_owed_on_every_earlier_day(
    fields: dict[str, Any], grace: dict[str, Any], charges: list[Any], penalty: str, days: int, run: Acts
) -> None:
    """Each moment's sums of the postings are what the installments asked for then, whatever was reversed since."""
    played = Played(fields, grace, charges, penalty, days)
    lender, owed_then = played.lender, {}
    for step in run:
        played.play([step])
        owed_then[lender.now] = played.owed()
    assert {moment: owed_by_journal(played, moment) for moment in owed_then} == owed_then


def owed_by_journal(played: Played, until: datetime) -> dict[str, int]:
    owed = {}
    for part in LOAN_PARTS:
        own = loan_account(part, played.loan_id)
        moved = [one for one in played.lender.database.postings if one.at <= until]
        owed[part] = sum(one.amount * ((one.credit == own) - (one.debit == own)) for one in moved)
    return owed
