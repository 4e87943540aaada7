"""Closes the books: every business day by the worker, by `kasuwa close`, and in test on request.

A close is committed first and then published: as a file in a directory, in a second directory, and to a command. What
could not be published is published by the next run, in order.
"""

import asyncio
import contextlib
import os
import secrets
import shlex
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kasuwa.audit import make_close
from kasuwa.audit.close_tree import Close, Head, close_time_text
from kasuwa.audit.make_close import Record, SignedClose
from kasuwa.core.calendar import lagos_day
from kasuwa.postgres import connections
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.polling import Polling

# How often the worker looks whether a close is due, and how long the command may take.
POLL_SECONDS = 60.0
COMMAND_SECONDS = 30.0
STATEMENT_SECONDS = 120.0

CLOSES_DIRECTORY = "closes"
SELECT_CREATED = "select created_at from deployment"


class PublishError(Exception):
    """A close is committed, but could not be published. The text says in one line where."""


class CloseTerms(msgspec.Struct, frozen=True):
    """The key that signs closes, and the places where they are published."""

    key: Ed25519PrivateKey
    directory: Path
    copy_directory: Path | None = None
    command: str | None = None

    def sign(self, data: bytes) -> tuple[bytes, bytes]:
        return self.key.public_key().public_bytes_raw(), self.key.sign(data)


class NoCloseKey(Exception):
    """There is no key to sign a close with."""


class BookCloser(Polling):
    """Makes closes and publishes them. Without terms it makes none."""

    def __init__(self, dsn: str, terms: CloseTerms | None, clock: DatabaseClock) -> None:
        super().__init__()
        self._dsn = dsn
        self._terms = terms
        self._clock = clock

    async def run(self) -> None:
        """Closes the books once a day, until it is stopped."""
        await self.repeat(self.close_if_due, POLL_SECONDS, "closing the books failed")

    async def close_if_due(self) -> SignedClose | None:
        """Closes the books unless that was done since the day began, or there were none before."""
        now, terms = self._clock.now(), self._terms
        if terms is None:
            return None
        async with self._connected() as connection:
            created_at = await connection.fetchval(SELECT_CREATED)

            def is_due(newest: Close | None) -> bool:
                return lagos_day(created_at if newest is None else newest.closed_at) < lagos_day(now)

            signed_close = None
            if is_due(await make_close.newest_close(connection)):
                signed_close = await make_close.make_close(connection, terms.sign, now, is_due=is_due)
            await publish(connection, terms)
        return signed_close

    async def close_now(self, record: Record | None = None) -> SignedClose:
        """Closes the books and publishes the close. `record` writes its audit entry in the same commit. Raises
        PublishError if only publishing failed, and NoCloseKey."""
        if self._terms is None:
            raise NoCloseKey
        async with self._connected() as connection:
            signed_close = await make_close.make_close(connection, self._terms.sign, self._clock.now(), record=record)
            assert signed_close is not None, "a close on request is always due"
            await publish(connection, self._terms)
        return signed_close

    @contextlib.asynccontextmanager
    async def _connected(self) -> Any:
        settings = {"application_name": "kasuwa closes"}
        connection = await connections.connect(self._dsn, settings, statement_seconds=STATEMENT_SECONDS)
        try:
            yield connection
        finally:
            connection.terminate()


# --- publishing -----------------------------------------------------------------------------------------------------


async def publish(connection: Any, terms: CloseTerms) -> None:
    """Publishes the closes that are not yet in the directory, in order.

    The file in the directory is written last: it says that the close was published everywhere."""
    newest = await asyncio.to_thread(newest_published, terms.directory)
    for signed_close in await make_close.list_closes(connection, newest):
        document = encode_close(signed_close, await make_close.changed_heads(connection, signed_close.close.number))
        if terms.command is not None:
            await run_command(terms.command, document)
        name = file_name(signed_close.close.number)
        for directory in filter(None, (terms.copy_directory, terms.directory)):
            try:
                await asyncio.to_thread(write_file, directory / name, document)
            except OSError as error:
                raise PublishError(f"{directory / name} cannot be written: {error.strerror}") from None


def file_name(number: int) -> str:
    return f"close-{number:08}.json"


def newest_published(directory: Path) -> int:
    """Returns the number of the newest close in a directory, 0 if there is none."""
    numbers = [path.stem.removeprefix("close-") for path in directory.glob("close-*.json")]
    return max((int(number) for number in numbers if number.isdecimal()), default=0)


def write_file(path: Path, document: bytes) -> None:
    """Writes a file as a whole or not at all. Others may read it: a close is public."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with temporary.open("wb") as file:
        file.write(document)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


async def run_command(command: str, document: bytes) -> None:
    """Runs a command without a shell, with the close on its standard input. Raises PublishError if it fails."""
    try:
        with tempfile.TemporaryFile() as standard_input:  # a command may end without reading it, which breaks a pipe
            standard_input.write(document)
            standard_input.seek(0)
            process = await asyncio.create_subprocess_exec(
                *shlex.split(command),
                stdin=standard_input,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
    except OSError as error:
        raise PublishError(f"KASUWA_CLOSE_COMMAND cannot be run: {error.strerror}") from None
    try:
        async with asyncio.timeout(COMMAND_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise PublishError(f"KASUWA_CLOSE_COMMAND took longer than {COMMAND_SECONDS:.0f} s") from None
    if process.returncode != 0:
        raise PublishError(f"KASUWA_CLOSE_COMMAND ended with exit code {process.returncode}")


def show_close(signed_close: SignedClose) -> dict[str, Any]:
    """Returns a close as it is published and as proofs contain it."""
    close = signed_close.close
    return {
        "number": close.number,
        "closed_at": close_time_text(close.closed_at),
        "tree_size": close.tree_size,
        "root": close.root.hex(),
        "previous": close.previous.hex(),
        "public_key": signed_close.public_key.hex(),
        "signature": signed_close.signature.hex(),
    }


def show_head(head: Head) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.structs.asdict(head)
    return {name: value.hex() if isinstance(value, bytes) else value for name, value in shown.items()}


def encode_close(signed_close: SignedClose, heads: list[Head]) -> bytes:
    """Returns the document of a close: what was signed, and the heads that differ from those of the close before."""
    document = {
        "format": "kasuwa close 1",
        "close": show_close(signed_close),
        "heads": [show_head(head) for head in heads],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def decode_head(shown: dict[str, Any]) -> Head:
    """Reads a head of a published close. Raises KeyError, TypeError or ValueError."""
    names = ("posting_head", "mark_root", "event_head", "audit_head")
    return msgspec.convert({**shown, **{name: bytes.fromhex(shown[name]) for name in names}}, Head)
