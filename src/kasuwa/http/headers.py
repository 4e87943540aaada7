"""The headers of requests: those that the HTTP server read, or a dict where the console calls dispatch itself."""

from typing import Any, Protocol


class Headers(Protocol):
    """Header values by lower-case name."""

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a header's value, or `default` if it is missing. None if it has bytes beyond ASCII."""

    def __contains__(self, key: str) -> bool: ...


class RequestHeaders(dict[str, str | None]):
    """The header fields of an HTTP request: the first value of each, by lower-case name.

    A value with bytes beyond ASCII is None.
    """

    __slots__ = ("_further", "field_count")

    def __init__(self) -> None:
        super().__init__()
        self.field_count = 0
        self._further: list[tuple[str, str]] = []  # repeated fields

    def add(self, name: bytes, value: bytes) -> None:
        """Adds a field as it was received. Space around the value is removed."""
        self.field_count += 1
        key = name.decode("ascii").lower()
        text = value.strip(b" \t").decode("ascii") if value.isascii() else None
        if key not in self:
            self[key] = text
        elif text is not None:
            self._further.append((key, text))

    def get_all(self, name: str) -> list[str]:
        """Returns all values of a field in order, without those beyond ASCII."""
        first = self.get(name)
        return ([] if first is None else [first]) + [text for key, text in self._further if key == name]
