"""Shadow mode: asks a second rail the name enquiries that the first has answered, and counts how they compare.

It runs after the reply, from a bounded queue: a comparison that finds the queue full is dropped. The second rail is
never sent an order. Names are compared in memory. What is stored of a difference is masked.
"""

import asyncio
import re
import time
import unicodedata
from collections.abc import Awaitable, Callable

import msgspec
import structlog

from kasuwa.observe.log import describe_error
from kasuwa.postgres import connections
from kasuwa.postgres.connection_pool import Pool
from kasuwa.rails.ports.orders import NameAnswer, NameEnquiry, NoAnswer, Unavailable
from kasuwa.rails.watch import records
from kasuwa.rails.watch.records import ShadowResult

MAX_WAITING = 100
ASK_SECONDS = 10.0
AGREED, DIFFERED, UNANSWERED = "agreed", "differed", "unanswered"
WORD = re.compile(r"\w+")

log = structlog.get_logger("kasuwa.rails")

FindName = Callable[[NameEnquiry], Awaitable[NameAnswer]]


class WaitingComparison(msgspec.Struct, frozen=True):
    """An answered enquiry that waits to be asked again in shadow mode, or the result of a read balance."""

    rail: str
    enquiry: NameEnquiry | None
    name: str | None
    seconds: float
    is_balance_answered: bool = True


class ShadowComparer:
    """Compares the answers of the rail `shadow` with those that merchants got."""

    def __init__(self, pool: Pool, purpose: str, shadow: str, find_name: FindName) -> None:
        self._pool = pool
        self._purpose = purpose
        self._shadow = shadow
        self._find_name = find_name
        self._waiting: asyncio.Queue[WaitingComparison] = asyncio.Queue(MAX_WAITING)
        self.dropped = 0

    def add_name(self, rail: str, enquiry: NameEnquiry, answer: NameAnswer, seconds: float) -> None:
        """Queues an answered enquiry. Returns at once, also if the queue is full."""
        self._add(WaitingComparison(rail, enquiry, answer.name, seconds))

    def add_balance(self, rail: str, is_answered: bool, seconds: float) -> None:
        """Queues the result of reading a balance. Only that of the rail in shadow mode counts."""
        if rail == self._shadow:
            self._add(WaitingComparison("", None, None, seconds, is_answered))

    def _add(self, waiting: WaitingComparison) -> None:
        if waiting.rail == self._shadow:
            return
        try:
            self._waiting.put_nowait(waiting)
        except asyncio.QueueFull:
            self.dropped += 1

    async def run(self) -> None:
        while True:
            waiting = await self._waiting.get()
            try:
                await self.compare(waiting)
            except Exception as error:
                if not connections.is_connection_error(error):
                    log.error("a comparison in shadow mode failed", **describe_error(error))
            self._waiting.task_done()

    async def drain(self) -> None:
        """Waits until everything that is queued was compared."""
        await self._waiting.join()

    async def compare(self, waiting: WaitingComparison) -> None:
        result = self._describe_balance(waiting) if waiting.enquiry is None else await self._ask(waiting)
        async with self._pool.acquire() as connection:
            await records.record_shadow(connection, result)

    def _describe_balance(self, waiting: WaitingComparison) -> ShadowResult:
        outcome = AGREED if waiting.is_balance_answered else UNANSWERED
        return ShadowResult(
            self._purpose, waiting.rail, self._shadow, "balance", outcome, 0, int(waiting.seconds * 1000)
        )

    async def _ask(self, waiting: WaitingComparison) -> ShadowResult:
        assert waiting.enquiry is not None
        began = time.monotonic()
        theirs: str | None = None
        try:
            async with asyncio.timeout(ASK_SECONDS):
                theirs = (await self._find_name(waiting.enquiry)).name
        except (Unavailable, NoAnswer, TimeoutError):
            outcome = UNANSWERED
        else:
            outcome = AGREED if are_same_name(waiting.name, theirs) else DIFFERED
        differs = outcome == DIFFERED
        return ShadowResult(
            purpose=self._purpose,
            rail=waiting.rail,
            shadow=self._shadow,
            question="name",
            outcome=outcome,
            rail_ms=int(waiting.seconds * 1000),
            shadow_ms=int((time.monotonic() - began) * 1000),
            ours=mask_name(waiting.name) if differs else "",
            theirs=mask_name(theirs) if differs else "",
        )


def are_same_name(ours: str | None, theirs: str | None) -> bool:
    """Tells whether two rails gave the same name: order of words, case, accents and punctuation do not matter."""
    return split_words(ours) == split_words(theirs)


def split_words(name: str | None) -> list[str] | None:
    if name is None:
        return None
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return sorted(WORD.findall(plain.casefold()))


def mask_name(name: str | None) -> str:
    """Returns a name as the first letters of its words: "ADA OBI" is "A** O**". The lengths are not shown."""
    if name is None:
        return "no such account"
    return " ".join(f"{word[0]}**" for word in WORD.findall(name)[:6])
