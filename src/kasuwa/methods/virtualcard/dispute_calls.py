"""Calls of shops of this deployment about disputes of cardholders."""

from datetime import datetime

import msgspec

from kasuwa.core.decision import Job
from kasuwa.methods.virtualcard.dispute_model import END_AT_SHOP
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.orders import Answer
from kasuwa.rails.ports.shops import ShopDispute

SHOP_DISPUTE_DECODER: "msgspec.json.Decoder[ShopDispute]" = msgspec.json.Decoder(ShopDispute)


async def call_shop(rails: Rails, job: Job, now: datetime, secrets: None) -> Answer:
    """Has a shop's dispute opened, or ended. It may be repeated: its key decides."""
    order = SHOP_DISPUTE_DECODER.decode(job.work)
    if job.kind == END_AT_SHOP:
        return await rails.shops.withdraw_dispute(order)
    return await rails.shops.open_dispute(order)
