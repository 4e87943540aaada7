"""What may be said of a person: rules on the fields of a body, and the same on a person as a whole.
Contract: clients#create

What a body shows by itself, a rule finds, whatever else is wrong with it. What only the kept client shows (the other
half of a bank account, where they live) and what day it is, is found when all is decided.
"""

from datetime import datetime
from typing import Any

from kasuwa.core.action import FieldRule, PreflightContext, one_of
from kasuwa.core.banks import check_account_number, check_bank_code
from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, FieldError, Merchant
from kasuwa.core.documents import Document, read_document
from kasuwa.core.people import PHONE_REASON, calling_code, check_bvn, is_telephone

BVN_REQUIRED = "required, to be verified"

Detail = dict[str, Any]


def check_phone(merchant: Merchant, addresses: list[Document] | None, phone: str | None) -> str | None:
    calling_codes = home_calling_codes([read_document(address) for address in addresses or ()])
    return None if phone is None or is_telephone(phone, calling_codes) else PHONE_REASON


def check_updated_phone(merchant: Merchant, addresses: list[Document] | None, phone: str | None) -> str | None:
    """Who brings no address lives where they lived, which a body does not show."""
    return None if addresses is None else check_phone(merchant, addresses, phone)


def home_calling_codes(addresses: list[Detail]) -> set[str]:
    """The countries whose telephone a person may have without saying so: Nigeria, and where they live."""
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
    """A change may bring one of the two."""
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
    one_of("data.email", "data.phone", reason="required, or an email"),
    FieldRule(("data.addresses", "data.phone"), check_phone),
    FieldRule(("verify_bvn", "data.bvn"), check_bvn_given),
)
UPDATE_RULES = (*SHARED_RULES, FieldRule(("data.addresses", "data.phone"), check_updated_phone))


def find_person_faults(said: Detail, detail: Detail, context: Context) -> list[FieldError]:
    """What is wrong with a person as a whole: each field by itself was read already. What was found right once and is
    not said again is let be, whatever has become of its bank since."""
    found = []
    if "phone" in said and not is_telephone(said["phone"], home_calling_codes(detail.get("addresses", []))):
        found.append(FieldError("data.phone", PHONE_REASON))
    reason = check_birth_date(context.now, said.get("dob"))
    if reason is not None:
        found.append(FieldError("data.dob", reason))
    return found + (find_bank_account_faults(detail["bankAccount"], context.merchant) if "bankAccount" in said else [])


def find_bank_account_faults(account: Detail, merchant: Merchant) -> list[FieldError]:
    number, code = account.get("account_number"), account.get("bank_code")
    reasons = {
        "account_number": "required" if number is None else check_bank_account(merchant, code, number),
        "bank_code": "required" if code is None else check_bank(merchant, code),
    }
    return [FieldError(f"data.bankAccount.{name}", reason) for name, reason in reasons.items() if reason is not None]
