"""The fields that the contract documents for each action, by the row of the action table that reads them.

Every one of them must be read. `TEXTS` are free texts that are only stored: the test sends a marked value and looks for
it in the merchant's rows. The others select, limit or change something, which the tests of their slice show.
"""

USER = ("user.firstname", "user.lastname", "user.email", "user.ip", "user.fingerprint")
CARD = ("card.card_no", "card.expiry_month", "card.expiry_year", "card.ccv", "card.pin")
COMMON = (*USER, "amount", "country", "currency", "customer_txnref", "redirect_url", "split", "meta")
PAYER_TEXT_FIELDS = (*USER, "customer_txnref", "meta.note")
INTEREST = ("interestSettings.interestRate", "interestSettings.interestFrequency")
CLIENT = (
    "data.firstname",
    "data.lastname",
    "data.middlename",
    "data.email",
    "data.gender",
    "data.dob",
    "data.phone",
    "data.bvn",
    "data.addresses",
    "data.bankAccount",
    "data.meta",
)

CONTRACT_FIELDS: dict[str, tuple[str, ...]] = {
    "virtualcard-create": (
        "billing.address",
        "billing.name",
        "billing.city",
        "billing.state",
        "billing.postal_code",
        "amount",
        "currency",
        "country",
    ),
    "virtualcard-fund": ("reference", "amount"),
    "virtualcard-withdraw": ("reference", "amount"),
    "virtualcard-transactions": ("reference", "from_date", "to_date", "end_date"),
    "virtualcard-block": ("reference",),
    "virtualcard-unblock": ("reference",),
    "virtualcard-terminate": ("reference",),
    "payment-initiate-card": (
        *COMMON,
        *CARD,
        "is_recurring",
        "recurrent.frequency",
        "recurrent.value",
        "installment.payment_schedule",
        "installment.total",
    ),
    "payment-charge-card": (*COMMON, *CARD, "txnRef", "auth_type"),
    "payment-charge-token": (*COMMON, "token"),
    "payment-charge-account": (*COMMON, "account.accountnumber", "account.bankcode"),
    "payment-charge-ussd": (*COMMON, "bank", "phonenumber", "accountnumber"),
    "payment-charge-phone": (*COMMON, "phonenumber"),
    "payment-charge-qrpay": (*COMMON, "business_name"),
    "payment-charge-bank_transfer": (*COMMON, "business_name"),
    "payment-charge-mobile_money": (*COMMON, "type", "phonenumber", "network"),
    "payment-validate": ("txnRef", "otp", "validate"),
    "payment-verify": ("txnRef", "customer_txnref"),
    "payment-refund": ("txnRef", "amount", "comment"),
    "disburse-transfer": ("amount", "bankcode", "accountnumber", "sender_name", "narration", "orderRef"),
    "disburse-transfer-bulk": ("data",),
    "disburse-verify": ("txnRef",),
    "bills-pull": ("category", "bills_id"),
    "bills-resolve": ("paycode", "reference"),
    "bills-pay": ("paycode", "reference", "amount", "orderRef"),
    "bills-verify": ("txnRef",),
    "clients-create": (*CLIENT, "verify_bvn", "status"),
    "clients-update": ("client_id", *CLIENT),
    "clients-list": ("offset", "limit"),
    "clients-view": ("client_id",),
    "cashcode-generate": ("amount", "pin", "channel", "orderRef", "life_time"),
    "cashcode-verify": ("orderRef",),
    "loans-request": ("client_id", *INTEREST, "amount", "tax_applied", "tax_rate", "period"),
    "loans-process": ("loan_id", "status"),
    "loans-list": ("offset", "limit"),
    "loans-view": ("loan_id",),
    "loans-repay": ("loan_id", "payment_method", "ip", "fingerprint", *CARD, "meta"),
    "loans-validate": ("txnRef", "otp"),
    "loans-reverse": ("txnRef", "reason"),
    "investments-create_savings": ("name", "client_id", *INTEREST, "tax_applied", "tax_rate", "period"),
    "investments-list_savings": ("client_id", "offset"),
    "investments-view_savings": ("savings_id",),
    "investments-cashout": ("saving_id", "client_id", "amount", "method"),
    "investments-cashout-cashcode": ("saving_id", "client_id", "amount"),
    "investments-deposit": ("savings_id", "payment_method", "ip", "fingerprint", *CARD, "amount"),
    "investments-validate": ("txnRef", "otp"),
    "investments-create_plan": ("name", "amount", "start_date", "member_required", "frequency"),
    "investments-list_plans": ("offset", "limits"),
    "investments-subscriptions": ("thrift_id",),
    "investments-subscribe": ("savings_id", "thrift_id"),
    "resources-accountname": ("accountnumber", "bankcode"),
    "resources-bvn": ("bvn",),
    "resources-card": ("card_no",),
    "resources-charges": ("card_no", "amount", "type"),
    "resources-personalized-accounts": ("name", "reference", "email"),
}

# Rows of the action tables that the contract does not document field by field: it names them without fields, or they
# are additions.
WITHOUT_FIELDS = frozenset({"resources-banks", "resources-supported_chargable_banks"})

# Free texts that are only stored, by row.
FREE_TEXT_FIELDS: dict[str, tuple[str, ...]] = {
    "payment-initiate-card": PAYER_TEXT_FIELDS,
    # The charge changes nothing that `initiate` stored.
    "payment-charge-card": ("user.ip", "user.fingerprint", "meta.note"),
    "payment-charge-token": PAYER_TEXT_FIELDS,
    "payment-charge-account": PAYER_TEXT_FIELDS,
    "payment-charge-ussd": PAYER_TEXT_FIELDS,
    "payment-charge-phone": PAYER_TEXT_FIELDS,
    "payment-charge-qrpay": (*PAYER_TEXT_FIELDS, "business_name"),
    "payment-charge-bank_transfer": (*PAYER_TEXT_FIELDS, "business_name"),
    "payment-charge-mobile_money": PAYER_TEXT_FIELDS,
    "payment-refund": ("comment",),
    "disburse-transfer": ("sender_name", "narration"),
    "clients-create": ("data.firstname", "data.middlename", "data.meta.id_card_no"),
    "loans-repay": ("ip", "fingerprint", "customer_txnref", "meta.note", *USER),
    "loans-reverse": ("reason",),
    "investments-create_savings": ("name",),
    "investments-deposit": ("ip", "fingerprint", "customer_txnref", "meta.note", *USER),
    "investments-create_plan": ("name",),
    "resources-personalized-accounts": ("name",),
    "virtualcard-create": ("billing.name",),
}
