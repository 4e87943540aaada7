"""Narrows values of unknown type, such as parsed JSON and arguments of callers who do not check types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast


def as_object(value: object) -> dict[str, Any] | None:
    """Returns a JSON object, or None if the value is something else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_array(value: object) -> list[Any] | None:
    """Returns a JSON array, or None if the value is something else."""
    return cast("list[object]", value) if isinstance(value, list) else None


def as_mapping(value: object) -> Mapping[str, Any] | None:
    """Returns a mapping of any kind, or None if the value is something else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def as_sequence(value: object) -> Sequence[Any] | None:
    """Returns a sequence that is not a text, or None if the value is something else."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        return None
    return cast("Sequence[object]", value)


def is_filled_text(value: object) -> bool:
    return isinstance(value, str) and value != ""
