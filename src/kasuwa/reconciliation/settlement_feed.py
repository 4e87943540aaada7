"""The settlements that a rail reported, as a statement: one line for each payout, with the rail's fees."""

from hashlib import sha256

import msgspec

from kasuwa.postgres.connection_pool import Connection
from kasuwa.rails.inbox import rail_feeds
from kasuwa.reconciliation.importing import DEFAULT_WINDOW_DAYS, LinesInMemory, StatementSource
from kasuwa.reconciliation.model import ReconciledAccount, StatementError, StatementFacts, StatementLine

FORMAT = "settlement feed"


async def read_feed(
    connection: Connection, account: ReconciledAccount, window_days: int = DEFAULT_WINDOW_DAYS
) -> StatementSource:
    """Returns the settlements of the account's vendor that have a day. Raises StatementError if there are none."""
    if not account.vendor:
        raise StatementError("name the vendor whose settlements are meant, such as rail:card:NGN@paystack")
    rows = await rail_feeds.list_settled(connection, account.vendor, account.currency)
    lines = [
        StatementLine(
            number=number,
            booked_on=settled_on,
            amount=amount,
            fee=fees if fees is not None and fees > 0 else 0,
            bank_reference=settlement_id,
            description=f"settlement {settlement_id} of {account.vendor}",
            bank_id=settlement_id,
        )
        for number, (settlement_id, amount, fees, settled_on) in enumerate(rows, start=1)
    ]
    if not lines:
        raise StatementError(f"{account.vendor} has reported no settlement in {account.currency}")
    facts = StatementFacts(FORMAT, account.currency)
    content_hash = sha256(msgspec.json.encode(lines)).digest()
    return StatementSource(
        account, LinesInMemory(facts, lines), content_hash, f"{account.vendor} settlements", window_days
    )
