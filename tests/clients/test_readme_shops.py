"""The shops in the READMEs of both clients: what was paid is handed over once, and every event is accepted."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from kasuwa_client import Kasuwa
from tests.clients.test_python_readme import README
from tests.clients.typescript_package import shared_package
from tests.merchant_client import MerchantClient
from tests.node import find_node
from tests.payer_pages import pay_by_card
from tests.webhooks.inbox import ReceivedRequest, running_inbox

# One worker builds the package of the TypeScript client.
pytestmark = pytest.mark.xdist_group("typescript")

NOTHING = "nothing to hand over"
SHOP = """
import * as readme from "./test-dist/readme.js";
for (const snippet of readme.snippets) {
  const made = await snippet();
  if (made !== undefined) {
    const url = await made.order("book", "ada@example.com");
    console.log(JSON.stringify({ shop: { url, port: made.receiver.address().port } }));
  }
}
"""


def events_of_a_shop(shop: MerchantClient, client: Kasuwa, checkout_url: str) -> list[ReceivedRequest]:
    """Pays a checkout, refunds it, sends money to a bank and returns all deliveries, the first of them twice."""
    with running_inbox() as inbox:
        client.sandbox.webhook(url=inbox.url)
        assert "Payment successful" in pay_by_card(shop.connection, urlsplit(checkout_url).path)
        letters = inbox.wait_for(2)
        assert {json.loads(letter.body)["kind"] for letter in letters} == {"payment", "checkout"}
        client.disburse.transfer(amount="10.00", bankcode="058", accountnumber="0000000000")
        letters = inbox.wait_for(3)
        client.sandbox.webhook(url="")
    return [*letters, *letters]


def test_the_shop_in_python_hands_over_once_and_accepts_every_event(
    shop: MerchantClient, client: Kasuwa, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("MID", shop.mid), ("KEY", shop.key), ("URL", client.base_url)):
        monkeypatch.setenv(f"KASUWA_{name}", value)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    [first, code] = [block for block in blocks if "shop = Kasuwa(" in block or "application =" in block]
    made: dict[str, Any] = {}
    exec(compile(first + code, "README.md", "exec"), made)
    try:
        letters = events_of_a_shop(shop, client, made["order"]("book", "ada@example.com"))
        answers = [made["application"].handle(letter.body, letter.headers) for letter in letters]
    finally:
        made["shop"].close()
    assert sorted(answers) == ["hand over the book", *[NOTHING] * 5]


@contextmanager
def running_shop(package: Path, environ: dict[str, str]) -> Iterator[dict[str, Any]]:
    command = [str(find_node()), "--input-type=module", "--eval", SHOP]
    with subprocess.Popen(command, cwd=package, env=environ, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield next(json.loads(line)["shop"] for line in process.stdout if line.startswith('{"shop"'))
        finally:
            process.terminate()


def test_the_shop_in_typescript_hands_over_once_and_accepts_every_event(client: Kasuwa, shop: MerchantClient) -> None:
    environ = {"KASUWA_MID": shop.mid, "KASUWA_KEY": shop.key, "KASUWA_URL": client.base_url}
    with running_shop(shared_package(), environ) as made:
        answers = []
        for letter in events_of_a_shop(shop, client, made["url"]):
            request = Request(
                f"http://127.0.0.1:{made['port']}/events", letter.body, dict(letter.headers), method="POST"
            )
            with urlopen(request) as reply:
                answers.append(reply.read().decode().strip())
    assert sorted(answers) == ["hand over the book", *[NOTHING] * 5]
