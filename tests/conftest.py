"""The fixtures of every test that talks to a running service.

`deployment` is the service, `shop` a merchant of the test's own, `open_shop` as many as it wants. After each
test its merchants' books are audited, and the service must have said nothing on standard error: a rule that
raised or a statement that failed shows there, whatever was answered.
"""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from _pytest.nodeid import coerce_node_id

from tests.hypothesis_settings import use_no_deadline
from tests.merchant_client import MerchantClient
from tests.packages import pytest_terminal_summary  # noqa: F401  a hook
from tests.running import NEWEST, OLDEST, Deployment, Deployments, memory_directory
from tests.scheduling import count_time_again, make_scheduler, start_rank

use_no_deadline()

# In every process that tests start, taking a second connection of a pool raises (postgres/connection_pool.py).
os.environ["RAISE_ON_NESTED_ACQUIRE"] = "1"

# Compiled modules are kept, also where the shell says otherwise: each worker, server and command that tests start would
# compile all of them again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Temporary directories are in memory, where there is plenty: a server that tests start syncs each commit, as in
# production, and its data need not reach a disk. Tests also run programs from such a directory.
MEMORY = memory_directory()
if MEMORY is not None and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)

# Until all tests are collected, garbage is not: imports and parameters leave hardly any.
gc.disable()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs each slice's `test_http.py`, which covers all of its actions, on the oldest and the newest supported
    PostgreSQL. Other tests run on the newest alone."""
    if "deployment" in metafunc.fixturenames and "methods" in metafunc.definition.path.parts:
        both = metafunc.definition.path.name == "test_http.py"
        versions = {f"pg{version}": version for version in ((NEWEST, OLDEST) if both else (NEWEST,))}
        metafunc.parametrize("deployment", list(versions.values()), indirect=True, ids=list(versions))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts slow tests first, and keeps groups: xdist writes the group of a test where pytest 9.2 does not look for it
    any more."""
    for item in items:
        named = getattr(item, "_nodeid", None)
        if named is not None:
            item._id = coerce_node_id(named)
    items.sort(key=lambda item: start_rank(item.nodeid))


def pytest_collection_finish() -> None:
    # Modules and tests live until the end: no later collection of garbage looks at them again.
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: Any) -> None:
    count_time_again(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Any:
    """Returns None, which leaves it to xdist, if another --dist was asked for."""
    return make_scheduler(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.fixture(scope="session")
def deployments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployments]:
    with ExitStack() as stack:
        yield Deployments(tmp_path_factory.mktemp("running"), stack)


@pytest.fixture
def deployment(request: pytest.FixtureRequest, deployments: Deployments) -> Iterator[Deployment]:
    running = deployments.for_version(getattr(request, "param", NEWEST))
    yield running
    assert running.new_stderr() == ""


@pytest.fixture
def open_shop(deployment: Deployment) -> Iterator[Callable[..., MerchantClient]]:
    opened: list[MerchantClient] = []

    def open_one(**fields: object) -> MerchantClient:
        opened.append(deployment.open_shop(**fields))
        return opened[-1]

    yield open_one
    for shop in opened:
        shop.connection.close()
    assert deployment.broken_invariants([shop.mid for shop in opened]) == []


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop()
