"""The search for a reference over all merchants, for the operator's pages only. No writes; see operator_reads.py.

References are unique within a merchant, and every index begins with the merchant or with a key that contains it. A
search therefore looks into the indexes once for each merchant, in pieces, and never scans a table.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kasuwa.core.checkouts import checkout_key
from kasuwa.core.events import parse_event_id
from kasuwa.core.inbound_accounts import ACCOUNT, personalized_key
from kasuwa.core.reading import Reader
from kasuwa.core.token_index import token_key
from kasuwa.core.transactions import MERCHANT_REFERENCED_KINDS, transaction_key
from kasuwa.core.vault import Vault
from kasuwa.methods.checkout.model import link_key
from kasuwa.methods.clients.model import client_key
from kasuwa.methods.disburse.model import batch_key
from kasuwa.methods.disputes.model import dispute_key
from kasuwa.methods.investments.model import savings_key
from kasuwa.methods.investments.thrift_model import thrift_plan_key
from kasuwa.methods.invoices.model import invoice_key
from kasuwa.methods.loans.model import loan_key
from kasuwa.methods.payment.plan_model import plan_key
from kasuwa.methods.payment.settlement_model import beneficiary_key
from kasuwa.methods.virtualcard.model import card_key

MAX_FOUND = 50
MERCHANTS_PER_QUERY = 500

KEY_MAKERS: tuple[Callable[[int, str], bytes], ...] = (
    *(loan_key, savings_key, thrift_plan_key, plan_key, card_key, beneficiary_key, personalized_key),
    *(client_key, batch_key, dispute_key, checkout_key, link_key, invoice_key),
)

# Newest first: the merchants that are active most often joined last, and a search may end early.
MERCHANT_IDS = "select merchant_id from merchant where current order by merchant_id desc"
# $1: merchants; $2: the text; $3: keys of transactions under the merchants' own references; $4: keys of other objects.
FIND = """
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
        union all select merchant_id, kind, txn_ref, status from transaction where key = any($3::bytea[])
        union all select merchant_id, 'customer', customer_id,
                case when erased_at is null then 'active' else 'erased' end
            from unnest($1::bigint[]) m (id) join customer on merchant_id = m.id and customer_id = $2
        union all select merchant_id, 'loan', loan_id, state from loan where key = any($4::bytea[])
        union all select merchant_id, 'savings', savings_id, state from savings where key = any($4::bytea[])
        union all select merchant_id, 'thrift', thrift_id, state from thrift_plan where key = any($4::bytea[])
        union all select merchant_id, 'plan', plan_id, state from payment_plan where key = any($4::bytea[])
        union all select merchant_id, 'virtual_card', reference, state from virtual_card where key = any($4::bytea[])
        union all select merchant_id, 'beneficiary', ref_code, 'active' from beneficiary where key = any($4::bytea[])
        union all select merchant_id, 'personalized_account', reference, state from personalized_account
            where key = any($4::bytea[])
        union all select merchant_id, 'client', client_id, status from client where key = any($4::bytea[])
        union all select merchant_id, 'batch', batch_ref, 'accepted' from transfer_batch where key = any($4::bytea[])
        union all select merchant_id, 'dispute', dispute_id, state from dispute where key = any($4::bytea[])
        union all select merchant_id, 'checkout', txn_ref, state from checkout where key = any($4::bytea[])
        union all select merchant_id, 'link', link_id, state from pay_link where key = any($4::bytea[])
        union all select merchant_id, 'invoice', invoice_id, status from invoice where key = any($4::bytea[])) f
    limit 50
"""
EVENT = "select 'event', reference, kind from event where merchant_id = $1 and seq = $2"
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
    found: list[FoundReference] = []
    for start in range(0, len(merchants), MERCHANTS_PER_QUERY):
        piece = merchants[start : start + MERCHANTS_PER_QUERY]
        own = [transaction_key(number, kind, text) for number in piece for kind in MERCHANT_REFERENCED_KINDS]
        keys = [make(number, text) for number in piece for make in KEY_MAKERS]
        rows = await reader.fetch(FIND, piece, text, own, keys)
        found += [FoundReference(*row) for row in rows]
        if len(found) >= MAX_FOUND:
            break
    return sorted(set(found), reverse=True)[:MAX_FOUND]


async def find_event(reader: Reader, merchants: Iterable[int], text: str) -> FoundReference | None:
    """Returns the event with this id, whose checksum tells its merchant."""
    for number, seq in event_places(merchants, text):
        row = await reader.fetchrow(EVENT, number, seq)
        if row is not None:
            # Events of a dispute have its reference and their number.
            return FoundReference(number, row[0], str(row[1]).partition("/")[0], row[2])
    return None


def event_places(merchants: Iterable[int], text: str) -> Iterator[tuple[int, int]]:
    for number in merchants:
        seq = parse_event_id(number, text)
        if seq is not None:
            yield number, seq


async def find_account_number(reader: Reader, vault: Vault, text: str) -> FoundReference | None:
    """Returns the owner of an account number that payers transfer to."""
    row = await reader.fetchrow(ACCOUNT_OWNER, token_key(vault, ACCOUNT, text))
    if row is None:
        return None
    # It names its owner: "payment GP…" or "personalized customer-17".
    kind, _, reference = str(row[1]).partition(" ")
    return FoundReference(row[0], "payment" if kind == "payment" else "personalized_account", reference, "")


async def read_names(reader: Reader, merchants: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Returns mid and name by merchant number."""
    return {number: (mid, name) for number, mid, name in await reader.fetch(NAMES, list(merchants))}
