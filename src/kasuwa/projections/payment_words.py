"""Payments by the words of their payers, which are stored encrypted: adds keyed hashes of the words, and finds by them.

Every final payment has an event, and events of a merchant have numbers without a gap: its mark is the last one that was
looked at. So writing a payment costs nothing more. A trigger removes the words of a payment whose payer is erased. See
docs/decisions/0081.
"""

from collections.abc import Callable, Sequence

from kasuwa.core.reading import Reader
from kasuwa.core.references import row_key
from kasuwa.postgres import connections
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.polling import Polling

POLL_SECONDS = 5.0
STATEMENT_SECONDS = 60.0
SETTINGS = {**connections.KEYED_SETTINGS, "application_name": "kasuwa payment words"}


# Decrypting the payers of so many payments takes a few milliseconds.
EVENTS_PER_STEP = 200

TRY_LOCK = "select pg_try_advisory_xact_lock($1)"
NEXT = """
    select s.merchant_id, coalesce(m.event_seq, 0), s.last_event_seq from merchant_state s
    left join payment_word_mark m on m.merchant_id = s.merchant_id
    where s.last_event_seq > coalesce(m.event_seq, 0) limit 1
"""
ENDED = """
    select e.seq, e.reference from event e
    where e.merchant_id = $1 and e.seq > $2 and e.seq <= $3 and e.kind = 'payment'
"""
PAYERS = """
    select p.txn_ref, p.detail::text, p.payer_sealed, p.facts::text from payment p
    where p.merchant_id = $1 and p.key = any($2::bytea[])
"""
ADD = """
    insert into payment_word (merchant_id, word, event_seq, txn_ref)
    select $1, u.word, u.seq, u.txn_ref from unnest($2::bytea[], $3::bigint[], $4::text[]) u (word, seq, txn_ref)
    on conflict do nothing
"""
SET_MARK = """
    insert into payment_word_mark (merchant_id, event_seq) values ($1, $2)
    on conflict (merchant_id) do update set event_seq = excluded.event_seq
"""
FIND = """
    select w.txn_ref from payment_word w where w.merchant_id = $1 and w.word = any($2::bytea[])
    group by w.event_seq, w.txn_ref having count(*) = $3 order by w.event_seq desc limit $4
"""

# Takes the merchant, and the txnRef, detail, encrypted payer and facts of a payment. Returns the hashes of its words.
HashWords = Callable[[int, str, str, bytes | None, str], set[bytes]]


async def index_next(connection: Connection, hash_words: HashWords) -> bool:
    """Adds the words of the next payments of a merchant. Returns False if none are left, or another process adds."""
    async with connection.transaction():
        if not await connection.fetchval(TRY_LOCK, AdvisoryLock.PAYMENT_WORDS):
            return False
        row = await connection.fetchrow(NEXT)
        if row is None:
            return False
        merchant_id, mark, newest = row
        last = min(newest, mark + EVENTS_PER_STEP)
        ended = {reference: seq for seq, reference in await connection.fetch(ENDED, merchant_id, mark, last)}
        keys = [row_key(merchant_id, "payment", reference) for reference in ended]
        new_words = [
            (word, ended[txn_ref], txn_ref)
            for txn_ref, *stored in (await connection.fetch(PAYERS, merchant_id, keys) if keys else ())
            for word in hash_words(merchant_id, txn_ref, *stored)
        ]
        if new_words:
            await connection.execute(ADD, merchant_id, *map(list, zip(*new_words, strict=True)))
        await connection.execute(SET_MARK, merchant_id, last)
    return True


async def find_payments(reader: Reader, merchant_id: int, words: Sequence[bytes], limit: int) -> list[str]:
    """Returns the txnRefs of the newest payments that have all of these words."""
    if not words:
        return []
    rows = await reader.fetch(FIND, merchant_id, list(words), len(set(words)), limit)
    return [txn_ref for (txn_ref,) in rows]


class PaymentWords(Polling):
    """Adds the words of payments that ended. One process adds at a time, in whichever worker."""

    def __init__(self, dsn: str, hash_words: HashWords) -> None:
        super().__init__()
        self._dsn = dsn
        self._hash_words = hash_words

    async def run(self) -> None:
        """Adds words every few seconds, until it is stopped."""
        await self.repeat(self.index_all, POLL_SECONDS, "adding the words of payments failed")

    async def index_all(self) -> None:
        """Adds until no payment is left, or another process adds."""
        connection = await connections.connect(self._dsn, SETTINGS, statement_seconds=STATEMENT_SECONDS)
        try:
            while not self._stopping.is_set() and await index_next(connection, self._hash_words):
                pass
        finally:
            connection.terminate()
