"""The shops of this deployment: a cardholder's dispute opens one in the books of the merchant that was paid.

The shop's merchant is found by the key of the payment, and a decision in its books is submitted to the writer. The two
merchants' books change in two decisions, never in one. The rules are those of the dispute slice (SHOP_RULES).
"""

from collections.abc import Callable
from functools import partial

import msgspec

from kasuwa.core.decision import Context, LoadedRows, Merchant, Needs, Outcome
from kasuwa.core.references import COPY_UNIT, read_rail_key
from kasuwa.engine.rule_submission import submit_rule
from kasuwa.engine.writer import Writer
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.postgres.connections import DatabaseUnreachable
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable
from kasuwa.rails.ports.shops import ShopDispute

OTHER_WORLD = Answer(orders.FAILED, None, "The shop was paid in the world that this one is a copy of")

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
        merchant = await self._find_shop(dispute)
        if merchant is None:
            return OTHER_WORLD
        needs = self._rules.needs(dispute, merchant)
        try:
            decision = await submit_rule(self._writer, merchant, needs, partial(rule, dispute))
        except DatabaseUnreachable as error:
            raise (NoAnswer if error.is_outcome_unknown else Unavailable)(str(error)) from None
        assert isinstance(decision.reply, Answer)
        return decision.reply

    async def _find_shop(self, dispute: ShopDispute) -> Merchant | None:
        """Returns the merchant that was paid. Books that are a copy have the payment too if they were paid themselves.
        None if a fork disputes what its card paid to others before: only the card that it is a copy of has paid."""
        card_number, _ = read_rail_key(dispute.key)
        shop_number, _ = read_rail_key(dispute.payment_key)
        if card_number >= COPY_UNIT and shop_number != card_number:
            holder = await self._merchants.get_by_id(card_number)
            if shop_number in await self._merchants.list_copied(card_number):
                return holder
            if holder.token_space:
                return None
        return await self._merchants.get_by_id(shop_number)
