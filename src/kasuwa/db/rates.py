"""The operator's exchange rates: the newest of a currency is in force, the older ones are its history. (D12)"""

from datetime import datetime

import msgspec

from kasuwa.core.catalogue import load
from kasuwa.core.decision import Deed
from kasuwa.core.money import format_minor, minor_of
from kasuwa.core.rates import Rate
from kasuwa.db import audit_trail
from kasuwa.db.pool import Connection

# A column of any query: the rates in force, by currency. They travel with the merchant, whose rules use them.
IN_FORCE = """(
    select json_object_agg(r.currency, json_build_object('buy', r.buy, 'sell', r.sell))::text
    from (select distinct on (currency) currency, buy, sell from rate order by currency, rate_id desc) r
) as exchange"""

READ: "msgspec.json.Decoder[dict[str, Rate]]" = msgspec.json.Decoder(dict[str, Rate])

HISTORY = (
    "select rate_id, currency, buy, sell, set_at, set_by from rate where rate_id < $2 order by rate_id desc limit $1"
)
NEWEST = """
    select distinct on (currency) rate_id, currency, buy, sell, set_at, set_by from rate order by currency, rate_id desc
"""
SET = "insert into rate (currency, buy, sell, set_by) values ($1, $2, $3, $4)"
# A number beyond all others.
LAST = 2**63 - 1
NONE_YET = "select not exists (select 1 from rate)"


class Quoted(msgspec.Struct, frozen=True):
    """A line of the history; who set it is empty where it was before that was kept."""

    rate_id: int
    currency: str
    buy: int
    sell: int
    set_at: datetime
    set_by: str

    @property
    def words(self) -> str:
        return f"buy {format_minor(self.buy)}, sell {format_minor(self.sell)}"


def read_in_force(said: str | None) -> dict[str, Rate]:
    return {} if said is None else READ.decode(said)


async def history(connection: Connection, most: int, before: int = LAST) -> list[Quoted]:
    """Newest first."""
    return [Quoted(*record) for record in await connection.fetch(HISTORY, most, before)]


async def in_force(connection: Connection) -> dict[str, Quoted]:
    """The newest of each currency."""
    return {line.currency: line for line in (Quoted(*record) for record in await connection.fetch(NEWEST))}


async def set_rate(connection: Connection, currency: str, rate: Rate, actor: str, address: str = "") -> None:
    after = f"buy {format_minor(rate.buy)}, sell {format_minor(rate.sell)}"
    async with connection.transaction():
        known = (await in_force(connection)).get(currency)
        await connection.execute(SET, currency, rate.buy, rate.sell, actor)
        deed = Deed(actor, "rate set", currency, address, before="" if known is None else known.words, after=after)
        await audit_trail.append(connection, audit_trail.OPERATORS_CHAIN, deed)


async def ensure_test_rates(connection: Connection) -> None:
    """What the test environment starts with. Spec silent: D12"""
    if not await connection.fetchval(NONE_YET):
        return
    for pair, figures in load("tariffs")["fx_test"].items():
        rate = Rate(minor_of(figures["buy"]), minor_of(figures["sell"]))
        await set_rate(connection, pair.partition("/")[0], rate, "the test environment")
