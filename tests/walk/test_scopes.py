"""The scope of an action is a column of its table. Keys of every scope ask for every action over HTTP.

Which scope each write needs is written here once more, by hand: a slip in the tables does not test itself. The table of
scopes in the contract is read and compared.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kasuwa.core.action import AdminCommand, Write, get_scope, get_selecting_field, make_action_title, only_shows
from kasuwa.core.callers import KEY_SCOPES
from kasuwa.methods.tables import list_methods
from tests.merchant_client import MerchantClient
from tests.walk.rows import ACTION_ROWS, ActionRow

METHODS = {method.name: method for method in list_methods("test")}
OF_SCOPE = {
    "collect": {
        "payment charge account",
        "payment charge bank_transfer",
        "payment charge card",
        "payment charge mobile_money",
        "payment charge phone",
        "payment charge qrpay",
        "payment charge token",
        "payment charge ussd",
        "payment checkout",
        "payment initiate card",
        "payment validate",
        "resources close_personalized_account",
        "resources customer",
        "resources installments cancel",
        "resources installments pause",
        "resources installments resume",
        "resources invoice",
        "resources invoice void",
        "resources invoice_not_received",
        "resources invoice_received",
        "resources invoice_send",
        "resources mail",
        "resources paylink",
        "resources paylink disable",
        "resources paylink enable",
        "resources personalized-accounts",
        "resources personalized_account",
        "resources recurrent",
        "resources ticket",
        "resources ticket_use",
    },
    "payout": {
        "bills pay",
        "cashcode cancel",
        "cashcode generate",
        "disburse transfer",
        "disburse transfer bulk",
        "payment dispute_respond",
        "payment refund",
        "resources payout_schedule",
    },
    "approve": {
        "disburse approve",
        "disburse reject",
        "loans decide_write_off",
        "investments decide_reactivation",
        "investments approve_redemption",
        "investments reject_redemption",
    },
    "all": {"resources resend", "resources settlement_events"},
}
# Every write of these paths has this scope.
OF_PATH = {"clients": "lend", "investments": "lend", "loans": "lend", "sandbox": "all", "virtualcard": "issue"}

CONTRACT = Path(__file__).parents[2] / "docs" / "contract" / "keys.md"
DOCUMENTED_SCOPE = re.compile(r"^\| `(\w+)` \| ([^|]*)\| ([^|]*)\|$", re.MULTILINE)
NAME, PATH = re.compile(r"`([\w-]+)`"), re.compile(r"`/(\w+)`")


def scope_of_row(row: ActionRow) -> str:
    return get_scope(METHODS[row.method], row.action)


def named(row: ActionRow) -> str:
    return f"{row.method} {make_action_title(row.action)}"


def test_every_path_and_every_write_has_the_scope_that_is_meant() -> None:
    expected = {name: scope for scope, names in OF_SCOPE.items() for name in names}
    writes = [row for row in ACTION_ROWS if isinstance(row.action, Write | AdminCommand)]
    found = {named(row): scope_of_row(row) for row in writes}
    assert found == {name: expected.get(name) or OF_PATH[name.split()[0]] for name in found}
    assert set(expected) <= set(found)


def read_documented_scopes() -> tuple[dict[str, str], dict[str, set[tuple[str, str]]], set[str]]:
    """Returns the contract's scope of each path, the actions of other paths by scope, and those of every key."""
    section = CONTRACT.read_text().partition("### Scopes")[2].partition("<a id")[0]
    of_path, others = dict[str, str](), dict[str, set[tuple[str, str]]]()
    for scope, paths, actions in DOCUMENTED_SCOPE.findall(section):
        of_path |= dict.fromkeys(PATH.findall(paths), scope)
        groups = [(PATH.findall(group), NAME.findall(group)) for group in actions.split(";") if group.strip()]
        others[scope] = {(path, name) for [path], names in groups for name in names}
    return of_path, others, set(NAME.findall(section.partition("reference data:")[2].partition(". ")[0]))


def test_the_contract_says_which_scope_every_action_needs() -> None:
    of_path, others, reference_data = read_documented_scopes()
    assert list(others) == list(KEY_SCOPES)
    found: dict[str, set[tuple[str, str]]] = {scope: set() for scope in (*KEY_SCOPES, "any")}
    for row in ACTION_ROWS:
        if scope_of_row(row) not in ("read", of_path.get(row.method)):
            found[scope_of_row(row)].add((row.method, row.action.name))
    assert {name for _, name in found.pop("any")} == reference_data
    assert found == others


def test_no_write_is_open_to_keys_that_only_read() -> None:
    for row in ACTION_ROWS:
        scope = scope_of_row(row)
        assert scope in (*KEY_SCOPES, "any"), row.title
        if not only_shows(row.action):
            assert scope not in ("read", "any"), row.title


@pytest.mark.parametrize("scope", [scope for scope in KEY_SCOPES if scope != "all"])
def test_a_key_is_refused_every_action_beyond_its_scope(open_shop: Callable[..., MerchantClient], scope: str) -> None:
    shop = open_shop()
    main, shop.key = shop.key, shop.put("sandbox", action="new_key", name="walker", scopes=[scope]).body["key"]
    allowed = 0
    for row in ACTION_ROWS:
        body = {row.selector: row.action.name} | dict([row.action.variant] if row.action.variant else [])
        if get_selecting_field(row.action):
            body[get_selecting_field(row.action)] = "any"
        answered = shop.send_fields(row.method, body)
        http, reply = answered.http, answered.body
        needed = scope_of_row(row)
        is_within = needed in ("any", scope) or (scope == "read" and only_shows(row.action))
        is_refused = isinstance(reply, dict) and reply.get("status") == 101
        assert is_refused is not is_within, (row.title, reply)
        allowed += is_within
        if is_refused:
            assert http == 401
            assert f"needs a key of scope {needed}" in reply["message"], row.title
            assert f"has {scope}" in reply["message"]
    assert allowed >= 1
    shop.key = main
    assert [key["scopes"] for key in shop.put("resources", inquire="keys").body["data"]] == [[scope], ["all"]]
