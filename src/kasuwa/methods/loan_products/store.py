"""Reads of loan products, with the numbers of their loans. No writes; every WHERE names the merchant_id."""

from typing import Any

from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import Reader, ReplyReader
from kasuwa.methods.loan_products.model import UNKNOWN_PRODUCT, LoanProduct, make_product_record
from kasuwa.methods.loan_products.wire import (
    ListProductsRequest,
    ProductListReply,
    ProductLoans,
    ProductRecord,
    ProductReply,
    ViewProductRequest,
)

COLUMNS = ", ".join(LoanProduct.__struct_fields__)
MATCHING = "merchant_id = $1 and ($2::text is null or state = $2)"
PRODUCTS = f"select {COLUMNS} from loan_product where {MATCHING} order by number desc offset $3 limit $4"
COUNT = f"select count(*) from loan_product where {MATCHING}"
ONE = f"select {COLUMNS} from loan_product where merchant_id = $1 and product_id = $2"
LOANS = """
    select product, count(*) filter (where disbursed_at is null and not starts_with(state, 'closed_')),
        count(*) filter (where state in ('active', 'active_in_arrears')),
        count(*) filter (where state = 'active_in_arrears'), count(*) filter (where starts_with(state, 'closed_')),
        coalesce(sum(amount) filter (where disbursed_at is not null), 0)::bigint
    from loan where merchant_id = $1 and product = any($2) and product <> '' group by product
"""


async def list_products(request: ListProductsRequest, merchant: Merchant, reader: ReplyReader) -> ProductListReply:
    offset, limit = request.offset_and_limit
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(PRODUCTS, merchant.merchant_id, request.state, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, merchant.merchant_id, request.state)
        data = await describe_products([LoanProduct(*row) for row in rows], merchant, snapshot)
    return ProductListReply(data=data, total=total, offset=offset, limit=limit)


async def view_product(request: ViewProductRequest, merchant: Merchant, reader: ReplyReader) -> ProductReply | Refusal:
    async with reader.snapshot() as snapshot:
        row = await snapshot.fetchrow(ONE, merchant.merchant_id, request.product_id)
        if row is None:
            return UNKNOWN_PRODUCT
        [record] = await describe_products([LoanProduct(*row)], merchant, snapshot)
    return ProductReply(message="Product", data=record)


async def describe_products(products: list[LoanProduct], merchant: Merchant, reader: Reader) -> list[ProductRecord]:
    counted = {
        row[0]: count_loans(row)
        for row in await reader.fetch(LOANS, merchant.merchant_id, [one.product_id for one in products])
    }
    records = []
    for product in products:
        record = make_product_record(product)
        record.loans = counted.get(product.product_id) or count_loans(("", 0, 0, 0, 0, 0))
        records.append(record)
    return records


def count_loans(row: Any) -> ProductLoans:
    _, requested, active, in_arrears, closed, lent = row
    return ProductLoans(
        requested=requested, active=active, in_arrears=in_arrears, closed=closed, lent=format_minor(lent)
    )
