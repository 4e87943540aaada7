"""Client addresses: finds the address that a request came from behind trusted proxies."""

import ipaddress
from collections.abc import Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Entries of X-Forwarded-For that are read, from the right. A chain of proxies is short, but a client can send a long
# header of its own.
MAX_FORWARDED = 16


def read_networks(text: str) -> tuple[Network, ...]:
    """Parses comma-separated addresses and CIDR networks. Raises ValueError that names the invalid one."""
    return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())


def read_address(text: str) -> Address | None:
    """Parses an address as it appears in X-Forwarded-For: with or without a port, IPv6 in brackets or not.

    Returns None if it is not an address.
    """
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


def find_network(address: str) -> str:
    """Returns what an address is counted by: itself, or for IPv6 its /64 network, which usually belongs to one
    subscriber. A text that is no address is returned as it is."""
    parsed_address = read_address(address)
    if parsed_address is None:
        return address
    return (
        str(ipaddress.ip_network((parsed_address, 64), strict=False))
        if parsed_address.version == 6
        else str(parsed_address)
    )


def is_trusted(address: Address, proxies: Sequence[Network]) -> bool:
    return any(address.version == network.version and address in network for network in proxies)


def client_address(peer: str, forwarded: str, proxies: Sequence[Network]) -> str:
    """Returns the address that a request came from.

    `peer` is the other end of the connection. If it is a trusted proxy, X-Forwarded-For (`forwarded`) is read from the
    right: the first address that is not a trusted proxy is the client's. Entries left of it could have been written by
    the client and are ignored. An entry that is not an address ends the search at the proxy that passed it on.
    """
    client = read_address(peer)
    if client is None:
        return peer
    if proxies and forwarded:
        for entry in reversed(forwarded.split(",")[-MAX_FORWARDED:]):
            if not is_trusted(client, proxies):
                break
            before = read_address(entry)
            if before is None:
                break
            client = before
    return str(client)
