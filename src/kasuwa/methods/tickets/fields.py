"""Field types of tickets: names of kinds, and codes with their check character."""

from typing import Annotated, Any

from msgspec import Meta

from kasuwa.methods.tickets.ticket_codes import ALPHABET, read_ticket_code
from kasuwa.wire.fields import FREE_TEXT, CustomFieldType

TicketName = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=r"\S", description="1 to 100 characters", extra=FREE_TEXT)
]
TICKET_CODE_REASON = "a ticket code of 12 characters"


class TicketCode(str, CustomFieldType):
    """The code of a ticket with its check character. Case, spaces and dashes do not count."""

    __slots__ = ()

    @classmethod
    def read(cls, raw: Any) -> "TicketCode":
        code = read_ticket_code(raw) if isinstance(raw, str) and len(raw) <= 40 else None
        if code is None:
            raise ValueError(TICKET_CODE_REASON)
        return cls(code)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {
            "type": "string",
            "pattern": f"^[{ALPHABET}{ALPHABET.lower()} -]{{12,40}}$",
            "description": TICKET_CODE_REASON,
        }
