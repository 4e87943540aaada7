"""Waits of the fault tests: until a load gets replies, until its transfers have ended, until a setting is in force."""

from concurrent.futures import ThreadPoolExecutor

from tests.simulate.load import LoadProcess
from tests.simulate.processes import Service, wait_until

ACCOUNTS_WITH_HOLDS = "select count(*) from account where held <> 0"
# A lease of 20 s, then a query of the rail, perhaps 5 s later, on a busy machine.
ENDS_SECONDS = 120.0

PROBE = "select pg_logical_emit_message(true, 'probe', 'probe')"
END_PROBE = "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and query = $1"


def wait_for_more(load: LoadProcess, count: int = 10) -> None:
    before = load.acknowledged()
    wait_until("transfers are acknowledged", lambda: load.acknowledged() >= before + count)


def wait_for_all_to_end(service: Service) -> None:
    wait_until("every hold ends", lambda: service.query(ACCOUNTS_WITH_HOLDS)[0][0] == 0, ENDS_SECONDS)


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
