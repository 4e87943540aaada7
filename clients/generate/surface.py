"""Describes the whole API for the generators of client libraries, from the action tables of the service.

`read_surface()` returns every action with its request fields, the type of its reply, the recorded example and whether
it can safely be repeated. The generators (python.py, typescript.py, php.py) read only this. Rows of the tables that are
another spelling of an action are left out.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import inspect

from clients.generate.field_types import (
    NAMED_KINDS,
    TEXT_FIELDS,
    FieldType,
    is_nullable,
    objects_in,
    reply_type,
    request_type,
)
from kasuwa.api.openapi.field_docs import describe_fields
from kasuwa.core.action import Action, AdminCommand, ApiMethod, Write, get_scope, make_action_title, only_shows
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.methods.tables import list_methods
from kasuwa.transactions.event_fields import EventPayload
from kasuwa.transactions.event_payloads import EVENT_KINDS, TEST_EVENT, EndpointTestEvent
from kasuwa.wire.documents import Document
from kasuwa.wire.fields import ChosenCurrency, scalar_schema

CONTRACT_MARK = re.compile(r"\s*\(?Contract: [\w#/, -]+\)?\.?")

# Rows that only spell another row's action differently.
ALIASES = frozenset({"resources-personalized_account", "resources-paylink_by_id"})

# Names of methods where the action's name, with its variant, would read badly.
METHOD_NAMES = {
    "resources-accountname": "account_name",
    "resources-personalized-accounts": "personalized_account",
    "resources-supported_chargable_banks": "chargeable_banks",
    "resources-installments-resume": "resume_installments",
    "resources-installments-pause": "pause_installments",
    "resources-installments-cancel": "cancel_installments",
}

# Names of fields that are no names in Python, or say little without the other.
FIELD_NAMES = {"from": "first", "to": "last"}

# Structs whose fields have the names that they have in the service.
OWN_FIELD_NAMES = frozenset({"StandingOrderRequest", "StandingOrderRecord", "StandingOrderEvent"})

# Fields that mean something else than others of their name.
OWN_MEANINGS = frozenset(
    name for names in (TEXT_FIELDS, *(names for names, _ in NAMED_KINDS)) for name in names if "." in name
)

# Client names of structs: those that several slices call alike, and requests that are an object in another request.
TYPE_NAMES = {
    "bills.VerifyReply": "BillState",
    "bills.PullReply": "BillCatalogueReply",
    "bills.CatalogueLines": "BillCatalogue",
    "bills.CategoryLine": "BillCategory",
    "bills.ItemLine": "BillItem",
    "bills.ResolveReply": "BillCustomer",
    "bills.PayReply": "BillReply",
    "cashcode.VerifyReply": "CashcodeState",
    "cashcode.GenerateReply": "CashcodeReply",
    "cashcode.CancelReply": "CashcodeCancelReply",
    "cashcode.RedeemReply": "CashcodeRedeemReply",
    "clients.ListReply": "ClientPage",
    "clients.AddressFields": "ClientAddress",
    "clients.BankAccountFields": "ClientBankAccount",
    "clients.BankAccountChanges": "ClientBankAccountChanges",
    "disburse.VerifyReply": "TransferState",
    "disburse.TransferRequest": "TransferOrder",
    "disburse.BulkReply": "BulkTransferReply",
    "disburse.OrderReply": "BulkOrderReply",
    "disburse.BatchLine": "BulkOrderState",
    "investments.CashcodeReply": "SavingsCashcodeReply",
    "investments.SavingsListReply": "SavingsPage",
    "investments.PlanListReply": "PlanPage",
    "investments.Moved": "SavingsTotals",
    "investments.StatementLine": "SavingsStatementLine",
    "investments.StatementReply": "SavingsStatementPage",
    "investments.SubscriptionsReply": "SubscriptionPage",
    "investments.ValidateReply": "DepositValidateReply",
    "loans.Allocation": "RepaymentAllocation",
    "loans.Installments": "LoanInstallments",
    "loans.ListReply": "LoanPage",
    "loans.NextDue": "LoanNextDue",
    "loans.Outstanding": "LoanOutstanding",
    "loans.Reallocation": "RepaymentReallocation",
    "loans.ScheduleLine": "LoanScheduleLine",
    "loans.StatementLine": "LoanStatementLine",
    "loans.StatementReply": "LoanStatementPage",
    "loans.ValidateReply": "RepaymentValidateReply",
    "payment.CardReply": "PayerCard",
    "payment.VerifyReply": "PaymentState",
    "payment.Account": "PayerAccount",
    "payment.Card": "CardDetails",
    "payment.User": "Payer",
    "payment.Part": "SplitPart",
    "payment.Recurrent": "Recurrence",
    "payment.Installment": "InstallmentSchedule",
    "payment.RecurrentChanged": "RecurrentChangedReply",
    "payment.InstallmentChanged": "InstallmentChangedReply",
    "payment.InstallmentReply": "InstallmentPlan",
    "payment.RecurrentReply": "RecurrentPlan",
    "payment.InboundReply": "InboundPaymentReply",
    "resources.AccountName": "AccountNameFacts",
    "resources.AttemptLine": "DeliveryAttempt",
    "resources.CardReply": "CardFactsReply",
    "resources.EventsReply": "EventPage",
    "resources.FeedReply": "EventFeedPage",
    "references.TransactionReply": "FoundReply",
    "sandbox.DoneReply": "SandboxReply",
    "statements.StatementReply": "Statement",
    "transactions.TransactionsReply": "TransactionPage",
    "customers.CustomersReply": "CustomerPage",
    "customers.CustomerReply": "CustomerRegisteredReply",
    "invoices.InvoicesReply": "InvoicePage",
    "virtualcard.Billing": "CardBilling",
    "virtualcard.CardData": "VirtualCard",
    "virtualcard.CardReply": "VirtualCardReply",
    "virtualcard.DoneReply": "VirtualCardChangedReply",
    "virtualcard.LimitsReply": "SpendingLimitsReply",
    "virtualcard.LimitsShown": "SpendingLimitsShown",
    "virtualcard.TransactionLine": "CardTransaction",
    "virtualcard.TransactionsReply": "CardTransactionPage",
}

# Request fields that a client does not offer: other spellings of a field, and fields that are sent only by mistake.
LEFT_OUT_FIELDS = frozenset(
    {
        "limits",
        "end_date",
        "saving_id",
        "mcc",
        "fixed",  # limit, to_date, savings_id, category, share
        "bills-resolve.amount",
        "bills-resolve.orderRef",
        "cashcode-verify.dry_run",
    }
)
# Spelled in several ways, one of which is required: so is the one that is left.
REQUIRED_FIELDS = frozenset({"investments-cashout.savings_id", "investments-cashout-cashcode.savings_id"})
# Fields of replies that only a dry run lacks. Clients offer no dry run of these paths: every caller would have to
# handle a reply without the reference that it goes on with.
LACKED_BY_DRY_RUNS = frozenset(
    {
        "payment.PaymentReply.txnRef",
        "payment.RefundReply.refundRef",
        "payment.RefundReply.txnStatus",
        "clients.ClientRecord.client_id",
    }
)
PATHS_WITHOUT_DRY_RUN = frozenset({"payment", "clients"})
# `limits` of these is an object: the limits of a card, or of what is paid out.
OBJECT_LIMITS = frozenset({"virtualcard-create.limits", "virtualcard-limits.limits", "sandbox-payout_policy.limits"})

# Lists that are in another order than newest first.
OLDEST_FIRST = frozenset({"resources-event_feed", "investments-subscriptions"})

# Request fields that a log, an error or a trace must never show. Clients mask them.
SECRET_FIELDS = frozenset({"card_no", "ccv", "cvv", "cardpan", "pin", "otp", "token", "bvn", "cashcode", "key"})

# How a client may send a request again whose reply did not arrive:
#   read             always: it changes nothing
#   order_ref        with the same orderRef, at any time
#   idempotency_key  with the same Idempotency-Key header, for 24 hours
#   never            not at all: it may be done twice
Repeat = Literal["read", "order_ref", "idempotency_key", "never"]

# How a list continues: `offset` plus the `limit` of the reply, the same for a bare array, after a sequence number, or
# with the `next_cursor` of the reply.
Paging = Literal["none", "offset", "array", "feed", "cursor"]


class Field(NamedTuple):
    """A field of a request or of an object type."""

    wire_name: str  # orderRef
    name: str  # order_ref
    type: FieldType
    required: bool  # of a request: must be sent; of a reply: is always there
    nullable: bool  # the value may be null
    description: str  # what it means; empty if the service does not describe it
    form: str  # what a value must look like, such as "ten digits"; empty if its type says all
    secret: bool


class ObjectType(NamedTuple):
    """An object of replies, or an object inside requests."""

    name: str
    path: str  # the path whose slice declares it, or "core"
    description: str
    fields: tuple[Field, ...]
    is_reply: bool


class ActionSurface(NamedTuple):
    """One action of the API, as a method of a client."""

    title: str  # disburse-transfer-bulk: unique, and the name of its file in docs/examples
    path: str  # disburse
    method: str  # transfer_bulk
    selectors: Mapping[str, str]  # body fields that select the action, with their values
    summary: str
    description: str  # of the request, empty if there is no more to say than the summary
    scope: str  # the sentence about the scope that a key needs
    fields: tuple[Field, ...]  # of the request, without those that select the action
    writes: bool
    repeat: Repeat
    accepts_idempotency_key: bool
    reply: FieldType
    paging: Paging
    record: str  # of a list: the object type of its records
    newest_first: bool
    test_only: bool
    example: Mapping[str, Any]  # request body
    example_reply: Any


class Status(NamedTuple):
    """A status code of the contract that means an error."""

    code: int
    name: str  # InsufficientFunds
    meaning: str


class EventSurface(NamedTuple):
    """A type of webhook event."""

    kinds: tuple[str, ...]  # the values of its field `kind`
    type: ObjectType


class Surface(NamedTuple):
    paths: tuple[str, ...]
    actions: tuple[ActionSurface, ...]
    types: Mapping[str, ObjectType]
    statuses: tuple[Status, ...]
    common_event: ObjectType  # the fields that every event has
    events: tuple[EventSurface, ...]

    def actions_of(self, path: str) -> tuple[ActionSurface, ...]:
        return tuple(action for action in self.actions if action.path == path)


STATUSES = (
    Status(101, "AuthenticationError", "The mid or the key is wrong, or the merchant is suspended."),
    Status(102, "UnknownAction", "The path has no such action. The message lists those that it has."),
    Status(103, "MalformedRequest", "The body is not a complete JSON object, or is too large."),
    Status(104, "InvalidRequest", "Fields are not valid. `errors` names each with the reason."),
    Status(201, "UnreadableAnswer", "A rail answered something that cannot be read."),
    Status(203, "NotValidated", "A code or PIN is wrong, expired or used up."),
    Status(204, "ServiceError", "An error of the service. The message says what is known of the outcome."),
    Status(301, "InsufficientFunds", "The wallet, or the card that is named, does not cover the amount."),
)


@cache
def read_surface() -> Surface:
    """Returns the API of the test environment. Actions that live lacks have `test_only`."""
    methods = list_methods("test")
    rows = [(method, action) for method in methods for action in method.actions if title(method, action) not in ALIASES]
    names = name_types(rows)
    types: dict[str, ObjectType] = {}
    requests = {action.request for _, action in rows}
    inputs = set(reachable(objects_of_fields(requests)))
    outputs = set(reachable(reply_structs(rows)))
    for struct in sorted(inputs | outputs | referred_orders(requests), key=lambda struct: names[struct]):
        types[names[struct]] = describe_object(struct, names, is_reply=struct in outputs)
    live = {title(method, action) for method in list_methods("live") for action in method.actions}
    actions = tuple(describe_action(method, action, names, live) for method, action in rows)
    common_event = describe_object(EventPayload, {EventPayload: "EventPayload"}, is_reply=True)
    return Surface(
        tuple(method.name for method in methods), actions, types, STATUSES, common_event, tuple(describe_events())
    )


def title(method: ApiMethod, action: Action) -> str:
    return f"{method.name}-{make_action_title(action).replace(' ', '-')}"


def snake_case(wire_name: str) -> str:
    """Returns a wire name as a Python name: orderRef becomes order_ref, authURL auth_url."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", wire_name).replace("-", "_").lower()


# --- types ------------------------------------------------------------------------------------------------------


def slice_of(struct: type) -> str:
    parts = struct.__module__.split(".")
    return parts[2] if parts[1] == "methods" else "core"


def name_types(rows: list[tuple[ApiMethod, Action]]) -> dict[type, str]:
    """Returns the client's name of every struct. Raises ValueError if two have the same: TYPE_NAMES needs an entry."""
    requests = {action.request for _, action in rows}
    structs = {
        *reachable(objects_of_fields(requests)),
        *reachable(reply_structs(rows)),
        *referred_orders(requests),
    }
    names: dict[type, str] = {}
    for struct in sorted(structs, key=lambda struct: (struct.__module__, struct.__name__)):
        name = TYPE_NAMES.get(f"{slice_of(struct)}.{struct.__name__}", struct.__name__)
        if name in names.values():
            raise ValueError(f"two types are called {name}: name {struct.__module__}.{struct.__name__} in TYPE_NAMES")
        names[struct] = name
    return names


READ_TYPES: dict[Any, inspect.Type] = {}


def read_type(kind: Any) -> inspect.Type:
    """Returns what msgspec knows of a type. Reading one with all that is inside it takes long, and many are asked for
    often."""
    if kind not in READ_TYPES:
        READ_TYPES[kind] = inspect.type_info(kind)
    return READ_TYPES[kind]


def fields_of(struct: type) -> tuple[inspect.Field, ...]:
    info = read_type(struct)
    assert isinstance(info, inspect.StructType)
    return info.fields


def objects_of_fields(structs: set[type[msgspec.Struct]]) -> Iterator[type[msgspec.Struct]]:
    for struct in structs:
        for field in fields_of(struct):
            yield from objects_in(field.type)


def reply_structs(rows: list[tuple[ApiMethod, Action]]) -> Iterator[type[msgspec.Struct]]:
    for _, action in rows:
        yield from objects_in(read_type(action.reply))


def reachable(structs: Iterator[type[msgspec.Struct]]) -> Iterator[type[msgspec.Struct]]:
    """Yields structs and all those inside them."""
    todo, seen = list(structs), set()
    while todo:
        struct = todo.pop()
        if struct not in seen:
            seen.add(struct)
            yield struct
            todo += objects_of_fields({struct})


def client_value(kind: FieldType, value: Any, exact: type | tuple[type, ...] = (int, float)) -> Any:
    """Returns a value of a body as a client takes it, also inside objects and lists: whole numbers as numbers, and as
    texts those exact numbers whose type is in `exact`."""
    options = kind.options or (kind,)
    if isinstance(value, Mapping):
        fields = {
            field.wire_name: field.type
            for one in options
            if one.name
            for field in read_surface().types[one.name].fields
        }
        items = {name: item for one in options if (item := one.item) for name in value}
        types = items | fields
        return {name: client_value(types[name], part, exact) if name in types else part for name, part in value.items()}
    if isinstance(value, list):
        items_of = next((one.item for one in options if one.item is not None), None)
        return value if items_of is None else [client_value(items_of, part, exact) for part in value]
    kinds = {one.kind for one in options}
    if kinds & {"amount", "decimal"} and isinstance(value, exact) and not isinstance(value, bool):
        return str(value)
    return int(value) if kinds == {"integer"} and isinstance(value, str) else value


def referred_orders(requests: set[type[msgspec.Struct]]) -> set[type[msgspec.Struct]]:
    """Returns the requests that another request holds undecoded: the orders of a bulk."""
    referred = re.findall(r"#/components/schemas/(\w+)", " ".join(repr(read_type(request)) for request in requests))
    return {request for request in requests if request.__name__ in referred}


def describe_object(struct: type[msgspec.Struct], names: dict[type, str], *, is_reply: bool) -> ObjectType:
    described = (describe_field(struct, field, names, is_reply=is_reply) for field in fields_of(struct))
    # An object in a request is a part of a payment or an order of a bulk, and neither can be a dry run.
    left_out = () if is_reply else (*LEFT_OUT_FIELDS, "dry_run")
    fields = tuple(field for field in described if field.wire_name not in left_out)
    return ObjectType(names[struct], slice_of(struct), describe(struct), fields, is_reply)


def describe(struct: type) -> str:
    """Returns the docstring of a struct on one line. msgspec gives structs without one a signature instead."""
    text = struct.__dict__.get("__doc__") or ""
    return " ".join(CONTRACT_MARK.sub("", text).split())


def describe_field(
    struct: type[msgspec.Struct], field: inspect.Field, names: dict[type, str], *, is_reply: bool
) -> Field:
    wire_name = field.encode_name
    own_name = field.name if struct.__name__ in OWN_FIELD_NAMES else FIELD_NAMES.get(wire_name, snake_case(wire_name))
    meant = field.name if wire_name in FIELD_NAMES else wire_name  # "from" and "to" say nothing of their type
    if (own := f"{struct.__name__}.{meant}") in OWN_MEANINGS:
        meant = own
    kind = reply_type(meant, field.type, names) if is_reply else request_type(field.type, names)
    return Field(
        wire_name=wire_name,
        name=own_name,
        type=kind,
        required=field.required or (is_reply and is_always_shown(struct, field)),
        nullable=is_nullable(field.type) and not lacked_by_dry_runs(struct, wire_name),
        description=describe_fields(struct).get(wire_name, ""),
        form="" if is_reply else form_of(field.type),
        secret=wire_name in SECRET_FIELDS,
    )


def lacked_by_dry_runs(struct: type[msgspec.Struct], wire_name: str) -> bool:
    return f"{slice_of(struct)}.{struct.__name__}.{wire_name}" in LACKED_BY_DRY_RUNS


def is_always_shown(struct: type[msgspec.Struct], field: inspect.Field) -> bool:
    """Returns whether a reply field with a default is in every reply. The default UNSET is shown as no default."""
    if lacked_by_dry_runs(struct, field.encode_name):
        return True
    has_default = field.default is not msgspec.NODEFAULT or field.default_factory is not msgspec.NODEFAULT
    return has_default and not struct.__struct_config__.omit_defaults


def form_of(declared: inspect.Type) -> str:
    """Returns what a value of a request field must look like, as error texts say it."""
    if isinstance(declared, inspect.UnionType):
        return next(filter(None, map(form_of, declared.types)), "")
    if isinstance(declared, inspect.Metadata):
        return str((declared.extra_json_schema or {}).get("description", ""))
    if isinstance(declared, inspect.CustomType) and not issubclass(declared.cls, Document | ChosenCurrency):
        return str(scalar_schema(declared.cls).get("description", ""))
    return ""


def describe_events() -> Iterator[EventSurface]:
    """Yields the types of events, in the order of the service's table. Several kinds may share one."""
    kinds: dict[type[msgspec.Struct], list[str]] = {}
    for name, kind in EVENT_KINDS.items():
        kinds.setdefault(kind.payload, []).append(name)
    kinds[EndpointTestEvent] = [TEST_EVENT]
    for struct, names in kinds.items():
        described = describe_object(struct, {struct: struct.__name__}, is_reply=True)
        # A field without a value is left out of an event, never null.
        fields = tuple(field._replace(nullable=False) for field in described.fields)
        yield EventSurface(tuple(names), described._replace(fields=fields))


# --- actions ----------------------------------------------------------------------------------------------------


def describe_action(method: ApiMethod, action: Action, names: dict[type, str], live: set[str]) -> ActionSurface:
    name = title(method, action)
    selectors = {action.selector or method.selectors[0]: action.name}
    if action.variant is not None:
        selectors[action.variant[0]] = action.variant[1]
    described = offered_fields(name, action, names)
    reply = request_type(read_type(action.reply), names)
    paging, record = describe_paging(action, names)
    return ActionSurface(
        title=name,
        path=method.name,
        method=METHOD_NAMES.get(name, snake_case(name.removeprefix(f"{method.name}-"))),
        selectors=selectors,
        summary=action.summary,
        description="" if describe(action.request) == "Has no fields." else describe(action.request),
        scope=describe_scope(method, action),
        fields=tuple(without_variants(method, action, described)),
        writes=writes(action),
        repeat=repeat_of(action),
        accepts_idempotency_key=isinstance(action, Write) and action.accepts_idempotency_key,
        reply=reply,
        paging=paging,
        record=record,
        newest_first=paging != "none" and name not in OLDEST_FIRST,
        test_only=name not in live,
        example=dict(action.example),
        example_reply=load_reference_data("replies").get(name),
    )


def describe_scope(method: ApiMethod, action: Action) -> str:
    """Returns the sentence about the scope that a key needs. Contract: keys#scopes"""
    scope = get_scope(method, action)
    if scope == "any":
        return "Any key may be used."
    return f"Needs a key of scope `{scope}`{' or `read`' if only_shows(action) and scope != 'read' else ''}."


def offered_fields(name: str, action: Action, names: dict[type, str]) -> Iterator[Field]:
    """Yields the fields of a request that a client offers."""
    for declared in fields_of(action.request):
        field = describe_field(action.request, declared, names, is_reply=False)
        full_name = f"{name}.{field.wire_name}"
        has_no_dry_run = REFUSE_DRY_RUN in action.rules or name.partition("-")[0] in PATHS_WITHOUT_DRY_RUN
        is_refused = field.wire_name == "dry_run" and has_no_dry_run
        if is_refused or (LEFT_OUT_FIELDS & {field.wire_name, full_name} and full_name not in OBJECT_LIMITS):
            continue
        yield field._replace(required=field.required or full_name in REQUIRED_FIELDS)


def without_variants(method: ApiMethod, action: Action, fields: Iterator[Field]) -> Iterator[Field]:
    """Yields the fields of a request without the values that select another action of the same name."""
    taken = {other.variant for other in method.actions if other.name == action.name and other.variant is not None}
    own = {action.variant[0]} if action.variant is not None else set()
    for field in fields:
        if field.wire_name in own:
            continue
        values = tuple(value for value in field.type.values if (field.wire_name, value) not in taken)
        if values or not field.type.values:
            yield field._replace(type=field.type._replace(values=values))


def writes(action: Action) -> bool:
    return isinstance(action, Write) or (isinstance(action, AdminCommand) and action.writes)


def repeat_of(action: Action) -> Repeat:
    if not writes(action):
        return "read"
    if not isinstance(action, Write):
        return "never"
    if not action.accepts_idempotency_key:
        # An action that only reads without one of its fields may be repeated with it too: it shows more, and audits it.
        return "read" if action.read_only_without else "never"
    has_order_ref = any(field.encode_name == "orderRef" for field in fields_of(action.request))
    return "order_ref" if has_order_ref else "idempotency_key"


def describe_paging(action: Action, names: dict[type, str]) -> tuple[Paging, str]:
    """Returns how a list continues, and the name of its records' type."""
    reply, asked = read_type(action.reply), {field.encode_name for field in fields_of(action.request)}
    if isinstance(reply, inspect.ListType) and "offset" in asked:
        [record] = objects_in(reply)
        return "array", names[record]
    if isinstance(reply, inspect.StructType):
        shown = {field.encode_name: field.type for field in reply.fields}
        paging: Paging = "offset" if {"offset", "limit", "total"} <= set(shown) else "none"
        paging = "feed" if {"last", "more"} <= set(shown) else paging
        # A statement has a cursor too, but is more than a list.
        paging = "cursor" if set(shown) == {"status", "data", "next_cursor"} else paging
        if paging != "none":
            [record] = objects_in(shown["data"])
            return paging, names[record]
    return "none", ""
