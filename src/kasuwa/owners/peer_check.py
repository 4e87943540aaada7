"""Tries to reach an API process of a host, as another host would."""

import asyncio

from kasuwa.owners.dialing import PeerDialer
from kasuwa.owners.frames import HELLO, FrameConnection
from kasuwa.owners.handshake import PeerSecret
from kasuwa.owners.peers import Peer
from kasuwa.owners.secure_channel import HANDSHAKE_SECONDS, NO_HANDSHAKE

# Results of a check.
ANSWERS = "answers"
UNREACHABLE = "unreachable"
OTHER_SECRET = "other secret"  # or something else listens there
OTHER_PROCESS = "other process"


async def check_peer(peer: Peer, secret: PeerSecret) -> str:
    """Returns whether the process of the table answers at its address, or why not. Sends it nothing but the
    handshake."""
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def give(result: str) -> None:
        if not answer.done():
            answer.set_result(result)

    def receive(connection: FrameConnection, kind: int, number: int, payload: bytes) -> None:
        if kind == HELLO:
            give(ANSWERS if payload == peer.greeting else OTHER_PROCESS)

    def refuse(reason: str) -> None:
        give(UNREACHABLE if reason == NO_HANDSHAKE else OTHER_SECRET)

    connection = FrameConnection(receive, lambda _: give(OTHER_SECRET))
    try:
        await PeerDialer(peer, secret, refuse).connect(lambda: connection)
        async with asyncio.timeout(2 * HANDSHAKE_SECONDS):
            return await answer
    except OSError:
        return UNREACHABLE
    finally:
        connection.abort()
