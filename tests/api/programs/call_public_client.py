"""Calls methods of the public client: reads one call per line as JSON, and writes one reply per line.

It runs in a process of its own, because the client's package is named `src`.
"""

import json
import sys
from importlib import import_module
from typing import Any

Glade = import_module("src").Glade


def run(call: dict[str, Any]) -> object:
    if call["name"] == "":
        return sorted(name for name in vars(Glade) if not name.startswith("_"))
    client = Glade(call["mid"], call["key"])
    client.apiCall.baseUrl = call["address"]
    return getattr(client, call["name"])(*call["arguments"])


for line in sys.stdin:
    sys.stdout.write(json.dumps(run(json.loads(line))) + "\n")
    sys.stdout.flush()
