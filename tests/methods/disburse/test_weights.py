"""Requests with several orders weigh as many."""

import pytest

from kasuwa.core.action import Write
from kasuwa.engine.fair_queue import MERCHANT_SHARE
from kasuwa.methods.disburse.model import MAX_ORDERS
from kasuwa.methods.disburse.rules.approve import weigh_verdict
from kasuwa.methods.disburse.wire import VerdictRequest
from kasuwa.methods.tables import list_methods


@pytest.mark.parametrize(
    ("reference", "orders"), [("GP|BT|236221303|20261115X", MAX_ORDERS), ("GP|FD|236221303|20261115X", 1), ("mine", 1)]
)
def test_a_verdict_on_a_bulk_weighs_as_much_as_a_bulk_may(reference: str, orders: int) -> None:
    assert weigh_verdict(VerdictRequest(txn_ref=reference)) == orders
    assert (orders > MERCHANT_SHARE) is (orders > 1)


@pytest.mark.parametrize("environment", ["test", "live"])
def test_every_write_that_is_unpacked_has_a_weight(environment: str) -> None:
    writes = [action for method in list_methods(environment) for action in method.actions if isinstance(action, Write)]
    assert [write.name for write in writes if write.unpack is not None and write.weigh is None] == []
    assert any(write.weigh for write in writes)
