"""A person's own account: password and second factor."""

from starlette.responses import Response

from kasuwa.console import passwords
from kasuwa.console.step_up import verify_credentials
from kasuwa.console.visit import Visit
from kasuwa.core.vault import UnsealError
from kasuwa.db import console_sessions, console_users

BAD_NEW_CODE = "not the code of this moment; check that your telephone's clock is right"


async def show_account(visit: Visit) -> Response:
    return visit.render("account.html")


async def change_password(visit: Visit) -> Response:
    user = visit.user
    assert visit.session is not None
    password = str(visit.form.get("password", ""))
    faults = passwords.password_faults(password, str(visit.form.get("again", "")), user.email)
    if user.password_hash is not None:
        for words in (await verify_credentials(visit, password=str(visit.form.get("current", "")))).values():
            faults["current"] = words
    if faults:
        return visit.render("account.html", 422, faults=faults)
    hashed = await passwords.hash_password(password)
    async with visit.operators.acquire() as connection, connection.transaction():
        await console_users.set_password(connection, user.user_id, hashed)
        await console_sessions.end_others(connection, user.user_id, visit.session.session_id)
        await visit.record_audit_on(connection, visit.audit_chain, "changed the password", user.email)
    return visit.redirect("/account", "Your password is changed; your other sessions are ended.")


# --- the second factor --------------------------------------------------------------------------------------------


async def show_second_factor(visit: Visit) -> Response:
    return show_totp_setup(visit, passwords.new_totp_secret())


def show_totp_setup(visit: Visit, secret: str, status: int = 200, **faults: str) -> Response:
    """A secret that counts only once a code of it comes back; until then the form keeps it, sealed."""
    user = visit.user
    sealed = passwords.seal_totp_secret(visit.services.vault, user.user_id, secret)
    drawn = passwords.draw_totp_qr(secret, user.email, visit.services.environment)
    spaced = " ".join(secret[n : n + 4] for n in range(0, len(secret), 4))
    return visit.render("second_factor.html", status, drawn=drawn, secret=spaced, sealed=sealed.hex(), faults=faults)


async def set_second_factor(visit: Visit) -> Response:
    """Whoever has a password gives it, and a code of the authenticator that is replaced; other sessions are ended."""
    user = visit.user
    assert visit.session is not None
    try:
        secret = passwords.open_totp_secret(
            visit.services.vault, user.user_id, bytes.fromhex(visit.form_text("sealed"))
        )
    except (ValueError, UnsealError):
        return await show_second_factor(visit)
    step = passwords.matching_step(secret, visit.form_text("code"))
    if step is None:
        return show_totp_setup(visit, secret, 422, code=BAD_NEW_CODE)
    wrong = await verify_credentials(
        visit,
        password=None if user.password_hash is None else str(visit.form.get("current", "")),
        code=None if user.totp_sealed is None else visit.form_text("current_code"),
    )
    if wrong:
        named = {"password": "current", "code": "current_code"}
        return show_totp_setup(visit, secret, 422, **{named[field]: words for field, words in wrong.items()})
    sealed = passwords.seal_totp_secret(visit.services.vault, user.user_id, secret)
    async with visit.operators.acquire() as connection, connection.transaction():
        await console_users.set_totp(connection, user.user_id, sealed, step)
        await console_sessions.end_others(connection, user.user_id, visit.session.session_id)
        await visit.record_audit_on(connection, visit.audit_chain, "set up a second factor", user.email)
    return visit.redirect(
        "/account", "From now on a code is asked for when you sign in; your other sessions are ended."
    )
