"""Fields that lists and pages show of records beyond those of the API: sums, last payments, outcomes.

Each function for lists returns further fields for each row. They are called for pages and for exports.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from kasuwa.console.histories import store
from kasuwa.console.histories.lines import Rows, balances_text, sums_text
from kasuwa.console.histories.lists import BILL
from kasuwa.console.histories.plans import add_last_charges
from kasuwa.console.histories.store import RecordSum
from kasuwa.console.kit.people import NO_COUNTERPARTY, read_counterparties
from kasuwa.console.kit.visit import Visit
from kasuwa.core.calendar import utc_text
from kasuwa.core.money import CURRENCIES, format_minor
from kasuwa.core.reading import Reader
from kasuwa.methods.bills.model import BILL_DETAIL_DECODER
from kasuwa.methods.cashcode.model import KIND as CASHCODE
from kasuwa.methods.payment.settlement_model import beneficiary_account

# Newest payments under the reference of a personalized account among which the last one into it is looked for.
NEWEST_UNDER_REFERENCE = 5


def group_sums(sums: list[RecordSum], references: list[str]) -> list[dict[str, Any]]:
    """Returns number, sum and time of the last payment of each record."""
    fields = []
    for reference in references:
        own = [one for one in sums if one.reference == reference]
        last = max((one.last_at for one in own), default=None)
        fields.append(
            {
                "payments": sum(one.count for one in own),
                "received": sums_text(own),
                "last_payment": None if last is None else utc_text(last),
            }
        )
    return fields


async def add_customer_sums(visit: Visit, reader: Reader, rows: Rows) -> list[dict[str, Any]]:
    ids = [str(row["customer_id"]) for row in rows]
    grouped = group_sums(await store.sum_customers(reader, visit.merchant, ids), ids)
    return [
        {"payments": one["payments"], "spent": one["received"], "last_payment": one["last_payment"]} for one in grouped
    ]


async def add_link_sums(visit: Visit, reader: Reader, rows: Rows) -> list[dict[str, Any]]:
    ids = [str(row["link_id"]) for row in rows]
    return group_sums(await store.sum_links(reader, visit.merchant, ids), ids)


async def add_last_account_payments(visit: Visit, reader: Reader, rows: Rows) -> list[dict[str, Any]]:
    fields = []
    for row in rows:
        reference = str(row["reference"])
        payments = await store.list_account_payments(reader, visit.merchant, reference, NEWEST_UNDER_REFERENCE)
        fields.append({"last_payment": utc_text(payments[0].created_at) if payments else None})
    return fields


async def add_payers(visit: Visit, reader: Reader, rows: Rows) -> list[dict[str, Any]]:
    """Returns who paid each checkout, and with what."""
    references = [str(row["txnRef"]) for row in rows]
    payments = await store.read_paying_payments(reader, visit.merchant, references)
    lines = [{"txnRef": payment, "kind": "payment"} for payment in payments.values()]
    parties = await read_counterparties(visit, reader, lines)
    payers = [parties.get(payments.get(reference, ""), NO_COUNTERPARTY) for reference in references]
    return [{"payer": one.name or one.email, "paid_with": one.instrument} for one in payers]


async def add_waiting_shares(visit: Visit, reader: Reader, rows: Rows) -> list[dict[str, Any]]:
    """Returns what each beneficiary has got of split payments and was not paid out yet."""
    codes = [str(row["ref_code"]) for row in rows]
    names = {code: [beneficiary_account(code, currency) for currency in CURRENCIES] for code in codes}
    balances = await store.read_balances(reader, visit.merchant, [name for own in names.values() for name in own])
    return [
        {"not_paid_out": balances_text(balances[name] for name in names[code] if name in balances)} for code in codes
    ]


AddFields = Callable[[Visit, Reader, Rows], Awaitable[list[dict[str, Any]]]]
# By the name of the record kind.
ADDED_FIELDS: dict[str, AddFields] = {
    "accounts": add_last_account_payments,
    "beneficiaries": add_waiting_shares,
    "checkouts": add_payers,
    "customers": add_customer_sums,
    "links": add_link_sums,
    "recurrents": add_last_charges,
    "tickets": add_link_sums,
}


async def add_bill(visit: Visit, reader: Reader, row: dict[str, Any]) -> dict[str, Any]:
    """Returns what was paid, for whom and when."""
    line = await store.read_of_kind(reader, visit.merchant, BILL, row["orderRef"])
    bill = BILL_DETAIL_DECODER.decode(line.detail)
    paid = {"biller": bill.biller, "item": bill.item, "customer": bill.reference}
    return {**paid, "message": line.message, "created_at": utc_text(line.created_at)}


async def add_cashcode(visit: Visit, reader: Reader, row: dict[str, Any]) -> dict[str, Any]:
    """Returns what became of a cashcode, what it costs, and the transaction that has its money."""
    line = await store.read_of_kind(reader, visit.merchant, CASHCODE, row["orderRef"])
    return {
        "charges": format_minor(line.charges),
        "message": line.message,
        "txnRef": line.txn_ref,
        "created_at": utc_text(line.created_at),
    }


async def add_payer(visit: Visit, reader: Reader, row: dict[str, Any]) -> dict[str, Any]:
    [fields] = await add_payers(visit, reader, [row])
    return fields


# The same for the page of one record.
PAGE_FIELDS: dict[str, Callable[[Visit, Reader, dict[str, Any]], Awaitable[dict[str, Any]]]] = {
    "bills": add_bill,
    "cashcodes": add_cashcode,
    "checkouts": add_payer,
}


async def add_page_fields(name: str, visit: Visit, reader: Reader, row: dict[str, Any]) -> dict[str, Any]:
    """Returns a record with the further fields that its page shows."""
    return {**row, **(await PAGE_FIELDS[name](visit, reader, row))} if name in PAGE_FIELDS else row


async def add_fields(name: str, visit: Visit, reader: Reader, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns rows of a list with the further fields of their kind."""
    if name not in ADDED_FIELDS or not rows:
        return rows
    added = await ADDED_FIELDS[name](visit, reader, rows)
    return [{**row, **fields} for row, fields in zip(rows, added, strict=True)]
