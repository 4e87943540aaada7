"""`kasuwa verify`: checks a proof without the database."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from kasuwa.audit.verify import EVIDENCE_FORMAT, ProofError, verify_evidence, verify_pages

KeyOption = Annotated[
    list[str],
    typer.Option("--key", help="Public key of the operator, in hexadecimal, or a file that contains it."),
]


def verify(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="A reply of `proof`, all pages of a statement with their proofs, in order, or a manifest of evidence.",
        ),
    ],
    key: KeyOption,
) -> None:
    """Check a proof or a manifest of evidence, without the database.

    Every figure of a statement is checked, and one that is wrong is named. Of evidence, the files beside the manifest
    are checked too. Prints what is proven. The exit code is 1 if the proof
    does not hold."""
    keys = [read_key(text) for text in key]
    documents = [read_document(file) for file in files]
    try:
        if not all(isinstance(document, dict) for document in documents):
            raise ProofError("this is neither a proof nor a statement with one")
        is_evidence = len(documents) == 1 and documents[0].get("format") == EVIDENCE_FORMAT
        parent = files[0].parent
        lines = verify_evidence(documents[0], keys, parent) if is_evidence else verify_pages(documents, keys)
    except ProofError as error:
        sys.exit(f"kasuwa: not proven: {error}")
    typer.echo("\n".join(lines))


def read_document(file: Path) -> Any:
    """Reads a file of JSON. Exits with one line if it is none."""
    try:
        return json.loads(file.read_bytes())
    except OSError as error:
        sys.exit(f"kasuwa: {file} cannot be read: {error.strerror}")
    except ValueError:
        sys.exit(f"kasuwa: {file} is not JSON")


def read_key(text: str) -> bytes:
    """Reads a key, or the file that contains it. Exits with one line if it is neither."""
    try:
        content = Path(text).read_text() if not is_key(text) else text
    except (OSError, ValueError):
        sys.exit("kasuwa: --key takes 64 hexadecimal digits, or a file that contains them")
    if not is_key(content.strip()):
        sys.exit("kasuwa: --key takes 64 hexadecimal digits, or a file that contains them")
    return bytes.fromhex(content.strip())


def is_key(text: str) -> bool:
    return len(text) == 64 and all(c in "0123456789abcdefABCDEF" for c in text)
