"""The tools of an assistant, and what each does."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from kasuwa.core.suggestions import suggest
from kasuwa.integration.assistant import arguments
from kasuwa.integration.assistant.connection import (
    ADVANCE_SECONDS,
    AssistantError,
    Connection,
    is_loopback,
)
from kasuwa.integration.assistant.documents import Documents, make_excerpt, request_schema
from kasuwa.wire.field_errors import convert_fields, field_specs

ArgumentsT = TypeVar("ArgumentsT", bound=arguments.Arguments)


class Workplace(msgspec.Struct, frozen=True):
    """The server and its documents, which all tools work with."""

    connection: Connection
    documents: Documents


class Tool(msgspec.Struct, Generic[ArgumentsT], frozen=True):
    """A tool. `run` returns its result as text, and raises AssistantError."""

    name: str
    about: str
    takes: type[ArgumentsT]
    run: Callable[[Workplace, ArgumentsT], str]
    in_live: bool = False
    changes: bool = True
    erases: bool = False  # may take away what was there
    reaches_others: bool = False  # may have something sent to another address than the server's

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        _, components = msgspec.json.schema_components([self.takes])
        return {**components[self.takes.__name__], "additionalProperties": False}

    def call(self, workplace: Workplace, sent: Mapping[str, Any]) -> str:
        """Runs the tool. Raises AssistantError, which names every fault of the arguments."""
        return self.run(workplace, read_arguments(self.takes, sent))


def read_arguments(kind: type[ArgumentsT], sent: Mapping[str, Any]) -> ArgumentsT:
    known = [spec.wire_name for spec in field_specs(kind)]
    faults = [f"{name[:40]!r}: unknown{suggest(name, known)}" for name in sent if name not in known]
    errors, values = convert_fields(kind, sent, "")
    faults += [f"{error.field}: {error.reason}" for error in errors]
    if faults:
        raise AssistantError("; ".join(faults))
    return kind(**values)


def as_json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()


def without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


# --- actions ------------------------------------------------------------------------------------------------------


def list_actions(place: Workplace, wanted: arguments.ListActions) -> str:
    path = (wanted.path or "").strip("/")
    listed = [one for one in place.documents.actions.values() if path in ("", one.path)]
    if not listed:
        paths = {one.path for one in place.documents.actions.values()}
        raise AssistantError(f"there is no path {path[:40]!r} here: there are {', '.join(sorted(paths))}")
    return "\n".join(f"{one.name}: {one.operation['summary']}" for one in listed)


def describe_action(place: Workplace, wanted: arguments.DescribeAction) -> str:
    action = place.documents.find_action(wanted.action)
    content = action.operation["requestBody"]["content"]["application/json"]
    examples = {**content.get("examples", {}), **content.get("x-templates", {})}
    return as_json(
        {
            "action": action.name,
            "summary": action.operation["summary"],
            "changes": action.changes,
            "scope": action.operation["x-scope"],
            "selected_by": action.selectors,
            "fields": place.documents.write_out(request_schema(action.operation)),
            "examples": [example["value"] for example in examples.values()],
        }
    )


def call_action(place: Workplace, wanted: arguments.CallAction) -> str:
    action = place.documents.find_action(wanted.action)
    others = {
        name for name in action.selectors if wanted.fields.get(name, action.selectors[name]) != action.selectors[name]
    }
    # A body selects by any of these fields.
    others |= {name for name in ("action", "inquire", "request") if name in wanted.fields} - set(action.selectors)
    if others:
        raise AssistantError(f"{', '.join(sorted(others))}: the name of the action selects it, and no field")
    headers = without_none(**{"idempotency-key": wanted.idempotency_key, "x-sandbox-scenario": wanted.scenario})
    body = {**wanted.fields, **action.selectors}
    return place.connection.request(action.path, body, wanted.merchant, headers)


# --- the test environment -----------------------------------------------------------------------------------------


def make_merchant(place: Workplace, wanted: arguments.MakeMerchant) -> str:
    fields = without_none(name=wanted.name, balance=wanted.balance, now=wanted.now, webhook=wanted.webhook)
    return place.connection.request("sandbox", {"action": "new_merchant", **fields})


def advance_clock(place: Workplace, wanted: arguments.AdvanceClock) -> str:
    """Advances a clock to the end, with as many requests as it takes."""
    durations = without_none(
        seconds=wanted.seconds, minutes=wanted.minutes, hours=wanted.hours, days=wanted.days, until=wanted.until
    )
    ran: dict[str, int] = {}
    while True:
        body = {"action": "advance", **durations}
        reply = msgspec.json.decode(place.connection.request("sandbox", body, wanted.merchant, seconds=ADVANCE_SECONDS))
        for kind, count in reply.get("ran", {}).items():
            ran[kind] = ran.get(kind, 0) + count
        if not reply.get("more"):
            return as_json({**reply, "ran": ran} if ran else reply)
        durations = {"until": reply["until"]}


def plan_fault(place: Workplace, wanted: arguments.PlanFault) -> str:
    fields = without_none(
        rail=wanted.rail, kind=wanted.kind, on=wanted.on, times=wanted.times, probability=wanted.probability
    )
    return place.connection.request("sandbox", {"action": "fault", **fields}, wanted.merchant)


def explain(place: Workplace, wanted: arguments.Explain) -> str:
    body = {"action": "explain", "reference": wanted.reference}
    return place.connection.request("sandbox", body, wanted.merchant)


def read_events(place: Workplace, mid: str) -> str:
    """Returns the newest events of a merchant whose key is held."""
    return place.connection.request("resources", {"inquire": "events", "limit": 50}, mid)


def certify(place: Workplace, wanted: arguments.Certify) -> str:
    """Plays events to an application of this machine that runs already."""
    from kasuwa.integration import report
    from kasuwa.integration.all_checks import ALL_CHECKS
    from kasuwa.integration.application import Application
    from kasuwa.integration.check import Pace
    from kasuwa.integration.run import CannotRun, observe, play

    if not is_loopback(wanted.app):
        raise AssistantError("app: a URL of this machine, such as http://127.0.0.1:9000/events")
    place.connection.confirm()
    known = {check.id: check for check in ALL_CHECKS}
    unknown = [check_id[:40] for check_id in wanted.only if check_id not in known]
    if unknown:
        raise AssistantError(f"only: there is no check {', '.join(unknown)}: choose from {', '.join(known)}")
    chosen = [known[check_id] for check_id in wanted.only] or list(ALL_CHECKS)
    mid = wanted.merchant or place.connection.main_mid
    key = place.connection.find_key(mid)
    try:
        session = observe(Application(wanted.app), Pace(), place.connection.url, mid, key, key)
    except CannotRun as reason:
        raise AssistantError(place.connection.hide_keys(str(reason))) from None
    lines: list[str] = []
    outcome = play(
        session, chosen, f"{place.connection.url}/docs/", lambda one: lines.append(report.describe_line(one))
    )
    return place.connection.hide_keys("\n".join([*lines, report.describe(outcome)]))


# --- documentation ------------------------------------------------------------------------------------------------


def search_docs(place: Workplace, wanted: arguments.SearchDocs) -> str:
    results = place.documents.search(wanted.query)
    if not results:
        return "Nothing was found. list_actions has all actions by name."
    return "\n".join(
        f"- {section.page}{': ' if section.heading else ''}{section.heading} ({address})\n"
        f"  {make_excerpt(section, wanted.query)}"
        for section, address in results
    )


def read_docs(place: Workplace, wanted: arguments.ReadDocs) -> str:
    return place.documents.read_page(wanted.page)


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "search_docs",
        "Search the documentation of this server. Returns sections with the addresses of their pages.",
        arguments.SearchDocs,
        search_docs,
        in_live=True,
        changes=False,
    ),
    Tool(
        "read_docs",
        "Read a page of the documentation as Markdown, by an address that search_docs or llms.txt names.",
        arguments.ReadDocs,
        read_docs,
        in_live=True,
        changes=False,
    ),
    Tool(
        "list_actions",
        "List the actions that can be called, with a summary of each.",
        arguments.ListActions,
        list_actions,
        in_live=True,
        changes=False,
    ),
    Tool(
        "describe_action",
        "Describe an action: the schema of its fields, and examples. Do this before the first call.",
        arguments.DescribeAction,
        describe_action,
        in_live=True,
        changes=False,
    ),
    Tool(
        "call_action",
        "Call an action as a merchant, and return the reply. Keys, tokens, card numbers and links are replaced by ***."
        " In live only actions that change nothing can be called.",
        arguments.CallAction,
        call_action,
        in_live=True,
        erases=True,
        reaches_others=True,
    ),
    Tool(
        "make_merchant",
        "Make a funded merchant in the test environment. Its key stays with this server: name the merchant by its mid.",
        arguments.MakeMerchant,
        make_merchant,
        reaches_others=True,
    ),
    Tool(
        "advance_clock",
        "Move the business time of a merchant forward: everything that falls due on the way is done.",
        arguments.AdvanceClock,
        advance_clock,
    ),
    Tool(
        "plan_fault",
        "Make the next calls of a merchant to a rail fail, or with kind none clear what was planned.",
        arguments.PlanFault,
        plan_fault,
    ),
    Tool(
        "explain",
        "Tell everything that happened to a reference: requests, rails, postings, events.",
        arguments.Explain,
        explain,
        changes=False,
    ),
    Tool(
        "certify",
        "Check how an application that runs on this machine receives events: repeated, forged, late, in pieces."
        " It must know the merchant's key as its signing secret.",
        arguments.Certify,
        certify,
        reaches_others=True,
    ),
)


def list_tools(is_test: bool) -> list[Tool[Any]]:
    """Returns the tools of an environment. In live none changes anything."""
    return [tool for tool in TOOLS if is_test or tool.in_live]


def find_tool(tools: Iterable[Tool[Any]], name: str) -> Tool[Any]:
    """Raises AssistantError."""
    by_name = {tool.name: tool for tool in tools}
    if name not in by_name:
        raise AssistantError(f"there is no tool {name[:40]!r} here: there are {', '.join(by_name)}")
    return by_name[name]
