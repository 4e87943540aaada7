"""Records the results of jobs through the API process that owns the merchant.

The worker calls the rail, and the owner decides on its answer. If the owner is away or its reply is lost, the worker
decides itself: an answer may be recorded twice, as by two workers of which one had lost its lease, and the rule of the
step changes nothing the second time.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
import structlog

from kasuwa.cluster.frames import JOB_RESULT, QUESTION_NAMES
from kasuwa.cluster.links import NothingDone, OwnerLinks, ReplyLost
from kasuwa.cluster.listener import AnswerQuestion, Inquiry
from kasuwa.core.action import Step
from kasuwa.core.decision import Decision, Job, Merchant
from kasuwa.core.reading import ReaderFactory
from kasuwa.core.vault import Vault
from kasuwa.engine.batch import Result, RuleFailure
from kasuwa.engine.writer import Writer
from kasuwa.jobs.steps import StepRunner
from kasuwa.merchants.merchant_settings import SentMerchant, pack_merchant, unpack_merchant
from kasuwa.observe.log import describe_error
from kasuwa.observe.metrics import DECIDED_FOR_OTHERS, Metrics
from kasuwa.postgres.connections import DatabaseUnreachable
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.orders import Answer

log = structlog.get_logger("kasuwa.jobs")


class ForwardedJobResult(msgspec.Struct, array_like=True):
    job: Job
    merchant: SentMerchant
    answer: Answer


class JobResultReply(msgspec.Struct, array_like=True):
    """The owner's reply. A rule that raised is logged by the owner."""

    is_unreachable: bool = False  # the owner did not reach the database
    is_outcome_unknown: bool = False


ENCODER = msgspec.msgpack.Encoder()
RESULT_DECODER = msgspec.msgpack.Decoder(ForwardedJobResult)
REPLY_DECODER = msgspec.msgpack.Decoder(JobResultReply)

# The owner has recorded the result. The worker needs nothing of the decision.
RECORDED = Decision()


class ForwardingStepRunner(StepRunner):
    """Runs jobs in a process that owns no merchants."""

    def __init__(
        self,
        writer: Writer,
        rails: Rails,
        steps: Mapping[str, Step[Answer]],
        vault: Vault,
        metrics: Metrics,
        readers: ReaderFactory,
        links: OwnerLinks,
    ) -> None:
        super().__init__(writer, rails, steps, vault, metrics, readers)
        self._links = links

    async def run(self, job: Job, merchant: Merchant, now: datetime, secrets: Any = None) -> Result:
        return await self.record_answer(job, merchant, await self.call(job, now, secrets))

    async def record_answer(self, job: Job, merchant: Merchant, answer: Answer) -> Result:
        link, why = self._links.find(merchant.merchant_id), "owner away"
        if link is not None:
            payload = ENCODER.encode(ForwardedJobResult(job, pack_merchant(merchant), answer))
            try:
                reply = REPLY_DECODER.decode(await link.ask(JOB_RESULT, payload, may_repeat=True))
            except NothingDone:
                why = "declined"
            except ReplyLost:
                why = "reply lost"
            else:
                if reply.is_unreachable:
                    raise DatabaseUnreachable(is_outcome_unknown=reply.is_outcome_unknown)
                return RECORDED
        self._metrics.count(DECIDED_FOR_OTHERS, QUESTION_NAMES[JOB_RESULT], why)
        return await super().record_answer(job, merchant, answer)


class JobInbox:
    """Records the results that the worker sends. Results are submitted in the order in which they arrive."""

    def __init__(self, stepper: StepRunner, writer: Writer) -> None:
        self._stepper = stepper
        self._writer = writer

    @property
    def handlers(self) -> dict[int, AnswerQuestion]:
        return {JOB_RESULT: self._begin}

    def _begin(self, payload: bytes, inquiry: Inquiry) -> None:
        item = RESULT_DECODER.decode(payload)
        submission = self._stepper.make_submission(item.job, unpack_merchant(item.merchant), item.answer)
        self._writer.submit(submission).add_done_callback(lambda future: self._end(future, item.job, inquiry))

    def _end(self, future: "asyncio.Future[Result]", job: Job, inquiry: Inquiry) -> None:
        error = None if future.cancelled() else future.exception()
        if isinstance(error, DatabaseUnreachable):
            inquiry.answer(ENCODER.encode(JobResultReply(True, error.is_outcome_unknown)))
            return
        if future.cancelled() or error is not None:
            inquiry.fail()
            return
        result = future.result()
        if isinstance(result, RuleFailure):
            log.error("step failed", kind=job.kind, reference=job.reference, **describe_error(result.error))
        inquiry.answer(ENCODER.encode(JobResultReply()))
