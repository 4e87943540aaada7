"""The samples of the reference, made for every example and run: with curl, in PHP, and with the Python client.

Those in TypeScript are compiled and called by tests/clients/test_typescript.py, from the same source.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clients.generate.surface import ALIASES
from kasuwa.boot.documentation import make_site
from kasuwa.documentation.samples import make_samples, php_literal, write_curl, write_php
from kasuwa_client import Kasuwa
from tests.clients.python_walk import find_action, raw_of
from tests.documentation.guide_programs import LANGUAGES, save_files
from tests.merchant_client import MerchantClient, RawReply
from tests.packages import find_curl, find_php
from tests.running import Deployment
from tests.walk.rows import ACTION_ROWS, ActionRow, example_paths, send_examples, value_at

pytestmark = pytest.mark.xdist_group("documentation")

# Reads one program per line, runs it with the function of the guides, and prints its reply on one line.
RUN_PROGRAMS = """\
<?php
require 'kasuwa.php';
while (($line = fgets(STDIN)) !== false) {
    try {
        eval(json_decode($line));
        echo json_encode($reply), "\\n";
    } catch (KasuwaRefused $refused) {
        echo json_encode($refused->reply), "\\n";
    }
}
"""


class SampleClient(MerchantClient):
    """A merchant whose requests are sent by samples. Counts those that were."""

    def __init__(self, shop: MerchantClient) -> None:
        super().__init__(shop.connection, shop.mid, shop.key)
        self.titles: set[str] = set()

    def send_fields(
        self, method: str, fields: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> RawReply:
        if headers is not None:
            return super().send_fields(method, fields, headers=headers)
        return RawReply(200, {}, self.run(method, fields), {})

    def run(self, method: str, fields: Mapping[str, Any]) -> bytes:
        raise NotImplementedError


class CurlClient(SampleClient):
    def __init__(self, shop: MerchantClient, environ: dict[str, str]) -> None:
        super().__init__(shop)
        self._environ = environ

    def run(self, method: str, fields: Mapping[str, Any]) -> bytes:
        command = write_curl(method, fields)
        return subprocess.run(["sh", "-c", command], env=self._environ, capture_output=True, check=True).stdout


class PhpClient(SampleClient):
    def __init__(self, shop: MerchantClient, environ: dict[str, str], directory: Path) -> None:
        super().__init__(shop)
        (directory / "run.php").write_text(RUN_PROGRAMS)
        self._process = subprocess.Popen(
            [str(find_php()), "run.php"],
            cwd=directory,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, method: str, fields: Mapping[str, Any]) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(write_php(method, fields)) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().encode()

    def close(self) -> None:
        self._process.communicate()
        assert self._process.returncode == 0


class PythonSamples(SampleClient):
    """Runs the printed calls, with the references of this run in place of those of the examples."""

    def __init__(self, shop: MerchantClient, client: Kasuwa) -> None:
        super().__init__(shop)
        self._client = client

    def run(self, method: str, fields: Mapping[str, Any]) -> bytes:
        action = find_action(method, fields)
        row = next((row for row in ACTION_ROWS if action is not None and row.title == action.title), None)
        if row is None or not has_form_of(row, fields):
            return super(SampleClient, self).send_fields(method, fields).raw
        code = dict(make_samples(row.title, method, row.example))["python"].partition("\nreply = ")[2]
        for path in example_paths(row.example, ()):
            shown, actual = value_at(row.example, path), value_at(fields, path)
            if isinstance(shown, str) and shown != actual:
                code = code.replace(json.dumps(shown), json.dumps(actual))
        self.titles.add(row.title)
        result = eval(compile(code.strip(), row.title, "eval"), {"shop": self._client})
        return json.dumps(raw_of(result), default=str).encode()


def has_form_of(row: ActionRow, fields: Mapping[str, Any]) -> bool:
    """Returns whether a request is the example of a row, with other references at most."""
    paths = set(example_paths(row.example, ()))
    if set(example_paths(fields, ())) != paths:
        return False
    pairs = [(value_at(row.example, path), value_at(fields, path)) for path in paths]
    return all(shown == actual or isinstance(shown, str | dict | list) for shown, actual in pairs)


@pytest.fixture
def environ(deployment: Deployment, shop: MerchantClient) -> dict[str, str]:
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "KASUWA_URL": f"http://127.0.0.1:{deployment.port}",
        "KASUWA_MID": shop.mid,
        "KASUWA_KEY": shop.key,
    }


def check_replies(client: SampleClient) -> None:
    """Sends all examples by samples. Each must be accepted, as it is when it is recorded."""
    sent = send_examples(client)
    assert {one.row.title for one in sent} == {row.title for row in ACTION_ROWS}
    for row, _, received in sent:
        body = received.body
        status = body.get("status", 200) if isinstance(body, dict) else 200
        assert status in (200, 202, "success"), (row.title, body)


def test_every_sample_with_curl_is_accepted(shop: MerchantClient, environ: dict[str, str]) -> None:
    find_curl()
    check_replies(CurlClient(shop, environ))


def test_every_sample_in_php_is_accepted(shop: MerchantClient, environ: dict[str, str], tmp_path: Path) -> None:
    save_files(tmp_path)
    client = PhpClient(shop, environ, tmp_path)
    check_replies(client)
    client.close()


def test_every_sample_in_python_is_accepted(shop: MerchantClient, environ: dict[str, str]) -> None:
    with Kasuwa(mid=shop.mid, key=shop.key, base_url=environ["KASUWA_URL"]) as kasuwa:
        client = PythonSamples(shop, kasuwa)
        check_replies(client)
    # The clients have one name for an action that has two on the wire.
    assert {row.title for row in ACTION_ROWS} - client.titles <= ALIASES


def test_the_pages_have_the_samples_that_were_run() -> None:
    site = make_site()
    for row in ACTION_ROWS:
        shown = site.read(f"reference/{row.title}.html").decode()
        samples = make_samples(row.title, row.method, row.example)
        assert [language for language, _ in samples] == list(LANGUAGES)
        for _, code in samples:
            assert code.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in shown, row.title


def literals() -> Iterator[Any]:
    yield from ("it's", "back\\slash", "\\'", "a\nb", "₦ é", "$x {$y}", "")
    yield from (0, -5, True, False, None, [], [1, "a", [2]], {"a": {"b": [1]}}, {"data": []})


@pytest.mark.parametrize("value", list(literals()), ids=repr)
def test_a_literal_of_php_stands_for_the_same_value(value: Any) -> None:
    program = f"echo json_encode({php_literal(value)});"
    done = subprocess.run([str(find_php()), "-r", program], capture_output=True, text=True, check=True)
    assert msgspec.json.decode(done.stdout) == value


def test_a_quote_in_a_value_does_not_end_the_argument_of_curl(environ: dict[str, str]) -> None:
    command = write_curl("resources", {"inquire": "banks", "note": "it's $(echo no) `echo no`"})
    shown = subprocess.run(
        ["sh", "-c", command.replace("curl", "echo", 1)], env=environ, capture_output=True, text=True
    )
    assert "it's $(echo no) `echo no`" in shown.stdout
