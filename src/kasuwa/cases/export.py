"""Collects the case of a reference from the database of a deployment.

All of it is of one merchant. What was decided on comes from decision_input, what became of it from timelines. Neither
has anybody's name; references are renamed here, because merchants make some of them out of people's numbers.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

import msgspec

import kasuwa
from kasuwa.cases import row_inputs
from kasuwa.cases.row_inputs import Recorded
from kasuwa.cases.selected_actions import complete_request
from kasuwa.core.money import format_minor
from kasuwa.core.references import is_opaque_id
from kasuwa.core.vault import Vault
from kasuwa.engine.decision_inputs import RecordedInput
from kasuwa.engine.rule_submission import TRANSACTION_COLUMNS
from kasuwa.merchants.merchant_settings import MerchantSettings, show_terms
from kasuwa.methods.customers.model import ID_PREFIX as CUSTOMER_PREFIX
from kasuwa.methods.groups.model import GROUP_PREFIX
from kasuwa.methods.loan_products.model import PRODUCT_PREFIX
from kasuwa.postgres.connection_pool import Connection
from kasuwa.projections.timeline import object_timeline, transaction_timeline
from kasuwa.testing.cases.case_file import Case, CaseFile, CaseInput, CaseLine
from kasuwa.testing.cases.outcome import list_lines
from kasuwa.testing.exchanges import Exchange
from kasuwa.testing.golden import StableNames
from kasuwa.transactions.transactions import Transaction
from kasuwa.wire.without_people import OTHER_REFERENCE_NAMES, REFERENCE_NAMES

# Clients, customers, groups, products and share classes: one may have a hundred loans, and a case is about one. Only
# what made them is in it, and who was in a group.
SHARED = ("CL", CUSTOMER_PREFIX, GROUP_PREFIX, PRODUCT_PREFIX, "SC")
CHANGES_OF_SHARED = frozenset({"loans.update_group"})
OF_ONE_ORDER = frozenset({"answer", "job"})
# A case with more is of no incident. A group whose thirty loans are collected every week has fewer.
MAX_REFERENCES, MAX_INPUTS = 1_000, 2_000

SELECT_MERCHANTS = "select merchant_id, mid from merchant where current order by merchant_id"
HAS_REFERENCE = """
    select exists (select 1 from decision_input where merchant_id = $1 and reference = $2)
        or exists (select 1 from transaction where merchant_id = $1
            and (txn_ref = $2 or order_ref = $2 or batch_ref = $2))
"""
# What belongs to a reference: its transactions, refunds, disputes and plans, and what these are of.
RELATED = """
    select txn_ref from transaction
    where merchant_id = $1 and (txn_ref = $2 or order_ref = $2 or batch_ref = $2 or detail ->> 'payment' = $2
        or detail ->> 'loan_id' = $2 or detail ->> 'savings_id' = $2 or detail -> 'purpose' ->> 'reference' = $2
        or txn_ref in (select p.txn_ref from payment p
            where p.merchant_id = $1 and p.detail -> 'purpose' ->> 'reference' = $2))
    union select batch_ref from transaction where merchant_id = $1 and txn_ref = $2 and batch_ref is not null
    union select detail ->> 'payment' from transaction where merchant_id = $1 and txn_ref = $2 and kind = 'refund'
    union select detail -> 'purpose' ->> 'reference' from payment where merchant_id = $1 and txn_ref = $2
    union select dispute_id from dispute where merchant_id = $1 and txn_ref = $2
    union select txn_ref from dispute where merchant_id = $1 and dispute_id = $2
    union select plan_id from payment_plan where merchant_id = $1 and first_ref = $2
    union select first_ref from payment_plan where merchant_id = $1 and plan_id = $2
    union select group_loan_id from loan where merchant_id = $1 and loan_id = $2 and group_loan_id <> ''
"""
SELECT_INPUTS = """
    select number, at, kind, name, reference, body from decision_input
    where merchant_id = $1 and reference = any($2) order by number
"""
SELECT_TRANSACTION = f"select {TRANSACTION_COLUMNS} from transaction where merchant_id = $1 and txn_ref = $2"
# What wallets had before a time: the balance after the last posting, by account.
WALLETS = """
    select a.name, case when p.debit = a.name then p.debit_after else p.credit_after end
    from account a cross join lateral (
        select debit, debit_after, credit_after from posting p
        where p.merchant_id = $1 and (p.debit = a.name or p.credit = a.name) and p.at < $2
        order by p.seq desc limit 1) p
    where a.merchant_id = $1 and a.name like 'wallet:%' order by a.name
"""
# Of the newest edition.
SELECT_ITEMS = """
    select distinct on (paycode) paycode, fee, discount, amount from bill_item where paycode = any($1)
    order by paycode, edition desc, key
"""
# The facts of answers that a replay uses. The others are a rail's own numbers.
PLAYED_FACTS = frozenset({"auth", "excess", "outcome"})
# Names of references that lead to others. An orderRef leads to nothing but its transaction.
NAMES_OF_OTHERS = (REFERENCE_NAMES | OTHER_REFERENCE_NAMES) - {"orderRef"}
RESULTS_OF_ANSWERS = REFERENCE_NAMES | {"accountNumber", "cardToken"}
# What has a timeline of its own, beside transactions.
OUTCOME_NAMES = frozenset({"dispute_id", "loan_id", "savings_id", "thrift_id"})
SELECT_SETTINGS = "select settings::text from merchant where merchant_id = $1"


class CaseRefused(Exception):
    """No case can be made of a reference. The text says why."""


async def find_merchant(connection: Connection, reference: str) -> int:
    """Returns the merchant that has a reference. Raises CaseRefused if none has, or several have."""
    owners = [
        (merchant_id, mid)
        for merchant_id, mid in await connection.fetch(SELECT_MERCHANTS)
        if await connection.fetchval(HAS_REFERENCE, merchant_id, reference)
    ]
    if not owners:
        raise CaseRefused("no merchant has this reference")
    if len(owners) > 1:
        raise CaseRefused(
            f"several merchants have this reference: choose with --mid {', '.join(mid for _, mid in owners)}"
        )
    return int(owners[0][0])


async def collect_case(
    connection: Connection, vault: Vault, merchant_id: int, reference: str, environment: str
) -> CaseFile:
    """Returns the case of a reference of a merchant. Raises CaseRefused."""
    references, inputs = await collect_inputs(connection, merchant_id, reference)
    if not inputs:
        raise CaseRefused(
            "nothing is recorded of this reference: it does not exist, or is older than what is kept (90 days)"
        )
    starts_at = inputs[0].at
    settings = msgspec.json.decode(await connection.fetchval(SELECT_SETTINGS, merchant_id), type=MerchantSettings)
    wallets = await connection.fetch(WALLETS, merchant_id, starts_at)
    names = CaseNames()
    case = Case(
        kasuwa=kasuwa.__version__,
        environment=environment,
        reference="",
        starts_at=starts_at,
        terms=show_terms(settings),
        wallets={name.rpartition(":")[2]: format_minor(balance) for name, balance in wallets if name.count(":") == 2},
        missing=list(list_missing(references, inputs)),
    )
    exchanges = [names.rename(make_exchange(one, starts_at)) for one in inputs if one.kind == "request"]
    case.inputs = [names.rename(make_input(one, starts_at)) for one in inputs if one.kind != "request"]
    for one in dict.fromkeys(list_outcomes(inputs)):
        lines = list_lines(await read_timeline(connection, merchant_id, one, vault), starts_at)
        if lines:
            case.outcome[names.rename_text(one)] = lines
    case.items = await read_items(
        connection, {str(one.request["paycode"]) for one in exchanges if "paycode" in one.request}
    )
    case.reference = names.rename_text(reference)
    return CaseFile(case, exchanges, list(list_events(case.outcome)))


def list_outcomes(inputs: list[Recorded]) -> Iterator[str]:
    """Yields the references whose outcome a case has: those of transactions, and of what a request made."""
    for one in inputs:
        yield from one.body.opened
        yield from (value for name, value in walk_names(one.body.results) if name in OUTCOME_NAMES)


async def read_items(connection: Connection, paycodes: set[str]) -> dict[str, dict[str, str]]:
    """Returns what decides the price of bills."""
    rows = await connection.fetch(SELECT_ITEMS, sorted(paycodes))
    return {row[0]: {"fee": format_minor(row[1]), "discount": str(row[2]), "amount": str(row[3])} for row in rows}


async def collect_inputs(connection: Connection, merchant_id: int, reference: str) -> tuple[set[str], list[Recorded]]:
    """Returns the references that belong to one, and what was recorded of them, in order."""
    known: set[str] = set()
    new = {reference}
    inputs: dict[int, Recorded] = {}
    while new:
        known |= new
        if len(known) > MAX_REFERENCES:
            raise CaseRefused(f"more than {MAX_REFERENCES} references belong to this one: export one of them")
        related = {row[0] for one in new for row in await connection.fetch(RELATED, merchant_id, one) if row[0]}
        for number, at, kind, name, about, body in await connection.fetch(SELECT_INPUTS, merchant_id, sorted(new)):
            recorded = Recorded(number, at, kind, name, about, msgspec.json.decode(body, type=RecordedInput))
            is_shared = about != reference and any(is_opaque_id(prefix, about) for prefix in SHARED)
            if is_shared and not is_maker(recorded):
                continue
            inputs[number] = recorded
            related.update(list_references(recorded))
        new = related - known
    from_rows = [
        one for name in sorted(known) for one in await read_row_inputs(connection, merchant_id, name, inputs.values())
    ]
    unique = leave_out_copies(sorted((*inputs.values(), *from_rows), key=make_sort_key))
    if len(unique) > MAX_INPUTS:
        raise CaseRefused(f"more than {MAX_INPUTS} decisions belong to this reference: export a part of it")
    return known, unique


def leave_out_copies(ordered: Iterable[Recorded]) -> list[Recorded]:
    """Returns each input once. A request is recorded for everything that it names. An answer or a job is that of its
    own order, and those of several orders may be equal: one batch decided on them."""
    unique: dict[tuple[Any, ...], Recorded] = {}
    for one in ordered:
        own = one.reference if one.kind in OF_ONE_ORDER else ""
        unique.setdefault((one.at, one.kind, one.name, own, msgspec.json.encode(one.body)), one)
    return list(unique.values())


def make_sort_key(recorded: Recorded) -> tuple[datetime, bool, int]:
    """Returns what inputs are ordered by. At the same time, on a clock that stands still, a request was before what it
    led to."""
    return recorded.at, recorded.kind != "request", recorded.number


async def read_row_inputs(
    connection: Connection, merchant_id: int, reference: str, recorded: Iterable[Recorded]
) -> list[Recorded]:
    """Returns what is not recorded because the row of a transaction says it, if there is one with this reference."""
    record = await connection.fetchrow(SELECT_TRANSACTION, merchant_id, reference)
    if record is None:
        return []
    row = Transaction(*record)
    is_opened = any(reference in one.body.opened for one in recorded)
    return list(row_inputs.list_inputs(row, is_opened=is_opened))


def is_maker(recorded: Recorded) -> bool:
    """Whether an input made what it is recorded for, and did not only name it."""
    if recorded.name in CHANGES_OF_SHARED:
        return True
    return recorded.reference not in (value for _, value in walk_names(recorded.body.content))


def list_references(recorded: Recorded) -> Iterator[str]:
    """Yields the references that an input names, made or opened."""
    yield from recorded.body.opened
    for name, value in (*walk_names(recorded.body.results), *walk_names(recorded.body.content)):
        if name in NAMES_OF_OTHERS:
            yield value


def walk_names(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yields the texts of a recorded value with their names, at whatever depth."""
    if isinstance(value, dict):
        for inner, part in value.items():
            yield from walk_names(part, inner)
    elif isinstance(value, list):
        for part in value:
            yield from walk_names(part, name)
    elif isinstance(value, str):
        yield name, value


def list_missing(references: Iterable[str], inputs: list[Recorded]) -> Iterator[str]:
    if any(one.kind == "request" and isinstance(one.body.content, str) for one in inputs):
        yield "a request was too large to be kept"
    if inputs and inputs[0].kind != "request":
        yield "the request that began it is older than what is kept"
    if any(one.name.startswith("pages.") for one in inputs):
        yield "what a payer did on a page of ours is not played"


async def read_timeline(connection: Connection, merchant_id: int, reference: str, vault: Vault) -> list[dict[str, Any]]:
    record = await connection.fetchrow(SELECT_TRANSACTION, merchant_id, reference)
    if record is not None:
        return await transaction_timeline(connection, Transaction(*record), vault.unseal)
    return await object_timeline(connection, merchant_id, reference, vault.unseal) or []


# --- the parts of a file --------------------------------------------------------------------------------------------


def milliseconds(at: datetime, starts_at: datetime) -> int:
    return (at - starts_at) // timedelta(milliseconds=1)


def make_exchange(recorded: Recorded, starts_at: datetime) -> Exchange:
    path, _, title = recorded.name.partition(".")
    content = recorded.body.content if isinstance(recorded.body.content, dict | list) else {}
    request = complete_request(path, title, content)
    timing = {"at_ms": milliseconds(recorded.at, starts_at), "ms": 0}
    reply: dict[str, Any] = dict(recorded.body.results)
    if reply.get("status", "").isdecimal():
        reply["status"] = int(reply["status"])
    if recorded.body.opened:
        reply["opened"] = recorded.body.opened
    return Exchange(f"{path}.{title}", request, 200, reply, timing=timing)


def make_input(recorded: Recorded, starts_at: datetime) -> CaseInput:
    content = recorded.body.content if isinstance(recorded.body.content, dict) else {}
    plain = {name: value for name, value in content.items() if value not in ("", False, 0) and name != "can_resend"}
    facts = {name: value for name, value in content.get("facts", {}).items() if name in PLAYED_FACTS}
    plain = {name: value for name, value in plain.items() if name != "facts"} | ({"facts": facts} if facts else {})
    at_ms = milliseconds(recorded.at, starts_at)
    results = {name: value for name, value in recorded.body.results.items() if name in RESULTS_OF_ANSWERS}
    return CaseInput(at_ms, recorded.kind, recorded.name, recorded.reference, plain, recorded.body.opened, results)  # type: ignore[arg-type]


def list_events(outcome: dict[str, list[CaseLine]]) -> Iterator[dict[str, Any]]:
    """Yields the events of a case in their order, as recordings have them."""
    events = [(line.at_ms, name, line) for name, lines in outcome.items() for line in lines if line.what == "event"]
    for at_ms, name, line in sorted(events, key=lambda event: event[:2]):
        yield {"at_ms": at_ms, "reference": name, **line.facts}


class CaseNames:
    """Replaces the references of a case by names, as golden files do."""

    def __init__(self) -> None:
        others = {"opened", "cardToken", "accountNumber", "token", "reference"}
        self._stable = StableNames("", REFERENCE_NAMES | others, known=OTHER_REFERENCE_NAMES)

    def rename(self, part: Any) -> Any:
        renamed = self._stable.replace(msgspec.to_builtins(part) if isinstance(part, msgspec.Struct) else vars(part))
        return msgspec.convert(renamed, type(part)) if isinstance(part, msgspec.Struct) else type(part)(**renamed)

    def rename_text(self, reference: str) -> str:
        return str(self._stable.replace(reference, "txnRef"))
