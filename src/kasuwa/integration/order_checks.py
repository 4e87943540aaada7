"""Checks of what the application hands over: it takes orders, certify pays them or does not, and the application says
what it has fulfilled. They need `--run`, `--order` and `--fulfilled`."""

import threading
from typing import Any

import msgspec

from kasuwa.integration.check import Check, Failed, NotSeen, Order, Session, SignedEvent
from kasuwa.integration.gateway import Plan, WireExchange
from kasuwa.integration.receiver_checks import TRUST, sample

ACCEPT = "guides/accept-a-payment.html"
VERIFY_FIRST = f"{ACCEPT}#verify-before-you-deliver"
# What is paid of an order that costs more, and how long after its account has expired.
SMALL = "1.00"
EXPIRY_MINUTES = 15
REPEATS = 3


def is_payment(exchange: WireExchange) -> bool:
    return exchange.action in ("payment.charge", "payment.initiate") and exchange.method == "PUT"


def asks_about(exchange: WireExchange, reference: str) -> bool:
    return exchange.action == "payment.verify" and reference in exchange.request.values()


def verifies(session: Session, order: Order) -> bool:
    return any(asks_about(exchange, order.txn_ref) for exchange in session.gateway.exchanges)


def settle_paid(session: Session) -> tuple[Order, SignedEvent]:
    """Has an order taken, paid and fulfilled. Raises NotSeen if the application does not fulfill it."""
    order = session.place_order()
    session.fulfilment(order)
    event = session.pay(order)
    session.deliver(event)
    if not session.wait_fulfilled(order).times:
        raise NotSeen("the application did not fulfill a paid order")
    return order, event


def fulfills_paid(session: Session) -> str:
    order = session.place_order()
    session.fulfilment(order)
    answer = session.deliver(session.pay(order))
    if not session.wait_fulfilled(order).times:
        raise Failed(f"a paid order was not fulfilled within {session.pace.act:g} s; its event got {answer}")
    return "a paid order was fulfilled"


def waits_for_payment(session: Session) -> str:
    order = session.place_order()
    session.must_not_fulfill(order, "before anything was paid")
    return "an unpaid order was not fulfilled"


def verifies_before_fulfilling(session: Session) -> str:
    """Its event is signed genuinely but speaks of a payment that is pending: the secret has leaked, or it is a bug."""
    order = session.place_order()
    fields: dict[str, Any] = {
        "chargedAmount": order.amount,
        "paymentMethod": "bank_transfer",
        "txnStatus": "successful",
    }
    event = sample(**fields)
    body = msgspec.json.encode({**event.payload, "txnRef": order.txn_ref})
    session.deliver(SignedEvent(body, event.event_id, order.txn_ref))
    if session.application.fulfilled_url is not None:
        session.must_not_fulfill(order, "on the word of an event, while its payment was pending")
    if session.wait_for(lambda: verifies(session, order) or None, session.pace.settle) is None:
        raise NotSeen("the application asked nothing about the payment of the event, and fulfilled nothing")
    return "the application verified the payment before it handed over"


def keeps_pending_open(session: Session) -> str:
    order = session.place_order()
    session.fulfilment(order)
    session.merchant.pay_account(account_number=order.account_number, amount=SMALL)
    body = msgspec.json.encode({**sample().payload, "txnRef": order.txn_ref, "txnStatus": "pending"})
    session.deliver(SignedEvent(body, sample().event_id, order.txn_ref))
    session.must_not_fulfill(order, f"when {SMALL} of {order.amount} was paid")
    return f"an order stayed open when {SMALL} of {order.amount} was paid"


def compares_amounts(session: Session) -> str:
    """The amount of the payment is changed on its way to the service, as a payer could who chooses it in the browser:
    everything that the service says of it afterwards is true, and it is successful."""

    def lower(request: dict[str, Any]) -> dict[str, Any]:
        return {**request, "amount": SMALL}

    with session.gateway.planned(Plan("lower amount", is_payment, change_request=lower)):
        order = session.place_order()
    if not order.answer.is_accepted:
        raise NotSeen(f"the application took no order: {order.answer}")
    session.fulfilment(order)
    session.deliver(session.pay(order, SMALL))
    session.must_not_fulfill(order, f"although only {SMALL} was charged for it")
    return f"an order for which only {SMALL} was charged was not fulfilled"


def leaves_failed_unfulfilled(session: Session) -> str:
    order = session.place_order()
    session.fulfilment(order)
    session.merchant.advance(minutes=EXPIRY_MINUTES)
    session.deliver(session.find_event(order.txn_ref, "payment"))
    session.must_not_fulfill(order, "although its payment had failed")
    return "an order whose payment failed was not fulfilled"


def fulfills_once(session: Session) -> str:
    order, event = settle_paid(session)
    threads = [threading.Thread(target=session.deliver, args=(event,)) for _ in range(REPEATS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return must_stay_once(session, order, f"its event came {REPEATS + 1} times")


def must_stay_once(session: Session, order: Order, when: str) -> str:
    fulfilment = session.fulfilment(order)
    if not fulfilment.is_counted:
        raise NotSeen("the application does not say how often an order is fulfilled: answer --fulfilled with a number")
    more = session.wait_for(lambda: session.fulfilment(order).times > 1 or None, session.pace.settle)
    if more is not None:
        raise Failed(f"the order was fulfilled {session.fulfilment(order).times} times when {when}")
    return f"an order was fulfilled once when {when}"


def fulfills_once_at_once(session: Session) -> str:
    """The first delivery and a repeat arrive together."""
    order = session.place_order()
    session.fulfilment(order)
    event = session.pay(order)
    threads = [threading.Thread(target=session.deliver, args=(event,)) for _ in range(REPEATS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not session.wait_fulfilled(order).times:
        raise NotSeen("the application did not fulfill a paid order")
    return must_stay_once(session, order, f"{REPEATS} deliveries came at once")


def rejects_forged_order(session: Session) -> str:
    order = session.place_order()
    session.fulfilment(order)
    event = session.pay(order)
    headers = session.headers(event, session.other_secret)
    session.application.deliver(event.body, headers, timeout=session.pace.answer)
    session.must_not_fulfill(order, "on an event with a forged signature")
    return "an order was not fulfilled on an event with a forged signature"


def survives_refund(session: Session) -> str:
    order, _ = settle_paid(session)
    session.merchant.client.payment.refund(txn_ref=order.txn_ref, amount=SMALL)
    session.must_accept(session.find_event(order.txn_ref, "refund"), "the event of the partial refund of an order")
    return must_stay_once(session, order, "a part of it was refunded")


ORDER_CHECKS = (
    Check(
        "paid-fulfilled",
        "fulfills an order that was paid",
        "A customer who has paid and gets nothing complains to the bank.",
        "Fulfill when the event of the payment comes and verify says successful.",
        VERIFY_FIRST,
        fulfills_paid,
    ),
    Check(
        "unpaid-kept",
        "fulfills nothing that was not paid",
        "A payment that has begun is not paid.",
        "Wait for the event, and verify.",
        VERIFY_FIRST,
        waits_for_payment,
    ),
    Check(
        "verified-first",
        "verifies before it fulfills",
        "An event says that something happened. What is true now is what the service answers.",
        "Call payment verify with txnRef when an event comes, and fulfill only if it says successful.",
        VERIFY_FIRST,
        verifies_before_fulfilling,
    ),
    Check(
        "pending-kept",
        "keeps an order open while its payment is pending",
        "Pending means that money may still come, or not. Most orders that are given away were pending.",
        "Treat pending and processing as unpaid, and wait for a final state.",
        VERIFY_FIRST,
        keeps_pending_open,
    ),
    Check(
        "amount-compared",
        "compares the amount with its own price",
        "A payer who can change the amount, or send the reference of a cheaper payment, buys for less.",
        "Compare chargedAmount and currency of the reply of verify with the price that you stored with the order.",
        VERIFY_FIRST,
        compares_amounts,
    ),
    Check(
        "failed-kept",
        "fulfills nothing whose payment failed",
        "An event of a failed payment has status 200: it says that the event is well, not the payment.",
        "Read txnStatus, not status.",
        "reference/events.html#payload",
        leaves_failed_unfulfilled,
    ),
    Check(
        "fulfilled-once",
        "fulfills once when an event is repeated",
        "Events are delivered at least once, and then sometimes twice.",
        "Mark the order as fulfilled in the transaction that fulfills it, and do nothing if it is marked.",
        TRUST,
        fulfills_once,
    ),
    Check(
        "fulfilled-once-at-once",
        "fulfills once when deliveries come at once",
        "Two processes that look at the same moment both see an open order.",
        "Lock the order's row, or change it with a condition, such as update … where fulfilled = false.",
        TRUST,
        fulfills_once_at_once,
    ),
    Check(
        "forged-kept",
        "fulfills nothing on a forged event",
        "To answer 400 is not enough if the event is used all the same.",
        "Verify the signature before anything else is done with the body.",
        "guides/webhooks.html#verify-and-answer",
        rejects_forged_order,
    ),
    Check(
        "refund-kept",
        "does not fulfill again when a part is refunded",
        "The refund's event is successful and names the payment, but it is no payment.",
        "Read kind before you act on an event.",
        "reference/events.html#payload",
        survives_refund,
    ),
)
