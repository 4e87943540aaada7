"""The operator's notices: what somebody must look into, who does, and what was found."""

from typing import Any, get_args
from urllib.parse import urlencode

from starlette.responses import Response

from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.store import MAX_SEQUENCE, PAGE_ROWS
from kasuwa.people import users as console_users
from kasuwa.rails.watch import notices
from kasuwa.rails.watch.notices import Notice, NoticeState

PATH = "/operator/notices"
MAX_COMMENT_LENGTH = 500
MAX_OPERATORS = 200
ALREADY_CLOSED = "Somebody has closed this notice meanwhile."
NOT_CLOSED = "This notice is open already."


async def show_notices(visit: Visit) -> Response:
    """Lists the notices of a state, the open ones unless the query names another."""
    state: NoticeState = next((one for one in get_args(NoticeState) if one == visit.query.get("state")), "open")
    is_mine = visit.query.get("mine") == "yes"
    before = parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    async with visit.snapshot() as reader:
        rows = await notices.list_notices(reader, before, state, visit.user.email if is_mine else "", PAGE_ROWS + 1)
    shown = rows[:PAGE_ROWS]
    chosen = {"state": state, **({"mine": "yes"} if is_mine else {})}
    return visit.render(
        "operator_notices.html",
        notices=shown,
        state=state,
        is_mine=is_mine,
        next_url=f"{PATH}?{urlencode({**chosen, 'before': shown[-1].notice_id})}" if len(rows) > PAGE_ROWS else "",
        first_url=f"{PATH}?{urlencode(chosen)}" if before != MAX_SEQUENCE else "",
    )


def read_place(visit: Visit) -> tuple[int, int]:
    """Returns merchant and number of the notice of the path. Raises NotFound if they are no numbers."""
    places = [parse_int(visit.path_parameter(name), -1) for name in ("merchant_id", "notice_id")]
    if any(not 0 <= place < MAX_SEQUENCE for place in places):
        raise NotFound
    return places[0], places[1]


async def show_notice(visit: Visit, status: int = 200, **values: Any) -> Response:
    place = read_place(visit)
    async with visit.snapshot() as reader:
        notice = await notices.find_notice(reader, *place)
        operators = await console_users.list_users(reader, None, "", MAX_OPERATORS)
    if notice is None:
        raise NotFound
    shared: dict[str, Any] = {
        "notice": notice,
        "path": notice_path(notice),
        "operators": [("", "nobody"), *((one.email, one.email) for one in operators if one.disabled_at is None)],
    }
    return visit.render("operator_notice.html", status, **{**shared, **values})


def notice_path(notice: Notice) -> str:
    return f"{PATH}/{notice.merchant_id}/{notice.notice_id}"


async def handle_notice(visit: Visit) -> Response:
    """Gives a notice to somebody, closes it with a comment, or opens it again, with an entry in the audit trail."""
    merchant_id, notice_id = read_place(visit)
    step, comment = visit.form_text("step"), visit.form_text("comment")
    if step == "close" and not 1 <= len(comment) <= MAX_COMMENT_LENGTH:
        faults = {"comment": f"say in 1 to {MAX_COMMENT_LENGTH} characters what was found"}
        return await show_notice(visit, 422, faults=faults)
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        if step == "close":
            done, text = "closed a notice", comment
            is_done = await notices.close_notice(connection, merchant_id, notice_id, visit.user.email, comment)
        elif step == "reopen":
            done, text = "opened a notice again", ""
            is_done = await notices.reopen_notice(connection, merchant_id, notice_id)
        else:
            operators = await console_users.list_users(connection, None, "", MAX_OPERATORS)
            email = visit.user.email if step == "take" else visit.form_text("assigned_to")
            if email not in {one.email for one in operators if one.disabled_at is None}:
                email = ""
            done, text = "assigned a notice", email or "nobody"
            is_done = await notices.assign_notice(connection, merchant_id, notice_id, email)
        if is_done:
            subject = f"notice {notice_id}"
            await visit.record_audit_on(connection, visit.audit_chain, done, subject, after=text)
    if not is_done:
        return await show_notice(visit, 422, faults={"": NOT_CLOSED if step == "reopen" else ALREADY_CLOSED})
    is_from_list = step == "take" and visit.form_text("from") == "list"
    return visit.redirect(PATH if is_from_list else f"{PATH}/{merchant_id}/{notice_id}", f"You {done}.")
