"""Hands in the answers of merchants to disputes at rails that take them.

What a rail does not take, or what could not be handed in for hours, becomes a notice: an operator hands it in there.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial

import structlog

from kasuwa.core.calendar import utc_text
from kasuwa.methods.disputes import evidence_reads, hand_ins
from kasuwa.methods.disputes.evidence_reads import SealedFile
from kasuwa.methods.disputes.hand_ins import AnsweredDispute, HandIn
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.polling import Polling
from kasuwa.rails.inbox import inbox_table
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.disputes import DisputeAnswer, DisputeRail
from kasuwa.rails.ports.feed_entries import ANSWERED_BY_API
from kasuwa.rails.ports.orders import NoAnswer, Unavailable

log = structlog.get_logger("kasuwa.methods")

POLL_SECONDS = 2.0
# How long a rail may take for one answer with its files, less than the lease on it. Rails have deadlines of their own;
# this one ends a call that does not keep them.
HAND_IN_SECONDS = 60.0
DELAYS = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 1800, 3600))

# Decrypts the answer to a dispute: read_answer of methods/disputes/steps.py.
ReadAnswer = Callable[[AnsweredDispute, bytes | None, Sequence[SealedFile]], DisputeAnswer]


class DisputeAnswers(Polling):
    def __init__(self, pool: Pool, rails: Mapping[str, DisputeRail], read: ReadAnswer) -> None:
        super().__init__()
        self._pool = pool
        self._read = read
        self._rails = rails

    async def run(self) -> None:
        await self.repeat(partial(self.drain, self.run_once), POLL_SECONDS, "handing in answers to disputes failed")

    async def run_once(self) -> int:
        """Hands in the next answer that is due. Returns how many that were: 1 or 0."""
        entry = await hand_ins.claim(self._pool, sorted(ANSWERED_BY_API))
        if entry is None:
            return 0
        await self._hand_in(entry)
        return 1

    async def _hand_in(self, entry: HandIn) -> None:
        dispute = await hand_ins.read_dispute(self._pool, entry)
        rail = self._rails.get(dispute.rail)
        if rail is None:
            await self._leave_to_operator(entry, dispute, f"the keys of {dispute.rail} are not set")
            return
        dispute_answer = await self._read_answer(dispute)
        try:
            async with asyncio.timeout(HAND_IN_SECONDS):
                answer = await rail.answer_dispute(dispute_answer)
        except (Unavailable, NoAnswer, TimeoutError) as trouble:
            if entry.attempts >= len(DELAYS):
                await self._leave_to_operator(entry, dispute, f"{dispute.rail} does not answer")
                return
            log.warning("an answer to a dispute was not handed in", rail=dispute.rail, trouble=type(trouble).__name__)
            await hand_ins.postpone(self._pool, entry, DELAYS[entry.attempts - 1])
            return
        if answer.status == orders.SUCCESSFUL:
            await hand_ins.finish(self._pool, entry, answer.message)
        else:
            await self._leave_to_operator(entry, dispute, answer.message)

    async def _leave_to_operator(self, entry: HandIn, dispute: AnsweredDispute, reason: str) -> None:
        what = "accepts the dispute" if dispute.is_accepted else "sent evidence, see `kasuwa dispute evidence`"
        name = f"dispute {dispute.rail_dispute_id} at {dispute.rail}"
        due = f"hand it in by {utc_text(dispute.due_at)}"
        message = f"{name} was not answered there ({reason}): the merchant {what}; {due}"
        await inbox_table.add_notice(self._pool, entry.dispute_id, message, entry.merchant_id)
        await hand_ins.finish(self._pool, entry, "left to the operator")

    async def _read_answer(self, dispute: AnsweredDispute) -> DisputeAnswer:
        async with self._pool.acquire() as connection:
            evidence = await evidence_reads.read_evidence(connection, dispute.merchant_id, dispute.dispute_id)
        return (
            self._read(dispute, None, ()) if evidence is None else self._read(dispute, evidence.texts, evidence.files)
        )
