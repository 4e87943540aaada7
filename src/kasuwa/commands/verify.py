"""`kasuwa verify`: checks a proof without the database."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from kasuwa.verify import EVIDENCE_FORMAT, ProofError, verify_document, verify_evidence

KeyOption = Annotated[
    list[str],
    typer.Option("--key", help="Public key of the operator, in hexadecimal, or a file that contains it."),
]


def verify(
    file: Annotated[
        Path, typer.Argument(help="A reply of `proof`, a statement with its proof, or a manifest of evidence.")
    ],
    key: KeyOption,
) -> None:
    """Check a proof or a manifest of evidence, without the database.

    Of evidence, the files beside the manifest are checked too. Prints what is proven. The exit code is 1 if the proof
    does not hold."""
    keys = [read_key(text) for text in key]
    try:
        document = json.loads(file.read_bytes())
    except OSError as error:
        sys.exit(f"kasuwa: {file} cannot be read: {error.strerror}")
    except ValueError:
        sys.exit(f"kasuwa: {file} is not JSON")
    try:
        if not isinstance(document, dict):
            raise ProofError("this is neither a proof nor a statement with one")
        is_evidence = document.get("format") == EVIDENCE_FORMAT
        lines = verify_evidence(document, keys, file.parent) if is_evidence else verify_document(document, keys)
    except ProofError as error:
        sys.exit(f"kasuwa: not proven: {error}")
    typer.echo("\n".join(lines))


def read_key(text: str) -> bytes:
    """Reads a key, or the file that contains it. Exits with one line if it is neither."""
    try:
        found = Path(text).read_text() if not is_key(text) else text
    except (OSError, ValueError):
        sys.exit("kasuwa: --key takes 64 hexadecimal digits, or a file that contains them")
    if not is_key(found.strip()):
        sys.exit("kasuwa: --key takes 64 hexadecimal digits, or a file that contains them")
    return bytes.fromhex(found.strip())


def is_key(text: str) -> bool:
    return len(text) == 64 and all(c in "0123456789abcdefABCDEF" for c in text)
