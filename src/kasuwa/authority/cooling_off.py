"""The deployment's stored policy of authority: how long a new or changed account or key approves nothing.

The newest row is in force. Commands and pages read it here, never from the environment of whoever runs them.
"""

from datetime import timedelta

from kasuwa.authority.acts import LIVE
from kasuwa.core.reading import Reader
from kasuwa.core.row_codes import CodedTable
from kasuwa.core.vault import Vault
from kasuwa.postgres import row_codes
from kasuwa.postgres.connection_pool import Connection

POLICIES = CodedTable(
    table="authority_policy",
    is_of_merchant=False,
    key={"policy_id": "bigint"},
    covered=("cooling_off_hours", "set_by"),
)
POLICY_ROW = "policy_id = $1"

# The shortest time of a live deployment: a night, so that colleagues see the audit trail before it is over.
MIN_LIVE_HOURS = 12
MAX_HOURS = 720
DEFAULT_HOURS = {LIVE: 24, "test": 0}

SELECT_POLICY = f"""
    select cooling_off_hours, row_code, {POLICIES.content_sql()} from authority_policy order by policy_id desc limit 1
"""
SELECT_ENVIRONMENT = "select environment from deployment"
INSERT_FIRST = """
    insert into authority_policy (cooling_off_hours, set_by)
    select $1, 'the first start' where not exists (select 1 from authority_policy) returning policy_id
"""
INSERT = "insert into authority_policy (cooling_off_hours, set_by) values ($1, $2) returning policy_id"


def least_hours(environment: str) -> int:
    return MIN_LIVE_HOURS if environment == LIVE else 0


async def read_environment(connection: Connection) -> str:
    """Returns the environment that the database belongs to, whatever the settings of this process say."""
    return str(await connection.fetchval(SELECT_ENVIRONMENT))


async def ensure_policy(connection: Connection, vault: Vault, environment: str, hours: int | None) -> None:
    """Stores the first policy, unless there is one. `hours` are those of the settings; None: the default."""
    wanted = DEFAULT_HOURS[environment] if hours is None else hours
    async with connection.transaction():
        policy_id = await connection.fetchval(INSERT_FIRST, max(wanted, least_hours(environment)))
        if policy_id is not None:
            await row_codes.code_new_row(connection, vault, POLICIES, POLICY_ROW, policy_id)


async def read_cooling_off(connection: Reader, vault: Vault) -> timedelta:
    """Returns the time in force. A database on which the service has not started yet has that of live. Raises
    RowChanged."""
    row = await connection.fetchrow(SELECT_POLICY)
    if row is None:
        return timedelta(hours=DEFAULT_HOURS[LIVE])
    hours, code, *content = row
    row_codes.check_content(vault, POLICIES, tuple(content), code)
    return timedelta(hours=hours)


async def set_cooling_off(connection: Connection, vault: Vault, hours: int, set_by: str) -> None:
    policy_id = await connection.fetchval(INSERT, hours, set_by)
    await row_codes.code_new_row(connection, vault, POLICIES, POLICY_ROW, policy_id)
