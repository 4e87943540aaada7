"""Sends the requests of rail adapters through the HTTP client for outgoing requests."""

from collections.abc import Mapping

from kasuwa.outbound.egress import EgressClient, EgressLimits, RequestFailed, TargetRefused
from kasuwa.rails.ports.transport import AnswerLost, HttpReply, NotSent


# A rail's call ends within the ten seconds that a request may wait for it. Lists of banks and bills are long.
def make_rail_limits(seconds: float) -> EgressLimits:
    return EgressLimits(
        queue_seconds=2.0,
        connect_seconds=min(3.0, seconds),
        response_seconds=seconds,
        total_seconds=seconds,
        body_bytes=4 * 1024 * 1024,
    )


RAIL_LIMITS = make_rail_limits(9.0)


class EgressTransport:
    def __init__(self, egress: EgressClient) -> None:
        self._egress = egress

    async def send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> HttpReply:
        try:
            got = await self._egress.send(method, url, body, headers)
        except TargetRefused as error:
            raise NotSent(str(error)) from None
        except RequestFailed as error:
            raise (AnswerLost if error.may_have_arrived else NotSent)(str(error)) from None
        return HttpReply(got.status, got.body, got.is_complete, got.retry_after or 0, got.date, got.headers)
