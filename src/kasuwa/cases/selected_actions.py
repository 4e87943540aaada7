"""The actions that requests of a case are of: what selects each, beside the fields of its request."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from kasuwa.core.action import Action, ApiMethod, get_selecting_field, make_action_title
from kasuwa.methods.tables import list_methods


@cache
def index_actions() -> dict[tuple[str, str], tuple[ApiMethod, Action]]:
    """Returns the actions of the API by path and title."""
    methods = list_methods("test")
    return {
        (method.name, make_action_title(action)): (method, action) for method in methods for action in method.actions
    }


def complete_request(path: str, title: str, content: Any) -> dict[str, Any]:
    """Returns the body of a request: its content, with the fields that select its action. A list is that of the
    orders of a bulk."""
    indexed = index_actions().get((path, title))
    fields = {"data": content} if isinstance(content, list) else dict(content)
    return {**(find_selectors(*indexed) if indexed else {"action": title}), **fields}


def find_selectors(method: ApiMethod, action: Action) -> Mapping[str, Any]:
    names = [name for name in method.selectors if name in action.example][:1]
    selecting = get_selecting_field(action)
    chosen = {
        name: action.example[name] for name in (*names, *([selecting] if selecting else ())) if name in action.example
    }
    return {**chosen, **({action.variant[0]: action.variant[1]} if action.variant else {})}
