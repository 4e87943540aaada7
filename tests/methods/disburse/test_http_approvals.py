"""Transfers that wait for approval, over HTTP: who may release them, when they end, and what crosses them."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest

from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient, Wallet
from tests.running import Deployment
from tests.walk.bounds import SENT_ALONE
from tests.webhooks.event_log import send_events_to
from tests.webhooks.inbox import Inbox, running_inbox

NOW = "2026-01-05T09:30:00+01:00"
OTHER_ACCOUNT = "0123456785"


class Team(NamedTuple):
    """A merchant with three keys: one of everything, one that pays, one that approves."""

    shop: MerchantClient
    payer: MerchantClient
    approver: MerchantClient

    def set_policy(self, **policy: Any) -> None:
        reply = self.shop.put("sandbox", action="payout_policy", **policy).body
        assert reply["status"] == 200, reply

    def decide(self, verdict: str, reference: str, by: MerchantClient | None = None) -> Any:
        return (by or self.approver).put("disburse", action=verdict, txnRef=reference).body


def with_key(shop: MerchantClient, *scopes: str) -> MerchantClient:
    made = shop.put("sandbox", action="new_key", name="-".join(scopes), scopes=scopes).body
    return MerchantClient(shop.connection, shop.mid, made["key"])


@pytest.fixture
def team(open_shop: Callable[..., MerchantClient]) -> Team:
    shop = open_shop(now=NOW)
    return Team(shop, with_key(shop, "payout"), with_key(shop, "approve", "read"))


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


def test_a_transfer_of_the_amount_is_sent_and_more_waits(team: Team) -> None:
    team.set_policy(approve_above="1000.00")
    for amount, is_within in SENT_ALONE.sides:
        sent = team.payer.transfer(amount=amount)
        assert sent["txnStatus"] == ("successful" if is_within else "pending"), amount
        assert ("Waiting for approval" in sent["message"]) != is_within


def test_a_transfer_above_the_amount_waits_until_another_key_approves_it(team: Team) -> None:
    team.set_policy(approve_above="1000.00")
    assert team.payer.transfer(amount="1000.00")["txnStatus"] == "successful"
    before = team.shop.wallet()
    first = team.payer.transfer(amount="1000.01", orderRef="big")
    assert {name: first[name] for name in ("status", "txnStatus", "message")} == {
        "status": 200,
        "txnStatus": "pending",
        "message": "Waiting for approval",
    }
    held = team.shop.wallet()
    assert (held.balance, held.available < before.available) == (before.balance, True)
    assert team.payer.transfer(amount="1000.01", orderRef="big") == first, "a repeat is answered alike"
    assert team.payer.transfer(amount="1000.02", orderRef="big")["status"] == 104
    verified = team.payer.put("disburse", action="verify", txnRef="big").body
    assert verified["approval"] == {
        "state": "waiting",
        "reasons": ["the amount is above 1000.00"],
        "requested_by": "key 2 (payout)",
        "expires_at": "2026-01-08T08:30:00.000Z",
    }
    assert team.decide("approve", first["txnRef"], team.payer)["status"] == 101
    done = team.decide("approve", first["txnRef"])
    assert (done["status"], done["txnStatus"], done["txnRef"]) == (200, "successful", first["txnRef"])
    assert team.decide("approve", first["txnRef"]) == done, "the same verdict again is answered with the state"
    assert "approved already" in team.decide("reject", first["txnRef"])["message"]
    approval = team.payer.put("disburse", action="verify", txnRef="big").body["approval"]
    assert (approval["state"], approval["decided_by"]) == ("approved", "key 3 (approve-read)")
    assert team.shop.wallet().held == 0


def test_a_dry_run_says_that_a_transfer_would_wait_and_not_why(team: Team) -> None:
    """It leaves no trace, so a stolen key could try out the limits one by one."""
    team.set_policy(approve_above="1000.00")
    order: dict[str, Any] = {
        "action": "transfer",
        "bankcode": "058",
        "accountnumber": "0000000000",
        "dry_run": True,
    }
    for amount, expected in (("1000.00", []), ("1000.01", ["by the policy for money out"])):
        shown = team.payer.put("disburse", amount=amount, **order).body["explained"]
        assert [figure["how"] for figure in shown if figure["what"] == "approval"] == expected


def test_whoever_made_a_transfer_cannot_approve_it(team: Team, deployment: Deployment) -> None:
    team.set_policy(approve_above="0.00")
    both = with_key(team.shop, "payout", "approve")
    own = both.transfer()["txnRef"]
    assert "cannot approve" in team.decide("approve", own, both)["message"]
    both.key = deployment.run_command("merchant", "roll-key", team.shop.mid, "--key-id", "4").split()[-1]
    assert "cannot approve" in team.decide("approve", own, both)["message"], "a rolled key is the same key"
    mine = team.shop.transfer()["txnRef"]
    assert "cannot approve" in team.decide("approve", mine, team.shop)["message"]
    assert team.decide("approve", own, team.shop)["txnStatus"] == "successful"
    assert team.decide("reject", mine, team.shop)["txnStatus"] == "failed", "but can take it back"


def revoke(team: Team, deployment: Deployment, key_id: int) -> None:
    deployment.run_command("merchant", "revoke-key", team.shop.mid, str(key_id))


def test_what_a_revoked_key_sent_is_rejected_but_not_approved(team: Team, deployment: Deployment) -> None:
    team.set_policy(approve_above="0.00")
    before = team.shop.wallet()
    sent, executed = team.payer.transfer()["txnRef"], team.payer.transfer()["txnRef"]
    bulk = team.payer.bulk([{**ORDER, "orderRef": f"revoked-{n}"} for n in range(2)])["batchRef"]
    approved = team.decide("approve", executed)
    revoke(team, deployment, 2)
    for reference in (sent, bulk):
        refused = team.decide("approve", reference)
        assert (refused["status"], "was revoked" in refused["message"]) == (104, True)
    assert team.decide("approve", executed) == approved, "it was sent before"
    assert team.shop.verify(sent)["approval"]["state"] == "waiting"
    assert team.decide("reject", sent)["txnStatus"] == "failed"
    assert len(team.decide("reject", bulk)["data"]) == 2
    assert (team.shop.wallet().held, team.shop.wallet().balance < before.balance) == (0, True)


def test_what_a_revoked_key_sent_fails_if_nobody_rejects_it(team: Team, deployment: Deployment) -> None:
    team.set_policy(approve_above="0.00")
    team.payer.transfer(orderRef="left")
    revoke(team, deployment, 2)
    team.shop.advance(hours=72)
    assert team.shop.verify("left")["approval"]["state"] == "expired"


def test_what_a_rolled_key_sent_is_approved_until_it_or_its_successor_is_revoked(
    team: Team, deployment: Deployment
) -> None:
    team.set_policy(approve_above="0.00")
    first, second, third = (team.payer.transfer()["txnRef"] for _ in range(3))
    for key_id, hours in (("2", "0"), ("4", "1")):
        deployment.run_command("merchant", "roll-key", team.shop.mid, "--key-id", key_id, "--overlap-hours", hours)
    assert team.decide("approve", first)["txnStatus"] == "successful"
    revoke(team, deployment, 4)
    assert "was revoked" in team.decide("approve", second)["message"], "its successor was revoked, not rolled away"
    assert team.decide("reject", third)["txnStatus"] == "failed"


def test_a_rejected_transfer_fails_and_its_money_is_released(team: Team) -> None:
    team.set_policy(approve_above="0.00")
    before = team.shop.wallet()
    waiting = team.payer.transfer(orderRef="no")
    rejected = team.decide("reject", waiting["txnRef"])
    assert (rejected["txnStatus"], rejected["message"]) == ("failed", "Rejected by key 3 (approve-read)")
    assert team.decide("reject", waiting["txnRef"])["txnStatus"] == "failed"
    assert "rejected already" in team.decide("approve", waiting["txnRef"])["message"]
    assert (team.shop.wallet(), team.payer.transfer(orderRef="no")["txnStatus"]) == (before, "failed")
    assert team.decide("approve", "GP|FD|1")["status"] == 104


def test_a_transfer_that_nobody_decides_fails_after_72_hours(team: Team) -> None:
    team.set_policy(approve_above="0.00")
    before = team.shop.wallet()
    waiting = team.payer.transfer(orderRef="late")["txnRef"]
    team.shop.put("sandbox", action="advance", hours=71)
    assert team.shop.verify("late")["approval"]["state"] == "waiting"
    team.shop.put("sandbox", action="advance", hours=1)
    ended = team.shop.verify("late")
    assert (ended["txnStatus"], ended["approval"]["state"]) == ("failed", "expired")
    assert "decided_by" not in ended["approval"]
    assert (team.shop.wallet(), "not approved in time" in team.decide("approve", waiting)["message"]) == (before, True)


@pytest.mark.parametrize("verdicts", [("approve", "approve"), ("approve", "reject")])
def test_verdicts_at_the_same_time_take_effect_once(
    team: Team, deployment: Deployment, verdicts: tuple[str, str]
) -> None:
    team.set_policy(approve_above="0.00")
    waiting = team.payer.transfer(orderRef="race")["txnRef"]

    def decide(verdict: str) -> Any:
        with deployment.connect() as wire:
            caller = MerchantClient(wire, team.shop.mid, team.approver.key)
            return caller.put("disburse", action=verdict, txnRef=waiting).body

    with ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(decide, verdicts))
    ended = team.shop.verify("race")
    assert ended["txnStatus"] in ("successful", "failed")
    assert team.shop.wallet().held == 0
    if verdicts[0] == verdicts[1]:
        assert {(reply["status"], reply["txnStatus"]) for reply in replies} == {(200, "successful")}
    else:
        assert sorted(reply["status"] for reply in replies) == [104, 200]
    sent = deployment.fetch("select count(*) from posting where reference = $1 and kind = 'transfer'", waiting)
    assert sent[0][0] == (ended["txnStatus"] == "successful")


def test_a_rail_fault_after_the_approval_does_not_send_it_twice(team: Team) -> None:
    team.set_policy(approve_above="0.00")
    waiting = team.payer.transfer(orderRef="fault")["txnRef"]
    team.shop.put("sandbox", action="fault", rail="bank", kind="timeout")
    assert team.decide("approve", waiting)["txnStatus"] == "processing"
    team.shop.put("sandbox", action="advance", minutes=5)
    assert team.shop.verify("fault")["txnStatus"] == "successful"
    assert team.shop.wallet().held == 0


def test_the_other_reasons_of_the_policy(team: Team) -> None:
    paid: dict[str, Any] = {"accountnumber": OTHER_ACCOUNT}
    assert team.payer.transfer(**paid, bankcode="000013")["txnStatus"] == "successful"
    team.set_policy(approve_new_beneficiary=True, approve_daily_above="4000.00")
    assert team.payer.transfer(**paid, bankcode="000013")["txnStatus"] == "successful", "paid before the policy"
    new = team.payer.transfer(orderRef="new")
    assert team.shop.verify("new")["approval"]["reasons"] == ["the beneficiary was never paid before"]
    team.decide("approve", new["txnRef"])
    # 3,000.00 were counted, and this would make 4,500.00.
    over = team.payer.transfer(orderRef="over")
    assert team.shop.verify("over")["approval"]["reasons"] == ["the day's total is above 4000.00"]
    assert team.payer.transfer(amount="1000.00")["txnStatus"] == "pending", "what waits is counted"
    team.decide("reject", over["txnRef"])
    team.shop.put("sandbox", action="advance", days=1)
    assert team.payer.transfer()["txnStatus"] == "successful"


def test_a_beneficiary_is_known_by_a_transfer_that_began_before_the_policy(team: Team) -> None:
    team.shop.put("sandbox", action="fault", rail="bank", kind="timeout", times=1)
    assert team.payer.transfer(orderRef="before")["txnStatus"] == "processing"
    team.set_policy(approve_new_beneficiary=True)
    team.shop.advance(minutes=5)
    assert team.shop.verify("before")["txnStatus"] == "successful"
    assert team.payer.transfer()["txnStatus"] == "successful"


def test_a_bulk_is_approved_as_a_whole_or_order_by_order(team: Team) -> None:
    team.set_policy(approve_bulk=True)
    assert team.payer.transfer()["txnStatus"] == "successful"
    order = {"amount": "100.00", "bankcode": "058", "accountnumber": "0000000000"}
    bulk = team.payer.bulk([{**order, "orderRef": f"b-{n}"} for n in range(4)])
    assert {line["txnStatus"] for line in bulk["data"]} == {"pending"}
    first, second = (line["txnRef"] for line in bulk["data"][:2])
    assert team.decide("approve", first)["txnStatus"] == "successful"
    assert team.decide("reject", second)["txnStatus"] == "failed"
    whole = team.decide("approve", bulk["batchRef"])
    assert (whole["batchRef"], len(whole["data"])) == (bulk["batchRef"], 2)
    team.shop.put("sandbox", action="advance", minutes=1)
    states = [line["txnStatus"] for line in team.shop.verify(bulk["batchRef"])["data"]]
    assert states == ["successful", "failed", "successful", "successful"]
    again = team.shop.bulk([order, order])
    assert "cannot approve" in team.decide("approve", again["batchRef"], team.shop)["message"]
    assert team.decide("reject", again["batchRef"])["txnStatus"] == "failed"
    assert team.shop.wallet().held == 0


ORDER = {"amount": "100.00", "bankcode": "058", "accountnumber": "0000000000"}


@pytest.mark.parametrize(("verdict", "other"), [("approve", "reject"), ("reject", "approve")])
def test_the_same_verdict_on_a_bulk_again_is_answered_with_the_state(team: Team, verdict: str, other: str) -> None:
    team.set_policy(approve_new_beneficiary=True)
    batch_ref = team.payer.bulk([{**ORDER, "orderRef": f"again-{n}"} for n in range(3)])["batchRef"]
    first = team.decide(verdict, batch_ref)
    assert (first["status"], len(first["data"])) == (200, 3)
    team.shop.put("sandbox", action="advance", minutes=1)
    again = team.decide(verdict, batch_ref)
    assert {name: again[name] for name in ("status", "batchRef", "message")} == {
        name: first[name] for name in ("status", "batchRef", "message")
    }
    assert again["txnStatus"] == {"approve": "successful", "reject": "failed"}[verdict]
    verified = team.shop.verify(batch_ref)["data"]
    assert [(line["txnRef"], line["txnStatus"]) for line in again["data"]] == [
        (line["txnRef"], line["txnStatus"]) for line in verified
    ]
    refused = team.decide(other, batch_ref)
    assert (refused["status"], "No order of this bulk waits" in refused["message"]) == (104, True)


def test_a_bulk_decided_one_by_one_is_answered_with_the_orders_of_the_verdict(team: Team) -> None:
    team.set_policy(approve_bulk=True)
    bulk = team.payer.bulk([{**ORDER, "orderRef": f"each-{n}"} for n in range(3)])
    refs = [line["txnRef"] for line in bulk["data"]]
    for verdict, reference in zip(("approve", "reject", "approve"), refs, strict=True):
        assert team.decide(verdict, reference)["status"] == 200
    approved, rejected = (team.decide(verdict, bulk["batchRef"]) for verdict in ("approve", "reject"))
    assert [line["txnRef"] for line in approved["data"]] == [refs[0], refs[2]]
    assert [line["txnRef"] for line in rejected["data"]] == [refs[1]]
    assert (approved["txnStatus"], rejected["txnStatus"]) == ("successful", "failed")


def test_approvals_of_a_bulk_at_the_same_time_take_effect_once(team: Team, deployment: Deployment) -> None:
    team.set_policy(approve_bulk=True)
    batch_ref = team.payer.bulk([{**ORDER, "orderRef": f"race-{n}"} for n in range(3)])["batchRef"]

    def approve(_: int) -> Any:
        with deployment.connect() as wire:
            caller = MerchantClient(wire, team.shop.mid, team.approver.key)
            return caller.put("disburse", action="approve", txnRef=batch_ref).body

    with ThreadPoolExecutor(3) as pool:
        replies = list(pool.map(approve, range(3)))
    assert [(reply["status"], reply["message"]) for reply in replies] == [(200, "Approved 3 orders")] * 3
    team.shop.put("sandbox", action="advance", minutes=1)
    refs = [line["txnRef"] for line in replies[0]["data"]]
    sent = deployment.fetch("select count(*) from posting where reference = any($1) and kind = 'transfer'", refs)
    assert sent[0][0] == 3
    assert team.shop.wallet().held == 0


def test_limits_refuse_by_name_and_failed_transfers_do_not_count(team: Team) -> None:
    team.set_policy(
        limits={"hourly_count": 3, "daily_amount": "6000.00"}, beneficiary_limits={"daily_count": 2, "hourly_count": 9}
    )
    assert team.payer.transfer()["status"] == 200
    assert team.payer.transfer(headers={"x-sandbox-scenario": "rr=05"})["txnStatus"] == "failed"
    assert team.payer.transfer()["status"] == 200
    third = team.payer.transfer()
    assert (third["status"], third["message"]) == (
        104,
        "amount: beyond the limit beneficiary daily_count: at most 2 a day",
    )
    other: dict[str, Any] = {"accountnumber": OTHER_ACCOUNT, "bankcode": "000013"}
    over = team.payer.transfer(**other, amount="3000.01")
    assert over["message"] == "amount: beyond the limit daily_amount: at most 6000.00 a day"
    assert team.payer.transfer(**other)["status"] == 200
    assert "hourly_count: at most 3 an hour" in team.payer.transfer(**other, amount="1.00")["message"]
    team.shop.put("sandbox", action="advance", hours=1)
    assert team.payer.transfer(**other, amount="1.00")["status"] == 200
    lines = team.payer.bulk([{**other, "amount": "2.00", "orderRef": "one"}, {**other, "amount": "9000.00"}])["data"]
    assert [line["txnStatus"] for line in lines] == ["failed", "failed"], "two a day to this beneficiary"
    team.set_policy(limits={"daily_count": 0}, on_limit="approve")
    waiting = team.payer.transfer(orderRef="late")
    assert waiting["message"] == "Waiting for approval"
    assert team.shop.verify("late")["approval"]["reasons"] == ["beyond the limit daily_count: at most 0 a day"]


def test_limits_are_exact_under_concurrency(team: Team, deployment: Deployment) -> None:
    team.set_policy(limits={"daily_count": 5})

    def send(number: int) -> int:
        with deployment.connect() as wire:
            reply = MerchantClient(wire, team.shop.mid, team.payer.key).transfer(orderRef=f"c-{number}")
        return int(reply["status"])

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(send, range(12)))
    assert (statuses.count(200), statuses.count(104)) == (5, 7)
    line = {"amount": "1.00", "bankcode": "058", "accountnumber": "0000000000"}
    team.set_policy(limits={"daily_count": 7})
    assert [one["txnStatus"] for one in team.shop.bulk([line] * 4)["data"]].count("failed") == 2


def test_a_rejected_bulk_gives_back_all_that_it_counted(team: Team) -> None:
    team.set_policy(approve_bulk=True, limits={"daily_amount": "9000.00"})
    line = {"amount": "3000.00", "bankcode": "058", "accountnumber": "0000000000"}
    bulk = team.payer.bulk([{**line, "orderRef": f"r-{n}"} for n in range(3)])
    assert {one["txnStatus"] for one in bulk["data"]} == {"pending"}
    assert team.payer.transfer(amount="1.00")["status"] == 104
    assert len(team.decide("reject", bulk["batchRef"])["data"]) == 3
    assert team.payer.transfer(amount="9000.00")["txnStatus"] == "successful"
    assert team.payer.transfer(amount="1.00")["status"] == 104


def test_a_reset_ends_the_wait_with_the_old_books(team: Team) -> None:
    team.set_policy(approve_above="0.00")
    waiting = team.payer.transfer()["txnRef"]
    team.shop.put("sandbox", action="reset")
    assert team.decide("approve", waiting)["status"] == 104
    assert team.shop.wallet() == Wallet(1_000_000_000, 1_000_000_000, 0)
    assert team.payer.transfer()["message"] == "Waiting for approval", "the policy stays"


def test_events_tell_of_the_wait_and_of_the_verdict(team: Team, inbox: Inbox) -> None:
    send_events_to(team.shop, inbox.url)
    team.set_policy(approve_above="0.00")
    waiting = team.payer.transfer(orderRef="told")
    team.decide("approve", waiting["txnRef"])
    second = team.payer.transfer()
    team.decide("reject", second["txnRef"])
    team.shop.put("sandbox", action="advance", minutes=1)
    letters = [letter for letter in inbox.wait_for(6) if letter.payload["txnRef"] == waiting["txnRef"]]
    found = {letter.headers["webhook-sequence"]: letter.payload for letter in letters}
    assert [found[n]["kind"] for n in "123"] == ["transfer_approval", "transfer_approval", "transfer"]
    assert [found[n].get("approval") for n in "123"] == ["waiting", "approved", None]
    assert (found["1"]["requestedBy"], found["2"]["decidedBy"]) == ("key 2 (payout)", "key 3 (approve-read)")
    assert {letter.headers["webhook-object"] for letter in letters} == {waiting["txnRef"]}
    kinds = [line["payload"].get("approval") for line in team.shop.put("resources", inquire="events").body["data"]]
    assert kinds == [None, "rejected", "waiting", None, "approved", "waiting"]


def test_a_person_in_the_console_approves_what_another_party_made(team: Team, deployment: Deployment) -> None:
    team.set_policy(approve_above="0.00")
    finance = sign_in_as(deployment, "merchant:finance", team.shop.mid)
    waiting = team.payer.transfer(orderRef="by-key")["txnRef"]
    page = finance.get("/transfers/waiting")
    assert waiting in page.words
    assert "the amount is above 0.00" in page.words
    for role in ("merchant:developer", "merchant:read-only"):
        other = sign_in_as(deployment, role, team.shop.mid)
        other.get("/transfers/waiting")
        assert other.post(f"/transfers/waiting/{waiting}/approve", confirmed=waiting).http == 403
    assert finance.post(f"/transfers/waiting/{waiting}/delete").http == 404
    asked = finance.post(f"/transfers/waiting/{waiting}/approve")
    assert "Approve NGN" in asked.words
    assert "It is sent to the bank at once" in asked.words
    assert team.shop.verify("by-key")["approval"]["state"] == "waiting"
    assert finance.post(f"/transfers/waiting/{waiting}/approve", confirmed=waiting).http == 303
    approval = team.shop.verify("by-key")["approval"]
    assert (approval["state"], "@" in approval["decided_by"]) == ("approved", True)
    finance.get("/transfers")
    finance.post("/transfers/send", amount="10.00", bankcode="058", accountnumber="0000000000", orderRef="by-hand")
    own = team.shop.verify("by-hand")["txnRef"]
    refused = finance.post(f"/transfers/waiting/{own}/approve", confirmed=own)
    assert (refused.http, "cannot approve it" in refused.words) == (422, True)
    owner = sign_in_as(deployment, "merchant:owner", team.shop.mid)
    owner.get("/transfers/waiting")
    assert owner.post(f"/transfers/waiting/{own}/reject", confirmed=own).http == 303
    assert team.shop.verify("by-hand")["txnStatus"] == "failed"
    trail = owner.get("/settings/trail").words
    assert "approved a transfer" in trail
    assert "rejected a transfer" in trail


def test_what_a_disabled_colleague_sent_is_rejected_but_not_approved(team: Team, deployment: Deployment) -> None:
    team.set_policy(approve_above="0.00")
    finance = sign_in_as(deployment, "merchant:finance", team.shop.mid)
    owner = sign_in_as(deployment, "merchant:owner", team.shop.mid)
    finance.get("/transfers")
    for number in range(2):
        sent = {"amount": "10.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": f"left-{number}"}
        finance.post("/transfers/send", **sent)
    first, second = (team.shop.verify(f"left-{number}")["txnRef"] for number in range(2))
    email = team.shop.verify("left-0")["approval"]["requested_by"]
    deployment.run_command("user", "disable", email)
    owner.get("/transfers/waiting")
    refused = owner.post(f"/transfers/waiting/{first}/approve", confirmed=first)
    assert (refused.http, "was revoked, disabled" in refused.words) == (422, True)
    assert team.decide("approve", first)["status"] == 104
    assert owner.post(f"/transfers/waiting/{first}/reject", confirmed=first).http == 303
    assert team.decide("reject", second)["txnStatus"] == "failed"


def test_an_owner_sets_the_policy_in_the_console(team: Team, deployment: Deployment) -> None:
    owner = sign_in_as(deployment, "merchant:owner", team.shop.mid)
    owner.get("/settings/payouts")
    wrong = owner.post("/settings/payouts", **{"on_limit": "refuse", "all-daily_count": "many"})
    assert (wrong.http, "must be a whole number" in wrong.words) == (422, True)
    assert owner.post("/settings/payouts", on_limit="refuse", approve_above="1e3").http == 422
    saved = owner.post("/settings/payouts", **{"on_limit": "refuse", "approve_above": "50.00", "all-daily_count": "2"})
    assert saved.http == 303
    assert 'value="50.00"' in owner.get("/settings/payouts").text
    team.shop.put("sandbox", action="advance", seconds=1)
    developer = sign_in_as(deployment, "merchant:developer", team.shop.mid)
    developer.get("/settings/payouts")
    assert developer.post("/settings/payouts", on_limit="refuse").http == 403
    assert developer.post("/settings/key", overlap="24").http == 403
    assert "changed the payout policy" in owner.get("/settings/trail").words


def test_a_payout_by_schedule_waits_for_somebody_else_than_who_made_the_schedule(team: Team) -> None:
    """Otherwise a schedule to a new account would pass by the policy."""
    team.set_policy(approve_new_beneficiary=True)
    both = with_key(team.shop, "payout", "approve")
    account: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}
    assert both.put("resources", request="payout_schedule", frequency="daily", **account).body["status"] == 200
    team.shop.advance(days=1)
    payout = team.shop.put("resources", inquire="payout_schedule").body["data"]["last_payout"]
    waiting = team.shop.verify(payout)
    assert (waiting["txnStatus"], waiting["message"]) == ("pending", "Waiting for approval")
    assert "cannot approve" in team.decide("approve", payout, both)["message"]
    assert team.decide("approve", payout)["txnStatus"] == "successful"


def test_a_limit_leaves_out_a_payout_by_schedule(team: Team) -> None:
    team.set_policy(limits={"daily_amount": "1000.00"})
    account: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}
    assert team.payer.put("resources", request="payout_schedule", frequency="daily", **account).body["status"] == 200
    before = team.shop.wallet().balance
    team.shop.advance(days=2)
    assert team.shop.wallet().balance == before
    assert team.shop.put("resources", inquire="payout_schedule").body["data"]["last_payout"] is None
