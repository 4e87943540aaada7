"""Two people in live: commands propose and decide nothing, nobody is whom a command names, and the waiting time is that
of the database."""

import base64
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.command_processes import run_kasuwa
from tests.console.test_signing_in import PASSWORD, set_up_codes
from tests.console.test_user_invitations import approve, user_id_of
from tests.console.visitor import Visitor, numbers, sign_in_link
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments

pytestmark = pytest.mark.xdist_group("two people live")

SECRET = base64.b64encode(bytes(range(32))).decode()
LIVE = {"KASUWA_ENVIRONMENT": "live", "KASUWA_SECRET_KEY": SECRET, "KASUWA_COOLING_OFF_HOURS": "0"}
PROPOSED = "is proposed: two operators approve it"


class Office(NamedTuple):
    """A live deployment with three operators who are past their cooling-off time, and a merchant with an owner."""

    deployment: Deployment
    ada: Visitor
    obi: Visitor
    finance: Visitor
    mid: str
    key: str
    emails: dict[str, str]

    def propose(self, *words: str) -> int:
        """Runs a command that must propose, and returns the number of the proposal."""
        printed = self.deployment.run_command(*words)
        assert PROPOSED in printed, printed
        return int(printed.split()[1])

    def fetch_one(self, query: str, *values: Any) -> Any:
        return self.deployment.fetch(query, *values)[0][0]

    def settings(self) -> Any:
        return msgspec.json.decode(self.fetch_one("select settings::text from merchant where mid = $1", self.mid))

    def shop(self) -> MerchantClient:
        return MerchantClient(self.deployment.connect(), self.mid, self.key)


def join(deployment: Deployment, role: str, mid: str | None = None) -> tuple[str, Visitor]:
    """A person of live: their address, and their browser with a second factor."""
    email, link = sign_in_link(deployment, role, mid, "invitation")
    return email, enter(deployment, link)


def enter(deployment: Deployment, link: str) -> Visitor:
    visitor = Visitor(deployment)
    visitor.get(link)
    assert visitor.post(link, password=PASSWORD, again=PASSWORD).http == 303
    set_up_codes(visitor)
    visitor.get("/account")
    return visitor


@pytest.fixture(scope="module")
def office(deployments: Deployments) -> Iterator[Office]:
    with deployments.fresh("two-people", **LIVE) as live:
        people = {name: join(live, role) for name, role in ROLES.items()}
        mid, key, _ = (line.split()[1] for line in live.run_command("merchant", "add", "Ada Stores").splitlines())
        join(live, "merchant:owner", mid)
        visitors = {name: visitor for name, (_, visitor) in people.items()}
        yield Office(live, **visitors, mid=mid, key=key, emails={name: email for name, (email, _) in people.items()})


ROLES = {"ada": "operator:admin", "obi": "operator:admin", "finance": "operator:finance"}


# --- the cooling-off time ---------------------------------------------------------------------------------------------


def test_the_first_start_in_live_stores_at_least_the_safe_minimum(office: Office) -> None:
    assert office.fetch_one("select cooling_off_hours from authority_policy") == 12


def test_the_callers_environment_neither_shortens_the_time_nor_makes_live_test(deployments: Deployments) -> None:
    with deployments.fresh("two-people-first", **LIVE) as live:
        for environ in ({"KASUWA_COOLING_OFF_HOURS": "0"}, {"KASUWA_ENVIRONMENT": "test"}):
            email = f"person{next(numbers)}@people.example"
            words = ("user", "add", email, "--role", "operator:admin")
            done = run_kasuwa(words, {**live._environment, **environ})
            assert done.returncode == 0, done
        rows = live.fetch(
            "select approves_from > now() + interval '11 hours', makers from console_user order by user_id"
        )
        assert [row[0] for row in rows] == [None, True], "the first operator is exempt, nobody else"
        assert all(row[1][0].startswith("command:") for row in rows), "who did it is recorded, as unproven"
        for _ in range(2):
            join(live, "operator:admin")
        done = run_kasuwa(
            ("rates", "set", "USD", "--buy=1", "--sell=2"), {**live._environment, "KASUWA_ENVIRONMENT": "test"}
        )
        assert PROPOSED in done.stdout, done
        assert live.fetch("select 1 from exchange_rate") == []


def test_the_cooling_off_time_is_changed_by_two_administrators(office: Office) -> None:
    office.ada.get("/operator/approvals")
    short = office.ada.post("/operator/approvals/policy", hours="11", reason="quicker")
    assert (short.http, "from 12 to 720" in short.words) == (422, True)
    assert office.finance.post("/operator/approvals/policy", hours="24", reason="why").http == 403
    assert office.ada.post("/operator/approvals/policy", hours="24", reason="safer").http == 303
    number = office.fetch_one("select max(approval_id) from approval where kind = 'policy'")
    assert "another operator must decide" in approve(office.ada, number).words
    assert "Your role does not allow" in approve(office.finance, number).words
    assert approve(office.obi, number).http == 303
    assert office.fetch_one("select cooling_off_hours from authority_policy order by policy_id desc limit 1") == 24


# --- what commands propose --------------------------------------------------------------------------------------------

# Commands, and a query that finds what they would have changed.
COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "rate": (("rates", "set", "USD", "--buy=1500", "--sell=1540"), "select 1 from exchange_rate"),
    "tariff": (
        ("merchant", "set", "{mid}", "--tariff", '{"vat_percent": "5"}'),
        "select 1 from merchant where settings -> 'tariff' is not null",
    ),
    "limits": (
        ("merchant", "set", "{mid}", "--limits", '{"NGN": ["1.00", "5.00"]}', "--rate", "7,9"),
        "select 1 from merchant where settings -> 'limits' is not null",
    ),
    "payouts": (
        ("merchant", "set", "{mid}", "--payouts", '{"approve_above": "5.00"}'),
        "select 1 from merchant where settings -> 'payouts' is not null",
    ),
    "webhook URL": (
        ("merchant", "set", "{mid}", "--webhook-url", "https://events.example.com/new"),
        "select 1 from merchant where settings ->> 'webhook_url' <> ''",
    ),
    "beneficiary": (("split", "add", "{mid}", "Chidi Eze", "058", "0123456785"), "select 1 from beneficiary"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_proposes_and_two_operators_decide(office: Office, name: str) -> None:
    words, changed = COMMANDS[name]
    number = office.propose(*(word.replace("{mid}", office.mid) for word in words))
    assert office.deployment.fetch(changed) == []
    first = approve(office.ada, number)
    assert (first.http, first.place) == (303, "/operator/approvals")
    assert office.deployment.fetch(changed) == [], "one operator alone decides nothing"
    assert "You have approved this" in approve(office.ada, number).words
    page = office.obi.get("/operator/approvals").words
    assert f"by {office.emails['ada']}" in page
    assert "command:" in page
    assert approve(office.obi, number).http == 303
    assert len(office.deployment.fetch(changed)) == 1
    decided = office.obi.get("/operator/approvals?show=decided").words
    assert f"Approved first by {office.emails['ada']}" in decided
    trail = office.obi.get("/operator/trail").words
    assert "as the first of two" in trail


PROPOSING: list[tuple[str, ...]] = [
    ("merchant", "set", "{mid}", "--rails", '{"card": []}'),
    ("merchant", "set", "{mid}", "--reserve", '{"percent": "5", "days": 90}'),
    ("merchant", "set", "{mid}", "--settlement-days", "2", "--http-codes", "strict"),
    ("merchant", "add-key", "{mid}", "--name", "mine", "--scope", "all"),
    ("merchant", "add-key", "{mid}", "--name", "mine", "--scope", "read", "--scope", "payout"),
    ("merchant", "roll-key", "{mid}"),
    ("merchant", "roll-key", "{mid}", "--key-id", "1"),
    ("merchant", "roll-secret", "{mid}"),
    ("loan", "write-off", "{mid}", "LN1"),
    ("dispute", "open", "{mid}", "GP|1", "fraudulent"),
    ("dispute", "outcome", "{mid}", "DS1", "won"),
    ("dispute", "card-outcome", "{mid}", "CD1", "won"),
    ("user", "add", "mine@people.example", "--role", "operator:finance"),
    ("user", "add", "mine@people.example", "--role", "merchant:owner", "--mid", "{mid}"),
    ("user", "link", "{obi}", "--reset"),
]


@pytest.mark.parametrize("words", PROPOSING, ids=" ".join)
def test_these_commands_change_nothing_in_live(office: Office, words: tuple[str, ...]) -> None:
    def state() -> Any:
        tables = ("merchant", "merchant_key", "signing_secret", "console_user", "console_link", "dispute", "loan")
        return [
            office.deployment.fetch(f"select md5(string_agg(t::text, '|' order by t::text)) from {t} t")
            for t in (*tables, "virtual_card_dispute")
        ]

    before = state()
    filled = [word.replace("{mid}", office.mid).replace("{obi}", office.emails["obi"]) for word in words]
    number = office.propose(*filled)
    assert state() == before
    assert office.ada.post(f"/operator/approvals/{number}/reject").http == 303


@pytest.mark.parametrize(
    "words",
    [
        ("merchant", "add-key", "{mid}", "--name", "report", "--scope", "read"),
        ("merchant", "add-key", "{mid}", "--name", "shop", "--scope", "collect"),
        ("merchant", "set", "{mid}", "--webhook-order", "strict"),
        ("user", "list"),
    ],
    ids=" ".join,
)
def test_what_one_person_decides_a_command_does_at_once(office: Office, words: tuple[str, ...]) -> None:
    assert PROPOSED not in office.deployment.run_command(*(word.replace("{mid}", office.mid) for word in words))


def test_keys_of_a_vendor_are_of_one_account_when_two_operators_say_so(office: Office) -> None:
    live, aliases = office.deployment, "select 1 from vendor_account_alias where account = 'former'"
    live.fetch("insert into vendor_account (rail, account) values ('paystack', 'former')")
    environ = {**live._environment, "KASUWA_PAYSTACK_SECRET_KEY": "sk_live_another"}
    done = run_kasuwa(("rail", "accounts", "--same", "paystack"), environ)
    assert PROPOSED in done.stdout, done
    number = int(done.stdout.split()[1])
    assert "former" in office.obi.get("/operator/approvals").words
    assert approve(office.ada, number).http == 303
    assert live.fetch(aliases) == []
    assert "Your role does not allow" in approve(office.finance, number).words
    assert approve(office.obi, number).http == 303
    assert len(live.fetch(aliases)) == 1


def test_a_key_that_two_operators_approved_is_shown_to_the_second(office: Office) -> None:
    number = office.propose("merchant", "add-key", office.mid, "--name", "payroll", "--scope", "payout")
    assert "data-key" not in approve(office.ada, number).text
    shown = approve(office.obi, number)
    key = shown.text.partition("data-key>")[2].partition("<")[0]
    shop = office.shop()
    with shop.connection:
        shop.key = key
        assert shop.put("resources", inquire="wallet").body["status"] == 200
    holders = office.fetch_one("select holders from merchant_key where name = 'payroll'")
    assert holders == [office.emails["obi"]]


def test_what_cannot_be_done_any_more_stays_open_and_says_why(office: Office) -> None:
    number = office.propose("loan", "write-off", office.mid, "LN404")
    assert approve(office.ada, number).http == 303
    refused = approve(office.obi, number)
    assert (refused.http, "loan" in refused.words.lower()) == (422, True)
    assert office.obi.post(f"/operator/approvals/{number}/reject").http == 303
    state = office.fetch_one("select state from manual_posting where approval_id = $1", number)
    assert state == "rejected"


# --- nobody is whom a command names -----------------------------------------------------------------------------------


def test_two_approvers_of_a_command_must_be_independent_and_older_than_it(office: Office) -> None:
    number = office.propose("rates", "set", "KES", "--buy=11", "--sell=12")
    _, young = join(office.deployment, "operator:finance")
    assert "proposed before your account was made" in approve(young, number).words
    email, friend = join(office.deployment, "operator:finance")
    later = office.propose("rates", "set", "GHS", "--buy=110", "--sell=120")
    office.deployment.fetch_as_service(
        "update console_user set makers = array[$1] where email = $2", office.emails["ada"], email
    )
    assert approve(friend, later).http == 303
    assert "not independent" in approve(office.ada, later).words
    with pytest.raises(Exception, match="cannot be approved by this person"):
        office.deployment.fetch(
            "update approval set state = 'approved', decided_by = $2, decided_at = now() where approval_id = $1",
            later,
            user_id_of(office.deployment, office.emails["ada"]),
        )
    with pytest.raises(Exception, match="needs two operators"):
        office.deployment.fetch(
            "update approval set state = 'approved', decided_by = $2, decided_at = now() where approval_id = $1",
            number,
            user_id_of(office.deployment, office.emails["ada"]),
        )
    assert approve(office.obi, later).http == 303


def test_the_approval_of_an_operator_who_was_disabled_does_not_count(office: Office) -> None:
    email, leaving = join(office.deployment, "operator:finance")
    number = office.propose("rates", "set", "KES", "--buy=13", "--sell=14")
    assert approve(leaving, number).http == 303
    office.deployment.run_command("user", "disable", email)
    assert approve(office.ada, number).http == 303
    assert office.deployment.fetch("select 1 from exchange_rate where buy = 1300") == []
    assert approve(office.obi, number).http == 303
    assert len(office.deployment.fetch("select 1 from exchange_rate where buy = 1300")) == 1


@pytest.mark.parametrize("change", ["disabled_at = now()", "account_since = now()", "role = 'operator:support'"])
def test_a_proposal_is_void_once_its_proposer_no_longer_stands_for_it(office: Office, change: str) -> None:
    live = office.deployment
    email, leaving = join(live, "operator:finance")
    leaving.get("/operator/approvals")
    assert leaving.post("/operator/approvals/rate", currency="GHS", buy="15", sell="16", reason="new").http == 303
    number = office.fetch_one("select max(approval_id) from approval where kind = 'rate'")
    live.fetch_as_service(f"update console_user set {change} where email = $1", email)
    refused = approve(office.ada, number)
    assert (refused.http, "Reject it, and propose it again" in refused.words) == (422, True)
    assert live.fetch("select 1 from exchange_rate where buy = 1500") == []
    if not change.startswith("role"):
        with pytest.raises(Exception, match="has no proposer any more"):
            live.fetch(
                "update approval set state = 'approved', decided_by = $2, decided_at = now() where approval_id = $1",
                number,
                user_id_of(live, office.emails["ada"]),
            )
    assert office.ada.post(f"/operator/approvals/{number}/reject").http == 303


def test_disabling_the_others_does_not_make_one_operator_the_only_one(office: Office) -> None:
    emails = [join(office.deployment, "operator:support")[0] for _ in range(2)]
    query = "select count(*) from console_user where mid is null and joined_at is not null and disabled_at is null"
    before = office.fetch_one(query)
    office.deployment.run_command("user", "disable", emails[0])
    assert office.fetch_one(query) == before - 1
    office.deployment.fetch_as_service("update console_user set disabled_at = now() where mid is null")
    try:
        office.propose("user", "add", f"person{next(numbers)}@people.example", "--role", "operator:admin")
    finally:
        office.deployment.fetch_as_service("update console_user set disabled_at = null where mid is null")


# --- pages ------------------------------------------------------------------------------------------------------------


def test_limits_and_rails_of_a_merchant_are_proposed_on_their_pages(office: Office) -> None:
    page = f"/operator/merchants/{office.mid}"
    before = office.settings()
    office.ada.get(page)
    assert office.ada.post(f"{page}/limits", **{"least-NGN": "2.00", "most-NGN": "9.00"}).place == "/operator/approvals"
    number = office.fetch_one("select max(approval_id) from approval where kind = 'settings'")
    assert office.settings() == before
    assert "another operator must decide" in approve(office.ada, number).words
    assert approve(office.finance, number).http == 303
    assert office.settings()["limits"] == {"NGN": ["2.00", "9.00"]}
    assert office.ada.post(f"{page}/rails").place == "/operator/approvals"
    number = office.fetch_one("select max(approval_id) from approval where kind = 'settings'")
    assert "Your role does not allow" in approve(office.finance, number).words
    assert approve(office.obi, number).http == 303
