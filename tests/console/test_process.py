"""The console process: supervision, readiness and request log."""

from typing import Any

import msgspec
import psutil
import pytest

from tests.command_processes import is_service_process
from tests.console.visitor import Visitor, sign_in_link
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments, free_port
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")


def console_of(deployment: Deployment) -> psutil.Process | None:
    consoles = (
        process for process in psutil.process_iter() if is_service_process(process, "console", deployment.directory)
    )
    return next(consoles, None)


def readiness(deployment: Deployment) -> str:
    with deployment.connect() as wire:
        return str(wire.send("GET", "/readyz").body["message"])


def test_a_console_that_dies_fails_readiness_and_is_restarted(deployments: Deployments) -> None:
    with deployments.fresh("console_dies") as running:
        first = console_of(running)
        assert first is not None

        def is_missed() -> bool:
            """Whichever runs is killed again: it is back within a second, and we may be slow to look."""
            found = console_of(running)
            if found is not None:
                found.kill()
            return readiness(running) == "the console is not listening"

        wait_until("it is missed", is_missed)
        wait_until("it is back", lambda: readiness(running) == "ready")
        again = console_of(running)
        assert again is not None
        assert again.pid != first.pid


def test_a_deployment_can_run_without_a_console(deployments: Deployments) -> None:
    with deployments.fresh("no_console", KASUWA_CONSOLE="off") as running:
        assert console_of(running) is None
        assert readiness(running) == "ready"
        assert "Console:" not in running.out.read_text()


def test_serve_refuses_a_console_port_that_is_taken(deployment: Deployment) -> None:
    ports = ("--port", str(free_port()), "--console-port", str(deployment.console_port))
    assert "choose another --console-port" in deployment.run_refused_command("serve", *ports)


def lines_of(deployment: Deployment, request_id: str) -> list[dict[str, Any]]:
    lines = [line for line in deployment.out.read_text().splitlines() if f'"{request_id}"' in line]
    return [msgspec.json.decode(line) for line in lines]


def test_the_request_log_names_the_route_and_no_values(deployment: Deployment, shop: MerchantClient) -> None:
    visitor, named = Visitor(deployment), {"x-request-id": f"console-{shop.mid}"}
    _, link = sign_in_link(deployment, "merchant:owner", shop.mid)
    visitor.get(link, named)
    assert visitor.post(link, named).headers["x-request-id"] == named["x-request-id"]
    for path in ("/transactions/5061000000000000?q=a-secret", "/5061000000000000", "/static/console.css"):
        visitor.get(path, named)
    assert visitor.get("/account", {"x-request-id": "not one"}).headers["x-request-id"] != "not one"
    wait_until("they are written", lambda: len(lines_of(deployment, named["x-request-id"])) == 5)
    lines = [
        (line["method"], line["path"], line["mid"], line["http"])
        for line in lines_of(deployment, named["x-request-id"])
    ]
    assert lines == [
        ("GET", "/link/{token}", "", 200),
        ("POST", "/link/{token}", "", 303),
        ("GET", "/transactions/{ref}", shop.mid, 404),
        ("GET", "other", "", 404),
        ("GET", "/static/", "", 200),
    ]
    output = deployment.out.read_text()
    assert all(word not in output for word in (link.removeprefix("/link/"), "5061000000000000", "a-secret"))
