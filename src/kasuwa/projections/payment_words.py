"""Payments and transfers by the words of the people in them, which are stored encrypted: adds keyed hashes of the
words, and finds by them.

Every final payment has an event, and events of a merchant have numbers without a gap: its mark is the last one that was
looked at. So writing a payment costs nothing more. A trigger removes the words of a payment whose payer is erased, or
of a transfer whose beneficiary is. See docs/decisions/0081 and 0104.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msgspec.structs import astuple

from kasuwa.concurrency.time_slices import collect, run_in_shared_slices
from kasuwa.core.reading import Reader
from kasuwa.core.references import row_key
from kasuwa.postgres import connections
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.polling import Polling
from kasuwa.projections.daily_totals import Uncounted, choose_step

POLL_SECONDS = 5.0
STATEMENT_SECONDS = 60.0
SETTINGS = {**connections.KEYED_SETTINGS, "application_name": "kasuwa payment words"}


# Of all merchants together: what they have to say is read, decrypted and hashed in one transaction.
EVENTS_PER_STEP = 1_000
MAX_LAGGING = 500

# What the words cover: with a lower number, the words of a merchant are without transfers, addresses and amounts.
SCOPE = 2

TRY_LOCK = "select pg_try_advisory_xact_lock($1)"
LAGGING = f"""
    select s.merchant_id, coalesce(m.event_seq, 0), s.last_event_seq from merchant_state s
    left join payment_word_mark m on m.merchant_id = s.merchant_id and m.scope = {SCOPE}
    where s.last_event_seq > coalesce(m.event_seq, 0) order by s.merchant_id limit $1
"""
# Of several merchants at once: each with the event before the first, and the last.
ENDED = """
    select e.merchant_id, e.seq, e.reference, e.kind
    from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as r (merchant_id, mark, until)
    join event e on e.merchant_id = r.merchant_id and e.seq > r.mark and e.seq <= r.until
    where e.kind in ('payment', 'transfer')
"""
PAYMENTS = """
    select p.merchant_id, p.txn_ref, p.detail::text, p.payer_sealed, p.facts::text, t.amount
    from unnest($1::bigint[], $2::bytea[]) as r (merchant_id, key)
    join payment p on p.merchant_id = r.merchant_id and p.key = r.key
    join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
"""
TRANSFERS = """
    select t.merchant_id, t.txn_ref, t.detail::text, t.facts_sealed, t.amount
    from unnest($1::bigint[], $2::text[]) as r (merchant_id, txn_ref)
    join transaction t on t.merchant_id = r.merchant_id and t.txn_ref = r.txn_ref and t.kind = 'transfer'
"""
ADD = """
    insert into payment_word (merchant_id, word, event_seq, txn_ref)
    select * from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::text[]) on conflict do nothing
"""
SET_MARKS = f"""
    insert into payment_word_mark (merchant_id, event_seq, scope)
    select u.merchant_id, u.event_seq, {SCOPE} from unnest($1::bigint[], $2::bigint[]) u (merchant_id, event_seq)
    on conflict (merchant_id) do update set event_seq = excluded.event_seq, scope = excluded.scope
"""
# A word alone is read newest first from the index: an amount may be that of a million payments.
FIND_BY_WORD = """
    select w.txn_ref from payment_word w where w.merchant_id = $1 and w.word = $2 order by w.event_seq desc limit $3
"""
FIND = """
    select w.txn_ref from payment_word w where w.merchant_id = $1 and w.word = any($2::bytea[])
    group by w.event_seq, w.txn_ref having count(*) = $3 order by w.event_seq desc limit $4
"""


class EndedHashers(NamedTuple):
    """The functions of the slices that return the hashes of the words of what has ended."""

    # Takes the merchant, and the txnRef, detail, encrypted payer, facts and amount of a payment.
    hash_payment: Callable[[int, str, str, bytes | None, str, int], set[bytes]]
    # Takes the merchant, and the txnRef, detail, encrypted facts and amount of a transfer.
    hash_transfer: Callable[[int, str, str, bytes | None, int], set[bytes]]


class Word(NamedTuple):
    """A row of payment_word. Sorted, rows go to the index in its order."""

    merchant_id: int
    word: bytes
    event_seq: int
    txn_ref: str


async def index_next(connection: Connection, hashers: EndedHashers) -> bool:
    """Adds the words of what ended next at all merchants, of EVENTS_PER_STEP events at most. Returns False if nothing
    is left, or another process adds."""
    async with connection.transaction():
        if not await connection.fetchval(TRY_LOCK, AdvisoryLock.PAYMENT_WORDS):
            return False
        lagging = [Uncounted(*row) for row in await connection.fetch(LAGGING, MAX_LAGGING)]
        step = choose_step(lagging, EVENTS_PER_STEP)
        if not step:
            return False
        merchants, marks, lasts = zip(*map(astuple, step), strict=True)
        words = await read_words(connection, hashers, await connection.fetch(ENDED, merchants, marks, lasts))
        if words:
            await connection.execute(ADD, *map(list, zip(*sorted(words), strict=True)))
        await connection.execute(SET_MARKS, merchants, lasts)
    return True


async def read_words(
    connection: Connection, hashers: EndedHashers, ended: Sequence[tuple[int, int, str, str]]
) -> list[Word]:
    """Returns the words of payments and transfers by their events: merchant, number, reference and kind."""
    seqs = {(merchant_id, reference): seq for merchant_id, seq, reference, _ in ended}
    payments = [(one, row_key(one, "payment", reference)) for one, _, reference, kind in ended if kind == "payment"]
    transfers = [(one, reference) for one, _, reference, kind in ended if kind != "payment"]
    statements = ((PAYMENTS, payments, hashers.hash_payment), (TRANSFERS, transfers, hashers.hash_transfer))
    words: list[Word] = []
    for statement, keys, hash_words in statements:
        rows = await connection.fetch(statement, *map(list, zip(*set(keys), strict=True))) if keys else []
        hashed = await run_in_shared_slices(collect(hash_row(hash_words, row) for row in rows))
        words += [
            Word(merchant_id, word, seqs[merchant_id, txn_ref], txn_ref)
            for merchant_id, txn_ref, hashes in hashed
            for word in hashes
        ]
    return words


def hash_row(hash_words: Callable[..., set[bytes]], row: Sequence[Any]) -> tuple[int, str, set[bytes]]:
    merchant_id, txn_ref, *stored = row
    return merchant_id, txn_ref, hash_words(merchant_id, txn_ref, *stored)


async def find_payments(reader: Reader, merchant_id: int, words: Sequence[bytes], limit: int) -> list[str]:
    """Returns the txnRefs of the newest payments and transfers that have all of these words."""
    if not words:
        return []
    if len(words) == 1:
        rows = await reader.fetch(FIND_BY_WORD, merchant_id, words[0], limit)
    else:
        rows = await reader.fetch(FIND, merchant_id, list(words), len(set(words)), limit)
    return list(dict.fromkeys(txn_ref for (txn_ref,) in rows))


class PaymentWords(Polling):
    """Adds the words of payments and transfers that ended. One process adds at a time, in whichever worker."""

    def __init__(self, dsn: str, hashers: EndedHashers) -> None:
        super().__init__()
        self._dsn = dsn
        self._hashers = hashers

    async def run(self) -> None:
        """Adds words every few seconds, until it is stopped."""
        await self.repeat(self.index_all, POLL_SECONDS, "adding the words of payments failed")

    async def index_all(self) -> None:
        """Adds until nothing is left, or another process adds."""
        connection = await connections.connect(self._dsn, SETTINGS, statement_seconds=STATEMENT_SECONDS)
        try:
            while not self._stopping.is_set() and await index_next(connection, self._hashers):
                pass
        finally:
            connection.terminate()
