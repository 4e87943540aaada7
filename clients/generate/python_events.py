"""Writes events.py of the Python client: a frozen dataclass per type of webhook event, and the union of all of them."""

from collections.abc import Iterator

from clients.generate.docstrings import docstring
from clients.generate.python_types import FUTURE, HEAD, field_table, render_result_fields
from clients.generate.surface import Field, ObjectType, Surface

UNION_DOC = (
    '# An event, typed by its kind: `isinstance(event, TransferEvent)`, or `event.kind == "transfer"`, tells which.\n'
)
BASE_DOC = (
    "The fields of every event whose signature is valid.",
    "The same event may arrive several times, and events may arrive out of order: remember the `event_id`s that you "
    "have handled, and ask `verify` for the state before you fulfill an order.",
)
UNKNOWN_DOC = "An event of a kind that this version of the client does not know. `raw` has all of its fields."
SENT_KIND_DOC = "The kind as it was sent. None in events of versions that sent none."
# Fields of the delivery, which are in its headers.
DELIVERY_FIELDS = (
    ("event_id", "str | None", "The same for every delivery of an event. None if the delivery has no `webhook-id`."),
    ("sent_at", "dt.datetime | None", "The time of this delivery. None if it has no `webhook-timestamp`."),
)
UNKNOWN = "UnknownEvent"


def render_events(surface: Surface) -> Iterator[str]:
    yield HEAD.format(title="The events that the service sends to a merchant's endpoint.")
    yield FUTURE
    yield "import datetime as dt\nfrom collections.abc import Mapping\n"
    yield "from dataclasses import dataclass, field\nfrom decimal import Decimal\n"
    yield "from typing import Any, ClassVar, Literal, Union\n\n"
    yield "from kasuwa_client._result import Result, no_fields\n\n\n"
    yield from render_base(surface.common_event)
    for event in surface.events:
        yield from render_event(event.type)
    yield from render_event(unknown_event(surface))
    yield UNION_DOC
    names = [event.type.name for event in surface.events] + [UNKNOWN]
    yield f"Event = Union[{', '.join(names)},]\n\n"
    yield "# The class of each kind. Other kinds are an UnknownEvent.\n"
    yield "EVENT_KINDS: Mapping[str, type[Event]] = {\n"
    yield from (f"    {kind!r}: {event.type.name},\n" for event in surface.events for kind in event.kinds)
    yield "}\n"


def render_base(common: ObjectType) -> Iterator[str]:
    yield "class EventBase(Result):\n"
    yield docstring(BASE_DOC, 4)
    yield "\n"
    yield from render_delivery_fields()
    # Each type of event declares its own kinds.
    yield from render_result_fields(tuple(field for field in common.fields if field.name != "kind"))
    yield "\n    @property\n    def is_successful(self) -> bool:\n"
    yield '        return self.txn_status == "successful"\n\n\n'


def render_delivery_fields() -> Iterator[str]:
    for name, annotation, text in DELIVERY_FIELDS:
        yield f"    {name}: {annotation}\n"
        yield docstring([text], 4)


def render_event(kind: ObjectType) -> Iterator[str]:
    yield f"@dataclass(frozen=True)\nclass {kind.name}(EventBase):\n"
    yield docstring([kind.description], 4)
    yield "\n"
    yield from render_delivery_fields()
    yield from render_result_fields(kind.fields)
    if kind.name == UNKNOWN:
        yield '    kind: Literal["unknown"] = "unknown"\n'
    yield "    raw: Mapping[str, Any] = field(default_factory=no_fields, repr=False, compare=False)\n\n"
    names = {field.name: field.wire_name for field in kind.fields}
    yield f"    wire_names: ClassVar[Mapping[str, str]] = {names!r}\n\n\n"


def unknown_event(surface: Surface) -> ObjectType:
    """Returns the type of events of other kinds: the fields of every event, and the kind as text."""
    return surface.common_event._replace(
        name=UNKNOWN, description=UNKNOWN_DOC, fields=tuple(map(with_sent_kind, surface.common_event.fields))
    )


def with_sent_kind(field: Field) -> Field:
    if field.name != "kind":
        return field
    return field._replace(name="sent_kind", required=False, nullable=True, description=SENT_KIND_DOC)


def render_event_tables(surface: Surface) -> Iterator[str]:
    """Yields the fields of all types of events, for _tables.py."""
    types = [*(event.type for event in surface.events), unknown_event(surface)]
    yield "\nEVENTS: Mapping[str, FieldTable] = {\n"
    yield from (f"    {kind.name!r}: {field_table(kind.fields)},\n" for kind in types)
    yield "}\n"
