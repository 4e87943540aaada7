"""The findings of `kasuwa doctor` about hosts that share the database: certificates, leases, versions, clocks and
addresses."""

import os
import stat
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography import x509

from kasuwa import __version__
from kasuwa.cluster import api_processes, certificates, peer_check
from kasuwa.cluster.api_processes import ApiProcess
from kasuwa.cluster.certificates import CertificateFiles, PeerCertificates, try_own
from kasuwa.cluster.peers import Peer, make_greeting, make_protocol
from kasuwa.doctor.findings import Finding, passed, problem, warning
from kasuwa.postgres.clock import JUMP_SECONDS
from kasuwa.settings.peer_files import load_peer_certificates
from kasuwa.settings.peer_terms import PeerTerms
from kasuwa.settings.settings import Settings, parse_peer_terms
from kasuwa.settings.values import SettingsError

# From so many days before its end on, a certificate is to be renewed.
RENEW_DAYS = 30
RENEW = "renew it: the service reads the files again when they change"
# What is wrong with the certificate that another process shows, and the remedy.
REFUSALS = {
    certificates.OTHER_CA: ("shows a certificate of another CA", "issue it by the CA of KASUWA_PEER_CA"),
    certificates.EXPIRED: ("shows a certificate that is not valid today", RENEW),
    certificates.OTHER_HOST: (
        "shows the certificate of another host",
        "issue one with the host of KASUWA_PEER_ADDRESS as its subjectAltName",
    ),
    certificates.OLDER_TLS: ("does not speak TLS 1.3", "run this version of kasuwa there"),
    certificates.NOT_TLS: ("does not speak TLS", "see what listens there"),
    certificates.NOT_ACCEPTED: (
        "does not accept the certificate of this host",
        "see the log there for the reason, and run `kasuwa doctor` there too",
    ),
    certificates.NO_HANDSHAKE: ("hangs up before both sides know each other", "see the log there for the reason"),
    peer_check.UNREACHABLE: (
        "cannot be reached",
        "open the port between the hosts, and check KASUWA_PEER_ADDRESS and KASUWA_PEER_LISTEN there",
    ),
    peer_check.OTHER_PROCESS: ("is another process", "give each host a KASUWA_PEER_ADDRESS of its own"),
}


async def examine_peers(settings: Settings, connection: Any) -> list[Finding]:
    """Returns the findings about this host's certificate and each API process that is live. Each is reached once, as
    other hosts reach it."""
    terms, live = parse_peer_terms(settings), await api_processes.list_live(connection)
    try:
        trusted = load_peer_certificates(settings)
    except SettingsError as error:
        return [problem(str(error), "mend the files of KASUWA_PEER_CERTIFICATE, KASUWA_PEER_KEY and KASUWA_PEER_CA")]
    if terms is None or trusted is None:
        count = len({process.host_id for process in live})
        return [passed(f"{count} hosts send each other writes; KASUWA_PEER_LISTEN is not set here")] if live else []
    return [
        *examine_certificates(trusted, terms.host.strip("[]")),
        *examine_own(terms, settings.workers, live),
        *[await examine_process(process, trusted) for process in live],
    ]


def examine_certificates(trusted: PeerCertificates, host: str) -> list[Finding]:
    """Returns the findings about the files: who can read the key, how long they are valid, and whether other hosts
    would accept the certificate as that of this host."""
    findings = [examine_key_file(trusted.files.key), *examine_ends(trusted.files)]
    refused = try_own(trusted, host)
    if refused == certificates.OTHER_HOST:
        mend = f"issue one with {host} as its subjectAltName"
        findings.append(problem(f"{trusted.files.certificate} is not a certificate of {host}", mend))
    elif refused and refused != certificates.EXPIRED:
        mend = "issue one for servers and clients by the CA of KASUWA_PEER_CA, with all certificates between them"
        findings.append(problem(f"{trusted.files.certificate} does not lead to the CA: {refused}", mend))
    return findings


def examine_key_file(path: Path) -> Finding:
    """Like PostgreSQL: the key is the service's alone, or root's and readable by a group."""
    status = path.stat()
    open_to = stat.S_IRWXO | stat.S_IWGRP | stat.S_IXGRP
    if status.st_uid != 0 or os.geteuid() == 0:
        open_to |= stat.S_IRGRP
    if status.st_mode & open_to:
        return problem(f"{path} can be read by others than the service", f"chmod 600 {path}")
    return passed("the key for other hosts is readable by the service alone")


def examine_ends(files: CertificateFiles) -> list[Finding]:
    """Returns until when the first certificate of each file is valid."""
    findings = []
    for path in (files.certificate, files.ca):
        first = x509.load_pem_x509_certificates(path.read_bytes())[0]
        now, begin, end = datetime.now(UTC), first.not_valid_before_utc, first.not_valid_after_utc
        if not begin <= now <= end:
            what = f"{path} has expired on {end:%Y-%m-%d}" if now > end else f"{path} begins on {begin:%Y-%m-%d}"
            findings.append(problem(what, RENEW))
        elif (end - now).days < RENEW_DAYS:
            findings.append(warning(f"{path} expires in {(end - now).days} days", RENEW))
        else:
            findings.append(passed(f"{path} is valid for {(end - now).days} days"))
    return findings


def examine_own(terms: PeerTerms, processes: int, live: Sequence[ApiProcess]) -> list[Finding]:
    """Returns a problem for each API process of this host that has no lease."""
    known = {process.address for process in live}
    missing = [address for address in map(terms.make_address, range(processes)) if address not in known]
    if not missing:
        return []
    mend = "start `kasuwa serve` with the same settings, or see its log"
    return [problem(f"no API process of this host is live as {', '.join(missing)}", mend)]


async def examine_process(process: ApiProcess, trusted: PeerCertificates) -> Finding:
    where = f"{process.address} on {process.machine}"
    if process.protocol != make_protocol(__version__):
        what = f"{where} runs version {process.version}, this one {__version__}: they send each other nothing"
        return problem(what, "upgrade all hosts to one version; until then each decides for itself, which is slower")
    skew = process.clock_skew_ms / 1000
    if abs(skew) > JUMP_SECONDS:
        what = f"the clock of {where} is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} the database's"
        return problem(what, "set both by NTP; the service goes by the database's")
    greeting = make_greeting(process.host_id, process.protocol, process.address)
    result = await peer_check.check_peer(Peer(process.address, greeting), trusted)
    if result == peer_check.ANSWERS:
        return passed(f"{where} answers, and each side accepts the other's certificate")
    what, mend = REFUSALS[result]
    return problem(f"{where} {what}", mend)
