"""The findings of `kasuwa doctor` about hosts that share the database: leases, versions, clocks, addresses, secrets."""

from collections.abc import Sequence
from typing import Any

from kasuwa import __version__
from kasuwa.core.peer_terms import PeerTerms
from kasuwa.db import api_processes
from kasuwa.db.api_processes import ApiProcess
from kasuwa.db.clock import JUMP_SECONDS
from kasuwa.doctor_findings import Finding, passed, problem
from kasuwa.owners import peer_check
from kasuwa.owners.handshake import PeerSecret
from kasuwa.owners.peers import Peer, make_greeting, make_protocol
from kasuwa.settings import Settings, peer_terms_of


async def examine_peers(settings: Settings, connection: Any) -> list[Finding]:
    """Returns the findings about each API process that is live. Each is reached once, as other hosts reach it."""
    terms, live = peer_terms_of(settings), await api_processes.list_live(connection)
    if terms is None or settings.peer_secret is None:
        count = len({process.host_id for process in live})
        return [passed(f"{count} hosts send each other writes; KASUWA_PEER_LISTEN is not set here")] if live else []
    secret = PeerSecret(settings.peer_secret)
    return [
        *examine_own(terms, settings.workers, live),
        *[await examine_process(process, secret) for process in live],
    ]


def examine_own(terms: PeerTerms, processes: int, live: Sequence[ApiProcess]) -> list[Finding]:
    """Returns a problem for each API process of this host that has no lease."""
    known = {process.address for process in live}
    missing = [address for address in map(terms.address_of, range(processes)) if address not in known]
    if not missing:
        return []
    mend = "start `kasuwa serve` with the same settings, or see its log"
    return [problem(f"no API process of this host is live as {', '.join(missing)}", mend)]


async def examine_process(process: ApiProcess, secret: PeerSecret) -> Finding:
    where = f"{process.address} on {process.machine}"
    if process.protocol != make_protocol(__version__):
        what = f"{where} runs version {process.version}, this one {__version__}: they send each other nothing"
        return problem(what, "upgrade all hosts to one version; until then each decides for itself, which is slower")
    skew = process.clock_skew_ms / 1000
    if abs(skew) > JUMP_SECONDS:
        what = f"the clock of {where} is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} the database's"
        return problem(what, "set both by NTP; the service goes by the database's")
    greeting = make_greeting(process.host_id, process.protocol, process.address)
    return describe_result(where, await peer_check.check_peer(Peer(process.address, greeting), secret))


def describe_result(where: str, result: str) -> Finding:
    if result == peer_check.ANSWERS:
        return passed(f"{where} answers")
    if result == peer_check.UNREACHABLE:
        mend = "open the port between the hosts, and check KASUWA_PEER_ADDRESS and KASUWA_PEER_LISTEN there"
        return problem(f"{where} cannot be reached", mend)
    if result == peer_check.OTHER_SECRET:
        return problem(f"{where} has another KASUWA_PEER_SECRET", "give all hosts the same secret")
    mend = "give each host a KASUWA_PEER_ADDRESS of its own"
    return problem(f"another process answers at {where}", mend)
