"""A writer on a database of its own, and small submissions for it."""

import asyncio
import math
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

from kasuwa.boot import composition as services
from kasuwa.boot.prepare import prepare as prepare_database
from kasuwa.core.codes import INSUFFICIENT_FUNDS
from kasuwa.core.decision import (
    Context,
    Decision,
    HeldAmount,
    LoadedRows,
    Merchant,
    Needs,
    Posting,
    PostingGroup,
    Refusal,
)
from kasuwa.core.vault import Vault
from kasuwa.engine.batch import Submission
from kasuwa.engine.writer import Writer
from kasuwa.ledger import chart
from kasuwa.merchants import merchants
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.postgres.connections import DatabaseUnreachable
from kasuwa.postgres.embedded import embedded
from kasuwa.privacy import vault_keys
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import Settings
from kasuwa.transactions.transactions import NewTransaction, Transaction, begin_transaction, transaction_key
from tests.simulate.processes import broken_invariants, query, running_database

HANGS_SECONDS = 60.0
WALLET, OUTSIDE = chart.wallet("NGN"), chart.outside("funding", "NGN")
SHORT = Refusal(INSUFFICIENT_FUNDS, "short")
# The transfers that `reserve` begins have no job.
OF_JOBS = ("no hold is pending without a live job", "a final transaction has no job but its delivery")


class Ground(NamedTuple):
    cluster: embedded.Cluster
    vault: Vault
    settings: Settings


@contextmanager
def prepared(place: Path) -> Iterator[Ground]:
    """A database for one module of tests. Its books are checked at the end."""
    with running_database(place / "pg") as cluster:
        settings = Settings(data=place, database_url=cluster.dsn)

        async def prepare() -> Vault:
            await prepare_database(settings, cluster.dsn)
            connection = await asyncpg.connect(cluster.dsn)
            try:
                vault = await vault_keys.open_vault(connection, load_secret_key(settings))
            finally:
                await connection.close()
            # Nothing reads the versions of the keys again here, so these stay valid.
            vault.keyring.update(vault.keyring.versions, valid_until=math.inf)
            return vault

        yield Ground(cluster, asyncio.run(prepare()), settings)
        broken = broken_invariants(cluster.dsn)
        assert [law for law in broken if not any(of_jobs in law for of_jobs in OF_JOBS)] == []


async def new_merchant(ground: Ground) -> Merchant:
    connection = await asyncpg.connect(ground.cluster.dsn)
    try:
        merchant_id, _, _ = await merchants.add_merchant(connection, ground.vault, "Probe")
        return await MerchantDirectory(connection, ground.vault, "test").get_by_id(merchant_id)
    finally:
        await connection.close()


@asynccontextmanager
async def writing(ground: Ground, dsn: str, **options: Any) -> AsyncIterator[Writer]:
    limits = {"timeout_seconds": 4.0, "statement_seconds": 0.4, **options}
    writer = Writer(dsn, services.make_deployment(ground.vault, ground.settings), **limits)
    writer.start()
    try:
        yield writer
    finally:
        await writer.close()


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(HANGS_SECONDS):
            await work()

    asyncio.run(bounded())


# --- what is submitted ------------------------------------------------------------------------------------------------


def moving(merchant: Merchant, post: Posting, reference: str) -> Submission:
    def rule(context: Context, rows: LoadedRows) -> Decision:
        return Decision(reply=reference, groups=(PostingGroup(reference, SHORT, postings=(post,)),))

    return Submission(merchant, Needs((), (WALLET, OUTSIDE)), rule, os.urandom(32))


def fund(merchant: Merchant, amount: int = 100, reference: str = "fund") -> Submission:
    return moving(merchant, Posting(OUTSIDE, WALLET, amount, "wallet funding"), reference)


def spend(merchant: Merchant, amount: int) -> Submission:
    return moving(merchant, Posting(WALLET, OUTSIDE, amount, "transfer"), "spend")


def reserve(merchant: Merchant, amount: int, name: str) -> Submission:
    """Begins a transfer, which holds money without a posting."""

    def rule(context: Context, rows: LoadedRows) -> Decision:
        return begin_transfer(context, name, amount, reply=name)

    return Submission(merchant, Needs(((Transaction, transfer_key(merchant, name)),), (WALLET,)), rule, os.urandom(32))


def transfer_key(merchant: Merchant, name: str) -> bytes:
    return transaction_key(merchant.merchant_id, "transfer", name)


def begin_transfer(context: Context, name: str, amount: int, reply: object) -> Decision:
    held = HeldAmount(WALLET, amount)
    row = begin_transaction(context, NewTransaction(kind="transfer", txn_ref=name, amount=amount, held=held))
    return Decision(reply=reply, groups=(PostingGroup(name, SHORT, holds=held),), rows=(row,))


async def outcome_of(future: "asyncio.Future[Any]") -> Any:
    """Returns a submission's reply or refusal, or a text that says whether the outcome is known."""
    try:
        result = await future
    except DatabaseUnreachable as error:
        return "not known" if error.is_outcome_unknown else "nothing happened"
    return result.reply if isinstance(result, Decision) else result


def moved(ground: Ground, merchant: Merchant, reference: str = "fund") -> list[int]:
    asked = "select amount from posting where merchant_id = $1 and reference = $2 order by seq"
    return [row[0] for row in query(ground.cluster.dsn, asked, merchant.merchant_id, reference)]


async def rows_of(ground: Ground, sql: str, *values: object) -> list[Any]:
    connection = await asyncpg.connect(ground.cluster.dsn)
    try:
        return await connection.fetch(sql, *values)
    finally:
        await connection.close()


async def make_ready(writer: Writer, merchant: Merchant, way: str) -> None:
    """Makes the next write of this merchant run from the cache, or locked because nothing is cached."""
    if way == "on memory":
        assert await outcome_of(writer.submit(fund(merchant, 1, "before"))) == "before"


WAYS = ["on memory", "locked"]
