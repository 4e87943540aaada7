"""Checks of the receiver of events: what it must accept, and what it must reject. They need only its address and the
signing secret, so they play samples of every kind, which are about nothing that the application knows."""

import secrets
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from kasuwa.integration.application import AppAnswer
from kasuwa.integration.check import Check, Failed, NotSeen, Session, SignedEvent
from kasuwa.webhooks.sample_events import build_sample_event

GUIDE = "guides/webhooks.html"
VERIFY = f"{GUIDE}#verify-and-answer"
TRUST = f"{GUIDE}#trust-an-event-no-further-than-you-must"
# How old a delivery is that must be rejected, and how long ago a transaction was whose event comes late.
OLD_SECONDS = 3600
LATE = timedelta(days=3)
LARGE_BYTES = 64 * 1024


def sample(kind: str = "payment", *, sequence: int = 1, **fields: Any) -> SignedEvent:
    """Returns a sample event of a kind, about a reference of its own, with further fields."""
    reference = f"SAMPLE{secrets.token_hex(6).upper()}"
    payload = msgspec.to_builtins(build_sample_event("test", kind))
    body = msgspec.json.encode({**payload, "txnRef": reference, **fields})
    return SignedEvent(body, f"evt_{secrets.token_hex(10)}", reference, sequence)


def must_reject(session: Session, body: bytes, headers: dict[str, str], what: str) -> str:
    answer = session.application.deliver(body, headers, timeout=session.pace.answer)
    if answer.http_status is None:
        raise NotSeen(f"{what}: {answer}")
    if answer.is_accepted:
        raise Failed(f"{what} was accepted with {answer}")
    return f"{what} was rejected with {answer}"


def accepts_event(session: Session) -> str:
    answer = session.must_accept(sample(), "a genuine payment event")
    return f"a genuine payment event was accepted with {answer} in {answer.seconds:.1f} s"


def accepts_repeats(session: Session) -> str:
    event = sample()
    session.must_accept(event, "a genuine event")
    session.must_accept(event, "the same event, a second time")
    return "the same event was accepted twice"


def accepts_two_at_once(session: Session) -> str:
    event = sample()
    answers: list[AppAnswer] = []
    threads = [threading.Thread(target=lambda: answers.append(session.deliver(event))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        if not answer.is_accepted:
            raise Failed(f"of two deliveries of one event at once, one got {answer}")
    return "two deliveries of one event at once were accepted"


def accepts_any_order(session: Session) -> str:
    newer = sample(sequence=2)
    older = SignedEvent(newer.body, f"evt_{secrets.token_hex(10)}", newer.reference, 1)
    session.must_accept(newer, "the second event of an object")
    session.must_accept(older, "the first event of the object, after the second")
    return "the first event of an object was accepted after the second"


def accepts_late(session: Session) -> str:
    day = (datetime.now(UTC) - LATE).strftime("%Y%m%d")
    reference = f"GP{secrets.randbelow(10**9):09d}{day}A"
    event = sample(txnRef=reference)
    session.must_accept(event, f"an event of a payment of {day}, delivered today")
    return f"an event of a payment of {day} was accepted today"


def rejects_unsigned(session: Session) -> str:
    event = sample()
    return must_reject(session, event.body, {"content-type": "application/json"}, "an event without a signature")


def rejects_forged(session: Session) -> str:
    event = sample()
    headers = session.headers(event, secrets.token_hex(16))
    return must_reject(session, event.body, headers, "an event that was signed with a made-up secret")


def rejects_changed_body(session: Session) -> str:
    event = sample()
    changed = event.body.replace(b"1500.00", b"9500.00", 1)
    assert changed != event.body, "the sample has an amount"
    return must_reject(session, changed, session.headers(event), "an event with one byte of its amount changed")


def rejects_old(session: Session) -> str:
    event = sample()
    headers = session.headers(event, timestamp=int(time.time()) - OLD_SECONDS)
    return must_reject(session, event.body, headers, "a recorded delivery, signed an hour ago,")


def rejects_other_merchant(session: Session) -> str:
    event = sample()
    headers = session.headers(event, session.other_secret)
    return must_reject(session, event.body, headers, "a delivery that is signed with the secret of another merchant")


def rejects_garbage(session: Session) -> str:
    sentence = must_reject(
        session, b"\x00\xff{not json", {"content-type": "application/json"}, "a body that is no JSON"
    )
    session.must_accept(sample(), "a genuine event after a body that is no JSON")
    return sentence


def accepts_unknown_kind(session: Session) -> str:
    event = sample()
    strange = msgspec.json.encode({**event.payload, "kind": "satellite", "paymentMethod": "satellite"})
    session.must_accept(SignedEvent(strange, event.event_id, event.reference), "an event of an unknown kind")
    return "an event of an unknown kind was accepted"


def accepts_unknown_fields(session: Session) -> str:
    event = sample(aFieldOfTomorrow={"nested": [1, None, "two"]}, anotherOne=None)
    session.must_accept(event, "an event with unknown fields")
    return "an event with unknown fields was accepted"


def accepts_failed(session: Session) -> str:
    session.must_accept(sample(txnStatus="failed", chargedAmount="0.00"), "the event of a failed payment")
    return "the event of a failed payment was accepted"


def accepts_refund(session: Session) -> str:
    session.must_accept(sample("refund", refundOf="SAMPLE", chargedAmount="0.01"), "the event of a partial refund")
    return "the event of a partial refund was accepted"


def accepts_dispute(session: Session) -> str:
    session.must_accept(sample("dispute"), "the event of a dispute")
    return "the event of a dispute was accepted"


def accepts_slow(session: Session) -> str:
    event = sample()
    pieces, timeout = 4, session.pace.answer + session.pace.slow
    pause = session.pace.slow / (pieces - 1)
    headers = session.headers(event)
    answer = session.application.deliver(event.body, headers, timeout=timeout, pieces=pieces, pause=pause)
    if not answer.is_accepted:
        raise Failed(f"an event that came in {pieces} pieces within {session.pace.slow:g} s: {answer}")
    return f"an event that came in {pieces} pieces was accepted"


def accepts_large(session: Session) -> str:
    session.must_accept(sample(aFieldOfTomorrow="x" * LARGE_BYTES), f"an event of {LARGE_BYTES // 1024} KiB")
    return f"an event of {LARGE_BYTES // 1024} KiB was accepted"


def accepts_rolled_secret(session: Session) -> str:
    """Deliveries are signed with the new secret first while one is rolled. The application still has the old."""
    event = sample()
    headers = session.headers(event, secrets.token_hex(16), session.secret)
    answer = session.application.deliver(event.body, headers, timeout=session.pace.answer)
    if not answer.is_accepted:
        raise Failed(f"an event with the signatures of a new secret and of the application's: {answer}")
    return "an event that is signed with a new secret and the application's own was accepted"


def accepts_header_names(session: Session) -> str:
    """Names of headers have no case: proxies write them in capitals or small letters."""
    for what, spell in (("capitals", str.upper), ("title case", str.title)):
        event = sample()
        headers = {spell(name): value for name, value in session.headers(event).items()}
        answer = session.application.deliver(event.body, headers, timeout=session.pace.answer)
        if not answer.is_accepted:
            raise Failed(f"an event whose header names are in {what}: {answer}")
    return "header names were accepted in any case"


RECEIVER_CHECKS = (
    Check(
        "event-accepted",
        "accepts a genuine event in time",
        "An event that is not answered with 2xx within ten seconds is sent again for three days, and an endpoint that "
        "fails for five days is switched off.",
        "Answer 200 as soon as the event is verified and stored, also if it is about nothing you know. Do slow work "
        "afterwards.",
        VERIFY,
        accepts_event,
    ),
    Check(
        "event-repeated",
        "accepts the same event twice",
        "A lost answer makes the service send the event again. If the repeat is refused, it comes again and again.",
        "Remember the webhook-id of handled events, and answer 200 to one that you know.",
        TRUST,
        accepts_repeats,
    ),
    Check(
        "event-twice-at-once",
        "accepts two deliveries of one event at once",
        "A repeat may arrive while the first delivery is still being handled.",
        "Let a unique key on webhook-id in your database decide which delivery is first; answer 200 to both.",
        TRUST,
        accepts_two_at_once,
    ),
    Check(
        "event-out-of-order",
        "accepts events in another order",
        "Events are delivered side by side and tried again one by one.",
        "Compare webhook-sequence with the newest that you have of webhook-object, ignore an older one and answer 200.",
        TRUST,
        accepts_any_order,
    ),
    Check(
        "event-late",
        "accepts the event of an old payment",
        "After an outage of yours, events come up to three days later, signed anew.",
        "Judge the age of a delivery by webhook-timestamp alone, never by the date of the payment.",
        f"{GUIDE}#look-back-and-send-again",
        accepts_late,
    ),
    Check(
        "signature-missing",
        "rejects an event without a signature",
        "Anybody who knows the address can send a request to it.",
        "Answer 400 if webhook-signature is missing.",
        VERIFY,
        rejects_unsigned,
    ),
    Check(
        "signature-forged",
        "rejects a forged signature",
        "A signature that is not compared protects nothing.",
        "Compute the HMAC over id, timestamp and raw body with your secret, and compare in constant time.",
        VERIFY,
        rejects_forged,
    ),
    Check(
        "body-changed",
        "rejects a body that was changed by a byte",
        "Whoever can change the amount of a genuine event can buy for less.",
        "Verify the signature over the body as it came, before it is parsed.",
        VERIFY,
        rejects_changed_body,
    ),
    Check(
        "timestamp-old",
        "rejects a recorded delivery",
        "A delivery that was recorded once could be sent again at any time.",
        "Reject a webhook-timestamp that is more than five minutes away from now.",
        VERIFY,
        rejects_old,
    ),
    Check(
        "other-merchant",
        "rejects the delivery of another merchant",
        "Other merchants have genuine deliveries too, with their own secret.",
        "Verify with your own secret only. No header and no field of the delivery chooses the secret.",
        VERIFY,
        rejects_other_merchant,
    ),
    Check(
        "garbage-rejected",
        "rejects what is no event, and lives on",
        "Scanners send anything. A receiver that stops at it misses events.",
        "Answer 400 to what cannot be verified or read.",
        VERIFY,
        rejects_garbage,
    ),
    Check(
        "kind-unknown",
        "accepts kinds that it does not know",
        "Later versions add kinds. One that is refused is sent again for three days.",
        "Answer 200 and do nothing.",
        TRUST,
        accepts_unknown_kind,
    ),
    Check(
        "fields-unknown",
        "accepts fields that it does not know",
        "Later versions add fields to events.",
        "Read the fields that you need, and ignore the others.",
        TRUST,
        accepts_unknown_fields,
    ),
    Check(
        "event-failed",
        "accepts the event of a failed payment",
        "Most payments that do not succeed end with such an event.",
        "Close the order as unpaid and answer 200.",
        "reference/events.html#payload",
        accepts_failed,
    ),
    Check(
        "event-refund",
        "accepts the event of a partial refund",
        "A refund has an event of its own, and its amount is not that of the payment.",
        "Look up the payment by refundOf, note the amount and answer 200.",
        "reference/events.html#payload",
        accepts_refund,
    ),
    Check(
        "event-dispute",
        "accepts the event of a dispute",
        "A dispute that nobody answers is lost.",
        "Tell somebody who can answer it by respondBy, and answer 200.",
        "reference/events.html#disputes",
        accepts_dispute,
    ),
    Check(
        "slow-connection",
        "accepts an event that comes in pieces",
        "Networks deliver a body in as many pieces as they like.",
        "Read until content-length is reached, not once.",
        VERIFY,
        accepts_slow,
    ),
    Check(
        "body-large",
        "accepts a large event",
        "Lists in events grow, such as the lines of a settlement.",
        "Allow bodies of at least 64 KiB.",
        VERIFY,
        accepts_large,
    ),
    Check(
        "secret-rolled",
        "accepts both secrets while one is rolled",
        "While a secret is rolled, webhook-signature has a signature of the new secret and one of the old.",
        "Split webhook-signature at spaces and accept the event if any signature fits. service-hash is of the new "
        "secret; service-hash-previous is of the old.",
        "reference/events.html#rolled-keys",
        accepts_rolled_secret,
    ),
    Check(
        "header-case",
        "reads header names in any case",
        "HTTP header names have no case, and proxies rewrite them.",
        "Look headers up without regard to case.",
        "reference/events.html#signatures",
        accepts_header_names,
    ),
)
