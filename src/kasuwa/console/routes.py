"""The table of routes: every page of the console with its handler and the roles that may open it.

server.py decides access by this table alone. The roles of forms that do something are in authority/acts.py.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.authority import acts as authority
from kasuwa.authority.acts import RECORD_FORMS
from kasuwa.authority.roles import (
    ALL_MERCHANT_ROLES,
    ALL_OPERATOR_ROLES,
    ALL_ROLES,
    CAN_INTEGRATE,
    CAN_KEEP_BOOKS,
    CAN_MANAGE_USERS,
    CAN_MOVE_MONEY,
    CAN_SUPPORT,
)
from kasuwa.console.account import own_account, signing_in
from kasuwa.console.histories import movements
from kasuwa.console.insights import pages as insights
from kasuwa.console.kit import exports, lists
from kasuwa.console.kit.access import NO_SESSION, PASSWORD_ONLY, AccessRule
from kasuwa.console.kit.navigation import NavigationGroup, group_pages
from kasuwa.console.kit.visit import ConsoleServices, Visit
from kasuwa.console.merchant import (
    batch_pages,
    bills,
    endpoints,
    events,
    keys,
    overview,
    request_log,
    sandbox,
    search,
    settings,
    team,
    transaction_page,
    transactions,
    transfers,
    waiting_pages,
    worlds,
)
from kasuwa.console.money import meetings, payouts, portfolio, settled_payments, wallet
from kasuwa.console.operator import (
    approvals,
    books,
    closes,
    decisions,
    home,
    invariants,
    jobs,
    merchants,
    notices,
    rail_calls,
    rails,
    rates,
    reconciliation,
    taxes,
)
from kasuwa.console.operator import search as operator_search
from kasuwa.console.records import record_pages as records
from kasuwa.console.records.kind import RecordKind
from kasuwa.console.records.record_pages import bind_kind
from kasuwa.console.records.table import RECORD_KINDS
from kasuwa.console.reference import api_reference
from kasuwa.methods.disputes.model import MAX_FILES


class ConsolePage(msgspec.Struct, frozen=True):
    """One route."""

    http_method: str
    path: str
    view: Callable[[Visit], Awaitable[Response]]
    access: AccessRule
    nav_label: str = ""  # label in the navigation; empty for pages that are not listed there
    required_action: tuple[str, str] | None = None  # (method, action) without which the page does not exist
    is_test_only: bool = False  # the page does not exist in live
    max_files: int = 1  # of a form, each of at most 2 MiB
    needs_step_up: bool = False  # asks for password or code if the user has not given one for a while


def act_page(
    path: str, view: Callable[[Visit], Awaitable[Response]], acts_path: str = "", **options: Any
) -> ConsolePage:
    """Returns the route of a form that does an act. Who may, and whether it asks for step-up authentication, is in the
    table of authority, under the path or `acts_path`."""
    acts = authority.acts_of_page(acts_path or path)
    roles = frozenset[str]().union(*(act.roles for act in acts))
    asks = any(act.asks_second_factor for act in acts)
    return ConsolePage("POST", path, view, roles, needs_step_up=asks, **options)


# Signing in and the user's own account.
ACCOUNT_PAGES: tuple[ConsolePage, ...] = (
    ConsolePage("GET", "/sign-in", signing_in.show_sign_in, NO_SESSION),
    ConsolePage("POST", "/sign-in", signing_in.sign_in, NO_SESSION),
    ConsolePage("GET", "/sign-in/code", signing_in.show_code, PASSWORD_ONLY),
    ConsolePage("POST", "/sign-in/code", signing_in.check_code, PASSWORD_ONLY),
    ConsolePage("GET", "/link/{token}", signing_in.show_link, NO_SESSION),
    ConsolePage("POST", "/link/{token}", signing_in.use_link, NO_SESSION),
    ConsolePage("POST", "/sign-out", signing_in.sign_out, ALL_ROLES),
    ConsolePage("GET", "/account", own_account.show_account, ALL_ROLES),
    ConsolePage("POST", "/account/mails", own_account.choose_mails, ALL_ROLES),
    ConsolePage("POST", "/account/password", own_account.change_password, ALL_ROLES),
    ConsolePage("GET", "/account/second-factor", own_account.show_second_factor, ALL_ROLES),
    ConsolePage("POST", "/account/second-factor", own_account.set_second_factor, ALL_ROLES),
)

BATCH = "/transfers/batches/{batch_ref}"
PORTFOLIO_ACTION = ("loans", "portfolio")
# Transactions and transfers of a merchant.
MONEY_PAGES: tuple[ConsolePage, ...] = (
    ConsolePage("GET", "/", overview.show_overview, ALL_MERCHANT_ROLES, "Overview"),
    ConsolePage("GET", "/overview.csv", overview.export_figures, ALL_MERCHANT_ROLES),
    ConsolePage("GET", "/wallet", wallet.show_statement, ALL_MERCHANT_ROLES, "Wallet"),
    ConsolePage("GET", "/wallet.csv", wallet.open_file, ALL_MERCHANT_ROLES),
    ConsolePage("GET", "/wallet.pdf", wallet.open_file, ALL_MERCHANT_ROLES),
    ConsolePage("GET", "/insights", insights.show_insights, ALL_MERCHANT_ROLES, "What succeeds"),
    ConsolePage("GET", "/insights.csv", insights.export_insights, ALL_MERCHANT_ROLES),
    ConsolePage("GET", "/portfolio", portfolio.show_portfolio, ALL_MERCHANT_ROLES, "Loan portfolio", PORTFOLIO_ACTION),
    ConsolePage(
        "GET", "/portfolio.csv", portfolio.export_portfolio, ALL_MERCHANT_ROLES, required_action=PORTFOLIO_ACTION
    ),
    ConsolePage("GET", "/transactions", transactions.show_transactions, ALL_MERCHANT_ROLES, "Transactions"),
    ConsolePage("GET", "/search", search.search_everything, ALL_MERCHANT_ROLES),
    ConsolePage("GET", "/transactions.csv", transactions.export_transactions, ALL_MERCHANT_ROLES),
    ConsolePage("GET", "/transactions/{ref}", transaction_page.show_transaction, ALL_MERCHANT_ROLES),
    act_page("/transactions/{ref}/{transaction_form}", transaction_page.submit_form),
    ConsolePage("GET", "/transfers", transfers.show_transfers, CAN_MOVE_MONEY, "Transfers"),
    ConsolePage("POST", "/transfers/preview", transfers.preview_transfer, CAN_MOVE_MONEY),
    act_page("/transfers/send", transfers.send_transfer),
    ConsolePage("POST", "/transfers/bulk/preview", transfers.preview_bulk, CAN_MOVE_MONEY),
    act_page("/transfers/bulk/send", transfers.send_bulk),
    ConsolePage("GET", "/transfers/waiting.csv", waiting_pages.export_waiting, ALL_MERCHANT_ROLES),
    ConsolePage("GET", "/transfers/waiting", waiting_pages.show_waiting, ALL_MERCHANT_ROLES, "Waiting transfers"),
    act_page("/transfers/waiting/{ref}/{verdict}", waiting_pages.decide_transfer),
    ConsolePage("GET", BATCH, batch_pages.show_batch, ALL_MERCHANT_ROLES),
    ConsolePage("GET", f"{BATCH}/orders.csv", batch_pages.export_batch, ALL_MERCHANT_ROLES),
    ConsolePage("POST", f"{BATCH}/names", batch_pages.look_up_names, CAN_MOVE_MONEY),
    act_page(f"{BATCH}/retry", batch_pages.retry_failed),
    act_page(f"{BATCH}/{{verdict}}", batch_pages.decide_batch),
)

# The sheet of a group's meeting, and what it has collected.
SHEET = "/groups/{reference}/sheet"
SHEET_ACTION = ("loans", "collection_sheet")
MEETING_PAGES: tuple[ConsolePage, ...] = (
    ConsolePage("GET", SHEET, meetings.show_sheet, ALL_MERCHANT_ROLES, required_action=SHEET_ACTION),
    ConsolePage("GET", f"{SHEET}.csv", meetings.export_sheet, ALL_MERCHANT_ROLES, required_action=SHEET_ACTION),
    act_page("/groups/{reference}/meeting", meetings.record_meeting, required_action=("loans", "collect")),
)

# Webhook endpoints of a merchant.
ONE_ENDPOINT = "/settings/endpoints/{endpoint_id}"
ENDPOINT_PAGES: tuple[ConsolePage, ...] = (
    ConsolePage("GET", "/settings/endpoints", endpoints.show_endpoints, ALL_MERCHANT_ROLES),
    act_page("/settings/endpoints", endpoints.add_endpoint),
    act_page(f"{ONE_ENDPOINT}/save", endpoints.change_endpoint),
    act_page(f"{ONE_ENDPOINT}/remove", endpoints.remove_endpoint),
    act_page(f"{ONE_ENDPOINT}/secret", endpoints.roll_secret),
    act_page(f"{ONE_ENDPOINT}/test", endpoints.send_test_event),
    act_page(f"{ONE_ENDPOINT}/resend", endpoints.resend_failed),
)

# Events, settings and sandbox of a merchant.
INTEGRATION_PAGES: tuple[ConsolePage, ...] = (
    ConsolePage("GET", "/events", events.show_events, ALL_MERCHANT_ROLES, "Events"),
    ConsolePage("GET", "/events/verify", events.show_verification, ALL_MERCHANT_ROLES),
    act_page("/events/resend", events.resend_failed_events),
    ConsolePage("GET", "/events/{seq}", events.show_event, ALL_MERCHANT_ROLES),
    act_page("/events/{seq}/resend", events.resend_event),
    act_page("/events/settlements", events.set_settlement_events),
    ConsolePage("GET", "/settings", settings.show_settings, ALL_MERCHANT_ROLES, "Settings"),
    ConsolePage("GET", "/settings/trail.csv", exports.export_audit_trail, ALL_MERCHANT_ROLES),
    ConsolePage("GET", "/settings/trail", settings.show_audit_trail, ALL_MERCHANT_ROLES),
    act_page("/settings/key", settings.roll_key),
    ConsolePage("GET", "/settings/keys", keys.show_keys, ALL_MERCHANT_ROLES),
    act_page("/settings/keys", keys.create_key),
    act_page("/settings/keys/{key_id}/roll", keys.roll_key),
    act_page("/settings/keys/{key_id}/revoke", keys.revoke_key),
    act_page("/settings/secret", keys.roll_secret),
    ConsolePage("GET", "/settings/payouts", payouts.show_policy, ALL_MERCHANT_ROLES),
    act_page("/settings/payouts", payouts.set_policy),
    act_page("/settings/webhook", settings.set_webhook),
    act_page("/settings/webhook/test", settings.send_test_event),
    *ENDPOINT_PAGES,
    act_page("/settings/logo", settings.set_logo),
    act_page("/settings/origins", settings.set_origins),
    act_page("/settings/mail", settings.set_mail),
    act_page("/settings/business", settings.set_business),
    act_page("/settings/wire", settings.set_api_options),
    ConsolePage("GET", "/requests", request_log.show_requests, ALL_MERCHANT_ROLES, "Request log", is_test_only=True),
    ConsolePage("GET", "/requests/{number}", request_log.show_request, ALL_MERCHANT_ROLES, is_test_only=True),
    ConsolePage("GET", "/sandbox", sandbox.show_sandbox, CAN_INTEGRATE, "Sandbox", is_test_only=True),
    act_page("/sandbox/{action}", sandbox.run_sandbox_action, is_test_only=True),
    ConsolePage("GET", "/sandbox/worlds", worlds.show_worlds, CAN_INTEGRATE, "Worlds", is_test_only=True),
    act_page("/sandbox/worlds/{action}", worlds.replace_books, is_test_only=True),
    act_page("/sandbox/world-file/export", worlds.download_world, is_test_only=True),
    act_page("/sandbox/world-file/import", worlds.upload_world, is_test_only=True),
)

# Statements and taxes.
RECONCILIATION_PAGES: tuple[ConsolePage, ...] = (
    ConsolePage(
        "GET",
        "/operator/reconciliation",
        reconciliation.show_reconciliation,
        ALL_OPERATOR_ROLES,
        "Reconciliation",
    ),
    ConsolePage("POST", "/operator/reconciliation/import", reconciliation.submit_statement, CAN_KEEP_BOOKS),
    ConsolePage("GET", "/operator/reconciliation/{account_id}", reconciliation.show_account, ALL_OPERATOR_ROLES),
    ConsolePage("GET", "/operator/reconciliation/{account_id}/{item}", reconciliation.show_item, ALL_OPERATOR_ROLES),
    act_page("/operator/reconciliation/{account_id}/{item}", reconciliation.submit_item),
    ConsolePage("GET", "/operator/taxes", taxes.show_taxes, ALL_OPERATOR_ROLES, "Taxes"),
    ConsolePage("GET", "/operator/taxes.csv", taxes.export_taxes, ALL_OPERATOR_ROLES),
)

NOTICE = "/operator/notices/{merchant_id}/{notice_id}"
OPERATOR_PAGES: tuple[ConsolePage, ...] = (
    ConsolePage("GET", "/operator/home", home.show_home, ALL_OPERATOR_ROLES, "Home"),
    ConsolePage("GET", "/operator/search", operator_search.show_search, ALL_OPERATOR_ROLES, "Search"),
    ConsolePage("GET", "/operator/merchants", merchants.show_merchants, ALL_OPERATOR_ROLES, "Merchants"),
    act_page("/operator/merchants", merchants.add_merchant),
    ConsolePage("GET", "/operator/merchants/{mid}", merchants.show_merchant, ALL_OPERATOR_ROLES),
    act_page("/operator/merchants/{mid}/suspend", merchants.suspend),
    act_page("/operator/merchants/{mid}/resume", merchants.resume),
    act_page("/operator/merchants/{mid}/limits", merchants.set_limits),
    act_page("/operator/merchants/{mid}/invite", merchants.invite_owner),
    act_page("/operator/merchants/{mid}/rails", rails.set_merchant_rails),
    ConsolePage("GET", "/operator/merchants/{mid}/books", books.show_books, ALL_OPERATOR_ROLES),
    ConsolePage("GET", "/operator/merchants/{mid}/books/{kind}", books.show_kind, ALL_OPERATOR_ROLES),
    ConsolePage(
        "GET", "/operator/merchants/{mid}/records/{reference}", operator_search.show_record, ALL_OPERATOR_ROLES
    ),
    ConsolePage("GET", "/operator/merchants/{mid}/accounts/{name}", books.show_statement, ALL_OPERATOR_ROLES),
    ConsolePage("GET", "/operator/merchants/{mid}/postings/{seq}", books.show_posting, ALL_OPERATOR_ROLES),
    ConsolePage("GET", "/operator/approvals", approvals.show_approvals, ALL_OPERATOR_ROLES, "Approvals"),
    act_page("/operator/approvals/{kind}", approvals.submit_proposal),
    act_page("/operator/approvals/{approval_id}/{verdict}", decisions.decide_approval),
    *RECONCILIATION_PAGES,
    ConsolePage("GET", "/operator/rates", rates.show_rates, ALL_OPERATOR_ROLES, "Exchange rates"),
    ConsolePage("GET", "/operator/laws", invariants.show_invariants, ALL_OPERATOR_ROLES, "Ledger invariants"),
    ConsolePage("POST", "/operator/laws", invariants.run_invariant_check, CAN_KEEP_BOOKS),
    ConsolePage("GET", "/operator/work", jobs.show_jobs, ALL_OPERATOR_ROLES, "Jobs and rails"),
    act_page("/operator/work/{key}", jobs.requery_rail),
    ConsolePage("GET", "/operator/rails", rails.show_rails, ALL_OPERATOR_ROLES, "Rails"),
    ConsolePage("GET", "/operator/rails/calls", rail_calls.show_calls, ALL_OPERATOR_ROLES, "Calls of rails"),
    ConsolePage("GET", "/operator/rails/calls.csv", rail_calls.export_calls, ALL_OPERATOR_ROLES),
    ConsolePage("GET", "/operator/closes", closes.show_closes, ALL_OPERATOR_ROLES, "Daily closes"),
    ConsolePage("POST", "/operator/closes", closes.close_books, CAN_KEEP_BOOKS),
    ConsolePage("GET", "/operator/notices", notices.show_notices, ALL_OPERATOR_ROLES, "Notices"),
    ConsolePage("GET", NOTICE, notices.show_notice, ALL_OPERATOR_ROLES),
    ConsolePage("POST", NOTICE, notices.handle_notice, CAN_KEEP_BOOKS | CAN_SUPPORT),
    ConsolePage("GET", "/operator/trail", jobs.show_audit_trail, ALL_OPERATOR_ROLES, "Audit trail"),
)

# Users and the API reference, for merchants and operators.
SHARED_PAGES: tuple[ConsolePage, ...] = (
    ConsolePage("GET", "/team", team.show_team, CAN_MANAGE_USERS, "Team"),
    ConsolePage("GET", "/team/mails", team.show_mails, CAN_MANAGE_USERS),
    act_page("/team", team.invite),
    act_page("/team/{user_id}/role", team.change_role),
    act_page("/team/{user_id}/invite", team.invite_again),
    act_page("/team/{user_id}/disable", team.disable),
    ConsolePage("GET", "/docs", api_reference.show_reference, ALL_ROLES, "API reference"),
    ConsolePage("GET", "/docs/{method}/{action}", api_reference.show_action, ALL_ROLES),
    ConsolePage("POST", "/docs/{method}/{action}", api_reference.try_action, ALL_MERCHANT_ROLES),
)


# Record kinds with handlers of their own for the list page and the create form.
CUSTOM_RECORD_VIEWS = {"bills": (bills.show_bills, bills.pay_bill)}


def record_pages(kind: RecordKind) -> tuple[ConsolePage, ...]:
    """Returns the routes of one kind of record."""
    path, required_action = f"/{kind.name}", kind.required_action
    show, make = CUSTOM_RECORD_VIEWS.get(
        kind.name, (bind_kind(records.show_list, kind), bind_kind(records.create_record, kind))
    )
    export = ConsolePage(
        "GET", f"{path}.csv", bind_kind(records.export_list, kind), ALL_MERCHANT_ROLES, required_action=required_action
    )
    return (
        ConsolePage("GET", path, show, ALL_MERCHANT_ROLES, kind.label, required_action),
        *((export,) if kind.list_action else ()),
        ConsolePage(
            "GET",
            f"{path}/find",
            bind_kind(records.redirect_to_record, kind),
            ALL_MERCHANT_ROLES,
            required_action=required_action,
        ),
        act_page(f"{path}/new/{{form}}", make, RECORD_FORMS[0], required_action=required_action),
        ConsolePage(
            "GET",
            f"{path}/{{reference}}",
            bind_kind(records.show_record, kind),
            ALL_MERCHANT_ROLES,
            required_action=required_action,
        ),
        act_page(
            f"{path}/{{reference}}/{{form}}",
            bind_kind(records.update_record, kind),
            RECORD_FORMS[1],
            required_action=required_action,
            max_files=MAX_FILES if any(form.file_list for form in kind.update_forms) else 1,
        ),
    )


RECORD_PAGES = (
    *(page for kind in RECORD_KINDS for page in record_pages(kind)),
    ConsolePage("GET", "/settlements/{reference}/payments.csv", settled_payments.export_payments, ALL_MERCHANT_ROLES),
    *(
        ConsolePage("GET", f"/{name}/{{reference}}/statement.{ending}", movements.open_statement, ALL_MERCHANT_ROLES)
        for name in movements.ACCOUNT_KINDS
        for ending in ("csv", "pdf")
    ),
)

# Saved filters and columns of every list.
LIST_NAMES = ("transactions", *(kind.name for kind in RECORD_KINDS))
LIST_PAGES = tuple(
    ConsolePage("POST", f"/lists/{{list_name}}/{name}", partial(handler, names=LIST_NAMES), ALL_MERCHANT_ROLES)
    for name, handler in (
        ("save", lists.save_filter),
        ("delete", lists.delete_filter),
        ("columns", lists.choose_columns),
    )
)
PAGES = (
    *ACCOUNT_PAGES,
    *MONEY_PAGES,
    *MEETING_PAGES,
    *LIST_PAGES,
    *RECORD_PAGES,
    *INTEGRATION_PAGES,
    *OPERATOR_PAGES,
    *SHARED_PAGES,
)


def list_deployed_pages(services: ConsoleServices) -> tuple[ConsolePage, ...]:
    """Returns the pages that exist in this deployment: no sandbox in live, no page without its action."""
    return tuple(
        page
        for page in PAGES
        if not (page.is_test_only and services.is_live)
        and (page.required_action is None or services.has_action(*page.required_action))
    )


def build_navigation(visit: Visit, pages: Sequence[ConsolePage]) -> list[NavigationGroup]:
    """Returns the listed pages that the user may open, in groups. Empty without a session."""
    session = visit.session
    if session is None or not session.is_authenticated:
        return []
    role = session.user.role
    labels = {
        page.path: page.nav_label
        for page in pages
        if page.nav_label and isinstance(page.access, frozenset) and role in page.access
    }
    return group_pages(labels, is_operator=session.user.mid is None)
