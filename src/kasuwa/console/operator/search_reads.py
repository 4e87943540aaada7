"""The search for a reference over all merchants, for the operator's pages only. No writes; see reads.py.

References are unique within a merchant, and every index begins with the merchant or with a key that contains it. A
search therefore looks into each index once for each merchant, and never scans a table. One statement does so for all
merchants: it takes the keys of a table as one value, which costs less than an array of keys.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from kasuwa.concurrency.time_slices import collect, run_in_slices
from kasuwa.core.reading import Reader
from kasuwa.core.references import KEY_BYTES
from kasuwa.core.token_index import token_key
from kasuwa.core.vault import Vault
from kasuwa.methods.checkout.model import link_key
from kasuwa.methods.clients.model import client_key
from kasuwa.methods.disburse.model import batch_key
from kasuwa.methods.disputes.model import dispute_key
from kasuwa.methods.groups.model import group_loan_key
from kasuwa.methods.investments.model import savings_key
from kasuwa.methods.investments.thrift_model import thrift_plan_key
from kasuwa.methods.invoices.model import invoice_key
from kasuwa.methods.loan_products.model import product_key
from kasuwa.methods.loans.group_model import group_key
from kasuwa.methods.loans.model import loan_key
from kasuwa.methods.payment.plan_model import plan_key
from kasuwa.methods.payment.settlement_model import beneficiary_key
from kasuwa.methods.searched_records import make_searched_tables
from kasuwa.methods.virtualcard.dispute_model import card_dispute_key
from kasuwa.methods.virtualcard.model import card_key
from kasuwa.transactions.checkouts import checkout_key
from kasuwa.transactions.inbound_accounts import ACCOUNT, personalized_key
from kasuwa.transactions.transactions import MERCHANT_REFERENCED_KINDS, transaction_key
from kasuwa.webhooks.signatures import parse_event_id
from kasuwa.wire.search_words import hash_search

MAX_FOUND = 50
# What has a frequent word is looked for among so many of a merchant.
MAX_COUNTED = 1_000
KeyMaker = Callable[[int, str], bytes]


class KeyedTable(NamedTuple):
    """A table whose keys follow from the merchant and a reference."""

    key_of: KeyMaker
    kind: str
    table: str
    reference: str  # column
    state: str  # column or expression


KEYED_TABLES = (
    KeyedTable(loan_key, "loan", "loan", "loan_id", "state"),
    KeyedTable(savings_key, "savings", "savings", "savings_id", "state"),
    KeyedTable(thrift_plan_key, "thrift", "thrift_plan", "thrift_id", "state"),
    KeyedTable(plan_key, "plan", "payment_plan", "plan_id", "state"),
    KeyedTable(card_key, "virtual_card", "virtual_card", "reference", "state"),
    KeyedTable(beneficiary_key, "beneficiary", "beneficiary", "ref_code", "'active'"),
    KeyedTable(personalized_key, "personalized_account", "personalized_account", "reference", "state"),
    KeyedTable(client_key, "client", "client", "client_id", "status"),
    KeyedTable(batch_key, "batch", "transfer_batch", "batch_ref", "'accepted'"),
    KeyedTable(dispute_key, "dispute", "dispute", "dispute_id", "state"),
    KeyedTable(card_dispute_key, "card_dispute", "virtual_card_dispute", "dispute_id", "state"),
    KeyedTable(checkout_key, "checkout", "checkout", "txn_ref", "state"),
    KeyedTable(link_key, "link", "pay_link", "link_id", "state"),
    KeyedTable(invoice_key, "invoice", "invoice", "invoice_id", "status"),
    KeyedTable(group_key, "group", "client_group", "group_id", "state"),
    KeyedTable(group_loan_key, "group_loan", "group_loan", "group_loan_id", "'accepted'"),
    KeyedTable(product_key, "loan_product", "loan_product", "product_id", "state"),
)

# Newest first: the merchants that are active most often joined last, and a search ends at its limit.
MERCHANT_IDS = "select merchant_id from merchant where current order by merchant_id desc"


def any_key(parameter: int) -> str:
    """Returns SQL for each of the keys that follow each other in a parameter."""
    places = f"generate_series(1, length(${parameter}::bytea), {KEY_BYTES})"
    return f"any(array(select substr(${parameter}::bytea, n, {KEY_BYTES}) from {places} n))"


OBJECTS = " ".join(
    f"union all select merchant_id, '{one.kind}', {one.reference}, {one.state} from {one.table}"
    f" where key = {any_key(parameter)}"
    for parameter, one in enumerate(KEYED_TABLES, 4)
)
# $1: merchants; $2: the text; $3: keys of transactions under the merchants' own references; from $4: keys of the
# objects of one table each.
FIND = f"""
    select merchant_id, kind, txn_ref, status from (
        select t.merchant_id, t.kind, t.txn_ref, t.status from unnest($1::bigint[]) m (id) cross join lateral (
            select * from transaction where merchant_id = m.id and txn_ref = $2 limit 1) t
        union all select t.merchant_id, t.kind, t.txn_ref, t.status from unnest($1::bigint[]) m (id)
        cross join lateral (
            select * from transaction where merchant_id = m.id and order_ref = $2 and kind = 'payment'
            order by created_at desc, seq desc, key desc limit 3) t
        union all select t.merchant_id, t.kind, t.txn_ref, t.status from unnest($1::bigint[]) m (id)
        cross join lateral (
            select * from transaction where merchant_id = m.id and order_ref = $2 and kind in ('repayment', 'deposit')
            order by created_at desc, seq desc, key desc limit 3) t
        union all select merchant_id, kind, txn_ref, status from transaction where key = {any_key(3)}
        union all select c.merchant_id, 'customer', c.customer_id,
                case when c.erased_at is null then 'active' else 'erased' end
            from unnest($1::bigint[]) m (id) cross join lateral (
                select * from customer where merchant_id = m.id and customer_id = $2 limit 1) c
        {OBJECTS}) f
    limit {MAX_FOUND}
"""
# Places are pairs of merchant ($1) and number ($2).
EVENT = """
    select e.merchant_id, 'event', e.reference, e.kind from unnest($1::bigint[], $2::bigint[]) p (merchant_id, seq)
    join event e on e.merchant_id = p.merchant_id and e.seq = p.seq limit 1
"""
ACCOUNT_OWNER = "select merchant_id, reference from token_index where key = $1"
NAMES = "select merchant_id, mid, name from merchant where merchant_id = any($1::bigint[])"


class FoundReference(NamedTuple):
    """Something that a reference stands for. `reference` is the one under which its page is found."""

    merchant_id: int
    kind: str
    reference: str
    state: str


async def list_merchant_ids(reader: Reader) -> list[int]:
    return [row[0] for row in await reader.fetch(MERCHANT_IDS)]


async def find_everywhere(reader: Reader, merchants: Sequence[int], text: str) -> list[FoundReference]:
    """Returns what has this reference with any of the merchants, at most MAX_FOUND."""
    own: list[KeyMaker] = [partial(own_reference_key, kind) for kind in MERCHANT_REFERENCED_KINDS]
    makers = [own, *([one.key_of] for one in KEYED_TABLES)]
    keys = [await run_in_slices(collect(make(n, text) for n in merchants for make in group)) for group in makers]
    rows = await reader.fetch(FIND, merchants, text, *(b"".join(group) for group in keys))
    return sorted({FoundReference(*row) for row in rows}, reverse=True)


def own_reference_key(kind: str, merchant_id: int, reference: str) -> bytes:
    return transaction_key(merchant_id, kind, reference)


async def find_event(reader: Reader, merchants: Iterable[int], text: str) -> FoundReference | None:
    """Returns the event with this id, whose checksum tells its merchant."""
    numbers = await run_in_slices(collect((number, parse_event_id(number, text)) for number in merchants))
    places = [(number, seq) for number, seq in numbers if seq is not None]
    row = await reader.fetchrow(EVENT, [number for number, _ in places], [seq for _, seq in places])
    # Events of a dispute have its reference and their number.
    return None if row is None else FoundReference(row[0], row[1], str(row[2]).partition("/")[0], row[3])


async def find_account_number(reader: Reader, vault: Vault, text: str) -> FoundReference | None:
    """Returns the owner of an account number that payers transfer to."""
    row = await reader.fetchrow(ACCOUNT_OWNER, token_key(vault, ACCOUNT, text))
    if row is None:
        return None
    # It names its owner: "payment GP…" or "personalized customer-17".
    kind, _, reference = str(row[1]).partition(" ")
    return FoundReference(row[0], "payment" if kind == "payment" else "personalized_account", reference, "")


# Pairs of merchant and hash follow each other. What has several words has each of them.
FIND_WORDS = f"""
    select w.merchant_id, w.kind, w.key from unnest($1::bigint[], $2::bytea[]) u (merchant_id, word)
    cross join lateral (
        select * from record_word where merchant_id = u.merchant_id and word = u.word limit {MAX_COUNTED}) w
    group by w.merchant_id, w.kind, w.key having count(*) = $3 limit {MAX_FOUND}
"""
FIND_ENDED = f"""
    select t.merchant_id, t.kind, t.txn_ref, t.status from (
        select w.merchant_id, w.txn_ref from unnest($1::bigint[], $2::bytea[]) u (merchant_id, word)
        cross join lateral (
            select * from payment_word where merchant_id = u.merchant_id and word = u.word
            order by event_seq desc limit {MAX_COUNTED}) w
        group by w.merchant_id, w.txn_ref having count(distinct w.word) = $3 limit {MAX_FOUND}) f
    join transaction t on t.merchant_id = f.merchant_id and t.txn_ref = f.txn_ref
"""
FIND_INVOICES = f"""
    select merchant_id, 'invoice', invoice_id, status from unnest($1::bigint[]) m (id) cross join lateral (
        select * from invoice where merchant_id = m.id and number = $2 limit 1) i limit {MAX_FOUND}
"""


async def find_by_words(
    reader: Reader, vault: Vault, merchants: Sequence[int], words: Sequence[str], amount: str
) -> list[FoundReference]:
    """Returns the records, payments and transfers of any merchant that have all of these words, and the payments and
    transfers of an amount. Of very frequent words only the newest MAX_COUNTED of a merchant are looked at."""
    references = list[FoundReference]()
    for question, is_amount in ((words, False), ([amount] if amount else [], True)):
        if not question:
            continue
        pairs = [(number, word) for number in merchants for word in question]
        hashes = await run_in_slices(collect(hash_search(vault.digest, *pair) for pair in pairs))
        questions = [number for number, _ in pairs], hashes, len(question)
        references += [FoundReference(*row) for row in await reader.fetch(FIND_ENDED, *questions)]
        if not is_amount:
            references += await describe_records(reader, vault, await reader.fetch(FIND_WORDS, *questions))
    return references


async def describe_records(reader: Reader, vault: Vault, rows: Iterable[Any]) -> list[FoundReference]:
    """Returns the references of records, given by merchant, kind and row key."""
    tables, keys = make_searched_tables(vault), defaultdict[str, list[tuple[int, bytes]]](list)
    for merchant_id, kind, key in rows:
        keys[kind].append((merchant_id, key))
    references = list[FoundReference]()
    for kind, wanted in keys.items():
        table = tables[kind]
        statement = f"""
            select r.merchant_id, {table.page}, {table.reference}, {table.state} from {table.table} r
            join unnest($1::bigint[], $2::bytea[]) u (merchant_id, row_key)
                on r.merchant_id = u.merchant_id and r.key = u.row_key
        """
        numbers, row_keys = zip(*wanted, strict=True)
        references += [FoundReference(*row) for row in await reader.fetch(statement, list(numbers), list(row_keys))]
    return references


async def find_invoices(reader: Reader, merchants: Sequence[int], number: int) -> list[FoundReference]:
    """Returns the invoices with a number."""
    return [FoundReference(*row) for row in await reader.fetch(FIND_INVOICES, list(merchants), number)]


async def read_names(reader: Reader, merchants: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Returns mid and name by merchant number."""
    return {number: (mid, name) for number, mid, name in await reader.fetch(NAMES, list(merchants))}
