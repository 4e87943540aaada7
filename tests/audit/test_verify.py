"""The verifier accepts what holds and nothing else, and imports nothing of the service."""

import re
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from kasuwa.audit import verify
from kasuwa.audit.verify import ProofError, verify_document, verify_pages, verify_proof
from kasuwa.methods.statements import model
from tests.generators.proof_vectors import FILE, PUBLIC_KEY, change_fields, make_groups, make_pages, render

VECTORS = msgspec.json.decode(FILE.read_bytes())


def test_the_vectors_are_current() -> None:
    assert FILE.read_bytes() == render(), "run `python -m tests.generators.proof_vectors`"


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_a_proof_holds_only_if_nothing_was_changed(vector: dict[str, Any]) -> None:
    keys, document = [bytes.fromhex(vector["key"])], vector["document"]
    pages = document if isinstance(document, list) else [document]
    if vector["proven"] is None:
        with pytest.raises(ProofError):
            verify_pages(pages, keys)
        return
    lines = verify_pages(pages, keys)
    assert [line.split(",")[0] for line in lines if line.startswith("group ")] == [
        f"group {number}" for number in vector["proven"]
    ]
    proofs = [page["proof"] for page in pages] if "proof" in pages[0] else pages[0]["data"]
    assert [group["number"] for proof in proofs for group in verify_proof(proof, keys)] == vector["proven"]


def test_a_changed_figure_of_a_statement_is_named() -> None:
    [statement] = make_pages(make_groups(9), [2])
    changed = change_fields(statement)
    assert len(changed) > 30
    for path, document in changed:
        with pytest.raises(ProofError, match=f"^{re.escape(path)}: |^totals: the kinds" if "kind" in path else path):
            verify_document(document, [PUBLIC_KEY])


def test_a_page_is_not_proven_without_the_others() -> None:
    pages = make_pages(make_groups(9), [2, 3, 4])
    assert "statement of wallet:main:NGN: 6 movements, none left out" in verify_pages(pages, [PUBLIC_KEY])[-1]
    with pytest.raises(ProofError, match="next_cursor: other pages follow"):
        verify_document(pages[0], [PUBLIC_KEY])


MOVEMENTS = [
    (kind, counterparty, amount)
    for kind in (
        "payment",
        "transfer",
        "split",
        "refund of GP|FD|1",
        "interest",
        "interest paid",
        "tax on interest",
        "reserve",
        "dispute",
        "VAT on fee",
        "transfer fee",
        "savings cash-out",
        "card purchase",
        "funding",
        "paid back",
    )
    for counterparty in ("tax:vat:NGN", "tax:stamp_duty:NGN", "income:transfer:NGN", "rail:bank:NGN", "wallet:main:NGN")
    for amount in (-5, 5)
]


def test_the_verifier_classes_movements_as_statements_do() -> None:
    for movement in MOVEMENTS:
        assert verify.classify_movement(*movement) == model.classify_movement(*movement), movement
    assert (verify.CLASSES, verify.REFUND_KINDS) == (model.CLASSES, model.REFUND_KINDS)
    assert set(verify.COLLECTED_KINDS) == model.COLLECTED_KINDS


def test_the_verifier_imports_nothing_of_the_service() -> None:
    """Its file alone, as somebody else would copy it."""
    script = (
        "import runpy, sys; import kasuwa; place = kasuwa.__path__[0]; sys.modules.pop('kasuwa'); sys.path[:] = "
        "[p for p in sys.path if not place.startswith(p) or not p]; runpy.run_path(place + '/audit/verify.py'); "
        "print([name for name in sys.modules if name.startswith('kasuwa')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
