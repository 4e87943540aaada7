"""Selects the row of the action tables that a request body names."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import field

from kasuwa.core.action import Action, AdminCommand, ApiMethod, Write, get_selecting_field
from kasuwa.core.codes import INVALID_METHOD
from kasuwa.core.decision import FieldError, Refusal, refuse_fields
from kasuwa.core.error_codes import FIELD_NOT_A_CHOICE, FIELD_REQUIRED, FIELD_WRONG_TYPE
from kasuwa.core.suggestions import suggest
from kasuwa.wire.masking import make_echo


class Envelope(msgspec.Struct):
    """The body fields that select an action. The action's own request type decodes the others later."""

    action: Any = None
    inquire: Any = None
    request: Any = None
    type: Any = None
    method: Any = None
    status: Any = None
    payment_type: Any = field(name="paymentType", default=None)
    # Select an action by their presence (`only_with`).
    invoice_id: Any = None
    mail_id: Any = None
    link_id: Any = None
    product_id: Any = None
    code: Any = None
    dry_run: Any = None  # selects nothing: see core/dry_run.py


ENVELOPE = msgspec.json.Decoder(Envelope)

# How the messages of unknown actions begin.
INVALID_CALL = "Invalid method call: "
# Most characters of an unknown name in a message.
MAX_ECHOED = 60

NO_ACTION = Refusal(INVALID_METHOD, INVALID_CALL + "/{path} takes {choices}", error_code="action_missing")
UNKNOWN_ACTION = Refusal(
    INVALID_METHOD,
    INVALID_CALL + "/{path} takes {choices}; there is no {selector} {name}{near}",
    error_code="action_unknown",
)

VARIANT_FIELDS = {"type": "type", "method": "method", "status": "status", "paymentType": "payment_type"}


class ActionVariants(msgspec.Struct):
    """The rows that share an action's name: by a field and its value, by a field that must be there, and at most one
    for every other body."""

    default: Action | None = None
    variants: dict[tuple[str, str], Action] = msgspec.field(default_factory=dict)
    by_presence: dict[str, Action] = msgspec.field(default_factory=dict)
    # Names of the path's other actions, by the variants that only they have.
    elsewhere: dict[tuple[str, str], str] = msgspec.field(default_factory=dict)

    def add(self, action: Action) -> None:
        if action.variant is not None:
            self.variants[action.variant] = action
        elif get_selecting_field(action):
            self.by_presence[get_selecting_field(action)] = action
        else:
            self.default = action

    def select(self, envelope: Envelope) -> Action | Refusal:
        for (name, value), action in self.variants.items():
            if getattr(envelope, VARIANT_FIELDS[name]) == value and has_needed_field(action, envelope):
                return action
        for action in self.by_presence.values():
            if has_needed_field(action, envelope):
                return self.misspelled(envelope) or action
        return self.misspelled(envelope) or self.default or self.no_variant(envelope)

    def misspelled(self, envelope: Envelope) -> Refusal | None:
        """Returns a refusal for a variant in the wrong case, which would otherwise select the default row.

        Contract: #errors"""
        for name, value in self.variants:
            text = getattr(envelope, VARIANT_FIELDS[name])
            if isinstance(text, str) and text != value and text.strip().lower() == value.lower():
                return refuse_fields(FieldError(name, f"must be written exactly as {value}", FIELD_NOT_A_CHOICE))
        return None

    def no_variant(self, envelope: Envelope) -> Refusal:
        """Returns the refusal of a body that names the action but none of its variants."""
        names = {name for name, _ in self.variants}
        return refuse_fields(*(self.explain_variant(name, envelope) for name in sorted(names)))

    def explain_variant(self, name: str, envelope: Envelope) -> FieldError:
        """Returns which values a variant's field may have, and the one that was meant, or the action that takes it."""
        variant = getattr(envelope, VARIANT_FIELDS[name])
        reason = f"one of {self.values(name)}"
        if not isinstance(variant, str):
            return FieldError(name, reason, FIELD_REQUIRED if variant is None else FIELD_WRONG_TYPE)
        other = self.elsewhere.get((name, variant))
        hint = f"; use the action {other} for {variant}" if other else suggest(variant, self.values(name).split(", "))
        return FieldError(name, f"{reason}{hint}", FIELD_NOT_A_CHOICE)

    def values(self, name: str) -> str:
        return ", ".join(value for of, value in self.variants if of == name)


def has_needed_field(action: Action, envelope: Envelope) -> bool:
    """Whether a body has the field without which the action is not selected. Null and "" count as absent."""
    needed = get_selecting_field(action)
    return not needed or getattr(envelope, needed) not in (None, "")


class Route(msgspec.Struct):
    """A path of the API with its actions."""

    method: ApiMethod
    choices: dict[tuple[str, str], ActionVariants]  # by selector and action name
    choices_text: str  # the actions, as messages name them
    largest_body: int  # of any action, in bytes
    elsewhere: Mapping[str, frozenset[str]]  # the names of the actions of the other paths

    def body_limit(self, body: bytes) -> int:
        """Returns the limit of a body's action, in bytes. Contract: #requests"""
        try:
            action = self.select_action(ENVELOPE.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self.method.max_body_bytes
        own = action.max_body_bytes if isinstance(action, Write | AdminCommand) else 0
        return own or self.method.max_body_bytes

    def select_action(self, envelope: Envelope) -> Action | Refusal:
        for selector in self.method.selectors:
            name = getattr(envelope, selector)
            if isinstance(name, str):
                choice = self.choices.get((selector, name))
                return explain_unknown_action(self, selector, name) if choice is None else choice.select(envelope)
        return NO_ACTION.fill(path=self.method.name, choices=self.choices_text)


def find_action(path: Route, fields: Mapping[str, Any]) -> Action | None:
    """Returns the action that the fields of a body select, or None."""
    action = path.select_action(msgspec.convert(dict(fields), Envelope))
    return None if isinstance(action, Refusal) else action


def make_routes(methods: Sequence[ApiMethod]) -> dict[str, Route]:
    table = {}
    for method in methods:
        choices: dict[tuple[str, str], ActionVariants] = {}
        for action in method.actions:
            for selector in list_selectors(method, action):
                choices.setdefault((selector, action.name), ActionVariants()).add(action)
        note_other_actions(choices)
        table["/" + method.name] = Route(method, choices, list_choices(choices), largest_body(method), {})
    names = {path: frozenset(name for _, name in route.choices) for path, route in table.items()}
    for path, route in table.items():
        route.elsewhere = {other: actions for other, actions in names.items() if other != path}
    return table


def note_other_actions(choices: Mapping[tuple[str, str], ActionVariants]) -> None:
    """Gives the rows of each action the variants that only other actions with the same selector have."""
    for (selector, name), chosen in choices.items():
        for (other_selector, other_name), other in choices.items():
            if other_selector == selector and other_name != name:
                missing = {variant: other_name for variant in other.variants if variant not in chosen.variants}
                chosen.elsewhere |= missing


def largest_body(method: ApiMethod) -> int:
    own = (action.max_body_bytes for action in method.actions if isinstance(action, Write | AdminCommand))
    return max(method.max_body_bytes, *own, 0)


def list_choices(choices: Iterable[tuple[str, str]]) -> str:
    """Returns the names of all actions of a path, as refusals list them. Contract: #errors"""
    named: dict[str, list[str]] = {}
    for selector, name in choices:
        named.setdefault(selector, []).append(name)
    # Actions that `inquire` selects may also be sent as `action`. They are named once.
    lists = {", ".join(names): selector for selector, names in reversed(named.items())}
    return "; or ".join(f"{selector}, one of {names}" for names, selector in reversed(lists.items()))


def explain_unknown_action(route: Route, selector: str, name: str) -> Refusal:
    """Returns the refusal of an action that the path does not have: the one that was meant, then those of the path."""
    near = suggest(name, [known for known_selector, known in route.choices if known_selector == selector])
    if not near:
        others = [path for path, names in route.elsewhere.items() if name in names]
        near = f" (it is an action of {' and '.join(others)})" if others else ""
    return UNKNOWN_ACTION.fill(
        path=route.method.name,
        choices=route.choices_text,
        selector=selector,
        name=make_echo(name, MAX_ECHOED),
        near=near,
    )


def list_selectors(method: ApiMethod, action: Action) -> list[str]:
    used_selectors = {other.selector for other in method.actions}
    if action.selector is not None:
        return [action.selector]
    return [selector for selector in method.selectors if selector not in used_selectors]
