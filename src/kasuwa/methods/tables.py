"""Tables of the whole API: the paths of each environment, and the purposes of payments and transfers.

Slices do not import each other's tables; some use another's model and rules. This module collects the tables.
"""

from collections.abc import Iterable

import msgspec

from kasuwa.core.action import ApiMethod, Step
from kasuwa.methods.auto_repay import actions as auto_repay
from kasuwa.methods.auto_repay.rules.charge_end import COLLECTED_PURPOSE_RULES
from kasuwa.methods.bills import steps as bills_steps
from kasuwa.methods.bills.actions import BILLS
from kasuwa.methods.bills.model import KIND as BILL
from kasuwa.methods.cashcode import actions as cashcode
from kasuwa.methods.checkout import actions as checkout
from kasuwa.methods.clients import actions as clients
from kasuwa.methods.customers import actions as customers
from kasuwa.methods.disburse import steps as disburse_steps
from kasuwa.methods.disburse.actions import DISBURSE
from kasuwa.methods.disburse.model import KIND as TRANSFER
from kasuwa.methods.disputes import actions as disputes
from kasuwa.methods.disputes.rules import cardholder_dispute, rail_dispute
from kasuwa.methods.groups import actions as groups
from kasuwa.methods.groups.rules.lend import GROUP_DISBURSEMENT_RULES
from kasuwa.methods.guarantees import actions as guarantees
from kasuwa.methods.investments.actions import INVESTMENTS
from kasuwa.methods.investments.rules.hold_deposit import HELD_PURPOSE_RULES
from kasuwa.methods.investments.rules.purposes import CASHOUT_PURPOSE_RULES, DEPOSIT_PURPOSE_RULES
from kasuwa.methods.invoices import actions as invoices
from kasuwa.methods.invoices.rules.pay_invoice import INVOICE_SOURCE
from kasuwa.methods.keys import actions as keys
from kasuwa.methods.loan_products import actions as loan_products
from kasuwa.methods.loans.actions import LOANS
from kasuwa.methods.loans.rules.top_up import DISBURSEMENT_PURPOSE_RULES
from kasuwa.methods.mail import actions as mail
from kasuwa.methods.payment import actions as payment
from kasuwa.methods.payment import steps as payment_steps
from kasuwa.methods.payment.model import KIND as PAYMENT
from kasuwa.methods.payment.rules.receipts import rail_receipt, reject_transfer
from kasuwa.methods.payment.rules.refund import REFUND
from kasuwa.methods.payouts import actions as payouts
from kasuwa.methods.references import actions as references
from kasuwa.methods.resources.actions import RESOURCES
from kasuwa.methods.resources.model import OPEN_ACCOUNT, QUERY_ACCOUNT
from kasuwa.methods.sandbox.actions import SANDBOX
from kasuwa.methods.shares import actions as shares
from kasuwa.methods.standing_orders import actions as standing_orders
from kasuwa.methods.statements import actions as statements
from kasuwa.methods.statements.proofs import actions as proofs
from kasuwa.methods.statements.settlement_events import actions as settlement_events
from kasuwa.methods.tickets import actions as tickets
from kasuwa.methods.tickets.rules.sell import TICKET_SOURCE
from kasuwa.methods.transactions import actions as transactions
from kasuwa.methods.virtualcard import actions as virtualcard
from kasuwa.methods.virtualcard.model import PAN_ENTRY
from kasuwa.methods.virtualcard.rules import hold_orders, issuer_port
from kasuwa.methods.virtualcard.rules.issuer_orders import ORDER_KEY
from kasuwa.rails.inbox.callbacks import RejectionRules
from kasuwa.rails.inbox.feed_recording import DisputeRules
from kasuwa.rails.inbox.processing import ReceiptRules
from kasuwa.rails.routing.issuer import IssuerRules
from kasuwa.rails.routing.shops import ShopRules
from kasuwa.transactions.checkouts import CheckoutSources
from kasuwa.transactions.purpose import Purposes

# Rows of a slice on a path that is not its own: checkouts, look-ups, and simulations of the test environment.
ALL_PAYMENT = msgspec.structs.replace(
    payment.PAYMENT,
    actions=(*payment.PAYMENT.actions, *disputes.PAYMENT, *checkout.PAYMENT),
    steps=(*payment.PAYMENT.steps, *disputes.STEPS, *checkout.STEPS),
)
ALL_RESOURCES = msgspec.structs.replace(
    RESOURCES,
    actions=(
        *RESOURCES.actions,
        *payment.RESOURCES,
        *checkout.RESOURCES,
        *customers.RESOURCES,
        *transactions.RESOURCES,
        *references.RESOURCES,
        *statements.RESOURCES,
        *proofs.RESOURCES,
        *settlement_events.RESOURCES,
        *payouts.RESOURCES,
        *keys.RESOURCES,
        *invoices.RESOURCES,
        *tickets.RESOURCES,
        *mail.RESOURCES,
    ),
    steps=(*RESOURCES.steps, *settlement_events.STEPS, *payouts.STEPS, *invoices.STEPS, *mail.STEPS),
)
ALL_LOANS = msgspec.structs.replace(
    LOANS,
    actions=(*LOANS.actions, *guarantees.LOANS, *loan_products.LOANS, *auto_repay.LOANS, *groups.LOANS),
    steps=(*LOANS.steps, *auto_repay.STEPS),
)
ALL_INVESTMENTS = msgspec.structs.replace(
    INVESTMENTS,
    actions=(*INVESTMENTS.actions, *shares.INVESTMENTS, *standing_orders.INVESTMENTS),
    steps=(*INVESTMENTS.steps, *shares.STEPS, *standing_orders.STEPS),
)
ALL_SANDBOX = msgspec.structs.replace(
    SANDBOX,
    actions=(
        *payment.SANDBOX,
        *disputes.SANDBOX,
        *virtualcard.SANDBOX,
        *cashcode.SANDBOX,
        *SANDBOX.actions,
        *keys.SANDBOX,
        *clients.SANDBOX,
        *checkout.SANDBOX,
    ),
)

METHODS: tuple[ApiMethod, ...] = (
    DISBURSE,
    ALL_PAYMENT,
    BILLS,
    clients.CLIENTS,
    ALL_LOANS,
    ALL_INVESTMENTS,
    virtualcard.VIRTUALCARD,
    cashcode.CASHCODE,
    ALL_RESOURCES,
)

# Rules of the card issuer, for a card issued here that pays a merchant of this service.
ISSUER_RULES = IssuerRules(
    pan_kind=PAN_ENTRY,
    order_key_kind=ORDER_KEY,
    authorize_needs=issuer_port.need_authorization,
    decide_authorize=issuer_port.decide_authorization,
    capture_needs=hold_orders.need_capture,
    decide_capture=hold_orders.decide_capture,
    release_needs=hold_orders.need_release,
    decide_release=hold_orders.decide_release,
    refund_needs=issuer_port.need_refund_order,
    decide_refund=issuer_port.decide_refund_order,
    take_back_needs=issuer_port.need_take_back,
    decide_take_back=issuer_port.decide_take_back,
    lost_needs=issuer_port.need_lost_dispute,
    decide_lost=issuer_port.decide_lost_dispute,
)
# Rules of a shop of this service that is paid with a card issued here, for disputes of the cardholder.
SHOP_RULES = ShopRules(
    needs=cardholder_dispute.need_cardholder_dispute,
    open=cardholder_dispute.decide_filed,
    withdraw=cardholder_dispute.decide_withdrawn,
)

# The rule that books money which a rail received on an account, and the jobs that open accounts.
RECEIPT_RULES = ReceiptRules(rail_receipt.need_receipt_rows, rail_receipt.decide_receipt)
DISPUTE_RULES = DisputeRules(rail_dispute.need_announced, rail_dispute.decide_announced)
# The rule that records a payer's transfer which a vendor sent back.
REJECTION_RULES = RejectionRules(reject_transfer.need_rejection, reject_transfer.decide_rejection)
ACCOUNT_JOB_KINDS = (OPEN_ACCOUNT, QUERY_ACCOUNT)

# Queries of the rail for transactions that have ended, by kind: a call-back may say otherwise.
QUERY_ENDED = {
    BILL: bills_steps.query_ended,
    TRANSFER: disburse_steps.query_ended,
    PAYMENT: payment_steps.query_ended_payment,
    REFUND: payment_steps.query_ended_refund,
}

# Rules of the slices that open checkouts for what they sell.
CHECKOUT_SOURCES = CheckoutSources({source.name: source for source in (INVOICE_SOURCE, TICKET_SOURCE)})

# Rules of the purposes of payments and transfers.
PURPOSES = Purposes(
    {
        purpose.name: purpose
        for purpose in (
            *payment.PURPOSES,
            *checkout.PURPOSES,
            *payouts.PURPOSES,
            DISBURSEMENT_PURPOSE_RULES,
            COLLECTED_PURPOSE_RULES,
            GROUP_DISBURSEMENT_RULES,
            CASHOUT_PURPOSE_RULES,
            DEPOSIT_PURPOSE_RULES,
            HELD_PURPOSE_RULES,
        )
    }
)

# What payers do on pages: not reachable through the API.
PAYER_ACTIONS = {
    action.name: action
    for action in (payment.ANSWER_CHALLENGE, *checkout.PAYER_ACTIONS, *invoices.PAYER_ACTIONS, *tickets.PAYER_ACTIONS)
}


def list_methods(environment: str) -> tuple[ApiMethod, ...]:
    return (*METHODS, ALL_SANDBOX) if environment == "test" else METHODS


def index_steps(methods: Iterable[ApiMethod]) -> dict[str, Step]:
    return {step.kind: step for method in methods for step in method.steps}
