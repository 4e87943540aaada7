"""Call-backs of rails: who may send them, and which order they name.

A call-back is a hint to query the rail now. Nothing is booked from it, so a forged, repeated or late one does no harm.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable


class CallbackRefused(Exception):
    """Raised if a call-back is not from the rail: a wrong signature, or a wrong secret in its path."""


class CallbackSource(Protocol):
    """The call-backs of one rail."""

    accepted_body: bytes  # the reply that the rail takes for "received"

    def find_order(self, path: str, find_header: Callable[[str], str | None], body: bytes) -> str | None:
        """Returns the rail key of the order that a call-back names, or None if it names none of ours.

        `path` is what follows the rail's name. Raises CallbackRefused."""
        ...


class AnyAccountCallbacks:
    """The call-backs of a vendor with which we have several accounts: accepted if one of them is the sender's."""

    def __init__(self, sources: Sequence[CallbackSource]) -> None:
        self._sources = sources
        self.accepted_body = sources[0].accepted_body

    def find_order(self, path: str, find_header: Callable[[str], str | None], body: bytes) -> str | None:
        for source in self._sources:
            try:
                return source.find_order(path, find_header, body)
            except CallbackRefused:
                continue
        raise CallbackRefused


@runtime_checkable
class CatalogueSource(Protocol):
    """A source whose call-backs also say that the vendor's catalogue of bills has changed."""

    def is_catalogue_change(self, body: bytes) -> bool:
        """Tells whether a call-back that `find_order` did not refuse says so."""
        ...
