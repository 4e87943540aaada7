"""The refusals that the sources name as constants, and how tests reach them.

A test that produces a refusal compares the outcome with the constant, with its words or with its code. So a refusal
counts as reached if a test names the constant together with its module, quotes its message or words of it one after the
other, or quotes a code. Words or a code that another refusal has too tell neither.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tests.source_rules import REPOSITORY, Source, read_all

MAKERS = ("Refusal", "refuse_fields")
# So many words of a message in a row are taken for that message.
QUOTED_WORDS = 4
WORD = re.compile(r"\S+")
# Refusals that no request reaches, each with the reason.
GUARDS = {
    "methods.sandbox.rules.FUNDING_INSUFFICIENT": "required by the group, and the funding account has no floor",
    "methods.disputes.rules.open_dispute.WALLET_INSUFFICIENT": "required by the group: it lends what the wallet lacks",
    "methods.investments.rules.thrift_cycle.POT_INSUFFICIENT": "required by the group: the cycle takes what there is",
}


class NamedRefusal(NamedTuple):
    module: str  # below kasuwa
    name: str
    message: str  # its longest text
    code: str = ""  # "" if it has the code of its fields, or one that others have too
    phrases: tuple[str, ...] = ()  # words of its message that no other message has

    def __str__(self) -> str:
        return f"{self.module}.{self.name}: {self.message}"


def named_refusals(sources: list[Source]) -> list[NamedRefusal]:
    found = list(find_refusals(sources))
    codes = Counter(refusal.code for refusal in found)
    phrases = Counter(phrase for message in {refusal.message for refusal in found} for phrase in phrases_of(message))
    return [
        refusal._replace(
            code=refusal.code if codes[refusal.code] == 1 else "",
            phrases=tuple(phrase for phrase in phrases_of(refusal.message) if phrases[phrase] == 1),
        )
        for refusal in found
    ]


def find_refusals(sources: list[Source]) -> Iterator[NamedRefusal]:
    for source in sources:
        for node in source.tree.body:
            if isinstance(node, ast.Assign) and is_refusal(node.value) and isinstance(node.targets[0], ast.Name):
                texts = [one.value for one in walk_without_code(node.value) if isinstance(one, ast.Constant)]
                message = max((text for text in texts if isinstance(text, str)), key=len, default="")
                yield NamedRefusal(source.module, node.targets[0].id, message, code_of(node.value))


def code_of(value: ast.expr) -> str:
    assert isinstance(value, ast.Call)
    given = [keyword.value for keyword in value.keywords if keyword.arg == "error_code"]
    return next((str(one.value) for one in given if isinstance(one, ast.Constant)), "")


def walk_without_code(value: ast.expr) -> Iterator[ast.AST]:
    """Yields the parts of a refusal without its code, which may be longer than its message."""
    assert isinstance(value, ast.Call)
    for part in (*value.args, *(keyword.value for keyword in value.keywords if keyword.arg != "error_code")):
        yield from ast.walk(part)


def is_refusal(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in MAKERS


@cache
def texts_of_tests() -> tuple[str, ...]:
    """Returns the text of every test, without this mechanism and the planted bugs."""
    left_out = ("tests/planted/", "tests/reached_refusals.py")
    found = [source.text for source in read_all("tests", "tests/") if not source.path.startswith(left_out)]
    typescript = (REPOSITORY / "clients" / "typescript" / "test").glob("*.ts")
    return (*found, *(path.read_text() for path in typescript))


def is_reached(refusal: NamedRefusal) -> bool:
    module = refusal.module.rpartition(".")[2]
    name = re.compile(rf"\b{refusal.name}\b")
    quoted = [f'"{text}"' for text in (refusal.message, refusal.code) if text]
    return any(
        (module in text and name.search(text)) or any(phrase in text for phrase in (*refusal.phrases, *quoted))
        for text in texts_of_tests()
    )


def phrases_of(message: str) -> Iterator[str]:
    words = [match.span() for match in WORD.finditer(message)]
    count = min(QUOTED_WORDS, len(words))
    for first in range(len(words) - count + 1):
        if phrase := message[words[first][0] : words[first + count - 1][1]].strip(".,;:"):
            yield phrase
