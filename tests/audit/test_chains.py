"""The writer extends the chains of each merchant by what it writes."""

from collections.abc import Callable

from tests.merchant_client import MerchantClient
from tests.running import Deployment


def test_rows_are_chained_while_several_merchants_write_at_once(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    """Bulks, refusals and repeats of several merchants share batches. Their books are audited after the test."""
    shops = [open_shop() for _ in range(3)]
    orders = [
        {"amount": "5.00", "bankcode": "058", "accountnumber": account, "orderRef": f"b{n}"}
        for n, account in enumerate(("0000000000", "0000005100", "0000000000"))
    ]
    for shop in shops:
        assert shop.put("disburse", action="transfer", type="bulk", data=orders).body["status"] == 202
        assert shop.put("sandbox", action="advance", hours=1).body["status"] == 200
    heads = deployment.fetch(
        "select s.posting_head = p.hash, s.event_head = e.hash"
        " from merchant m join merchant_state s using (merchant_id)"
        " join posting p on p.merchant_id = m.merchant_id and p.seq = s.last_posting_seq"
        " join event e on e.merchant_id = m.merchant_id and e.seq = s.last_event_seq where m.mid = any($1)",
        [shop.mid for shop in shops],
    )
    assert [tuple(row) for row in heads] == [(True, True)] * 3
