"""Every reply is bounded: it is a page of a list, holds no list at all, or what bounds its lists is named here."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from kasuwa.core.paging import Paged, PagedArray
from kasuwa.methods.resources.wire import FeedReply
from tests.walk.rows import ROWS, Row

# Lists in replies that are no pages, by row and place: what bounds them.
SCHEDULE = "one line an installment: at most 366"
FIGURES = "one line a figure, and those of a schedule: at most 366"
CLIENT = {"data.addresses": "at most 20", "data.bankAccount": "as it was sent", "data.meta": "as it was sent"}
PLANS = {"data.plans": "the ids of the thrift plans that the savings are in"}
INSTALLMENTS = {"data.payment_schedule": "one line a date: at most 120"}
CATEGORIES = "at most 50 categories of shops"
BOUNDS: dict[str, dict[str, str]] = {
    "disburse-transfer-bulk": {"data": "as many lines as orders: at most 1,000"},
    "disburse-verify": {"data": "as many lines as the bulk has orders: at most 1,000"},
    "payment-verify": {"meta": "as it was sent", "refunds": "the newest 200 (payment/store.py)"},
    "bills-pull": dict.fromkeys(("data.categories", "data.bills", "data.items"), "the catalogue of billers"),
    **dict.fromkeys(("clients-create", "clients-update", "clients-view"), CLIENT),
    **{
        key: {"data.schedule": SCHEDULE, "explained": FIGURES}
        for key in ("loans-request", "loans-process", "loans-repay", "loans-view")
    },
    **dict.fromkeys(("investments-create_savings", "investments-view_savings"), PLANS),
    **{
        key: {"explained": FIGURES}
        for key in (
            "investments-deposit",
            "investments-cashout",
            "investments-cashout-cashcode",
            "investments-subscribe",
        )
    },
    **{key: {"limits.categories": CATEGORIES} for key in ("virtualcard-create", "virtualcard-get")},
    "virtualcard-limits": {"data.categories": CATEGORIES},
    "resources-banks": {"": "the list of banks"},
    "resources-supported_chargable_banks": {"data": "the list of banks"},
    "resources-wallet": {"data": "one line a currency"},
    **dict.fromkeys(
        ("resources-installments-resume", "resources-installments-pause", "resources-installments-cancel"),
        INSTALLMENTS,
    ),
    "sandbox-explain": {"data": "the newest 1,000 entries, in at most 1 MiB (work/timeline.py)"},
    "sandbox-advance": {"ran": "one count a kind of job"},
}

# What a merchant told with a payment, in every reply of one.
META = {"meta": "as it was sent: at most 64 KiB"}
TELL_PAYMENTS = ("payment-initiate", "payment-charge", "payment-validate", "loans-repay", "loans-validate")
for title in [row.title for row in ROWS]:
    if title.startswith(TELL_PAYMENTS) or title in ("investments-deposit", "investments-validate"):
        BOUNDS[title] = {**META, **BOUNDS.get(title, {})}

GROWING = (
    inspect.ListType,
    inspect.VarTupleType,
    inspect.SetType,
    inspect.FrozenSetType,
    inspect.DictType,
    inspect.AnyType,
    inspect.RawType,
)


def growing(kind: inspect.Type, path: str = "", above: tuple[type, ...] = ()) -> Iterator[str]:
    """Where in a reply's type there may be any number of things."""
    if isinstance(kind, GROWING):
        yield path
    elif isinstance(kind, inspect.Metadata):
        yield from growing(kind.type, path, above)
    elif isinstance(kind, inspect.UnionType):
        for option in kind.types:
            yield from growing(option, path, above)
    elif isinstance(kind, inspect.StructType) and kind.cls not in above:
        for field in kind.fields:
            where = f"{path}.{field.encode_name}" if path else field.encode_name
            yield from growing(field.type, where, (*above, kind.cls))


def is_paged(action: Any) -> bool:
    """Whether the reply is cut to what was asked for and to its bound in bytes (core/paging.py)."""
    if action.reply is FeedReply:
        return True
    if issubclass(action.request, PagedArray):
        return inspect.type_info(action.reply).__class__ is inspect.ListType
    fields = getattr(action.reply, "__struct_fields__", ())
    return issubclass(action.request, Paged) and {"data", "offset", "limit", "total"} <= set(fields)


def unbounded(row: Row) -> tuple[str, ...]:
    if is_paged(row.action):
        return ()
    return tuple(dict.fromkeys(growing(inspect.type_info(row.action.reply))))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_what_bounds_each_reply_is_known(row: Row) -> None:
    assert set(unbounded(row)) == set(BOUNDS.get(row.title, ()))


def test_every_bound_belongs_to_a_row() -> None:
    assert BOUNDS.keys() <= {row.title for row in ROWS}


# --- the check itself --------------------------------------------------------------------------------------------


class Line(msgspec.Struct):
    names: tuple[str, ...]


class Reply(msgspec.Struct):
    status: int
    data: Line | None
    meta: dict[str, str] | msgspec.UnsetType = msgspec.UNSET


def test_lists_are_found_at_every_depth() -> None:
    assert set(growing(inspect.type_info(Reply))) == {"data.names", "meta"}
    assert list(growing(inspect.type_info(list[int]))) == [""]
    assert list(growing(inspect.type_info(int | str))) == []


def test_a_list_that_takes_no_limit_is_not_a_page() -> None:
    listing = next(row for row in ROWS if row.title == "clients-list").action
    plain = msgspec.structs.replace(listing, request=Line)
    assert is_paged(listing)
    assert not is_paged(plain)
    assert unbounded(Row("clients", "action", plain)) == ("data",)
