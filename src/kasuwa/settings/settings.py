"""Settings: read and checked once, from the command line and the environment, then passed as a parameter."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec
import platformdirs

from kasuwa.core.addresses import Network, read_networks
from kasuwa.core.mail import MAX_BOUNCE_LOCAL_LENGTH, MailServer, Sender, is_address
from kasuwa.core.money import CURRENCIES
from kasuwa.settings.former_accounts import read_former_accounts
from kasuwa.settings.mail_server import read_mail_server, read_sender
from kasuwa.settings.peer_terms import PeerTerms, read_peer_terms
from kasuwa.settings.processors import default_workers
from kasuwa.settings.rail_needs import RAIL_FORMS, RAIL_VENDORS, REMOTE_METHODS
from kasuwa.settings.values import (
    AUTO,
    PREFIX,
    SettingsError,
    read_amount,
    read_amounts,
    read_switch,
    read_variable,
    read_whole_number,
)
from kasuwa.terms.accounts import SANDBOX_RAIL, AccountTerms
from kasuwa.terms.issuing import DEFAULT_LABEL, DEFAULT_RANGES, CardIssuingSettings, read_label, read_ranges
from kasuwa.webhooks.signatures import DEFAULT_HASH_HEADER, is_allowed_hash_header

# Settings that are, or may contain, a secret. Each can also be read from the file that KASUWA_..._FILE names, so that
# it is in no process's environment: secrets of Docker and Kubernetes and credentials of systemd are files.
SECRET_SETTINGS = (
    "database_owner_url",
    "database_reader_url",
    "secret_key",
    "database_url",
    "smtp_url",
    "paystack_secret_key",
    "monnify_api_key",
    "monnify_secret_key",
    "vtpass_api_key",
    "vtpass_public_key",
    "vtpass_secret_key",
    "vtpass_callback_secret",
    "dojah_secret_key",
    "termii_api_key",
    "remote_secret",
    "remote_old_secret",
    "close_key",
    "rail_former_accounts",
    "new_secret_key",
)

# Settings of files by which hosts know each other.
PEER_FILES = ("peer_certificate", "peer_key", "peer_ca")

# The demo merchant of the test environment. Live starts with none. Contract: #authentication
DEMO_NAME, DEMO_MID, DEMO_KEY = "Demo merchant", "GP0000001", "123456789"


RequestLog = Literal["off", "stdout"]


class Settings(msgspec.Struct, kw_only=True):
    """The settings of a deployment. Each is set by KASUWA_ and its name in capitals, secrets also by a file."""

    environment: str = "test"  # test or live
    host: str = "127.0.0.1"
    port: int = 8080  # 0: a free one is chosen, as for the other ports
    console: bool = True
    console_host: str = "127.0.0.1"
    console_port: int = 8081
    console_url: str | None = None  # the console's address behind a proxy
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None  # None: no metrics process
    trusted_proxies: str = ""  # addresses and networks, separated by commas
    # The directory of the embedded database and the secret key.
    data: Path = msgspec.field(default_factory=lambda: default_data_directory())
    workers: int = msgspec.field(default_factory=default_workers)  # number of API processes
    database_url: str | None = None  # None: the embedded database
    database_owner_url: str | None = None  # the same with the login that owns the tables; None: it serves too
    database_reader_url: str | None = None  # the same with the login that reads lists and pages; None: it serves too
    peer_listen: str | None = None  # host:port on which API processes listen for other hosts; None: they do not
    peer_address: str | None = None  # host or host:port by which other hosts reach them; None: peer_listen
    # Files in PEM, by which hosts know each other: the certificate of this one, its key, and the CA of all of them.
    peer_certificate: str | None = None
    peer_key: str | None = None
    peer_ca: str | None = None
    secret_key: str | None = None  # 32 bytes in base64
    secret_key_command: str | None = None  # a command that prints the secret key
    new_secret_key: str | None = None  # the key that `kasuwa keys rotate --kek` changes to
    new_secret_key_command: str | None = None  # a command that prints it
    sandbox_seed: str | None = None  # makes references and entropy the same in every run
    sandbox_advance_seconds: int = 20  # how long one advance of a merchant's clock may take
    request_log: RequestLog = "off"
    hash_header: str = DEFAULT_HASH_HEADER  # header of the webhook's hash
    webhook_loopback: bool = True  # whether webhooks in test may go to loopback addresses
    checkout_cards: bool = False  # whether payers in live may enter card numbers on pages of ours
    public_url: str | None = None  # the API's address for payers
    invitations: str | None = None  # print, command or mail
    smtp_url: str | None = None  # the server that takes mails; None: none are sent
    mail_from: str | None = None  # the address that they are sent from
    mail_bounces: str | None = None  # the address that bounces go to, with a token for each mail; None: mail_from
    mail_rate: int = 600  # mails of all merchants and people in a minute that a worker gives to the server
    sms_from: str | None = None  # the name that text messages are sent from, as it is registered with the vendor
    sms_rate: int = 300  # text messages of all merchants in a minute that a worker gives to the vendor
    cooling_off_hours: int | None = None  # of the first start (authority/cooling_off.py); None: 24 in live, 0 in test
    large_amount: int = 100_000_000  # in kobo: from this amount on, operators confirm their identity
    card_label: str = DEFAULT_LABEL
    card_ranges: str = DEFAULT_RANGES
    # The rails of a purpose, separated by commas, the first choice first. None: the sandbox in test, no rail in live.
    rail_bank: str | None = None  # paystack, monnify, remote or, in test, sandbox
    rail_bills: str | None = None  # vtpass, remote or, in test, sandbox
    rail_identity: str | None = None  # dojah, monnify, remote or, in test, sandbox
    rail_card: str | None = None  # paystack, monnify, remote or, in test, sandbox: cards and saved cards
    rail_collect: str | None = None  # paystack, monnify, remote or, in test, sandbox: all other payments
    rail_accounts: str | None = None  # paystack, monnify, remote or, in test, sandbox: accounts to pay into
    suspense_mid: str | None = None  # the operator's own merchant, whose books take unidentified money
    rail_email_domain: str | None = None  # the operator's domain, of the email addresses of payers who gave none
    rail_bank_shadow: str | None = None  # a rail that is asked for names and its balance, to compare, and never pays
    rail_in_flight: int = 8  # calls in progress that one process allows for a vendor
    rail_timeout: int = 9  # seconds that a call to a vendor may take
    # Balances below which the operator gets a notice, in minor units by currency.
    rail_float_least: Mapping[str, int] = {}
    rail_balance_seconds: int = 60  # how often our balances with vendors are read
    rail_loopback: bool = False  # whether live may call rails on loopback addresses
    rail_former_accounts: str | None = None  # JSON: keys of accounts whose orders have not ended
    paystack_secret_key: str | None = None
    paystack_base_url: str | None = None  # None: the vendor's address
    paystack_callback_addresses: str = ""  # networks that its call-backs come from; empty: everywhere
    paystack_phone: str | None = None  # the operator's telephone number, which the vendor requires with every account
    paystack_account_bank: str | None = None  # the vendor's name of the bank of accounts; None: its usual one
    monnify_api_key: str | None = None
    monnify_secret_key: str | None = None
    monnify_wallet_account: str | None = None  # ten digits: the account that pays transfers
    monnify_contract_code: str | None = None  # digits: the contract under which money is collected
    monnify_base_url: str | None = None  # None: the vendor's address for the environment
    monnify_callback_addresses: str = ""
    monnify_unsigned: bool = False  # whether call-backs without a signature are accepted, in test alone
    vtpass_api_key: str | None = None
    vtpass_public_key: str | None = None
    vtpass_secret_key: str | None = None
    vtpass_base_url: str | None = None  # None: the vendor's address for the environment
    vtpass_phone: str | None = None  # the operator's telephone number, which the vendor requires with every bill
    vtpass_callback_secret: str | None = None  # part of the path where the vendor's call-backs arrive
    vtpass_callback_addresses: str = ""
    dojah_app_id: str | None = None
    dojah_secret_key: str | None = None
    dojah_lookup: str = "find"  # find: the vendor tells the person; match: it only compares
    dojah_base_url: str | None = None  # None: the vendor's address for the environment
    termii_api_key: str | None = None  # sends text messages; None: none are sent
    termii_channel: str = "dnd"  # dnd: to all numbers; generic: not to those that take no advertising
    termii_base_url: str | None = None  # None: the vendor's usual address
    remote_base_url: str | None = None  # the address of a rail that speaks the rail protocol, without /v1
    remote_key_id: str | None = None  # the name of the secret
    remote_secret: str | None = None  # signs requests, answers and call-backs
    remote_methods: str = "card,token,account,bank_transfer,ussd,phone,mobile_money"  # the payment methods it serves
    remote_currencies: str = "NGN"  # the currencies in which it collects payments
    remote_identity: str = "find"  # find: it tells the person; match: it compares; consent: the person agrees first
    remote_cards: bool = False  # whether it announces purchases with cards that were issued here
    remote_callback_addresses: str = ""
    remote_old_key_id: str | None = None  # the secret before, accepted from the rail while it is being rolled
    remote_old_secret: str | None = None
    close_key: str | None = None  # 32 bytes in base64 that sign closes; None: a file in test, no closes in live
    close_copy: str | None = None  # a directory that gets a copy of each close
    close_command: str | None = None  # a command that gets each close on its standard input
    stop_with: int | None = None  # a process id: the service stops when that process has ended
    longest_step_ms: int = 250  # processor time of one step of the event loop before a warning is logged


def default_data_directory() -> Path:
    """Returns the data directory if none is chosen.

    It is `data` in the clone that the service runs from. An installed service uses the user's data directory of the
    platform, such as ~/.local/share/kasuwa."""
    sources = Path(__file__).resolve().parents[2]
    if sources.name == "src" and (sources.parent / "pyproject.toml").is_file():
        return sources.parent / "data"
    try:
        return platformdirs.user_data_path("kasuwa", appauthor=False)
    except RuntimeError:  # such as a container whose user has no account
        raise SettingsError(
            "this user has no home directory: choose a data directory with --data or KASUWA_DATA"
        ) from None


def loopback_allowed(settings: Settings) -> bool:
    """Tells whether webhooks may go to loopback addresses, as developers' receivers need. Never in live.

    Contract: events#delivery
    """
    return settings.environment == "test" and settings.webhook_loopback


def local_url(host: str, port: int) -> str:
    """Returns the URL by which a browser on this machine reaches a listener, also one on all interfaces."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def get_public_url(settings: Settings) -> str:
    """Returns the address by which payers reach the API: KASUWA_PUBLIC_URL, or the one it listens on.

    Contract: #paths"""
    return (settings.public_url or local_url(settings.host, settings.port)).rstrip("/")


def console_address(settings: Settings) -> str:
    """Returns the console's address: KASUWA_CONSOLE_URL, or the one it listens on."""
    return (settings.console_url or local_url(settings.console_host, settings.console_port)).rstrip("/")


def parse_trusted_proxies(settings: Settings) -> tuple[Network, ...]:
    """Returns the proxies whose X-Forwarded-For is trusted."""
    try:
        return read_networks(settings.trusted_proxies)
    except ValueError as error:
        raise SettingsError(f"KASUWA_TRUSTED_PROXIES takes addresses and networks, by commas: {error}") from None


def parse_peer_terms(settings: Settings) -> PeerTerms | None:
    """Returns where API processes listen for other hosts, or None. Raises SettingsError if that cannot be used."""
    try:
        if settings.peer_listen is None:
            return None
        terms = read_peer_terms(settings.peer_listen, settings.peer_address, settings.workers)
    except ValueError as error:
        raise SettingsError(str(error)) from None
    if settings.database_url is None:
        raise SettingsError("KASUWA_PEER_LISTEN needs KASUWA_DATABASE_URL: hosts share a database of your own")
    missing = [name.upper() for name in PEER_FILES if getattr(settings, name) is None]
    if missing:
        raise SettingsError(f"KASUWA_PEER_LISTEN needs {', '.join(PREFIX + name for name in missing)}")
    return terms


def choose_invitations(settings: Settings) -> str:
    """Returns how invitation links are delivered: `print`, `command` (an administrator sends them) or `mail`."""
    if settings.invitations is not None or settings.environment == "test":
        return settings.invitations or "print"
    return "command" if settings.smtp_url is None else "mail"


def sends_mail(settings: Settings) -> bool:
    """Returns whether mails are sent. In test they stay in an outbox."""
    return settings.environment == "test" or settings.smtp_url is not None


def sends_sms(settings: Settings) -> bool:
    """Returns whether text messages are sent. In test they stay in an outbox."""
    return settings.environment == "test" or settings.termii_api_key is not None


def parse_mail_server(settings: Settings) -> tuple[MailServer, Sender] | None:
    """Returns the server that takes mails and the address that they are sent from, or None. Raises SettingsError,
    without the URL because it may hold a password."""
    if settings.smtp_url is None:
        return None
    if settings.mail_from is None:
        raise SettingsError("KASUWA_SMTP_URL needs KASUWA_MAIL_FROM, the address that mails are sent from")
    try:
        server = read_mail_server(settings.smtp_url)
    except ValueError as error:
        raise SettingsError(f"KASUWA_SMTP_URL {error}") from None
    try:
        return server, read_sender(settings.mail_from)
    except ValueError as error:
        raise SettingsError(f"KASUWA_MAIL_FROM {error}, not {settings.mail_from!r}") from None


def parse_bounce_address(settings: Settings) -> str | None:
    """Returns the address that those of bounces are made of, or None. Raises SettingsError."""
    address = settings.mail_bounces
    if address is not None and (not is_address(address) or len(address.partition("@")[0]) > MAX_BOUNCE_LOCAL_LENGTH):
        raise SettingsError(
            "KASUWA_MAIL_BOUNCES must be an address such as bounces@example.com, "
            f"with at most {MAX_BOUNCE_LOCAL_LENGTH} characters before the @, not {address!r}"
        )
    return address


def rails_of_purpose(settings: Settings, purpose: str) -> tuple[str, ...]:
    """Returns the names of the rails for the orders of a purpose, the first choice first: vendors, or `sandbox`."""
    chosen: str | None = getattr(settings, f"rail_{purpose}")
    names = tuple(name.strip() for name in (chosen or "").split(",")) if chosen else ()
    return names or (("sandbox",) if settings.environment == "test" else ())


def split_list(text: str) -> tuple[str, ...]:
    """Returns the parts of a setting that are separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def rail_of_purpose(settings: Settings, purpose: str) -> str:
    """Returns the name of the rail that is the first choice for a purpose: `sandbox`, a vendor, or "" for none."""
    return next(iter(rails_of_purpose(settings, purpose)), "")


def get_shadow(settings: Settings, purpose: str) -> str:
    return (settings.rail_bank_shadow or "") if purpose == "bank" else ""


def is_configured(settings: Settings, purpose: str, vendor: str) -> bool:
    """Tells whether every setting that a vendor needs for a purpose is there, also if another one is chosen."""
    return all(getattr(settings, name) is not None for name in RAIL_VENDORS[purpose][vendor])


def rail_loopback_allowed(settings: Settings) -> bool:
    """Tells whether rails may be called on loopback addresses, without TLS: a simulator, or a proxy on this machine."""
    return settings.environment == "test" or settings.rail_loopback


def is_rail_url(settings: Settings, url: str) -> bool:
    """Tells whether a rail may be called at an address: our keys travel by TLS, or stay on this machine."""
    if rail_loopback_allowed(settings) and LOOPBACK_URL.fullmatch(url):
        return True
    return PUBLIC_URL.fullmatch(url) is not None and url.startswith("https://")


def check_rails(settings: Settings) -> None:
    """Raises SettingsError if a rail is unknown, or a setting that it needs is missing."""
    for purpose in RAIL_VENDORS:
        names = rails_of_purpose(settings, purpose)
        for name in names:
            check_rail(settings, purpose, name, f"KASUWA_RAIL_{purpose.upper()}")
        if len(set(names)) != len(names):
            raise SettingsError(f"KASUWA_RAIL_{purpose.upper()} names a rail twice")
        if is_page_and_sandbox(purpose, names):
            raise SettingsError(f"KASUWA_RAIL_{purpose.upper()} must not have {MIXED_WITH_SANDBOX}")
    if settings.rail_bank_shadow is not None:
        check_rail(settings, "bank", settings.rail_bank_shadow, "KASUWA_RAIL_BANK_SHADOW")
        if settings.rail_bank_shadow in rails_of_purpose(settings, "bank"):
            raise SettingsError("KASUWA_RAIL_BANK_SHADOW must not be one of KASUWA_RAIL_BANK, which pay")
    if settings.paystack_secret_key is not None:
        prefix = f"sk_{settings.environment}_"
        if not settings.paystack_secret_key.startswith(prefix):
            raise SettingsError(f"KASUWA_PAYSTACK_SECRET_KEY must begin with {prefix} in {settings.environment}")
    if settings.monnify_api_key is not None:
        prefix = "MK_PROD" if settings.environment == "live" else "MK_TEST"
        if not settings.monnify_api_key.startswith(prefix):
            raise SettingsError(f"KASUWA_MONNIFY_API_KEY must begin with {prefix} in {settings.environment}")
    check_forms(settings)
    if settings.termii_api_key is not None and settings.sms_from is None:
        raise SettingsError("KASUWA_TERMII_API_KEY needs KASUWA_SMS_FROM, the name that text messages are sent from")
    for vendor in ("monnify", "paystack", "vtpass", "dojah", "termii", "remote"):
        name = f"{vendor}_base_url"
        url = getattr(settings, name)
        if url is not None and not is_rail_url(settings, url):
            raise SettingsError(f"{PREFIX}{name.upper()} must be an https address, not {url!r}")
    if settings.monnify_unsigned and settings.environment != "test":
        raise SettingsError("KASUWA_MONNIFY_UNSIGNED must be off in live: call-backs without a signature are forged")
    parse_callback_senders(settings)
    secret = settings.vtpass_callback_secret
    if secret is not None and not re.fullmatch("[A-Za-z0-9_-]{24,128}", secret, re.ASCII):
        raise SettingsError("KASUWA_VTPASS_CALLBACK_SECRET must have 24 to 128 letters, digits, dashes or underscores")
    check_remote(settings)
    for rail, former in list_former_settings(settings):
        try:
            check_rails(former)
        except SettingsError as error:
            raise SettingsError(f"KASUWA_RAIL_FORMER_ACCOUNTS, {rail}: {error}") from None


def list_former_settings(settings: Settings) -> list[tuple[str, Settings]]:
    """Returns the former accounts with vendors, each as the settings that it had."""
    try:
        accounts = read_former_accounts(settings.rail_former_accounts or "[]")
    except ValueError as error:
        raise SettingsError(f"KASUWA_RAIL_FORMER_ACCOUNTS: {error}") from None
    return [
        (account.rail, msgspec.structs.replace(settings, rail_former_accounts=None, **account.settings))
        for account in accounts
    ]


def parse_callback_senders(settings: Settings) -> dict[str, tuple[Network, ...]]:
    """Returns the networks that the call-backs of rails come from. A rail without any is called from everywhere."""
    senders = {}
    for rail in ("paystack", "monnify", "vtpass", "remote"):
        name = f"{rail}_callback_addresses"
        try:
            networks = read_networks(getattr(settings, name))
        except ValueError as error:
            raise SettingsError(f"{PREFIX}{name.upper()} takes addresses and networks, by commas: {error}") from None
        if networks:
            senders[rail] = networks
    return senders


def is_page_and_sandbox(purpose: str, names: Sequence[str]) -> bool:
    """Tells whether rails of payments are mixed that take different requests: the sandbox takes card numbers."""
    return purpose in ("card", "collect") and SANDBOX_RAIL in names and len(names) > 1


def check_remote(settings: Settings) -> None:
    """Raises SettingsError if a setting of the rail protocol cannot be used. No secret is quoted."""
    for name, known in (("remote_methods", REMOTE_METHODS), ("remote_currencies", CURRENCIES)):
        unknown = [part for part in split_list(getattr(settings, name)) if part not in known]
        if unknown:
            raise SettingsError(f"{PREFIX}{name.upper()} must be of {', '.join(known)}, not {unknown[0]!r}")
    for name in ("remote_key_id", "remote_old_key_id"):
        key_id = getattr(settings, name)
        if key_id is not None and not re.fullmatch("[A-Za-z0-9._-]{1,64}", key_id, re.ASCII):
            raise SettingsError(f"{PREFIX}{name.upper()} must have 1 to 64 letters, digits, dots or dashes")
    for name in ("remote_secret", "remote_old_secret"):
        secret = getattr(settings, name)
        if secret is not None and not 32 <= len(secret) <= 256:
            raise SettingsError(f"{PREFIX}{name.upper()} must have 32 to 256 characters")
    if settings.remote_cards and not (settings.remote_key_id and settings.remote_secret):
        raise SettingsError("KASUWA_REMOTE_CARDS needs KASUWA_REMOTE_KEY_ID and KASUWA_REMOTE_SECRET")
    if settings.remote_old_key_id is not None and settings.remote_old_secret is None:
        raise SettingsError("KASUWA_REMOTE_OLD_KEY_ID needs KASUWA_REMOTE_OLD_SECRET")
    if settings.remote_old_key_id is not None and settings.remote_old_key_id == settings.remote_key_id:
        raise SettingsError("KASUWA_REMOTE_OLD_KEY_ID must differ from KASUWA_REMOTE_KEY_ID")


def check_rail(settings: Settings, purpose: str, chosen: str, variable: str) -> None:
    """Raises SettingsError if a rail is not one of its purpose, or a setting that it needs is missing."""
    vendors = RAIL_VENDORS[purpose]
    if chosen == "sandbox" and settings.environment == "live":
        raise SettingsError(f"{variable} must not be sandbox in live: no money would move")
    if chosen not in ("sandbox", *vendors):
        raise SettingsError(f"{variable} must be {' or '.join(('sandbox', *vendors))}, not {chosen!r}")
    missing = [name for name in vendors.get(chosen, ()) if getattr(settings, name) is None]
    if missing:
        names = ", ".join(f"{PREFIX}{name.upper()}" for name in missing)
        raise SettingsError(f"{variable} is {chosen}, which needs {names}")


def check_forms(settings: Settings) -> None:
    """Raises SettingsError if a setting of a rail has another form than its vendor takes."""
    for name, (pattern, meaning) in RAIL_FORMS.items():
        value = getattr(settings, name)
        if value is not None and not re.fullmatch(pattern, value, re.ASCII):
            raise SettingsError(f"{PREFIX}{name.upper()} must {meaning}, not {value!r}")


def choose_account_terms(settings: Settings) -> AccountTerms:
    """Returns how the deployment opens the accounts that customers pay into."""
    configured = [name for name in RAIL_VENDORS["accounts"] if is_configured(settings, "accounts", name)]
    sandbox = [SANDBOX_RAIL] if settings.environment == "test" else []
    return AccountTerms(
        rails_of_purpose(settings, "accounts"), frozenset([*configured, *sandbox]), bvn_rails=frozenset({"monnify"})
    )


def check_invitations(settings: Settings) -> None:
    delivery = choose_invitations(settings)
    if delivery == "print" and settings.environment == "live":
        raise SettingsError("KASUWA_INVITATIONS must not be print in live: links are for the people they are made for")
    if delivery not in ("print", "command", "mail"):
        # The value is not quoted: in release 1.0.0 it could be the mail server's, with a password.
        raise SettingsError("KASUWA_INVITATIONS must be command, mail (by KASUWA_SMTP_URL), or in test print")
    parse_bounce_address(settings)
    if parse_mail_server(settings) is None and delivery == "mail":
        raise SettingsError("KASUWA_INVITATIONS is mail, which needs KASUWA_SMTP_URL")


def parse_card_issuing(settings: Settings) -> CardIssuingSettings:
    """Returns the label and number ranges of issued cards. Raises SettingsError if one cannot be used."""
    try:
        label = read_label(settings.card_label)
    except ValueError as error:
        raise SettingsError(f"KASUWA_CARD_LABEL {error}, not {settings.card_label!r}") from None
    try:
        return CardIssuingSettings(label, read_ranges(settings.card_ranges))
    except ValueError as error:
        raise SettingsError(f"KASUWA_CARD_RANGES {error}, not {settings.card_ranges!r}") from None


MIXED_WITH_SANDBOX = "the sandbox beside a vendor: the one takes card numbers, the other shows a page"

LOOPBACK_URL = re.compile(r"http://(127\.[0-9.]+|localhost|\[::1\])(:[0-9]+)?(/[^\s?#]*)?", re.ASCII)
PUBLIC_URL = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?", re.ASCII)

SWITCHES = ("console", "webhook_loopback", "checkout_cards", "rail_loopback", "monnify_unsigned", "remote_cards")
WHOLE_NUMBERS = {
    **dict.fromkeys(("port", "console_port", "metrics_port"), (0, 65535)),  # 0: a free port is chosen
    "workers": (1, 64),
    "cooling_off_hours": (0, 720),
    "sandbox_advance_seconds": (1, 3600),
    "longest_step_ms": (10, 60_000),
    "stop_with": (1, 999_999_999),
    "rail_in_flight": (1, 1000),
    "rail_timeout": (1, 9),  # a method of a rail has ten seconds in all
    "rail_balance_seconds": (1, 3600),
    "mail_rate": (1, 100_000),
    "sms_rate": (1, 100_000),
}
# How settings that are no texts are read.
READERS: dict[str, Callable[[str, object], object]] = {
    **dict.fromkeys(SWITCHES, read_switch),
    **{name: partial(read_whole_number, least=least, most=most) for name, (least, most) in WHOLE_NUMBERS.items()},
    "large_amount": read_amount,
    "rail_float_least": read_amounts,
}


def read_plain(name: str, raw: object) -> object:
    return raw


def read_settings(environ: Mapping[str, str], **options: object) -> Settings:
    """Returns the checked settings. The command line (`given`) wins over `KASUWA_…`, which wins over the defaults."""
    values: dict[str, object] = {}
    for name in Settings.__struct_fields__:
        value = options.get(name)
        if value is None:
            value = read_variable(environ, name, is_secret=name in SECRET_SETTINGS)
        if value is not None and (name, value) != ("workers", AUTO):
            values[name] = READERS.get(name, read_plain)(name, value)
    settings = Settings(**values)  # type: ignore[arg-type]
    settings.data = Path(settings.data).absolute()
    if settings.environment not in ("test", "live"):
        raise SettingsError(f"KASUWA_ENVIRONMENT must be test or live, not {settings.environment!r}")
    if not re.fullmatch("[A-Za-z0-9-]{1,64}", settings.hash_header) or not is_allowed_hash_header(settings.hash_header):
        raise SettingsError(f"KASUWA_HASH_HEADER must be the name of a header of its own, not {settings.hash_header!r}")
    for name in ("public_url", "console_url"):
        url = getattr(settings, name)
        if url is not None and not PUBLIC_URL.fullmatch(url):
            raise SettingsError(f"KASUWA_{name.upper()} must be an http or https address, not {url!r}")
    if settings.request_log not in ("off", "stdout"):
        raise SettingsError(f"KASUWA_REQUEST_LOG must be off or stdout, not {settings.request_log!r}")
    check_invitations(settings)
    parse_card_issuing(settings)
    parse_trusted_proxies(settings)
    parse_peer_terms(settings)
    check_rails(settings)
    return settings
