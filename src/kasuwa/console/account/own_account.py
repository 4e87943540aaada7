"""The user's own account page: password and second factor."""

import secrets
from typing import Any

from starlette.responses import Response

from kasuwa.console.kit.step_up import verify_credentials
from kasuwa.console.kit.visit import Visit
from kasuwa.core.keyring import UnsealError
from kasuwa.core.mail_text import MailText
from kasuwa.people import mails, passwords, sessions, users
from kasuwa.postgres.connection_pool import Connection

BAD_NEW_CODE = "wrong or expired code; check that your phone's clock is right"


async def show_account(visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.session_connection() as connection:
        off = await mails.read_turned_off(connection, visit.user.user_id)
    return visit.render("account.html", status, choices=mails.list_choices(visit.user.mid), off=off, **values)


async def choose_mails(visit: Visit) -> Response:
    """Turns mails of the chosen purposes on and all others off, but for those about the security of the account."""
    choices = mails.list_choices(visit.user.mid)
    chosen = {purpose for purpose in choices if visit.form_text(purpose) == "yes"}
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        await mails.turn_off(connection, visit.user.user_id, choices.keys() - chosen)
    return visit.redirect("/account", "You get these mails from now on.")


async def mail_change(visit: Visit, connection: Connection, what: str) -> None:
    """Tells the person by mail that their account was changed, in the transaction that changes it."""
    text = MailText(
        subject="Your account in the Kasuwa console was changed",
        greeting="Hello,",
        paragraphs=(what, "If that was not you, tell whoever runs the service at once."),
        facts=(("Address", visit.client_address),),
    )
    occasion = f"account changed {secrets.token_hex(16)}"
    await mails.queue_mail(connection, visit.services.vault, visit.user, mails.ACCOUNT_CHANGED, occasion, text)


async def change_password(visit: Visit) -> Response:
    user = visit.user
    assert visit.session is not None
    password = str(visit.form.get("password", ""))
    faults = passwords.password_faults(password, str(visit.form.get("again", "")), user.email)
    if user.password_hash is not None:
        for text in (await verify_credentials(visit, password=str(visit.form.get("current", "")))).values():
            faults["current"] = text
    if faults:
        return await show_account(visit, 422, faults=faults)
    hashed = await passwords.hash_password(password, passwords.make_turn(user))
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        await users.set_password(connection, visit.services.vault, user.user_id, hashed)
        await sessions.end_others(connection, user.user_id, visit.session.session_id)
        await visit.record_audit_on(connection, visit.audit_chain, "changed the password", user.email)
        await mail_change(visit, connection, "Your password was changed. Your other sessions were ended.")
    return visit.redirect("/account", "Your password was changed. Your other sessions were ended.")


# --- the second factor --------------------------------------------------------------------------------------------


async def show_second_factor(visit: Visit) -> Response:
    return show_totp_setup(visit, passwords.new_totp_secret())


def show_totp_setup(visit: Visit, secret: str, status: int = 200, **faults: str) -> Response:
    """Shows a new TOTP secret. The form carries it sealed. It takes effect once a code made with it is submitted."""
    user = visit.user
    sealed = passwords.seal_totp_secret(visit.services.vault, user.user_id, secret)
    qr_svg = passwords.draw_totp_qr(secret, user.email, visit.services.environment)
    grouped = " ".join(secret[n : n + 4] for n in range(0, len(secret), 4))
    return visit.render("second_factor.html", status, qr_svg=qr_svg, secret=grouped, sealed=sealed.hex(), faults=faults)


async def set_second_factor(visit: Visit) -> Response:
    """Stores the new TOTP secret and ends the user's other sessions.

    Requires the current password and a code of the authenticator that is replaced, if the user has them.
    """
    user = visit.user
    assert visit.session is not None
    try:
        secret = passwords.unseal_totp_secret(
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
        field_names = {"password": "current", "code": "current_code"}
        return show_totp_setup(visit, secret, 422, **{field_names[name]: text for name, text in wrong.items()})
    sealed = passwords.seal_totp_secret(visit.services.vault, user.user_id, secret)
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        await users.set_totp(connection, visit.services.vault, user.user_id, sealed, step)
        await sessions.end_others(connection, user.user_id, visit.session.session_id)
        await visit.record_audit_on(connection, visit.audit_chain, "set up a second factor", user.email)
        await mail_change(visit, connection, "A second factor was set up. Your other sessions were ended.")
    return visit.redirect(
        "/account", "Second factor set up: you need a code to sign in from now on. Your other sessions were ended."
    )
