"""Every read of a merchant and every page of its console, with the conditions on the merchant taken out of each of its
statements in turn: all of a statement, and each by itself.

The replies stay the same, because the reader's login sees the rows of one merchant only. Statements that look up rows
of several merchants are executed by the application's login: there the reply is the same, or an error that shows
nothing. A second service on the same database has its statements changed on their way (tests/statement_proxy.py).
Another merchant has sent all examples too, so that there is something to leak.
"""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from kasuwa.core.action import Read
from kasuwa.postgres.logins import APPLICATION_LOGIN, READER_LOGIN
from tests.console.sample_merchant import SampleMerchant
from tests.console.visitor import DEPLOYED, Visitor, sign_in_as
from tests.kept_sums import count_postings, sum_up_to
from tests.merchant_client import HttpConnection, MerchantClient
from tests.running import NEWEST, Deployment, Deployments, running_deployment
from tests.statement_proxy import LOCK_CLASS, OF_BATCH, Statement, StatementProxy
from tests.walk.rows import (
    ACTION_ROWS,
    NEEDS_DAY,
    NEEDS_DORMANT,
    NEEDS_REACTIVATION,
    RESET,
    ActionRow,
    SentExample,
    leaves,
    send_examples,
)
from tests.walk.store_statements import store_statements
from tests.walk.test_tenancy import MADE, OTHER_DAY

pytestmark = pytest.mark.xdist_group("row security")

READS = [row for row in ACTION_ROWS if isinstance(row.action, Read)]
# With the slash: /account is a person's own, /accounts has those that payers of the merchant pay into.
NOT_OF_A_MERCHANT = ("/operator/", "/link/", "/sign-in/", "/account/", "/static/")
PAGES = [page for page in DEPLOYED if page.http_method == "GET" and not f"{page.path}/".startswith(NOT_OF_A_MERCHANT)]
# What differs between two requests of the same merchant: links are sealed with a random nonce, pages show the time, the
# address of their service, and a new reference for the request that can be tried.
VOLATILE = re.compile(
    r'"(proof_)?link": "[^"]*"|/statements/[\w-]+|[0-9]{2}:[0-9]{2}:[0-9]{2}|127\.0\.0\.1:[0-9]+|try-[0-9a-f]{8}'
)


class World(NamedTuple):
    """The service, another one on the same database whose statements are changed, and two merchants."""

    plain: Deployment
    changed: Deployment
    proxy: StatementProxy
    shop: MerchantClient
    sent: dict[str, SentExample]
    others: frozenset[str]


@pytest.fixture(scope="module")
def world(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    plain = deployments.for_version(NEWEST)
    secret = (plain.directory / "secret.key").read_text().strip()
    place: Path = tmp_path_factory.mktemp("changed")
    with StatementProxy(plain.dsn) as proxy:
        urls = {"URL": APPLICATION_LOGIN, "READER_URL": READER_LOGIN}
        environment = {f"KASUWA_DATABASE_{name}": proxy.dsn(login) for name, login in urls.items()}
        # QR codes have the address of the service, so both have the same.
        public_url = f"http://127.0.0.1:{plain.port}"
        environment |= {"KASUWA_SECRET_KEY": secret, "KASUWA_PUBLIC_URL": public_url}
        with running_deployment(place, plain.dsn, **environment) as changed:
            other, shop = plain.open_shop(now=OTHER_DAY, name="The other shop"), plain.open_shop()
            with other.connection, shop.connection:
                theirs = send_examples(other, until=RESET, before_each=name_apart)
                ours = send_examples(shop, until=RESET, without=KEEPS_NO_ADDRESSES)
                sent = {one.row.title: one for one in ours if one.fields}
                texts = [json.dumps(one.received.body) for one in theirs]
                found = frozenset(match[0] for text in texts for match in MADE.finditer(text))
                assert len(found) > 20
                for one in (other, shop):
                    sum_up_to(plain, one.mid, count_postings(plain, one.mid) // 2)
                yield World(plain, changed, proxy, shop, sent, found | {other.mid, "The other shop"})


def name_apart(row: ActionRow, fields: dict[str, Any]) -> None:
    """Gives the product of the other merchant another code, and so another id: it follows from the code alone."""
    if row.title == "loans-create_product":
        fields["code"] = "OTHER-12"


# Receipts and files have other addresses once their merchant is restored, and expire within a day.
KEEPS_NO_ADDRESSES = frozenset({"sandbox-restore", "sandbox-advance"}) | NEEDS_DAY | NEEDS_DORMANT | NEEDS_REACTIVATION


def ask(world: World, deployment: Deployment, method: str, fields: dict[str, Any]) -> tuple[int, str]:
    """Returns the reply to a read of the merchant, without what differs each time."""
    with HttpConnection("127.0.0.1", deployment.port) as wire:
        received = MerchantClient(wire, world.shop.mid, world.shop.key).send_fields(method, fields)
    return received.http, VOLATILE.sub("", json.dumps(received.body))


def leaks(world: World, text: str) -> list[str]:
    return sorted(value for value in world.others if value in text)


# --- statements without their conditions ----------------------------------------------------------------------------


@contextlib.contextmanager
def without(world: World, conditions: tuple[int, ...]) -> Iterator[None]:
    """Takes conditions out of the statements of the changed service."""
    world.plain.fetch("select pg_advisory_lock($1, n) from unnest($2::int[]) n", LOCK_CLASS, list(conditions))
    try:
        yield
    finally:
        world.plain.fetch("select pg_advisory_unlock_all()")


def turns_of(statement: Statement) -> list[tuple[int, ...]]:
    """Returns the conditions to take away: all of a statement, then each of several by itself."""
    each: list[tuple[int, ...]] = [(number,) for number in statement.conditions]
    return [statement.conditions, *each] if len(each) > 1 else each


def check_each_statement(world: World, show: Callable[[Deployment], tuple[int, str]]) -> None:
    """Sends a request once for each statement that it executes, which then lacks its conditions."""
    expected = show(world.plain)
    world.proxy.used.clear()
    assert show(world.changed) == expected
    for statement in list(world.proxy.used.values()):
        TRIED[statement.text] += 1
        # The statements of every page need not be tried on each of them.
        for turn in turns_of(statement) if TRIED[statement.text] <= OFTEN_ENOUGH else ():
            with without(world, turn):
                http, text = show(world.changed)
            assert leaks(world, text) == [], statement.text
            is_refused = OF_BATCH.decode() in statement.text and http == 500
            assert is_refused or (http, text) == expected, statement.text


# How often the tests so far have used each statement.
TRIED: Counter[str] = Counter()
OFTEN_ENOUGH = 3


@pytest.mark.parametrize("row", READS, ids=lambda row: row.title)
def test_a_read_shows_the_same_without_a_condition(world: World, row: Any) -> None:
    one = world.sent[row.title]
    check_each_statement(world, lambda deployment: ask(world, deployment, row.method, one.fields))


# --- further requests -----------------------------------------------------------------------------------------------

# The examples of the table use some of the statements. `<name>` stands for a value of that field in a reply.
TODAY = datetime.now(UTC).date()
PERIOD = {"from": str(TODAY - timedelta(days=30)), "to": str(TODAY + timedelta(days=300))}
LIST = {"inquire": "transactions"}
STATEMENT = {"inquire": "statement", **PERIOD}
WALLET = {**STATEMENT, "account": "wallet"}
SAVINGS = {**STATEMENT, "account": "savings", "id": "<savings_id>"}
FURTHER: dict[str, tuple[str, dict[str, Any]]] = {
    "a loan with guarantees and collateral": ("loans", {"action": "view", "loan_id": "<secured_loan>"}),
    "all transactions": ("resources", LIST),
    "failed transactions": ("resources", {**LIST, "status": "failed"}),
    "open transactions": ("resources", {**LIST, "status": "pending"}),
    "transactions in dollars": ("resources", {**LIST, "currency": "USD"}),
    "large transactions": ("resources", {**LIST, "min_amount": "1000000.00"}),
    "payments by card": ("resources", {**LIST, "method": "card"}),
    "payments of an address": ("resources", {**LIST, "customer": "ada@example.com"}),
    "payments of a customer": ("resources", {**LIST, "customer": "<customer_id>"}),
    "transactions of a reference": ("resources", {**LIST, "reference": "order-1042"}),
    "the next page of transactions": ("resources", {**LIST, "limit": 1, "cursor": "<next_transactions>"}),
    "a part of a reference": ("resources", {**LIST, "reference": "1042"}),
    "the next page of a wallet": (
        "resources",
        {**WALLET, "limit": 1, "cursor": "<next_cursor>"},
    ),
    "a wallet with proof": ("resources", {**WALLET, "proof": True}),
    "a wallet as a file": ("resources", {**WALLET, "format": "pdf"}),
    "a wallet in dollars": ("resources", {**WALLET, "currency": "USD"}),
    "a card": ("resources", {**STATEMENT, "account": "card", "id": "<card>"}),
    "a card as a file": ("resources", {**STATEMENT, "account": "card", "id": "<card>", "format": "pdf"}),
    "a savings account": ("resources", SAVINGS),
    "a savings account as a file": ("resources", {**SAVINGS, "format": "pdf"}),
    "a loan": ("resources", {**STATEMENT, "account": "loan", "id": "<loan_id>"}),
    "a beneficiary": ("resources", {**STATEMENT, "account": "beneficiary", "id": "nobody"}),
    "a payment by its reference": ("payment", {"action": "verify", "customer_txnref": "<customer_txnref>"}),
    "a refund": ("payment", {"action": "verify", "refundRef": "<refundRef>"}),
    "the payment of a loan": ("payment", {"action": "verify", "txnRef": "<repaid_loan>"}),
    "what a meeting collected of a loan": ("payment", {"action": "verify", "txnRef": "<collected_loan>"}),
    "a bulk": ("disburse", {"action": "verify", "batchRef": "<batchRef>"}),
    "a loan with a write-off": ("loans", {"action": "view", "loan_id": "<loan_with_write_off>"}),
    "events of a transaction": ("resources", {"inquire": "events", "txnRef": "order-1042"}),
    "an installment plan": ("resources", {"inquire": "installments", "id": "<id>"}),
}
# Fields whose values `inquire: transaction` finds.
FOUND_BY_REFERENCE = frozenset(
    {
        "txnRef",
        "refundRef",
        "batchRef",
        "orderRef",
        "reference",
        "cardToken",
        "event_id",
        "loan_id",
        "savings_id",
        "thrift_id",
        "class_id",
        "guarantee_id",
        "group_id",
        "group_loan_id",
        "product_id",
        "collateral_id",
        "client_id",
        "customer_id",
        "link_id",
        "invoice_id",
        "dispute_id",
        "settlement_id",
    }
)


@pytest.fixture(scope="module")
def values(world: World) -> dict[str, str]:
    """The newest value of each field in the merchant's requests and replies."""
    found = {
        name: value
        for one in world.sent.values()
        for name, value in (*leaves(one.fields), *leaves(one.received.body))
        if isinstance(value, str)
    }
    found["card"] = world.sent["virtualcard-transactions"].fields["reference"]
    found["repaid_loan"] = world.sent["loans-repay"].fields["loan_id"]
    found["collected_loan"] = world.sent["loans-collect"].fields["amounts"][0]["loan_id"]
    found["secured_loan"] = world.sent["loans-collateral"].fields["loan_id"]
    found["loan_with_write_off"] = world.sent["loans-decide_write_off"].fields["loan_id"]
    first = ask(world, world.plain, "resources", {**WALLET, "limit": 1})
    newest = ask(world, world.plain, "resources", {**LIST, "limit": 1})
    cursors = {
        "next_cursor": json.loads(first[1])["next_cursor"],
        "next_transactions": json.loads(newest[1])["next_cursor"],
    }
    return {**found, **cursors}


@pytest.mark.parametrize("name", FURTHER)
def test_a_further_read_shows_the_same_without_a_condition(world: World, values: dict[str, str], name: str) -> None:
    method, given = FURTHER[name]
    fields = {
        field: values[value[1:-1]] if isinstance(value, str) and value.startswith("<") else value
        for field, value in given.items()
    }
    check_each_statement(world, lambda deployment: ask(world, deployment, method, fields))


def test_what_a_reference_stands_for_is_the_same_without_a_condition(world: World, values: dict[str, str]) -> None:
    wanted = {name: value for name, value in values.items() if name in FOUND_BY_REFERENCE}
    assert len(wanted) > 10
    for reference in wanted.values():
        fields = {"inquire": "transaction", "reference": reference}
        check_each_statement(world, partial(ask, world, method="resources", fields=fields))


def paths_of_payers(world: World) -> list[str]:
    """Returns the paths of payers' pages and of files that the merchant was given addresses of."""
    ours = f"http://127.0.0.1:{world.plain.port}/"
    texts = [value for one in world.sent.values() for _, value in leaves(one.received.body) if isinstance(value, str)]
    return sorted({"/" + text.removeprefix(ours) for text in texts if text.startswith(ours)})


def test_payers_pages_and_files_are_the_same_without_a_condition(world: World) -> None:
    paths = paths_of_payers(world)
    assert len(paths) > 4

    def show(deployment: Deployment, path: str) -> tuple[int, str]:
        with HttpConnection("127.0.0.1", deployment.port) as wire:
            reply = wire.send("GET", path)
        return reply.http, VOLATILE.sub("", reply.raw.decode(errors="replace"))

    assert [path for path in paths if show(world.plain, path)[0] != 200] == []
    for path in paths:
        check_each_statement(world, partial(show, path=path))


@pytest.mark.parametrize("account", ["wallet", "card", "savings"])
def test_a_statement_file_is_the_same_without_a_condition(world: World, values: dict[str, str], account: str) -> None:
    named = {"wallet": {}, "card": {"id": values["card"]}, "savings": {"id": values["savings_id"]}}
    asked = {**STATEMENT, "account": account, "format": "csv", **named[account]}
    path = urlsplit(world.shop.send_fields("resources", asked).body["link"]).path

    def show(deployment: Deployment) -> tuple[int, str]:
        with HttpConnection("127.0.0.1", deployment.port) as wire:
            reply = wire.send("GET", path)
        return reply.http, reply.raw.decode()

    assert show(world.plain)[0] == 200
    check_each_statement(world, show)


# --- the console ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample(world: World) -> SampleMerchant:
    return SampleMerchant(world.plain)


@pytest.fixture(scope="module")
def owner(world: World, sample: SampleMerchant) -> Visitor:
    return sign_in_as(world.plain, "merchant:owner", sample.mid)


# Pages whose statements depend on what is searched for, or on the action that can be tried.
FILTERED = (
    "/transactions?q=open",
    "/transactions?q=INV-1",
    "/search?q=INV-1",
    "/transactions?status=pending",
    "/docs/loans/view",
    "/docs/payment/refund",
)


@pytest.mark.parametrize("path", [*(page.path for page in PAGES), *FILTERED])
def test_a_page_shows_the_same_without_a_condition(
    world: World, sample: SampleMerchant, owner: Visitor, path: str
) -> None:
    def show(deployment: Deployment) -> tuple[int, str]:
        visitor = Visitor(deployment)
        visitor.cookies = owner.cookies
        reply = visitor.get(sample.path_of(path))
        return reply.http, VOLATILE.sub("", f"{reply.place} {reply.words}")

    check_each_statement(world, show)


# --- all of them ----------------------------------------------------------------------------------------------------

# Statements of stores that no request above uses, with what uses them. Row-level security guards them like the others,
# but for those of commands, which an operator runs with the application's login.
NOT_TRIED = {
    "methods/checkout/store.py OPEN_CHECKOUTS": "commands",
    "methods/checkout/store.py PAYMENTS_OF_CUSTOMER": "checkouts of a payer whom the merchant named",
    "methods/checkout/store.py SAVED_CARDS": "checkouts of a payer whom the merchant named",
    "methods/clients/store.py BALANCE": "a client whose limits by tier are on: those of the examples have none",
    "methods/investments/store.py REACTIVATION": "dormant savings: in the year that they need, links to files expire",
    "methods/invoices/store.py OF_CUSTOMER": "commands",
    "methods/mail/store.py OF_CUSTOMER": "commands",
    "methods/payment/store.py BENEFICIARIES": "commands",
    "methods/payment/store.py CHECKOUT": "verify of a checkout by its own reference",
    "methods/payment/store.py ONE_BENEFICIARY": "commands",
    "methods/payment/store.py STATEMENT": "commands",
    "methods/references/store.py OF_REFERENCE": "a checkout or an account by its reference",
    "methods/references/store.py PAYMENT_DETAIL": "a payment that belongs to a checkout",
    "methods/references/store.py TOKENS": "a token of a page as a reference",
    "methods/resources/store.py ALL_ACCOUNTS": "commands",
    "methods/tickets/store.py INDEX_ENTRY": "a ticket by its code",
    "methods/tickets/store.py OF_PAYMENTS": "commands",
    "methods/tickets/store.py OF_PURCHASE": "the page of a checkout that has paid for tickets",
}


def test_every_statement_of_a_store_was_tried(world: World) -> None:
    """Runs after all tests above."""
    tried = {" ".join(text.split()) for text in TRIED}
    missing = {name: text for name, text in store_statements() if " ".join(text.split()) not in tried}
    assert set(missing) - set(NOT_TRIED) == set()
    assert set(NOT_TRIED) - set(missing) == set()
    # Those that read rows of several merchants at once have no other guard.
    assert [name for name, text in missing.items() if OF_BATCH.decode() in text] == []


def test_statements_leak_without_their_conditions_and_without_row_security(world: World) -> None:
    """Control: the application's login, which row-level security does not restrict, sees the rows of others."""
    world.proxy.connect_reader_as(APPLICATION_LOGIN)
    leaking = []
    try:
        for row in READS:
            fields = world.sent[row.title].fields
            world.proxy.used.clear()
            ask(world, world.changed, row.method, fields)
            conditions = tuple(number for one in world.proxy.used.values() for number in one.conditions)
            with without(world, conditions):
                _, text = ask(world, world.changed, row.method, fields)
            leaking += [row.title] if leaks(world, text) else []
    finally:
        world.proxy.connect_reader_as(READER_LOGIN)
    assert len(leaking) > 2, leaking
    world.changed.new_stderr()
