"""In live an assistant only reads, and only with a key of scope read. The service says what a key may do."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kasuwa.integration.assistant.connection import AssistantError, Connection
from tests.assistant.talk import TRANSPORTS, Assistant, talk
from tests.rails.live_merchant import add_merchant
from tests.running import DEMO_KEY, DEMO_MID, Deployment, Deployments
from tests.simulate.processes import run_command

LIVE = {
    "KASUWA_ENVIRONMENT": "live",
    "KASUWA_CONSOLE": "off",
    "KASUWA_SECRET_KEY": base64.b64encode(bytes(range(32))).decode(),
}


class Live(NamedTuple):
    deployment: Deployment
    url: str
    mid: str
    key: str  # of scope all

    def add_key(self, *scopes: str) -> str:
        words = [word for scope in scopes for word in ("--scope", scope)]
        lines = self.deployment.run_command("merchant", "add-key", self.mid, "--name", "-".join(scopes), *words)
        return next(line.split()[1] for line in lines.splitlines() if line.startswith("key "))


@pytest.fixture(scope="module")
def live(deployments: Deployments) -> Iterator[Live]:
    with deployments.fresh("assistant", **LIVE) as service:
        shop, _ = add_merchant(service)
        with shop.connection:
            yield Live(service, f"http://127.0.0.1:{service.port}", shop.mid, shop.key)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_read_key_reads_and_changes_nothing(live: Live, tmp_path: Path, transport: str) -> None:
    key = live.add_key("read")

    async def work(assistant: Assistant) -> None:
        tools = [tool.name for tool in (await assistant.client.list_tools()).tools]
        assert tools == ["search_docs", "read_docs", "list_actions", "describe_action", "call_action"]
        assert "disburse verify" in await assistant.call("list_actions")
        assert "disburse transfer:" not in await assistant.call("list_actions")
        assert (await assistant.request("resources wallet"))["status"] == 200
        for action in ("disburse transfer", "sandbox clock", "resources resend", "resources payout_schedule"):
            assert "there is no action" in await assistant.refused("call_action", action=action)
        for tool in ("make_merchant", "advance_clock", "plan_fault", "explain", "certify"):
            assert "there is no tool" in await assistant.refused(tool)
        assert '"data":[' in await assistant.read(f"kasuwa://events/{live.mid}")
        assert key not in "".join(assistant.answers)

    talk(transport, live.url, tmp_path / "log", work, ["--mid", live.mid, "--key", key])
    assert (tmp_path / "log").read_text() == ""


@pytest.mark.parametrize("scopes", [("all",), ("read", "collect"), ("collect",), ("none",)])
def test_any_other_key_is_refused_before_anything_is_served(live: Live, scopes: tuple[str, ...]) -> None:
    key = {"all": live.key, "none": "k" * 40}.get(scopes[0]) or live.add_key(*scopes)
    done = run_command(["mcp", "--server", live.url, "--mid", live.mid, "--key", key], {})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"kasuwa: {live.url} ")
    assert done.stderr.count("\n") == 1
    assert key not in done.stderr


def test_another_environment_behind_the_address_ends_the_work(live: Live, deployment: Deployment) -> None:
    connection = Connection(f"http://127.0.0.1:{deployment.port}", DEMO_MID, DEMO_KEY)
    connection.check()
    assert connection.is_test
    connection.confirm()
    connection.url = live.url
    with pytest.raises(AssistantError, match="another environment"):
        connection.request("resources", {"inquire": "wallet"})
