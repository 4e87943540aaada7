"""The webhook endpoints of a merchant, as rules see them. Contract: events#endpoints"""

from functools import lru_cache

import msgspec

# The endpoint whose URL is the setting `webhook_url`. The others are numbered from 2. Contract: events#endpoints
FIRST_ENDPOINT = 1


class Endpoint(msgspec.Struct, frozen=True):
    """A webhook endpoint, as rules see it."""

    number: int
    kinds: frozenset[str] = frozenset()  # of the events that it gets; empty: every kind

    def wants(self, kind: str) -> bool:
        return not self.kinds or kind in self.kinds


ENDPOINT_KINDS: "msgspec.json.Decoder[dict[int, frozenset[str]]]" = msgspec.json.Decoder(dict[int, frozenset[str]])


@lru_cache(maxsize=4096)
def read_endpoints(text: str) -> tuple[Endpoint, ...]:
    """Reads endpoints as the merchant's state row has them: their kinds by number, as JSON."""
    return tuple(Endpoint(number, kinds) for number, kinds in sorted(ENDPOINT_KINDS.decode(text).items()))
