"""The worlds of a merchant in the test environment: stored, compared, put back, copied and deleted."""

from typing import Any

from starlette.responses import Response

from kasuwa.console.kit.visit import NotFound, Visit

RESTORE_CONSEQUENCE = (
    "All transactions, balances, keys and settings of this merchant become what they were when the world was stored. "
    "What was done since is archived, and cannot be used any more."
)
# The actions of the forms of this page, by the last part of their path.
ACTIONS = ("restore", "fork")


async def show_worlds(visit: Visit, status: int = 200, **values: Any) -> Response:
    if visit.query.get("first") and visit.query.get("other") and not visit.is_form:
        return await show_comparison(visit, visit.query["first"], visit.query["other"])
    worlds = await visit.call_action("sandbox", action="worlds")
    shared: dict[str, Any] = {"worlds": worlds.body["data"], "fork": None, "faults": {}}
    return visit.render("worlds.html", status, **{**shared, **values})


async def show_comparison(visit: Visit, first: str, other: str) -> Response:
    compared = await visit.call_action("sandbox", action="compare_worlds", name=first, other=other)
    faults = {} if compared.is_success else compared.faults
    lines = compared.body.get("data")
    return visit.render("world_comparison.html", 200, first=first, other=other, differences=lines, faults=faults)


async def replace_books(visit: Visit) -> Response:
    """Restores a world, or makes a copy of it."""
    action, name = visit.path_parameter("action"), visit.form_text("name")
    if action not in ACTIONS or not visit.services.has_action("sandbox", action):
        raise NotFound
    if action == "restore":
        visit.ask_first(f"Restore {name}?", RESTORE_CONSEQUENCE, "Restore", "/sandbox/worlds")
    reply = await visit.run_action("sandbox", {"action": action, "name": name}, f"used the sandbox: {action} {name}")
    if not reply.is_success:
        return await show_worlds(visit, 422, faults=reply.faults)
    if action == "restore":
        return visit.redirect("/sandbox/worlds", f"The merchant is as it was in {name}.")
    return await show_worlds(visit, fork=reply.body)
