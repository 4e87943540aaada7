"""Step-up authentication: asks for a code or password again before sensitive changes and large payments.

Users with a second factor give a code, others their password. It holds for STEP_UP_LIFETIME. The page that asks carries
the fields of the interrupted form, which continues once the credentials are verified. Users who have neither (demo
links of a test environment) are not asked. Also holds the page that asks before a change that cannot be undone, which
carries the form in the same way, and the audit entries of refused sign-ins.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from starlette.background import BackgroundTask
from starlette.responses import Response

from kasuwa.authority import audit_trail
from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.console.kit.visit import CONFIRMED_FIELD, FORM_KEY, ConfirmationRequired, Visit
from kasuwa.core.decision import AuditEntry
from kasuwa.merchants.merchants import find_merchant_id
from kasuwa.observe.log import describe_error
from kasuwa.people import passwords, sessions, throttle, users
from kasuwa.people.throttle import FREE_FAILURES, AttemptSource
from kasuwa.people.users import ConsoleUser
from kasuwa.postgres.connection_pool import Connection

log = structlog.get_logger("kasuwa.console")

CODE_FIELD, PASSWORD_FIELD = "confirm_code", "confirm_password"
STEP_UP_LIFETIME = timedelta(minutes=15)
WRONG_PASSWORD = "wrong password"
WRONG_CODE = "wrong or expired code; wait for the next one and try again"
LOCKED_OUT = "too many failed attempts; try again later"
# Secret fields are not carried over as hidden fields: the user enters them again. The page has the csrf token and the
# form's key itself.
SECRET_FIELDS = frozenset(
    {"csrf", FORM_KEY, CODE_FIELD, PASSWORD_FIELD, "pin", "password", "again", "current", "cashcode", "code"}
)


def step_up_field(user: ConsoleUser) -> str | None:
    """Returns the form field for the user's credential, or None if they have neither second factor nor password."""
    return CODE_FIELD if user.totp_sealed is not None else PASSWORD_FIELD if user.password_hash is not None else None


def is_step_up_recent(visit: Visit) -> bool:
    assert visit.session is not None
    return step_up_field(visit.user) is None or datetime.now(UTC) - visit.session.verified_at < STEP_UP_LIFETIME


def show_step_up(visit: Visit, status: int = 401, faults: Mapping[str, str] = {}) -> Response:
    """Returns the page that asks for the credential. It carries the fields of the interrupted form."""
    carried, action = carried_fields(visit), form_address(visit)
    visit.kept_form_key = visit.form_text(FORM_KEY)
    return visit.render(
        "step_up.html", status, field=step_up_field(visit.user), carried=carried, action=action, faults=faults
    )


def show_confirmation(visit: Visit, confirmation: ConfirmationRequired) -> Response:
    """Returns the page that asks before a change. Nothing has been done yet. It carries the fields of the form."""
    visit.kept_form_key = visit.form_text(FORM_KEY)
    return visit.render(
        "confirm.html",
        asked=confirmation,
        carried=[
            *(one for one in carried_fields(visit) if one[0] != CONFIRMED_FIELD),
            (CONFIRMED_FIELD, confirmation.answer),
        ],
        action=form_address(visit),
    )


def carried_fields(visit: Visit) -> list[tuple[str, str]]:
    return [(name, value) for name, value in form_items(visit) if name not in SECRET_FIELDS]


def form_address(visit: Visit) -> str:
    query = visit.request.url.query
    return visit.request.url.path + (f"?{query}" if query else "")


def form_items(visit: Visit) -> list[tuple[str, str]]:
    items: Any = getattr(visit.form, "multi_items", visit.form.items)
    return [(name, value) for name, value in items() if isinstance(value, str)]


async def verify_step_up(visit: Visit) -> Response | None:
    """Verifies the credential that a form carries, if any. Returns the page that asks again if it is wrong."""
    field = step_up_field(visit.user)
    if visit.session is None or field is None or field not in visit.form:
        return None
    credential = (
        {"code": visit.form_text(CODE_FIELD)} if field == CODE_FIELD else {"password": str(visit.form[PASSWORD_FIELD])}
    )
    faults = await verify_credentials(visit, **credential)
    if faults:
        return show_step_up(visit, 401, {field: next(iter(faults.values()))})
    async with visit.operator_pool.acquire() as connection:
        await sessions.mark_verified(connection, visit.services.vault, visit.session.session_id)
    visit.session.verified_at = datetime.now(UTC)
    return None


async def verify_credentials(visit: Visit, *, password: str | None = None, code: str | None = None) -> dict[str, str]:
    """Verifies password, code or both of the signed-in user.

    Returns error texts under "password" and "code". Empty if all are right. Failures count towards the lockout.
    """
    user, faults = visit.user, dict[str, str]()
    async with visit.operator_pool.acquire() as connection:
        source = await find_attempt_source(connection, visit, user.email)
        if await throttle.locked_until(connection, user.email, source) is not None:
            return {"password" if password is not None else "code": LOCKED_OUT}
    if password is not None and not await passwords.verify_password(user, password, passwords.make_turn(user)):
        faults["password"] = WRONG_PASSWORD
    async with visit.operator_pool.acquire() as connection:
        # Checking a code uses it up, so it is not checked if the password is wrong.
        if code is not None and not faults and not await consume_totp_code(connection, visit, user, code):
            faults["code"] = WRONG_CODE
        if faults:
            await throttle.record_failure(connection, user.email, source)
    return faults


async def consume_totp_code(connection: Connection, visit: Visit, user: ConsoleUser, code: str) -> bool:
    assert user.totp_sealed is not None
    secret = passwords.unseal_totp_secret(visit.services.vault, user.user_id, user.totp_sealed)
    step = passwords.matching_step(secret, code)
    return step is not None and await users.use_totp_step(connection, user.user_id, step)


async def find_attempt_source(connection: Connection, visit: Visit, email: str) -> AttemptSource:
    return await throttle.find_source(connection, email, visit.client_address, visit.device_token)


# --- refused sign-ins ---------------------------------------------------------------------------------------------


def record_refusal(visit: Visit, response: Response, user: ConsoleUser | None, failures: int) -> Response:
    """Records a refused sign-in in the audit trail after the response was sent.

    It runs in the background so that known and unknown addresses take equally long. Of a series of failures only the
    first and those that lock are recorded. For an unknown address only those that lock are, and without the address: it
    may be a password that was typed into the wrong field.
    """
    if failures < FREE_FAILURES and (user is None or failures > 1):
        return response

    async def record() -> None:
        try:
            await append_entry()
        except Exception as error:  # the response has been sent already
            log.error("refused sign-in could not be recorded", **describe_error(error))

    async def append_entry() -> None:
        name = "an unknown address" if user is None else user.email
        after = f"wrong tries in a row: {failures}"
        async with visit.operator_pool.acquire() as connection:
            chain = await find_audit_chain(connection, user)
            entry = AuditEntry(name, "was refused to sign in", name, visit.client_address, after=after)
            await audit_trail.append_entry(connection, chain, entry)

    response.background = BackgroundTask(record)
    return response


async def find_audit_chain(connection: Connection, user: ConsoleUser | None) -> int:
    """Returns the audit chain of the user's merchant, or the operator's for operators and unknown users."""
    if user is None or user.mid is None:
        return OPERATOR_CHAIN_ID
    return await find_merchant_id(connection, user.mid)
