"""Tests of applications that use Kasuwa: `serve()` starts a server, and the pytest plugin gives fixtures.

The names below are imported when they are used, so that the pytest plugin costs nothing in tests without Kasuwa.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kasuwa.testing.events import Delivery as Delivery
    from kasuwa.testing.events import Events as Events
    from kasuwa.testing.merchant import SandboxMerchant as SandboxMerchant
    from kasuwa.testing.server import Server as Server
    from kasuwa.testing.server import ServerFailed as ServerFailed
    from kasuwa.testing.server import serve as serve

# The module of each public name.
PUBLIC_NAMES = {
    "Delivery": "events",
    "Events": "events",
    "SandboxMerchant": "merchant",
    "Server": "server",
    "ServerFailed": "server",
    "serve": "server",
}


def __getattr__(name: str) -> Any:
    if name not in PUBLIC_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{PUBLIC_NAMES[name]}"), name)
