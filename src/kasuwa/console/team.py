"""People: a merchant's own, or the operators. Invited by link, given a role, disabled.

A link goes to the person it is for; whoever invites never sees it. What lets an operator in, resets one or changes a
role is proposed here and approved by another administrator (operator_people.py); to disable takes one.
"""

from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from kasuwa.console.access import ROLE_DESCRIPTIONS, assignable_roles, email_fault, short_name
from kasuwa.console.events import parse_int
from kasuwa.console.operator_user_proposals import ENABLE, INVITE, RESET, ROLE, OperatorChange, propose_change
from kasuwa.console.store import PAGE_ROWS
from kasuwa.console.visit import NotFound, Visit
from kasuwa.db import console_users
from kasuwa.db.console_users import INVITED, ConsoleUser, EmailTaken

MOST_ADDRESS = 320
EMAIL_TAKEN = "somebody of your team has this address already"


async def show_team(visit: Visit, status: int = 200, **values: Any) -> Response:
    mid, after = visit.user.mid, people_after(visit)
    async with visit.snapshot() as connection:
        people = await console_users.list_users(connection, mid, after, PAGE_ROWS + 1)
    roles = [(role, f"{short_name(role)}: {ROLE_DESCRIPTIONS[role]}") for role in assignable_roles(mid)]
    shared = {"people": people[:PAGE_ROWS], "roles": roles, "said": {}, "takes_two": mid is None}
    shared |= {"more": more_people("/team", people), "newest": "/team" if after else ""}
    return visit.render("team.html", status, **{**shared, **values})


def people_after(visit: Visit) -> str:
    """The address that the shown part of a list of people begins after."""
    return visit.query.get("after", "")[:MOST_ADDRESS]


def more_people(path: str, people: list[ConsoleUser]) -> str:
    """Where a list of people goes on, of which one more than a page was read."""
    return f"{path}?{urlencode({'after': people[PAGE_ROWS - 1].email})}" if len(people) > PAGE_ROWS else ""


async def invite(visit: Visit) -> Response:
    """An address that is used elsewhere is answered like any other: only its owner learns of it, from the link."""
    email, role, mid = visit.form_text("email"), visit.form_text("role"), visit.user.mid
    faults = {"email": email_fault(email) or "", "role": "" if role in assignable_roles(mid) else "choose one"}
    if not any(faults.values()):
        try:
            if mid is None:
                return await propose_change(visit, OperatorChange(INVITE, email, role))
            return await invite_member(visit, email, role, mid)
        except EmailTaken:
            faults["email"] = EMAIL_TAKEN
    return await show_team(visit, 422, faults=faults, said={"email": email, "role": role})


async def invite_member(visit: Visit, email: str, role: str, mid: str) -> Response:
    async with visit.operators.acquire() as connection, connection.transaction():
        user_id = await console_users.add_user(connection, email, mid, role)
        token = await console_users.make_link(connection, user_id, "invitation")
        await visit.record_audit_on(connection, visit.audit_chain, "invited", email, after=role)
    return visit.redirect("/team", await deliver_link(visit, email, token))


async def deliver_link(visit: Visit, email: str, token: str) -> str:
    """Sends a link to its person, after the commit that made it. Answers what the page says of that."""
    return await visit.services.deliver_link(email, f"{visit.services.console_url}/link/{token}")


async def find_member_in_path(visit: Visit) -> ConsoleUser:
    """Somebody of the visitor's own place, and not the visitor: nobody locks themselves out."""
    async with visit.operators.acquire() as connection:
        found = await console_users.get_user(connection, parse_int(visit.path_parameter("user_id"), 0), visit.user.mid)
    if found is None or found.user_id == visit.user.user_id:
        raise NotFound
    return found


async def change_role(visit: Visit) -> Response:
    found, role = await find_member_in_path(visit), visit.form_text("role")
    if role not in assignable_roles(visit.user.mid):
        return await show_team(visit, 422, faults={f"role-{found.user_id}": "choose one"})
    if visit.user.mid is None:
        return await propose_change(visit, OperatorChange(ROLE, found.email, role, found.user_id, found.role))
    async with visit.operators.acquire() as connection, connection.transaction():
        await console_users.set_role(connection, found.user_id, role)
        await visit.record_audit_on(connection, visit.audit_chain, "changed a role", found.email, found.role, role)
    return visit.redirect("/team", f"{found.email} is {short_name(role)} now, from the next sign-in on.")


async def invite_again(visit: Visit) -> Response:
    """A new link. Who has a password sets it and the second factor anew: so a lost telephone is replaced. Who is
    invited or reset and has none yet only gets the link once more, which takes no second administrator: the one before
    may be lost, in the mail or because the console died before it was sent."""
    found = await find_member_in_path(visit)
    is_waiting = found.state == INVITED
    if visit.user.mid is None and not is_waiting:
        change = ENABLE if found.disabled_at is not None else RESET
        return await propose_change(visit, OperatorChange(change, found.email, found.role, found.user_id))
    async with visit.operators.acquire() as connection, connection.transaction():
        if not is_waiting:
            await console_users.reset_credentials(connection, found.user_id)
        token = await console_users.make_link(connection, found.user_id, "invitation")
        await visit.record_audit_on(connection, visit.audit_chain, "invited again", found.email)
    return visit.redirect("/team", await deliver_link(visit, found.email, token))


async def disable(visit: Visit) -> Response:
    found = await find_member_in_path(visit)
    async with visit.operators.acquire() as connection, connection.transaction():
        await console_users.disable(connection, found.user_id)
        await visit.record_audit_on(connection, visit.audit_chain, "disabled", found.email, found.role)
    return visit.redirect("/team", f"{found.email} cannot sign in any more.")
