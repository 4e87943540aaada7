"""Checks a transfer against the merchant's policy for money out, and counts it.

Only merchants that have a policy get here. All transfers of a merchant are decided one after the other, so the counters
are exact. Contract: keys#approvals, keys#velocity
"""

from datetime import UTC, datetime

import msgspec

from kasuwa.core.decision import (
    Context,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.methods.disburse.model import WALLET, TransferDetail, TransferJobData
from kasuwa.methods.disburse.payout_model import (
    PayoutCounter,
    add_to_counter,
    find_counter,
    take_from_counter,
)
from kasuwa.terms.payouts import (
    EVERYTHING,
    PayoutRules,
    PayoutTerms,
    WindowLimits,
    beneficiary_subject,
    client_subject,
    counter_key,
)
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction


class ClientLimits(msgspec.Struct, frozen=True):
    """The client that a transfer is for, and its KYC tier."""

    client_id: str
    tier: str


class CheckedPayout(msgspec.Struct, frozen=True):
    """The result of a check: why a transfer must wait, and the counters with the transfer."""

    reasons: tuple[str, ...] = ()
    counters: tuple[PayoutCounter, ...] = ()
    client_id: str = ""


# Of a merchant without a policy.
UNCHECKED = CheckedPayout()


def list_subjects(bank_code: str, account_number: str, client_id: str = "") -> tuple[str, ...]:
    """Returns the subjects whose counters a transfer belongs to."""
    common = (EVERYTHING, beneficiary_subject(bank_code, account_number))
    return (*common, client_subject(client_id)) if client_id else common


def need_counters(
    merchant: Merchant, bank_code: str, account_number: str, client_id: str = ""
) -> tuple[tuple[type[Row], bytes], ...]:
    """Returns the counters that `check_payout` reads; none if the merchant has no policy."""
    if merchant.terms(PayoutTerms).rules is None:
        return ()
    subjects = list_subjects(bank_code, account_number, client_id)
    return tuple((PayoutCounter, counter_key(merchant.merchant_id, subject)) for subject in subjects)


def check_payout(
    order: TransferDetail,
    amount: int,
    context: Context,
    rows: LoadedRows,
    *,
    is_bulk: bool = False,
    client: ClientLimits | None = None,
) -> CheckedPayout | Refusal:
    """Checks a new transfer. Returns the refusal if a limit refuses it. The wallet is not checked here.

    What a client is sent, for a loan or from savings, never waits for approval: limits alone apply to it.
    """
    rules = context.merchant.terms(PayoutTerms).rules
    if rules is None:
        return UNCHECKED
    client_id = "" if client is None else client.client_id
    subjects = list_subjects(order.bank_code, order.account_number, client_id)
    before = [find_counter(context.merchant.merchant_id, subject, context.now, rows) for subject in subjects]
    exceeded = find_exceeded(rules, before, amount, "" if client is None else client.tier)
    if exceeded and (client is not None or not rules.is_limit_approvable):
        return refuse_fields(FieldError("amount", f"beyond the limit {'; '.join(exceeded)}"))
    counters = tuple(add_to_counter(counter, amount) for counter in before)
    if client is not None:
        return CheckedPayout((), counters, client_id)
    everything, beneficiary = before[:2]
    reasons = [f"beyond the limit {limit}" for limit in exceeded]
    if rules.approve_above is not None and amount > rules.approve_above:
        reasons.append(f"the amount is above {format_minor(rules.approve_above)}")
    if rules.approve_daily_above is not None and everything.day_amount + amount > rules.approve_daily_above:
        reasons.append(f"the day's total is above {format_minor(rules.approve_daily_above)}")
    if rules.approve_new_beneficiary and beneficiary.paid_at is None:
        reasons.append("the beneficiary was never paid before")
    if rules.approve_bulk and is_bulk:
        reasons.append("it is part of a bulk")
    return CheckedPayout(tuple(reasons), counters)


def check_client_payout(
    order: TransferDetail, amount: int, client: ClientLimits, context: Context, rows: LoadedRows
) -> CheckedPayout | Refusal | NeedsMore:
    """Checks what a client is sent, for a loan or from savings, or asks for the counters first."""
    needs = need_counters(context.merchant, order.bank_code, order.account_number, client.client_id)
    if not all(rows.is_loaded(key) for _, key in needs):
        return NeedsMore(Needs(needs))
    return check_payout(order, amount, context, rows, client=client)


def find_exceeded(rules: PayoutRules, counters: list[PayoutCounter], amount: int, tier: str) -> list[str]:
    """Returns the limits that a transfer exceeds, by name."""
    limits = [("", rules.limits), ("beneficiary ", rules.beneficiary_limits)]
    if tier:
        limits.append((f"tier {tier} ", rules.tier_limits.get(tier, WindowLimits())))
    return [
        f"{prefix}{exceeded}"
        for (prefix, bound), counter in zip(limits, counters, strict=True)
        for exceeded in counter.find_exceeded(bound, amount)
    ]


# --- the end of a transfer ------------------------------------------------------------------------------------------


def need_counted(merchant_id: int, data: TransferJobData) -> tuple[tuple[type[Row], bytes], ...]:
    """Returns the counters that counted a transfer."""
    if not data.counted_at:
        return ()
    subjects = list_subjects(data.order.bank_code, data.order.account_number, data.counted_client)
    return tuple((PayoutCounter, counter_key(merchant_id, subject)) for subject in subjects)


def makes_known(merchant: Merchant, data: TransferJobData) -> bool:
    """Whether a transfer that no counter counted makes its beneficiary known: one that was begun before there was a
    policy. Parts of splits and cash-outs of savings, which are not paid by the wallet, are not meant."""
    rules = merchant.terms(PayoutTerms).rules
    is_asked = rules is not None and rules.approve_new_beneficiary
    return is_asked and not data.counted_at and data.order.source_account == WALLET


def need_beneficiary(merchant: Merchant, data: TransferJobData) -> tuple[tuple[type[Row], bytes], ...]:
    """Returns the counter of the beneficiary, if a transfer makes it known without being counted."""
    if not makes_known(merchant, data):
        return ()
    subject = beneficiary_subject(data.order.bank_code, data.order.account_number)
    return ((PayoutCounter, counter_key(merchant.merchant_id, subject)),)


def settle_counters(
    row: Transaction, data: TransferJobData, context: Context, rows: LoadedRows
) -> tuple[PayoutCounter, ...]:
    """Returns the counters after a transfer has ended: a failed one is taken off, the beneficiary of another is known
    from then on."""
    if row.status == SUCCESSFUL:
        if not (data.counted_at or makes_known(context.merchant, data)):
            return ()
        subject = beneficiary_subject(data.order.bank_code, data.order.account_number)
        beneficiary = find_counter(row.merchant_id, subject, context.now, rows)
        return () if beneficiary.paid_at else (msgspec.structs.replace(beneficiary, paid_at=context.now),)
    if not data.counted_at:
        return ()
    subjects = list_subjects(data.order.bank_code, data.order.account_number, data.counted_client)
    counters = [find_counter(row.merchant_id, subject, context.now, rows) for subject in subjects]
    counted_at = datetime.fromtimestamp(data.counted_at, UTC)
    return tuple(take_from_counter(counter, row.amount, counted_at) for counter in counters)
