"""Cases and recordings are made and played where the Python client is not installed, as in the image."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.merchant_client import MerchantClient
from tests.running import Deployment

NO_CLIENT = 'raise ModuleNotFoundError("No module named \'kasuwa_client\'", name="kasuwa_client")\n'


@pytest.fixture
def run(tmp_path: Path, deployment: Deployment) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Runs `kasuwa …` on the deployment's database, without the client."""
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "kasuwa_client.py").write_text(NO_CLIENT)
    path = os.pathsep.join(filter(None, (str(tmp_path / "without"), os.environ.get("PYTHONPATH"))))
    settings = {"KASUWA_DATABASE_URL": deployment.dsn, "KASUWA_DATA": str(deployment.directory), "PYTHONPATH": path}

    def run_command(*words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "kasuwa", *words]
        return subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)

    return run_command


def test_cases_and_recordings_need_no_client(
    open_shop: Callable[..., MerchantClient],
    deployment: Deployment,
    run: Callable[..., "subprocess.CompletedProcess[str]"],
    tmp_path: Path,
) -> None:
    shop, url = open_shop(), f"http://127.0.0.1:{deployment.port}"
    reference = shop.transfer(accountnumber="0000000000")["txnRef"]
    case, recording = tmp_path / "case.json", tmp_path / "recording.json"
    exported = run("case", "export", reference, "--mid", shop.mid, "--to", str(case))
    assert (exported.returncode, exported.stderr) == (0, "")
    played = run("case", "replay", str(case), "--url", url)
    assert (played.returncode, played.stdout.splitlines()[-1:]) == (0, ["equal"]), played
    recorded = run("record", "--to", str(recording), "--server", url, "--", "true")
    assert (recorded.returncode, recording.exists()) == (0, True), recorded
