"""A person's own account: password and second factor."""

from starlette.responses import Response

from kasuwa.console import passwords
from kasuwa.console.step_up import confirm
from kasuwa.console.visit import Visit
from kasuwa.core.secrets import Unsealable
from kasuwa.db import console_sessions, console_users

BAD_NEW_CODE = "not the code of this moment; check that your telephone's clock is right"


async def show_account(visit: Visit) -> Response:
    return visit.show("account.html")


async def change_password(visit: Visit) -> Response:
    user = visit.user
    assert visit.session is not None
    password = str(visit.form.get("password", ""))
    faults = passwords.password_fault(password, str(visit.form.get("again", "")), user.email)
    if user.password is not None:
        for words in (await confirm(visit, password=str(visit.form.get("current", "")))).values():
            faults["current"] = words
    if faults:
        return visit.show("account.html", 422, faults=faults)
    hashed = await passwords.hash_password(password)
    async with visit.operators.acquire() as connection, connection.transaction():
        await console_users.set_password(connection, user.user_id, hashed)
        await console_sessions.end_others(connection, user.user_id, visit.session.session_id)
        await visit.record_on(connection, visit.chain, "changed the password", user.email)
    return visit.go("/account", "Your password is changed; your other sessions are ended.")


# --- the second factor --------------------------------------------------------------------------------------------


async def show_second_factor(visit: Visit) -> Response:
    return offer(visit, passwords.new_secret())


def offer(visit: Visit, secret: str, status: int = 200, **faults: str) -> Response:
    """A secret that counts only once a code of it comes back; until then the form keeps it, sealed."""
    user = visit.user
    sealed = passwords.seal_secret(visit.parts.vault, user.user_id, secret)
    drawn = passwords.picture(secret, user.email, visit.parts.environment)
    spaced = " ".join(secret[n : n + 4] for n in range(0, len(secret), 4))
    return visit.show("second_factor.html", status, drawn=drawn, secret=spaced, sealed=sealed.hex(), faults=faults)


async def set_second_factor(visit: Visit) -> Response:
    """Whoever has a password gives it, and a code of the authenticator that is replaced; other sessions are ended."""
    user = visit.user
    assert visit.session is not None
    try:
        secret = passwords.open_secret(visit.parts.vault, user.user_id, bytes.fromhex(visit.said("sealed")))
    except (ValueError, Unsealable):
        return await show_second_factor(visit)
    step = passwords.matching_step(secret, visit.said("code"))
    if step is None:
        return offer(visit, secret, 422, code=BAD_NEW_CODE)
    wrong = await confirm(
        visit,
        password=None if user.password is None else str(visit.form.get("current", "")),
        code=None if user.totp_sealed is None else visit.said("current_code"),
    )
    if wrong:
        named = {"password": "current", "code": "current_code"}
        return offer(visit, secret, 422, **{named[field]: words for field, words in wrong.items()})
    sealed = passwords.seal_secret(visit.parts.vault, user.user_id, secret)
    async with visit.operators.acquire() as connection, connection.transaction():
        await console_users.set_totp(connection, user.user_id, sealed, step)
        await console_sessions.end_others(connection, user.user_id, visit.session.session_id)
        await visit.record_on(connection, visit.chain, "set up a second factor", user.email)
    return visit.go("/account", "From now on a code is asked for when you sign in; your other sessions are ended.")
