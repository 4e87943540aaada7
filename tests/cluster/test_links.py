"""Questions to an owner over a real socket: answered, declined, lost; and owners that stop, hang and come back.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    a lost connection ends the questions that are pending       (they wait for ever)
    an owner that says goodbye answers what it was sent before  (ReplyLost)
    a silent owner gets no questions                            (its merchants do not move until it is given up)
    a question has a deadline of its own                        (it waits as long as the owner answers pings)
    frames are read across chunks                               (frames are lost)
"""

import asyncio
import contextlib
import os
import stat
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from kasuwa.cluster import links as owner_links
from kasuwa.cluster.frames import GOODBYE, HEAD, JOB_RESULT, REQUEST, FrameConnection
from kasuwa.cluster.links import NothingDone, OwnerLink, OwnerLinks, ReplyLost
from kasuwa.cluster.listener import Inquiry, OwnerListener
from kasuwa.cluster.sockets import OwnerSockets, make_sockets
from kasuwa.observe.metrics import FORWARDED, OWNERS_LIVE, Metrics

DEADLINE_SECONDS = 120.0
FIRST, SECOND = 0, 1


def run(work: Coroutine[Any, Any, None]) -> None:
    """Runs a test. The deadline only keeps it from hanging."""
    asyncio.run(asyncio.wait_for(work, DEADLINE_SECONDS))


async def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.01)


class Setup:
    """An owner that can be started and stopped, and the links of another process to it."""

    def __init__(self, sockets: OwnerSockets) -> None:
        self.sockets = sockets
        self.metrics = Metrics()
        self.links = OwnerLinks(sockets.paths, FIRST, self.metrics)
        self.questions: list[bytes] = []
        self.inquiries: list[Inquiry] = []
        self.listener = OwnerListener(sockets.paths[SECOND], {REQUEST: self.answer, JOB_RESULT: self.keep})

    def answer(self, payload: bytes, inquiry: Inquiry) -> None:
        self.questions.append(payload)
        if payload == b"raise":
            raise ValueError("4111111111111111")
        inquiry.answer(b"answer to " + payload)

    def keep(self, payload: bytes, inquiry: Inquiry) -> None:
        self.questions.append(payload)
        self.inquiries.append(inquiry)

    @property
    def merchant_of_other(self) -> int:
        """A merchant whose first choice is the other process."""
        return next(number for number in range(100) if not self.links.is_first_choice(number))

    async def find(self) -> OwnerLink:
        await wait_until(lambda: self.links.find(self.merchant_of_other) is not None)
        link = self.links.find(self.merchant_of_other)
        assert link is not None
        return link

    def is_ours(self) -> bool:
        return self.links.find(self.merchant_of_other) is None

    def counted(self, kind: str, outcome: str) -> float:
        return self.metrics.series.get((FORWARDED.name, (kind, outcome)), [0.0])[0]


@contextlib.asynccontextmanager
async def running(directory: Path, *, is_started: bool = True) -> AsyncIterator[Setup]:
    sockets = make_sockets(2, directory)
    assert sockets is not None
    setup = Setup(sockets)
    if is_started:
        await setup.listener.start()
    setup.links.start()
    try:
        yield setup
    finally:
        setup.links.close()
        setup.listener.say_goodbye()
        sockets.remove()


def test_many_questions_are_in_flight_and_each_gets_its_own_answer(tmp_path: Path) -> None:
    async def ask() -> None:
        async with running(tmp_path) as setup:
            link = await setup.find()
            sizes = [0, 1, 100, 70_000, 3_000_000, 5]
            payloads = [bytes([number]) * size for number, size in enumerate(sizes * 20)]
            answers = await asyncio.gather(*(link.ask(REQUEST, payload) for payload in payloads))
            assert answers == [b"answer to " + payload for payload in payloads]
            assert setup.counted("request", "answered") == len(payloads)

    run(ask())


def test_a_question_that_cannot_be_begun_is_declined_and_its_content_is_not_logged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def ask() -> None:
        async with running(tmp_path) as setup:
            link = await setup.find()
            with pytest.raises(NothingDone):
                await link.ask(REQUEST, b"raise")
            assert await link.ask(REQUEST, b"next") == b"answer to next"
            assert setup.counted("request", "declined") == 1

    run(ask())
    printed = "".join(capfd.readouterr())
    assert "a question of another process was declined" in printed
    assert "4111" not in printed


def test_questions_to_an_owner_that_dies_are_lost_and_its_merchants_move(tmp_path: Path) -> None:
    async def ask() -> None:
        async with running(tmp_path) as setup:
            link = await setup.find()
            asking = asyncio.create_task(link.ask(JOB_RESULT, b"job"))
            await wait_until(lambda: bool(setup.inquiries))
            for connection in list(setup.listener._connections):
                connection.abort()
            with pytest.raises(ReplyLost):
                await asking
            assert setup.is_ours()
            assert await (await setup.find()).ask(REQUEST, b"again") == b"answer to again"
            assert setup.counted("job", "lost") == 1

    run(ask())


def test_an_owner_that_says_goodbye_answers_what_it_was_sent_and_gets_no_more(tmp_path: Path) -> None:
    async def ask() -> None:
        async with running(tmp_path) as setup:
            link = await setup.find()
            asking = asyncio.create_task(link.ask(JOB_RESULT, b"job"))
            await wait_until(lambda: bool(setup.inquiries))
            setup.listener.say_goodbye()
            draining = asyncio.create_task(setup.listener.drain())
            await wait_until(setup.is_ours)
            assert not draining.done()
            setup.inquiries[0].answer(b"done")
            assert await asking == b"done"
            await draining
            # The process that takes its place listens at the same address.
            await setup.listener.start()
            assert await (await setup.find()).ask(REQUEST, b"new") == b"answer to new"

    run(ask())


def test_a_question_that_crosses_the_goodbye_is_answered(tmp_path: Path) -> None:
    async def ask() -> None:
        async with running(tmp_path) as setup:
            link = await setup.find()
            setup.listener.say_goodbye()
            draining = asyncio.create_task(setup.listener.drain())
            assert await link.ask(REQUEST, b"crossing") == b"answer to crossing"
            await draining

    run(ask())


def test_a_silent_owner_gets_no_questions_until_it_answers_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_links, "PING_SECONDS", 0.05)
    monkeypatch.setattr(owner_links, "TICK_SECONDS", 0.05)
    monkeypatch.setattr(owner_links, "SILENT_SECONDS", 0.3)

    async def ask() -> None:
        async with running(tmp_path) as setup:
            link = await setup.find()
            may_repeat = asyncio.create_task(link.ask(JOB_RESULT, b"with a key", may_repeat=True))
            others = asyncio.create_task(link.ask(JOB_RESULT, b"without"))
            await wait_until(lambda: len(setup.inquiries) == 2)
            resume = pause(setup.listener)
            await wait_until(setup.is_ours)
            with pytest.raises(ReplyLost):
                await may_repeat
            assert not others.done()
            resume()
            for inquiry in setup.inquiries:
                inquiry.answer(b"late")
            assert await others == b"late"
            assert await (await setup.find()).ask(REQUEST, b"again") == b"answer to again"

    run(ask())


def test_an_owner_that_stays_silent_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_links, "PING_SECONDS", 0.05)
    monkeypatch.setattr(owner_links, "TICK_SECONDS", 0.05)
    monkeypatch.setattr(owner_links, "SILENT_SECONDS", 0.1)
    monkeypatch.setattr(owner_links, "GIVE_UP_SECONDS", 0.3)

    async def ask() -> None:
        async with running(tmp_path) as setup:
            link = await setup.find()
            pause(setup.listener)
            with pytest.raises(ReplyLost):
                await link.ask(JOB_RESULT, b"without a key")

    run(ask())


def pause(listener: OwnerListener) -> Callable[[], None]:
    """Keeps the owner from reading, as if its process were stopped. Returns a function that ends it."""
    [connection] = listener._connections
    connection._transport.pause_reading()
    return lambda: connection._transport.resume_reading()


def test_an_owner_that_is_quiet_but_answers_pings_is_not_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_links, "PING_SECONDS", 0.05)
    monkeypatch.setattr(owner_links, "TICK_SECONDS", 0.05)
    monkeypatch.setattr(owner_links, "SILENT_SECONDS", 0.5)

    async def ask() -> None:
        async with running(tmp_path) as setup:
            link = await setup.find()
            asking = asyncio.create_task(link.ask(JOB_RESULT, b"slow", may_repeat=True))
            await wait_until(lambda: bool(setup.inquiries))
            await asyncio.sleep(1.5)
            setup.inquiries[0].answer(b"done")
            assert await asking == b"done"

    run(ask())


def test_a_question_that_is_never_answered_is_lost_though_pings_are_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_links, "PING_SECONDS", 0.05)
    monkeypatch.setattr(owner_links, "TICK_SECONDS", 0.05)
    monkeypatch.setitem(owner_links.ANSWER_SECONDS, JOB_RESULT, 0.2)

    async def ask() -> None:
        async with running(tmp_path) as setup:
            link = await setup.find()
            with pytest.raises(ReplyLost):
                await link.ask(JOB_RESULT, b"job")
            assert setup.counted("job", "lost") == 1
            setup.inquiries[0].answer(b"late")
            assert await link.ask(REQUEST, b"next") == b"answer to next"
            assert not setup.is_ours()

    run(ask())


def test_a_process_that_leaves_is_not_kept_by_a_question_that_was_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_links, "TICK_SECONDS", 0.05)
    monkeypatch.setitem(owner_links.ANSWER_SECONDS, JOB_RESULT, 0.2)

    async def ask() -> None:
        async with running(tmp_path) as setup:
            link = await setup.find()
            asking = asyncio.create_task(link.ask(JOB_RESULT, b"job"))
            await wait_until(lambda: bool(setup.inquiries))
            setup.listener.say_goodbye()
            with pytest.raises(ReplyLost):
                await asking
            await wait_until(lambda: not setup.listener._connections)

    run(ask())


def test_an_owner_that_is_not_there_yet_is_found_when_it_starts(tmp_path: Path) -> None:
    async def ask() -> None:
        async with running(tmp_path, is_started=False) as setup:
            assert setup.is_ours()
            await setup.listener.start()
            assert await (await setup.find()).ask(REQUEST, b"first") == b"answer to first"
            setup.links._collect()
            assert setup.metrics.series[OWNERS_LIVE.name, ("",)] == [1.0]

    run(ask())


def test_only_this_user_can_open_the_sockets(tmp_path: Path) -> None:
    async def look() -> None:
        async with running(tmp_path) as setup:
            await setup.find()
            assert stat.S_IMODE(os.stat(setup.sockets.directory).st_mode) == 0o700
            assert stat.S_IMODE(os.stat(setup.sockets.paths[SECOND]).st_mode) == 0o600

    run(look())


def test_a_frame_that_is_too_long_ends_the_connection(tmp_path: Path) -> None:
    async def send() -> None:
        async with running(tmp_path) as setup:
            await setup.find()
            reader, writer = await asyncio.open_unix_connection(str(setup.sockets.paths[SECOND]))
            writer.write(HEAD.pack(2**32 - 1, REQUEST, 1))
            greeting = await reader.read()
            assert len(greeting) == HEAD.size
            writer.close()

    run(send())


def test_frames_are_read_however_they_are_cut(tmp_path: Path) -> None:
    received: list[tuple[int, int, bytes]] = []
    frames = [(REQUEST, 1, b"one"), (GOODBYE, 0, b""), (JOB_RESULT, 7, bytes(300)), (REQUEST, 2**60, b"x")]
    stream = b"".join(HEAD.pack(len(payload), kind, number) + payload for kind, number, payload in frames)

    async def read(chunk: int) -> None:
        connection = FrameConnection(lambda _, *frame: received.append(frame), lambda _: None)
        for start in range(0, len(stream), chunk):
            connection.data_received(stream[start : start + chunk])

    for chunk in (1, 2, 7, 13, 14, 100, len(stream)):
        received.clear()
        run(read(chunk))
        assert received == frames, chunk


def test_no_directory_for_sockets_means_no_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert make_sockets(2, tmp_path / "missing too") is None
    long = tmp_path / ("x" * 100)
    long.mkdir()
    assert make_sockets(2, long) is None
    assert list(long.iterdir()) == []
    found = make_sockets(2, tmp_path)
    assert found is not None
    assert found.directory.parent == tmp_path
    found.remove()
    assert [found.read_process_number(name) for name in ("api-1", "api-2", "worker", "console")] == [0, 1, None, None]


def test_a_directory_of_a_killed_supervisor_is_removed_and_one_in_use_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    data = tmp_path / "data"
    killed = os.fork()
    if not killed:
        made = make_sockets(2, data)
        os._exit(0 if made is not None else 1)
    assert os.waitpid(killed, 0)[1] == 0
    [left] = tmp_path.glob("kasuwa-*")
    others = make_sockets(2, tmp_path / "other data")
    assert others is not None
    first = make_sockets(2, data)
    assert first is not None
    assert not left.exists()
    second = make_sockets(2, data)
    assert second is not None
    assert {first.directory, second.directory, others.directory} == set(tmp_path.glob("kasuwa-*"))
    for sockets in (first, second, others):
        sockets.remove()
    assert list(tmp_path.glob("kasuwa-*")) == []
