"""Kill -9 of the worker between sending an event and recording it: every event arrives at least once.

The receiver kills the sender: every other time before it has answered, otherwise just after. The lease protects the
event: one that was sent and not recorded falls due again when its lease expires, under the same webhook-id. Without it
(the job deleted when it is claimed) this test fails.
"""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psutil
import pytest

from kasuwa.core.endpoints import FIRST_ENDPOINT
from tests.command_processes import is_service_process
from tests.jobs.further_endpoints import SECOND, add_endpoint
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import send_events_to, wait_until
from tests.webhooks.inbox import OK, Answer, ReceivedRequest, running_inbox

pytestmark = pytest.mark.chaos

KILLS = 100 if os.environ.get("KASUWA_LONG") == "1" else 4
LETTERS_BETWEEN = 5
PAUSE_SECONDS = 0.02
AFTER_ANSWER_SECONDS = 0.002

# A lease lasts a minute: those of killed workers are ended at once.
EXPIRE = "update scheduled_job set leased_until = now() where lane = 'webhook' and leased_until > now()"
# A claim that PostgreSQL was running when its worker died may commit after that. A live worker has sent by then.
EXPIRE_ABANDONED = """
    update scheduled_job set leased_until = now()
    where lane = 'webhook' and leased_until between now() and now() + interval '50 seconds'
"""
WAITING = "select count(*) from scheduled_job where lane = 'webhook'"
LOGGED = "select seq, payload from event where merchant_id = (select merchant_id from merchant where mid = $1)"
ATTEMPTS = """
    select event_seq, count(*) filter (where http = 200) as delivered from delivery_attempt
    where merchant_id = (select merchant_id from merchant where mid = $1) and endpoint_id = $2 group by event_seq
"""


class Killer:
    """Answers a request, and sometimes kills its sender."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._since = 0
        self.killed: list[int] = []

    def __call__(self, letter: ReceivedRequest) -> Answer:
        with self._lock:
            self._since += 1
            if self._since > LETTERS_BETWEEN and len(self.killed) < KILLS:
                self._kill()
        return OK

    def has_killed(self, count: int) -> bool:
        return len(self.killed) >= count

    def _kill(self) -> None:
        for process in psutil.process_iter():
            if is_service_process(process, "worker", self._directory) and process.pid not in self.killed:
                self.killed.append(process.pid)
                self._since = 0
                if len(self.killed) % 2:
                    os.kill(process.pid, signal.SIGKILL)
                else:
                    threading.Timer(AFTER_ANSWER_SECONDS, os.kill, (process.pid, signal.SIGKILL)).start()


def is_dead(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def send_until(deployment: Deployment, shop: MerchantClient, stopping: threading.Event) -> int:
    sent = 0
    with deployment.connect() as wire:
        sender = MerchantClient(wire, shop.mid, shop.key)
        while not stopping.wait(PAUSE_SECONDS):
            assert sender.transfer(amount="1.00")["txnStatus"] == "successful"
            sent += 1
    return sent


def outlive_kills(deployment: Deployment, killer: Killer) -> None:
    for number in range(1, KILLS + 1):
        wait_until(f"kill number {number}", partial(killer.has_killed, number))
        wait_until("it is dead", partial(is_dead, killer.killed[number - 1]))
        deployment.fetch(EXPIRE)


def is_all_recorded(deployment: Deployment) -> bool:
    deployment.fetch(EXPIRE_ABANDONED)
    return bool(deployment.fetch(WAITING)[0][0] == 0)


def test_every_event_arrives_at_each_endpoint_however_often_its_sender_is_killed(deployments: Deployments) -> None:
    stopping = threading.Event()
    with (
        running_inbox() as inbox,
        running_inbox() as second_inbox,
        deployments.fresh("sender_kills", KASUWA_CONSOLE="off") as deployment,
        ThreadPoolExecutor(1) as pool,
    ):
        killer = Killer(deployment.directory)
        shop = deployment.open_shop()
        with shop.connection:
            send_events_to(shop, inbox.url)
        assert add_endpoint(deployment, shop, second_inbox.url) == SECOND
        inbox.answer = second_inbox.answer = killer
        sending = pool.submit(send_until, deployment, shop, stopping)
        try:
            outlive_kills(deployment, killer)
        finally:
            stopping.set()
        sent = sending.result()
        wait_until("everything is recorded", partial(is_all_recorded, deployment))
        logged = {row["payload"].encode() for row in deployment.fetch(LOGGED, shop.mid)}
        delivered = [
            [row["delivered"] for row in deployment.fetch(ATTEMPTS, shop.mid, endpoint_id)]
            for endpoint_id in (FIRST_ENDPOINT, SECOND)
        ]
        assert deployment.broken_invariants([shop.mid]) == []
        output = deployment.new_stderr().splitlines()

    assert output, "the supervisor says that the worker ended, and how: at once, then once a minute"
    assert all("a part ended" in line and "SIGKILL" in line for line in output), output
    assert [len(logged), *map(len, delivered)] == [sent] * 3
    assert min(map(min, delivered)) >= 1
    repeated = [assert_arrived(one.requests, logged) for one in (inbox, second_inbox)]
    # Each kill before the answer leaves an event that was sent and not recorded. Without one, nothing was tested.
    assert sum(repeated) >= KILLS // 2


def assert_arrived(letters: list[ReceivedRequest], logged: set[bytes]) -> int:
    """Asserts that each arrived at least once, and repeated ones with the same id and bytes. Returns how many were
    repeated."""
    bodies = {letter.id: letter.body for letter in letters}
    assert set(bodies.values()) == logged
    assert len(bodies) == len(logged)
    assert all(letter.body == bodies[letter.id] for letter in letters)
    return len(letters) - len(bodies)
