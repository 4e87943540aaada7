"""Tries to reach an API process of a host, as another host would."""

import asyncio

from kasuwa.cluster.certificates import HANDSHAKE_SECONDS, NOT_ACCEPTED, PeerCertificates
from kasuwa.cluster.dialing import PeerDialer
from kasuwa.cluster.frames import HELLO, FrameConnection
from kasuwa.cluster.peers import Peer

# Results of a check, besides the reasons for which a certificate is refused.
ANSWERS = "answers"
UNREACHABLE = "unreachable"
OTHER_PROCESS = "other process"


async def check_peer(peer: Peer, certificates: PeerCertificates) -> str:
    """Returns whether the process of the table answers at its address, or why not. It answers only if each side has
    accepted the other's certificate. Nothing is sent to it."""
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def give(result: str) -> None:
        if not answer.done():
            answer.set_result(result)

    def receive(connection: FrameConnection, kind: int, number: int, payload: bytes) -> None:
        if kind == HELLO:
            give(ANSWERS if payload == peer.greeting else OTHER_PROCESS)

    connection = FrameConnection(receive, lambda _: give(NOT_ACCEPTED))
    try:
        await PeerDialer(peer, certificates, give).connect(lambda: connection)
        async with asyncio.timeout(2 * HANDSHAKE_SECONDS):
            return await answer
    except OSError:
        return answer.result() if answer.done() else UNREACHABLE
    finally:
        connection.abort()
