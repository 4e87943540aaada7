"""How a host takes part among several that share a database: where its API processes listen for the others."""

import re

import msgspec

HOST = r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)"
LISTEN = re.compile(rf"{HOST}:(?P<port>[0-9]{{1,5}})", re.ASCII)
ADDRESS = re.compile(rf"{HOST}(:(?P<port>[0-9]{{1,5}}))?", re.ASCII)
ALL_INTERFACES = ("0.0.0.0", "[::]")
LAST_PORT = 65535


class PeerTerms(msgspec.Struct, frozen=True):
    """The first API process has the ports given here, and each further one the next."""

    listen_host: str
    listen_port: int
    host: str  # by which other hosts reach this one, IPv6 in brackets
    port: int

    def make_address(self, number: int) -> str:
        """Returns where other hosts reach an API process, numbered from 0. It is also the name of that process."""
        return f"{self.host}:{self.port + number}"

    def get_listen_port(self, number: int) -> int:
        return self.listen_port + number


def read_peer_terms(listen: str, address: str | None, processes: int) -> PeerTerms:
    """Reads the addresses that a host listens on and is reached by. Raises ValueError."""
    match = LISTEN.fullmatch(listen)
    if match is None:
        raise ValueError("KASUWA_PEER_LISTEN must be a host and a port, such as 10.0.0.1:7400")
    own = ADDRESS.fullmatch(match["host"] if address is None else address)
    if own is None:
        raise ValueError("KASUWA_PEER_ADDRESS must be a host, such as 10.0.0.1, with or without a port")
    if own["host"] in ALL_INTERFACES:
        raise ValueError(
            "KASUWA_PEER_ADDRESS must say how other hosts reach this one: KASUWA_PEER_LISTEN is all its addresses"
            if address is None
            else f"KASUWA_PEER_ADDRESS must be an address of this host, not {own['host']}"
        )
    port = int(match["port"])
    own_port = port if own["port"] is None else int(own["port"])
    for name, first in (("KASUWA_PEER_LISTEN", port), ("KASUWA_PEER_ADDRESS", own_port)):
        if not 1 <= first <= LAST_PORT - processes + 1:
            raise ValueError(f"{name} must leave a port for each of {processes} API processes, from {first} on")
    return PeerTerms(match["host"].strip("[]"), port, own["host"], own_port)
