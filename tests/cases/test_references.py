"""References in cases: all that actions name are known, and what many others name brings only what made it."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import inspect

from kasuwa.cases.export import collect_case, leave_out_copies
from kasuwa.cases.row_inputs import Recorded
from kasuwa.engine.decision_inputs import RecordedInput
from kasuwa.testing.cases.case_file import CaseFile
from kasuwa.wire.without_people import REFERENCE_NAMES
from tests.cases.test_canaries import NOW, WRITES
from tests.merchant_client import MerchantClient
from tests.methods.loan_products.test_products import PRODUCT
from tests.methods.loans.lending_client import LendingClient
from tests.running import Deployment

REFERENCE = re.compile(r".*(_id|_ref|Ref|_txnref)")
# What looks like a reference and names nothing of the merchant: the shop of a card network.
NO_REFERENCES = frozenset({"merchant_id"})


def list_names(kind: inspect.Type) -> Iterator[str]:
    """Yields the names of the fields of a type, on the wire, also of those within."""
    if isinstance(kind, inspect.StructType):
        for field in kind.fields:
            yield field.encode_name
            yield from list_names(field.type)
    for part in getattr(kind, "types", ()):
        yield from list_names(part)
    for name in ("type", "item_type", "value_type"):
        if isinstance(getattr(kind, name, None), inspect.Type):
            yield from list_names(getattr(kind, name))


def test_every_reference_of_an_action_is_known() -> None:
    kinds = [inspect.type_info(kind) for row in WRITES for kind in (row.action.request, row.action.reply)]
    named = {name for kind in kinds for name in list_names(kind) if REFERENCE.fullmatch(name)}
    assert {"client_id", "txnRef", "batchRef"} <= named
    assert named - NO_REFERENCES - REFERENCE_NAMES == set()


def test_a_case_has_the_product_of_its_loan_and_no_other_loan(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop()
    lender = LendingClient(shop.connection, shop.mid, shop.key)
    product_id = lender.loans("create_product", **PRODUCT)["data"]["product_id"]
    loans = [
        lender.loans("request", client_id=lender.client(), product_id=product_id, amount=amount)["data"]["loan_id"]
        for amount in ("1000.00", "2000.00")
    ]
    assert lender.loans("update_product", product_id=product_id, name="Every week")["status"] == 200

    async def work(connection: Any) -> CaseFile:
        vault = await deployment.open_vault(connection)
        merchant_id = await connection.fetchval("select merchant_id from merchant where mid = $1", shop.mid)
        return await collect_case(connection, vault, merchant_id, loans[0], "test")

    sent = deployment.run_on_connection(work).exchanges
    [created] = [one for one in sent if one.action.endswith("create_product")]
    [requested] = [one for one in sent if "request_of_product" in one.action]
    assert requested.request["amount"] == "1000.00"
    assert requested.request["product_id"] == created.reply["product_id"] == "<product_id 1>"
    assert not any("update_product" in one.action for one in sent)


def test_equal_answers_to_several_orders_are_all_kept_and_a_request_is_kept_once() -> None:
    answered, sent = RecordedInput({"status": "processing"}), RecordedInput({"amount": "1.00"})
    inputs = [
        Recorded(number, NOW, kind, "disburse.send", reference, body)
        for number, (kind, reference, body) in enumerate(
            [
                ("request", "first", sent),
                ("request", "second", sent),
                ("answer", "first", answered),
                ("answer", "second", answered),
                ("answer", "second", answered),
            ]
        )
    ]
    assert [one.number for one in leave_out_copies(inputs)] == [0, 2, 3]
