"""Reads single settings: the values of environment variables, and of files that have secrets."""

from collections.abc import Mapping
from pathlib import Path

from kasuwa.core.money import CURRENCIES, parse_minor

PREFIX = "KASUWA_"
FILE_SUFFIX = "_FILE"
MAX_SECRET_BYTES = 65_536

# The value of KASUWA_WORKERS that leaves the number to the service (settings/processors.py).
AUTO = "auto"


class SettingsError(Exception):
    """A setting that cannot be used. The text says in one line which, and what it should be."""


def read_variable(environ: Mapping[str, str], name: str, *, is_secret: bool) -> str | None:
    """Returns the value of KASUWA_<NAME>, for a secret else the content of the file that KASUWA_<NAME>_FILE names, or
    None. Raises SettingsError if both are set, or a _FILE variable names a setting that is no secret."""
    variable = PREFIX + name.upper()
    value, path = environ.get(variable) or None, environ.get(variable + FILE_SUFFIX) or None
    if path is None:
        return value
    if not is_secret:
        raise SettingsError(f"{variable}{FILE_SUFFIX} is not a setting: only secrets are read from files")
    if value is not None:
        raise SettingsError(f"{variable} and {variable}{FILE_SUFFIX} are both set: remove one of them")
    return read_secret_file(variable + FILE_SUFFIX, Path(path))


def read_secret_file(variable: str, path: Path) -> str:
    """Returns the one line of a file, without the whitespace around it. Errors name the file and never quote it."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SECRET_BYTES + 1)
        text = content.decode().strip()
    except OSError as error:
        raise SettingsError(f"{variable}: {path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise SettingsError(f"{variable}: {path} must hold one line of text") from None
    if not text:
        raise SettingsError(f"{variable}: {path} is empty")
    if len(content) > MAX_SECRET_BYTES or len(text.splitlines()) != 1:
        raise SettingsError(f"{variable}: {path} must hold one line of text")
    return text


def read_switch(name: str, raw: object) -> bool:
    """Returns a setting that is on or off. Raises SettingsError."""
    if isinstance(raw, bool):
        return raw
    if raw not in ("on", "off"):
        raise SettingsError(f"{PREFIX}{name.upper()} must be on or off, not {raw!r}")
    return raw == "on"


def read_amount(name: str, raw: object) -> int:
    """Returns an amount above zero in minor units, of a text in major ones. Raises SettingsError."""
    amount = parse_minor(str(raw))
    if not amount:
        raise SettingsError(f"{PREFIX}{name.upper()} must be an amount such as 1000000.00, not {raw!r}")
    return amount


def read_amounts(name: str, raw: object) -> dict[str, int]:
    """Returns amounts above zero in minor units, by currency. Raises SettingsError."""
    amounts: dict[str, int] = {}
    for part in filter(None, str(raw).split(",")):
        currency, _, text = part.strip().partition(":")
        amount = parse_minor(text) if currency in CURRENCIES else None
        if not amount or currency in amounts:
            raise SettingsError(
                f"{PREFIX}{name.upper()} must be amounts such as NGN:500000.00,USD:100.00, not {part!r}"
            )
        amounts[currency] = amount
    return amounts


def read_whole_number(name: str, raw: object, least: int, most: int) -> int:
    """Returns a whole number within its bounds. Raises SettingsError."""
    text = str(raw)
    if text.isascii() and text.isdecimal() and len(text) <= 9 and least <= int(text) <= most:
        return int(text)
    also = f" or {AUTO}" if name == "workers" else ""
    raise SettingsError(f"{PREFIX}{name.upper()} must be a whole number from {least} to {most}{also}, not {text!r}")
