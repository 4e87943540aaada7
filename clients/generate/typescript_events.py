"""Writes events.ts of the TypeScript client: an interface per type of webhook event, and the union of all of them."""

import json
from collections.abc import Iterator

from clients.generate.field_types import TEXT, FieldType
from clients.generate.surface import Field, ObjectType, Surface
from clients.generate.typescript_text import comment, field_lines, indent, interface_of

UNKNOWN = "UnknownEvent"
UNKNOWN_DOC = (
    "An event of a kind that this version of the client does not know. The object has all the fields that were sent."
)
SENT_KIND_DOC = "The kind as it was sent. Undefined in events of versions that sent none."
UNION_DOC = (
    "An event whose signature is valid, typed by its `kind`. The same event may arrive several times, and events may "
    "arrive out of order: remember the `eventId`s that you have handled, and ask `verify` for the state before you "
    "fulfill an order."
)


def render_events(surface: Surface) -> str:
    """Returns the text of the file, without its header."""
    lines = list(interface_of(without_kind(surface.common_event), "DeliveryFacts"))
    for event in surface.events:
        lines += interface_of(own_fields(surface, event.type), "EventPayload")
    times = [name for name in ("CalendarDate", "Time") if any(f": {name}" in line for line in lines)]
    imports = ['import type { DeliveryFacts } from "../delivery.js";', 'import type { Amount } from "../exact.js";']
    if times:
        imports.append(f'import type {{ {", ".join(times)} }} from "../times.js";')
    lines = ["", *imports, "", *lines]
    lines += render_unknown()
    names = [*(event.type.name for event in surface.events), UNKNOWN]
    lines += [*comment(UNION_DOC), "export type KasuwaEvent =", *(f"  | {name}" for name in names)]
    lines[-1] += ";"
    lines += ["", "/** The kinds of events that this version knows. */"]
    lines += ["export const EVENT_KINDS: ReadonlySet<unknown> = new Set(["]
    lines += [f"  {json.dumps(kind)}," for event in surface.events for kind in event.kinds]
    return "\n".join([*lines, "]);", ""])


def without_kind(common: ObjectType) -> ObjectType:
    """Returns the fields of every event. Each type of event declares its own kinds."""
    return common._replace(fields=tuple(field for field in common.fields if field.name != "kind"))


def own_fields(surface: Surface, kind: ObjectType) -> ObjectType:
    common = {field.name for field in without_kind(surface.common_event).fields}
    return kind._replace(fields=tuple(field for field in kind.fields if field.name not in common))


def render_unknown() -> Iterator[str]:
    kind = Field("kind", "kind", FieldType("choice", values=("unknown",)), True, False, "", "", False)
    sent = Field("sentKind", "sent_kind", TEXT, False, False, SENT_KIND_DOC, "", False)
    yield from comment(UNKNOWN_DOC)
    yield f"export interface {UNKNOWN} extends EventPayload {{"
    for field in (kind, sent):
        yield from indent(field_lines(field, is_reply=True))
    yield "  readonly [name: string]: unknown;"
    yield "}"
    yield ""
