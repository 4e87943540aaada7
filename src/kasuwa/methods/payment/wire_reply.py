"""Replies of `PUT /payment`. Every step has one format. Fields that do not apply are absent.

Contract: payment#charge
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType, field

PaymentStatus = Literal["successful", "failed", "pending"]


class CardReply(msgspec.Struct, kw_only=True):
    """The card data that may be shown. `hash` is keyed: equal for the same card of the same merchant."""

    hash: str
    "Keyed hash of number and expiry: equal for the same card of the same merchant, and of no use elsewhere."
    mask: str
    "The card number with all but its first six and last four digits replaced by asterisks."
    bin: str
    "The first six digits, which name the issuer."
    brand: str | None
    "Card network, such as `visa`. Null if unknown."
    type: str | None
    "Kind of card, such as `debit` or `credit`. Null if the issuer is unknown."
    issuer: str | None
    "Name of the bank that issued the card. Null if unknown."
    country: str | None
    "Country of the issuer. Null if unknown: the fee is then that of a local card."


class Charges(msgspec.Struct, kw_only=True):
    """The cost of a payment. `fee` excludes VAT. The payer pays `total_charge`, the merchant gets `settled`."""

    amount: str
    "Amount of the payment, as in the request."
    fee: str
    "Fee without VAT."
    vat: str
    "VAT on the fee."
    total_charge: str
    "Amount that the payer pays: `amount`, or more if the customer bears the fee."
    settled: str
    "Amount that reaches the wallet: `total_charge` less fee and VAT."
    currency: str
    "Currency of the amounts."
    bearer: str
    "Payer of the fee: `merchant` or `customer`."


class PaymentReply(msgspec.Struct, kw_only=True):
    """Reply of every payment step.

    Status 200 has `txnStatus`. Status 201 is pending too: the rail's answer could not be read. Status 202 says what the
    payer must do.
    """

    status: Literal[200, 201, 202] = 200
    """200: `txnStatus` says the outcome. 201: the rail's answer could not be read, the payment is pending. 202: a
    further step is needed, named by the fields `apply_auth` to `expires`."""
    txn_ref: str | UnsetType = field(name="txnRef", default=UNSET)
    "Reference of the payment, made by the service. Absent in a dry run of a payment that would begin."
    txn_status: PaymentStatus | UnsetType = field(name="txnStatus", default=UNSET)
    """`successful` and `failed` are final. `pending`: the outcome is not known yet; verify later. Absent with status
    202 and in a dry run."""
    message: str
    "The outcome or the next step in words. Of a failed payment it says who declined and why."
    loan_id: str | UnsetType = UNSET
    "The loan that the payment repays. Absent for every other payment."
    savings_id: str | UnsetType = UNSET
    "The savings account that the payment is deposited to. Absent for every other payment."
    checkout_ref: str | UnsetType = field(name="checkoutRef", default=UNSET)
    "The checkout that the payment is an attempt to pay. Absent for every other payment."
    # The step that the payer must take.
    apply_auth: str | UnsetType = UNSET
    """Reply of `initiate`: the authentication that the card's bank wants, `PIN`, `OTP` or `3DSecure`. Call `charge`
    next, or for `OTP` call `validate`. `redirect`: the payer enters the card at `authURL`, and nothing is called."""
    auth_type: str | UnsetType = UNSET
    """What the payer does next: `OTP`: tell the code for `validate`; `ussd`: dial `ussd_code`; `device`: approve, scan
    or transfer. Absent if there is an `authURL`."""
    validate: str | UnsetType = UNSET
    "A text to show to the payer, who is to enter an OTP. Present only if an OTP is awaited."
    auth_url: str | UnsetType = field(name="authURL", default=UNSET)
    """Page on which the payer approves the payment, or pays. Open it in a window, one of ours also in a frame. Present
    for 3-D Secure and paga, and where payers pay on the page of a vendor."""
    state: str | UnsetType = UNSET
    "`validated` in the reply to a savings deposit that awaits an OTP. Absent otherwise."
    ussd_code: str | UnsetType = UNSET
    "The code that the payer dials. Present for `ussd`."
    enrolment: bool | UnsetType = UNSET
    "True for the first `phone` payment of a number at this merchant: the payer enrolls on the telephone. Else absent."
    qr_code: str | UnsetType = UNSET
    "Content of the QR code (EMVCo), to draw it yourself. Present for `qrpay`."
    qr_image: str | UnsetType = UNSET
    "Address of the QR code as an SVG image. Present for `qrpay`."
    account_number: str | UnsetType = field(name="accountNumber", default=UNSET)
    "Account that the payer transfers the money to, made for this payment. Present for `bank_transfer`."
    account_name: str | UnsetType = field(name="accountName", default=UNSET)
    "Name of that account: the request's `business_name`, or the merchant's name."
    bank_name: str | UnsetType = field(name="bankName", default=UNSET)
    "Bank of that account."
    account_expires: int | UnsetType = field(name="accountExpires", default=UNSET)
    "Seconds from the beginning of the payment until the account is no longer valid."
    amount: str | int | float | UnsetType = UNSET
    "Amount that the payer must transfer, with the fee if the customer bears it. Present for `bank_transfer`."
    expires: int | UnsetType = UNSET
    "Seconds from the beginning of the payment until the code is no longer valid. Present for `ussd` and `qrpay`."
    # The completed result.
    card_token: str | UnsetType = field(name="cardToken", default=UNSET)
    "Token of the saved card, for payments of type `token`. Present if a card payment was successful."
    bank_message: str | UnsetType = UNSET
    "Answer of the payer's bank or provider in its own words; of a failed payment, the reason."
    fullname: str | UnsetType = UNSET
    "First and last name of the payer as sent with `user`. Empty if unknown."
    email: str | UnsetType = UNSET
    "Email address of the payer as sent with `user`. Empty if unknown."
    charged_amount: str | UnsetType = field(name="chargedAmount", default=UNSET)
    "Amount that the payer was charged, with the fee if the customer bears it; 0.00 if the payment failed."
    fraud_status: str | UnsetType = field(name="fraudStatus", default=UNSET)
    "Result of the rail's fraud check: `ok`, or `flagged` if it suspects fraud."
    card: CardReply | UnsetType = UNSET
    "The card that was charged. Present for card and token payments."
    currency: str | UnsetType = UNSET
    "Currency of the charged amount."
    payment_method: str | UnsetType = UNSET
    "The payment type, such as `card` or `ussd`; `wallet` if a loan or savings account was paid from the wallet."
    meta: dict[str, Any] | UnsetType = UNSET
    "The object that was sent as `meta`. Absent if there was none."
    dry_run: Literal[True] | UnsetType = UNSET
    "True in a dry run: nothing was changed, and no rail was asked. Else absent."
    charges: Charges | UnsetType = UNSET
    "What the payment would cost now. Present in a dry run of `initiate` and `charge`."


# The fields of PaymentReply that a payment of each type may have in the replies to `initiate`, `charge` and `validate`.
# A vendor may ask any payer for a code or to a page.
STEP_OUTCOME_FIELDS = (
    "status",
    "txn_ref",
    "txn_status",
    "message",
    "auth_type",
    "validate",
    "auth_url",
    "bank_message",
    "fullname",
    "email",
    "charged_amount",
    "fraud_status",
    "currency",
    "payment_method",
    "meta",
    "dry_run",
    "charges",
)
TOKEN_FIELDS = (*STEP_OUTCOME_FIELDS, "card", "card_token")
INITIATE_CARD_FIELDS = (*TOKEN_FIELDS, "apply_auth")
# The payment of a code or of a card that was initiated may be one that another path or a checkout began.
CODE_FIELDS = (*TOKEN_FIELDS, "state", "loan_id", "savings_id", "checkout_ref")
CHARGE_CARD_FIELDS = (*CODE_FIELDS, "apply_auth")
USSD_FIELDS = (*STEP_OUTCOME_FIELDS, "ussd_code", "expires")
PHONE_FIELDS = (*STEP_OUTCOME_FIELDS, "enrolment")
QR_FIELDS = (*STEP_OUTCOME_FIELDS, "qr_code", "qr_image", "expires")
BANK_TRANSFER_FIELDS = (
    *STEP_OUTCOME_FIELDS,
    "account_number",
    "account_name",
    "bank_name",
    "account_expires",
    "amount",
)


class RefundLine(msgspec.Struct, kw_only=True):
    """One refund of a payment, in any status."""

    refund_ref: str = field(name="refundRef")
    "Reference of the refund, made by the service."
    txn_status: PaymentStatus = field(name="txnStatus")
    "`pending` until the rail has confirmed; `successful` and `failed` are final."
    amount: str
    "Amount of the refund, in the payment's currency."
    message: str
    "The outcome in words; of a failed refund, the reason."
    comment: str
    "The `comment` of the refund request. Empty if there was none."
    date_created: str = field(name="dateCreated")
    "Time of the refund request, in UTC."


class CheckoutReport(msgspec.Struct, kw_only=True):
    """A checkout as `verify` shows it."""

    state: Literal["open", "paid", "expired"]
    "`open`: it can be paid. `paid`: an attempt has succeeded. `expired`: its time is over, and it was not paid."
    amount: str
    "Amount of the checkout, without a fee that the payer bears."
    url: str
    "Address of its page."
    expires: str
    "Time until which an attempt may begin, in UTC."
    attempts: int
    "Number of attempts to pay it, each a payment of its own."
    payment_ref: str | None = field(name="paymentRef")
    "The `txnRef` of the payment that succeeded, by which it is refunded. Null if none did."
    attempt_ref: str | None = field(name="attemptRef")
    "The `txnRef` of the newest attempt. Null if there was none."
    source: str
    "What the checkout was opened for: `checkout` (by the API), `link`, `ticket` or `invoice`."
    source_id: str | None
    "Identifier of the link or other source. Null if the API opened it."


class RejectionLine(msgspec.Struct, kw_only=True):
    """A transfer for a payment that was sent back. Nothing was booked."""

    amount: str | None
    "Amount that the payer transferred. Null if the bank did not say."
    reason: str
    "The bank's word for the reason, such as `UNDER_PAYMENT`. Empty if it gave none."
    at: str
    "Time at which the bank announced it, in UTC."


class VerifyReply(msgspec.Struct, kw_only=True):
    """A payment as `verify` shows it. `chargedAmount` is a number here.

    A pending payment has the payer's next step, as `charge` returns it. `refunds` lists all refunds, newest first,
    failed ones too. If a refund was asked for, `refundRef`, status, message and amount are the refund's, and `txnRef`
    and the rest are its payment's. Contract: payment#verify, payment#refund
    """

    status: Literal[200] = 200
    "200: the reference is known. `txnStatus` says what became of it."
    txn_status: PaymentStatus = field(name="txnStatus")
    "`successful` and `failed` are final. `pending`: the payer or the rail has not finished it yet."
    txn_ref: str = field(name="txnRef")
    "Reference of the payment, also if a refund was asked for."
    customer_txnref: str | None
    "Your reference of the payment. Null if there is none."
    message: str
    "The state in words: `PENDING`, or the outcome. Of a failed payment it says who declined and why."
    charged_amount: float = field(name="chargedAmount")
    """Amount that the payer was charged, with the fee if the customer bears it; of a refund, the amount paid back. 0
    unless successful."""
    currency: str
    "Currency of the payment."
    payment_method: str
    "The payment type, `wallet` for a repayment or deposit from the wallet, `refund` if a refund was asked for."
    fullname: str
    "First and last name of the payer as sent with `user`. Empty if unknown."
    email: str
    "Email address of the payer as sent with `user`. Empty if unknown."
    bank_message: str
    """Answer of the payer's bank or provider in its own words. `Awaiting Validation` while pending, or how much of a
    bank transfer has arrived."""
    fraud_status: str = field(name="fraudStatus")
    "Result of the rail's fraud check: `ok`, or `flagged` if it suspects fraud."
    card: CardReply | UnsetType = UNSET
    "The card that was charged. Present if a card or token payment was successful."
    card_token: str | UnsetType = field(name="cardToken", default=UNSET)
    "Token of the saved card, for payments of type `token`. Present if a card or token payment was successful."
    refunded_amount: str | UnsetType = field(name="refundedAmount", default=UNSET)
    "Sum of the successful refunds of the payment. Present if the payment was successful."
    disputed_amount: str | UnsetType = field(name="disputedAmount", default=UNSET)
    "Sum of the disputes of the payment that were not won. It cannot be refunded. Absent if there is none."
    loan_id: str | UnsetType = UNSET
    "The loan that the payment repays. Absent for every other payment."
    savings_id: str | UnsetType = UNSET
    "The savings account that the payment was deposited to. Absent for every other payment."
    checkout_ref: str | UnsetType = field(name="checkoutRef", default=UNSET)
    "The checkout that the payment was an attempt to pay. Absent for every other payment, and for a checkout itself."
    checkout: CheckoutReport | UnsetType = UNSET
    "The checkout that was asked for. Absent for a payment or refund."
    meta: dict[str, Any] | UnsetType = UNSET
    "The object that was sent as `meta`. Absent if there was none, and if a refund was asked for."
    unapplied_amount: str | UnsetType = field(name="unappliedAmount", default=UNSET)
    """Part of a payment for a loan or savings account that it could not use and that can still be refunded. Absent if
    all of it was used."""
    refund_ref: str | UnsetType = field(name="refundRef", default=UNSET)
    "Reference of the refund that was asked for. Absent for a payment."
    refundable_amount: str | UnsetType = field(name="refundableAmount", default=UNSET)
    "Amount of the payment that can still be refunded. Present if a refund was asked for."
    refunds: list[RefundLine] | UnsetType = UNSET
    "The newest 200 refunds of the payment, newest first, in any status. Absent if there are none."
    rejections: list[RejectionLine] | UnsetType = UNSET
    "Transfers for the payment that were sent back, newest first. Absent if there are none."
    # The step that the payer must take.
    apply_auth: str | UnsetType = UNSET
    "While the payment waits for `charge`: the authentication that the card's bank wants."
    auth_type: str | UnsetType = UNSET
    "While the payer must act: `OTP`, `ussd` or `device`, as in the reply of `charge`."
    validate: str | UnsetType = UNSET
    "A text to show to the payer, who is to enter an OTP. Present only if an OTP is awaited."
    auth_url: str | UnsetType = field(name="authURL", default=UNSET)
    """Page on which the payer approves the payment, or pays. Present while a payment by 3-D Secure, by paga or on the
    page of a vendor is pending."""
    ussd_code: str | UnsetType = UNSET
    "The code that the payer dials. Present while a `ussd` payment is pending."
    qr_code: str | UnsetType = UNSET
    "Content of the QR code (EMVCo). Present while a `qrpay` payment is pending."
    qr_image: str | UnsetType = UNSET
    "Address of the QR code as an SVG image. Present while a `qrpay` payment is pending."
    account_number: str | UnsetType = field(name="accountNumber", default=UNSET)
    "Account that the payer transfers the money to. Present while a `bank_transfer` payment is pending."
    account_name: str | UnsetType = field(name="accountName", default=UNSET)
    "Name of that account: the request's `business_name`, or the merchant's name."
    bank_name: str | UnsetType = field(name="bankName", default=UNSET)
    "Bank of that account."
    amount: str | UnsetType = UNSET
    """Amount that the payer must transfer while a `bank_transfer` payment is pending; or the amount of the refund that
    was asked for."""
    expires_at: str | UnsetType = UNSET
    "Time at which the payment fails if the payer has not acted, in UTC. Present while the payer must act."


# Fields of the payer's next step that PaymentReply and VerifyReply share.
STEP_FIELDS = (
    "apply_auth",
    "auth_type",
    "validate",
    "auth_url",
    "ussd_code",
    "qr_code",
    "qr_image",
    "account_number",
    "account_name",
    "bank_name",
    "amount",
)


class RefundReply(msgspec.Struct, kw_only=True):
    """One refund. `refundedAmount` and `refundableAmount` are of its payment: refunded so far, and still refundable."""

    status: Literal[200] = 200
    "200: the refund was accepted. `txnStatus` says its outcome."
    txn_ref: str = field(name="txnRef")
    "The payment that is refunded."
    refund_ref: str | UnsetType = field(name="refundRef", default=UNSET)
    "Reference of the refund, made by the service. `verify` takes it. Absent in a dry run."
    txn_status: PaymentStatus | UnsetType = field(name="txnStatus", default=UNSET)
    """`pending`: the rail has not confirmed it yet and is asked again. `successful` and `failed` are final. Absent in a
    dry run."""
    amount: str
    "Amount of this refund."
    currency: str
    "Currency of the payment and of the refund."
    refunded_amount: str = field(name="refundedAmount")
    "Sum of the successful refunds of the payment."
    refundable_amount: str = field(name="refundableAmount")
    """Amount of the payment that can still be refunded. Pending refunds are deducted, and in a dry run the amount of
    the request."""
    message: str
    "The outcome in words; of a failed refund, the reason."
    dry_run: Literal[True] | UnsetType = UNSET
    "True in a dry run: nothing was paid back. Else absent."


class InboundReply(msgspec.Struct, kw_only=True):
    """The effect of a bank transfer into an account number, in the test environment."""

    status: Literal[200] = 200
    "200: the transfer arrived, or was returned: see `message`."
    txn_status: PaymentStatus = field(name="txnStatus")
    """State of the payment after the transfer: `pending` if it was too little, `successful` if it covers the amount. A
    payment that had ended keeps its state, and the money is returned."""
    txn_ref: str = field(name="txnRef")
    "The payment that the transfer belongs to."
    message: str
    "What became of the money: paid, how much is still awaited, or returned to the payer."


class BeneficiaryReply(msgspec.Struct, kw_only=True):
    """A new beneficiary of split payments."""

    status: Literal[200] = 200
    "200: the beneficiary was registered."
    ref_code: str
    "Code of the beneficiary, made by the service, for `split`."


class RecurrentReply(msgspec.Struct, kw_only=True):
    """A recurrent payment. `txnRef` is its newest charge, `paid` the sum of all successful ones."""

    id: str
    "Identifier of the recurrent payment, made by the service."
    state: str
    """`active`: charged on its due dates. `paused`: by the service, after a decline that is not retried or three failed
    cycles in a row. `stopped`: by you. `start` activates these again. `cancelled`: the payer's data were erased; it
    cannot be started again."""
    amount: str
    "Amount of each charge, without a fee that the customer bears."
    currency: str
    "Currency of the amounts."
    frequency: str
    "How often the card is charged: `daily`, `weekly` or `monthly`."
    value: str
    "The hour, the weekday (1 is Monday) or the day of the month, by `frequency`, in Lagos time."
    next_charge: str | None
    "Due time of the charge that comes next or is being retried, in UTC. Null unless the state is `active`."
    paid: str
    "Sum of the amounts of all successful charges, the first included."
    card_token: str = field(name="cardToken")
    "Token of the saved card that is charged."
    txn_ref: str = field(name="txnRef")
    "Reference of the newest charge."
    email: str
    "Email address of the payer. Empty if unknown."
    date_created: str = field(name="dateCreated")
    "Time of the first successful charge, in UTC."


class RecurrentChanged(msgspec.Struct, kw_only=True):
    """One recurrent payment, after a change if the request had one."""

    status: Literal[200] = 200
    "200: the recurrent payment is known, and the change was made."
    message: str
    "The state in words."
    data: RecurrentReply
    "The recurrent payment."
    dry_run: Literal[True] | UnsetType = UNSET
    "True in a dry run: `data` is what the recurrent payment would be, and nothing was changed. Else absent."


class InstallmentLine(msgspec.Struct, kw_only=True):
    """One installment of a plan."""

    date: str
    "Date on which it is due, as DD-MM-YYYY in Lagos. Of the first charge, its own date."
    amount: str
    "Amount of the installment, without a fee that the customer bears."
    paid: bool
    "Whether it was collected."


class InstallmentReply(msgspec.Struct, kw_only=True):
    """An installment plan with its schedule."""

    id: str
    "Identifier of the plan, made by the service."
    state: str
    """`active`: charged on its dates. `paused`: by you, or after declines. `cancelled`: by you, or because the
    payer's data were erased. After the last date `finished` (all was collected), `incomplete` (a part was) or `unpaid`
    (nothing was)."""
    total: str
    "Sum of all installments."
    paid: str
    "Sum of the installments that were collected."
    currency: str
    "Currency of the amounts."
    next_charge: str | None
    "Due time of the installment that comes next or is being retried, in UTC. Null unless the state is `active`."
    payment_schedule: list[InstallmentLine]
    "The installments by date, the first charge included."
    card_token: str = field(name="cardToken")
    "Token of the saved card that is charged."
    txn_ref: str = field(name="txnRef")
    "Reference of the newest charge."
    email: str
    "Email address of the payer. Empty if unknown."
    date_created: str = field(name="dateCreated")
    "Time at which the plan began, with the first successful charge or authentication, in UTC."


class InstallmentChanged(msgspec.Struct, kw_only=True):
    """An installment plan after a change."""

    status: Literal[200] = 200
    "200: the plan has the requested state."
    message: str
    "The state in words."
    data: InstallmentReply
    "The installment plan."
    dry_run: Literal[True] | UnsetType = UNSET
    "True in a dry run: `data` is what the plan would be, and nothing was changed. Else absent."


class ChargesReply(msgspec.Struct, kw_only=True):
    """The cost of a payment. Nothing is charged."""

    status: Literal[200] = 200
    "200: the payment could be made at this price."
    data: Charges
    "The figures."


class ChargeableBank(msgspec.Struct, kw_only=True):
    """A bank whose accounts can be debited."""

    bankname: str
    "Name of the bank."
    bankcode: str
    "Code of the bank, for `account.bankcode`."


class ChargeableBanksReply(msgspec.Struct, kw_only=True):
    """The banks whose accounts can be debited."""

    status: Literal[200] = 200
    "200."
    data: list[ChargeableBank]
    "The banks, by name."
