"""Which worker runs which test, and when.

The tests of one file run on one worker, so that what they share (a server, a client that was built, a parsed source
tree) is made once. Files of the same `xdist_group` run on one worker too, and so do all tests on the oldest PostgreSQL:
its cluster and service are started once. Tests that share nothing and take long are distributed one by one. Slow ones
begin first: the last to run are short, and no worker is left alone with a long one.
"""

import faulthandler
from typing import Any

import pytest
from _pytest.faulthandler import (
    fault_handler_stderr_fd_key,
    get_exit_on_timeout_config_value,
    get_timeout_config_value,
)
from xdist.scheduler import LoadScopeScheduling

from tests.rerun import split_group
from tests.running import NEWEST, OLDEST

# Their tests start processes of their own and take up to a minute each, or send requests for a minute together.
ALONE = (
    "tests/simulate/test_",
    "tests/cli/test_command",
    "tests/certify/",
    "tests/walk/test_bad_input.py",
    "tests/walk/test_idempotency.py",
    "tests/walk/test_tenancy.py",
)
# In this order, before all others.
SLOW = (
    "tests/console/",
    "tests/simulate/",
    "tests/test_distribution.py",
    "tests/clients/",
    "tests/generators/",
    "tests/test_",
    "tests/cli/",
    "tests/walk/",
    "tests/testing/",
    "tests/certify/",
    "tests/postgres/",
    "tests/engine/",
    "tests/rails/vendors/test_live",
    "tests/rails/remote/",
    "tests/webhooks/",
    "tests/audit/",
    "tests/outbound/",
    "tests/pages/",
    "tests/api/",
    "tests/http/",
    "tests/methods/sandbox/test_http",
)


def unit_of(nodeid: str) -> str:
    """Returns the name of the unit that a test is distributed with: its group, its database, its file or itself."""
    nodeid, group = split_group(nodeid)
    if group:
        return group
    path, _, name = nodeid.partition("::")
    if NEWEST != OLDEST and name.partition("[")[2].startswith(f"pg{OLDEST}"):
        return f"pg{OLDEST}"
    return nodeid if path.startswith(ALONE) else path


def start_rank(nodeid: str) -> int:
    return next((rank for rank, prefix in enumerate(SLOW) if nodeid.startswith(prefix)), len(SLOW))


class UnitScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Runs the tests of a unit on one worker. A test whose worker has ended is not run again on the next one: it
    failed, and the rest of its unit is run."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)

    def _reschedule(self, node: Any) -> None:
        """Gives a worker tests until it has two: it runs one when it knows the next, or that there is none."""
        super()._reschedule(node)
        while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)

    def remove_node(self, node: Any) -> str | None:
        """Returns the test that was being run, or None. The worker's other tests are given to others."""
        units = self.assigned_work.pop(node)
        left = [(unit, nodeid) for unit in units.values() for nodeid, is_done in unit.items() if not is_done]
        if not left:
            return None
        unit, ended = left[0]
        unit[ended] = True
        self.workqueue.update({name: unit for name, unit in units.items() if not all(unit.values())})
        for other in self.assigned_work:
            self._reschedule(other)
        return str(ended)


def make_scheduler(config: pytest.Config, log: object) -> Any:
    """Returns a scheduler that hands out units in the order of the collection, to the first worker with little left."""
    config.option.loadscopereorder = False
    return UnitScheduling(config, log)


def count_time_again(node: Any) -> None:
    """Starts the time of a test anew that has failed. pytest ends it then, for debuggers, and the teardown may wait for
    ever too."""
    config = node.config
    timeout = get_timeout_config_value(config)
    if isinstance(node, pytest.Item) and timeout > 0 and not config.getvalue("usepdb"):
        stderr, is_exiting = config.stash[fault_handler_stderr_fd_key], get_exit_on_timeout_config_value(config)
        faulthandler.dump_traceback_later(timeout, file=stderr, exit=is_exiting)
