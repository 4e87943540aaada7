"""Password hashing (Argon2) and time-based one-time codes (TOTP)."""

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

from kasuwa.core.sealed_places import OPERATOR_ID
from kasuwa.core.vault import Vault, is_equal_constant_time
from kasuwa.db.console_users import ConsoleUser, totp_aad

T = TypeVar("T")

MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 12, 200
TOTP_SECONDS = 30
# The user's clock may be off by one step in either direction.
ACCEPTED_STEP_OFFSETS = (0, -1, 1)

# Each hash takes 64 MiB and nearly 0.1 s, so two run at once, and a short queue waits for them.
HASH_THREADS, MAX_WAITING_HASHES = 2, 16
HASHER = argon2.PasswordHasher()
# Verified instead of a stored hash for unknown users, so that they take as long as known ones.
dummy_hash = cache(lambda: HASHER.hash(secrets.token_hex(16)))


class HashPoolFull(Exception):
    """Raised if too many passwords are being hashed already."""


class HashPool:
    """A thread pool of its own for Argon2, so that neither the event loop nor other threads are blocked."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(HASH_THREADS, "argon2")
        self._waiting = 0

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """Runs `work` in the pool. Raises HashPoolFull. Callers must not hold a database connection meanwhile."""
        if self._waiting >= HASH_THREADS + MAX_WAITING_HASHES:
            raise HashPoolFull
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
        finally:
            self._waiting -= 1


HASH_POOL = HashPool()


def password_faults(password: str, again: str, email: str) -> dict[str, str]:
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        return {
            "password": f"{MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters; several random words work well"
        }
    if password.lower() in (email.lower(), email.partition("@")[0].lower()):
        return {"password": "must not be your email address"}
    return (
        {} if is_equal_constant_time(password.encode(), again.encode()) else {"again": "differs from the new password"}
    )


async def hash_password(password: str) -> str:
    return await HASH_POOL.run(HASHER.hash, password)


async def verify_password(user: ConsoleUser | None, password: str) -> bool:
    stored_hash = dummy_hash() if user is None or user.password_hash is None else user.password_hash
    matches = await HASH_POOL.run(_verify, stored_hash, password[:MAX_PASSWORD_LENGTH])
    return matches and stored_hash is not dummy_hash()


def _verify(stored_hash: str, password: str) -> bool:
    try:
        return HASHER.verify(stored_hash, password)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False


# --- codes ------------------------------------------------------------------------------------------------------


def new_totp_secret() -> str:
    return pyotp.random_base32()


def seal_totp_secret(vault: Vault, user_id: int, secret: str) -> bytes:
    return vault.seal(OPERATOR_ID, totp_aad(user_id), secret.encode(), secrets.token_bytes(12))


def unseal_totp_secret(vault: Vault, user_id: int, sealed: bytes) -> str:
    return vault.unseal(OPERATOR_ID, totp_aad(user_id), sealed).decode()


def matching_step(secret: str, code: str) -> int | None:
    """Returns the time step of a code, or None if it is wrong or not of the current or a neighboring step."""
    now = int(time.time()) // TOTP_SECONDS
    digits = "".join(code.split())
    for offset in ACCEPTED_STEP_OFFSETS:
        if is_equal_constant_time(pyotp.TOTP(secret).at((now + offset) * TOTP_SECONDS).encode(), digits.encode()):
            return now + offset
    return None


def draw_totp_qr(secret: str, email: str, environment: str) -> str:
    """Returns the secret as an SVG QR code. Dark on light, because some authenticators cannot read the inverse."""
    issuer = "Kasuwa" if environment == "live" else "Kasuwa test"
    svg = io.BytesIO()
    code = segno.make(pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name=issuer))
    code.save(svg, kind="svg", scale=5, border=4, dark="#000", light="#fff", xmldecl=False, svgclass="qr")
    return svg.getvalue().decode()
