"""Card payments whose payer enters the card on a vendor's page: no card number passes this service.

`initiate` comes without a card and answers the page's address. The payment ends when the payer has paid there.
A card that this deployment issued itself is charged by its number all the same. Contract: payment#hosted-card
"""

import msgspec

from kasuwa.core.action import PreflightContext
from kasuwa.core.cards import find_bin
from kasuwa.core.decision import Context, Decision, FieldError, LoadedRows, Merchant, Refusal, refuse_fields
from kasuwa.methods.payment.model import FACTS_DECODER, RAIL_CALL_STAGES, CardSummary, Payment
from kasuwa.methods.payment.rules import check_request
from kasuwa.methods.payment.rules.amend_charge import AmendedPayment, AmendedTransaction, amend_row
from kasuwa.methods.payment.rules.begin import PaymentOrder, make_page_token
from kasuwa.methods.payment.rules.dry_run import preview_unchanged
from kasuwa.methods.payment.rules.replies import reply_payment
from kasuwa.methods.payment.wire import ChargeCard, InitiateCard
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.terms.issuing import CardIssuingSettings
from kasuwa.terms.tariff import Tariff
from kasuwa.terms.vendors import CollectionVendors
from kasuwa.transactions.pricing import card_class, choose_bearer, fee_and_vat
from kasuwa.transactions.transactions import Transaction

CARD_REQUIRED = FieldError("card", "required")
CARD_NOT_TAKEN = FieldError("card", "left out: the customer enters the card on the page that authURL names")
NOTHING_DUE = FieldError("installment.payment_schedule", "a part that is due today, where cards are entered on a page")
# The card that is not known yet. Its fee is that of a local card until it has paid.
UNKNOWN_CARD = CardSummary("", "", "", None, None, None, None)


def has_card_page(merchant: Merchant, preflight: PreflightContext) -> bool:
    """Whether the payers of a merchant enter their cards on a vendor's page. For preflight checks."""
    return preflight.rails is not None and preflight.rails.vendors.has_card_page(merchant.rails)


def card_presence_faults(request: InitiateCard, context: Context) -> list[FieldError]:
    """Returns the error of a card that must be there and is not, or must not be there and is."""
    has_page = context.terms(CollectionVendors).has_card_page(context.merchant.rails)
    if request.card is None:
        return [] if has_page else [CARD_REQUIRED]
    if has_page and not context.terms(CardIssuingSettings).is_own_number(str(request.card.card_no)):
        return [CARD_NOT_TAKEN]
    return []


def build_hosted_order(
    request: InitiateCard, context: Context, rows: LoadedRows, errors: list[FieldError]
) -> PaymentOrder | Refusal:
    """Builds the order of a payment without a card. `found` are the errors found so far."""
    country, currency = check_request.country_and_currency(request)
    faults = [*errors, *check_request.card_money_faults(country, currency)]
    faults += check_request.recurrent_faults(request)
    faults += check_request.schedule_conflict_faults(request.recurrent is not None, request.installment is not None)
    amount_now = check_request.amount_to_charge(request, currency, context)
    if isinstance(amount_now, list):
        return refuse_fields(*faults, *amount_now)
    amount, installments = amount_now
    if not amount and not errors:
        faults.append(NOTHING_DUE)
    bearer = choose_bearer(context.merchant.terms(Tariff), request.bearer)
    fee_class = check_request.card_fee_class(UNKNOWN_CARD)
    price = check_request.price_request(bearer, context.merchant, fee_class, currency, amount)
    charges = check_request.CardCharges(UNKNOWN_CARD, bearer, currency, price, installments)
    faults += check_request.vendor_faults("card", "", currency, price.charged, context)
    faults += check_request.card_split_faults(check_request.read_split_parts(request), charges, context, rows)
    if faults:
        return refuse_fields(*faults)
    detail = msgspec.structs.replace(
        check_request.make_payment_detail(request, context),
        page_token=make_page_token(context),
        recurrent=check_request.read_recurrent_terms(request),
        installments=check_request.price_installments(charges, context.merchant),
    )
    return PaymentOrder(
        method="card",
        currency=currency,
        price=price,
        detail=detail,
        customer_txnref=request.customer_txnref or "",
        is_hosted=True,
    )


def price_by_card(row: Transaction, payment: Payment, context: Context) -> tuple[Transaction, Payment]:
    """Returns a payment that succeeded with the fee of the card that its payer used on a vendor's page.

    What the payer was charged does not change, so that a dearer card lowers what the merchant gets. A payment whose fee
    was held on the wallet keeps its fee if the hold does not cover the other one: the wallet may be empty by now.
    Contract: payment#hosted-card-fee
    """
    card = FACTS_DECODER.decode(payment.facts).card
    if card is None or payment.method != "card":
        return row, payment
    fee_class = card_class(card.country or find_bin(card.bin).country)
    if fee_class == check_request.card_fee_class(UNKNOWN_CARD):
        return row, payment
    fee, vat = fee_and_vat(context.merchant.terms(Tariff), fee_class, row.currency, payment.charged)
    if row.held and fee + vat > row.held:
        return row, payment
    priced = amend_row(AmendedPayment, payment, settled=payment.charged - fee - vat)
    return amend_row(AmendedTransaction, row, fee=fee, vat=vat), priced


def repeat_step(
    request: ChargeCard, row: Transaction, payment: Payment, context: Context
) -> Decision[PaymentReply] | Refusal:
    """Replies to `charge` of a payment whose card is entered on a page: with the page, or the outcome."""
    faults = [] if request.card is None else [CARD_NOT_TAKEN]
    if request.amount is not None and request.amount != row.amount:
        faults.append(FieldError("amount", "as it was initiated"))
    if request.currency is not None and request.currency != row.currency:
        faults.append(FieldError("currency", "as it was initiated"))
    if faults:
        return refuse_fields(*faults)
    in_progress = payment.stage in RAIL_CALL_STAGES
    repeated = Decision(reply=reply_payment(row, payment, context), in_progress=in_progress)
    return preview_unchanged(repeated) if request.dry_run else repeated
