"""Checks of payments on the rail's own page, of saved cards, and of money that comes into accounts."""

import asyncio
import time
from typing import TypeVar

import msgspec

from kasuwa.rails.check.client import Fault, RailReply
from kasuwa.rails.check.further_checks import WRONG_CALLBACK, new_payment, query_step
from kasuwa.rails.check.run import CURRENCY, WAIT_SECONDS, Check, CheckRun, NotRun, Order
from kasuwa.rails.check.transfer_checks import expect_same
from kasuwa.rails.remote.messages import Credit, CreditAnswer, CreditsAnswer, PaidCard

LONG_AGO = "2000-01-01T00:00:00Z"
CALLBACK_SECONDS = 30.0

T = TypeVar("T")


# --- pages --------------------------------------------------------------------------------------------------------


async def begin_page(run: CheckRun, email: str) -> Order:
    """Begins a card payment without a card. Raises Fault unless the payer is sent to a page."""
    order = new_payment(run, method="card", email=email, return_url="https://shop.example/back")
    reply = await run.send(order)
    expect_page(reply)
    return order


def expect_page(reply: RailReply) -> None:
    facts = reply.fields.get("facts") or {}
    if reply.outcome != "challenge" or facts.get("auth") != "redirect":
        raise Fault(f"A card payment without a card was answered {reply} instead of 'challenge' with auth 'redirect'.")
    if not str(facts.get("url", "")).startswith(("https://", "http://")):
        raise Fault("A card payment has no fact url: the payer cannot be sent to the page.")


async def pay_on_page(run: CheckRun) -> tuple[Order, RailReply]:
    """Has the sample payer pay a card payment on the page. Returns its last answer."""
    order = await begin_page(run, run.sample("payments", "paying_email"))
    deadline = time.monotonic() + WAIT_SECONDS
    while (reply := await query_step(run, order, "begin")).outcome in ("challenge", "processing"):
        if time.monotonic() > deadline:
            raise Fault(f"A payment on the page did not end within {WAIT_SECONDS:.0f} seconds after its payer paid.")
        await asyncio.sleep(0.1)
    if (reply.outcome, reply.fields.get("amount")) != ("successful", order.amount):
        raise Fault(f"A payment that was paid on the page is {reply} instead of 'successful' with its amount.")
    return order, reply


async def check_page(run: CheckRun) -> None:
    if run.is_live:
        raise NotRun("a live rail has no payer who pays by itself")
    run.sample("payments", "paying_email")
    unpaid = await begin_page(run, "nobody@example.com")
    state = await query_step(run, unpaid, "begin")
    if state.outcome == "successful":
        raise Fault("A payment on the page is successful although its payer has not paid.")
    expect_page(state)
    order, paid = await pay_on_page(run)
    again = await query_step(run, order, "begin")
    if again.fields != paid.fields:
        raise Fault("Two queries of a paid payment answered differently.")
    expect_same(order, paid, await run.send(order), "A repeat")
    half = order.amount // 2
    for amount, outcome in ((half, "successful"), (order.amount, "failed")):
        fields = {"key": run.new_key(), "payment_key": order.key, "amount": amount, "currency": CURRENCY}
        refund = Order("/refunds", fields)
        ended = await run.wait_for_end(refund, await run.send(refund))
        if ended.outcome != outcome:
            raise Fault(f"A refund of {amount} of a payment on the page is {ended.outcome!r} instead of {outcome!r}.")


async def check_saved_card(run: CheckRun) -> None:
    if run.is_live:
        raise NotRun("a live rail has no payer who pays by itself")
    _, paid = await pay_on_page(run)
    try:
        card = msgspec.convert(paid.fields.get("card"), PaidCard)
    except msgspec.ValidationError as error:
        raise Fault(f"A card payment does not tell its card: {error}.") from None
    if not card.token:
        raise NotRun("the rail keeps no cards")
    charge = new_token_charge(run, card.token, card.email)
    charged = await run.send(charge)
    if charged.outcome not in ("successful", "processing"):
        raise Fault(f"A saved card was answered {charged} when it was charged.")
    expect_same(charge, charged, await run.send(charge), "A repeat")
    answer = await query_step(run, charge, "charge")
    if answer.outcome not in (charged.outcome, "successful"):
        raise Fault(f"/payments/query answered {answer} for a saved card that was charged.")
    unknown = await run.send(new_token_charge(run, "no-such-token", card.email))
    if unknown.outcome != "failed":
        raise Fault(f"A charge with an unknown token is {unknown.outcome!r} instead of 'failed'.")


def new_token_charge(run: CheckRun, token: str, email: str) -> Order:
    order = new_payment(run, method="token", token=token, email=email)
    return Order("/payments/charge", order.request)


# --- money that comes in --------------------------------------------------------------------------------------------


async def check_credits(run: CheckRun) -> None:
    if run.is_live:
        raise NotRun("nobody pays into an account of a live rail by itself")
    key, other = run.new_key(), run.new_key()
    opened = await open_credited(run, key)
    await open_credited(run, other)
    credit = await wait_for_credit(run, key)
    if (await wait_for_credit(run, other)).rail_reference == credit.rail_reference:
        raise Fault("Two credits have the same rail_reference.")
    if credit.account_number != opened.fields.get("account_number"):
        raise Fault(f"A credit names the account {credit.account_number!r} instead of the one that was opened.")
    same_credit = await read_credit(run, credit.rail_reference)
    if same_credit != credit:
        raise Fault("/accounts/credits/query answers another credit than /accounts/credits lists.")
    if await read_credit(run, f"{run.new_key()}-unknown") is not None:
        raise Fault("/accounts/credits/query found a credit that never was.")
    if credit.rail_reference not in [one.rail_reference for one in await list_credits(run, "", "")]:
        raise Fault("A credit is missing in the list of all accounts.")
    if await list_credits(run, key, credit.rail_reference):
        raise Fault("/accounts/credits lists the same credit again after its reference: the list does not end.")
    await expect_credit_callback(run, credit)
    refund = Order(
        "/refunds",
        {
            "key": run.new_key(),
            "payment_key": run.new_key(),
            "credit": credit.rail_reference,
            "amount": credit.amount,
            "currency": CURRENCY,
        },
    )
    ended = await run.wait_for_end(refund, await run.send(refund))
    if ended.outcome != "successful":
        raise Fault(f"A refund of a credit is {ended.outcome!r} instead of 'successful'.")
    expect_same(refund, ended, await run.send(refund), "A repeat")


async def open_credited(run: CheckRun, key: str) -> RailReply:
    """Opens an account that is paid into by itself."""
    request = {"key": key, "name": run.sample("accounts", "credited_name"), "currency": CURRENCY}
    opened = await run.client.call("/accounts", request)
    if opened.outcome != "open":
        raise Fault(f"/accounts answered {opened} instead of 'open'.")
    return opened


async def wait_for_credit(run: CheckRun, key: str) -> Credit:
    deadline = time.monotonic() + WAIT_SECONDS
    while not (credits_of_account := await list_credits(run, key, "")):
        if time.monotonic() > deadline:
            raise Fault(f"No credit of the sample account was listed within {WAIT_SECONDS:.0f} seconds.")
        await asyncio.sleep(0.1)
    if {credit.key for credit in credits_of_account} != {key}:
        raise Fault("/accounts/credits lists credits of other accounts than the one it was asked for.")
    if len(credits_of_account) != 1:
        raise Fault(f"One payment into an account was listed as {len(credits_of_account)} credits.")
    return credits_of_account[0]


async def list_credits(run: CheckRun, key: str, after: str) -> list[Credit]:
    reply = await run.client.call("/accounts/credits", {"since": LONG_AGO, "key": key, "after": after})
    return convert(reply, "/accounts/credits", CreditsAnswer).credits


async def read_credit(run: CheckRun, reference: str) -> Credit | None:
    reply = await run.client.call("/accounts/credits/query", {"rail_reference": reference})
    answer = convert(reply, "/accounts/credits/query", CreditAnswer)
    return answer.credit if answer.outcome == "found" else None


def convert(reply: RailReply, path: str, form: type[T]) -> T:
    try:
        return msgspec.convert(reply.fields, form)
    except msgspec.ValidationError as error:
        raise Fault(f"{path} answered {reply}, which has another form than the protocol says: {error}.") from None


async def expect_credit_callback(run: CheckRun, credit: Credit) -> None:
    """Waits for the call-back of a credit, if the kit listens for call-backs."""
    received = run.options.callbacks
    if received is None:
        return
    try:
        async with asyncio.timeout(CALLBACK_SECONDS):
            while (name := await received.get()) != f"credit {credit.rail_reference}":
                if not name:
                    raise Fault(WRONG_CALLBACK)
    except TimeoutError:
        raise Fault(f"No call-back announced a credit within {CALLBACK_SECONDS:.0f} seconds.") from None


CHECKS: dict[str, Check] = {
    "a payment on the rail's page ends when its payer has paid": check_page,
    "a saved card is charged once by its token": check_saved_card,
    "money that comes in is told once and can be given back": check_credits,
}
