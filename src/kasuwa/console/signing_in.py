"""Signing in and out: password, then a code where one is set up; or a link that works once."""

from datetime import UTC, datetime

from starlette.responses import Response

from kasuwa.console import passwords
from kasuwa.console.cookies import clear_session, set_session
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.decision import Deed
from kasuwa.core.secrets import Vault
from kasuwa.db import audit_trail, console_sessions, console_users
from kasuwa.db.audit_trail import OPERATORS_CHAIN
from kasuwa.db.console_users import User
from kasuwa.db.pool import Connection

WRONG = "The address and the password do not match, or nobody has this address."
WRONG_CODE = "This is not the code of this moment. Wait for the next one and try again."
SLOW = "Too many wrong tries. Try again in {minutes} min."


def home_of(user: User) -> str:
    return "/operator/merchants" if user.mid is None else "/"


def safe_next(visit: Visit, user: User) -> str:
    """Where the visitor wanted to go, if that is one of our pages."""
    wanted = visit.query.get("next", "")
    ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    return wanted if ours else home_of(user)


async def show_sign_in(visit: Visit) -> Response:
    if visit.session is not None and visit.session.is_whole:
        return visit.go(home_of(visit.user))
    return visit.show("sign_in.html", values={"email": ""})


async def sign_in(visit: Visit) -> Response:
    email, password = visit.said("email")[:200], str(visit.form.get("password", ""))
    async with visit.parts.operators.acquire() as connection:
        locked = await console_users.locked_until(connection, email)
        if locked is not None:
            minutes = int((locked - datetime.now(UTC)).total_seconds() // 60) + 1
            return refuse(visit, SLOW.format(minutes=minutes), 429)
        user = await console_users.find_user(connection, email)
        matches = await passwords.is_password(user, password)
        if not matches or user is None or user.disabled_at is not None:
            await console_users.note_failure(connection, email)
            return refuse(visit, WRONG, 401)
        token = await console_sessions.begin(connection, user.user_id, is_whole=user.totp_sealed is None)
        if user.totp_sealed is None:
            await console_users.forget_failures(connection, email)
            await note(connection, visit, user, "signed in")
    asks = f"?next={visit.query['next']}" if "next" in visit.query else ""
    where = safe_next(visit, user) if user.totp_sealed is None else f"/sign-in/code{asks}"
    return set_session(visit.go(where), token, visit.parts.is_live)


def refuse(visit: Visit, why: str, status: int) -> Response:
    return visit.show("sign_in.html", status, values={"email": visit.said("email")}, faults={"": why})


async def note(connection: Connection, visit: Visit, user: User, what: str) -> None:
    deed = Deed(user.email, what, user.email, visit.address)
    await audit_trail.append(connection, OPERATORS_CHAIN, deed)


# --- the code -----------------------------------------------------------------------------------------------------


async def show_code(visit: Visit) -> Response:
    return visit.show("code.html")


async def check_code(visit: Visit) -> Response:
    user = visit.user
    assert visit.session is not None
    async with visit.parts.operators.acquire() as connection:
        if await console_users.locked_until(connection, user.email) is not None:
            return visit.show("code.html", 429, faults={"code": "Too many wrong tries. Try again later."})
        if not await is_fresh_code(connection, visit.parts.vault, user, visit.said("code")):
            await console_users.note_failure(connection, user.email)
            return visit.show("code.html", 401, faults={"code": WRONG_CODE})
        await console_users.forget_failures(connection, user.email)
        # Another session, not the half one made whole: its token was known before the code was given.
        await console_sessions.end(connection, visit.session.session_id)
        token = await console_sessions.begin(connection, user.user_id, is_whole=True)
        await note(connection, visit, user, "signed in")
    return set_session(visit.go(safe_next(visit, user)), token, visit.parts.is_live)


async def is_fresh_code(connection: Connection, vault: Vault, user: User, code: str) -> bool:
    step = passwords.matching_step(passwords.open_secret(vault, user), code)
    return step is not None and await console_users.use_totp_step(connection, user.user_id, step)


async def sign_out(visit: Visit) -> Response:
    assert visit.session is not None
    async with visit.parts.operators.acquire() as connection:
        await console_sessions.end(connection, visit.session.session_id)
    return clear_session(visit.go("/sign-in"))


# --- links --------------------------------------------------------------------------------------------------------


async def show_link(visit: Visit) -> Response:
    """Looking changes nothing: mail programs open links before people do."""
    async with visit.parts.operators.acquire() as connection:
        found = await console_users.read_link(connection, visit.path("token"))
    if found is None:
        return visit.show("link_used.html", 404)
    user, purpose = found
    return visit.show("link.html", invited=user, purpose=purpose)


async def use_link(visit: Visit) -> Response:
    token = visit.path("token")
    async with visit.parts.operators.acquire() as connection:
        found = await console_users.read_link(connection, token)
        if found is None:
            return visit.show("link_used.html", 404)
        user, purpose = found
        if purpose == "invitation":
            password = str(visit.form.get("password", ""))
            faults = passwords.password_fault(password, str(visit.form.get("again", "")), user.email)
            if faults:
                return visit.show("link.html", 422, invited=user, purpose=purpose, faults=faults)
            hashed = await passwords.hash_password(password)
        if not await console_users.use_link(connection, token):
            raise NotFound
        if purpose == "invitation":
            await console_users.set_password(connection, user.user_id, hashed)
        await console_users.forget_failures(connection, user.email)
        session = await console_sessions.begin(connection, user.user_id, is_whole=user.totp_sealed is None)
        await note(connection, visit, user, f"used a link ({purpose.replace('_', ' ')})")
    where = home_of(user) if user.totp_sealed is None else "/sign-in/code"
    return set_session(visit.go(where), session, visit.parts.is_live)
