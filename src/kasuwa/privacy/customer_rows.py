"""Finds the rows of a customer, for exports and erasure."""

from collections.abc import Collection

import msgspec

from kasuwa.core.references import row_key
from kasuwa.core.vault import Unsealer
from kasuwa.postgres.connection_pool import Connection
from kasuwa.privacy.dispute_rows import DisputeRows, find_disputes
from kasuwa.transactions.sealed_payers import add_to_record, payment_payer_aad, unseal_payer

PAGE_SIZE = 1_000

MOVED = "t.txn_ref, t.order_ref, t.status, t.message, t.currency, t.amount, t.fee, t.vat, t.created_at, t.final_at"
OF_CUSTOMER = "t.kind = 'payment' and t.detail ->> 'customer' = $2 and t.detail ->> 'customer' <> ''"
PAYMENTS = f"""
    select t.key, t.txn_ref, (select to_json(r)::text from (select {MOVED}) r)
    from transaction t where t.merchant_id = $1 and {OF_CUSTOMER} order by t.created_at, t.seq, t.key
"""
# Of a card only its mask, and of its token only the first characters: the whole token could be charged.
PAYERS = """
    select p.key, p.token, p.method, p.txn_ref, p.payer_sealed, json_build_object('method', p.method,
        'charged', p.charged, 'card', p.detail -> 'card' ->> 'mask', 'token', left(p.token, 4) || '****')::text
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

CUSTOMER_IDS = """
    select customer_id from customer
    where merchant_id = $1 and (key = $2 or phone_hash = any($3)) and erased_at is null order by number
"""


async def find_customer_ids(
    connection: Connection, merchant_id: int, key: bytes, phone_hashes: Collection[bytes]
) -> list[str]:
    """Returns the ids of the customer with a key, and of all with one of some telephone numbers, oldest first. Those
    that were erased are left out."""
    rows = await connection.fetch(CUSTOMER_IDS, merchant_id, key, list(phone_hashes))
    return [customer_id for (customer_id,) in rows]


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
        hashes = [payer_hash for (payer_hash,) in await connection.fetch(PAYER_HASHES, merchant_id, last, PAGE_SIZE)]
        for payer_hash in hashes:
            if row_key(merchant_id, "customer", payer_hash) == key:
                return str(payer_hash)
        if len(hashes) < PAGE_SIZE:
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
