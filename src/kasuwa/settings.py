"""Settings: read once from the environment and the command line, checked, and passed down."""

import base64
import os
import re
import secrets
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import msgspec

from kasuwa.core.addresses import Network, read_networks
from kasuwa.core.events import DEFAULT_HASH_HEADER, is_allowed_hash_header
from kasuwa.core.issuing import DEFAULT_LABEL, DEFAULT_RANGES, CardIssuingSettings, read_label, read_ranges
from kasuwa.core.money import parse_minor
from kasuwa.core.vault import KEY_BYTES

SECRET_FILE = "secret.key"
PREFIX = "KASUWA_"

# The demo merchant of the test environment. Live starts with none. Contract: #authentication
DEMO_NAME, DEMO_MID, DEMO_KEY = "Demo merchant", "GP0000001", "123456789"


class SettingsError(Exception):
    """A setting that cannot be used: which, and what it should be, in one line."""


class Settings(msgspec.Struct, kw_only=True):
    environment: str = "test"
    host: str = "127.0.0.1"
    port: int = 8080
    console: str = "on"
    console_host: str = "127.0.0.1"
    console_port: int = 8081
    console_url: str | None = None
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    trusted_proxies: str = ""
    data: Path = Path("data")
    workers: int = 1
    database_url: str | None = None
    secret_key: str | None = None
    sandbox_seed: str | None = None
    sandbox_advance_seconds: int = 20
    request_log: str = "off"
    hash_header: str = DEFAULT_HASH_HEADER
    webhook_loopback: str = "on"
    public_url: str | None = None
    invitations: str | None = None
    cooling_off_hours: int | None = None
    large_amount: str = "1000000.00"
    card_label: str = DEFAULT_LABEL
    card_ranges: str = DEFAULT_RANGES
    longest_step_ms: int = 250


def loopback_allowed(settings: Settings) -> bool:
    """Developers' receivers live on loopback; in live nothing of ours is to be reached that way.

    Contract: events#payload
    """
    return settings.environment == "test" and settings.webhook_loopback == "on"


def local_url(host: str, port: int) -> str:
    """Where a browser finds what listens there. An address that means every interface is no address to go to."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def public_url_of(settings: Settings) -> str:
    """Where payers reach us: as it was set, else where we listen. Contract: #paths"""
    return (settings.public_url or local_url(settings.host, settings.port)).rstrip("/")


def console_address(settings: Settings) -> str:
    """Where people find the console; behind a proxy that is KASUWA_CONSOLE_URL."""
    return (settings.console_url or local_url(settings.console_host, settings.console_port)).rstrip("/")


def trusted_proxies_of(settings: Settings) -> tuple[Network, ...]:
    """The proxies whose X-Forwarded-For is believed."""
    try:
        return read_networks(settings.trusted_proxies)
    except ValueError as error:
        raise SettingsError(f"KASUWA_TRUSTED_PROXIES takes addresses and networks, by commas: {error}") from None


def invitations_of(settings: Settings) -> str:
    """How links reach the people they are for: printed in test, else by the system administrator or by mail."""
    return settings.invitations or ("print" if settings.environment == "test" else "command")


def cooling_off_of(settings: Settings) -> timedelta:
    """How long an operator who was let in, reset or promoted approves nothing."""
    hours = settings.cooling_off_hours
    return timedelta(hours=hours if hours is not None else 24 if settings.environment == "live" else 0)


def large_amount_of(settings: Settings) -> int:
    """From what amount on, in kobo, people confirm who they are before money leaves."""
    amount = parse_minor(settings.large_amount)
    if not amount:
        raise SettingsError(f"KASUWA_LARGE_AMOUNT must be an amount such as 1000000.00, not {settings.large_amount!r}")
    return amount


def check_invitations(settings: Settings) -> None:
    way = invitations_of(settings)
    if way == "print" and settings.environment == "live":
        raise SettingsError("KASUWA_INVITATIONS must not be print in live: links are for the people they are made for")
    if way not in ("print", "command") and not MAIL_URL.fullmatch(way):
        # It is not repeated: there may be a password in it.
        raise SettingsError(
            "KASUWA_INVITATIONS must be command, smtp://user:password@host:port?from=address, or in test print"
        )


def issuing_of(settings: Settings) -> CardIssuingSettings:
    """How cards are issued, or which of its two settings cannot be used."""
    try:
        label = read_label(settings.card_label)
    except ValueError as error:
        raise SettingsError(f"KASUWA_CARD_LABEL {error}, not {settings.card_label!r}") from None
    try:
        return CardIssuingSettings(label, read_ranges(settings.card_ranges))
    except ValueError as error:
        raise SettingsError(f"KASUWA_CARD_RANGES {error}, not {settings.card_ranges!r}") from None


MAIL_URL = re.compile(r"smtps?://[^\s/?#]+\?from=[^\s@&]+@[^\s@&]+", re.ASCII)
PUBLIC_URL = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?", re.ASCII)

WHOLE_NUMBERS = {
    **dict.fromkeys(("port", "console_port", "metrics_port"), (1, 65535)),
    "workers": (1, 64),
    "cooling_off_hours": (0, 720),
    "sandbox_advance_seconds": (1, 3600),
    "longest_step_ms": (10, 60_000),
}


def read_settings(environ: Mapping[str, str], **given: object) -> Settings:
    """What the command line gives wins over `KASUWA_…`, which wins over the defaults."""
    found: dict[str, object] = {}
    for name in Settings.__struct_fields__:
        said = given.get(name)
        if said is None:
            said = environ.get(PREFIX + name.upper()) or None
        if said is not None:
            found[name] = whole_number(name, said) if name in WHOLE_NUMBERS else said
    settings = Settings(**found)  # type: ignore[arg-type]
    settings.data = Path(settings.data).absolute()
    if settings.environment not in ("test", "live"):
        raise SettingsError(f"KASUWA_ENVIRONMENT must be test or live, not {settings.environment!r}")
    if settings.webhook_loopback not in ("on", "off"):
        raise SettingsError(f"KASUWA_WEBHOOK_LOOPBACK must be on or off, not {settings.webhook_loopback!r}")
    if not re.fullmatch("[A-Za-z0-9-]{1,64}", settings.hash_header) or not is_allowed_hash_header(settings.hash_header):
        raise SettingsError(f"KASUWA_HASH_HEADER must be the name of a header of its own, not {settings.hash_header!r}")
    for name in ("public_url", "console_url"):
        said = getattr(settings, name)
        if said is not None and not PUBLIC_URL.fullmatch(said):
            raise SettingsError(f"KASUWA_{name.upper()} must be an http or https address, not {said!r}")
    if settings.console not in ("on", "off"):
        raise SettingsError(f"KASUWA_CONSOLE must be on or off, not {settings.console!r}")
    if settings.request_log not in ("off", "stdout"):
        raise SettingsError(f"KASUWA_REQUEST_LOG must be off or stdout, not {settings.request_log!r}")
    check_invitations(settings)
    large_amount_of(settings)
    issuing_of(settings)
    trusted_proxies_of(settings)
    return settings


def whole_number(name: str, raw: object) -> int:
    least, most = WHOLE_NUMBERS[name]
    text = str(raw)
    if text.isascii() and text.isdecimal() and len(text) <= 9 and least <= int(text) <= most:
        return int(text)
    raise SettingsError(f"{PREFIX}{name.upper()} must be a whole number from {least} to {most}, not {text!r}")


def secret_key_of(settings: Settings) -> bytes:
    """The key-encryption key. Live has no default: an operator keeps it outside the database."""
    if settings.secret_key is not None:
        return decode_key(settings.secret_key, "KASUWA_SECRET_KEY")
    if settings.environment == "live":
        raise SettingsError(
            "KASUWA_SECRET_KEY is not set: live needs 32 random bytes in base64 "
            "(make one with `openssl rand -base64 32` and keep it where the database is not)"
        )
    path = settings.data / SECRET_FILE
    if not path.exists():
        make_secret(path)
    return decode_key(path.read_bytes().decode(errors="replace"), str(path))


def make_secret(path: Path) -> None:
    """Written under another name and linked into place: of several processes, one wins and all read its."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode() + "\n")
        file.flush()
        os.fsync(descriptor)
    try:
        os.link(mine, path)
    except FileExistsError:
        return
    finally:
        mine.unlink()
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Makes the names in a directory durable: what is sealed with a key must not outlive the key's file."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def decode_key(text: str, where: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise SettingsError(f"{where} must hold 32 bytes in base64")
    return key
