"""Validates the fields of a client.

Field rules check what the body alone shows. `find_person_faults` runs within the decision, and checks what depends on
the stored client (the other half of a bank account, the country of residence) or on the business date.

Contract: clients#create
"""

from datetime import datetime
from typing import Any

from kasuwa.core.action import FieldRule, PreflightContext, require_one
from kasuwa.core.banks import check_account_number, check_bank_code
from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, FieldError, Merchant
from kasuwa.wire.documents import Document, read_document
from kasuwa.wire.people import PHONE_REASON, calling_code, check_bvn, is_telephone

BVN_REQUIRED = "required, to be verified"

Detail = dict[str, Any]


def check_phone(merchant: Merchant, addresses: list[Document] | None, phone: str | None) -> str | None:
    calling_codes = home_calling_codes([read_document(address) for address in addresses or ()])
    return None if phone is None or is_telephone(phone, calling_codes) else PHONE_REASON


def check_updated_phone(merchant: Merchant, addresses: list[Document] | None, phone: str | None) -> str | None:
    """Skips the check if the request has no addresses: the decision checks the phone with the stored ones."""
    return None if addresses is None else check_phone(merchant, addresses, phone)


def home_calling_codes(addresses: list[Detail]) -> set[str]:
    """Returns the calling codes that a phone number may leave out: of Nigeria and of the countries of the addresses."""
    named = [address.get("country") or "" for address in addresses]
    return {calling_code(country) for country in ("", *named)}


def check_birth_date(now: datetime, dob: str | None) -> str | None:
    return "a day in the past" if dob is not None and dob >= lagos_day(now).isoformat() else None


def preflight_birth_date(merchant: Merchant, preflight: PreflightContext, dob: str | None) -> str | None:
    return check_birth_date(preflight.now, dob)


def check_bvn_given(merchant: Merchant, verify_bvn: bool | None, bvn: str | None) -> str | None:
    return BVN_REQUIRED if verify_bvn and bvn is None else None


def check_bank(merchant: Merchant, bank_code: str | None) -> str | None:
    return None if bank_code is None else check_bank_code(merchant, bank_code)


def check_bank_account(merchant: Merchant, bank_code: str | None, account_number: str | None) -> str | None:
    """Checks the number against the bank. Skipped if an update has only one of the two."""
    if bank_code is None or account_number is None:
        return None
    return check_account_number(merchant, bank_code, account_number)


SHARED_RULES = (
    FieldRule(("data.dob",), preflight_birth_date, is_preflight=True),
    FieldRule(("data.bvn",), check_bvn),
    FieldRule(("data.bank_account.bank_code",), check_bank),
    FieldRule(("data.bank_account.bank_code", "data.bank_account.account_number"), check_bank_account),
)
CREATE_RULES = (
    *SHARED_RULES,
    require_one("data.email", "data.phone", reason="required, or an email"),
    FieldRule(("data.addresses", "data.phone"), check_phone),
    FieldRule(("verify_bvn", "data.bvn"), check_bvn_given),
)
UPDATE_RULES = (*SHARED_RULES, FieldRule(("data.addresses", "data.phone"), check_updated_phone))


def find_person_faults(changes: Detail, detail: Detail, context: Context) -> list[FieldError]:
    """Returns the errors of the merged client `detail`. Each field alone was checked before.

    Only fields in `changes` are checked: a stored value stays valid, even if its bank has closed since.
    """
    errors = []
    if "phone" in changes and not is_telephone(changes["phone"], home_calling_codes(detail.get("addresses", []))):
        errors.append(FieldError("data.phone", PHONE_REASON))
    reason = check_birth_date(context.now, changes.get("dob"))
    if reason is not None:
        errors.append(FieldError("data.dob", reason))
    return errors + (
        find_bank_account_faults(detail["bankAccount"], context.merchant) if "bankAccount" in changes else []
    )


def find_bank_account_faults(account: Detail, merchant: Merchant) -> list[FieldError]:
    number, code = account.get("account_number"), account.get("bank_code")
    reasons = {
        "account_number": "required" if number is None else check_bank_account(merchant, code, number),
        "bank_code": "required" if code is None else check_bank(merchant, code),
    }
    return [FieldError(f"data.bankAccount.{name}", reason) for name, reason in reasons.items() if reason is not None]
