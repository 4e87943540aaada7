"""The public Python client of this API, version 1.0.0, installed from its package and called in its own process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from tests.generators.environment import INSTALL_SECONDS, run_tool
from tests.made_once import made_once
from tests.merchant_client import MerchantClient

REQUIREMENTS = Path(__file__).parent / "public_client_requirements.txt"
PROGRAM = Path(__file__).parent / "programs" / "call_public_client.py"
CACHE = Path(sys.prefix) / "public_client"


def install(place: Path) -> None:
    """Installs the client without what it needs: it uses `requests`, which our own environment has."""
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "--target", str(place))
    command = [sys.executable, "-m", "pip", "install", *options, "-r", str(REQUIREMENTS)]
    run_tool([*command], CACHE, INSTALL_SECONDS)


class PublicClient:
    """The client of one merchant. `called` has the methods that were called."""

    def __init__(self, process: "subprocess.Popen[bytes]", shop: MerchantClient, address: str) -> None:
        self._process = process
        self._merchant = {"mid": shop.mid, "key": shop.key, "address": address}
        self.called: set[str] = set()

    def call(self, name: str, *arguments: Any) -> Any:
        """Calls a method and returns what it returns: the reply, or the client's own description of a failure."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"name": name, "arguments": arguments, **self._merchant}
        self._process.stdin.write(msgspec.json.encode(request) + b"\n")
        self._process.stdin.flush()
        self.called.add(name)
        return msgspec.json.decode(self._process.stdout.readline())

    def list_methods(self) -> set[str]:
        methods = set(self.call(""))
        self.called.discard("")
        return methods


@contextmanager
def running_client(shop: MerchantClient, address: str) -> Iterator[PublicClient]:
    place = made_once(CACHE / sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16], install)
    environment = {**os.environ, "PYTHONPATH": str(place)}
    with subprocess.Popen(
        [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=place, env=environment
    ) as process:
        yield PublicClient(process, shop, address)
        assert process.stdin is not None
        process.stdin.close()
