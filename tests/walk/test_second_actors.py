"""While an act is in progress, another actor comes: each act by each second actor, over HTTP.

A cell of the table is `refused`, or what else happens. After each the books are audited (tests/conftest.py).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from kasuwa.merchants import keys
from tests.merchant_client import MerchantClient
from tests.methods.investments import savers
from tests.running import Deployment
from tests.walk import acts_in_progress as acts
from tests.walk.acts_in_progress import NOW, Act
from tests.webhooks.event_log import wait_until

REFUSED = "refused"
# The reply tells the state, and nothing changes.
SHOWN = "shown"


class Actor(NamedTuple):
    """A second actor. `needs` is the field of an act without which it has nothing to do."""

    ask: Callable[[Act], Any]
    needs: str = "reference"


def put(path: str, needs: str, name: str, /, **fields: Any) -> Actor:
    """An actor that sends a request about the object that `needs` names."""
    return Actor(lambda act: act.shop.put(path, **fields, **{name: getattr(act, needs)}).body, needs)


def decide(verdict: str) -> Actor:
    def ask(act: Act) -> Any:
        key = act.shop.put("sandbox", action="new_key", scopes=["approve"]).body["key"]
        other = MerchantClient(act.shop.connection, act.shop.mid, key)
        return other.put("disburse", action=verdict, txnRef=act.reference).body

    return Actor(ask)


def close(act: Act) -> Any:
    return savers.cash_out(act.shop, act.savings_id, act.client_id, "0")


def repeat(act: Act) -> Any:
    assert act.again is not None
    return act.again()


def stop_payouts(act: Act) -> Any:
    return act.shop.put("resources", request="payout_schedule", frequency="off").body


ACTORS: dict[str, Actor] = {
    "repeats": Actor(repeat, "again"),
    "refunds": put("payment", "reference", "txnRef", action="refund", amount="500.00"),
    "refunds more": put("payment", "reference", "txnRef", action="refund", amount="500.01"),
    "disputes": put("sandbox", "reference", "txnRef", action="dispute", reason="fraudulent", amount="500.00"),
    "disputes more": put("sandbox", "reference", "txnRef", action="dispute", reason="fraudulent", amount="500.01"),
    "approves": decide("approve"),
    "rejects": decide("reject"),
    "cancels the code": put("cashcode", "order_ref", "orderRef", action="cancel"),
    "stops the plan": put("resources", "plan_id", "id", inquire="recurrent", status="stop"),
    "cancels the thrift plan": put("investments", "thrift_id", "thrift_id", action="cancel_plan"),
    "reverses the repayment": put("loans", "reference", "txnRef", action="reverse", reason="recalled"),
    "charges the loan": put("loans", "loan_id", "loan_id", action="charge", name="Fee", amount="100.00"),
    "waives penalties": put("loans", "loan_id", "loan_id", action="waive", penalty=True),
    "writes the loan off": put("loans", "loan_id", "loan_id", action="write_off", reason="gone"),
    "rejects the loan": put("loans", "loan_id", "loan_id", action="process", status="reject"),
    "receives its money": put(
        "resources",
        "invoice_id",
        "invoice_id",
        request="invoice_received",
        amount="100.00",
        method="cash",
        reference="R",
    ),
    "voids the invoice": put("resources", "invoice_id", "invoice_id", inquire="invoice", status="void"),
    "disables the link": put("resources", "link_id", "link_id", inquire="paylink", status="disable"),
    "stops payouts": Actor(stop_payouts, "has_schedule"),
    "blocks the card": put("virtualcard", "card", "reference", action="block"),
    "terminates the card": put("virtualcard", "card", "reference", action="terminate"),
    "gives the purchase back": put("sandbox", "bought", "txnRef", action="card_refund", amount="10.00"),
    "gives more back": put("sandbox", "bought", "txnRef", action="card_refund", amount="15.00"),
    "leaves": put("clients", "client_id", "client_id", action="update", status="exited"),
    "closes the savings": Actor(close, "savings_id"),
}

# The acts, each with how it ends if it is left alone, and every cell in which the second actor is not refused.
# Whatever an act has nothing of (`Actor.needs`) cannot be tried: a transfer to a bank has no invoice.
PARTLY = {"refunds": "done", "disputes": "done"}  # 500.00 of the payment are free
HELD = {"repeats": SHOWN, "approves": "successful", "rejects": "failed"}
TABLE: dict[Callable[[MerchantClient], Act], tuple[Any, dict[str, Any]]] = {
    acts.card_waits_for_its_code: ("successful", {"repeats": SHOWN}),
    acts.card_waits_for_its_page: ("successful", {"repeats": SHOWN}),
    acts.ussd_waits: ("successful", {}),
    acts.transfer_in_part: ("successful", {}),
    acts.refund_waits: ("successful", PARTLY),
    acts.dispute_is_open: ("accepted", PARTLY),
    acts.dispute_is_reviewed: ("won", PARTLY),
    # A plan that is stopped charges no more, and the charge that is under way ends as it ends.
    acts.plan_charge_waits: ("successful", {"stops the plan": "done"}),
    # The card's money is with the shop already.
    acts.issued_card_pays: ("successful", {"blocks the card": "done", "terminates the card": "done"}),
    # What it holds is captured all the same.
    acts.issued_card_holds: ("successful", {"blocks the card": "done", "terminates the card": "done"}),
    # What the shop gives back meanwhile is no longer disputed, and the rest goes to the card, or to the wallet.
    acts.purchase_is_disputed: (
        "won",
        {
            "blocks the card": "done",
            "terminates the card": "done",
            "gives the purchase back": "done",
            "gives more back": "done",
        },
    ),
    acts.transfer_is_pending: ("successful", {"repeats": SHOWN}),
    acts.transfer_is_processing: ("successful", {"repeats": SHOWN}),
    acts.transfer_awaits_approval: ("successful", HELD),
    acts.bulk_awaits_approval: (
        ["successful"] * 3,
        {**HELD, "rejects": ["failed"] * 3, "approves": ["successful"] * 3},
    ),
    acts.bill_waits: ("successful", {"repeats": SHOWN}),
    acts.payout_waits: ("successful", {"stops payouts": "done"}),
    acts.cashcode_is_active: ("redeemed", {"repeats": SHOWN, "cancels the code": "cancelled"}),
    acts.deposit_waits: ("successful", {}),
    acts.cash_out_waits: ("successful", {}),
    acts.thrift_cycle_is_short: (["200.00", "0.00"], {}),
    acts.loan_is_paid_out: ("active", {}),
    # What is paid then is recovered.
    acts.repayment_waits: ("successful", {"writes the loan off": "done", "charges the loan": "done"}),
    acts.attempt_of_checkout: ("successful", {}),
    acts.invoice_is_being_paid: ("paid", {}),
    # The link takes no further payer, and this one goes on.
    acts.ticket_is_being_bought: (1, {"disables the link": "done"}),
}
EFFECTS = [
    (begin, name)
    for begin, (_, cells) in TABLE.items()
    for name, expected in cells.items()
    if expected not in (REFUSED, SHOWN)
]


def title(value: Any) -> str:
    return value if isinstance(value, str) else str(value.__name__)


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    """A merchant with a fixed clock: what is in progress stays so until the test ends it."""
    return open_shop(now=NOW)


@pytest.mark.parametrize("begin", TABLE, ids=title)
def test_a_second_actor_changes_nothing_of_an_act_in_progress(
    shop: MerchantClient, begin: Callable[[MerchantClient], Act]
) -> None:
    end, cells = TABLE[begin]
    act = begin(shop)
    before = (act.state(), shop.wallets())
    for name, actor in ACTORS.items():
        expected = cells.get(name, REFUSED)
        if getattr(act, actor.needs) and expected in (REFUSED, SHOWN):
            body = actor.ask(act)
            assert (body["status"] == 104) == (expected == REFUSED), (name, body)
            assert (act.state(), shop.wallets()) == before, name
    assert act.finish() == end


@pytest.mark.parametrize(("begin", "name"), EFFECTS, ids=title)
def test_what_a_second_actor_may_do_meanwhile_is_done_once(
    shop: MerchantClient, begin: Callable[[MerchantClient], Act], name: str
) -> None:
    """`done`: the act ends as if nobody had come. Another word is how the act ends."""
    end, cells = TABLE[begin]
    act = begin(shop)
    first = ACTORS[name].ask(act)
    assert first["status"] == 200, first
    if isinstance(cells[name], list):
        # The worker sends approved orders by itself.
        wait_until("the orders are decided", lambda: act.state() == cells[name])
    ended = (act.state(), shop.wallets())
    again = ACTORS[name].ask(act)
    balances = {currency: wallet.balance for currency, wallet in shop.wallets().items()}
    assert balances == {currency: wallet.balance for currency, wallet in ended[1].items()}, (name, again)
    if cells[name] == "done":
        assert act.finish() == end
    else:
        shop.advance(minutes=1)
        assert act.state() == cells[name]


@pytest.mark.parametrize("begin", TABLE, ids=title)
def test_what_a_key_began_goes_on_after_it_was_revoked(
    deployment: Deployment, shop: MerchantClient, begin: Callable[[MerchantClient], Act]
) -> None:
    made = shop.put("sandbox", action="new_key", scopes=["all"]).body
    other = MerchantClient(shop.connection, shop.mid, made["key"])
    act = begin(other)
    revoke(deployment, shop.mid, made["key_id"])
    other.key = shop.key
    assert act.finish() == TABLE[begin][0]


PAYERS = [
    begin for begin in TABLE if begin.__name__.startswith(("card_", "ussd", "transfer_in_part", "refund", "disp"))
]
CLIENTS = [acts.deposit_waits, acts.cash_out_waits, acts.thrift_cycle_is_short, acts.loan_is_paid_out]


@pytest.mark.parametrize("begin", [*PAYERS, acts.plan_charge_waits, acts.attempt_of_checkout], ids=title)
def test_a_customer_is_not_erased_while_a_payment_is_in_progress(
    deployment: Deployment, shop: MerchantClient, begin: Callable[[MerchantClient], Act]
) -> None:
    asked: dict[str, Any] = {"request": "customer", "name": "Ada Obi", "email": "ada@example.com"}
    customer_id = shop.put("resources", **asked).body["data"]["customer_id"]
    act = begin(shop)
    before = act.state()
    output = deployment.run_refused_command("customer", "erase", shop.mid, customer_id, "--yes")
    assert "still under way" in output
    assert act.state() == before
    assert act.finish() == TABLE[begin][0]


@pytest.mark.parametrize("begin", [*CLIENTS, acts.repayment_waits], ids=title)
def test_a_client_is_not_erased_while_money_can_still_reach_them(
    deployment: Deployment, shop: MerchantClient, begin: Callable[[MerchantClient], Act]
) -> None:
    act = begin(shop)
    output = deployment.run_refused_command("client", "erase", shop.mid, act.client_id, "--yes")
    assert "open loan or savings" in output or "still under way" in output
    assert act.finish() == TABLE[begin][0]


def test_every_act_is_in_the_table() -> None:
    made = [value for value in vars(acts).values() if getattr(value, "__annotations__", {}).get("return") is Act]
    assert set(made) - {acts.of_rail} == set(TABLE)
    assert {name for _, cells in TABLE.values() for name in cells} <= set(ACTORS)


def revoke(deployment: Deployment, mid: str, key_id: int) -> None:
    async def end(connection: Any) -> None:
        [[merchant_id]] = await connection.fetch("select merchant_id from merchant where mid = $1 and current", mid)
        await keys.revoke_key(connection, await deployment.open_vault(connection), merchant_id, key_id)

    deployment.run_on_connection(end)
