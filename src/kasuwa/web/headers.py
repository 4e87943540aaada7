"""The type of request headers: those of Granian, or a dict where the console calls dispatch itself."""

from typing import Any, Protocol


class Headers(Protocol):
    """Header values by lower-case name."""

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a header's value, or `default` if it is missing or has bytes beyond ASCII."""

    def __contains__(self, key: str) -> bool: ...
