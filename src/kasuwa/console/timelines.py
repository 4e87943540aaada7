"""Pages of a long timeline, which the pages of a transaction, a posting and a record show."""

from typing import Any

from kasuwa.console.events import parse_int
from kasuwa.console.visit import Visit

# Steps of a page: deliveries that fail for days have a thousand.
MAX_STEPS = 60


def page_timeline(visit: Visit, timeline: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns what templates need of a timeline: the newest steps before those that the query skips.

    `earlier_steps` is the number of steps before these, `earlier_url` their address.
    """
    end = max(0, len(timeline) - parse_int(visit.query.get("skip", ""), 0))
    start = max(0, end - MAX_STEPS)
    return {
        "timeline": timeline[start:end],
        "earlier_steps": start,
        "earlier_url": f"?skip={len(timeline) - start}",
    }
