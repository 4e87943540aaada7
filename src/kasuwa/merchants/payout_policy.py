"""Changes a merchant's policy for money out, which is part of its settings. Contract: keys#changing-the-policy"""

from datetime import datetime, timedelta

import msgspec

from kasuwa.core.vault import Vault
from kasuwa.merchants import merchants
from kasuwa.merchants.merchant_settings import MerchantSettings, apply_policy_change
from kasuwa.postgres import row_codes
from kasuwa.postgres.connection_pool import Connection
from kasuwa.terms.payouts import (
    COUNTERS,
    PayoutPolicy,
    PolicyChange,
    beneficiary_subject,
    counter_key,
    hour_and_day,
    is_looser,
)

NOW = "select now()"
PAID_BENEFICIARIES = """
    select detail ->> 'bank_code', detail ->> 'account_number', min(final_at) from transaction
    where merchant_id = $1 and kind = 'transfer' and status = 'successful' group by 1, 2
"""
# The version is raised, because the writer caches rows of the merchant, and that there are none.
ADD_COUNTERS = """
    with added as (
        insert into payout_counter (key, merchant_id, hour_at, hour_count, hour_amount, day_at, day_count, day_amount,
            paid_at)
        select b.key, $1, $4, 0, 0, $5, 0, 0, b.paid_at from unnest($2::bytea[], $3::timestamptz[]) b (key, paid_at)
        on conflict (key, merchant_id) do update set paid_at = coalesce(payout_counter.paid_at, excluded.paid_at))
    update merchant_state set version = version + 1 where merchant_id = $1
"""


async def change_policy(
    connection: Connection, vault: Vault, mid: str, policy: PayoutPolicy, cooling_off: timedelta, by: str
) -> tuple[PayoutPolicy, datetime | None]:
    """Changes the policy, in the caller's transaction. A looser one takes effect after the cooling-off period, so that
    nobody can loosen it and send money at once. Returns the policy before, and when the new one takes effect; None if
    at once. A change that has not taken effect yet is replaced."""
    now = await connection.fetchval(NOW)
    policies: list[PayoutPolicy] = []
    effective: list[datetime | None] = []

    def change(settings: MerchantSettings) -> MerchantSettings:
        settings = apply_policy_change(settings, now)
        waits = cooling_off > timedelta() and is_looser(settings.payouts, policy)
        policies.append(settings.payouts)
        effective.append(now + cooling_off if waits else None)
        if waits:
            return msgspec.structs.replace(settings, payouts_change=PolicyChange(policy, now + cooling_off, by))
        return msgspec.structs.replace(settings, payouts=policy, payouts_change=None)

    await merchants.change_settings(connection, vault, mid, change, is_endpoint_set=False)
    await remember_beneficiaries(connection, vault, mid, policy)
    return policies[0], effective[0]


async def remember_beneficiaries(connection: Connection, vault: Vault, mid: str, policy: PayoutPolicy) -> None:
    """Records who was paid so far, if the policy holds transfers to beneficiaries who were not."""
    if not policy.approve_new_beneficiary:
        return
    merchant_id = await merchants.lock_merchant(connection, mid)
    paid = await connection.fetch(PAID_BENEFICIARIES, merchant_id)
    keys = [counter_key(merchant_id, beneficiary_subject(bank, account)) for bank, account, _ in paid]
    hour, day = hour_and_day(await connection.fetchval(NOW))
    own = "merchant_id = $1 and key = any($2)"
    async with row_codes.changing(connection, vault, COUNTERS, own, merchant_id, keys):
        await connection.execute(ADD_COUNTERS, merchant_id, keys, [row[2] for row in paid], hour, day)
