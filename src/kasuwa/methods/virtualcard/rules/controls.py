"""Whether the limits of a card allow a purchase. Contract: virtualcard#limits, virtualcard#declines

Purchases that count are in the rows that the decision has loaded: what was spent on the day and in the month in the
card itself, the purchases of the last hours and a single use in its CardUsage. Two purchases at once are decided one
after the other on these rows, so neither can pass a limit that the other has filled.

Neither refunds nor reversals lower what was spent: a limit bounds what a thief can spend, and what comes back must not
make room for more. An amount of zero, by which a shop verifies a card, does not count.
"""

from datetime import datetime, timedelta

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, LoadedRows, Row
from kasuwa.core.money import format_minor
from kasuwa.methods.clients.model import Client, client_key, count_spent
from kasuwa.methods.clients.rules.check_limits import check_spending
from kasuwa.methods.virtualcard.card_limits import (
    CARD_LIMITS_DECODER,
    RECENT_DECODER,
    CardLimits,
    CardUsage,
    RecentPurchase,
    usage_key,
)
from kasuwa.methods.virtualcard.model import Card
from kasuwa.methods.virtualcard.rules.declines import AuthorizationRequest, Decline
from kasuwa.methods.virtualcard.wire import MAX_VELOCITY_COUNT
from kasuwa.terms.client_tiers import TierTerms
from kasuwa.transactions.event_fields import DeclineReason
from kasuwa.transactions.transactions import encode_text

OVER_LIMIT_CODE = "61"
OVER_FREQUENCY_CODE = "65"
OVER_TRANSACTION_LIMIT = "Exceeds the card's limit of {} for one transaction"
OVER_DAILY_LIMIT = "Exceeds the card's limit of {} for a day"
OVER_MONTHLY_LIMIT = "Exceeds the card's limit of {} for a month"
OVER_VELOCITY_COUNT = "Exceeds the card's limit of {} purchases in {}"
OVER_VELOCITY_AMOUNT = "Exceeds the card's limit of {} in {}"

# Declines by the limits, in order of precedence. The limits of amounts come after the days and the single use.
NOT_YET_VALID = Decline("62", "not_yet_valid", "The card may not be used before {}")
NO_LONGER_VALID = Decline("62", "no_longer_valid", "The card may not be used after {}")
SINGLE_USE_SPENT = Decline("65", "single_use_spent", "The card was for one purchase, which was made")
WRONG_CATEGORY = Decline("57", "category_not_allowed", "The card may not be used in this category of shops")
BLOCKED_CATEGORY = Decline("57", "category_blocked", "The card is blocked for this category of shops")
WRONG_MERCHANT = Decline("57", "merchant_not_allowed", "The card may not be used in this shop")
BLOCKED_MERCHANT = Decline("57", "merchant_blocked", "The card is blocked for this shop")
WRONG_COUNTRY = Decline("62", "country_not_allowed", "The card may not be used in this country")
OVER_CLIENT_LIMIT = Decline(OVER_LIMIT_CODE, "over_client_limit", "Exceeds what the client may spend in a day")
WRONG_CHANNEL = Decline("58", "channel_not_allowed", "The card may not be used in this way")


def read_limits(card: Card) -> CardLimits:
    return CARD_LIMITS_DECODER.decode(card.limits)


def get_usage(card: Card, rows: LoadedRows) -> CardUsage:
    """Returns what the card has paid. Its row must be loaded."""
    key = usage_key(card.merchant_id, card.reference)
    return rows.get(CardUsage, key) or CardUsage(key, card.merchant_id, card.reference, is_used=False, recent="[]")


def find_limit_decline(
    card: Card, request: AuthorizationRequest, amount: int, context: Context, rows: LoadedRows
) -> Decline | None:
    """Returns the first limit that a purchase of `amount` in the card's currency breaks, or None."""
    bounds = read_limits(card)
    usage = get_usage(card, rows) if bounds.needs_usage else None
    return (
        find_day_decline(bounds, context)
        or (SINGLE_USE_SPENT if bounds.single_use and usage is not None and usage.is_used else None)
        or find_exceeded_limit(card, bounds, amount, context)
        or (None if usage is None else find_velocity_decline(card, bounds, usage, amount, context.now))
        or find_shop_decline(bounds, request)
        or find_client_decline(card, amount, context, rows)
    )


def find_client_decline(card: Card, amount: int, context: Context, rows: LoadedRows) -> Decline | None:
    """Returns the decline of a purchase beyond what the tier of the card's client may spend in a day."""
    if not card.client_id or check_spending(card.client_id, amount, context, rows) is None:
        return None
    return OVER_CLIENT_LIMIT


def find_day_decline(bounds: CardLimits, context: Context) -> Decline | None:
    today = lagos_day(context.now).isoformat()
    if bounds.from_date is not None and today < bounds.from_date:
        return NOT_YET_VALID.fill(bounds.from_date)
    if bounds.to_date is not None and today > bounds.to_date:
        return NO_LONGER_VALID.fill(bounds.to_date)
    return None


def find_exceeded_limit(card: Card, bounds: CardLimits, amount: int, context: Context) -> Decline | None:
    spent = add_spending(card, amount, context)
    checks: tuple[tuple[DeclineReason, str, int | None, int], ...] = (
        ("over_transaction_limit", OVER_TRANSACTION_LIMIT, bounds.per_transaction, amount),
        ("over_daily_limit", OVER_DAILY_LIMIT, bounds.per_day, spent.spent_day),
        ("over_monthly_limit", OVER_MONTHLY_LIMIT, bounds.per_month, spent.spent_month),
    )
    for reason, words, most, would_be in checks:
        if most is not None and would_be > most:
            return Decline(OVER_LIMIT_CODE, reason, words.format(f"{card.currency} {format_minor(most)}"))
    return None


def find_velocity_decline(
    card: Card, bounds: CardLimits, usage: CardUsage, amount: int, now: datetime
) -> Decline | None:
    if not amount:
        return None
    recent = RECENT_DECODER.decode(usage.recent)
    for limit in bounds.velocity:
        counted = list_within(recent, limit.hours, now)
        most = min(limit.count or MAX_VELOCITY_COUNT, MAX_VELOCITY_COUNT)
        hours = f"{limit.hours} hour{'s' if limit.hours > 1 else ''}"
        if len(counted) >= most:
            return Decline(OVER_FREQUENCY_CODE, "velocity_count", OVER_VELOCITY_COUNT.format(most, hours))
        if limit.amount is not None and sum(one.amount for one in counted) + amount > limit.amount:
            shown = f"{card.currency} {format_minor(limit.amount)}"
            return Decline(OVER_LIMIT_CODE, "velocity_amount", OVER_VELOCITY_AMOUNT.format(shown, hours))
    return None


def list_within(recent: tuple[RecentPurchase, ...], hours: int, now: datetime) -> tuple[RecentPurchase, ...]:
    """Returns the purchases of the last `hours`. One that was made exactly so long ago no longer counts."""
    since = count_milliseconds(now - timedelta(hours=hours))
    return tuple(one for one in recent if one.at_ms > since)


def count_milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def find_shop_decline(bounds: CardLimits, request: AuthorizationRequest) -> Decline | None:
    names = {name.strip().casefold() for name in (request.merchant_name, request.merchant_id or "") if name.strip()}
    checks = (
        (WRONG_CATEGORY, bounds.categories and request.category not in bounds.categories),
        (BLOCKED_CATEGORY, request.category in bounds.blocked_categories),
        (WRONG_MERCHANT, bounds.merchants and not is_named(bounds.merchants, names)),
        (BLOCKED_MERCHANT, is_named(bounds.blocked_merchants, names)),
        (WRONG_COUNTRY, bounds.countries and (request.country or "").upper() not in bounds.countries),
        (WRONG_CHANNEL, bounds.channels and request.channel not in bounds.channels),
    )
    return next((decline for decline, is_broken in checks if is_broken), None)


def is_named(shops: tuple[str, ...], names: set[str]) -> bool:
    return any(shop.strip().casefold() in names for shop in shops)


# --- what a purchase leaves behind --------------------------------------------------------------------------


def add_spending(card: Card, amount: int, context: Context) -> Card:
    """Returns the card with the amount added to what was spent in the current Lagos day and month."""
    today = lagos_day(context.now).isoformat()
    day = card.spent_day if card.spent_on == today else 0
    month = card.spent_month if card.spent_on[:7] == today[:7] else 0
    return msgspec.structs.replace(card, spent_on=today, spent_day=day + amount, spent_month=month + amount)


def count_purchase(card: Card, amount: int, context: Context, rows: LoadedRows) -> tuple[Row, ...]:
    """Returns the rows that count an approved purchase of a card, for its own limits and for those of its client."""
    return *count_for_card(card, amount, context, rows), *count_for_client(card, amount, context, rows)


def count_for_client(card: Card, amount: int, context: Context, rows: LoadedRows) -> tuple[Client, ...]:
    if not card.client_id or not amount or not context.merchant.terms(TierTerms).are_on:
        return ()
    client = rows.get(Client, client_key(card.merchant_id, card.client_id))
    assert client is not None, card.client_id
    return (count_spent(client, amount, lagos_day(context.now)),)


def count_for_card(card: Card, amount: int, context: Context, rows: LoadedRows) -> tuple[Card | CardUsage, ...]:
    spent, bounds = add_spending(card, amount, context), read_limits(card)
    if not amount or not bounds.needs_usage:
        return (spent,)
    usage = get_usage(card, rows)
    recent = usage.recent
    if bounds.velocity:
        counted = list_within(RECENT_DECODER.decode(usage.recent), bounds.longest_hours, context.now)
        recent = encode_text((*counted, RecentPurchase(count_milliseconds(context.now), amount)))
    used = usage.is_used or bounds.single_use
    return spent, msgspec.structs.replace(usage, is_used=used, recent=recent)
