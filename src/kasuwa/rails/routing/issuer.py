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
from kasuwa.core.references import COPY_UNIT, rail_key, read_rail_key
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.core.vault import Vault
from kasuwa.engine import token_index
from kasuwa.engine.batch import RuleFailure, Submission
from kasuwa.engine.entropy import draw_entropy
from kasuwa.engine.writer import Writer
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.postgres.connections import DatabaseUnreachable
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.decider import CardDecider, DeciderAnswer
from kasuwa.rails.ports.issuer import CaptureOrder, LostDispute, PurchaseOrder, RefundOrder, ReleaseOrder, TakeBackOrder
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable
from kasuwa.transactions.transactions import SUCCESSFUL

NO_SUCH_CARD = Answer(orders.NOT_FOUND, "14", "Invalid card number")
NO_SUCH_ORDER = Answer(orders.NOT_FOUND, "25", "Unable to locate record")
DUPLICATE = Answer(orders.FAILED, "94", "Duplicate transmission")

# An order is asked about again if what is asked has changed while the decider thought: the exchange rate, its address.
MAX_QUESTIONS = 3

BY_REFERENCE = "select status, code, message from transaction where merchant_id = $1 and txn_ref = $2"


class IssuerRules(msgspec.Struct, frozen=True):
    """The rules of the slice that issues cards."""

    pan_kind: str  # kind of card numbers in the token index
    order_key_kind: str  # kind of order keys in the token index
    authorize_needs: Callable[[PurchaseOrder, str, Merchant], Needs]
    decide_authorize: Callable[[PurchaseOrder, str, Context, LoadedRows, DeciderAnswer | None], Outcome]
    capture_needs: Callable[[CaptureOrder, Merchant], Needs]
    decide_capture: Callable[[CaptureOrder, Context, LoadedRows], Outcome]
    release_needs: Callable[[ReleaseOrder, Merchant], Needs]
    decide_release: Callable[[ReleaseOrder, Context, LoadedRows], Outcome]
    refund_needs: Callable[[RefundOrder, Merchant], Needs]
    decide_refund: Callable[[RefundOrder, Context, LoadedRows], Outcome]
    take_back_needs: Callable[[TakeBackOrder, Merchant], Needs]
    decide_take_back: Callable[[TakeBackOrder, Context, LoadedRows], Outcome]
    lost_needs: Callable[[LostDispute, Merchant], Needs]
    decide_lost: Callable[[LostDispute, Context, LoadedRows], Outcome]


class KnownOrder(msgspec.Struct, frozen=True):
    """An order of a payee that was decided here."""

    key: str  # under which it was sent
    merchant_id: int  # whose card it is about
    txn_ref: str  # of its transaction there


class LedgerIssuer:
    def __init__(
        self,
        reader: Reader,
        vault: Vault,
        merchants: MerchantDirectory,
        writer: Writer,
        rules: IssuerRules,
        decider: CardDecider,
    ) -> None:
        self._reader = reader
        self._vault = vault
        self._merchants = merchants
        self._writer = writer
        self._rules = rules
        self._decider = decider

    async def authorize(self, order: PurchaseOrder) -> Answer:
        owner = await self._find_card(order)
        if owner is None:
            return NO_SUCH_CARD
        merchant_id, reference = owner
        known = await self._find_sent(order.key, await self._find_space(order.key))
        if known is not None and known.merchant_id != merchant_id:
            return DUPLICATE  # under this key another merchant's card was asked for
        merchant = await self._merchants.get_by_id(merchant_id)
        needs = self._rules.authorize_needs(order, reference, merchant)
        answer: DeciderAnswer | None = None
        for _ in range(MAX_QUESTIONS):
            decide = partial(self._rules.decide_authorize, order, reference)
            decision = await self._submit(merchant, needs, partial(decide, answer=answer), order.scenario)
            if decision.question is None:
                return read_answer(decision, order.scenario)
            answer = await self._decider.ask(decision.question, merchant, NO_SCENARIO)
        raise Unavailable("what the card's decider is asked keeps changing")

    async def capture(self, order: CaptureOrder) -> Answer:
        hold = await self._find_order(order.hold_key)
        if hold is None:
            return NO_SUCH_ORDER
        merchant = await self._merchants.get_by_id(hold.merchant_id)
        order = msgspec.structs.replace(order, hold_key=hold.key)
        rule = partial(self._rules.decide_capture, order)
        needs = self._rules.capture_needs(order, merchant)
        return read_answer(await self._submit(merchant, needs, rule, NO_SCENARIO), NO_SCENARIO)

    async def release(self, order: ReleaseOrder) -> Answer:
        hold = await self._find_order(order.hold_key)
        if hold is None:
            return NO_SUCH_ORDER
        merchant = await self._merchants.get_by_id(hold.merchant_id)
        order = msgspec.structs.replace(order, hold_key=hold.key)
        rule = partial(self._rules.decide_release, order)
        needs = self._rules.release_needs(order, merchant)
        return read_answer(await self._submit(merchant, needs, rule, NO_SCENARIO), NO_SCENARIO)

    async def refund(self, order: RefundOrder) -> Answer:
        purchase = await self._find_order(order.purchase_key)
        if purchase is None:
            return NO_SUCH_ORDER
        merchant = await self._merchants.get_by_id(purchase.merchant_id)
        order = msgspec.structs.replace(order, purchase_key=purchase.key)
        needs = self._rules.refund_needs(order, merchant)
        rule = partial(self._rules.decide_refund, order)
        return read_answer(await self._submit(merchant, needs, rule, order.scenario), order.scenario)

    async def take_back(self, order: TakeBackOrder) -> Answer:
        refund = await self._find_order(order.refund_key)
        if refund is None:
            return NO_SUCH_ORDER
        purchase = await self._find_order(order.purchase_key)
        merchant = await self._merchants.get_by_id(refund.merchant_id)
        purchase_key = order.purchase_key if purchase is None else purchase.key
        order = msgspec.structs.replace(order, refund_key=refund.key, purchase_key=purchase_key)
        needs = self._rules.take_back_needs(order, merchant)
        rule = partial(self._rules.decide_take_back, order)
        return read_answer(await self._submit(merchant, needs, rule, NO_SCENARIO), NO_SCENARIO)

    async def lose_dispute(self, lost: LostDispute) -> Answer:
        number, _ = read_rail_key(lost.key)
        merchant = await self._merchants.get_by_id(number)
        rule = partial(self._rules.decide_lost, lost)
        return read_answer(
            await self._submit(merchant, self._rules.lost_needs(lost, merchant), rule, NO_SCENARIO), NO_SCENARIO
        )

    async def query(self, key: str) -> Answer:
        """Returns the state of a purchase or refund by its key."""
        known = await self._find_order(key)
        if known is None:
            return NO_SUCH_ORDER
        status, code, message = await self._reader.fetchrow(BY_REFERENCE, known.merchant_id, known.txn_ref)
        rail_status = orders.SUCCESSFUL if status == SUCCESSFUL else orders.FAILED
        return Answer(rail_status, code, message, {"txnRef": known.txn_ref})

    # --- finding ----------------------------------------------------------------------------------------------------

    async def _find_card(self, order: PurchaseOrder) -> tuple[int, str] | None:
        """Returns merchant and reference of a card. A payee that is a fork has cards with the numbers of those that it
        is a copy of: its own are found first."""
        space, kind = await self._find_space(order.key), self._rules.pan_kind
        owner = await token_index.find_owner(self._reader, self._vault, kind, order.pan, space=space)
        if owner is None and space:
            owner = await token_index.find_owner(self._reader, self._vault, kind, order.pan)
        return owner

    async def _find_order(self, key: str) -> KnownOrder | None:
        """Returns an order, also from archived books: the payee may still query it. What a payee ordered before its
        world was stored is known under the number that its books had then."""
        space = await self._find_space(key)
        known = await self._find_sent(key, space)
        number, reference = read_rail_key(key)
        if known is not None or number < COPY_UNIT:
            return known
        for earlier in await self._merchants.list_copied(number):
            known = await self._find_in(rail_key(earlier, reference), space)
            if known is not None:
                return known
        return None

    async def _find_sent(self, key: str, space: int) -> KnownOrder | None:
        """Returns the order that was sent under this very key, or None."""
        known = await self._find_in(key, space)
        return await self._find_in(key, 0) if known is None and space else known

    async def _find_in(self, key: str, space: int) -> KnownOrder | None:
        kind = self._rules.order_key_kind
        owner = await token_index.find_owner_even_archived(self._reader, self._vault, kind, key, space=space)
        return None if owner is None else KnownOrder(key, *owner)

    async def _find_space(self, key: str) -> int:
        """Returns the token space of the payee of an order, 0 for that which merchants share."""
        number, _ = read_rail_key(key)
        return (await self._merchants.get_by_id(number)).token_space if number >= COPY_UNIT else 0

    async def _submit(
        self, merchant: Merchant, needs: Needs, rule: Callable[[Context, LoadedRows], Outcome], scenario: Scenario
    ) -> Decision:
        """Submits the rule for the issuing merchant. In the test environment, a scenario can break the connection
        before the request arrives."""
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
        return result


def read_answer(decision: Decision, scenario: Scenario) -> Answer:
    """Returns the answer of a decision. In the test environment, a scenario can lose it."""
    assert isinstance(decision.reply, Answer)
    if scenario.http is not None:
        raise NoAnswer(f"the issuer: {scenario.http}")
    return decision.reply
