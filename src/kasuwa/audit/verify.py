"""Checks proofs of postings against a signed close. Needs no database, no network and no other module of this package.

docs/proofs.md specifies the format and the bytes. `verify_document` takes a decoded reply of `inquire` `proof`, or a
statement that was asked for with `proof`, and returns what it proves. `verify_pages` takes all pages of a statement
that has several. Every figure of a statement is checked, and one that is wrong is named. `verify_evidence` takes the
manifest of `kasuwa evidence` and the directory of its files. All raise ProofError if nothing is proven.
"""

from datetime import UTC, datetime, timedelta
from hashlib import blake2b, sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Json = dict[str, Any]


class ProofError(Exception):
    """A proof that does not hold. The text says why."""


def verify_document(document: Json, keys: list[bytes]) -> list[str]:
    """Checks all proofs of a reply. Returns a line for each group that is proven, and for a statement one line more."""
    return verify_pages([document], keys)


def verify_pages(pages: list[Json], keys: list[bytes]) -> list[str]:
    """Like `verify_document`, for all pages of a statement in order."""
    document = pages[0]
    try:
        if all(isinstance(page.get("proof"), dict) for page in pages):
            return verify_statement(pages, keys)
        if len(pages) > 1:
            raise ProofError("several files must be the pages of one statement with proofs")
        if document.get("format") != "kasuwa proof 1" or not isinstance(document.get("data"), list):
            raise ProofError("this is neither a proof nor a statement with one")
        lines = [describe(group) for proof in document["data"] for group in verify_proof(proof, keys)]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise ProofError(f"the document is incomplete or malformed: {type(error).__name__} {error}") from None
    if not lines:
        raise ProofError("the document has no proof")
    return lines


def verify_proof(proof: Json, keys: list[bytes]) -> list[Json]:
    """Checks one proof. Returns the groups that it proves: those from posting `first` to posting `last`."""
    if proof["state"] != "closed":
        raise ProofError("the proof is pending: ask for it again after the next close")
    head, close = proof["head"], proof["close"]
    verify_signature(close, keys)
    leaf = hash_leaf(text_bytes("kasuwa head 1", *(head[name] for name in HEAD_FIELDS)))
    if climb(leaf, proof["index"], close["tree_size"], proof["path"]) != bytes.fromhex(close["root"]):
        raise ProofError("the head is not in the close's tree")
    value, reached = bytes.fromhex(proof["start"]), None
    for group in proof["groups"]:
        if reached is not None and group["number"] != reached + 1:
            raise ProofError(f"the group before posting {group['number']} is missing")
        value = extend(value, head["merchant_id"], group)
        reached = group["number"] + len(group["postings"]) - 1
    verify_end(proof, head, value, reached)
    proven = [g for g in proof["groups"] if proof["first"] <= g["number"] <= proof["last"]]
    ends = [group["number"] + len(group["postings"]) - 1 for group in proven]
    if not proven or proven[0]["number"] != proof["first"] or ends[-1] != proof["last"]:
        raise ProofError("the proof does not contain the postings that it claims to prove")
    return proven


HEAD_FIELDS = (
    "merchant_id",
    "posting_seq",
    "posting_head",
    "mark_count",
    "mark_root",
    "event_seq",
    "event_head",
    "audit_seq",
    "audit_head",
)


def verify_end(proof: Json, head: Json, value: bytes, reached: int | None) -> None:
    """Checks that the chain ends at the head, or at a mark of the head."""
    mark = proof["mark"]
    if mark is None:
        if (reached, value) != (head["posting_seq"], bytes.fromhex(head["posting_head"])):
            raise ProofError("the groups do not lead to the head")
        return
    leaf = hash_leaf(text_bytes("kasuwa mark 1", reached, value.hex()))
    if climb(leaf, mark["index"], head["mark_count"], mark["path"]) != bytes.fromhex(head["mark_root"]):
        raise ProofError("the groups do not lead to a mark of the head")


def verify_signature(close: Json, keys: list[bytes]) -> None:
    fields = (close[name] for name in ("number", "closed_at", "tree_size", "root", "previous"))
    check_signature(close, keys, text_bytes("kasuwa close 1", *fields), f"close {close['number']}")


def check_signature(signed: Json, keys: list[bytes], data: bytes, what: str) -> None:
    key = bytes.fromhex(signed["public_key"])
    if key not in keys:
        raise ProofError(f"{what} is signed by another key: {signed['public_key']}")
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(bytes.fromhex(signed["signature"]), data)
    except InvalidSignature:
        raise ProofError(f"the signature of {what} is wrong") from None


# --- bytes and hashes ---------------------------------------------------------------------------------------------


def text_bytes(*fields: Any) -> bytes:
    """Returns fields as texts that each end with a NUL byte. Numbers are whole and written in decimal digits."""
    texts = []
    for value in fields:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ProofError("a field is neither a text nor a whole number")
        texts.append(str(value))
    if any("\0" in text for text in texts):
        raise ProofError("a field contains a NUL character")
    return "".join(f"{text}\0" for text in texts).encode()


def extend(value: bytes, merchant_id: int, group: Json) -> bytes:
    """Returns the value of the chain after a group."""
    postings = group["postings"]
    names = ("debit_account", "credit_account", "amount_minor", "debit_after", "credit_after", "kind")
    data = text_bytes("kasuwa group 1", merchant_id, group["number"], group["at"], group["reference"], len(postings))
    data += b"".join(text_bytes(*(posting[name] for name in names)) for posting in postings)
    return blake2b(value + data, digest_size=32).digest()


def hash_leaf(data: bytes) -> bytes:
    return sha256(b"\0" + data).digest()


def climb(value: bytes, index: int, size: int, path: list[str]) -> bytes:
    """Returns the root that an inclusion proof leads to (RFC 6962, section 2.1.1)."""
    if not 0 <= index < size:
        raise ProofError("an index is outside of its tree")
    rest = list(path)
    while size > 1:
        if index ^ 1 < size:
            if not rest:
                raise ProofError("an inclusion proof is too short")
            other = bytes.fromhex(rest.pop(0))
            pair = other + value if index & 1 else value + other
            value = sha256(b"\1" + pair).digest()
        index, size = index // 2, (size + 1) // 2
    if rest:
        raise ProofError("an inclusion proof is too long")
    return value


# --- statements ---------------------------------------------------------------------------------------------------


# What all pages of a statement show alike.
COMMON_FIELDS = ("status", "message", "currency", "account", "opening_balance", "closing_balance", "link", "expires")


def verify_statement(pages: list[Json], keys: list[bytes]) -> list[str]:
    """Checks that the movements are exactly those of the proven postings, that the pages follow one another, and every
    other figure that they show."""
    account, movements, groups = pages[0]["account"], [], []
    for page in pages:
        proven = verify_proof(page["proof"], keys)
        expected = [
            move
            for group in proven
            for posting in group["postings"]
            for move in list_movements(group, posting, account)
        ]
        check_movements(page["data"], expected)
        movements += expected
        groups += proven
    check_order(pages)
    check_head(pages, groups)
    balances = [move["balance"] for page in pages for move in page["data"]]
    is_absolute = check_balances(pages[0], account, movements, balances)
    check_totals(pages, movements)
    proof = pages[0]["proof"]
    before = [group for group in proof["groups"] if group["number"] < proof["first"]]
    since = f"after {time_text(before[-1]['at'])}" if before else "from the first posting on"
    summary = (
        f"statement of {account}: {len(movements)} movements, none left out {since} up to {time_text(groups[-1]['at'])}"
    )
    lines = [*map(describe, groups), f"{summary}, close {pages[-1]['proof']['close']['number']}"]
    if not is_absolute:
        lines.insert(-1, "the balance before the first movement is not proven: a loan has several accounts")
    return lines


def check_movements(shown: list[Json], expected: list["Move"]) -> None:
    if len(shown) != len(expected):
        raise ProofError("data: the movements are not those of the proven postings")
    for number, (line, move) in enumerate(zip(shown, expected, strict=True)):
        for field in ("dateCreated", "kind", "reference", "counterparty", "amount"):
            if line[field] != move[field]:
                raise ProofError(f"data.{number}.{field}: the movements are not those of the proven postings")


def check_order(pages: list[Json]) -> None:
    """Checks that the pages follow one another, and that none follows the last."""
    for page, following in pairwise(pages):
        last = page["proof"]["last"]
        if page["next_cursor"] is None or page["next_cursor"].split(".")[2] != str(last):
            raise ProofError("next_cursor: it does not lead to the next page")
        if following["proof"]["first"] != last + 1:
            raise ProofError("a page is missing, or they are in another order")
        if following["totals"] is not None:
            raise ProofError("totals: only the first page has them")
    if pages[-1]["next_cursor"] is not None:
        raise ProofError("next_cursor: other pages follow, and the balances and totals are of all: give all pages")


def check_head(pages: list[Json], groups: list[Json]) -> None:
    """Checks what the pages say of the whole statement besides its balances and totals."""
    first = pages[0]
    for field in COMMON_FIELDS:
        if any(page[field] != first[field] for page in pages):
            raise ProofError(f"{field}: it differs between pages")
    account, currency = first["account"], first["currency"]
    names = {posting[side] for group in groups for posting in group["postings"] for side in SIDES}
    own = {account} if ":" in account else {name for name in names if is_of_product(name, account)}
    kind = account.partition(":")[0]
    titles = [f"Wallet in {currency}"] if kind == "wallet" else [f"Savings {account}", f"Loan {account}"]
    checks = {
        "status": first["status"] == 200 and not isinstance(first["status"], bool),
        "currency": all(name.rpartition(":")[2] == currency for name in own),
        # Cards and beneficiaries are named by what is not in the books.
        "message": first["message"] in titles or kind in ("card", "beneficiary"),
        "link": first["link"] is None,
        "expires": first["expires"] is None,
    }
    for field, holds in checks.items():
        if not holds:
            raise ProofError(f"{field}: it is not that of the account, or of a statement with a proof")


def check_balances(page: Json, account: str, movements: list["Move"], balances: list[str]) -> bool:
    """Checks the balance after each movement, and those before the first and after the last. Returns whether they are
    proven, and not only the differences between them: postings have the balance of each account alone, and a loan has
    several."""
    amounts = [minor(move["amount"]) for move in movements]
    is_absolute = ":" in account or not any(move["own"].startswith("loan_") for move in movements)
    if is_absolute and not movements:
        raise ProofError("opening_balance: no movement proves it")
    value = minor(movements[0]["balance"]) - amounts[0] if is_absolute else minor(page["opening_balance"])
    if page["opening_balance"] != money(value):
        raise ProofError("opening_balance: it is not that of the proven postings")
    for number, (move, amount, shown) in enumerate(zip(movements, amounts, balances, strict=True)):
        value = minor(move["balance"]) if is_absolute else value + amount
        if shown != money(value):
            raise ProofError(f"data.{number}.balance: it is not that of the proven postings")
    if page["closing_balance"] != money(value):
        raise ProofError("closing_balance: it is not that of the proven postings")
    return is_absolute


def check_totals(pages: list[Json], movements: list["Move"]) -> None:
    """Checks the totals of the first page. A period with very many postings has none."""
    shown = pages[0]["totals"]
    if shown is None:
        return
    sums: dict[str, list[int]] = {}
    for move in movements:
        amount = minor(move["amount"])
        total = sums.setdefault(classify_movement(move["kind"], move["counterparty"], amount), [0, 0])
        total[0] += amount
        total[1] += 1
    if [line["kind"] for line in shown] != [name for name in CLASSES if name in sums]:
        raise ProofError("totals: the kinds are not those of the movements")
    for number, line in enumerate(shown):
        amount, count = sums[line["kind"]]
        if line["amount"] != money(amount):
            raise ProofError(f"totals.{number}.amount: it is not the sum of the movements")
        if line["count"] != count or isinstance(line["count"], bool):
            raise ProofError(f"totals.{number}.count: it is not the number of the movements")


CLASSES = ("collected", "fees", "vat", "refunds", "disputes", "reserve", "payouts", "interest", "tax", "other")
REFUND_KINDS = ("refund", "card refund", "returned to the payer", "paid back")
COLLECTED_KINDS = ("payment", "settlement", "inbound transfer", "collection", "late payment")


def classify_movement(kind: str, counterparty: str, amount: int) -> str:
    """Returns the kind under which the totals count a movement (docs/proofs.md)."""
    sort, _, owner = counterparty.partition(":")
    if sort == "tax" or kind.startswith("tax "):
        return "vat" if owner.startswith("vat") else "tax"
    if kind == "VAT on fee":
        return "vat"
    if kind == "interest" or kind.startswith("interest "):
        return "interest"
    if kind in ("dispute", "dispute advance", "dispute debt"):
        return "disputes"
    if kind in ("reserve", "reserve released"):
        return "reserve"
    if sort == "income" or kind.endswith(" fee"):
        return "fees"
    if kind.startswith(REFUND_KINDS):
        return "refunds"
    if kind in COLLECTED_KINDS or (kind == "split" and amount > 0):
        return "collected"
    if amount < 0 and (sort in ("rail", "beneficiary") or kind in ("split", "savings cash-out", "card purchase")):
        return "payouts"
    return "other"


# The fields of a movement, with the account that it is on.
Move = dict[str, str]
SIDES = ("debit_account", "credit_account")


def list_movements(group: Json, posting: Json, account: str) -> list[Move]:
    """Returns the movements of a posting on an account, or on those of a loan or savings account: first what left."""
    movements = []
    sides = [("debit", "credit", -1), ("credit", "debit", 1)]
    if ":" in account and posting["credit_account"] == account:
        sides = sides[1:]
    for own, other, sign in sides:
        name = posting[f"{own}_account"]
        if name == account or (":" not in account and is_of_product(name, account)):
            amount = sign * int(posting["amount_minor"]) * (-1 if name.startswith("loan_credit:") else 1)
            movements.append(
                {
                    "dateCreated": time_text(group["at"]),
                    "kind": posting["kind"],
                    "reference": group["reference"],
                    "counterparty": posting[f"{other}_account"],
                    "amount": money(amount),
                    "balance": money(int(posting[f"{own}_after"])),
                    "own": name,
                }
            )
    return movements


def is_of_product(name: str, product_id: str) -> bool:
    kind, _, rest = name.partition(":")
    return (kind == "savings" or kind.startswith("loan_")) and rest.partition(":")[0] == product_id


def money(minor: int) -> str:
    return f"{'-' if minor < 0 else ''}{abs(minor) // 100}.{abs(minor) % 100:02}"


def minor(text: str) -> int:
    """Returns an amount as `money` writes it in minor units. Raises ProofError for any other text."""
    value = int(text.replace(".", ""))
    if money(value) != text:
        raise ProofError(f"{text} is not an amount")
    return value


def time_text(microseconds: int) -> str:
    moment = EPOCH + timedelta(microseconds=microseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


def describe(group: Json) -> str:
    """Returns a line about a proven group."""
    parts = [
        f"{p['kind']} {money(int(p['amount_minor']))} from {p['debit_account']} to {p['credit_account']}"
        for p in group["postings"]
    ]
    return f"group {group['number']}, {group['reference']}, {time_text(group['at'])}: {'; '.join(parts)}"


# --- evidence -----------------------------------------------------------------------------------------------------

EVIDENCE_FORMAT = "kasuwa evidence 1"
EVIDENCE_MANIFEST = "manifest.json"
PIECE_BYTES = 1 << 20


def verify_evidence(manifest: Json, keys: list[bytes], directory: Path) -> list[str]:
    """Checks the signature of a manifest, and that the directory has its files, unchanged, and no others. Returns a
    line for each file, and one for all."""
    try:
        if manifest["format"] != EVIDENCE_FORMAT:
            raise ProofError("this is no manifest of evidence")
        files = manifest["files"]
        head = [manifest["made_at"], manifest["environment"], manifest["version"], len(files)]
        listed = [file[field] for file in files for field in ("name", "bytes", "sha256")]
        check_signature(manifest, keys, text_bytes(EVIDENCE_FORMAT, *head, *listed), "the manifest")
        names = [Path(file["name"]).name for file in files]
        changed = [file["name"] for file in files if hash_file(directory / Path(file["name"]).name) != file["sha256"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ProofError(f"the manifest is incomplete or malformed: {type(error).__name__} {error}") from None
    if changed:
        raise ProofError(f"changed or missing: {', '.join(changed)}")
    added = sorted({path.name for path in directory.iterdir()} - {*names, EVIDENCE_MANIFEST})
    if added:
        raise ProofError(f"not in the manifest: {', '.join(added)}")
    lines = [f"{file['name']}: {file['bytes']} bytes, unchanged" for file in files]
    return [*lines, f"evidence of the {head[1]} environment, version {head[2]}, made at {head[0]}"]


def hash_file(path: Path) -> str:
    """Returns the SHA-256 of a file, or an empty text if it cannot be read."""
    digest = sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                digest.update(piece)
    except OSError:
        return ""
    return digest.hexdigest()
