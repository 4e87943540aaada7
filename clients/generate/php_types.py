"""Writes the generated classes of the PHP client that are not calls: the objects of replies, the events, the errors of
each status, the codes of errors, and the shapes of requests."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from clients.generate.error_codes import list_codes
from clients.generate.field_types import FieldType
from clients.generate.php_text import (
    comment,
    describe,
    doc_type,
    literal,
    pascal_case,
    php_file,
    sentence,
    tags,
    type_namespace,
)
from clients.generate.surface import SECRET_FIELDS, Field, ObjectType, Surface

OBJECTS = ("object", "document")
UNKNOWN_DOC = "An event of a kind that this version of the client does not know. `kind` is as it was sent."


def render_types(surface: Surface) -> Iterator[tuple[PurePosixPath, str]]:
    """Yields the files of the objects of replies: a class for each."""
    for kind in surface.types.values():
        if kind.is_reply:
            namespace = type_namespace(surface, kind.name)
            text = php_file(
                namespace, result_class(kind, "Result"), ["Kasuwa\\Result", *types_in(surface, kind.fields)]
            )
            yield PurePosixPath("Types", pascal_case(kind.path), f"{kind.name}.php"), text


def types_in(surface: Surface, fields: Iterable[Field]) -> list[str]:
    """Returns the full names of the classes that fields of replies refer to."""
    return [f"{type_namespace(surface, name)}\\{name}" for field in fields for name in object_names(field.type)]


def object_names(kind: FieldType) -> Iterator[str]:
    """Yields the names of the object types in a type, also of the elements of lists."""
    if kind.kind in OBJECTS and kind.name:
        yield kind.name
    for inner in (*kind.options, *([kind.item] if kind.item is not None else [])):
        yield from object_names(inner)


def result_class(kind: ObjectType, parent: str) -> Iterator[str]:
    properties = tags(property_tag(field) for field in kind.fields)
    yield from comment([sentence(kind.description), properties])
    yield f"final class {kind.name} extends {parent}"
    yield "{"
    yield "    protected const FIELDS = ["
    yield from (f"        {literal(field.wire_name)} => {field_kind(field.type)}," for field in kind.fields)
    yield "    ];"
    yield "}"


def property_tag(field: Field) -> str:
    optional = "" if field.required and not field.nullable else "|null"
    return f"@property-read {doc_type(field.type)}{optional} ${field.wire_name} {describe(field)}"


def field_kind(kind: FieldType) -> str:
    """Returns what `Result` does with a value: nothing, an exact text of it, or an object of a class."""
    names = set(object_names(kind))
    if names:
        [name] = names
        return f"{name}::class"
    exact = scalar_kinds(kind) & {"amount", "decimal"}
    return literal(exact.pop() if exact else "")


def scalar_kinds(kind: FieldType) -> set[str]:
    """Returns the kinds of values in a type, also of the elements of lists and maps."""
    inner = (*kind.options, *([kind.item] if kind.item is not None else []))
    return {kind.kind}.union(*(scalar_kinds(one) for one in inner))


# --- events -----------------------------------------------------------------------------------------------------


def render_events(surface: Surface) -> Iterator[tuple[PurePosixPath, str]]:
    unknown = surface.common_event._replace(name="UnknownEvent", description=UNKNOWN_DOC)
    for kind in (*(event.type for event in surface.events), unknown):
        text = php_file("Kasuwa\\Events", result_class(kind, "Event"), types_in(surface, kind.fields))
        yield PurePosixPath("Events", f"{kind.name}.php"), text
    yield PurePosixPath("Events", "EventKind.php"), php_file("Kasuwa\\Events", event_kinds(surface))


def event_kinds(surface: Surface) -> Iterator[str]:
    kinds = {kind: event.type.name for event in surface.events for kind in event.kinds}
    yield from comment(["The kinds of events that this version knows: `EventKind::tryFrom($event->kind)`."])
    yield "enum EventKind: string"
    yield "{"
    yield from (f"    case {pascal_case(kind)} = {literal(kind)};" for kind in kinds)
    yield ""
    yield "    /** @return class-string<Event> */"
    yield "    public function eventClass(): string"
    yield "    {"
    yield "        return match ($this) {"
    yield from (f"            self::{pascal_case(kind)} => {name}::class," for kind, name in kinds.items())
    yield "        };"
    yield "    }"
    yield "}"


# --- errors -----------------------------------------------------------------------------------------------------


def render_errors(surface: Surface) -> Iterator[tuple[PurePosixPath, str]]:
    for status in surface.statuses:
        lines = [
            *comment([f"Status {status.code}. {status.meaning}"]),
            f"class {status.name} extends Refused",
            "{",
            "}",
        ]
        yield PurePosixPath("Errors", f"{status.name}.php"), php_file("Kasuwa\\Errors", lines)
    yield PurePosixPath("Errors", "Statuses.php"), php_file("Kasuwa\\Errors", statuses_class(surface))
    for name, title, of_fields in (
        ("ErrorCode", "What is wrong with a request: `$code` of a refusal.", False),
        ("FieldCode", "What is wrong with a field: `$code` of an entry of `$errors`.", True),
    ):
        lines = [*comment([f"{title} A newer service may have further ones."]), f"enum {name}: string", "{"]
        lines += [f"    case {pascal_case(code)} = {literal(code)};" for code in list_codes(of_fields=of_fields)]
        yield PurePosixPath("Errors", f"{name}.php"), php_file("Kasuwa\\Errors", [*lines, "}"])


def statuses_class(surface: Surface) -> Iterator[str]:
    yield "/** The error class of each status. */"
    yield "final class Statuses"
    yield "{"
    yield "    private const CLASSES = ["
    yield from (f"        {status.code} => {status.name}::class," for status in surface.statuses)
    yield "    ];"
    yield ""
    yield "    public static function errorOf(Refusal $refusal, CallFacts $call): Refused"
    yield "    {"
    yield "        $class = self::CLASSES[$refusal->status] ?? Refused::class;"
    yield "        return new $class($refusal, $call);"
    yield "    }"
    yield "}"


def render_secrets() -> str:
    lines = ["/** Request fields that a log, an error or a trace must never show. */", "final class SecretFields", "{"]
    lines += [
        "    public const NAMES = [",
        *(f"        {literal(name)}," for name in sorted(SECRET_FIELDS)),
        "    ];",
        "}",
    ]
    return php_file("Kasuwa", lines)


# --- shapes of requests -----------------------------------------------------------------------------------------


def shape_of(surface: Surface, fields: Iterable[Field]) -> Mapping[str, object]:
    """Returns what the class Exact checks and converts in a request, as literals. Empty if there is nothing."""
    chosen = tuple(fields)
    shape: dict[str, object] = {}
    for label, kind in (("amounts", "amount"), ("decimals", "decimal")):
        names = [field.wire_name for field in chosen if kind in scalar_kinds(field.type)]
        if names:
            shape[label] = names
    objects = [field.wire_name for field in chosen if field.type.kind in (*OBJECTS, "map")]
    if objects:
        shape["objects"] = objects
    inside: dict[str, object] = {}
    for field in chosen:
        for name in object_names(field.type):
            inner = shape_of(surface, surface.types[name].fields)
            # An empty object in a list is one too.
            if inner or field.type.kind == "list":
                inside[field.wire_name] = inner
    return {**shape, "inside": inside} if inside else shape


def alias_tags(surface: Surface, fields: Iterable[Field]) -> Iterator[str]:
    """Yields a tag for each object type in requests, those inside others first, so that arguments are typed by name."""
    seen: set[str] = set()

    def visit(fields: Iterable[Field]) -> Iterator[str]:
        for field in fields:
            for name in object_names(field.type):
                if name not in seen:
                    seen.add(name)
                    inner = surface.types[name].fields
                    yield from visit(inner)
                    yield f"@phpstan-type {name} array{{{', '.join(map(alias_entry, inner))}}}"

    yield from visit(fields)


def alias_entry(field: Field) -> str:
    kind = doc_type(field.type) + ("|null" if field.nullable else "")
    return f"{field.wire_name}{'' if field.required else '?'}: {kind}"


def alias_fields(surface: Surface, fields: Iterable[Field]) -> Iterator[str]:
    """Yields a paragraph for each object type in requests, with what its fields mean."""
    names = dict.fromkeys(name for tag in alias_tags(surface, fields) for name in [tag.split()[1]])
    for name in names:
        kind = surface.types[name]
        lines = [
            f"- `{field.wire_name}`{' (required)' if field.required else ''}: {describe(field)}"
            for field in kind.fields
        ]
        yield tags([f"{name}: {sentence(kind.description)}".rstrip(": "), *lines])
