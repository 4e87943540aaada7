"""Tests that need no server: what they send and get is recorded once, and answered from the file in later runs.

A file is a recording (recording.py), whose `events` are the deliveries to the receivers of the test: `during` which
exchange each arrived, counted from 1, `to` which receiver, its `id`, `headers` and `payload`. They arrive again before
the reply to that exchange. `<events 1>` is the receiver that a request named first.
"""

import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from kasuwa.integration.gateway import HOST, POLL_SECONDS, Gateway
from kasuwa.integration.recording import is_action, mask_object, read_recording, render_recording
from kasuwa.integration.replay import Replayed, Replayer, ReplayListener, listen
from kasuwa.testing.golden import MASKED, URL_NAME
from kasuwa.testing.receiver import RECEIVER
from kasuwa.testing.server import Server
from kasuwa_client import sign_event

DELIVERY_SECONDS = 60.0
# Headers of a delivery that do not follow from its payload and its signature.
KEPT_HEADERS = ("webhook-object", "webhook-sequence")
# Deliveries stay on this machine, whatever proxy the environment names.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ReceiverNames:
    """Names the receivers of this process, whose addresses differ between runs, by the order of their appearance."""

    def __init__(self, origin: str) -> None:
        self._pattern = re.compile(rf"{re.escape(origin)}/events/\d+")
        self._names: dict[str, str] = {}

    def hide(self, text: str) -> str:
        return self._pattern.sub(lambda match: self._name(match[0]), text)

    def show(self, text: str) -> str:
        for url, name in self._names.items():
            text = text.replace(name, url)
        return text

    def _name(self, url: str) -> str:
        return self._names.setdefault(url, f"<events {len(self._names) + 1}>")


@contextmanager
def recorded(server: Server, file: Path, has_passed: Callable[[], bool]) -> Iterator[Server]:
    """Yields the server as a test is to call it, and writes its recording at the end, unless the test has failed."""
    deliveries: list[dict[str, Any]] = []
    with Gateway(server.url) as gateway:

        def keep(url: str, body: bytes, headers: Mapping[str, str]) -> None:
            during = sum(map(is_action, gateway.exchanges))
            event = {"during": during, "to": url, "id": headers.get("webhook-id", ""), "payload": mask_object(body)}
            others = {name: headers[name] for name in KEPT_HEADERS if name in headers}
            deliveries.append({**event, "headers": others})

        with RECEIVER.tapped(keep) as origin:
            yield replace(server, url=gateway.url)
        if not has_passed():
            return
        sent = b"\n".join(exchange.sent for exchange in gateway.exchanges).decode(errors="replace")
        # A delivery to a merchant of an earlier test may have come late.
        own = [delivery for delivery in deliveries if f'"{delivery["to"]}"' in sent]
        text = render_recording(gateway.exchanges, [gateway.url, server.url], own)
    file.parent.mkdir(parents=True, exist_ok=True)
    names = ReceiverNames(origin)
    names.hide(sent)  # in the order in which a replay meets them
    file.write_text(names.hide(text), encoding="utf-8")


class OfflineReplayer(Replayer):
    """Answers the requests of a test, and delivers the events that came with the replies."""

    def __init__(self, file: Path, url: str, names: ReceiverNames, *, is_loose: bool) -> None:
        super().__init__(read_recording(file, url), is_loose=is_loose)
        self._file, self._names = file, names
        self._events: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8").replace(URL_NAME, url))[
            "events"
        ]

    def replay(self, path: str, sent: bytes) -> Replayed:
        answered = super().replay(path, self._names.hide(sent.decode(errors="replace")).encode())
        if answered.number is not None:
            self._deliver(answered.number + 1)
        return answered._replace(body=self._names.show(answered.body.decode()).encode())

    def open_page(self, path: str) -> None:
        self.refusals.append(f"GET {path}: pages and files are not recorded.")

    def _deliver(self, number: int) -> None:
        """Sends the events of an exchange, once. They are signed with what stands for all keys of the recording."""
        with self._lock:
            due = [event for event in self._events if event["during"] == number]
            self._events = [event for event in self._events if event["during"] != number]
        for event in due:
            signed = sign_event(event["payload"], MASKED, event_id=event["id"])
            headers = {**event["headers"], **signed.headers}
            request = urllib.request.Request(self._names.show(event["to"]), signed.body, headers, method="POST")
            # What the receiver answers does not matter: an event that came again was recorded again.
            with suppress(urllib.error.HTTPError), OPENER.open(request, timeout=DELIVERY_SECONDS):
                pass

    def check(self) -> None:
        """Raises AssertionError for requests that are not recorded and, strictly, recorded ones that are missing."""
        __tracebackhide__ = True
        lines = list(self.refusals)
        if self.unused and not self._is_loose:
            lines.append(f"{self.unused} recorded requests did not come.")
        if lines:
            text = "\n".join(f"  {line}" for line in lines)
            raise AssertionError(f"the test differs from {self._file}:\n{text}\nIf that is right, use --kasuwa-record.")


@contextmanager
def replayed(file: Path, *, is_loose: bool) -> Iterator[Server]:
    """Yields a server that answers from a recording. Raises UnreadableRecording, and at the end AssertionError if a
    request was not in it or, strictly, if a recorded one did not come."""
    __tracebackhide__ = True
    listener = start_listener()
    url = f"http://{HOST}:{listener.server_address[1]}"
    with RECEIVER.tapped(lambda *_: None) as origin:
        replayer = OfflineReplayer(file, url, ReceiverNames(origin), is_loose=is_loose)
        listener.replayer = replayer
        try:
            yield Server(url, is_replayed=True)
        finally:
            # Also if the audit at the end failed because it is not recorded: this says what came before.
            replayer.check()


@cache
def start_listener() -> ReplayListener:
    """Returns the listener of this process, which ends with it. Tests of a process run one after the other."""
    listener = listen(HOST, 0)
    threading.Thread(target=listener.serve_forever, args=(POLL_SECONDS,), name="kasuwa replay", daemon=True).start()
    return listener
