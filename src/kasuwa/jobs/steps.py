"""Runs one job: calls its rail, or reads the books for it, with no transaction open. Then submits the rule that decides
on the answer.

Used by the request that wrote the job (right after its commit), by the worker (when the job is due), and by `advance`
in the test environment (when business time reaches it).
"""

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from kasuwa.concurrency.deadlines import Deadlines
from kasuwa.core.action import Step
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Outcome
from kasuwa.core.reading import ReaderFactory
from kasuwa.core.vault import Vault
from kasuwa.engine.batch import Result, Submission
from kasuwa.engine.decision_inputs import DecisionInput
from kasuwa.engine.entropy import draw_entropy
from kasuwa.engine.idempotency import parse_idempotency_claim
from kasuwa.engine.writer import Writer
from kasuwa.observe.metrics import JOBS_GIVEN_UP, STEP_SECONDS, STEPS, Metrics
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable
from kasuwa.transactions.transactions import Transaction, add_rail_notice

# How long a rail or a read may take. Rails have deadlines of their own; this one ends a call that does not keep them. A
# job is leased for longer than this plus the commit that follows (engine/batch.py).
RAIL_DEADLINE_SECONDS = 10.0


def list_lanes(steps: Iterable[Step]) -> list[str]:
    return sorted({lane for step in steps for lane in (step.lane, *step.extra_lanes)})


def list_rail_kinds(steps: Iterable[Step]) -> list[str]:
    """Returns the kinds of jobs that call a rail. All others wait for a business time and cannot be run earlier."""
    return sorted(step.kind for step in steps if step.call is not orders.call_no_rail)


def decide_and_notify(
    decide: Callable[[Context, LoadedRows], Outcome], job: Job, notice: str, context: Context, rows: LoadedRows
) -> Outcome:
    """Decides on a rail's answer that has a notice to the operator, and adds the notice if it is about a transaction.
    Other rules add it themselves."""
    outcome = decide(context, rows)
    if isinstance(outcome, Decision) and any(isinstance(row, Transaction) for row in outcome.rows):
        return add_rail_notice(outcome, rows.get(Transaction, job.subject), notice)
    return outcome


class StepRunner:
    def __init__(
        self,
        writer: Writer,
        rails: Rails,
        steps: Mapping[str, Step[Answer]],
        vault: Vault,
        metrics: Metrics,
        readers: ReaderFactory,
    ) -> None:
        self.vault = vault
        self._readers = readers
        self._writer = writer
        self._rails = rails
        self._steps = steps
        self._metrics = metrics
        self._deadlines = Deadlines()

    @property
    def lanes(self) -> list[str]:
        return list_lanes(self._steps.values())

    def accepts_callback(self, job: Job) -> bool:
        return self._steps[job.kind].accepts_callback

    def is_local(self, job: Job) -> bool:
        """Whether the rule of a job decides without an answer of a rail or of the books."""
        step = self._steps[job.kind]
        return step.call is orders.call_no_rail and step.read is None

    def count_given_up(self, job: Job) -> None:
        self._metrics.count(JOBS_GIVEN_UP, job.kind)

    async def run(self, job: Job, merchant: Merchant, now: datetime, secrets: Any = None) -> Result:
        """Runs a job, and the jobs that follow it at once: an order that was given to another rail is sent there."""
        result = await self._submit(job, merchant, await self.call(job, now, secrets), runs_follow_up=True)
        while isinstance(result, Decision) and result.follow_up is not None:
            job = result.follow_up
            result = await self._submit(job, merchant, await self.call(job, job.due), runs_follow_up=True)
        return result

    async def call(self, job: Job, now: datetime, secrets: Any = None) -> Answer:
        """Calls the rail, or reads the books, and returns the answer: RAIL_UNAVAILABLE or RAIL_SILENT if that raises or
        does not answer in time. Any other exception is a bug."""
        step = self._steps[job.kind]
        if secrets is None and step.restore_secrets is not None:
            secrets = step.restore_secrets(job, self.vault)
        if step.open_job is not None:
            job = step.open_job(job, self.vault)
        began = time.perf_counter()
        try:
            with self._deadlines.within(RAIL_DEADLINE_SECONDS):
                if step.read is None:
                    answer = await step.call(self._rails, job, now, secrets)
                else:
                    answer = await step.read(job, self._readers.for_one_reply(job.merchant_id))
        except Unavailable as trouble:
            answer = orders.record_unavailable(trouble)
        except (NoAnswer, TimeoutError) as trouble:
            answer = orders.record_silence(trouble)
        assert isinstance(answer, Answer)
        self._metrics.count(STEPS, job.kind, answer.status)
        self._metrics.observe(STEP_SECONDS, time.perf_counter() - began, job.kind)
        return answer

    async def record_callback(self, job: Job, merchant: Merchant, answer: Answer) -> Result:
        """Records a rail's call-back, enriched with what the rule needs besides."""
        enrich = self._steps[job.kind].enrich_callback
        if enrich is not None:
            answer = await enrich(self._rails, job, answer)
        return await self.record_answer(job, merchant, answer)

    async def record_answer(self, job: Job, merchant: Merchant, answer: Answer) -> Result:
        return await self._submit(job, merchant, answer, runs_follow_up=False)

    async def _submit(self, job: Job, merchant: Merchant, answer: Answer, *, runs_follow_up: bool) -> Result:
        submission = self.make_submission(job, merchant, answer)
        submission.runs_follow_up = runs_follow_up
        return await self._writer.submit(submission)

    def make_submission(self, job: Job, merchant: Merchant, answer: Answer) -> Submission:
        """Returns the submission that records an answer, of whose decision nobody runs the follow-up at once."""
        step = self._steps[job.kind]
        decide = partial(step.decide, job, answer)
        return Submission(
            merchant=merchant,
            needs=step.needs(job, answer, merchant),
            decide=partial(decide_and_notify, decide, job, answer.notice) if answer.notice else decide,
            entropy=draw_entropy(),
            idempotency_claim=parse_idempotency_claim(job.idempotency_claim),
            sent=self._describe_input(job, answer),
            runs_follow_up=False,
        )

    def _describe_input(self, job: Job, answer: Answer) -> DecisionInput | None:
        """Returns what is recorded of a step: the rail's answer, or that its time had come. None if its rows say it."""
        if self._steps[job.kind].is_read_from_rows:
            return None
        if self._steps[job.kind].call is orders.call_no_rail:
            return DecisionInput("job", job.kind, None, job.reference)
        return DecisionInput("answer", job.kind, orders.without_words(answer), job.reference)
