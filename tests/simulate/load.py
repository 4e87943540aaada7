"""The client side of the fault tests: a client, a load generator in its own process, and the comparison of the replies
with the database.

`python -m tests.simulate.load plan.json` sends transfers with new references over persistent connections until it is
stopped, and logs one line per reply. A request whose reply was lost or was HTTP 503 is sent again unchanged, which must
be safe. So at the end every reference is acknowledged, and `find_mismatches` checks that each is in the database once,
as it was acknowledged.
"""

import asyncio
import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

REQUEST_SECONDS = 60.0
# The service closes a connection after five seconds without a request.
IDLE_SECONDS = 3.0
# How long to wait for outstanding orders after the load was stopped. The check reports those that are left.
DRAIN_SECONDS = 90.0
PAUSE_SECONDS = 0.03
RETRY_SECONDS = 0.2
ROOT = Path(__file__).parents[2]

# Most end at once. Some are open at first and end at the first re-query, one of them as failed.
ACCOUNTS = (*["0000000000"] * 6, "0000000900", "0000000910", "0000009100", "0000005100")


class Merchant(NamedTuple):
    mid: str
    key: str


DEMO = Merchant("GP0000001", "123456789")


class Reply(NamedTuple):
    http: int
    body: Any
    headers: dict[str, str]

    @property
    def process(self) -> str:
        """The API process that replied: its request ids share a prefix."""
        return self.headers["x-request-id"].partition("-")[0]


class Client:
    """One merchant's persistent connection."""

    def __init__(self, port: int, merchant: Merchant = DEMO) -> None:
        self.merchant = merchant
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=REQUEST_SECONDS)
        self._used_at = 0.0

    def __enter__(self) -> "Client":
        self._connection.connect()
        self._used_at = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def send(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        fields = {"mid": self.merchant.mid, "key": self.merchant.key, **(headers or {})}
        if time.monotonic() - self._used_at > IDLE_SECONDS:
            self._connection.close()  # the request opens another one
        self._connection.request("PUT", path, json.dumps(body), fields)

    def receive(self) -> Reply:
        response = self._connection.getresponse()
        text = response.read()
        self._used_at = time.monotonic()
        return Reply(response.status, json.loads(text), {k.lower(): v for k, v in response.getheaders()})

    def put(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Reply:
        self.send(path, body, headers)
        return self.receive()

    def transfer(self, headers: Mapping[str, str] | None = None, **fields: str) -> Reply:
        return self.put("/disburse", transfer_body(**fields), headers)

    def verify(self, reference: str) -> Any:
        return self.put("/disburse", {"action": "verify", "txnRef": reference}).body

    def sandbox(self, action: str, **fields: Any) -> Any:
        body = self.put("/sandbox", {"action": action, **fields}).body
        assert body["status"] == 200, body
        return body

    def wallet(self) -> dict[str, str]:
        lines = self.put("/resources", {"inquire": "wallet"}).body["data"]
        return next(line for line in lines if line["currency"] == "NGN")


def transfer_body(**fields: str) -> dict[str, str]:
    order = {"amount": "100.00", "bankcode": "058", "accountnumber": "0000000000"}
    return {"action": "transfer", **order, **fields}


def new_merchant(port: int, **fields: str) -> Merchant:
    with Client(port) as client:
        made = client.sandbox("new_merchant", **fields)
    return Merchant(made["mid"], made["key"])


# --- the load, in its own process -------------------------------------------------------------------------


class Plan(msgspec.Struct):
    port: int
    log: str
    merchants: list[Merchant]
    senders: int = 12


class LoggedReply(msgspec.Struct, omit_defaults=True):
    """One line of the log. `http` is 0 if the connection was lost before the reply; `lost` says how."""

    order_ref: str
    amount: int
    http: int
    status: int = 0
    txn_ref: str = ""
    txn_status: str = ""
    lost: str = ""

    @property
    def is_acknowledged(self) -> bool:
        return self.http == 200 and self.status == 200


class Sender:
    """One connection of the load. It uses a plain socket, because an HTTP library might resend a lost request
    itself."""

    def __init__(self, plan: Plan, log: int, name: str) -> None:
        self._plan = plan
        self._log = log
        self._name = name
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def run(self, stopping: asyncio.Event, retries: set["asyncio.Task[None]"]) -> None:
        number = 0
        while not stopping.is_set():
            number += 1
            merchant = self._plan.merchants[number % len(self._plan.merchants)]
            amount = 100 + number * 7919 % 5000
            order = transfer_body(
                amount=f"{amount // 100}.{amount % 100:02d}",
                accountnumber=ACCOUNTS[number % len(ACCOUNTS)],
                orderRef=f"load-{self._name}-{number}",
            )
            if not await self._ask(merchant, order, amount):
                # The connection may be blocked behind the lost request, so another sender continues with the order.
                again = Sender(self._plan, self._log, f"{self._name} again")
                retries.add(asyncio.create_task(again.ask_until_acknowledged(merchant, order, amount, stopping)))
                await asyncio.sleep(RETRY_SECONDS)
            elif number % 7 == 0:
                await self._ask(merchant, order, amount)  # a copy that nobody needed
            await asyncio.sleep(PAUSE_SECONDS)
        self._hang_up()

    async def ask_until_acknowledged(
        self, merchant: Merchant, order: dict[str, str], amount: int, stopping: asyncio.Event
    ) -> None:
        until = None
        while until is None or time.monotonic() < until:
            await asyncio.sleep(RETRY_SECONDS)
            if await self._ask(merchant, order, amount):
                break
            if until is None and stopping.is_set():
                until = time.monotonic() + DRAIN_SECONDS
        self._hang_up()

    async def _ask(self, merchant: Merchant, order: dict[str, str], amount: int) -> bool:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                answer = await self._exchange(merchant, order, amount)
        except (OSError, EOFError, TimeoutError) as error:
            self._hang_up()
            answer = LoggedReply(order["orderRef"], amount, 0, lost=type(error).__name__)
        os.write(self._log, msgspec.json.encode(answer) + b"\n")
        return answer.is_acknowledged

    async def _exchange(self, merchant: Merchant, order: dict[str, str], amount: int) -> LoggedReply:
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._plan.port)
        body = json.dumps(order).encode()
        head = f"PUT /disburse HTTP/1.1\r\nhost: load\r\nmid: {merchant.mid}\r\nkey: {merchant.key}\r\n"
        self._writer.write(head.encode() + b"content-length: %d\r\n\r\n" % len(body) + body)
        await self._writer.drain()
        lines = (await self._reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        length = next(int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length"))
        reply = json.loads(await self._reader.readexactly(length))
        outcome = reply["status"], reply.get("txnRef", ""), reply.get("txnStatus", "")
        return LoggedReply(order["orderRef"], amount, int(lines[0].split()[1]), *outcome)

    def _hang_up(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def run_load(plan: Plan) -> None:
    stopping, retries = asyncio.Event(), set[asyncio.Task[None]]()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    log = os.open(plan.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    senders = [Sender(plan, log, str(n)) for n in range(plan.senders)]
    await asyncio.gather(*(sender.run(stopping, retries) for sender in senders))
    await asyncio.gather(*retries)


# --- started and stopped by a test ------------------------------------------------------------------------


class LoadProcess:
    def __init__(self, log: Path, process: "subprocess.Popen[bytes]") -> None:
        self._log = log
        self._process = process
        self._answers: list[LoggedReply] = []
        self._size = 0

    def answers(self) -> list[LoggedReply]:
        """Returns all lines of the log so far."""
        with self._log.open("rb") as log:
            log.seek(self._size)
            whole = log.read().rpartition(b"\n")[0]
        self._size += len(whole) + bool(whole)
        self._answers += [msgspec.json.decode(line, type=LoggedReply) for line in whole.splitlines()]
        return self._answers

    def acknowledged(self) -> int:
        return sum(answer.is_acknowledged for answer in self.answers())

    def stop(self) -> list[LoggedReply]:
        """Stops the load after the last order was acknowledged, and returns all replies."""
        self._process.terminate()
        assert self._process.wait(2 * DRAIN_SECONDS) == 0
        return self.answers()


@contextlib.contextmanager
def running_load(port: int, merchants: list[Merchant], log: Path) -> Iterator[LoadProcess]:
    plan = log.with_suffix(".plan")
    plan.write_bytes(msgspec.json.encode(Plan(port, str(log), merchants)))
    log.touch()
    process = subprocess.Popen([sys.executable, "-m", "tests.simulate.load", str(plan)], cwd=ROOT)
    try:
        yield LoadProcess(log, process)
    finally:
        process.kill()
        process.wait()


# --- the check ----------------------------------------------------------------------------------------------

LOAD_TRANSFERS = """
    select t.order_ref, t.txn_ref, t.amount, t.status, t.fee + t.vat + t.duty as charges,
        coalesce(moved.amount, 0)::bigint as moved
    from transaction t left join (
        select merchant_id, reference, sum(amount) as amount from posting
        where debit = 'wallet:main:NGN' group by 1, 2
    ) moved on moved.merchant_id = t.merchant_id and moved.reference = t.txn_ref
    where t.order_ref like 'load-%'
"""


def find_mismatches(answers: list[LoggedReply], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns acknowledged requests that the database does not have, or has more than once."""
    kept = defaultdict(list)
    for row in rows:
        kept[row["order_ref"]].append(row)
    replies_by_order: dict[str, list[LoggedReply]] = {answer.order_ref: [] for answer in answers}
    for answer in filter(lambda answer: answer.is_acknowledged, answers):
        replies_by_order[answer.order_ref].append(answer)
    faults = [f"{order_ref}: nobody was told" for order_ref in kept.keys() - replies_by_order.keys()]
    for order_ref, replies in replies_by_order.items():
        if not replies:
            faults.append(f"{order_ref}: never acknowledged")
        if len(kept[order_ref]) != 1:
            faults.append(f"{order_ref}: is there {len(kept[order_ref])} times")
            continue
        faults += [f"{order_ref}: {fault}" for fault in find_order_mismatches(replies, kept[order_ref][0])]
    return faults


def find_order_mismatches(replies: list[LoggedReply], row: Mapping[str, Any]) -> Iterator[str]:
    due = row["amount"] + row["charges"] if row["status"] == "successful" else 0
    if row["moved"] != due:
        yield f"{row['moved']} left the wallet for a transfer of {due} that is {row['status']}"
    for reply in replies:
        if (reply.amount, reply.txn_ref) != (row["amount"], row["txn_ref"]):
            yield f"{reply.amount} was acknowledged under {reply.txn_ref}"
        if reply.txn_status in ("successful", "failed") and reply.txn_status != row["status"]:
            yield f"was acknowledged as {reply.txn_status} and is {row['status']}"


if __name__ == "__main__":
    asyncio.run(run_load(msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Plan)))
