"""Signing in and out: password, then a code if a second factor is set up, or a one-time link.

No database connection is held while a password is verified. An unknown email address gets the same response as a wrong
password, after the same amount of work.
"""

import secrets
from datetime import UTC, datetime
from urllib.parse import quote

from starlette.responses import Response

from kasuwa.authority import audit_trail
from kasuwa.console.kit.cookies import DEVICE, SESSION
from kasuwa.console.kit.step_up import consume_totp_code, find_attempt_source, find_audit_chain, record_refusal
from kasuwa.console.kit.visit import MAX_NEXT_LENGTH, NotFound, Visit
from kasuwa.core.decision import AuditEntry
from kasuwa.core.mail_text import MailText, format_day
from kasuwa.people import mails, passwords, sessions, throttle, users
from kasuwa.people.passwords import HashTurn
from kasuwa.people.throttle import ALL_SOURCES, FREE_FAILURES, AttemptSource, RememberedDevice
from kasuwa.people.users import ConsoleUser, EmailTaken
from kasuwa.postgres.connection_pool import Connection

WRONG_CREDENTIALS = "Wrong email address or password."
WRONG_CODE = "Wrong or expired code. Wait for the next one and try again."
LOCKED_OUT = "Too many failed attempts. Try again in {minutes} min."
EMAIL_TAKEN = "This email address belongs to another account already. Ask for an invitation to another address."
MAX_EMAIL_LENGTH = 200
# Counts wrong codes of a user from all networks. Only somebody who has the password can cause them.
ALL_CODE_SOURCES = AttemptSource(b"code", is_known_device=False)


def home_path(user: ConsoleUser) -> str:
    return "/operator/merchants" if user.mid is None else "/"


def safe_next(visit: Visit, user: ConsoleUser) -> str:
    """Returns the page in the `next` parameter, or the user's home page if that leads to another site."""
    path = visit.query.get("next", "")[:MAX_NEXT_LENGTH]
    is_local = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if is_local else home_path(user)


async def show_sign_in(visit: Visit) -> Response:
    if visit.session is not None and visit.session.is_authenticated:
        return visit.redirect(home_path(visit.user))
    return visit.render("sign_in.html", values={"email": ""})


async def sign_in(visit: Visit) -> Response:
    email, password = visit.form_text("email")[:MAX_EMAIL_LENGTH], str(visit.form.get("password", ""))
    if visit.device_token is None:
        # Somebody who floods the page costs no connection of the database.
        passwords.HASH_POOL.check_room(throttle.network_source(visit.client_address))
    async with visit.operator_pool.acquire() as connection:
        source = await find_attempt_source(connection, visit, email)
        source_locked = await throttle.locked_until(connection, email, source)
        all_sources_locked = (
            None if source.is_known_device else await throttle.locked_until(connection, email, ALL_SOURCES)
        )
        user = await users.find_joined_user(connection, visit.services.vault, email)
    if source_locked is not None:
        return show_sign_in_error(visit, lockout_message(source_locked), 429)
    matches = await passwords.verify_password(user, password, HashTurn(source, email.lower()))
    if not matches or user is None or user.disabled_at is not None:
        return await refuse_password(visit, email, source, user, all_sources_locked)
    # While passwords of this user are guessed from many networks, an unknown browser needs a second factor as well.
    if all_sources_locked is not None and user.totp_sealed is None:
        return show_sign_in_error(visit, lockout_message(all_sources_locked), 429)
    if user.totp_sealed is None:
        return await start_session(visit, user, source, safe_next(visit, user))
    async with visit.operator_pool.acquire() as connection:
        token = await sessions.begin(connection, visit.services.vault, user.user_id, is_authenticated=False)
    query = f"?next={quote(visit.query['next'], safe='/')}" if "next" in visit.query else ""
    return visit.services.cookies.set_cookie(visit.redirect(f"/sign-in/code{query}"), SESSION, token)


def lockout_message(until: datetime) -> str:
    return LOCKED_OUT.format(minutes=int((until - datetime.now(UTC)).total_seconds() // 60) + 1)


async def refuse_password(
    visit: Visit, email: str, source: AttemptSource, user: ConsoleUser | None, all_sources_locked: datetime | None
) -> Response:
    async with visit.operator_pool.acquire() as connection:
        failures = await throttle.record_failure(connection, email, source, ALL_SOURCES)
    refused = (
        show_sign_in_error(visit, WRONG_CREDENTIALS, 401)
        if all_sources_locked is None
        else show_sign_in_error(visit, lockout_message(all_sources_locked), 429)
    )
    return record_refusal(visit, refused, user, failures)


def show_sign_in_error(visit: Visit, why: str, status: int) -> Response:
    return visit.render("sign_in.html", status, values={"email": visit.form_text("email")}, faults={"": why})


async def start_session(visit: Visit, user: ConsoleUser, source: AttemptSource, path: str) -> Response:
    """Starts an authenticated session and remembers the device.

    Ends the session that waited for the code, because its token was issued before the second factor was given.
    """
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        await throttle.clear_failures(connection, user.email, source)
        if visit.session is not None:
            await sessions.end(connection, visit.session.session_id)
        token = await sessions.begin(connection, visit.services.vault, user.user_id, is_authenticated=True)
        device = await throttle.remember_device(connection, user.user_id, visit.device_token, visit.client_address)
        await record_sign_in(connection, visit, user, "signed in")
        if device.is_new_browser or device.is_new_network:
            await mail_alert(connection, visit, user, device)
    response = visit.services.cookies.set_cookie(visit.redirect(path), SESSION, token)
    return visit.services.cookies.set_cookie(response, DEVICE, device.token)


async def mail_alert(connection: Connection, visit: Visit, user: ConsoleUser, device: RememberedDevice) -> None:
    """Tells the person of a sign-in from a browser or a network that they had not used before."""
    where = "in a new browser" if device.is_new_browser else "from a new address"
    now = datetime.now(UTC)
    text = MailText(
        subject="A new sign-in to the Kasuwa console",
        greeting="Hello,",
        paragraphs=(
            f"Somebody signed in to your account {where}.",
            "If that was you, you need do nothing. If not, change your password at once and tell whoever runs the "
            "service.",
        ),
        facts=(("Time", f"{format_day(now.date())} at {now:%H:%M} UTC"), ("Address", visit.client_address)),
        links=(("Your account", f"{visit.services.console_url}/account"),),
    )
    occasion = f"sign-in {secrets.token_hex(16)}"
    await mails.queue_mail(connection, visit.services.vault, user, mails.SIGN_IN_ALERT, occasion, text)


async def record_sign_in(connection: Connection, visit: Visit, user: ConsoleUser, what: str) -> None:
    entry = AuditEntry(user.email, what, user.email, visit.client_address)
    await audit_trail.append_entry(connection, await find_audit_chain(connection, user), entry)


# --- the code -----------------------------------------------------------------------------------------------------


async def show_code(visit: Visit) -> Response:
    return visit.render("code.html")


async def check_code(visit: Visit) -> Response:
    user = visit.user
    assert visit.session is not None
    async with visit.operator_pool.acquire() as connection:
        source = await find_attempt_source(connection, visit, user.email)
        sources = (source,) if source.is_known_device else (source, ALL_CODE_SOURCES)
        for counted in sources:
            if await throttle.locked_until(connection, user.email, counted) is not None:
                return visit.render("code.html", 429, faults={"code": "Too many failed attempts. Try again later."})
        is_right = await consume_totp_code(connection, visit, user, visit.form_text("code"))
        if not is_right:
            failures = await throttle.record_failure(connection, user.email, source, ALL_CODE_SOURCES)
            if failures >= FREE_FAILURES:
                await sessions.end(connection, visit.session.session_id)
    if is_right:
        return await start_session(visit, user, source, safe_next(visit, user))
    return record_refusal(visit, visit.render("code.html", 401, faults={"code": WRONG_CODE}), user, failures)


async def sign_out(visit: Visit) -> Response:
    assert visit.session is not None
    async with visit.operator_pool.acquire() as connection:
        await sessions.end(connection, visit.session.session_id)
    return visit.services.cookies.delete_cookie(visit.redirect("/sign-in"), SESSION)


# --- links --------------------------------------------------------------------------------------------------------


async def show_link(visit: Visit) -> Response:
    """Shows the form of a link. A GET does not redeem it, because mail programs open links in advance."""
    async with visit.session_connection() as connection:
        link = await users.read_link(connection, visit.services.vault, visit.path_parameter("token"))
    if link is None:
        return visit.render("link_invalid.html", 404)
    user, purpose = link
    return visit.render("link.html", invited=user, purpose=purpose)


async def use_link(visit: Visit) -> Response:
    async with visit.operator_pool.acquire() as connection:
        link = await users.read_link(connection, visit.services.vault, visit.path_parameter("token"))
    if link is None:
        return visit.render("link_invalid.html", 404)
    user, purpose = link
    hashed = None
    if purpose == "invitation":
        password = str(visit.form.get("password", ""))
        faults = passwords.password_faults(password, str(visit.form.get("again", "")), user.email)
        if faults:
            return visit.render("link.html", 422, invited=user, purpose=purpose, faults=faults)
        hashed = await passwords.hash_password(password, passwords.make_turn(user))
    try:
        session = await redeem_link(visit, user, purpose, hashed)
    except EmailTaken:
        return visit.render("link.html", 409, invited=user, purpose=purpose, faults={"": EMAIL_TAKEN})
    path = home_path(user) if user.totp_sealed is None else "/sign-in/code"
    return visit.services.cookies.set_cookie(visit.redirect(path), SESSION, session)


async def redeem_link(visit: Visit, user: ConsoleUser, purpose: str, hashed: str | None) -> str:
    """Redeems the link, sets the password and starts a session. Returns the session token. Raises NotFound."""
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        if not await users.redeem_link(connection, visit.services.vault, visit.path_parameter("token")):
            raise NotFound
        if hashed is not None:
            await users.set_password(connection, visit.services.vault, user.user_id, hashed)
        await record_sign_in(connection, visit, user, f"used a link ({purpose.replace('_', ' ')})")
        return await sessions.begin(
            connection, visit.services.vault, user.user_id, is_authenticated=user.totp_sealed is None
        )
