"""Operators assign money in suspense: on the page and by command, by two of them, also after a crash."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import pytest

from kasuwa.boot.composition import Services
from kasuwa.console.operator import suspense
from kasuwa.console.operator.manual_posting import ProposedPosting, Verdict, decide_verdict, need_verdict
from kasuwa.core.decision import AuditEntry
from kasuwa.engine.rule_submission import submit_rule
from kasuwa.methods.payment.rules.receipts.rail_receipt import decide_receipt, need_receipt_rows
from kasuwa.settings.settings import read_settings
from kasuwa.transactions.inbound_accounts import ArrivedReceipt
from tests.console.test_operator_pages import propose
from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")


def submit(deployment: Deployment, shop: MerchantClient, needs: Any, decide: Any) -> None:
    """Has a rule decide in the books of a merchant."""
    [(merchant_id,)] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", shop.mid)

    async def run() -> None:
        services = await Services.build(read_settings(deployment._environment), deployment.dsn)
        services.writer.start()
        try:
            merchant = await services.merchant_directory.get_by_id(merchant_id)
            await submit_rule(services.writer, merchant, needs(merchant), decide)
        finally:
            await services.close()

    asyncio.run(run())


def receive(deployment: Deployment, shop: MerchantClient, reference: str, amount: int = 33_300) -> None:
    """Books money that came into an account which is nobody's, in the books of a merchant."""
    receipt = ArrivedReceipt("paystack", reference, "9900000009", "", amount, "NGN")
    submit(deployment, shop, partial(need_receipt_rows, receipt), partial(decide_receipt, receipt))


def decide_and_die(deployment: Deployment, shop: MerchantClient, number: int) -> None:
    """Approves as the administrator in the books that hold the money. The process dies before it does more."""
    [(proposal,)] = deployment.fetch("select proposal::text from approval where approval_id = $1", number)
    [(user_id,)] = deployment.fetch("select max(user_id) from console_user where role = 'operator:admin'")
    posting = msgspec.json.decode(proposal, type=ProposedPosting)
    verdict = Verdict(number, "approved", user_id, posting, AuditEntry("admin", "approved", f"approval {number}"))
    submit(deployment, shop, partial(need_verdict, verdict), partial(decide_verdict, verdict))


def suspense_of(deployment: Deployment, shop: MerchantClient) -> int:
    query = """
        select a.posted from account a join merchant m on m.merchant_id = a.merchant_id and m.current
        where m.mid = $1 and a.name = 'suspense:inbound:NGN'
    """
    return int(deployment.fetch(query, shop.mid)[0][0])


def test_money_in_suspense_is_assigned_by_two_operators_once(deployment: Deployment, shop: MerchantClient) -> None:
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    reference = f"T-own-{shop.mid}"
    receive(deployment, shop, reference)
    assert reference in finance.get("/operator/reconciliation").words
    before = shop.wallet().balance
    number = propose(finance, "suspense_assign", mid=shop.mid, reference=reference)
    again = finance.post("/operator/approvals/suspense_assign", mid=shop.mid, reference=reference, reason="again")
    assert (again.http, "proposed or under way already" in again.words) == (422, True)
    assert finance.post(f"/operator/approvals/{number}/approve").http != 303
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    assert (shop.wallet().balance, suspense_of(deployment, shop)) == (before + 33_300, 0)
    gone = finance.post("/operator/approvals/suspense_return", reference=reference, reason="again")
    assert (gone.http, "no money in suspense" in gone.words) == (422, True)
    assert deployment.broken_invariants([shop.mid]) == []


def test_money_goes_to_another_merchant_also_after_a_crash_between_their_books(
    deployment: Deployment, shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    other_shop = open_shop()
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    reference = f"T-other-{shop.mid}"
    receive(deployment, shop, reference)
    before = other_shop.wallet().balance
    number = propose(finance, "suspense_assign", mid=other_shop.mid, reference=f"paystack {reference}")
    decide_and_die(deployment, shop, number)
    assert (other_shop.wallet().balance, suspense_of(deployment, shop)) == (before, 0)
    admin.get("/operator/approvals")
    assert deployment.fetch("select state from approval where approval_id = $1", number) == [("open",)]
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    assert other_shop.wallet().balance == before + 33_300
    assert deployment.fetch("select state from approval where approval_id = $1", number) == [("approved",)]
    assert deployment.broken_invariants([shop.mid, other_shop.mid]) == []


def test_money_that_cannot_be_assigned_any_more_stays_where_it_is(
    deployment: Deployment, shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    """A manual posting has moved it on meanwhile, or the merchant who gets it has new books."""
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    other_shop = open_shop()
    receive(deployment, shop, f"T-reset-{shop.mid}", 700)
    number = propose(finance, "suspense_assign", mid=other_shop.mid, reference=f"T-reset-{shop.mid}")
    assert other_shop.put("sandbox", action="reset").body["status"] == 200
    admin.get("/operator/approvals")
    answer = admin.post(f"/operator/approvals/{number}/approve")
    assert (answer.http, "has new books" in answer.words, suspense_of(deployment, shop)) == (422, True, 700)
    assert admin.post(f"/operator/approvals/{number}/reject").http == 303
    number = propose(finance, "suspense_assign", mid=shop.mid, reference=f"T-reset-{shop.mid}")
    posting = {"debit": "suspense:inbound:NGN", "credit": "wallet:main:NGN", "amount": "7.00"}
    first = propose(finance, "posting", mid=shop.mid, **posting)
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{first}/approve").http == 303
    answer = admin.post(f"/operator/approvals/{number}/approve")
    assert (answer.http, "a manual posting has moved it" in answer.words) == (422, True)
    assert deployment.broken_invariants([shop.mid]) == []


@pytest.mark.parametrize("kind", sorted(suspense.KINDS))
def test_every_fault_of_a_proposal_is_named(deployment: Deployment, kind: str) -> None:
    finance = sign_in_as(deployment, "operator:finance")
    finance.get("/operator/approvals")
    answer = finance.post(f"/operator/approvals/{kind}", mid="GP9999999", reference="x' or 1=1", reason="")
    assert answer.http == 422
    assert "no money in suspense has this reference" in answer.words
    assert "enter a reason" in answer.words
    # The form that lists the accounts of a merchant says so too.
    assert answer.words.count("no merchant has this mid") == (2 if kind == suspense.ASSIGN else 1)


def test_a_command_proposes_and_two_operators_approve(deployment: Deployment, shop: MerchantClient) -> None:
    finance, admin = (sign_in_as(deployment, role) for role in ("operator:finance", "operator:admin"))
    reference = f"T-command-{shop.mid}"
    receive(deployment, shop, reference, 1_000)
    run: Any = deployment.run_command
    assert f"paystack {reference}" in run("reconcile", "suspense")
    [(email,)] = deployment.fetch(
        "select u.email from console_user u where u.role = 'operator:finance' and u.joined_at is not null limit 1"
    )
    wrong = deployment.run_refused_command(
        "reconcile", "assign", "nothing", "GP9999999", "--reason", "", "--as", "nobody@example.com"
    )
    for fault in ("--as", "--reason", "reference:", "mid:"):
        assert fault in wrong
    printed = run("reconcile", "assign", reference, shop.mid, "--reason", "found", "--as", email)
    number = printed.split()[1]
    before = shop.wallet().balance
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    assert admin.post(f"/operator/approvals/{number}/approve").http == 422, "whom the command named proved nothing"
    assert shop.wallet().balance == before
    finance.get("/operator/approvals")
    assert finance.post(f"/operator/approvals/{number}/approve").http == 303
    assert shop.wallet().balance == before + 1_000
    entries = deployment.fetch("select subject from audit_entry where action like 'proposed an assign%'")
    assert f"approval {number}, as {email}" in [row[0] for row in entries]
    assert deployment.broken_invariants([shop.mid]) == []
