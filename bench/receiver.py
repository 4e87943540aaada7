"""A cheap webhook receiver: a process of its own that answers 200 to every event.

`python -m bench.receiver` prints its port and runs until it is stopped. It only finds the end of each request, so that
the sender is what is measured.
"""

import asyncio
import contextlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

from bench.results import MeasurementFailed

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)\r\n", re.IGNORECASE)
END_OF_HEAD = b"\r\n\r\n"


class ReceiverProtocol(asyncio.Protocol):
    def __init__(self) -> None:
        self._held = b""
        self._answer: Callable[[bytes], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._answer = transport.write  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self._held += data
        while (size := complete_request_size(self._held)) is not None:
            self._held = self._held[size:]
            assert self._answer is not None
            self._answer(ANSWER)


def complete_request_size(held: bytes) -> int | None:
    """Returns the length of the first request, if it is complete."""
    head = held.find(END_OF_HEAD)
    if head < 0:
        return None
    length = LENGTH.search(held, 0, head + 2)
    size = head + len(END_OF_HEAD) + (int(length[1]) if length else 0)
    return size if len(held) >= size else None


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Yields the URL of a running receiver."""
    command = [sys.executable, "-m", "bench.receiver"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        if not port:
            raise MeasurementFailed("the receiver did not start")
        yield f"http://127.0.0.1:{port}/events"
    finally:
        process.terminate()
        process.wait()


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(ReceiverProtocol, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(ImportError):
        import uvloop

        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())
