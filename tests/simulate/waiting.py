"""Waits of the fault tests: until a load gets replies, until its transfers have ended, until a setting is in force."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from kasuwa.engine.batch import JOB_LEASE
from tests.simulate.load import LoadProcess
from tests.simulate.processes import Service, query, wait_until

ENDS_SECONDS = 240.0
ACCOUNTS_WITH_HOLDS = "select count(*) from account where held <> 0"
# A transfer whose process died would be taken over when its lease of 20 s ends, and then be asked for at longer and
# longer intervals. Only leases that began before $1 are ended: those of processes that may be dead.
# Rows that the service has locked are left for the next time, so that neither waits for the other.
END_LEASES = """
    update scheduled_job set leased_until = now() where key in (
        select key from scheduled_job where leased_until between now() and $1 for update skip locked)
"""
ASK_NOW = """
    update scheduled_job set run_at = now() where key in (
        select key from scheduled_job where kind = 'disburse.ask' and leased_until is null and run_at > now()
        for update skip locked)
"""

PROBE = "select pg_logical_emit_message(true, 'probe', 'probe')"
END_PROBE = "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and query = $1"


def wait_for_more(load: LoadProcess, count: int = 10) -> None:
    before = load.acknowledged()
    wait_until("transfers are acknowledged", lambda: load.acknowledged() >= before + count)


def wait_for_all_to_end(service: Service) -> None:
    wait_for_holds(service.dsn)


def wait_for_holds(dsn: str) -> None:
    """Waits until every transfer has ended, and does not let those of dead processes wait for their time."""
    [[now]] = query(dsn, "select now()")
    wait_until("every hold ends", lambda: is_nothing_held(dsn, now), ENDS_SECONDS)


def is_nothing_held(dsn: str, began: datetime) -> bool:
    if query(dsn, ACCOUNTS_WITH_HOLDS)[0][0] == 0:
        return True
    query(dsn, END_LEASES, began + JOB_LEASE)
    query(dsn, ASK_NOW)
    return False


def block_commits(service: Service) -> None:
    """Makes commits wait for a standby that does not exist."""
    service.query("alter system set synchronous_standby_names = 'nobody'")
    service.query("select pg_reload_conf()")
    wait_until("the setting is in force", lambda: is_commit_blocked(service))


def is_commit_blocked(service: Service) -> bool:
    """Returns whether a commit of our own waits by now. A setting reaches the server's processes one by one."""
    with ThreadPoolExecutor(1) as pool:
        probe = pool.submit(service.query, PROBE)
        wait_until("the probe waits or is done", lambda: probe.done() or service.query(END_PROBE, PROBE))
        return probe.exception() is not None
