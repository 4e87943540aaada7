"""The key-encryption key of a deployment: given by a setting, or kept in a file of its data directory."""

import base64
import os
import secrets
from pathlib import Path

from kasuwa.core.vault import KEY_BYTES
from kasuwa.db.private_files import sync_directory
from kasuwa.settings import Settings, SettingsError

SECRET_FILE = "secret.key"


def secret_key_of(settings: Settings, *, may_create: bool = True) -> bytes:
    """Returns the key-encryption key. In test it is created on first use, with `may_create`. Live has no default: the
    operator keeps the key outside the database."""
    if settings.secret_key is not None:
        return decode_key(settings.secret_key, "KASUWA_SECRET_KEY")
    if settings.environment == "live":
        raise SettingsError(
            "KASUWA_SECRET_KEY is not set: live needs 32 random bytes in base64 "
            "(make one with `openssl rand -base64 32` and keep it where the database is not)"
        )
    path = settings.data / SECRET_FILE
    if not path.exists():
        if not may_create:
            raise SettingsError(f"there is no {path}: give the key of this database with KASUWA_SECRET_KEY")
        try:
            make_secret(path)
        except OSError as error:
            raise SettingsError(
                f"{settings.data} cannot be written ({error.strerror}): "
                "choose another data directory with --data or KASUWA_DATA"
            ) from None
    return decode_key(path.read_bytes().decode(errors="replace"), str(path))


def make_secret(path: Path) -> None:
    """Writes a new key under a temporary name and links it into place. If several processes do so, one key wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode() + "\n")
        file.flush()
        os.fsync(descriptor)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return
    finally:
        temporary.unlink()
        # The key's file must survive a crash, like the data sealed with it.
        sync_directory(path.parent)


def decode_key(text: str, where: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise SettingsError(f"{where} must hold 32 bytes in base64")
    return key
