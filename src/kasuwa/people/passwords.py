"""Password hashing (Argon2) and time-based one-time codes (TOTP)."""

import asyncio
import io
import secrets
import time
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import argon2
import pyotp
import segno

from kasuwa.concurrency.turns import Turns
from kasuwa.core.row_codes import OPERATOR_ID
from kasuwa.core.vault import Vault, is_equal_constant_time
from kasuwa.people.throttle import AttemptSource
from kasuwa.people.users import ConsoleUser, totp_aad

T = TypeVar("T")

MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 12, 200
TOTP_SECONDS = 30
# The user's clock may be off by one step in either direction.
ACCEPTED_STEP_OFFSETS = (0, -1, 1)

# Each hash takes 64 MiB and nearly 0.1 s, so two run at once. A source may have a short queue, and all together have a
# longer one. Known sources and others have queues apart, and are served in turn: those who guess cannot keep people
# waiting who signed in before.
HASH_THREADS = 2
MAX_WAITING_OF_SOURCE, MAX_WAITING = 32, 512
HASHER = argon2.PasswordHasher()


def make_unmatched_hash() -> str:
    """Returns a hash that takes as long to verify as any, and that no password has: its digest is random. Making a real
    one would take as long as verifying it."""
    salt, digest = (
        b64encode(secrets.token_bytes(size)).decode().rstrip("=") for size in (HASHER.salt_len, HASHER.hash_len)
    )
    costs = f"m={HASHER.memory_cost},t={HASHER.time_cost},p={HASHER.parallelism}"
    return f"$argon2id$v={argon2.low_level.ARGON2_VERSION}${costs}${salt}${digest}"


# Verified instead of a stored hash for unknown users, so that they take as long as known ones.
UNMATCHED_HASH = make_unmatched_hash()


class HashPoolFull(Exception):
    """Raised if too many passwords of a source, or of all, wait to be hashed."""


class HashTurn(NamedTuple):
    """The turn of a password: the source of the attempt, which has a share of the hashing, and the account."""

    source: AttemptSource
    account: str


class HashPool:
    """A thread pool of its own for Argon2, so that neither the event loop nor other threads are blocked.

    Known sources and others take turns, then the sources of each, then the accounts that a source tries."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(HASH_THREADS, "argon2")
        self._free = HASH_THREADS
        self._waiting: dict[bool, Turns[asyncio.Future[None]]] = {True: Turns(), False: Turns()}
        self._is_known_next = True

    def check_room(self, source: AttemptSource) -> None:
        """Raises HashPoolFull if a password of this source could not wait now."""
        waiting = self._waiting[source.is_known_device]
        if waiting.count_items(source.key) >= MAX_WAITING_OF_SOURCE or len(waiting) >= MAX_WAITING:
            raise HashPoolFull

    async def run(self, turn: HashTurn, work: Callable[..., T], *args: Any) -> T:
        """Runs `work` in the pool. Raises HashPoolFull. Callers must not hold a database connection meanwhile."""
        await self._wait_for_thread(turn)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
        finally:
            self._hand_over()

    async def _wait_for_thread(self, turn: HashTurn) -> None:
        if self._free:
            self._free -= 1
            return
        self.check_room(turn.source)
        thread = asyncio.get_running_loop().create_future()
        self._waiting[turn.source.is_known_device].put((turn.source.key, turn.account), thread)
        try:
            await thread
        except asyncio.CancelledError:
            if thread.done() and not thread.cancelled():
                self._hand_over()
            raise

    def _hand_over(self) -> None:
        """Hands a thread to the one whose turn it is."""
        while any(self._waiting.values()):
            waiting = self._waiting[self._is_known_next] or self._waiting[not self._is_known_next]
            self._is_known_next = not self._is_known_next
            thread = waiting.take()
            if not thread.done():
                thread.set_result(None)
                return
        self._free += 1


HASH_POOL = HashPool()


def make_turn(user: ConsoleUser) -> HashTurn:
    """Returns the turn of somebody who has proven to be this user, by a session or a link."""
    return HashTurn(AttemptSource(b"user %d" % user.user_id, is_known_device=True), user.email)


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


async def hash_password(password: str, turn: HashTurn) -> str:
    return await HASH_POOL.run(turn, HASHER.hash, password)


async def verify_password(user: ConsoleUser | None, password: str, turn: HashTurn) -> bool:
    stored_hash = UNMATCHED_HASH if user is None or user.password_hash is None else user.password_hash
    matches = await HASH_POOL.run(turn, _verify, stored_hash, password[:MAX_PASSWORD_LENGTH])
    return matches and stored_hash is not UNMATCHED_HASH


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
