"""Books of a version without chains get them while requests run, and the writer goes on from there."""

from collections.abc import Callable
from typing import Any

from kasuwa.audit import chains
from tests.merchant_client import MerchantClient
from tests.running import Deployment


def test_the_writer_goes_on_where_the_chain_was_completed(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    """The rows of a merchant are made those of a version without chains, then requests and the completion run."""
    shop = open_shop()
    [[merchant_id]] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", shop.mid)

    def fund() -> None:
        assert shop.put("sandbox", action="fund_wallet", currency="NGN", amount="5.00").body["status"] == 200

    async def unchain(connection: Any) -> None:
        async with connection.transaction():
            await connection.execute("set local session_replication_role = replica")
            await connection.execute("update posting set hash = null where merchant_id = $1", merchant_id)
            await connection.execute(
                "update merchant_state set posting_head = $2, chained_posting_seq = 0, version = version + 1"
                " where merchant_id = $1",
                merchant_id,
                bytes(32),
            )

    stored = "select seq, hash is not null from posting where merchant_id = $1 order by seq"
    fund()
    deployment.run_on_connection(unchain)
    fund()
    assert [row[1] for row in deployment.fetch(stored, merchant_id)] == [False] * 4
    deployment.run_on_connection(lambda connection: chains.catch_up_merchant(connection, merchant_id))
    fund()
    assert [row[1] for row in deployment.fetch(stored, merchant_id)] == [False] * 4 + [True]


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
        "select s.posting_head = p.hash, s.chained_posting_seq = s.last_posting_seq, s.event_head = e.hash,"
        " s.chained_event_seq = s.last_event_seq from merchant m join merchant_state s using (merchant_id)"
        " join posting p on p.merchant_id = m.merchant_id and p.seq = s.last_posting_seq"
        " join event e on e.merchant_id = m.merchant_id and e.seq = s.last_event_seq where m.mid = any($1)",
        [shop.mid for shop in shops],
    )
    assert [tuple(row) for row in heads] == [(True, True, True, True)] * 3
