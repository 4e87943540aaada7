"""Where this deployment sends requests that merchants ask for. Contract: events#delivery"""

import msgspec


class OutgoingTerms(msgspec.Struct, frozen=True):
    """Whether the receivers of merchants may be at loopback addresses, as those of developers are. Never in live."""

    loopback_allowed: bool = False
