"""Limits by the tier of a client, as the regulator sets them.

The figures, each with its source and date, are in data/client_tiers.json. `ClientTiers` is stored in a merchant's
settings, with amounts as text: whether the limits apply, and figures of its own. Rules decide by `TierTerms`, in minor
units. Contract: clients#tiers
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

import msgspec

from kasuwa.core.money import parse_minor
from kasuwa.core.reference_tables import load_reference_data

TierName = Literal["0", "1", "2", "3"]
TIER_NAMES: tuple[TierName, ...] = ("0", "1", "2", "3")
UNLIMITED = "unlimited"

# Days for which money above a limit is held before it goes back. Contract: clients#held
DEFAULT_HELD_DAYS = 7
MAX_HELD_DAYS = 90


class TierFigures(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Figures of a tier that replace those of the regulator: amounts in naira, or `unlimited`. None keeps one."""

    single_deposit: str | None = None
    "Most that one deposit may bring."
    balance: str | None = None
    "Most that all savings and cards of a client may hold together."
    daily: str | None = None
    "Most that a client may be paid out and spend in a day of Lagos."


class ClientTiers(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Whether the limits by tier apply to a merchant's clients, and with which figures. The default is that none do."""

    is_on: bool = False
    held_days: int = DEFAULT_HELD_DAYS
    figures: dict[TierName, TierFigures] = {}


NO_CLIENT_TIERS = ClientTiers()


class TierLimits(msgspec.Struct, frozen=True):
    """The limits of a tier in kobo. None for no limit."""

    single_deposit: int | None
    balance: int | None
    daily: int | None


class TierTerms(msgspec.Struct, frozen=True):
    """The limits by tier as terms of a merchant: those of tiers 0 to 3, or none if they do not apply."""

    by_tier: tuple[TierLimits, ...] = ()
    held_days: int = DEFAULT_HELD_DAYS

    @property
    def are_on(self) -> bool:
        return bool(self.by_tier)


def read_figure(name: str, text: str | None) -> int | None:
    """Returns a figure in kobo, None for no limit. Raises ValueError that names a wrong one."""
    if text is None or text == UNLIMITED:
        return None
    amount = parse_minor(text)
    if amount is None:
        raise ValueError(f"client_tiers: {name} must be an amount in naira such as 50000.00, or {UNLIMITED}")
    return amount


@lru_cache(maxsize=1)
def load_figures() -> Mapping[str, TierFigures]:
    """Returns the regulator's figures by tier."""
    amounts: dict[str, dict[str, str]] = {name: {} for name in TIER_NAMES}
    for figure in load_reference_data("client_tiers")["figures"]:
        amounts[figure["tier"]][figure["limit"]] = figure["amount"] or UNLIMITED
    return {name: TierFigures(**limits) for name, limits in amounts.items()}


@lru_cache(maxsize=1)
def load_requirements() -> tuple[tuple[int, str], ...]:
    """Returns what each tier needs beyond the one below it: pairs of tier and requirement."""
    rows = load_reference_data("client_tiers")["requirements"]
    return tuple((int(row["tier"]), need) for row in rows for need in row["needs"])


def read_tiers(tiers: ClientTiers) -> TierTerms:
    """Returns the terms of a setting. Raises ValueError that names a wrong field."""
    if not 1 <= tiers.held_days <= MAX_HELD_DAYS:
        raise ValueError(f"client_tiers: held_days must be 1 to {MAX_HELD_DAYS}")
    by_tier = tuple(read_tier(name, tiers.figures.get(name, TierFigures())) for name in TIER_NAMES)
    return TierTerms(by_tier if tiers.is_on else (), tiers.held_days)


def read_tier(name: TierName, own: TierFigures) -> TierLimits:
    regulator = load_figures()[name]
    figures = {field: getattr(own, field) or getattr(regulator, field) for field in TierFigures.__struct_fields__}
    return TierLimits(**{field: read_figure(f"tier {name} {field}", text) for field, text in figures.items()})


@lru_cache(maxsize=1024)
def terms_of_tiers(encoded: bytes) -> TierTerms:
    return read_tiers(msgspec.json.decode(encoded, type=ClientTiers))
