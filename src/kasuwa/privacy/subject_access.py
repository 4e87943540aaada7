"""Data subject access: exports and finds all rows of one client, for operators.

Exports every table with a client_id column, so that new tables are included, and what belongs to the client's loans and
savings by the reference in its purpose (transactions/purpose.py).
"""

import msgspec

from kasuwa.core.vault import Unsealer
from kasuwa.postgres.connection_pool import Connection
from kasuwa.privacy.dispute_rows import DisputeRows, find_disputes
from kasuwa.transactions.purpose import read_subject
from kasuwa.transactions.sealed_payers import add_to_record, payment_payer_aad, unseal_payer

# Keys, hashes, encrypted columns and the tokens of cards are left out, and so are tables that have nothing but the
# client's id.
CLIENT_TABLES = """
    select c.table_name::text, array_agg(c.column_name::text order by c.ordinal_position)
    from information_schema.columns c
    where c.table_schema = 'public' and c.data_type <> 'bytea'
    and c.column_name not in ('merchant_id', 'client_id', 'card_token')
    and c.table_name <> 'client' and exists (
        select 1 from information_schema.columns o where o.table_schema = c.table_schema
        and o.table_name = c.table_name and o.column_name = 'client_id')
    group by c.table_name order by c.table_name
"""


# The client's loans and savings, and what was paid for them.
CLIENT_PRODUCTS_CTE = """
    mine (id) as (
        select l.loan_id from loan l where l.merchant_id = $1 and l.client_id = $2
        union all select s.savings_id from savings s where s.merchant_id = $1 and s.client_id = $2
        union all select g.group_loan_id from group_loan g where g.merchant_id = $1 and g.client_id = $2),
    paid as (
        select p.* from payment p
        where p.merchant_id = $1 and p.detail -> 'purpose' ->> 'reference' in (select id from mine))
"""
MOVED = "t.txn_ref, t.order_ref, t.status, t.message, t.currency, t.amount, t.fee, t.vat, t.created_at, t.final_at"

# What has a reason in the merchant's words: its table, its own reference, and where the reason is.
WITH_REASON = {
    "loan_schedule": ("loan_id", "loan", "t.until, t.rate, t.reason"),
    "loan_write_off": (
        "loan_id",
        "loan",
        "t.state, t.amount, t.detail ->> 'reason' as reason, t.created_at, t.decided_at",
    ),
    "savings_reactivation": (
        "savings_id",
        "savings",
        "t.state, t.detail ->> 'reason' as reason, t.created_at, t.decided_at",
    ),
}
# Those of a client, to be filled with what to select.
REASONS_OF_CLIENT = {
    table: f"""
        select {{}} from {table} t where t.merchant_id = $1 and t.{reference} in (
            select o.{reference} from {owner} o where o.merchant_id = $1 and o.client_id = $2)
        order by t.n, t.key
    """
    for table, (reference, owner, _) in WITH_REASON.items()
}

# Of a card only its mask, and of its token only the first characters: the whole token could be charged.
RELATED_QUERIES = {
    "loan_line": f"""
        with {CLIENT_PRODUCTS_CTE}
            select l.loan_id, l.n, l.due, l.principal, l.interest, l.tax, l.penalty, l.paid_principal,
            l.paid_interest, l.paid_tax, l.paid_penalty, l.charges, l.charge, l.vat, l.paid_charge, l.paid_vat
        from loan_installment l where l.merchant_id = $1 and l.loan_id in (select id from mine) order by l.loan_id, l.n
    """,
    "payment": f"""
        with {CLIENT_PRODUCTS_CTE} select p.detail -> 'purpose' as purpose, p.method, {MOVED}, p.charged,
            p.payer_sealed,
            coalesce(p.detail -> 'card' ->> 'mask', p.facts -> 'card' ->> 'mask') as card,
            left(p.token, 4) || '****' as token
        from paid p join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
        where t.merchant_id = $1 order by t.created_at, t.seq, t.key
    """,
    "saved_card": f"""
        with {CLIENT_PRODUCTS_CTE} select left(c.token, 4) || '****' as token, c.detail ->> 'mask' as card,
            c.detail ->> 'brand' as brand, c.detail ->> 'issuer' as issuer, c.created_at
        from saved_card c
        where c.merchant_id = $1 and length(c.sealed) > 0 and c.token in (select p.token from paid p)
        order by c.created_at, c.seq
    """,
    "transfer": f"""
        with {CLIENT_PRODUCTS_CTE}
            select t.detail -> 'purpose' as purpose, {MOVED}, t.detail ->> 'bank_code' as bank_code,
            t.detail ->> 'account_number' as account_number,
            t.detail ->> 'narration' as narration
        from transaction t where t.merchant_id = $1 and t.kind = 'transfer'
            and t.detail -> 'purpose' ->> 'reference' in (select id from mine)
        order by t.created_at, t.seq, t.key
    """,
    "cashcode": f"""
        with {CLIENT_PRODUCTS_CTE}
            select t.detail -> 'purpose' as purpose, {MOVED}, c.channel, c.state, c.paid, c.expires_at
        from transaction t join cashcode c on c.merchant_id = t.merchant_id and c.txn_ref = t.txn_ref
        where t.merchant_id = $1 and t.kind = 'cashcode'
            and t.detail -> 'purpose' ->> 'reference' in (select id from mine)
        order by t.created_at, t.seq, t.key
    """,
    # What moved within the books: by the wallet, or in cash over the counter. A repayment names its loan in its
    # postings alone.
    "movement": f"""
        with {CLIENT_PRODUCTS_CTE}, posted as (
            select g.reference from posting g where g.merchant_id = $1 and starts_with(g.credit, 'loan_')
                and split_part(g.credit, ':', 2) in (select id from mine)
            union all select g.reference from posting g where g.merchant_id = $1 and starts_with(g.debit, 'loan_')
                and split_part(g.debit, ':', 2) in (select id from mine))
        select t.kind, t.detail::text as detail, {MOVED}
        from transaction t
        where t.merchant_id = $1 and (t.detail ->> 'savings_id' in (select id from mine)
            or t.kind = 'repayment' and t.txn_ref in (select reference from posted))
        order by t.created_at, t.seq, t.key
    """,
    **{
        table: REASONS_OF_CLIENT[table].format(f"t.{reference}, t.n, {columns}")
        for table, (reference, _, columns) in WITH_REASON.items()
    },
}


async def export_client_records(
    connection: Connection, merchant_id: int, client_id: str, unseal: Unsealer
) -> dict[str, list[str]]:
    """Returns the rows that belong to a client as JSON texts, by table or kind."""
    records: dict[str, list[str]] = {}
    for table, columns in await connection.fetch(CLIENT_TABLES):
        chosen = ", ".join(f't."{column}"' for column in columns)
        query = f"""select to_json(r)::text from (select {chosen} from "{table}" t
            where t.merchant_id = $1 and t.client_id = $2 order by t.key) r"""
        records[table] = [text for (text,) in await connection.fetch(query, merchant_id, client_id)]
    for kind, query in RELATED_QUERIES.items():
        rows = await connection.fetch(f"select to_json(r)::text from ({query}) r", merchant_id, client_id)
        records[kind] = [text for (text,) in rows]
    records["payment"] = [open_payment(text, merchant_id, unseal) for text in records["payment"]]
    records["movement"] = [open_movement(text, merchant_id, unseal) for text in records["movement"]]
    return {kind: rows for kind, rows in records.items() if rows}


def open_payment(text: str, merchant_id: int, unseal: Unsealer) -> str:
    """Returns the record of a payment with its payer's data in place of the ciphertext."""
    record = msgspec.json.decode(text)
    sealed = record.pop("payer_sealed")
    payer = unseal_payer(
        merchant_id,
        payment_payer_aad(record["txn_ref"]),
        None if sealed is None else bytes.fromhex(sealed.removeprefix("\\x")),
        unseal,
    )
    add_to_record(record, payer)
    return msgspec.json.encode(record).decode()


def open_movement(text: str, merchant_id: int, unseal: Unsealer) -> str:
    """Returns a movement with what its detail has, and the payer decrypted."""
    record = msgspec.json.decode(text)
    subject = read_subject(merchant_id, record["txn_ref"], record.pop("detail"), unseal)
    payer = {name: getattr(subject, name) or None for name in ("savings_id", "meta", "ip", "fingerprint")}
    return msgspec.json.encode({"kind": record.pop("kind"), **payer, **record}).decode()


# Keys of rows with personal data. Cards that were saved by payments of others are not included.
ERASABLE_QUERIES = {
    "payment": f"with {CLIENT_PRODUCTS_CTE} select p.key from paid p",
    "plan": f"""
        with {CLIENT_PRODUCTS_CTE} select r.key from payment_plan r
        where r.merchant_id = $1 and r.first_ref in (select p.txn_ref from paid p)
    """,
    "payment_transaction": f"""
        with {CLIENT_PRODUCTS_CTE} select t.key from paid p
        join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref where t.merchant_id = $1
    """,
    "saved_card": f"""
        with {CLIENT_PRODUCTS_CTE} select c.key from saved_card c
        where c.merchant_id = $1 and c.token in (select p.token from paid p where p.method = 'card')
    """,
    "savings": "select s.key from savings s where s.merchant_id = $1 and s.client_id = $2",
    "card_dispute": "select d.key from virtual_card_dispute d where d.merchant_id = $1 and d.client_id = $2",
    "card_dispute_file": """
        select f.key from virtual_card_dispute d
        join dispute_file f on f.merchant_id = d.merchant_id and f.dispute_id = d.dispute_id
        where d.merchant_id = $1 and d.client_id = $2
    """,
    "card": "select c.key from virtual_card c where c.merchant_id = $1 and c.client_id = $2",
    "collateral": "select c.key from loan_collateral c where c.merchant_id = $1 and c.client_id = $2",
    "transfer": """
        select t.key from transaction t where t.merchant_id = $1 and t.kind = 'transfer'
            and t.detail -> 'purpose' ->> 'reference' in (
                select s.savings_id from savings s where s.merchant_id = $1 and s.client_id = $2)
    """,
    "repayment": """
        select t.key from transaction t where t.merchant_id = $1 and t.kind = 'repayment'
            and t.detail ->> 'loan_id' in (
                select l.loan_id from loan l where l.merchant_id = $1 and l.client_id = $2)
    """,
    "deposit": """
        select t.key from transaction t where t.merchant_id = $1 and t.kind = 'deposit'
            and t.detail ->> 'savings_id' in (
                select s.savings_id from savings s where s.merchant_id = $1 and s.client_id = $2)
    """,
    **{table: query.format("t.key") for table, query in REASONS_OF_CLIENT.items()},
}


async def find_erasable_keys(connection: Connection, merchant_id: int, client_id: str) -> dict[str, list[bytes]]:
    """Returns the keys of the rows with a client's personal data, by kind."""
    keys = {
        kind: [bytes(key) for (key,) in await connection.fetch(query, merchant_id, client_id)]
        for kind, query in ERASABLE_QUERIES.items()
    }
    return keys | (await find_client_disputes(connection, merchant_id, client_id)).keys


PAYMENT_REFS = f"with {CLIENT_PRODUCTS_CTE} select p.txn_ref from paid p"


async def find_client_disputes(connection: Connection, merchant_id: int, client_id: str) -> DisputeRows:
    """Returns the disputes of the payments for a client's loans and savings."""
    refs = [txn_ref for (txn_ref,) in await connection.fetch(PAYMENT_REFS, merchant_id, client_id)]
    return await find_disputes(connection, merchant_id, refs)


CARD_EVIDENCE = """
    select dispute_id, evidence_sealed from virtual_card_dispute
    where merchant_id = $1 and client_id = $2 and evidence_sealed is not null order by number, key
"""


async def find_card_evidence(connection: Connection, merchant_id: int, client_id: str) -> list[tuple[str, bytes]]:
    """Returns the encrypted evidence of the disputes of a client's card purchases, by dispute."""
    rows = await connection.fetch(CARD_EVIDENCE, merchant_id, client_id)
    return [(dispute_id, bytes(sealed)) for dispute_id, sealed in rows]


CARD_HOLDERS = """
    select key, reference, holder_sealed from virtual_card
    where merchant_id = $1 and client_id = $2 and length(holder_sealed) > 0 order by created_at, key
"""


async def find_card_holders(connection: Connection, merchant_id: int, client_id: str) -> list[tuple[bytes, str, bytes]]:
    """Returns key and reference of a client's cards, with their encrypted holders."""
    rows = await connection.fetch(CARD_HOLDERS, merchant_id, client_id)
    return [(bytes(key), reference, bytes(sealed)) for key, reference, sealed in rows]


BY_BVN = "select client_id from client where merchant_id = $1 and bvn_hash = any($2::bytea[]) order by number"


async def find_clients_by_bvn(connection: Connection, merchant_id: int, bvn_hashes: list[bytes]) -> list[str]:
    return [client_id for (client_id,) in await connection.fetch(BY_BVN, merchant_id, bvn_hashes)]
