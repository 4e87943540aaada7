"""From a body's words to a row of the action tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import field

from kasuwa.core.action import Action, Method
from kasuwa.core.decision import Fault, Refusal, refuse_fields


class Envelope(msgspec.Struct):
    """The fields that select an action; all else is read later, by the action's own type."""

    action: Any = None
    inquire: Any = None
    request: Any = None
    type: Any = None
    method: Any = None
    payment_type: Any = field(name="paymentType", default=None)


VARIANT_FIELDS = {"type": "type", "method": "method", "paymentType": "payment_type"}


class Choice(msgspec.Struct):
    """The rows that share an action's name: one without a variant at most, the others by their field."""

    plain: Action | None = None
    variants: dict[tuple[str, str], Action] = msgspec.field(default_factory=dict)

    def pick(self, envelope: Envelope) -> Action | Refusal:
        for (name, value), action in self.variants.items():
            if getattr(envelope, VARIANT_FIELDS[name]) == value:
                return action
        return self.plain or self.no_variant()

    def no_variant(self) -> Refusal:
        """The action is known, and which of its variants is meant is not said."""
        names = {name for name, _ in self.variants}
        return refuse_fields(*(Fault(name, "one of " + self.values(name)) for name in sorted(names)))

    def values(self, name: str) -> str:
        return ", ".join(value for of, value in self.variants if of == name)


class Path(msgspec.Struct):
    """`choices` are by selector and name."""

    method: Method
    choices: dict[tuple[str, str], Choice]

    def find(self, envelope: Envelope) -> Action | Refusal | None:
        for selector in self.method.selectors:
            said = getattr(envelope, selector)
            if isinstance(said, str):
                choice = self.choices.get((selector, said))
                return None if choice is None else choice.pick(envelope)
        return None


def find_action(path: Path, fields: Mapping[str, Any]) -> Action | None:
    """The row that the fields of a body select, or None where they select none."""
    found = path.find(msgspec.convert(dict(fields), Envelope))
    return None if isinstance(found, Refusal) else found


def make_table(methods: Sequence[Method]) -> dict[str, Path]:
    table = {}
    for method in methods:
        choices: dict[tuple[str, str], Choice] = {}
        for action in method.actions:
            for selector in selectors_of(method, action):
                choice = choices.setdefault((selector, action.name), Choice())
                if action.variant is None:
                    choice.plain = action
                else:
                    choice.variants[action.variant] = action
        table["/" + method.name] = Path(method, choices)
    return table


def selectors_of(method: Method, action: Action) -> list[str]:
    taken = {other.selector for other in method.actions}
    if action.selector is not None:
        return [action.selector]
    return [selector for selector in method.selectors if selector not in taken]
