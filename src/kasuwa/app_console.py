"""What the console process is made of: the parts of app.py, as the console's pages use them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from kasuwa.console.actions import CONSOLE
from kasuwa.console.cookies import Cookies
from kasuwa.console.visit import Note, Parts
from kasuwa.console.words import make_templates
from kasuwa.core.action import Action
from kasuwa.core.decision import Merchant
from kasuwa.db.gather import SnapshotReplies
from kasuwa.db.pool import Connection, Pool
from kasuwa.db.snapshot_writer import SnapshotWriter
from kasuwa.settings import (
    console_address,
    cooling_off_of,
    invitations_of,
    large_amount_of,
    loopback_allowed,
    public_url_of,
    trusted_proxies_of,
)
from kasuwa.web.dispatch import Dispatch
from kasuwa.web.openapi import describe
from kasuwa.web.table import find_action, make_table
from kasuwa.work.mail import Links
from kasuwa.work.steps import rail_kinds_of
from kasuwa.work.targets import url_fault
from kasuwa.work.timeline import timeline


def console_parts(house: Any, dispatch: Dispatch, operators: Pool, readers: Pool) -> Parts:
    """`house` is app.House."""
    settings, table = house.settings, make_table((*house.methods, CONSOLE))
    loopback = loopback_allowed(settings)

    async def act(
        merchant: Merchant, method: str, fields: Mapping[str, Any], note: Note | None, within: Connection | None
    ) -> dict[str, Any]:
        asked = dispatch
        if within is not None:
            replies = SnapshotReplies(within, house.vault, house.world.public_url)
            asked = dispatch.reading(replies, SnapshotWriter(within, house.world, house.clock))
        answered = await asked.answer_as(table[f"/{method}"], merchant, msgspec.json.encode(fields), note)
        reply = msgspec.json.decode(answered.body)
        return reply if isinstance(reply, dict) else {"status": answered.status, "data": reply}

    def find(method: str, fields: Mapping[str, Any]) -> Action | None:
        path = table.get(f"/{method}")
        return None if path is None else find_action(path, fields)

    async def ping(merchant_id: int, url: str) -> str:
        return str(await house.courier.ping(operators, merchant_id, url))

    return Parts(
        environment=settings.environment,
        console_url=console_address(settings),
        api_url=public_url_of(settings),
        proxies=trusted_proxies_of(settings),
        directory=house.directory,
        reader=readers,
        operators=operators,
        writer=house.writer,
        vault=house.vault,
        methods=house.methods,
        rail_kinds=rail_kinds_of(step for method in house.methods for step in method.steps),
        openapi=describe(house.methods, settings.environment),
        act=act,
        find_action=find,
        ping=ping,
        url_fault=partial(url_fault, environment=settings.environment, loopback_allowed=loopback),
        tell_story=timeline,
        templates=make_templates(),
        cookies=Cookies(console_address(settings).startswith("https://"), settings.environment == "live"),
        deliver=Links(invitations_of(settings)).deliver,
        cooling_off=cooling_off_of(settings),
        large_amount=large_amount_of(settings),
    )
