"""The adapters of the rail protocol, against the example rail and against a rail that answers what a test wants."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, date, datetime
from typing import Any

import msgspec
import pytest
from aiohttp import web

from kasuwa.core.references import movement_reference, rail_key, wire_reference
from kasuwa.outbound.egress import EgressClient
from kasuwa.rails.catalogue.catalogue import check_edition
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.callbacks import CallbackRefused
from kasuwa.rails.ports.identities import CONSENT, MATCH, Consent, ConsentRefused, IdentityClaim, Match, verify_person
from kasuwa.rails.ports.orders import (
    BillOrder,
    CardSecrets,
    CollectionOrder,
    CustomerQuery,
    FloatShort,
    IdentityQuery,
    LookupDeclined,
    NameEnquiry,
    NoAnswer,
    Person,
    TransferOrder,
    Unavailable,
    UnreadableAnswer,
)
from kasuwa.rails.remote import messages
from kasuwa.rails.remote.bank import RemoteBank
from kasuwa.rails.remote.biller import RemoteBiller
from kasuwa.rails.remote.callbacks import PATH, RemoteCallbacks, read_hint
from kasuwa.rails.remote.client import RemoteClient
from kasuwa.rails.remote.collection import RemoteCollection, make_card
from kasuwa.rails.remote.identity import RemoteIdentity
from kasuwa.rails.remote.messages import OrderAnswer, OrderQuery
from kasuwa.rails.remote.signing import HEADER, RemoteSecret, check_signature, sign
from kasuwa.rails.twins.facts import VendorFacts
from kasuwa.rails.twins.forms import Problem
from kasuwa.rails.twins.server import FaultKind, Twin
from kasuwa.rails.watch.transport import RAIL_LIMITS, EgressTransport
from tests.rails.banks import GTBANK
from tests.rails.remote.example_rails import SECRET, ExampleRail, running_rail
from tests.rails.vendors.adapters import FAULTS_OF_ORDERS, Observed, twin_of

OLD_SECRET = RemoteSecret("key-0", "the secret before, of enough characters")
REFERENCES = [movement_reference("FD", 123_456_000 + number, date(2026, 1, 5)) for number in range(40)]
PAYS, FAILS, UNKNOWN = "0123456785", "0123400002", "0123400009"


def transfer_order(number: int = 0, **changes: Any) -> TransferOrder:
    key = rail_key(12, REFERENCES[number])
    found = TransferOrder(key, 150_000, "NGN", GTBANK, PAYS, "Ada Stores", "Invoice 1042")
    return msgspec.structs.replace(found, **changes)


def with_client(url: str, work: Callable[[RemoteClient], Awaitable[Any]], *secrets: RemoteSecret) -> Any:
    async def run() -> Any:
        egress = EgressClient(environment="test", loopback_allowed=True, limits=RAIL_LIMITS)
        try:
            return await work(RemoteClient(EgressTransport(egress), url, secrets or (SECRET,), Observed()))
        finally:
            await egress.close()

    return asyncio.run(run())


# --- the example rail --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleRail]:
    with running_rail(tmp_path_factory.mktemp("rail")) as rail:
        yield rail


def test_transfers_names_and_balances(rail: ExampleRail) -> None:
    async def work(client: RemoteClient) -> None:
        bank, order = RemoteBank(client), transfer_order()
        assert (await bank.query(order)).status == orders.NOT_FOUND
        before = await bank.balance()
        for _ in range(2):
            sent = await bank.transfer(order)
            assert (sent.status, sent.code) == (orders.SUCCESSFUL, "00")
        assert before["NGN"] - (await bank.balance())["NGN"] == 150_000
        assert await bank.query(order) == sent
        failed = await bank.transfer(transfer_order(1, account_number=FAILS))
        assert (failed.status, failed.code, failed.message) == (orders.FAILED, "07", "There is no such account")
        assert (await bank.find_account_name(NameEnquiry(GTBANK, PAYS))).name == "ADA OBI"
        assert (await bank.find_account_name(NameEnquiry(GTBANK, UNKNOWN))).name is None
        await bank.check_environment("test")
        with pytest.raises(Unavailable) as raised:
            await bank.check_environment("live")
        assert raised.value.notice == "KASUWA_REMOTE_BASE_URL must name a rail for live"

    with_client(rail.url, work)


def test_a_used_key_is_looked_up_and_never_fails_the_order(rail: ExampleRail) -> None:
    async def work(client: RemoteClient) -> None:
        bank, order = RemoteBank(client), transfer_order(2)
        await bank.transfer(order)
        other = await bank.transfer(msgspec.structs.replace(order, amount=150_001))
        assert other.status == orders.UNREADABLE
        assert other.notice.startswith("the remote rail answered for another order than kz12-gp-fd-")
        renamed = await bank.transfer(msgspec.structs.replace(order, narration="Other"))
        assert (renamed.status, renamed.notice[:40]) == (orders.SUCCESSFUL, "the rail has another order under the key")

    with_client(rail.url, work)


@pytest.mark.parametrize("amount", [1, 99, 2**53 - 1])
def test_amounts_are_exact(rail: ExampleRail, amount: int) -> None:
    async def work(client: RemoteClient) -> None:
        order = transfer_order(3 + len(str(amount)), amount=amount, account_number=FAILS)
        assert (await RemoteBank(client).transfer(order)).status == orders.FAILED
        assert (await RemoteBank(client).query(order)).status == orders.FAILED

    with_client(rail.url, work)


def test_amounts_of_every_message_are_exact() -> None:
    """Amounts are whole numbers of minor units in every message of the protocol, and read back as they were."""
    kinds = [kind for kind in vars(messages).values() if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]
    fields = [(kind, field) for kind in kinds for field in msgspec.structs.fields(kind) if field.name == "amount"]
    assert {"TransferRequest", "BillRequest", "PaymentRequest", "Credit"} <= {kind.__name__ for kind, _ in fields}
    for kind, field in fields:
        for amount in (1, 99, 2**53 - 1):
            assert msgspec.json.decode(str(amount), type=field.type) == amount, kind
        for wrong in ("1.5", '"1"', "0.99"):
            with pytest.raises(msgspec.ValidationError):
                msgspec.json.decode(wrong, type=field.type)


def test_bills(rail: ExampleRail) -> None:
    async def work(client: RemoteClient) -> None:
        biller = RemoteBiller(client)
        check_edition(await biller.fetch_catalogue(1))
        found = await biller.find_customer(CustomerQuery("1", "power", "45012345678", True))
        assert (found.name, found.is_name_mismatch) == ("ADA OBI", False)
        assert (await biller.find_customer(CustomerQuery("1", "power", "45099999999", True))).name is None
        assert (await biller.find_customer(CustomerQuery("1", "power", "1", False))).name == ""
        key = rail_key(12, movement_reference("BP", 123_456_789, date(2026, 1, 5)))
        order = BillOrder(
            key, "1", "power", "electricity_token", "45012345678", 500_000, "NGN", datetime(2026, 1, 5, tzinfo=UTC)
        )
        with pytest.raises(Unavailable):
            await biller.reprint(order)
        paid = await biller.pay(order)
        assert (paid.status, len(paid.facts["token"])) == (orders.SUCCESSFUL, 20)
        assert (await biller.query(order), await biller.reprint(order)) == (paid, paid.facts)

    with_client(rail.url, work)


def test_payments_and_refunds(rail: ExampleRail) -> None:
    async def work(client: RemoteClient) -> None:
        debit = RemoteCollection(client)
        order = CollectionOrder(rail_key(12, REFERENCES[20]), "account", 10_000, "NGN", payer=PAYS, provider="058")
        begun = await debit.begin(order, None)
        assert (begun.status, begun.facts["auth"]) == (orders.CHALLENGE, "OTP")
        order = msgspec.structs.replace(order, session=begun.facts["session"], step=orders.BEGIN)
        assert await debit.query(order, None) == begun
        order = msgspec.structs.replace(order, step=orders.VALIDATE)
        assert (await debit.query(order, None)).status == orders.NOT_FOUND
        assert (await debit.validate(order, "000000")).status == orders.WRONG_CODE
        assert (await debit.validate(order, "123456")).status == orders.SUCCESSFUL
        assert (await debit.query(order, None)).status == orders.SUCCESSFUL
        refund = CollectionOrder(rail_key(12, REFERENCES[21]), "account", 4_000, "NGN", refund_of=order.key)
        assert (await debit.query_refund(refund)).status == orders.NOT_FOUND
        assert (await debit.refund(refund)).status == orders.SUCCESSFUL
        assert (await debit.query_refund(refund)).status == orders.SUCCESSFUL
        with pytest.raises(Unavailable) as raised:
            await client.place("/vouchers", OrderQuery(key="kz12-1"), OrderAnswer)
        assert raised.value.notice == "the remote rail does not serve /v1/vouchers"

    with_client(rail.url, work)


def test_people(rail: ExampleRail) -> None:
    async def work(client: RemoteClient) -> None:
        person = await RemoteIdentity(client).find_person(IdentityQuery("22212345678"))
        assert person is not None
        assert (person.firstname, person.lastname, person.dob) == ("ADA", "OBI", "1990-01-02")
        assert await RemoteIdentity(client).find_person(IdentityQuery("33312345678")) is None

    with_client(rail.url, work)


CLAIM = IdentityClaim("22212345678", "Ada", "Obi", dob="1990-01-02")


def test_a_person_agrees_on_the_rails_page_before_the_look_up(rail: ExampleRail) -> None:
    async def work(client: RemoteClient) -> None:
        identity = RemoteIdentity(client, CONSENT)
        with pytest.raises(LookupDeclined, match="must consent first"):
            await identity.find_person(IdentityQuery(CLAIM.bvn))
        consent = await verify_person(identity, CLAIM)
        assert consent == Consent("consent-22212345678", "https://rail.example/consent/consent-22212345678")
        person = await verify_person(identity, msgspec.structs.replace(CLAIM, consent=consent))
        assert isinstance(person, Person)
        assert (person.firstname, person.bvn) == ("ADA", CLAIM.bvn)
        refusing = msgspec.structs.replace(CLAIM, bvn="22212345679")
        begun = await identity.begin_consent(refusing)
        with pytest.raises(ConsentRefused):
            await verify_person(identity, msgspec.structs.replace(refusing, consent=begun))
        with pytest.raises(LookupDeclined, match="does not know the BVN"):
            await identity.begin_consent(msgspec.structs.replace(CLAIM, bvn="33312345678"))

    with_client(rail.url, work)


def test_a_rail_that_only_compares_tells_how_far_a_person_agrees(rail: ExampleRail) -> None:
    async def work(client: RemoteClient) -> None:
        identity = RemoteIdentity(client, MATCH)
        assert await verify_person(identity, CLAIM) == Match({"name": "full", "dob": "full"})
        other = msgspec.structs.replace(CLAIM, firstname="Chidi", dob="")
        assert await verify_person(identity, other) == Match({"name": "no", "dob": "no"})
        assert await verify_person(identity, msgspec.structs.replace(CLAIM, bvn="33312345678")) is None
        with pytest.raises(LookupDeclined):
            await identity.find_person(IdentityQuery(CLAIM.bvn))

    with_client(rail.url, work)


def test_a_wrong_secret_is_an_operators_matter(rail: ExampleRail) -> None:
    async def work(client: RemoteClient) -> None:
        with pytest.raises(Unavailable) as raised:
            await RemoteBank(client).transfer(transfer_order(10))
        assert raised.value.notice == "remote refuses our credentials (HTTP 401): check the keys"

    with_client(rail.url, work, RemoteSecret("key-1", "another secret of enough characters"))


# --- a rail that answers what a test wants -----------------------------------------------------------------------


class ScriptedRail:
    """Answers every request with one status and body, signed with `secret` unless it is None."""

    name = "scripted"
    facts = VendorFacts((), {})

    def __init__(self, body: Any, status: int = 200, secret: RemoteSecret | None = SECRET) -> None:
        self.body, self.status, self.secret = body, status, secret

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/{path:.*}", self.answer)]

    def refuse(self, request: web.Request) -> web.Response | None:
        return None

    def refuse_form(self, problem: Problem) -> web.Response:
        raise AssertionError(problem)

    async def answer(self, request: web.Request) -> web.Response:
        sent = await request.read()
        given = check_signature(
            request.headers.get(HEADER), {SECRET.key_id: SECRET}, time.time(), "POST", request.path, sent
        )
        body = json.dumps(self.body).encode()
        headers = {}
        if self.secret is not None:
            headers[HEADER] = str(sign(self.secret, int(time.time()), str(self.status), given.digest, body))
        return web.Response(body=body, status=self.status, headers=headers, content_type="application/json")


def at_scripted(rules: ScriptedRail, work: Callable[[RemoteBank, Twin], Awaitable[Any]], *secrets: RemoteSecret) -> Any:
    async def run() -> Any:
        async with twin_of(rules) as (twin, transport):
            client = RemoteClient(transport, twin.url, secrets or (SECRET,), Observed())
            return await work(RemoteBank(client), twin)

    return asyncio.run(run())


def state(outcome: str = "successful", **changes: Any) -> dict[str, Any]:
    known = {"key": wire_reference(transfer_order().key), "amount": 150_000, "currency": "NGN"}
    return {"outcome": outcome, **known, **changes}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (state(), orders.SUCCESSFUL),
        (state("processing"), orders.PROCESSING),
        (state("failed", message="No such account"), orders.FAILED),
        (state("challenge"), orders.CHALLENGE),
        (state("paid"), orders.UNREADABLE),
        (state(amount=150_001), orders.UNREADABLE),
        (state(amount=150_000.0), orders.UNREADABLE),
        (state(amount="150000"), orders.UNREADABLE),
        (state(amount=None), orders.UNREADABLE),
        (state(currency="USD"), orders.UNREADABLE),
        (state(key="kz12-other"), orders.UNREADABLE),
        (state("not_found"), orders.UNREADABLE),
    ],
)
def test_outcomes_of_a_transfer(body: dict[str, Any], status: str) -> None:
    answer = at_scripted(ScriptedRail(body), lambda bank, _: bank.transfer(transfer_order()))
    assert answer.status == status
    assert bool(answer.notice) == (status == orders.UNREADABLE)


@pytest.mark.parametrize(
    ("status", "error", "has_notice"),
    [
        (400, Unavailable, True),
        (401, Unavailable, True),
        (402, FloatShort, True),
        (404, Unavailable, True),
        (403, Unavailable, True),
        (422, NoAnswer, False),
        (418, NoAnswer, False),
        (429, Unavailable, False),
        (500, NoAnswer, False),
    ],
)
def test_refusals_of_a_transfer(status: int, error: type[Exception], has_notice: bool) -> None:
    rules = ScriptedRail({"error": "refused", "message": "No"}, status)
    with pytest.raises(error) as raised:
        at_scripted(rules, lambda bank, _: bank.transfer(transfer_order()))
    assert bool(getattr(raised.value, "notice", "")) is has_notice


@pytest.mark.parametrize(
    ("status", "error"), [(422, LookupDeclined), (404, Unavailable), (200, UnreadableAnswer), (500, Unavailable)]
)
def test_refusals_of_a_look_up(status: int, error: type[Exception]) -> None:
    rules = ScriptedRail({"error": "declined", "message": "Not allowed for this account"}, status)
    with pytest.raises(error):
        at_scripted(rules, lambda bank, _: bank.find_account_name(NameEnquiry(GTBANK, PAYS)))


def test_an_answer_that_is_not_signed_is_not_believed() -> None:
    """A gateway that answers "not found" must not become the rail's word: money would be given back."""
    for secret in (None, RemoteSecret("key-1", "a secret that somebody made up, wrongly")):
        with pytest.raises(NoAnswer):
            at_scripted(ScriptedRail(state(), secret=secret), lambda bank, _: bank.transfer(transfer_order()))
        unknown = ScriptedRail({"outcome": "not_found", "key": wire_reference(transfer_order().key)}, secret=secret)
        with pytest.raises(UnreadableAnswer):
            at_scripted(unknown, lambda bank, _: bank.query(transfer_order()))


def test_answers_may_be_signed_with_the_secret_before() -> None:
    rules = ScriptedRail(state(), secret=OLD_SECRET)
    answer = at_scripted(rules, lambda bank, _: bank.transfer(transfer_order()), SECRET, OLD_SECRET)
    assert answer.status == orders.SUCCESSFUL
    with pytest.raises(NoAnswer):
        at_scripted(rules, lambda bank, _: bank.transfer(transfer_order()))


@pytest.mark.parametrize("fault", FAULTS_OF_ORDERS)
def test_lost_answers(fault: FaultKind) -> None:
    expected, is_carried_out = FAULTS_OF_ORDERS[fault]

    async def work(bank: RemoteBank, twin: Twin) -> None:
        twin.add_fault(fault, "/v1/transfers")
        with pytest.raises(expected):
            await bank.transfer(transfer_order())
        assert bool(twin.count("/v1/transfers")) is is_carried_out

    at_scripted(ScriptedRail(state()), work)


# --- call-backs --------------------------------------------------------------------------------------------------


def callback(body: bytes, secret: RemoteSecret = SECRET, age: int = 0, path: str = "") -> str | None:
    source = RemoteCallbacks((SECRET, OLD_SECRET))
    signature = str(sign(secret, int(time.time()) - age, "POST", PATH, body))
    return source.find_order(path, {HEADER.lower(): signature}.get, body)


def test_call_backs_name_an_order() -> None:
    key = transfer_order().key
    body = json.dumps({"event": "order", "key": wire_reference(key)}).encode()
    assert callback(body) == callback(body, OLD_SECRET) == key
    for other in (b"{}", b"x", b'{"event":"order","key":"nobody"}', b'{"event":"credit","rail_reference":"C1"}'):
        assert callback(other) is None
    not_utf8 = b'{"event":"\xff","key":"","rail_reference":""}'
    assert (callback(not_utf8), read_hint(not_utf8)) == (None, None)


def test_call_backs_with_a_wrong_signature_are_refused() -> None:
    body = json.dumps({"event": "order", "key": wire_reference(transfer_order().key)}).encode()
    source = RemoteCallbacks((SECRET,))
    right = str(sign(SECRET, int(time.time()), "POST", PATH, body))
    wrong: dict[str, Callable[[], Any]] = {
        "secret": lambda: callback(body, RemoteSecret("key-1", "another")),
        "key id": lambda: callback(body, RemoteSecret("key-9", SECRET.secret)),
        "old": lambda: callback(body, age=301),
        "future": lambda: callback(body, age=-302),
        "path": lambda: callback(body, path="more"),
        "body": lambda: source.find_order("", {HEADER.lower(): right}.get, body + b" "),
        "none": lambda: source.find_order("", lambda name: None, body),
        "form": lambda: source.find_order("", {HEADER.lower(): f"{right},"}.get, body),
    }
    assert source.find_order("", {HEADER.lower(): right}.get, body) == transfer_order().key
    for call in wrong.values():
        with pytest.raises(CallbackRefused):
            call()


def test_secrets_and_cards_are_not_shown() -> None:
    assert SECRET.secret not in repr(SECRET)
    card = make_card(CardSecrets("5061460410120223210", "12", "30", "123", "1234"))
    assert repr(card) == "Card(…)"
