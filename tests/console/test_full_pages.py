"""Pages of the console at their fullest, under the watchdog: none holds the event loop for longer than it may.

The records are made through the API where that is quick, and by SQL on a database of its own where it is not.
"""

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest

from kasuwa.authority.roles import MERCHANT_ROLES
from kasuwa.console.merchant.store import PAGE_ROWS
from kasuwa.console.routes import ConsolePage
from kasuwa.methods.investments.wire import MAX_MEMBERS
from kasuwa.projections.timeline import MAX_ENTRIES
from tests.console.sample_merchant import SampleMerchant
from tests.console.visitor import DEPLOYED, LARGEST_PAGE, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.investments import savers
from tests.methods.loans.lending_client import LendingClient
from tests.methods.payment.payment_client import PaymentClient, card
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment, Deployments

pytestmark = pytest.mark.xdist_group("full console")

# More than a page of any list.
ROWS = 52
PEOPLE = 1_000
EXPORTED = ".csv"
READ = [page for page in DEPLOYED if page.http_method == "GET"]

# $1 is the merchant; each makes many rows, or many of what one page shows.
FILL = (
    "insert into account (key, merchant_id, name, currency, posted, held)"
    " select sha224(('full ' || n)::bytea), $1::bigint, 'savings:FULL' || n || ':NGN', 'NGN', 0, 0"
    " from generate_series(1, 1000) n",
    "insert into operator_notice (merchant_id, reference, message, at)"
    " select $1::bigint, 'GP|FD|' || n, 'a contradiction of the rail', now() from generate_series(1, 60) n",
    "insert into exchange_rate (currency, buy, sell, set_by) "
    "select 'USD', 150000 + n, 160000 + n, 'somebody@example.com'"
    " from generate_series(1, 60) n where $1::bigint > 0",
    "insert into merchant (merchant_id, mid, name, current)"
    " select 1000000 + n, 'GP' || 8000000 + n, 'Full ' || n, true from generate_series(1, 60) n where $1::bigint > 0",
    "insert into delivery_attempt (merchant_id, endpoint_id, event_seq, number, at, http, error, ms)"
    " select $1::bigint, 1, 1, 1000 + n, now(), 500, 'HTTP 500 and a longer reason that is kept', 120"
    " from generate_series(1, 2000) n",
)
ADD_PEOPLE = """
    insert into console_user (email, mid, role, joined_at, password)
    select 'full' || n || '.' || coalesce($1::text, 'operator') || '@example.com', $1::text, $2::text, now(), 'x'
    from generate_series(1, $3::int) n
"""
ADD_MEMBERS = """
    insert into thrift_member
        (key, merchant_id, thrift_id, position, savings_id, client_id, contributed, received, owed)
    select sha224(('full ' || m.merchant_id || ' ' || n)::bytea), m.merchant_id, m.thrift_id, n, m.savings_id,
        m.client_id, 0, 0, 0
    from thrift_member m, generate_series(2, $2::int) n
    where m.merchant_id = $1 and m.thrift_id = $3 and m.position = 1
"""
# One savings account in very many plans.
ADD_PLANS = """
    with made as (
        insert into thrift_plan (key, merchant_id, thrift_id, number, name, amount, frequency, start_date,
            member_required, members, state, begins, cycle, tries, next_date, created_at)
        select sha224(('plan ' || p.merchant_id || ' ' || n)::bytea), p.merchant_id, 'TF' || n, 1000000 + n, p.name,
            p.amount, p.frequency, p.start_date, p.member_required, 1, p.state, p.begins, p.cycle, p.tries,
            p.next_date, p.created_at
        from thrift_plan p, generate_series(1, $2::int) n where p.merchant_id = $1 and p.thrift_id = $3
        returning merchant_id, thrift_id)
    insert into thrift_member
        (key, merchant_id, thrift_id, position, savings_id, client_id, contributed, received, owed)
    select sha224(('in ' || p.thrift_id || p.merchant_id)::bytea), p.merchant_id, p.thrift_id, 1, m.savings_id,
        m.client_id, 0, 0, 0
    from made p, thrift_member m where m.merchant_id = $1 and m.thrift_id = $3 and m.position = 1
"""
EVERY_DAY = {"interestRate": "0.1", "interestFrequency": "every_day"}


class FullWorld(SampleMerchant):
    """A merchant with more of everything than a page holds, and the largest of each to look at."""

    def __init__(self, deployment: Deployment) -> None:
        super().__init__(deployment)
        [[number]] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", self.mid)
        for sql in FILL:
            deployment.fetch(sql, number)
        deployment.fetch(ADD_MEMBERS, number, MAX_MEMBERS, self.records["thrift"])
        deployment.fetch(ADD_PLANS, number, 500, self.records["thrift"])
        deployment.fetch_as_service(ADD_PEOPLE, self.mid, "merchant:finance", PEOPLE)
        deployment.fetch_as_service(ADD_PEOPLE, None, "operator:support", PEOPLE)
        with deployment.connect() as wire:
            shop = MerchantClient(wire, self.mid, self.shop.key)
            self.add_records(shop)
            self.add_money(shop)
        assert deployment.new_stderr() == ""

    def add_records(self, shop: MerchantClient) -> None:
        bank = LendingClient(shop.connection, shop.mid, shop.key)
        for n in range(ROWS):
            streets = [{"line1": f"{n} Broad Street", "city": "Lagos", "country": "NG"} for n in range(20)]
            details = {"firstname": f"Ada {n}", "lastname": "Obi", "phone": "08031234567", "addresses": streets}
            made = shop.put("clients", action="create", data={**details, "meta": {"notes": "x" * 15_000}}).body
            self.records["clients"] = made["data"]["client_id"]
        client = bank.client()
        for _ in range(ROWS):
            self.records["loans"] = bank.lend(period=366, interestSettings=EVERY_DAY)
            savers.open_savings(shop, client, "700.00")
            savers.make_plan(shop, 3)
            shop.put("sandbox", action="beneficiary", name="Bola Ade", bankcode="058", accountnumber="0000000000")
        for _ in range(ROWS):
            bank.repay(self.records["loans"], amount="1.00")
            savers.make_deposit(shop, self.records["savings"], "1.00")

    def add_money(self, shop: MerchantClient) -> None:
        payments, cards = PaymentClient(shop), [CardClient(shop) for _ in range(ROWS)]
        self.records["cards"] = cards[0].reference
        for _ in range(ROWS):
            cards[0].ask("fund", amount="1.00")
            given = card(auth="PIN")
            begun = payments.initiate(given, is_recurring=True, recurrent={"frequency": "daily", "value": "09"})
            payments.charge(begun, given)
        order = {"accountnumber": "0000000000", "amount": "100.00", "bankcode": "058", "narration": "Invoice 1042"}
        for _ in range(2):
            shop.put("disburse", action="transfer", type="bulk", data=[order] * 1_000)


@pytest.fixture(scope="module")
def ground(deployments: Deployments) -> Iterator[tuple[Deployment, FullWorld]]:
    with deployments.fresh("full_console") as running:
        yield running, FullWorld(running)


@pytest.fixture(scope="module")
def visitors(ground: tuple[Deployment, FullWorld]) -> tuple[Visitor, Visitor]:
    """The merchant's owner, and an administrator who proposes more than the list of approvals shows."""
    running, world = ground
    admin = sign_in_as(running, "operator:admin")
    admin.get("/operator/approvals")
    movement = {"mid": world.mid, "debit": "outside:funding:NGN", "credit": "wallet:main:NGN", "amount": "9.00"}
    for _ in range(101):
        assert admin.post("/operator/approvals/posting", **movement, reason="a reason " * 40).http == 303
    return sign_in_as(running, "merchant:owner", world.mid), admin


@pytest.mark.parametrize("page", READ, ids=lambda page: page.path)
def test_a_full_page_does_not_hold_the_event_loop(
    ground: tuple[Deployment, FullWorld], visitors: tuple[Visitor, Visitor], page: ConsolePage
) -> None:
    (running, world), (owner, admin) = ground, visitors
    merchants = isinstance(page.access, frozenset) and bool(page.access & set(MERCHANT_ROLES))
    visitor: Any = owner if merchants else admin
    seen = visitor.get(world.path_of(page.path))
    assert seen.http in ((404,) if page.path == "/link/{token}" else (200, 303)), seen.words[:200]
    assert page.path.endswith(EXPORTED) or len(seen.text.encode()) < LARGEST_PAGE
    assert running.new_stderr() == ""


@pytest.mark.parametrize("path", ["/team", "/account"])
def test_a_full_page_of_operators_does_not_hold_the_event_loop(
    ground: tuple[Deployment, FullWorld], visitors: tuple[Visitor, Visitor], path: str
) -> None:
    seen = visitors[1].get(path)
    assert (seen.http, len(seen.text.encode()) < LARGEST_PAGE) == (200, True)
    assert ground[0].new_stderr() == ""


@pytest.mark.parametrize("path", ["/transactions/{ref}", "/operator/merchants/{mid}/records/{reference}"])
def test_the_pages_of_a_long_timeline_contain_every_step(
    ground: tuple[Deployment, FullWorld], visitors: tuple[Visitor, Visitor], path: str
) -> None:
    visitor, place = visitors[path.startswith("/operator")], ground[1].path_of(path)
    query, steps, earlier = "", 0, 1
    while earlier:
        page = visitor.get(f"{place}{query}")
        assert len(page.text.encode()) < LARGEST_PAGE
        steps += page.text.partition('<ol class="timeline">')[2].partition("</ol>")[0].count("<li>")
        found = re.search(r'href="([^"]+)">Show ([0-9]+) earlier steps', page.text)
        query, earlier = (found[1], int(found[2])) if found else ("", 0)
        assert steps + earlier == MAX_ENTRIES + 1


@pytest.mark.parametrize("place", ["the merchant's own page", "the operators' own page", "the operator's page of it"])
def test_the_pages_of_a_long_user_list_contain_every_user(
    ground: tuple[Deployment, FullWorld], visitors: tuple[Visitor, Visitor], place: str
) -> None:
    (running, world), (owner, admin) = ground, visitors
    path = f"/operator/merchants/{world.mid}" if place == "the operator's page of it" else "/team"
    visitor = owner if place == "the merchant's own page" else admin
    mid = None if place == "the operators' own page" else world.mid
    seen: set[str] = set()
    while path:
        page = visitor.get(path)
        shown = set(re.findall(r"[\w.]+@[\w.]+\w", page.text.partition("<main")[2]))
        assert 0 < len(shown - seen) <= PAGE_ROWS + 1
        seen |= shown
        found = re.search(r'href="([^"]+)">More users', page.text)
        path = html.unescape(found[1]) if found else ""
    emails = running.fetch("select email from console_user where mid is not distinct from $1", mid)
    assert {email for [email] in emails} <= seen
    assert len(seen) > PEOPLE
