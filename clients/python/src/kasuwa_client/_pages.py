"""Pages of lists as users see them. Iterating a page yields the records of all pages from it on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from typing import Any, Generic, TypeVar

from kasuwa_client._action import Action
from kasuwa_client._flow import Settings
from kasuwa_client._paging import PageContents, fetch_next, fetch_page
from kasuwa_client._transport import AsyncTransport, SyncTransport

T = TypeVar("T")


class _PageFacts(Generic[T]):
    """The records of one page."""

    def __init__(self, contents: PageContents[T]) -> None:
        self._contents = contents

    @property
    def data(self) -> tuple[T, ...]:
        """The records of this page alone."""
        return self._contents.data

    @property
    def total(self) -> int | None:
        """The number of records of the whole list, or None if the service does not say it."""
        return self._contents.total

    @property
    def offset(self) -> int:
        """The place of the first record of this page in the list."""
        return self._contents.offset

    @property
    def has_next(self) -> bool:
        return self._contents.next_arguments is not None

    @property
    def raw(self) -> Any:
        """The reply as it came."""
        return self._contents.raw

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.data)} records, offset={self.offset}, total={self.total})"


class Page(_PageFacts[T]):
    """A page of a list. `for record in page` also fetches the pages after it, one at a time."""

    def __init__(self, contents: PageContents[T], transport: SyncTransport, settings: Settings) -> None:
        super().__init__(contents)
        self._transport = transport
        self._settings = settings

    def next_page(self) -> Page[T] | None:
        """Returns the page after this one, or None if this is the last."""
        following = self._transport.run(fetch_next(self._settings, self._contents))
        return None if following is None else Page(following, self._transport, self._settings)

    def __iter__(self) -> Iterator[T]:
        page: Page[T] | None = self
        while page is not None:
            yield from page.data
            page = page.next_page()


class AsyncPage(_PageFacts[T]):
    """A page of a list. `async for record in page` also fetches the pages after it, one at a time."""

    def __init__(self, contents: PageContents[T], transport: AsyncTransport, settings: Settings) -> None:
        super().__init__(contents)
        self._transport = transport
        self._settings = settings

    async def next_page(self) -> AsyncPage[T] | None:
        """Returns the page after this one, or None if this is the last."""
        following = await self._transport.run(fetch_next(self._settings, self._contents))
        return None if following is None else AsyncPage(following, self._transport, self._settings)

    async def __aiter__(self) -> AsyncIterator[T]:
        page: AsyncPage[T] | None = self
        while page is not None:
            for record in page.data:
                yield record
            page = await page.next_page()


class AsyncPager(Generic[T]):
    """A list that is not fetched yet: `await` returns its first page, `async for` yields all records."""

    def __init__(
        self, action: Action[T], arguments: Mapping[str, Any], transport: AsyncTransport, settings: Settings
    ) -> None:
        self._start: Callable[[], Any] = lambda: fetch_page(settings, action, arguments)
        self._transport = transport
        self._settings = settings

    async def _first_page(self) -> AsyncPage[T]:
        contents: PageContents[T] = await self._transport.run(self._start())
        return AsyncPage(contents, self._transport, self._settings)

    def __await__(self) -> Generator[Any, None, AsyncPage[T]]:
        return self._first_page().__await__()

    async def __aiter__(self) -> AsyncIterator[T]:
        page = await self._first_page()
        async for record in page:
            yield record
