"""Source rules about words: retired names and phrases, names of tests, numbers of parameters, how docstrings begin,
and what is said of releases that were replaced.

`RETIRED_WORDS` maps each word that is no longer used in names to the word that replaces it. A name is split at
underscores and capitals, so `till_key` and `PaymentTill` both contain `till`.
"""

import ast
import re
from collections.abc import Iterator

from tests.source_rules import DOCUMENTED, Source

LONGEST_TEST_NAME = 80
MAX_PARAMETERS = 7

RETIRED_WORDS = {
    "basket": "purchase",
    "beside": "secrets, or extra",
    "boards": "counters",
    "courier": "sender, or delivery",
    "deed": "audit entry",
    "deeds": "audit entries",
    "desk": "batch state",
    "errand": "purpose",
    "errands": "purposes",
    "foresight": "preflight",
    "foretell": "preflight",
    "foretells": "preflight",
    "gathering": "settlement batch",
    "guesses": "failed attempts",
    "happening": "timeline entry",
    "heard": "answer",
    "keeper": "refresher",
    "luck": "entropy",
    "purse": "funding source",
    "said": "the thing itself: fields, text, reply, output or message",
    "shelf": "cache",
    "standing": "state",
    "till": "checkout",
    "told": "reply, answer or outcome",
    "wary": "contended",
}

# Words of the field that have a retired one in them.
FIELD_TERMS = re.compile(r"standing_?order|group_?standing", re.IGNORECASE)

# Participles that are no names of variables in the service: a noun says what was found, kept or made.
PARTICIPLES = frozenset(("asked", "begun", "found", "given", "heard", "kept", "made", "seen", "told"))
# Sources that are not the service's, by the beginning of their path.
OUTSIDE = ("tests/", "bench/", "clients/", "docs/")

# Functions that may have more parameters than MAX_PARAMETERS, because a struct would only repeat them.
LONG_SIGNATURES = {
    # The command line's options: typer reads them from the signature.
    "commands/certify.py:certify",
    "commands/merchant.py:set_merchant",
    "commands/serve.py:serve",
    # The options of the Python client, all by keyword.
    "clients/python/_client.py:__init__",
    # The columns of a job that differ, all by keyword.
    "core/decision.py:make_job",
    # Helpers of tests that mirror the fields of a request or of a context.
    "tests/rule_context.py:context",
    "tests/simulate/model_cards.py:new_code",
    "tests/simulate/model_clients.py:request_loan",
    "tests/simulate/state_machine_accounts.py:save",
    "tests/simulate/state_machine_accounts.py:loan",
}

# First words of docstrings that name no subject: a reader has to guess what the sentence is about.
RIDDLE_STARTS = frozenset(
    (
        "What",
        "Who",
        "Whom",
        "Whose",
        "Where",
        "When",
        "How",
        "Which",
        "Why",
        "Whoever",
        "Whatever",
        "Those",
        "These",
        "Nobody",
        "Somebody",
        "So",
        "As",
        "Also",
        "And",
        "But",
        "Than",
        "From",
        "To",
        "For",
        "By",
        "With",
        "Without",
        "Unless",
        "Until",
        "While",
        "On",
        "In",
        "At",
        "Of",
    )
)
# The brackets keep this file from matching itself.
BRITISH = re.compile(
    r"\b(?:authori[s]|behavio[u]r|colo[u]r|neighbo[u]r|recogni[s]|organi[s]|favo[u]r|cent[r]e\b|che[q]ue)\w*"
    # A quoted one is a stored value.
    r"|(?<![\"'])\binstal[m]ents?\b"
)
# One spelling everywhere: email. An action of the audit trail is a stored value, and keeps its own.
OTHER_SPELLINGS = re.compile(r"(?<!customer by )\b[Ee]-[m]ail")
# Phrases that a payments engineer has to read twice. The kind of a posting is a stored value, and keeps its own.
RETIRED_PHRASES = re.compile(
    r"\bin [v]ain\b|\beach [p]romise\b|(?<!received )for nobody [k]nown"
    r"|\b(?:tell|tells|told) [o]f (?:them|disputes|settlements)\b"
    r"|\bfrom a day [o]n\b|\bare let [r]un\b|\bopens nothing any [m]ore\b|\b_is_[d]eaf\b"
)

# Words about rows and processes of a release that was replaced. Nobody has data of states before 1.0.0. A branch for
# those of a later release names it right after these words, so that it can go with the last upgrade from there.
REPLACED_RELEASES = re.compile(
    r"\b(?:earlier|older|previous|prior)[\s#]+(?:version|release)s?\b|\bthe (?:version|release) before\b"
    r"|\b(?:version|release)s? (?:that|which) (?:wrote|had|did|knew|began|saved)\b|\bolder than the column\b"
    r"|\bback-?fill(?:s|ed|ing)?\b",
    re.IGNORECASE,
)
MIGRATION_NAME = re.compile(r"\b\d{4}_[a-z_]+\.sql\b")
NAMED_RELEASE = re.compile(r".{0,60}?\b\d+\.\d+\.\d+\b", re.DOTALL)


def words_of(name: str) -> list[str]:
    """Splits an identifier at underscores and capitals, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def defined_names(source: Source) -> Iterator[tuple[str, int]]:
    """Yields every name that a file defines, with its line: classes, functions, parameters, variables, fields."""
    for node in source.nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def retired_names(source: Source) -> list[str]:
    """Names with a retired word, each with the word to use instead, and names that are not nouns or verb and noun."""
    complaints = {
        f"{source.path}:{line} {name}: say {RETIRED_WORDS[word]} instead of {word}"
        for name, line in defined_names(source)
        for word in words_of(FIELD_TERMS.sub("", name))
        if word in RETIRED_WORDS
    }
    return sorted(complaints | participles(source) | functions_without_verb(source))


def participles(source: Source) -> set[str]:
    """Parameters and variables of the service's functions that are named by a participle."""
    if source.path.startswith(OUTSIDE):
        return set()
    return {
        f"{source.path}:{node.lineno} {name}: name what it is"
        for function in source.functions()
        for node in ast.walk(function)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        if (name := node.arg if isinstance(node, ast.arg) else node.id) in PARTICIPLES
    }


def functions_without_verb(source: Source) -> set[str]:
    """Functions of the service such as `name_of`: `get_name`, `make_name` or `read_name` also says what it does."""
    if source.path.startswith(OUTSIDE):
        return set()
    return {
        f"{source.path}:{node.lineno} {node.name}: name it by a verb and a noun"
        for node in source.functions()
        if node.name.endswith("_of")
    }


def long_test_names(source: Source) -> list[str]:
    return [
        f"{source.path}:{node.lineno} {node.name} has {len(node.name)} characters"
        for node in source.functions()
        if node.name.startswith("test_") and len(node.name) > LONGEST_TEST_NAME
    ]


def long_signatures(source: Source) -> list[str]:
    """Functions with too many parameters. Tests are exempt: their parameters are fixtures."""
    found = []
    for node in source.functions():
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        count = len([name for name in names if name not in ("self", "cls")])
        if (
            count > MAX_PARAMETERS
            and not node.name.startswith("test_")
            and f"{source.path}:{node.name}" not in LONG_SIGNATURES
        ):
            found.append(f"{source.path}:{node.lineno} {node.name} has {count} parameters")
    return found


def riddles(source: Source) -> list[str]:
    """Docstrings of classes and functions that begin without a subject or a verb."""
    found = []
    for node in source.nodes:
        if isinstance(node, DOCUMENTED) and not isinstance(node, ast.Module):
            first = (ast.get_docstring(node) or "").partition(" ")[0].strip("`'\".,:;")
            if first in RIDDLE_STARTS:
                found.append(f"{source.path}:{node.lineno} the docstring of {node.name} begins with {first!r}")
    return found


def british_spellings(source: Source) -> list[str]:
    return [f"{source.path} spells {match.group(0)}" for match in BRITISH.finditer(source.text)]


def other_spellings(source: Source) -> list[str]:
    """Spellings and phrases that have a plainer form."""
    return [
        f"{source.path} says {match.group(0)}"
        for pattern in (OTHER_SPELLINGS, RETIRED_PHRASES)
        for match in pattern.finditer(source.text)
    ]


def replaced_releases(source: Source) -> list[str]:
    """Places that speak of an earlier version without naming a release."""
    return [
        f"{source.path}:{source.text.count(chr(10), 0, match.start()) + 1} says {match.group(0)!r} and names no release"
        for match in REPLACED_RELEASES.finditer(source.text)
        if not NAMED_RELEASE.match(source.text, match.end())
    ]


def unknown_migrations(source: Source, names: set[str]) -> list[str]:
    """Names of migrations that are not among those of the service."""
    found = MIGRATION_NAME.findall(source.text)
    return [f"{source.path} names {name}, which is no migration" for name in found if name not in names]
