"""The PHP client as the tests run it: its test programs, and a merchant that calls through it."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from clients.generate.php_text import camel_case
from clients.generate.surface import ActionSurface
from tests.clients.python_walk import find_action
from tests.clients.typescript_package import WireRecord, exact_fields, url_of
from tests.merchant_client import MerchantClient, RawReply
from tests.packages import find_php_with_curl
from tests.running import Deployment

SOURCE = Path(__file__).parents[2] / "clients" / "php"
# Prevents a hanging program from blocking the run.
RUN_SECONDS = 300


class PhpFailed(RuntimeError):
    """A program of PHP ended with an error. The text is its output."""


def run_php(arguments: list[str | Path], environment: Mapping[str, str], folder: Path = SOURCE) -> str:
    """Runs php and returns its output, error stream included. Raises PhpFailed with that output."""
    done = subprocess.run(
        [find_php_with_curl(), *SHOW_ERRORS, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise PhpFailed(done.stdout)
    return done.stdout


# Debian's settings for the command line differ from those of php.ini-development.
SHOW_ERRORS = ("-d", "display_errors=1", "-d", "error_reporting=-1")


def run_tests(deployment: Deployment, folder: Path, program: str, *names: str, **environment: str) -> list[str]:
    """Runs tests of a program, all by default, and returns those that passed. The books of the merchants that they
    made are audited."""
    made = folder / "merchants"
    made.touch()
    settings = {"KASUWA_URL": url_of(deployment), "KASUWA_MERCHANTS_FILE": str(made), **environment}
    output = run_php([f"test/{program}", *names], settings)
    assert deployment.broken_invariants(made.read_text().split()) == []
    lines = output.splitlines()
    assert all(line.startswith("passed: ") for line in lines), output
    return [line.removeprefix("passed: ") for line in lines]


def is_offered(action: ActionSurface, fields: Mapping[str, Any]) -> bool:
    """Returns whether the method of an action has an argument for each of these fields."""
    return set(fields) <= {*action.selectors, *(field.wire_name for field in action.fields)}


class PhpClient(MerchantClient):
    """A merchant whose requests are calls of the PHP client, made by test/walk.php in a process of its own."""

    def __init__(self, deployment: Deployment, shop: MerchantClient) -> None:
        super().__init__(shop.connection, shop.mid, shop.key)
        self.calls: list[WireRecord] = []
        self._process = subprocess.Popen(
            [find_php_with_curl(), *SHOW_ERRORS, "test/walk.php", shop.mid, shop.key],
            cwd=SOURCE,
            env={**os.environ, "KASUWA_URL": url_of(deployment)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send_fields(
        self, method: str, fields: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> RawReply:
        """Calls the method of the action that the fields select. Other spellings of an action have no method, and other
        spellings of a field no argument: such requests are sent as they are."""
        action = find_action(method, fields)
        if action is None or not is_offered(action, fields):
            return super().send_fields(method, fields, headers=headers)
        asked = exact_fields(action, fields)
        order = {"path": action.path, "method": camel_case(action.method), "request": asked}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = msgspec.json.decode(self._process.stdout.readline())
        self.calls.append(WireRecord(action, {**asked, **action.selectors}, answer))
        wire = answer["wire"]
        return RawReply(wire["http"], wire["headers"], wire["text"].encode(), {})

    def close(self) -> None:
        self._process.communicate()
        assert self._process.returncode == 0
