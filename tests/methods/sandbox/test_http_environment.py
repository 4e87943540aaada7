"""`PUT /sandbox` over HTTP: webhook, explain, reset and long advances. Its other actions are in test_http.py."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, Wallet
from tests.methods.investments.savers import open_savings
from tests.methods.loans.lending_client import LendingClient
from tests.methods.virtualcard.card_client import BILLING
from tests.running import Deployment
from tests.walk.rows import NOW, RESET, leaves, send_examples
from tests.webhooks.event_log import event_of, events_of, resend, send_events_to, wait_for_state, wait_until
from tests.webhooks.inbox import BROKEN, HANG, OK, Answer, Inbox, ReceivedRequest, running_inbox

START = "2026-01-05T09:00:00Z"
OPENING = Wallet(1_000_000_000, 1_000_000_000, 0)

# Fields of replies that name something of the merchant's.
NAMES = frozenset(
    {
        "txnRef",
        "refundRef",
        "client_id",
        "loan_id",
        "savings_id",
        "thrift_id",
        "ref_code",
        "cardToken",
        "event_id",
        "customer_txnref",
    }
)

BOOKS = "select merchant_id, current from merchant where mid = $1 order by merchant_id"
ROWS = """
    select (select count(*) from transaction where merchant_id = $1) as transactions,
        (select count(*) from posting where merchant_id = $1) as postings,
        (select count(*) from event where merchant_id = $1) as events,
        (select count(*) from delivery_attempt where merchant_id = $1) as attempts
"""
NEVER_AGAIN = "select run_at = 'infinity' from scheduled_job where merchant_id = $1"


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


@pytest.fixture
def listening(open_shop: Callable[..., MerchantClient], inbox: Inbox) -> MerchantClient:
    shop = open_shop(now=START)
    send_events_to(shop, inbox.url)
    return shop


def late(days: int) -> dict[str, str]:
    return {"x-sandbox-scenario": f"webhook=late:{days * 86_400}"}


def explain(shop: MerchantClient, **fields: Any) -> Any:
    return shop.put("sandbox", action="explain", **fields).body


# --- webhook ------------------------------------------------------------------------------------------------


def test_a_webhook_is_set_and_switched_off(shop: MerchantClient, inbox: Inbox) -> None:
    http, body = shop.put("sandbox", action="webhook", url=inbox.url)
    assert (http, body) == (200, {"status": 200, "message": "Events go there now"})
    delivered = shop.transfer()["txnRef"]
    wait_for_state(shop, delivered, "delivered")
    assert shop.put("sandbox", action="webhook", url="").body == {"status": 200, "message": "Events are switched off"}
    assert event_of(shop, shop.transfer()["txnRef"])["state"] == "no_endpoint"
    assert [letter.payload["txnRef"] for letter in inbox.requests] == [delivered]


@pytest.mark.parametrize(
    "fields", [{}, {"url": None}, {"url": 7}, {"url": "http://169.254.169.254/"}, {"url": "x" * 3000}]
)
def test_a_webhook_that_cannot_be_is_refused_by_its_field(shop: MerchantClient, fields: dict[str, Any]) -> None:
    body = shop.put("sandbox", action="webhook", **fields).body
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, ["url"])


# --- explain ------------------------------------------------------------------------------------------------


def test_a_transfer_is_explained_from_its_request_to_its_last_delivery(listening: MerchantClient, inbox: Inbox) -> None:
    inbox.answers(BROKEN, then=OK)
    sent = listening.transfer(amount="1500.00")
    wait_for_state(listening, sent["txnRef"], "scheduled", attempts=1)
    listening.advance(seconds=5)
    story = explain(listening, txnRef=sent["txnRef"])["data"]
    steps = ["requested", "hold", "successful", "posting", "posting", "posting", "event", "webhook", "webhook"]
    assert [line["what"] for line in story] == steps
    assert [line["at"] for line in story] == ["2026-01-05T09:00:00.000Z"] * 8 + ["2026-01-05T09:00:05.000Z"]

    hold = story[1]
    assert (hold["account"], hold["amount"], hold["state"]) == ("wallet:main:NGN", "1510.75", "posted")
    postings = [(p["debit"], p["credit"], p["amount"], p["debit_after"], p["credit_after"]) for p in story[3:6]]
    assert postings == [
        ("wallet:main:NGN", "rail:bank:NGN", "1500.00", "9998500.00", "1500.00"),
        ("wallet:main:NGN", "income:transfer:NGN", "10.00", "9998490.00", "10.00"),
        ("wallet:main:NGN", "tax:vat:NGN", "0.75", "9998489.25", "0.75"),
    ]
    assert [(line["number"], line["http"], line["error"]) for line in story[7:]] == [
        (1, 500, "HTTP 500"),
        (2, 200, None),
    ]
    assert [line["event_id"] for line in story[6:]] == [inbox.ids[0]] * 3
    assert [line["body"].encode() for line in story[7:]] == [letter.body for letter in inbox.requests]


def test_any_of_its_references_explains_a_transfer(shop: MerchantClient) -> None:
    sent = shop.transfer(orderRef="order-1042")
    by_txn_ref = explain(shop, txnRef=sent["txnRef"])
    assert explain(shop, orderRef="order-1042") == by_txn_ref
    assert explain(shop, reference="order-1042") == by_txn_ref
    assert explain(shop, reference=sent["txnRef"]) == by_txn_ref


def test_a_bulk_is_explained_by_its_batch_and_each_line_says_whose_it_is(shop: MerchantClient) -> None:
    order = {"accountnumber": "0000000000", "amount": "100.00", "bankcode": "058"}
    bulk = shop.send_fields("disburse", {"action": "transfer", "type": "bulk", "data": [order, order]}).body
    shop.advance(seconds=1)
    story = explain(shop, reference=bulk["batchRef"])["data"]
    assert {line["txnRef"] for line in story if line["what"] == "posting"} == {row["txnRef"] for row in bulk["data"]}
    assert sum(line["what"] == "event" for line in story) == 2


def test_a_long_timeline_has_its_newest_entries_and_says_how_many_are_left_out(shop: MerchantClient) -> None:
    order = {"accountnumber": "0000000000", "amount": "1.00", "bankcode": "058"}
    bulk = shop.send_fields("disburse", {"action": "transfer", "type": "bulk", "data": [order] * 150}).body
    shop.advance(seconds=1)
    first, *story = explain(shop, reference=bulk["batchRef"])["data"]
    assert (first["what"], first["said"]) == ("left out", "50 earlier transactions")
    assert {line["txnRef"] for line in story} == {row["txnRef"] for row in bulk["data"][50:]}


def test_a_card_is_explained_by_what_moved_on_it(shop: MerchantClient) -> None:
    fields = {"action": "create", "billing": BILLING, "amount": 10, "currency": "USD"}
    card = shop.send_fields("virtualcard", fields).body["card_data"]
    shop.put("virtualcard", action="fund", reference=card["reference"], amount=5)
    story = explain(shop, reference=card["reference"])["data"]
    moved = [(p["debit"], p["credit"].split(":")[0], p["amount"]) for p in story if p["what"] == "posting"]
    assert moved == [("wallet:main:USD", "card", "10.00"), ("wallet:main:USD", "card", "5.00")]


def test_a_reference_is_explained_by_the_name_that_its_action_gives_it(shop: MerchantClient) -> None:
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    client_id, loan_id = bank.client(), bank.lend()
    savings_id = open_savings(shop, client_id, "100.00")
    bulk = shop.bulk([{"amount": "10.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": "b1"}])
    shop.advance(seconds=1)  # the transfer of the bulk is paid before it is explained twice
    named = {"client_id": client_id, "loan_id": loan_id, "savings_id": savings_id, "batchRef": bulk["batchRef"]}
    for name, reference in named.items():
        story = explain(shop, **{name: reference})
        assert story["status"] == 200, name
        assert story == explain(shop, reference=reference)


def test_an_unknown_reference_is_refused_with_what_can_be_explained(shop: MerchantClient) -> None:
    unknown = explain(shop, loan_id="LNnobody")
    assert unknown["status"] == 104
    assert all(word in unknown["message"] for word in ("transaction", "loan", "savings", "card", "event"))
    [fault] = explain(shop)["errors"]
    assert fault["field"] == "txnRef"
    assert all(name in fault["reason"] for name in ("orderRef", "batchRef", "loan_id", "savings_id", "reference"))


def test_a_loan_and_savings_are_explained_by_their_own_accounts(shop: MerchantClient) -> None:
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    loan, savings = bank.lend(), open_savings(shop, bank.client(), "700.00")
    for reference, kinds in ((loan, {"loan_principal", "loan_interest", "loan_tax"}), (savings, {"savings"})):
        story = explain(shop, reference=reference)["data"]
        accounts = {p[side] for p in story if p["what"] == "posting" for side in ("debit", "credit")}
        assert {name.split(":")[0] for name in accounts if f":{reference}:" in name} == kinds


def test_an_order_that_took_two_payments_is_explained_by_both(shop: MerchantClient) -> None:
    payer = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
    asked = {"action": "charge", "paymentType": "ussd", "user": payer, "bank": "gtb", "customer_txnref": "order-7"}
    made = [shop.send_fields("payment", {**asked, "amount": amount}).body["txnRef"] for amount in ("100.00", "200.00")]
    assert {line["txnRef"] for line in explain(shop, orderRef="order-7")["data"]} == set(made)


def test_what_is_still_to_come_is_explained_as_a_job(shop: MerchantClient) -> None:
    pending = shop.transfer(accountnumber="0000000020")
    last = explain(shop, txnRef=pending["txnRef"])["data"][-1]
    assert (last["what"], last["said"]) == ("job", "disburse.ask falls due")


def test_an_unknown_reference_cannot_be_explained(open_shop: Callable[..., MerchantClient]) -> None:
    mine, other = open_shop(), open_shop()
    theirs = other.transfer(orderRef="theirs")
    assert explain(mine, txnRef="GP|FD|000000000|20260105A")["message"].startswith("Nothing has this reference")
    assert explain(mine, orderRef="theirs")["message"].startswith("Nothing has this reference")
    assert explain(mine, orderRef=theirs["txnRef"] + "x")["message"].startswith("Nothing has this reference")
    body = explain(mine)
    assert (body["status"], body["errors"][0]["field"]) == (104, "txnRef")


# --- reset --------------------------------------------------------------------------------------------------


def reset(shop: MerchantClient) -> None:
    assert shop.put("sandbox", action="reset").body == {"status": 200, "message": "Fresh books, as on day one"}


def test_reset_gives_fresh_books_and_a_clock_at_wall_time(listening: MerchantClient, inbox: Inbox) -> None:
    first = listening.transfer(orderRef="order-1042")
    wait_for_state(listening, first["txnRef"], "delivered")
    listening.advance(days=3650)
    reset(listening)
    assert listening.wallet() == OPENING
    assert listening.wallet("USD") == Wallet(1_000_000, 1_000_000, 0)
    assert events_of(listening) == []
    assert explain(listening, orderRef="order-1042")["message"].startswith("Nothing has this reference")
    assert abs(datetime.fromisoformat(listening.now()) - datetime.now(UTC)) < timedelta(hours=1)
    again = listening.transfer(orderRef="order-1042", amount="7.00")
    assert again["txnStatus"] == "successful"
    assert event_of(listening, again["txnRef"])["sequence"] == 1
    # Events still go where they went, and are not taken for those of the old books.
    wait_for_state(listening, again["txnRef"], "delivered")
    assert len(set(inbox.ids)) == 2


def test_reset_keeps_the_old_books_aside_and_can_be_done_again(deployment: Deployment, shop: MerchantClient) -> None:
    shop.transfer()
    kept = []
    for _ in range(2):
        [*_, (number, _)] = deployment.fetch(BOOKS, shop.mid)
        kept.append((number, tuple(deployment.fetch(ROWS, number)[0])))
        reset(shop)
        shop.transfer()
        shop.transfer()
    assert [rows for _, rows in kept] == [(1, 5, 1, 0), (2, 8, 2, 0)]
    assert [tuple(deployment.fetch(ROWS, number)[0]) for number, _ in kept] == [rows for _, rows in kept]
    assert [current for _, current in deployment.fetch(BOOKS, shop.mid)] == [False, False, True]


def test_what_waits_in_the_old_books_does_not_reach_the_merchant_any_more(
    listening: MerchantClient, inbox: Inbox
) -> None:
    inbox.answers(BROKEN, then=OK)
    failed = listening.transfer()["txnRef"]
    wait_for_state(listening, failed, "scheduled", attempts=1)
    listening.transfer(headers=late(1))
    reset(listening)
    listening.advance(days=30)
    new = listening.transfer()["txnRef"]
    wait_for_state(listening, new, "delivered")
    assert len(inbox.requests) == 2


def test_what_is_under_way_at_a_reset_is_not_tried_again(
    deployment: Deployment, shop: MerchantClient, inbox: Inbox
) -> None:
    [[old, _]] = deployment.fetch(BOOKS, shop.mid)

    def reset_and_fail(letter: ReceivedRequest) -> Answer:
        with deployment.connect() as wire:
            reset(MerchantClient(wire, shop.mid, shop.key))
        return BROKEN

    send_events_to(shop, inbox.url)
    inbox.answer = reset_and_fail
    shop.transfer()
    wait_until("it is recorded", lambda: deployment.fetch(ROWS, old)[0]["attempts"])
    assert [bool(never) for [never] in deployment.fetch(NEVER_AGAIN, old)] == [True]


def test_reset_leaves_other_merchants_alone(open_shop: Callable[..., MerchantClient]) -> None:
    mine, other = open_shop(), open_shop(now=START)
    sent = other.transfer(orderRef="order-1042")
    before = (other.wallets(), other.now(), events_of(other), other.verify("order-1042"))
    mine.transfer(orderRef="order-1042")
    reset(mine)
    assert (other.wallets(), other.now(), events_of(other), other.verify("order-1042")) == before
    assert before[3]["txnRef"] == sent["txnRef"]


# --- long stretches of time ---------------------------------------------------------------------------------


def test_a_year_of_daily_events_is_delivered_in_one_advance_in_order(listening: MerchantClient, inbox: Inbox) -> None:
    days = list(range(1, 366))
    for day in days[1::2] + days[0::2]:
        listening.transfer(amount=f"{day}.00", headers=late(day))
    assert listening.advance(days=366)["ran"] == {"webhook": 365}
    assert [letter.payload["chargedAmount"] for letter in inbox.requests] == [f"{day}.00" for day in days]
    newest = events_of(listening, limit=200)
    assert {event["state"] for event in newest} == {"delivered"}
    assert len({event["attempts"][0]["at"] for event in newest}) == 200


def test_a_receiver_that_hangs_costs_an_advance_one_timeout(listening: MerchantClient, inbox: Inbox) -> None:
    inbox.answers(then=HANG)
    refs = [str(listening.transfer(headers=late(day))["txnRef"]) for day in (1, 2, 3)]
    assert listening.advance(days=10)["ran"] == {"webhook": 30}
    assert len(inbox.requests) == 1
    errors = [[attempt["error"] for attempt in event_of(listening, ref)["attempts"]] for ref in refs]
    at_once = ["the endpoint hung earlier in this advance"]
    assert errors == [["There was no answer in time"] + at_once * 9, at_once * 10, at_once * 10]
    inbox.answers(then=OK)
    resend(listening, event_id=event_of(listening, refs[2])["event_id"])
    wait_for_state(listening, refs[2], "delivered")


def test_everything_that_has_a_reference_can_be_explained(open_shop: Callable[..., MerchantClient]) -> None:
    """Every record has at least its creation in the timeline. An event is explained by its transaction."""
    shop, references = open_shop(now=NOW), set()
    for _, _, reply in send_examples(shop, until=RESET):
        references |= {value for name, value in leaves(reply.body) if name in NAMES and isinstance(value, str)}
    unknown = {reference for reference in references if explain(shop, reference=reference)["status"] == 104}
    assert unknown == set()
    event = events_of(shop)[0]
    assert explain(shop, reference=event["event_id"]) == explain(shop, reference=event["txnRef"])
