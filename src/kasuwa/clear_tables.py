"""The tables with personal data that earlier versions stored in clear (db/rows_in_clear.py)."""

from collections.abc import Callable, Iterable
from functools import partial

from kasuwa.core import checkouts, sealed_payers
from kasuwa.core.purpose import MOVEMENTS_WITH_PAYER, seal_clear_transaction
from kasuwa.core.transactions import Transaction
from kasuwa.db.row_codes import table_of
from kasuwa.db.rows_in_clear import ClearTable, TakeFields, seal_document
from kasuwa.methods.clients.rules.manage_client import seal_clear_client
from kasuwa.methods.resources.rules.open_account import seal_clear_account
from kasuwa.methods.virtualcard.model import seal_clear_holder

# Each has an index of its rows in clear.
SMALL_CLEAR_TABLES = (
    ClearTable(
        table="client",
        in_clear="detail::text <> '{}'",
        row_id="client_id",
        reads=("detail::text",),
        writes=("detail", "detail_sealed", "phone_hash", "email_hash"),
        seal=seal_clear_client,
    ),
    ClearTable(
        table="personalized_account",
        in_clear="(account_name <> '' or email <> '' or facts ->> 'account_name' <> '')",
        row_id="key",
        reads=("account_name", "email", "facts::text", "person_sealed"),
        writes=("account_name", "email", "facts", "person_sealed"),
        seal=seal_clear_account,
    ),
    ClearTable(
        table="virtual_card",
        in_clear="detail ->> 'name' <> ''",
        row_id="key",
        reads=("detail::text",),
        writes=("detail", "holder_sealed"),
        seal=seal_clear_holder,
    ),
)


def payers_table(
    table: str, named_by: str, place: Callable[[str], str], names: Iterable[str], take: TakeFields
) -> ClearTable:
    """Returns a table whose `detail` may have fields of these names in clear, at any depth. Quotation marks in values
    are escaped: the pattern finds names only."""
    return ClearTable(
        table=table,
        in_clear=f"""(detail::text ~ '"({"|".join(names)})"\\s*:')""",
        row_id="key",
        reads=(named_by, "detail::text", "payer_sealed"),
        writes=("detail", "payer_sealed"),
        seal=partial(seal_document, place, take),
    )


# Tables that are too large to be encrypted before the service runs, and have no index of such rows.
LARGE_CLEAR_TABLES: tuple[ClearTable, ...] = (
    payers_table(
        "payment",
        "txn_ref",
        sealed_payers.payment_payer_aad,
        sealed_payers.PERSONAL_FIELDS,
        sealed_payers.take_clear_payer,
    ),
    payers_table(
        "payment_plan",
        "plan_id",
        sealed_payers.plan_payer_aad,
        sealed_payers.PERSONAL_FIELDS,
        sealed_payers.take_clear_terms,
    ),
    payers_table(
        "checkout",
        "txn_ref",
        checkouts.payer_aad,
        checkouts.CheckoutPayer.__struct_fields__,
        checkouts.take_clear_payer,
    ),
    ClearTable(
        table="transaction",
        in_clear="(counterparty_name <> '' or (kind = 'transfer' and detail ->> 'beneficiary_name' <> '')"
        f" or (kind in {MOVEMENTS_WITH_PAYER}"
        " and coalesce(detail ->> 'meta', detail ->> 'ip', detail ->> 'fingerprint') is not null))",
        row_id="key",
        reads=("kind", "txn_ref", "detail::text"),
        writes=("counterparty_name", "detail"),
        seal=seal_clear_transaction,
        codes=table_of(Transaction),
    ),
)
