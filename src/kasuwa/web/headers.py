"""The headers of requests: those that the HTTP server read, or a dict where the console calls dispatch itself."""

from typing import Any, Protocol


class Headers(Protocol):
    """Header values by lower-case name."""

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a header's value, or `default` if it is missing or has bytes beyond ASCII."""

    def __contains__(self, key: str) -> bool: ...


class RequestHeaders(dict[str, str]):
    """The header fields of an HTTP request: the first value of each, by lower-case name.

    A field whose first value has bytes beyond ASCII is contained but has no value.
    """

    __slots__ = ("_further", "_unreadable", "field_count")

    def __init__(self) -> None:
        super().__init__()
        self.field_count = 0
        self._further: list[tuple[str, str]] = []  # repeated fields
        self._unreadable: set[str] = set()  # names of fields whose first value is beyond ASCII

    def add(self, name: bytes, value: bytes) -> None:
        """Adds a field as it was received. Space around the value is removed."""
        self.field_count += 1
        key = name.decode("ascii").lower()
        if not value.isascii():
            if not dict.__contains__(self, key):
                self._unreadable.add(key)
            return
        text = value.strip(b" \t").decode("ascii")
        if key in self:
            self._further.append((key, text))
        else:
            self[key] = text

    def get_all(self, name: str) -> list[str]:
        """Returns all values of a field in order, without those beyond ASCII."""
        first = [self[name]] if dict.__contains__(self, name) else []
        return first + [text for key, text in self._further if key == name]

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or key in self._unreadable
