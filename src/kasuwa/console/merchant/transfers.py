"""Transfers from the console: a single one after a preview, or a bulk transfer from a CSV file.

Both run the API's transfer action. The orderRef is made with the preview, so that a form that is submitted twice sends
the transfer once.
"""

import secrets
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from kasuwa.console.histories.store import SentTransfer, list_sent
from kasuwa.console.kit.csv_text import read_csv
from kasuwa.console.kit.lists import read_filters
from kasuwa.console.kit.values import remove_separators
from kasuwa.console.kit.visit import ActionReply, Visit
from kasuwa.console.merchant import batch_reads
from kasuwa.core.banks import bank_choices, bank_names
from kasuwa.core.decision import FieldError, Merchant
from kasuwa.methods.disburse.actions import TRANSFER_RULES
from kasuwa.methods.disburse.wire import TransferRequest
from kasuwa.methods.resources.store import show_wallet
from kasuwa.methods.resources.wire import WalletRequest
from kasuwa.terms.conversion import HOME
from kasuwa.terms.tariff import Tariff, calculate_transfer_fees
from kasuwa.transactions.transactions import SUCCESSFUL
from kasuwa.wire.decoding import decode

CSV_COLUMNS = ("amount", "bankcode", "accountnumber", "sender_name", "narration", "orderRef")
FORM_FIELDS = ("amount", "bankcode", "accountnumber", "sender_name", "narration")
MAX_ORDERS = 1_000
SHOWN_TRANSFERS = 10
SHOWN_RECIPIENTS = 8
SAMPLE_CSV = (
    "amount,bankcode,accountnumber,sender_name,narration,orderRef\n1500.00,058,0000000000,Ada Stores,Invoice 1042,\n"
)


def new_reference(prefix: str) -> str:
    return f"{prefix}-{secrets.token_hex(6)}"


async def show_transfers(visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as reader:
        batches = await batch_reads.list_latest(reader, visit.merchant)
        sent = await list_sent(reader, visit.merchant, visit.services.vault.unseal)
        wallets = (await show_wallet(WalletRequest(), visit.merchant, reader)).data
    shared: dict[str, Any] = {
        "banks": [("", "Choose a bank"), *bank_choices()],
        # A link to the page may fill in the form: that of an account that was paid before.
        "submitted": read_filters(visit, FORM_FIELDS),
        "batches": batches,
        "sent": sent[:SHOWN_TRANSFERS],
        "recipients": list_recipients(sent),
        "available": next((wallet.available for wallet in wallets if wallet.currency == HOME), "0.00"),
    }
    return visit.render("transfers.html", status, **{**shared, "sample": SAMPLE_CSV, "file_fault": "", **values})


def list_recipients(sent: Iterable[SentTransfer]) -> list[SentTransfer]:
    """Returns the newest successful transfer to each account, the accounts that were paid last."""
    newest: dict[tuple[str, str], SentTransfer] = {}
    for one in sent:
        if one.status == SUCCESSFUL:
            newest.setdefault((one.bank_code, one.account_number), one)
    return list(newest.values())[:SHOWN_RECIPIENTS]


# --- single transfer ----------------------------------------------------------------------------------------------


def check_order(order: dict[str, str], merchant: Merchant) -> TransferRequest | tuple[FieldError, ...]:
    """Validates an order by the API's rules. Empty fields are left out. Returns the request, or its field errors."""
    fields = {name: value for name, value in order.items() if value}
    checked: TransferRequest | tuple[FieldError, ...] = decode(
        TransferRequest, msgspec.json.encode(fields), TRANSFER_RULES, merchant
    )
    return checked


def read_order(visit: Visit, names: Iterable[str]) -> dict[str, str]:
    """Returns the fields of an order as they were entered, the amount without thousands separators."""
    return {name: visit.form_text(name) for name in names} | {"amount": visit.form_amount("amount")}


async def preview_transfer(visit: Visit) -> Response:
    """Shows the account name and the charges. Nothing is sent yet."""
    order = read_order(visit, FORM_FIELDS)
    checked = check_order(order, visit.merchant)
    if isinstance(checked, tuple):
        return await show_transfers(
            visit, 422, submitted=order, faults={fault.field: fault.reason for fault in checked}
        )
    inquiry = await visit.call_action(
        "resources", inquire="accountname", accountnumber=order["accountnumber"], bankcode=order["bankcode"]
    )
    if not inquiry.is_success:
        faults = inquiry.faults if "" not in inquiry.faults else {"accountnumber": inquiry.message}
        return await show_transfers(visit, 422, submitted=order, faults=faults)
    return visit.render(
        "transfer_preview.html",
        order={**order, "orderRef": new_reference("console")},
        name=inquiry.body["data"]["account_name"],
        bank=bank_names().get(order["bankcode"], order["bankcode"]),
        amount=int(checked.amount),
        charge=calculate_transfer_fees(visit.merchant.terms(Tariff), int(checked.amount)),
    )


async def send_transfer(visit: Visit) -> Response:
    order = read_order(visit, (*FORM_FIELDS, "orderRef"))
    request = {"action": "transfer", **{n: v for n, v in order.items() if v}}
    reply = await visit.run_action("disburse", request, "sent a transfer")
    if reply.is_error:
        return show_retry_form(visit, reply, "/transfers/send", order)
    if not reply.is_success:
        return await show_transfers(visit, 422, submitted=order, faults=reply.faults)
    return visit.redirect(f"/transactions/{quote(reply.body['txnRef'], safe='')}", reply.message)


def show_retry_form(visit: Visit, reply: ActionReply, action: str, fields: dict[str, str]) -> Response:
    """Shows the form again with the same order references, so that sending it again cannot send a transfer twice."""
    return visit.render("transfer_retry.html", 503, message=reply.message, action=action, fields=fields)


# --- bulk transfer ------------------------------------------------------------------------------------------------


class BulkOrder(msgspec.Struct):
    """One line of a CSV file."""

    line: int  # line number in the file
    values: dict[str, str]
    faults: dict[str, str]  # error texts by column


def parse_bulk_file(content: bytes | None, merchant: Merchant) -> list[BulkOrder] | str:
    """Returns the orders of a CSV file, or why the file is refused as a whole."""
    rows = read_csv(content) if content else None
    if not rows:
        return "must be a CSV file with a header line and at least one order"
    missing = [name for name in ("amount", "bankcode", "accountnumber") if name not in rows[0]]
    if missing:
        return f"the header line must name the columns; missing: {', '.join(missing)}"
    if len(rows) > MAX_ORDERS:
        return f"at most {MAX_ORDERS} orders; this file has {len(rows)}"
    batch, used = new_reference("bulk"), set[str]()
    return [parse_bulk_line(n, row, merchant, f"{batch}-{n}", used) for n, row in enumerate(rows, start=2)]


def parse_bulk_line(line: int, row: dict[str, str], merchant: Merchant, reference: str, used: set[str]) -> BulkOrder:
    values = {name: row.get(name, "") for name in CSV_COLUMNS}
    values["amount"] = remove_separators(values["amount"])
    checked = check_order(values, merchant)
    faults = {fault.field: fault.reason for fault in checked} if isinstance(checked, tuple) else {}
    values["orderRef"] = values["orderRef"] or reference
    if values["orderRef"] in used:
        faults["orderRef"] = "used twice in this file"
    used.add(values["orderRef"])
    return BulkOrder(line, values, faults)


async def preview_bulk(visit: Visit) -> Response:
    orders = parse_bulk_file(await visit.upload("file"), visit.merchant)
    if isinstance(orders, str):
        return await show_transfers(visit, 422, file_fault=orders)
    valid_orders = [order for order in orders if not order.faults]
    requests = [check_order(order.values, visit.merchant) for order in valid_orders]
    total = sum(int(checked.amount) for checked in requests if isinstance(checked, TransferRequest))
    charges = sum(
        calculate_transfer_fees(visit.merchant.terms(Tariff), int(checked.amount)).total
        for checked in requests
        if isinstance(checked, TransferRequest)
    )
    return visit.render(
        "bulk_preview.html",
        invalid_orders=[order for order in orders if order.faults],
        valid_orders=valid_orders,
        total=total,
        charges=charges,
        fields=CSV_COLUMNS,
        orders_json=msgspec.json.encode([order.values for order in valid_orders]).decode(),
    )


async def send_bulk(visit: Visit) -> Response:
    try:
        orders = msgspec.json.decode(str(visit.form.get("orders", "")), type=list[dict[str, str]])
    except msgspec.DecodeError:
        return await show_transfers(visit, 422, file_fault="the orders could not be read; choose the file again")
    data = [{name: value for name, value in order.items() if value} for order in orders]
    request = {"action": "transfer", "type": "bulk", "data": data}
    reply = await visit.run_action("disburse", request, "sent a bulk transfer")
    if reply.is_error:
        return show_retry_form(visit, reply, "/transfers/bulk/send", {"orders": str(visit.form.get("orders", ""))})
    if not reply.is_success:
        return await show_transfers(visit, 422, file_fault=reply.message)
    return visit.redirect(f"/transfers/batches/{quote(reply.body['batchRef'], safe='')}", reply.message)
