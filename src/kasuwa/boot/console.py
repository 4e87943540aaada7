"""Builds the services of the console process from those of boot/composition.py."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from kasuwa.api.dispatch import Dispatch
from kasuwa.api.forwarding import RequestForwarder
from kasuwa.api.idempotency_key import HEADER as IDEMPOTENCY_KEY
from kasuwa.api.openapi.documents import BuiltOnce, build_reference
from kasuwa.api.routes import Route, find_action, make_routes
from kasuwa.authority.audit_notes import ActionNote
from kasuwa.boot.composition import Services, make_closer
from kasuwa.console.kit.cookies import CookieSettings
from kasuwa.console.kit.formatting import make_templates
from kasuwa.console.kit.links import LinkSender
from kasuwa.console.kit.visit import ConsoleServices, RunAction
from kasuwa.console.merchant.actions import CONSOLE
from kasuwa.core.action import Action
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.engine.reading import SnapshotReaderFactory
from kasuwa.engine.snapshot_writer import SnapshotWriter
from kasuwa.jobs.steps import list_rail_kinds
from kasuwa.methods.coded_tables import CODED_TABLES
from kasuwa.outbound.url_policy import url_fault
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.projections.timeline import transaction_timeline
from kasuwa.settings.available_rails import check_merchant_rails, list_purposes
from kasuwa.settings.settings import (
    choose_invitations,
    console_address,
    get_public_url,
    loopback_allowed,
    parse_trusted_proxies,
)


def make_action_runner(
    services: Services, dispatch: Dispatch, table: Mapping[str, Route], forwarder: RequestForwarder | None
) -> RunAction:
    """Returns what runs the actions of the console's pages."""
    owned_methods = {method.name for method in services.methods}  # the API processes have no others

    async def act(
        merchant: Merchant,
        method: str,
        fields: Mapping[str, Any],
        *,
        note: ActionNote | None = None,
        within: Connection | None = None,
        idempotency_key: str = "",
    ) -> dict[str, Any]:
        target: Dispatch | RequestForwarder = dispatch
        if forwarder is not None and within is None and method in owned_methods:
            target = forwarder
        elif within is not None:
            # A suspended merchant still sees its records: nothing can be written in a snapshot.
            merchant = msgspec.structs.replace(merchant, suspended=False)
            replies = SnapshotReaderFactory(within, services.vault, services.deployment.public_url)
            target = dispatch.with_reader(replies, SnapshotWriter(within, services.deployment, services.clock))
        headers = {IDEMPOTENCY_KEY: idempotency_key} if idempotency_key else {}
        body = msgspec.json.encode(fields)
        answered = await target.handle_on_behalf(table[f"/{method}"], merchant, headers, body, note)
        reply = msgspec.json.decode(answered.body)
        return reply if isinstance(reply, dict) else {"status": answered.status, "data": reply}

    return act


def make_console_services(
    services: Services,
    dispatch: Dispatch,
    operators: Pool,
    readers: Pool,
    forwarder: RequestForwarder | None = None,
) -> ConsoleServices:
    """Returns the console's services. `services` are those of the process. `forwarder` sends writes to the merchants'
    owners, if there are several API processes."""
    settings, table = services.settings, make_routes((*services.methods, CONSOLE))
    loopback = loopback_allowed(settings)

    async def read(merchant: Merchant, method: str, fields: Mapping[str, Any]) -> tuple[Action, Any] | None:
        path = table.get(f"/{method}")
        if path is None:
            return None
        # In a thread, because a bulk of a thousand orders takes a while.
        parsed = await asyncio.to_thread(dispatch.parse_request, path, msgspec.json.encode(fields), merchant)
        return None if isinstance(parsed, Refusal) else parsed

    def find(method: str, fields: Mapping[str, Any]) -> Action | None:
        path = table.get(f"/{method}")
        return None if path is None else find_action(path, fields)

    return ConsoleServices(
        environment=settings.environment,
        console_url=console_address(settings),
        api_url=get_public_url(settings),
        proxies=parse_trusted_proxies(settings),
        merchant_directory=services.merchant_directory,
        read_pool=readers,
        operator_pool=operators,
        writer=services.writer,
        vault=services.vault,
        coded_tables=CODED_TABLES,
        methods=services.methods,
        rail_purposes=list_purposes(settings),
        find_rail_faults=partial(check_merchant_rails, settings),
        rail_job_kinds=list_rail_kinds(step for method in services.methods for step in method.steps),
        read_openapi=BuiltOnce(partial(build_reference, services.methods, settings.environment)).read,
        run_action=make_action_runner(services, dispatch, table, forwarder),
        find_action=find,
        read_request=read,
        close_books=make_closer(settings, services.dsn, services.clock).close_now,
        send_test_event=partial(services.webhook_sender.send_test_event, operators),
        url_fault=partial(url_fault, environment=settings.environment, loopback_allowed=loopback),
        read_timeline=partial(transaction_timeline, unseal=services.vault.unseal),
        templates=make_templates(),
        cookies=CookieSettings(console_address(settings).startswith("https://"), settings.environment == "live"),
        links=LinkSender(choose_invitations(settings), services.vault, console_address(settings)),
        large_amount_minor=settings.large_amount,
    )
