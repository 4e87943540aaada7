"""People: a merchant's own, or the operators. Invited by link, given a role, disabled."""

from typing import Any

from starlette.responses import Response

from kasuwa.console.access import MEANINGS, email_fault, roles_beside, short_name
from kasuwa.console.events import number
from kasuwa.console.visit import NotFound, Visit
from kasuwa.db import console_users
from kasuwa.db.console_users import EmailTaken, User


async def show_team(visit: Visit, status: int = 200, **told: Any) -> Response:
    mid = visit.user.mid
    async with visit.parts.operators.acquire() as connection:
        people = await console_users.users_of(connection, mid)
    roles = [(role, f"{short_name(role)}: {MEANINGS[role]}") for role in roles_beside(mid)]
    return visit.show("team.html", status, **{"people": people, "roles": roles, "said": {}, **told})


async def invite(visit: Visit) -> Response:
    email, role = visit.said("email"), visit.said("role")
    faults = {"email": email_fault(email) or "", "role": "" if role in roles_beside(visit.user.mid) else "choose one"}
    if not any(faults.values()):
        try:
            async with visit.parts.operators.acquire() as connection:
                user_id = await console_users.add_user(connection, email, visit.user.mid, role)
                token = await console_users.make_link(connection, user_id, "invitation")
        except EmailTaken:
            faults["email"] = "somebody has this address already"
        else:
            await visit.record("invited", email, after=role)
            return show_invitation(visit, email, token)
    return await show_team(visit, 422, faults=faults, said={"email": email, "role": role})


def show_invitation(visit: Visit, email: str, token: str) -> Response:
    return visit.show("invitation.html", email=email, link=f"{visit.parts.console_url}/link/{token}")


async def member(visit: Visit) -> User:
    """Somebody of the visitor's own place, and not the visitor: nobody locks themselves out."""
    async with visit.parts.operators.acquire() as connection:
        found = await console_users.user_of(connection, number(visit.path("user_id"), 0), visit.user.mid)
    if found is None or found.user_id == visit.user.user_id:
        raise NotFound
    return found


async def change_role(visit: Visit) -> Response:
    found, role = await member(visit), visit.said("role")
    if role not in roles_beside(visit.user.mid):
        return await show_team(visit, 422, faults={f"role-{found.user_id}": "choose one"})
    async with visit.parts.operators.acquire() as connection:
        await console_users.set_role(connection, found.user_id, role)
    await visit.record("changed a role", found.email, found.role, role)
    return visit.go("/team", f"{found.email} is {short_name(role)} now, from the next sign-in on.")


async def invite_again(visit: Visit) -> Response:
    """A new link. Password and second factor begin anew: this is also how a lost telephone is replaced."""
    found = await member(visit)
    async with visit.parts.operators.acquire() as connection:
        token = await console_users.make_link(connection, found.user_id, "invitation")
    await visit.record("invited again", found.email)
    return show_invitation(visit, found.email, token)


async def disable(visit: Visit) -> Response:
    found = await member(visit)
    async with visit.parts.operators.acquire() as connection:
        await console_users.disable(connection, found.user_id)
    await visit.record("disabled", found.email, found.role)
    return visit.go("/team", f"{found.email} cannot sign in any more.")
