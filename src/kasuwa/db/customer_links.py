"""Links the payments of earlier versions to their customers: adds the hash of the payer's address to the transaction.

Payments of this version are written with it (core/payers.py). The index `transaction_unlinked` has those that are not,
and is empty afterwards. Also finds the rows of a customer, for exports and erasure."""

from collections.abc import Callable

import msgspec

from kasuwa.core.payers import PaymentMark, mark_payment
from kasuwa.core.references import row_key
from kasuwa.core.sealed_payers import add_to_record, payment_payer_aad, unseal_payer
from kasuwa.core.vault import Unsealer
from kasuwa.db.connection_pool import Connection
from kasuwa.db.dispute_rows import DisputeRows, find_disputes

# Takes the merchant's write lock. Raising the version makes writers drop their cached rows.
LOCK_MERCHANT = "update merchant_state set version = version + 1 where merchant_id = $1"
# The least merchant with a payment that is not linked: one look-up, where `distinct` would read the whole index.
NEXT_MERCHANT = """
    select min(merchant_id) from transaction
    where kind = 'payment' and detail ->> 'customer' is null and merchant_id > $1
"""
UNLINKED = """
    select key, txn_ref, coalesce(detail ->> 'method', '') from transaction
    where merchant_id = $1 and kind = 'payment' and detail ->> 'customer' is null order by key limit $2
"""
EMAILS = """
    select key, txn_ref, coalesce(detail ->> 'email', ''), payer_sealed from payment
    where merchant_id = $1 and key = any($2)
"""
LINK = """
    update transaction t set detail = u.detail::json from unnest($2::bytea[], $3::text[]) u (key, detail)
    where t.merchant_id = $1 and t.key = u.key
"""
LINK_BATCH_SIZE = 1_000


async def link_customers(connection: Connection, digest: Callable[[bytes], bytes], unseal: Unsealer) -> int:
    """Links every payment that is not linked. Returns how many there were.

    Each transaction holds one merchant's lock for at most LINK_BATCH_SIZE rows."""
    linked, merchant_id = 0, await connection.fetchval(NEXT_MERCHANT, 0)
    while merchant_id is not None:
        count = await link_batch(connection, digest, unseal, merchant_id)
        linked += count
        if count < LINK_BATCH_SIZE:
            merchant_id = await connection.fetchval(NEXT_MERCHANT, merchant_id)
    return linked


async def link_batch(
    connection: Connection, digest: Callable[[bytes], bytes], unseal: Unsealer, merchant_id: int
) -> int:
    async with connection.transaction():
        await connection.execute(LOCK_MERCHANT, merchant_id)
        rows = await connection.fetch(UNLINKED, merchant_id, LINK_BATCH_SIZE)
        keys = [row_key(merchant_id, "payment", txn_ref) for _, txn_ref, _ in rows]
        emails = {
            bytes(key): email or unseal_payer(merchant_id, payment_payer_aad(txn_ref), sealed, unseal).email
            for key, txn_ref, email, sealed in await connection.fetch(EMAILS, merchant_id, keys)
        }
        marks = [
            mark_payment(digest, merchant_id, emails.get(key, ""), PaymentMark(method))
            for (_, _, method), key in zip(rows, keys, strict=True)
        ]
        await connection.execute(LINK, merchant_id, [row[0] for row in rows], marks)
    return len(rows)


# Customers of earlier versions are not found by their id: this adds them to the index.
NOT_INDEXED = """
    select c.merchant_id, c.customer_id, c.key from customer c where not exists (
        select 1 from customer_index i where i.merchant_id = c.merchant_id and i.customer_key = c.key)
    order by c.merchant_id, c.number limit $1
"""
INDEX = """
    insert into customer_index (key, merchant_id, customer_key)
    select u.key, u.merchant_id, u.customer_key
    from unnest($1::bytea[], $2::bigint[], $3::bytea[]) u (key, merchant_id, customer_key) on conflict do nothing
"""


async def index_customers(connection: Connection) -> int:
    """Adds every customer that the index does not have. Returns how many there were.

    Needs no lock: a row of the index never changes, and no rule reads it before its customer's id is known."""
    indexed = 0
    while True:
        rows = await connection.fetch(NOT_INDEXED, LINK_BATCH_SIZE)
        keys = [row_key(merchant_id, "customer index", customer_id) for merchant_id, customer_id, _ in rows]
        await connection.execute(INDEX, keys, [row[0] for row in rows], [row[2] for row in rows])
        indexed += len(rows)
        if len(rows) < LINK_BATCH_SIZE:
            return indexed


# --- exports and erasure ----------------------------------------------------------------------------------------

MOVED = "t.txn_ref, t.order_ref, t.status, t.message, t.currency, t.amount, t.fee, t.vat, t.created_at, t.final_at"
OF_CUSTOMER = "t.kind = 'payment' and t.detail ->> 'customer' = $2 and t.detail ->> 'customer' <> ''"
PAYMENTS = f"""
    select t.key, t.txn_ref, (select to_json(r)::text from (select {MOVED}) r)
    from transaction t where t.merchant_id = $1 and {OF_CUSTOMER} order by t.created_at, t.seq, t.key
"""
# Of a card only its mask, and of its token only the first characters: the whole token could be charged.
PAYERS = """
    select p.key, p.token, p.method, p.txn_ref, p.payer_sealed, json_build_object('method', p.method,
        'charged', p.charged, 'fullname', p.detail ->> 'fullname', 'email', p.detail ->> 'email',
        'payer', p.detail ->> 'payer', 'payer_account', p.detail ->> 'payer_account',
        'ip', p.detail ->> 'ip', 'fingerprint', p.detail ->> 'fingerprint', 'meta', p.detail ->> 'meta',
        'card', p.detail -> 'card' ->> 'mask', 'token', left(p.token, 4) || '****')::text
    from payment p where p.merchant_id = $1 and p.key = any($2)
"""
# The payer of a plan is that of its first payment.
PLANS = """
    select p.key, json_build_object('plan_id', p.plan_id, 'kind', p.kind, 'currency', p.currency, 'state', p.state,
        'first_payment', p.first_ref, 'paid', p.paid, 'created_at', p.created_at)::text
    from payment_plan p where p.merchant_id = $1 and p.first_ref = any($2) order by p.created_at, p.key
"""
CARDS = """
    select c.key, json_build_object('token', left(c.token, 4) || '****', 'card', c.detail ->> 'mask',
        'brand', c.detail ->> 'brand', 'issuer', c.detail ->> 'issuer', 'created_at', c.created_at)::text
    from saved_card c where c.merchant_id = $1 and c.key = any($2) and length(c.sealed) > 0
    order by c.created_at, c.seq
"""

CUSTOMER_ID = "select customer_id from customer where merchant_id = $1 and key = $2 and erased_at is null"


async def find_customer_id(connection: Connection, merchant_id: int, key: bytes) -> str | None:
    """Returns the id of the customer with a key, or None if there is none or it was erased."""
    found = await connection.fetchval(CUSTOMER_ID, merchant_id, key)
    return None if found is None else str(found)


# Pages of the hashes of all customers who paid, in the order of the index transaction_customer.
PAYER_HASHES = """
    select distinct on (t.detail ->> 'customer') t.detail ->> 'customer' from transaction t
    where t.merchant_id = $1 and t.kind = 'payment' and t.detail ->> 'customer' <> '' and t.detail ->> 'customer' > $2
    order by t.detail ->> 'customer', t.created_at, t.seq, t.key limit $3
"""


async def find_payer_hash(connection: Connection, merchant_id: int, key: bytes) -> str | None:
    """Returns the hash that the payments of an erased customer have, or None if there are no payments.

    The row has lost its hash, but its key is made from it. So the hash of every customer who paid is tried."""
    last = ""
    while True:
        hashes = [found for (found,) in await connection.fetch(PAYER_HASHES, merchant_id, last, LINK_BATCH_SIZE)]
        for found in hashes:
            if row_key(merchant_id, "customer", found) == key:
                return str(found)
        if len(hashes) < LINK_BATCH_SIZE:
            return None
        last = hashes[-1]


class CustomerRows:
    """The rows that belong to a customer: JSON texts to export, and keys to erase, by kind."""

    def __init__(self) -> None:
        self.disputes = DisputeRows()
        self.records: dict[str, list[str]] = {
            "transaction": [],
            "payment": [],
            "plan": [],
            "saved_card": [],
        }
        self.keys: dict[str, list[bytes]] = {
            "payment_transaction": [],
            "payment": [],
            "plan": [],
            "saved_card": [],
            **self.disputes.keys,
        }
        self.payment_refs: list[str] = []


async def find_customer_rows(
    connection: Connection, merchant_id: int, email_hash: str, unseal: Unsealer
) -> CustomerRows:
    """Returns the payments of a customer, the plans begun and the cards saved with them, and their disputes. Cards of
    others' payments are not included."""
    rows, tokens = CustomerRows(), set[str]()
    payments = await connection.fetch(PAYMENTS, merchant_id, email_hash)
    payment_keys = [row_key(merchant_id, "payment", txn_ref) for _, txn_ref, _ in payments]
    rows.payment_refs = [txn_ref for _, txn_ref, _ in payments]
    rows.keys["payment_transaction"] = [bytes(key) for key, _, _ in payments]
    rows.records["transaction"] = [text for _, _, text in payments]
    for key, token, method, txn_ref, sealed, text in await connection.fetch(PAYERS, merchant_id, payment_keys):
        rows.keys["payment"].append(bytes(key))
        record = msgspec.json.decode(text)
        add_to_record(record, unseal_payer(merchant_id, payment_payer_aad(txn_ref), sealed, unseal))
        rows.records["payment"].append(msgspec.json.encode(record).decode())
        if token is not None and method == "card":
            tokens.add(token)
    for key, text in await connection.fetch(PLANS, merchant_id, rows.payment_refs):
        rows.keys["plan"].append(bytes(key))
        rows.records["plan"].append(text)
    card_keys = [row_key(merchant_id, "saved card", token) for token in sorted(tokens)]
    for key, text in await connection.fetch(CARDS, merchant_id, card_keys):
        rows.keys["saved_card"].append(bytes(key))
        rows.records["saved_card"].append(text)
    rows.disputes = await find_disputes(connection, merchant_id, rows.payment_refs)
    rows.keys |= rows.disputes.keys
    return rows
