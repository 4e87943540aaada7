"""Signing in and out: password, then a code where one is set up; or a link that works once.

Passwords are checked while no connection of the database is held. An address that nobody has is answered like one that
somebody has, after the same work.
"""

from datetime import UTC, datetime

from starlette.responses import Response

from kasuwa.console import passwords
from kasuwa.console.cookies import DEVICE, SESSION
from kasuwa.console.step_up import chain_of, is_fresh_code, note_refused, source_of
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.decision import Deed
from kasuwa.db import audit_trail, console_sessions, console_throttle, console_users
from kasuwa.db.console_throttle import EVERYWHERE, FREE_FAILURES, Source
from kasuwa.db.console_users import EmailTaken, User
from kasuwa.db.pool import Connection

WRONG = "The address and the password do not match, or nobody has this address."
WRONG_CODE = "This is not the code of this moment. Wait for the next one and try again."
SLOW = "Too many wrong tries. Try again in {minutes} min."
TAKEN = "This address signs in to another account already. Ask to be invited under another address."
MOST_EMAIL = 200
# Wrong codes of an address from everywhere: only who has its password can make any.
CODES_EVERYWHERE = Source(b"code", is_known=False)


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
    email, password = visit.said("email")[:MOST_EMAIL], str(visit.form.get("password", ""))
    async with visit.operators.acquire() as connection:
        source = await source_of(connection, visit, email)
        locked = await console_throttle.locked_until(connection, email, source)
        slowed = None if source.is_known else await console_throttle.locked_until(connection, email, EVERYWHERE)
        user = await console_users.find_user(connection, email)
    if locked is not None:
        return refuse(visit, slow_words(locked), 429)
    matches = await passwords.is_password(user, password)
    if not matches or user is None or user.disabled_at is not None:
        return await refuse_password(visit, email, source, user, slowed)
    # Where an address is guessed at from everywhere, a password alone is not enough for a browser that is not known.
    if slowed is not None and user.totp_sealed is None:
        return refuse(visit, slow_words(slowed), 429)
    if user.totp_sealed is None:
        return await let_in(visit, user, source, safe_next(visit, user))
    async with visit.operators.acquire() as connection:
        token = await console_sessions.begin(connection, user.user_id, is_whole=False)
    asks = f"?next={visit.query['next']}" if "next" in visit.query else ""
    return visit.parts.cookies.put(visit.go(f"/sign-in/code{asks}"), SESSION, token)


def slow_words(until: datetime) -> str:
    return SLOW.format(minutes=int((until - datetime.now(UTC)).total_seconds() // 60) + 1)


async def refuse_password(
    visit: Visit, email: str, source: Source, user: User | None, slowed: datetime | None
) -> Response:
    async with visit.operators.acquire() as connection:
        failures = await console_throttle.note_failure(connection, email, source, EVERYWHERE)
    refused = refuse(visit, WRONG, 401) if slowed is None else refuse(visit, slow_words(slowed), 429)
    return note_refused(visit, refused, user, failures)


def refuse(visit: Visit, why: str, status: int) -> Response:
    return visit.show("sign_in.html", status, values={"email": visit.said("email")}, faults={"": why})


async def let_in(visit: Visit, user: User, source: Source, where: str) -> Response:
    """A whole session, instead of the half one where there is one: its token was known before the code was given."""
    async with visit.operators.acquire() as connection, connection.transaction():
        await console_throttle.forget_failures(connection, user.email, source)
        if visit.session is not None:
            await console_sessions.end(connection, visit.session.session_id)
        token = await console_sessions.begin(connection, user.user_id, is_whole=True)
        device = await console_throttle.know_device(connection, user.user_id, visit.device)
        await note(connection, visit, user, "signed in")
    response = visit.parts.cookies.put(visit.go(where), SESSION, token)
    return visit.parts.cookies.put(response, DEVICE, device)


async def note(connection: Connection, visit: Visit, user: User, what: str) -> None:
    deed = Deed(user.email, what, user.email, visit.address)
    await audit_trail.append(connection, await chain_of(connection, user), deed)


# --- the code -----------------------------------------------------------------------------------------------------


async def show_code(visit: Visit) -> Response:
    return visit.show("code.html")


async def check_code(visit: Visit) -> Response:
    user = visit.user
    assert visit.session is not None
    async with visit.operators.acquire() as connection:
        source = await source_of(connection, visit, user.email)
        places = (source,) if source.is_known else (source, CODES_EVERYWHERE)
        for place in places:
            if await console_throttle.locked_until(connection, user.email, place) is not None:
                return visit.show("code.html", 429, faults={"code": "Too many wrong tries. Try again later."})
        is_right = await is_fresh_code(connection, visit, user, visit.said("code"))
        if not is_right:
            failures = await console_throttle.note_failure(connection, user.email, source, CODES_EVERYWHERE)
            if failures >= FREE_FAILURES:
                await console_sessions.end(connection, visit.session.session_id)
    if is_right:
        return await let_in(visit, user, source, safe_next(visit, user))
    return note_refused(visit, visit.show("code.html", 401, faults={"code": WRONG_CODE}), user, failures)


async def sign_out(visit: Visit) -> Response:
    assert visit.session is not None
    async with visit.operators.acquire() as connection:
        await console_sessions.end(connection, visit.session.session_id)
    return visit.parts.cookies.drop(visit.go("/sign-in"), SESSION)


# --- links --------------------------------------------------------------------------------------------------------


async def show_link(visit: Visit) -> Response:
    """Looking changes nothing: mail programs open links before people do."""
    async with visit.snapshot() as connection:
        found = await console_users.read_link(connection, visit.path("token"))
    if found is None:
        return visit.show("link_used.html", 404)
    user, purpose = found
    return visit.show("link.html", invited=user, purpose=purpose)


async def use_link(visit: Visit) -> Response:
    async with visit.operators.acquire() as connection:
        found = await console_users.read_link(connection, visit.path("token"))
    if found is None:
        return visit.show("link_used.html", 404)
    user, purpose = found
    hashed = None
    if purpose == "invitation":
        password = str(visit.form.get("password", ""))
        faults = passwords.password_fault(password, str(visit.form.get("again", "")), user.email)
        if faults:
            return visit.show("link.html", 422, invited=user, purpose=purpose, faults=faults)
        hashed = await passwords.hash_password(password)
    try:
        session = await come_in(visit, user, purpose, hashed)
    except EmailTaken:
        return visit.show("link.html", 409, invited=user, purpose=purpose, faults={"": TAKEN})
    where = home_of(user) if user.totp_sealed is None else "/sign-in/code"
    return visit.parts.cookies.put(visit.go(where), SESSION, session)


async def come_in(visit: Visit, user: User, purpose: str, hashed: str | None) -> str:
    """Uses the link up and begins a session, whose token is answered."""
    async with visit.operators.acquire() as connection, connection.transaction():
        if not await console_users.use_link(connection, visit.path("token")):
            raise NotFound
        if hashed is not None:
            await console_users.set_password(connection, user.user_id, hashed)
        await note(connection, visit, user, f"used a link ({purpose.replace('_', ' ')})")
        return await console_sessions.begin(connection, user.user_id, is_whole=user.totp_sealed is None)
