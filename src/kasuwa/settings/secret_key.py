"""The key-encryption key of a deployment: given by a setting or a command, or kept in a file of its data directory."""

import base64
import os
import secrets
import shlex
import subprocess
from pathlib import Path

from kasuwa.core.keyring import KEY_BYTES
from kasuwa.postgres.private_files import sync_directory
from kasuwa.settings.settings import Settings
from kasuwa.settings.values import MAX_SECRET_BYTES, SettingsError

SECRET_FILE = "secret.key"
# A key that is about to take the place of the one in SECRET_FILE.
NEXT_SECRET_FILE = "secret.key.next"
# How long a command that prints the key may take: a key management service answers over the network.
COMMAND_SECONDS = 10.0


def load_secret_key(settings: Settings, *, may_create: bool = True) -> bytes:
    """Returns the key-encryption key. In test it is created on first use, with `may_create`. Live has no default: the
    operator keeps the key outside the database."""
    key = read_given(settings.secret_key, settings.secret_key_command, "KASUWA_SECRET_KEY")
    if key is not None:
        return key
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


def is_secret_in_data(settings: Settings) -> bool:
    """Returns whether the key is the file of the data directory."""
    return settings.secret_key is None and settings.secret_key_command is None and settings.environment == "test"


def load_next_secret_key(settings: Settings) -> bytes:
    """Returns the key that `kasuwa keys rotate --kek` changes to. Where the key is the file of the data directory, a
    new one is made beside it, once. Raises SettingsError if none is given."""
    key = read_given(settings.new_secret_key, settings.new_secret_key_command, "KASUWA_NEW_SECRET_KEY")
    if key is not None:
        return key
    if not is_secret_in_data(settings):
        raise SettingsError(
            "KASUWA_NEW_SECRET_KEY is not set: give the new key with it, or by KASUWA_NEW_SECRET_KEY_FILE or "
            "KASUWA_NEW_SECRET_KEY_COMMAND (make one with `openssl rand -base64 32`)"
        )
    path = settings.data / NEXT_SECRET_FILE
    if not path.exists():
        make_secret(path)
    return decode_key(path.read_bytes().decode(errors="replace"), str(path))


def replace_secret_file(settings: Settings) -> None:
    """Puts the new key in the place of the old one, in the data directory."""
    os.replace(settings.data / NEXT_SECRET_FILE, settings.data / SECRET_FILE)
    sync_directory(settings.data)


def read_given(text: str | None, command: str | None, variable: str) -> bytes | None:
    """Returns the key that a setting has or a command prints, or None if there is neither."""
    if text is not None and command is not None:
        raise SettingsError(f"{variable} and {variable}_COMMAND are both set: remove one of them")
    if command is not None:
        return decode_key(run_key_command(command, f"{variable}_COMMAND"), f"the output of {variable}_COMMAND")
    return None if text is None else decode_key(text, variable)


def run_key_command(command: str, variable: str) -> str:
    """Returns what a command prints. It is run without a shell. Raises SettingsError, which never has its output."""
    try:
        words = shlex.split(command)
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise SettingsError(f"{variable} took longer than {COMMAND_SECONDS:.0f} s") from None
    except OSError as error:
        raise SettingsError(f"{variable} cannot be run: {error.strerror}") from None
    except (ValueError, IndexError):
        raise SettingsError(f"{variable} must be a program and its arguments, quoted as in a shell") from None
    if done.returncode != 0:
        raise SettingsError(f"{variable} ended with exit code {done.returncode}")
    if len(done.stdout) > MAX_SECRET_BYTES:
        raise SettingsError(f"the output of {variable} must be 32 bytes in base64")
    return done.stdout.decode(errors="replace")


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
