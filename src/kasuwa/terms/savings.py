"""A merchant's terms of savings."""

import msgspec

MAX_DORMANCY_MONTHS = 120


class SavingsSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """A merchant's settings for savings. Contract: investments#dormancy"""

    # Months without a movement of the client's own after which savings are dormant. 0: they never are. The default is
    # the year of the guidelines of the Central Bank of Nigeria on dormant accounts.
    dormancy_months: int = 12


def check_savings_settings(savings: SavingsSettings) -> None:
    """Raises ValueError if a setting is invalid."""
    if not 0 <= savings.dormancy_months <= MAX_DORMANCY_MONTHS:
        raise ValueError(f"savings: dormancy_months must be 0 (never) to {MAX_DORMANCY_MONTHS}")
