"""Converts the plain values of command lines without pydantic, with which typer converts every value.

Pydantic takes a fifth of a second to import, more than everything else that `kasuwa status` does. The values that are
converted here need no validation. Typer gets all others, and refuses those that are wrong.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer.core


class PlainValues:
    """The conversion of one option or argument. Makes typer's own at the first value that is not plain."""

    def __init__(self, descriptor: Any, make_typers_own: Callable[[Any], Any]) -> None:
        self._descriptor = descriptor
        self._make_typers_own = make_typers_own

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if param.nargs == 1 and not param.multiple:
            if value is None:
                return None
            plain = convert_plain(value, self._descriptor.annotation, self._descriptor.parameter_info)
            if plain is not None:
                return plain
        return self._make_typers_own(self._descriptor).coerce(value, param=param, ctx=ctx)


def convert_plain(value: Any, wanted: Any, info: Any) -> Any:
    """Returns the value as the wanted type, or None if typer has to look at it."""
    if info.parser is not None:
        return None
    if wanted is str and isinstance(value, str) and value.isascii():  # other text may not be valid in UTF-8
        return value
    if wanted in (int, float) and (type(value) in (int, wanted) or (isinstance(value, str) and is_digits(value))):
        return wanted(value) if is_within(wanted(value), info) else None
    if wanted is Path and isinstance(value, str | Path) and takes_any_path(info):
        return Path(value) if str(value).isascii() and is_readable(value) else None
    return None


def is_digits(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def is_within(number: float, info: Any) -> bool:
    return (info.min is None or number >= info.min) and (info.max is None or number <= info.max)


def takes_any_path(info: Any) -> bool:
    """Whether an option takes every path that can be read: it need not exist, and is handed on as it was given."""
    demands = (info.exists, info.writable, info.resolve_path, info.allow_dash, info.path_type)
    return info.file_okay and info.dir_okay and not any(demands)


def is_readable(path: Any) -> bool:
    return os.access(path, os.R_OK) or not os.path.lexists(path)


def convert_plain_values() -> None:
    """Has typer convert values by PlainValues first."""
    core: Any = typer.core
    make_typers_own = core.build_runtime_param
    core.build_runtime_param = lambda descriptor: PlainValues(descriptor, make_typers_own)
