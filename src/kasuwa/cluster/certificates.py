"""The certificates by which processes of two hosts know each other, and the terms of TLS between them.

Each host has a certificate of the operator's own CA, with the name or address by which the others reach it. Both sides
show theirs. A caller accepts only the name that it looked for; a listener only names of hosts that are in the table of
live processes (peer_listener.py). So no host can pass for another, and a certificate that the CA has made for something
else is of no use here.

The files are read again when they change. Files that do not fit together, as halfway through a renewal, change
nothing.
"""

import ipaddress
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

# How long each side may take to finish the handshake, and to hang up.
HANDSHAKE_SECONDS = 5.0
HANG_UP_SECONDS = 2.0
# Reasons for which a connection is refused. They are labels of metrics.
OTHER_CA, EXPIRED, OTHER_HOST = "other CA", "expired certificate", "other host"
NO_CERTIFICATE, OLDER_TLS, NOT_TLS = "no certificate", "older TLS", "not TLS"
NOT_ACCEPTED, NO_HANDSHAKE = "not accepted", "no handshake"
# Of OpenSSL: the codes of X509_verify_cert, and the names of errors.
REASON_OF_CODE = {9: EXPIRED, 10: EXPIRED, 62: OTHER_HOST, 64: OTHER_HOST}
REASON_OF_ERROR = {
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": NO_CERTIFICATE,
    **dict.fromkeys(("UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION"), OLDER_TLS),
    **dict.fromkeys(("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST"), NOT_TLS),
    **dict.fromkeys(("RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "UNEXPECTED_MESSAGE"), NOT_TLS),
}


class CertificateError(Exception):
    """Files that cannot be used. The text says in one line which, and why. It quotes nothing of them."""


class CertificateFiles(msgspec.Struct, frozen=True):
    """Files in PEM."""

    certificate: Path  # of this host, with those between it and the CA
    key: Path  # of the certificate
    ca: Path  # one or, while it is changed, several

    def list_states(self) -> list[tuple[int, ...]]:
        """Returns what tells a changed file from the one before. Raises CertificateError that names all that are not
        there."""
        states: list[tuple[int, ...]] = []
        faults = []
        for path in (self.certificate, self.key, self.ca):
            try:
                status = path.stat()
                states.append((status.st_mtime_ns, status.st_size, status.st_ino))
            except OSError as error:
                faults.append(f"{path} cannot be read: {error.strerror}")
        if faults:
            raise CertificateError("; ".join(faults))
        return states


class PeerCertificates:
    """The files as they were read last. Raises CertificateError if they cannot be used."""

    def __init__(self, files: CertificateFiles) -> None:
        self.files = files
        # Taken before the files are read: one that changes meanwhile is read again.
        self._states = self._tried = files.list_states()
        self.accepting, self.calling = make_contexts(files)
        self.trouble = ""  # why changed files are not in use

    def reload(self) -> bool:
        """Reads the files if they have changed. Returns whether they are in use now. If they cannot be used, those
        before stay, and `trouble` says why."""
        try:
            states = self.files.list_states()
            if states == self._tried:
                return False
            self._tried, self.trouble = states, ""
            if states == self._states:
                return False
            self.accepting, self.calling = make_contexts(self.files)
        except CertificateError as error:
            self.trouble = str(error)
            return False
        self._states = states
        return True


def make_contexts(files: CertificateFiles) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Returns the terms of connections that are accepted, and of those that are made."""
    accepting, calling = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for context in (accepting, calling):
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.verify_mode = ssl.CERT_REQUIRED
        load_files(context, files)
    calling.hostname_checks_common_name = False
    # A session that is resumed is not authenticated again.
    accepting.num_tickets = 0
    return accepting, calling


def load_files(context: ssl.SSLContext, files: CertificateFiles) -> None:
    try:
        context.load_verify_locations(files.ca)
    except OSError as error:
        raise CertificateError(f"{files.ca} has no certificate of a CA that can be read: {explain(error)}") from None
    try:
        # Without a password, OpenSSL would ask for that of an encrypted key at the terminal.
        context.load_cert_chain(files.certificate, files.key, password="")
    except (OSError, ValueError) as error:
        pair = f"{files.certificate} and {files.key}"
        raise CertificateError(
            f"{pair} are not a certificate and its key without a password: {explain(error)}"
        ) from None


def explain(error: Exception) -> str:
    """Returns why a file was not loaded, without what is in it."""
    if isinstance(error, ssl.SSLError):
        return (error.reason or "not PEM").replace("_", " ").lower()
    return getattr(error, "strerror", None) or type(error).__name__


def name_refusal(error: OSError) -> str:
    """Returns the reason for which a handshake failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return REASON_OF_CODE.get(error.verify_code, OTHER_CA)
    if isinstance(error, ssl.SSLError):
        reason = error.reason or ""
        return REASON_OF_ERROR.get(reason, NOT_ACCEPTED if "ALERT" in reason else NOT_TLS)
    return NO_HANDSHAKE


def list_names(certificate: Mapping[str, Any]) -> frozenset[str]:
    """Returns the names and addresses of a certificate, as the standard library decodes it. A name that stands for
    several (`*`) is none: it would let hosts pass for each other."""
    listed = certificate.get("subjectAltName", ())
    return frozenset(plain_name(value) for kind, value in listed if kind in ("DNS", "IP Address") and "*" not in value)


def plain_name(host: str) -> str:
    """Returns the one spelling of a name or address."""
    try:
        return str(ipaddress.ip_address(host.strip("[]\n")))
    except ValueError:
        return host.lower()


def try_own(certificates: PeerCertificates, host: str) -> str:
    """Makes a connection of this host to itself in memory. Returns why it is refused, or an empty text."""
    to_listener, to_caller = ssl.MemoryBIO(), ssl.MemoryBIO()
    caller = certificates.calling.wrap_bio(to_caller, to_listener, server_hostname=host)
    listener = certificates.accepting.wrap_bio(to_listener, to_caller, server_side=True)
    try:
        for side in (caller, listener, caller, listener):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    except ssl.SSLError as error:
        return name_refusal(error)
    return "" if plain_name(host) in list_names(listener.getpeercert() or {}) else OTHER_HOST
