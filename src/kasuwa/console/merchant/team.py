"""The team page: users of the merchant, or operators, are invited by link, given a role and disabled.

The link is sent to the invited user. The inviting user never sees it. To invite or reset an operator or to change an
operator's role is only proposed here, and another administrator must approve it (operator/user_proposals.py). An
administrator alone can disable an operator.
"""

from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from kasuwa.authority.acts import can_give_role
from kasuwa.authority.cooling_off import read_cooling_off
from kasuwa.authority.roles import ROLE_DESCRIPTIONS, assignable_roles, short_name
from kasuwa.console.kit.access import email_fault
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.store import PAGE_ROWS
from kasuwa.console.operator.user_proposals import ENABLE, INVITE, RESET, ROLE, UserChange, begin_anew, propose_change
from kasuwa.people import users as console_users
from kasuwa.people.mails import LAST_NUMBER, list_mails
from kasuwa.people.users import INVITED, ConsoleUser, EmailTaken

MAX_CURSOR_LENGTH = 320
EMAIL_TAKEN = "a member of your team has this address already"


async def show_team(visit: Visit, status: int = 200, **values: Any) -> Response:
    mid, after = visit.user.mid, users_cursor(visit)
    text = visit.query.get("q", "").strip()[:MAX_CURSOR_LENGTH]
    async with visit.snapshot() as connection:
        users = await console_users.list_users(connection, mid, after, PAGE_ROWS + 1, text)
    roles = [(role, f"{short_name(role)}: {ROLE_DESCRIPTIONS[role]}") for role in assignable_roles(mid)]
    shared = {
        "members": users[:PAGE_ROWS],
        "roles": roles,
        "submitted": {},
        "needs_approval": mid is None,
        "text": text,
    }
    first_url = f"/team?{urlencode({'q': text})}" if text else "/team"
    shared |= {"next_url": next_users_url(first_url, users), "first_url": first_url if after else ""}
    return visit.render("team.html", status, **{**shared, **values})


def users_cursor(visit: Visit) -> str:
    """Returns the email address after which the page of a user list starts. Empty for the first page."""
    return visit.query.get("after", "")[:MAX_CURSOR_LENGTH]


def next_users_url(path: str, users: list[ConsoleUser]) -> str:
    """Returns the URL of the next page of a user list, or an empty text. `users` must hold one more than a page."""
    if len(users) <= PAGE_ROWS:
        return ""
    return f"{path}{'&' if '?' in path else '?'}{urlencode({'after': users[PAGE_ROWS - 1].email})}"


def can_assign(visit: Visit, role: str) -> bool:
    """Returns whether the user may give a role: one of their side, with no right that they do not have."""
    return role in assignable_roles(visit.user.mid) and can_give_role(visit.user.role, role)


async def invite(visit: Visit) -> Response:
    """Invites a user. The response does not reveal whether the address is in use at another merchant."""
    email, role, mid = visit.form_text("email"), visit.form_text("role"), visit.user.mid
    faults = {"email": email_fault(email) or "", "role": "" if can_assign(visit, role) else "choose a role"}
    if not any(faults.values()):
        try:
            if mid is None:
                return await propose_change(visit, UserChange(INVITE, email, role))
            return await invite_member(visit, email, role, mid)
        except EmailTaken:
            faults["email"] = EMAIL_TAKEN
    return await show_team(visit, 422, faults=faults, submitted={"email": email, "role": role})


async def invite_member(visit: Visit, email: str, role: str, mid: str) -> Response:
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        user_id = await console_users.add_user(connection, visit.services.vault, email, mid, role)
        token = await begin_anew(connection, visit.services.vault, user_id, [visit.maker])
        await visit.services.links.queue(connection, token)
        await visit.record_audit_on(connection, visit.audit_chain, "invited", email, after=role)
    return visit.redirect("/team", visit.services.links.announce(email, token))


async def show_mails(visit: Visit) -> Response:
    """Lists the mails to the people of the user's side, with what became of them. In test it is their outbox."""
    before = parse_int(visit.query.get("before", ""), LAST_NUMBER)
    async with visit.session_connection() as connection:
        mails = await list_mails(connection, visit.services.vault, visit.user.mid, before, PAGE_ROWS + 1)
    shown = mails[:PAGE_ROWS]
    next_url = f"/team/mails?before={shown[-1].number}" if len(mails) > PAGE_ROWS else ""
    first_url = "/team/mails" if "before" in visit.query else ""
    shared: dict[str, Any] = {
        "mails": shown,
        "next_url": next_url,
        "first_url": first_url,
        "is_live": visit.services.is_live,
    }
    return visit.render("team_mails.html", **shared)


async def find_member_in_path(visit: Visit) -> ConsoleUser:
    """Returns another user of the same merchant or of the operator. Raises NotFound, also for the signed-in user."""
    async with visit.operator_pool.acquire() as connection:
        member = await console_users.get_user(
            connection, visit.services.vault, parse_int(visit.path_parameter("user_id"), 0), visit.user.mid
        )
    if member is None or member.user_id == visit.user.user_id:
        raise NotFound
    return member


async def change_role(visit: Visit) -> Response:
    member, role = await find_member_in_path(visit), visit.form_text("role")
    if not can_assign(visit, role):
        return await show_team(visit, 422, faults={f"role-{member.user_id}": "choose a role"})
    if visit.user.mid is None:
        return await propose_change(visit, UserChange(ROLE, member.email, role, member.user_id, member.role))
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        await console_users.set_role(connection, visit.services.vault, member.user_id, role)
        cooling_off = await read_cooling_off(connection, visit.services.vault)
        await console_users.set_makers(connection, visit.services.vault, member.user_id, [visit.maker], cooling_off)
        await visit.record_audit_on(connection, visit.audit_chain, "changed a role", member.email, member.role, role)
    return visit.redirect("/team", f"{member.email} has the role {short_name(role)} from the next sign-in on.")


async def invite_again(visit: Visit) -> Response:
    """Sends a new link.

    A user who has joined is reset: they set password and second factor again, for example after losing a phone. A user
    who has not used their invitation only gets a new link. That needs no approval, because the earlier link may have
    been lost in the mail or in a crash.
    """
    member = await find_member_in_path(visit)
    is_invited = member.state == INVITED
    if visit.user.mid is None and not is_invited:
        change = ENABLE if member.disabled_at is not None else RESET
        return await propose_change(visit, UserChange(change, member.email, member.role, member.user_id))
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        if is_invited:
            token = await console_users.make_link(connection, visit.services.vault, member.user_id, "invitation")
        else:
            await console_users.reset_credentials(connection, visit.services.vault, member.user_id)
            token = await begin_anew(connection, visit.services.vault, member.user_id, [visit.maker])
        await visit.services.links.queue(connection, token)
        await visit.record_audit_on(connection, visit.audit_chain, "invited again", member.email)
    return visit.redirect("/team", visit.services.links.announce(member.email, token))


async def disable(visit: Visit) -> Response:
    member = await find_member_in_path(visit)
    consequence = f"{member.email} is signed out everywhere and can sign in again only with a new link."
    visit.ask_first(f"Disable {member.email}?", consequence, f"Disable {member.email}", "/team")
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        await console_users.disable(connection, visit.services.vault, member.user_id)
        await visit.record_audit_on(connection, visit.audit_chain, "disabled", member.email, member.role)
    return visit.redirect("/team", f"{member.email} can no longer sign in.")
