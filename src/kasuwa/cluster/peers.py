"""API processes of other hosts, and how this host takes part among them."""

import msgspec

from kasuwa.cluster.certificates import PeerCertificates

# Raise it if the frames, or what is in them, change. Processes of different versions send each other nothing.
FRAMES_VERSION = 2


class Peer(msgspec.Struct, frozen=True):
    """An API process of another host."""

    address: str  # its name, and where it is reached: host:port
    greeting: bytes  # what it says when it is reached

    @property
    def endpoint(self) -> tuple[str, int]:
        return split_address(self.address)


class PeerHost(msgspec.Struct, frozen=True):
    """This host among the others. Made by the supervisor, before it starts the processes."""

    host_id: str  # random: a supervisor that is started again has another
    machine: str  # the name of the machine, for people
    protocol: str  # what the processes of this version speak
    addresses: tuple[str, ...]  # where the API processes of this host are reached, in the order of their numbers
    listen: tuple[str, int]  # where the first of them listens; each further one has the next port
    certificates: PeerCertificates

    def make_greeting(self, address: str) -> bytes:
        return make_greeting(self.host_id, self.protocol, address)


def split_address(address: str) -> tuple[str, int]:
    """Returns the host and the port of the address of a process."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def make_greeting(host_id: str, protocol: str, address: str) -> bytes:
    """Returns what a process says first. The caller compares it with the table of processes, so that it never takes
    another process, deployment or version for the one it looked for."""
    return msgspec.msgpack.encode((host_id, protocol, address))


def make_protocol(version: str) -> str:
    """Returns the name of what processes of a version of the service speak."""
    return f"{FRAMES_VERSION}/{version}"
