"""The limits by tier of a client: checked where money comes to the client and where it is paid out.

They apply only to merchants whose settings turn them on; of others nothing is loaded or counted. All writes of a
merchant are decided one after the other, so that what is counted is exact. Contract: clients#tiers
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import (
    Context,
    FieldError,
    LoadedRows,
    Needs,
    NeedsMore,
    Refusal,
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import Client, client_key, spent_today
from kasuwa.methods.clients.rules.find_tier import find_tier
from kasuwa.terms.client_tiers import TierTerms
from kasuwa.terms.conversion import HOME

BEYOND_LIMIT = refuse_fields(FieldError("amount", "beyond the limits of the client's tier", "beyond_tier_limit"))
BEYOND = "beyond the limits of tier {tier}: {limit}"
SINGLE_DEPOSIT = "a deposit is at most {most}"
BALANCE = "the client may hold at most {most}, and holds {before}"
DAILY = "at most {most} is paid out in a day, of which {before} was today"


def find_client(client_id: str, context: Context, rows: LoadedRows) -> Client | NeedsMore:
    key = client_key(context.merchant.merchant_id, client_id)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((Client, key),)))
    client = rows.get(Client, key)
    assert client is not None, client_id
    return client


def list_accounts(client: Client) -> list[str]:
    """Returns the accounts of what a client holds."""
    savings = [chart.savings(savings_id) for savings_id in client.savings_ids]
    return [*savings, *(chart.card(short_id, HOME) for short_id in client.card_ids)]


def need_balances(client: Client) -> Needs:
    return Needs(tuple((Account, account_key(client.merchant_id, name)) for name in list_accounts(client)))


def sum_balances(client: Client, rows: LoadedRows) -> int:
    """Returns what a client holds, with what cash-outs in progress hold of it."""
    accounts = [rows.get(Account, key) for _, key in need_balances(client).rows]
    return sum(account.posted for account in accounts if account is not None)


def find_excess(client_id: str, amount: int, context: Context, rows: LoadedRows, *accounts: str) -> str | NeedsMore:
    """Returns the limit that a deposit exceeds, in words. Empty if it exceeds none. `accounts` are loaded with those
    of the client, for a caller that holds the money: a rule has few rounds to ask for rows."""
    terms = context.merchant.terms(TierTerms)
    if not terms.are_on:
        return ""
    client = find_client(client_id, context, rows)
    if isinstance(client, NeedsMore):
        return client
    needs = need_balances(client)
    wanted = [key for _, key in needs.rows] + [account_key(client.merchant_id, name) for name in accounts]
    if not all(rows.is_loaded(key) for key in wanted):
        return NeedsMore(Needs(needs.rows, accounts))
    tier = find_tier(client, context.vault.unseal)
    limits, before = terms.by_tier[tier], sum_balances(client, rows)
    if limits.single_deposit is not None and amount > limits.single_deposit:
        return BEYOND.format(tier=tier, limit=SINGLE_DEPOSIT.format(most=format_minor(limits.single_deposit)))
    if limits.balance is not None and before + amount > limits.balance:
        texts = {"most": format_minor(limits.balance), "before": format_minor(before)}
        return BEYOND.format(tier=tier, limit=BALANCE.format(**texts))
    return ""


def check_deposit(client_id: str, amount: int, context: Context, rows: LoadedRows) -> Refusal | NeedsMore | None:
    """Returns the refusal of a deposit beyond the limits of its client's tier, or None."""
    excess = find_excess(client_id, amount, context, rows)
    if isinstance(excess, NeedsMore):
        return excess
    return refuse_beyond(excess) if excess else None


def check_spending(client_id: str, amount: int, context: Context, rows: LoadedRows) -> Refusal | NeedsMore | None:
    """Returns the refusal of a payment to a client, or of a purchase, that is beyond the day's limit, or None."""
    terms = context.merchant.terms(TierTerms)
    if not terms.are_on:
        return None
    client = find_client(client_id, context, rows)
    if isinstance(client, NeedsMore):
        return client
    tier = find_tier(client, context.vault.unseal)
    most, before = terms.by_tier[tier].daily, spent_today(client, lagos_day(context.now))
    if most is None or before + amount <= most:
        return None
    texts = {"most": format_minor(most), "before": format_minor(before)}
    return refuse_beyond(BEYOND.format(tier=tier, limit=DAILY.format(**texts)))


def refuse_beyond(excess: str) -> Refusal:
    fault = FieldError("amount", excess, "beyond_tier_limit")
    return msgspec.structs.replace(BEYOND_LIMIT, message=f"amount: {excess}", field_errors=(fault,))
