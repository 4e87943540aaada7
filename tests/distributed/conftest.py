"""Three servers with Citus and a distributed database on them, for each file of checks."""

from collections.abc import Callable, Iterator

import pytest

from tests.distributed.nodes import Nodes, running_nodes
from tests.running import logins_of
from tests.simulate.processes import run_command


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with running_nodes() as running:
        yield running


@pytest.fixture(scope="module")
def environ(nodes: Nodes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {**logins_of(nodes.dsn, {}), "KASUWA_DATA": str(tmp_path_factory.mktemp("operator"))}


@pytest.fixture(scope="module")
def run(environ: dict[str, str]) -> Callable[..., str]:
    """Runs `kasuwa …` on a database that has its schema and the demo merchant, and was distributed then."""

    def run_one(*words: str) -> str:
        done = run_command(words, environ)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    run_one("migrate")
    assert "merchant_state: by merchant" in run_one("database", "distribute")
    return run_one
