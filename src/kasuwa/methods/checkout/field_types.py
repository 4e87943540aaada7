"""Field types of payment links, which public clients spell in several ways. Contract: resources#paylinks"""

import re
from typing import Any

from kasuwa.wire.body import NumberLiteral
from kasuwa.wire.fields import CustomFieldType

FLAGS = {"yes": 1, "true": 1, "1": 1, "on": 1, "no": 0, "false": 0, "0": 0, "off": 0}
FLAG_REASON = "true or false, also as yes or no, or 1 or 0"


class Flag(int, CustomFieldType):
    """A truth value. On the wire true or false, or one of their spellings as text or number."""

    __slots__ = ()

    @classmethod
    def read(cls, raw: Any) -> "Flag":
        text = raw.text if isinstance(raw, NumberLiteral) else str(raw).strip().lower()
        if not isinstance(raw, bool | int | str | NumberLiteral) or text not in FLAGS:
            raise ValueError(FLAG_REASON)
        return cls(FLAGS[text])

    @classmethod
    def schema(cls) -> dict[str, Any]:
        spelled = {"type": "string", "enum": sorted(FLAGS)}
        return {
            "anyOf": [{"type": "boolean"}, {"type": "integer", "enum": [0, 1]}, spelled],
            "description": FLAG_REASON,
        }


LINK_TYPES = {
    "one_time": "one_time",
    "onetime": "one_time",
    "single": "one_time",
    "fixed": "one_time",
    "recurring": "recurring",
    "subscription": "recurring",
}
LINK_TYPE_REASON = "one_time (also onetime, single, fixed) or recurring (also subscription)"


class LinkType(str, CustomFieldType):
    """The type of a payment link: one_time or recurring, or one of their synonyms."""

    __slots__ = ()

    @classmethod
    def read(cls, raw: Any) -> "LinkType":
        name = raw.strip().lower() if isinstance(raw, str) else ""
        if name not in LINK_TYPES:
            raise ValueError(LINK_TYPE_REASON)
        return cls(LINK_TYPES[name])

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {"type": "string", "enum": list(LINK_TYPES), "description": LINK_TYPE_REASON}


SLUG = re.compile("[a-z0-9-]{3,60}", re.ASCII)
SLUG_REASON = "3 to 60 of a-z, 0-9 and -"


class Slug(str, CustomFieldType):
    """The last part of a payment link's address."""

    __slots__ = ()

    @classmethod
    def read(cls, raw: Any) -> "Slug":
        if not isinstance(raw, str) or not SLUG.fullmatch(raw):
            raise ValueError(SLUG_REASON)
        return cls(raw)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {"type": "string", "pattern": "^[a-z0-9-]{3,60}$", "description": SLUG_REASON}
