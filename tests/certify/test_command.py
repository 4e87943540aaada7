"""`kasuwa certify` as it is called: what it prints and writes, its exit codes, and the shops of the documentation."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kasuwa.integration.all_checks import ALL_CHECKS
from tests.certify.sample_app import Shop, serving
from tests.merchant_client import MerchantClient
from tests.printed_page import read_blocks
from tests.running import Deployment, free_port
from tests.simulate.processes import run_command
from tests.source_rules import REPOSITORY
from tests.test_quickstart import install_client

PYTHON = sys.executable
# Serves the application of the page.
README_SERVER = """
from wsgiref.simple_server import make_server
make_server("127.0.0.1", {port}, application).serve_forever()
"""


def certify(deployment: Deployment, *words: str, environ: dict[str, str] | None = None) -> tuple[int, str, str]:
    server = {"KASUWA_URL": f"http://127.0.0.1:{deployment.port}"}
    done = run_command(["certify", *words], {**server, **(environ or {})})
    return done.returncode, done.stdout, done.stderr


def count_verdicts(output: str) -> dict[str, list[str]]:
    """Returns the ids of the checks by verdict, as the lines of the report say."""
    verdicts: dict[str, list[str]] = {"pass": [], "fail": [], "not seen": []}
    ids = {check.id for check in ALL_CHECKS}
    for line in output.splitlines():
        verdict, rest = line[:8].strip(), line[10:].split(" ")[0]
        if rest in ids and verdict in verdicts:
            verdicts[verdict].append(rest)
    return verdicts


def run_sample(port: int, flaw: str = "") -> str:
    return f"cd {REPOSITORY} && exec {PYTHON} -m tests.certify.sample_app {port} {flaw}"


def addresses(port: int) -> Sequence[str]:
    url = f"http://127.0.0.1:{port}"
    orders = ("--order", f"{url}/orders", "--payout", f"{url}/payouts", "--fulfilled", f"{url}/orders/{{txnRef}}")
    return "--app", f"{url}/events", *orders


def test_a_run_reports_to_the_terminal_to_html_and_to_junit(deployment: Deployment, tmp_path: Path) -> None:
    port = free_port()
    html, junit = tmp_path / "report.html", tmp_path / "report.xml"
    only = (
        "--only",
        "signature-forged",
        "--only",
        "paid-fulfilled",
        "--only",
        "keys-in-headers",
        "--only",
        "timeout-set",
    )
    files = ("--html", str(html), "--junit", str(junit), "--hold", "0")
    code, output, errors = certify(
        deployment, *addresses(port), "--run", run_sample(port, "takes anything"), *only, *files
    )
    assert (code, errors) == (1, "")
    assert count_verdicts(output) == {
        "pass": ["paid-fulfilled", "keys-in-headers"],
        "fail": ["signature-forged"],
        "not seen": ["timeout-set"],
    }
    sentence = "an event that was signed with a made-up secret was accepted with HTTP 200"
    assert f"signature-forged: {sentence}" in output
    address = f"http://127.0.0.1:{deployment.port}/docs/guides/webhooks.html#verify-and-answer"
    assert f"  see  {address}" in output
    assert "2 pass, 1 fail, 1 not seen" in output
    page = html.read_text()
    assert sentence in page
    assert address in page
    assert [mark for mark in ("<script", " src=", "<link") if mark in page] == []
    [suite] = [ElementTree.fromstring(junit.read_bytes())]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "1")
    failures = {case.get("name"): failure.get("message") for case in suite for failure in case.findall("failure")}
    assert failures == {"signature-forged: rejects a forged signature": sentence}


def test_an_application_that_runs_already_is_checked_by_its_events_and_the_log(
    deployment: Deployment, shop: MerchantClient
) -> None:
    url = f"http://127.0.0.1:{deployment.port}"
    app = Shop(url, shop.mid, shop.key, ("the signing secret",), "floats")
    app.place()
    with serving(app) as address:
        secret = {"KASUWA_MID": shop.mid, "KASUWA_KEY": shop.key, "KASUWA_SIGNING_SECRET": "the signing secret"}
        code, output, errors = certify(deployment, "--app", f"{address}/events", environ=secret)
    assert (code, errors) == (1, "")
    verdicts = count_verdicts(output)
    assert verdicts["fail"] == ["amounts-exact"]
    assert {"event-accepted", "secret-rolled", "requests-valid"} <= set(verdicts["pass"])
    assert {"paid-fulfilled", "keys-in-headers", "writes-named", "polling-slow"} <= set(verdicts["not seen"])
    assert sum(map(len, verdicts.values())) == len(ALL_CHECKS)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--app", "nowhere"), "nowhere is not an address"),
        (("--app", "http://127.0.0.1:9/events"), "nothing listens at http://127.0.0.1:9/events"),
        (("--app", "http://127.0.0.1:9/e", "--only", "x"), "there is no check x: choose from event-accepted"),
        (("--app", "http://127.0.0.1:9/e", "--order", "http://127.0.0.1:9/o"), "--order needs --run"),
        (("--app", "http://127.0.0.1:9/e", "--run", "echo it is broken"), "Its output:\nit is broken"),
    ],
)
def test_what_cannot_run_has_exit_code_2(deployment: Deployment, words: Sequence[str], reason: str) -> None:
    code, output, errors = certify(deployment, *words)
    assert (code, output) == (2, "")
    assert reason in errors
    assert errors.startswith("kasuwa: no check was run.")


def test_the_shop_of_the_quickstart_raises_no_alarm(deployment: Deployment, tmp_path: Path) -> None:
    [program] = [block for block in read_blocks(REPOSITORY / "docs" / "quickstart.md") if block.file == "shop.py"]
    (tmp_path / "shop.py").write_text("\n".join([*program.lines, ""]))
    port = free_port()
    code, output, errors = certify(
        deployment,
        "--app",
        f"http://127.0.0.1:{port}/events",
        "--order",
        f"http://127.0.0.1:{port}/orders",
        "--order-body",
        "book",
        "--hold",
        "0",
        "--run",
        f"SHOP_PORT={port} exec {PYTHON} {tmp_path / 'shop.py'}",
    )
    assert (code, errors) == (0, ""), output
    verdicts = count_verdicts(output)
    assert verdicts["fail"] == []
    assert {"verified-first", "lost-reply-repeated", "retry-after-kept", "amounts-exact"} <= set(verdicts["pass"])
    assert {"paid-fulfilled", "processing-awaited", "timeout-set"} <= set(verdicts["not seen"])


def test_the_receiver_of_the_clients_page_raises_no_alarm(deployment: Deployment, tmp_path: Path) -> None:
    page = REPOSITORY / "clients" / "python" / "README.md"
    [program] = [block for block in read_blocks(page) if "application = EventApp(" in "\n".join(block.lines)]
    head = ["from kasuwa_client import Kasuwa", "shop = Kasuwa.from_environment()"]
    port = free_port()
    (tmp_path / "shop.py").write_text("\n".join([*head, *program.lines, README_SERVER.format(port=port)]))
    command = f"exec {PYTHON} {tmp_path / 'shop.py'}"
    code, output, errors = certify(deployment, "--app", f"http://127.0.0.1:{port}/events", "--run", command)
    assert (code, errors) == (0, ""), output
    assert count_verdicts(output)["fail"] == []


def test_the_shop_in_typescript_raises_no_alarm(deployment: Deployment, tmp_path: Path) -> None:
    [program] = [block for block in read_blocks(REPOSITORY / "docs" / "quickstart.md") if block.file == "shop.mts"]
    (tmp_path / "shop.mts").write_text("\n".join([*program.lines, ""]))
    install_client(tmp_path)
    compiler = ["npx", "tsc", "--target", "es2022", "--module", "nodenext", "--types", "node", "shop.mts"]
    subprocess.run(compiler, cwd=tmp_path, check=True, capture_output=True)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    order = ("--order", f"{url}/orders", "--order-body", "book", "--hold", "0")
    command = f"cd {tmp_path} && SHOP_PORT={port} exec node shop.mjs"
    code, output, errors = certify(deployment, "--app", f"{url}/events", *order, "--run", command)
    assert (code, errors) == (0, ""), output
    verdicts = count_verdicts(output)
    assert verdicts["fail"] == []
    assert {"verified-first", "lost-reply-repeated", "secret-rolled", "writes-named"} <= set(verdicts["pass"])
