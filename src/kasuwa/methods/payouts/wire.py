"""Requests and replies of `resources` about payouts by schedule. Contract: resources#payouts"""

from typing import Literal

import msgspec
from msgspec import field

from kasuwa.methods.payouts.model import Frequency
from kasuwa.wire.fields import AccountNumber, AmountOrZero, BankCode


class ScheduleRequest(msgspec.Struct, kw_only=True):
    """Sets when the NGN wallet is paid out to your own bank account, or ends that."""

    frequency: Frequency
    """`daily`, `weekly` (Mondays), `monthly` (the first), `above` (every day on which the wallet has at least `least`),
    or `off`. Payouts are made at 09:00 in Lagos."""
    least: AmountOrZero | None = None
    "A smaller balance is not paid out. Required with `above`. Default 0."
    bank_code: BankCode | None = field(name="bankcode", default=None)
    "Bank of your account. Required with the first schedule; later ones keep it."
    account_number: AccountNumber | None = field(name="accountnumber", default=None)
    "Number of your account. Required with the first schedule; later ones keep it."


class ScheduleReadRequest(msgspec.Struct, kw_only=True):
    """Reads the schedule of payouts."""


class ScheduleView(msgspec.Struct, kw_only=True):
    """The schedule of payouts."""

    frequency: Frequency
    "When the wallet is paid out. `off` if it is not."
    least: str
    "A smaller balance is not paid out."
    currency: str
    "Currency of the wallet that is paid out."
    bank_code: str | None = field(name="bankcode")
    "Bank of the account. Null before the first schedule."
    account_number: str | None = field(name="accountnumber")
    "Number of the account. Null before the first schedule."
    next_payout: str | None
    "Time of the next payout, in UTC. Null if there is none."
    last_payout: str | None
    "The `txnRef` of the last payout. Null before the first."


class ScheduleReply(msgspec.Struct, kw_only=True):
    """The schedule of payouts."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: ScheduleView
    "The schedule."
