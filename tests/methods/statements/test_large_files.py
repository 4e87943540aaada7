"""Statement files of a large account over HTTP: made beside other requests, and a few at once of each merchant."""

import csv
import io
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest

from kasuwa.concurrency.shares import MERCHANT_FILES
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments

LINES = 20_000
# A file of so many lines is larger than all that the system takes in for a client that reads nothing.
LINES_BEYOND_BUFFERS = 60_000
# The last posting of the merchant many times more, each a posting of its own.
ADD_POSTINGS = """
    with last as (
        select p.* from posting p join merchant m using (merchant_id) where m.mid = $1 and m.current
        order by p.seq desc limit 1),
    added as (
        insert into posting (merchant_id, seq, group_seq, reference, debit, credit, amount, debit_after, credit_after,
            kind, at)
        select merchant_id, seq + n, seq + n, reference, debit, credit, amount, debit_after, credit_after, kind, at
        from last, generate_series(1, $2::int) n)
    update merchant_state s set last_posting_seq = last_posting_seq + $2, version = version + 1
    from last where s.merchant_id = last.merchant_id
"""


@pytest.fixture(scope="module")
def running(deployments: Deployments) -> Iterator[Deployment]:
    """A deployment whose books need not be right."""
    with deployments.fresh("large_statements") as deployment:
        yield deployment


def open_shop_with(running: Deployment, lines: int) -> MerchantClient:
    shop = running.open_shop()
    shop.transfer()
    running.fetch(ADD_POSTINGS, shop.mid, lines)
    return shop


def make_path(shop: MerchantClient) -> str:
    day = shop.now()[:10]
    asked: dict[str, Any] = {"inquire": "statement", "account": "wallet", "format": "csv", "from": day, "to": day}
    return urlsplit(shop.put("resources", **asked).body["link"]).path


def begin_file(running: Deployment, path: str) -> socket.socket:
    """Opens a file and reads only the beginning of the reply."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    client.settimeout(60)
    client.connect(("127.0.0.1", running.port))
    client.sendall(f"GET {path} HTTP/1.1\r\nhost: kasuwa\r\n\r\n".encode())
    assert client.recv(12) == b"HTTP/1.1 200"
    return client


def test_a_file_of_20000_lines_does_not_hold_the_event_loop(running: Deployment) -> None:
    shop = open_shop_with(running, LINES)
    path = make_path(shop)
    running.new_stderr()
    file = shop.connection.send("GET", path)
    assert file.http == 200
    rows = list(csv.DictReader(io.StringIO(file.raw.decode())))
    assert len([row for row in rows if row["reference"]]) > LINES
    assert any(row["kind"] == "closing balance" for row in rows)
    assert running.new_stderr() == "", "the watchdog names a step that held the event loop"


def test_who_takes_all_files_of_a_merchant_holds_up_no_other_merchant(running: Deployment) -> None:
    shop, other = open_shop_with(running, LINES_BEYOND_BUFFERS), running.open_shop()
    path, path_of_other = make_path(shop), make_path(other)
    with ExitStack() as stack:
        for _ in range(MERCHANT_FILES):
            stack.enter_context(begin_file(running, path))
        refused = shop.connection.send("GET", path)
        assert (refused.http, refused.headers["retry-after"]) == (429, "5")
        assert b"Wait until the others have arrived" in refused.raw
        assert other.connection.send("GET", path_of_other).http == 200
        assert shop.transfer()["txnStatus"] == "successful"
