"""Payments and transfers by the words of the people in them, which are stored encrypted: adds keyed hashes of the
words, and finds by them.

Every final payment has an event, and events of a merchant have numbers without a gap: its mark is the last one that was
looked at. So writing a payment costs nothing more. A trigger removes the words of a payment whose payer is erased, or
of a transfer whose beneficiary is. See docs/decisions/0081 and 0104.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

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

# What the words cover: with a lower number, the words of a merchant are without transfers, addresses and amounts.
SCOPE = 2

TRY_LOCK = "select pg_try_advisory_xact_lock($1)"
NEXT = f"""
    select s.merchant_id, coalesce(m.event_seq, 0), s.last_event_seq from merchant_state s
    left join payment_word_mark m on m.merchant_id = s.merchant_id and m.scope = {SCOPE}
    where s.last_event_seq > coalesce(m.event_seq, 0) limit 1
"""
ENDED = """
    select e.seq, e.reference, e.kind from event e
    where e.merchant_id = $1 and e.seq > $2 and e.seq <= $3 and e.kind in ('payment', 'transfer')
"""
PAYMENTS = """
    select p.txn_ref, p.detail::text, p.payer_sealed, p.facts::text, t.amount from payment p
    join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
    where p.merchant_id = $1 and p.key = any($2::bytea[])
"""
TRANSFERS = """
    select t.txn_ref, t.detail::text, t.facts_sealed, t.amount from transaction t
    where t.merchant_id = $1 and t.txn_ref = any($2::text[]) and t.kind = 'transfer'
"""
ADD = """
    insert into payment_word (merchant_id, word, event_seq, txn_ref)
    select $1, u.word, u.seq, u.txn_ref from unnest($2::bytea[], $3::bigint[], $4::text[]) u (word, seq, txn_ref)
    on conflict do nothing
"""
SET_MARK = f"""
    insert into payment_word_mark (merchant_id, event_seq, scope) values ($1, $2, {SCOPE})
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


async def index_next(connection: Connection, hashers: EndedHashers) -> bool:
    """Adds the words of what ended next at a merchant. Returns False if nothing is left, or another process adds."""
    async with connection.transaction():
        if not await connection.fetchval(TRY_LOCK, AdvisoryLock.PAYMENT_WORDS):
            return False
        row = await connection.fetchrow(NEXT)
        if row is None:
            return False
        merchant_id, mark, newest = row
        last = min(newest, mark + EVENTS_PER_STEP)
        seqs, kinds = dict[str, int](), dict[str, str]()
        for seq, reference, kind in await connection.fetch(ENDED, merchant_id, mark, last):
            seqs[reference], kinds[reference] = seq, kind
        payments = [row_key(merchant_id, "payment", one) for one, kind in kinds.items() if kind == "payment"]
        transfers = [one for one, kind in kinds.items() if kind != "payment"]
        new_words = [
            (word, seqs[txn_ref], txn_ref)
            for statement, references, hash_words in (
                (PAYMENTS, payments, hashers.hash_payment),
                (TRANSFERS, transfers, hashers.hash_transfer),
            )
            for txn_ref, *stored in (await connection.fetch(statement, merchant_id, references) if references else ())
            for word in hash_words(merchant_id, txn_ref, *stored)
        ]
        if new_words:
            await connection.execute(ADD, merchant_id, *map(list, zip(*new_words, strict=True)))
        await connection.execute(SET_MARK, merchant_id, last)
    return True


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
