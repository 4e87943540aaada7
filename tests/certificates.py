"""Makes CAs and certificates of hosts, with whatever is wrong with them."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kasuwa.cluster.certificates import CertificateFiles

DAY = timedelta(days=1)


def name_of(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def alternative_of(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def write_key(path: Path, key: ec.EllipticCurvePrivateKey, password: bytes | None = None) -> None:
    encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password is not None:
        encryption = serialization.BestAvailableEncryption(password)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    path.write_bytes(key.private_bytes(*form))
    path.chmod(0o600)


class Authority:
    """A CA. The certificates that it issues are of files that are written again, as in a renewal."""

    def __init__(self, directory: Path, name: str = "the hosts") -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._name = name_of(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.path = directory / f"{name.replace(' ', '-')}.ca.pem"
        made = self._begin(self._name, self._key, 3650).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        self.path.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def _begin(self, name: x509.Name, key: ec.EllipticCurvePrivateKey, days: int) -> x509.CertificateBuilder:
        """Returns what all certificates have. One with days below zero has expired."""
        end = datetime.now(UTC) + days * DAY
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(min(end, datetime.now(UTC)) - DAY)
            .not_valid_after(end)
        )

    def issue(self, host: str, *names: str, days: int = 90, is_client: bool = True) -> CertificateFiles:
        """Writes a certificate with these names, by default that of the host, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        uses = [ExtendedKeyUsageOID.SERVER_AUTH, *([ExtendedKeyUsageOID.CLIENT_AUTH] if is_client else [])]
        made = (
            self._begin(name_of(host), key, days)
            .add_extension(x509.SubjectAlternativeName([alternative_of(name) for name in names or (host,)]), False)
            .add_extension(x509.ExtendedKeyUsage(uses), False)
            .sign(self._key, hashes.SHA256())
        )
        files = CertificateFiles(self._directory / f"{host}.pem", self._directory / f"{host}.key", self.path)
        write_key(files.key, key)
        files.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        return files


def other_ca(ca: Authority, host: str, directory: Path) -> CertificateFiles:
    """Returns a certificate of another CA that trusts ours."""
    issued = Authority(directory / "other", "somebody else").issue(host)
    return CertificateFiles(issued.certificate, issued.key, ca.path)
