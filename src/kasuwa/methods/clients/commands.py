"""The command of the test environment that sets the limits by tier of clients. In live the operator sets them.

Contract: clients#tiers
"""

from kasuwa.core.action import AdminOperations
from kasuwa.core.decision import Merchant
from kasuwa.methods.clients.wire import OwnFigures, TiersReply, TiersRequest
from kasuwa.terms.client_tiers import DEFAULT_HELD_DAYS, TIER_NAMES, ClientTiers, TierFigures


async def set_tiers(request: TiersRequest, merchant: Merchant, engine: AdminOperations) -> TiersReply:
    tiers = ClientTiers(
        is_on=request.is_on,
        held_days=request.held_days or DEFAULT_HELD_DAYS,
        figures={TIER_NAMES[fields.tier]: read_figures(fields) for fields in request.tiers or ()},
    )
    await engine.set_client_tiers(merchant, tiers)
    return TiersReply(message="The limits apply" if tiers.is_on else "No limits apply")


def read_figures(fields: OwnFigures) -> TierFigures:
    return TierFigures(single_deposit=fields.single_deposit, balance=fields.balance, daily=fields.daily)
