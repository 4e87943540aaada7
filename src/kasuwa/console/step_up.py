"""Asking again who it is: before keys, webhook, people and approvals change, and before much money leaves.

Whoever has a second factor gives a code, others their password; it holds for a while. What was being done goes on with
the same form, so nothing is typed twice. People who have neither (the first links of a test environment) are not asked.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from starlette.background import BackgroundTask
from starlette.responses import Response

from kasuwa.console import passwords
from kasuwa.console.visit import Visit
from kasuwa.core.decision import AuditEntry
from kasuwa.db import audit_trail, console_sessions, console_throttle, console_users
from kasuwa.db.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.db.connections import Connection
from kasuwa.db.console_throttle import FREE_FAILURES, AttemptSource
from kasuwa.db.console_users import ConsoleUser
from kasuwa.db.merchants import find_merchant_id
from kasuwa.observe.log import describe_error

log = structlog.get_logger("kasuwa.console")

CODE_FIELD, PASSWORD_FIELD = "confirm_code", "confirm_password"
STEP_UP_LIFETIME = timedelta(minutes=15)
WRONG_PASSWORD = "not your password"
WRONG_CODE = "not the code of this moment; wait for the next one and try again"
LOCKED_OUT = "too many wrong tries; try again later"
# What is typed into these is not shown again, not even hidden: they are asked for once more.
SECRET_FIELDS = frozenset(
    {"csrf", CODE_FIELD, PASSWORD_FIELD, "pin", "password", "again", "current", "cashcode", "code"}
)


def step_up_field(user: ConsoleUser) -> str | None:
    """The field with which somebody shows who they are."""
    return CODE_FIELD if user.totp_sealed is not None else PASSWORD_FIELD if user.password_hash is not None else None


def is_step_up_recent(visit: Visit) -> bool:
    assert visit.session is not None
    return step_up_field(visit.user) is None or datetime.now(UTC) - visit.session.verified_at < STEP_UP_LIFETIME


def show_step_up(visit: Visit, status: int = 401, faults: Mapping[str, str] = {}) -> Response:
    """The page that asks, holding what the form said."""
    said = [(name, value) for name, value in form_items(visit) if name not in SECRET_FIELDS]
    query = visit.request.url.query
    action = visit.request.url.path + (f"?{query}" if query else "")
    return visit.render("confirm.html", status, asks=step_up_field(visit.user), said=said, action=action, faults=faults)


def form_items(visit: Visit) -> list[tuple[str, str]]:
    items: Any = getattr(visit.form, "multi_items", visit.form.items)
    return [(name, value) for name, value in items() if isinstance(value, str)]


async def verify_step_up(visit: Visit) -> Response | None:
    """Checks what the form says beside its own fields; answers the page that asks again where it is wrong."""
    field = step_up_field(visit.user)
    if visit.session is None or field is None or field not in visit.form:
        return None
    given = (
        {"code": visit.form_text(CODE_FIELD)} if field == CODE_FIELD else {"password": str(visit.form[PASSWORD_FIELD])}
    )
    faults = await verify_credentials(visit, **given)
    if faults:
        return show_step_up(visit, 401, {field: next(iter(faults.values()))})
    async with visit.operators.acquire() as connection:
        await console_sessions.mark_verified(connection, visit.session.session_id)
    visit.session.verified_at = datetime.now(UTC)
    return None


async def verify_credentials(visit: Visit, *, password: str | None = None, code: str | None = None) -> dict[str, str]:
    """What is wrong with a password, a code or both that the signed-in visitor gave, by these names."""
    user, faults = visit.user, dict[str, str]()
    async with visit.operators.acquire() as connection:
        source = await source_of(connection, visit, user.email)
        if await console_throttle.locked_until(connection, user.email, source) is not None:
            return {"password" if password is not None else "code": LOCKED_OUT}
    if password is not None and not await passwords.verify_password(user, password):
        faults["password"] = WRONG_PASSWORD
    async with visit.operators.acquire() as connection:
        # A code is used up by looking at it: not while the password beside it is wrong.
        if code is not None and not faults and not await consume_totp_code(connection, visit, user, code):
            faults["code"] = WRONG_CODE
        if faults:
            await console_throttle.record_failure(connection, user.email, source)
    return faults


async def consume_totp_code(connection: Connection, visit: Visit, user: ConsoleUser, code: str) -> bool:
    assert user.totp_sealed is not None
    secret = passwords.open_totp_secret(visit.services.vault, user.user_id, user.totp_sealed)
    step = passwords.matching_step(secret, code)
    return step is not None and await console_users.use_totp_step(connection, user.user_id, step)


async def source_of(connection: Connection, visit: Visit, email: str) -> AttemptSource:
    return await console_throttle.find_source(connection, email, visit.client_address, visit.device_token)


# --- refused tries ------------------------------------------------------------------------------------------------


def record_refusal(visit: Visit, response: Response, user: ConsoleUser | None, failures: int) -> Response:
    """Leaves the refused try in the audit trail, once the answer is on its way: so that an address that somebody has
    takes no longer than one that nobody has. Bounded: of a series, the first and those that lock; of addresses that
    nobody has, and which may be a password typed into the wrong field, one entry a series and not what was typed."""
    if failures < FREE_FAILURES and (user is None or failures > 1):
        return response

    async def record() -> None:
        try:
            await append_entry()
        except Exception as error:  # the answer has left: nobody is there to be told
            log.error("a refused sign-in is not in the trail", **describe_error(error))

    async def append_entry() -> None:
        name = "an unknown address" if user is None else user.email
        after = f"wrong tries in a row: {failures}"
        async with visit.operators.acquire() as connection:
            chain = await find_audit_chain(connection, user)
            deed = AuditEntry(name, "was refused to sign in", name, visit.client_address, after=after)
            await audit_trail.append_entry(connection, chain, deed)

    response.background = BackgroundTask(record)
    return response


async def find_audit_chain(connection: Connection, user: ConsoleUser | None) -> int:
    """The chain of the person's merchant; the operator's where there is none."""
    if user is None or user.mid is None:
        return OPERATOR_CHAIN_ID
    return await find_merchant_id(connection, user.mid)
