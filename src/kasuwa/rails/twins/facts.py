"""What the twins know of their vendors, each fact with the grade of its source, and the forms of their calls.

A twin is stricter than its vendor, never kinder: it takes no parameter and no field that its form does not have, and
every list has pages of three rows, whatever size was asked for. Where sources differ, the fact names a switch: an
attribute of the twin's rules that chooses the way, so that an adapter can be tested each way.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from kasuwa.rails.twins.forms import Call, optional, text
from kasuwa.rails.twins.monnify_calls import CALLS as MONNIFY_CALLS
from kasuwa.rails.twins.paystack_calls import CALLS as PAYSTACK_CALLS
from kasuwa.rails.twins.vtpass_calls import CALLS as VTPASS_CALLS

Grade = Literal[
    "specification",  # the vendor's OpenAPI or SDK
    "documentation",  # a page of the vendor's documentation
    "observed",  # seen in other integrations, or measured
    "assumed",  # nobody says so
]

# The most rows of a page of any list.
ROWS_PER_PAGE = 3


class Fact(msgspec.Struct, frozen=True):
    what: str
    grade: Grade
    switch: str = ""  # the attribute of the rules that chooses the way, where sources differ


class VendorFacts(msgspec.Struct, frozen=True):
    """The facts of one vendor. `calls` are the forms of its calls by their method and path."""

    facts: tuple[Fact, ...]
    calls: Mapping[str, Call]


PAYSTACK = VendorFacts(
    facts=(
        Fact("lists tell total, page, perPage and pageCount in meta", "specification", "page_marker"),
        Fact("the list of transactions calls its page size per_page", "specification", "page_size_name"),
        Fact("the list of transactions calls its page size perPage", "assumed", "page_size_name"),
        Fact("lists of refunds, disputes, settlements, accounts and banks call it perPage", "specification"),
        Fact("the list of settlements takes status, from and to", "documentation"),
        Fact("the list of banks has a cursor, meta.next", "specification"),
        Fact("banks have nip_sort_code if it is asked for", "observed"),
        Fact("an unknown parameter or field is refused", "assumed"),
        Fact("amounts are integers of the minor unit", "specification"),
        Fact("account numbers and bank codes in queries are texts", "observed"),
        Fact("references of transfers have 16 characters or more, in lower case", "specification"),
        Fact("references of transfers have at most 50 characters", "observed"),
        Fact("references of payments have letters, digits, dashes, dots and equals signs", "specification"),
        Fact("references of payments have at most 100 characters", "assumed"),
        Fact("reason of a transfer is our narration, also after it has failed", "observed"),
        Fact("the bank's reason of a failed transfer is gateway_response, which may be null", "specification"),
        Fact("a transfer can be received, blocked, rejected or abandoned", "specification"),
        Fact("a transfer can be queued or processing", "observed"),
        Fact("call-backs report transfers that succeeded, failed or were reversed, and no others", "documentation"),
        Fact("a used reference of a transfer is refused with HTTP 400", "observed"),
        Fact("the refusal has the code duplicate_transfer_reference", "observed", "tells_duplicate_code"),
        Fact("the refusal has its message alone", "specification", "tells_duplicate_code"),
        Fact("an unknown transaction answers 400", "observed", "not_found_http"),
        Fact("an unknown transaction answers 404", "specification", "not_found_http"),
        Fact("an account that does not exist answers 422", "observed", "unresolved_http"),
        Fact("an account that does not exist answers 400", "observed", "unresolved_http"),
        Fact("a wrong OTP is refused with HTTP 400", "assumed", "wrong_otp"),
        Fact("a wrong OTP answers 200, and the charge has failed", "assumed", "wrong_otp"),
        Fact("a customer who has an account gets the same again", "observed", "repeats_accounts"),
        Fact("a second account of a customer is refused", "assumed", "repeats_accounts"),
        Fact("metadata of saved cards and customers is text, that of payments an object", "specification"),
        Fact("a charge by bank transfer has account_expires_at", "documentation"),
        Fact("a dispute can be awaiting-bank-feedback", "specification"),
        Fact("it is so once the merchant has declined it", "assumed"),
        Fact("a dispute ends as resolved, with a resolution", "specification"),
        Fact("nobody's answer in time is resolved as auto-accepted", "assumed"),
        Fact("an answer to a dispute needs a file, also an acceptance", "specification", "asks_file_of_acceptance"),
        Fact("an acceptance of a dispute needs no file", "assumed", "asks_file_of_acceptance"),
        Fact("the address of a file is asked for with upload_filename", "documentation"),
    ),
    calls=PAYSTACK_CALLS,
)

MONNIFY = VendorFacts(
    facts=(
        Fact("the list of banks has nipBankCode", "observed", "tells_nip_codes"),
        Fact("the list of banks has name and code alone", "specification", "tells_nip_codes"),
        Fact("GTBank is 058 and Opay 305, by these names", "observed"),
        Fact("First bank is 011, by this name", "assumed"),
        Fact("lists have content, last, totalElements and totalPages", "specification", "page_marker"),
        Fact("an unknown parameter or field is refused", "assumed"),
        Fact("amounts are numbers of naira with two decimals", "specification"),
        Fact("amounts in replies are numbers", "specification", "writes_amounts_as_text"),
        Fact("amounts in replies are texts", "observed", "writes_amounts_as_text"),
        Fact("responseCode is a text", "specification", "writes_codes_as_numbers"),
        Fact(
            "responseCode is a number in replies to log-ins and in refusals", "specification", "writes_codes_as_numbers"
        ),
        Fact("references have at most 64 characters", "specification"),
        Fact("destinationAccountName is required", "specification"),
        Fact("the source of a payment is a list of accounts", "documentation", "lists_sources"),
        Fact("the source of a payment is one account", "observed", "lists_sources"),
        Fact("the reason of a failed transfer is transactionDescription", "specification"),
        Fact("a used reference of a transfer is refused with D05", "observed"),
        Fact("an equal transfer within two minutes is refused with D07", "documentation"),
        Fact("a short wallet is refused with D02", "assumed"),
        Fact("an unknown reference answers 404", "assumed", "not_found_http"),
        Fact("an unknown reference answers 400", "assumed", "not_found_http"),
        Fact("several tokens live side by side", "assumed"),
        Fact("refunds have refundAmount, refundReason and customerNote", "specification"),
        # The vendor's Python SDK calls it amount, and asks for contractCode and currencyCode. It is alone with that.
        Fact("the least refund is 100 naira", "documentation"),
        Fact("refunds are refused with R1 to R12, M01 and M02", "documentation"),
    ),
    calls=MONNIFY_CALLS,
)

VTPASS = VendorFacts(
    facts=(
        Fact("the lists of the catalogue have no pages", "documentation"),
        Fact("variations are spelled variations or varations", "documentation"),
        Fact("an unknown parameter or field is refused", "assumed"),
        Fact("keys are api-key with public-key for GET and with secret-key for POST", "documentation"),
        Fact("a key of the other kind is refused", "assumed"),
        Fact("a product takes the fields of its own table alone", "documentation"),
        Fact("amounts are whole naira", "assumed"),
        Fact("a request_id is of today in Lagos, and used once", "documentation"),
        Fact("a request_id has 12 characters or more, the first 12 digits", "documentation"),
        Fact("a request_id has at most 44 characters", "observed"),
        Fact("a reply tells the status in content.transactions", "documentation", "tells_status"),
        Fact("a reply has its code alone", "documentation", "tells_status"),
        Fact("a wrong customer number answers 000 with WrongBillersCode", "documentation"),
        Fact("a customer is confirmed with 000", "documentation", "confirming_code"),
        Fact("a customer is confirmed with 020", "documentation", "confirming_code"),
        Fact("a failed bill has response_description, and no word of the biller's own", "assumed"),
    ),
    calls=VTPASS_CALLS,
)

BVN, DATE = "[0-9]{11}", "[0-9]{4}-[0-9]{2}-[0-9]{2}"

DOJAH = VendorFacts(
    facts=(
        Fact("look-ups and comparisons have no lists", "specification"),
        Fact("an unknown parameter is refused", "assumed"),
        Fact("a BVN is sent as its eleven digits", "observed"),
        Fact("the secret key is sent without Bearer, with AppId", "documentation"),
        Fact("a comparison takes last_name, which the specification does not have", "documentation"),
        Fact("full answers a person", "specification", "compares_in_full"),
        Fact("full answers a comparison", "documentation", "compares_in_full"),
        Fact("an unknown BVN answers 404, or an empty entity", "assumed"),
        Fact("a used-up balance answers 402", "assumed"),
    ),
    calls={
        "GET /api/v1/kyc/bvn/full": Call({"bvn": text("22212345678", BVN)}),
        "GET /api/v1/kyc/bvn": Call(
            {
                "bvn": text("22212345678", BVN),
                "first_name": optional(text("ADAEZE")),
                "last_name": optional(text("OKAFOR")),
                "dob": optional(text("1990-06-28", DATE)),
            }
        ),
        "GET /api/v1/balance": Call(),
    },
)

PHONE, SENDER = "[1-9][0-9]{7,14}", "[A-Za-z0-9 -]{3,11}"

TERMII = VendorFacts(
    facts=(
        Fact("the key is api_key in the body, or in the query of a look-up", "documentation"),
        Fact("a number is international, without a plus sign", "documentation"),
        Fact("a sender has 3 to 11 letters or digits, and is registered", "documentation"),
        Fact("messages that people wait for take the channel dnd, others may be held back", "documentation"),
        Fact("a page has 160 characters, or 70 if one is special", "documentation"),
        Fact("a message that was taken answers 200 with the code ok and a message_id", "observed"),
        Fact("an unknown parameter or field is refused", "assumed"),
        Fact("a wrong key answers 401", "documentation"),
        Fact("a refusal has message", "observed", "names_codes"),
        Fact("a refusal has its HTTP status as code", "assumed", "names_codes"),
        Fact("a refused number, a used-up balance and an unknown sender answer 400 or 404", "assumed"),
        Fact("too many requests answer 429", "documentation"),
        Fact("a message has no key of ours: a second one is sent again", "documentation"),
    ),
    calls={
        "POST /api/sms/send": Call(
            body={
                "api_key": text("TL-test-1"),
                "to": text("2348031234567", PHONE),
                "from": text("Kasuwa", SENDER),
                "sms": text("Ada Stores: paid"),
                "type": text("plain", "plain"),
                "channel": text("dnd", "dnd|generic"),
            }
        ),
        "GET /api/get-balance": Call({"api_key": text("TL-test-1")}),
    },
)
