"""What decisions were made of: requests, and what rails answered, in their order. `kasuwa case export` reads them.

A row is written with the decision. It names nobody and has no secret: people's values are replaced by pseudonyms before
they are stored, and codes, cards and files are left out (wire/without_people.py, docs/decisions/0105).
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import Any, Literal

import msgspec

from kasuwa.core.decision import Decision, Row
from kasuwa.wire.pseudonyms import Hash, make_pseudonym
from kasuwa.wire.without_people import REFERENCE_NAMES, clean

# Of a longer body only its length is kept: what it was of is too large to be sent again.
MAX_BODY = 256 * 1024

# Numbers that are shown on a decision's reply and that others are named by.
RESULT_NAMES = frozenset({*REFERENCE_NAMES, "accountNumber", "cardToken", "status", "txnStatus", "state"})
# Lists of a reply that name what the request made, each line by numbers of its own.
RESULT_LISTS = ("charges", "loans")
# Transactions of one decision that it is found by. A meeting of a group collects fewer.
MOST_FOUND_BY = 100


class DecisionInput(msgspec.Struct, frozen=True):
    """A request, an answer or whatever else a submission decides on."""

    kind: Literal["request", "answer", "job", "receipt", "dispute", "rejection"]
    name: str  # path and title of a request's action, kind of a job, or the rail
    value: Any  # a struct, or None if there is nothing to say of it
    reference: str = ""  # what it is about, if it says so itself


class DecisionInputRow(msgspec.Struct):
    """A row of decision_input."""

    merchant_id: int
    reference: str
    at: datetime  # business time
    kind: str
    name: str
    body: str


class RecordedInput(msgspec.Struct, omit_defaults=True):
    """The body of a row."""

    content: Any = None  # the request, or the rail's answer
    results: dict[str, Any] = {}  # references and states that the decision's reply has, by their names
    opened: list[str] = []  # references of the transactions that the decision has opened


def make_rows(
    sent: DecisionInput, merchant_id: int, decision: Decision[Any], now: datetime, opened: list[str], hash_text: Hash
) -> Iterator[DecisionInputRow]:
    """Yields the rows of an input that was decided: one for each thing that it is about."""
    results = collect_results(decision.reply, hash_text)
    content = clean(sent.value, hash_text)
    references = choose_references(sent, content, results, opened)
    if not references:
        return
    recorded = RecordedInput(content, results, opened)
    body = msgspec.json.encode(recorded).decode()
    if len(body) > MAX_BODY:
        body = msgspec.json.encode(RecordedInput(f"[{len(body):,} characters]", results, opened)).decode()
    for reference in references:
        yield DecisionInputRow(merchant_id, reference, now, sent.kind, sent.name, body)


def choose_references(sent: DecisionInput, content: Any, results: dict[str, Any], opened: list[str]) -> list[str]:
    """Returns what an input is found by. One that opened transactions is found by these alone, as they are with
    others."""
    if sent.reference:
        return [sent.reference]
    if opened:
        named = results.get("batchRef") or results.get("txnRef")
        return [named] if named else opened[:MOST_FOUND_BY]
    both = {**results, **content} if isinstance(content, dict) else results
    return list(dict.fromkeys(value for name, value in both.items() if name in REFERENCE_NAMES and value))


def list_opened(rows: Iterable[Row], is_known: Callable[[bytes], bool] = lambda key: False) -> list[str]:
    """Returns the references of the transactions among rows that are new. `is_known` must be asked before the rows are
    recorded."""
    return [row.txn_ref for row in rows if row.table == "transaction" and not is_known(row.key)]  # type: ignore[attr-defined]


@cache
def plan_made(kind: type[msgspec.Struct]) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """Returns the fields of a reply that name something, those that have objects of their own, and the lists."""
    names = list(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
    inner, lists = (
        [attribute for attribute, name in names if name in chosen] for chosen in (("data", "link"), RESULT_LISTS)
    )
    return [pair for pair in names if pair[1] in RESULT_NAMES], inner, lists


def collect_results(reply: Any, hash_text: Hash) -> dict[str, Any]:
    """Returns what a reply names. A repayment names itself, and in its loan the transfer that paid that out: the outer
    one takes precedence."""
    results: dict[str, Any] = {}
    for name, value in list_results(reply, hash_text):
        results.setdefault(name, value)
    return results


def list_results(reply: Any, hash_text: Hash) -> Iterator[tuple[str, Any]]:
    if not isinstance(reply, msgspec.Struct):
        return
    named, inner, lists = plan_made(type(reply))
    for attribute, name in named:
        value = getattr(reply, attribute)
        if isinstance(value, str | int) and value != "":
            text = str(value)
            yield name, make_pseudonym(text, hash_text) if name in ("accountNumber", "cardToken") else text
    for attribute in lists:
        lines = getattr(reply, attribute)
        if isinstance(lines, list) and lines:
            yield attribute, [collect_results(line, hash_text) for line in lines]
    for attribute in inner:
        yield from list_results(getattr(reply, attribute), hash_text)
