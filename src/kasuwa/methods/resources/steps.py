"""Calls the account rail for a job that opens an account: sends the order, or queries what became of it."""

from base64 import b64decode
from datetime import datetime
from functools import partial

from kasuwa.core.decision import Job
from kasuwa.core.references import rail_key
from kasuwa.core.vault import Vault
from kasuwa.methods.resources.model import ACCOUNT_JOB_DECODER, QUERY_ACCOUNT, bvn_aad
from kasuwa.rails.account_port import AccountOrder
from kasuwa.rails.all_rails import Rails
from kasuwa.rails.ports import Answer, Unavailable, send_or_query


async def call_account_rail(rails: Rails, job: Job, now: datetime, bvn: str) -> Answer:
    data = ACCOUNT_JOB_DECODER.decode(job.work)
    rail = rails.accounts.get(data.rail)
    if rail is None:
        raise Unavailable(f"the rail {data.rail} is not configured", notice=f"an account waits for {data.rail}: set it")
    order = AccountOrder(
        key=rail_key(job.merchant_id, job.reference),
        name=data.name,
        email=data.email,
        bank_code=data.bank_code,
        bvn=bvn,
        attempt=job.attempt,
        seed=data.seed,
    )
    return await send_or_query(job, QUERY_ACCOUNT, partial(rail.open, order), partial(rail.query, order))


def restore_bvn(job: Job, vault: Vault) -> str:
    """Returns the owner's BVN, or "" if the merchant gave none."""
    sealed = ACCOUNT_JOB_DECODER.decode(job.work).sealed_bvn
    return vault.unseal(job.merchant_id, bvn_aad(job.subject), b64decode(sealed)).decode() if sealed else ""
