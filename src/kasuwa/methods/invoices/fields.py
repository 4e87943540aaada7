"""Field types of invoices: due dates in two forms, and whether parts may be paid."""

import re
from datetime import date
from typing import Annotated, Any

from msgspec import Meta

from kasuwa.core.calendar import is_in_range
from kasuwa.wire.fields import (
    FREE_TEXT,
    CustomFieldType,
    PercentOrAmount,
    number_text,
    read_percent_or_amount,
    scalar_schema,
)

ItemText = Annotated[
    str, Meta(min_length=1, max_length=200, pattern=r"\S", description="1 to 200 characters", extra=FREE_TEXT)
]
Note = Annotated[str, Meta(max_length=1000, description="at most 1000 characters", extra=FREE_TEXT)]

DUE_DATE_REASON = "a date as YYYY-MM-DD or DD-MM-YYYY"
DUE_DATE_PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{2}-[0-9]{2}-[0-9]{4}"
DUE_DATE_TEXT = re.compile(DUE_DATE_PATTERN, re.ASCII)


class DueDate(str, CustomFieldType):
    """A calendar date, kept as YYYY-MM-DD. On the wire also DD-MM-YYYY. Contract: resources#invoices"""

    __slots__ = ()

    @classmethod
    def read(cls, raw: Any) -> "DueDate":
        text = raw if isinstance(raw, str) and DUE_DATE_TEXT.fullmatch(raw) else ""
        if text[2:3] == "-":
            text = f"{text[6:]}-{text[3:5]}-{text[:2]}"
        try:
            day = date.fromisoformat(text)
        except ValueError:
            raise ValueError(DUE_DATE_REASON) from None
        if not is_in_range(day):
            raise ValueError(DUE_DATE_REASON)
        return cls(day.isoformat())

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^({DUE_DATE_PATTERN})$", "description": DUE_DATE_REASON}


IN_FULL = "full"
IN_PARTS = "parts"
FULL_SPELLINGS = ("full", "no", "false", "0")
PARTS_SPELLINGS = ("parts", "part", "partial", "yes", "true", "1")
CHARGE_USER_REASON = "parts (also yes, true or 1) or full (also no, false or 0)"


class ChargeUser(str, CustomFieldType):
    """Whether an invoice is paid in full or in parts of the payer's choice. Contract: resources#charge-user"""

    __slots__ = ()

    @classmethod
    def read(cls, raw: Any) -> "ChargeUser":
        text = str(raw).lower() if isinstance(raw, bool) else (number_text(raw) or "").lower()
        if text in PARTS_SPELLINGS:
            return cls(IN_PARTS)
        if text in FULL_SPELLINGS:
            return cls(IN_FULL)
        raise ValueError(CHARGE_USER_REASON)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        texts = {"type": "string", "enum": [*PARTS_SPELLINGS, *FULL_SPELLINGS]}
        return {
            "anyOf": [texts, {"type": "boolean"}, {"type": "integer", "enum": [0, 1]}],
            "description": CHARGE_USER_REASON,
        }


NO_DISCOUNT = "0"


class Discount(str, CustomFieldType):
    """A percentage or an amount, kept as text. `false` means none. Contract: resources#invoice-amounts"""

    __slots__ = ()

    @classmethod
    def read(cls, raw: Any) -> "Discount":
        return cls(NO_DISCOUNT if raw is False else read_percent_or_amount(raw))

    @classmethod
    def schema(cls) -> dict[str, Any]:
        number = scalar_schema(PercentOrAmount)
        return {**number, "anyOf": [*number["anyOf"], {"type": "boolean", "const": False}]}


DISCOUNT_TYPES = {"flat": "flat", "fixed": "flat", "percentage": "percentage", "percent": "percentage"}
DISCOUNT_TYPE_REASON = "flat or percentage"


class DiscountType(str, CustomFieldType):
    """Whether a discount is an amount or a percentage. In any case; also `fixed` and `percent`."""

    __slots__ = ()

    @classmethod
    def read(cls, raw: Any) -> "DiscountType":
        name = DISCOUNT_TYPES.get(raw.lower()) if isinstance(raw, str) else None
        if name is None:
            raise ValueError(DISCOUNT_TYPE_REASON)
        return cls(name)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {"type": "string", "enum": list(DISCOUNT_TYPES), "description": DISCOUNT_TYPE_REASON}
