"""The code of a logged request sends it again, in every language."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from kasuwa.console.reference.request_code import write_request
from tests.merchant_client import MerchantClient
from tests.node import find_node
from tests.packages import find_curl
from tests.running import Deployment

SENT = msgspec.json.encode(
    {
        "action": "transfer",
        "amount": "12.50",
        "narration": 'Ada\'s "rent" \\ 100% ₦ 😀\n$HOME `id` ${x}',
        "accountnumber": "",
    }
).decode()


@pytest.mark.parametrize("language", ["curl", "Python", "TypeScript"])
def test_the_code_of_a_request_sends_its_body(
    language: str, deployment: Deployment, shop: MerchantClient, tmp_path: Path
) -> None:
    [code] = [one.code for one in write_request("disburse", SENT) if one.name == language]
    program = tmp_path / "sent.mjs"
    program.write_text(code, encoding="utf-8")
    commands = {
        "curl": ["bash", "-c", code],
        "Python": [sys.executable, str(program)],
        "TypeScript": [str(find_node()), str(program)] if language == "TypeScript" else [],
    }
    if language == "curl":
        find_curl()
    url = f"http://127.0.0.1:{deployment.port}"
    environment = {**os.environ, "KASUWA_URL": url, "KASUWA_MID": shop.mid, "KASUWA_KEY": shop.key}
    done = subprocess.run(commands[language], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert msgspec.json.decode(done.stdout)["status"] == 104
    newest = shop.put("sandbox", action="requests", limit=1).body["data"][0]
    assert msgspec.json.decode(newest["request_body"])["narration"] == msgspec.json.decode(SENT)["narration"]
