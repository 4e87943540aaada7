"""The parent of typed results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar


def no_fields() -> Mapping[str, Any]:
    return {}


class Result:
    """A part of a reply. `raw` is the whole object as it came, `extra` the fields that this version does not know.

    Optional fields that the reply does not have are None. At run time a field can also be read by its name on the wire.
    """

    # The wire name of each field, by its name in Python.
    wire_names: ClassVar[Mapping[str, str]] = {}
    raw: Mapping[str, Any]

    @property
    def extra(self) -> dict[str, Any]:
        known = set(self.wire_names.values())
        return {name: value for name, value in self.raw.items() if name not in known}

    if not TYPE_CHECKING:
        # Hidden from type checkers, so that they report misspelled fields.
        def __getattr__(self, name: str) -> Any:
            raw = self.__dict__.get("raw", {})
            for python_name, wire_name in type(self).wire_names.items():
                if wire_name == name and python_name in self.__dict__:
                    return self.__dict__[python_name]
            if name in raw and not name.startswith("_"):
                return raw[name]
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
