"""Writes the evidence to a directory: a file for each subject, a README, and a signed manifest.

Files are written in pieces, to a new directory that gets its name when it is complete. docs/proofs.md specifies the
bytes of the signature; `kasuwa verify` checks it without the database.
"""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from kasuwa.audit.close_tree import close_time_text
from kasuwa.evidence import collect, reads
from kasuwa.evidence.collect import Deployment, Json
from kasuwa.evidence.readme import write_readme
from kasuwa.evidence.sbom import encode_sbom
from kasuwa.postgres.connection_pool import Connection

FORMAT = "kasuwa evidence 1"
MANIFEST = "manifest.json"
ENCODER = msgspec.json.Encoder()


class DirectoryTaken(Exception):
    """The directory exists and is not empty."""


class Package(msgspec.Struct, frozen=True):
    """Evidence that was written, and what in it needs the attention of a person."""

    directory: Path
    files: tuple[str, ...]
    problems: tuple[str, ...]


class Writer:
    """Writes files to a directory and remembers their digests."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.files: list[Json] = []

    def write(self, name: str, content: bytes) -> None:
        (self.directory / name).write_bytes(content)
        self._note(name, len(content), sha256(content).hexdigest())

    def write_json(self, name: str, content: Any) -> None:
        self.write(name, msgspec.json.format(ENCODER.encode(content), indent=1) + b"\n")

    async def write_lines(self, name: str, rows: AsyncIterator[Json]) -> int:
        """Writes a line of JSON for each row. Returns their number."""
        digest, size, count = sha256(), 0, 0
        with (self.directory / name).open("wb") as file:
            async for row in rows:
                line = ENCODER.encode(row) + b"\n"
                digest.update(line)
                size += file.write(line)
                count += 1
        self._note(name, size, digest.hexdigest())
        return count

    def _note(self, name: str, size: int, digest: str) -> None:
        self.files.append({"name": name, "bytes": size, "sha256": digest})


def make_temporary(out: Path) -> Path:
    """Returns a new directory beside the one to be written, which only its owner can read. Raises DirectoryTaken."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DirectoryTaken(f"{out} exists and is not an empty directory")
    out.parent.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))


async def make_evidence(connection: Connection, deployment: Deployment, out: Path, now: datetime) -> Package:
    """Writes the evidence to a directory, which must not exist or be empty. Raises DirectoryTaken and ScanFailed."""
    temporary = make_temporary(out)
    try:
        writer = Writer(temporary)
        problems = await write_files(connection, deployment, writer)
        write_readme(writer.write, deployment, close_time_text(now), problems)
        sign(writer, deployment, now)
        os.replace(temporary, out)  # an empty directory may be there
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return Package(out, tuple(file["name"] for file in writer.files), tuple(problems))


async def write_files(connection: Connection, deployment: Deployment, writer: Writer) -> list[str]:
    """Writes all files but the README. Returns what needs the attention of a person."""
    problems = []
    books = await collect.verify_books(connection, deployment)  # reads in snapshots of its own
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        await writer.write_lines("keys.jsonl", collect.list_keys(connection, deployment))
        await writer.write_lines("users.jsonl", collect.list_users(connection))
        await writer.write_lines("decisions.jsonl", collect.list_decisions(connection))
        restores = await writer.write_lines("restore_tests.jsonl", collect.list_restore_tests(connection))
        retention = await reads.read_retention(connection)
        scan = await collect.scan_card_data(connection, deployment.logs)
    writer.write_json("books.json", books)
    writer.write_json("card_data.json", scan)
    writer.write_json("retention.json", retention)
    writer.write("sbom.json", encode_sbom())
    if books["violations"]:
        problems.append(f"the books have {books['violations']} violations: see books.json")
    if books["newest_close"] is None:
        problems.append("the books were never closed")
    if books["approved_by_their_proposer"]:
        problems.append("a proposal was approved by its proposer")
    findings = scan["database"]["found"] + scan["logs"]["found"]
    if findings:
        problems.append(f"card data in clear was found in {findings} places: see card_data.json")
    problems += [f"{path} cannot be read" for path in scan["logs"]["unreadable"]]
    if not scan["logs"]["places"]:
        problems.append("no log was searched for card data: name the logs with --logs")
    problems += [
        f"{rule['overdue_rows']} rows of {rule['what']} are older than they may be"
        for rule in retention["deleted_in_time"]
        if rule["overdue_rows"]
    ]
    if not restores:
        problems.append("no restore of a backup was tested: run `kasuwa restore-test`")
    return problems


def sign(writer: Writer, deployment: Deployment, now: datetime) -> None:
    """Writes the manifest: the digests of all files, signed with the key that signs closes."""
    fields: list[Any] = [FORMAT, close_time_text(now), deployment.environment, deployment.version, len(writer.files)]
    for file in writer.files:
        fields += [file["name"], file["bytes"], file["sha256"]]
    data = "".join(f"{field}\0" for field in fields).encode()
    manifest = {
        "format": FORMAT,
        "made_at": close_time_text(now),
        "environment": deployment.environment,
        "version": deployment.version,
        "files": writer.files,
        "public_key": deployment.public_key.hex(),
        "signature": deployment.key.sign(data).hex(),
    }
    (writer.directory / MANIFEST).write_bytes(msgspec.json.format(ENCODER.encode(manifest), indent=1) + b"\n")
