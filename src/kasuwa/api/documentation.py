"""Serves the documentation below /docs: public, without a session, in test and in live.

A file is rendered when it is first asked for, in a thread, and kept compressed. The addresses end in .html, as in the
static site; those without the ending are redirected.
"""

import asyncio
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from kasuwa.api.openapi.documents import BuiltOnce, is_known_etag
from kasuwa.api.replies import HttpReply, accepts_gzip
from kasuwa.core.action import PreencodedReply, preencode_bytes
from kasuwa.http.page import Documentation

DOCS = "/docs"
INDEX = "index.html"
CONTENT_TYPES: Mapping[str, str] = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none';"
    " form-action 'self'; frame-ancestors 'none'"
)
HEADERS = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    # A new version of the service has other pages: a browser asks again after a while, and mostly gets HTTP 304.
    ("cache-control", "public, max-age=300"),
    ("vary", "accept-encoding"),
)
NOT_FOUND = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Page not found</title><link rel="stylesheet" href="/docs/docs.css"></head>
<body><main><h1>Page not found</h1>
<p>The documentation has no such page. <a href="/docs/index.html">Overview</a></p></main></body></html>
"""
HTML = ("content-type", CONTENT_TYPES["html"])
NO_PAGE = HttpReply(404, NOT_FOUND, 404, action="docs", headers=(HTML, *HEADERS))
# Programs look for the contents of a documentation at the root.
CONTENTS = "/llms.txt"
TO_CONTENTS = HttpReply(308, b"", 308, action="docs", headers=(("location", f"{DOCS}{CONTENTS}"), *HEADERS))
ONLY_READ = HttpReply(405, b"", 405, action="docs", headers=(("allow", "GET, HEAD"), *HEADERS))


class RenderedFile(msgspec.Struct, frozen=True):
    content_type: str
    encoded: PreencodedReply
    etag: str

    def reply(self, accepted: str | None, known_etags: str | None) -> HttpReply:
        """Returns the file, or HTTP 304 if the client has it already."""
        headers = (("content-type", self.content_type), ("etag", self.etag), *HEADERS)
        if known_etags and is_known_etag(known_etags, self.etag):
            return HttpReply(304, b"", action="docs", headers=headers)
        if accepted and accepts_gzip(accepted):
            coding = ("content-encoding", "gzip")
            return HttpReply(200, self.encoded.gzip_body, action="docs", headers=(*headers, coding))
        return HttpReply(200, self.encoded.plain, action="docs", headers=headers)


class DocumentationPages:
    def __init__(self, documentation: BuiltOnce[Documentation]) -> None:
        self._documentation = documentation
        self._rendered: dict[str, RenderedFile] = {}

    async def serve(self, method: str, path: str, headers: Any) -> HttpReply:
        """Answers a request for a path below /docs."""
        if method not in ("GET", "HEAD"):
            return ONLY_READ
        documentation = await self._documentation.read()
        address = path.removeprefix(DOCS).removeprefix("/")
        if documentation.has(address):
            file = await self._read(documentation, address)
            return file.reply(headers.get("accept-encoding"), headers.get("if-none-match"))
        for other in (f"{address}/{INDEX}".removeprefix("/"), f"{address}.html"):
            if documentation.has(other):
                return HttpReply(308, b"", 308, action="docs", headers=(("location", f"{DOCS}/{other}"), *HEADERS))
        return NO_PAGE

    async def _read(self, documentation: Documentation, address: str) -> RenderedFile:
        if address not in self._rendered:
            self._rendered[address] = await asyncio.to_thread(render_file, documentation, address)
        return self._rendered[address]


def render_file(documentation: Documentation, address: str) -> RenderedFile:
    content = documentation.read(address)
    # Weak, as the compressed form is another sequence of bytes.
    etag = f'W/"{sha256(content).hexdigest()[:32]}"'
    return RenderedFile(CONTENT_TYPES[address.rpartition(".")[2]], preencode_bytes(content), etag)
