"""The worlds of a merchant in the test environment: stored, compared, put back, copied, deleted, and as files."""

from base64 import b64decode, b64encode
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
    running = worlds.body.get("running", [])
    shared: dict[str, Any] = {"worlds": worlds.body["data"], "running": running, "fork": None, "faults": {}}
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


async def download_world(visit: Visit) -> Response:
    """Sends the file of a world."""
    name, passphrase = visit.form_text("name"), visit.form_text("passphrase")
    body = {"action": "export_world", "name": name, "passphrase": passphrase}
    reply = await visit.run_action("sandbox", body, f"wrote the world {name} to a file")
    if not reply.is_success:
        return await show_worlds(visit, 422, faults=reply.faults)
    headers = {"content-disposition": f'attachment; filename="{make_file_name(name)}"'}
    return Response(b64decode(reply.body["file"]), media_type="application/octet-stream", headers=headers)


async def upload_world(visit: Visit) -> Response:
    """Stores the world of an uploaded file."""
    name, content = visit.form_text("name"), await visit.upload("file")
    body = {
        "action": "import_world",
        "name": name,
        "passphrase": visit.form_text("passphrase"),
        "file": b64encode(content or b"").decode(),
    }
    reply = await visit.run_action("sandbox", body, f"took in the world {name} from a file")
    if not reply.is_success:
        return await show_worlds(visit, 422, faults=reply.faults)
    return visit.redirect("/sandbox/worlds", f"The world {name} is stored. The merchant is as it was.")


def make_file_name(name: str) -> str:
    """Returns the name of a world's file, with nothing that a file system or a header takes amiss."""
    letters = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    return f"{letters.strip('-') or 'world'}.kasuwa-world"
