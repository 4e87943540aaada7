"""What an assistant can do in the test environment, over both transports, with the package's own client."""

import json
from pathlib import Path

import pytest

from tests.assistant.talk import TRANSPORTS, Assistant, talk
from tests.certify.sample_app import Shop, serving
from tests.running import DEMO_KEY, Deployment
from tests.walk.rows import UNREACHABLE_URL

pytestmark = pytest.mark.parametrize("transport", TRANSPORTS)
TRANSFER = {"amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000"}


def address(deployment: Deployment) -> str:
    return f"http://127.0.0.1:{deployment.port}"


def read_key(file: Path) -> tuple[str, str]:
    """Returns the mid and the key of the last line of a keys file."""
    mid, key = (word.partition("=")[2] for word in file.read_text().splitlines()[-1].split())
    return mid, key


def test_a_transfer_is_made_explained_and_found_in_the_events(
    deployment: Deployment, tmp_path: Path, transport: str
) -> None:
    async def work(assistant: Assistant) -> None:
        mid = json.loads(await assistant.call("make_merchant", name="Ada", balance="2000.00"))["mid"]
        assert "disburse transfer: " in await assistant.call("list_actions", path="disburse")
        described = json.loads(await assistant.call("describe_action", action="disburse transfer"))
        assert set(described["fields"]["required"]) >= {"amount", "bankcode", "accountnumber"}
        assert described["selected_by"] == {"action": "transfer"}
        sent = await assistant.request("disburse transfer", mid, **TRANSFER, orderRef="a1")
        assert (sent["txnStatus"], sent["orderRef"]) == ("successful", "a1")
        again = await assistant.request("disburse transfer", mid, **TRANSFER, orderRef="a1")
        assert again["txnRef"] == sent["txnRef"]
        short = await assistant.request("disburse transfer", mid, **TRANSFER, orderRef="a2")
        assert short["status"] == 301
        assert "Transfer Successful" in await assistant.call("explain", merchant=mid, reference="a1")
        assert sent["txnRef"] in await assistant.read(f"kasuwa://events/{mid}")

    talk(transport, address(deployment), tmp_path / "log", work)


def test_time_moves_and_a_planned_fault_happens_once(deployment: Deployment, tmp_path: Path, transport: str) -> None:
    async def work(assistant: Assistant) -> None:
        made = await assistant.call("make_merchant", now="2026-03-01T09:00:00Z", webhook=UNREACHABLE_URL)
        mid = json.loads(made)["mid"]
        await assistant.request("disburse transfer", mid, **TRANSFER, orderRef="first")
        advanced = json.loads(await assistant.call("advance_clock", merchant=mid, days=2, hours=1))
        assert advanced["now"].startswith("2026-03-03T11:00:00")
        assert advanced["ran"]["webhook"] > 0, "a number, although the field of that name is secret elsewhere"
        await assistant.call("plan_fault", merchant=mid, rail="bank", kind="decline", on="transfer")
        outcomes = [
            (await assistant.request("disburse transfer", mid, **TRANSFER, orderRef=f"b{number}"))["txnStatus"]
            for number in range(2)
        ]
        assert outcomes == ["failed", "successful"]

    talk(transport, address(deployment), tmp_path / "log", work)


def test_a_tool_says_what_it_may_take_away_and_whom_it_may_reach(
    deployment: Deployment, tmp_path: Path, transport: str
) -> None:
    async def work(assistant: Assistant) -> None:
        tools = {tool.name: tool.annotations for tool in (await assistant.client.list_tools()).tools}
        assert {name for name, hints in tools.items() if hints and hints.destructive_hint} == {"call_action"}
        reaching = {name for name, hints in tools.items() if hints and hints.open_world_hint}
        assert reaching == {"call_action", "make_merchant", "certify"}

    talk(transport, address(deployment), tmp_path / "log", work)


def test_the_documentation_is_searched_and_read(deployment: Deployment, tmp_path: Path, transport: str) -> None:
    async def work(assistant: Assistant) -> None:
        found = await assistant.call("search_docs", query="refunding a payment")
        assert "(guides/accept-a-payment.md#refund)" in found
        # A synonym, which no page has to have.
        assert "guides/disputes.md" in await assistant.call("search_docs", query="chargeback")
        page = await assistant.call("read_docs", page="guides/accept-a-payment.md#refund")
        assert page.startswith("# Accept a payment")
        uris = {str(one.uri) for one in (await assistant.client.list_resources()).resources}
        assert {"kasuwa://docs/reference/payment.md", "kasuwa://docs/reference/events.md"} <= uris
        assert (await assistant.read("kasuwa://docs/reference/payment.md")).startswith("# `PUT /payment`")
        assert "## Request" in await assistant.read("kasuwa://docs/reference/disburse-transfer.md")

    talk(transport, address(deployment), tmp_path / "log", work)


def test_an_application_is_certified_with_the_key_that_nobody_is_shown(
    deployment: Deployment, tmp_path: Path, transport: str
) -> None:
    keys, url = tmp_path / "keys", address(deployment)

    async def work(assistant: Assistant) -> None:
        mid = json.loads(await assistant.call("make_merchant"))["mid"]
        key = read_key(keys)[1]
        only = ["signature-forged", "signature-missing"]
        for flaw, verdict in (("", "pass"), ("takes anything", "fail")):
            with serving(Shop(url, mid, key, (key,), flaw)) as shop:
                text = await assistant.call("certify", merchant=mid, app=f"{shop}/events", only=only)
            assert [line.split()[:2] for line in text.splitlines()[:2]] == [[verdict, check] for check in only]
        refused = await assistant.refused("certify", merchant=mid, app=f"{shop}/events")
        assert "nothing listens at" in refused

    talk(transport, url, tmp_path / "log", work, ["--keys-file", str(keys)])


def test_no_key_token_or_link_is_in_what_is_answered_or_logged(
    deployment: Deployment, tmp_path: Path, transport: str
) -> None:
    keys, answers = tmp_path / "keys", []
    keys.touch(0o644)

    async def work(assistant: Assistant) -> None:
        mid = json.loads(await assistant.call("make_merchant"))["mid"]
        made = await assistant.request("sandbox new_key", mid, scopes=["read"])
        assert made["key"] == "***"
        assert json.loads(await assistant.call("call_action", action="sandbox fork", merchant=mid))["key"] == "***"
        key = read_key(keys)[1]
        # A key that is sent comes back in no error: an echo of the service, of the protocol or of a tool.
        for arguments in ({"action": key}, {"action": "disburse transfer", "fields": {"amount": key}}, {key: key}):
            await assistant.try_call("call_action", {"merchant": mid, **arguments})
        await assistant.try_call(key, {})
        await assistant.try_call("read_docs", {"page": key})
        link = await assistant.request("payment checkout", mid, amount="900.00", redirect_url="https://shop.example")
        assert link["status"] == 202
        assert link["checkoutURL"].endswith("/pay/checkout/***")
        await assistant.read(f"kasuwa://events/{mid}")
        answers.extend(assistant.answers)

    talk(transport, address(deployment), tmp_path / "log", work, ["--keys-file", str(keys)])
    assert keys.stat().st_mode & 0o777 == 0o600
    credentials = [word.partition("=")[2] for line in keys.read_text().splitlines() for word in line.split()[1:]]
    assert len(credentials) == 2
    logged = (tmp_path / "log").read_text()
    for key in (*credentials, DEMO_KEY):
        assert not any(key in text for text in answers)
        assert key not in logged
    assert logged == ""
