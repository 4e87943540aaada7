"""Two hosts on one database: two supervisors, whose API processes reach each other through proxies that can fail."""

import base64
import contextlib
import os
import signal
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from kasuwa.cluster.certificates import CertificateFiles
from kasuwa.cluster.partitions import AddressTable
from tests.certificates import Authority
from tests.merchant_client import HttpConnection, MerchantClient
from tests.running import free_port
from tests.simulate.faulty_proxy import PortProxy
from tests.simulate.load import Merchant, new_merchant
from tests.simulate.processes import Service, is_gone, running_database, wait_until

SECRET_KEY = base64.b64encode(bytes(range(32))).decode()
# The address of the balancer before the hosts, which receipts and refusals name whatever host answers.
PUBLIC_URL = "https://pay.example.com"
MERCHANT_ID = "select merchant_id from merchant where mid = $1 and current"


class Host(Service):
    """`kasuwa serve` as one of several hosts, with one API process."""

    def __init__(self, directory: Path, dsn: str, certificates: CertificateFiles) -> None:
        self.peer_port, self.metrics_port = free_port(), free_port()
        self.line = PortProxy(free_port(), self.peer_port)
        self.address = f"127.0.0.1:{self.line._port}"
        environ = {
            "KASUWA_DATABASE_URL": dsn,
            "KASUWA_SECRET_KEY": SECRET_KEY,
            "KASUWA_PUBLIC_URL": PUBLIC_URL,
            "KASUWA_PEER_LISTEN": f"127.0.0.1:{self.peer_port}",
            "KASUWA_PEER_ADDRESS": self.address,
            "KASUWA_PEER_CERTIFICATE": str(certificates.certificate),
            "KASUWA_PEER_KEY": str(certificates.key),
            "KASUWA_PEER_CA": str(certificates.ca),
            "KASUWA_METRICS_PORT": str(self.metrics_port),
        }
        super().__init__(directory, environ)
        self.environ = {"KASUWA_DATA": str(directory), **environ}

    def metric(self, name: str, **labels: str) -> float:
        """Returns the value of a metric, added up over the labels that are not given. 0 if there is none."""
        text = ""
        with contextlib.suppress(OSError):
            text = urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10).read().decode()
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        lines = [line for line in text.splitlines() if line.startswith(name) and all(part in line for part in wanted)]
        return sum(float(line.rpartition(" ")[2]) for line in lines)

    def client(self, merchant: Merchant) -> MerchantClient:
        return MerchantClient(HttpConnection("127.0.0.1", self.port), *merchant)

    def all_processes(self) -> list[psutil.Process]:
        children = [process for name in ("api", "worker", "metrics") for process in self.child_processes(name)]
        return [psutil.Process(self.supervisor.pid), *children]

    def kill_all(self) -> None:
        """Ends the host as a power cut would."""
        doomed = self.all_processes()
        for process in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        self.supervisor.wait(60)
        wait_until("it is gone", lambda: all(is_gone(process) for process in doomed))

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """All processes of the host hang."""
        hung = self.all_processes()
        for process in hung:
            os.kill(process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in hung:
                os.kill(process.pid, signal.SIGCONT)


class TwoHosts:
    """The hosts, by the order in which they were started."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self.hosts = hosts
        self.dsn = hosts[0].dsn

    def wait_connected(self) -> None:
        """Waits until every process that sends writes has a connection to the other host."""
        for host, other in (self.hosts, self.hosts[::-1]):
            for part in ("api-1", "worker"):
                wait_until(
                    f"{part} of {host.address} reaches {other.address}",
                    lambda: host.metric("kasuwa_peer_live", part=part, peer=other.address) == 1,  # noqa: B023
                )

    def set_network(self, state: str) -> None:
        for host in self.hosts:
            host.line.state = state

    def owner_of(self, merchant: Merchant) -> Host:
        merchant_id = int(self.hosts[0].query(MERCHANT_ID, merchant.mid)[0][0])
        table = AddressTable([host.address for host in self.hosts])
        address = table.first_choices[merchant_id % table.size]
        return next(host for host in self.hosts if host.address == address)

    def new_merchant(self, owner: Host) -> Merchant:
        """Makes merchants until one has this owner."""
        while self.owner_of(merchant := new_merchant(self.hosts[0].port)) is not owner:
            pass
        return merchant


@contextlib.contextmanager
def two_hosts(directory: Path) -> Iterator[TwoHosts]:
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(running_database(directory / "database"))
        authority = Authority(directory / "certificates")
        names = ("first", "second")  # both are reached at 127.0.0.1, each through a proxy of its own
        hosts = [Host(directory / name, cluster.dsn, authority.issue(name, "127.0.0.1")) for name in names]
        for host in hosts:
            stack.enter_context(host.line.open_in_thread())
            stack.callback(host.clean_up)
            host.start()
        pair = TwoHosts(hosts)
        pair.wait_connected()
        yield pair
