"""The laws of loans notice what breaks them: each is shown an offender, in a transaction that is thrown away."""

import asyncio
from collections.abc import Callable

import asyncpg
import pytest

from kasuwa.ledger.audit import LAWS
from tests.methods.loans.bank import START, Bank
from tests.running import Deployment
from tests.shop import Shop


async def broken_by(dsn: str, mid: str, harm: str) -> set[str]:
    connection = await asyncpg.connect(dsn)
    try:
        merchant_id = await connection.fetchval("select merchant_id from merchant where mid = $1 and current", mid)
        attempt = connection.transaction()
        await attempt.start()
        await connection.execute(harm.format(mine=f"merchant_id = {merchant_id}"))
        found = {law.says for law in LAWS if await connection.fetch(law.query, [merchant_id])}
        await attempt.rollback()
        return found
    finally:
        await connection.close()


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        ("update loan_line set paid_principal = 1 where n = 1 and {mine}", "a loan's accounts hold"),
        ("update loan_line set penalty = 1 where n = 2 and {mine}", "a loan's accounts hold"),
        ("update loan set state = 'closed_written_off' where {mine}", "a loan's accounts hold"),
        ("update loan set state = 'closed_repaid' where {mine}", "no part of an instalment is repaid beyond"),
        ("delete from loan_line where n = 12 and {mine}", "a loan that was paid out has as many instalments"),
        ("update loan set amount = amount + 1 where {mine}", "a loan that was paid out has as many instalments"),
        ("update loan set state = 'disbursing' where {mine}", "a loan is disbursing while its transfer is open"),
        ("update loan set transfer = null where {mine}", "a loan is disbursing while its transfer is open"),
        ("delete from job where {mine}", "a loan with an instalment that may yet be late is watched"),
        ("update client set open_accounts = 0 where {mine}", "a client's open accounts"),
    ],
)
def test_each_law_of_loans_notices_its_offender(
    open_shop: Callable[..., Shop], deployment: Deployment, harm: str, says: str
) -> None:
    shop = open_shop(now=START)
    Bank(shop.wire, shop.mid, shop.key).lend()
    assert asyncio.run(broken_by(deployment.dsn, shop.mid, "select 1")) == set()
    found = asyncio.run(broken_by(deployment.dsn, shop.mid, harm))
    assert any(law.startswith(says) for law in found), found
