"""Reference data that ships with the service (`kasuwa/data/*.json`). Each file is loaded once."""

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec


@cache
def load_reference_data(name: str) -> Any:
    return msgspec.json.decode((files("kasuwa") / "data" / f"{name}.json").read_bytes())
