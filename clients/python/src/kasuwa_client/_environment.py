"""Reads a merchant's credentials from environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

NAMES = ("KASUWA_MID", "KASUWA_KEY", "KASUWA_URL")


class Credentials(NamedTuple):
    mid: str
    key: str
    base_url: str


def read_credentials(environ: Mapping[str, str] | None = None) -> Credentials:
    """Returns the credentials and the address. Raises ValueError that names every variable that is missing."""
    found = os.environ if environ is None else environ
    missing = [name for name in NAMES if not found.get(name)]
    if missing:
        raise ValueError(f"not set in the environment: {', '.join(missing)}")
    return Credentials(*(found[name] for name in NAMES))
