"""Forms of the calls of Monnify's twin.

They are those of the vendor's SDKs and of the schemas of its MCP server, the stricter where these differ.
"""

from collections.abc import Mapping

from kasuwa.rails.twins.forms import Call, Field, boolean, group, integer, naira, optional, text, texts

DIGITS, ACCOUNT, BANK = r"[0-9]+", r"[0-9]{10}", r"[0-9]{3,6}"
# The characters of references are not documented; bars and dashes are in examples. 64 is the longest in the MCP server.
REFERENCE = r"[A-Za-z0-9_|.-]{1,64}"
VENDOR_REFERENCE = r"MNFY\|[0-9|]+"
METADATA = optional(Field("object", {"branch": "1"}))
PAYMENT: Mapping[str, Field] = {
    "amount": naira("1500.00"),
    "customerEmail": text("payer@example.com"),
    "paymentReference": text("kz1-gp-fd-123456789"),
    "paymentDescription": text("Invoice 12"),
    "currencyCode": text("NGN"),
    "contractCode": text("4934121686", DIGITS),
    "metaData": METADATA,
}
RESERVED = "/bank-transfer/reserved-accounts"

CALLS: Mapping[str, Call] = {
    "POST /api/v1/auth/login": Call(body={}),
    "GET /api/v1/banks": Call(),
    "GET /api/v1/disbursements/account/validate": Call(
        {"accountNumber": text("0123456785", ACCOUNT), "bankCode": text("058", BANK)}
    ),
    "GET /api/v2/disbursements/wallet-balance": Call({"accountNumber": text("8016472829", ACCOUNT)}),
    "POST /api/v2/disbursements/single": Call(
        body={
            "amount": naira("1500.00"),
            "reference": text("kz1-gp-fd-123456789", REFERENCE),
            # No source has the length or the characters: those of NIP.
            "narration": text("Invoice 12", r"(?=.*\S)[A-Za-z0-9 ./,-]{1,100}"),
            "destinationBankCode": text("058", BANK),
            "destinationAccountNumber": text("0123456785", ACCOUNT),
            "destinationAccountName": text("ADA OBI"),
            "currency": text("NGN", "NGN"),
            "sourceAccountNumber": text("8016472829", ACCOUNT),
            "async": optional(boolean(True)),
            "senderInfo": optional(
                group(
                    {
                        "sourceAccountNumber": text("0123456785", ACCOUNT),
                        "sourceAccountName": text("ADA STORES"),
                        "senderBankCode": text("058", BANK),
                        "sourceAccountBvn": optional(text("22212345678", "[0-9]{11}")),
                    }
                )
            ),
        }
    ),
    "GET /api/v2/disbursements/single/summary": Call({"reference": text("kz1-gp-fd-123456789", REFERENCE)}),
    "GET /api/v2/disbursements/single/transactions": Call(
        {"pageNo": optional(integer(0)), "pageSize": optional(integer(10))}
    ),
    "POST /api/v1/vas/bvn-details-match": Call(
        body={
            "bvn": text("22212345678", "[0-9]{11}"),
            "name": text("ADAEZE OKAFOR"),
            "dateOfBirth": text("28-Jun-1990", "[0-9]{2}-[A-Z][a-z]{2}-[0-9]{4}"),
            "mobileNo": text("08031234567", "[0-9]{11}"),
        }
    ),
    f"POST /api/v2{RESERVED}": Call(
        body={
            "accountReference": text("kz1-va-1", REFERENCE),
            "accountName": text("Ada Stores"),
            "currencyCode": text("NGN", "NGN"),
            "contractCode": text("4934121686", DIGITS),
            "customerEmail": text("payer@example.com", r"[^@\s]+@[^@\s]+\.[a-z]{2,}"),
            "customerName": text("Ada Obi"),
            "bvn": optional(text("22212345678")),  # or nin, which the twin does not know
            "getAllAvailableBanks": boolean(True),
            "preferredBanks": optional(texts(["035"], BANK)),
            # Sources differ about the default: it must be given.
            "restrictPaymentSource": boolean(False),
        }
    ),
    f"GET /api/v2{RESERVED}/{{reference}}": Call(),
    f"DELETE /api/v1{RESERVED}/reference/{{reference}}": Call(),
    f"GET /api/v1{RESERVED}/transactions": Call(
        {"accountReference": text("kz1-va-1", REFERENCE), "page": optional(integer(0)), "size": optional(integer(10))}
    ),
    "GET /api/v2/transactions/{reference}": Call(),
    "GET /api/v1/transactions/find-by-settlement-reference": Call(
        {"reference": text("S-1", REFERENCE), "page": optional(integer(0)), "size": optional(integer(10))}
    ),
    "POST /api/v1/merchant/transactions/init-transaction": Call(
        body={
            **PAYMENT,
            "customerName": optional(text("Ada Obi")),
            "redirectUrl": optional(text("https://shop.example.com/back", r"https?://\S+")),
            "paymentMethods": optional(
                texts(["ACCOUNT_TRANSFER"], "CARD|ACCOUNT_TRANSFER|USSD|PHONE_NUMBER|DIRECT_DEBIT")
            ),
        }
    ),
    "POST /api/v1/merchant/bank-transfer/init-payment": Call(
        body={
            "transactionReference": text("MNFY|01|000000000000", VENDOR_REFERENCE),
            "bankCode": optional(text("058", BANK)),
        }
    ),
    "POST /api/v1/merchant/cards/charge-card-token": Call(
        body={
            **PAYMENT,
            "customerName": text("Ada Obi"),
            "cardToken": text("MNFY_1"),
            "apiKey": text("MK_TEST_1"),
        }
    ),
    # transactionReference may be given instead: the twin knows our reference alone.
    "GET /api/v2/merchant/transactions/query": Call({"paymentReference": text("kz1-gp-fd-123456789", REFERENCE)}),
    "POST /api/v1/refunds/initiate-refund": Call(
        body={
            "transactionReference": text("MNFY|01|000000000000", VENDOR_REFERENCE),
            "refundReference": text("kz1-gp-rf-123456789", REFERENCE),
            "refundAmount": naira("1500.00"),
            "refundReason": text("Refund"),
            "customerNote": text("Refund"),
            "destinationAccountNumber": optional(text("0123456785", ACCOUNT)),
            "destinationAccountBankCode": optional(text("058", BANK)),
        }
    ),
    "GET /api/v1/refunds/{reference}": Call(),
}
