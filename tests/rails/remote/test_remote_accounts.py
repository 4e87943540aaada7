"""Accounts, credits, pages and saved cards at the example rail, through the adapters."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.references import movement_reference, rail_key, wire_reference
from kasuwa.doctor.rails import examine_services
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import AccountOrder, Receipt
from kasuwa.rails.ports.hints import Hint
from kasuwa.rails.ports.orders import Answer, CollectionOrder, NoAnswer
from kasuwa.rails.remote.accounts import RemoteAccounts, read_account
from kasuwa.rails.remote.callbacks import read_hint
from kasuwa.rails.remote.client import RemoteClient
from kasuwa.rails.remote.collection import RemoteCollection
from kasuwa.rails.remote.messages import AccountAnswer, AccountRequest, CatalogueAnswer
from kasuwa.settings.settings import read_settings
from tests.rails.remote.example_rails import ExampleRail, running_rail
from tests.rails.remote.test_remote_adapters import ScriptedRail, at_scripted, with_client

REFERENCES = [movement_reference("VA", 323_456_000 + number, date(2026, 1, 5)) for number in range(20)]
YESTERDAY = datetime.now(UTC) - timedelta(days=1)
MOST_ROUNDS = 100


@pytest.fixture(scope="module")
def rail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleRail]:
    with running_rail(tmp_path_factory.mktemp("rail"), {}, **{"open-seconds": "0.1"}) as rail:
        yield rail


def account(number: int, name: str = "ADA OBI", **changes: Any) -> AccountOrder:
    return AccountOrder(rail_key(12, REFERENCES[number]), name, "ada@example.com", **changes)


def payment(number: int, method: str = "card", **changes: Any) -> CollectionOrder:
    order = CollectionOrder(
        rail_key(12, REFERENCES[number]), method, 150_000, "NGN", step=orders.BEGIN, vendor="remote"
    )
    return msgspec.structs.replace(order, **changes)


async def repeat(ask: Callable[[], Awaitable[Any]], is_done: Callable[[Any], bool]) -> Any:
    """Asks until the rail has got so far."""
    for _ in range(MOST_ROUNDS):
        found = await ask()
        if is_done(found):
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(found)


def test_an_account_is_opened_once_and_closed(rail: ExampleRail) -> None:
    async def work(client: RemoteClient) -> None:
        accounts, order = RemoteAccounts(client), account(0)
        assert (await accounts.query(order)).status == orders.NOT_FOUND
        opened = await accounts.open(order)
        assert opened.status == orders.SUCCESSFUL
        assert opened.facts["bank_name"], "the rail named the code of the bank alone"
        assert await accounts.open(order) == opened
        assert await accounts.query(order) == opened
        other = msgspec.structs.replace(order, name="BOLA ADE")
        assert (await accounts.open(other)).facts == opened.facts, "the key was used: the account is asked for"
        for _ in range(2):
            assert (await accounts.close(order)).status == orders.SUCCESSFUL
        assert (await accounts.query(order)).status == orders.FAILED
        assert (await accounts.close(account(1))).status == orders.SUCCESSFUL

    with_client(rail.url, work)


def test_money_that_comes_in_is_found_listed_and_given_back_once(rail: ExampleRail) -> None:
    async def work(client: RemoteClient) -> None:
        accounts, order = RemoteAccounts(client), account(2, "CREDITED OBI")
        opened = await accounts.open(order)
        await accounts.open(account(3, "CREDITED OBI"))
        [reference] = await repeat(lambda: accounts.list_receipts(order, YESTERDAY), bool)
        receipt = await accounts.find_receipt(reference)
        assert receipt == Receipt(
            reference=reference,
            amount=250_000,
            currency="NGN",
            status=orders.SUCCESSFUL,
            account_number=opened.facts["account_number"],
            account_key=order.key,
            sender_name="BOLA ADE",
        )
        assert await accounts.find_receipt("C-999999") is None
        assert await accounts.list_receipts(order, datetime.now(UTC) + timedelta(days=1)) == []
        refund = payment(
            4, "bank_transfer", refund_of=order.key, amount=250_000, rail_facts={orders.TRANSACTION_FACT: reference}
        )
        collection = RemoteCollection(client)
        for _ in range(2):
            assert (await collection.refund(refund)).status == orders.SUCCESSFUL
        second = msgspec.structs.replace(refund, key=rail_key(12, REFERENCES[5]))
        assert (await collection.refund(second)).status == orders.FAILED

    with_client(rail.url, work)


def test_a_card_is_entered_on_the_rails_page_and_charged_again_by_its_token(rail: ExampleRail) -> None:
    async def work(client: RemoteClient) -> None:
        collection = RemoteCollection(client)
        unpaid = payment(6, payer_email="ada@example.com")
        begun = await collection.begin(unpaid, None)
        assert (begun.status, begun.facts["auth"]) == (orders.CHALLENGE, "redirect")
        assert await collection.query(unpaid, None) == begun
        paying = payment(7, payer_email="pays@example.com")
        await collection.begin(paying, None)
        paid: Answer = await repeat(
            lambda: collection.query(paying, None), lambda answer: answer.status == orders.SUCCESSFUL
        )
        assert paid.card is not None
        assert paid.card.token is not None
        assert (paid.card.mask, paid.card.token.vendor, paid.card.token.email) == (
            "408408******4081",
            "remote",
            "pays@example.com",
        )
        charge = payment(8, "token", step=orders.CHARGE, saved_card=paid.card.token)
        for _ in range(2):
            assert (await collection.charge(charge, None)).status == orders.SUCCESSFUL
        assert (await collection.query(charge, None)).status == orders.SUCCESSFUL
        refund = payment(9, refund_of=paying.key, amount=50_000)
        assert (await collection.refund(refund)).status == orders.SUCCESSFUL

    with_client(rail.url, work)


def test_an_answer_for_another_account_is_unreadable() -> None:
    found = AccountAnswer(outcome="open", key="kz12-other", account_number="9900000001")
    answer = read_account(found, account(0))
    assert (answer.status, bool(answer.notice)) == (orders.UNREADABLE, True)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        ("open", orders.SUCCESSFUL),
        ("processing", orders.PROCESSING),
        ("failed", orders.FAILED),
        ("closed", orders.FAILED),
        ("not_found", orders.NOT_FOUND),
    ],
)
def test_states_of_an_account(outcome: Any, status: str) -> None:
    found = AccountAnswer(outcome=outcome, key=wire_reference(account(0).key))
    assert read_account(found, account(0)).status == status


def test_an_account_whose_answer_is_lost_may_be_open(rail: ExampleRail) -> None:
    """An answer of another form than documented does not say that nothing was done."""

    request = AccountRequest(key=wire_reference(account(10).key), name="ADA OBI")

    async def work(client: RemoteClient) -> None:
        with pytest.raises(NoAnswer):
            await client.place("/accounts", request, CatalogueAnswer)
        assert (await RemoteAccounts(client).query(account(10))).status == orders.SUCCESSFUL

    with_client(rail.url, work)


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ({"event": "credit", "key": "kz12-1", "rail_reference": "C-1"}, Hint("receipt", "C-1")),
        ({"event": "credit", "key": "kz12-1"}, None),
        ({"event": "credit", "rail_reference": "C" * 201}, None),
        ({"event": "order", "key": "kz12-1", "rail_reference": "C-1"}, None),
        ({"event": "other"}, None),
        ([], None),
    ],
)
def test_a_call_back_of_a_credit_is_a_hint(body: Any, hint: Hint | None) -> None:
    assert read_hint(json.dumps(body).encode()) == hint


def test_doctor_names_the_purposes_that_the_rail_does_not_serve() -> None:
    about = {"outcome": "found", "name": "Bank", "protocol": 1, "environment": "test", "serves": ["transfers"]}
    environ = {
        "KASUWA_REMOTE_BASE_URL": "https://rail.example",
        "KASUWA_REMOTE_KEY_ID": "key-1",
        "KASUWA_REMOTE_SECRET": "s" * 32,
        "KASUWA_RAIL_BANK": "remote",
        "KASUWA_RAIL_CARD": "remote",
        "KASUWA_RAIL_ACCOUNTS": "remote",
    }
    settings = read_settings(environ)
    findings = at_scripted(ScriptedRail(about), lambda bank, _: examine_services(settings, bank._client))
    assert [finding.what for finding in findings] == [
        "remote does not serve payments, and is chosen for card",
        "remote does not serve accounts, and is chosen for accounts",
    ]
    assert at_scripted(ScriptedRail({}, 500), lambda bank, _: examine_services(settings, bank._client)) == []
