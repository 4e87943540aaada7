"""How long writes stop after one answer of the database is lost: from the loss to the next transfer that is done.

The connection stays open and silent, so that only the service's own deadlines end the wait. Every kind of message that
a writer's connection sends is measured once.
"""

import threading
import time
from pathlib import Path
from uuid import uuid4

from bench import postgres, server
from bench.merchants import DEMO, send_request
from bench.results import MeasurementFailed
from kasuwa.postgres.embedded import embedded
from tests.simulate.answer_proxy import AnswerProxy

ROLE = "kasuwa writer"
END_BACKENDS = f"select pg_terminate_backend(pid) from pg_stat_activity where application_name = '{ROLE}'"
WARM_UP_TRANSFERS = 20
# A message that is not sent within this time is not one that transfers need.
LOST_SECONDS = 60.0


def measure_recovery(cluster: embedded.Cluster, directory: Path) -> dict[str, float]:
    """Returns the seconds by kind of message."""
    with AnswerProxy(cluster).open_in_thread() as line, server.running(directory / "recovery", line.dsn) as running:
        for _ in range(WARM_UP_TRANSFERS):
            transfer(running.port)
        kinds = sorted({kind for role, kind in line.sent if role == ROLE} - {"Terminate"})
        return {kind: lose_one(running.port, line, cluster.dsn, kind) for kind in kinds}


def lose_one(port: int, line: AnswerProxy, dsn: str, kind: str) -> float:
    lost_at: list[float] = []

    def note_loss() -> None:
        if line.lost.wait(LOST_SECONDS):
            lost_at.append(time.monotonic())

    line.lose_answer(ROLE, kind)
    watching = threading.Thread(target=note_loss)
    watching.start()
    postgres.query(dsn, END_BACKENDS)  # connections and statements are made anew, with the messages sent for them alone
    while True:
        is_done, now = transfer(port), time.monotonic()
        if is_done and lost_at:
            watching.join()
            return now - lost_at[0]
        if not watching.is_alive() and not lost_at:
            raise MeasurementFailed(f"no answer to {kind} was lost")


def transfer(port: int) -> bool:
    """Sends one transfer. Returns whether it was done."""
    order = {"action": "transfer", "amount": "1.00", "bankcode": "058", "accountnumber": "0000000000"}
    return send_request(port, "/disburse", DEMO, {**order, "orderRef": uuid4().hex}).get("status") == 200
