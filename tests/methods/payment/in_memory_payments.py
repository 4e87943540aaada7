"""Rows and books of one merchant in memory, for the pure tests of payments. Rules run as in the writer.

Rules see only the rows they asked for, NeedsMore is served, and posting groups go through the ledger. So a rule that
forgets to ask for an account, or moves money twice, fails here as it would in the writer.
"""

from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

import msgspec

from kasuwa.core.action import PreflightContext, Write
from kasuwa.core.decision import (
    Context,
    Decision,
    Event,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Refusal,
    Row,
)
from kasuwa.core.references import account_key
from kasuwa.core.routing import NO_ROUTING, RailChooser
from kasuwa.core.scenario import NO_SCENARIO, InjectedFault, Scenario
from kasuwa.ledger.apply import LedgerChanges, apply_group
from kasuwa.ledger.chart import Account, open_account
from kasuwa.methods.disburse.actions import DISBURSE
from kasuwa.methods.payment.actions import ANSWER_CHALLENGE, PAYMENT, PURPOSES, RESOURCES, SANDBOX
from kasuwa.methods.payment.model import KIND, Payment, PaymentDetail, payment_key
from kasuwa.methods.payment.payer_model import open_payment_job, read_detail
from kasuwa.methods.payment.plan_model import Plan
from kasuwa.methods.payment.rules.charge_card import ChallengeAnswer
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.all_rails import NOT_CONFIGURED, Rails
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.vendors import NO_VENDORS, CollectionVendors
from kasuwa.transactions.checkouts import CheckoutSource
from kasuwa.transactions.purpose import PurposeRules
from kasuwa.transactions.transactions import Transaction, transaction_key
from kasuwa.wire.decoding import decode
from tests.rule_context import MERCHANT, NOW, VAULT, context

STEPS = {step.kind: step for method in (PAYMENT, DISBURSE) for step in method.steps}
WRITES = [action for action in (*PAYMENT.actions, *RESOURCES, *SANDBOX) if isinstance(action, Write)]
URL = "https://pay.example"

OPENED = Answer(orders.SUCCESSFUL, "00", "", {"session": "S-1", "auth": "OTP"})
APPROVED = Answer(orders.SUCCESSFUL, "00", "Approved")
DECLINED = Answer(orders.FAILED, "51", "Insufficient Funds")
IN_PROGRESS = Answer(orders.UNKNOWN, "09", "Request in progress")
WORKING = Answer(orders.PROCESSING, "09", "Being processed")
NOT_FOUND = Answer(orders.NOT_FOUND, "25", "Unable to locate record")
GIBBERISH = Answer(orders.UNREADABLE, "ZZ", "The rail's answer could not be read")
WRONG = Answer(orders.WRONG_CODE, None, "The OTP is not right")
SILENT, REFUSED, NOBODY_ASKED = orders.RAIL_SILENT, orders.RAIL_UNAVAILABLE, orders.NO_CALL_MADE


def opened(auth: str) -> Answer:
    return Answer(orders.SUCCESSFUL, "00", "", {"session": "S-1", "auth": auth})


def challenge(auth: str = "device", **facts: str) -> Answer:
    return Answer(orders.CHALLENGE, None, "", {"auth": auth, **facts})


def action_named(name: str, variant: str | None = None) -> Write:
    found = [row for row in WRITES if row.name == name and (row.variant or ("", None))[1] == variant]
    assert len(found) == 1, (name, variant)
    return found[0]


def decode_fields(
    action: Write, fields: dict[str, Any], merchant: Merchant, preflight: PreflightContext | None = None
) -> Any:
    """Returns the request of an action, or the tuple of its field errors. Fields that are None are not sent."""
    given = {field: value for field, value in fields.items() if value is not None}
    return decode(action.request, msgspec.json.encode(given), action.rules, merchant, preflight)


class InMemoryPayments:
    def __init__(
        self,
        now: datetime = NOW,
        of: Merchant = MERCHANT,
        *,
        funds: int = 0,
        has_webhook: bool = False,
        purposes: tuple[PurposeRules, ...] = (),
        vendors: CollectionVendors = NO_VENDORS,
        rail_chooser: RailChooser = NO_ROUTING,
    ) -> None:
        self.vendors = vendors
        self.rail_chooser = rail_chooser
        self.purposes = {purpose.name: purpose for purpose in (*PURPOSES, *purposes)}
        self.sources: dict[str, CheckoutSource] = {}
        self.now = now
        self.merchant = of
        self.has_webhook = has_webhook
        self.rows: dict[bytes, Row] = {}
        self.accounts: dict[str, Account] = {}
        self.events: list[Event] = []
        self.notices: list[OperatorNotice] = []
        self.faults: tuple[InjectedFault, ...] = ()
        self.number = 0
        self.decisions = 0
        if funds:
            self.account("wallet:main:NGN").posted = funds
            self.account("outside:funding:NGN").posted = -funds

    # --- the books ---------------------------------------------------------------------------------------------------

    def account(self, name: str) -> Account:
        return self.accounts.setdefault(name, open_account(self.merchant.merchant_id, name))

    def balance(self, name: str) -> int:
        return self.account(name).posted

    def balances(self) -> dict[str, int]:
        return {name: account.posted for name, account in self.accounts.items() if account.posted}

    # --- deciding ----------------------------------------------------------------------------------------------------

    def context(self, scenario: Scenario = NO_SCENARIO) -> Context:
        given = context(
            self.now,
            merchant=self.merchant,
            number=self.number + 1,
            scenario=scenario,
            faults=self.faults,
            has_webhook=self.has_webhook,
            entropy=blake2b(str(self.decisions).encode(), digest_size=32).digest(),
            purposes=self.purposes,
            sources=self.sources,
            public_url=URL,
            vendors=self.vendors,
        )
        given.rail_chooser = self.rail_chooser
        return given

    def decide(self, needs: Needs, rule: Any, scenario: Scenario = NO_SCENARIO) -> Decision | Refusal:
        """Runs a rule as the writer does, and stores its decision."""
        self.decisions += 1
        shown: dict[bytes, Row | None] = {}
        accounts: set[str] = set()
        given = self.context(scenario)
        while True:
            shown |= {key: self.rows.get(key) for _, key in needs.rows}
            accounts |= set(needs.accounts)
            outcome = rule(given, LoadedRows(shown | self.account_rows(accounts)))
            if not isinstance(outcome, NeedsMore):
                break
            known = len(shown), len(accounts)
            needs = outcome.needs
            wanted = {key for _, key in needs.rows} | shown.keys(), set(needs.accounts) | accounts
            assert (len(wanted[0]), len(wanted[1])) > known, "a rule asks for what it has seen"
        if isinstance(outcome, Refusal):
            return outcome
        assert isinstance(outcome, Decision)
        return self.keep(outcome, shown, accounts)

    def account_rows(self, names: set[str]) -> dict[bytes, Row | None]:
        return {account_key(self.merchant.merchant_id, name): self.account(name) for name in names}

    def keep(self, decision: Decision, shown: dict[bytes, Row | None], asked: set[str]) -> Decision | Refusal:
        changed, rows = dict(self.accounts), dict(self.rows)
        for group in decision.groups:
            books = {name: changed.get(name) or open_account(self.merchant.merchant_id, name) for name in asked}
            done = apply_group(books, group)
            if not isinstance(done, LedgerChanges):
                return group.shortfall_refusal
            changed |= done.accounts
        for row in (*decision.rows, *decision.jobs):
            assert row.key in shown or row.key not in rows, f"{row.table} is written over unseen"
            rows[row.key] = row
        for job in decision.jobs_done:
            del rows[job.key]
        self.accounts, self.rows = changed, rows
        self.events += decision.events
        self.notices += decision.notices
        self.number += decision.numbers_used
        if decision.sandbox is not None and decision.sandbox.injected_faults is not None:
            self.faults = decision.sandbox.injected_faults
        assert sum(self.balances().values()) == 0
        return decision

    # --- asking ------------------------------------------------------------------------------------------------------

    def put(self, name: str, variant: str | None = None, scenario: Scenario = NO_SCENARIO, /, **fields: Any) -> Any:
        """Returns the decision or refusal of a request, or the tuple of its field errors."""
        action = action_named(name, variant)
        preflight = PreflightContext(self.now, Rails(bank=NOT_CONFIGURED, vendors=self.vendors))
        request = decode_fields(action, fields, self.merchant, preflight)
        if isinstance(request, tuple):
            return request
        needs = action.needs(request, self.merchant)
        return self.decide(needs, lambda given, seen: action.decide(request, given, seen), scenario)

    def answer_page(self, txn_ref: str, otp: str | None) -> Any:
        request = ChallengeAnswer(txn_ref, otp)
        needs = ANSWER_CHALLENGE.needs(request, self.merchant)
        return self.decide(needs, lambda given, seen: ANSWER_CHALLENGE.decide(request, given, seen))

    def receive_answer(self, job: Job, answer: Answer) -> Any:
        """Applies a rail's answer to a job."""
        step = STEPS[job.kind]
        needs = step.needs(job, answer, self.merchant)
        return self.decide(needs, lambda given, seen: step.decide(job, answer, given, seen))

    # --- looking -----------------------------------------------------------------------------------------------------

    def transaction(self, txn_ref: str, kind: str = KIND) -> Transaction:
        row = self.rows[transaction_key(self.merchant.merchant_id, kind, txn_ref)]
        assert isinstance(row, Transaction)
        return row

    def payment(self, txn_ref: str) -> Payment:
        row = self.rows[payment_key(self.merchant.merchant_id, txn_ref)]
        assert isinstance(row, Payment)
        return row

    def jobs(self, subject: bytes | None = None) -> list[Job]:
        found = [row for row in self.rows.values() if isinstance(row, Job)]
        return [job for job in found if subject is None or (job.subject == subject and job.lane != "webhook")]

    def of_type(self, kind: type[Row]) -> list[Any]:
        return [row for row in self.rows.values() if type(row) is kind]

    def plan(self) -> Plan:
        (plan,) = self.of_type(Plan)
        assert isinstance(plan, Plan)
        return plan

    def advance(self, **stretch: float) -> None:
        self.now += timedelta(**stretch)


class PaymentInProgress:
    """One payment and its job."""

    def __init__(self, payments: InMemoryPayments, decision: Any) -> None:
        assert isinstance(decision, Decision), decision
        row = decision.rows[0]
        assert isinstance(row, Transaction)
        self.payments = payments
        self.txn_ref = row.txn_ref
        self.begun = decision

    @property
    def row(self) -> Transaction:
        return self.payments.transaction(self.txn_ref)

    @property
    def payment(self) -> Payment:
        return self.payments.payment(self.txn_ref)

    @property
    def detail(self) -> PaymentDetail:
        """Returns the detail with the payer's data."""
        return read_detail(self.payment, VAULT.unseal)

    @property
    def job(self) -> Job:
        (job,) = self.payments.jobs(self.row.key)
        return job

    @property
    def opened_job(self) -> Job:
        """Returns the job as its rail is called with it."""
        return open_payment_job(self.job, VAULT)

    @property
    def state(self) -> tuple[str, str, str | None]:
        """Returns its status, its stage and the kind of its job."""
        jobs = self.payments.jobs(self.row.key)
        assert len(jobs) <= 1
        return self.row.status, self.payment.stage, jobs[0].kind if jobs else None

    def receive_answer(self, answer: Answer, **stretch: float) -> Any:
        self.payments.advance(**stretch)
        return self.payments.receive_answer(self.job, answer)


CARD = {"card_no": "4111110000000013", "expiry_month": "12", "expiry_year": "30", "ccv": "000", "pin": "1234"}
ACCOUNT = {"accountnumber": "0000000000", "bankcode": "058"}
BODIES: dict[str, dict[str, Any]] = {
    "account": {"account": ACCOUNT},
    "ussd": {"bank": "gtb"},
    "phone": {"phonenumber": "08031234567"},
    "qrpay": {},
    "bank_transfer": {},
    "mobile_money": {"type": "paga", "redirect_url": "https://shop.example/back"},
}
# What each rail answers when it begins, and the payer is to act.
BEGUN = {
    "account": challenge("OTP"),
    "ussd": challenge("ussd", ussd_code="*737*000*1234#"),
    "phone": challenge(),
    "qrpay": challenge(),
    "bank_transfer": challenge(),
    "mobile_money": challenge("redirect"),
}


def initiate(payments: InMemoryPayments, **changes: Any) -> PaymentInProgress:
    return PaymentInProgress(
        payments, payments.put("initiate", "card", **{"amount": "1500.00", "card": CARD, **changes})
    )


def charge(payments: InMemoryPayments, paying: PaymentInProgress, auth: str, **changes: Any) -> Any:
    return payments.put("charge", "card", **{"txnRef": paying.txn_ref, "auth_type": auth, "card": CARD, **changes})


def begin(payments: InMemoryPayments, method: str, **changes: Any) -> PaymentInProgress:
    return PaymentInProgress(
        payments, payments.put("charge", method, **{"amount": "1500.00", **BODIES[method], **changes})
    )


def paid_card(payments: InMemoryPayments, **changes: Any) -> PaymentInProgress:
    """A completed card payment, by PIN."""
    paying = initiate(payments, **changes)
    paying.receive_answer(opened("PIN"))
    charge(payments, paying, "PIN")
    paying.receive_answer(APPROVED)
    assert paying.row.status == "successful"
    return paying


def charge_token(payments: InMemoryPayments, token: str, **changes: Any) -> PaymentInProgress:
    return PaymentInProgress(
        payments, payments.put("charge", "token", **{"token": token, "amount": "1500.00", **changes})
    )


def fields_of(refused: Any) -> list[str]:
    """The fields that a refusal names."""
    faults = refused.field_errors if isinstance(refused, Refusal) else refused
    return [fault.field for fault in faults]
