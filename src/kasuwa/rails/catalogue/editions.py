"""The biller catalogue's tables: stores new editions and reads the newest.

The catalogue belongs to the deployment, so its lock is an advisory lock (AdvisoryLock.CATALOGUE). The caller holds it
from checking whether an edition is due until the new one is committed, so that no edition is stored twice.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import msgspec

from kasuwa.core.money import convert_to_minor
from kasuwa.postgres.connection_pool import Connection
from kasuwa.rails.catalogue.catalogue import (
    PAYCODE_LIFE,
    Biller,
    Catalogue,
    CatalogueEdition,
    CatalogueItem,
    Category,
    Item,
    paycode_key,
)

# A new edition is fetched once a day. Contract: bills#pay
EDITION_MAX_AGE = timedelta(hours=24)

# However often the vendor says that its catalogue has changed, it is fetched no sooner than this after the last time.
EDITION_MIN_AGE = timedelta(minutes=10)

# Retired paycodes are deleted long after they can no longer be paid.
RETIRED_ITEM_RETENTION = timedelta(days=30)

NEWEST = "select coalesce(max(edition), 0) from bill_edition"
# An edition is due when it is a day old. If the vendor has announced a change since, it is due after $2.
IS_FRESH = """
    select exists (select 1 from bill_edition e where e.taken_at > now() - $1::interval and (
        e.taken_at > now() - $2::interval
        or not exists (select 1 from bill_refresh r where r.requested_at > e.taken_at)))
"""
REQUEST_REFRESH = """
    insert into bill_refresh (requested_at) values (now()) on conflict (is_only) do update set requested_at = now()
"""

CATEGORIES = "select name, code from bill_category where retired_at is null order by place, code"
BILLER_COLUMNS = ", ".join(Biller.__struct_fields__)
BILLERS = f"select {BILLER_COLUMNS}, retired_at is null from biller order by place, id"
ITEM_COLUMNS = ", ".join(Item.__struct_fields__)
ITEMS = f"""
    select {ITEM_COLUMNS}, retired_at from bill_item
    where retired_at is null or retired_at > now() - $1::interval order by place, key
"""

UPSERT_CATEGORIES = """
    insert into bill_category (code, name, place, edition)
    select x.code, x.name, x.place, $2 from json_to_recordset($1::json) as x(code text, name text, place bigint)
    on conflict (code) do update
    set name = excluded.name, place = excluded.place, edition = excluded.edition, retired_at = null
"""
UPSERT_BILLERS = f"""
    insert into biller ({BILLER_COLUMNS}, place, edition)
    select {BILLER_COLUMNS}, place, $2 from json_to_recordset($1::json) as x(id bigint, name text, reference text,
        category text, slug text, pattern text, least bigint, most bigint, amount_step bigint, place bigint)
    on conflict (id) do update set name = excluded.name, reference = excluded.reference, category = excluded.category,
        slug = excluded.slug, pattern = excluded.pattern, least = excluded.least, most = excluded.most,
        amount_step = excluded.amount_step, place = excluded.place, edition = excluded.edition, retired_at = null
"""
UPSERT_ITEMS = f"""
    insert into bill_item (key, {ITEM_COLUMNS}, price, place, since, edition)
    select decode(key, 'base64'), {ITEM_COLUMNS}, price, place, $2, $2
    from json_to_recordset($1::json) as x(key text, name text, bills_id bigint, amount text, discount text, fee bigint,
        paycode text, require_name_query boolean, fulfilment text, price bigint, place bigint)
    on conflict (key, merchant_id) do update set name = excluded.name, bills_id = excluded.bills_id,
        amount = excluded.amount, price = excluded.price, fee = excluded.fee, discount = excluded.discount,
        require_name_query = excluded.require_name_query, fulfilment = excluded.fulfilment, place = excluded.place,
        edition = excluded.edition, retired_at = null
"""
RETIRE = tuple(
    f"update {table} set retired_at = now() where edition < $1 and retired_at is null"
    for table in ("bill_category", "biller", "bill_item")
)
DELETE_OLD_RETIRED_ITEMS = "delete from bill_item where retired_at < now() - $1::interval"
INSERT_EDITION = "insert into bill_edition (edition, taken_at, items) values ($1, now(), $2)"


async def read_newest_edition(connection: Connection) -> int:
    edition = await connection.fetchval(NEWEST)
    assert isinstance(edition, int)
    return edition


async def is_edition_fresh(connection: Connection) -> bool:
    return bool(await connection.fetchval(IS_FRESH, EDITION_MAX_AGE, EDITION_MIN_AGE))


async def store_edition(connection: Connection, edition: int, contents: CatalogueEdition) -> None:
    """Stores a checked edition as the newest and retires what it no longer lists."""
    async with connection.transaction():
        await connection.execute(
            UPSERT_CATEGORIES, encode_records(map(msgspec.structs.asdict, contents.categories)), edition
        )
        await connection.execute(UPSERT_BILLERS, encode_records(map(msgspec.structs.asdict, contents.billers)), edition)
        await connection.execute(UPSERT_ITEMS, encode_records(map(item_record, contents.items)), edition)
        for statement in RETIRE:
            await connection.execute(statement, edition)
        await connection.execute(DELETE_OLD_RETIRED_ITEMS, RETIRED_ITEM_RETENTION)
        await connection.execute(INSERT_EDITION, edition, len(contents.items))


def item_record(item: Item) -> dict[str, Any]:
    return {**msgspec.structs.asdict(item), "key": paycode_key(item.paycode), "price": convert_to_minor(item.amount)}


def encode_records(rows: Iterable[dict[str, Any]]) -> str:
    return msgspec.json.encode([{**row, "place": place} for place, row in enumerate(rows)]).decode()


async def read_catalogue(connection: Connection) -> Catalogue:
    """Reads the newest edition and the retired paycodes that are still accepted."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        edition = await read_newest_edition(connection)
        categories = tuple(Category(*record) for record in await connection.fetch(CATEGORIES))
        billers = [(Biller(*record[:-1]), record[-1]) for record in await connection.fetch(BILLERS)]
        items = [(Item(*record[:-1]), record[-1]) for record in await connection.fetch(ITEMS, PAYCODE_LIFE)]
    known = {biller.id: biller for biller, _ in billers}
    listed = tuple(item for item, retired_at in items if retired_at is None)
    retired = tuple(CatalogueItem(item, known[item.bills_id], at) for item, at in items if at is not None)
    return Catalogue(
        edition, CatalogueEdition(categories, tuple(b for b, current in billers if current), listed), retired
    )


async def request_refresh(connection: Connection) -> None:
    """Has a worker fetch a new edition soon: see EDITION_MIN_AGE."""
    await connection.execute(REQUEST_REFRESH)
