"""A merchant's savings in memory, for tests without a database. Requests are decoded and decided as over HTTP, and jobs
run as business time reaches them, so a year of savings takes milliseconds.
"""

import itertools
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import msgspec

from kasuwa.api.routes import Envelope, make_routes
from kasuwa.concurrency.time_slices import run_to_completion
from kasuwa.core.action import ApiMethod, Step, Write
from kasuwa.core.calendar import LAGOS, lagos_moment
from kasuwa.core.callers import Caller
from kasuwa.core.decision import (
    Context,
    Decision,
    Job,
    LoadedRows,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.references import Permutation, account_key, merchant_state_key
from kasuwa.engine.batch import BatchState, Deployment, RuleFailure, Submission
from kasuwa.engine.merchant_state import MerchantState
from kasuwa.ledger import chart
from kasuwa.methods.cashcode.actions import CASHCODE, SANDBOX
from kasuwa.methods.clients.model import ACTIVE, Client, client_key, detail_aad
from kasuwa.methods.disburse.actions import DISBURSE
from kasuwa.methods.investments.model import WALLET, Savings, make_savings_record, savings_key
from kasuwa.methods.investments.rules.purposes import CASHOUT_PURPOSE_RULES, DEPOSIT_PURPOSE_RULES
from kasuwa.methods.investments.rules.thrift_plan import list_members, subscription_record
from kasuwa.methods.investments.thrift_model import ThriftPlan, thrift_plan_key
from kasuwa.methods.tables import ALL_INVESTMENTS
from kasuwa.rails.ports.orders import NO_CALL_MADE, Answer
from kasuwa.transactions.purpose import Purposes
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction
from kasuwa.wire.decoding import decode
from tests.rule_context import MERCHANT, VAULT

PERMUTATION = Permutation(b"books of the tests")
PURPOSES = Purposes({purpose.name: purpose for purpose in (CASHOUT_PURPOSE_RULES, DEPOSIT_PURPOSE_RULES)})
TABLE = make_routes((ALL_INVESTMENTS, CASHCODE, ApiMethod("sandbox", ("action",), SANDBOX)))
STEPS: dict[str, Step] = {step.kind: step for step in (*ALL_INVESTMENTS.steps, *DISBURSE.steps, *CASHCODE.steps)}

APPROVED = Answer(SUCCESSFUL, "00", "Approved or completed successfully")
NEVER_SHORT = Refusal(301, "the outside does not run short")
MERCHANT_ID = MERCHANT.merchant_id
MOST_ROUNDS = 4


def at(day: str, hour: int = 9) -> datetime:
    return datetime.fromisoformat(f"{day}T{hour:02d}:00:00").replace(tzinfo=LAGOS).astimezone(UTC)


class InMemorySavings:
    def __init__(self, day: str = "2026-01-05", wallet: int = 1_000_000_000) -> None:
        self.state = BatchState(Deployment(VAULT, PERMUTATION, None, terms={Purposes: PURPOSES}), at(day))
        self.book = MerchantState(merchant_state_key(MERCHANT_ID), MERCHANT_ID, 0, 0, 0, 0, 0, at(day), None)
        self.state.add_merchant_state(self.book)
        self.entropy = itertools.count(1)
        self.ran: list[str] = []
        self.merchant = MERCHANT
        self.ended: frozenset[Caller] = frozenset()  # who may not send any more
        if wallet:
            self.fund(wallet)

    # --- asking ---------------------------------------------------------------------------------------------

    def submit(self, needs: Needs, rule: Callable[[Context, LoadedRows], Any]) -> Any:
        """Decides and applies a submission as the writer does. Rows that are not in memory do not exist."""
        submission = Submission(self.merchant, needs, rule, next(self.entropy).to_bytes(32, "big"))
        for _ in range(MOST_ROUNDS + 1):
            self.state.request_rows(submission, needs)
            for _, key in needs.rows:
                self.state.rows.setdefault(key, None)
            for name in needs.accounts:
                self.state.rows.setdefault(account_key(MERCHANT_ID, name), None)
            self.state.open_missing_accounts(MERCHANT_ID, needs.accounts)
            result = run_to_completion(self.state.decide(submission))
            if not isinstance(result, NeedsMore):
                break
            needs = result.needs
        if isinstance(result, RuleFailure):
            raise result.error
        assert not isinstance(result, NeedsMore), "a rule asks for ever more"
        return result

    def ask(self, action: str, answer: Answer = APPROVED, path: str = "investments", **fields: Any) -> Any:
        """Returns the reply or refusal of a request. `answer` is the bank's answer to the transfer that it starts."""
        result = self.decide(action, path, **fields)
        if isinstance(result, Decision) and result.follow_up is not None:
            result = self.step(result.follow_up, answer)
        return result.reply if isinstance(result, Decision) else result

    def decide(self, action: str, path: str = "investments", **fields: Any) -> Any:
        row = TABLE[f"/{path}"].select_action(Envelope(action=action, method=fields.get("method")))
        assert isinstance(row, Write), action
        request = decode(row.request, msgspec.json.encode(fields), row.rules, MERCHANT)
        if isinstance(request, tuple):
            return refuse_fields(*request)
        needs = row.needs(request, self.merchant)
        result = self.submit(needs, partial(row.decide, request))
        if row.decide_with_ended is None or not isinstance(result, Decision) or result.question is None:
            return result
        decide = partial(row.decide_with_ended, request)
        return self.submit(needs, lambda context, rows: decide(context, rows, self.ended))

    def step(self, job: Job, answer: Answer = NO_CALL_MADE) -> Any:
        step = STEPS[job.kind]
        return self.submit(step.needs(job, answer, MERCHANT), partial(step.decide, job, answer))

    # --- time -----------------------------------------------------------------------------------------------

    def jobs(self, kind: str = "") -> list[Job]:
        found = [row for row in self.state.rows.values() if isinstance(row, Job) and row.kind.startswith(kind)]
        return sorted(found, key=lambda job: (job.due, job.key))

    def advance_to(self, day: str, hour: int = 9) -> None:
        """Advances business time and runs the jobs that fall due."""
        until = at(day, hour)
        while due := [job for job in self.jobs() if job.due <= until]:
            job = msgspec.structs.replace(due[0])
            self.book.clock_fixed_at = max(self.now, job.due)
            result = self.step(job)
            assert isinstance(result, Decision), result
            assert (job.key, job.due) not in [(one.key, one.due) for one in self.jobs()], "a job that stays due"
            self.ran.append(job.kind)
        self.book.clock_fixed_at = max(self.now, until)

    @property
    def now(self) -> datetime:
        assert self.book.clock_fixed_at is not None
        return self.book.clock_fixed_at

    @property
    def today(self) -> date:
        return self.now.astimezone(LAGOS).date()

    # --- looking --------------------------------------------------------------------------------------------

    def row(self, kind: type[Row], key: bytes) -> Any:
        return self.state.rows.get(key)

    def savings(self, savings_id: str) -> Savings:
        found = self.state.rows[savings_key(MERCHANT_ID, savings_id)]
        assert isinstance(found, Savings)
        return found

    def plan(self, thrift_id: str) -> ThriftPlan:
        found = self.state.rows[thrift_plan_key(MERCHANT_ID, thrift_id)]
        assert isinstance(found, ThriftPlan)
        return found

    def members(self, thrift_id: str) -> list[Any]:
        plan = self.plan(thrift_id)
        return [
            subscription_record(plan, member, self.today) for member in list_members(plan, LoadedRows(self.state.rows))
        ]

    def record(self, savings_id: str) -> Any:
        account = self.account(chart.savings(savings_id))
        return make_savings_record(self.savings(savings_id), account.posted, account.held, [], self.today)

    def account(self, name: str) -> chart.Account:
        accounts = self.state.accounts.get(MERCHANT_ID, {})
        return accounts[name] if name in accounts else chart.open_account(MERCHANT_ID, name)

    def balance(self, savings_id: str) -> int:
        return self.account(chart.savings(savings_id)).posted

    @property
    def wallet(self) -> int:
        return self.account(WALLET).posted

    def posted(self, kind: str = "") -> list[tuple[str, str, int]]:
        """Returns every posting as it was recorded."""
        return [(p.debit, p.credit, p.amount) for p in self.state.postings if p.kind.startswith(kind)]

    def transactions(self) -> list[Transaction]:
        return [row for row in self.state.rows.values() if isinstance(row, Transaction)]

    def check(self) -> None:
        """Checks that the books balance, no account is below its floor, every pot is empty, and no posting left savings
        below zero: their statements show each of them."""
        accounts = self.state.accounts.get(MERCHANT_ID, {}).values()
        assert sum(account.posted for account in accounts) == 0
        for account in accounts:
            assert account.floor is None or account.available >= account.floor, account.name
            assert account.posted == 0 or not account.name.startswith("thrift:"), account.name
        for posting in self.state.postings:
            assert posting.debit_after >= 0 or not posting.debit.startswith("savings:"), posting

    # --- what most tests begin with ---------------------------------------------------------------------------

    def fund(self, amount: int) -> None:
        post = chart.make_funding_posting("NGN", amount)
        group = PostingGroup("funding", NEVER_SHORT, postings=(post,))
        self.submit(Needs((), (post.debit, post.credit)), lambda context, seen: Decision(groups=(group,)))

    def spend(self, amount: int) -> None:
        post = Posting(WALLET, "outside:funding:NGN", amount, "manual posting")
        group = PostingGroup("spending", NEVER_SHORT, postings=(post,))
        self.submit(Needs((), (post.debit, post.credit)), lambda context, seen: Decision(groups=(group,)))

    def client(self, name: str = "CL1", status: str = ACTIVE, **detail: Any) -> str:
        bank = {"bankAccount": {"bank_code": "058", "account_number": "0000000000"}}
        details = msgspec.json.encode({"firstname": "Ada", "lastname": "Obi", **bank, **detail})
        key = client_key(MERCHANT_ID, name)
        row = Client(key, MERCHANT_ID, name, 1, status, False, 0, None, None, None, self.now, self.now, None)
        row.detail_sealed = VAULT.seal(MERCHANT_ID, detail_aad(name), details, bytes(12))
        self.submit(Needs(((Client, key),)), lambda context, seen: Decision(rows=(row,)))
        return name

    def open_accounts(self, name: str = "CL1") -> int:
        found = self.state.rows[client_key(MERCHANT_ID, name)]
        assert isinstance(found, Client)
        return found.open_accounts

    def open_savings(self, client_id: str = "CL1", deposit: str | None = None, **fields: Any) -> str:
        """Opens savings for a client, which is created if missing, and makes the deposit if one is given."""
        if client_key(MERCHANT_ID, client_id) not in self.state.rows:
            self.client(client_id)
        ordinary = {
            "name": "School fees",
            "client_id": client_id,
            "interestSettings": {"interestRate": "36.5", "interestFrequency": "annualized"},
            "period": 12,
        }
        reply = self.ask("create_savings", **{**ordinary, **fields})
        assert not isinstance(reply, Refusal), reply
        savings_id = str(reply.data.savings_id)
        if deposit is not None:
            assert self.deposit(savings_id, deposit).status == 200
        return savings_id

    def deposit(self, savings_id: str, amount: str, **fields: Any) -> Any:
        return self.ask("deposit", savings_id=savings_id, payment_method="wallet", amount=amount, **fields)

    def cash_out(self, savings_id: str, amount: str, method: str = "cash", client: str = "CL1", **fields: Any) -> Any:
        return self.ask("cashout", savings_id=savings_id, client_id=client, amount=amount, method=method, **fields)

    def start_plan(self, members: list[str], amount: str = "100.00", **fields: Any) -> str:
        """Returns the id of a plan that these savings have filled."""
        ordinary = {"name": "Esusu", "amount": amount, "frequency": "every_month", "member_required": len(members)}
        request = {**ordinary, "start_date": self.today.isoformat(), **fields}
        thrift_id = str(self.ask("create_plan", **request).data.thrift_id)
        for savings_id in members:
            reply = self.ask("subscribe", savings_id=savings_id, thrift_id=thrift_id)
            assert not isinstance(reply, Refusal), reply
        return thrift_id


def midnight(day: str) -> datetime:
    return lagos_moment(date.fromisoformat(day), 0)
