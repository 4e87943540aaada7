"""The request log of the test environment: a merchant's newest API requests."""

from starlette.responses import Response

from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.store import MAX_SEQUENCE
from kasuwa.sandbox.request_records import KEPT_PER_MERCHANT, list_newest

PAGE_ROWS = 100


async def show_requests(visit: Visit) -> Response:
    only_refused, before = visit.query.get("show") == "refused", parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    async with visit.snapshot() as reader:
        records = await list_newest(reader, visit.merchant.mid, only_refused, before, PAGE_ROWS + 1)
    shown, path = records[:PAGE_ROWS], "/requests?show=refused&" if only_refused else "/requests?"
    return visit.render(
        "requests.html",
        records=shown,
        only_refused=only_refused,
        kept=KEPT_PER_MERCHANT,
        next_url=f"{path}before={shown[-1].number}" if len(records) > PAGE_ROWS else "",
        first_url=path.rstrip("?&") if before != MAX_SEQUENCE else "",
    )
