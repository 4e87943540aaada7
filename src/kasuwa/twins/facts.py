"""What the twins know of their vendors, each fact with the grade of its source, and the parameters of their GETs.

A twin is stricter than its vendor, never kinder: it refuses parameters that no source has, and every list has pages of
three rows, whatever size was asked for. Where sources differ, the fact names a switch: an attribute of the twin's rules
that chooses the way, so that an adapter can be tested each way.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

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
    """The facts of one vendor. `parameters` are those of each GET by its path; a path that is not there has none."""

    facts: tuple[Fact, ...]
    parameters: Mapping[str, frozenset[str]]


PAYSTACK = VendorFacts(
    facts=(
        Fact("lists tell total, page, perPage and pageCount in meta", "specification", "page_marker"),
        Fact("the list of transactions calls its page size per_page", "specification", "page_size_name"),
        Fact("the list of transactions calls its page size perPage", "assumed", "page_size_name"),
        Fact("lists of refunds, disputes, settlements and banks call it perPage", "specification"),
        Fact("the list of settlements takes from and to", "assumed"),
        Fact("the list of banks has a cursor, meta.next", "specification"),
        Fact("banks have nip_sort_code if it is asked for", "observed"),
        Fact("an unknown parameter is refused", "assumed"),
        Fact("references of transfers have 16 to 50 characters", "observed"),
        Fact("reason of a transfer is our narration, also after it has failed", "observed"),
        Fact("the bank's reason of a failed transfer is gateway_response, which may be null", "specification"),
        Fact("a dispute can be awaiting-bank-feedback", "specification"),
        Fact("it is so once the merchant has declined it", "assumed"),
        Fact("a dispute ends as resolved, with a resolution", "specification"),
        Fact("nobody's answer in time is resolved as auto-accepted", "assumed"),
        Fact("a used reference of a transfer is refused with HTTP 400", "observed"),
    ),
    parameters={
        "/bank": frozenset(
            {"country", "currency", "use_cursor", "perPage", "page", "next", "previous", "include_nip_sort_code"}
        ),
        "/bank/resolve": frozenset({"account_number", "bank_code"}),
        "/dedicated_account": frozenset(
            {"active", "customer", "currency", "provider_slug", "bank_id", "perPage", "page"}
        ),
        "/transaction": frozenset(
            {
                *("use_cursor", "next", "previous", "per_page", "perPage", "page", "from", "to", "status"),
                *("virtual_account_number", "customer_code", "amount", "settlement", "channel"),
            }
        ),
        "/refund": frozenset({"perPage", "page", "from", "to"}),
        "/dispute": frozenset({"perPage", "page", "status", "transaction", "from", "to"}),
        "/dispute/{id}/upload_url": frozenset({"upload_filename"}),
        "/settlement": frozenset({"perPage", "page", "status", "subaccount", "from", "to"}),
    },
)

MONNIFY = VendorFacts(
    facts=(
        Fact("the list of banks has nipBankCode", "observed", "tells_nip_codes"),
        Fact("the list of banks has name and code alone", "specification", "tells_nip_codes"),
        Fact("GTBank is 058 and Opay 305, by these names", "observed"),
        Fact("First bank is 011, by this name", "assumed"),
        Fact("lists have content, last, totalElements and totalPages", "assumed", "page_marker"),
        Fact("an unknown parameter is refused", "assumed"),
        Fact("the reason of a failed transfer is transactionDescription", "specification"),
        Fact("a used reference of a transfer is refused with D05", "observed"),
        Fact("an equal transfer within two minutes is refused with D07", "documentation"),
        Fact("a short wallet is refused with D02", "assumed"),
        Fact("several tokens live side by side", "assumed"),
    ),
    parameters={
        "/api/v1/disbursements/account/validate": frozenset({"accountNumber", "bankCode"}),
        "/api/v2/disbursements/wallet-balance": frozenset({"accountNumber"}),
        "/api/v2/disbursements/single/summary": frozenset({"reference"}),
        "/api/v2/disbursements/single/transactions": frozenset({"pageNo", "pageSize"}),
        "/api/v1/bank-transfer/reserved-accounts/transactions": frozenset({"accountReference", "page", "size"}),
        "/api/v1/transactions/find-by-settlement-reference": frozenset({"reference", "page", "size"}),
        "/api/v2/merchant/transactions/query": frozenset({"paymentReference", "transactionReference"}),
    },
)

VTPASS = VendorFacts(
    facts=(
        Fact("the lists of the catalogue have no pages", "documentation"),
        Fact("variations are spelled variations or varations", "documentation"),
        Fact("an unknown parameter is refused", "assumed"),
        Fact("a request_id is of today in Lagos, and used once", "documentation"),
        Fact("a wrong customer number answers 000 with WrongBillersCode", "documentation"),
        Fact("a failed bill has response_description, and no word of the biller's own", "assumed"),
    ),
    parameters={"/services": frozenset({"identifier"}), "/service-variations": frozenset({"serviceID"})},
)

DOJAH = VendorFacts(
    facts=(
        Fact("look-ups and comparisons have no lists", "specification"),
        Fact("an unknown parameter is refused", "assumed"),
        Fact("an unknown BVN answers 404, or an empty entity", "assumed"),
        Fact("a used-up balance answers 402", "assumed"),
    ),
    parameters={
        "/api/v1/kyc/bvn/full": frozenset({"bvn"}),
        "/api/v1/kyc/bvn": frozenset({"bvn", "first_name", "last_name", "dob"}),
    },
)
