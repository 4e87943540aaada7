"""Passwords and one-time codes: hashed, checked and shown as a picture for a telephone."""

import asyncio
import io
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import argon2
import pyotp
import segno

from kasuwa.core.secrets import Vault, same
from kasuwa.db.console_users import User

T = TypeVar("T")

LEAST_PASSWORD, MOST_PASSWORD = 12, 200
TOTP_PLACE = "console_user.totp_sealed {user_id}"
TOTP_SECONDS = 30
# A clock may be off by one step to either side.
STEPS_AROUND = (0, -1, 1)
# The console's own secrets are sealed under the operator's number, which is no merchant's.
OPERATOR = 0

# Each check takes 64 MiB and most of a tenth of a second: two at once, a short queue, and beyond that nobody waits.
THREADS, MOST_WAITING = 2, 16
HASHER = argon2.PasswordHasher()
# What a password is checked against where there is none, so that an unknown address takes as long as a known one.
NOBODYS = cache(lambda: HASHER.hash(secrets.token_hex(16)))


class Busy(Exception):
    """So many passwords are being checked that another one would wait too long."""


class Hashing:
    """Threads of its own for Argon2: the event loop, and whatever else uses threads, goes on meanwhile."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "argon2")
        self._waiting = 0

    async def run(self, work: Callable[..., T], *given: Any) -> T:
        """What `work` answers; raises Busy. Hold no database connection while waiting for this."""
        if self._waiting >= THREADS + MOST_WAITING:
            raise Busy
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)
        finally:
            self._waiting -= 1


HASHING = Hashing()


def password_fault(password: str, again: str, email: str) -> dict[str, str]:
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        return {"password": f"{LEAST_PASSWORD} to {MOST_PASSWORD} characters; a few words in a row are good"}
    if password.lower() in (email.lower(), email.partition("@")[0].lower()):
        return {"password": "not your address"}
    return {} if same(password.encode(), again.encode()) else {"again": "differs from the password above"}


async def hash_password(password: str) -> str:
    return await HASHING.run(HASHER.hash, password)


async def is_password(user: User | None, password: str) -> bool:
    kept = NOBODYS() if user is None or user.password is None else user.password
    matches = await HASHING.run(_verify, kept, password[:MOST_PASSWORD])
    return matches and kept is not NOBODYS()


def _verify(kept: str, password: str) -> bool:
    try:
        return HASHER.verify(kept, password)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False


# --- codes ------------------------------------------------------------------------------------------------------


def new_secret() -> str:
    return pyotp.random_base32()


def seal_secret(vault: Vault, user_id: int, secret: str) -> bytes:
    return vault.seal(OPERATOR, TOTP_PLACE.format(user_id=user_id), secret.encode(), secrets.token_bytes(12))


def open_secret(vault: Vault, user_id: int, sealed: bytes) -> str:
    return vault.open(OPERATOR, TOTP_PLACE.format(user_id=user_id), sealed).decode()


def matching_step(secret: str, code: str) -> int | None:
    """The time step that a code belongs to, if it is one of those around now."""
    now = int(time.time()) // TOTP_SECONDS
    said = "".join(code.split())
    for around in STEPS_AROUND:
        if same(pyotp.TOTP(secret).at((now + around) * TOTP_SECONDS).encode(), said.encode()):
            return now + around
    return None


def picture(secret: str, email: str, environment: str) -> str:
    """The secret as an SVG that authenticators read. Always dark on light: some do not read the other."""
    issuer = "Kasuwa" if environment == "live" else "Kasuwa test"
    out = io.BytesIO()
    code = segno.make(pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name=issuer))
    code.save(out, kind="svg", scale=5, border=4, dark="#000", light="#fff", xmldecl=False, svgclass="qr")
    return out.getvalue().decode()
