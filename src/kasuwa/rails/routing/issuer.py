"""The issuer rail: authorizes cards that were issued here and pay this or another merchant of the service.

The card's merchant is found by the card number, and a decision in its books is submitted to the writer like its own
requests. A payment between two merchants is a rail call, never one decision over two books. The rules are those of the
virtual card slice (api_methods.ISSUER_RULES).
"""

from collections.abc import Callable
from functools import partial

import msgspec

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, Outcome
from kasuwa.core.reading import Reader
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.core.vault import Vault
from kasuwa.engine import token_index
from kasuwa.engine.batch import RuleFailure, Submission
from kasuwa.engine.entropy import draw_entropy
from kasuwa.engine.writer import Writer
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.postgres.connections import DatabaseUnreachable
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.issuer import PurchaseOrder, RefundOrder, TakeBackOrder
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable
from kasuwa.transactions.transactions import SUCCESSFUL

NO_SUCH_CARD = Answer(orders.NOT_FOUND, "14", "Invalid card number")
NO_SUCH_ORDER = Answer(orders.NOT_FOUND, "25", "Unable to locate record")
DUPLICATE = Answer(orders.FAILED, "94", "Duplicate transmission")

BY_REFERENCE = "select status, code, message from transaction where merchant_id = $1 and txn_ref = $2"


class IssuerRules(msgspec.Struct, frozen=True):
    """The rules of the slice that issues cards."""

    pan_kind: str  # kind of card numbers in the token index
    order_key_kind: str  # kind of order keys in the token index
    authorize_needs: Callable[[PurchaseOrder, str, Merchant], Needs]
    decide_authorize: Callable[[PurchaseOrder, str, Context, LoadedRows], Outcome]
    refund_needs: Callable[[RefundOrder, Merchant], Needs]
    decide_refund: Callable[[RefundOrder, Context, LoadedRows], Outcome]
    take_back_needs: Callable[[TakeBackOrder, Merchant], Needs]
    decide_take_back: Callable[[TakeBackOrder, Context, LoadedRows], Outcome]


class LedgerIssuer:
    def __init__(
        self, reader: Reader, vault: Vault, merchants: MerchantDirectory, writer: Writer, rules: IssuerRules
    ) -> None:
        self._reader = reader
        self._vault = vault
        self._merchants = merchants
        self._writer = writer
        self._rules = rules

    async def authorize(self, order: PurchaseOrder) -> Answer:
        owner = await token_index.find_owner(self._reader, self._vault, self._rules.pan_kind, order.pan)
        if owner is None:
            return NO_SUCH_CARD
        merchant_id, reference = owner
        known = await self._find_order(order.key)
        if known is not None and known[0] != merchant_id:
            return DUPLICATE  # under this key another merchant's card was asked for
        merchant = await self._merchants.get_by_id(merchant_id)
        needs = self._rules.authorize_needs(order, reference, merchant)
        rule = partial(self._rules.decide_authorize, order, reference)
        return await self._ask(merchant, needs, rule, order.scenario)

    async def refund(self, order: RefundOrder) -> Answer:
        purchase = await self._find_order(order.purchase_key)
        if purchase is None:
            return NO_SUCH_ORDER
        merchant = await self._merchants.get_by_id(purchase[0])
        needs = self._rules.refund_needs(order, merchant)
        return await self._ask(merchant, needs, partial(self._rules.decide_refund, order), order.scenario)

    async def take_back(self, order: TakeBackOrder) -> Answer:
        refund = await self._find_order(order.refund_key)
        if refund is None:
            return NO_SUCH_ORDER
        merchant = await self._merchants.get_by_id(refund[0])
        needs = self._rules.take_back_needs(order, merchant)
        return await self._ask(merchant, needs, partial(self._rules.decide_take_back, order), NO_SCENARIO)

    async def query(self, key: str) -> Answer:
        """Returns the state of a purchase or refund by its key."""
        owner = await self._find_order(key)
        if owner is None:
            return NO_SUCH_ORDER
        merchant_id, txn_ref = owner
        status, code, message = await self._reader.fetchrow(BY_REFERENCE, merchant_id, txn_ref)
        rail_status = orders.SUCCESSFUL if status == SUCCESSFUL else orders.FAILED
        return Answer(rail_status, code, message, {"txnRef": txn_ref})

    async def _find_order(self, key: str) -> tuple[int, str] | None:
        """Returns merchant and reference of an order, also from archived books: the payee may still query it."""
        return await token_index.find_owner_even_archived(self._reader, self._vault, self._rules.order_key_kind, key)

    async def _ask(
        self, merchant: Merchant, needs: Needs, rule: Callable[[Context, LoadedRows], Outcome], scenario: Scenario
    ) -> Answer:
        """Submits the rule for the issuing merchant and returns its answer. In the test environment, a scenario can
        break the connection before the request arrives or before the answer returns."""
        if scenario.http == "unavailable":
            raise Unavailable("the issuer refuses calls")
        if scenario.http == "reset":
            raise NoAnswer("the issuer was not reached")
        try:
            result = await self._writer.submit(Submission(merchant, needs, rule, draw_entropy()))
        except DatabaseUnreachable as error:
            raise (NoAnswer if error.is_outcome_unknown else Unavailable)(str(error)) from None
        if isinstance(result, RuleFailure):
            raise result.error
        assert isinstance(result, Decision), result
        assert isinstance(result.reply, Answer)
        if scenario.http is not None:
            raise NoAnswer(f"the issuer: {scenario.http}")
        return result.reply
