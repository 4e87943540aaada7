"""What a running server says of itself: the pages of its documentation, a search in them, and its actions by name."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec

from kasuwa.core.suggestions import suggest
from kasuwa.integration.assistant.connection import AssistantError, Connection

PAGE_LINK = re.compile(r"^- \[([^\]]+)\]\(([\w/.-]+\.md)\)(?:: (.*))?$", re.MULTILINE)
# A line of the search index: what it sets, and the value as JSON.
INDEX_LINE = re.compile(r"^window\.(\w+) = (.*);$", re.MULTILINE)
WORD = re.compile(r"\w+")
# Endings that are left off, so that "transfers" finds "transfer".
ENDING = re.compile(r"(?<=\w{3})(?:ings?|ed|es|s|e)$")
MOST_RESULTS = 10
EXCERPT = 200
# What a match counts for: in the heading, the name of the page, the text.
WORTH = (6, 4, 1)
# Depth of schemas that are written out, instead of a reference to another.
DEEPEST = 12


class Page(msgspec.Struct, frozen=True):
    """A page of the documentation as Markdown."""

    label: str
    address: str  # below /docs
    summary: str

    @property
    def is_of_action(self) -> bool:
        """Whether it is the page of one action: these are many, and found by the search."""
        return self.address.startswith("reference/") and "-" in self.address


class Section(msgspec.Struct, array_like=True):
    """A section of the documentation, as the index of the search has it."""

    page: str
    heading: str
    address: str
    text: str


class DescribedAction(msgspec.Struct, frozen=True):
    """An action, as the OpenAPI document has it."""

    name: str  # such as `disburse transfer`
    path: str
    operation: dict[str, Any]
    selectors: dict[str, Any]  # the fields of its body that select it

    @property
    def changes(self) -> bool:
        return bool(self.operation["x-idempotency"]["changes"])


class Documents:
    """Reads the documents of a server when they are first asked for."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    # --- pages ------------------------------------------------------------------------------------------------

    @cached_property
    def pages(self) -> dict[str, Page]:
        """The pages by their address below /docs."""
        text = self._connection.read_document("/docs/llms.txt")
        pages = (Page(label, address, summary or label) for label, address, summary in PAGE_LINK.findall(text))
        return {page.address: page for page in pages}

    def read_page(self, address: str) -> str:
        """Returns a page as Markdown. Raises AssistantError if there is none at the address."""
        wanted = address.partition("#")[0].removeprefix("/").removeprefix("docs/")
        wanted = re.sub(r"\.html$", ".md", wanted)
        page = self.pages.get(wanted)
        if page is None:
            raise AssistantError(f"there is no page {address[:100]!r}{suggest(wanted, self.pages)}")
        return self._connection.read_document(f"/docs/{page.address}")

    # --- search -----------------------------------------------------------------------------------------------

    @cached_property
    def _index(self) -> dict[str, Any]:
        text = self._connection.read_document("/docs/search-index.js")
        return {name: msgspec.json.decode(value) for name, value in INDEX_LINE.findall(text)}

    @cached_property
    def _sections(self) -> list[tuple[Section, tuple[set[str], ...]]]:
        sections = msgspec.convert(self._index["searchIndex"], list[Section])
        return [(one, tuple(find_stems(text) for text in (one.heading, one.page, one.text))) for one in sections]

    @cached_property
    def _synonyms(self) -> list[set[str]]:
        return [find_stems(" ".join(group)) for group in self._index["searchSynonyms"]]

    def search(self, query: str) -> list[tuple[Section, str]]:
        """Returns the sections that have most of the words of a query, or synonyms of them, the best first, each with
        the address of its page as Markdown."""
        meanings = [{stem}.union(*(group for group in self._synonyms if stem in group)) for stem in find_stems(query)]
        results = []
        for section, fields in self._sections:
            scores = [score(fields, stems) for stems in meanings]
            matched = sum(map(bool, scores))
            if matched:
                results.append((matched, sum(scores), section))
        results.sort(key=lambda one: (one[0], one[1]), reverse=True)
        return [(section, section.address.replace(".html", ".md")) for *_, section in results[:MOST_RESULTS]]

    # --- actions ----------------------------------------------------------------------------------------------

    @cached_property
    def _openapi(self) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.json.decode(self._connection.read_document("/openapi-actions.json"))
        return document

    @cached_property
    def actions(self) -> dict[str, DescribedAction]:
        """The actions that may be called, by name. In live these are those that change nothing."""
        described = {action.name: action for action in self._describe_actions()}
        if self._connection.is_test:
            return described
        return {name: action for name, action in described.items() if not action.changes}

    def find_action(self, name: str) -> DescribedAction:
        """Returns the action of a name such as `disburse transfer`. Raises AssistantError."""
        wanted = " ".join(name.replace("#", " ").replace("/", " ").split())
        action = self.actions.get(wanted)
        if action is None:
            raise AssistantError(f"there is no action {name[:100]!r} here{suggest(wanted, self.actions)}")
        return action

    def write_out(self, schema: Any, depth: int = 0) -> Any:
        """Returns a schema with its references replaced by what they name."""
        if isinstance(schema, list):
            return [self.write_out(one, depth) for one in schema]
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema and depth < DEEPEST:
            meant = self._openapi["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
            others = {name: value for name, value in schema.items() if name != "$ref"}
            return {**self.write_out(meant, depth + 1), **others}
        return {name: self.write_out(value, depth) for name, value in schema.items()}

    def _describe_actions(self) -> Iterator[DescribedAction]:
        for place, operations in self._openapi["paths"].items():
            path, hash_sign, action = place.removeprefix("/").partition("#")
            if hash_sign:
                operation = operations["put"]
                fields = self.write_out(request_schema(operation)).get("properties", {})
                selectors = {field: facts["const"] for field, facts in fields.items() if "const" in facts}
                yield DescribedAction(f"{path} {action}", path, operation, selectors)


def request_schema(operation: dict[str, Any]) -> Any:
    return operation["requestBody"]["content"]["application/json"]["schema"]


def find_stems(text: str) -> set[str]:
    return {ENDING.sub("", word) for word in WORD.findall(text.lower())}


def score(fields: tuple[set[str], ...], stems: set[str]) -> int:
    return sum(worth for worth, words in zip(WORTH, fields, strict=True) if words & stems)


def make_excerpt(section: Section, query: str) -> str:
    """Returns the part of a section where a word of the query first is."""
    wanted = find_stems(query)
    places = (word.start() for word in WORD.finditer(section.text) if find_stems(word[0]) & wanted)
    first = max(0, next(places, 0) - EXCERPT // 4)
    return section.text[first : first + EXCERPT].strip()
