"""The pytest plugin of Kasuwa: fixtures with a server for the test run and a merchant for each test.

pytest loads this module in every run where Kasuwa is installed, so it imports nothing. Fixtures import what they need
when a test asks for them.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kasuwa.testing.merchant import SandboxMerchant
    from kasuwa.testing.server import Server
    from kasuwa_client import AsyncKasuwa, Kasuwa

MERCHANT: "pytest.StashKey[SandboxMerchant]" = pytest.StashKey()
MARKER = (
    "kasuwa(balance=, now=, name=, seed=): the merchant of the fixture `kasuwa`: its NGN balance, clock, name, seed"
)


class Hooks:
    """Hooks of other plugins: that of kasuwa.integration records tests and replays them."""

    @pytest.hookspec(firstresult=True)
    def pytest_kasuwa_server(self, request: pytest.FixtureRequest) -> "AbstractContextManager[Server] | None":
        """Returns the server of the merchant of one test, or None for that of the test run."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kasuwa", "Kasuwa, the payment service")
    group.addoption("--kasuwa-url", metavar="URL", help="Use a running server (KASUWA_TEST_URL).")
    group.addoption("--kasuwa-mid", metavar="MID", default="GP0000001", help="Merchant of that server (demo).")
    group.addoption("--kasuwa-key", metavar="KEY", default="123456789", help="The key of that merchant.")
    group.addoption("--kasuwa-update-golden", action="store_true", help="Write golden files instead of comparing.")
    group.addoption("--kasuwa-seed", metavar="TEXT", help="Seed of random outcomes. Default: the ini option.")
    parser.addini("kasuwa_seed", "Seed of random outcomes, such as of faults with a probability.", default="kasuwa")
    parser.addini("kasuwa_golden", "Directory of golden files, seen from the test file.", default="golden")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def need_client() -> None:
    """Raises UsageError if the client library is not installed."""
    from importlib.util import find_spec

    if find_spec("kasuwa_client") is None:
        raise pytest.UsageError("the fixtures of Kasuwa need its client: pip install 'kasuwa[testing]'")


@pytest.fixture(scope="session")
def kasuwa_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator["Server"]:
    """The server of this test run. All xdist workers share one, which stops after the last of them."""
    from kasuwa.testing import server

    need_client()
    config = request.config
    if config.getoption("--kasuwa-offline", default=False):
        raise pytest.UsageError("only the fixture kasuwa and those of its merchant work with --kasuwa-offline")
    url = config.getoption("--kasuwa-url") or os.environ.get(server.URL_VARIABLE)
    if url:
        yield server.connect(url, config.getoption("--kasuwa-mid"), config.getoption("--kasuwa-key"))
        return
    root = tmp_path_factory.getbasetemp()
    is_worker = hasattr(config, "workerinput")
    with server.join_server(root.parent if is_worker else root) as shared_server:
        yield shared_server
    if not is_worker and shared_server.directory is not None:
        server.wait_removed(shared_server.directory)


@pytest.fixture
def kasuwa(request: pytest.FixtureRequest) -> Iterator["SandboxMerchant"]:
    """A merchant of the test's own with 50,000.00 NGN. Its books are audited after the test."""
    need_client()
    from kasuwa.testing.golden import GoldenFiles

    config = request.config
    golden = request.path.parent / str(config.getini("kasuwa_golden"))
    seed = str(config.getoption("--kasuwa-seed") or config.getini("kasuwa_seed"))
    # Each test has a seed of its own, so that it has the same outcomes alone and in any order.
    options: dict[str, Any] = {"name": request.node.name[:200], "seed": f"{seed} {request.node.nodeid}"}
    for marker in reversed(list(request.node.iter_markers("kasuwa"))):
        options |= marker.kwargs
    with ExitStack() as stack:
        other: AbstractContextManager[Server] | None = config.hook.pytest_kasuwa_server(request=request)
        server = request.getfixturevalue("kasuwa_server") if other is None else stack.enter_context(other)
        files = GoldenFiles(Path(golden), config.getoption("--kasuwa-update-golden"), seed)
        merchant = stack.enter_context(server.merchant(golden_files=files, **options))
        request.node.stash[MERCHANT] = merchant
        yield merchant


@pytest.fixture
def kasuwa_client(kasuwa: "SandboxMerchant") -> "Kasuwa":
    """The client of the test's merchant."""
    return kasuwa.client


@pytest.fixture
def kasuwa_async(kasuwa: "SandboxMerchant") -> "AsyncKasuwa":
    """The client of the test's merchant for asyncio."""
    return kasuwa.async_client


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Any:
    """Adds the timelines of all references that a failing test touched to its report."""
    report: pytest.TestReport = yield
    merchant = item.stash.get(MERCHANT, None)
    if merchant is not None and report.failed and not merchant.server.is_replayed:
        try:
            timelines = merchant.timelines()
        except Exception as error:
            timelines = f"not available: {type(error).__name__}"
        if timelines:
            report.sections.append(("Kasuwa timelines", timelines))
    return report
