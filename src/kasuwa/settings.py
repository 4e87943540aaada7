"""Settings: read and checked once, from the command line and the environment, then passed as a parameter."""

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
    """A setting that cannot be used. The text says in one line which, and what it should be."""


class Settings(msgspec.Struct, kw_only=True):
    """The settings of a deployment. Each is set by KASUWA_ and its name in capitals."""

    environment: str = "test"  # test or live
    host: str = "127.0.0.1"
    port: int = 8080  # 0: a free one is chosen, as for the other ports
    console: str = "on"  # on or off
    console_host: str = "127.0.0.1"
    console_port: int = 8081
    console_url: str | None = None  # the console's address behind a proxy
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None  # None: no metrics process
    trusted_proxies: str = ""  # addresses and networks, separated by commas
    data: Path = Path("data")  # directory of the embedded database and the secret key
    workers: int = 1  # number of API processes
    database_url: str | None = None  # None: the embedded database
    secret_key: str | None = None  # 32 bytes in base64
    sandbox_seed: str | None = None  # makes references and entropy the same in every run
    sandbox_advance_seconds: int = 20  # how long one advance of a merchant's clock may take
    request_log: str = "off"  # off or stdout
    hash_header: str = DEFAULT_HASH_HEADER  # header of the webhook's hash
    webhook_loopback: str = "on"  # on or off: whether webhooks in test may go to loopback addresses
    public_url: str | None = None  # the API's address for payers
    invitations: str | None = None  # print, command, or an smtp URL
    cooling_off_hours: int | None = None  # None: 24 in live, 0 in test
    large_amount: str = "1000000.00"  # from this amount on, operators confirm their identity
    card_label: str = DEFAULT_LABEL
    card_ranges: str = DEFAULT_RANGES
    stop_with: int | None = None  # a process id: the service stops when that process has ended
    longest_step_ms: int = 250  # processor time of one step of the event loop before a warning is logged


def loopback_allowed(settings: Settings) -> bool:
    """Tells whether webhooks may go to loopback addresses, as developers' receivers need. Never in live.

    Contract: events#delivery
    """
    return settings.environment == "test" and settings.webhook_loopback == "on"


def local_url(host: str, port: int) -> str:
    """Returns the URL by which a browser on this machine reaches a listener, also one on all interfaces."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def public_url_of(settings: Settings) -> str:
    """Returns the address by which payers reach the API: KASUWA_PUBLIC_URL, or the one it listens on.

    Contract: #paths"""
    return (settings.public_url or local_url(settings.host, settings.port)).rstrip("/")


def console_address(settings: Settings) -> str:
    """Returns the console's address: KASUWA_CONSOLE_URL, or the one it listens on."""
    return (settings.console_url or local_url(settings.console_host, settings.console_port)).rstrip("/")


def trusted_proxies_of(settings: Settings) -> tuple[Network, ...]:
    """Returns the proxies whose X-Forwarded-For is trusted."""
    try:
        return read_networks(settings.trusted_proxies)
    except ValueError as error:
        raise SettingsError(f"KASUWA_TRUSTED_PROXIES takes addresses and networks, by commas: {error}") from None


def invitations_of(settings: Settings) -> str:
    """Returns how invitation links are delivered: `print`, `command` (an administrator sends them) or an smtp URL."""
    return settings.invitations or ("print" if settings.environment == "test" else "command")


def cooling_off_of(settings: Settings) -> timedelta:
    """Returns how long an operator who was invited, reset or promoted cannot approve anything."""
    hours = settings.cooling_off_hours
    return timedelta(hours=hours if hours is not None else 24 if settings.environment == "live" else 0)


def large_amount_of(settings: Settings) -> int:
    """Returns the amount, in kobo, from which operators confirm their identity before money leaves."""
    amount = parse_minor(settings.large_amount)
    if not amount:
        raise SettingsError(f"KASUWA_LARGE_AMOUNT must be an amount such as 1000000.00, not {settings.large_amount!r}")
    return amount


def check_invitations(settings: Settings) -> None:
    delivery = invitations_of(settings)
    if delivery == "print" and settings.environment == "live":
        raise SettingsError("KASUWA_INVITATIONS must not be print in live: links are for the people they are made for")
    if delivery not in ("print", "command") and not MAIL_URL.fullmatch(delivery):
        # The value is not quoted, because it may hold a password.
        raise SettingsError(
            "KASUWA_INVITATIONS must be command, smtp://user:password@host:port?from=address, or in test print"
        )


def issuing_of(settings: Settings) -> CardIssuingSettings:
    """Returns the label and number ranges of issued cards. Raises SettingsError if one cannot be used."""
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
    **dict.fromkeys(("port", "console_port", "metrics_port"), (0, 65535)),  # 0: a free port is chosen
    "workers": (1, 64),
    "cooling_off_hours": (0, 720),
    "sandbox_advance_seconds": (1, 3600),
    "longest_step_ms": (10, 60_000),
    "stop_with": (1, 999_999_999),
}


def read_settings(environ: Mapping[str, str], **given: object) -> Settings:
    """Returns the checked settings. The command line (`given`) wins over `KASUWA_…`, which wins over the defaults."""
    found: dict[str, object] = {}
    for name in Settings.__struct_fields__:
        value = given.get(name)
        if value is None:
            value = environ.get(PREFIX + name.upper()) or None
        if value is not None:
            found[name] = whole_number(name, value) if name in WHOLE_NUMBERS else value
    settings = Settings(**found)  # type: ignore[arg-type]
    settings.data = Path(settings.data).absolute()
    if settings.environment not in ("test", "live"):
        raise SettingsError(f"KASUWA_ENVIRONMENT must be test or live, not {settings.environment!r}")
    if settings.webhook_loopback not in ("on", "off"):
        raise SettingsError(f"KASUWA_WEBHOOK_LOOPBACK must be on or off, not {settings.webhook_loopback!r}")
    if not re.fullmatch("[A-Za-z0-9-]{1,64}", settings.hash_header) or not is_allowed_hash_header(settings.hash_header):
        raise SettingsError(f"KASUWA_HASH_HEADER must be the name of a header of its own, not {settings.hash_header!r}")
    for name in ("public_url", "console_url"):
        url = getattr(settings, name)
        if url is not None and not PUBLIC_URL.fullmatch(url):
            raise SettingsError(f"KASUWA_{name.upper()} must be an http or https address, not {url!r}")
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
    """Returns the key-encryption key. In test it is created on first use. Live has no default: the operator keeps the
    key outside the database."""
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
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Makes the names in a directory durable, so that the key's file survives a crash like the data sealed with it."""
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
