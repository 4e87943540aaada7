"""Orders, accounts, feeds, disputes and call-backs with several of our accounts at one vendor: each goes to its own."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from kasuwa.observe.metrics import Metrics
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.rails.choice import RailChoice
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import AccountOrder, Receipt
from kasuwa.rails.ports.callbacks import CallbackRefused, CallbackSource
from kasuwa.rails.ports.disputes import DisputeAnswer
from kasuwa.rails.ports.orders import Answer, CollectionOrder, NothingSent, Unavailable, VendorCard, VendorToken
from kasuwa.rails.routing.accounts import RoutedAccounts, RoutedDisputes, RoutedFeeds
from kasuwa.rails.routing.collections import RoutedCollection
from kasuwa.rails.routing.unconfigured import NoCollection
from kasuwa.rails.routing.vendor_accounts import AccountRails, KnownAccounts
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.settings.settings import read_settings

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
PAID = Answer(orders.SUCCESSFUL, "00", "")
NOT_FOUND = Answer(orders.NOT_FOUND, None, "")
ORDER = CollectionOrder("12 GP1", "card", 150_000, "NGN", vendor="paystack", account="former", sent_at=NOW)
REFUND = msgspec.structs.replace(ORDER, key="12 GP|RF|1", refund_of="12 GP1", amount=50_000)


class FakeRail:
    """A rail of any port with one account: answers `answer`, or raises it, and keeps what it was called with."""

    def __init__(self, answer: Any = PAID) -> None:
        self.answer = answer
        self.calls: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        async def call(order: Any, *more: Any) -> Any:
            self.calls.append((name, order))
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        return call

    @property
    def called(self) -> list[str]:
        return [name for name, _ in self.calls]


class TwoAccounts:
    """The account `now` of the settings, and the former account `former`."""

    def __init__(self, current: Any = PAID, former: Any = PAID) -> None:
        self.current, self.former = FakeRail(current), FakeRail(former)
        self.accounts = KnownAccounts({"paystack": "now"}, {("paystack", "former")})
        self.rails: AccountRails[Any] = AccountRails(
            {"paystack": self.current}, {("paystack", "former"): self.former}, self.accounts
        )
        self.collection = RoutedCollection(NoCollection(), self.rails)


STEPS: dict[str, Any] = {
    "begin": lambda rail, order: rail.begin(order, None),
    "charge": lambda rail, order: rail.charge(order, None),
    "validate": lambda rail, order: rail.validate(order, "123456"),
    "query": lambda rail, order: rail.query(order, None),
    "refund": lambda rail, order: rail.refund(order),
    "query_refund": lambda rail, order: rail.query_refund(order),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("account", "is_former"), [("former", True), ("now", False), ("", False)])
def test_each_step_of_a_payment_goes_to_its_account(step: str, account: str, is_former: bool) -> None:
    two = TwoAccounts()
    asyncio.run(STEPS[step](two.collection, msgspec.structs.replace(ORDER, account=account)))
    asked, other = (two.former, two.current) if is_former else (two.current, two.former)
    assert (asked.called, other.called) == ([step], [])


@pytest.mark.parametrize(
    ("step", "error"), [("begin", NothingSent), ("charge", NothingSent), ("validate", Unavailable)]
)
def test_step_of_an_account_whose_keys_are_not_set_is_not_sent(step: str, error: type[Exception]) -> None:
    two = TwoAccounts()
    with pytest.raises(error) as caught:
        asyncio.run(STEPS[step](two.collection, msgspec.structs.replace(ORDER, account="gone")))
    assert "KASUWA_RAIL_FORMER_ACCOUNTS" in caught.value.notice  # type: ignore[attr-defined]
    assert two.current.called == two.former.called == []


def test_refund_of_an_unknown_account_is_sent_only_if_its_payment_is_found() -> None:
    refund = msgspec.structs.replace(REFUND, account="gone")
    two = TwoAccounts(NOT_FOUND)
    with pytest.raises(Unavailable):
        asyncio.run(two.collection.refund(refund))
    assert two.current.called == ["query"]
    two = TwoAccounts(PAID)
    assert asyncio.run(two.collection.refund(refund)) == PAID
    assert two.current.called == ["query", "refund"]
    assert two.current.calls[0][1].key == REFUND.refund_of
    asyncio.run(two.collection.refund(refund))
    assert two.current.called == ["query", "refund", "refund"], "it is known from then on"


def test_saved_card_has_the_account_that_keeps_it() -> None:
    card = VendorCard("i", "506146******3210", "506146", token=VendorToken("paystack", "AUTH_1", "ada@example.com"))
    two = TwoAccounts(former=msgspec.structs.replace(PAID, card=card))
    answer = asyncio.run(two.collection.query(ORDER, None))
    assert answer.card is not None
    assert answer.card.token is not None
    assert answer.card.token.account == "former"
    asyncio.run(two.collection.deactivate_token(answer.card.token))
    assert two.current.called == []


# --- accounts, feeds and disputes --------------------------------------------------------------------------


ACCOUNT = AccountOrder("12 GP|PA|1", "Ada Obi", "ada@example.com", account="former")
RECEIPT = Receipt("T1", 1_000, "NGN", orders.SUCCESSFUL)


@pytest.mark.parametrize("step", ["open", "query", "close"])
def test_account_is_opened_asked_after_and_closed_where_it_is(step: str) -> None:
    two = TwoAccounts()
    asyncio.run(getattr(RoutedAccounts("paystack", two.rails), step)(ACCOUNT))
    assert (two.former.called, two.current.called) == ([step], [])
    unknown = msgspec.structs.replace(ACCOUNT, account="gone")
    two = TwoAccounts(NOT_FOUND)
    with pytest.raises(Unavailable):
        asyncio.run(getattr(RoutedAccounts("paystack", two.rails), step)(unknown))
    assert "open" not in two.current.called
    assert "close" not in two.current.called


def test_receipts_of_an_unknown_account_are_not_listed_with_the_keys_of_another() -> None:
    unknown = msgspec.structs.replace(ACCOUNT, account="gone")
    for answer in (NOT_FOUND, Answer(orders.UNKNOWN, None, "")):
        two = TwoAccounts(answer)
        with pytest.raises(Unavailable):
            asyncio.run(RoutedAccounts("paystack", two.rails).list_receipts(unknown, NOW))
        assert two.current.called == ["query"]
    two = TwoAccounts(PAID)
    asyncio.run(RoutedAccounts("paystack", two.rails).list_receipts(unknown, NOW))
    assert two.current.called == ["query", "list_receipts"], "only the key is another"


def test_receipt_is_asked_for_with_every_account_and_has_the_one_that_knows_it() -> None:
    for current, former, account in ((RECEIPT, None, "now"), (None, RECEIPT, "former")):
        two = TwoAccounts(current, former)
        found = asyncio.run(RoutedAccounts("paystack", two.rails).find_receipt("T1"))
        assert found is not None
        assert found.rail_account == account
    two = TwoAccounts(None, None)
    assert asyncio.run(RoutedAccounts("paystack", two.rails).find_receipt("T1")) is None
    two = TwoAccounts(None, Unavailable("away"))
    with pytest.raises(Unavailable):  # it may be the account that could not be asked
        asyncio.run(RoutedAccounts("paystack", two.rails).find_receipt("T1"))
    two = TwoAccounts(Unavailable("away"), RECEIPT)
    assert asyncio.run(RoutedAccounts("paystack", two.rails).find_receipt("T1")) is not None


def test_feeds_list_every_account_and_a_former_one_that_is_away_stops_nothing() -> None:
    two, listed = TwoAccounts(["new"], ["old"]), list[Any]()
    listed += asyncio.run(RoutedFeeds("paystack", two.rails).list_disputes(NOW))
    assert listed == ["new", "old"]
    two = TwoAccounts(["new"], Unavailable("revoked"))
    with capture_logs() as logs:
        listed = [*asyncio.run(RoutedFeeds("paystack", two.rails).list_settlements(NOW))]
    assert listed == ["new"]
    assert [line["event"] for line in logs] == ["a former account was not listed"]
    two = TwoAccounts(Unavailable("away"), ["old"])
    with pytest.raises(Unavailable):
        asyncio.run(RoutedFeeds("paystack", two.rails).list_disputes(NOW))
    two = TwoAccounts(None, "known")
    feeds: Any = RoutedFeeds("paystack", two.rails)
    assert asyncio.run(feeds.find_dispute("7")) == asyncio.run(feeds.find_settlement("8")) == "known"


def test_answer_to_a_dispute_goes_to_the_account_of_its_payment() -> None:
    two = TwoAccounts()
    disputes = RoutedDisputes("paystack", two.rails)
    asyncio.run(disputes.answer_dispute(DisputeAnswer("7", is_accepted=True, amount=1, account="former")))
    assert (two.former.called, two.current.called) == (["answer_dispute"], [])
    with pytest.raises(Unavailable):
        asyncio.run(disputes.answer_dispute(DisputeAnswer("7", is_accepted=True, amount=1, account="gone")))


# --- call-backs ------------------------------------------------------------------------------------------------------


def source_of(**settings: str) -> CallbackSource:
    environ = {f"KASUWA_{name.upper()}": value for name, value in settings.items()}

    async def run() -> CallbackSource:
        choice = RailChoice(read_settings(environ), Metrics(), DatabaseClock())
        try:
            assert "paystack" in choice.callback_hints()
            return choice.callback_sources()["paystack"]
        finally:
            await choice.close()

    return asyncio.run(run())


FORMER = '[{"rail": "paystack", "secret_key": "sk_test_0"}]'


def test_call_backs_of_a_former_account_are_accepted_while_its_keys_are_set() -> None:
    event = {"event": "transfer.success", "data": {"reference": "kz12-gp-fd-123456789-20260105j"}}
    both = source_of(paystack_secret_key="sk_test_1", rail_former_accounts=FORMER)
    only = source_of(rail_former_accounts=FORMER)
    new = source_of(paystack_secret_key="sk_test_1")
    assert both.accepted_body == only.accepted_body == new.accepted_body
    for key, accepting in (("sk_test_0", (both, only)), ("sk_test_1", (both, new)), ("sk_test_2", ())):
        body, headers = PaystackRules(key).sign(event)
        for source in (both, only, new):
            if source in accepting:
                source.find_order("", headers.get, body)
            else:
                with pytest.raises(CallbackRefused):
                    source.find_order("", headers.get, body)
