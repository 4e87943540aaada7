"""Network addresses: which of them belong to trusted proxies, and where a request really came from."""

import ipaddress
from collections.abc import Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# A chain of proxies is short; what a client writes into the header itself may be long.
MOST_FORWARDED = 16


def read_networks(text: str) -> tuple[Network, ...]:
    """Parses addresses and CIDR networks with commas between. Raises ValueError naming the one that is neither."""
    return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())


def read_address(text: str) -> Address | None:
    """Parses an address as it appears in X-Forwarded-For: with or without a port, IPv6 in brackets or not."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_trusted(address: Address, proxies: Sequence[Network]) -> bool:
    return any(address.version == network.version and address in network for network in proxies)


def client_address(peer: str, forwarded: str, proxies: Sequence[Network]) -> str:
    """Returns the address that a request came from.

    `peer` is the other end of the connection. If it is a trusted proxy, X-Forwarded-For (`forwarded`) is read from its
    right end: the first address that is not a trusted proxy is the client. What stands left of it was written by the
    client and proves nothing. An entry that is not an address ends the search at the proxy that passed it on.
    """
    found = read_address(peer)
    if found is None:
        return peer
    if proxies and forwarded:
        for entry in reversed(forwarded.split(",")[-MOST_FORWARDED:]):
            if not is_trusted(found, proxies):
                break
            before = read_address(entry)
            if before is None:
                break
            found = before
    return str(found)
