"""The certificates by which this host and others know each other, from the files that the settings name."""

from pathlib import Path

from kasuwa.cluster.certificates import CertificateError, CertificateFiles, PeerCertificates
from kasuwa.settings.settings import Settings
from kasuwa.settings.values import SettingsError


def load_peer_certificates(settings: Settings) -> PeerCertificates | None:
    """Returns the certificates, or None if this host is to be alone. Raises SettingsError if they cannot be used."""
    if settings.peer_listen is None:
        return None
    names = (settings.peer_certificate, settings.peer_key, settings.peer_ca)
    try:
        return PeerCertificates(CertificateFiles(*(Path(name or "") for name in names)))
    except CertificateError as error:
        raise SettingsError(f"the certificates for other hosts cannot be used: {error}") from None
