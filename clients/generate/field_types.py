"""Describes the types of request and reply fields in the terms of a client: amounts, times, choices, objects.

The service writes an amount or a time of a reply as a text. A client wants a decimal or a datetime, so replies name
here which texts those are. tests/clients checks the tables against the recorded replies.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import inspect

from kasuwa.core.money import CURRENCIES
from kasuwa.methods.checkout.field_types import LINK_TYPES, Flag, LinkType, Slug
from kasuwa.methods.disputes.model import FileContent
from kasuwa.methods.invoices.fields import IN_FULL, IN_PARTS, ChargeUser, Discount, DiscountType, DueDate
from kasuwa.methods.invoices.rules.amounts import FLAT, PERCENTAGE
from kasuwa.methods.sandbox.world_file import WorldFile
from kasuwa.methods.tickets.fields import TicketCode
from kasuwa.wire.documents import Document
from kasuwa.wire.fields import (
    Amount,
    AmountOrZero,
    CardNumber,
    CardPrefix,
    ChosenCurrency,
    Currency,
    LagosDate,
    NonNegativeInt,
    PercentOrAmount,
    PercentRate,
    Probability,
    Timestamp,
)
from kasuwa.wire.people import Bvn, DateText, Phone

FieldKind = Literal[
    "text",
    "integer",
    "boolean",
    "any",  # any JSON value
    "amount",  # money in major units: a decimal text on the wire
    "decimal",  # another exact number: a rate, a percentage, a probability
    "time",  # an instant, ISO 8601 with a zone
    "date",  # YYYY-MM-DD
    "choice",  # one of `values`
    "object",  # the object type `name`
    "document",  # an object of the merchant's own making, with the known fields of the object type `name` if it has one
    "list",  # of `item`
    "map",  # from text to `item`
    "union",  # one of `options`
]


class FieldType(NamedTuple):
    """The type of a field. Which of the attributes are set depends on the kind."""

    kind: FieldKind
    values: tuple[Any, ...] = ()  # of a choice, as on the wire
    name: str = ""  # of an object or document: key of Surface.types
    item: "FieldType | None" = None  # of a list or map
    options: tuple["FieldType", ...] = ()  # of a union


# Fields of replies that are written as a text or a JSON number and hold money. A name that means something else
# elsewhere has its struct before it, here and in the lists below.
AMOUNT_FIELDS = frozenset(
    {
        "amount",
        "fee",
        "vat",
        "commission",
        "balance",
        "available",
        "held",
        "paid",
        "returned",
        "total",
        "credit",
        "chargedAmount",
        "refundedAmount",
        "overdue",
        "refunded_amount",
        "refundableAmount",
        "unappliedAmount",
        "total_charge",
        "settled",
        "principal",
        "interest",
        "tax",
        "penalty",
        "payoff",
        "accrued_interest",
        "charges",
        "waived",
        "dividend_tax",
        "shares_bought",
        "shares_redeemed",
        "dividends",
        "CollateralRecord.value",
        "ProductLoans.lent",
        "SheetLine.arrears",
        "SheetLine.installment",
        "SheetLine.due",
        "SheetTotals.arrears",
        "SheetTotals.installment",
        "SheetTotals.due",
        "net_amount",
        "credited",
        "AmountRangeRecord.min",
        "AmountRangeRecord.max",
        "AmountRangeRecord.default",
        "capital",
        "price",
        "shortfall",
        "called",
        "unlocked",
        "withheld_tax",
        "effect",
        "thrift_paid",
        "thrift_received",
        "contributed",
        "received",
        "owed",
        "per_transaction",
        "per_day",
        "per_month",
        "duty",
        "opening_balance",
        "closing_balance",
        "refunded",
        "subtotal",
        "shipping",
        "outstanding",
        "gross",
        "split",
        "refunds",
        "disputes",
        "reserve",
        "net",
        "paid_out",
        "least",
        "disputedAmount",
        "amount_due",
        "paid_of_due",
        "collected",
        "written_off",
        "recovered",
        "days_7",
        "days_30",
        "provision",
    }
)
DECIMAL_FIELDS = frozenset(
    {
        "interestRate",
        "tax_rate",
        "penalty_rate",
        "discount",
        "discount_rate",
        "vat_rate",
        "share",
        "AgreedChargeRecord.percent",
        "AgreedChargeRecord.vat",
        "PenaltyRecord.rate",
        "RateRangeRecord.min",
        "RateRangeRecord.max",
        "RateRangeRecord.default",
    }
)
TIME_FIELDS = frozenset(
    {
        "business_time",
        "dateCreated",
        "dateChanged",
        "dateJoined",
        "filed_at",
        "recorded_at",
        "undone_at",
        "dateErased",
        "changed_at",
        "sent_at",
        "proposed_at",
        "dateDecided",
        "dateDeclared",
        "dateReleased",
        "dateReturned",
        "dateClosed",
        "respond_by",
        "next_payout",
        "next_event",
        "expires_at",
        "opened_at",
        "matures_at",
        "created_at",
        "disbursed_at",
        "closed_at",
        "next_charge",
        "now",
        "until",
        "at",
        "dateEnded",
        "expires",
        "datePaid",
        "paid_at",
        "voided_at",
        "used_at",
        "ended_at",
        "made_at",
        "last_used_at",
        "refused_at",
        "proof_expires",
    }
)
DATE_FIELDS = frozenset(
    {
        "due",
        "day",
        "first_day",
        "last_day",
        "start_date",
        "from_date",
        "dormant_since",
        "since",
        "next_date",
        "payout_date",
        "dob",
        "date_due",
        "as_of",
        "record_date",
        "received_on",
        "SheetRecord.date",
    }
)
# Fields that mean something else than others of their name, and are texts.
TEXT_FIELDS = frozenset({"AutoRepayRecord.at"})  # an hour
NAMED_KINDS: tuple[tuple[frozenset[str], FieldKind], ...] = (
    (AMOUNT_FIELDS, "amount"),
    (DECIMAL_FIELDS, "decimal"),
    (TIME_FIELDS, "time"),
    (DATE_FIELDS, "date"),
)

TEXT = FieldType("text")
SCALARS: dict[type, FieldType] = {
    Amount: FieldType("amount"),
    AmountOrZero: FieldType("amount"),
    PercentOrAmount: FieldType("decimal"),
    PercentRate: FieldType("decimal"),
    Probability: FieldType("decimal"),
    NonNegativeInt: FieldType("integer"),
    Timestamp: FieldType("time"),
    LagosDate: FieldType("date"),
    DateText: FieldType("date"),
    Currency: FieldType("choice", values=CURRENCIES),
    Flag: FieldType("boolean"),
    LinkType: FieldType("choice", values=tuple(dict.fromkeys(LINK_TYPES.values()))),
    Slug: TEXT,
    CardNumber: TEXT,
    FileContent: TEXT,
    WorldFile: TEXT,
    CardPrefix: TEXT,
    Bvn: TEXT,
    Phone: TEXT,
    TicketCode: TEXT,
    DueDate: FieldType("date"),
    Discount: FieldType("decimal"),
    ChargeUser: FieldType("choice", values=(IN_FULL, IN_PARTS)),
    DiscountType: FieldType("choice", values=(FLAT, PERCENTAGE)),
}


def request_type(declared: inspect.Type, names: dict[type, str]) -> FieldType:
    """Returns the type of a request field. `names` has the name of each object type."""
    found = tuple(_plain_types(declared, names))
    return found[0] if len(found) == 1 else FieldType("union", options=found)


def reply_type(wire_name: str, declared: inspect.Type, names: dict[type, str]) -> FieldType:
    """Returns the type of a reply field. Texts and numbers that hold money or a time are recognized by their name."""
    found = tuple(_plain_types(declared, names))
    if all(option.kind in ("text", "decimal", "integer") for option in found) and not _is_count(found):
        for fields, kind in NAMED_KINDS:
            if wire_name in fields:
                return FieldType(kind)
    return found[0] if len(found) == 1 else FieldType("union", options=found)


def is_nullable(declared: inspect.Type) -> bool:
    options = declared.types if isinstance(declared, inspect.UnionType) else (declared,)
    return any(isinstance(option, inspect.NoneType) for option in options)


def objects_in(declared: inspect.Type) -> Iterator[type[msgspec.Struct]]:
    """Yields the structs that a type refers to, without those inside them."""
    if isinstance(declared, inspect.Metadata):
        referred = (declared.extra_json_schema or {}).get("$ref", "")
        if not referred:
            yield from objects_in(declared.type)
    elif isinstance(declared, inspect.UnionType):
        for option in declared.types:
            yield from objects_in(option)
    elif isinstance(declared, inspect.ListType):
        yield from objects_in(declared.item_type)
    elif isinstance(declared, inspect.DictType):
        yield from objects_in(declared.value_type)
    elif isinstance(declared, inspect.StructType):
        yield declared.cls
    elif isinstance(declared, inspect.CustomType) and issubclass(declared.cls, Document) and declared.cls.known_struct:
        yield declared.cls.known_struct


def _is_count(options: tuple[FieldType, ...]) -> bool:
    """Returns whether a field is a whole number: `total` of a page counts records."""
    return [option.kind for option in options] == ["integer"]


def _plain_types(declared: inspect.Type, names: dict[type, str]) -> Iterator[FieldType]:
    """Yields the options of a type, without null."""
    if isinstance(declared, inspect.UnionType):
        for option in declared.types:
            yield from _plain_types(option, names)
    elif isinstance(declared, inspect.Metadata):
        referred = (declared.extra_json_schema or {}).get("$ref", "").rpartition("/")[2]
        if referred:
            yield FieldType("object", name=_name_of(referred, names))
        else:
            yield from _plain_types(declared.type, names)
    elif not isinstance(declared, inspect.NoneType):
        yield _plain_type(declared, names)


def _plain_type(declared: inspect.Type, names: dict[type, str]) -> FieldType:
    match declared:
        case inspect.LiteralType(values=values):
            return FieldType("choice", values=tuple(values))
        case inspect.ListType(item_type=item):
            return FieldType("list", item=request_type(item, names))
        case inspect.DictType(value_type=value):
            return FieldType("map", item=request_type(value, names))
        case inspect.StructType(cls=struct):
            return FieldType("object", name=names[struct])
        case inspect.CustomType(cls=custom):
            return _custom_type(custom, names)
        case inspect.StrType():
            return TEXT
        case inspect.IntType():
            return FieldType("integer")
        case inspect.FloatType():
            return FieldType("decimal")
        case inspect.BoolType():
            return FieldType("boolean")
        case inspect.AnyType() | inspect.RawType():
            return FieldType("any")
    raise TypeError(f"no client type for {declared}")


def _custom_type(custom: type, names: dict[type, str]) -> FieldType:
    if issubclass(custom, Document):
        return FieldType("document", name="" if custom.known_struct is None else names[custom.known_struct])
    if issubclass(custom, ChosenCurrency):
        return FieldType("choice", values=custom.allowed)
    return SCALARS[custom]


def _name_of(struct_name: str, names: dict[type, str]) -> str:
    """Returns the client's name of a struct that a schema refers to by its own name."""
    [found] = [name for struct, name in names.items() if struct.__name__ == struct_name]
    return found
