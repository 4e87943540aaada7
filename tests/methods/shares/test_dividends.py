"""Dividends in memory: who gets one, to the kobo, page by page, once."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Refusal
from kasuwa.ledger import chart
from kasuwa.methods.investments.model import WALLET_INSUFFICIENT
from kasuwa.methods.shares import model
from kasuwa.methods.shares.model import HISTORY_DECODER, UNKNOWN_CLASS, compute_dividend
from kasuwa.methods.shares.rules import dividend as rules
from kasuwa.methods.shares.rules import membership
from kasuwa.methods.shares.rules.dividend import DIVIDEND_DECLARED, INVALID_RECORD_DATE, NO_DIVIDEND
from tests.methods.shares.society import PRICE, Society
from tests.walk.bounds import RECORD_DATE


@pytest.fixture
def society() -> Society:
    made = Society()
    made.member("ADA", 10)
    made.member("BOLA", 3)
    made.advance_to("2026-01-06")
    return made


def events(society: Society) -> list[tuple[Any, ...]]:
    payloads = [msgspec.json.decode(event.payload) for event in society.state.events if event.kind == "dividend"]
    return [(each["step"], each["chargedAmount"], each["gross"], each["withheld_tax"]) for each in payloads]


def pay(society: Society) -> None:
    """Lets the job pay all pages. They follow each other at once."""
    society.advance_to(society.today.isoformat(), 23)


def test_a_dividend_is_declared_and_paid_less_tax(society: Society) -> None:
    wallet = society.wallet
    reply = society.declare("10", "2026-01-05")
    assert (reply.data.state, reply.data.gross, reply.data.members) == ("paying", "1300.00", 2)
    assert society.wallet == wallet - 130_000
    pay(society)
    assert (society.saved("ADA"), society.saved("BOLA")) == (90_000, 27_000)
    paid = society.dividend(reply.data.dividend_id)
    assert (paid.state, paid.paid, paid.tax, paid.members_paid, paid.returned) == ("paid", 130_000, 13_000, 2, 0)
    assert events(society) == [("declared", "0.00", "1300.00", "0.00"), ("paid", "1300.00", "1300.00", "130.00")]
    assert not society.jobs("shares.")
    society.check()


def test_shares_count_as_they_were_at_the_end_of_the_record_date(society: Society) -> None:
    society.transfer("ADA", "BOLA", 10)
    society.member("CHI", 5)
    society.declare("10", "2026-01-05")
    pay(society)
    assert [society.saved(name) for name in ("ADA", "BOLA", "CHI")] == [90_000, 27_000, 0]
    society.check()


def test_a_purchase_and_a_sale_of_one_day_count_as_its_end(society: Society) -> None:
    society.buy("ADA", 90)
    society.transfer("ADA", "BOLA", 100)
    society.advance_to("2026-01-07")
    society.declare("10", "2026-01-06")
    pay(society)
    assert [society.saved(name) for name in ("ADA", "BOLA")] == [0, 103 * PRICE // 10 * 9 // 10]


def test_a_dry_run_explains_the_sum_and_takes_nothing(society: Society) -> None:
    wallet = society.wallet
    reply = society.declare("10", "2026-01-05", dry_run=True)
    assert (reply.dry_run, reply.data.dividend_id) == (True, None)
    assert [figure.amount for figure in reply.explained] == ["1300.00", "130.00", "1170.00"]
    assert (society.wallet, society.jobs("shares.")) == (wallet, [])


def test_a_class_without_tax_posts_none() -> None:
    society = Society(tax_rate="0")
    society.member("ADA", 10)
    society.advance_to("2026-01-06")
    society.declare("10", "2026-01-05")
    pay(society)
    assert (society.saved("ADA"), society.posted("dividend tax")) == (100_000, [])
    society.check()


def test_the_dividend_of_closed_savings_returns_to_the_wallet(society: Society) -> None:
    society.transfer("ADA", "BOLA", 10)
    society.cash_out(society.savings_of["ADA"], "0", client="ADA")
    wallet = society.wallet
    dividend_id = society.declare("10", "2026-01-05").data.dividend_id
    pay(society)
    paid = society.dividend(dividend_id)
    assert (paid.returned, paid.paid, paid.members_paid) == (100_000, 30_000, 1)
    assert society.wallet == wallet - 30_000
    society.check()


def test_a_dividend_repays_thrift_debts_first() -> None:
    society = Society()
    for name, deposit in (("ADA", "100.00"), ("BOLA", None)):
        society.member(name, deposit=deposit)
    society.buy("BOLA", 1)
    society.start_plan([society.savings_of["ADA"], society.savings_of["BOLA"]])
    society.advance_to("2026-01-10")
    before = society.saved("ADA")
    society.declare("20", "2026-01-09")
    pay(society)
    assert (society.saved("ADA"), society.saved("BOLA")) == (before + 10_000, 8_000)
    society.check()


def test_each_page_of_the_register_is_paid_in_a_commit_of_its_own(
    society: Society, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (membership, model):
        monkeypatch.setattr(module, "PAGE_HOLDERS", 2)
    for name in ("CHI", "DAN", "EVE"):
        society.member(name, 1)
    society.advance_to("2026-01-07")
    society.ran.clear()
    dividend_id = society.declare("10", "2026-01-06").data.dividend_id
    pay(society)
    assert society.ran.count(rules.PAY_DIVIDEND) == 3
    assert (society.dividend(dividend_id).members_paid, society.saved("EVE")) == (5, 9_000)
    society.check()


def test_a_job_that_runs_twice_pays_each_page_once(society: Society, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (membership, model):
        monkeypatch.setattr(module, "PAGE_HOLDERS", 2)
    society.member("CHI", 1)
    society.advance_to("2026-01-07")
    society.declare("10", "2026-01-06")
    [job] = society.jobs("shares.")
    first = msgspec.structs.replace(job)
    assert society.step(first).changes_anything
    assert not society.step(first).changes_anything
    pay(society)
    assert not society.step(first).changes_anything
    assert [society.saved(name) for name in ("ADA", "BOLA", "CHI")] == [90_000, 27_000, 9_000]
    society.check()


def test_whoever_joins_between_declaration_and_payment_gets_nothing(society: Society) -> None:
    society.declare("10", "2026-01-05")
    society.member("CHI", 5)
    pay(society)
    assert society.saved("CHI") == 0
    society.check()


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"class_id": "SCnone"}, UNKNOWN_CLASS),
        ({"record_date": "2026-01-06"}, INVALID_RECORD_DATE),
        ({"record_date": "2025-01-04"}, INVALID_RECORD_DATE),
        ({"record_date": "2026-01-04"}, NO_DIVIDEND.fill(day="2026-01-04", rate="10")),
        ({"rate": "0.000001"}, NO_DIVIDEND.fill(day="2026-01-05", rate="0.000001")),
    ],
)
def test_a_dividend_that_cannot_be_declared_is_refused(society: Society, fields: Any, refusal: Refusal) -> None:
    request = {"class_id": society.class_id, "rate": "10", "record_date": "2026-01-05", **fields}
    assert society.ask("declare_dividend", **request) == refusal


@RECORD_DATE.tries
def test_a_record_date_is_1_to_366_days_ago(value: int, is_within: bool) -> None:
    society = Society("2026-01-05")
    society.member("ADA", 10)
    society.advance_to("2027-06-01")
    day = society.today - timedelta(days=value)
    assert (society.declare("10", day.isoformat()) != INVALID_RECORD_DATE) == is_within


def test_a_day_has_one_dividend_of_a_class(society: Society) -> None:
    wallet = society.wallet
    society.declare("10", "2026-01-05")
    for rate, is_dry_run in (("10", False), ("5", False), ("10", True)):
        refusal = society.declare(rate, "2026-01-05", dry_run=is_dry_run)
        assert refusal == DIVIDEND_DECLARED.fill(day="2026-01-05")
    pay(society)
    assert society.wallet == wallet - 130_000
    assert society.declare("10", "2026-01-04") == NO_DIVIDEND.fill(day="2026-01-04", rate="10")
    society.check()


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_wallet_that_is_short_declares_nothing(society: Society, dry_run: bool) -> None:
    society.spend(society.wallet - 129_999)
    assert society.declare("10", "2026-01-05", dry_run=dry_run) == WALLET_INSUFFICIENT
    society.check()


def test_a_rate_of_zero_is_refused(society: Society) -> None:
    refusal = society.declare("0", "2026-01-05")
    assert [fault.field for fault in refusal.field_errors] == ["rate"]


def test_old_changes_of_a_holding_are_forgotten_but_not_what_it_had(society: Society) -> None:
    for day in ("2026-06-01", "2027-05-01", "2029-06-01"):
        society.advance_to(day)
        society.buy("ADA", 1)
    history = HISTORY_DECODER.decode(society.holding("ADA").history)
    assert [(day.isoformat(), shares) for day, shares in history] == [("2027-05-01", 12), ("2029-06-01", 13)]


# --- to the kobo --------------------------------------------------------------------------------------------

RATES = st.decimals("0.01", "120", places=2).map(str)


@given(shares=st.integers(1, 10_000), price=st.integers(1, 10_000_000), rate=RATES, tax_rate=RATES)
def test_a_dividend_is_the_exact_share_rounded_half_up(shares: int, price: int, rate: str, tax_rate: str) -> None:
    tax_rate = str(min(float(tax_rate), 100))
    dividend = compute_dividend(shares, price, rate, tax_rate)
    exact = Fraction(rate) / 100 * shares * price
    assert -Fraction(1, 2) < dividend.gross - exact <= Fraction(1, 2)
    assert -Fraction(1, 2) < dividend.tax - Fraction(tax_rate) / 100 * dividend.gross <= Fraction(1, 2)
    assert dividend.net >= 0


@given(
    holdings=st.lists(st.integers(1, 500), min_size=1, max_size=6), rate=RATES, tax_rate=st.sampled_from(["0", "7.5"])
)
def test_members_dividends_and_tax_come_to_what_left_the_wallet(holdings: list[int], rate: str, tax_rate: str) -> None:
    society = Society(price="33.33", tax_rate=tax_rate)
    for number, shares in enumerate(holdings):
        society.member(f"M{number}", shares)
    society.advance_to("2026-01-06")
    wallet = society.wallet
    reply = society.declare(rate, "2026-01-05")
    if isinstance(reply, Refusal):
        assert reply.error_code == NO_DIVIDEND.error_code
        return
    pay(society)
    tax = society.account("tax:withholding:NGN").posted
    received = sum(society.saved(f"M{number}") for number in range(len(holdings)))
    assert received + tax == wallet - society.wallet
    assert society.account(chart.dividend(reply.data.dividend_id)).posted == 0
    for number, shares in enumerate(holdings):
        own = compute_dividend(shares, 3_333, rate, tax_rate)
        assert society.saved(f"M{number}") == own.net
    society.check()


MEMBERS = st.sampled_from(["ADA", "BOLA", "CHI"])
ACTS = st.one_of(
    st.tuples(st.just("buy"), MEMBERS, st.integers(1, 9), st.sampled_from(["wallet", "savings"])),
    st.tuples(st.just("transfer"), MEMBERS, MEMBERS, st.integers(1, 9)),
    st.tuples(st.just("redeem"), MEMBERS, st.integers(1, 9)),
    st.tuples(st.just("decide"), st.sampled_from(["approve", "reject"])),
    st.tuples(st.just("dividend"), RATES),
    st.tuples(st.just("wait"), st.integers(1, 40)),
)


@given(acts=st.lists(ACTS, max_size=14))
def test_any_sequence_of_acts_keeps_the_laws(acts: list[Any]) -> None:
    society = Society()
    for name in ("ADA", "BOLA", "CHI"):
        society.member(name, deposit="3000.00")
    waiting: list[str] = []
    for kind, *args in acts:
        if kind == "buy":
            society.buy(*args)
        elif kind == "transfer":
            society.transfer(*args)
        elif kind == "redeem":
            reply = society.redeem(*args)
            waiting += [] if isinstance(reply, Refusal) else [reply.data.redemption_id]
        elif kind == "decide" and waiting:
            society.decide_redemption(args[0], waiting.pop())
        elif kind == "dividend":
            society.declare(args[0], society.yesterday)
        elif kind == "wait":
            society.wait(args[0])
        society.check()
    society.wait(1)
    society.check()
