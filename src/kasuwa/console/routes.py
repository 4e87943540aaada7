"""The table of routes: each page with the roles that may open it. The door (server.py) reads nothing else."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec
from starlette.responses import Response

from kasuwa.console import (
    account,
    bills_page,
    events,
    operator_approvals,
    operator_books,
    operator_laws,
    operator_merchants,
    operator_rates,
    operator_work,
    overview,
    records,
    reference,
    sandbox_page,
    settings_pages,
    signing_in,
    team,
    transactions,
    transfers,
)
from kasuwa.console.access import (
    ANYBODY,
    EVERY_MERCHANT,
    EVERY_OPERATOR,
    HALF_SIGNED_IN,
    HELPS,
    INTEGRATES,
    KEEPS_BOOKS,
    MANAGES_PEOPLE,
    MOVES_MONEY,
    RUNS,
    SIGNED_IN,
    Roles,
)
from kasuwa.console.record_table import TABLE, Records
from kasuwa.console.records import bound
from kasuwa.console.visit import Parts, Visit


class Page(msgspec.Struct, frozen=True):
    """`label` puts it into the navigation; `needs` is an action (method, name) without which it is not there,
    `test_only` pages are not there in live, and one that `confirms` asks who it is where that was not shown for a
    while."""

    verb: str
    path: str
    answer: Callable[[Visit], Awaitable[Response]]
    roles: Roles
    label: str = ""
    needs: tuple[str, str] | None = None
    test_only: bool = False
    confirms: bool = False


# Who it is.
DOORS: tuple[Page, ...] = (
    Page("GET", "/sign-in", signing_in.show_sign_in, ANYBODY),
    Page("POST", "/sign-in", signing_in.sign_in, ANYBODY),
    Page("GET", "/sign-in/code", signing_in.show_code, HALF_SIGNED_IN),
    Page("POST", "/sign-in/code", signing_in.check_code, HALF_SIGNED_IN),
    Page("GET", "/link/{token}", signing_in.show_link, ANYBODY),
    Page("POST", "/link/{token}", signing_in.use_link, ANYBODY),
    Page("POST", "/sign-out", signing_in.sign_out, SIGNED_IN),
    Page("GET", "/account", account.show_account, SIGNED_IN),
    Page("POST", "/account/password", account.change_password, SIGNED_IN),
    Page("GET", "/account/second-factor", account.show_second_factor, SIGNED_IN),
    Page("POST", "/account/second-factor", account.set_second_factor, SIGNED_IN),
)

# A merchant's money.
MONEY: tuple[Page, ...] = (
    Page("GET", "/", overview.show_overview, EVERY_MERCHANT, "Overview"),
    Page("GET", "/transactions", transactions.show_transactions, EVERY_MERCHANT, "Transactions"),
    Page("GET", "/transactions.csv", transactions.export_transactions, EVERY_MERCHANT),
    Page("GET", "/transactions/{ref}", transactions.show_transaction, EVERY_MERCHANT),
    Page("POST", "/transactions/{ref}/{offer}", transactions.take_offer, MOVES_MONEY),
    Page("GET", "/transfers", transfers.show_transfers, MOVES_MONEY, "Transfers"),
    Page("POST", "/transfers/preview", transfers.preview_transfer, MOVES_MONEY),
    Page("POST", "/transfers/send", transfers.send_transfer, MOVES_MONEY),
    Page("POST", "/transfers/bulk/preview", transfers.preview_bulk, MOVES_MONEY),
    Page("POST", "/transfers/bulk/send", transfers.send_bulk, MOVES_MONEY),
)

# A merchant's wire: what it is told, how it is called, its scripted world.
WIRE: tuple[Page, ...] = (
    Page("GET", "/events", events.show_events, EVERY_MERCHANT, "Events"),
    Page("GET", "/events/{seq}", events.show_event, EVERY_MERCHANT),
    Page("POST", "/events/{seq}/resend", events.resend_event, INTEGRATES),
    Page("GET", "/settings", settings_pages.show_settings, EVERY_MERCHANT, "Settings"),
    Page("GET", "/settings/trail", settings_pages.show_trail, EVERY_MERCHANT),
    Page("POST", "/settings/key", settings_pages.roll_key, INTEGRATES, confirms=True),
    Page("POST", "/settings/webhook", settings_pages.set_webhook, INTEGRATES, confirms=True),
    Page("POST", "/settings/webhook/test", settings_pages.test_webhook, INTEGRATES),
    Page("POST", "/settings/wire", settings_pages.set_wire, INTEGRATES),
    Page("GET", "/sandbox", sandbox_page.show_sandbox, INTEGRATES, "Sandbox", test_only=True),
    Page("POST", "/sandbox/{action}", sandbox_page.press_button, INTEGRATES, test_only=True),
)

OPERATORS: tuple[Page, ...] = (
    Page("GET", "/operator/merchants", operator_merchants.show_merchants, EVERY_OPERATOR, "Merchants"),
    Page("POST", "/operator/merchants", operator_merchants.add_merchant, RUNS, confirms=True),
    Page("GET", "/operator/merchants/{mid}", operator_merchants.show_merchant, EVERY_OPERATOR),
    Page("POST", "/operator/merchants/{mid}/suspend", operator_merchants.suspend, HELPS),
    Page("POST", "/operator/merchants/{mid}/limits", operator_merchants.set_limits, KEEPS_BOOKS, confirms=True),
    Page("POST", "/operator/merchants/{mid}/invite", operator_merchants.invite_owner, RUNS, confirms=True),
    Page("GET", "/operator/merchants/{mid}/books", operator_books.show_books, EVERY_OPERATOR),
    Page("GET", "/operator/merchants/{mid}/accounts/{name}", operator_books.show_statement, EVERY_OPERATOR),
    Page("GET", "/operator/merchants/{mid}/postings/{seq}", operator_books.show_posting, EVERY_OPERATOR),
    Page("GET", "/operator/approvals", operator_approvals.show_approvals, EVERY_OPERATOR, "Approvals"),
    Page("POST", "/operator/approvals/{kind}", operator_approvals.propose, KEEPS_BOOKS, confirms=True),
    Page("POST", "/operator/approvals/{approval_id}/{verdict}", operator_approvals.decide, KEEPS_BOOKS, confirms=True),
    Page("GET", "/operator/rates", operator_rates.show_rates, EVERY_OPERATOR, "Exchange rates"),
    Page("GET", "/operator/laws", operator_laws.show_laws, EVERY_OPERATOR, "Laws of the books"),
    Page("POST", "/operator/laws", operator_laws.run_laws, KEEPS_BOOKS),
    Page("GET", "/operator/work", operator_work.show_work, EVERY_OPERATOR, "Jobs and rails"),
    Page("POST", "/operator/work/{key}", operator_work.ask_again, HELPS),
    Page("GET", "/operator/notices", operator_work.show_notices, EVERY_OPERATOR, "Notices"),
    Page("GET", "/operator/trail", operator_work.show_trail, EVERY_OPERATOR, "Audit trail"),
)

# People of both sides, and the documents.
BOTH: tuple[Page, ...] = (
    Page("GET", "/team", team.show_team, MANAGES_PEOPLE, "Team"),
    Page("POST", "/team", team.invite, MANAGES_PEOPLE, confirms=True),
    Page("POST", "/team/{user_id}/role", team.change_role, MANAGES_PEOPLE, confirms=True),
    Page("POST", "/team/{user_id}/invite", team.invite_again, MANAGES_PEOPLE, confirms=True),
    Page("POST", "/team/{user_id}/disable", team.disable, MANAGES_PEOPLE, confirms=True),
    Page("GET", "/docs", reference.show_reference, SIGNED_IN, "API reference"),
    Page("GET", "/docs/{method}/{action}", reference.show_action, SIGNED_IN),
    Page("POST", "/docs/{method}/{action}", reference.try_action, EVERY_MERCHANT),
)


# Records whose list is more than a list.
OWN_PAGES = {"bills": (bills_page.show_bills, bills_page.pay_bill)}


def record_pages(kind: Records) -> tuple[Page, ...]:
    """The pages of one row of the table of records."""
    path, needs = f"/{kind.name}", kind.proof
    show, make = OWN_PAGES.get(kind.name, (bound(records.show_list, kind), bound(records.make, kind)))
    return (
        Page("GET", path, show, EVERY_MERCHANT, kind.label, needs),
        Page("GET", f"{path}/find", bound(records.look_up, kind), EVERY_MERCHANT, needs=needs),
        Page("POST", f"{path}/new/{{form}}", make, MOVES_MONEY, needs=needs),
        Page("GET", f"{path}/{{reference}}", bound(records.show_one, kind), EVERY_MERCHANT, needs=needs),
        Page("POST", f"{path}/{{reference}}/{{form}}", bound(records.change, kind), MOVES_MONEY, needs=needs),
    )


RECORD_PAGES = tuple(page for kind in TABLE for page in record_pages(kind))
PAGES = (*DOORS, *MONEY, *RECORD_PAGES, *WIRE, *OPERATORS, *BOTH)


def pages_of(parts: Parts) -> tuple[Page, ...]:
    """The pages of this deployment: those whose slices are there, and of the scripted world only in test."""
    return tuple(
        page
        for page in PAGES
        if not (page.test_only and parts.is_live) and (page.needs is None or parts.has_action(*page.needs))
    )


def navigation(visit: Visit, pages: Sequence[Page]) -> list[tuple[str, str]]:
    """Paths and labels of the pages that this visitor may open."""
    session = visit.session
    if session is None or not session.is_whole:
        return []
    role = session.user.role
    return [
        (page.path, page.label)
        for page in pages
        if page.label and isinstance(page.roles, frozenset) and role in page.roles
    ]
