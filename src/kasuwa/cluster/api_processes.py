"""The table of live API processes of all hosts. Leases are by the database's time."""

from datetime import datetime

import msgspec

from kasuwa.postgres.connection_pool import QueryRunner

# How long a process counts as live after it last renewed its lease, which it does every second.
LEASE_SECONDS = 5
# Rows are kept this long after their lease, for people who look what has ended.
KEPT_SECONDS = 300

# An address that another live host has is not taken over: two hosts were given the same.
RENEW = f"""
    insert into api_process (address, host_id, machine, number, protocol, version, clock_skew_ms, lease_until)
    values ($1, $2, $3, $4, $5, $6, $7, now() + interval '{LEASE_SECONDS} seconds')
    on conflict (address) do update set host_id = excluded.host_id, machine = excluded.machine,
        number = excluded.number, protocol = excluded.protocol, version = excluded.version,
        clock_skew_ms = excluded.clock_skew_ms, lease_until = excluded.lease_until,
        started_at = case when api_process.host_id = excluded.host_id then api_process.started_at else now() end
    where api_process.host_id = excluded.host_id or api_process.lease_until < now()
    returning true
"""
LIST_LIVE = """
    select address, host_id, machine, number, protocol, version, clock_skew_ms, started_at
    from api_process where lease_until >= now()
"""
END = "delete from api_process where address = $1 and host_id = $2"
DELETE_OLD = f"delete from api_process where lease_until < now() - interval '{KEPT_SECONDS} seconds'"


class ApiProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table."""

    address: str  # where other hosts reach it, and its name
    host_id: str
    machine: str
    number: int
    protocol: str
    version: str
    clock_skew_ms: int
    started_at: datetime | None = None  # set by the database


async def renew(database: QueryRunner, process: ApiProcess) -> bool:
    """Renews the lease of a process. Returns False if another live host has the address."""
    values = (process.address, process.host_id, process.machine, process.number, process.protocol, process.version)
    renewed = await database.fetchval(RENEW, *values, process.clock_skew_ms)
    return renewed is not None


async def list_live(database: QueryRunner) -> list[ApiProcess]:
    """Returns the processes whose lease has not ended, by their addresses."""
    live = [ApiProcess(**dict(row)) for row in await database.fetch(LIST_LIVE)]
    return sorted(live, key=lambda process: process.address)


async def end(database: QueryRunner, process: ApiProcess) -> None:
    """Deletes the row of a process that stops."""
    await database.execute(END, process.address, process.host_id)


async def delete_old(database: QueryRunner) -> None:
    await database.execute(DELETE_OLD)
