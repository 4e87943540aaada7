"""The rules of cards: what is refused and in which order, what changes, and what is written besides."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import FieldError, Posting
from kasuwa.core.token_index import TokenIndexEntry
from kasuwa.engine.batch import Deployment
from kasuwa.methods.virtualcard.model import CARD_TERMINATED, UNKNOWN_CARD, read_holder
from kasuwa.methods.virtualcard.rules import funding
from kasuwa.methods.virtualcard.rules.funding import (
    CARD_BLOCKED,
    CARD_EXPIRED,
    CARD_INSUFFICIENT,
    NO_FREE_CARD_NUMBER,
    NO_RATE,
    WALLET_INSUFFICIENT,
    FundingSource,
    WalletDebit,
)
from kasuwa.methods.virtualcard.wire import DoneReply
from kasuwa.terms.conversion import ExchangeRates
from kasuwa.terms.issuing import CardIssuingSettings
from tests.engine.toy import WALL, WORLD
from tests.methods.virtualcard import in_memory_cards as counters
from tests.methods.virtualcard.in_memory_cards import BILLING, RATE, InMemoryCards, dollars, naira
from tests.rule_context import with_terms
from tests.walk.bounds import WITHDRAWN


def done(message: str) -> DoneReply:
    return DoneReply(message=message)


def terminated(counter: InMemoryCards) -> str:
    reference = counter.create()
    counter.ask("terminate", reference=reference)
    return reference


# --- creating ----------------------------------------------------------------------------------------------------


def test_a_card_and_all_that_belongs_to_it_are_written_at_once() -> None:
    counter = dollars()
    reference = counter.create(amount="100.00", country="GH")
    card = counter.row(reference)
    assert reference == f"KSW|GVC|{int(WALL.timestamp())}|{card.short_id}"
    assert (card.state, card.unpaid, card.network, card.expiration) == ("active", 0, "visa", "2029-01")
    holder = read_holder(7, card.key, card.holder_sealed, WORLD.vault.unseal)
    assert msgspec.structs.asdict(holder) == {**BILLING, "country": "GH"}
    [job] = counter.jobs()
    assert (job.key, job.subject, job.lane, job.kind) == (
        card.fee_job,
        card.key,
        "virtualcard",
        "virtualcard.monthly",
    )
    assert job.due == datetime(2026, 2, 4, 23, tzinfo=UTC)
    [entry] = counter.database.all(TokenIndexEntry, 7)
    assert (entry.kind, entry.reference) == ("pan", reference)
    assert [(p.debit, p.credit, p.amount) for p in counter.database.postings[2:]] == [
        ("wallet:main:USD", card.account, 10_000),
        ("wallet:main:USD", "income:card:USD", 200),
        ("wallet:main:USD", "tax:vat:USD", 15),
    ]


def test_a_number_is_sealed_and_a_cvv_follows_from_it() -> None:
    counter = dollars()
    fields = {"billing": BILLING, "amount": 100, "currency": "USD"}
    shown = counter.ask("create", **fields).card_data
    card = counter.row(shown.reference)
    assert shown.cardpan.encode() not in msgspec.msgpack.encode(counter.rows())
    revealed = counter.ask("get", reference=shown.reference, reveal=True).card_data
    assert (revealed.cardpan, revealed.cvv) == (shown.cardpan, shown.cvv)
    [entry] = counter.database.audit_rows
    assert (entry.merchant_id, entry.actor, entry.subject) == (7, "merchant GP0000007", card.reference)


def test_a_number_that_is_taken_is_not_given_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A range of one digit's width: ten numbers, of which each card takes one."""
    world = Deployment(
        WORLD.vault,
        WORLD.number_permutation,
        terms={CardIssuingSettings: CardIssuingSettings("KSW", {"visa": "40000000000000"})},
    )
    monkeypatch.setattr(counters, "WORLD", world)
    monkeypatch.setattr(funding, "CANDIDATES", 60)
    counter = dollars()
    made = [counter.ask("create", billing=BILLING, amount=5, currency="USD") for _ in range(11)]
    assert made[10] is NO_FREE_CARD_NUMBER
    assert len({reply.card_data.cardpan for reply in made[:10]}) == 10


@pytest.mark.parametrize("entropy_source", ["key", "seed"])
def test_cards_of_one_batch_have_different_entropy(entropy_source: str) -> None:
    counter = dollars()
    world = Deployment(WORLD.vault, WORLD.number_permutation, b"seed" if entropy_source == "seed" else None)
    fields = {"billing": BILLING, "amount": 5, "currency": "USD"}
    asked = [counter.make(*counter.read("create", **fields)) for _ in range(20)]
    results = counter.database.run(asked, wall=WALL, world=world)
    assert len({result.reply.card_data.cardpan for result in results}) == 20  # type: ignore[union-attr]


# --- refusals, in order of precedence -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "action", ["fund", "withdraw", "terminate", "block", "unblock", "limits", "get", "card_purchase"]
)
def test_an_unknown_or_terminated_card_is_refused_first(action: str) -> None:
    fields = {"amount": 5, "limits": {"per_day": 5}, "reference": "KSW|GVC|1|x"}
    assert dollars().ask(action, **fields) is UNKNOWN_CARD


@pytest.mark.parametrize("action", ["fund", "withdraw", "terminate", "block", "unblock", "limits"])
def test_a_terminated_card_is_refused(action: str) -> None:
    counter = dollars()
    fields = {"amount": 5, "limits": {"per_day": 5}, "reference": terminated(counter)}
    before = counter.database.contents()
    assert counter.ask(action, **fields) is CARD_TERMINATED
    assert counter.database.contents() == before


def test_a_terminated_card_can_still_be_looked_at() -> None:
    counter = dollars()
    shown = counter.ask("get", reference=terminated(counter)).card_data
    assert (shown.status, shown.balance) == ("terminated", "0.00")


def test_funding_is_refused_by_state_then_expiry_then_amount_then_wallet() -> None:
    counter = dollars()
    reference = counter.create()
    counter.ask("block", reference=reference)
    counter.now += timedelta(days=5 * 365)
    assert counter.ask("fund", reference=reference, amount="0.01") is CARD_BLOCKED
    counter.ask("unblock", reference=reference)
    assert counter.ask("fund", reference=reference, amount="0.01") is CARD_EXPIRED
    counter.now = WALL
    limits = counter.ask("fund", reference=reference, amount="0.01")
    assert limits.field_errors == (FieldError("amount", "between 0.50 and 10000.00"),)
    full = counter.ask("fund", reference=reference, amount="9900.01")
    assert full.field_errors == (FieldError("amount", "a card may hold at most 10000.00"),)
    assert counter.ask("fund", reference=reference, amount="9900") is WALLET_INSUFFICIENT


@pytest.mark.parametrize("action", ["fund", "withdraw", "terminate"])
def test_without_a_rate_and_without_a_wallet_nothing_is_changed(action: str) -> None:
    counter = naira()
    reference = counter.create()
    counter.merchant = with_terms(counter.merchant, ExchangeRates())
    assert counter.ask(action, reference=reference, amount=5) is NO_RATE
    assert counter.ask("create", billing=BILLING, amount=100, currency="USD") is NO_RATE
    assert counter.ask("create", billing=BILLING, amount=1000, currency="NGN").status == 200


@WITHDRAWN.tries
def test_a_withdrawal_is_at_most_what_the_card_holds(value: str, is_within: bool) -> None:
    """One beyond it leaves no trace."""
    counter = dollars()
    reference = counter.create()
    before = counter.database.contents()
    assert (counter.ask("withdraw", reference=reference, amount=value) is not CARD_INSUFFICIENT) == is_within
    assert (counter.database.contents() != before) == is_within
    assert (CARD_INSUFFICIENT.code, "card" in CARD_INSUFFICIENT.message) == (301, True)


# --- fees of the tariff -------------------------------------------------------------------------------------------


def test_a_tariff_of_ones_own_is_charged_with_vat_from_the_wallet() -> None:
    own = {"virtual_card": {"USD": {"issuance": "0", "withdraw": "1.00", "terminate": "2.00"}}}
    counter = InMemoryCards(wallets={"USD": 20_000}, tariff=own)
    reference = counter.create(amount=100)
    assert counter.wallet() == 10_000
    counter.ask("withdraw", reference=reference, amount=10)
    assert counter.wallet() == 10_000 + 1_000 - 108
    counter.ask("terminate", reference=reference)
    assert counter.wallet() == 10_892 + 9_000 - 215
    assert [(r.narration, r.amount, r.fee) for r in counter.records(reference)[-4:]] == [
        ("VAT on Card Withdrawal Fee", 8, 0),
        ("Card Withdrawal", 1_000, 100),
        ("VAT on Card Termination Fee", 15, 0),
        ("Card Termination", 9_000, 200),
    ]


def test_a_fee_that_neither_wallet_nor_withdrawal_covers_is_the_wallets_to_pay() -> None:
    own = {"virtual_card": {"USD": {"issuance": "0", "withdraw": "5.00"}}}
    counter = InMemoryCards(wallets={"USD": 10_000}, tariff=own)
    reference = counter.create(amount=100)
    assert counter.ask("withdraw", reference=reference, amount=5) is WALLET_INSUFFICIENT
    assert counter.ask("withdraw", reference=reference, amount=6) == done("Withdrawal Successful")


@pytest.mark.parametrize(
    ("card", "text"),
    [
        ({"issuance": "two"}, "not a figure"),
        ({"monthly": "-1"}, "not a figure"),
        ({"fund": {"percent_above": "200"}}, "no percentage"),
        ({"fund": {"up_to": "x"}}, "not a figure"),
        ({"min_initial": "10000.01"}, "must not be above max_balance"),
    ],
)
def test_a_tariff_that_cards_cannot_be_charged_by_is_refused_when_it_is_set(card: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        InMemoryCards(wallets={}, tariff={"virtual_card": {"USD": card}})


# --- which wallet -------------------------------------------------------------------------------------------------


def test_a_funding_source_without_a_rate_is_the_wallet_of_the_currency() -> None:
    source = FundingSource("USD")
    taken = source.debit_wallet([WalletDebit("card:a:USD", 500, "x"), WalletDebit("income:card:USD", 0, "y")])
    assert taken == (Posting("wallet:main:USD", "card:a:USD", 500, "x"),)
    assert source.credit_wallet("card:a:USD", 500, "z") == (Posting("card:a:USD", "wallet:main:USD", 500, "z"),)


def test_a_funding_source_with_a_rate_goes_through_the_positions() -> None:
    source = FundingSource("USD", RATE)
    assert source.debit_wallet([WalletDebit("card:a:USD", 500, "x"), WalletDebit("tax:vat:USD", 1, "y")]) == (
        Posting("wallet:main:NGN", "fx:position:NGN", 771_540, "USD bought"),
        Posting("fx:position:USD", "card:a:USD", 500, "x"),
        Posting("fx:position:USD", "tax:vat:USD", 1, "y"),
    )
    assert source.credit_wallet("card:a:USD", 501, "z") == (
        Posting("card:a:USD", "fx:position:USD", 501, "z"),
        Posting("fx:position:NGN", "wallet:main:NGN", 751_500, "USD sold"),
    )
    assert source.credit_wallet("fx:position:USD", 2, "z") == (
        Posting("fx:position:NGN", "wallet:main:NGN", 3_000, "USD sold"),
    )
    assert source.debit_wallet([]) == source.debit_wallet([WalletDebit("card:a:USD", 0, "x")]) == ()


# --- states without money ---------------------------------------------------------------------------------------


def test_blocking_twice_and_unblocking_an_active_card_change_nothing() -> None:
    counter = dollars()
    reference = counter.create()
    before = counter.database.contents()
    assert counter.ask("unblock", reference=reference) == done("Card unblocked successfully")
    assert counter.database.contents() == before
    counter.ask("block", reference=reference)
    before = counter.database.contents()
    assert counter.ask("block", reference=reference) == done("Card blocked successfully")
    assert counter.database.contents() == before


# --- the monthly fee, run by whoever and whenever -----------------------------------------------------------------


def test_a_stale_job_run_again_takes_no_second_month() -> None:
    counter = dollars()
    reference = counter.create()
    (first,) = counter.jobs()
    counter.pass_time(first.due)
    assert counter.on_card(reference) == 10_000 - 108
    for _ in range(2):
        counter.run(first)
    assert counter.on_card(reference) == 10_000 - 108
    (again,) = counter.jobs()
    assert (again.due > first.due, again.attempt) == (True, 1)


def test_a_job_run_before_its_day_takes_nothing_and_stays() -> None:
    counter = dollars()
    reference = counter.create()
    (job,) = counter.jobs()
    counter.run(job)
    assert counter.on_card(reference) == 10_000
    assert [kept.due for kept in counter.jobs()] == [job.due]
    counter.pass_time(job.due)
    assert counter.on_card(reference) == 10_000 - 108
