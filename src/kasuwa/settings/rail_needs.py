"""The rails of each purpose with the settings that each needs, and the forms of these settings."""

from collections.abc import Mapping

# The vendors of collections, with the settings that each needs. Refunds are paid from Monnify's wallet.
COLLECTION_VENDORS: Mapping[str, tuple[str, ...]] = {
    "paystack": ("paystack_secret_key", "rail_email_domain"),
    "monnify": (
        "monnify_api_key",
        "monnify_secret_key",
        "monnify_wallet_account",
        "monnify_contract_code",
        "rail_email_domain",
    ),
    "remote": ("remote_base_url", "remote_key_id", "remote_secret"),
}
REMOTE_NEEDS = COLLECTION_VENDORS["remote"]

# The rails of each purpose, with the settings that each needs.
RAIL_VENDORS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "bank": {
        "paystack": ("paystack_secret_key",),
        "monnify": ("monnify_api_key", "monnify_secret_key", "monnify_wallet_account"),
        "remote": REMOTE_NEEDS,
    },
    "bills": {
        "vtpass": ("vtpass_api_key", "vtpass_public_key", "vtpass_secret_key", "vtpass_phone"),
        "remote": REMOTE_NEEDS,
    },
    "identity": {
        "dojah": ("dojah_app_id", "dojah_secret_key"),
        "monnify": ("monnify_api_key", "monnify_secret_key"),
        "remote": REMOTE_NEEDS,
    },
    "card": COLLECTION_VENDORS,
    "collect": COLLECTION_VENDORS,
    "accounts": {
        "paystack": ("paystack_secret_key", "paystack_phone", "rail_email_domain"),
        "monnify": ("monnify_api_key", "monnify_secret_key", "monnify_contract_code"),
        "remote": REMOTE_NEEDS,
    },
}

PHONE_FORM = ("0[789][01][0-9]{8}", "be a Nigerian mobile number")
RAIL_FORMS = {
    "suspense_mid": ("GP[0-9]{7}", "be the mid of a merchant of the operator's own"),
    "monnify_wallet_account": ("[0-9]{10}", "have ten digits"),
    "monnify_contract_code": ("[0-9]{6,20}", "have 6 to 20 digits"),
    "vtpass_phone": PHONE_FORM,
    "paystack_phone": PHONE_FORM,
    "rail_email_domain": (r"([a-z0-9][a-z0-9-]{0,62}\.)+[a-z]{2,24}", "be a domain such as pay.example.com"),
    "sms_from": ("[A-Za-z0-9][A-Za-z0-9 -]{1,9}[A-Za-z0-9]", "have 3 to 11 letters, digits, spaces or dashes"),
    "termii_channel": ("dnd|generic", "be dnd or generic"),
    "dojah_lookup": ("find|match", "be find or match"),
    "remote_identity": ("find|match|consent", "be find, match or consent"),
    "paystack_account_bank": ("[a-z0-9-]{2,50}", "be the vendor's name of a bank, such as wema-bank"),
}

# Payment methods that a rail may serve by the rail protocol.
REMOTE_METHODS = ("card", "token", "account", "bank_transfer", "ussd", "phone", "mobile_money")
