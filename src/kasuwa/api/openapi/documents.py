"""The OpenAPI documents as they are served: encoded and compressed once, with an ETag.

Building them reads the sources of the request and reply types and takes about 0.2 s. The first request that wants a
document waits for that, in a thread, so that no other request does and starting a process takes no longer.
"""

import asyncio
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Generic, TypeVar

import msgspec

from kasuwa.api.openapi.operations import ApiDescription, describe_actions, describe_paths
from kasuwa.api.replies import HttpReply, preencoded_reply
from kasuwa.core.action import ApiMethod, PreencodedReply, preencode_reply

PATHS_DOCUMENT = "/openapi.json"
ACTIONS_DOCUMENT = "/openapi-actions.json"
DOCUMENT_PATHS = frozenset({PATHS_DOCUMENT, ACTIONS_DOCUMENT})

T = TypeVar("T")


class StaticDocument(msgspec.Struct, frozen=True):
    """A document, encoded, with the headers that let a client keep it."""

    encoded: PreencodedReply
    etag: str

    def reply(self, accepted: str | None, known_etags: str | None) -> HttpReply:
        """Returns the document, or HTTP 304 if the client has it already."""
        caching = (("etag", self.etag), ("cache-control", "no-cache"))
        if known_etags and is_known_etag(known_etags, self.etag):
            return HttpReply(304, b"", headers=(*caching, ("vary", "accept-encoding")))
        answered = preencoded_reply(self.encoded, accepted)
        answered.headers = (*answered.headers, *caching)
        return answered


def is_known_etag(known_etags: str, etag: str) -> bool:
    """Returns whether an If-None-Match header names a document."""
    return any(known.strip() in ("*", etag) for known in known_etags.split(","))


def make_static_document(document: dict[str, Any]) -> StaticDocument:
    encoded = preencode_reply(document)
    # Weak, as the compressed form is another sequence of bytes.
    return StaticDocument(encoded, f'W/"{sha256(encoded.plain).hexdigest()[:32]}"')


class BuiltOnce(Generic[T]):
    """A value that is built in a thread when it is first read, and kept."""

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._building: asyncio.Task[T] | None = None

    async def read(self) -> T:
        if self._building is None:
            self._building = asyncio.create_task(asyncio.to_thread(self._build))
        # Shielded: a client that goes away must not end the work that others wait for.
        return await asyncio.shield(self._building)


def build_documents(methods: Sequence[ApiMethod], environment: str) -> dict[str, StaticDocument]:
    """Returns the documents that the API serves, by path."""
    api = ApiDescription(methods, environment)
    return {
        PATHS_DOCUMENT: make_static_document(describe_paths(api)),
        ACTIONS_DOCUMENT: make_static_document(describe_actions(api)),
    }


def build_reference(methods: Sequence[ApiMethod], environment: str) -> dict[str, Any]:
    """Returns the document of all actions as an object, for the reference in the console."""
    return describe_actions(ApiDescription(methods, environment))
