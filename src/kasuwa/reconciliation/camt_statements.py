"""Reads statements in CAMT.053 (ISO 20022), any version, entry by entry.

The parser is the standard library's expat, used directly: it reads in pieces and keeps one entry in memory. A document
type declaration is refused, and without one there are no entities but XML's own five, so nothing can expand.
"""

from collections import deque
from collections.abc import Iterator
from datetime import date
from typing import BinaryIO
from xml.parsers import expat

from kasuwa.core.money import parse_minor
from kasuwa.reconciliation.amounts import parse_amount
from kasuwa.reconciliation.model import StatementError, StatementFacts, StatementLine, clean_text

FORMAT = "camt.053"
PIECE_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_ENTRY_TEXTS = 50_000
# The references of a transaction in an entry, the surest first. NOTPROVIDED stands for none.
REFERENCE_TAGS = ("EndToEndId", "InstrId", "PmtInfId", "TxId", "Ustrd")
NO_REFERENCE = "NOTPROVIDED"

# The texts of a part: the path below it, and the text.
Texts = list[tuple[str, str]]

# The parts of a statement that are read.
PARTS = ("Ntry", "Bal", "Acct")
# Where an element is: in no statement, a statement itself, a part itself, or else its path below the part.
OUTSIDE, STATEMENT, PART = None, "", "."
# A document has a few dozen paths. One with more than this is not CAMT.053, and its paths are not kept.
MAX_PATHS = 10_000


class CamtStatement:
    """A CAMT.053 file. Iterating it yields the lines in the order of the file."""

    def __init__(self, file: BinaryIO, currency: str) -> None:
        self.facts = StatementFacts(FORMAT)
        self._file = file
        self._currency = currency
        self._open: list[str | None] = [OUTSIDE]  # where each open element is, the innermost last
        self._paths: dict[tuple[str | None, str], str | None] = {}  # by where the parent is, and the name
        self._text: list[str] = []
        self._texts: Texts = []
        self._ready: deque[StatementLine] = deque()
        self._number = 0
        self._total = 0
        self._statements = 0
        self._opening: int | None = None
        self._closing: int | None = None

    def __iter__(self) -> Iterator[StatementLine]:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = refuse_doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        try:
            while piece := self._file.read(PIECE_BYTES):
                parser.Parse(piece)
                while self._ready:
                    yield self._ready.popleft()
            parser.Parse(b"", True)
            yield from self._ready
        except expat.ExpatError as error:
            raise StatementError(f"line {error.lineno}: the file is not valid XML ({error})") from None
        except (ValueError, LookupError):  # expat raises these for encodings that it cannot read
            raise StatementError("the encoding that the file names cannot be read: save it as UTF-8") from None
        if self._statements == 0:
            raise StatementError("the file has no statement: it is not CAMT.053")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1]
        try:
            place = self._paths[parent, name]
        except KeyError:
            place = self._find_place(parent, name)
        self._open.append(place)
        if len(self._open) > MAX_DEPTH:
            raise StatementError("the file is nested too deeply: it is not CAMT.053")
        self._text.clear()
        if place == PART:
            self._texts = []
        elif place == STATEMENT:
            self._total, self._opening, self._closing = 0, None, None
        elif place is not OUTSIDE and "Ccy" in attributes:
            self._add_text(f"{place}@Ccy", attributes["Ccy"])

    def _end(self, name: str) -> None:
        place = self._open.pop()
        if place is OUTSIDE:
            return
        if place == PART:
            self._end_part(local_name(name))
        elif place == STATEMENT:
            self._end_statement()
        elif self._text:
            text = "".join(self._text).strip()
            if text:
                self._add_text(place, text)
        self._text.clear()

    def _find_place(self, parent: str | None, name: str) -> str | None:
        """Returns where an element is, from where its parent is."""
        tag = local_name(name)
        if parent == STATEMENT:
            place = PART if tag in PARTS else OUTSIDE
        elif parent is OUTSIDE:
            place = STATEMENT if tag == "Stmt" else OUTSIDE
        else:
            place = tag if parent == PART else f"{parent}/{tag}"
        if len(self._paths) < MAX_PATHS:
            self._paths[parent, name] = place
        return place

    def _add_text(self, path: str, text: str) -> None:
        self._texts.append((path, text))
        if len(self._texts) > MAX_ENTRY_TEXTS:
            raise StatementError("an entry has too many parts: split the file")

    # --- parts of a statement ---------------------------------------------------------------------------------------

    def _end_part(self, tag: str) -> None:
        if tag == "Ntry":
            self._end_entry()
        elif tag == "Bal":
            self._end_balance()
        else:
            self._end_account()

    def _end_account(self) -> None:
        account = next((text for path, text in self._texts if path in ("Id/IBAN", "Id/Othr/Id")), "")
        if self.facts.bank_account and account != self.facts.bank_account:
            self.facts.add_fault("statement", f"it is of another account than the one before: {clean_text(account)}")
        self.facts.bank_account = clean_text(account)

    def _end_balance(self) -> None:
        texts = dict(self._texts)
        kind = texts.get("Tp/CdOrPrtry/Cd", "")
        amount = parse_amount(texts.get("Amt", ""), ".", "")
        if amount is None:
            self.facts.add_fault(f"balance {kind}", f"{texts.get('Amt', '')[:40]!r} is not an amount")
            return
        signed = -amount if texts.get("CdtDbtInd") == "DBIT" else amount
        if kind in ("OPBD", "PRCD") and self._opening is None:
            self._opening = signed
        elif kind == "CLBD":
            self._closing = signed

    def _end_entry(self) -> None:
        self._number += 1
        place = f"entry {self._number}"
        texts: dict[str, str] = {}
        for path, text in self._texts:
            texts.setdefault(path, text)
        if texts.get("Sts") not in ("BOOK", None) or texts.get("Sts/Cd") not in ("BOOK", None):
            return  # announced, and not yet booked
        faults = []
        amount = parse_minor(texts.get("Amt", ""))
        booked_on = parse_day(texts.get("BookgDt/Dt") or texts.get("BookgDt/DtTm") or texts.get("ValDt/Dt", ""))
        direction = texts.get("CdtDbtInd", "")
        if not amount:
            faults.append(f"{texts.get('Amt', '')[:40]!r} is not an amount")
        if booked_on is None:
            faults.append("it has no booking date")
        if direction not in ("CRDT", "DBIT"):
            faults.append("it is neither a credit nor a debit (CdtDbtInd)")
        if texts.get("Amt@Ccy") != self._currency:
            self.facts.currency = texts.get("Amt@Ccy", "")
            faults.append(f"the currency is {texts.get('Amt@Ccy')!r}, and that of the account is {self._currency}")
        if faults or amount is None or booked_on is None:
            self.facts.add_fault(place, "; ".join(faults))
            return
        signed = -amount if direction == "DBIT" else amount
        self._total += signed
        self._ready.append(
            StatementLine(
                number=self._number,
                booked_on=booked_on,
                amount=signed,
                bank_reference=self._find_reference(),
                description=clean_text(" ".join(text for path, text in self._texts if is_description(path))),
                bank_id=clean_text(texts.get("AcctSvcrRef") or texts.get("NtryRef", "")),
            )
        )

    def _find_reference(self) -> str:
        """Returns the reference of an entry with one transaction. An entry of many has none, but the batch's."""
        by_tag: dict[str, set[str]] = {}
        for path, text in self._texts:
            above, _, tag = path.rpartition("/")
            if above and tag in REFERENCE_TAGS and text != NO_REFERENCE:
                by_tag.setdefault(tag, set()).add(text)
        for tag in REFERENCE_TAGS:
            if len(by_tag.get(tag, ())) == 1:
                return clean_text(by_tag[tag].pop())
        return ""

    def _end_statement(self) -> None:
        self._statements += 1
        has_balances = self._opening is not None and self._closing is not None
        # A statement with an entry that cannot be read does not add up anyway.
        if has_balances and not self.facts.fault_count and (self._opening or 0) + self._total != self._closing:
            self.facts.add_fault(
                "statement", "the opening balance and the entries do not add up to the closing balance"
            )
        if self.facts.opening is None:
            self.facts.opening = self._opening
        self.facts.closing = self._closing


def refuse_doctype(*declaration: object) -> None:
    raise StatementError("the file has a document type declaration, which CAMT.053 does not: it is refused")


def local_name(name: str) -> str:
    """Returns the name of an element without its namespace."""
    return name.rpartition(" ")[2]


def is_description(path: str) -> bool:
    return path.endswith(("/Ustrd", "/AddtlTxInf", "/Dbtr/Nm", "/Cdtr/Nm")) or path == "AddtlNtryInf"


def parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None
