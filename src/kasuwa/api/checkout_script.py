"""Serves the script by which a shop shows a checkout inside its own page. Contract: payment#embedding

    /kasuwa-1.js   edition 1, which never changes, so that a page can name its hash
    /kasuwa.js     the newest edition

A change of the script is a new edition: another file, with the next number.
"""

import base64
from hashlib import sha384
from importlib.resources import files

import msgspec

from kasuwa.api.openapi.documents import is_known_etag
from kasuwa.api.replies import HttpReply, accepts_gzip
from kasuwa.core.action import PreencodedReply, preencode_bytes
from kasuwa.http.headers import RequestHeaders

EDITIONS = (1,)
NEWEST = "/kasuwa.js"
ACTION = "script"
HEADERS = (
    ("content-type", "text/javascript; charset=utf-8"),
    ("x-content-type-options", "nosniff"),
    # Pages of any site load it, and those that name its hash may do so only with this header.
    ("access-control-allow-origin", "*"),
    ("cross-origin-resource-policy", "cross-origin"),
    ("vary", "accept-encoding"),
)
FOR_A_YEAR = ("cache-control", "public, max-age=31536000, immutable")
FOR_FIVE_MINUTES = ("cache-control", "public, max-age=300")
ONLY_READ = HttpReply(405, b"", 405, action=ACTION, headers=(("allow", "GET, HEAD"), *HEADERS))


class CheckoutScript(msgspec.Struct, frozen=True):
    """One edition of the script."""

    encoded: PreencodedReply
    integrity: str  # the hash that a script element names


def edition_path(edition: int) -> str:
    return f"/kasuwa-{edition}.js"


def load_script(edition: int) -> CheckoutScript:
    content = (files("kasuwa") / "pages" / "embed" / f"kasuwa-{edition}.js").read_bytes()
    return CheckoutScript(preencode_bytes(content), f"sha384-{base64.b64encode(sha384(content).digest()).decode()}")


SCRIPTS = {edition_path(edition): load_script(edition) for edition in EDITIONS}
SCRIPT_PATHS = frozenset({NEWEST, *SCRIPTS})


def serve_script(method: str, path: str, headers: RequestHeaders) -> HttpReply:
    """Answers a request for one of SCRIPT_PATHS."""
    if method not in ("GET", "HEAD"):
        return ONLY_READ
    script = SCRIPTS[edition_path(EDITIONS[-1]) if path == NEWEST else path]
    # Weak, as the compressed form is another sequence of bytes.
    etag = f'W/"{script.integrity.removeprefix("sha384-")[:32]}"'
    shared = (*HEADERS, ("etag", etag), FOR_FIVE_MINUTES if path == NEWEST else FOR_A_YEAR)
    known_etags, accepted = headers.get("if-none-match"), headers.get("accept-encoding")
    if known_etags and is_known_etag(known_etags, etag):
        return HttpReply(304, b"", action=ACTION, headers=shared)
    if accepted and accepts_gzip(accepted):
        return HttpReply(200, script.encoded.gzip_body, action=ACTION, headers=(*shared, ("content-encoding", "gzip")))
    return HttpReply(200, script.encoded.plain, action=ACTION, headers=shared)
