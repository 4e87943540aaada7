"""Builds the schemas of the OpenAPI documents: named components for requests, replies and the objects inside them.

- The request of an action is a component of its own that holds the fields which select the action, as constants.
- A field's description is its meaning (field_docs.py), followed by the form of its values (the field's type).
- Names and titles are unique, because generators name classes by them.
- An amount is a component of its own and a text: a choice of text and numbers is a class of its own in generated code.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import inspect

from kasuwa.api.openapi.field_docs import describe_fields
from kasuwa.core.action import Action, ApiMethod, Write, get_selecting_field, make_action_title
from kasuwa.wire.documents import Document
from kasuwa.wire.fields import Amount, AmountOrZero, scalar_schema

REFERENCES = "#/components/schemas/{name}"
# Docstrings of request and reply types become descriptions, without the marks of the contract in them.
CONTRACT_MARK = re.compile(r"\s*\(?Contract: [\w#/, -]+\)?\.?")
WORD = re.compile(r"[A-Za-z0-9]+")
# Marks a name in a reference that is ours already, not msgspec's.
FINAL_NAME = "="
# Field types that all requests share, by component. Numbers are accepted too, and described in words.
AMOUNTS = {Amount: "Amount", AmountOrZero: "AmountOrZero"}
NUMBER_TOO = "Send it as text; a JSON number is accepted too."

Schema = dict[str, Any]
Struct = type[msgspec.Struct]


def reference_to(name: str) -> Schema:
    return {"$ref": REFERENCES.format(name=name)}


def get_component_name(reference: Schema) -> str:
    """Returns the name of the component that a reference leads to."""
    return str(reference["$ref"]).rpartition("/")[2]


# --- names --------------------------------------------------------------------------------------------------------


def operation_id(method: ApiMethod, action: Action) -> str:
    """Returns the id of an action's operation, such as `disburse_transfer_bulk`."""
    return "_".join(WORD.findall(f"{method.name} {make_action_title(action)}".replace("_", " ")))


def action_slug(action: Action) -> str:
    """Returns the name of an action in addresses, such as `transfer-bulk`."""
    return make_action_title(action).replace(" ", "-")


def pascal_case(words: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in WORD.findall(words.replace("_", " ")))


def request_name(method: ApiMethod, action: Action) -> str:
    return pascal_case(operation_id(method, action)) + "Request"


def struct_name(struct: Struct) -> str:
    """Returns the component name of a struct: its own, after that of its path unless it begins with it."""
    path = struct.__module__.partition(".methods.")[2].partition(".")[0]
    name = struct.__name__
    if not path or name.lower().startswith(path.removesuffix("s")):
        return name
    return path.capitalize() + name


# --- the structs inside a type ------------------------------------------------------------------------------------


def structs_in(kinds: Iterable[Any]) -> dict[Struct, None]:
    """Returns every struct that these types refer to, at any depth, in order."""
    collected: dict[Struct, None] = {}
    waiting = list(reversed(inspect.multi_type_info(kinds)))
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, inspect.StructType):
            if inner.cls in collected:
                continue
            collected[inner.cls] = None
        waiting += reversed(list(types_inside(inner)))
    return collected


def types_inside(kind: inspect.Type) -> Iterator[inspect.Type]:
    match kind:
        case inspect.Metadata(type=inner):
            yield inner
        case inspect.UnionType(types=options):
            yield from options
        case inspect.StructType(fields=fields):
            yield from (field.type for field in fields)
        case inspect.DictType(key_type=key, value_type=value):
            yield from (key, value)
        case inspect.CollectionType(item_type=item):
            yield item
        case inspect.TupleType(item_types=items):
            yield from items
        case inspect.CustomType(cls=custom) if issubclass(custom, Document) and custom.known_struct is not None:
            yield inspect.type_info(custom.known_struct)


# --- components ---------------------------------------------------------------------------------------------------


class SchemaSet:
    """The component schemas of the API's requests and replies, by name."""

    def __init__(self, methods: Sequence[ApiMethod], further_replies: Iterable[Struct]) -> None:
        rows = [(method, action) for method in methods for action in method.actions]
        self._request_structs = {action.request: None for _, action in rows}
        replies = [*(action.reply for _, action in rows), *further_replies]
        self._inputs = structs_in(self._request_structs)
        structs = list(self._inputs | structs_in(replies))
        self._names = self._choose_names(structs)
        others = [kind for kind in dict.fromkeys(replies) if kind not in self._names]
        self._raw = self._read_schemas(structs, others)
        self._own = {struct: self._describe_struct(struct) for struct in structs}
        self.components: dict[str, Schema] = {}
        self._requests = {operation_id(*row): self._add_request(*row) for row in rows}
        self._replies = {operation_id(*row): self._add_reply(*row) for row in rows}
        for struct in further_replies:
            self.add(self._names[struct], self._own[struct])
        self._add_referenced()

    def request(self, method: ApiMethod, action: Action) -> Schema:
        """Returns the reference to an action's request."""
        return reference_to(self._requests[operation_id(method, action)])

    def reply(self, method: ApiMethod, action: Action) -> Schema:
        """Returns the reference to an action's reply."""
        return reference_to(self._replies[operation_id(method, action)])

    def reference(self, struct: Struct) -> Schema:
        return reference_to(self._names[struct])

    def add(self, name: str, schema: Schema) -> str:
        """Adds a component, with its name as its title. Raises ValueError if another one has that name."""
        titled = {"title": name, **{key: value for key, value in schema.items() if key != "title"}}
        if self.components.setdefault(name, titled) != titled:
            raise ValueError(f"two schemas are called {name}")
        return name

    def _choose_names(self, structs: list[Struct]) -> dict[Struct, str]:
        """Returns the name of each struct. A request that is also part of another one is called `…Fields` there."""
        names = {
            struct: struct_name(struct).removesuffix("Request") + "Fields"
            if struct in self._request_structs
            else struct_name(struct)
            for struct in structs
        }
        if len(set(names.values())) != len(names):
            raise ValueError(f"two structs have the same name: {sorted(names.values())}")
        return names

    def _read_schemas(self, structs: list[Struct], others: list[Any]) -> dict[Any, Schema]:
        """Returns the schema of each struct and other type, with references by our names instead of msgspec's."""
        references, components = msgspec.json.schema_components(
            [*structs, *others], ref_template=REFERENCES, schema_hook=self._schema_hook
        )
        component_names = [get_component_name(reference) for reference in references[: len(structs)]]
        renamed = {name: self._names[struct] for name, struct in zip(component_names, structs, strict=True)}
        schemas = [*(components[name] for name in component_names), *references[len(structs) :]]
        return {kind: clean(rename(schema, renamed)) for kind, schema in zip([*structs, *others], schemas, strict=True)}

    def _schema_hook(self, kind: type) -> Schema:
        if issubclass(kind, Document) and kind.known_struct is not None:
            return {"$ref": REFERENCES.format(name=FINAL_NAME + self._names[kind.known_struct])}
        if kind in AMOUNTS:
            form = scalar_schema(kind)["description"]
            return {"$ref": REFERENCES.format(name=FINAL_NAME + AMOUNTS[kind]), "description": form}
        return scalar_schema(kind)

    def _describe_struct(self, struct: Struct) -> Schema:
        schema = self._raw[struct]
        meanings = describe_fields(struct)
        described = {
            name: with_meaning(field, meanings.get(name)) for name, field in schema.get("properties", {}).items()
        }
        if struct in self._inputs:
            return {**schema, "properties": {name: optional_field(field) for name, field in described.items()}}
        return {**schema, **reply_properties(struct, described)}

    def _add_request(self, method: ApiMethod, action: Action) -> str:
        """Adds the request of an action: the fields that select it, as constants, and its own."""
        own = self._own[action.request]
        selecting = {action.selector or method.selectors[0]: (action.name, "Selects the action.")}
        if action.variant is not None:
            selecting[action.variant[0]] = (action.variant[1], "Selects this form of the action.")
        constants = {
            name: {"type": "string", "const": value, "default": value, "description": meaning}
            for name, (value, meaning) in selecting.items()
        }
        others = {name: field for name, field in own.get("properties", {}).items() if name not in constants}
        required = [*constants, *(name for name in own.get("required", ()) if name not in constants)]
        schema = {
            "type": "object",
            "description": " ".join(filter(None, (f"{action.summary}.", own.get("description")))),
            "properties": constants | others,
            "required": required,
        }
        return self.add(request_name(method, action), schema | exclude_other_forms(method, action))

    def _add_reply(self, method: ApiMethod, action: Action) -> str:
        reply: Any = action.reply
        name = pascal_case(operation_id(method, action)) + "Reply"
        if isinstance(action, Write) and action.reply_fields:
            return self.add(name, with_fields(self._own[reply], to_wire_names(reply, action.reply_fields)))
        if reply in self._names:
            return self.add(self._names[reply], self._own[reply])
        return self.add(name, {"description": f"{action.summary}.", **self._raw[reply]})

    def _add_referenced(self) -> None:
        """Adds the components that others refer to, until none is missing."""
        others = {name: self._own[struct] for struct, name in self._names.items()}
        others |= {name: amount_schema(kind) for kind, name in AMOUNTS.items()}
        waiting = list(self.components.values())
        while waiting:
            for name in references_in(waiting.pop()):
                if name not in self.components:
                    self.add(name, others[name])
                    waiting.append(self.components[name])


def exclude_other_forms(method: ApiMethod, action: Action) -> Schema:
    """Returns the part of a plain request's schema that rules out the bodies which select another form of it."""
    excluded: dict[tuple[str, str], list[str]] = {}
    for other in method.actions:
        is_form = other is not action and other.name == action.name and other.selector == action.selector
        needed = get_selecting_field(other)
        if (
            action.variant is not None
            or not is_form
            or (other.variant is None and needed == get_selecting_field(action))
        ):
            continue
        name, value = other.variant or ("", "")
        if name or needed:
            excluded.setdefault((name, needed), []).append(value)
    schemas = [
        {**({"properties": {name: {"enum": values}}} if name else {}), "required": [*filter(None, (name, needed))]}
        for (name, needed), values in excluded.items()
    ]
    return {"not": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}} if schemas else {}


# --- parts of a schema --------------------------------------------------------------------------------------------


def amount_schema(kind: type) -> Schema:
    """Returns the schema of an amount as text."""
    described = scalar_schema(kind)
    [text] = [option for option in described["anyOf"] if option["type"] == "string"]
    return {**text, "description": f"{as_sentence(described['description'])} {NUMBER_TOO}"}


def rename(schema: Any, names: dict[str, str]) -> Any:
    """Returns a schema with other names in its references."""
    if isinstance(schema, list):
        return [rename(part, names) for part in schema]
    if not isinstance(schema, dict):
        return schema
    renamed = {name: rename(part, names) for name, part in schema.items()}
    if "$ref" in renamed:
        name = get_component_name(renamed)
        final = name.removeprefix(FINAL_NAME) if name.startswith(FINAL_NAME) else names[name]
        renamed["$ref"] = REFERENCES.format(name=final)
    return renamed


def clean(schema: Any) -> Any:
    """Returns a schema whose descriptions are one line without marks of the contract, and whose choices are typed."""
    if isinstance(schema, list):
        return [clean(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {
        name: without_marks(part) if name == "description" and isinstance(part, str) else clean(part)
        for name, part in schema.items()
    }
    values: Any = cleaned.get("enum")
    return {"type": choose_type(values), **cleaned} if isinstance(values, list) else cleaned


def choose_type(values: list[Any]) -> str:
    if all(isinstance(value, bool) for value in values):
        return "boolean"
    return "integer" if all(isinstance(value, int) for value in values) else "string"


def as_constant(schema: Schema) -> Schema:
    """Returns a choice of one value as a constant, which generators write as a literal."""
    if len(schema.get("enum", ())) != 1:
        return schema
    return {
        ("const" if name == "enum" else name): (part[0] if name == "enum" else part) for name, part in schema.items()
    }


def without_marks(text: str) -> str:
    return " ".join(CONTRACT_MARK.sub("", text).split())


def with_meaning(schema: Schema, meaning: str | None) -> Schema:
    """Returns the schema of a field with its meaning and the form of its values as one description."""
    options = [*schema.get("anyOf", ()), schema]
    forms = dict.fromkeys(str(option["description"]) for option in options if "description" in option)
    plain = {name: part for name, part in schema.items() if name != "description"}
    if "anyOf" in plain:
        plain["anyOf"] = [without_description(option) for option in plain["anyOf"]]
    sentences = [*([meaning] if meaning else []), *map(as_sentence, forms)]
    return {**plain, "description": " ".join(sentences)} if sentences else plain


def without_description(schema: Schema) -> Schema:
    return {name: part for name, part in schema.items() if name != "description"}


def as_sentence(form: str) -> str:
    """Returns the form of a value, which is also an error text, as a sentence."""
    return form[:1].upper() + form[1:] + ("" if form.endswith(".") else ".")


def optional_field(schema: Schema) -> Schema:
    """Returns the schema of a request field without null and without its default.

    Null counts as absent, and generators would make every optional field nullable, or required if it has a default.
    """
    if "const" in schema or ("default" not in schema and {"type": "null"} not in schema.get("anyOf", ())):
        return schema
    plain = {name: part for name, part in schema.items() if name != "default"}
    if schema.get("default") is not None:
        plain["description"] = f"{schema.get('description', '')} Defaults to {schema['default']}.".strip()
    options = [option for option in plain.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        del plain["anyOf"]
        return {**options[0], **plain}
    return plain | ({"anyOf": options} if options else {})


def reply_properties(struct: Struct, properties: dict[str, Schema]) -> Schema:
    """Returns the properties of a reply without defaults, and which of them are always present."""
    omits_defaults = struct.__struct_config__.omit_defaults
    required = []
    for field in msgspec.structs.fields(struct):
        has_default = not (field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT)
        may_be_unset = field.default is msgspec.UNSET or msgspec.UnsetType in getattr(field.type, "__args__", ())
        if not may_be_unset and not (has_default and omits_defaults):
            required.append(field.encode_name)
    plain = {
        name: {key: value for key, value in schema.items() if key != "default"} for name, schema in properties.items()
    }
    constant = {name: as_constant(schema) for name, schema in plain.items() if name in required}
    return {"properties": plain | constant, "required": required}


def to_wire_names(struct: Struct, names: Iterable[str]) -> list[str]:
    """Returns fields of a struct by their names on the wire."""
    wire_names = {field.name: field.encode_name for field in msgspec.structs.fields(struct)}
    return [wire_names[name] for name in names]


def with_fields(schema: Schema, names: Sequence[str]) -> Schema:
    """Returns an object's schema with some of its properties."""
    return {**schema, "properties": {name: field for name, field in schema["properties"].items() if name in names}}


def references_in(schema: Any) -> Iterator[str]:
    """Yields the names of the components that a schema refers to."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield get_component_name(schema)
        for part in schema.values():
            yield from references_in(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from references_in(part)
