"""Every call of a rail has an operation that a fault can be limited to."""

import pytest

from kasuwa.core.action import Lookup
from kasuwa.core.scenario import OPERATIONS
from tests.merchant_client import MerchantClient
from tests.walk.rows import ACTION_ROWS

QUESTIONS = [row for row in ACTION_ROWS if getattr(row.action, "rail_question", None) is not None]
LOOKUPS = [row for row in ACTION_ROWS if isinstance(row.action, Lookup)]
assert QUESTIONS
assert LOOKUPS


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row.title)
def test_a_question_of_a_write_is_an_operation_of_its_rail(row: object) -> None:
    question = row.action.rail_question  # type: ignore[attr-defined]
    assert question.operation in OPERATIONS[question.rail]


@pytest.mark.parametrize("row", LOOKUPS, ids=lambda row: row.title)
def test_a_look_up_is_an_operation_of_its_rail(row: object) -> None:
    assert row.action.name in OPERATIONS[row.action.rail]  # type: ignore[attr-defined]


def test_a_fault_of_one_operation_leaves_the_others_alone(shop: MerchantClient) -> None:
    assert shop.put("sandbox", action="fault", rail="bank", kind="unavailable", on="accountname").body["status"] == 200
    assert shop.transfer(accountnumber="0000000000")["txnStatus"] == "successful"
    asked = {"inquire": "accountname", "bankcode": "058", "accountnumber": "0000000000"}
    assert shop.send_fields("resources", asked).body["status"] != "success"
    assert shop.send_fields("resources", asked).body["status"] == "success"


def test_clearing_one_operation_leaves_the_faults_of_others(shop: MerchantClient) -> None:
    for operation in ("transfer", "accountname"):
        shop.put("sandbox", action="fault", rail="bank", kind="decline", on=operation)
    shop.put("sandbox", action="fault", rail="bank", kind="none", on="accountname")
    assert shop.transfer(accountnumber="0000000000")["txnStatus"] == "failed"


def test_an_operation_of_another_rail_is_refused_with_those_of_the_rail(shop: MerchantClient) -> None:
    refused = shop.put("sandbox", action="fault", rail="card", kind="reset", on="transfer").body
    assert refused["errors"][0]["reason"] == (
        "the card rail has no transfer: must be one of initiate, charge, validate, refund"
    )
    misspelled = shop.put("sandbox", action="fault", rail="bank", kind="reset", on="transfr").body
    assert "did you mean transfer?" in misspelled["message"]
    unnamed = shop.put("sandbox", action="fault", kind="none", on="transfer").body
    assert unnamed["errors"][0]["field"] == "on"
