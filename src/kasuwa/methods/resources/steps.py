"""Calls the account rail for a job: to open an account, to ask what became of it, or to close it."""

from base64 import b64decode
from datetime import datetime
from functools import partial

import msgspec

from kasuwa.core.decision import Job
from kasuwa.core.references import rail_key
from kasuwa.core.vault import Vault
from kasuwa.methods.resources.model import ACCOUNT_JOB_DECODER, QUERY_ACCOUNT, bvn_aad
from kasuwa.rails.ports.accounts import AccountOrder, AccountRail
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.orders import Answer, Unavailable, send_or_query
from kasuwa.transactions.inbound_accounts import AccountOwner, open_owner


class OrderSecrets(msgspec.Struct, frozen=True):
    """The personal data of an order."""

    owner: AccountOwner
    bvn: str = ""  # "" if the merchant gave none

    def __repr__(self) -> str:
        return "OrderSecrets(…)"


async def call_account_rail(rails: Rails, job: Job, now: datetime, secrets: OrderSecrets) -> Answer:
    rail, order = find_rail(rails, job), make_order(job, secrets)
    return await send_or_query(job, QUERY_ACCOUNT, partial(rail.open, order), partial(rail.query, order))


async def close_at_rail(rails: Rails, job: Job, now: datetime, secrets: OrderSecrets) -> Answer:
    """Has the rail close an account. One that is closed already is closed again without effect."""
    return await find_rail(rails, job).close(make_order(job, secrets))


def find_rail(rails: Rails, job: Job) -> AccountRail:
    name = ACCOUNT_JOB_DECODER.decode(job.work).rail
    rail = rails.accounts.get(name)
    if rail is None:
        raise Unavailable(f"the rail {name} is not configured", notice=f"an account waits for {name}: set it")
    return rail


def make_order(job: Job, secrets: OrderSecrets) -> AccountOrder:
    data = ACCOUNT_JOB_DECODER.decode(job.work)
    return AccountOrder(
        key=rail_key(job.merchant_id, job.reference),
        account=job.rail_account,
        name=secrets.owner.name,
        email=secrets.owner.email,
        bank_code=data.bank_code,
        bvn=secrets.bvn,
        facts=data.facts,
        attempt=job.attempt,
        seed=data.seed,
    )


def restore_secrets(job: Job, vault: Vault) -> OrderSecrets:
    """Returns the personal data of a job, decrypted."""
    data = ACCOUNT_JOB_DECODER.decode(job.work)
    bvn, owner = "", AccountOwner()
    if data.sealed_bvn:
        bvn = vault.unseal(job.merchant_id, bvn_aad(job.subject), b64decode(data.sealed_bvn)).decode()
    if data.sealed_person:
        owner = open_owner(job.merchant_id, job.subject, b64decode(data.sealed_person), vault.unseal)
    return OrderSecrets(owner, bvn)
