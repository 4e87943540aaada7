"""Shares in memory: buying, transferring and redeeming them, and every refusal of these rules."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.callers import Caller
from kasuwa.core.decision import Refusal
from kasuwa.ledger import chart
from kasuwa.methods.clients.model import CLIENT_INACTIVE, UNKNOWN_CLIENT
from kasuwa.methods.investments.model import (
    SAVINGS_CLOSED,
    SAVINGS_INSUFFICIENT,
    UNKNOWN_SAVINGS,
    WALLET_INSUFFICIENT,
    savings_key,
)
from kasuwa.methods.shares import model
from kasuwa.methods.shares.model import UNKNOWN_CLASS, RegisterPage, page_key
from kasuwa.methods.shares.rules import membership, redemption
from kasuwa.methods.shares.rules.membership import (
    CLASS_FULL,
    FIXED_SAVINGS,
    NOT_THE_MEMBERS_SAVINGS,
    OTHER_SAVINGS,
    SAME_MEMBER,
    SAVINGS_REQUIRED,
    SHARES_INSUFFICIENT,
)
from kasuwa.methods.shares.rules.redemption import (
    DECIDED,
    MAKER_ENDED,
    OWN_REDEMPTION,
    UNKNOWN_REDEMPTION,
)
from kasuwa.transactions.second_party import COOLING_OFF
from tests.methods.investments.books import MERCHANT_ID
from tests.methods.shares.society import BOARD, PRICE, SECRETARY, Society
from tests.walk.bounds import HOLDERS, REDEMPTION_WAITS


@pytest.fixture
def society() -> Society:
    made = Society()
    made.member("ADA", 10)
    made.member("BOLA", deposit="5000.00")
    return made


def test_a_class_has_its_price_and_what_has_a_vote() -> None:
    society = Society(votes="share", tax_rate="5")
    record = model.make_class_record(society.share_class)
    assert (record.price, record.votes, record.tax_rate, record.members) == ("1000.00", "share", "5", 0)


def test_a_dry_run_of_a_class_stores_nothing() -> None:
    society = Society()
    reply = society.ask("create_share_class", name="Preference", price="5.00", dry_run=True)
    assert (reply.data.class_id, reply.dry_run) == (None, True)
    assert [one.name for one in society.state.rows.values() if isinstance(one, model.ShareClass)] == ["Ordinary"]


@pytest.mark.parametrize("shares", [0, 1_000_001])
def test_a_purchase_is_of_a_number_of_shares_within_its_bounds(society: Society, shares: int) -> None:
    refusal = society.buy("ADA", shares)
    assert [fault.field for fault in refusal.field_errors] == ["shares"]


def test_a_tax_rate_above_100_is_refused() -> None:
    refusal = Society().ask("create_share_class", name="Ordinary", price="1.00", tax_rate="100.5")
    assert [fault.field for fault in refusal.field_errors] == ["tax_rate"]


# --- buying -------------------------------------------------------------------------------------------------


def test_cash_brings_shares_out_of_the_wallet(society: Society) -> None:
    wallet = society.wallet
    reply = society.buy("ADA", 5)
    assert (reply.amount, reply.data.shares, reply.data.capital, reply.data.votes) == ("5000.00", 15, "15000.00", 1)
    assert (society.wallet, society.capital("ADA")) == (wallet - 5 * PRICE, 15 * PRICE)
    society.check()


def test_savings_pay_for_shares_and_stay_open_when_they_are_empty(society: Society) -> None:
    reply = society.buy("BOLA", 5, "savings")
    assert reply.data.savings_id == society.savings_of["BOLA"]
    assert (society.saved("BOLA"), society.savings(society.savings_of["BOLA"]).state) == (0, "active")
    society.check()
    refusal = society.cash_out(society.savings_of["BOLA"], "0", client="BOLA")
    assert "shares pay their dividends to them" in refusal.message


def test_each_share_has_a_vote_where_the_class_says_so() -> None:
    society = Society(votes="share")
    society.member("ADA", 7)
    assert society.buy("ADA", 1).data.votes == 8


def test_what_redeemed_shares_bring_repays_thrift_debts_first() -> None:
    society = Society()
    for name, deposit in (("ADA", "100.00"), ("BOLA", None)):
        society.member(name, deposit=deposit)
    society.start_plan([society.savings_of["ADA"], society.savings_of["BOLA"]])
    society.advance_to("2026-01-10")  # the first turn is Ada's, and Bola owes it
    before = society.saved("ADA")
    society.buy("BOLA", 1)
    asked = society.redeem("BOLA", 1).data
    shown = society.decide_redemption("approve", asked.redemption_id, dry_run=True)
    price = society.share_class.price // 100
    assert [(figure.what, figure.amount) for figure in shown.explained] == [
        ("state after", "approved"),
        ("amount", f"{price}.00"),
        ("thrift debt", "100.00"),
    ]
    assert society.saved("ADA") == before
    assert society.decide_redemption("approve", asked.redemption_id).data == shown.data
    assert society.saved("ADA") == before + 10_000
    assert society.posted("thrift debt")[-1][2] == 10_000
    society.check()


def test_a_dry_run_of_a_purchase_changes_nothing(society: Society) -> None:
    wallet = society.wallet
    reply = society.buy("BOLA", 5, dry_run=True)
    assert (reply.dry_run, reply.data.holding_id, reply.data.shares) == (True, None, 5)
    assert (society.wallet, society.share_class.shares, society.share_class.holders) == (wallet, 10, 1)
    society.check()


def test_a_member_who_sold_all_may_choose_other_savings(society: Society) -> None:
    society.transfer("ADA", "BOLA", 10)
    other = society.open_savings("ADA")
    reply = society.buy("ADA", 1, savings_id=other)
    assert reply.data.savings_id == other
    society.savings_of["ADA"] = other
    society.check()


def refuse_purchase(society: Society, case: str) -> Any:
    society.member("CHI")
    if case == "class":
        return society.buy("ADA", 1, class_id="SCnone")
    if case == "client":
        return society.ask(
            "buy_shares", class_id=society.class_id, client_id="NOBODY", shares=1, payment_method="wallet"
        )
    if case == "inactive":
        society.client("EVE", "inactive")
        return society.ask("buy_shares", class_id=society.class_id, client_id="EVE", shares=1, payment_method="wallet")
    if case == "no savings":
        return society.buy("CHI", 1, savings_id=None)
    if case == "unknown savings":
        return society.buy("CHI", 1, savings_id="SVnone")
    if case == "another's savings":
        return society.buy("CHI", 1, savings_id=society.savings_of["BOLA"])
    if case == "other savings":
        return society.buy("ADA", 1, savings_id=society.open_savings("ADA"))
    if case == "closed savings":
        society.cash_out(society.savings_of["CHI"], "0", client="CHI")
        return society.buy("CHI", 1)
    if case == "fixed deposit":
        return society.buy("CHI", 1, savings_id=society.open_savings("CHI", period=None, term_days=30))
    if case == "wallet":
        return society.buy("CHI", 1_000_000)
    return society.buy("BOLA", 6, "savings")


@pytest.mark.parametrize(
    ("case", "refusal"),
    [
        ("class", UNKNOWN_CLASS),
        ("client", UNKNOWN_CLIENT),
        ("inactive", CLIENT_INACTIVE.fill(status="inactive")),
        ("no savings", SAVINGS_REQUIRED),
        ("unknown savings", UNKNOWN_SAVINGS),
        ("another's savings", NOT_THE_MEMBERS_SAVINGS),
        ("other savings", OTHER_SAVINGS),
        ("closed savings", SAVINGS_CLOSED),
        ("fixed deposit", FIXED_SAVINGS),
        ("wallet", WALLET_INSUFFICIENT),
        ("savings", SAVINGS_INSUFFICIENT),
    ],
)
def test_a_purchase_that_cannot_be_made_is_refused(society: Society, case: str, refusal: Refusal) -> None:
    assert refuse_purchase(society, case) == refusal
    assert society.share_class.shares == 10
    society.check()


@HOLDERS.tries
def test_a_register_takes_2000_members_and_no_more(society: Society, value: int, is_within: bool) -> None:
    society.share_class.holders = value - 1
    assert (society.buy("BOLA", 1) != CLASS_FULL) == is_within


def test_the_register_continues_on_another_page(society: Society, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "PAGE_HOLDERS", 2)
    for name in ("BOLA", "CHI"):
        if name == "CHI":
            society.member(name)
        society.buy(name, 1)
    pages = [society.row(RegisterPage, page_key(MERCHANT_ID, society.class_id, number)) for number in (0, 1)]
    assert [page.members for page in pages] == ["ADA,BOLA", "CHI"]


# --- transfers ----------------------------------------------------------------------------------------------


def test_a_transfer_moves_shares_and_what_was_paid_for_them(society: Society) -> None:
    reply = society.transfer("ADA", "BOLA", 4)
    assert (reply.data.shares, reply.to.shares, society.holding("BOLA").position) == (6, 4, 2)
    assert (society.capital("ADA"), society.capital("BOLA")) == (6 * PRICE, 4 * PRICE)
    assert society.posted("shares transferred")[0][2] == 4 * PRICE
    society.check()


def test_who_transfers_all_shares_can_close_the_savings(society: Society) -> None:
    society.transfer("ADA", "BOLA", 10)
    assert society.cash_out(society.savings_of["ADA"], "0", client="ADA").message.endswith("closed")
    assert society.open_accounts("ADA") == 0


def test_a_dry_run_of_a_transfer_changes_nothing(society: Society) -> None:
    reply = society.transfer("ADA", "BOLA", 4, dry_run=True)
    assert (reply.dry_run, reply.data.shares, reply.to.shares) == (True, 6, 4)
    assert society.holding("ADA").shares == 10
    society.check()


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"class_id": "SCnone"}, UNKNOWN_CLASS),
        ({"to_client_id": "ADA"}, SAME_MEMBER),
        ({"client_id": "NOBODY"}, UNKNOWN_CLIENT),
        ({"shares": 11}, SHARES_INSUFFICIENT.fill(free=10)),
        ({"client_id": "BOLA", "to_client_id": "ADA"}, SHARES_INSUFFICIENT.fill(free=0)),
        ({"to_client_id": "NOBODY"}, UNKNOWN_CLIENT),
        ({"savings_id": None}, SAVINGS_REQUIRED),
    ],
)
def test_a_transfer_that_cannot_be_made_is_refused(society: Society, fields: Any, refusal: Refusal) -> None:
    ordinary = {"client_id": "ADA", "to_client_id": "BOLA", "shares": 1, "class_id": society.class_id}
    request = {**ordinary, "savings_id": society.savings_of["BOLA"], **fields}
    assert society.ask("transfer_shares", **request) == refusal
    society.check()


# --- redemptions --------------------------------------------------------------------------------------------


def events(society: Society) -> list[str]:
    return [event.reference for event in society.state.events if event.kind == redemption.EVENT_KIND]


def test_a_redemption_keeps_who_asked_without_the_addresses_of_the_key(society: Society) -> None:
    society.speak(msgspec.structs.replace(SECRETARY, addresses=("192.0.2.0/24",)))
    asked = society.redeem("ADA", 1).data
    assert model.MAKER_DECODER.decode(society.redemption(asked.redemption_id).maker) == SECRETARY


def test_a_redemption_is_paid_when_somebody_else_approves_it(society: Society) -> None:
    asked = society.redeem("ADA", 4).data
    assert (asked.state, asked.amount, asked.requested_by) == ("waiting", "4000.00", "key 1 (secretary)")
    assert (society.holding("ADA").reserved, society.saved("ADA")) == (4, 0)
    done = society.decide_redemption("approve", asked.redemption_id)
    assert (done.data.state, done.data.decided_by) == ("approved", "key 2 (board)")
    assert (society.saved("ADA"), society.capital("ADA")) == (4 * PRICE, 6 * PRICE)
    assert events(society) == [f"{asked.redemption_id}:1", f"{asked.redemption_id}:2"]
    assert not society.jobs("shares.")
    society.check()


def test_whoever_redeems_everything_can_leave(society: Society) -> None:
    society.redeem_all("ADA")
    assert society.cash_out(society.savings_of["ADA"], "10000.00", client="ADA").status == 200
    assert society.open_accounts("ADA") == 0
    society.check()


def test_the_same_verdict_again_pays_once(society: Society) -> None:
    asked = society.redeem("ADA", 4).data
    for _ in range(2):
        assert society.decide_redemption("approve", asked.redemption_id).data.state == "approved"
    assert society.saved("ADA") == 4 * PRICE
    society.check()


def test_a_rejected_redemption_frees_the_shares(society: Society) -> None:
    asked = society.redeem("ADA", 4).data
    assert society.transfer("ADA", "BOLA", 7) == SHARES_INSUFFICIENT.fill(free=6)
    assert society.decide_redemption("reject", asked.redemption_id, SECRETARY).data.state == "rejected"
    assert (society.holding("ADA").reserved, society.holding("ADA").shares) == (0, 10)
    assert society.decide_redemption("approve", asked.redemption_id) == DECIDED.fill(state="rejected")
    society.check()


@REDEMPTION_WAITS.tries
def test_a_redemption_that_nobody_decides_expires_after_30_days(
    society: Society, value: tuple[str, int], is_within: bool
) -> None:
    asked = society.redeem("ADA", 4).data
    society.advance_to(*value)
    assert (society.redemption(asked.redemption_id).state == "waiting") == is_within
    assert society.holding("ADA").reserved == (4 if is_within else 0)
    assert len(events(society)) == (1 if is_within else 2)
    society.check()


def test_a_redemption_is_not_approved_after_its_time_even_if_the_job_is_late(society: Society) -> None:
    asked = society.redeem("ADA", 4).data
    society.book.clock_fixed_at = society.redemption(asked.redemption_id).expires_at
    assert society.decide_redemption("approve", asked.redemption_id) == DECIDED.fill(state="expired")


def test_an_expiry_that_runs_twice_ends_it_once(society: Society) -> None:
    asked = society.redeem("ADA", 4).data
    [job] = society.jobs("shares.")
    society.advance_to("2026-02-05")
    assert not society.step(job).changes_anything
    assert society.redemption(asked.redemption_id).state == "expired"
    society.check()


def test_an_expiry_that_comes_too_early_is_put_back(society: Society) -> None:
    society.redeem("ADA", 4)
    [job] = society.jobs("shares.")
    assert [one.key for one in society.step(job).jobs] == [job.key]
    assert society.holding("ADA").reserved == 4


@pytest.mark.parametrize(
    ("caller", "refusal"),
    [
        (SECRETARY, OWN_REDEMPTION),
        (Caller("rolled", key_id=9, lineage=1), OWN_REDEMPTION),
        (Caller("new", key_id=3, lineage=3, is_cooling_off=True), COOLING_OFF),
    ],
)
def test_not_everybody_may_approve_a_redemption(society: Society, caller: Caller, refusal: Refusal) -> None:
    asked = society.redeem("ADA", 4).data
    assert society.decide_redemption("approve", asked.redemption_id, caller) == refusal
    assert society.saved("ADA") == 0
    society.check()


def test_a_redemption_of_a_key_that_was_revoked_is_not_approved(society: Society) -> None:
    asked = society.redeem("ADA", 4).data
    society.ended = frozenset({SECRETARY})
    assert society.decide_redemption("approve", asked.redemption_id) == MAKER_ENDED
    assert society.decide_redemption("reject", asked.redemption_id).data.state == "rejected"


def test_an_unknown_redemption_is_refused(society: Society) -> None:
    assert society.decide_redemption("approve", "SRnone", BOARD) == UNKNOWN_REDEMPTION


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"class_id": "SCnone"}, UNKNOWN_CLASS),
        ({"client_id": "NOBODY"}, UNKNOWN_CLIENT),
        ({"shares": 11}, SHARES_INSUFFICIENT.fill(free=10)),
        ({"client_id": "BOLA"}, SHARES_INSUFFICIENT.fill(free=0)),
    ],
)
def test_a_redemption_that_cannot_be_made_is_refused(society: Society, fields: Any, refusal: Refusal) -> None:
    ordinary = {"client_id": "ADA", "shares": 1, "class_id": society.class_id}
    assert society.ask("redeem_shares", **{**ordinary, **fields}) == refusal


def test_a_dry_run_of_a_redemption_reserves_nothing(society: Society) -> None:
    reply = society.redeem("ADA", 4, dry_run=True)
    assert (reply.dry_run, reply.data.redemption_id, society.holding("ADA").reserved) == (True, None, 0)
    assert [(figure.what, figure.amount) for figure in reply.explained] == [("amount", reply.data.amount)]


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_a_dry_run_of_a_verdict_is_refused_as_the_verdict_is(society: Society, verdict: str) -> None:
    asked = society.redeem("ADA", 4).data
    for dry_run in (True, False):
        assert society.decide_redemption(verdict, "SRnone", dry_run=dry_run) == redemption.UNKNOWN_REDEMPTION
    for dry_run in (True, False) if verdict == "approve" else ():
        own = society.decide_redemption(verdict, asked.redemption_id, SECRETARY, dry_run=dry_run)
        assert own == redemption.OWN_REDEMPTION
    shown = society.decide_redemption(verdict, asked.redemption_id, dry_run=True)
    assert (shown.dry_run, society.holding("ADA").reserved) == (True, 4)
    assert society.decide_redemption(verdict, asked.redemption_id).data == shown.data
    again = society.decide_redemption(verdict, asked.redemption_id, dry_run=True)
    assert (again.data, again.explained) == (shown.data, [])


def test_the_account_of_a_holding_follows_from_class_and_member(society: Society) -> None:
    account = membership.find_holding_account(society.class_id, "ADA")
    assert account == chart.shares(society.holding("ADA").holding_id)
    assert savings_key(MERCHANT_ID, society.savings_of["ADA"]) in society.state.rows
