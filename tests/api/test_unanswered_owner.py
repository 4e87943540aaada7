"""An owner that answers pings and never the question: its merchant's request is answered, and honestly."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kasuwa.api.forwarding import RequestForwarder
from kasuwa.api.outcome import OUTCOME_UNKNOWN
from kasuwa.api.replies import HttpReply
from kasuwa.api.routes import make_routes
from kasuwa.cluster import links as owner_links
from kasuwa.cluster.frames import PAYER_ANSWER, REQUEST
from kasuwa.cluster.links import OwnerLinks
from kasuwa.cluster.listener import OwnerListener
from kasuwa.cluster.sockets import make_sockets
from kasuwa.core.codes import ERROR
from kasuwa.core.decision import Merchant
from kasuwa.engine.progress import RequestProgress
from kasuwa.methods.tables import list_methods
from kasuwa.observe.metrics import Metrics
from kasuwa.postgres.connections import DatabaseUnreachable
from tests.merchant_client import without_codes
from tests.rule_context import MERCHANT

DISBURSE = make_routes(list_methods("test"))["/disburse"]
PAYMENT = make_routes(list_methods("test"))["/payment"]
TRANSFER = {"action": "transfer", "amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000"}
DECIDED_HERE = HttpReply(200, b"decided here", 200)


class LocalDispatch:
    """Stands for deciding a request in this process."""

    async def answer(self, *_: Any) -> HttpReply:
        return DECIDED_HERE


@pytest.fixture(autouse=True)
def short_deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_links, "TICK_SECONDS", 0.05)
    for kind in (REQUEST, PAYER_ANSWER):
        monkeypatch.setitem(owner_links.ANSWER_SECONDS, kind, 0.2)


@contextlib.asynccontextmanager
async def forwarding(directory: Path) -> AsyncIterator[tuple[RequestForwarder, Merchant]]:
    """A forwarder beside an owner that answers nothing, and a merchant of that owner."""
    sockets = make_sockets(2, directory)
    assert sockets is not None
    listener = OwnerListener(sockets.paths[1], {kind: lambda *_: None for kind in (REQUEST, PAYER_ANSWER)})
    await listener.start()
    links, dispatch = OwnerLinks(sockets.paths, 0, Metrics()), LocalDispatch()
    links.start()
    number = next(number for number in range(100) if not links.is_first_choice(number))
    try:
        while links.find(number) is None:
            await asyncio.sleep(0.01)
        forwarder = RequestForwarder(dispatch, links, Metrics())  # type: ignore[arg-type]
        yield forwarder, msgspec.structs.replace(MERCHANT, merchant_id=number)
    finally:
        links.close()
        listener.say_goodbye()
        sockets.remove()


async def send(directory: Path, fields: dict[str, str], headers: dict[str, str]) -> HttpReply:
    async with asyncio.timeout(60), forwarding(directory) as (forwarder, merchant):
        return await forwarder.answer(DISBURSE, headers, msgspec.json.encode(fields), merchant)


def test_the_outcome_of_a_request_that_may_not_be_repeated_is_not_known(tmp_path: Path) -> None:
    reply = asyncio.run(send(tmp_path, TRANSFER, {}))
    assert reply.http_status == 503
    assert without_codes(msgspec.json.decode(reply.body)) == {"status": ERROR, "message": OUTCOME_UNKNOWN.message}


@pytest.mark.parametrize(("fields", "headers"), [({"orderRef": "a1"}, {}), ({}, {"idempotency-key": "k1"})])
def test_a_request_that_may_be_repeated_is_decided_here(
    tmp_path: Path, fields: dict[str, str], headers: dict[str, str]
) -> None:
    assert asyncio.run(send(tmp_path, {**TRANSFER, **fields}, headers)) is DECIDED_HERE


def test_the_outcome_of_a_payers_answer_is_not_known(tmp_path: Path) -> None:
    progress = RequestProgress()

    async def answer() -> None:
        action = next(row for row in PAYMENT.method.actions if row.name == "validate")
        async with asyncio.timeout(60), forwarding(tmp_path) as (forwarder, merchant):
            await forwarder.run_write(action, {}, merchant, progress)  # type: ignore[arg-type]

    with pytest.raises(DatabaseUnreachable) as raised:
        asyncio.run(answer())
    assert raised.value.is_outcome_unknown
    assert progress.may_have_changed
