"""The file of a case: what happened to one reference, so that it can be played again.

It is a recording (testing/exchanges.py): the requests with the references and states that their replies had, in the
form of golden files, and the events. The part `case` says what else is needed: the merchant's terms, its wallets and
clock when it began, what rails answered and when, and what became of each reference. It names nobody, and has no
secrets.
"""

import json
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from kasuwa.testing.exchanges import Exchange, UnreadableRecording, read_exchanges, write_exchanges

FORM = 1
# Largest file that is read.
MAX_BYTES = 16 * 1024 * 1024

# Years in which a case can begin, and how long it can last.
FIRST_YEAR, LAST_YEAR = 2000, 8000
MOST_MS = 10 * 366 * 24 * 3_600_000

InputKind = Literal["answer", "job", "receipt", "dispute", "rejection"]


class CaseInput(msgspec.Struct, omit_defaults=True):
    """An input of a decision besides requests: a rail's answer, or that the time of a job had come."""

    at_ms: int  # since the beginning of the case
    kind: InputKind
    name: str  # kind of the job, or the rail
    reference: str  # what it is about
    content: dict[str, Any] = {}
    opened: list[str] = []  # references of the transactions that it opened
    results: dict[str, Any] = {}  # references that its decision names


class CaseLine(msgspec.Struct, omit_defaults=True):
    """One line of what became of a reference, as `explain` tells it."""

    at_ms: int
    what: str  # the step, `posting`, `hold`, `event` or `dispute`
    facts: dict[str, str] = {}


class Case(msgspec.Struct, kw_only=True):
    """The part `case` of a file."""

    form: int = FORM
    kasuwa: str  # its version at the export
    environment: str
    reference: str  # that was asked for
    starts_at: datetime  # business time
    terms: dict[str, Any] = {}  # of the merchant, where they are not those of every new one
    wallets: dict[str, str] = {}  # what they had when it began, by currency
    items: dict[str, dict[str, str]] = {}  # of the bills' catalogue, by paycode: what decides the price
    inputs: list[CaseInput] = []  # in order
    outcome: dict[str, list[CaseLine]] = {}  # by reference
    missing: list[str] = []  # what is no longer known, in words


class CaseFile(msgspec.Struct):
    """A case with its requests."""

    case: Case
    exchanges: list[Exchange]
    events: list[Any] = []


def render_case(file: CaseFile) -> str:
    contents = json.loads(write_exchanges(file.exchanges, file.events, seed=""))
    contents["case"] = msgspec.to_builtins(file.case)
    return json.dumps(contents, indent=2, ensure_ascii=False) + "\n"


def read_case(path: Path) -> CaseFile:
    """Raises UnreadableRecording."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UnreadableRecording(f"{path} is larger than the file of a case can be")
        contents = json.loads(path.read_text(encoding="utf-8"))
        form = contents["case"]["form"]
        if form > FORM:
            raise UnreadableRecording(f"{path} has form {form}, and this version knows {FORM}")
        case = msgspec.convert(contents["case"], Case)
        check_times(case)
        return CaseFile(case, read_exchanges(contents), contents["events"])
    except OSError as error:
        raise UnreadableRecording(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableRecording(f"{path} is no case ({type(error).__name__}: {error})") from None


def check_times(case: Case) -> None:
    """Raises ValueError if a time is none that a test server can play."""
    if not FIRST_YEAR <= case.starts_at.year <= LAST_YEAR or case.starts_at.tzinfo is None:
        raise ValueError(f"starts_at: a time with its offset, of the years {FIRST_YEAR} to {LAST_YEAR}")
    if any(abs(one.at_ms) > MOST_MS for one in case.inputs):
        raise ValueError("at_ms: at most ten years after the beginning")
