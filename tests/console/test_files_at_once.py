"""Exports of the console: a few at once of each merchant, however slowly they are taken."""

import socket
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from kasuwa.concurrency.shares import MERCHANT_FILES
from kasuwa.console.kit.exports import BATCH_ROWS
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

EXPORT = "/settings/trail.csv"
# A file of several pieces that is larger than all that the system takes in for a client that reads nothing.
ENTRIES, ENTRY_CHARS = 5 * BATCH_ROWS, 2_000
ADD_ENTRIES = """
    insert into audit_entry (merchant_id, actor, address, action, subject, before, after)
    select merchant_id, 'somebody', '', 'changed', 'something', '', repeat('x', $2)
    from merchant, generate_series(1, $3) where mid = $1 and current
"""


def begin_export(deployment: Deployment, owner: Visitor) -> socket.socket:
    """Opens the export and reads only the beginning of the reply."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    client.settimeout(60)
    client.connect(("127.0.0.1", deployment.console_port))
    cookies = "; ".join(f"{name}={value}" for name, value in owner.cookies.items())
    client.sendall(f"GET {EXPORT} HTTP/1.1\r\nhost: console\r\ncookie: {cookies}\r\n\r\n".encode())
    assert client.recv(12) == b"HTTP/1.1 200"
    return client


def test_a_merchant_exports_four_files_at_once_and_another_merchant_its_own(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    mids = [open_shop().mid for _ in range(2)]
    owner, other = (sign_in_as(deployment, "merchant:owner", mid) for mid in mids)
    deployment.fetch(ADD_ENTRIES, mids[0], ENTRY_CHARS, ENTRIES)
    with ExitStack() as stack:
        for _ in range(MERCHANT_FILES):
            stack.enter_context(begin_export(deployment, owner))
        refused = owner.get(EXPORT)
        assert (refused.http, refused.headers["retry-after"]) == (429, "5")
        assert "Too many files at once" in refused.words
        assert owner.get("/settings/trail").http == 200
        assert other.get(EXPORT).http == 200
