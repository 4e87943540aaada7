"""The documentation over HTTP: public, compressed, cached, and locked down like the other pages."""

import gzip

import pytest

from kasuwa.boot.documentation import make_site
from tests.merchant_client import HttpConnection
from tests.running import Deployment

TYPES = {
    "/docs/index.html": "text/html; charset=utf-8",
    "/docs/reference/payment-refund.html": "text/html; charset=utf-8",
    "/docs/docs.css": "text/css; charset=utf-8",
    "/docs/docs.js": "text/javascript; charset=utf-8",
    "/docs/icon.svg": "image/svg+xml",
    "/docs/search-index.js": "text/javascript; charset=utf-8",
    "/docs/reference/payment-refund.md": "text/markdown; charset=utf-8",
    "/docs/llms.txt": "text/plain; charset=utf-8",
}


@pytest.mark.parametrize("path", TYPES)
def test_a_file_is_served_to_anybody_as_it_is_built(deployment: Deployment, path: str) -> None:
    with deployment.connect() as wire:
        received = wire.send("GET", path)
        small = wire.send("GET", path, headers={"accept-encoding": "gzip"})
    assert (received.http, received.headers["content-type"]) == (200, TYPES[path])
    assert received.raw == make_site().read(path.removeprefix("/docs/"))
    assert small.headers["content-encoding"] == "gzip"
    assert gzip.decompress(small.raw) == received.raw
    for reply in (received, small):
        assert reply.headers["cache-control"] == "public, max-age=300"
        assert reply.headers["vary"] == "accept-encoding"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert "unsafe" not in reply.headers["content-security-policy"]
        assert reply.cookies == {}


def test_a_browser_that_has_the_page_gets_304(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        etag = wire.send("GET", "/docs/index.html").headers["etag"]
        again = wire.send("GET", "/docs/index.html", headers={"if-none-match": etag})
        other = wire.send("GET", "/docs/index.html", headers={"if-none-match": '"other"'})
    assert (again.http, again.raw, again.headers["etag"]) == (304, b"", etag)
    assert other.http == 200


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/docs", "/docs/index.html"),
        ("/llms.txt", "/docs/llms.txt"),
        ("/docs/", "/docs/index.html"),
        ("/docs/reference", "/docs/reference/index.html"),
        ("/docs/guides/errors", "/docs/guides/errors.html"),
        ("//docs//guides/errors/", "/docs/guides/errors.html"),
    ],
)
def test_a_short_address_leads_to_the_page(deployment: Deployment, path: str, target: str) -> None:
    with deployment.connect() as wire:
        received = wire.send("GET", path)
        assert (received.http, received.headers["location"]) == (308, target)
        assert wire.send("GET", target).http == 200


@pytest.mark.parametrize(
    "path",
    [
        "/docs/nothing",
        "/docs/../settings.py",
        "/docs/..%2fsite.py",
        "/docs/pages/guides/errors.md",
        "/docs/%00",
        "/docsx",
    ],
)
def test_an_unknown_page_is_not_found(deployment: Deployment, path: str) -> None:
    with deployment.connect() as wire:
        received = wire.send("GET", path)
    assert received.http == 404
    assert b"<script>" not in received.raw


def test_pages_can_only_be_read(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        assert wire.send("HEAD", "/docs/index.html").http == 200
    for verb in ("POST", "PUT", "DELETE"):
        with HttpConnection("127.0.0.1", deployment.port) as wire:
            refused = wire.send(verb, "/docs/index.html", b"{}")
            assert (refused.http, refused.headers["allow"]) == (405, "GET, HEAD")
