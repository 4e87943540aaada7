"""Records of merchants by the words of their names and titles: makes keyed hashes of the words, and finds by them.

A trigger puts a record that is new, or whose name has changed, among those that are due; another one removes the words
of a person who is erased. See docs/decisions/0104.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from kasuwa.core.reading import Reader
from kasuwa.postgres import connections
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.polling import Polling

POLL_SECONDS = 5.0
STATEMENT_SECONDS = 60.0
SETTINGS = {**connections.KEYED_SETTINGS, "application_name": "kasuwa record words"}

# Decrypting so many records takes a few milliseconds.
RECORDS_PER_STEP = 200

TRY_LOCK = "select pg_try_advisory_xact_lock($1)"
NEXT = "select merchant_id from record_word_due limit 1"
TAKE = """
    delete from record_word_due where merchant_id = $1 and seq in (
        select seq from record_word_due where merchant_id = $1 order by seq limit $2)
    returning kind, key
"""
FORGET = "delete from record_word where merchant_id = $1 and key = any($2::bytea[])"
ADD = """
    insert into record_word (merchant_id, word, kind, key)
    select $1, u.word, u.kind, u.key from unnest($2::bytea[], $3::text[], $4::bytea[]) u (word, kind, key)
    on conflict do nothing
"""
FIND = """
    select w.kind, w.key from record_word w where w.merchant_id = $1 and w.word = any($2::bytea[])
    group by w.kind, w.key having count(*) = $3 order by w.kind, w.key limit $4
"""


class SearchedText(NamedTuple):
    """The texts that a record is found by: the words of its name or title, an email address, the end of a number."""

    name: str = ""
    email: str = ""
    number: str = ""


NO_TEXT = SearchedText()
# Takes the merchant and the text of a record. Returns the hashes of its words.
HashText = Callable[[int, SearchedText], set[bytes]]


class SearchedTable(NamedTuple):
    """A table whose records are found by words."""

    kind: str
    table: str
    reference: str  # the column by which people know a record
    state: str  # column or expression
    page: str  # column or expression: the kind of record that people know it as
    columns: str  # SQL of the columns that the words are made of
    # Takes the merchant, the row key, the reference and those columns.
    read_text: Callable[..., SearchedText]


async def index_next(connection: Connection, tables: Mapping[str, SearchedTable], hash_text: HashText) -> bool:
    """Makes the words of records of one merchant that are due. Returns False if none are, or another process does."""
    async with connection.transaction():
        if not await connection.fetchval(TRY_LOCK, AdvisoryLock.RECORD_WORDS):
            return False
        merchant_id = await connection.fetchval(NEXT)
        if merchant_id is None:
            return False
        due = [(kind, bytes(key)) for kind, key in await connection.fetch(TAKE, merchant_id, RECORDS_PER_STEP)]
        records = await read_records(connection, tables, merchant_id, due)
        new_words = [
            (word, record.kind, record.key) for record in records for word in hash_text(merchant_id, record.text)
        ]
        await connection.execute(FORGET, merchant_id, sorted({key for _, key in due}))
        if new_words:
            await connection.execute(ADD, merchant_id, *map(list, zip(*new_words, strict=True)))
    return True


class FoundRecord(NamedTuple):
    """A record with what it is found by."""

    kind: str
    key: bytes
    reference: str
    state: str
    page: str  # the kind of record that people know it as
    text: SearchedText


async def read_records(
    reader: Reader, tables: Mapping[str, SearchedTable], merchant_id: int, keys: Iterable[tuple[str, bytes]]
) -> list[FoundRecord]:
    """Returns the records of a merchant with these kinds and row keys."""
    by_kind = defaultdict[str, set[bytes]](set)
    for kind, key in keys:
        by_kind[kind].add(key)
    records: list[FoundRecord] = []
    for kind, wanted in by_kind.items():
        table = tables[kind]
        statement = f"""
            select key, {table.reference}, {table.state}, {table.page}, {table.columns} from {table.table}
            where merchant_id = $1 and key = any($2::bytea[]) order by key
        """
        for key, reference, state, page, *stored in await reader.fetch(statement, merchant_id, sorted(wanted)):
            text = table.read_text(merchant_id, bytes(key), reference, *stored)
            records.append(FoundRecord(kind, bytes(key), reference, state, page, text))
    return records


async def find_records(
    reader: Reader, tables: Mapping[str, SearchedTable], merchant_id: int, words: Sequence[bytes], limit: int
) -> list[FoundRecord]:
    """Returns the records of a merchant that have all of these words."""
    if not words:
        return []
    rows = await reader.fetch(FIND, merchant_id, list(words), len(set(words)), limit)
    return await read_records(reader, tables, merchant_id, ((kind, bytes(key)) for kind, key in rows))


class RecordWords(Polling):
    """Makes the words of records. One process does at a time, in whichever worker."""

    def __init__(self, dsn: str, tables: Mapping[str, SearchedTable], hash_text: HashText) -> None:
        super().__init__()
        self._dsn = dsn
        self._tables = tables
        self._hash_text = hash_text

    async def run(self) -> None:
        """Makes words every few seconds, until it is stopped."""
        await self.repeat(self.index_all, POLL_SECONDS, "making the words of records failed")

    async def index_all(self) -> None:
        """Makes words until nothing is due, or another process makes them."""
        connection = await connections.connect(self._dsn, SETTINGS, statement_seconds=STATEMENT_SECONDS)
        try:
            while not self._stopping.is_set() and await index_next(connection, self._tables, self._hash_text):
                pass
        finally:
            connection.terminate()
