"""Cases of the loans of a group: requested together, and collected at one meeting."""

from collections.abc import Callable
from typing import Any

import pytest

from kasuwa.cases.export import collect_case
from kasuwa.testing.cases.case_file import CaseFile
from tests.cases.test_incidents import replay
from tests.merchant_client import MerchantClient
from tests.methods.groups.test_http import NOW, Village
from tests.running import Deployment


@pytest.fixture
def village(open_shop: Callable[..., MerchantClient]) -> Village:
    shop = open_shop(now=NOW)
    # The opening balance is older than what is played.
    shop.advance(minutes=1)
    return Village(shop.connection, shop.mid, shop.key).settle_down()


def export(deployment: Deployment, shop: MerchantClient, reference: str) -> CaseFile:
    async def work(connection: Any) -> CaseFile:
        vault = await deployment.open_vault(connection)
        merchant_id = await connection.fetchval("select merchant_id from merchant where mid = $1 and current", shop.mid)
        return await collect_case(connection, vault, merchant_id, reference, "test")

    return deployment.run_on_connection(work)


@pytest.mark.parametrize("disbursement", ["one", "each"])
@pytest.mark.parametrize("asked", [0, 1])
def test_loans_that_a_meeting_collected_are_made_again(
    disbursement: str, asked: int, village: Village, deployment: Deployment
) -> None:
    made = village.request_group("1000.00", "500.00", disbursement=disbursement)["data"]
    village.process_group(made["group_loan_id"])
    loans = [line["loan_id"] for line in made["loans"]]
    village.advance(days=7)
    village.collect({loans[0]: "100.00", loans[1]: "30.00"}, customer_txnref="meeting-1")
    village.advance(days=7)
    village.collect({loans[0]: "9999.00", loans[1]: "70.00"}, apply="each")
    village.repay(loans[0], amount="100.00")
    file = export(deployment, village, loans[asked])
    assert file.case.missing == []
    collected = [one.request["amounts"] for one in file.exchanges if one.action == "loans.collect"]
    assert [[line["loan_id"] for line in amounts] for amounts in collected] == [["<loan_id 1>", "<loan_id 2>"]] * 2
    assert {"<loan_id 1>", "<loan_id 2>"} < file.case.outcome.keys()
    report = replay(file, deployment)
    assert [one.text for one in report.differences] == []
    file.exchanges[-2].request["amounts"][1]["amount"] = "10.00"
    texts = [one.text for one in replay(file, deployment).differences]
    assert any("missing: posting kind principal repaid amount 70.00" in text for text in texts), texts
