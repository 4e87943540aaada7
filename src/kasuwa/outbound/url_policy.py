"""Checks of the URLs and addresses for outgoing requests: loopback, private networks and cloud metadata are refused.

These checks read the text of a URL only. The addresses that a name resolves to are checked by the same table when a
request is sent (egress.py).
Contract: events#delivery
"""

import re
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from yarl import URL

MAX_URL_CHARS = 2048

LOOPBACK = "loopback"
PRIVATE = "a private network"
LINK_LOCAL = "link-local, where clouds keep their metadata"
RESERVED = "reserved"
MULTICAST = "multicast"
DOCUMENTATION = "for documentation"
BENCHMARKING = "for benchmarking"
TRANSLATED = "an IPv4 address inside an IPv6 address"
METADATA = "a cloud's own services"

# The first match counts. `ipaddress.is_global` lets through a third of these, so they are spelled out.
# Contract: events#delivery
DENIED = tuple(
    (ip_network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "this host, unspecified"),
        ("10.0.0.0/8", PRIVATE),
        ("100.64.0.0/10", "a carrier's private network"),
        ("127.0.0.0/8", LOOPBACK),
        ("168.63.129.16/32", METADATA),
        ("169.254.0.0/16", LINK_LOCAL),
        ("172.16.0.0/12", PRIVATE),
        ("192.0.0.0/24", RESERVED),
        ("192.0.2.0/24", DOCUMENTATION),
        ("192.31.196.0/24", "for name server traps"),
        ("192.52.193.0/24", "for multicast tunnels"),
        ("192.88.99.0/24", "for 6to4 relays"),
        ("192.168.0.0/16", PRIVATE),
        ("192.175.48.0/24", "for name server traps"),
        ("198.18.0.0/15", BENCHMARKING),
        ("198.51.100.0/24", DOCUMENTATION),
        ("203.0.113.0/24", DOCUMENTATION),
        ("224.0.0.0/4", MULTICAST),
        ("255.255.255.255/32", "broadcast"),
        ("240.0.0.0/4", RESERVED),
        ("::/128", "this host, unspecified"),
        ("::1/128", LOOPBACK),
        ("::/96", TRANSLATED),
        ("::ffff:0:0/96", TRANSLATED),
        ("::ffff:0:0:0/96", TRANSLATED),
        ("64:ff9b::/96", TRANSLATED),
        ("64:ff9b:1::/48", TRANSLATED),
        ("100::/63", "for discarding"),
        ("2001::/32", "a Teredo tunnel"),
        ("2001:2::/48", BENCHMARKING),
        ("2001::/23", RESERVED),
        ("2001:db8::/32", DOCUMENTATION),
        ("2002::/16", "a 6to4 tunnel"),
        ("2620:4f:8000::/48", "for name server traps"),
        ("3fff::/20", DOCUMENTATION),
        ("fc00::/7", PRIVATE),
        ("fe80::/10", LINK_LOCAL),
        ("fec0::/10", PRIVATE),
        ("ff00::/8", MULTICAST),
        # Public IPv6 is 2000::/3. The rest is not allocated.
        ("::/3", RESERVED),
        ("4000::/2", RESERVED),
        ("8000::/1", RESERVED),
    )
)

LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})
INTERNAL_SUFFIXES = (".local", ".localdomain", ".internal", ".home.arpa")
NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*", re.ASCII)
# Some parsers read such a host as a number and others as a name: 127.1, 2130706433, 0x7f.1.
ENDS_IN_A_NUMBER = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)\.*", re.ASCII)
AUTHORITY = re.compile(r"[^/?#]*//([^/?#]*)")


class Target(NamedTuple):
    url: URL
    origin: str


def address_fault(address: str, *, loopback_allowed: bool) -> str | None:
    """Returns why an IP address is not allowed, or None. One with a zone (`%eth0`) is local, so it is refused."""
    try:
        parsed_address = ip_address("" if "%" in address else address)
    except ValueError:
        return "The host is not an address"
    for network, reason in DENIED:
        if parsed_address.version == network.version and parsed_address in network:
            if reason is LOOPBACK and loopback_allowed:
                return None
            return f"The host's address is not allowed: {reason}"
    return None


def url_fault(url: str, *, environment: str, loopback_allowed: bool) -> str | None:
    """Returns what is wrong with the text of a URL, or None. The addresses of its host are checked when it is used."""
    target = parse_target(url, environment, loopback_allowed)
    return target if isinstance(target, str) else None


@lru_cache(maxsize=4096)
def parse_target(url: str, environment: str, loopback_allowed: bool) -> Target | str:
    """Returns the parsed URL, or what is wrong with it. The check and the connection use the same parsed URL,
    because two parsers that disagree about the host would open a way around the check."""
    if len(url) > MAX_URL_CHARS:
        return "The URL is longer than 2,048 characters"
    if not url.isprintable() or " " in url or "\\" in url:
        return "The URL has characters that a URL cannot have"
    try:
        parsed_url = URL(url)
        origin = f"{parsed_url.scheme}://{parsed_url.raw_host}:{parsed_url.port}"
    except ValueError:
        return "This is not a URL"
    if parsed_url.scheme not in ("http", "https"):
        return "The URL does not begin with http:// or https://"
    if parsed_url.scheme == "http" and environment != "test":
        return "The URL does not begin with https://"
    authority = AUTHORITY.match(url)
    if authority is None or not parsed_url.raw_host or parsed_url.port == 0:
        return "The URL has no host, or no port that can be used"
    if "@" in authority[1]:
        return "The URL has a user name or a password in it"
    fault = host_fault(parsed_url.raw_host, loopback_allowed=loopback_allowed and environment == "test")
    return fault or Target(parsed_url, origin)


def host_fault(host: str, *, loopback_allowed: bool) -> str | None:
    """Returns what is wrong with a host, or None. The host is in lower case, without brackets, in ASCII form."""
    if ":" in host:
        return address_fault(host, loopback_allowed=loopback_allowed)
    if ENDS_IN_A_NUMBER.fullmatch(host):
        fault = address_fault(host, loopback_allowed=loopback_allowed)
        return fault and fault.replace("not an address", "not four decimal numbers with dots between")
    if not NAME.fullmatch(host):
        return "The host is not a name"
    if host in LOOPBACK_NAMES or host.endswith(".localhost"):
        return None if loopback_allowed else f"The host's name is not allowed: {LOOPBACK}"
    if "." not in host or host.endswith(INTERNAL_SUFFIXES):
        return "The host's name is not a public one"
    return None
