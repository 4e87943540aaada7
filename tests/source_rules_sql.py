"""The rules of the house about SQL: where it may stand, and what a slice's plain reads may ask."""

import ast
import re
from collections.abc import Iterable

from tests.source_rules import Source

SQL = re.compile(
    r"^\s*(select\s.*\sfrom\s|insert\s+into\s|update\s+\w+\s.*\bset\s|delete\s+from\s|with\s+\w+\s+as\s*\("
    r"|(create|alter|drop|truncate|grant|revoke)\s+(table|role|index|schema|function|trigger|view)\s)"
    r"|\bwhere\b.*\$[0-9]",
    re.IGNORECASE | re.DOTALL,
)
WRITING_SQL = re.compile(r"\b(insert|update|delete|truncate|merge|alter|drop|create|grant|lock)\b", re.IGNORECASE)
# The operator reads across merchants in these modules, which only the operator's pages may import.
OPERATORS_READS = ("console/operator/reads.py", "console/operator/home_reads.py", "console/operator/search_reads.py")
READS_OF_OPERATORS = {f"kasuwa.{path[:-3].replace('/', '.')}" for path in OPERATORS_READS}
# Packages and modules that own tables or read them. Slices and merchants' pages read in their store.py.
SQL_MODULES = (
    "postgres/",
    "ledger/",
    "engine/",
    "authority/",
    "people/",
    "cluster/api_processes.py",
    "merchants/",
    "webhooks/",
    "audit/",
    "privacy/",
    "projections/",
    "jobs/",
    "rails/catalogue/",
    "rails/inbox/",
    "rails/routing/issuer.py",
    "rails/watch/",
    "reconciliation/",
    "accounting/books.py",
    "cases/export.py",
    "evidence/reads.py",
    "sandbox/",
    "api/backlog.py",
    "boot/prepare.py",
    "doctor/checks.py",
    "methods/disputes/answers_task.py",
    "methods/disputes/evidence_reads.py",
    "methods/disputes/hand_ins.py",
    "console/kit/merchant_health.py",
    "console/kit/saved_lists.py",
    "console/merchant/attention_reads.py",
    "console/merchant/batch_reads.py",
    "console/merchant/waiting_reads.py",
    *OPERATORS_READS,
)
UNION = re.compile(r"\b(?:union|intersect|except)(?:\s+all)?\b", re.IGNORECASE)
MERCHANT_CONDITIONS = ("merchant_id = $", "merchant_id = u.merchant")
QUERY_METHODS = {
    "fetch",
    "fetchrow",
    "fetchval",
    "fetch_row_batched",
    "fetch_page_batched",
    "fetch_requests",
    "execute",
    "executemany",
    "cursor",
}


def text_of(node: ast.AST | None, known: dict[str, str]) -> str | None:
    """The text an expression makes, as far as it can be read: names of constants are put in, the rest is `{}`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, known) or "{}" for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return text_of(node.value, known)
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "batched_query":
        return " ".join(text_of(part, known) or "{}" for part in node.args)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (text_of(node.left, known) or "{}") + (text_of(node.right, known) or "{}")
    return None


def constants(source: Source) -> dict[str, str]:
    known: dict[str, str] = {}
    for node in source.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            text = text_of(node.value, known)
            if text is not None:
                known[node.targets[0].id] = text
    return known


def sql_of(source: Source) -> list[tuple[int, str]]:
    """Every text that is SQL, with its line; docstrings are prose."""
    known = constants(source)
    texts = [
        (node.lineno, text_of(node, known) or "")
        for node in source.nodes
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in source.docstrings
    ]
    return [(line, text) for line, text in texts if SQL.search(text)]


def sql_out_of_place(sources: Iterable[Source]) -> list[str]:
    return [
        f"{source.path}:{line} has SQL"
        for source in sources
        if not source.path.startswith(SQL_MODULES) and source.name != "store.py"
        for line, _ in sql_of(source)
    ]


def writes(source: Source) -> list[str]:
    return [f"{source.path}: line {line} writes or locks" for line, text in sql_of(source) if WRITING_SQL.search(text)]


def reads_across_merchants(sources: Iterable[Source]) -> list[str]:
    """Returns modules that import the operator's reads and are not pages of the operator."""
    return [
        f"{source.path} reads across merchants"
        for source in sources
        if not source.path.startswith("console/operator/")
        for module, name in source.imports()
        if {module, f"{module}.{name}"} & READS_OF_OPERATORS
    ]


def unsafe_reads(source: Source) -> list[str]:
    """Returns what a store may not do: write, lock, or query without its merchant."""
    known = constants(source)
    found = [f"line {line} writes or locks" for line, text in sql_of(source) if WRITING_SQL.search(text)]
    for node in source.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in QUERY_METHODS:
            query = text_of(node.args[0], known) if node.args else None
            if query is None:
                found.append(f"line {node.lineno} asks what cannot be read from the file")
            elif not all(any(words in branch for words in MERCHANT_CONDITIONS) for branch in UNION.split(query)):
                found.append(f"line {node.lineno} asks without merchant_id, or a branch of its union does")
    return [f"{source.path}: {complaint}" for complaint in found]


# --- one folder knows that a database may be on several servers ------------------------------------------------------

DISTRIBUTION = "postgres/distribution/"
# The command that distributes, and the check of `kasuwa doctor`.
MAY_NAME_DISTRIBUTION = ("commands/distribute.py", "doctor/checks.py")
DISTRIBUTION_WORDS = re.compile(r"citus|distributed|shard", re.IGNORECASE)
# Packages that build and run the statements of others, and so take texts of SQL as values.
STATEMENT_PACKAGES = ("postgres", "engine")
EDITS = {"replace", "sub", "subn"}


def distribution_elsewhere(source: Source) -> list[str]:
    """Returns the lines that speak of several servers outside the folder that knows of them. Others ask the layout of
    their connection (postgres/layout.py)."""
    if source.path.startswith(DISTRIBUTION) or source.path in MAY_NAME_DISTRIBUTION:
        return []
    lines = enumerate(source.text.splitlines(), start=1)
    return [
        f"{source.path}:{n} knows how databases are distributed" for n, line in lines if DISTRIBUTION_WORDS.search(line)
    ]


def edited_sql(source: Source) -> list[str]:
    """Returns where SQL is edited as text. Each form of a statement is built from the description of its columns."""
    known = constants(source)
    found = []
    if source.package in STATEMENT_PACKAGES:
        found = [f"{source.path} imports re" for module, _ in source.imports() if module == "re"]
    for node in source.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in EDITS:
            texts = [text_of(part, known) or "" for part in (node.func.value, *node.args)]
            if any(SQL.search(text) for text in texts):
                found.append(f"{source.path}:{node.lineno} edits SQL")
    return found


# --- a total order ------------------------------------------------------------------------------------------------

# Columns of which no two rows of one list have the same value: an order that ends in one of these is total. Times,
# states and names that people choose are not among them.
UNIQUE_COLUMNS = frozenset(
    {
        # One sequence or hash for a table: `seq` of jobs, plans, cards, postings, events, audit entries; `key` of all.
        "key",
        "seq",
        "approval_id",
        "key_id",
        "merchant_id",
        "notice_id",
        "rate_id",
        "policy_id",
        "secret_id",
        "user_id",
        # Numbered within what is listed: clients, loans, plans, attempts, installments, members, events of one object.
        "number",
        "n",
        "position",
        "object_seq",
        # The two sides of a posting, after its number.
        "side",
        # Billers and their categories; accounts of one merchant; users; lanes and kinds that were grouped or made
        # distinct; the catalogue of tables and columns.
        "id",
        "code",
        "name",
        "email",
        "lane",
        "kind",
        "table_name",
        "ordinal_position",
        "relname",
        "attnum",
        # Lines and files of statements; groups of postings of one merchant.
        "line_id",
        "import_id",
        "group_seq",
        # Bulks of one merchant, grouped.
        "batch_ref",
        # Worlds; rows of a world in the order in which it has them.
        "world_id",
        "nth_row",
        # Closes, in which a merchant has one head; the keys that signed them, grouped.
        "close_number",
        "public_key",
        # Merchants that are in use, grouped; acts on one merchant's worlds; copies of books in their order.
        "mid",
        "act",
        "nth",
        # Disputes and settlements of one rail.
        "dispute_id",
        "settlement_id",
        # Versions of one key.
        "version",
        # Sources of wrong sign-ins; browsers known by their token.
        "source",
        "token_hash",
        # The last parts of the keys of tables about rails.
        "process",
        "currency",
        "outcome",
        "difference_id",
        # The last part of the key of daily totals; sentences of invariants; endpoints of one merchant, and their
        # deliveries.
        "reason",
        "invariant",
        "endpoint_id",
        "event_seq",
    }
)
# Modules whose statements are made for every table, and order its rows by the primary key that the database names.
ORDERED_BY_KEY = ("sandbox/worlds/columns.py",)
ORDER_BY = re.compile(r"\border\s+by\s+", re.IGNORECASE)
ENDS_ORDER = re.compile(r"(limit|offset|for|union|returning|from|rows|range)\b", re.IGNORECASE)
DIRECTION = re.compile(r"\s+(asc|desc|nulls|first|last)\b", re.IGNORECASE)


def last_order_column(text: str, start: int) -> tuple[str, str]:
    """The last column of the ORDER BY whose list begins at `start`, after the name of its table if it has one."""
    depth, last = 0, ""
    for place in range(start, len(text)):
        letter = text[place]
        if depth == 0 and (letter == ")" or (text[place - 1].isspace() and ENDS_ORDER.match(text, place))):
            break
        depth += (letter == "(") - (letter == ")")
        last = "" if letter == "," and depth == 0 else last + letter
    words = re.findall(r"(?:(\w+)\.)?(\w+)", DIRECTION.sub(" ", last).lower())
    return words[-1] if words else ("", "")


def is_of_transactions(table: str, text: str) -> bool:
    """Whether a column is the table `transaction`'s: those that are older than the column have 0 as their sequence."""
    named = rf"(as\s+)?{table}\b" if table else r"(where|order)\b"
    return re.search(rf"\b(from|join)\s+transaction\s+{named}", text) is not None


def partial_orders(source: Source) -> list[str]:
    """Every ORDER BY that leaves the order of some rows open."""
    known = constants(source)
    found = []
    for node in source.nodes:
        if not isinstance(node, ast.Constant | ast.JoinedStr) or id(node) in source.docstrings:
            continue
        text = text_of(node, known) or ""
        for match in ORDER_BY.finditer(text):
            table, last = last_order_column(text, match.end())
            if source.path in ORDERED_BY_KEY:
                continue
            if last not in UNIQUE_COLUMNS or (last == "seq" and is_of_transactions(table, text)):
                found.append(f"{source.path}:{node.lineno} orders by {last or 'nothing'} at last, which is not unique")
    return found
