"""Takes a refund of a purchase back from its card: the dispute that it was paid for was won by the shop in the end.

Postings, under the reference of a purchase of its own:

    card → rail:issuer                    as far as the card covers it, as the purchase did
    receivable:disputes → rail:issuer     the rest, which the card's merchant owes; all of it for a terminated card
    … → fx, fx → rail:issuer              if the shop has another currency

What is owed is collected from the merchant's wallet, as a debt of its own disputes is (methods/disputes/rules/debt.py).
"""

import msgspec

from kasuwa.core.decision import Context, Decision, LoadedRows, Needs, NeedsMore, Posting, PostingGroup
from kasuwa.core.scenario import NO_SCENARIO
from kasuwa.ledger import chart
from kasuwa.methods.disputes.rules.debt import debt_job, need_debt_job
from kasuwa.methods.virtualcard.model import (
    DONE,
    TERMINATED,
    Card,
    CardRecord,
    card_key,
    get_balance,
    has_all_rows,
    record_key,
)
from kasuwa.methods.virtualcard.rules.declines import response_code_meanings
from kasuwa.methods.virtualcard.rules.funding import CARD_INSUFFICIENT
from kasuwa.methods.virtualcard.rules.purchase import (
    APPROVED,
    METHOD,
    PURCHASE_DETAIL_DECODER,
    RAIL,
    PurchaseCost,
    PurchaseDetail,
    begin_purchase,
    purchase_accounts,
    record_purchase,
)
from kasuwa.methods.virtualcard.rules.refund import prorate_refund
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction, TransactionOutcome, end_transaction

POSTING = "card refund taken back"


class TakenRefund(msgspec.Struct, frozen=True):
    """A refund that is taken back, with its card and the record of its purchase."""

    detail: PurchaseDetail  # with the refunded amount, in the shop's currency
    card: Card
    record: CardRecord
    amount: int  # in the card's currency


def take_back(
    refund: Transaction, purchase: Transaction, key: str, context: Context, rows: LoadedRows
) -> tuple[Transaction, Decision] | NeedsMore:
    """Takes a refund back. Returns the final transaction, and its decision without a reply."""
    merchant_id = context.merchant.merchant_id
    detail = PURCHASE_DETAIL_DECODER.decode(refund.detail)
    card_id, record_id = card_key(merchant_id, detail.card), record_key(merchant_id, purchase.txn_ref)
    wanted = Needs(((Card, card_id), (CardRecord, record_id)))
    if not has_all_rows(wanted, merchant_id, rows):
        return NeedsMore(wanted)
    card, record = rows.get(Card, card_id), rows.get(CardRecord, record_id)
    assert card is not None
    assert record is not None
    accounts = (*purchase_accounts(card, detail.currency), chart.dispute_debt(card.currency))
    wanted = Needs((need_debt_job(merchant_id, card.currency),), accounts)
    if not has_all_rows(wanted, merchant_id, rows):
        return NeedsMore(wanted)
    # At the rate of the purchase, so that the parts that stay refunded are what they would have been without it.
    whole = PURCHASE_DETAIL_DECODER.decode(purchase.detail).amount
    amount = prorate_refund(purchase.amount, whole, record.refunded - detail.amount, detail.amount)
    return post_taken(TakenRefund(detail, card, record, amount), key, context, rows)


def post_taken(refund: TakenRefund, key: str, context: Context, rows: LoadedRows) -> tuple[Transaction, Decision]:
    card, detail = refund.card, refund.detail
    from_card = 0 if card.state == TERMINATED else min(refund.amount, max(0, get_balance(card, rows)))
    row = begin_purchase(card, detail, PurchaseCost(from_card, ()), key, context)
    outcome = TransactionOutcome(
        status=SUCCESSFUL,
        code=APPROVED,
        message=response_code_meanings()[APPROVED],
        method=METHOD,
        scenario=NO_SCENARIO,
        event_fields={"reference": card.reference},
    )
    end = end_transaction(context, row, outcome)
    decision = record_purchase(card, end, DONE, context, None)
    counted = msgspec.structs.replace(refund.record, refunded=refund.record.refunded - detail.amount)
    owed = refund.amount - from_card
    debts = debt_job(card.currency, context.now, context, rows) if owed else ()
    postings = taken_posts(refund, from_card)
    decision.groups = (PostingGroup(row.txn_ref, CARD_INSUFFICIENT, postings=postings),) if postings else ()
    decision.rows = (*decision.rows, counted)
    decision.jobs = (*decision.jobs, *debts)
    return end.row, decision


def taken_posts(refund: TakenRefund, from_card: int) -> tuple[Posting, ...]:
    card, currency = refund.card, refund.detail.currency
    rail, position = chart.rail(RAIL, currency), chart.fx_position_account(card.currency)
    is_foreign = currency != card.currency
    target, owed = position if is_foreign else rail, refund.amount - from_card
    postings = [
        Posting(card.account, target, from_card, POSTING),
        Posting(chart.dispute_debt(card.currency), target, owed, POSTING),
    ]
    if is_foreign:
        postings.append(Posting(chart.fx_position_account(currency), rail, refund.detail.amount, POSTING))
    return tuple(posting for posting in postings if posting.amount)
