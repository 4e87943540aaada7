"""The numeric status codes of the API, and the HTTP status of each. Contract: #errors, #http"""

AUTHENTICATION_FAILED = 101
INVALID_METHOD = 102
INVALID_JSON = 103
INVALID_REQUEST = 104
UNREADABLE_ANSWER = 201
NOT_VALIDATED = 203
ERROR = 204
INSUFFICIENT_FUNDS = 301

# What each status of an error reply means. Contract: #replies
ERROR_MEANINGS = {
    AUTHENTICATION_FAILED: "authentication failed, or the key may not do this: the message names the scope",
    INVALID_METHOD: "there is no such action; the message lists those of the path",
    INVALID_JSON: "the body is not a complete JSON object",
    INVALID_REQUEST: "the request is not valid: the message names the first faults, `errors` all of them, at most 50",
    UNREADABLE_ANSWER: "a rail answered something that cannot be read: the transaction stays open and is asked about "
    "again",
    NOT_VALIDATED: "a code or PIN is wrong, expired or used up",
    ERROR: "an error of the service; the message says what is known of the outcome",
    INSUFFICIENT_FUNDS: "the wallet, or the card that is named, does not cover it",
}

# Older clients raise on any HTTP 4xx, so business errors have HTTP status 200 and their code in the body.
# Contract: #http
COMPAT_HTTP = {AUTHENTICATION_FAILED: 401}

# For clients that rely on the HTTP status, selected by the merchant's setting `http_codes`. Contract: #http
STRICT_HTTP = {
    AUTHENTICATION_FAILED: 401,
    INVALID_METHOD: 404,
    INVALID_JSON: 400,
    INVALID_REQUEST: 422,
    UNREADABLE_ANSWER: 502,
    NOT_VALIDATED: 402,
    INSUFFICIENT_FUNDS: 402,
    ERROR: 500,
}


def http_status(code: int, *, strict: bool) -> int:
    return (STRICT_HTTP if strict else COMPAT_HTTP).get(code, 200)
