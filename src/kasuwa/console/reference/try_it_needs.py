"""The objects that examples of the API reference refer to: where a merchant's own are listed, and how one is made.

An example names such an object by a placeholder (`"<txnRef>"`), or by a reference that another example gave it. The
"Try it" form fills in the merchant's own, newest first. In the test environment it can also make one, by sending
other examples first.
"""

from collections.abc import Mapping
from typing import Any

import msgspec


class Listing(msgspec.Struct, frozen=True):
    """A read action that lists the objects, newest first, and the values that a suitable one has."""

    method: str
    fields: Mapping[str, Any]
    where: Mapping[str, str] = {}
    inside: "Listing | None" = None  # lists the objects that these belong to; `fields` names one by a placeholder


class ExampleCall(msgspec.Struct, frozen=True):
    """An example to send. `changes` replaces fields of it; None removes a field. `renamed` gives references of its
    reply other names, where a later example names several of a kind."""

    method: str
    slug: str
    changes: Mapping[str, Any] = {}
    renamed: Mapping[str, str] = {}


class Need(msgspec.Struct, frozen=True):
    """An object that an example refers to."""

    label: str  # follows "This request needs"
    # The fields of the request, or names of placeholders inside them, and the names that the same values have in a
    # record or reply.
    names: Mapping[str, str]
    listing: Listing | None = None
    calls: tuple[ExampleCall, ...] = ()  # make one; empty if a merchant alone cannot
    # The last of the calls alone does not make one: what it answered earlier is of another object.
    is_always_made: bool = False


def transactions(kind: str, status: str) -> Listing:
    return Listing("resources", {"inquire": "transactions", "kind": kind, "status": status, "limit": 1})


# --- payments -------------------------------------------------------------------------------------------------------

INITIATE, CHARGE = ExampleCall("payment", "initiate-card"), ExampleCall("payment", "charge-card")
PAY_BY_CARD = (INITIATE, CHARGE)
INITIATED = Need("a card payment that was initiated", {"txnRef": "txnRef"}, None, (INITIATE,))
AWAITS_OTP = Need(
    "a payment that waits for its OTP", {"txnRef": "txnRef"}, None, (ExampleCall("payment", "charge-account"),)
)
PAYMENT = Need("a successful payment", {"txnRef": "txnRef"}, transactions("payment", "successful"), PAY_BY_CARD)
UNDISPUTED = Need("a successful payment that is not disputed", {"txnRef": "txnRef"}, None, PAY_BY_CARD)
RECURRENTS = Listing("resources", {"inquire": "recurrents"}, {"state": "active"})
SAVED_CARD = Need("a saved card", {"token": "cardToken"}, Listing("resources", {"inquire": "recurrents"}), PAY_BY_CARD)
RECURRENT = Need(
    "a recurrent payment", {"id": "id"}, RECURRENTS, (*PAY_BY_CARD, ExampleCall("resources", "recurrents"))
)
INSTALLMENT = {"payment_schedule": {"30-11-2030": "1000.00", "31-12-2030": "500.00"}, "total": "1500.00"}
MAKE_PLAN = (
    *PAY_BY_CARD,
    ExampleCall("payment", "charge-token", {"amount": None, "installment": INSTALLMENT}),
    ExampleCall("resources", "installments"),
)
PLAN = Need(
    "an installment plan",
    {"id": "id"},
    Listing("resources", {"inquire": "installments"}, {"state": "active"}),
    MAKE_PLAN,
)
PAUSED_PLAN = Need(
    "an installment plan that is paused",
    {"id": "id"},
    Listing("resources", {"inquire": "installments"}, {"state": "paused"}),
    (*MAKE_PLAN, ExampleCall("resources", "installments-pause")),
)
PAY_IN = Need(
    "a payment by bank transfer",
    {"accountNumber": "accountNumber"},
    None,
    (ExampleCall("payment", "charge-bank_transfer"),),
)
OPEN_DISPUTE = Need(
    "a dispute that needs a response",
    {"dispute_id": "dispute_id"},
    Listing("payment", {"action": "disputes", "state": "needs_response", "limit": 1}),
    (*PAY_BY_CARD, ExampleCall("sandbox", "dispute")),
)
DISPUTE = msgspec.structs.replace(
    OPEN_DISPUTE, label="a dispute", listing=Listing("payment", {"action": "disputes", "limit": 1})
)

WORLD_FILE = Need(
    "the file of a world",
    {"file": "file"},
    None,
    (ExampleCall("sandbox", "snapshot"), ExampleCall("sandbox", "export_world")),
)
LATER_WORLD = Need(
    "a second world", {"other": "name"}, None, (ExampleCall("sandbox", "snapshot", {"name": "after the refund"}),)
)

# --- money out ------------------------------------------------------------------------------------------------------

MAKE_TRANSFER = (ExampleCall("disburse", "transfer"),)


def transfer(field: str, status: str = "successful") -> Need:
    """Returns the need of a transfer, by your own reference in a field of the request."""
    calls = MAKE_TRANSFER if status == "successful" else (ExampleCall("disburse", "transfer", UNANSWERED),)
    return Need(f"a {status} transfer", {field: "orderRef"}, transactions("transfer", status), calls)


UNANSWERED = {"accountnumber": "0000009100"}
WAITING = Need(
    "a transfer that waits for approval, made with another key or by another person",
    {"txnRef": "txnRef"},
    Listing("console", {"action": "waiting_transfers"}),
)
BILL = Need("a bill", {"txnRef": "orderRef"}, transactions("bill", "successful"), (ExampleCall("bills", "pay"),))
CASHCODE = Need("a cashcode", {"orderRef": "orderRef"}, None, (ExampleCall("cashcode", "generate"),))
CASHCODE_NUMBER = Need("a cashcode", {"cashcode": "cashcode"}, None, (ExampleCall("cashcode", "generate"),))

MAKE_CARD = (ExampleCall("virtualcard", "create"),)
CARD = Need(
    "an active card",
    {"reference": "reference"},
    Listing("console", {"action": "cards", "limit": 50}, {"status": "active"}),
    MAKE_CARD,
)
DISPUTABLE = Need(
    "a purchase by card",
    {"reference": "reference", "id": "txnRef"},
    Listing(
        "virtualcard",
        {"action": "transactions", "reference": "<reference>", "limit": 50},
        {"narration": "Card Purchase", "status": "Successful"},
        Listing("console", {"action": "cards", "limit": 50}, {"status": "active"}),
    ),
    (*MAKE_CARD, ExampleCall("sandbox", "card_purchase")),
)
CARD_DISPUTE = Need(
    "an open dispute of a card purchase",
    {"dispute_id": "dispute_id"},
    Listing("virtualcard", {"action": "disputes", "state": "submitted", "limit": 1}),
    (*MAKE_CARD, ExampleCall("sandbox", "card_purchase"), ExampleCall("virtualcard", "dispute")),
)
BLOCKED_CARD = Need(
    "a blocked card",
    {"reference": "reference"},
    Listing("console", {"action": "cards", "limit": 50}, {"status": "blocked"}),
    (*MAKE_CARD, ExampleCall("virtualcard", "block")),
)
PURCHASE = Need(
    "a purchase by card",
    {"txnRef": "txnRef"},
    transactions("card_purchase", "successful"),
    (*MAKE_CARD, ExampleCall("sandbox", "card_purchase")),
)
AUTHORIZATION = Need(
    "an open authorization of a card",
    {"txnRef": "txnRef"},
    transactions("card_authorization", "pending"),
    (*MAKE_CARD, ExampleCall("sandbox", "card_authorize")),
)

# --- lending and savings ----------------------------------------------------------------------------------------------

MAKE_CLIENT = (ExampleCall("clients", "create", {"status": "active"}),)
CLIENT = Need(
    "an active client",
    {"client_id": "client_id"},
    Listing("clients", {"action": "list", "status": "active", "limit": 1}),
    MAKE_CLIENT,
)
NEW_CLIENT = Need(
    "a client that waits for approval",
    {"client_id": "client_id"},
    Listing("clients", {"action": "list", "status": "pending_approval", "limit": 1}),
    (ExampleCall("clients", "create"),),
)
MAKE_LOAN = (*MAKE_CLIENT, ExampleCall("loans", "request"))
LEND = (*MAKE_LOAN, ExampleCall("loans", "process"))
REQUESTED_LOAN = Need(
    "a loan that waits for approval",
    {"loan_id": "loan_id"},
    Listing("loans", {"action": "list", "state": "pending_approval", "limit": 1}),
    MAKE_LOAN,
)
LOAN = Need(
    "an active loan",
    {"loan_id": "loan_id"},
    Listing("loans", {"action": "list", "state": "active", "limit": 1}),
    LEND,
)
CHARGED_LOAN = Need(
    "a loan with a charge",
    {"loan_id": "loan_id", "charge_id": "charge_id"},
    None,
    (*LEND, ExampleCall("loans", "charge")),
)
PRODUCT = Need(
    "an open loan product",
    {"product_id": "product_id"},
    Listing("loans", {"action": "list_products", "state": "open", "limit": 1}),
    (ExampleCall("loans", "create_product"),),
)
REPAYMENT = Need(
    "a repayment that waits for its OTP", {"txnRef": "txnRef"}, None, (*LEND, ExampleCall("loans", "repay"))
)
REPAID = Need(
    "a repayment",
    {"txnRef": "txnRef"},
    transactions("repayment", "successful"),
    (*LEND, ExampleCall("loans", "repay"), ExampleCall("loans", "validate")),
)

MAKE_SAVINGS = (*MAKE_CLIENT, ExampleCall("investments", "create_savings"))
SAVINGS = Need(
    "a savings account",
    {"savings_id": "savings_id"},
    Listing("investments", {"action": "list_savings", "limit": 1}),
    MAKE_SAVINGS,
)
SAVINGS_OF_CLIENT = Need(
    "a savings account and its client",
    {"savings_id": "savings_id", "client_id": "client_id"},
    None,
    MAKE_SAVINGS,
)
FIXED_DEPOSIT = Need(
    "a fixed deposit",
    {"savings_id": "savings_id"},
    None,
    (*MAKE_CLIENT, ExampleCall("investments", "create_savings", {"period": None, "term_days": 90})),
)
FROM_WALLET = {"payment_method": "wallet", "card": None, "ip": None, "fingerprint": None}
FUNDED_SAVINGS = Need(
    "a savings account with a balance",
    {"savings_id": "savings_id", "client_id": "client_id"},
    Listing("investments", {"action": "list_savings", "limit": 50}, {"state": "active"}),
    (*MAKE_SAVINGS, ExampleCall("investments", "deposit", FROM_WALLET)),
)
DEPOSIT = Need(
    "a deposit that waits for its OTP",
    {"txnRef": "txnRef"},
    None,
    (*MAKE_SAVINGS, ExampleCall("investments", "deposit")),
)
FUNDED_FIXED_DEPOSIT = msgspec.structs.replace(
    FIXED_DEPOSIT,
    label="a fixed deposit that holds money",
    calls=(*FIXED_DEPOSIT.calls, ExampleCall("investments", "deposit", FROM_WALLET)),
)
MAKE_THRIFT = (ExampleCall("investments", "create_plan"),)
OPEN_THRIFT = Need("a thrift plan without members", {"thrift_id": "thrift_id"}, None, MAKE_THRIFT)
THRIFT = Need(
    "a thrift plan",
    {"thrift_id": "thrift_id"},
    Listing("investments", {"action": "list_plans", "limit": 1}),
    MAKE_THRIFT,
)

SHARE_CLASS = Need(
    "a class of shares",
    {"class_id": "class_id"},
    Listing("investments", {"action": "list_share_classes", "limit": 1}),
    (ExampleCall("investments", "create_share_class"),),
)
MAKE_SHARES = (
    *MAKE_SAVINGS,
    ExampleCall("investments", "create_share_class"),
    ExampleCall("investments", "buy_shares"),
)
SHAREHOLDER = Need(
    "a member with shares",
    {"class_id": "class_id", "client_id": "client_id"},
    Listing("investments", {"action": "list_shareholders", "limit": 1}),
    MAKE_SHARES,
)
CLASS_WITH_SHARES = msgspec.structs.replace(SHAREHOLDER, names={"class_id": "class_id"})
TAKER = Need(
    "another member with savings", {"to_client_id": "client_id", "savings_id": "savings_id"}, None, MAKE_SAVINGS
)
REDEMPTION = Need(
    "a redemption that waits, asked for by another key",
    {"redemption_id": "redemption_id"},
    Listing("investments", {"action": "list_redemptions", "state": "waiting", "limit": 1}),
    (*MAKE_SHARES, ExampleCall("investments", "redeem_shares")),
)

DORMANT_SAVINGS = Need(
    "savings that are dormant",
    {"savings_id": "savings_id"},
    Listing("investments", {"action": "list_savings", "state": "dormant", "limit": 1}),
    MAKE_SAVINGS,
)
MAKE_BORROWER = (*MAKE_SAVINGS, ExampleCall("loans", "request"))
BORROWER = Need("a client with savings and a loan", {"from": "savings_id", "to": "loan_id"}, None, MAKE_BORROWER)
SAVING_BORROWER = Need(
    "a client with savings and a loan",
    {"loan_id": "loan_id", "savings_id": "savings_id"},
    None,
    MAKE_BORROWER,
)
COLLECTED_LOAN = Need(
    "a loan that is collected automatically",
    {"loan_id": "loan_id"},
    None,
    (*MAKE_BORROWER, ExampleCall("loans", "auto_repay")),
)
STANDING_ORDER = Need(
    "a standing order",
    {"order_id": "order_id"},
    Listing("investments", {"action": "list_standing_orders", "limit": 1}),
    (*MAKE_BORROWER, ExampleCall("investments", "standing_order")),
)

# --- customers and sales ----------------------------------------------------------------------------------------------

MAKE_CUSTOMER = (ExampleCall("resources", "customer"),)
CUSTOMER = Need(
    "a customer",
    {"customer_id": "customer_id"},
    Listing("resources", {"inquire": "customer", "limit": 1}),
    MAKE_CUSTOMER,
)
MAKE_LINK = (ExampleCall("resources", "paylink"),)
LINK = Need(
    "a payment link", {"link_id": "link_id"}, Listing("resources", {"inquire": "paylink", "limit": 1}), MAKE_LINK
)
MAKE_INVOICE = (*MAKE_CUSTOMER, ExampleCall("resources", "invoice"))
PARTLY_RECEIVED = Need(
    "an invoice for which money was received",
    {"invoice_id": "invoice_id"},
    None,
    (*MAKE_INVOICE, ExampleCall("resources", "invoice_received")),
)
INVOICE = Need(
    "an unpaid invoice",
    {"invoice_id": "invoice_id"},
    Listing("resources", {"inquire": "invoice", "status": "unpaid", "limit": 1}),
    MAKE_INVOICE,
)
MAIL = Need(
    "a mail",
    {"mail_id": "mail_id"},
    Listing("resources", {"inquire": "mail", "limit": 1}),
    (*MAKE_INVOICE, ExampleCall("resources", "invoice_send")),
)
FAILED_MAIL = Need(
    "a mail that failed",
    {"mail_id": "mail_id"},
    Listing("resources", {"inquire": "mail", "status": "failed", "limit": 1}),
    (
        ExampleCall("resources", "customer", {"email": "bounce@example.com"}),
        ExampleCall("resources", "invoice"),
        ExampleCall("resources", "invoice_send"),
        # Until the mail system has refused it.
        ExampleCall("sandbox", "advance", {"days": None, "minutes": 1}),
    ),
)
TICKET_LINKS = Listing("resources", {"inquire": "ticket", "limit": 1})
TICKETS = Need(
    "a link that sells tickets",
    {"link_id": "link_id"},
    TICKET_LINKS,
    (ExampleCall("resources", "ticket"),),
)
TICKET = Need(
    "the code of a ticket, which a payer buys on the page of its link",
    {"code": "code"},
    Listing("resources", {"inquire": "ticket", "link_id": "<link_id>", "limit": 1}, inside=TICKET_LINKS),
)
SETTLEMENT = Need(
    "a settlement",
    {"settlement_id": "settlement_id"},
    Listing("resources", {"inquire": "settlements", "limit": 1}),
    (*PAY_BY_CARD, ExampleCall("resources", "settlements")),
)
PERSONAL_ACCOUNT = Need(
    "a personalized account that is open",
    {"reference": "reference"},
    Listing("resources", {"inquire": "accounts", "state": "open", "limit": 1}),
    (ExampleCall("resources", "personalized-accounts"),),
)

# The needs of each action whose example refers to something.
FUND_SAVINGS = (*MAKE_SAVINGS, ExampleCall("investments", "deposit", FROM_WALLET))
GUARANTOR = Need(
    "another client with savings that have money",
    {"savings_id": "savings_id", "client_id": "client_id"},
    None,
    FUND_SAVINGS,
)
MAKE_GUARANTEE = (*LEND, *FUND_SAVINGS, ExampleCall("loans", "guarantee"))
GUARANTEE = Need(
    "a guarantee",
    {"guarantee_id": "guarantee_id"},
    Listing("loans", {"action": "guarantees", "limit": 1}),
    MAKE_GUARANTEE,
)
WRITE_OFF_GUARANTEED = (*MAKE_GUARANTEE, ExampleCall("loans", "write_off"))
GUARANTEED_LOAN = Need(
    "a guaranteed loan that was written off", {"loan_id": "loan_id"}, None, WRITE_OFF_GUARANTEED, is_always_made=True
)
CALLED = Need(
    "a guarantee that was called",
    {"guarantee_id": "guarantee_id"},
    None,
    (*WRITE_OFF_GUARANTEED, ExampleCall("loans", "call_guarantee")),
)
COLLATERAL = Need(
    "a loan with collateral",
    {"collateral_id": "collateral_id"},
    None,
    (*LEND, ExampleCall("loans", "collateral")),
)
MAKE_MEMBERS = (ExampleCall("clients", "create", {"status": "active"}, {"client_id": "member_id"}), *MAKE_CLIENT)
MAKE_GROUP = (*MAKE_MEMBERS, ExampleCall("loans", "create_group"))
MEMBERS = Need(
    "two clients",
    {"leader": "client_id", "client_id": "client_id", "member_id": "member_id"},
    None,
    MAKE_MEMBERS,
    is_always_made=True,
)
GROUP = Need(
    "a group",
    {"group_id": "group_id"},
    Listing("loans", {"action": "list_groups", "state": "active", "limit": 1}),
    MAKE_GROUP,
)
GROUP_AND_MEMBER = Need(
    "a group and one of its members",
    {"group_id": "group_id", "client_id": "client_id"},
    None,
    MAKE_GROUP,
    is_always_made=True,
)
ASK_FOR_GROUP = (*MAKE_GROUP, ExampleCall("loans", "request_group_loan"))
GROUP_LOAN = Need("a loan that a group asks for", {"group_loan_id": "group_loan_id"}, None, ASK_FOR_GROUP)
LENT_GROUP = Need(
    "a group whose loan was paid out",
    {"group_id": "group_id", "loan_id": "loan_id"},
    None,
    (*ASK_FOR_GROUP, ExampleCall("loans", "process_group_loan")),
)

NEEDS: Mapping[str, tuple[Need, ...]] = {
    "disburse-approve": (WAITING,),
    "disburse-reject": (WAITING,),
    "disburse-verify": (transfer("txnRef"),),
    "payment-charge-card": (INITIATED,),
    "payment-validate": (AWAITS_OTP,),
    "payment-charge-token": (SAVED_CARD,),
    "payment-verify": (PAYMENT,),
    "payment-refund": (PAYMENT,),
    "payment-dispute": (DISPUTE,),
    "payment-dispute_respond": (OPEN_DISPUTE,),
    "bills-verify": (BILL,),
    "clients-update": (NEW_CLIENT,),
    "clients-view": (CLIENT,),
    "loans-request": (CLIENT,),
    "loans-process": (REQUESTED_LOAN,),
    "loans-repay": (LOAN,),
    "loans-validate": (REPAYMENT,),
    "loans-reverse": (REPAID,),
    "loans-charge": (LOAN,),
    "loans-waive": (CHARGED_LOAN,),
    "loans-write_off": (LOAN,),
    "loans-reschedule": (LOAN,),
    "loans-top_up": (LOAN,),
    "loans-update_product": (PRODUCT,),
    "loans-close_product": (PRODUCT,),
    "loans-view_product": (PRODUCT,),
    "loans-request_of_product": (CLIENT, PRODUCT),
    "loans-decide_write_off": (LOAN,),
    "loans-guarantee": (LOAN, GUARANTOR),
    "loans-guarantees": (LOAN,),
    "loans-call_guarantee": (GUARANTEED_LOAN,),
    "loans-pay_guarantor": (CALLED,),
    "loans-release_guarantee": (GUARANTEE,),
    "loans-collateral": (LOAN,),
    "loans-return_collateral": (COLLATERAL,),
    "loans-create_group": (MEMBERS,),
    "loans-update_group": (GROUP,),
    "loans-view_group": (GROUP,),
    "loans-request_group_loan": (GROUP_AND_MEMBER,),
    "loans-request_group_loan_of_product": (GROUP_AND_MEMBER, PRODUCT),
    "loans-process_group_loan": (GROUP_LOAN,),
    "loans-collection_sheet": (GROUP,),
    "loans-collect": (LENT_GROUP,),
    "loans-view": (LOAN,),
    "loans-statement": (LOAN,),
    "investments-create_savings": (CLIENT,),
    "investments-deposit": (SAVINGS,),
    "investments-set_rollover": (FIXED_DEPOSIT,),
    "investments-certificate": (FUNDED_FIXED_DEPOSIT,),
    "investments-validate": (DEPOSIT,),
    "investments-view_savings": (SAVINGS,),
    "investments-statement": (SAVINGS,),
    "investments-cashout": (FUNDED_SAVINGS,),
    "investments-cashout-cashcode": (FUNDED_SAVINGS,),
    "investments-buy_shares": (SAVINGS_OF_CLIENT, SHARE_CLASS),
    "investments-transfer_shares": (SHAREHOLDER, TAKER),
    "investments-redeem_shares": (SHAREHOLDER,),
    "investments-approve_redemption": (REDEMPTION,),
    "investments-reject_redemption": (REDEMPTION,),
    "investments-list_shareholders": (SHARE_CLASS,),
    "investments-share_register": (SHARE_CLASS,),
    "investments-declare_dividend": (CLASS_WITH_SHARES,),
    "investments-list_dividends": (SHARE_CLASS,),
    "investments-reactivate_savings": (DORMANT_SAVINGS,),
    "investments-decide_reactivation": (DORMANT_SAVINGS,),
    "investments-standing_order": (BORROWER,),
    "loans-auto_repay": (SAVING_BORROWER,),
    "loans-stop_auto_repay": (COLLECTED_LOAN,),
    "investments-change_standing_order": (STANDING_ORDER,),
    "investments-subscribe": (SAVINGS, OPEN_THRIFT),
    "investments-subscriptions": (THRIFT,),
    "investments-cancel_plan": (THRIFT,),
    "virtualcard-get": (CARD,),
    "virtualcard-fund": (CARD,),
    "virtualcard-withdraw": (CARD,),
    "virtualcard-limits": (CARD,),
    "virtualcard-decider": (CARD,),
    "virtualcard-transactions": (CARD,),
    "virtualcard-dispute": (DISPUTABLE,),
    "virtualcard-disputes": (CARD,),
    "virtualcard-view_dispute": (CARD_DISPUTE,),
    "virtualcard-withdraw_dispute": (CARD_DISPUTE,),
    "virtualcard-block": (CARD,),
    "virtualcard-unblock": (BLOCKED_CARD,),
    "virtualcard-terminate": (CARD,),
    "cashcode-verify": (CASHCODE,),
    "cashcode-cancel": (CASHCODE,),
    "resources-close_personalized_account": (PERSONAL_ACCOUNT,),
    "resources-recurrent": (RECURRENT,),
    "resources-installments-resume": (PAUSED_PLAN,),
    "resources-installments-pause": (PLAN,),
    "resources-installments-cancel": (PLAN,),
    "resources-paylink_by_id": (LINK,),
    "resources-paylink_detail": (LINK,),
    "resources-paylink-disable": (LINK,),
    "resources-paylink-enable": (LINK,),
    "resources-customer_detail": (CUSTOMER,),
    "resources-transaction": (transfer("reference"),),
    "resources-settlement": (SETTLEMENT,),
    "resources-proof": (transfer("reference"),),
    "resources-invoice": (CUSTOMER,),
    "resources-invoice_detail": (INVOICE,),
    "resources-invoice-void": (INVOICE,),
    "resources-invoice_send": (INVOICE,),
    "resources-invoice_received": (INVOICE,),
    "resources-invoice_not_received": (PARTLY_RECEIVED,),
    "resources-mail_detail": (MAIL,),
    "resources-mail": (FAILED_MAIL,),
    "resources-ticket_sales": (TICKETS,),
    "resources-ticket_by_code": (TICKET,),
    "resources-ticket_use": (TICKET,),
    "sandbox-pay_account": (PAY_IN,),
    "sandbox-compare_worlds": (LATER_WORLD,),
    "sandbox-import_world": (WORLD_FILE,),
    "sandbox-dispute": (UNDISPUTED,),
    "sandbox-dispute_outcome": (DISPUTE,),
    "sandbox-card_purchase": (CARD,),
    "sandbox-card_refund": (PURCHASE,),
    "sandbox-card_dispute_outcome": (CARD_DISPUTE,),
    "sandbox-card_authorize": (CARD,),
    "sandbox-card_capture": (AUTHORIZATION,),
    "sandbox-card_reverse": (AUTHORIZATION,),
    "sandbox-redeem_cashcode": (CASHCODE_NUMBER,),
    "sandbox-settle": (transfer("orderRef", "pending"),),
    "sandbox-explain": (transfer("orderRef"),),
}
