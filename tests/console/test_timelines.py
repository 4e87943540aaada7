"""Timelines on pages: every kind of entry is a plain sentence, without names of stages, jobs or fields of the API."""

import ast
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kasuwa
from kasuwa.console.kit.timelines import DISPUTE_TEXTS, JOB_TEXTS, STEP_TEXTS, make_step
from kasuwa.methods.disburse.payout_model import APPROVED
from kasuwa.methods.disputes.model import STATES
from kasuwa.methods.disputes.rules.steps_of_dispute import OPENED, REMINDER
from kasuwa.methods.payment import model
from kasuwa.methods.tables import index_steps, list_methods
from kasuwa.methods.virtualcard.dispute_model import STATES as CARD_DISPUTE_STATES
from kasuwa.methods.virtualcard.rules.steps_of_dispute import REDUCED
from kasuwa.projections.timeline import (
    TRAIL,
    TimelineEntry,
    attempt_entry,
    dispute_entries,
    job_entry,
    posting_entry,
    render_timeline,
)
from kasuwa.transactions.transactions import DELIVER_EVENT, FAILED, SUCCESSFUL, TRANSACTION_KINDS, begin_trail

NOW = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
# Functions that write a step, and the place of the step among their parameters.
WRITERS = {"begin_trail": 1, "extend_trail": 2, "advance_stage": 4}
# Steps that rules name by constants: outcomes, approvals, and the stages in which a payment waits.
NAMED_STEPS = frozenset(
    {SUCCESSFUL, FAILED, APPROVED, model.INITIATED, model.AWAITING_OTP, model.AWAITING_3DS, model.AWAITING_PAYER}
)
# What happens to disputes of merchants' payments and to those of cards issued here.
DISPUTE_STEPS = {*STATES, OPENED, REMINDER, *CARD_DISPUTE_STATES, REDUCED}
PAYLOAD = '{"txn_ref":"GP|FD|1"}'


def written_steps() -> Iterator[str]:
    """Yields the steps that the sources write to the trails of transactions as literals."""
    texts = [path.read_text() for path in Path(kasuwa.__file__).parent.rglob("*.py")]
    for text in texts:
        # Most files have none of these words, and need not be parsed.
        for node in ast.walk(ast.parse(text if any(word in text for word in WRITERS) else "")):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WRITERS:
                step = node.args[WRITERS[node.func.id]]
                if isinstance(step, ast.Constant):
                    yield str(step.value)


def line(entry: TimelineEntry) -> dict[str, Any]:
    [shown] = render_timeline([entry])
    return shown


def trail_line(step: str, message: str = "") -> dict[str, Any]:
    [entry] = TRAIL.decode(begin_trail(NOW, step, message))
    return line(TimelineEntry(entry.at, 2, entry.step, entry.message))


def posting(kind: str) -> dict[str, Any]:
    return line(posting_entry((7, "wallet:main:NGN", "tax:stamp_duty:NGN", 500_000, -500_000, 500_000, kind, NOW)))


def hold(account: str) -> dict[str, Any]:
    details = {"account": account, "amount": "1500.00", "state": "held", "taken": "0.00"}
    return line(TimelineEntry(NOW, 1, "hold", f"1500.00 held on {account}", details))


def dispute(step: str) -> dict[str, Any]:
    [entry] = dispute_entries("DP1", 1_000, begin_trail(NOW, step))
    return line(entry)


EVENT = {"event_id": "evt_1", "payload": msgspec.json.decode(PAYLOAD)}
ENTRIES = [
    *(trail_line(step) for step in sorted(STEP_TEXTS)),
    *(trail_line("requested", method) for method in ("card", "bank_transfer", "mobile_money", "qrpay", "token")),
    trail_line("failed", "insufficient_funds"),
    *(dispute(step) for step in sorted(DISPUTE_STEPS)),
    *(line(job_entry((kind, "lane_of_it", NOW, 3))) for kind in (*sorted(JOB_TEXTS), "later.unknown_kind")),
    *(posting(kind) for kind in ("transfer fee", "VAT on fee", "write_off")),
    *(hold(account) for account in ("wallet:main:NGN", "beneficiary:BN1:NGN", "loan_principal:LN1:NGN")),
    line(TimelineEntry(NOW, 4, "event", "written with the end", EVENT)),
    line(attempt_entry("evt_1", PAYLOAD, (1, NOW, 200, None, 12))),
    line(attempt_entry("evt_1", PAYLOAD, (2, NOW, None, "the connection was refused", 12))),
    *(trail_line(kind, "") for kind in (*TRANSACTION_KINDS, "virtual_card", "savings")),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry['what']} {entry['said']}")
def test_no_step_shows_a_name_of_the_api(entry: dict[str, Any]) -> None:
    step = make_step(entry)
    assert step.title[:1].isupper()
    for text in (step.title, step.text, *step.details):
        assert "_" not in text
        assert not any(kind in text for kind in JOB_TEXTS)


def test_every_step_that_a_rule_writes_has_a_text() -> None:
    written = set(written_steps())
    assert {"requested", "underpaid", "validated"} <= written
    assert (written | NAMED_STEPS) - STEP_TEXTS.keys() == set()


def test_every_job_and_no_other_has_a_text() -> None:
    assert JOB_TEXTS.keys() == {*index_steps(list_methods("test")), DELIVER_EVENT}


def test_every_step_of_a_dispute_has_a_text() -> None:
    assert DISPUTE_TEXTS.keys() == DISPUTE_STEPS


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        (trail_line("requested", "token"), ("Requested", "saved card")),
        (trail_line("asked", "Pending"), ("Asked for the outcome", "Pending")),
        (trail_line("failed", "insufficient_funds"), ("Failed", "insufficient funds")),
        (posting("transfer fee"), ("Booked", "transfer fee, NGN 5,000.00")),
        (hold("wallet:main:NGN"), ("Set aside", "NGN 1,500.00 of the wallet")),
        (hold("beneficiary:BN1:NGN"), ("Set aside", "NGN 1,500.00 of beneficiary BN1")),
        (line(job_entry(("disburse.ask", "bank", NOW, 3))), ("Next", "The bank is asked for the outcome")),
        (trail_line("card_purchase", "my_own_reference"), ("Card purchase", "my_own_reference")),
    ],
)
def test_a_step_says_what_happened(entry: dict[str, Any], shown: tuple[str, str]) -> None:
    step = make_step(entry)
    assert (step.title, step.text) == shown


def test_an_event_is_shown_with_its_payload_and_an_attempt_with_its_error() -> None:
    written = make_step(line(TimelineEntry(NOW, 4, "event", "written with the end", EVENT)))
    assert (written.title, written.details) == ("Event written", {"Event ID": "evt_1", "Payload": EVENT["payload"]})
    failed = make_step(line(attempt_entry("evt_1", PAYLOAD, (2, NOW, None, "timeout", 12))))
    assert (failed.title, failed.text) == ("Event not delivered", "timeout")
    assert failed.details == {"Event ID": "evt_1", "Attempt": 2, "Milliseconds": 12}
