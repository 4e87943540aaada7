"""Checks of what the application sends to the service: some provoke a situation, and all read what was sent.

The request log has bodies and replies. Headers, addresses and lost replies are seen with `--run` alone.
"""

import itertools
import json
import time
from collections import defaultdict
from typing import Any

from kasuwa.integration.check import Check, Failed, NotSeen, Session
from kasuwa.integration.gateway import Plan, WireExchange
from kasuwa.integration.order_checks import is_payment

REPEATS_PAGE = "guides/repeats.html"
ERRORS_PAGE = "guides/errors.html"
# Status codes of requests that are wrong in themselves: wrong key, unknown action, not JSON, invalid fields.
WRONG = {101: "authentication failed", 102: "no such action", 103: "no JSON", 104: "invalid fields"}
FINAL_REFUSALS = {104, 301}
OPEN_STATES = {"pending", "processing"}
# Repeating a refused request later than this is another attempt of a person.
RETRY_SECONDS = 60.0
# Questions about one reference that follow each other faster than this; so many of them are too many.
FAST_POLL_SECONDS, FAST_POLLS = 0.5, 5
RETRY_AFTER_SECONDS = 2
TOO_MUCH = "999999999.00"
UNKNOWN_FIELDS = {"aFieldOfTomorrow": {"nested": [1, None, "two"]}, "anotherOne": None}
IDEMPOTENCY = "idempotency-key"
BUSY = {"status": 204, "message": "Too many requests; wait as retry-after says", "code": "rate_limited"}


def is_transfer(exchange: WireExchange) -> bool:
    return exchange.action == "disburse.transfer" and exchange.method == "PUT"


def moves_money(exchange: WireExchange) -> bool:
    return is_payment(exchange) or is_transfer(exchange)


def get_reference(exchange: WireExchange) -> str:
    """Returns what makes a request safe to repeat, or an empty text."""
    return str(exchange.request.get("orderRef") or exchange.headers.get(IDEMPOTENCY) or "")


def get_content(exchange: WireExchange) -> dict[str, Any]:
    """Returns a request without its references: what is the same when the same thing is asked again."""
    return {name: value for name, value in exchange.request.items() if name not in ("orderRef", "customer_txnref")}


def act(session: Session, seconds: float = 0.0) -> None:
    """Has the application pay out or take an order, whichever it can, and waits so much longer for its answer."""
    if session.application.payout_url is not None:
        session.application.pay_out(session.pace.act + seconds)
    elif session.application.order_url is not None:
        session.application.place_order(session.pace.act + seconds)
    else:
        raise NotSeen("neither --order nor --payout says how to make the application send something")


def follow_ups(session: Session, plan: Plan, seconds: float) -> tuple[WireExchange, list[WireExchange]]:
    """Returns the request that a plan hit, and what asked for the same afterwards. Raises NotSeen if it hit none."""
    if not plan.used:
        raise NotSeen("the application sent no request that moves money")
    hit = plan.used[0]

    def same() -> list[WireExchange]:
        later = [exchange for exchange in session.gateway.exchanges if exchange.started > hit.started]
        return [
            exchange
            for exchange in later
            if exchange.action == hit.action and get_content(exchange) == get_content(hit)
        ]

    session.wait_for(lambda: same() or None, seconds)
    return hit, same()


def must_repeat_as_it_was(hit: WireExchange, again: list[WireExchange]) -> None:
    for repeat in again:
        if not get_reference(repeat) or get_reference(repeat) != get_reference(hit):
            raise Failed(
                f"{hit.action} was sent again with another reference: {get_reference(hit) or 'none'}, then "
                f"{get_reference(repeat) or 'none'}"
            )


def repeats_lost_as_it_was(session: Session) -> str:
    with session.gateway.planned(Plan("lost reply", moves_money, loses_reply=True)) as plan:
        act(session)
        hit, again = follow_ups(session, plan, session.pace.act)
    must_repeat_as_it_was(hit, again)
    if again:
        return f"{hit.action} whose reply was lost was sent again with the same reference"
    questions = [
        exchange
        for exchange in session.gateway.exchanges
        if exchange.started > hit.started
        and exchange.action.endswith(".verify")
        and get_reference(hit)
        and get_reference(hit) in exchange.request.values()
    ]
    if questions:
        return f"the application asked for the outcome of {hit.action} whose reply was lost"
    raise NotSeen(f"the application did not send {hit.action} again after its reply was lost")


def waits_before_repeating(session: Session) -> str:
    refusal = (429, {"retry-after": str(RETRY_AFTER_SECONDS), "content-type": "application/json"}, BUSY)
    with session.gateway.planned(Plan("too many requests", moves_money, refusal=refusal)) as plan:
        act(session)
        hit, again = follow_ups(session, plan, session.pace.act)
    if not again:
        raise NotSeen("the application did not send the request again after HTTP 429")
    waited = again[0].started - hit.started
    if waited < RETRY_AFTER_SECONDS - 0.1:
        raise Failed(f"after HTTP 429 the request came again after {waited:.1f} s, not {RETRY_AFTER_SECONDS} s")
    must_repeat_as_it_was(hit, again)
    return f"after HTTP 429 the request came again after {waited:.1f} s"


def provoke_refusal(session: Session) -> str:
    """The amount is raised on its way, so that the service refuses it: more than the wallet has, or than is allowed."""

    def raise_amount(request: dict[str, Any]) -> dict[str, Any]:
        return {**request, "amount": TOO_MUCH}

    # Repeats must be refused too: otherwise the first of them succeeds.
    with session.gateway.planned(Plan("refused", moves_money, times=1_000, change_request=raise_amount)) as plan:
        act(session)
        hit, again = follow_ups(session, plan, session.pace.settle)
    if hit.reply.get("status") not in FINAL_REFUSALS:
        raise NotSeen(f"the service did not refuse the request: {hit.reply.get('message', 'no reply')}")
    if again:
        raise Failed(f"{hit.action} was sent {len(again) + 1} times although the service refused it")
    return f"{hit.action} that was refused with status {hit.reply['status']} was not sent again"


def waits_for_processing(session: Session) -> str:
    """The bank's answer is lost, as the sandbox's fault plans it, so the transfer stays processing."""
    if session.application.payout_url is None:
        raise NotSeen("no --payout says how the application pays out")
    gateway, merchant = session.gateway, session.merchant
    known = len(gateway.exchanges)
    with merchant.fault("bank", "timeout", times=1):
        session.application.pay_out(session.pace.act)
        sent = [exchange for exchange in gateway.exchanges[known:] if is_transfer(exchange)]
    opened = next((exchange for exchange in sent if exchange.reply.get("txnStatus") in OPEN_STATES), None)
    if opened is None:
        raise NotSeen("no transfer of the application was processing")
    reference = str(opened.reply["txnRef"])

    def others() -> list[WireExchange]:
        later = [
            exchange for exchange in gateway.exchanges if exchange.started > opened.started and is_transfer(exchange)
        ]
        return [exchange for exchange in later if get_reference(exchange) != get_reference(opened)]

    session.wait_for(lambda: others() or None, session.pace.settle)
    merchant.advance(minutes=1)
    answer = session.deliver(session.find_event(reference, "transfer"))
    session.wait_for(lambda: others() or None, session.pace.settle)
    if others():
        raise Failed("a transfer that was processing was sent again with another orderRef: it is paid twice")
    if not answer.is_accepted:
        raise Failed(f"the event that ended a processing transfer got {answer}")
    return "a transfer that was processing was left to end, and its event was accepted"


def gives_up(session: Session) -> str:
    seconds = session.pace.hold
    if not seconds:
        raise NotSeen("--hold 0 leaves this check out")
    with session.gateway.planned(Plan("held reply", moves_money, holds_seconds=seconds)) as plan:
        started = time.monotonic()
        act(session, seconds)
        if not plan.used:
            raise NotSeen("the application sent no request that moves money")
        hit = plan.used[0]
        session.wait_for(lambda: hit.has_given_up or hit.http_status, seconds)
    if not hit.has_given_up:
        raise Failed(f"the application waited {seconds:g} s for a reply, and did not give up")
    return f"the application gave up after {time.monotonic() - started:.0f} s without a reply"


def reads_past_unknown_fields(session: Session) -> str:
    def add(reply: dict[str, Any]) -> dict[str, Any]:
        return {**UNKNOWN_FIELDS, **reply}

    if session.application.order_url is None:
        raise NotSeen("no --order says where the application takes orders")
    with session.gateway.planned(Plan("unknown fields", lambda _: True, times=1_000, change_reply=add)) as plan:
        answer = session.application.place_order(session.pace.act)
    if not plan.used:
        raise NotSeen("the application sent no request")
    if not answer.is_accepted:
        raise Failed(f"an order was not taken when replies had fields that are not known: {answer}")
    return "an order was taken when replies had fields that are not known"


def keeps_keys_out_of_addresses(session: Session) -> str:
    if not session.is_on_wire:
        raise NotSeen("the request log has no addresses: use --run")
    for exchange in session.traffic:
        address = f"{exchange.path}?{exchange.query}"
        if session.secret in address or session.merchant.key in address:
            raise Failed(f"the key is in the address of {exchange.method} {exchange.path}")
    return f"no key was in the addresses of {len(session.traffic)} requests"


def sends_exact_amounts(session: Session) -> str:
    amounts = 0
    for exchange in session.traffic:
        floats: list[str] = []

        def note(text: str, floats: list[str] = floats) -> str:
            floats.append(text)
            return text

        try:
            request = json.loads(exchange.sent, parse_float=note)
        except ValueError:
            continue
        if floats:
            raise Failed(f"{exchange.action} has the number {floats[0]}")
        amounts += isinstance(request, dict) and "amount" in request
    if not amounts:
        raise NotSeen("the application sent no amount")
    return f"{amounts} amounts were text or whole numbers"


def names_every_write(session: Session) -> str:
    if not session.is_on_wire:
        raise NotSeen("the request log has no headers: use --run")
    writes = [exchange for exchange in session.traffic if moves_money(exchange)]
    if not writes:
        raise NotSeen("the application sent no request that moves money")
    for exchange in writes:
        if not get_reference(exchange):
            raise Failed(f"{exchange.action} has neither an orderRef nor an Idempotency-Key")
    return f"{len(writes)} requests that move money can be repeated"


def polls_slowly(session: Session) -> str:
    times_by_reference = defaultdict(list)
    for exchange in session.traffic:
        if exchange.action.endswith(".verify"):
            request = exchange.request
            reference = request.get("txnRef") or request.get("orderRef") or request.get("customer_txnref")
            times_by_reference[str(reference)].append(exchange.started)
    if all(len(times) < 2 for times in times_by_reference.values()):
        raise NotSeen("the application asked for no reference twice")
    for reference, times in times_by_reference.items():
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        fast = sum(gap < FAST_POLL_SECONDS for gap in gaps)
        if fast >= FAST_POLLS:
            raise Failed(f"{reference} was asked for {fast + 1} times with less than {FAST_POLL_SECONDS} s between")
    return "questions about one reference were spread out"


def sends_valid_requests(session: Session) -> str:
    for exchange in session.traffic:
        status = exchange.reply.get("status")
        if not exchange.plan and isinstance(status, int) and status in WRONG:
            message = exchange.reply.get("message", "")
            raise Failed(f"{exchange.action} was refused with status {status} ({WRONG[status]}): {message}")
    return f"none of {len(session.traffic)} requests was refused as wrong"


def leaves_refused_alone(session: Session) -> str:
    if session.is_on_wire:
        return provoke_refusal(session)
    refused: dict[str, float] = {}
    for exchange in session.traffic:
        content = json.dumps([exchange.action, get_content(exchange)], sort_keys=True)
        since = refused.get(content)
        if since is not None and exchange.started - since < RETRY_SECONDS:
            raise Failed(f"{exchange.action} was sent again within a minute after it was refused")
        if exchange.reply.get("status") in FINAL_REFUSALS:
            refused[content] = exchange.started
    if not refused:
        raise NotSeen("the service refused no request")
    return f"{len(refused)} refused requests were not sent again"


TRAFFIC_CHECKS = (
    Check(
        "lost-reply-repeated",
        "repeats a lost request with the same reference",
        "A request whose reply was lost may have been executed. With a new reference it is executed twice.",
        "Choose and store the orderRef or Idempotency-Key before the first attempt, and use it for every further one.",
        f"{REPEATS_PAGE}#orderref",
        repeats_lost_as_it_was,
    ),
    Check(
        "retry-after-kept",
        "waits as Retry-After says",
        "Whoever repeats at once keeps being refused, and makes it worse for all.",
        "After HTTP 429 wait for the seconds of Retry-After, then send the same request again.",
        ERRORS_PAGE,
        waits_before_repeating,
    ),
    Check(
        "refusal-final",
        "does not repeat what was refused",
        "An identical request is refused again. A loop of them fills logs and hides the cause.",
        "Repeat only what may be repeated: lost replies, HTTP 429 and 503. Show a refusal to a person.",
        ERRORS_PAGE,
        leaves_refused_alone,
    ),
    Check(
        "processing-awaited",
        "waits for the end of what is processing",
        "A transfer that is processing may have been paid. Sent again with another reference, it is paid twice.",
        "Keep it open until its event comes, or ask verify. Never make another one in its place.",
        f"{REPEATS_PAGE}#when-the-bank-does-not-answer",
        waits_for_processing,
    ),
    Check(
        "timeout-set",
        "gives up waiting for a reply",
        "Without a timeout one lost connection holds a process for ever, and soon all of them.",
        "Set a timeout of 30 to 60 seconds on every request, and treat it as a lost reply.",
        REPEATS_PAGE,
        gives_up,
    ),
    Check(
        "reply-fields-unknown",
        "accepts unknown fields in replies",
        "Later versions add fields to replies.",
        "Read the fields that you need, and ignore the others.",
        ERRORS_PAGE,
        reads_past_unknown_fields,
    ),
    Check(
        "keys-in-headers",
        "keeps keys out of addresses",
        "Addresses are in the logs of every proxy on the way.",
        "Send mid and key as headers.",
        "reference/keys.html",
        keeps_keys_out_of_addresses,
    ),
    Check(
        "amounts-exact",
        "sends amounts as text",
        "A floating-point number cannot hold most amounts: 0.1 + 0.2 is 0.30000000000000004.",
        'Compute in minor units or decimals, and send text such as "1500.00".',
        "reference/index.html",
        sends_exact_amounts,
    ),
    Check(
        "writes-named",
        "names every request that moves money",
        "Without an orderRef or Idempotency-Key a request cannot be repeated when its reply is lost.",
        "Send orderRef with transfers and bills, and the header Idempotency-Key with payments and refunds.",
        f"{REPEATS_PAGE}#idempotency-key",
        names_every_write,
    ),
    Check(
        "polling-slow",
        "spreads its questions out",
        "Questions in a loop use up your rate limit, and what matters is then refused.",
        "Wait for the event. If you ask verify, double the pause each time, to some seconds at least.",
        ERRORS_PAGE,
        polls_slowly,
    ),
    Check(
        "requests-valid",
        "sends requests that the service understands",
        "A request that is refused as wrong is a bug, also if nobody noticed.",
        "Read errors of the reply: it names every field that is wrong.",
        ERRORS_PAGE,
        sends_valid_requests,
    ),
)
