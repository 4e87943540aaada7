"""Rendering of templates in a thread, because a long page would block the event loop for too long.

There is a single rendering thread, so that many pages at once do not take more processor time from the event loop.
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jinja2
from starlette.responses import Response

RENDERER = ThreadPoolExecutor(1, thread_name_prefix="rendering")


class RenderedPage(Response):
    """A response whose body is a template, rendered (and on first use compiled) before it is sent."""

    media_type = "text/html"

    def __init__(self, templates: jinja2.Environment, name: str, values: Mapping[str, Any], status: int) -> None:
        super().__init__(b"", status)
        self._templates = templates
        self._name = name
        self._values = values
        self._is_rendered = False

    async def prepare(self) -> None:
        """Renders the page, unless it is rendered already. Raises what the template raises."""
        if self._is_rendered:
            return
        self.body = await asyncio.get_running_loop().run_in_executor(RENDERER, self._render)
        self.headers["content-length"] = str(len(self.body))
        self._is_rendered = True

    def _render(self) -> bytes:
        return self._templates.get_template(self._name).render(self._values).encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.prepare()
        await super().__call__(scope, receive, send)
