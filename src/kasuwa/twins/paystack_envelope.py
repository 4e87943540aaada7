"""The envelope of Paystack's replies."""

from typing import Any

from aiohttp import web


def good(words: str, data: Any, http: int = 200) -> web.Response:
    return web.json_response({"status": True, "message": words, "data": data}, status=http)


def refused(http: int, words: str, **more: str) -> web.Response:
    return web.json_response({"status": False, "message": words, **more}, status=http)
