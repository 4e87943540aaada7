"""Rules that change or show a card without moving money: get, block, unblock and limits.

Contract: virtualcard#get, virtualcard#block, virtualcard#limits
"""

import msgspec
from msgspec import UNSET

from kasuwa.core.decision import AuditEntry, Context, Decision, LoadedRows, Merchant, Needs, NeedsMore, Refusal
from kasuwa.core.dry_run import preview_decision
from kasuwa.core.money import format_grouped
from kasuwa.methods.virtualcard.card_decider import find_decider, need_deciders
from kasuwa.methods.virtualcard.card_limits import (
    CARD_LIMITS_DECODER,
    CardUsage,
    encode_limits,
    has_limits,
    show_limits,
    usage_key,
)
from kasuwa.methods.virtualcard.model import (
    ACTIVE,
    BLOCKED,
    HIDDEN_CVV,
    UNKNOWN_CARD,
    Card,
    card_key,
    derive_cvv,
    find_open_card,
    get_balance,
    get_held,
    has_all_rows,
    reply_card,
    show_card,
    unseal_pan,
)
from kasuwa.methods.virtualcard.rules.explain import explain_changes, explain_state
from kasuwa.methods.virtualcard.wire import (
    CardReply,
    CardRequest,
    DoneReply,
    GetRequest,
    LimitsReply,
    LimitsRequest,
)


def need_get(request: GetRequest, merchant: Merchant) -> Needs:
    merchant_id, reference = merchant.merchant_id, request.reference
    return Needs(((Card, card_key(merchant_id, reference)), *need_deciders(merchant_id, reference).rows))


def decide_get(request: GetRequest, context: Context, rows: LoadedRows) -> Decision[CardReply] | Refusal | NeedsMore:
    """Shows a card. Revealing number and CVV writes an audit entry, and a dry run reveals nothing."""
    card = rows.get(Card, card_key(context.merchant.merchant_id, request.reference))
    if card is None:
        return UNKNOWN_CARD
    wanted = Needs((), (card.account,))
    if not has_all_rows(wanted, card.merchant_id, rows):
        return NeedsMore(wanted)
    data = show_card(card, get_balance(card, rows), context.vault.unseal)
    held = get_held(card, rows)
    data.held = format_grouped(held) if held else UNSET
    decider = find_decider(card.merchant_id, card.reference, rows)
    if request.dry_run or not request.reveal:
        hidden = msgspec.structs.replace(data, cardpan=card.mask, cvv=HIDDEN_CVV)
        masked = Decision(reply=reply_card(card, hidden, "Card found", decider))
        return preview_decision(masked, ()) if request.dry_run else masked
    pan = unseal_pan(context, card)
    shown = msgspec.structs.replace(data, cardpan=pan, cvv=derive_cvv(context, pan, card.expiration))
    audit_entry = AuditEntry(f"merchant {context.merchant.mid}", "card number shown", card.reference)
    return Decision(reply=reply_card(card, shown, "Card found", decider), audit_entries=(audit_entry,))


def decide_block(request: CardRequest, context: Context, loaded_rows: LoadedRows) -> Decision[DoneReply] | Refusal:
    card = find_open_card(request.reference, context, loaded_rows)
    if isinstance(card, Refusal):
        return card
    rows = () if card.state == BLOCKED else (msgspec.structs.replace(card, state=BLOCKED),)
    blocked = Decision(reply=DoneReply(message="Card blocked successfully"), rows=rows)
    return preview_decision(blocked, (explain_state(card, BLOCKED),)) if request.dry_run else blocked


def decide_unblock(request: CardRequest, context: Context, loaded_rows: LoadedRows) -> Decision[DoneReply] | Refusal:
    """Unblocks a card. Its count of unpaid monthly fees starts again from zero."""
    card = find_open_card(request.reference, context, loaded_rows)
    if isinstance(card, Refusal):
        return card
    rows = () if card.state == ACTIVE else (msgspec.structs.replace(card, state=ACTIVE, unpaid=0),)
    unblocked = Decision(reply=DoneReply(message="Card unblocked successfully"), rows=rows)
    return preview_decision(unblocked, (explain_state(card, ACTIVE),)) if request.dry_run else unblocked


def need_limits(request: LimitsRequest, merchant: Merchant) -> Needs:
    merchant_id, reference = merchant.merchant_id, request.reference
    return Needs(((Card, card_key(merchant_id, reference)), (CardUsage, usage_key(merchant_id, reference))))


def decide_limits(request: LimitsRequest, context: Context, loaded_rows: LoadedRows) -> Decision[LimitsReply] | Refusal:
    card = find_open_card(request.reference, context, loaded_rows)
    if isinstance(card, Refusal):
        return card
    changed = msgspec.structs.replace(card, limits=encode_limits(request.limits))
    message = "Limits set" if has_limits(changed.limits) else "Limits removed"
    rows = () if changed == card else (changed, *renew_single_use(card, changed, loaded_rows))
    limited = Decision(reply=LimitsReply(message=message, data=show_limits(changed.limits)), rows=rows)
    if request.dry_run:
        return preview_decision(limited, explain_changes(show_limits(card.limits), limited.reply.data))
    return limited


def renew_single_use(card: Card, changed: Card, rows: LoadedRows) -> tuple[CardUsage, ...]:
    """Returns the usage of a card that is of a single use from now on: it may pay once more."""
    before, after = (CARD_LIMITS_DECODER.decode(row.limits).single_use for row in (card, changed))
    usage = rows.get(CardUsage, usage_key(card.merchant_id, card.reference))
    if before or not after or usage is None or not usage.is_used:
        return ()
    return (msgspec.structs.replace(usage, is_used=False),)
