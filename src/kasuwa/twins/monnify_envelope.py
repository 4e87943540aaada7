"""The envelope of Monnify's replies."""

from typing import Any

from aiohttp import web


def good(body: Any) -> web.Response:
    return web.json_response(
        {"requestSuccessful": True, "responseMessage": "success", "responseCode": "0", "responseBody": body}
    )


def refused(http: int, code: str, words: str) -> web.Response:
    body = {"requestSuccessful": False, "responseMessage": words, "responseCode": code}
    return web.json_response(body, status=http)
