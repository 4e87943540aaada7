"""The operator's exchange rates. The newest of a currency is in force, the older ones are its history.

Contract: #fx
"""

from datetime import datetime

import msgspec

from kasuwa.authority import audit_trail
from kasuwa.core.decision import AuditEntry
from kasuwa.core.money import convert_to_minor, format_minor
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.row_codes import CodedTable, RowChanged
from kasuwa.core.vault import Vault
from kasuwa.postgres import row_codes
from kasuwa.postgres.connection_pool import Connection
from kasuwa.terms.conversion import ExchangeRate

RATES = CodedTable(
    table="exchange_rate",
    is_of_merchant=False,
    key={"rate_id": "bigint"},
    covered=("currency", "buy", "sell", "set_by"),
    uncovered={"set_at": "only shown: the number decides which rate is the newest"},
)

# Column expression: the rates in force, by currency. They are read together with the merchant.
CURRENT_RATES_COLUMN = f"""(
    select json_agg(json_build_array(
        r.buy, r.sell, encode(r.row_code, 'hex'), json_build_array({RATES.content_sql("r")})))::text
    from (select distinct on (currency) * from exchange_rate order by currency, rate_id desc) r
) as exchange"""


class StoredRate(msgspec.Struct, frozen=True, array_like=True):
    """A rate in force, with its code."""

    buy: int
    sell: int
    code: str | None  # in hexadecimal
    content: tuple[int, int, str, int, int, str]


RATES_DECODER: "msgspec.json.Decoder[list[StoredRate]]" = msgspec.json.Decoder(list[StoredRate])

HISTORY = (
    "select rate_id, currency, buy, sell, set_at, set_by from exchange_rate where rate_id < $2 "
    "order by rate_id desc limit $1"
)
NEWEST = """
    select distinct on (currency) rate_id, currency, buy, sell, set_at, set_by from exchange_rate
        order by currency, rate_id desc
"""
INSERT_RATE = "insert into exchange_rate (currency, buy, sell, set_by) values ($1, $2, $3, $4) returning rate_id"
# Larger than any rate_id.
MAX_RATE_ID = 2**63 - 1
HAS_NO_RATES = "select not exists (select 1 from exchange_rate)"


class RateRecord(msgspec.Struct, frozen=True):
    """One rate of the history."""

    rate_id: int
    currency: str
    buy: int
    sell: int
    set_at: datetime
    set_by: str

    @property
    def description(self) -> str:
        return f"buy {format_minor(self.buy)}, sell {format_minor(self.sell)}"


def decode_rates(encoded: str | None, vault: Vault) -> dict[str, ExchangeRate]:
    """Returns the rates in force, by currency. A currency whose rate is not as the service wrote it has none."""
    rates = {}
    for rate in [] if encoded is None else RATES_DECODER.decode(encoded):
        try:
            code = None if rate.code is None else bytes.fromhex(rate.code)
            row_codes.check_content(vault, RATES, rate.content, code)
        except RowChanged:
            continue
        rates[rate.content[2]] = ExchangeRate(rate.buy, rate.sell)
    return rates


async def list_rates(connection: Connection, limit: int, before: int = MAX_RATE_ID) -> list[RateRecord]:
    """Returns the rates before a rate_id, newest first."""
    return [RateRecord(*record) for record in await connection.fetch(HISTORY, limit, before)]


async def read_current_rates(connection: Connection) -> dict[str, RateRecord]:
    """Returns the rates in force, by currency."""
    return {line.currency: line for line in (RateRecord(*record) for record in await connection.fetch(NEWEST))}


async def set_rate(
    connection: Connection, vault: Vault, currency: str, rate: ExchangeRate, actor: str, address: str = ""
) -> None:
    after = f"buy {format_minor(rate.buy)}, sell {format_minor(rate.sell)}"
    async with connection.transaction():
        known = (await read_current_rates(connection)).get(currency)
        rate_id = await connection.fetchval(INSERT_RATE, currency, rate.buy, rate.sell, actor)
        await row_codes.code_new_row(connection, vault, RATES, "rate_id = $1", rate_id)
        entry = AuditEntry(
            actor, "rate set", currency, address, before="" if known is None else known.description, after=after
        )
        await audit_trail.append_entry(connection, audit_trail.OPERATOR_CHAIN_ID, entry)


async def ensure_test_rates(connection: Connection, vault: Vault) -> None:
    """Sets the initial rates of the test environment if there are none.

    Contract: #fx
    """
    if not await connection.fetchval(HAS_NO_RATES):
        return
    for pair, figures in load_reference_data("tariffs")["fx_test"].items():
        rate = ExchangeRate(convert_to_minor(figures["buy"]), convert_to_minor(figures["sell"]))
        await set_rate(connection, vault, pair.partition("/")[0], rate, "the test environment")
