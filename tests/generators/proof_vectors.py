"""Proofs for every verifier, in clients/typescript/test/proof_vectors.json.

`python -m tests.generators.proof_vectors` writes the file. Both verifiers (`kasuwa.audit.verify`, the TypeScript
client) are tested with it. A vector has a document, or the pages of a statement, the key, and the groups that are
proven, or null if nothing is.
"""

import copy
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kasuwa.audit.close_task import show_close, show_head
from kasuwa.audit.close_tree import Close, Head, close_bytes, head_bytes, mark_bytes
from kasuwa.audit.make_close import SignedClose
from kasuwa.audit.merkle import build_levels, get_root, hash_leaf, path_places
from kasuwa.ledger.apply import JournalLine
from kasuwa.ledger.chain import EMPTY_CHAIN, extend_by_group, to_microseconds

FILE = Path(__file__).parents[2] / "clients" / "typescript" / "test" / "proof_vectors.json"

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC_KEY = KEY.public_key().public_bytes_raw()
START = datetime(2026, 1, 5, 9, 30, 0, 123456, UTC)
WALLET, MERCHANT_ID = "wallet:main:NGN", 7
Json = dict[str, Any]


class Group(msgspec.Struct):
    number: int
    at: datetime
    lines: list[JournalLine]
    value: bytes  # of the chain after it

    @property
    def last(self) -> int:
        return self.number + len(self.lines) - 1


def make_groups(count: int) -> list[Group]:
    """Groups of one to three postings: amounts that a JavaScript number cannot hold, and texts that are not ASCII."""
    groups: list[Group] = []
    value, number, balance = EMPTY_CHAIN, 1, 9_000_000_000_000_000_000
    for n in range(count):
        lines = []
        for kind, other in (("transfer", "rail:bank:NGN"), ("₦ fee 😀", "income:transfer:NGN"), ("VAT", "tax:vat:NGN")):
            balance -= 1_000_000_007 + n
            line = JournalLine(f"GP|FD|{n}é", WALLET, other, 1_000_000_007 + n, balance, -balance, kind)
            lines.append(line)
        at, lines = START + timedelta(milliseconds=n), lines[: 1 + n % 3]
        value = extend_by_group(value, MERCHANT_ID, number, at, lines)
        groups.append(Group(number, at, lines, value))
        number += len(lines)
    return groups


def show_group(group: Group) -> Json:
    postings = [
        {
            "debit_account": line.debit,
            "credit_account": line.credit,
            "amount_minor": str(line.amount),
            "debit_after": str(line.debit_after),
            "credit_after": str(line.credit_after),
            "kind": line.kind,
        }
        for line in group.lines
    ]
    reference = group.lines[0].reference
    return {"number": group.number, "at": to_microseconds(group.at), "reference": reference, "postings": postings}


def make_proof(groups: list[Group], wanted: int, marks: list[int], leaves: int, index: int) -> Json:
    """The proof of group `wanted`, with marks after some groups, in a tree of `leaves` with the head at `index`."""
    marked = [hash_leaf(mark_bytes(groups[n].last, groups[n].value)) for n in marks]
    mark_levels = build_levels(marked)
    head = Head(
        MERCHANT_ID, groups[-1].last, groups[-1].value, len(marks), get_root(mark_levels), 3, bytes(32), 1, b"\1" * 32
    )
    others = [hash_leaf(head_bytes(Head(100 + n))) for n in range(leaves)]
    others[index] = hash_leaf(head_bytes(head))
    levels = build_levels(others)
    close = Close(4, START + timedelta(hours=1), leaves, get_root(levels), b"\2" * 32)
    signed = SignedClose(close, PUBLIC_KEY, KEY.sign(close_bytes(close)))
    place = next((n for n, mark in enumerate(marks) if mark >= wanted), None)
    end = len(groups) - 1 if place is None else marks[place]
    first = max(0, wanted - 1)
    path = [] if place is None else [mark_levels[a][b].hex() for a, b in path_places(place, len(marks))]
    return {
        "state": "closed",
        "first": groups[wanted].number,
        "last": groups[wanted].last,
        "start": (EMPTY_CHAIN if first == 0 else groups[first - 1].value).hex(),
        "groups": [show_group(group) for group in groups[first : end + 1]],
        "mark": None if place is None else {"index": place, "path": path},
        "head": show_head(head),
        "index": index,
        "path": [levels[a][b].hex() for a, b in path_places(index, leaves)],
        "close": show_close(signed),
    }


def make_reply(*proofs: Json) -> Json:
    return {"status": 200, "message": "Closed", "data": list(proofs), "format": "kasuwa proof 1"}


def show_money(minor: int) -> str:
    return f"{'-' if minor < 0 else ''}{abs(minor) // 100}.{abs(minor) % 100:02}"


def make_page(groups: list[Group], wanted: int) -> Json:
    """A page of a statement of the wallet with the movements of one group, without the figures of the whole."""
    group = groups[wanted]
    movements = [
        {
            "dateCreated": f"{group.at:%Y-%m-%dT%H:%M:%S}.{group.at.microsecond // 1000:03}Z",
            "kind": line.kind,
            "reference": line.reference,
            "counterparty": line.credit,
            "amount": show_money(-line.amount),
            "balance": show_money(line.debit_after),
        }
        for line in group.lines
    ]
    return {
        "status": 200,
        "message": "Wallet in NGN",
        "currency": "NGN",
        "totals": None,
        "data": movements,
        "next_cursor": None,
        "link": None,
        "expires": None,
        "account": WALLET,
        "proof": make_proof(groups, wanted, [1, 4, 6], 5, 2),
    }


def make_pages(groups: list[Group], wanted: list[int]) -> list[Json]:
    """All pages of a statement with a page for each of these groups, which follow one another."""
    pages = [make_page(groups, number) for number in wanted]
    lines = [line for number in wanted for line in groups[number].lines]
    first, last = lines[0], lines[-1]
    for page, following in pairwise(wanted):
        pages[wanted.index(page)]["next_cursor"] = f"1.999.{groups[following].number - 1}.1"
    for shown in pages:
        shown["opening_balance"] = show_money(first.debit_after + first.amount)
        shown["closing_balance"] = show_money(last.debit_after)
    # The generator's kinds: "transfer" to a rail is a payout, "₦ fee 😀" goes to income, "VAT" to a tax.
    classes = {"rail:bank:NGN": "payouts", "income:transfer:NGN": "fees", "tax:vat:NGN": "vat"}
    totals: dict[str, list[int]] = {}
    for line in lines:
        totals.setdefault(classes[line.credit], []).append(-line.amount)
    pages[0]["totals"] = [
        {"kind": kind, "amount": show_money(sum(totals[kind])), "count": len(totals[kind])}
        for kind in ("fees", "vat", "payouts")
        if kind in totals
    ]
    return pages


Change = Callable[[Json], None]
# Changes of a statement's proof, which then proves nothing.
PROOF_CHANGES: dict[str, Change] = {
    "an amount is changed": lambda p: p["groups"][1]["postings"][0].update(amount_minor="1"),
    "an account is changed": lambda p: p["groups"][1]["postings"][0].update(credit_account="rail:bank:USD"),
    "a time is changed": lambda p: p["groups"][1].update(at=p["groups"][1]["at"] + 1),
    "a reference is changed": lambda p: p["groups"][1].update(reference="GP|FD|other"),
    "a group is left out": lambda p: p["groups"].pop(1),
    "the last group is left out": lambda p: p["groups"].pop(),
    "two groups are exchanged": lambda p: p["groups"].reverse(),
    "the start is another": lambda p: p.update(start="11" * 32),
    "a text has a NUL character": lambda p: p["groups"][1].update(reference="GP\0"),
    "an amount is a fraction": lambda p: p["groups"][1]["postings"][0].update(amount_minor=1.5),
    "the head is another": lambda p: p["head"].update(event_seq=4),
    "the head belongs to other books": lambda p: p["head"].update(merchant_id=8),
    "the index is another": lambda p: p.update(index=0),
    "the index is outside": lambda p: p.update(index=5),
    "the path is too short": lambda p: p["path"].pop(),
    "the path is too long": lambda p: p["path"].append("00" * 32),
    "the mark is another": lambda p: p["mark"].update(index=0),
    "the mark is not given": lambda p: p.update(mark=None),
    "the number of the close is another": lambda p: p["close"].update(number=5),
    "the root is another": lambda p: p["close"].update(root="22" * 32),
    "the signature is another": lambda p: p["close"].update(signature="33" * 64),
    "the key is another": lambda p: p["close"].update(public_key="44" * 32),
    "it claims more than it has": lambda p: p.update(last=p["last"] + 100),
    "it claims other postings": lambda p: p.update(first=p["first"] + 1),
    "it is pending": lambda p: p.update(state="pending"),
    "it has no close": lambda p: p.pop("close"),
}
STATEMENT_CHANGES: dict[str, Change] = {
    "a movement is left out": lambda s: s["data"].pop(),
    "a movement is added": lambda s: s["data"].append(s["data"][0]),
    "it is the statement of another account": lambda s: s.update(account="rail:bank:NGN"),
    "the totals have another kind": lambda s: s["totals"][0].update(kind="other"),
    "the totals lack a kind": lambda s: s["totals"].pop(),
    "other pages follow": lambda s: s.update(next_cursor=f"1.999.{s['proof']['last']}.1"),
}
# Every field of a statement of which a figure may be changed, with another value.
OTHER_VALUES: dict[str, Any] = {
    **dict.fromkeys(("opening_balance", "closing_balance", "balance", "amount"), "1.00"),
    **dict.fromkeys(("kind", "reference", "counterparty", "message", "link", "expires"), "other"),
    "currency": "USD",
    "status": 201,
    "count": 99,
    "dateCreated": "2026-01-06T09:30:00.125Z",
}


def change_fields(statement: Json) -> list[tuple[str, Json]]:
    """Returns the statement once for each field, with the field changed, and the path of the field."""
    changed = []

    def change(path: tuple[Any, ...], holder: Any) -> None:
        pairs: Any = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for name, value in pairs:
            if name in ("proof", "account", "next_cursor"):
                continue
            if isinstance(value, dict | list):
                change((*path, name), value)
                continue
            if value is None and name == "totals":
                continue
            copied = copy.deepcopy(statement)
            place: Any = copied
            for step in path:
                place = place[step]
            place[name] = OTHER_VALUES[name]
            changed.append((".".join(map(str, (*path, name))), copied))

    change((), statement)
    return changed


def make_vectors() -> list[Json]:
    groups = make_groups(9)
    vectors: list[Json] = []

    def add(name: str, document: Json | list[Json], proven: list[int] | None) -> None:
        vectors.append({"name": name, "key": PUBLIC_KEY.hex(), "document": document, "proven": proven})

    for leaves in (1, 2, 3, 5):
        for index in range(leaves):
            proof = make_proof(groups, 4, [], leaves, index)
            add(f"leaf {index} of {leaves}", make_reply(proof), [groups[4].number])
    for wanted in range(9):
        proof = make_proof(groups, wanted, [1, 4, 6], 3, 1)
        add(f"group {wanted} of books with marks", make_reply(proof), [groups[wanted].number])
    both = make_reply(make_proof(groups, 2, [1, 4, 6], 3, 1), make_proof(groups, 8, [], 2, 0))
    add("two groups", both, [groups[2].number, groups[8].number])
    [statement] = make_pages(groups, [2])
    add("a statement", statement, [groups[2].number])
    pages = make_pages(groups, [2, 3, 4])
    add("a statement of three pages", pages, [groups[n].number for n in (2, 3, 4)])
    add("a page of three", pages[0], None)
    add("a page is missing", [pages[0], pages[2]], None)
    add("the last page is missing", pages[:2], None)
    add("two pages are exchanged", [pages[1], pages[0], pages[2]], None)
    for field in ("opening_balance", "closing_balance", "currency"):
        other = {**pages[1], field: OTHER_VALUES[field]}
        add(f"the {field} differs between pages", [pages[0], other, pages[2]], None)
    for name, change in PROOF_CHANGES.items():
        changed = copy.deepcopy(statement)
        change(changed["proof"])
        add(name, make_reply(changed["proof"]), None)
    for name, change in STATEMENT_CHANGES.items():
        changed = copy.deepcopy(statement)
        change(changed)
        add(name, changed, None)
    for path, changed in change_fields(statement):
        add(f"{path} of a statement is changed", changed, None)
    add("no proof", make_reply(), None)
    add("another format", {**both, "format": "kasuwa proof 2"}, None)
    return vectors


def render() -> bytes:
    lines = [msgspec.json.encode(vector) for vector in make_vectors()]
    return b"[\n" + b",\n".join(lines) + b"\n]\n"


if __name__ == "__main__":
    FILE.write_bytes(render())
    print(f"written to {FILE}")
