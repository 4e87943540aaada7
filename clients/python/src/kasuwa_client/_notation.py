"""Encodes arguments and decodes replies by the notation of their types. Has no I/O.

The tables of _tables.py describe a type by a text:

    text, integer, boolean, any, amount, decimal, time, date, choice, document
    TransferReply       the object type of that name
    ClientAddress+      an object of the merchant's own that has the fields of that type, and others
    [X]  {X}  X|Y       a list, a map from text, a union
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from kasuwa_client._json import as_array, as_mapping, as_object, as_sequence

# The fields of an object type: wire name and notation of the type, by name in Python.
FieldTable = Mapping[str, "tuple[str, str]"]

AMOUNT_FORM = "a Decimal, a text such as '1500.00' or a whole number of major units"


class InvalidArgument(ValueError):
    """A value that cannot be sent. The text is the reason."""


# --- requests ---------------------------------------------------------------------------------------------------


def encode_fields(fields: FieldTable, values: Mapping[str, Any], types: Mapping[str, FieldTable]) -> dict[str, Any]:
    """Returns the body fields of a request. Arguments that are None are left out.

    Raises TypeError that names every argument of a wrong type.
    """
    faults: list[str] = []
    body = _encode_object(fields, values, types, "", faults)
    if faults:
        raise TypeError("; ".join(faults))
    return body


def _encode_object(
    fields: FieldTable, values: Mapping[str, Any], types: Mapping[str, FieldTable], prefix: str, faults: list[str]
) -> dict[str, Any]:
    body: dict[str, Any] = {}
    by_wire_name = dict(fields.values())
    for name, value in values.items():
        wire_name, notation = fields.get(name, (name, by_wire_name.get(name, "")))
        if not notation:
            faults.append(f"{prefix}{name}: there is no such field; the fields are {', '.join(fields)}")
        elif value is not None:
            body[wire_name] = _encode(notation, value, types, f"{prefix}{name}", faults)
    return body


def _encode(notation: str, value: Any, types: Mapping[str, FieldTable], path: str, faults: list[str]) -> Any:
    if notation.startswith("["):
        items = as_sequence(value)
        if items is None:
            faults.append(f"{path}: must be a list, not {type(value).__name__}")
            return None
        return [_encode(notation[1:-1], one, types, f"{path}[{n}]", faults) for n, one in enumerate(items)]
    if notation.startswith("{") or notation.endswith("+") or notation == "document" or notation[:1].isupper():
        return _encode_mapping(notation, value, types, path, faults)
    try:
        return _encode_scalar(notation, value)
    except InvalidArgument as error:
        faults.append(f"{path}: {error}")
        return None


def _encode_mapping(notation: str, value: Any, types: Mapping[str, FieldTable], path: str, faults: list[str]) -> Any:
    given = as_mapping(value)
    if given is None:
        faults.append(f"{path}: must be a dict, not {type(value).__name__}")
        return None
    if notation.startswith("{"):
        return {str(name): _encode(notation[1:-1], one, types, f"{path}.{name}", faults) for name, one in given.items()}
    if notation == "document":
        return dict(given)
    if notation.endswith("+"):
        known = types[notation[:-1]]
        wire_names = {wire_name for wire_name, _ in known.values()}
        own = {name: one for name, one in given.items() if name not in known and name not in wire_names}
        described = {name: one for name, one in given.items() if name not in own}
        return {**_encode_object(known, described, types, f"{path}.", faults), **own}
    return _encode_object(types[notation], given, types, f"{path}.", faults)


def _encode_scalar(notation: str, value: Any) -> Any:
    if "|" in notation:
        for option in notation.split("|"):
            try:
                return _encode_scalar(option, value)
            except InvalidArgument:
                continue
        raise InvalidArgument(f"must be one of {notation.replace('|', ', ')}, not {type(value).__name__}")
    return ENCODERS[notation](value)


def encode_number(value: Any) -> str:
    """Returns an exact number as a text. A float is refused: 0.1 is not a tenth."""
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal) and value.is_finite():
        return format(value, "f")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        raise InvalidArgument(f"must not be a float, which is not exact: use {AMOUNT_FORM}")
    raise InvalidArgument(f"must be {AMOUNT_FORM}, not {type(value).__name__}")


def _encode_time(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise InvalidArgument("must have a time zone, such as datetime.now(timezone.utc)")
        return value.isoformat()
    raise InvalidArgument(f"must be a datetime with a time zone or a text, not {type(value).__name__}")


def _encode_date(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    raise InvalidArgument(f"must be a date or a text such as 2026-01-05, not {type(value).__name__}")


def _encode_exactly(kind: type, name: str) -> Callable[[Any], Any]:
    def encode(value: Any) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise InvalidArgument(f"must be {name}, not {type(value).__name__}")
        return value

    return encode


ENCODERS: dict[str, Callable[[Any], Any]] = {
    "text": _encode_exactly(str, "a text"),
    "choice": _encode_exactly(str, "a text"),
    "integer": _encode_exactly(int, "a whole number"),
    "boolean": _encode_exactly(bool, "True or False"),
    "any": lambda value: value,
    "amount": encode_number,
    "decimal": encode_number,
    "time": _encode_time,
    "date": _encode_date,
}


# --- replies ----------------------------------------------------------------------------------------------------


class Decoder:
    """Decodes replies into the result types of a namespace.

    A value that does not have the form of its type is kept as it came: a reply to a request that moved money must not
    get lost because a later version of the service writes something differently.
    """

    def __init__(self, types: Mapping[str, FieldTable], classes: Mapping[str, Any]) -> None:
        self._types = types
        self._classes = classes

    def decode(self, notation: str, value: Any) -> Any:
        if value is None:
            return None
        if notation.startswith("["):
            items = as_array(value)
            return value if items is None else tuple(self.decode(notation[1:-1], one) for one in items)
        if notation.startswith("{") or notation[:1].isupper():
            fields = as_object(value)
            if fields is None:
                return value
            if notation[:1].isupper():
                return self._decode_object(notation, fields)
            return {name: self.decode(notation[1:-1], one) for name, one in fields.items()}
        return _decode_scalar(notation, value)

    def _decode_object(self, name: str, value: dict[str, Any]) -> Any:
        decoded = {
            python_name: self.decode(notation, value.get(wire_name))
            for python_name, (wire_name, notation) in self._types[name].items()
        }
        return self._classes[name](**decoded, raw=value)


def _decode_scalar(notation: str, value: Any) -> Any:
    decode = DECODERS.get(notation)
    if decode is None:
        return value
    try:
        return decode(value)
    except (ValueError, TypeError, InvalidOperation):
        return value


def decode_number(value: Any) -> Decimal:
    if isinstance(value, bool):
        raise TypeError("a boolean is no number")
    return Decimal(str(value))


def decode_time(value: Any) -> datetime:
    """Returns an instant with its zone. Raises ValueError if it has none, TypeError if it is no text."""
    if not isinstance(value, str):
        raise TypeError("an instant is a text")
    # Before Python 3.11, fromisoformat does not read the Z.
    instant = datetime.fromisoformat(value[:-1] + "+00:00" if value.endswith("Z") else value)
    if instant.tzinfo is None:
        raise ValueError("an instant without a zone")
    return instant


DECODERS: dict[str, Callable[[Any], Any]] = {
    "amount": decode_number,
    "decimal": decode_number,
    "time": decode_time,
    "date": date.fromisoformat,
}
