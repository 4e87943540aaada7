"""Tells systemd that the service is ready or stopping, where the unit is of Type=notify."""

import contextlib
import os
import socket

VARIABLE = "NOTIFY_SOCKET"


def notify_systemd(state: str) -> bool:
    """Sends a state such as READY=1 to the socket that NOTIFY_SOCKET names. Returns whether it was sent.

    A missing variable or a socket that is gone is no error: the service goes on."""
    address = os.environ.get(VARIABLE)
    if not address:
        return False
    # A leading @ stands for the null byte of an abstract socket.
    target = "\0" + address[1:] if address.startswith("@") else address
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
        connection.sendto(state.encode(), target)
        return True
    return False
