"""A lending merchant in memory, for tests without a database: its books, a client, a scripted bank and a clock.

Requests are decoded, decided and applied to the state of a batch as in the service. Only the writer and the database
are missing. `check_books` compares the ledger with the schedules.
"""

from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any

import msgspec

from kasuwa.api.dispatch import bind_answer
from kasuwa.core.action import Step, Write
from kasuwa.core.calendar import lagos_day
from kasuwa.core.callers import Caller
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Needs, PostingGroup, Refusal, refuse_fields
from kasuwa.core.references import Permutation, account_key
from kasuwa.engine.batch import Deployment, RuleFailure, Submission
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.ledger.posting_kinds import LOAN_PARTS
from kasuwa.methods.clients.model import ACTIVE, Client, client_key, detail_aad
from kasuwa.methods.disburse.actions import DISBURSE
from kasuwa.methods.disburse.model import WALLET
from kasuwa.methods.loan_products.actions import LOANS as PRODUCTS
from kasuwa.methods.loans.actions import LOANS
from kasuwa.methods.loans.model import (
    ACTIVE as ACTIVE_LOAN,
)
from kasuwa.methods.loans.model import (
    WRITTEN_OFF,
    Loan,
    LoanAct,
    LoanInstallment,
    act_key,
    installment_key,
    loan_account,
    loan_key,
)
from kasuwa.methods.loans.rules.history import GivenAct, replay
from kasuwa.methods.loans.rules.loan_position import LoanPosition
from kasuwa.methods.loans.rules.write_off import decide_operator_write_off, need_operator_write_off
from kasuwa.methods.tables import PURPOSES
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import NO_CALL_MADE, Answer
from kasuwa.terms.loan_schedule import LendingSettings
from kasuwa.terms.payouts import NO_POLICY, PayoutPolicy
from kasuwa.transactions.purpose import Purposes
from kasuwa.wire.decoding import decode
from tests.engine.memory_database import MemoryDatabase
from tests.rule_context import VAULT, merchant

START = datetime(2026, 1, 31, 9, 0, tzinfo=UTC)
OPENING = 10**13

GOOD = Answer(orders.SUCCESSFUL, "00", "Approved or completed successfully")
BAD = Answer(orders.FAILED, "05", "Do not honour")
SLOW = Answer(orders.UNKNOWN, "09", "Request processing in progress")

TERMS: dict[str, Any] = {
    "client_id": "CL1",
    "interestSettings": {"interestRate": "10", "interestFrequency": "every_month"},
    "amount": "1000.00",
    "period": 4,
}
BANK = {"account_number": "0040000008", "bank_code": "058"}

WRITES = {action.title or action.name: action for action in (*LOANS.actions, *PRODUCTS) if isinstance(action, Write)}
STEPS: dict[str, Step] = {step.kind: step for method in (DISBURSE, LOANS) for step in method.steps}


@cache
def world() -> Deployment:
    return Deployment(VAULT, Permutation(bytes(32)), None, terms={Purposes: PURPOSES})


class Lender:
    def __init__(
        self, start: datetime = START, opening: int = OPENING, policy: PayoutPolicy = NO_POLICY, **lending: Any
    ) -> None:
        self.merchant = merchant(lending=LendingSettings(**lending), payouts=policy)
        self.merchant_id = self.merchant.merchant_id
        self.database = MemoryDatabase([self.merchant_id])
        self.now = start
        self.entropy = 0
        self.ended: set[Caller] = set()  # keys and people that were revoked or disabled
        self.loans_of_before: set[str] = set()  # loans with repayments that are no acts, as older versions made them
        self.add_client("CL1")
        if opening:
            self.fund(opening)

    # --- the world ------------------------------------------------------------------------------------------------

    def add_client(self, client_id: str, status: str = ACTIVE, bank: Any = BANK) -> None:
        details = {"firstname": "Ada", "lastname": "Obi"} | ({"bankAccount": bank} if bank else {})
        key = client_key(self.merchant_id, client_id)
        sealed = VAULT.seal(self.merchant_id, detail_aad(client_id), msgspec.json.encode(details), bytes(12))
        self.database.rows[key] = Client(
            key,
            self.merchant_id,
            client_id,
            1,
            status,
            False,
            0,
            None,
            None,
            None,
            START,
            START,
            None,
            detail_sealed=sealed,
        )

    def fund(self, amount: int) -> None:
        post = chart.make_funding_posting("NGN", amount)
        group = PostingGroup("funding", Refusal(301, "no"), postings=(post,))
        self.submit(Needs((), (post.debit, post.credit)), lambda context, seen: Decision(groups=(group,)))

    def submit(self, needs: Needs, rule: Any) -> Decision | Refusal:
        self.database.book(self.merchant_id).clock_fixed_at = self.now
        self.entropy += 1
        submission = Submission(self.merchant, needs, rule, self.entropy.to_bytes(32, "big"))
        (result,) = self.database.run([submission], self.now, world())
        if isinstance(result, RuleFailure):
            raise result.error
        assert isinstance(result, Decision | Refusal)
        self.check_books()
        return result

    # --- what a merchant does ---------------------------------------------------------------------------------------

    def ask(self, name: str, fields: dict[str, Any], bank: Answer = GOOD) -> Any:
        """Returns the reply or refusal of a request. `bank` answers the transfer that it starts."""
        row = WRITES[name]
        given = {field: value for field, value in fields.items() if value is not None}
        request = decode(row.request, msgspec.json.encode(given), row.rules, self.merchant)
        if isinstance(request, tuple):
            return refuse_fields(*request)
        decision = self.submit(row.needs(request, self.merchant), partial(row.decide, request))
        if isinstance(decision, Decision) and decision.question is not None:
            assert row.decide_with_ended is not None
            answered = bind_answer(row.decide_with_ended, request, frozenset(decision.question) & self.ended)
            decision = self.submit(row.needs(request, self.merchant), answered)
        if isinstance(decision, Decision) and decision.follow_up is not None:
            decision = self.receive_answer(decision.follow_up, bank)
        return decision if isinstance(decision, Refusal) else decision.reply

    def request(self, **changes: Any) -> Any:
        return self.ask("request", TERMS | changes)

    def process(self, loan_id: str, status: str = "approve", bank: Answer = GOOD) -> Any:
        return self.ask("process", {"loan_id": loan_id, "status": status}, bank)

    def repay(self, loan_id: str, amount: str | None = None, **more: Any) -> Any:
        return self.ask("repay", {"loan_id": loan_id, "payment_method": "wallet", "amount": amount, **more})

    def reverse(self, txn_ref: str, **more: Any) -> Any:
        return self.ask("reverse", {"txnRef": txn_ref, "reason": "bounced", **more})

    def charge(self, loan_id: str, amount: str, **more: Any) -> Any:
        return self.ask("charge", {"loan_id": loan_id, "name": "Returned check", "amount": amount, **more})

    def reschedule(self, loan_id: str, since: str = "", **what: Any) -> Any:
        fields = {"loan_id": loan_id, "from": since or self.today, "reason": "The harvest failed", **what}
        return self.ask("reschedule", fields)

    def top_up(self, loan_id: str, amount: str = "2000.00", bank: Answer = GOOD, **more: Any) -> Any:
        return self.ask("top_up", {"loan_id": loan_id, "amount": amount, **more}, bank)

    def waive(self, loan_id: str, **what: Any) -> Any:
        return self.ask("waive", {"loan_id": loan_id, **what})

    def write_off(self, loan_id: str) -> Any:
        """Writes a loan off, as an operator does it."""
        decision = self.submit(
            need_operator_write_off(loan_id, self.merchant), partial(decide_operator_write_off, loan_id)
        )
        return decision if isinstance(decision, Refusal) else decision.reply

    def write_off_parts(self, loan_id: str, *parts: str, caller: Caller | None = None, **more: Any) -> Any:
        """Writes a loan off, or what is due of parts of it, as the merchant does it."""
        self.merchant = msgspec.structs.replace(self.merchant, caller=caller or self.merchant.caller)
        return self.ask("write_off", {"loan_id": loan_id, "parts": list(parts) or None, "reason": "gone", **more})

    def decide_write_off(self, loan_id: str, status: str = "approve", caller: Caller | None = None, **more: Any) -> Any:
        self.merchant = msgspec.structs.replace(self.merchant, caller=caller or self.merchant.caller)
        return self.ask("decide_write_off", {"loan_id": loan_id, "status": status, **more})

    def lend(self, **changes: Any) -> str:
        """Returns the id of a loan that is paid out today."""
        loan_id = self.request(**changes).data.loan_id
        assert self.process(loan_id).data.state == "active"
        return str(loan_id)

    def receive_answer(self, job: Job, answer: Answer) -> Decision | Refusal:
        step = STEPS[job.kind]
        return self.submit(step.needs(job, answer, self.merchant), partial(step.decide, job, answer))

    def waiting(self, kind: str = "loans.watch") -> list[Job]:
        jobs = [job for job in self.database.all(Job, self.merchant_id) if job.kind == kind]
        return sorted(jobs, key=lambda job: job.due)

    def pass_days(self, days: int) -> None:
        """Advances business time and runs the jobs that fall due, in order."""
        until = self.now + timedelta(days=days)
        while (job := next(iter(self.waiting()), None)) is not None and job.due <= until:
            self.now = max(self.now, job.due)
            self.receive_answer(job, NO_CALL_MADE)
        self.now = until

    # --- what can be seen -------------------------------------------------------------------------------------------

    def loan(self, loan_id: str) -> Loan:
        row = self.database.rows[loan_key(self.merchant_id, loan_id)]
        assert isinstance(row, Loan)
        return row

    def lines(self, loan_id: str) -> list[LoanInstallment]:
        keys = [installment_key(self.merchant_id, loan_id, n) for n in range(1, self.loan(loan_id).installments + 1)]
        return [row for row in (self.database.rows.get(key) for key in keys) if isinstance(row, LoanInstallment)]

    def client(self, client_id: str = "CL1") -> Client:
        row = self.database.rows[client_key(self.merchant_id, client_id)]
        assert isinstance(row, Client)
        return row

    def set_status(self, client_id: str, status: str) -> None:
        client = self.client(client_id)
        self.database.rows[client.key] = msgspec.structs.replace(client, status=status)

    def balance(self, name: str) -> int:
        row = self.database.rows.get(account_key(self.merchant_id, name))
        return row.posted if isinstance(row, Account) else 0

    def owed(self, loan_id: str) -> dict[str, int]:
        """Returns the balances of a loan's parts, those of charges only if they are not zero."""
        owed = {part: self.balance(loan_account(part, loan_id)) for part in LOAN_PARTS}
        return {part: amount for part, amount in owed.items() if amount or part not in ("charge", "vat")}

    def lending(self, what: str) -> int:
        return self.balance(chart.lending(what, "NGN"))

    def wallet(self) -> int:
        return self.balance(WALLET)

    @property
    def today(self) -> str:
        return lagos_day(self.now).isoformat()

    def check_books(self) -> None:
        """Checks the invariants of audit/invariants/ledger.py that need no SQL."""
        assert sum(row.posted for row in self.database.all(Account, self.merchant_id)) == 0
        for loan in self.database.all(Loan, self.merchant_id):
            lines = self.lines(loan.loan_id)
            given_up = loan.state == WRITTEN_OFF
            for part in LOAN_PARTS:
                owed = 0 if given_up else sum(getattr(line.owed, part) for line in lines)
                assert self.balance(loan_account(part, loan.loan_id)) == owed, (loan.loan_id, part)
            for line in lines:
                assert line.charge == sum(one.asked for one in line.its_charges)
                assert line.vat == sum(one.asked_vat for one in line.its_charges)
                pending = line.pending + line.pending_tax
                assert all(getattr(line.owed, part) >= (-pending if part == "principal" else 0) for part in LOAN_PARTS)
            if loan.disbursed_at is not None:
                capital = sum(line.capitalized.total + line.pending + line.pending_tax for line in lines)
                assert sum(line.principal for line in lines) == loan.amount + capital
                assert sum(line.grown - line.deferred for line in lines) == 0
                if loan.loan_id not in self.loans_of_before:
                    self.check_history(loan, lines)
        for client in self.database.all(Client, self.merchant_id):
            loans = [one for one in self.database.all(Loan, self.merchant_id) if one.client_id == client.client_id]
            assert client.open_accounts == sum(not one.state.startswith("closed_") for one in loans)

    def check_history(self, loan: Loan, lines: list[LoanInstallment]) -> None:
        """Checks that the acts of a loan give its installments. `aged_to` is the day of the stored ones."""
        acts = [self.act(loan.loan_id, n) for n in range(1, loan.acts + 1)]
        assert loan.aged_to is not None
        assert [act for act in acts if act.applied and not act.reference] == []
        history = replay(
            loan, tuple(GivenAct(act, act.applied) for act in acts), LoanPosition(loan, tuple(lines), loan.aged_to)
        )
        assert history.position.lines == tuple(lines)
        assert (history.position.loan.state == ACTIVE_LOAN) == (loan.state == ACTIVE_LOAN)

    def act(self, loan_id: str, n: int) -> LoanAct:
        row = self.database.rows[act_key(self.merchant_id, loan_id, n)]
        assert isinstance(row, LoanAct)
        return row

    def balances(self) -> dict[str, int]:
        """Returns what every account of the loans has that is not empty."""
        accounts = self.database.all(Account, self.merchant_id)
        return {row.name: row.posted for row in accounts if row.posted and row.name.startswith(("loan_", "lending:"))}


def context_at(lender: Lender) -> Context:
    """Returns a context for rules that are called directly."""
    return Context(
        merchant=lender.merchant,
        now=lender.now,
        entropy=bytes(32),
        number=1,
        permutation=lambda n: n,
        digest=lambda value: value,
        vault=VAULT,
        deployment_terms={Purposes: PURPOSES},
    )


def seen_by(lender: Lender, *keys: bytes) -> LoadedRows:
    return LoadedRows({key: lender.database.rows.get(key) for key in keys})
