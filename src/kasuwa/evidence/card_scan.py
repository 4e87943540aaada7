"""Looks for card data in clear: whole card numbers, and security codes and PINs beside their names.

A number counts as a card number if it has the range and length of a card network and a valid check digit, and is not
part of a longer word: references and hexadecimal texts contain digits by the hundred. What is found is reported masked.
"""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from kasuwa.core.cards import find_range, is_card_number
from kasuwa.wire.masking import SEPARATOR, mask_match

# Not part of a longer word, unless it follows the sign with which the first track of a card begins.
CARD_NUMBER = re.compile(rf"(?:(?<![0-9A-Za-z])|(?<=%B))[0-9](?:{SEPARATOR}{{0,3}}[0-9]){{12,18}}(?![0-9A-Za-z])")
SECRET_FIELD = re.compile(
    r"[\"'](ccv|cvv|cvv2|cvc|pin|pin_block|track1|track2)[\"']\s*[:=]\s*[\"']?[0-9]{3,}", re.ASCII
)

# What one read takes of a file, and how much of it is kept for the next: more than the longest match has.
PIECE_BYTES = 1 << 20
OVERLAP_CHARS = 128
MOST_FINDINGS = 100

# A published test number. The search must find it, or says nothing about what it does not find.
CANARY = "4111111111111111"
CANARY_SPELLINGS = (f"canary {CANARY} canary", f'{{"card_no":"{CANARY}"}}', "4111 1111 1111 1111")


class Finding(msgspec.Struct, frozen=True):
    """Card data in clear, and where it is."""

    place: str
    what: str  # masked


def find_card_data(text: str) -> Iterator[str]:
    """Yields what a text has of card data, masked."""
    for match in CARD_NUMBER.finditer(text):
        digits = "".join(character for character in match[0] if character.isdecimal())
        if find_range(digits) is not None and is_card_number(digits):
            yield f"card number {mask_match(match)}"
    for match in SECRET_FIELD.finditer(text):
        yield f"value of the field {match[1]}"


class ScanResult(msgspec.Struct):
    """The extent of a search, and its findings."""

    places: int = 0  # tables or files
    rows: int = 0  # rows or lines
    characters: int = 0
    found: int = 0
    findings: list[Finding] = msgspec.field(default_factory=list)  # the first
    unreadable: list[str] = msgspec.field(default_factory=list)

    def search(self, text: str, place: str) -> None:
        self.characters += len(text)
        for what in find_card_data(text):
            self.found += 1
            if len(self.findings) < MOST_FINDINGS:
                self.findings.append(Finding(place, what))


def is_searching() -> bool:
    """Returns whether the search finds every spelling of the canary, also in the midst of other text."""
    return all(list(find_card_data(text)) and list(find_card_data(f"x {text}\n")) for text in CANARY_SPELLINGS)


def list_logs(paths: list[Path]) -> Iterator[Path]:
    """Yields the files of paths: files as they are, and of directories all that look like logs."""
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*.log*") if file.is_file())
        else:
            yield path


def scan_logs(paths: list[Path]) -> ScanResult:
    """Searches files, compressed ones too, in pieces. A file that cannot be read is named."""
    result = ScanResult()
    for path in list_logs(paths):
        try:
            with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
                scan_file(cast(BinaryIO, file), str(path), result)
        except (OSError, EOFError):
            result.unreadable.append(str(path))
        else:
            result.places += 1
    return result


def scan_file(file: BinaryIO, place: str, result: ScanResult) -> None:
    """Searches one file. Lines longer than a piece are searched in overlapping pieces."""
    overlap = ""
    while piece := file.read(PIECE_BYTES):
        text = overlap + piece.decode(errors="replace")
        result.rows += piece.count(b"\n")
        end = text.rfind("\n") + 1 or max(0, len(text) - OVERLAP_CHARS)
        result.search(text[:end], place)
        overlap = text[end:]
    result.search(overlap, place)
