"""Running one job: call the outside with no transaction open, then let a rule decide what its answer means.

The same door serves everybody: the request that wrote the job (at once, up to its deadline), the worker (when
it falls due), and `advance` in the test environment (when business time gets there).
"""

import asyncio
import os
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from kasuwa.core.action import Step
from kasuwa.core.decision import Job, Merchant
from kasuwa.core.secrets import Vault
from kasuwa.db.batch import Result, Submission, closing_claim
from kasuwa.db.deadlines import Deadlines
from kasuwa.db.writer import Writer
from kasuwa.observe.metrics import STEP_SECONDS, STEPS, Meter
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer, NoAnswer, Rails, Unavailable

# How long a rail may take. Rails keep a deadline themselves: this bounds one that does not. A job is leased for longer
# than this and the commit that follows (db/batch.py).
DEADLINE_SECONDS = 10.0


def lanes_of(steps: Iterable[Step]) -> list[str]:
    return sorted({lane for step in steps for lane in (step.lane, *step.also)})


def rail_kinds_of(steps: Iterable[Step]) -> list[str]:
    """The kinds of jobs that ask a rail. All others wait for a business time, and nobody may hurry them."""
    return sorted(step.kind for step in steps if step.call is not ports.call_nobody)


class Stepper:
    def __init__(self, writer: Writer, rails: Rails, steps: Mapping[str, Step], vault: Vault, meter: Meter) -> None:
        self._vault = vault
        self._writer = writer
        self._rails = rails
        self._steps = steps
        self._meter = meter
        self._deadlines = Deadlines()

    @property
    def lanes(self) -> list[str]:
        return lanes_of(self._steps.values())

    def may_settle(self, job: Job) -> bool:
        return self._steps[job.kind].settles

    def calls_nobody(self, job: Job) -> bool:
        return self._steps[job.kind].call is ports.call_nobody

    async def run(self, job: Job, merchant: Merchant, now: datetime, beside: Any = None) -> Result:
        return await self._writer.submit(self.submission(job, merchant, await self.call(job, now, beside)))

    async def call(self, job: Job, now: datetime, beside: Any = None) -> Answer:
        """What the outside says, or that it says nothing. Anything else that is raised is a bug of ours."""
        step = self._steps[job.kind]
        if beside is None and step.recall is not None:
            beside = step.recall(job, self._vault)
        began = time.perf_counter()
        deadline = self._deadlines.begin(DEADLINE_SECONDS)
        try:
            answer = await step.call(self._rails, job, now, beside)
        except Unavailable:
            answer = ports.REFUSED
        except (NoAnswer, TimeoutError):
            answer = ports.SILENT
        except asyncio.CancelledError:
            if not deadline.is_ours():
                raise
            answer = ports.SILENT
        finally:
            deadline.end()
        assert isinstance(answer, Answer)
        self._meter.count(STEPS, job.kind, answer.status)
        self._meter.observe(STEP_SECONDS, time.perf_counter() - began, job.kind)
        return answer

    async def hear(self, job: Job, merchant: Merchant, answer: Answer) -> Result:
        """A rail's call-back, recorded with all that its rule wants to know."""
        told = self._steps[job.kind].told
        return await self.record(job, merchant, answer if told is None else await told(self._rails, job, answer))

    async def record(self, job: Job, merchant: Merchant, answer: Answer) -> Result:
        return await self._writer.submit(self.submission(job, merchant, answer))

    def submission(self, job: Job, merchant: Merchant, answer: Answer) -> Submission:
        """What the writer is given to record an answer."""
        step = self._steps[job.kind]
        return Submission(
            merchant=merchant,
            needs=step.needs(job, answer, merchant),
            decide=partial(step.decide, job, answer),
            entropy=os.urandom(32),
            claim=closing_claim(job.repeat),
        )
