"""Runs what operators do in a merchant's books by command, or proposes it (console/operator/book_acts.py)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kasuwa.api.dispatch import with_audit_entry
from kasuwa.authority.acts import Act
from kasuwa.boot.supervise import ServeError
from kasuwa.commands.database import (
    connect_patiently,
    make_audit_entry,
    require_schema,
    run_with_database,
    work_with_services,
)
from kasuwa.commands.proposing import must_propose, propose
from kasuwa.console.operator.book_acts import BoundAct, bind_act, describe_reply
from kasuwa.core.decision import Decision, Merchant, Refusal
from kasuwa.core.vault import Vault
from kasuwa.engine.batch import Submission
from kasuwa.engine.entropy import draw_entropy
from kasuwa.merchants import merchants
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.privacy import vault_keys
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import Settings

if TYPE_CHECKING:
    from kasuwa.boot.composition import Services


def run_book_act(data: Any, act: Act, mid: str, fields: Mapping[str, Any], did: str, subject: str) -> str:
    """Does an act in a merchant's books with an audit entry, or proposes it. Returns the line to print."""
    values = {name: value for name, value in fields.items() if value is not None}

    async def run(settings: Settings, dsn: str) -> str:
        connection = await connect_patiently(dsn)
        try:
            await require_schema(connection)
            if await must_propose(connection, act):
                vault = await vault_keys.open_vault(connection, load_secret_key(settings, may_create=False))
                bind(act, values, await find_merchant(connection, vault, settings, mid))
                return await propose(connection, vault, act.name, mid, values, f"{did}: {subject}")
        finally:
            await connection.close()
        return await work_with_services(settings, dsn, work)

    async def work(services: "Services") -> str:
        async with services.reader.acquire() as connection:
            merchant_id = await merchants.find_merchant_id(connection, mid)
        merchant = await services.merchant_directory.get_by_id(merchant_id)
        bound = bind(act, values, merchant)
        rule = with_audit_entry(bound.rule, lambda _: make_audit_entry(did, subject))
        result = await services.writer.submit(Submission(merchant, bound.needs, rule, draw_entropy()))
        if isinstance(result, Refusal):
            raise ServeError(result.message)
        assert isinstance(result, Decision), result
        return describe_reply(act.name, result.reply)

    return run_with_database(data, run)


def bind(act: Act, fields: Mapping[str, Any], merchant: Merchant) -> BoundAct:
    """Returns the act with its fields. Raises ServeError that names every fault."""
    bound = bind_act(act.name, fields, merchant)
    if isinstance(bound, tuple):
        raise ServeError("; ".join(f"{fault.field}: {fault.reason}" for fault in bound))
    return bound


async def find_merchant(connection: Any, vault: Vault, settings: Settings, mid: str) -> Merchant:
    merchant_id = await merchants.find_merchant_id(connection, mid)
    return await MerchantDirectory(connection, vault, settings.environment).get_by_id(merchant_id)
