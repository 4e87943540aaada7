"""The deployment's stored policy of authority: how long a new or changed account or key approves nothing.

The newest row is in force. Commands and pages read it here, never from the environment of whoever runs them.
"""

from datetime import timedelta

from kasuwa.core.authority import LIVE
from kasuwa.core.reading import Reader
from kasuwa.db.connection_pool import Connection

# The shortest time of a live deployment: a night, so that colleagues see the audit trail before it is over.
MIN_LIVE_HOURS = 12
MAX_HOURS = 720
DEFAULT_HOURS = {LIVE: 24, "test": 0}

SELECT_HOURS = "select cooling_off_hours from authority_policy order by policy_id desc limit 1"
SELECT_ENVIRONMENT = "select environment from deployment"
INSERT_FIRST = """
    insert into authority_policy (cooling_off_hours, set_by)
    select $1, 'the first start' where not exists (select 1 from authority_policy)
"""


def least_hours(environment: str) -> int:
    return MIN_LIVE_HOURS if environment == LIVE else 0


async def read_environment(connection: Connection) -> str:
    """Returns the environment that the database belongs to, whatever the settings of this process say."""
    return str(await connection.fetchval(SELECT_ENVIRONMENT))


async def ensure_policy(connection: Connection, environment: str, hours: int | None) -> None:
    """Stores the first policy, unless there is one. `hours` are those of the settings; None: the default."""
    wanted = DEFAULT_HOURS[environment] if hours is None else hours
    await connection.execute(INSERT_FIRST, max(wanted, least_hours(environment)))


async def read_cooling_off(connection: Reader) -> timedelta:
    """Returns the time in force. A database on which the service has not started yet has that of live."""
    row = await connection.fetchrow(SELECT_HOURS)
    return timedelta(hours=DEFAULT_HOURS[LIVE] if row is None else row[0])


async def set_cooling_off(connection: Connection, hours: int, set_by: str) -> None:
    await connection.execute("insert into authority_policy (cooling_off_hours, set_by) values ($1, $2)", hours, set_by)
