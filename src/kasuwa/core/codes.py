"""The numeric status codes of the API, and the HTTP status of each. Contract: #errors, #http"""

AUTHENTICATION_FAILED = 101
INVALID_METHOD = 102
INVALID_JSON = 103
INVALID_REQUEST = 104
UNREADABLE_ANSWER = 201
NOT_VALIDATED = 203
ERROR = 204
INSUFFICIENT_FUNDS = 301

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
