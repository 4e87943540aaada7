"""The operator's exchange rates. The newest of a currency is in force, the older ones are its history.

Contract: #fx
"""

from datetime import datetime

import msgspec

from kasuwa.core.decision import AuditEntry
from kasuwa.core.exchange_rates import ExchangeRate
from kasuwa.core.money import format_minor, minor_of
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.db import audit_trail
from kasuwa.db.connection_pool import Connection

# Column expression: the rates in force, by currency. They are read together with the merchant.
CURRENT_RATES_COLUMN = """(
    select json_object_agg(r.currency, json_build_object('buy', r.buy, 'sell', r.sell))::text
    from (select distinct on (currency) currency, buy, sell from exchange_rate order by currency, rate_id desc) r
) as exchange"""

RATES_DECODER: "msgspec.json.Decoder[dict[str, ExchangeRate]]" = msgspec.json.Decoder(dict[str, ExchangeRate])

HISTORY = (
    "select rate_id, currency, buy, sell, set_at, set_by from exchange_rate where rate_id < $2 "
    "order by rate_id desc limit $1"
)
NEWEST = """
    select distinct on (currency) rate_id, currency, buy, sell, set_at, set_by from exchange_rate
        order by currency, rate_id desc
"""
INSERT_RATE = "insert into exchange_rate (currency, buy, sell, set_by) values ($1, $2, $3, $4)"
# Larger than any rate_id.
MAX_RATE_ID = 2**63 - 1
HAS_NO_RATES = "select not exists (select 1 from exchange_rate)"


class RateRecord(msgspec.Struct, frozen=True):
    """One rate of the history. `set_by` is empty for rates that are older than the column."""

    rate_id: int
    currency: str
    buy: int
    sell: int
    set_at: datetime
    set_by: str

    @property
    def description(self) -> str:
        return f"buy {format_minor(self.buy)}, sell {format_minor(self.sell)}"


def decode_rates(encoded: str | None) -> dict[str, ExchangeRate]:
    return {} if encoded is None else RATES_DECODER.decode(encoded)


async def list_rates(connection: Connection, limit: int, before: int = MAX_RATE_ID) -> list[RateRecord]:
    """Returns the rates before a rate_id, newest first."""
    return [RateRecord(*record) for record in await connection.fetch(HISTORY, limit, before)]


async def read_current_rates(connection: Connection) -> dict[str, RateRecord]:
    """Returns the rates in force, by currency."""
    return {line.currency: line for line in (RateRecord(*record) for record in await connection.fetch(NEWEST))}


async def set_rate(connection: Connection, currency: str, rate: ExchangeRate, actor: str, address: str = "") -> None:
    after = f"buy {format_minor(rate.buy)}, sell {format_minor(rate.sell)}"
    async with connection.transaction():
        known = (await read_current_rates(connection)).get(currency)
        await connection.execute(INSERT_RATE, currency, rate.buy, rate.sell, actor)
        entry = AuditEntry(
            actor, "rate set", currency, address, before="" if known is None else known.description, after=after
        )
        await audit_trail.append_entry(connection, audit_trail.OPERATOR_CHAIN_ID, entry)


async def ensure_test_rates(connection: Connection) -> None:
    """Sets the initial rates of the test environment if there are none.

    Contract: #fx
    """
    if not await connection.fetchval(HAS_NO_RATES):
        return
    for pair, figures in load_reference_data("tariffs")["fx_test"].items():
        rate = ExchangeRate(minor_of(figures["buy"]), minor_of(figures["sell"]))
        await set_rate(connection, pair.partition("/")[0], rate, "the test environment")
