"""Forms of the calls of Paystack's twin.

Names, types and what is required are those of the vendor's OpenAPI document unless a comment says otherwise.
"""

from collections.abc import Mapping

from kasuwa.rails.twins.forms import Call, Field, boolean, group, integer, optional, text, texts

ACCOUNT = r"[0-9]{10}"
CURRENCY = "NGN|GHS|KES|ZAR|USD"
DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2}))?"
PAGES = {"perPage": optional(integer(50)), "page": optional(integer(1))}
DATES = {"from": optional(text("2020-01-01T00:00:00.000Z", DATE)), "to": optional(text("2040-01-01", DATE))}
DISPUTE_STATUS = "awaiting-merchant-feedback|awaiting-bank-feedback|pending|resolved"
# The amount and the reference have checks of their own in the vendor's words: least amounts, characters, used before.
PAYMENT: Mapping[str, Field] = {
    "email": text("payer@example.com"),
    "amount": integer(150_000),
    # The vendor makes a reference if there is none, which nobody could ask after: the twin wants one.
    "reference": text("kz1-gp-fd-123456789"),
    "currency": optional(text("NGN")),
}

CALLS: Mapping[str, Call] = {
    "GET /bank": Call(
        {
            **PAGES,
            "country": optional(text("nigeria", "nigeria")),
            "currency": optional(text("NGN", "NGN")),
            "use_cursor": optional(boolean(True)),
            "next": optional(text("from-3", r"from-[0-9]+")),
            "include_nip_sort_code": optional(boolean(True)),
        }
    ),
    # The specification says integers. Account numbers and codes begin with zeros, and 035A is a code: texts.
    "GET /bank/resolve": Call({"account_number": text("0123456785", ACCOUNT), "bank_code": text("058")}),
    "GET /balance": Call(),
    "POST /transferrecipient": Call(
        body={
            "type": text("nuban", "nuban"),
            "name": text("ADA OBI"),
            "account_number": text("0123456785", ACCOUNT),
            "bank_code": text("058"),
            "currency": optional(text("NGN", "NGN")),
            "description": optional(text("Supplier")),
            "metadata": optional(Field("object", {"branch": "1"})),
        }
    ),
    "POST /transfer": Call(
        body={
            "source": text("balance", "balance"),
            "amount": integer(150_000),
            "recipient": text("RCP_0580123456785"),
            "reference": text("kz1-gp-fd-123456789"),
            "reason": optional(text("Invoice 12")),
            "currency": optional(text("NGN", "NGN")),
        }
    ),
    "GET /transfer/verify/{reference}": Call(),
    "POST /customer": Call(
        body={
            "email": text("payer@example.com"),
            "first_name": optional(text("Ada")),
            "last_name": optional(text("Obi")),
            "phone": optional(text("+2348031234567", r"\+?[0-9]{10,15}")),
            "metadata": optional(text('{"branch":"1"}')),
        }
    ),
    "GET /customer/{customer}": Call(),
    "POST /dedicated_account": Call(body={"customer": text("CUS_90758908"), "preferred_bank": text("test-bank")}),
    "GET /dedicated_account": Call(
        {**PAGES, "active": optional(boolean(True)), "customer": optional(integer(90_758_908))}
    ),
    "DELETE /dedicated_account/{id}": Call(),
    "GET /transaction": Call(
        {
            **PAGES,
            **DATES,
            "per_page": optional(integer(50)),
            "status": optional(text("success", "success|failed|abandoned|reversed")),
            "channel": optional(text("dedicated_nuban", "card|pos|bank|dedicated_nuban|ussd|bank_transfer")),
            "virtual_account_number": optional(text("9960000000", ACCOUNT)),
        }
    ),
    "GET /transaction/verify/{reference}": Call(),
    "GET /dispute": Call(
        {**PAGES, **DATES, "status": optional(text("resolved", DISPUTE_STATUS)), "transaction": optional(text("1"))}
    ),
    "GET /dispute/{id}": Call(),
    # Documentation: the specification has no parameter.
    "GET /dispute/{id}/upload_url": Call({"upload_filename": text("receipt.pdf", r"[A-Za-z0-9._-]+\.[a-z0-9]{2,4}")}),
    "POST /dispute/{id}/evidence": Call(
        body={
            "customer_email": text("payer@example.com", r"[^@\s]+@[^@\s]+"),
            "customer_name": text("Ada Obi"),
            "customer_phone": text("08031234567", r"\+?[0-9]{7,15}"),
            "service_details": text("Shoes"),
            "delivery_address": optional(text("12 Broad Street")),
            "delivery_date": optional(text("2026-01-05", DATE)),
        }
    ),
    # The specification requires uploaded_filename: see `asks_file_of_acceptance`.
    "PUT /dispute/{id}/resolve": Call(
        body={
            "resolution": text("merchant-accepted", "merchant-accepted|declined"),
            "message": text("Refunded"),
            "refund_amount": integer(150_000),
            "uploaded_filename": optional(text("358950-receipt.pdf")),
            "evidence": optional(integer(1)),
        }
    ),
    # Documentation: the specification has perPage and page alone.
    "GET /settlement": Call(
        {**PAGES, **DATES, "status": optional(text("success", "success|processing|pending|failed"))}
    ),
    "POST /transaction/initialize": Call(
        body={
            **PAYMENT,
            "channels": optional(texts(["card"], "card|bank|ussd|qr|eft|mobile_money|bank_transfer")),
            "callback_url": optional(text("https://shop.example.com/back", r"https?://\S+")),
            "label": optional(text("Invoice 12")),
            "metadata": optional(Field("object", {"branch": "1"})),
        }
    ),
    "POST /transaction/charge_authorization": Call(
        body={
            **PAYMENT,
            "authorization_code": text("AUTH_1"),
            "metadata": optional(text('{"branch":"1"}')),
            "queue": optional(boolean(True)),
        }
    ),
    "POST /customer/authorization/deactivate": Call(body={"authorization_code": text("AUTH_1")}),
    "POST /charge": Call(
        body={
            **PAYMENT,  # currency: documentation, in the examples of mobile money
            "metadata": optional(Field("object", {"branch": "1"})),
            "bank": optional(group({"code": text("057"), "account_number": text("0000000000", ACCOUNT)})),
            "ussd": optional(group({"type": text("737", "737|919|822|966")})),
            "mobile_money": optional(group({"phone": text("0551234987", r"\+?[0-9]{9,15}"), "provider": text("mtn")})),
            # Documentation: not in the specification.
            "bank_transfer": optional(group({"account_expires_at": text("2030-01-01T00:00:00.000Z", DATE)})),
        }
    ),
    "POST /charge/submit_otp": Call(
        body={"otp": text("123456", "[0-9]{4,8}"), "reference": text("kz1-gp-fd-123456789")}
    ),
    "GET /charge/{reference}": Call(),
    "POST /refund": Call(
        body={
            "transaction": text("kz1-gp-fd-123456789"),
            "amount": optional(integer(150_000)),
            "currency": optional(text("NGN", CURRENCY)),
            "customer_note": optional(text("Sorry")),
            "merchant_note": optional(text("kz1-gp-rf-123456789")),
        }
    ),
    "GET /refund": Call({**PAGES, **DATES}),
    "GET /refund/{id}": Call(),
}
