"""The fixture `kasuwa`: a merchant of the test's own, the outside and time under its control."""

import asyncio
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from kasuwa.methods.tables import ALL_SANDBOX
from kasuwa.testing import SandboxMerchant
from kasuwa_client import AsyncKasuwa, InsufficientFunds, InvalidRequest, Kasuwa

OPENING = Decimal("50000.00")
SENT = Decimal("1500.00")
COST = Decimal("10.75")


def transfer(client: Kasuwa, account: str = "0000000000", order_ref: str | None = None) -> str:
    """Sends an ordinary transfer. Returns its state."""
    sent = client.disburse.transfer(amount=SENT, bankcode="058", accountnumber=account, order_ref=order_ref)
    return sent.txn_status


def test_every_sandbox_action_is_a_method() -> None:
    missing = [action.name for action in ALL_SANDBOX.actions if not hasattr(SandboxMerchant, action.name)]
    assert missing == []


def test_a_merchant_has_its_own_wallet_and_shows_no_key(kasuwa: SandboxMerchant, kasuwa_client: Kasuwa) -> None:
    assert kasuwa_client is kasuwa.client
    assert (kasuwa.wallet(), kasuwa.available(), kasuwa.wallet("USD")) == (OPENING, OPENING, Decimal("0.00"))
    other = kasuwa.shop(balance="12.34")
    assert (other.wallet(), other.mid == kasuwa.mid) == (Decimal("12.34"), False)
    assert transfer(kasuwa.client) == "successful"
    assert kasuwa.wallet() == OPENING - SENT - COST
    assert other.wallet() == Decimal("12.34")
    for balance in (kasuwa.wallet, kasuwa.available):
        with pytest.raises(ValueError, match=r"currency: must be one of NGN, .* not 'EUR'"):
            balance("EUR")
    with pytest.raises(InsufficientFunds):
        transfer(other.client)
    assert kasuwa.key not in repr([kasuwa, kasuwa.server, kasuwa.client, other])
    assert kasuwa.environ == {"KASUWA_URL": kasuwa.url, "KASUWA_MID": kasuwa.mid, "KASUWA_KEY": kasuwa.key}


@pytest.mark.kasuwa(balance="7.00", now="2026-01-05T09:30:00+01:00")
def test_the_marker_sets_the_balance_and_the_clock(kasuwa: SandboxMerchant) -> None:
    assert kasuwa.wallet() == Decimal("7.00")
    assert kasuwa.clock().raw["now"] == "2026-01-05T09:30:00.000+01:00"


def test_a_fault_ends_with_its_block(kasuwa: SandboxMerchant) -> None:
    with kasuwa.fault("bank", "reset"):
        assert [transfer(kasuwa.client) for _ in range(2)] == ["processing"] * 2
    assert transfer(kasuwa.client) == "successful"
    assert kasuwa.available() == OPENING - 3 * (SENT + COST)
    kasuwa.advance(days=1)
    assert [event.txn_status for event in kasuwa.events.all("transfer")] == ["successful", "failed", "failed"]
    assert kasuwa.wallet() == OPENING - SENT - COST
    kasuwa.fault("bank", "decline", times=1)
    assert [transfer(kasuwa.client) for _ in range(2)] == ["failed", "successful"]


def test_a_scenario_holds_for_its_block_and_the_inner_one_wins(kasuwa: SandboxMerchant) -> None:
    with kasuwa.scenario(rr="51"):
        assert transfer(kasuwa.client) == "failed"
        with kasuwa.scenario(http="timeout"):
            assert transfer(kasuwa.client) == "processing"
        assert transfer(kasuwa.client) == "failed"
    assert transfer(kasuwa.client) == "successful"


def test_an_advance_returns_after_all_that_is_due_also_events(kasuwa: SandboxMerchant) -> None:
    for _ in range(20):
        assert transfer(kasuwa.client, "0000000010") == "processing"
    assert kasuwa.events.deliveries == []
    before = datetime.fromisoformat(kasuwa.clock().raw["now"])
    advanced = kasuwa.advance(hours=1)
    assert len(kasuwa.events.deliveries) == 20
    assert timedelta(hours=1) <= advanced.now - before < timedelta(hours=2)
    assert advanced.ran["disburse"] >= 1
    assert kasuwa.wallet() == OPENING - 20 * (SENT + COST)


def test_a_clock_is_frozen_for_a_block_or_for_good(kasuwa: SandboxMerchant) -> None:
    start = datetime.fromisoformat(kasuwa.clock().raw["now"])
    later = start + timedelta(days=2)
    with kasuwa.freeze(at=later):
        shown = {kasuwa.clock().raw["now"] for _ in range(3)}
        assert {datetime.fromisoformat(now) for now in shown} == {later}
        kasuwa.advance(minutes=1)
    assert datetime.fromisoformat(kasuwa.clock().raw["now"]) > later + timedelta(minutes=1)
    with pytest.raises(InvalidRequest, match="Business time only moves forward"):
        kasuwa.freeze(at=start)
    assert kasuwa.clock().raw["now"] != kasuwa.clock().raw["now"], "a refused freeze leaves the clock running"
    still = kasuwa.shop(now="2026-01-05T09:30:00+01:00")
    with still.freeze():
        pass
    assert still.clock().raw["now"] == "2026-01-05T09:30:00.000+01:00"


def test_the_outside_is_played_by_methods(kasuwa: SandboxMerchant) -> None:
    payment = kasuwa.client.payment.charge_bank_transfer(amount="2500.00", user={"email": "ada@example.com"})
    assert kasuwa.pay_account(account_number=payment.raw["accountNumber"], amount="2500.00").txn_status == "successful"
    assert kasuwa.events.one("payment", ref=payment).charged_amount == Decimal("2500.00")
    kasuwa.fund_wallet(currency="USD", amount="100.00")
    assert kasuwa.wallet("USD") == Decimal("100.00")
    code = kasuwa.client.cashcode.generate(amount="5000.00", pin="2580", channel="ATM", order_ref="cash-1")
    drawn = kasuwa.redeem(cashcode=code.raw["cashcode"], pin="2580", amount="5000.00", channel="ATM")
    assert drawn.txn_status == "successful"
    pending = kasuwa.client.disburse.transfer(amount=SENT, bankcode="058", accountnumber="0000000020", order_ref="p")
    assert pending.txn_status == "pending"
    assert kasuwa.settle(order_ref="p", outcome="failed").txn_status == "failed"


def test_the_asynchronous_client_works_in_several_event_loops(
    kasuwa: SandboxMerchant, kasuwa_async: AsyncKasuwa
) -> None:
    async def send(order_ref: str) -> str:
        sent = await kasuwa_async.disburse.transfer(
            amount=SENT, bankcode="058", accountnumber="0000000000", order_ref=order_ref
        )
        return sent.txn_status

    with kasuwa.scenario(rr="51"):
        assert asyncio.run(send("one")) == "failed"
    assert asyncio.run(send("two")) == "successful"
    assert {"one", "two"} <= set(kasuwa.references)


def test_the_timelines_tell_all_references_that_were_touched(kasuwa: SandboxMerchant) -> None:
    transfer(kasuwa.client, order_ref="order-1")
    shop = kasuwa.shop()
    transfer(shop.client, "0000000010", order_ref="order-2")
    kasuwa.events.flush()
    text = kasuwa.timelines()
    [first, second] = [line for line in text.splitlines() if line.startswith("order-")]
    assert (first.split(" = ")[0], second.split(" = ")[0]) == ("order-1", "order-2")
    for line in (
        "hold        1510.75 held on wallet:main:NGN (posted, taken 1510.75)",
        "posting     transfer: 1500.00 from wallet:main:NGN to rail:bank:NGN",
        "webhook     delivered (attempt 1, HTTP 200)",
        "job         disburse.ask falls due",
    ):
        assert line in text, text
    assert kasuwa.key not in text


def test_mails_that_were_sent_are_in_the_outbox(kasuwa: SandboxMerchant) -> None:
    resources = kasuwa.client.resources
    customer = resources.customer(name="Ada Obi", email="ada@example.com").raw["data"]["customer_id"]
    invoice = resources.invoice(customer_id=customer, items=[{"name": "Fabric", "amount": "500.00"}]).raw["data"]
    resources.invoice_send(invoice_id=invoice["invoice_id"])
    kasuwa.advance(seconds=1)
    [mail] = kasuwa.mail
    assert (mail.channel, mail.to, mail.purpose, mail.reference) == (
        "mail",
        "ada@example.com",
        "invoice",
        invoice["invoice_id"],
    )
    assert invoice["link"] in mail.text
