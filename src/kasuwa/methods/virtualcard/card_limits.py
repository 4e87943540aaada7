"""What may be spent with a card, as it is stored, read and shown, and what counts up to it.

The limits are a column of the card. Purchases of the last hours, and whether a card of a single use has paid, are in a
row of their own, which only cards with such limits have. Contract: virtualcard#limits
"""

from typing import ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from kasuwa.core.decision import Merchant, Row
from kasuwa.core.money import format_minor
from kasuwa.core.references import row_key
from kasuwa.methods.virtualcard.wire import LimitsShown, SpendingLimits, Velocity, VelocityShown
from kasuwa.transactions.transactions import encode_text
from kasuwa.wire.fields import LagosDate


class VelocityLimit(msgspec.Struct, frozen=True, omit_defaults=True):
    """The most purchases, and the most in minor units, within some hours."""

    hours: int
    count: int | None = None
    amount: int | None = None


class CardLimits(msgspec.Struct, frozen=True, omit_defaults=True):
    """A card's spending limits. An empty list of what is allowed means all."""

    per_transaction: int | None = None  # in minor units, as the next two
    per_day: int | None = None
    per_month: int | None = None
    categories: tuple[str, ...] = ()
    blocked_categories: tuple[str, ...] = ()
    merchants: tuple[str, ...] = ()  # as the merchant wrote them
    blocked_merchants: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()  # in upper case
    velocity: tuple[VelocityLimit, ...] = ()
    single_use: bool = False
    from_date: str | None = None  # a day in Lagos, as the next one
    to_date: str | None = None
    channels: tuple[str, ...] = ()

    @property
    def longest_hours(self) -> int:
        return max((limit.hours for limit in self.velocity), default=0)

    @property
    def needs_usage(self) -> bool:
        """Whether earlier purchases decide: the row CardUsage is loaded and written."""
        return self.single_use or bool(self.velocity)


CARD_LIMITS_DECODER: "msgspec.json.Decoder[CardLimits]" = msgspec.json.Decoder(CardLimits)


class RecentPurchase(msgspec.Struct, frozen=True, array_like=True):
    """An approved purchase that counts for the velocity of its card."""

    at_ms: int  # business time in milliseconds since 1970
    amount: int  # in the card's currency


class CardUsage(Row):
    """The purchases of a card with a velocity or a single use."""

    table: ClassVar[str] = "virtual_card_usage"
    mutable_columns: ClassVar[tuple[str, ...]] = ("is_used", "recent")
    coded_columns: ClassVar[tuple[str, ...]] = ("reference", "is_used", "recent")

    reference: str  # of the card
    is_used: bool  # whether it has paid since it is of a single use
    recent: str  # the purchases of the longest window as JSON, oldest first
    row_code: bytes | None = None


RECENT_DECODER: "msgspec.json.Decoder[tuple[RecentPurchase, ...]]" = msgspec.json.Decoder(tuple[RecentPurchase, ...])


def usage_key(merchant_id: int, reference: str) -> bytes:
    return row_key(merchant_id, "card_usage", reference)


# --- requests and replies -----------------------------------------------------------------------------------


def check_velocity(merchant: Merchant, velocity: list[Velocity] | UnsetType | None) -> str | None:
    """Returns an error if a rule has neither a count nor an amount."""
    empty = [number for number, rule in enumerate(velocity or ()) if rule.count is None and rule.amount is None]
    return f"rule {empty[0]} needs count or amount" if empty else None


def check_days(
    merchant: Merchant, first: LagosDate | UnsetType | None, last: LagosDate | UnsetType | None
) -> str | None:
    return "not before from_date" if first and last and last < first else None


def sort_unique(values: list[str] | UnsetType | None) -> tuple[str, ...]:
    return tuple(sorted(set(values or ())))


def read_velocity(rule: Velocity) -> VelocityLimit:
    return VelocityLimit(rule.hours, rule.count, None if rule.amount is None else int(rule.amount))


def encode_limits(limits: SpendingLimits | None) -> str:
    if limits is None:
        return encode_text(CardLimits())
    figures = (limits.per_transaction, limits.per_day, limits.per_month)
    once, day, month = (None if figure is None else int(figure) for figure in figures)
    first, last = (day.plain().isoformat() if day else None for day in (limits.from_date, limits.to_date))
    return encode_text(
        CardLimits(
            per_transaction=once,
            per_day=day,
            per_month=month,
            categories=sort_unique(limits.categories),
            blocked_categories=sort_unique(limits.blocked_categories),
            merchants=sort_unique(limits.merchants),
            blocked_merchants=sort_unique(limits.blocked_merchants),
            countries=sort_unique([code.upper() for code in limits.countries or ()]),
            velocity=tuple(read_velocity(rule) for rule in limits.velocity or ()),
            single_use=bool(limits.single_use),
            from_date=first,
            to_date=last,
            channels=sort_unique(list(limits.channels or ())),
        )
    )


def has_limits(limits: str) -> bool:
    return CARD_LIMITS_DECODER.decode(limits) != CardLimits()


def show_limits(limits: str) -> LimitsShown:
    """Returns the limits of a card for a reply. Controls that are not set are absent."""
    bounds = CARD_LIMITS_DECODER.decode(limits)
    figures = (bounds.per_transaction, bounds.per_day, bounds.per_month)
    once, day, month = (None if figure is None else format_minor(figure) for figure in figures)
    return LimitsShown(
        per_transaction=once,
        per_day=day,
        per_month=month,
        categories=list(bounds.categories),
        blocked_categories=list_or_unset(bounds.blocked_categories),
        merchants=list_or_unset(bounds.merchants),
        blocked_merchants=list_or_unset(bounds.blocked_merchants),
        countries=list_or_unset(bounds.countries),
        velocity=[show_velocity(limit) for limit in bounds.velocity] or UNSET,
        single_use=True if bounds.single_use else UNSET,
        from_date=bounds.from_date or UNSET,
        to_date=bounds.to_date or UNSET,
        channels=list(bounds.channels) or UNSET,  # type: ignore[arg-type]
    )


def list_or_unset(values: tuple[str, ...]) -> list[str] | UnsetType:
    return list(values) or UNSET


def show_velocity(limit: VelocityLimit) -> VelocityShown:
    amount = UNSET if limit.amount is None else format_minor(limit.amount)
    return VelocityShown(count=UNSET if limit.count is None else limit.count, amount=amount, hours=limit.hours)
