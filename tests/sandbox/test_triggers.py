"""`trigger`: every event that it names happens, with the fields that were changed."""

import asyncio
import html
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kasuwa.sandbox.triggers import (
    TRIGGERS,
    Request,
    Step,
    TriggerError,
    UnknownEvent,
    collect_values,
    fill_fields,
    make_requests,
    request_steps,
    run,
)
from kasuwa.transactions.event_payloads import EVENT_KINDS
from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

# What an event says beside its status, by the part of the name behind the dot.
STATES = {
    "late": ("step", "late"),
    "matured": ("step", "matured"),
    "voided": ("invoiceStatus", "void"),
    "credit": ("direction", "credit"),
    "debit": ("direction", "debit"),
}
# Names of states of disputes that are not the state itself.
DISPUTE_STATES = {"opened": "needs_response"}
SETTINGS = "select settings from merchant where mid = $1 and current"
KEYS = """
    select k.name from merchant_key k join merchant m using (merchant_id)
    where m.mid = $1 and m.current and (k.expires_at is null or k.expires_at > now()) order by k.key_id
"""


@pytest.mark.parametrize("name", TRIGGERS)
def test_each_event_happens_as_its_name_says(name: str, shop: MerchantClient) -> None:
    event = trigger(shop, name)
    kind, _, state = name.partition(".")
    payload = event["payload"]
    assert (event["kind"], payload["kind"]) == (kind, kind)
    if kind in ("dispute", "card_dispute"):
        assert payload["state"] == DISPUTE_STATES.get(state, state)
    elif state in STATES:
        field, value = STATES[state]
        assert payload[field] == value
    elif state:
        assert payload["txnStatus"] == state


@pytest.mark.parametrize("name", TRIGGERS)
def test_each_event_happens_also_with_an_empty_wallet(name: str, open_shop: Callable[..., MerchantClient]) -> None:
    assert trigger(open_shop(balance="0.00"), name)["kind"] == name.partition(".")[0]


def test_a_wallet_that_is_too_short_is_filled_with_what_is_needed(shop: MerchantClient) -> None:
    lent = trigger(shop, "repayment", amount="90000000.00")["payload"]
    assert lent["chargedAmount"] == "90000000.00"
    refused = shop.put("sandbox", action="trigger", event="transfer.failed", fields={"currency": "XXX"}).body
    assert refused["status"] == 104


@pytest.mark.parametrize("dollars", ["", "1.00"], ids=["naira", "dollars"])
def test_a_card_is_paid_from_the_wallet_that_paid_before(
    dollars: str, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop(balance="0.00")
    if dollars:
        shop.put("sandbox", action="fund_wallet", currency="USD", amount=dollars)
    trigger(shop, "card_purchase.successful")
    left = {line["currency"]: line["balance"] for line in shop.put("resources", inquire="wallet").body["data"]}
    filled, *others = reversed(left)
    assert float(left[filled]) > 0
    assert (filled, others) == (("USD", ["NGN"]) if dollars else ("NGN", []))
    assert [left[currency] for currency in others] == ["0.00"] * len(others)


def test_every_kind_of_event_is_triggered() -> None:
    assert {name.partition(".")[0] for name in TRIGGERS} == set(EVENT_KINDS)


def trigger(shop: MerchantClient, name: str, **fields: Any) -> dict[str, Any]:
    """Returns the event's entry in the log."""
    reply = shop.put("sandbox", action="trigger", event=name, fields=fields).body
    assert reply["status"] == 200, reply
    event: dict[str, Any] = reply["data"]
    return event


def test_a_transfer_that_came_back_is_the_merchants_money_again(shop: MerchantClient, deployment: Deployment) -> None:
    before = shop.wallet().balance
    event = trigger(shop, "reversal.credit", amount="900.00")["payload"]
    assert (event["chargedAmount"], event["direction"], event["paymentMethod"]) == ("900.00", "credit", "transfer")
    paid = shop.put("disburse", action="verify", txnRef=event["reversalOf"]).body
    assert paid["txnStatus"] == "successful"
    # The fee stays as it is.
    assert before - shop.wallet().balance == 10_75
    again = shop.put("sandbox", action="trigger", event="reversal.credit", fields={"txnRef": event["reversalOf"]}).body
    assert again["status"] == 104
    assert "nothing of this transaction can be taken back" in again["message"]
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_payment_that_its_rail_took_back_is_taken_from_the_wallet(
    shop: MerchantClient, deployment: Deployment
) -> None:
    event = trigger(shop, "reversal.debit", amount="900.00")["payload"]
    assert (event["chargedAmount"], event["direction"], event["paymentMethod"]) == ("900.00", "debit", "card")
    refund = shop.put("payment", action="refund", txnRef=event["reversalOf"], amount="1.00").body
    assert refund["status"] == 104
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_kind_without_its_state_is_refused_with_the_states() -> None:
    with pytest.raises(UnknownEvent, match=r"did you mean dispute\.opened or dispute\.won or dispute\.lost\?"):
        make_requests("dispute", {})


def test_an_unknown_name_is_refused_with_the_nearest(shop: MerchantClient) -> None:
    with pytest.raises(UnknownEvent, match=r"known are payment\.successful"):
        make_requests("zzz", {})
    for wrong in ("dispute.open", "Dispute.Opened", "dispute.opened\n"):
        refused = shop.put("sandbox", action="trigger", event=wrong).body
        [error] = refused["errors"]
        assert (refused["status"], error["field"]) == (104, "event")
        assert "did you mean dispute.opened?" in error["reason"]


@pytest.mark.parametrize("name", ["transfer_approval.failed", "held_deposit", "settlement"])
@pytest.mark.parametrize("amount", [{}, {"amount": "nothing"}], ids=["happens", "refused"])
def test_what_was_set_for_an_event_is_put_back(
    name: str, amount: dict[str, Any], shop: MerchantClient, deployment: Deployment
) -> None:
    shop.put("sandbox", action="payout_policy", approve_above="700000.00")
    shop.put("sandbox", action="client_tiers", is_on=True, tiers=[{"tier": 2, "balance": "40.00"}])
    shop.put("resources", request="settlement_events", daily=True)
    settings, keys = deployment.fetch(SETTINGS, shop.mid), deployment.fetch(KEYS, shop.mid)
    refused = {} if name == "settlement" and not amount else amount
    reply = shop.put("sandbox", action="trigger", event=name, fields=refused).body
    assert reply["status"] == (104 if refused else 200), reply
    assert (deployment.fetch(SETTINGS, shop.mid), deployment.fetch(KEYS, shop.mid)) == (settings, keys)
    assert shop.put("resources", inquire="settlement_events").body["data"]["daily"] is True


def test_a_transfer_that_waits_keeps_the_key_that_sent_it(shop: MerchantClient, deployment: Deployment) -> None:
    waiting = trigger(shop, "transfer_approval.pending")
    assert len(deployment.fetch(KEYS, shop.mid)) == 2
    approved = shop.put("disburse", action="approve", txnRef=waiting["payload"]["txnRef"]).body
    assert approved["txnStatus"] == "successful"


def test_events_at_once_leave_the_settings_as_they_were(shop: MerchantClient, deployment: Deployment) -> None:
    shop.put("sandbox", action="payout_policy", approve_above="700000.00")
    settings = deployment.fetch(SETTINGS, shop.mid)

    def make(name: str) -> dict[str, Any]:
        with deployment.connect() as wire:
            return trigger(MerchantClient(wire, shop.mid, shop.key), name)

    with ThreadPoolExecutor() as pool:
        names = ("transfer_approval.failed", "payment.successful", "transfer_approval.failed", "held_deposit")
        assert len(list(pool.map(make, names))) == len(names)
    assert deployment.fetch(SETTINGS, shop.mid) == settings


def test_a_person_triggers_what_two_parties_decide(shop: MerchantClient, deployment: Deployment) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    for event in ("share_redemption.successful", "reactivation.successful"):
        body = json.dumps({"action": "trigger", "event": event})
        owner.get("/docs/sandbox/trigger")
        page = owner.post("/docs/sandbox/trigger", body=body)
        assert f'"kind": "{event.partition(".")[0]}"' in html.unescape(page.text), page.words


def test_fields_are_sent_as_they_are_and_choose_no_other_request(shop: MerchantClient) -> None:
    disputed = trigger(shop, "dispute.opened", reason="paid < agreed, <key>")
    assert disputed["payload"]["reason"] == "paid < agreed, <key>"
    refused = shop.put("sandbox", action="trigger", event="transfer.failed", fields={"action": "reset"}).body
    assert (refused["status"], [error["field"] for error in refused["errors"]]) == (104, ["fields"])


def test_what_was_set_is_put_back_also_after_a_fault() -> None:
    sent = []

    async def answer(request: Request) -> Mapping[str, Any]:
        sent.append(request.path)
        if request.path == "payment":
            raise ConnectionResetError
        return NO_EVENTS

    steps = (Step("payment", {}), Step("clients", {}, after=True))
    with pytest.raises(ConnectionResetError):
        asyncio.run(run(request_steps("x", steps, {}, lambda: None), answer))
    assert sent == ["resources", "payment", "clients"]


def test_changed_fields_are_sent_with_every_request_that_has_them(shop: MerchantClient) -> None:
    paid = trigger(shop, "payment.successful", amount="777.00", customer_txnref="basket-1")["payload"]
    assert (paid["chargedAmount"], paid["customer_txnref"]) == ("777.00", "basket-1")
    disputed = trigger(shop, "dispute.opened", amount="900.00", reason="fraud")["payload"]
    assert disputed["chargedAmount"] == "900.00"


def test_a_field_that_no_request_has_is_sent_with_the_last(shop: MerchantClient) -> None:
    sent = trigger(shop, "invoice", note="Thank you")["payload"]
    invoice = shop.put("resources", inquire="invoice", invoice_id=sent["invoice_id"]).body
    assert invoice["data"]["note"] == "Thank you"


@pytest.mark.parametrize("name", ["transfer.failed", "deposit", "loan.late"])
def test_an_event_is_never_that_of_what_the_merchant_does_meanwhile(name: str, shop: MerchantClient) -> None:
    """Each request is made twice, as if the merchant did the same in between: first that of the event."""
    meanwhile: dict[str, Any] = {}
    made: set[str] = set()

    async def answer(request: Request) -> Mapping[str, Any]:
        reply = shop.put(request.path, **request.fields).body
        if request.path == "resources" or request.fields["action"] == "advance":
            return reply
        made.update(value for value in collect_values(reply).values() if isinstance(value, str))
        fields = {field: value for field, value in request.fields.items() if field != "orderRef"}
        again = {field: meanwhile.get(str(value), value) for field, value in fields.items()}
        others = collect_values(shop.put(request.path, **again).body)
        meanwhile.update((value, others[field]) for field, value in collect_values(reply).items() if field in others)
        return reply

    event = asyncio.run(run(make_requests(name, {}), answer))
    log = shop.put("resources", inquire="events", limit=10).body["data"]
    assert len({line["txnRef"] for line in log if line["kind"] == event["kind"]}) == 2
    assert event["payload"]["txnRef"] in made


def answer_all(requests: Any, replies: Mapping[str, Any]) -> list[Request]:
    """Answers requests by their path until they end, and returns them."""
    sent: list[Request] = []
    reply: Any = None
    while True:
        try:
            request = requests.send(reply)
        except StopIteration:
            return sent
        sent.append(request)
        reply = replies[request.path]


NO_EVENTS = {"status": 200, "data": [], "last": 0, "more": False}


def test_requests_that_lead_to_no_event_are_an_error() -> None:
    with pytest.raises(TriggerError, match=r"transfer\.failed: .* no event of kind transfer"):
        answer_all(make_requests("transfer.failed", {}), {"resources": NO_EVENTS, "disburse": {"status": 200}})


def test_the_first_refusal_is_named_also_if_nothing_can_be_put_back() -> None:
    refused = {"status": 104, "message": "first"}
    steps = (Step("payment", {}), Step("clients", {}, after=True))
    replies = {"resources": NO_EVENTS, "payment": refused, "clients": {"status": 104, "message": "second"}}
    with pytest.raises(TriggerError, match=r"x: payment refused a request: first$"):
        answer_all(request_steps("x", steps, {}, lambda: None), replies)


SHORT = {"status": 301, "message": "short", "code": "insufficient_funds"}


@pytest.mark.parametrize("code", ["card_insufficient", "savings_insufficient", "shares_insufficient"])
def test_a_wallet_is_not_filled_for_what_else_is_too_short(code: str) -> None:
    sent: list[Request] = []

    async def answer(request: Request) -> Mapping[str, Any]:
        sent.append(request)
        return {**SHORT, "code": code} if request.path == "investments" else NO_EVENTS

    with pytest.raises(TriggerError, match=r"x: investments refused a request: short$"):
        asyncio.run(run(request_steps("x", (Step("investments", {}),), {}, lambda: None), answer))
    assert [request.path for request in sent] == ["resources", "investments"]


@pytest.mark.parametrize(
    ("currency", "amount", "wallets", "filled"),
    [
        ({}, "60000.00", [], ("NGN", "120000.00")),
        ({"currency": "NGN"}, "20.00", [], ("NGN", "100000.00")),
        ({"currency": "USD"}, "20.00", ["NGN"], ("NGN", "400000.00")),
        ({"currency": "USD"}, "20.00", ["NGN", "KES"], ("NGN", "400000.00")),
        ({"currency": "USD"}, "20.00", ["NGN", "USD"], ("USD", "100000.00")),
    ],
)
def test_the_wallet_that_pays_is_filled_once(
    currency: dict[str, str], amount: str, wallets: list[str], filled: tuple[str, str]
) -> None:
    requests = request_steps("x", (Step("virtualcard", {"amount": amount, **currency}),), {}, lambda: None)
    requests.send(None)  # type: ignore[arg-type]
    assert requests.send(NO_EVENTS).path == "virtualcard"
    request = requests.send(SHORT)
    if wallets:
        assert (request.path, request.fields) == ("resources", {"inquire": "wallet"})
        request = requests.send({"status": 200, "data": [{"currency": name} for name in wallets]})
    assert request.fields == {"action": "fund_wallet", "currency": filled[0], "amount": filled[1]}
    assert requests.send({"status": 200}).path == "virtualcard"
    with pytest.raises(TriggerError, match="refused a request: short"):
        requests.send(SHORT)


def test_an_advance_goes_on_until_it_is_there() -> None:
    later = {"status": 200, "more": True, "until": "2026-01-01T00:00:00.000Z"}
    requests = request_steps("x", (Step("sandbox", {"action": "advance", "days": 400}),), {}, lambda: None)
    requests.send(None)  # type: ignore[arg-type]
    assert requests.send(NO_EVENTS).fields == {"action": "advance", "days": 400}
    for _ in range(2):
        assert requests.send(later).fields == {"action": "advance", "until": later["until"]}
    assert requests.send({"status": 200}).fields["inquire"] == "event_feed"


def test_placeholders_stand_for_values_of_replies() -> None:
    known = collect_values({"txnRef": "outer", "data": {"txnRef": "inner", "id": 5, "lines": [1]}})
    assert known == {"txnRef": "outer", "id": 5}
    filled = fill_fields({"a": "<txnRef>", "b": [{"c": "<id>"}], "d": "<txnRef>@x", "e": 1}, known)
    assert filled == {"a": "outer", "b": [{"c": 5}], "d": "outer@x", "e": 1}
    assert Step("disburse", {}).fields == {}
