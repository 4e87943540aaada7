"""The personal fields of payments, plans and their jobs: taken out of a detail where it is stored, and added again.

Rules have all of them in a PaymentDetail. Where it is stored, they are encrypted in a column beside it. See
docs/decisions/0069.
"""

from base64 import b64decode, b64encode

import msgspec

from kasuwa.core.decision import Context, Job
from kasuwa.core.vault import Unsealer, Vault
from kasuwa.methods.payment.model import DETAIL_DECODER, JOB_DATA_DECODER, Payment, PaymentDetail, PaymentJobData
from kasuwa.methods.payment.plan_model import TERMS_DECODER, Plan, PlanTerms
from kasuwa.transactions.purpose import TransactionPurpose
from kasuwa.transactions.sealed_payers import (
    NO_METADATA,
    NO_PAYER,
    PERSONAL_FIELDS,
    PayerData,
    PayerMetadata,
    fill_empty,
    job_payer_aad,
    payment_payer_aad,
    plan_payer_aad,
    unseal_payer,
)
from kasuwa.transactions.transactions import encode_text


def make_payer_data(detail: PaymentDetail) -> PayerData:
    purpose = detail.purpose
    own = NO_METADATA if purpose is None else PayerMetadata(purpose.meta, purpose.ip, purpose.fingerprint)
    return PayerData(
        fullname=detail.fullname,
        email=detail.email,
        phone=detail.phone,
        ip=detail.ip,
        fingerprint=detail.fingerprint,
        meta=detail.meta,
        payer=detail.payer,
        payer_account=detail.payer_account,
        business_name=detail.business_name if detail.account_reference else "",
        purpose=None if own == NO_METADATA else own,
    )


def remove_payer(detail: PaymentDetail) -> PaymentDetail:
    """Returns the detail without its personal fields."""
    purpose = detail.purpose
    return msgspec.structs.replace(
        detail,
        **dict.fromkeys(PERSONAL_FIELDS, ""),
        business_name="" if detail.account_reference else detail.business_name,
        purpose=None if purpose is None else TransactionPurpose(purpose.purpose, purpose.reference),
    )


def add_payer(detail: PaymentDetail, payer: PayerData) -> PaymentDetail:
    """Returns the detail with personal fields. Those that it has already stay."""
    purpose = detail.purpose
    if purpose is not None and payer.purpose is not None:
        purpose = fill_empty(purpose, payer.purpose, PayerMetadata.__struct_fields__)
    filled = fill_empty(detail, payer, (*PERSONAL_FIELDS, "business_name"))
    return filled if purpose is detail.purpose else msgspec.structs.replace(filled, purpose=purpose)


def seal_payer(payer: PayerData, place: str, context: Context) -> bytes | None:
    """Returns the encrypted data of a payer, or None if nothing is known of them."""
    return None if payer == NO_PAYER else context.seal(place, msgspec.json.encode(payer))


# --- payments -------------------------------------------------------------------------------------------------------


def seal_detail(detail: PaymentDetail, txn_ref: str, context: Context) -> tuple[str, bytes | None]:
    """Returns the columns `detail` and `payer_sealed` of a payment."""
    return encode_text(remove_payer(detail)), seal_payer(make_payer_data(detail), payment_payer_aad(txn_ref), context)


def read_detail(payment: Payment, unseal: Unsealer) -> PaymentDetail:
    """Returns the detail of a payment with its personal fields. A rule that needs none of them decodes `detail`."""
    return open_detail(payment.merchant_id, payment.txn_ref, payment.detail, payment.payer_sealed, unseal)


def open_detail(merchant_id: int, txn_ref: str, detail: str, sealed: bytes | None, unseal: Unsealer) -> PaymentDetail:
    decoded = DETAIL_DECODER.decode(detail)
    payer = unseal_payer(merchant_id, payment_payer_aad(txn_ref), sealed, unseal)
    return decoded if payer is NO_PAYER else add_payer(decoded, payer)


# --- plans ----------------------------------------------------------------------------------------------------------


def seal_terms(terms: PlanTerms, plan_id: str, context: Context) -> tuple[str, bytes | None]:
    """Returns the columns `detail` and `payer_sealed` of a plan."""
    stored = msgspec.structs.replace(terms, detail=remove_payer(terms.detail))
    return encode_text(stored), seal_payer(make_payer_data(terms.detail), plan_payer_aad(plan_id), context)


def read_terms(plan: Plan, unseal: Unsealer) -> PlanTerms:
    """Returns the terms of a plan with the personal fields of its charges."""
    terms = TERMS_DECODER.decode(plan.detail)
    payer = unseal_payer(plan.merchant_id, plan_payer_aad(plan.plan_id), plan.payer_sealed, unseal)
    return terms if payer is NO_PAYER else msgspec.structs.replace(terms, detail=add_payer(terms.detail, payer))


# --- jobs -----------------------------------------------------------------------------------------------------------


def seal_job_payer(payer: PayerData, reference: str, context: Context) -> str:
    """Returns the field `sealed_payer` of a job's data."""
    sealed = seal_payer(payer, job_payer_aad(reference), context)
    return "" if sealed is None else b64encode(sealed).decode()


def read_job_payer(job: Job, work: PaymentJobData, unseal: Unsealer) -> PayerData:
    """Returns what a payment's job has of its payer."""
    if not work.sealed_payer:
        return NO_PAYER
    return unseal_payer(job.merchant_id, job_payer_aad(job.reference), b64decode(work.sealed_payer), unseal)


def open_payment_job(job: Job, vault: Vault) -> Job:
    """Returns a payment's job with its payer in clear. Held in memory only, while its rail is called."""
    work = JOB_DATA_DECODER.decode(job.work)
    if not work.sealed_payer:
        return job
    payer = read_job_payer(job, work, vault.unseal)
    opened = msgspec.structs.replace(
        work,
        sealed_payer="",
        fullname=payer.fullname,
        email=payer.email,
        payer=payer.payer,
        payer_account=payer.payer_account,
    )
    return msgspec.structs.replace(job, work=encode_text(opened))
