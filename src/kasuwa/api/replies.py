"""HTTP replies: encoding of replies, refusals and pages of lists."""

import asyncio
import typing
from functools import cache, lru_cache
from typing import Any

import msgspec

from kasuwa.core.action import PreencodedReply
from kasuwa.core.codes import UNREADABLE_ANSWER, http_status
from kasuwa.core.decision import FieldError, Refusal
from kasuwa.core.error_codes import make_doc_path
from kasuwa.http.page import Pieces
from kasuwa.wire.paging import MAX_PAGE_BYTES, truncate_page

# A long reply is encoded in pieces of this size, and other tasks run in between.
ENCODED_AT_ONCE_BYTES = 64 * 1024

API_VERSION = "1"

ENCODER = msgspec.json.Encoder()

# The beginning of `doc_url` in the body of a refusal.
DOC_URL = b'"doc_url":"/'

JSON_HEADERS = (("content-type", "application/json"),)
PREENCODED_HEADERS = (*JSON_HEADERS, ("vary", "accept-encoding"))
GZIP_HEADERS = (*PREENCODED_HEADERS, ("content-encoding", "gzip"))


class ErrorCode(msgspec.Struct):
    """The fields that programs read of a reply with an error."""

    code: str
    doc_url: str


# What follows the fields of an action's own reply of status 201: the transaction stays open.
STILL_OPEN = Refusal(
    UNREADABLE_ANSWER,
    "A rail answered something that cannot be read; the transaction stays open and is asked about again",
    error_code="rail_answer_unreadable",
)
STILL_OPEN_CODE = ErrorCode(STILL_OPEN.error_code, make_doc_path(STILL_OPEN.error_code))
STILL_OPEN_FIELDS = b"," + ENCODER.encode(STILL_OPEN_CODE)[1:]


class HttpReply(msgspec.Struct):
    """An HTTP reply, with what the request log records of it."""

    http_status: int
    body: bytes
    status: int = 200  # the status of the contract, as in the body
    mid: str = ""
    action: str = ""
    retry_after: int | None = None  # seconds
    headers: tuple[tuple[str, str], ...] = JSON_HEADERS
    pieces: Pieces | None = None  # a body that is made while it is sent, instead of `body`
    sent: bytes = b""  # the body of the request, for the request log of the test environment


class ErrorBody(msgspec.Struct, omit_defaults=True):
    """The body of an error reply. Contract: #errors"""

    status: int
    "The code of the error: 101 to 104, 201, 203, 204 or 301."
    message: str
    "What is wrong and what to do. For invalid fields it names the first three and counts the rest."
    code: str
    "What is wrong, for programs: one of the codes of the page of errors. It never changes its meaning."
    doc_url: str
    "The page of this service that explains the code."
    errors: tuple[FieldError, ...] = ()
    "Every invalid field, at most 50. Absent if no field is at fault."


@cache
def echoes_amount(kind: Any) -> bool:
    """Whether a reply type echoes the amount as the request spelled it: its amount may also be a number."""
    return int in typing.get_args(typing.get_type_hints(kind).get("amount"))


def refusal_reply(refusal: Refusal, *, strict: bool, http: int | None = None) -> HttpReply:
    code = refusal.error_code
    body = ErrorBody(refusal.code, refusal.message, code, make_doc_path(code), refusal.field_errors)
    return HttpReply(http or http_status(refusal.code, strict=strict), ENCODER.encode(body), refusal.code)


def rate_limit_reply(refusal: Refusal, wait_seconds: float) -> HttpReply:
    answered = refusal_reply(refusal, strict=False, http=429)
    answered.retry_after = int(wait_seconds) + 1
    return answered


def preencoded_reply(reply: PreencodedReply, accepted: str | None) -> HttpReply:
    if accepted and accepts_gzip(accepted):
        return HttpReply(200, reply.gzip_body, headers=GZIP_HEADERS)
    return HttpReply(200, reply.plain, headers=PREENCODED_HEADERS)


@lru_cache(maxsize=256)
def accepts_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding header allows gzip: named, and not with weight zero."""
    for part in accepted.lower().split(","):
        coding, _, weight = part.replace(" ", "").partition(";q=")
        if coding == "gzip":
            return weight.strip("0.") != "" or weight == ""
    return False


def with_address(body: bytes, public_url: str) -> bytes:
    """Returns the body of a refusal with the address of the service before the path of its page. No text that a
    request has put into the body matches: its quotes are escaped."""
    return body.replace(DOC_URL, DOC_URL[:-1] + public_url.encode() + b"/", 1)


async def page_reply(reply: Any, strict: bool) -> HttpReply:
    """Encodes a page of a list line by line and truncates it at MOST_PAGE_BYTES. Yields to other tasks in between."""
    lines: list[bytes] = []
    size = encoded = 0
    for line in reply if isinstance(reply, list) else reply.data:
        text = ENCODER.encode(line)
        size += len(text) + 1
        if size > MAX_PAGE_BYTES and lines:
            reply = truncate_page(reply, len(lines))
            break
        lines.append(text)
        if size - encoded > ENCODED_AT_ONCE_BYTES:
            encoded = size
            await asyncio.sleep(0)
    listed = msgspec.Raw(b"[" + b",".join(lines) + b"]")
    whole = listed if isinstance(reply, list) else msgspec.structs.replace(reply, data=listed)
    return action_reply(whole, strict=strict)


def action_reply(reply: Any, *, strict: bool) -> HttpReply:
    if isinstance(reply, Refusal):
        return refusal_reply(reply, strict=strict)
    status = getattr(reply, "status", 200)
    code = status if isinstance(status, int) else 200
    body = ENCODER.encode(reply)
    if code == UNREADABLE_ANSWER:
        body = body[:-1] + STILL_OPEN_FIELDS
    return HttpReply(http_status(code, strict=strict), body, code)
