"""Writes the generated modules of the Python client from the surface.

    types.py           the objects of requests (TypedDict) and replies (frozen dataclasses)
    events.py          the webhook events (frozen dataclasses)
    _tables.py         how those are encoded and decoded
    _actions.py        one Action per action
    _sync_groups.py    one class per path with a typed method per action
    _async_groups.py   the same for asyncio

`render_all()` returns the text of each file. `python -m clients.generate` writes them.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from clients.generate import error_codes
from clients.generate.docstrings import LINE_LENGTH, docstring, wrap_text
from clients.generate.python_events import render_event_tables, render_events
from clients.generate.python_types import (
    FUTURE,
    HEAD,
    SECRET_REPLY_FIELDS,
    argument_annotation,
    describe_argument,
    field_table,
    notation,
    render_types,
    result_annotation,
)
from clients.generate.surface import ActionSurface, Field, Surface, client_value, read_surface

FOLDER = Path(__file__).parents[1] / "python" / "src" / "kasuwa_client"


class Wait(NamedTuple):
    """One kind of thing that wait() of a path accepts: the reply types, and the action that verifies them."""

    replies: tuple[str, ...]
    verify: str


WAITS: dict[str, tuple[Wait, ...]] = {
    "disburse": (Wait(("TransferReply", "BulkTransferReply", "TransferState"), "disburse.verify"),),
    "payment": (Wait(("PaymentReply", "RefundReply", "PaymentState"), "payment.verify"),),
    "bills": (Wait(("BillReply", "BillState"), "bills.verify"),),
    "cashcode": (Wait(("CashcodeReply", "CashcodeState"), "cashcode.verify"),),
    "loans": (
        Wait(("RepayReply", "RepaymentValidateReply"), "payment.verify"),
        Wait(("LoanReply",), "disburse.verify"),
    ),
    "investments": (
        Wait(("DepositReply", "DepositValidateReply"), "payment.verify"),
        Wait(("CashoutReply",), "disburse.verify"),
    ),
}
WAIT_DOC = (
    "Polls `verify` until the transaction is final, and returns its state. Raises StillPending, an OutcomeUnknown, "
    "if it is not final within so many seconds."
)


def render_all() -> dict[Path, str]:
    """Returns the text of every generated file of the Python client."""
    surface = read_surface()
    texts = {
        "types.py": "".join(render_types(surface)),
        "events.py": "".join(render_events(surface)),
        "_tables.py": "".join(render_tables(surface)),
        "error_codes.py": "".join(error_codes.render_python()),
        "_actions.py": "".join(render_actions(surface)),
        "_sync_groups.py": "".join(render_groups(surface, is_async=False)),
        "_async_groups.py": "".join(render_groups(surface, is_async=True)),
    }
    return {FOLDER / name: format_source(FOLDER / name, text) for name, text in texts.items()}


def format_source(path: Path, text: str, line_length: int = LINE_LENGTH) -> str:
    """Returns the text as ruff formats a file at that path."""
    width = ["--config", f"line-length={line_length}"]
    command = [sys.executable, "-m", "ruff", "format", *width, "--stdin-filename", str(path), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


# --- tables and actions -----------------------------------------------------------------------------------------


def render_tables(surface: Surface) -> Iterator[str]:
    yield HEAD.format(title="Tables of the object types: the wire name and the type of each field.")
    yield FUTURE
    yield "from collections.abc import Mapping\n\n"
    yield "from kasuwa_client._notation import FieldTable\n\n"
    yield f"SECRET_FIELDS = frozenset({sorted(SECRET_REPLY_FIELDS)!r})\n\n"
    yield "TYPES: Mapping[str, FieldTable] = {\n"
    for kind in surface.types.values():
        yield f"    {kind.name!r}: {field_table(kind.fields)},\n"
    yield "}\n"
    yield from render_event_tables(surface)


def constant(action: ActionSurface) -> str:
    return f"{action.path}_{action.method}".upper()


def result_of(action: ActionSurface) -> str:
    """Returns the annotation of an action's result, or of the records of a list."""
    return f"types.{action.record}" if action.paging != "none" else result_annotation(action.reply, "types.")


def render_actions(surface: Surface) -> Iterator[str]:
    yield HEAD.format(title="Every action of the API.")
    yield FUTURE
    yield "from collections.abc import Mapping\n\n"
    yield "from kasuwa_client import types\nfrom kasuwa_client._action import Action\n\n"
    for action in surface.actions:
        arguments: dict[str, Any] = {
            "name": f"{action.path}.{action.method}",
            "path": action.path,
            "selectors": dict(action.selectors),
        }
        parts = [f"{name}={value!r}" for name, value in arguments.items()]
        parts += [f"fields={field_table(action.fields)}", f"reply={notation(action.reply)!r}"]
        if action.writes:
            parts.append("writes=True")
        if action.repeat != "read":
            parts.append(f"repeat={action.repeat!r}")
        if action.accepts_idempotency_key:
            parts.append("accepts_idempotency_key=True")
        if action.paging != "none":
            parts += [f"record={action.record!r}", f"paging={action.paging!r}", f"newest_first={action.newest_first}"]
        yield f"{constant(action)}: Action[{result_of(action)}] = Action({', '.join(parts)})\n"


# --- groups of methods ------------------------------------------------------------------------------------------


def render_groups(surface: Surface, *, is_async: bool) -> Iterator[str]:
    kind = "async" if is_async else "sync"
    yield HEAD.format(title=f"The methods of the {kind} client: one class per path, one method per action.")
    yield FUTURE
    yield "import datetime as dt\nfrom collections.abc import Mapping, Sequence\n"
    yield "from typing import Any, Literal, overload\n\n"
    yield "from kasuwa_client import _actions as actions\nfrom kasuwa_client import types\n"
    parent, page = ("AsyncGroup", "AsyncPager") if is_async else ("SyncGroup", "Page")
    yield f"from kasuwa_client._groups import {parent}\nfrom kasuwa_client._pages import {page}\n"
    yield "from kasuwa_client._paid import covers, read_price\n"
    yield "from kasuwa_client.errors import InvalidRequest, OutcomeUnknown\n\n"
    for path in surface.paths:
        yield f"class {path.capitalize()}({parent}):\n"
        test = " They exist in the test environment only." if path == "sandbox" else ""
        yield docstring([f"The actions of `PUT /{path}`.{test}"], 4)
        for action in surface.actions_of(path):
            yield "".join(render_method(action, is_async=is_async))
        if path in WAITS:
            yield "".join(render_wait(WAITS[path], surface, is_async=is_async))
        if path == "payment":
            yield render_is_paid(is_async=is_async)
        yield "\n"


def is_optional_argument(action: ActionSurface, field: Field) -> bool:
    """Whether a caller may leave an argument out. The client makes an orderRef."""
    return not field.required or (action.repeat == "order_ref" and field.name == "order_ref")


def render_method(action: ActionSurface, *, is_async: bool) -> Iterator[str]:
    required = [field for field in action.fields if not is_optional_argument(action, field)]
    optional = [field for field in action.fields if is_optional_argument(action, field)]
    parameters = [f"{field.name}: {argument_annotation(field.type, 'types.')}" for field in required]
    parameters += [f"{field.name}: {argument_annotation(field.type, 'types.')} | None = None" for field in optional]
    if action.accepts_idempotency_key:
        parameters.append("idempotency_key: str | None = None")
    star = ", *" if parameters else ""
    listed = TRIGGER_PARAMETERS if is_trigger(action) else ", ".join(["self" + star, *parameters])
    is_list = action.paging != "none"
    result = result_of(action)
    if is_list:
        result = f"{'AsyncPager' if is_async else 'Page'}[{result}]"
    prefix = "async " if is_async and not is_list else ""
    yield f"\n    {prefix}def {action.method}({listed}) -> {result}:\n"
    yield docstring(describe_method(action, is_async=is_async), 8)
    sent = "{" + ", ".join(f"{field.name!r}: {field.name}" for field in (*required, *optional)) + "}"
    arguments = [f"actions.{constant(action)}", TRIGGER_SENT if is_trigger(action) else sent]
    if action.accepts_idempotency_key:
        arguments.append("idempotency_key")
    called = "_list" if is_list else "_call"
    awaited = "await " if prefix else ""
    yield f"        return {awaited}self.{called}({', '.join(arguments)})\n"


def is_trigger(action: ActionSurface) -> bool:
    return (action.path, action.method) == ("sandbox", "trigger")


# The fields of an event are arguments too: `trigger("dispute.opened", amount="900.00")`.
TRIGGER_PARAMETERS = "self, event: str, *, fields: Mapping[str, Any] | None = None, **changes: Any"
TRIGGER_SENT = '{"event": event, "fields": {**(fields or {}), **changes} or None}'
TRIGGER_DOC = 'changes: The same fields as arguments, such as `trigger("dispute.opened", amount="900.00")`.'
ORDER_REF_DOC = "The client makes one if it is left out."
KEY_DOC = (
    "idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. "
    "The client makes one if it is left out."
)
ORDER_KEY_DOC = "idempotency_key: Only needed besides `order_ref` if the same reply must come again, for 24 hours."
LIST_DOC = "Iterate the result to read all pages; `limit` is the number of records per page."


def describe_method(action: ActionSurface, *, is_async: bool) -> list[str]:
    """Returns the paragraphs of a method's docstring."""
    found = [f"{action.summary}."]
    if action.description:
        found.append(action.description)
    found.append(action.scope)
    if action.paging != "none":
        found.append(LIST_DOC)
    lines = []
    for field in action.fields:
        text = describe_argument(field)
        if action.repeat == "order_ref" and field.name == "order_ref":
            text = f"{text} {ORDER_REF_DOC}".strip()
        if text:
            lines.append(f"{field.name}: {text}")
    if is_trigger(action):
        lines.append(TRIGGER_DOC)
    if action.accepts_idempotency_key:
        lines.append(KEY_DOC if action.repeat == "idempotency_key" else ORDER_KEY_DOC)
    found += ["\n".join("\n".join(wrap_text(line, 108, "    ")) for line in lines)] if lines else []
    return [*found, "\n".join(render_example(action, is_async=is_async))]


def arguments_of(action: ActionSurface, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a call that sends this body. Fields that the client does not offer are left out."""
    fields = {field.wire_name: field for field in action.fields}
    return {fields[name].name: client_value(fields[name].type, body[name], float) for name in body if name in fields}


@cache
def example_calls(is_async: bool) -> dict[str, list[str]]:
    """Returns the lines of every action's example call. All are formatted at once, because starting ruff takes long."""
    mark = "# ---\n"
    calls = {}
    for action in read_surface().actions:
        arguments = arguments_of(action, action.example)
        listed = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        awaited = "await " if is_async and action.paging == "none" else ""
        calls[action.title] = f"{awaited}shop.{action.path}.{action.method}({listed})\n"
    formatted = format_source(FOLDER / "example.py", mark.join(calls.values()), LINE_LENGTH - 12).split(mark)
    return {title: text.strip("\n").splitlines() for title, text in zip(calls, formatted, strict=True)}


def render_example(action: ActionSurface, *, is_async: bool) -> Iterator[str]:
    """Yields the recorded example: the call and its reply."""
    yield "Example, and the reply that was recorded for it:"
    yield ""
    yield from ("    " + line for line in example_calls(is_async)[action.title])
    yield ""
    lines = json.dumps(action.example_reply, indent=2, ensure_ascii=False).splitlines()
    cut = lines if len(lines) <= 28 else [*lines[:26], "…"]
    yield from ("    " + (line if len(line) <= 100 else line[:99] + "…") for line in cut)


def render_wait(waits: tuple[Wait, ...], surface: Surface, *, is_async: bool) -> Iterator[str]:
    """Yields the method `wait` of a path, with an overload for each kind of thing if there are several."""
    verifying = {f"{action.path}.{action.method}": action for action in surface.actions}
    prefix, awaited = ("async ", "await ") if is_async else ("", "")
    signatures = []
    for wait in waits:
        accepted = [f"types.{name}" for name in wait.replies]
        if len(waits) == 1:
            accepted += ["str", "OutcomeUnknown"]
        signatures.append((" | ".join(accepted), result_of(verifying[wait.verify])))
    if len(waits) > 1:
        for accepted_text, result in signatures:
            yield "\n    @overload\n"
            yield f"    {prefix}def wait(self, thing: {accepted_text}, seconds: float = 60.0) -> {result}: ...\n"
    every_thing = " | ".join(accepted_text for accepted_text, _ in signatures)
    every_result = " | ".join(dict.fromkeys(result for _, result in signatures))
    yield f"\n    {prefix}def wait(self, thing: {every_thing}, seconds: float = 60.0) -> {every_result}:\n"
    accepts = " `thing` is a reply, a reference, or the OutcomeUnknown that the operation raised."
    yield docstring([WAIT_DOC + (accepts if len(waits) == 1 else "")], 8)
    for wait in waits[:-1]:
        kinds = ", ".join(f"types.{name}" for name in wait.replies)
        yield f"        if isinstance(thing, ({kinds})):\n"
        yield f"            return {awaited}self._wait(actions.{constant(verifying[wait.verify])}, thing, seconds)\n"
    yield f"        return {awaited}self._wait(actions.{constant(verifying[waits[-1].verify])}, thing, seconds)\n"


IS_PAID_DOC = (
    "Asks `verify` whether a payment is successful and its payer was charged at least this amount in this currency. "
    "Money that was refunded does not count. False for a reference that is no payment, such as that of another event. "
    "Use it before you fulfill an order, with your own price."
)


def render_is_paid(*, is_async: bool) -> str:
    prefix, awaited = ("async ", "await ") if is_async else ("", "")
    signature = 'self, txn_ref: str, *, amount: types.Amount, currency: str = "NGN"'
    return (
        f"\n    {prefix}def is_paid({signature}) -> bool:\n"
        f"{docstring([IS_PAID_DOC], 8)}"
        "        price = read_price(amount)\n"
        "        try:\n"
        f"            found = {awaited}self.verify(txn_ref=txn_ref)\n"
        "        except InvalidRequest:\n"
        "            return False\n"
        "        return covers(found, price, currency)\n"
    )
