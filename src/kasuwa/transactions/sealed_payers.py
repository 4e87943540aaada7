"""The personal data of payers, as payments, plans, jobs and movements encrypt them. See docs/decisions/0069."""

from typing import Any, TypeVar

import msgspec

from kasuwa.core.vault import Unsealer

S = TypeVar("S", bound=msgspec.Struct)


class PayerMetadata(msgspec.Struct, frozen=True, omit_defaults=True):
    """The data of the payer that the merchant sent with a movement for a loan or savings account."""

    meta: str = ""  # a JSON object as text
    ip: str = ""
    fingerprint: str = ""  # of the payer's device

    def __repr__(self) -> str:
        return "PayerMetadata(…)"


class PayerData(msgspec.Struct, frozen=True, omit_defaults=True):
    """The personal fields of a payment's detail, under the same names."""

    fullname: str = ""
    email: str = ""
    phone: str = ""
    ip: str = ""
    fingerprint: str = ""
    meta: str = ""
    payer: str = ""
    payer_account: str = ""
    business_name: str = ""  # of a personalized account, which is in a person's name
    purpose: PayerMetadata | None = None

    def __repr__(self) -> str:
        return "PayerData(…)"


# The fields of PayerData that a payment's detail has for every purpose.
PERSONAL_FIELDS = ("fullname", "email", "phone", "ip", "fingerprint", "meta", "payer", "payer_account")
NO_PAYER = PayerData()
NO_METADATA = PayerMetadata()
PAYER_DECODER: "msgspec.json.Decoder[PayerData]" = msgspec.json.Decoder(PayerData)


def payment_payer_aad(txn_ref: str) -> str:
    return f"payment.payer_sealed {txn_ref}"


def plan_payer_aad(plan_id: str) -> str:
    return f"payment_plan.payer_sealed {plan_id}"


def job_payer_aad(reference: str) -> str:
    return f"scheduled_job.work.sealed_payer {reference}"


def unseal_payer(merchant_id: int, place: str, sealed: bytes | None, unseal: Unsealer) -> PayerData:
    """Returns the data of a payer, or NO_PAYER if there are none: unknown or erased."""
    return NO_PAYER if sealed is None else PAYER_DECODER.decode(unseal(merchant_id, place, bytes(sealed)))


def fill_empty(record: S, other: msgspec.Struct, names: tuple[str, ...]) -> S:
    """Returns the record with those of the named fields that it has empty taken from the other one."""
    return msgspec.structs.replace(
        record, **{name: getattr(other, name) for name in names if not getattr(record, name)}
    )


def read_device(payer: PayerData) -> dict[str, str]:
    """Returns the payer's IP address and device fingerprint, as far as they are known."""
    own = payer.purpose or NO_METADATA
    device = {"ip": payer.ip or own.ip, "fingerprint": payer.fingerprint or own.fingerprint}
    return {name: value for name, value in device.items() if value}


def add_to_record(record: dict[str, Any], payer: PayerData) -> None:
    """Adds the data of a payer to a payment's exported record, None for what is unknown."""
    for name in PERSONAL_FIELDS:
        record[name] = getattr(payer, name) or None
    if record.get("purpose") and payer.purpose is not None:
        record["purpose"] = msgspec.to_builtins(payer.purpose) | record["purpose"]
