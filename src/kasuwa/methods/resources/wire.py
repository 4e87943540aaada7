"""What `PUT /resources` takes and answers. (api.md, D3, D36, D41)"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType, field

from kasuwa.core.fields import AccountNumber, BankCode


class BanksRequest(msgspec.Struct):
    """Nothing more is asked."""


class WalletRequest(msgspec.Struct):
    """Nothing more is asked."""


class AccountNameRequest(msgspec.Struct, kw_only=True):
    account_number: AccountNumber = field(name="accountnumber")
    bank_code: BankCode = field(name="bankcode")


class AccountName(msgspec.Struct, kw_only=True):
    account_name: str


class AccountNameReply(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`status` is a text here: success, or error where there is no such account."""

    status: Literal["success", "error"]
    resolved: bool
    data: AccountName | UnsetType = UNSET
    error: str | UnsetType = UNSET
    message: str | UnsetType = UNSET


class WalletLine(msgspec.Struct, kw_only=True):
    currency: str
    balance: str
    available: str
    held: str


class WalletReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[WalletLine]
