"""The shops of this deployment: a cardholder's dispute opens one in the books of the merchant that was paid.

The shop's merchant is found by the key of the payment, and a decision in its books is submitted to the writer. The two
merchants' books change in two decisions, never in one. The rules are those of the dispute slice (SHOP_RULES).
"""

from collections.abc import Callable
from functools import partial

import msgspec

from kasuwa.core.decision import Context, LoadedRows, Merchant, Needs, Outcome
from kasuwa.engine.rule_submission import submit_rule
from kasuwa.engine.writer import Writer
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.postgres.connections import DatabaseUnreachable
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable
from kasuwa.rails.ports.shops import ShopDispute

DisputeRule = Callable[[ShopDispute, Context, LoadedRows], Outcome]


class ShopRules(msgspec.Struct, frozen=True):
    """The rules of the slice that has the disputes of payments."""

    needs: Callable[[ShopDispute, Merchant], Needs]
    open: DisputeRule
    withdraw: DisputeRule


class LedgerShops:
    def __init__(self, merchants: MerchantDirectory, writer: Writer, rules: ShopRules) -> None:
        self._merchants = merchants
        self._writer = writer
        self._rules = rules

    async def open_dispute(self, dispute: ShopDispute) -> Answer:
        return await self._submit(dispute, self._rules.open)

    async def withdraw_dispute(self, dispute: ShopDispute) -> Answer:
        return await self._submit(dispute, self._rules.withdraw)

    async def _submit(self, dispute: ShopDispute, rule: DisputeRule) -> Answer:
        merchant_id = int(dispute.payment_key.partition(" ")[0])
        merchant = await self._merchants.get_by_id(merchant_id)
        needs = self._rules.needs(dispute, merchant)
        try:
            decision = await submit_rule(self._writer, merchant, needs, partial(rule, dispute))
        except DatabaseUnreachable as error:
            raise (NoAnswer if error.is_outcome_unknown else Unavailable)(str(error)) from None
        assert isinstance(decision.reply, Answer)
        return decision.reply
