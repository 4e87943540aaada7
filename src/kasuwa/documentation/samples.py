"""Code that sends a request, in the languages of the documentation.

The calls of the Python and TypeScript clients are written by `python -m clients.generate`, because the names of their
methods and arguments are theirs (data/client_calls.json). Requests with curl and PHP are made from the body.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kasuwa.core.reference_tables import load_reference_data

# The same action under another spelling, which the clients do not have.
SPELLINGS = {
    "resources-personalized_account": "resources-personalized-accounts",
    "resources-paylink_by_id": "resources-paylink_detail",
}

PYTHON_HEAD = "from kasuwa_client import Kasuwa\n\nshop = Kasuwa.from_environment()\n"
TYPESCRIPT_HEAD = """\
import { Kasuwa } from "kasuwa-client";

const shop = Kasuwa.fromEnvironment();
"""
PHP_HEAD = "<?php\nrequire 'kasuwa.php';\n\n"


def make_samples(title: str, path: str, body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the example of an action in each language. `title` is its name, such as `payment-refund`."""
    calls = load_reference_data("client_calls")[SPELLINGS.get(title, title)]
    return [
        ("sh", write_curl(path, body)),
        ("python", f"{PYTHON_HEAD}reply = {calls['python']}\n"),
        ("ts", f"{TYPESCRIPT_HEAD}const reply = {calls['typescript']}\n"),
        ("php", f"{PHP_HEAD}{write_php(path, body)}\n"),
    ]


def write_curl(path: str, body: Mapping[str, Any]) -> str:
    return write_curl_of_text(path, msgspec.json.format(msgspec.json.encode(body), indent=2).decode())


def write_curl_of_text(path: str, text: str) -> str:
    quoted = text.replace("'", "'\\''")
    return (
        f'curl -X PUT "$KASUWA_URL/{path}" -H "mid: $KASUWA_MID" -H "key: $KASUWA_KEY" \\\n'
        f"  -H 'content-type: application/json' -d '{quoted}'\n"
    )


def write_php(path: str, body: Mapping[str, Any]) -> str:
    return f"$reply = kasuwa({php_literal(path)}, {php_literal(body)});"


def php_literal(value: Any, depth: int = 0) -> str:
    """Returns a JSON value as a literal of PHP. A number with decimals is written as text, which the API reads too."""
    inside, outside = "    " * (depth + 1), "    " * depth
    if isinstance(value, Mapping):
        lines = [f"{inside}{php_literal(name)} => {php_literal(one, depth + 1)},\n" for name, one in value.items()]
        return f"[\n{''.join(lines)}{outside}]" if lines else "(object) []"
    if isinstance(value, list | tuple):
        lines = [f"{inside}{php_literal(one, depth + 1)},\n" for one in value]
        return f"[\n{''.join(lines)}{outside}]" if lines else "[]"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, float):
        return f"'{value}'"
    return msgspec.json.encode(value).decode()
