"""Reads mails. Never writes; every WHERE has the merchant_id."""

from collections.abc import Sequence
from typing import Any

from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.methods.mail.model import UNKNOWN_MAIL, MailRow, mail_key, read_content
from kasuwa.methods.mail.records import show_mail, show_summary
from kasuwa.methods.mail.wire import MailReply, MailShowRequest, MailsReply, MailsRequest, MailSummary

COLUMNS = ", ".join(MailRow.__struct_fields__)
BY_KEY = f"select {COLUMNS} from mail where key = $1 and merchant_id = $2"
# A filter that the request does not have is null.
MATCHING = "merchant_id = $1 and ($2::text is null or status = $2) and ($3::text is null or customer_id = $3)"
NEWEST_FIRST = f"select {COLUMNS} from mail where {MATCHING} order by created_at desc, key desc offset $4 limit $5"
COUNT = f"select count(*) from mail where {MATCHING}"
OF_CUSTOMER = f"""
    select {COLUMNS} from mail where merchant_id = $1 and customer_id = $2 and customer_id <> ''
    union all
    select {COLUMNS} from mail where merchant_id = $1 and reference = any($3) and customer_id = ''
    order by created_at, key
"""


async def list_mails(request: MailsRequest, merchant: Merchant, reader: ActionReader) -> MailsReply:
    offset, limit = request.offset_and_limit
    filters = (merchant.merchant_id, request.status, request.customer_id)
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(NEWEST_FIRST, *filters, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, *filters)

    def show(row: Any) -> MailSummary:
        mail = MailRow(*row)
        return show_summary(mail, read_content(mail, reader.unseal))

    lines = await reader.make_lines(show, rows)
    return MailsReply(data=lines, total=total, offset=offset, limit=limit)


async def show_one(request: MailShowRequest, merchant: Merchant, reader: ActionReader) -> MailReply | Refusal:
    key = mail_key(merchant.merchant_id, request.mail_id)
    row = await reader.fetchrow(BY_KEY, key, merchant.merchant_id)
    if row is None:
        return UNKNOWN_MAIL
    mail = MailRow(*row)
    return MailReply(message="Mail", data=show_mail(mail, read_content(mail, reader.unseal)))


async def list_customer_mails(
    merchant_id: int, customer_id: str, payment_refs: Sequence[str], reader: Reader
) -> list[MailRow]:
    """Returns all mails to a customer, oldest first, for exports and erasure, with the receipts of these payments."""
    return [MailRow(*row) for row in await reader.fetch(OF_CUSTOMER, merchant_id, customer_id, list(payment_refs))]
