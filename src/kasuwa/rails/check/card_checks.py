"""Checks of a rail that announces what the card network asks of cards: its messages, and what it makes of decisions."""

import asyncio

from kasuwa.rails.check.card_network import CardNetwork, Verdict
from kasuwa.rails.check.client import Fault
from kasuwa.rails.check.run import Check, CheckRun, NotRun
from kasuwa.rails.remote.messages import CardMessage, SimulationAnswer

MESSAGE_SECONDS = 15.0
PATH = "/cards/simulate"


async def begin(run: CheckRun, amount: int, capture: int, *verdicts: Verdict) -> CardNetwork:
    """Has the rail's network make a purchase, whose messages get these verdicts. Raises NotRun if it cannot."""
    number, currency = run.sample("cards", "card_number"), run.sample("cards", "currency")
    network = run.options.network
    if network is None:
        raise NotRun("give the address that the rail calls back with --listen")
    network.forget()
    network.verdicts[:] = verdicts
    request = {"card_number": number, "amount": amount, "currency": currency, "capture": capture}
    reply = await run.client.call(PATH, request)
    run.client.note_form(PATH, reply, SimulationAnswer)
    if (reply.status, reply.outcome) != (200, "found"):
        raise Fault(f"{PATH} answered {reply} instead of HTTP 200 'found'.")
    return network


async def next_message(network: CardNetwork, what: str) -> CardMessage:
    """Returns the next message. Raises Fault if it is wrong, or does not come."""
    try:
        async with asyncio.timeout(MESSAGE_SECONDS):
            message = await network.next()
    except TimeoutError:
        raise Fault(f"The rail did not announce {what} within {MESSAGE_SECONDS:.0f} seconds.") from None
    if isinstance(message, str):
        raise Fault(message)
    return message


async def expect_authorization(run: CheckRun, network: CardNetwork, amount: int) -> CardMessage:
    message = await next_message(network, "an authorization")
    wanted = ("authorize", run.sample("cards", "card_number"), amount, run.sample("cards", "currency"))
    if (message.event, message.card_number, message.amount, message.currency) != wanted:
        raise Fault(
            f"A purchase of {amount} was announced as {message.event!r} of {message.amount} {message.currency}."
        )
    return message


async def check_capture(run: CheckRun) -> None:
    """An authorization that was approved is captured, under keys of their own."""
    amount = run.least
    network = await begin(run, amount, amount)
    held = await expect_authorization(run, network, amount)
    taken = await next_message(network, "the capture of an approved authorization")
    if (taken.event, taken.original_key, taken.amount) != ("capture", held.key, amount):
        raise Fault(f"The capture of {held.key!r} was announced as {taken.event!r} of {taken.original_key!r}.")
    if taken.key == held.key:
        raise Fault("A capture has the key of its authorization: each message has its own.")


async def check_release(run: CheckRun) -> None:
    """An authorization that the shop gives up is released."""
    network = await begin(run, run.least, 0)
    held = await expect_authorization(run, network, run.least)
    released = await next_message(network, "the reversal of an approved authorization")
    if released.event not in ("reverse", "expire") or released.original_key != held.key:
        raise Fault(f"The reversal of {held.key!r} was announced as {released.event!r} of {released.original_key!r}.")


async def check_decline(run: CheckRun) -> None:
    """An authorization that was declined is not captured. Another purchase is waited for meanwhile, to its end."""
    network = await begin(run, run.least, run.least, "declined")
    declined = await expect_authorization(run, network, run.least)
    await begin_next(run, network)
    message = declined
    while message.original_key == "":
        message = await next_message(network, "the end of a purchase")
    if message.original_key == declined.key:
        raise Fault("An authorization that was declined was captured.")


async def begin_next(run: CheckRun, network: CardNetwork) -> None:
    """Begins another purchase, which is approved. Messages of the one before are still listened to."""
    network.verdicts[:] = []
    number, currency = run.sample("cards", "card_number"), run.sample("cards", "currency")
    await run.client.call(PATH, {"card_number": number, "amount": run.least, "currency": currency, "capture": 0})


async def expect_repeat(run: CheckRun, verdict: Verdict, after_what: str) -> None:
    network = await begin(run, run.least, 0, verdict)
    first = await expect_authorization(run, network, run.least)
    again = await next_message(network, f"an authorization again after {after_what}")
    if again.event != "authorize" or again.key != first.key:
        announced = f"{again.event!r} under {again.key!r}"
        raise Fault(f"After {after_what} the rail announced {announced} instead of the authorization again.")
    if again != first:
        raise Fault("A message that was repeated has another content under the same key.")


async def check_lost(run: CheckRun) -> None:
    await expect_repeat(run, "lost", "a lost decision")


async def check_forged(run: CheckRun) -> None:
    await expect_repeat(run, "forged", "a decision with a wrong signature")


CHECKS: dict[str, Check] = {
    "a purchase with a card is announced and captured": check_capture,
    "a card authorization that is given up is released": check_release,
    "a declined card authorization is not captured": check_decline,
    "a card message without a decision comes again": check_lost,
    "a card decision with a wrong signature is not believed": check_forged,
}
