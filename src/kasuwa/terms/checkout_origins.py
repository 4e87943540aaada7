"""The origins of a merchant's own sites that may show its payers' pages in a frame. Contract: payment#embedding"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address

import msgspec

MAX_ORIGINS = 20
MAX_ORIGIN_LENGTH = 270
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1"})
DEFAULT_PORTS = {"https": "443", "http": "80"}
# Nothing that a policy reads as a pattern, a path or a further source: no *, no space, no semicolon, no comma.
ORIGIN = re.compile(
    r"(https?)://((?=[^:/]{1,253}(?:[:/]|$))[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
    r"(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*)(?::([1-9][0-9]{0,4}))?/?",
    re.ASCII,
)

NOT_AN_ORIGIN = "a scheme, a host and a port if it is not the usual one, such as https://shop.example"
NOT_ENCRYPTED = "https; http is for localhost and 127.0.0.1 in the test environment alone"
TOO_MANY = f"at most {MAX_ORIGINS} origins"


class CheckoutOrigins(msgspec.Struct, frozen=True, omit_defaults=True):
    """The origins as browsers write them. Empty: no site may show the pages in a frame."""

    origins: tuple[str, ...] = ()


def read_origin(text: str, environment: str = "test") -> str:
    """Returns an origin as browsers write it. Raises ValueError with what it must be."""
    match = ORIGIN.fullmatch(text.strip().lower()) if len(text) <= MAX_ORIGIN_LENGTH else None
    if match is None:
        raise ValueError(NOT_AN_ORIGIN)
    scheme, host, port = match.groups()
    if not is_host(host) or (port and int(port) > 65_535):
        raise ValueError(NOT_AN_ORIGIN)
    if scheme == "http" and (environment == "live" or host not in LOOPBACK_HOSTS):
        raise ValueError(NOT_ENCRYPTED)
    shown_port = f":{port}" if port and port != DEFAULT_PORTS[scheme] else ""
    return f"{scheme}://{host}{shown_port}"


def is_host(host: str) -> bool:
    """Returns whether browsers keep a host as it is: they read a name whose last label is a number as an address."""
    last = host.rpartition(".")[2]
    if not last.isdecimal() and not last.startswith("0x"):
        return True
    try:
        return str(IPv4Address(host)) == host
    except ValueError:
        return False


def read_origins(texts: Sequence[str], environment: str = "test") -> tuple[str, ...]:
    """Returns origins as browsers write them, each once. Raises ValueError that names the first that is wrong."""
    origins: dict[str, None] = {}
    for text in texts:
        try:
            origins[read_origin(text, environment)] = None
        except ValueError as error:
            raise ValueError(f"{text[:80]}: must be {error}") from None
    if len(origins) > MAX_ORIGINS:
        raise ValueError(TOO_MANY)
    return tuple(origins)


def check_origins(texts: Sequence[str]) -> None:
    """Raises ValueError if a stored list is not one that `read_origins` has made."""
    if read_origins(texts) != tuple(texts):
        raise ValueError("checkout_origins: must be written as browsers write them, each once")
