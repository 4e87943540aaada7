"""The operator's pages over HTTP: merchants, books, jobs and approvals."""

import asyncio
import base64
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from kasuwa.api.dispatch import SUSPENDED
from kasuwa.audit.invariants.ledger import INVARIANTS, check_invariants
from kasuwa.console.merchant.store import PAGE_ROWS
from kasuwa.console.operator import reads
from kasuwa.console.operator.reads import AuditCursor
from kasuwa.postgres.advisory_locks import AdvisoryLock
from tests.console.visitor import PageReply, Visitor, link_for, sign_in_as, sign_in_link
from tests.merchant_client import MerchantClient
from tests.methods.virtualcard.card_client import BILLING
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")

SECRET = base64.b64encode(bytes(range(32))).decode()


@pytest.fixture
def admin(deployment: Deployment) -> Visitor:
    return sign_in_as(deployment, "operator:admin")


@pytest.fixture
def finance(deployment: Deployment) -> Visitor:
    return sign_in_as(deployment, "operator:finance")


def page_of(shop: MerchantClient) -> str:
    return f"/operator/merchants/{shop.mid}"


# --- merchants ----------------------------------------------------------------------------------------------------


def test_a_merchant_is_added_with_a_key_and_an_owner(deployment: Deployment, admin: Visitor) -> None:
    admin.get("/operator/merchants")
    assert admin.post("/operator/merchants", name="").http == 422
    page = admin.post("/operator/merchants", name="Ada & Sons")
    mid = page.words.partition(" mid ")[2].split()[0]
    key = page.text.partition('class="copyable">')[2].partition("<")[0]
    with deployment.connect() as wire:
        assert MerchantClient(wire, mid, key).put("resources", inquire="wallet").http == 200
    assert mid in admin.get("/operator/merchants?q=ada+%26").words
    assert "an email address such as" in admin.post(f"/operator/merchants/{mid}/invite", email="x").words
    invited = admin.post(f"/operator/merchants/{mid}/invite", email=f"owner.{mid}@example.com")
    assert "/link/" not in admin.get(invited.place).text
    owner, link = Visitor(deployment), link_for(deployment, f"owner.{mid}@example.com")
    owner.get(link)
    assert owner.post(link, password="four words in row", again="four words in row").place == "/"
    assert "Welcome, Ada & Sons" in owner.get("/").words


def test_a_suspended_merchant_is_refused_everywhere_until_it_is_resumed(
    deployment: Deployment, admin: Visitor, shop: MerchantClient
) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    sent = shop.transfer()["txnRef"]
    admin.get(page_of(shop))
    assert "Nothing has been changed yet" in admin.post(f"{page_of(shop)}/suspend").words
    assert shop.put("resources", inquire="wallet").http == 200
    admin.post(f"{page_of(shop)}/suspend", confirmed="yes")
    assert shop.put("resources", inquire="wallet").http == 401
    order = {"amount": "1.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": "s1"}
    assert SUSPENDED.message in owner.post("/transfers/send", **order).words
    assert sent in owner.get("/transactions").words
    assert owner.get(f"/transactions/{quote(sent, safe='')}").http == 200
    admin.post(f"{page_of(shop)}/resume")
    assert shop.put("resources", inquire="wallet").http == 200


def test_limits_are_set_checked_and_obeyed(finance: Visitor, shop: MerchantClient) -> None:
    finance.get(page_of(shop))
    assert "above zero" in finance.post(f"{page_of(shop)}/limits", **{"least-NGN": "5", "most-NGN": "1"}).words
    assert finance.post(f"{page_of(shop)}/limits", rate="fast").http == 422
    assert (
        finance.post(f"{page_of(shop)}/limits", **{"least-NGN": "5.00", "most-NGN": "50.00"}, rate="10,20").http == 303
    )
    wait_until("they are obeyed", lambda: shop.transfer(amount="51.00")["status"] == 104)
    assert 'value="50.00"' in finance.get(page_of(shop)).text


# --- books --------------------------------------------------------------------------------------------------------


def test_the_trial_balance_links_to_statements_postings_and_timelines(admin: Visitor, shop: MerchantClient) -> None:
    sent = shop.transfer(amount="1500.00")
    books = admin.get(f"{page_of(shop)}/books")
    assert books.words.count("balanced") == 2
    statement = admin.get(f"{page_of(shop)}/accounts/{quote('wallet:main:NGN')}")
    assert sent["txnRef"] in statement.words
    link = statement.text.partition("/postings/")[2].partition('"')[0]
    posting = admin.get(f"{page_of(shop)}/postings/{link}")
    assert sent["txnRef"] in posting.words
    assert "rail:bank:NGN" in posting.words
    assert "Transfer Successful" in posting.words
    assert admin.get(f"{page_of(shop)}/accounts/wallet:other:NGN").http == 404


def test_the_invariant_check_finds_no_violation(admin: Visitor, shop: MerchantClient) -> None:
    shop.transfer()
    admin.get("/operator/laws")
    assert "Every invariant holds" in admin.post("/operator/laws").words


def test_other_operators_see_the_result_and_time_of_the_last_check(deployment: Deployment, finance: Visitor) -> None:
    finance.get("/operator/laws")
    assert finance.post("/operator/laws").http == 200
    reader = sign_in_as(deployment, "operator:read-only")
    page = reader.get("/operator/laws")
    assert "Every invariant holds" in page.words
    assert page.words.count(" holds ") >= len(INVARIANTS)
    assert "never checked" not in page.words
    assert "Run check" not in page.words
    assert reader.post("/operator/laws").http == 403


def test_only_one_invariant_check_runs_at_a_time(deployment: Deployment, admin: Visitor) -> None:
    admin.get("/operator/laws")
    deployment.fetch("select pg_advisory_lock($1)", AdvisoryLock.AUDIT)
    try:
        answer = admin.post("/operator/laws")
    finally:
        deployment.fetch("select pg_advisory_unlock($1)", AdvisoryLock.AUDIT)
    assert (answer.http, "running already" in answer.words) == (409, True)
    assert admin.post("/operator/laws").http == 200
    assert admin.post("/operator/laws").http == 200, "nobody keeps the lock"


def test_an_invariant_check_that_takes_too_long_is_stopped(deployment: Deployment, admin: Visitor) -> None:
    """A table that the laws read and nothing else here does is locked meanwhile."""
    admin.get("/operator/laws")

    async def check_while_locked(connection: Any) -> PageReply:
        async with connection.transaction():
            await connection.execute("lock table client_bvn in access exclusive mode")
            return await asyncio.to_thread(admin.post, "/operator/laws")

    answer = deployment.run_on_connection(check_while_locked)
    assert (answer.http, "kasuwa audit" in answer.words) == (503, True)
    assert admin.post("/operator/laws").http == 200, "nobody keeps the lock"


def test_each_invariant_has_a_timeout(deployment: Deployment) -> None:
    async def check(connection: Any) -> None:
        with pytest.raises(TimeoutError):
            await check_invariants(connection, seconds=0)

    deployment.run_on_connection(check)


SAME_MOMENT = """
    insert into audit_entry (merchant_id, seq, at, actor, address, action, subject, before, after, hash)
    select m.merchant_id, 1000 + n, '2027-01-01 00:00:00.123456Z', 'ada', '', 'same moment', '', '', '', ''
    from merchant m, generate_series(1, 60) n where mid = any($1)
"""


def test_audit_pages_do_not_skip_entries_of_the_same_moment(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    """Inserts entries without the trigger that sets their times, in a transaction that is rolled back."""
    mids = [open_shop().mid for _ in range(2)]

    async def walk(connection: Any) -> list[tuple[str | None, int]]:
        seen, before, planted = [], reads.FIRST_AUDIT_PAGE, connection.transaction()
        await planted.start()
        await connection.execute("set local session_replication_role = replica")
        await connection.execute(SAME_MOMENT, mids)
        while page := (await reads.list_audit_entries(connection, before))[:PAGE_ROWS]:
            seen += [(entry.mid, entry.seq) for entry in page if entry.action == "same moment"]
            before = AuditCursor.decode(AuditCursor(page[-1].at, page[-1].merchant_id, page[-1].seq).encode())
        await planted.rollback()
        return seen

    seen = deployment.run_on_connection(walk)
    assert sorted(seen) == sorted((mid, 1000 + n) for mid in mids for n in range(1, 61))


def test_an_invalid_audit_cursor_shows_the_newest_entries(admin: Visitor) -> None:
    newest = admin.get("/operator/trail").content
    for before in (
        "x",
        "2026-01-01_1_1",
        "2026-01-01T00:00:00Z_1_99999999999999999999",
        "0001-01-01T00:00:00Z_0_0",
        "__",
    ):
        assert admin.get(f"/operator/trail?before={before}").content == newest


# --- work ---------------------------------------------------------------------------------------------------------


def test_an_open_transaction_can_be_requeried_at_once(
    deployment: Deployment, admin: Visitor, shop: MerchantClient
) -> None:
    shop.transfer(accountnumber="0000000020")
    # By its merchant: references are one merchant's own, and another's first transfer may have the same.
    mine = "select key from scheduled_job join merchant using (merchant_id) where mid = $1"
    key = deployment.fetch(mine, shop.mid)[0][0]
    deployment.fetch("update scheduled_job set run_at = 'infinity' where key = $1", key)
    assert "The bank is asked for the outcome" in admin.get("/operator/work").text
    tried = "select attempt from scheduled_job where key = $1"
    before = deployment.fetch(tried, key)[0][0]
    assert admin.post(f"/operator/work/{key.hex()}").http == 303
    wait_until("the rail is asked", lambda: deployment.fetch(tried, key)[0][0] > before)
    assert admin.post("/operator/work/nonsense").http == 404
    assert "asked the rail again" in admin.get("/operator/trail").words


def test_jobs_with_a_business_date_cannot_be_run_early(
    admin: Visitor, shop: MerchantClient, deployment: Deployment
) -> None:
    """Fees, expiries and due dates have a business time: an early run would take money that is not owed yet."""
    made = shop.put("virtualcard", action="create", billing=BILLING, amount=100, currency="USD").body
    shop.put("cashcode", action="generate", amount="500.00", pin="2580", channel="ATM", orderRef="cash")
    mine = "select key, kind, run_at from scheduled_job join merchant using (merchant_id) where mid = $1 order by kind"
    waiting = deployment.fetch(mine, shop.mid)
    assert [row[1] for row in waiting] == ["cashcode.expire", "virtualcard.monthly"]
    admin.get("/operator/work")
    for key, _, _ in waiting:
        assert admin.post(f"/operator/work/{key.hex()}").http == 404
        assert key.hex() not in admin.get("/operator/work").text
    assert deployment.fetch(mine, shop.mid) == waiting
    card = shop.put("virtualcard", action="get", reference=made["card_data"]["reference"]).body["card_data"]
    assert card["balance"] == "100.00"


def test_a_contradicting_rail_makes_a_notice_and_sign_ins_are_recorded(admin: Visitor, shop: MerchantClient) -> None:
    sent = shop.transfer(orderRef="told")
    shop.put("sandbox", action="settle", orderRef="told", outcome="failed")
    assert sent["txnRef"] in admin.get("/operator/notices").words
    assert "used a link" in admin.get("/operator/trail").words


# --- two persons --------------------------------------------------------------------------------------------------


def propose(visitor: Visitor, kind: str, **fields: str) -> int:
    """The number of what was proposed."""
    visitor.get("/operator/approvals")
    answer = visitor.post(f"/operator/approvals/{kind}", reason="because", **fields)
    assert answer.http == 303, answer.words
    text = visitor.get("/operator/approvals").text
    return int(text.partition("/operator/approvals/")[2].partition("/")[0])


def test_a_manual_posting_needs_two_operators_and_is_made_once(
    admin: Visitor, finance: Visitor, shop: MerchantClient
) -> None:
    before = shop.wallet().balance
    movement = {"mid": shop.mid, "debit": "outside:funding:NGN", "credit": "wallet:main:NGN", "amount": "12.34"}
    number = propose(finance, "posting", **movement)
    assert "another operator must decide" in finance.post(f"/operator/approvals/{number}/approve").words
    assert shop.wallet().balance == before
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    assert shop.wallet().balance == before + 1_234
    assert admin.post(f"/operator/approvals/{number}/approve").http == 404
    assert "approved a manual posting" in admin.get("/operator/trail").words


def test_a_posting_that_the_books_refuse_stays_open_and_can_be_withdrawn(
    admin: Visitor, finance: Visitor, shop: MerchantClient
) -> None:
    movement = {"mid": shop.mid, "debit": "wallet:main:KES", "credit": "outside:funding:KES", "amount": "1.00"}
    number = propose(finance, "posting", **movement)
    admin.get("/operator/approvals")
    assert "does not cover" in admin.post(f"/operator/approvals/{number}/approve").words
    assert finance.post(f"/operator/approvals/{number}/reject").http == 303
    assert admin.post(f"/operator/approvals/{number}/approve").http == 404


def test_the_database_refuses_the_approval_of_ones_own_proposal(
    deployment: Deployment, finance: Visitor, shop: MerchantClient
) -> None:
    number = propose(
        finance, "posting", mid=shop.mid, debit="outside:funding:NGN", credit="wallet:main:NGN", amount="1.00"
    )
    decide = "update approval set state = 'approved', decided_by = proposed_by where approval_id = $1"
    with pytest.raises(Exception, match="two_persons"):
        deployment.fetch(decide, number)
    assert finance.post(f"/operator/approvals/{number}/reject").http == 303


def test_a_write_off_moves_a_balance_towards_zero_and_no_further(
    admin: Visitor, finance: Visitor, shop: MerchantClient
) -> None:
    shop.transfer(amount="100.00")
    account = {"mid": shop.mid, "account": "rail:bank:NGN"}
    finance.get("/operator/approvals")
    answer = finance.post("/operator/approvals/write_off", **account, amount="100.01", reason="gone")
    assert (answer.http, "must not exceed the account's balance" in answer.words) == (422, True)
    number = propose(finance, "write_off", **account, amount="40.00")
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    assert "60.00" in admin.get(f"{page_of(shop)}/accounts/rail:bank:NGN").words


def test_a_tariff_is_checked_proposed_and_then_charged(admin: Visitor, finance: Visitor, shop: MerchantClient) -> None:
    finance.get("/operator/approvals")
    for wrong in ("nonsense", '{"vat_percent_on_fees": "lots"}'):
        answer = finance.post("/operator/approvals/tariff", mid=shop.mid, tariff=wrong, reason="r")
        assert (answer.http, "overrides the default tariff" in answer.words) == (422, True)
    tariff = '{"transfer": {"bands": [{"up_to": null, "fee": "7.00"}]}}'
    number = propose(finance, "tariff", mid=shop.mid, tariff=tariff)
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    wait_until("it is charged", lambda: shop.verify(shop.transfer()["orderRef"])["fee"] == "7.00")


def test_a_rate_needs_two_operators_and_is_shown_with_its_history(
    deployment: Deployment, admin: Visitor, finance: Visitor
) -> None:
    finance.get("/operator/approvals?kind=rate")
    wrong = finance.post("/operator/approvals/rate", currency="KES", buy="12.00", sell="11.99", reason="r")
    assert (wrong.http, "a round trip would earn" in wrong.words) == (422, True)
    assert finance.post("/operator/approvals/rate", currency="EUR", buy="1", sell="2", reason="r").http == 422
    # KES, which no other test exchanges: a rate is everybody's.
    number = propose(finance, "rate", currency="KES", buy="11.50", sell="12.25")
    assert "another operator must decide" in finance.post(f"/operator/approvals/{number}/approve").words
    assert "12.25" not in admin.get("/operator/rates").words
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    shown = finance.get("/operator/rates")
    assert "KES/NGN We buy at NGN 11.50 We sell at NGN 12.25" in shown.words
    assert " and person" in shown.words.partition("active")[2]
    reader = sign_in_as(deployment, "operator:read-only")
    assert "Propose a rate" not in reader.get("/operator/rates").words
    trail = admin.get("/operator/trail").words
    assert "buy 11.50, sell 12.25" in trail
    assert "approved an exchange rate" in trail


@pytest.mark.parametrize(
    ("kind", "fields", "fault"),
    [
        ("posting", {"debit": "x", "credit": "wallet:main:NGN", "amount": "1"}, "debit"),
        ("posting", {"mid": "GP9999999", "debit": "x"}, "mid"),
        ("write_off", {"account": "wallet:other:NGN", "amount": "1"}, "account"),
        ("rate", {"currency": "USD", "buy": "1,5", "sell": "2"}, "buy"),
    ],
)
def test_errors_of_a_proposal_are_shown_at_their_fields(
    finance: Visitor, shop: MerchantClient, kind: str, fields: dict[str, str], fault: str
) -> None:
    finance.get("/operator/approvals")
    answer = finance.post(f"/operator/approvals/{kind}", **{"mid": shop.mid, **fields})
    assert answer.http == 422
    assert f'id="fault-{kind.replace("_", "-")}-{fault}"' in answer.text
    assert finance.post("/operator/approvals/nonsense").http == 404


# --- live ---------------------------------------------------------------------------------------------------------


def test_live_has_no_sandbox_and_no_demo_user_and_requires_a_second_factor(deployments: Deployments) -> None:
    settings = {"KASUWA_ENVIRONMENT": "live", "KASUWA_SECRET_KEY": SECRET}
    with deployments.fresh("live_console", **settings) as live:
        assert "sign in once" not in live.out.read_text()
        assert live.fetch("select 1 from console_user") == []
        visitor = Visitor(live)
        _, link = sign_in_link(live, "operator:admin")
        visitor.get(link)
        assert "secure" in visitor.post(link).headers["set-cookie"].lower()
        assert visitor.get("/operator/merchants").place == "/account/second-factor"
        assert visitor.get("/sandbox").http == 404
        assert visitor.get("/account/second-factor").http == 200
        assert live.new_stderr() == ""
