"""The code of the page about verification, run in each language against signatures that the service made."""

import subprocess
from pathlib import Path

import msgspec
import pytest

from kasuwa.console.reference.verification_code import JAVASCRIPT, PHP, PYTHON, SHELL
from kasuwa.webhooks.signatures import sign, standard_secret
from tests.node import find_node
from tests.packages import find_openssl, find_php

KEY = "a signing secret, with ü"
NOW = 1_767_605_400
BODY = '{"txnRef":"GP|FD|1","chargedAmount":"5.00","name":"Adé \\"O\\" $x"}'.encode()
RUN_SECONDS = 60

PYTHON_MAIN = """
import json, sys
given = json.load(open("given.json"))
body = open("body", "rb").read()
print(is_genuine(given["headers"], body, given["secret"], given["now"]))
"""
JAVASCRIPT_MAIN = """
const fs = require("node:fs");
const given = JSON.parse(fs.readFileSync("given.json"));
console.log(isGenuine(given.headers, fs.readFileSync("body"), given.secret, given.now) ? "True" : "False");
"""
PHP_MAIN = """
$given = json_decode(file_get_contents('given.json'), true);
echo is_genuine($given['headers'], file_get_contents('body'), $given['secret'], $given['now']) ? 'True' : 'False';
"""
SHELL_MAIN = """
NOW=$(cat now)
is_genuine "$(cat id)" "$(cat timestamp)" "$(cat signature)" "$(cat secret)" < body && echo True || echo False
"""


def find_shell() -> str:
    """Returns the shell. Its program calls openssl."""
    find_openssl()
    return "sh"


PROGRAMS = {
    "python": (lambda: "python3", "verify.py", PYTHON + PYTHON_MAIN),
    "node": (lambda: str(find_node()), "verify.js", JAVASCRIPT + JAVASCRIPT_MAIN),
    "php": (lambda: str(find_php()), "verify.php", PHP + PHP_MAIN),
    "shell": (find_shell, "verify.sh", SHELL + SHELL_MAIN),
}


def signed(keys: list[str], timestamp: int = NOW) -> dict[str, str]:
    encoded = [key.encode() for key in keys]
    return sign(BODY, encoded, "evt_00000001abc", timestamp, "service-hash", has_bad_signature=False)


def verify(language: str, folder: Path, headers: dict[str, str], body: bytes, secret: str = KEY) -> bool:
    find, name, code = PROGRAMS[language]
    given = {"headers": headers, "secret": standard_secret(secret), "now": NOW}
    files = {
        name: code.encode(),
        "given.json": msgspec.json.encode(given),
        "body": body,
        "now": str(NOW).encode(),
        "id": headers["webhook-id"].encode(),
        "timestamp": headers["webhook-timestamp"].encode(),
        "signature": headers["webhook-signature"].encode(),
        "secret": standard_secret(secret).encode(),
    }
    for file, content in files.items():
        (folder / file).write_bytes(content)
    ran = subprocess.run([find(), name], cwd=folder, capture_output=True, timeout=RUN_SECONDS, check=False)
    printed = ran.stdout.decode().strip()
    assert printed in ("True", "False"), ran.stderr.decode()
    return printed == "True"


@pytest.mark.parametrize("language", PROGRAMS)
def test_the_code_accepts_genuine_events_and_refuses_others(language: str, tmp_path: Path) -> None:
    assert verify(language, tmp_path, signed([KEY]), BODY)
    assert verify(language, tmp_path, signed(["a new secret", KEY]), BODY), "both sign while a rolled one overlaps"
    assert not verify(language, tmp_path, signed([KEY]), BODY.replace(b"5.00", b"9.00"))
    assert not verify(language, tmp_path, signed(["another secret"]), BODY)
    assert not verify(language, tmp_path, signed([KEY], NOW - 301), BODY)
