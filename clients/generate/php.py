"""Writes the generated classes of the PHP client, in `clients/php/src`, from the surface.

    Api/        one class per path with a typed method per action, and their parent of the client
    Types/      the objects of replies, in a folder per slice
    Events/     the webhook events and their kinds
    Errors/     the error of each status, and the codes of errors

`render_all()` returns the text of each file. `python -m clients.generate` writes them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from clients.generate.php_text import (
    HEADER,
    LINE_LENGTH,
    camel_case,
    comment,
    describe,
    doc_type,
    indent,
    literal,
    native_type,
    pascal_case,
    php_file,
    sentence,
    short_literal,
    tags,
    type_namespace,
)
from clients.generate.php_types import (
    alias_fields,
    alias_tags,
    object_names,
    render_errors,
    render_events,
    render_secrets,
    render_types,
    shape_of,
)
from clients.generate.surface import ActionSurface, Field, Surface, client_value, read_surface

FOLDER = Path(__file__).parents[1] / "php" / "src"
# Recorded replies that are longer show their beginning.
MAX_EXAMPLE_LINES = 40


class Wait(NamedTuple):
    """The `wait` method of a path: the state that its verify returns, and the fields of a reply that may name it."""

    state: str
    references: tuple[str, ...]  # the first that is present is sent to verify
    text_field: str  # the field that a reference given as text is sent as
    things: str


WAITS = {
    "disburse": Wait("TransferState", ("batchRef", "txnRef", "orderRef"), "txnRef", "a transfer or a bulk"),
    "payment": Wait("PaymentState", ("refundRef", "txnRef", "customer_txnref"), "txnRef", "a payment or a refund"),
    "bills": Wait("BillState", ("txnRef", "orderRef"), "txnRef", "a bill"),
    "cashcode": Wait("CashcodeState", ("orderRef",), "orderRef", "a cashcode"),
}
# Paths whose transactions are transfers and payments.
PURPOSE_WAITS = {
    "loans": ("LoanReply", "RepayReply", "RepaymentValidateReply"),
    "investments": ("CashoutReply", "DepositReply", "DepositValidateReply"),
}
REPEATS = {
    "read": "",
    "order_ref": "If its answer is lost, the call is repeated with the same `orderRef`, and executed once.",
    "idempotency_key": "If its answer is lost, the call is repeated with the same Idempotency-Key, and executed once.",
    "never": "If its answer is lost, the call is not repeated, and throws OutcomeUnknown.",
}


def render_all() -> dict[Path, str]:
    """Returns the text of every generated file of the PHP client."""
    surface = read_surface()
    files = {
        "SecretFields.php": render_secrets(),
        "Api/Paths.php": php_file("Kasuwa\\Api", paths_class(surface), ["Kasuwa\\Caller"]),
        **{f"Api/{pascal_case(path)}.php": render_path(surface, path) for path in surface.paths},
    }
    for render in (render_types, render_events, render_errors):
        files |= {str(name): text for name, text in render(surface)}
    return {FOLDER / name: text for name, text in files.items()}


def written_files() -> dict[Path, str]:
    """Returns the generated files that are there now."""
    texts = {path: path.read_text() for path in FOLDER.rglob("*.php")}
    return {path: text for path, text in texts.items() if text.startswith(HEADER)}


def paths_class(surface: Surface) -> Iterator[str]:
    yield "/** The paths of the API, each with one method per action. */"
    yield "abstract class Paths"
    yield "{"
    for path in surface.paths:
        actions = surface.actions_of(path)
        suffix = " The test environment alone has this path." if all(action.test_only for action in actions) else ""
        names = ", ".join(camel_case(action.method) for action in actions)
        yield from indent(comment([f"`PUT /{path}`: {names}.{suffix}"]))
        yield f"    public readonly {pascal_case(path)} ${path};"
    yield ""
    yield "    public function __construct(Caller $caller)"
    yield "    {"
    yield from (f"        $this->{path} = new {pascal_case(path)}($caller);" for path in surface.paths)
    yield "    }"
    yield "}"


# --- paths ------------------------------------------------------------------------------------------------------


def render_path(surface: Surface, path: str) -> str:
    actions = surface.actions_of(path)
    name = pascal_case(path)
    fields = [field for action in actions for field in action.fields]
    aliases = tags(alias_tags(surface, fields))
    lines = list(comment([f"The actions of `PUT /{path}`.", *alias_fields(surface, fields), aliases]))
    lines += [f"final class {name}", "{"]
    lines += ["    /** Made by the class Kasuwa. */"]
    lines += ["    public function __construct(private readonly Caller $caller)", "    {", "    }"]
    for action in actions:
        lines += ["", *indent(method_of(surface, action))]
    if path in WAITS:
        lines += ["", *indent(wait_method(path, WAITS[path]))]
    if path in PURPOSE_WAITS:
        lines += ["", *indent(purpose_wait_method(PURPOSE_WAITS[path]))]
    if path == "payment":
        lines += ["", *indent(is_paid_method())]
    lines.append("}")
    return php_file("Kasuwa\\Api", lines, imports_of(surface, path, "\n".join(lines)))


def imports_of(surface: Surface, path: str, text: str) -> Iterator[str]:
    yield from ("Kasuwa\\Caller", "Kasuwa\\CallOptions", "Kasuwa\\Operation")
    for name in ("Paging", "RecordList", "Repeat"):
        if f"{name}::" in text or f"new {name}(" in text:
            yield f"Kasuwa\\{name}"
    for action in surface.actions_of(path):
        names = object_names(action.reply)
        yield from (f"{type_namespace(surface, name)}\\{name}" for name in names)
        if action.record:
            yield f"{type_namespace(surface, action.record)}\\{action.record}"
    if path in WAITS:
        yield from (
            "Kasuwa\\Errors\\OutcomeUnknown",
            "Kasuwa\\Errors\\StillPending",
            "Kasuwa\\Result",
            "Kasuwa\\Waiting",
        )
    if path in PURPOSE_WAITS:
        yield from ("Kasuwa\\Errors\\StillPending", "Kasuwa\\Waiting")
        for name in (*PURPOSE_WAITS[path], "TransferState", "PaymentState"):
            yield f"{type_namespace(surface, name)}\\{name}"
    if path == "payment":
        yield "Kasuwa\\Price"


def request_fields(action: ActionSurface) -> list[Field]:
    """Returns the request fields, those that are required first. The client makes the orderRef that makes a write
    repeatable, so it may be absent."""
    fields = []
    for field in action.fields:
        if action.repeat == "order_ref" and field.wire_name == "orderRef":
            made = f"{sentence(field.description)} This client makes one if you give none.".strip()
            fields.append(field._replace(required=False, description=made))
        else:
            fields.append(field)
    return sorted(fields, key=lambda field: not field.required)


def method_of(surface: Surface, action: ActionSurface) -> Iterator[str]:
    yield from method_comment(action)
    parameters = [*(parameter(surface, field) for field in request_fields(action)), OPTIONS]
    yield from signature_of(camel_case(action.method), parameters, native_reply(action))
    yield from indent(operation_of(surface, action))
    names = ", ".join(literal(field.wire_name) for field in action.fields)
    compact = f"compact({names})" if names else "[]"
    if action.paging == "none":
        yield from indent(wrapped_call("return $this->caller->call", ["$operation", compact, "$options"]))
    else:
        paging = f"Paging::{pascal_case(action.paging)}"
        newest = literal(action.newest_first)
        parts = ["$this->caller", "$operation", paging, newest, compact, "$options"]
        yield from indent(wrapped_call("return new RecordList", parts))
    yield "}"


OPTIONS = "?CallOptions $options = null"


def parameter(surface: Surface, field: Field) -> str:
    kind = native_type(field.type)
    # Kept out of stack traces.
    hidden = "#[\\SensitiveParameter] " if has_secret(surface, field) else ""
    if field.required:
        return f"{hidden}{kind} ${field.wire_name}"
    if kind != "mixed":
        kind = f"{kind}|null" if "|" in kind else f"?{kind}"
    return f"{hidden}{kind} ${field.wire_name} = null"


def has_secret(surface: Surface, field: Field) -> bool:
    """Returns whether a field is secret, or has secret fields inside."""
    inside = (inner for name in object_names(field.type) for inner in surface.types[name].fields)
    return field.secret or any(has_secret(surface, inner) for inner in inside)


def signature_of(name: str, parameters: list[str], reply: str) -> Iterator[str]:
    head = f"public function {name}({', '.join(parameters)}): {reply}"
    if len(head) + 4 <= LINE_LENGTH:
        yield head
        yield "{"
    else:
        yield f"public function {name}("
        yield from (f"    {one}," for one in parameters)
        yield f"): {reply} {{"


def wrapped_call(name: str, parts: list[str]) -> Iterator[str]:
    line = f"{name}({', '.join(parts)});"
    if len(line) + 8 <= LINE_LENGTH:
        yield line
        return
    yield f"{name}("
    for part in parts:
        if len(part) + 13 <= LINE_LENGTH:
            yield f"    {part},"
        else:
            yield from indent(wrapped_compact(part))
    yield ");"


def wrapped_compact(text: str) -> Iterator[str]:
    names = text.removeprefix("compact(").removesuffix(")").split(", ")
    yield "compact("
    yield from (f"    {name}," for name in names)
    yield "),"


def operation_of(surface: Surface, action: ActionSurface) -> Iterator[str]:
    yield "$operation = new Operation("
    yield f"    {literal(f'{action.path}.{camel_case(action.method)}')},"
    yield f"    {literal(action.path)},"
    yield f"    {short_literal(dict(action.selectors))},"
    yield f"    {reply_of(action)},"
    if action.repeat != "read":
        yield f"    repeat: Repeat::{pascal_case(action.repeat)},"
    if action.writes:
        yield "    writes: true,"
    if action.accepts_idempotency_key:
        yield "    acceptsIdempotencyKey: true,"
    if action.reply.kind == "list":
        yield "    repliesArray: true,"
    shape = shape_of(surface, action.fields)
    if shape:
        line = f"    shape: {short_literal(shape)},"
        yield from [line] if len(line) + 8 <= LINE_LENGTH else indent(f"shape: {literal(shape)},".split("\n"))
    if action.title == "disburse-transfer-bulk":
        yield "    orders: 'data',"
    yield ");"


def reply_of(action: ActionSurface) -> str:
    names = list(object_names(action.reply))
    return f"{names[0]}::class" if names else literal("map")


def native_reply(action: ActionSurface) -> str:
    if action.paging != "none":
        return "RecordList"
    return action.reply.name or "array"


def method_comment(action: ActionSurface) -> Iterator[str]:
    paragraphs = [sentence(action.summary), sentence(action.description), action.scope, REPEATS[action.repeat]]
    if action.paging != "none":
        paragraphs.append("`foreach` yields the records of all pages, `page()` returns one page.")
    if action.test_only:
        paragraphs.append("Exists in the test environment only.")
    example = [
        "Example, and the reply that was recorded for it:",
        "",
        *(f"    {line}" for line in example_lines(action)),
    ]
    parameters = tags(
        f"@param {doc_type(field.type)}{'' if field.required else '|null'} ${field.wire_name} {describe(field)}"
        for field in request_fields(action)
    )
    yield from comment([*paragraphs, "\n".join(example) + "\n", parameters, return_tag(action)])


def return_tag(action: ActionSurface) -> str:
    reply = doc_type(action.reply)
    if action.paging != "none":
        return tags([f"@return RecordList<{reply}, {action.record}>"])
    return "" if action.reply.kind == "object" else tags([f"@return {reply}"])


def example_call(action: ActionSurface) -> str:
    """Returns the call of the recorded example of an action."""
    offered = {field.wire_name: field for field in action.fields}
    arguments = {
        name: client_value(offered[name].type, value) for name, value in action.example.items() if name in offered
    }
    call = f"$shop->{action.path}->{camel_case(action.method)}"
    parts = [f"{name}: {literal(value)}" for name, value in arguments.items() if value is not None]
    line = f"{call}({', '.join(parts)});"
    if len(line) <= LINE_LENGTH - 15 and "\n" not in line:
        return line
    wrapped = "".join(f"{line}\n" for part in parts for line in indent(f"{part},".split("\n")))
    return f"{call}(\n{wrapped});"


def example_lines(action: ActionSurface) -> Iterator[str]:
    """Yields the call of the recorded example, and below it the reply as a comment."""
    yield from example_call(action).split("\n")
    reply = literal(action.example_reply).split("\n")
    if len(reply) > MAX_EXAMPLE_LINES:
        reply = [*reply[:MAX_EXAMPLE_LINES], "…"]
    yield from (f"// {line}" for line in reply)


# --- further methods --------------------------------------------------------------------------------------------


def wait_method(path: str, wait: Wait) -> Iterator[str]:
    text = (
        f"Waits until {wait.things} is final, and returns its state. Pass a reply, a reference, or the OutcomeUnknown "
        f"that the operation threw."
    )
    yield from comment([text, tags(["@throws StillPending if it is not final after `$seconds`"])])
    transaction = "string|Result|OutcomeUnknown $transaction"
    yield f"public function wait({transaction}, float $seconds = 60): {wait.state}"
    yield "{"
    names = ", ".join(map(literal, wait.references))
    yield f"    $reference = Waiting::referenceOf($transaction, [{names}], {literal(wait.text_field)});"
    yield f"    $verify = fn (CallOptions $options): {wait.state} => $this->verify(...$reference, options: $options);"
    yield f"    return Waiting::untilFinal($verify, {literal(f'{path}.verify')}, $reference, $seconds);"
    yield "}"


def purpose_wait_method(replies: tuple[str, ...]) -> Iterator[str]:
    text = "Waits until the transfer or payment of a reply is final, and returns its state."
    yield from comment([text, tags(["@throws StillPending if it is not final after `$seconds`"])])
    yield "public function wait("
    yield f"    {'|'.join(replies)} $transaction,"
    yield "    float $seconds = 60,"
    yield "): TransferState|PaymentState {"
    yield "    return Waiting::isPayment($transaction)"
    yield "        ? (new Payment($this->caller))->wait($transaction, $seconds)"
    yield "        : (new Disburse($this->caller))->wait($transaction, $seconds);"
    yield "}"


def is_paid_method() -> Iterator[str]:
    text = (
        "Asks `verify` whether a payment is successful and its payer was charged at least this amount. Money that was "
        "refunded does not count. False for a reference that is no payment, such as that of another event. Use it "
        "before you fulfill an order, with your own price."
    )
    parameters = [
        "@param string $txnRef Reference of the payment.",
        "@param string $amount The price, such as `1500.00`.",
    ]
    yield from comment([text, tags(parameters)])
    yield "public function isPaid("
    yield "    string $txnRef,"
    yield "    string|int|float $amount,"
    yield "    string $currency = 'NGN',"
    yield f"    {OPTIONS},"
    yield "): bool {"
    yield "    $price = new Price($amount, $currency);"
    yield "    return $price->isCoveredBy(fn (): PaymentState => $this->verify(txnRef: $txnRef, options: $options));"
    yield "}"
