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

from kasuwa.core.vault import Vault, is_equal_constant_time
from kasuwa.db.console_users import ConsoleUser

T = TypeVar("T")

MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 12, 200
TOTP_SEAL_CONTEXT = "console_user.totp_sealed {user_id}"
TOTP_SECONDS = 30
# A clock may be off by one step to either side.
ACCEPTED_STEP_OFFSETS = (0, -1, 1)
# The console's own secrets are sealed under the operator's number, which is no merchant's.
OPERATOR_ID = 0

# Each check takes 64 MiB and most of a tenth of a second: two at once, a short queue, and beyond that nobody waits.
HASH_THREADS, MAX_WAITING_HASHES = 2, 16
HASHER = argon2.PasswordHasher()
# What a password is checked against where there is none, so that an unknown address takes as long as a known one.
dummy_hash = cache(lambda: HASHER.hash(secrets.token_hex(16)))


class HashPoolFull(Exception):
    """So many passwords are being checked that another one would wait too long."""


class HashPool:
    """Threads of its own for Argon2: the event loop, and whatever else uses threads, goes on meanwhile."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(HASH_THREADS, "argon2")
        self._waiting = 0

    async def run(self, work: Callable[..., T], *given: Any) -> T:
        """What `work` answers; raises Busy. Hold no database connection while waiting for this."""
        if self._waiting >= HASH_THREADS + MAX_WAITING_HASHES:
            raise HashPoolFull
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)
        finally:
            self._waiting -= 1


HASH_POOL = HashPool()


def password_faults(password: str, again: str, email: str) -> dict[str, str]:
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        return {"password": f"{MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters; a few words in a row are good"}
    if password.lower() in (email.lower(), email.partition("@")[0].lower()):
        return {"password": "not your address"}
    return (
        {}
        if is_equal_constant_time(password.encode(), again.encode())
        else {"again": "differs from the password above"}
    )


async def hash_password(password: str) -> str:
    return await HASH_POOL.run(HASHER.hash, password)


async def verify_password(user: ConsoleUser | None, password: str) -> bool:
    kept = dummy_hash() if user is None or user.password_hash is None else user.password_hash
    matches = await HASH_POOL.run(_verify, kept, password[:MAX_PASSWORD_LENGTH])
    return matches and kept is not dummy_hash()


def _verify(kept: str, password: str) -> bool:
    try:
        return HASHER.verify(kept, password)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False


# --- codes ------------------------------------------------------------------------------------------------------


def new_totp_secret() -> str:
    return pyotp.random_base32()


def seal_totp_secret(vault: Vault, user_id: int, secret: str) -> bytes:
    return vault.seal(OPERATOR_ID, TOTP_SEAL_CONTEXT.format(user_id=user_id), secret.encode(), secrets.token_bytes(12))


def open_totp_secret(vault: Vault, user_id: int, sealed: bytes) -> str:
    return vault.unseal(OPERATOR_ID, TOTP_SEAL_CONTEXT.format(user_id=user_id), sealed).decode()


def matching_step(secret: str, code: str) -> int | None:
    """The time step that a code belongs to, if it is one of those around now."""
    now = int(time.time()) // TOTP_SECONDS
    said = "".join(code.split())
    for around in ACCEPTED_STEP_OFFSETS:
        if is_equal_constant_time(pyotp.TOTP(secret).at((now + around) * TOTP_SECONDS).encode(), said.encode()):
            return now + around
    return None


def draw_totp_qr(secret: str, email: str, environment: str) -> str:
    """The secret as an SVG that authenticators read. Always dark on light: some do not read the other."""
    issuer = "Kasuwa" if environment == "live" else "Kasuwa test"
    out = io.BytesIO()
    code = segno.make(pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name=issuer))
    code.save(out, kind="svg", scale=5, border=4, dark="#000", light="#fff", xmldecl=False, svgclass="qr")
    return out.getvalue().decode()
