"""Signing in and out: password, then a code where one is set up; or a link that works once.

Passwords are checked while no connection of the database is held. An address that nobody has is answered like one that
somebody has, after the same work.
"""

from datetime import UTC, datetime

from starlette.responses import Response

from kasuwa.console import passwords
from kasuwa.console.cookies import DEVICE, SESSION
from kasuwa.console.step_up import consume_totp_code, find_audit_chain, record_refusal, source_of
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.decision import AuditEntry
from kasuwa.db import audit_trail, console_sessions, console_throttle, console_users
from kasuwa.db.connections import Connection
from kasuwa.db.console_throttle import ALL_SOURCES, FREE_FAILURES, AttemptSource
from kasuwa.db.console_users import ConsoleUser, EmailTaken

WRONG_CREDENTIALS = "The address and the password do not match, or nobody has this address."
WRONG_CODE = "This is not the code of this moment. Wait for the next one and try again."
LOCKED_OUT = "Too many wrong tries. Try again in {minutes} min."
EMAIL_TAKEN = "This address signs in to another account already. Ask to be invited under another address."
MAX_EMAIL_LENGTH = 200
# Wrong codes of an address from everywhere: only who has its password can make any.
ALL_CODE_SOURCES = AttemptSource(b"code", is_known_device=False)


def home_of(user: ConsoleUser) -> str:
    return "/operator/merchants" if user.mid is None else "/"


def safe_next(visit: Visit, user: ConsoleUser) -> str:
    """Where the visitor wanted to go, if that is one of our pages."""
    wanted = visit.query.get("next", "")
    ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    return wanted if ours else home_of(user)


async def show_sign_in(visit: Visit) -> Response:
    if visit.session is not None and visit.session.is_authenticated:
        return visit.redirect(home_of(visit.user))
    return visit.render("sign_in.html", values={"email": ""})


async def sign_in(visit: Visit) -> Response:
    email, password = visit.form_text("email")[:MAX_EMAIL_LENGTH], str(visit.form.get("password", ""))
    async with visit.operators.acquire() as connection:
        source = await source_of(connection, visit, email)
        locked = await console_throttle.locked_until(connection, email, source)
        slowed = None if source.is_known_device else await console_throttle.locked_until(connection, email, ALL_SOURCES)
        user = await console_users.find_joined_user(connection, email)
    if locked is not None:
        return show_sign_in_error(visit, lockout_message(locked), 429)
    matches = await passwords.verify_password(user, password)
    if not matches or user is None or user.disabled_at is not None:
        return await refuse_password(visit, email, source, user, slowed)
    # Where an address is guessed at from everywhere, a password alone is not enough for a browser that is not known.
    if slowed is not None and user.totp_sealed is None:
        return show_sign_in_error(visit, lockout_message(slowed), 429)
    if user.totp_sealed is None:
        return await start_session(visit, user, source, safe_next(visit, user))
    async with visit.operators.acquire() as connection:
        token = await console_sessions.begin(connection, user.user_id, is_authenticated=False)
    asks = f"?next={visit.query['next']}" if "next" in visit.query else ""
    return visit.services.cookies.set_cookie(visit.redirect(f"/sign-in/code{asks}"), SESSION, token)


def lockout_message(until: datetime) -> str:
    return LOCKED_OUT.format(minutes=int((until - datetime.now(UTC)).total_seconds() // 60) + 1)


async def refuse_password(
    visit: Visit, email: str, source: AttemptSource, user: ConsoleUser | None, slowed: datetime | None
) -> Response:
    async with visit.operators.acquire() as connection:
        failures = await console_throttle.record_failure(connection, email, source, ALL_SOURCES)
    refused = (
        show_sign_in_error(visit, WRONG_CREDENTIALS, 401)
        if slowed is None
        else show_sign_in_error(visit, lockout_message(slowed), 429)
    )
    return record_refusal(visit, refused, user, failures)


def show_sign_in_error(visit: Visit, why: str, status: int) -> Response:
    return visit.render("sign_in.html", status, values={"email": visit.form_text("email")}, faults={"": why})


async def start_session(visit: Visit, user: ConsoleUser, source: AttemptSource, where: str) -> Response:
    """A whole session, instead of the half one where there is one: its token was known before the code was given."""
    async with visit.operators.acquire() as connection, connection.transaction():
        await console_throttle.clear_failures(connection, user.email, source)
        if visit.session is not None:
            await console_sessions.end(connection, visit.session.session_id)
        token = await console_sessions.begin(connection, user.user_id, is_authenticated=True)
        device = await console_throttle.remember_device(connection, user.user_id, visit.device_token)
        await record_sign_in(connection, visit, user, "signed in")
    response = visit.services.cookies.set_cookie(visit.redirect(where), SESSION, token)
    return visit.services.cookies.set_cookie(response, DEVICE, device)


async def record_sign_in(connection: Connection, visit: Visit, user: ConsoleUser, what: str) -> None:
    deed = AuditEntry(user.email, what, user.email, visit.client_address)
    await audit_trail.append_entry(connection, await find_audit_chain(connection, user), deed)


# --- the code -----------------------------------------------------------------------------------------------------


async def show_code(visit: Visit) -> Response:
    return visit.render("code.html")


async def check_code(visit: Visit) -> Response:
    user = visit.user
    assert visit.session is not None
    async with visit.operators.acquire() as connection:
        source = await source_of(connection, visit, user.email)
        places = (source,) if source.is_known_device else (source, ALL_CODE_SOURCES)
        for place in places:
            if await console_throttle.locked_until(connection, user.email, place) is not None:
                return visit.render("code.html", 429, faults={"code": "Too many wrong tries. Try again later."})
        is_right = await consume_totp_code(connection, visit, user, visit.form_text("code"))
        if not is_right:
            failures = await console_throttle.record_failure(connection, user.email, source, ALL_CODE_SOURCES)
            if failures >= FREE_FAILURES:
                await console_sessions.end(connection, visit.session.session_id)
    if is_right:
        return await start_session(visit, user, source, safe_next(visit, user))
    return record_refusal(visit, visit.render("code.html", 401, faults={"code": WRONG_CODE}), user, failures)


async def sign_out(visit: Visit) -> Response:
    assert visit.session is not None
    async with visit.operators.acquire() as connection:
        await console_sessions.end(connection, visit.session.session_id)
    return visit.services.cookies.delete_cookie(visit.redirect("/sign-in"), SESSION)


# --- links --------------------------------------------------------------------------------------------------------


async def show_link(visit: Visit) -> Response:
    """Looking changes nothing: mail programs open links before people do."""
    async with visit.snapshot() as connection:
        found = await console_users.read_link(connection, visit.path_parameter("token"))
    if found is None:
        return visit.render("link_used.html", 404)
    user, purpose = found
    return visit.render("link.html", invited=user, purpose=purpose)


async def use_link(visit: Visit) -> Response:
    async with visit.operators.acquire() as connection:
        found = await console_users.read_link(connection, visit.path_parameter("token"))
    if found is None:
        return visit.render("link_used.html", 404)
    user, purpose = found
    hashed = None
    if purpose == "invitation":
        password = str(visit.form.get("password", ""))
        faults = passwords.password_faults(password, str(visit.form.get("again", "")), user.email)
        if faults:
            return visit.render("link.html", 422, invited=user, purpose=purpose, faults=faults)
        hashed = await passwords.hash_password(password)
    try:
        session = await redeem_link(visit, user, purpose, hashed)
    except EmailTaken:
        return visit.render("link.html", 409, invited=user, purpose=purpose, faults={"": EMAIL_TAKEN})
    where = home_of(user) if user.totp_sealed is None else "/sign-in/code"
    return visit.services.cookies.set_cookie(visit.redirect(where), SESSION, session)


async def redeem_link(visit: Visit, user: ConsoleUser, purpose: str, hashed: str | None) -> str:
    """Uses the link up and begins a session, whose token is answered."""
    async with visit.operators.acquire() as connection, connection.transaction():
        if not await console_users.redeem_link(connection, visit.path_parameter("token")):
            raise NotFound
        if hashed is not None:
            await console_users.set_password(connection, user.user_id, hashed)
        await record_sign_in(connection, visit, user, f"used a link ({purpose.replace('_', ' ')})")
        return await console_sessions.begin(connection, user.user_id, is_authenticated=user.totp_sealed is None)
