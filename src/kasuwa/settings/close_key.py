"""The key that signs closes: given by a setting, or in test kept in a file of the data directory."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kasuwa.settings.secret_key import decode_key, make_secret
from kasuwa.settings.settings import Settings
from kasuwa.settings.values import SettingsError

CLOSE_KEY_FILE = "close.key"


def load_close_key(settings: Settings, *, may_create: bool = True) -> Ed25519PrivateKey | None:
    """Returns the signing key, or None if there is none. In test it is created on first use, with `may_create`.

    Live has no default, because the key must not lie beside the database."""
    if settings.close_key is not None:
        return Ed25519PrivateKey.from_private_bytes(decode_key(settings.close_key, "KASUWA_CLOSE_KEY"))
    if settings.environment == "live":
        return None
    path = settings.data / CLOSE_KEY_FILE
    if not path.exists():
        if not may_create:
            return None
        try:
            make_secret(path)
        except OSError as error:
            raise SettingsError(
                f"{settings.data} cannot be written ({error.strerror}): set KASUWA_CLOSE_KEY, or choose another data "
                "directory with --data or KASUWA_DATA"
            ) from None
    return Ed25519PrivateKey.from_private_bytes(decode_key(path.read_bytes().decode(errors="replace"), str(path)))


def require_close_key(settings: Settings) -> Ed25519PrivateKey:
    """Returns the signing key. Raises SettingsError if live has none."""
    key = load_close_key(settings)
    if key is None:
        raise SettingsError(
            "KASUWA_CLOSE_KEY is not set: live needs 32 random bytes in base64 to sign closes "
            "(make one with `openssl rand -base64 32` and keep it where the database is not)"
        )
    return key
