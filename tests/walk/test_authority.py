"""The table of authority against its doors: every form, command and action is in it, or is named as harmless.

Who opens a page is walked in tests/console/test_access.py, what a key of each scope may request in test_scopes.py, and
what commands propose in tests/console/test_two_people_live.py: all expectations come from the table.
"""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kasuwa.postgres
from kasuwa.authority import acts as authority
from kasuwa.authority.acts import ACTS, Act, Decider, OpenProposal, explain_bar, find_excess_scopes
from kasuwa.authority.doors import HARMLESS_COMMANDS, HARMLESS_PAGES
from kasuwa.authority.roles import MERCHANT_ROLES, OPERATOR_ROLES, OWNER, ROLES
from kasuwa.console.kit.visit import roles_of_action
from kasuwa.console.merchant.actions import CONSOLE
from kasuwa.console.operator.approvals import title_with_article
from kasuwa.console.operator.book_acts import BOOK_KINDS
from kasuwa.console.operator.decisions import POSTING_KINDS
from kasuwa.console.routes import PAGES
from kasuwa.core.action import VIEW, AdminCommand, Write, get_scope, get_selecting_field, make_action_title
from kasuwa.core.callers import KEY_SCOPES
from kasuwa.merchants.merchant_settings import MerchantSettings
from kasuwa.methods.tables import list_methods
from tests.commands import leaf_commands
from tests.console.test_two_people_live import COMMANDS, PROPOSING
from tests.console.visitor import sign_in_as
from tests.running import Deployment
from tests.walk.rows import ACTION_ROWS

pytestmark = pytest.mark.xdist_group("console")

METHODS = (*list_methods("test"), CONSOLE)
# The kinds of proposals, in the table and in what changes its constraint.
PROPOSAL_KINDS = re.compile(
    r"(?:create table approval \(|add constraint approval_kind_check).*?check \(kind in \((.*?)\)\)", re.DOTALL
)
# A path of a record, such as /loans/new/{form}, stands in the table for all kinds.
RECORD_PATH = re.compile(r"^/[a-z-]+/(new/\{form\}|\{reference\}/\{form\})$")


def path_in_table(path: str) -> str:
    found = RECORD_PATH.match(path)
    return f"/{{records}}/{found[1]}" if found else path


# --- everything is in the table ---------------------------------------------------------------------------------------


def test_every_form_does_an_act_of_the_table_or_is_harmless() -> None:
    forms = {path_in_table(page.path) for page in PAGES if page.http_method == "POST"}
    acting = {path for act in ACTS for path in act.pages}
    assert forms == acting | set(HARMLESS_PAGES)
    assert acting.isdisjoint(HARMLESS_PAGES)


def test_every_form_is_open_to_the_roles_of_its_acts_and_asks_as_they_say() -> None:
    for page in PAGES:
        path = path_in_table(page.path)
        if page.http_method == "POST" and path not in HARMLESS_PAGES:
            acts = authority.acts_of_page(path)
            assert page.access == frozenset().union(*(act.roles for act in acts)), page.path
            assert page.needs_step_up is any(act.asks_second_factor for act in acts), page.path


def test_every_command_does_an_act_of_the_table_or_is_harmless() -> None:
    commands = {name for name, _ in leaf_commands()}
    acting = {name for act in ACTS for name in act.commands}
    assert commands == acting | set(HARMLESS_COMMANDS)
    assert acting.isdisjoint(HARMLESS_COMMANDS)


def test_every_action_that_changes_something_does_an_act_of_the_table() -> None:
    rows = {f"{method.name} {make_action_title(action)}": action for method in METHODS for action in method.actions}
    for title, action in rows.items():
        if isinstance(action, Write | AdminCommand) and action.permission != VIEW:
            assert authority.act_of_action(title, action.permission) is not None, title
    assert {title for act in ACTS for title in act.actions} <= set(rows)


def test_every_setting_of_a_merchant_is_changed_by_one_act() -> None:
    named = [field for act in ACTS for field in act.settings]
    assert sorted(named) == sorted(MerchantSettings.__struct_fields__)


def test_the_permissions_of_scopes_are_those_of_their_actions() -> None:
    needed: dict[str, set[str]] = {scope: set() for scope in KEY_SCOPES}
    for method in list_methods("test"):
        for action in method.actions:
            scope = get_scope(method, action)
            if scope != "any":
                needed[scope].add(action.permission)
                needed["all"].add(action.permission)
    assert {scope: set(found) for scope, found in authority.SCOPE_PERMISSIONS.items()} == needed


def test_every_act_of_the_module_is_in_the_table_once() -> None:
    defined = {name: value for name, value in vars(authority).items() if isinstance(value, Act)}
    assert [name for name, act in defined.items() if ACTS.count(act) != 1] == []
    assert len(defined) == len(ACTS)


def list_proposal_kinds() -> set[str]:
    """Returns the kinds of proposals that the database takes, by the newest migration that names them."""
    migrations = sorted((Path(kasuwa.postgres.__file__).parent / "migrations").glob("*.sql"))
    lists = [found for path in migrations for found in PROPOSAL_KINDS.findall(path.read_text())]
    return set(re.findall(r"'(\w+)'", lists[-1]))


def test_the_database_takes_proposals_of_every_act_of_two_people() -> None:
    # One command may change settings of several acts, so they are proposed together.
    expected = {act.name for act in ACTS if act.people > 1} - {
        "limits",
        "rails",
        "events_url",
        "checkout_origins",
        "resumption",
    }
    expected |= {authority.SETTINGS_KIND}
    assert list_proposal_kinds() == expected


def test_every_kind_of_proposal_has_its_acts() -> None:
    """An approval asks for the acts of its proposal: a kind without them could never be approved."""
    settings = dict.fromkeys(MerchantSettings.__struct_fields__)
    for kind in list_proposal_kinds() | POSTING_KINDS | BOOK_KINDS:
        assert authority.acts_of_proposal(kind, settings), kind
        assert title_with_article(kind)


def test_every_command_that_two_people_decide_is_tried_in_live() -> None:
    tried = {" ".join(words[:2]) for words in (*PROPOSING, *(words for words, _ in COMMANDS.values()))}
    # Those about money in suspense propose in test as well: tests/console/test_suspense.py.
    deciding = {name for act in ACTS if act.people > 1 for name in act.commands}
    assert deciding - {"reconcile assign", "reconcile return", "rail accounts"} <= tried


def test_names_are_unique_and_what_two_decide_in_test_two_decide_in_live() -> None:
    assert len({act.name for act in ACTS}) == len(ACTS)
    assert all(act.people >= act.people_in_test for act in ACTS)
    assert all(act.roles <= set(ROLES) and act.roles for act in ACTS)


# --- "try it", by every role ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", MERCHANT_ROLES)
def test_try_it_is_refused_to_exactly_the_roles_that_the_table_leaves_out(deployment: Deployment, role: str) -> None:
    shop = deployment.open_shop()
    shop.connection.close()
    visitor = sign_in_as(deployment, role, shop.mid)
    visitor.get("/docs")
    for row in ACTION_ROWS:
        # An invalid field, so that nothing is carried out: who may is decided before.
        body: dict[str, Any] = {row.selector: row.action.name, "dry_run": "perhaps", "scopes": ["read"]}
        body |= dict([row.action.variant] if row.action.variant else [])
        if get_selecting_field(row.action):
            body[get_selecting_field(row.action)] = "any"
        slug = make_action_title(row.action).replace(" ", "-")
        seen = visitor.post(f"/docs/{row.method}/{slug}", body=msgspec.json.encode(body).decode())
        allowed = role in roles_of_action(row.method, row.action, row.action.permission)
        name = f"{row.method} {make_action_title(row.action)}"
        if authority.act_of_action(name, row.action.permission) is authority.OWN_KEY:
            # What cannot be read counts as a key that may do everything.
            allowed &= not find_excess_scopes(role, ["all"])
        assert (seen.http != 403) is allowed, (row.title, seen.http, seen.words[:300])


# --- giving -----------------------------------------------------------------------------------------------------------


def test_each_role_makes_only_keys_within_its_own_permissions() -> None:
    given = {role: [scope for scope in KEY_SCOPES if not find_excess_scopes(role, [scope])] for role in MERCHANT_ROLES}
    assert given == {
        "merchant:owner": list(KEY_SCOPES),
        "merchant:developer": ["read"],
        "merchant:finance": ["collect", "payout", "issue", "lend", "read"],
        "merchant:read-only": ["read"],
    }


def test_nobody_gives_a_role_with_more_rights_than_their_own() -> None:
    for giver in ROLES:
        for role in ROLES:
            more = [act.name for act in ACTS if role in act.roles and giver not in act.roles]
            assert authority.can_give_role(giver, role) is not bool(more)
    assert all(authority.can_give_role(OWNER, role) for role in MERCHANT_ROLES)
    assert all(authority.can_give_role("operator:admin", role) for role in OPERATOR_ROLES)
    assert not authority.can_give_role("merchant:developer", "merchant:finance")


# --- deciding ---------------------------------------------------------------------------------------------------------

NOW = datetime(2026, 1, 5, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=30)


def operator(number: int, role: str = "operator:admin", **changes: Any) -> Decider:
    known = Decider(number, f"{number}@example.com", role, (), LONG_AGO, None)
    return msgspec.structs.replace(known, **changes)


def proposal(act: Act = authority.RATE, **changes: Any) -> OpenProposal:
    known = OpenProposal((act,), NOW - timedelta(hours=1), 0, operator(1), None)
    return msgspec.structs.replace(known, **changes)


@pytest.mark.parametrize(
    ("approver", "waiting", "why"),
    [
        (operator(2), proposal(), None),
        (operator(1), proposal(), authority.OWN_PROPOSAL),
        (operator(2), proposal(proposer=None), None),
        (operator(2), proposal(proposer=None, first_approver=operator(3)), None),
        (operator(2), proposal(proposer=None, first_approver=operator(2)), authority.OWN_APPROVAL),
        (operator(2, makers=["1@example.com"]), proposal(), authority.NOT_INDEPENDENT),
        (operator(2), proposal(proposer=operator(1, makers=["2@example.com"])), authority.NOT_INDEPENDENT),
        (
            operator(2, makers=["3@example.com"]),
            proposal(proposer=None, first_approver=operator(3)),
            authority.NOT_INDEPENDENT,
        ),
        (operator(2, can_approve_from=NOW), proposal(), None),
        (
            operator(2, can_approve_from=NOW + timedelta(seconds=1)),
            proposal(),
            authority.COOLING_OFF.format(when="2026-01-05 00:00 UTC"),
        ),
        (operator(2, account_since=NOW - timedelta(hours=1)), proposal(), None),
        (operator(2, account_since=NOW - timedelta(minutes=59)), proposal(), authority.OLDER_PROPOSAL),
        (operator(2, "operator:finance"), proposal(), None),
        (operator(2, "operator:finance"), proposal(authority.POLICY), authority.NOT_ALLOWED),
        (operator(2, "operator:support"), proposal(), authority.NOT_ALLOWED),
        (operator(2), proposal(authority.PERSON, subject_id=2), authority.OWN_ACCOUNT),
        (operator(2), proposal(proposer=operator(1, is_disabled=True)), authority.NO_PROPOSER),
        (operator(2), proposal(proposer=operator(1, account_since=NOW)), authority.NO_PROPOSER),
        (operator(2), proposal(proposer=operator(1, account_since=NOW - timedelta(hours=1))), None),
        (operator(2), proposal(proposer=operator(1, "operator:support")), authority.NO_PROPOSER),
        (
            operator(2),
            proposal(proposer=None, first_approver=operator(3, "operator:support")),
            authority.NO_FIRST_APPROVER,
        ),
    ],
)
def test_who_may_approve_a_proposal(approver: Decider, waiting: OpenProposal, why: str | None) -> None:
    assert explain_bar(approver, waiting, NOW) == why


def test_a_command_proposes_in_live_what_two_people_decide_and_acts_in_test() -> None:
    for act in ACTS:
        assert authority.is_proposed_by_command([act], "live") is (act.people > 1)
        assert not authority.is_proposed_by_command([act], "test")
    mixed = authority.acts_of_settings(["http_codes", "tariff"])
    assert authority.is_proposed_by_command(mixed, "live")
