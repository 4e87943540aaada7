"""Every act of the table of authority in live, through every door that it has, by every role and by nobody.

The rows below say how each act is tried: a form, a command or a request. What must come of it is taken from the table:
done, proposed or refused. An act, page or command without a row here fails. Nothing changes where an act is refused or
only proposed.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from kasuwa.authority import acts as authority
from kasuwa.authority.acts import ACTS, DECIDE, LIVE, Act
from kasuwa.authority.roles import MERCHANT_ROLES, OPERATOR_ROLES, ROLES
from kasuwa.console.kit.visit import roles_of_action
from kasuwa.console.routes import PAGES
from kasuwa.core.action import get_scope, get_selecting_field, make_action_title, only_shows
from kasuwa.core.callers import KEY_SCOPES
from kasuwa.methods.tables import list_methods
from tests.console.test_two_people_live import LIVE as LIVE_SETTINGS
from tests.console.test_two_people_live import PROPOSED
from tests.console.test_user_invitations import approve
from tests.console.visitor import PageReply, Visitor, numbers
from tests.running import Deployments
from tests.walk.live_office import LiveOffice, open_office
from tests.walk.rows import ACTION_ROWS, ActionRow

pytestmark = pytest.mark.xdist_group("authority live")

URL = "https://events.example.com/hook"
NOBODY = "nobody"


class Form(msgspec.Struct, frozen=True):
    """A form that an act is tried with. `{…}` stands for something of the office."""

    path: str
    fields: dict[str, str] = {}
    # False where what it acts on is made by a rail or a payer, of which live has none here: then the form is reached,
    # and says that there is no such thing.
    acts: bool = True


class Command(msgspec.Struct, frozen=True):
    """A command that an act is tried with."""

    words: tuple[str, ...]
    acts: bool = True  # as of Form
    applies: bool = True  # whether its proposal can be applied: what it is about need not exist to be proposed


def reached(path: str) -> Form:
    return Form(path, acts=False)


def proposed(kind: str, **fields: str) -> Form:
    return Form(f"/operator/approvals/{kind}", {"mid": "{mid}", "reason": "walk", **fields})


REF = "GP%7CFD%7C000000000%7C20260101A"
ENDPOINT = "/settings/endpoints/99"
TEAM_FORMS = {
    "/team": Form("/team", {"email": "{email}", "role": "{role}"}),
    "/team/{user_id}/role": Form("/team/{other}/role", {"role": "{role}"}),
    "/team/{user_id}/invite": Form("/team/{other}/invite"),
}
# How each act is tried on each of its pages.
FORMS: dict[str, dict[str, Form]] = {
    "pay": {
        "/transactions/{ref}/{transaction_form}": reached(f"/transactions/{REF}/refund"),
        "/transfers/send": reached("/transfers/send"),
        "/transfers/bulk/send": reached("/transfers/bulk/send"),
        "/transfers/batches/{batch_ref}/retry": reached(f"/transfers/batches/{REF}/retry"),
        "/{records}/new/{form}": reached("/clients/new/none"),
        "/{records}/{reference}/{form}": reached("/clients/none/none"),
    },
    "approve_transfer": {
        "/transfers/waiting/{ref}/{verdict}": reached(f"/transfers/waiting/{REF}/approve"),
        "/transfers/batches/{batch_ref}/{verdict}": reached(f"/transfers/batches/{REF}/approve"),
    },
    "integrate": {
        "/events/resend": reached("/events/resend"),
        "/events/{seq}/resend": reached("/events/99/resend"),
        "/events/settlements": reached("/events/settlements"),
        "/settings/webhook/test": reached("/settings/webhook/test"),
        "/settings/endpoints/{endpoint_id}/test": reached(f"{ENDPOINT}/test"),
        "/settings/endpoints/{endpoint_id}/resend": reached(f"{ENDPOINT}/resend"),
        "/settings/logo": reached("/settings/logo"),
        "/settings/business": Form(
            "/settings/business", {"address": "{number} Broad Street, Lagos", "tin": "01234567-0001"}
        ),
        "/settings/mail": Form("/settings/mail", {"sender_name": "Ada {number}", "reply_to": "office@example.com"}),
        "/settings/wire": Form("/settings/wire", {"http_codes": "{codes}", "webhook_order": "loose"}),
    },
    "webhook": {
        "/settings/webhook": Form("/settings/webhook", {"url": f"{URL}/{{number}}"}),
        "/settings/endpoints": Form("/settings/endpoints", {"url": f"{URL}/{{number}}"}),
        "/settings/endpoints/{endpoint_id}/save": reached(f"{ENDPOINT}/save"),
        "/settings/endpoints/{endpoint_id}/remove": reached(f"{ENDPOINT}/remove"),
        "/settings/endpoints/{endpoint_id}/secret": reached(f"{ENDPOINT}/secret"),
    },
    "own_key": {
        "/settings/keys": Form("/settings/keys", {"name": "walk", "expires_days": "", "scope-read": "1"}),
        "/settings/keys/{key_id}/roll": Form("/settings/keys/{read_key}/roll", {"overlap": "24"}),
    },
    "own_full_key": {"/settings/key": Form("/settings/key", {"overlap": "24"})},
    "end_own_key": {"/settings/keys/{key_id}/revoke": Form("/settings/keys/{read_key}/revoke", {"confirmed": "yes"})},
    "collect": {"/groups/{reference}/meeting": reached("/groups/none/meeting")},
    "own_secret": {"/settings/secret": Form("/settings/secret", {"overlap": "24"})},
    "payout_policy": {
        "/settings/payouts": Form("/settings/payouts", {"on_limit": "refuse", "approve_above": "{number}.00"})
    },
    "own_checkout_origins": {
        "/settings/origins": Form("/settings/origins", {"origins": "https://shop{number}.example"})
    },
    "member": TEAM_FORMS,
    "person": TEAM_FORMS,
    "disable_user": {"/team/{user_id}/disable": Form("/team/{other}/disable", {"confirmed": "yes"})},
    "add_merchant": {"/operator/merchants": Form("/operator/merchants", {"name": "Walk {number}"})},
    "first_owner": {
        "/operator/merchants/{mid}/invite": Form("/operator/merchants/{empty_mid}/invite", {"email": "{email}"})
    },
    "suspension": {
        "/operator/merchants/{mid}/suspend": Form("/operator/merchants/{empty_mid}/suspend", {"confirmed": "yes"})
    },
    "resumption": {"/operator/merchants/{mid}/resume": Form("/operator/merchants/{empty_mid}/resume")},
    "ask_rail": {"/operator/work/{key}": reached(f"/operator/work/{'00' * 16}")},
    "decide": {"/operator/approvals/{approval_id}/{verdict}": reached("/operator/approvals/999999/approve")},
    "posting": {
        authority.APPROVALS: proposed("posting", debit="income:write_off:NGN", credit="wallet:main:NGN", amount="1.00"),
        "/operator/reconciliation/{account_id}/{item}": reached("/operator/reconciliation/99/line-1"),
    },
    "write_off": {authority.APPROVALS: reached("/operator/approvals/write_off")},
    "reversal": {authority.APPROVALS: reached("/operator/approvals/reversal")},
    "suspense_assign": {authority.APPROVALS: reached("/operator/approvals/suspense_assign")},
    "suspense_return": {authority.APPROVALS: reached("/operator/approvals/suspense_return")},
    "tariff": {authority.APPROVALS: proposed("tariff", tariff='{"vat_percent": "6"}')},
    "rate": {authority.APPROVALS: proposed("rate", currency="USD", buy="1500", sell="1540")},
    "policy": {authority.APPROVALS: proposed("policy", hours="24")},
    "limits": {
        "/operator/merchants/{mid}/limits": Form(
            "/operator/merchants/{mid}/limits", {"least-NGN": "2.00", "most-NGN": "9.00"}
        )
    },
    "rails": {"/operator/merchants/{mid}/rails": Form("/operator/merchants/{mid}/rails")},
}

# How each act is tried by each of its commands. What two people decide is proposed, and then approved.
COMMANDS: dict[str, dict[str, Command]] = {
    "disable_user": {"user disable": Command(("user", "disable", "{person}"))},
    "add_merchant": {"merchant add": Command(("merchant", "add", "Walk"))},
    "first_owner": {
        "user add": Command(("user", "add", "{email}", "--role", "merchant:owner", "--mid", "{empty_mid}")),
        "user link": Command(("user", "link", "{invited}", "--mid", "{empty_mid}", "--reset")),
    },
    "end_key": {"merchant revoke-key": Command(("merchant", "revoke-key", "{mid}", "{read_key}"))},
    "harmless_key": {
        "merchant add-key": Command(("merchant", "add-key", "{mid}", "--name", "walk", "--scope", "read")),
        "merchant roll-key": Command(("merchant", "roll-key", "{mid}", "--key-id", "{read_key}")),
    },
    "appearance": {
        "merchant set": Command(("merchant", "set", "{mid}", "--http-codes", "{codes}")),
        "merchant logo": Command(("merchant", "logo", "{mid}"), acts=False),
    },
    "case": {"case export": Command(("case", "export", "none", "--mid", "{mid}"), acts=False)},
    "data_key": {
        "keys rotate": Command(("keys", "rotate", "--merchant", "{empty_mid}")),
        "keys drop": Command(("keys", "drop", "99"), acts=False),
    },
    "suspense_assign": {
        "reconcile assign": Command(
            ("reconcile", "assign", "T1", "{mid}", "--reason", "walk", "--as", "{admin}"), acts=False
        )
    },
    "suspense_return": {
        "reconcile return": Command(("reconcile", "return", "T1", "--reason", "walk", "--as", "{admin}"), acts=False)
    },
    "tariff": {"merchant set": Command(("merchant", "set", "{mid}", "--tariff", '{"vat_percent": "5"}'))},
    "rate": {"rates set": Command(("rates", "set", "USD", "--buy=1500", "--sell=1540"))},
    "loan_write_off": {"loan write-off": Command(("loan", "write-off", "{mid}", "LN1"), applies=False)},
    "dispute_open": {"dispute open": Command(("dispute", "open", "{mid}", "GP|1", "fraudulent"), applies=False)},
    "dispute_outcome": {"dispute outcome": Command(("dispute", "outcome", "{mid}", "DS1", "won"), applies=False)},
    "card_dispute_outcome": {
        "dispute card-outcome": Command(("dispute", "card-outcome", "{mid}", "CD1", "won"), applies=False)
    },
    "beneficiary": {"split add": Command(("split", "add", "{mid}", "Chidi Eze", "058", "0123456785"))},
    "limits": {"merchant set": Command(("merchant", "set", "{mid}", "--settlement-days", "2"))},
    "rails": {"merchant set": Command(("merchant", "set", "{mid}", "--rails", '{"card": []}'))},
    "events_url": {"merchant set": Command(("merchant", "set", "{mid}", "--webhook-url", f"{URL}/{{number}}"))},
    "checkout_origins": {
        "merchant set": Command(("merchant", "set", "{mid}", "--checkout-origins", "https://shop{number}.example"))
    },
    "vendor_account": {"rail accounts": Command(("rail", "accounts", "--same", "paystack"))},
    "key": {
        "merchant add-key": Command(("merchant", "add-key", "{mid}", "--name", "walk", "--scope", "payout")),
        "merchant roll-key": Command(("merchant", "roll-key", "{mid}")),
        "merchant roll-secret": Command(("merchant", "roll-secret", "{mid}")),
    },
    "person": {
        "user add": Command(("user", "add", "{email}", "--role", "operator:read-only")),
        "user link": Command(("user", "link", "{person}", "--reset")),
    },
}
# Tried while the deployment has no operators: see the fixture.
TRIED_FIRST = {("first_operator", "user add"), ("first_operator", "user link")}


@pytest.fixture(scope="module")
def office(deployments: Deployments) -> Iterator[LiveOffice]:
    settings = {**LIVE_SETTINGS, "KASUWA_PAYSTACK_SECRET_KEY": "sk_live_walk"}
    with deployments.fresh("authority-live", **settings) as live:
        for words in (("add", "first@people.example", "--role", "operator:admin"), ("link", "first@people.example")):
            assert "/link/" in live.run_any_command("user", *words).stdout
        live.fetch("insert into vendor_account (rail, account) values ('paystack', 'former')")
        yield open_office(live)


class Filler:
    """Fills the rows of the tables above with objects of the office, made when they are first named."""

    def __init__(self, office: LiveOffice, role: str) -> None:
        self.office, self.role, self.known = office, role, dict[str, str]()

    def fill(self, text: str) -> str:
        for name, make in self.makers().items():
            if "{" + name + "}" in text:
                if name not in self.known:
                    self.known[name] = make()
                text = text.replace("{" + name + "}", self.known[name])
        return text

    def fill_form(self, form: Form) -> Form:
        return Form(self.fill(form.path), {name: self.fill(value) for name, value in form.fields.items()}, form.acts)

    def makers(self) -> dict[str, Callable[[], str]]:
        office, side = self.office, "merchant" if self.role in MERCHANT_ROLES else "operator"
        return {
            "mid": lambda: office.mid,
            "number": lambda: str(next(numbers)),
            "email": lambda: f"walk{next(numbers)}@people.example",
            "admin": lambda: office.emails["operator:admin"],
            "role": lambda: "merchant:finance" if side == "merchant" else "operator:finance",
            "codes": self.other_codes,
            "read_key": self.make_read_key,
            "empty_mid": lambda: office.deployment.run_command("merchant", "add", "Empty").split()[1],
            "invited": self.invite_owner,
            "person": lambda: office.invite("operator:read-only")[0],
            "other": lambda: str(self.make_other(f"{side}:read-only")),
        }

    def other_codes(self) -> str:
        [[now]] = self.office.deployment.fetch(
            "select settings ->> 'http_codes' from merchant where mid = $1", self.office.mid
        )
        return "compat" if now == "strict" else "strict"

    def make_read_key(self) -> str:
        made = self.office.deployment.run_command(
            "merchant", "add-key", self.office.mid, "--name", "one", "--scope", "read"
        )
        return made.split()[1]

    def invite_owner(self) -> str:
        email = f"owner{next(numbers)}@people.example"
        self.office.deployment.run_command(
            "user", "add", email, "--role", "merchant:owner", "--mid", self.fill("{empty_mid}")
        )
        return email

    def make_other(self, role: str) -> int:
        return self.office.invite(role)[1]


# --- every act has its rows -------------------------------------------------------------------------------------------


def test_every_act_is_tried_through_every_door() -> None:
    in_live = {page.path for page in PAGES if page.http_method == "POST" and not page.is_test_only}
    test_only = {page.path for page in PAGES if page.is_test_only}
    for act in ACTS:
        pages = {page for page in act.pages if page in in_live or page not in test_only}
        assert set(FORMS.get(act.name, {})) == pages, act.name
        tried = {(act.name, name) for name in COMMANDS.get(act.name, {})} | TRIED_FIRST
        assert {(act.name, name) for name in act.commands} <= tried, act.name
    assert set(FORMS) | set(COMMANDS) <= {act.name for act in ACTS}
    doors = [(act.pages, act.commands, act.actions, act.permission) for act in ACTS]
    assert all(any(one) for one in doors), "an act without a door"


# --- pages ------------------------------------------------------------------------------------------------------------

PAGE_ROWS = [(act, path) for act in ACTS for path in FORMS.get(act.name, {})]


def is_refused(seen: PageReply) -> bool:
    return seen.http == 403 or (seen.http == 303 and seen.place.partition("?")[0] == "/sign-in")


def submit(visitor: Visitor, form: Form) -> PageReply:
    visitor.get("/account")
    return visitor.post(form.path, **form.fields)


def refused_roles(act: Act, path: str) -> list[str]:
    """Returns the roles that may do none of the acts of a page. Those of its other acts are tried with these."""
    if path == authority.APPROVALS:  # each act has an address of its own
        return [role for role in ROLES if role not in act.roles]
    allowed = frozenset[str]().union(*(one.roles for one in authority.acts_of_page(path)))
    return [role for role in ROLES if role not in allowed]


@pytest.mark.parametrize(("act", "path"), PAGE_ROWS, ids=[f"{act.name} {path}" for act, path in PAGE_ROWS])
def test_a_form_in_live_does_what_the_table_says_for_every_role(office: LiveOffice, act: Act, path: str) -> None:
    form = FORMS[act.name][path]
    filled = Filler(office, min(act.roles)).fill_form(form)
    before, count = office.state(), office.proposals()
    for visitor in (*(office.people[role] for role in refused_roles(act, path)), Visitor(office.deployment)):
        assert is_refused(submit(visitor, filled))
    assert (office.state(), office.proposals()) == (before, count), "a refusal changes nothing"
    for role in sorted(act.roles):
        filled = Filler(office, role).fill_form(form)
        before, count = office.state(), office.proposals()
        seen = submit(office.people[role], filled)
        assert not is_refused(seen), (role, seen.http, seen.words[:300])
        assert seen.http < 500, (role, seen.http, seen.words[:300])
        is_proposed = form.acts and authority.is_proposed_on_page(act, LIVE)
        assert office.proposals() == count + is_proposed, (role, seen.http, seen.content[:500])
        is_done = form.acts and not is_proposed
        assert (office.state() != before) is is_done, (role, seen.http, seen.content[:500])


# --- commands ---------------------------------------------------------------------------------------------------------

COMMAND_ROWS = [(act, name) for act in ACTS for name in COMMANDS.get(act.name, {})]


@pytest.mark.parametrize(("act", "name"), COMMAND_ROWS, ids=[f"{act.name} by {name}" for act, name in COMMAND_ROWS])
def test_a_command_in_live_does_or_proposes_what_the_table_says(office: LiveOffice, act: Act, name: str) -> None:
    command, filler = COMMANDS[act.name][name], Filler(office, "operator:admin")
    words = [filler.fill(word) for word in command.words]
    before, count = office.state(), office.proposals()
    done = office.deployment.run_any_command(*words)
    is_proposed = command.acts and authority.is_proposed_by_command([act], LIVE)
    assert (PROPOSED in done.stdout) is is_proposed, done
    assert office.proposals() == count + is_proposed
    assert (office.state() != before) is (command.acts and not is_proposed), done
    if is_proposed:
        decide_by_all_roles(office, act, count + 1, command)


def decide_by_all_roles(office: LiveOffice, act: Act, number: int, command: Command) -> None:
    """Approves a proposal of a command by every role: those that may count, two of them do it."""
    before, may = office.state(), act.roles & DECIDE.roles
    for role in (*MERCHANT_ROLES, *OPERATOR_ROLES):
        if role not in may:
            seen = approve(office.people[role], number)
            assert seen.http in (403, 422), (role, seen.http)
    assert is_refused(approve(Visitor(office.deployment), number))
    assert office.people["operator:support"].post(f"/operator/approvals/{number}/reject").http == 403
    first, second = office.people[min(may)], office.second_admin
    assert approve(first, number).http == 303
    assert approve(first, number).http == 422, "nobody counts twice"
    assert office.state() == before, "one person decides nothing"
    last = approve(second, number)
    assert last.http in ((200, 303) if command.applies else (422,)), last.content[:500]
    assert (office.state() != before) is command.applies
    if not command.applies:
        assert second.post(f"/operator/approvals/{number}/reject").http == 303


# --- keys and "try it" ------------------------------------------------------------------------------------------------

METHODS = {method.name: method for method in list_methods(LIVE)}
LIVE_ROWS = [row for row in ACTION_ROWS if row.method in METHODS]


def bad_request(row: ActionRow) -> dict[str, Any]:
    """Returns a request that cannot be carried out: who may is decided before its fields are read."""
    body: dict[str, Any] = {row.selector: row.action.name, "dry_run": "perhaps"}
    body |= dict([row.action.variant] if row.action.variant else [])
    if get_selecting_field(row.action):
        body[get_selecting_field(row.action)] = "any"
    return body


@pytest.mark.parametrize("scope", [*KEY_SCOPES, NOBODY])
def test_a_key_in_live_requests_what_its_scope_allows_and_nothing_else(office: LiveOffice, scope: str) -> None:
    before, shop = office.state(), office.shop(office.keys.get(scope, "00" * 32))
    with shop.connection:
        for row in LIVE_ROWS:
            reply = shop.send_fields(row.method, bad_request(row)).body
            needed = get_scope(METHODS[row.method], row.action)
            is_within = needed in ("any", scope) or scope == "all" or (scope == "read" and only_shows(row.action))
            is_within &= scope != NOBODY
            # Whoever has no key is throttled after some tries.
            is_throttled = scope == NOBODY and "Too many failed authentications" in reply["message"]
            is_turned_away = isinstance(reply, dict) and (reply.get("status") == 101 or is_throttled)
            assert is_turned_away is not is_within, (row.title, reply)
    assert office.state() == before


@pytest.mark.parametrize("role", [*ROLES, NOBODY])
def test_try_it_in_live_is_open_to_exactly_the_roles_of_the_table(office: LiveOffice, role: str) -> None:
    visitor, before = office.people.get(role) or Visitor(office.deployment), office.state()
    visitor.get("/docs")
    for row in LIVE_ROWS:
        body = msgspec.json.encode(bad_request(row)).decode()
        seen = visitor.post(f"/docs/{row.method}/{make_action_title(row.action).replace(' ', '-')}", body=body)
        allowed = role in roles_of_action(row.method, row.action, row.action.permission)
        assert is_refused(seen) is not allowed, (row.title, seen.http, seen.content[:300])
    assert office.state() == before
