"""Exchange between NGN and another currency at the operator's rates, through position accounts. (D12)

Whoever takes another currency out of NGN pays the sell rate, rounded up; whoever gives it back gets the buy rate,
rounded down. As the operator never buys dearer than it sells, a round trip never earns.
"""

import msgspec

from kasuwa.core.money import MINOR_PER_MAJOR

HOME = "NGN"


class Rate(msgspec.Struct, frozen=True):
    """Kobo for one whole unit of the other currency: `buy` is what the operator pays, `sell` what it asks."""

    buy: int
    sell: int


def cost_in_home(rate: Rate, minor: int) -> int:
    """The kobo that so much of the other currency costs."""
    return -(-minor * rate.sell // MINOR_PER_MAJOR)


def worth_in_home(rate: Rate, minor: int) -> int:
    """The kobo that so much of the other currency brings."""
    return minor * rate.buy // MINOR_PER_MAJOR


def cost_abroad(rate: Rate, kobo: int) -> int:
    """The least of the other currency that brings so many kobo."""
    return -(-kobo * MINOR_PER_MAJOR // rate.buy)
