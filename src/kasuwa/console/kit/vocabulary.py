"""The words of pages: labels of fields, and the color and symbol of each state.

A state is shown as a symbol and a word, so that it can be read without color. Two states of the same record never share
both symbol and color.
"""

import re
from typing import Literal

import msgspec

from kasuwa.transactions.event_fields import DeclineReason

Tone = Literal["good", "bad", "wait", "busy", "note", "quiet"]


class StateStyle(msgspec.Struct, frozen=True):
    """The color and symbol of a state."""

    tone: Tone  # names the color
    symbol: str


# What ended well, failed, waits for somebody, is in progress, deserves attention, or is over.
STATE_STYLES: dict[str, StateStyle] = {
    **dict.fromkeys(
        (
            "successful",
            "paid",
            "approved",
            "delivered",
            "sent",
            "settled",
            "won",
            "verified",
            "valid",
            "balanced",
            "done",
            "holds",
            "works",
        ),
        StateStyle("good", "✓"),
    ),
    **dict.fromkeys(("active", "running", "enabled"), StateStyle("good", "●")),
    "good": StateStyle("good", "✓"),
    **dict.fromkeys(("matured", "completed"), StateStyle("good", "★")),
    **dict.fromkeys(
        ("failed", "rejected", "closed_rejected", "lost", "exhausted", "violated", "bounced"), StateStyle("bad", "✕")
    ),
    **dict.fromkeys(
        ("late", "overdue", "active_in_arrears", "in_arrears", "needs_response", "conflict", "failing"),
        StateStyle("bad", "!"),
    ),
    **dict.fromkeys(("blocked", "blacklisted", "locked", "suspended", "off"), StateStyle("bad", "⊘")),
    **dict.fromkeys(("written_off", "closed_written_off", "called"), StateStyle("bad", "▽")),
    **dict.fromkeys(("pending", "waiting", "queued", "pending_approval", "awaiting_consent"), StateStyle("wait", "◷")),
    **dict.fromkeys(("unpaid", "open", "scheduled", "to_do", "submitted"), StateStyle("wait", "○")),
    "paused": StateStyle("wait", "‖"),
    "dormant": StateStyle("wait", "☾"),
    "held": StateStyle("wait", "▣"),
    "released": StateStyle("quiet", "▢"),
    "repeated": StateStyle("note", "↻"),
    "unknown": StateStyle("note", "◌"),
    **dict.fromkeys(("processing", "disbursing", "under_review", "opening", "closing"), StateStyle("busy", "◐")),
    **dict.fromkeys(("partly_paid", "partially_paid", "partial"), StateStyle("busy", "◑")),
    **dict.fromkeys(("refunded", "partly_refunded", "returned"), StateStyle("note", "↺")),
    **dict.fromkeys(("disputed", "invited"), StateStyle("note", "◆")),
    **dict.fromkeys(("redeemed", "used", "accepted"), StateStyle("quiet", "✓")),
    "closed_repaid": StateStyle("good", "■"),
    **dict.fromkeys(("closed", "terminated", "stopped", "exited", "erased", "ended"), StateStyle("quiet", "■")),
    **dict.fromkeys(("inactive", "disabled", "archived"), StateStyle("quiet", "○")),
    **dict.fromkeys(("expired", "abandoned"), StateStyle("quiet", "◔")),
    **dict.fromkeys(
        ("void", "cancelled", "canceled", "closed_withdrawn", "withdrawn", "revoked"), StateStyle("quiet", "⊘")
    ),
}
UNKNOWN_STATE = StateStyle("quiet", "◌")


def state_style(state: str) -> StateStyle:
    """Returns how a state is shown. An unknown state has a neutral color and symbol."""
    return STATE_STYLES.get(state.lower(), UNKNOWN_STATE)


# --- labels -------------------------------------------------------------------------------------------------------

ACRONYMS = frozenset({"atm", "bvn", "cvv", "id", "ngn", "otp", "pin", "pos", "url", "ussd", "vat"})

# Fields whose name in the API does not read well.
LABELS = {
    "accept_number": "Asks for a telephone number",
    "accountName": "Account name",
    "accountNumber": "Account number",
    "accountnumber": "Account number",
    "account_number": "Account number",
    "accrued_interest": "Interest so far",
    "authURL": "Payer's link",
    "bankAccount": "Bank account",
    "bankName": "Bank",
    "bank_code": "Bank",
    "bankcode": "Bank",
    "batchRef": "Batch",
    "bvn_verified": "BVN verified",
    "cardToken": "Card token",
    "card_owner": "Owner",
    "card_type": "Network",
    "cardpan": "Card number",
    "checkoutRef": "Checkout",
    "charge_user": "The customer pays",
    "client_id": "Client",
    "closed_at": "Closed",
    "created_at": "Created",
    "customer_id": "Customer",
    "customer_txnref": "Your reference",
    "dateCreated": "Created",
    "dateEnded": "Completed",
    "date_due": "Due",
    "disbursed_at": "Disbursed",
    "dispute_id": "Dispute",
    "dob": "Date of birth",
    "email": "Email",
    "ended_at": "Ended",
    "expires_at": "Expires",
    "firstname": "First name",
    "id": "Reference",
    "interestFrequency": "Interest period",
    "interestRate": "Interest rate",
    "interestSettings": "Interest",
    "invoice_id": "Invoice",
    "lastname": "Last name",
    "link": "Payer's link",
    "link_id": "Payment link",
    "borrower_id": "Borrower",
    "collateral_id": "Collateral",
    "group_id": "Group",
    "group_loan_id": "Loan of the group",
    "guarantee_id": "Guarantee",
    "loan_id": "Loan",
    "product_id": "Product",
    "tops_up": "Tops up",
    "topped_up_by": "Topped up by",
    "loans_requested": "Loans requested",
    "loans_active": "Loans owing",
    "loans_in_arrears": "Loans late",
    "loans_closed": "Loans closed",
    "loans_lent": "Lent",
    "mail_id": "Mail",
    "maskedpan": "Card number",
    "matures_at": "Matures",
    "member_required": "Members needed",
    "middlename": "Middle name",
    "n": "No.",
    "order_id": "Standing order",
    "auto_repay_id": "Automatic collection",
    "next_charge": "Next charge",
    "next_date": "Next date",
    "opened_at": "Opened",
    "orderRef": "Your reference",
    "paid_at": "Paid",
    "paid_count": "Payments made",
    "paid_out": "Paid out",
    "per_day": "Per day",
    "per_month": "Per month",
    "per_transaction": "Per purchase",
    "plan_id": "Plan",
    "postal_code": "Postal code",
    "ref_code": "Beneficiary",
    "refundOf": "Refund of",
    "refundRef": "Refund",
    "respond_by": "Respond by",
    "responded_at": "Responded",
    "redemption_id": "Redemption",
    "savings_id": "Savings account",
    "settlement_id": "Settlement",
    "thrift_id": "Thrift plan",
    "ticket_data": "Kinds of tickets",
    "txnRef": "Reference",
    "txnStatus": "Status",
    "to": "Recipient",
    "to_name": "Name of the recipient",
    "txn_ref": "Reference",
    "voided_at": "Voided",
}


def label(name: str) -> str:
    """Returns the label of a field of the API."""
    return LABELS.get(name) or humanize(name)


def humanize(name: str) -> str:
    """Converts a name to words: `bank_code` and `bankCode` become "Bank code", and acronyms get capitals."""
    words = re.sub(r"([a-z0-9])([A-Z])", lambda match: f"{match[1]} {match[2].lower()}", name).replace("_", " ").strip()
    text = " ".join(word.upper() if word.lower() in ACRONYMS else word for word in words.split(" "))
    return text[:1].upper() + text[1:]


# Words of the API that pages write in other ones.
WORDS = {
    "qrpay": "QR code",
    "ussd": "USSD",
    "bank_transfer": "bank transfer",
    "mobile_money": "mobile money",
    "phone": "telephone",
    "account": "bank account",
    "token": "saved card",
}


# Why a virtual card declined a purchase, and what can be done about it.
DECLINE_TEXTS: dict[DeclineReason, str] = {
    "card_terminated": "The card is terminated.",
    "card_blocked": "The card was blocked. Unblock it if it may pay again.",
    "card_expired": "The card has expired, or the payer entered another month.",
    "wrong_cvv": "The payer entered a wrong CVV.",
    "currency_not_supported": "There is no exchange rate between the shop's currency and that of the card.",
    "over_transaction_limit": "The amount is above the card's limit per purchase.",
    "over_daily_limit": "The amount would exceed the card's limit per day.",
    "over_monthly_limit": "The amount would exceed the card's limit per month.",
    "category_not_allowed": "The category of the shop is not among those that the card may pay.",
    "category_blocked": "The category of the shop is blocked for the card.",
    "merchant_not_allowed": "The shop is not among those that the card may pay.",
    "merchant_blocked": "The shop is blocked for the card.",
    "country_not_allowed": "The country of the shop is not among those that the card may pay, or is not known.",
    "channel_not_allowed": "The card may not be used in this way.",
    "not_yet_valid": "The card may be used from a later day on.",
    "no_longer_valid": "The last day on which the card may be used is over.",
    "single_use_spent": "The card was for one purchase, which was made before.",
    "velocity_count": "The card has paid as many purchases as its limits allow within the hours before.",
    "velocity_amount": "The amount would exceed what the card may spend within some hours.",
    "over_client_limit": "The amount would exceed what the client's tier may spend in a day.",
    "insufficient_funds": "The card did not hold enough. Fund it.",
    "declined_by_merchant": "Your decider declined it.",
    "no_decision": "Your decider gave no answer that counts, and such purchases are declined.",
    "issuer_declined": "The test environment was told to decline it.",
    "captured_too_much": "The shop captured more than 20 percent above what it had authorized.",
    "authorization_ended": "The shop captured an authorization that holds nothing any more.",
}


def method_text(method: str) -> str:
    """Returns a payment method in words."""
    return WORDS.get(method, method.replace("_", " "))


# Why an attempt to collect a loan failed, or why its automatic collection is paused.
COLLECTION_TEXTS: dict[str, str] = {
    "card_declined": "The last charge of the card was declined.",
    "card_refused": "The saved card could not be charged.",
    "card_erased": "The saved card was erased. Agree on another source.",
    "savings_short": "The savings did not cover the amount.",
    "savings_held": "What the savings have is held, such as for a guarantee.",
    "savings_dormant": "The savings are dormant. Reactivate them.",
    "savings_closed": "The savings were closed. Agree on another source.",
    "wallet_short": "The wallet did not have the amount.",
    "repayment_reversed": "A repayment that was collected has been taken back. Agree on collecting it again.",
    "no_due_date": "No due date is left.",
}
# What an automatic collection does next.
NEXT_STEP_TEXTS: dict[str, str] = {
    "payout": "Nothing until the loan is paid out; it is looked at again on {day}",
    "notice": "The client is told on {day}",
    "collect": "Collected on {day}",
    "retry": "Tried again on {day}",
    "charging": "The card is being charged",
}
