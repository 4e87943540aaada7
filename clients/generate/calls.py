"""Writes the example call of every action, in each client, for the documentation that the service shows."""

import json
from pathlib import Path

from clients.generate import python, typescript
from clients.generate.surface import ActionSurface, read_surface

CALLS = Path(__file__).parents[2] / "src" / "kasuwa" / "data" / "client_calls.json"


def typescript_call(action: ActionSurface) -> str:
    """Returns the call without the recorded reply, which follows it as a comment."""
    return "\n".join(line for line in typescript.example_lines(action) if not line.startswith("//"))


def render_all() -> dict[Path, str]:
    calls = python.example_calls(is_async=False)
    found = {
        action.title: {"python": "\n".join(calls[action.title]), "typescript": typescript_call(action)}
        for action in read_surface().actions
    }
    return {CALLS: json.dumps(found, indent=1, ensure_ascii=False) + "\n"}
