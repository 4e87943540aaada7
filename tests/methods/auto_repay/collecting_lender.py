"""A lending merchant in memory that collects its loans: clients with savings and cards, and a scripted card rail."""

from typing import Any

import msgspec

from kasuwa.core.action import Step
from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Decision, Job, Needs
from kasuwa.methods.auto_repay.rules.dates import RUN
from kasuwa.methods.loans.auto_repay_model import (
    AutoRepayment,
    LoanCollection,
    auto_repayment_key,
    collection_key,
)
from kasuwa.methods.payment.model import CardSummary, SavedCard, SealedCardData, saved_card_aad, saved_card_key
from kasuwa.methods.tables import METHODS
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import NO_CALL_MADE, Answer
from tests.methods.guarantees.guaranteed_lender import PLAIN, GuaranteedLender
from tests.methods.loans import in_memory_lender
from tests.rule_context import VAULT

STEPS: dict[str, Step] = {step.kind: step for method in METHODS for step in method.steps}
CHARGE = "payment.charge"
PAID = Answer(orders.SUCCESSFUL, "00", "Approved")
SHORT = Answer(orders.FAILED, "51", "Insufficient Funds")
EXPIRED = Answer(orders.FAILED, "54", "Expired Card")
UNKNOWN = Answer(orders.UNKNOWN, "09", "Request in progress")
TOKEN = "card.1"


class CollectingLender(GuaranteedLender):
    """A lender whose first client borrows 1000.00 in four months, without interest."""

    def __init__(self, **lending: Any) -> None:
        super().__init__(**lending)
        in_memory_lender.STEPS.update(STEPS)
        self.card_answers: list[Answer] = []
        self.loan_id = self.lend(**PLAIN)

    def agree(self, source: str = "wallet", **fields: Any) -> Any:
        return self.ask("auto_repay", {"loan_id": self.loan_id, "source": source, **fields})

    def stop(self, **fields: Any) -> Any:
        return self.ask("stop_auto_repay", {"loan_id": self.loan_id, **fields})

    def save(self, deposit: str = "1000.00", **fields: Any) -> str:
        """Gives the client who borrows savings, and returns them."""
        client = self.client()
        terms = {"name": "Salary", "client_id": client.client_id, "period": 12, **fields}
        made = self.ask("create_savings", {"interestSettings": PLAIN["interestSettings"], **terms})
        self.savings_of[client.client_id] = str(made.data.savings_id)
        if deposit != "0.00":
            self.deposit(client.client_id, deposit)
        return self.savings_of[client.client_id]

    def save_card(self) -> str:
        plain = SealedCardData(number="5123450000000008", expiry_month="12", expiry_year="30")
        summary = CardSummary("h", "512345******0008", "512345", None, None, None, None)
        saved = SavedCard(
            key=saved_card_key(self.merchant_id, TOKEN),
            merchant_id=self.merchant_id,
            token=TOKEN,
            sealed=VAULT.seal(self.merchant_id, saved_card_aad(TOKEN), msgspec.json.encode(plain), bytes(12)),
            detail=msgspec.json.encode(summary).decode(),
            created_at=self.now,
        )
        self.submit(Needs(((SavedCard, saved.key),)), lambda context, rows: Decision(rows=(saved,)))
        return TOKEN

    def erase_card(self) -> None:
        key = saved_card_key(self.merchant_id, TOKEN)
        saved = self.database.rows[key]
        assert isinstance(saved, SavedCard)
        self.database.rows[key] = msgspec.structs.replace(saved, sealed=b"")

    def to_day(self, day: str, hour: int = 12) -> None:
        """Advances business time to an hour of a day, and runs the jobs that fall due. A charge is answered by the next
        of `card_answers`; without one it stays in progress."""
        until = self.now.replace(
            year=int(day[:4]), month=int(day[5:7]), day=int(day[8:]), hour=hour - 1, minute=0, second=0, microsecond=0
        )
        while True:
            due = [job for job in self.jobs(RUN, CHARGE) if job.due <= until]
            due = [job for job in due if job.kind == RUN or self.card_answers]
            if not due:
                break
            self.now = max(self.now, due[0].due)
            self.run(due[0])
        self.now = until

    def run(self, job: Job) -> Any:
        answer = self.card_answers.pop(0) if job.kind == CHARGE else NO_CALL_MADE
        return self.receive_answer(msgspec.structs.replace(job), answer)

    def jobs(self, *kinds: str) -> list[Job]:
        found = [job for job in self.database.all(Job, self.merchant_id) if job.kind in kinds]
        return sorted(found, key=lambda job: job.due)

    @property
    def auto(self) -> AutoRepayment:
        row = self.database.rows[auto_repayment_key(self.merchant_id, self.loan_id)]
        assert isinstance(row, AutoRepayment)
        return row

    @property
    def next(self) -> str | None:
        """Returns the day of the next run."""
        return None if self.auto.next_at is None else lagos_day(self.auto.next_at).isoformat()

    def attempts(self) -> list[tuple[str, str, int, str]]:
        """Returns day, state, amount and reason of the attempts."""
        rows = []
        for n in range(1, self.auto.attempts + 1):
            row = self.database.rows[collection_key(self.merchant_id, self.loan_id, n)]
            assert isinstance(row, LoanCollection)
            rows.append((row.due_on.isoformat(), row.state, row.amount, row.reason))
        return rows

    def list_steps(self) -> list[tuple[str, ...]]:
        """Returns kind, step and next date of the events of the collection."""
        events = [event for event in self.database.events if event.kind.startswith("loan_")]
        payloads = [msgspec.json.decode(event.payload) for event in events]
        return [(one["kind"], one.get("step", ""), one.get("next_date", "")) for one in payloads]

    def check_books(self) -> None:
        super().check_books()
        for auto in self.database.all(AutoRepayment, self.merchant_id):
            jobs = [job for job in self.jobs(RUN) if job.subject == auto.key]
            assert len(jobs) == int(auto.state == "active" and not auto.charging)
            rows = [
                self.database.rows[collection_key(self.merchant_id, auto.loan_id, n)]
                for n in range(1, auto.attempts + 1)
            ]
            collected = [row for row in rows if isinstance(row, LoanCollection) and row.state == "collected"]
            assert (auto.collections, auto.collected) == (len(collected), sum(row.amount for row in collected))
