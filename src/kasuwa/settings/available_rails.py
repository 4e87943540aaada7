"""Rails that the settings make available: those of a purpose, and those that a merchant may have of its own."""

from collections.abc import Mapping, Sequence

from kasuwa.core.routing import RailPurpose
from kasuwa.settings.rail_needs import RAIL_VENDORS
from kasuwa.settings.settings import MIXED_WITH_SANDBOX, Settings, get_shadow, is_page_and_sandbox, rails_of_purpose


def configured_rails(settings: Settings, purpose: str) -> tuple[str, ...]:
    """Returns every rail of a purpose whose settings are all there, also those that take no new orders."""
    vendors = [
        name
        for name, needed in RAIL_VENDORS[purpose].items()
        if all(getattr(settings, setting) is not None for setting in needed)
    ]
    return (*vendors, *(("sandbox",) if settings.environment == "test" else ()))


def check_merchant_rails(settings: Settings, rails: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns what is wrong with the rails of a merchant's own: each fault a sentence."""
    faults = [f"there is no choice of rails for {purpose}" for purpose in rails if purpose not in RAIL_VENDORS]
    for purpose in RAIL_VENDORS:
        known = [name for name in configured_rails(settings, purpose) if name != get_shadow(settings, purpose)]
        names = rails.get(purpose, ())
        wrong = dict.fromkeys(name for name in names if name not in known)
        faults += [f"{name} is not configured for {purpose} ({' or '.join(known) or 'nothing'} is)" for name in wrong]
        if len(set(names)) != len(names):
            faults.append(f"the rails for {purpose} name one of them twice")
        if is_page_and_sandbox(purpose, names):
            faults.append(f"the rails for {purpose} have {MIXED_WITH_SANDBOX}")
    return faults


def list_purposes(settings: Settings) -> tuple[RailPurpose, ...]:
    """Returns every purpose with its rails."""
    return tuple(
        RailPurpose(
            purpose,
            rails_of_purpose(settings, purpose),
            configured_rails(settings, purpose),
            get_shadow(settings, purpose),
        )
        for purpose in RAIL_VENDORS
    )
