"""The verifier accepts what holds and nothing else, and imports nothing of the service."""

import subprocess
import sys
from typing import Any

import msgspec
import pytest

from kasuwa.verify import ProofError, verify_document, verify_proof
from tests.generators.proof_vectors import FILE, render

VECTORS = msgspec.json.decode(FILE.read_bytes())


def test_the_vectors_are_current() -> None:
    assert FILE.read_bytes() == render(), "run `python -m tests.generators.proof_vectors`"


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_a_proof_holds_only_if_nothing_was_changed(vector: dict[str, Any]) -> None:
    keys, document = [bytes.fromhex(vector["key"])], vector["document"]
    if vector["proven"] is None:
        with pytest.raises(ProofError):
            verify_document(document, keys)
        return
    lines = verify_document(document, keys)
    assert [line.split(",")[0] for line in lines if line.startswith("group ")] == [
        f"group {number}" for number in vector["proven"]
    ]
    proofs = [document["proof"]] if "proof" in document else document["data"]
    assert [group["number"] for proof in proofs for group in verify_proof(proof, keys)] == vector["proven"]


def test_the_verifier_imports_nothing_of_the_service() -> None:
    """Its file alone, as somebody else would copy it."""
    script = (
        "import runpy, sys; import kasuwa; place = kasuwa.__path__[0]; sys.modules.pop('kasuwa'); sys.path[:] = "
        "[p for p in sys.path if not place.startswith(p) or not p]; runpy.run_path(place + '/verify.py'); "
        "print([name for name in sys.modules if name.startswith('kasuwa')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
