"""What the console asks of itself, as the API's requests and replies are: lists that only its pages show."""

from typing import Literal

import msgspec

from kasuwa.core.fields import Limit, Offset


class PageRequest(msgspec.Struct, kw_only=True):
    offset: Offset | None = None
    limit: Limit | None = None


class BeneficiaryLine(msgspec.Struct, kw_only=True):
    ref_code: str
    name: str
    bank_code: str
    account_number: str
    created_at: str


class BeneficiariesReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[BeneficiaryLine]
    total: int
    offset: int
    limit: int
