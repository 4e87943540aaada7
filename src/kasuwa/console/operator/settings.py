"""Changes of a merchant's settings by operators: limits and terms, tariff, rails. In live two people decide them.

A proposal is the changed fields of MerchantSettings as JSON.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.authority import approvals
from kasuwa.authority.acts import SETTINGS_KIND, Act, is_proposed_on_page
from kasuwa.console.kit.visit import Visit
from kasuwa.console.operator.reads import MerchantSummary
from kasuwa.core.vault import Vault
from kasuwa.merchants import merchants
from kasuwa.merchants.merchant_settings import MerchantSettings, check_settings
from kasuwa.merchants.payout_policy import remember_beneficiaries
from kasuwa.postgres.connection_pool import Connection


def read_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns changed settings as fields of MerchantSettings. Raises ValueError or msgspec.MsgspecError."""
    checked = msgspec.convert(dict(changes), MerchantSettings)
    check_settings(checked)
    return {name: getattr(checked, name) for name in changes}


async def apply_changes(
    connection: Connection, vault: Vault, mid: str, changes: Mapping[str, Any]
) -> tuple[dict[str, Any], MerchantSettings]:
    """Changes the settings in the caller's transaction. Returns the changed fields as they were, and all settings."""
    before: dict[str, Any] = {}

    def change(current: MerchantSettings) -> MerchantSettings:
        before.update({name: getattr(current, name) for name in changes})
        # A change of the policy that waits for its time is replaced.
        waiting = None if "payouts" in changes else current.payouts_change
        return msgspec.structs.replace(current, payouts_change=waiting, **changes)

    changed = await merchants.change_settings(connection, vault, mid, change, is_endpoint_set="webhook_url" in changes)
    if "payouts" in changes:
        await remember_beneficiaries(connection, vault, mid, changes["payouts"])
    return before, changed


async def change_or_propose(
    visit: Visit, summary: MerchantSummary, act: Act, audit_text: str, done: str, **changes: Any
) -> Response:
    """Changes settings on the operator's page of a merchant, or proposes the change if two people decide it."""
    page = f"/operator/merchants/{summary.mid}"
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        if is_proposed_on_page(act, visit.services.environment):
            proposal = msgspec.json.encode(changes).decode()
            number = await approvals.propose(
                connection, visit.services.vault, summary.mid, SETTINGS_KIND, proposal, audit_text, visit.user.user_id
            )
            await visit.record_audit_on(
                connection, summary.merchant_id, f"proposed: {audit_text}", f"approval {number}", after=changes
            )
            return visit.redirect("/operator/approvals", "Proposed. Another operator must approve it.")
        before, _ = await apply_changes(connection, visit.services.vault, summary.mid, changes)
        await visit.record_audit_on(connection, summary.merchant_id, audit_text, summary.mid, before, changes)
    return visit.redirect(page, done)
