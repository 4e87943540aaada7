"""A mail server that accepts all mail, or makes its clients wait."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Postbox(socketserver.ThreadingTCPServer):
    """Accepts mail by SMTP and records recipient and text."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.letters: list[tuple[str, str]] = []
        # While it is closed, clients wait for the greeting: `waiting` counts them.
        self.is_open = threading.Event()
        self.is_open.set()
        self.waiting = 0

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.server_address[1]}?from=console@example.com"


class Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server: Any = self.server
        server.waiting += 1
        server.is_open.wait()
        server.waiting -= 1
        self.wfile.write(b"220 postbox\r\n")
        to = ""
        while line := self.rfile.readline().decode().strip():
            if line.upper().startswith("RCPT"):
                to = line.partition("<")[2].partition(">")[0]
            if line.upper() == "DATA":
                self.wfile.write(b"354 go on\r\n")
                text = b""
                while not text.endswith(b"\r\n.\r\n"):
                    text += self.rfile.readline()
                server.letters.append((to, text.decode()))
            self.wfile.write(b"250 fine\r\n")
            if line.upper() == "QUIT":
                return


@contextmanager
def taking_mail() -> Iterator[Postbox]:
    with Postbox() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.is_open.set()
        running.shutdown()
