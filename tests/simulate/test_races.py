"""Many simultaneous requests over two API processes: money is never spent twice, and one reference is one transfer.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    a merchant's state row is locked before its rows are read     (both processes decide on the same balance)
    an account's floor refuses in the decision that breaks it     (the wallet goes below zero)
    the digest of a request is stored with its reference          (another body gets the first one's reply)
    a copy waits while the first is at the rail                   (copies are answered "processing")
"""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.simulate.load import Client, Merchant, Reply, new_merchant, transfer_body
from tests.simulate.processes import Service, fault_count, running_service

pytestmark = [pytest.mark.chaos, pytest.mark.xdist_group("races")]

OPENING = 1_000_000_000
# Fee 10.00 and VAT 0.75 on a transfer of 100.00.
COST = 11_075

TRANSFERS = """
    select t.order_ref, t.txn_ref, t.status, t.amount, t.created_at
    from transaction t join merchant m using (merchant_id) where m.mid = $1 order by t.created_at
"""
EVENTS = "select count(*) from event e join merchant m using (merchant_id) where m.mid = $1"
LOWEST = """
    select min(debit_after) from posting p join merchant m using (merchant_id)
    where m.mid = $1 and p.debit = 'wallet:main:NGN'
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("races") / "data", workers=2) as running:
        yield running


class Asked(threading.Thread):
    """One client of many: all connect first, then send at the same moment."""

    def __init__(self, client: Client, start: threading.Barrier, body: Any, headers: Any) -> None:
        super().__init__()
        self._client = client
        self._start = start
        self._body = body
        self._headers = headers
        self.reply: Reply | None = None

    def run(self) -> None:
        with self._client as client:
            self._start.wait()
            self.reply = client.put("/disburse", self._body, self._headers)


def ask_at_once(
    service: Service,
    merchant: Merchant,
    bodies: Sequence[Mapping[str, str]],
    headers: Mapping[str, str] | None = None,
) -> list[Reply]:
    start = threading.Barrier(len(bodies))
    crowd = [Asked(Client(service.port, merchant), start, body, headers) for body in bodies]
    for asked in crowd:
        asked.start()
    for asked in crowd:
        asked.join()
    replies = [asked.reply for asked in crowd if asked.reply is not None]
    assert len(replies) == len(bodies)
    if len(bodies) >= 50:  # The system spreads connections by chance: with so many both are surely reached.
        assert len({reply.process for reply in replies}) == 2, "both API processes take part"
    return replies


def balance(service: Service, merchant: Merchant) -> tuple[int, int]:
    with Client(service.port, merchant) as client:
        wallet = client.wallet()
    return int(wallet["balance"].replace(".", "")), int(wallet["held"].replace(".", ""))


# --- one wallet ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", range(fault_count("races for half a wallet")))
def test_a_wallet_that_covers_half_of_what_is_asked_pays_exactly_that_half(service: Service, run: int) -> None:
    """64 times 312,446.25, with a fee of 50.00 and VAT of 3.75 each, is twice the wallet's 10,000,000.00."""
    merchant = new_merchant(service.port)
    bodies = [transfer_body(amount="312446.25", orderRef=f"half-{n}") for n in range(64)]
    with ThreadPoolExecutor(1) as pool:
        racing = pool.submit(ask_at_once, service, merchant, bodies)
        while not racing.done():
            posted, held = balance(service, merchant)
            assert posted - held >= 0
        replies = racing.result()
    found = Counter((reply.body["status"], reply.body.get("txnStatus")) for reply in replies)
    assert found == {(200, "successful"): 32, (301, None): 32}
    assert balance(service, merchant) == (0, 0)
    assert service.query(LOWEST, merchant.mid)[0][0] == 0
    assert Counter(row["status"] for row in service.query(TRANSFERS, merchant.mid)) == {"successful": 32}
    assert service.broken_invariants() == []


# --- one reference --------------------------------------------------------------------------------------------


def check_one_transfer(service: Service, merchant: Merchant, replies: list[Reply], status: str) -> str:
    """Asserts that all replies name the same transfer, that it is the only one, and that its reference is found."""
    result = {(r.http, r.body["status"], r.body["txnStatus"], r.body["txnRef"]) for r in replies}
    assert len(result) == 1, result
    http, code, txn_status, txn_ref = result.pop()
    assert (http, code, txn_status) == (200, 200, status)
    assert [row["txn_ref"] for row in service.query(TRANSFERS, merchant.mid)] == [txn_ref]
    assert service.broken_invariants() == []
    return str(txn_ref)


def test_fifty_copies_of_one_transfer_move_money_once(service: Service) -> None:
    merchant = new_merchant(service.port)
    replies = ask_at_once(service, merchant, [transfer_body(orderRef="copied")] * 50)
    check_one_transfer(service, merchant, replies, "successful")
    assert balance(service, merchant) == (OPENING - COST, 0)
    assert service.query(EVENTS, merchant.mid)[0][0] == 1


def test_fifty_copies_under_one_idempotency_key_move_money_once(service: Service) -> None:
    """The requests have no orderRef, so without the key each copy would be a transfer of its own."""
    merchant = new_merchant(service.port)
    replies = ask_at_once(service, merchant, [transfer_body()] * 50, {"Idempotency-Key": "copied"})
    check_one_transfer(service, merchant, replies, "successful")
    assert balance(service, merchant) == (OPENING - COST, 0)
    assert service.query(EVENTS, merchant.mid)[0][0] == 1


def test_fifty_requests_without_any_reference_are_fifty_transfers(service: Service) -> None:
    """Control of the two tests above: only the reference makes copies one transfer."""
    merchant = new_merchant(service.port)
    replies = ask_at_once(service, merchant, [transfer_body()] * 50)
    assert len({reply.body["txnRef"] for reply in replies}) == 50
    assert balance(service, merchant) == (OPENING - 50 * COST, 0)


@pytest.mark.parametrize("by", ["orderRef", "Idempotency-Key"])
def test_fifty_copies_of_a_transfer_that_is_answered_late_are_one(service: Service, by: str) -> None:
    merchant = new_merchant(service.port, now="2026-03-02T12:00:00+01:00")
    headers = {"x-sandbox-scenario": "delay=20"}
    body = transfer_body(orderRef="late") if by == "orderRef" else transfer_body()
    if by == "Idempotency-Key":
        headers["Idempotency-Key"] = "late"
    txn_ref = check_one_transfer(service, merchant, ask_at_once(service, merchant, [body] * 50, headers), "pending")
    assert balance(service, merchant) == (OPENING, COST)
    with Client(service.port, merchant) as client:
        client.sandbox("advance", seconds=31)
        assert client.verify(txn_ref)["txnStatus"] == "successful"
    assert balance(service, merchant) == (OPENING - COST, 0)
    assert service.query(EVENTS, merchant.mid)[0][0] == 1
    # A repeated reference returns the current state; a repeated key returns the stored reply. Contract: #repeats
    now = "successful" if by == "orderRef" else "pending"
    check_one_transfer(service, merchant, ask_at_once(service, merchant, [body] * 50, headers), now)
    assert balance(service, merchant) == (OPENING - COST, 0)


def test_of_two_bodies_under_one_reference_one_wins(service: Service) -> None:
    merchant = new_merchant(service.port)
    rounds = fault_count("references with two bodies")
    for n in range(rounds):
        bodies = [transfer_body(orderRef=f"two-{n}", amount=amount) for amount in ("100.00", "100.01")]
        replies = ask_at_once(service, merchant, bodies)
        assert sorted(reply.body["status"] for reply in replies) == [104, 200]
        won = next(
            amount for amount, reply in zip((10_000, 10_001), replies, strict=True) if reply.body["status"] == 200
        )
        rows = [row for row in service.query(TRANSFERS, merchant.mid) if row["order_ref"] == f"two-{n}"]
        assert [row["amount"] for row in rows] == [won]
    assert len(service.query(TRANSFERS, merchant.mid)) == rounds
    assert service.broken_invariants() == []


def test_many_references_with_ten_copies_each_are_one_transfer_each(service: Service) -> None:
    merchant = new_merchant(service.port)
    references = [f"copied-{n}" for n in range(fault_count("references with copies"))]
    seen_refs: dict[str, set[str]] = {reference: set() for reference in references}
    for first in range(0, len(references), 10):
        bodies = [transfer_body(orderRef=reference) for reference in references[first : first + 10] * 10]
        for reply in ask_at_once(service, merchant, bodies):
            assert (reply.http, reply.body["txnStatus"]) == (200, "successful"), reply
            seen_refs[reply.body["orderRef"]].add(reply.body["txnRef"])
    rows = service.query(TRANSFERS, merchant.mid)
    assert {row["order_ref"]: {row["txn_ref"]} for row in rows} == seen_refs
    assert len(rows) == len(references)
    assert balance(service, merchant) == (OPENING - len(references) * COST, 0)
    assert service.broken_invariants() == []
