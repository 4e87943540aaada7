"""Checks the sources against the rules of source_rules*.py, and each rule against an offender that it must report."""

from collections.abc import Callable, Iterable

import pytest

from tests import source_rules, source_rules_sql, source_rules_values, source_rules_words
from tests.source_rules import Source, read_all, without_garbage_collection
from tests.source_rules_imports import FLOORS

__all__ = ["without_garbage_collection"]
# One worker runs all rules, so that each file is parsed once.
pytestmark = pytest.mark.xdist_group("sources")

SERVICE = read_all("src/kasuwa")
EXACT = (
    "core/money.py",
    "terms/tariff.py",
    "terms/loan_schedule.py",
    "methods/investments/accrual.py",
    "methods/investments/thrift.py",
)
# Pure modules of packages that are not pure as a whole.
PURE_MODULES = (
    "engine/batch.py",
    "engine/row_cache.py",
    "engine/idempotency.py",
    "engine/merchant_state.py",
    "audit/close_tree.py",
    "audit/merkle.py",
    "authority/acts.py",
    "authority/doors.py",
    "authority/roles.py",
    "authority/audit_notes.py",
    "concurrency/turns.py",
    "http/page.py",
    "merchants/merchant_settings.py",
    "merchants/picture_size.py",
    "methods/investments/accrual.py",
    "methods/investments/thrift.py",
    "methods/statements/links.py",
    "methods/tickets/ticket_codes.py",
    "privacy/erasure.py",
    "privacy/personal_fields.py",
    "privacy/sealed_places.py",
    "rails/catalogue/catalogue.py",
    "rails/ports/callback.py",
    "rails/ports/feed_entries.py",
    "rails/ports/rejections.py",
    "rails/sandbox/magic.py",
    "reconciliation/lump_sums.py",
    "settings/former_accounts.py",
    "settings/peer_terms.py",
    "settings/rail_needs.py",
    "webhooks/response_excerpt.py",
    "webhooks/sample_events.py",
    "webhooks/signatures.py",
)
RECIPES = read_all("docs/recipes", "docs/recipes/")
GENERATOR = read_all("clients/generate", "clients/generate/")
# The Python client without its generated modules, which are as long as the API, and without its list of public names.
GENERATED = {"types.py", "events.py", "_tables.py", "_actions.py", "_sync_groups.py", "_async_groups.py"}
PYTHON_CLIENT = [
    source
    for source in read_all("clients/python/src/kasuwa_client", "clients/python/")
    if source.name not in {*GENERATED, "__init__.py"}
]
EVERYTHING = [
    *SERVICE,
    *read_all("tests", "tests/"),
    *read_all("bench", "bench/"),
    *RECIPES,
    *GENERATOR,
    *PYTHON_CLIENT,
]


def sources_of(*, packages: tuple[str, ...] = (), name: str = "") -> list[Source]:
    """Returns the files of some packages, or those of a name."""
    return [source for source in SERVICE if source.package in packages or (name and source.name == name)]


def complaints(rule: Callable[[Source], list[str]], sources: Iterable[Source]) -> list[str]:
    chosen = list(sources)
    assert chosen, "the rule matches no files"
    return [complaint for source in chosen for complaint in rule(source)]


# --- imports between packages ----------------------------------------------------------------------------------------


def test_every_package_is_known_and_imports_only_what_it_may() -> None:
    packages = {source.package for source in SERVICE} - {"__init__"}
    assert packages == set(FLOORS)
    assert source_rules.wrong_imports(SERVICE) == []


def test_there_are_no_import_cycles() -> None:
    assert source_rules.cycles(SERVICE) == []


def test_names_are_imported_from_the_module_that_defines_them() -> None:
    assert source_rules.indirect_imports(EVERYTHING, SERVICE) == []


def test_no_file_of_the_service_reexports_names() -> None:
    assert complaints(source_rules.reexports, SERVICE) == []


def test_imports_are_absolute() -> None:
    assert source_rules.relative_imports(EVERYTHING) == []


def test_init_files_are_empty() -> None:
    assert source_rules.full_init_files(EVERYTHING) == []


# --- sizes and names --------------------------------------------------------------------------------------------


def test_no_file_and_no_function_is_too_long() -> None:
    assert source_rules.too_long(EVERYTHING) == []


def test_the_top_of_the_package_has_folders_only() -> None:
    assert {source.path for source in SERVICE if "/" not in source.path} == {"__init__.py", "__main__.py"}


def test_no_folder_has_too_many_files() -> None:
    assert source_rules.crowded_folders(SERVICE) == []


def test_no_literal_is_packed() -> None:
    assert complaints(source_rules.packed_literals, EVERYTHING) == []


def test_every_file_has_a_module_docstring() -> None:
    assert source_rules.without_docstring(EVERYTHING) == []


def test_no_file_has_a_vague_name() -> None:
    assert source_rules.vague_module_names(EVERYTHING) == []


def test_every_file_that_is_mentioned_exists() -> None:
    pages = [page for page in read_all("docs", ending="md") if page.path in ("TOUR.md", "STYLE.md", "glossary.md")]
    assert len(pages) == 3
    assert source_rules.unknown_files([*SERVICE, *pages], EVERYTHING) == []


# --- words ------------------------------------------------------------------------------------------------------


def test_no_name_contains_a_retired_word() -> None:
    assert complaints(source_rules_words.retired_names, EVERYTHING) == []


def test_names_of_tests_are_short() -> None:
    assert complaints(source_rules_words.long_test_names, EVERYTHING) == []


def test_no_function_has_too_many_parameters() -> None:
    assert complaints(source_rules_words.long_signatures, EVERYTHING) == []


def test_docstrings_begin_with_a_subject_or_a_verb() -> None:
    assert complaints(source_rules_words.riddles, EVERYTHING) == []


def test_values_travel_in_fields() -> None:
    for rule in (
        source_rules_values.parsed_sentences,
        source_rules_values.amounts_as_texts,
        source_rules_values.meanings_in_references,
        source_rules_values.untyped_registries,
        source_rules_values.switches_by_text,
    ):
        assert complaints(rule, SERVICE) == []


def test_spelling_is_american() -> None:
    assert complaints(source_rules_words.british_spellings, EVERYTHING) == []


def test_branches_for_a_replaced_release_name_it() -> None:
    migrations = read_all("src/kasuwa", ending="sql")
    assert migrations
    assert complaints(source_rules_words.replaced_releases, [*SERVICE, *migrations]) == []


def test_a_migration_that_a_comment_names_exists() -> None:
    names = {source.name for source in read_all("src/kasuwa", ending="sql")}
    assert [found for source in SERVICE for found in source_rules_words.unknown_migrations(source, names)] == []


def test_a_word_has_one_spelling_in_sources_pages_and_documentation() -> None:
    pages, documentation = read_all("src/kasuwa", ending="html"), read_all("docs", "docs/", "md")
    assert pages
    assert documentation
    assert complaints(source_rules_words.other_spellings, [*EVERYTHING, *pages, *documentation]) == []


# --- what each kind of file refuses -----------------------------------------------------------------------------


def test_rules_are_pure() -> None:
    assert complaints(source_rules.impurities, [source for source in SERVICE if source.is_rules]) == []


def test_rules_have_no_coroutines_not_even_a_signature() -> None:
    sources = [source for source in SERVICE if source.is_rules]
    assert [node.name for s in sources for node in s.functions() if type(node).__name__ == "AsyncFunctionDef"] == []


def test_the_lowest_floors_are_pure() -> None:
    sources = sources_of(packages=("core", "terms", "transactions", "wire", "ledger"))
    assert complaints(source_rules.impurities, sources) == []


def test_what_decides_or_computes_elsewhere_is_pure() -> None:
    sources = [source for source in SERVICE if source.path in PURE_MODULES]
    assert len(sources) == len(PURE_MODULES)
    assert complaints(source_rules.impurities, sources) == []


def test_in_core_only_the_catalogue_and_the_holidays_are_loaded_from_files() -> None:
    reading = [
        s.path for s in SERVICE for module, _ in s.imports() if module.startswith("importlib") and s.package == "core"
    ]
    assert reading == ["core/calendar.py", "core/reference_tables.py"]


def test_wire_files_have_no_functions() -> None:
    assert complaints(source_rules.function_bodies, sources_of(name="wire.py")) == []


def test_action_files_have_no_function_bodies() -> None:
    assert complaints(source_rules.function_bodies, sources_of(name="actions.py")) == []


def test_stores_only_read_and_only_their_own_merchants_rows() -> None:
    assert complaints(source_rules_sql.unsafe_reads, sources_of(name="store.py")) == []


def test_only_the_operators_pages_read_across_merchants_and_then_only_read() -> None:
    assert source_rules_sql.reads_across_merchants(SERVICE) == []
    operators = [source for source in SERVICE if source.path in source_rules_sql.OPERATORS_READS]
    assert complaints(source_rules_sql.writes, operators) == []


def test_console_pages_read_through_their_visit() -> None:
    assert complaints(source_rules.reads_without_the_visit, sources_of(packages=("console",))) == []


def test_sql_is_only_in_its_packages() -> None:
    assert source_rules_sql.sql_out_of_place(SERVICE) == []


def test_one_folder_knows_how_databases_are_distributed() -> None:
    assert complaints(source_rules_sql.distribution_elsewhere, SERVICE) == []


def test_no_sql_is_edited_as_text() -> None:
    assert complaints(source_rules_sql.edited_sql, SERVICE) == []


def test_no_log_line_has_the_text_of_an_error() -> None:
    assert complaints(source_rules.error_texts_in_logs, SERVICE) == []


def test_every_order_is_total() -> None:
    assert complaints(source_rules_sql.partial_orders, SERVICE) == []


def test_connections_are_opened_where_they_get_their_deadlines() -> None:
    assert complaints(source_rules.unbounded_connections, SERVICE) == []


def test_money_is_never_a_float() -> None:
    exact = [s for s in SERVICE if s.package == "ledger" or s.path in EXACT]
    assert complaints(source_rules.floats, exact) == []


def test_every_slice_has_actions_and_wire_files() -> None:
    slices = {
        source.path.split("/")[1]
        for source in SERVICE
        if source.path.startswith("methods/") and source.path.count("/") > 1
    }
    assert slices
    for found in slices:
        names = {source.name for source in SERVICE if source.path.startswith(f"methods/{found}/")}
        assert {"actions.py", "wire.py"} <= names, found


# --- the rules themselves ---------------------------------------------------------------------------------------


def offends(rule: Callable[[list[Source]], list[str]], place: str, text: str) -> bool:
    others = [Source(f"{name}.py", "") for name in ("core/money", "engine/batch", "ledger/apply", "ledger/chart")]
    return bool(rule([*others, Source(place, text)]))


@pytest.mark.parametrize(
    ("place", "text", "wrong"),
    [
        ("core/x.py", "from kasuwa.core import money", False),
        ("core/x.py", "import kasuwa.engine.batch", True),
        ("core/x.py", "def f():\n    from kasuwa.engine import batch", True),
        ("ledger/x.py", "from kasuwa.engine.batch import BatchState", True),
        ("engine/x.py", "from kasuwa.ledger.apply import apply", False),
        ("engine/x.py", "from kasuwa.boot import app", True),
        ("methods/bills/x.py", "from kasuwa.ledger import chart", False),
        ("methods/bills/x.py", "from kasuwa.ledger.apply import apply", True),
        ("methods/bills/x.py", "from kasuwa.ledger import apply", True),
        ("methods/bills/rules/pay_bill.py", "from kasuwa.methods.bills import wire", False),
        ("methods/bills/rules/pay_bill.py", "from kasuwa.methods.disburse.rules.transfer import KIND", True),
        ("methods/loans/model.py", "from kasuwa.methods.disburse.rules.transfer import KIND", False),
        ("methods/loans/model.py", "from kasuwa.methods.disburse.store import x", True),
        ("methods/loans/wire.py", "from kasuwa.methods.payment.wire import ValidateRequest", False),
        ("methods/bills/wire.py", "from kasuwa.methods.payment.wire import ValidateRequest", True),
        ("methods/bills/x.py", "from kasuwa.rails.sandbox.bank import SandboxBank", True),
        ("api/x.py", "from kasuwa.methods.disburse.wire import x", True),
        ("observe/x.py", "from kasuwa.core import money", True),
        ("somewhere.py", "from kasuwa.core import money", True),
        ("boot/app.py", "from kasuwa.methods.disburse.actions import DISBURSE", False),
    ],
)
def test_an_import_that_is_not_allowed_is_noticed(place: str, text: str, wrong: bool) -> None:
    assert offends(source_rules.wrong_imports, place, text) is wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("from kasuwa.engine.idempotency import IdempotencyClaim", False),
        ("from kasuwa.engine.batch import BatchState", False),
        ("from kasuwa.engine import batch", False),
        ("from kasuwa.engine.batch import IdempotencyClaim", True),
        ("def f():\n    from kasuwa.engine.batch import IdempotencyClaim", True),
    ],
)
def test_an_import_from_a_module_that_does_not_define_the_name_is_noticed(text: str, wrong: bool) -> None:
    assert bool(source_rules.indirect_imports([Source("api/x.py", text)], SERVICE)) is wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("from kasuwa.engine.batch import BatchState as BatchState", True),
        ("import os as os", True),
        ('__all__ = ["BatchState"]', True),
        ("from kasuwa.engine.batch import BatchState as State", False),
    ],
)
def test_a_reexport_is_noticed(text: str, wrong: bool) -> None:
    assert bool(source_rules.reexports(Source("api/x.py", text))) is wrong


def test_days_that_others_name_are_in_range() -> None:
    """A day of the year 1 or 9999 has no day before or after it, so that computing with it fails."""
    parsing = {source.path: source.text for source in SERVICE if ".fromisoformat(" in source.text}
    assert set(parsing) >= source_rules_values.OWN_DATES
    unchecked = {path for path, text in parsing.items() if "is_in_range(" not in text and "EARLIEST <= " not in text}
    assert unchecked <= source_rules_values.OWN_DATES


IMPURE = [
    "import time",
    "import os.path",
    "from random import choice",
    "x = datetime.now()",
    "date.today()",
    "open('x')",
]
IMPURE += ["async def f():\n    return 1", "def f():\n    import asyncio", "async def f() -> None:\n    await g()"]


@pytest.mark.parametrize("text", IMPURE)
def test_an_impurity_is_noticed(text: str) -> None:
    assert source_rules.impurities(Source("core/x.py", text))


def test_the_signature_of_a_protocol_is_no_coroutine() -> None:
    assert source_rules.impurities(Source("core/x.py", "class P(Protocol):\n    async def f(self) -> int: ...")) == []


@pytest.mark.parametrize(
    "text",
    [
        'Q = "update account set posted = 1 where merchant_id = $1"',
        'Q = "select 1 from account where merchant_id = $1 for update"',
        'async def f(reader):\n    await reader.fetch("select 1 from account where key = $1")',
        'Q = "select 1 from account where key = $1"\nasync def f(reader):\n    await reader.fetchrow(Q, 1)',
        'H = "select 1 from t"\nQ = f"{H} where key = $1"\nasync def f(r):\n    await r.fetch(Q)',
        "async def f(reader, query):\n    await reader.fetch(query)",
        *(
            f'Q = "select 1 from t where {first} {how} select 1 from t where {second}"\n'
            "async def f(r):\n    await r.fetch(Q)"
            for how in ("union", "union all", "except", "intersect")
            for first, second in (("merchant_id = $1", "key = $2"), ("key = $2", "merchant_id = $1"))
        ),
    ],
)
def test_an_unsafe_read_is_noticed(text: str) -> None:
    assert source_rules_sql.unsafe_reads(Source("methods/x/store.py", text))


@pytest.mark.parametrize(
    ("place", "text", "wrong"),
    [
        ("engine/x.py", "# Citus hands it on.", True),
        ("jobs/x.py", "if connection.is_distributed:\n    pass", True),
        ("boot/x.py", "from kasuwa.postgres.distribution.shards import read_shards", True),
        ("postgres/distribution/x.py", "# Citus hands it on.", False),
        ("jobs/x.py", "if not find_layout(connection).spans_merchants:\n    pass", False),
    ],
)
def test_what_knows_how_databases_are_distributed_is_noticed(place: str, text: str, wrong: bool) -> None:
    assert bool(source_rules_sql.distribution_elsewhere(Source(place, text))) is wrong


@pytest.mark.parametrize(
    ("place", "text", "wrong"),
    [
        ("postgres/distribution/x.py", "import re", True),
        ("engine/x.py", "from re import compile", True),
        ("wire/x.py", "import re", False),
        ("jobs/x.py", 'Q = "select 1 from t"\nR = Q.replace("t", "u")', True),
        ("jobs/x.py", 'import re\nQ = "select 1 from t"\nR = re.sub("t", "u", Q)', True),
        ("jobs/x.py", 'import re\nP = re.compile("t")\nR = P.sub("u", "select 1 from t")', True),
        ("jobs/x.py", 'R = "a name".replace("a", "the")', False),
    ],
)
def test_edited_sql_is_noticed(place: str, text: str, wrong: bool) -> None:
    assert bool(source_rules_sql.edited_sql(Source(place, text))) is wrong


def test_a_batched_query_without_its_merchant_is_noticed() -> None:
    use = "async def f(r):\n    await r.fetch_requests(Q, [])"
    named = 'Q = batched_query("select 1 from", REQUESTS, "join t on t.merchant_id = u.merchant")'
    unnamed = 'Q = batched_query("select 1 from", REQUESTS, "join t on t.key = u.key")'
    assert source_rules_sql.unsafe_reads(Source("methods/x/store.py", f"{named}\n{use}")) == []
    assert source_rules_sql.unsafe_reads(Source("methods/x/store.py", f"{unnamed}\n{use}"))


def test_a_safe_read_is_allowed() -> None:
    text = 'H = "select 1 from t"\nQ = f"{H} where merchant_id = $1"\nasync def f(r):\n    await r.fetch(Q)'
    assert source_rules_sql.unsafe_reads(Source("methods/x/store.py", text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "select a from b",
        "\n  insert into b values (1)",
        "update b set c = 1",
        "delete from b",
        "x where key = $1",
        "with w1 as (select 1) select 2",
        "create table b (c int)",
    ],
)
def test_sql_in_the_wrong_package_is_noticed(text: str) -> None:
    assert offends(source_rules_sql.sql_out_of_place, "api/x.py", f"Q = {text!r}")
    assert offends(source_rules_sql.sql_out_of_place, "api/x.py", f"Q = f{text + ' {x}'!r}")
    assert not offends(source_rules_sql.sql_out_of_place, "engine/x.py", f"Q = {text!r}")


@pytest.mark.parametrize(
    "text", ["Choose from these", "updated", "Select one", "delete", "with care", "the place where"]
)
def test_prose_is_not_taken_for_sql(text: str) -> None:
    assert not offends(source_rules_sql.sql_out_of_place, "api/x.py", f'"""select a from b"""\nQ = {text!r}')


@pytest.mark.parametrize(
    "order",
    [
        "order by created_at",
        "order by created_at desc limit 1",
        "order by due, run_at offset $2 limit $3",
        "ORDER BY\n  state nulls first",
        "order by seq, created_at desc",
        "order by lower(title)",
        "order by (status = 'x') desc, at desc for update",
        "where x in (select y from z order by at)",
        "order by created_at desc, seq desc",
    ],
)
def test_an_order_that_leaves_ties_open_is_noticed(order: str) -> None:
    assert source_rules_sql.partial_orders(Source("engine/x.py", f'Q = """select a from transaction {order}"""'))


@pytest.mark.parametrize(
    "order",
    [
        "order by created_at, key",
        "order by due, t.seq, t.key desc limit 1",
        "order by lower(email)",
        "order by a, (select max(b) from c), key nulls last",
        "window w as (partition by a order by at, key) x",
    ],
)
def test_a_total_order_is_allowed(order: str) -> None:
    assert source_rules_sql.partial_orders(Source("engine/x.py", f'Q = """select a from transaction {order}"""')) == []


@pytest.mark.parametrize(
    "text", ["def f(): ...", "f = lambda: 1", "class C:\n    def f(self): ...", "async def f(): ..."]
)
def test_a_function_is_noticed_where_none_may_be(text: str) -> None:
    assert source_rules.function_bodies(Source("methods/x/wire.py", text))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("log.error('x', why=str(error))", True),
        ("log.error(f'x {error}')", True),
        ("logger.warning('x', error)", True),
        ("log.error('x', why=error.args)", True),
        ("log.exception('x')", True),
        ("log.error('x', exc_info=True)", True),
        ("log.error('x', **describe_error(error))", False),
        ("log.error('x', **log.describe_error(error))", False),
        ("log.debug('x', error=type(error).__name__)", False),
        ("raise Other(str(error))", False),
    ],
)
def test_the_text_of_an_error_in_a_log_line_is_noticed(text: str, wrong: bool) -> None:
    caught = f"try:\n    f()\nexcept Exception as error:\n    {text}"
    assert bool(source_rules.error_texts_in_logs(Source("jobs/x.py", caught))) is wrong


@pytest.mark.parametrize("text", ["connect_to_primary(dsn)", "asyncpg.connect(dsn)", "asyncpg.create_pool(dsn)"])
def test_a_connection_without_deadlines_is_noticed(text: str) -> None:
    assert source_rules.unbounded_connections(Source("jobs/x.py", text))
    assert source_rules.unbounded_connections(Source("postgres/connections.py", text)) == []


@pytest.mark.parametrize("text", ["x = 0.5", "x = float('1')", "def f(x: float): ...", "x = 1e3"])
def test_a_float_is_noticed(text: str) -> None:
    assert source_rules.floats(Source("core/money.py", text))


def test_the_small_rules_notice_their_offenders() -> None:
    assert offends(source_rules.relative_imports, "core/x.py", "from . import money")
    assert offends(source_rules.full_init_files, "core/__init__.py", "x = 1")
    assert offends(source_rules.full_init_files, "__init__.py", '"""Kasuwa."""\n\nx = 1')
    assert not offends(source_rules.full_init_files, "__init__.py", '"""Kasuwa."""\n\n__version__ = "1"')
    known = [Source("core/money.py", "")]
    assert source_rules.unknown_files([Source("core/x.py", "# see core/money.py and money.py")], known) == []
    assert source_rules.unknown_files([Source("core/x.py", "# see db/money.py")], known)
    assert source_rules.packed_literals(Source("core/x.py", "x = (*(1, 2), 3)"))
    assert offends(source_rules.without_docstring, "core/x.py", "x = 1")
    assert offends(source_rules.too_long, "core/x.py", "x = 1\n" * 701)
    assert offends(source_rules.too_long, "core/x.py", "def f():\n" + "    x = 1\n" * 70)
    assert not offends(source_rules.too_long, "core/x.py", "def f():\n" + "    x = 1\n" * 69)
    crowd = [Source(f"core/x{number}.py", "") for number in range(26)]
    assert source_rules.crowded_folders([*crowd[1:], Source("core/__init__.py", "")]) == []
    assert source_rules.crowded_folders(crowd) == ["core has 26 files"]
    assert source_rules.vague_module_names([Source("core/card_utils.py", ""), Source("tests/base.py", "")]) == [
        "core/card_utils.py",
        "tests/base.py",
    ]


def test_a_merchants_page_that_reads_across_merchants_is_noticed() -> None:
    for text in ("from kasuwa.console.operator import reads", "from kasuwa.console.operator.reads import Shop"):
        assert offends(source_rules_sql.reads_across_merchants, "console/merchant/transfers.py", text)
        assert not offends(source_rules_sql.reads_across_merchants, "console/operator/books.py", text)


@pytest.mark.parametrize(
    "text",
    [
        "async def show(visit):\n    async with visit.parts.reader.acquire() as connection: ...",
        "async def show(visit):\n    await visit.parts.operators.fetch('x')",
        "def show(parts): return parts.reader",
        "from kasuwa.engine.reading import snapshot",
    ],
)
def test_a_page_that_reads_past_its_visit_is_noticed(text: str) -> None:
    assert source_rules.reads_without_the_visit(Source("console/merchant/events.py", text))
    assert source_rules.reads_without_the_visit(Source("console/kit/visit.py", text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "class PaymentTill: ...",
        "def f(desk): ...",
        "luck = 1",
        "self.told = 1",
        "said = 1",
        "def f(): found = 1",
        "def f(given): ...",
        "def name_of(): ...",
        "def foretell_faults(): ...",
    ],
)
def test_a_retired_word_is_noticed(text: str) -> None:
    assert source_rules_words.retired_names(Source("core/x.py", text))


def test_a_retired_word_inside_another_word_is_allowed() -> None:
    assert source_rules_words.retired_names(Source("core/x.py", "def distill(understanding): ...")) == []


def test_the_rules_about_words_notice_their_offenders() -> None:
    long_name = "test_" + "a" * 76
    assert source_rules_words.long_test_names(Source("tests/x.py", f"def {long_name}(): ..."))
    assert source_rules_words.long_test_names(Source("tests/x.py", f"def {long_name[:-1]}(): ...")) == []
    assert source_rules_words.long_signatures(Source("core/x.py", "def f(a, b, c, d, *, e, f, g, h): ..."))
    assert source_rules_words.long_signatures(Source("core/x.py", "def f(self, a, b, c, d, e, f, g): ...")) == []
    assert source_rules_words.riddles(Source("core/x.py", 'def f():\n    """What is known of it."""'))
    assert source_rules_words.riddles(Source("core/x.py", 'def f():\n    """Returns it."""')) == []
    assert source_rules_words.british_spellings(Source("core/x.py", "behav" + "iour = 1"))
    assert source_rules_words.other_spellings(Source("core/x.py", "label = 'E-" + "mail'"))


@pytest.mark.parametrize(
    "text",
    [
        "# None in rows of earlier versions.",
        "# An order that an earlier\n# version began.",
        "# Written by the version before.",
        "# A version that wrote no rails.",
        "# '' in rows older than the column.",
        "# Back-fills the hashes.",
        "# None in rows of earlier versions. Contract: payment#refund",
    ],
)
def test_a_branch_for_an_unnamed_release_is_noticed(text: str) -> None:
    assert source_rules_words.replaced_releases(Source("core/x.py", text))


def test_a_branch_for_a_named_release_is_allowed() -> None:
    for text in ("# None in rows of earlier versions than 1.2.0.", "# The key of an older merchant."):
        assert source_rules_words.replaced_releases(Source("core/x.py", text)) == []


def test_a_migration_that_does_not_exist_is_noticed() -> None:
    source = Source("core/x.py", "# The indexes of 0025_lists.sql.")
    assert source_rules_words.unknown_migrations(source, {"0001_baseline.sql"})
    assert source_rules_words.unknown_migrations(source, {"0025_lists.sql"}) == []


def test_the_rules_about_values_notice_their_offenders() -> None:
    for text in (
        "found = NEW_TOTAL.fullmatch(error.reason)",
        "found = re.search('x', refusal.message)",
        "kind = account.title.split(' ')[0]",
        "total = parse_minor(error.reason)",
    ):
        assert source_rules_values.parsed_sentences(Source("pages/x.py", text))
        assert not source_rules_values.parsed_sentences(Source("rails/vendors/x.py", text))
    assert source_rules_values.amounts_as_texts(Source("pages/x.py", "parse_minor(view.record.outstanding)"))
    assert not source_rules_values.amounts_as_texts(Source("pages/x.py", "parse_minor(text)"))
    for condition in ("reference like 'GP|DS|%'", "p.reference not like '%|%'", "starts_with(p.reference, 'GP')"):
        text = f'QUERY = "select 1 from posting p where {condition}"'
        assert source_rules_values.meanings_in_references(Source("ledger/x.py", text))
    assert source_rules_values.untyped_registries(Source("engine/x.py", "class X:\n    a: Mapping[str, object] = {}"))
    assert not source_rules_values.untyped_registries(Source("engine/x.py", "def f():\n    a: dict[str, object] = {}"))
    assert source_rules_values.switches_by_text(Source("settings/x.py", 'class X:\n    console: str = "on"'))
    assert not source_rules_values.switches_by_text(Source("settings/x.py", "class X:\n    console: bool = True"))


def test_an_import_cycle_is_noticed() -> None:
    chain = ["a", "b", "c"]
    sources = [
        Source(f"core/{name}.py", f"from kasuwa.core import {following}")
        for name, following in zip(chain, [*chain[1:], "a"], strict=True)
    ]
    assert source_rules.cycles(sources) == ["core.a → core.b → core.c → core.a"]
    assert source_rules.cycles(sources[:2]) == []
