"""HTTP replies: encoding of replies, refusals and pages of lists."""

import asyncio
import typing
from functools import cache, lru_cache
from typing import Any

import msgspec

from kasuwa.core.action import PreencodedReply
from kasuwa.core.codes import http_status
from kasuwa.core.decision import FieldError, Refusal
from kasuwa.http.page import Pieces
from kasuwa.wire.paging import MAX_PAGE_BYTES, truncate_page

# A long reply is encoded in pieces of this size, and other tasks run in between.
ENCODED_AT_ONCE_BYTES = 64 * 1024

API_VERSION = "1"

ENCODER = msgspec.json.Encoder()

JSON_HEADERS = (("content-type", "application/json"),)
PREENCODED_HEADERS = (*JSON_HEADERS, ("vary", "accept-encoding"))
GZIP_HEADERS = (*PREENCODED_HEADERS, ("content-encoding", "gzip"))


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


class ErrorBody(msgspec.Struct, omit_defaults=True):
    """The body of an error reply. Contract: #errors"""

    status: int
    "The code of the error: 101 to 104, 201, 203, 204 or 301."
    message: str
    "What is wrong and what to do. For invalid fields it names the first three and counts the rest."
    errors: tuple[FieldError, ...] = ()
    "Every invalid field, at most 50. Absent if no field is at fault."


@cache
def echoes_amount(kind: Any) -> bool:
    """Whether a reply type echoes the amount as the request spelled it: its amount may also be a number."""
    return int in typing.get_args(typing.get_type_hints(kind).get("amount"))


def refusal_reply(refusal: Refusal, *, strict: bool, http: int | None = None) -> HttpReply:
    body = ENCODER.encode(ErrorBody(refusal.code, refusal.message, refusal.field_errors))
    return HttpReply(http or http_status(refusal.code, strict=strict), body, refusal.code)


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
    return HttpReply(http_status(code, strict=strict), ENCODER.encode(reply), code)
