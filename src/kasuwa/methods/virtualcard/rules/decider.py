"""Rules of deciders: setting one, what it is asked, and what its answer means for a purchase.

    the card's own rules decline ──▶ declined, and nobody is asked
    they approve, no decider     ──▶ approved
    they approve, a decider      ──▶ asked, with no transaction open; then all is decided once more, on the rows of then

The second decision applies the card's own rules again: purchases that were decided while the decider thought count.
The answer counts for exactly what was asked. If the amount that the card is billed or the decider has changed
meanwhile, the question is another one, and it is asked anew. A purchase that was asked about and never decided, because
a process died, has left nothing behind. Contract: virtualcard#decider
"""

import msgspec

from kasuwa.core.decision import Context, Decision, FieldError, LoadedRows, Merchant, Needs, Refusal, refuse_fields
from kasuwa.core.dry_run import preview_decision
from kasuwa.methods.virtualcard.card_decider import ALL_CARDS, CardDecider, decider_key, find_decider, show_decider
from kasuwa.methods.virtualcard.model import Card, card_key, find_open_card
from kasuwa.methods.virtualcard.rules.declines import AuthorizationRequest, Decline
from kasuwa.methods.virtualcard.rules.explain import explain_changes
from kasuwa.methods.virtualcard.wire import DeciderReply, DeciderRequest
from kasuwa.outbound.url_policy import url_fault
from kasuwa.rails.ports.decider import DeciderAnswer, DeciderQuestion
from kasuwa.terms.outgoing import OutgoingTerms

# Declines by the decider. They come after all others.
DECLINED_BY_MERCHANT = Decline("05", "declined_by_merchant", "The card's program declined the purchase")
NO_DECISION = Decline("91", "no_decision", "The card's program gave no answer in time")

URL_NOT_ALLOWED = refuse_fields(
    FieldError(
        "decision_url",
        "an http or https URL at a public address, without user name and password; in live with https",
        "url_not_allowed",
    )
)


# --- setting one --------------------------------------------------------------------------------------------


def need_decider(request: DeciderRequest, merchant: Merchant) -> Needs:
    merchant_id, reference = merchant.merchant_id, request.reference
    card = () if reference is None else ((Card, card_key(merchant_id, reference)),)
    return Needs((*card, (CardDecider, decider_key(merchant_id, reference or ALL_CARDS))))


def decide_decider(request: DeciderRequest, context: Context, rows: LoadedRows) -> Decision[DeciderReply] | Refusal:
    merchant, url = context.merchant, request.decision_url
    card = None if request.reference is None else find_open_card(request.reference, context, rows)
    if isinstance(card, Refusal):
        return card
    loopback_allowed = context.terms(OutgoingTerms).loopback_allowed
    if url and url_fault(url, environment=merchant.environment, loopback_allowed=loopback_allowed):
        return URL_NOT_ALLOWED
    reference = ALL_CARDS if card is None else card.reference
    key = decider_key(merchant.merchant_id, reference)
    stored = rows.get(CardDecider, key) or CardDecider(key, merchant.merchant_id, reference, "", "decline")
    row = msgspec.structs.replace(stored, url=url, on_timeout=request.on_timeout or "decline")
    message = "Purchases are sent there from now on" if url else "Nobody is asked from now on"
    decided = Decision(
        reply=DeciderReply(message=message, data=show_decider(row)), rows=() if row == stored else (row,)
    )
    if request.dry_run:
        return preview_decision(decided, explain_changes(show_decider(stored), decided.reply.data))
    return decided


# --- a purchase ---------------------------------------------------------------------------------------------


def make_question(
    card: Card, request: AuthorizationRequest, amount: int, rows: LoadedRows, *, is_hold: bool
) -> DeciderQuestion | None:
    """Returns what is asked about a purchase that the card's own rules approve, or None if there is nobody to ask."""
    decider = find_decider(card.merchant_id, card.reference, rows)
    if decider is None:
        return None
    return DeciderQuestion(
        url=decider.url,
        on_timeout=decider.on_timeout,  # type: ignore[arg-type]
        operation="authorization" if is_hold else "purchase",
        card=card.reference,
        amount=amount,
        currency=card.currency,
        shop_amount=request.amount,
        shop_currency=request.currency or card.currency,
        merchant_name=request.merchant_name,
        merchant_id=request.merchant_id,
        category=request.category,
        country=None if request.country is None else request.country.upper(),
        channel=request.channel,
    )


def find_answer_decline(answer: DeciderAnswer | None) -> Decline | None:
    """Returns the decline by the answer of a decider, or None if it approves or nobody was asked."""
    if answer is None or answer.approves:
        return None
    return DECLINED_BY_MERCHANT if answer.fault is None else NO_DECISION


def awaits_answer(question: DeciderQuestion | None, answer: DeciderAnswer | None) -> bool:
    """Whether a purchase cannot be decided before its question is answered. An answer to another one does not count."""
    return question is not None and (answer is None or answer.question != question)
