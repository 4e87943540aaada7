"""What may be said of a person: rules on the fields of a body, and the same on a person as a whole. (D31)

What a body shows by itself, a rule finds, whatever else is wrong with it. What only the kept client shows (the other
half of a bank account, where they live) and what day it is, is found when all is decided.
"""

from datetime import datetime
from typing import Any

from kasuwa.core.action import Foresight, Rule, one_of
from kasuwa.core.banks import account_fits_bank, bank_is_known
from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Fault, Merchant
from kasuwa.core.documents import Document, read_document
from kasuwa.core.people import PHONE_REASON, bvn_may_exist, calling_code, is_telephone

BVN_REQUIRED = "required, to be verified"

Detail = dict[str, Any]


def phone_is_of_home(merchant: Merchant, addresses: list[Document] | None, phone: str | None) -> str | None:
    homes = homes_of([read_document(address) for address in addresses or ()])
    return None if phone is None or is_telephone(phone, homes) else PHONE_REASON


def phone_is_of_new_home(merchant: Merchant, addresses: list[Document] | None, phone: str | None) -> str | None:
    """Who brings no address lives where they lived, which a body does not show."""
    return None if addresses is None else phone_is_of_home(merchant, addresses, phone)


def homes_of(addresses: list[Detail]) -> set[str]:
    """The countries whose telephone a person may have without saying so: Nigeria, and where they live."""
    named = [address.get("country") or "" for address in addresses]
    return {calling_code(country) for country in ("", *named)}


def is_past(now: datetime, dob: str | None) -> str | None:
    return "a day in the past" if dob is not None and dob >= lagos_day(now).isoformat() else None


def foretold_past(merchant: Merchant, foresight: Foresight, dob: str | None) -> str | None:
    return is_past(foresight.now, dob)


def bvn_is_said(merchant: Merchant, verify_bvn: bool | None, bvn: str | None) -> str | None:
    return BVN_REQUIRED if verify_bvn and bvn is None else None


def knows_bank(merchant: Merchant, bank_code: str | None) -> str | None:
    return None if bank_code is None else bank_is_known(merchant, bank_code)


def fits_bank(merchant: Merchant, bank_code: str | None, account_number: str | None) -> str | None:
    """A change may bring one of the two."""
    if bank_code is None or account_number is None:
        return None
    return account_fits_bank(merchant, bank_code, account_number)


BOTH_RULES = (
    Rule(("data.dob",), foretold_past, foretells=True),
    Rule(("data.bvn",), bvn_may_exist),
    Rule(("data.bank_account.bank_code",), knows_bank),
    Rule(("data.bank_account.bank_code", "data.bank_account.account_number"), fits_bank),
)
CREATE_RULES = (
    *BOTH_RULES,
    one_of("data.email", "data.phone", reason="required, or an email"),
    Rule(("data.addresses", "data.phone"), phone_is_of_home),
    Rule(("verify_bvn", "data.bvn"), bvn_is_said),
)
UPDATE_RULES = (*BOTH_RULES, Rule(("data.addresses", "data.phone"), phone_is_of_new_home))


def wrong_in(said: Detail, detail: Detail, context: Context) -> list[Fault]:
    """What is wrong with a person as a whole: each field by itself was read already. What was found right once and is
    not said again is let be, whatever has become of its bank since."""
    found = []
    if "phone" in said and not is_telephone(said["phone"], homes_of(detail.get("addresses", []))):
        found.append(Fault("data.phone", PHONE_REASON))
    reason = is_past(context.now, said.get("dob"))
    if reason is not None:
        found.append(Fault("data.dob", reason))
    return found + (wrong_bank_account(detail["bankAccount"], context.merchant) if "bankAccount" in said else [])


def wrong_bank_account(account: Detail, merchant: Merchant) -> list[Fault]:
    number, code = account.get("account_number"), account.get("bank_code")
    reasons = {
        "account_number": "required" if number is None else fits_bank(merchant, code, number),
        "bank_code": "required" if code is None else knows_bank(merchant, code),
    }
    return [Fault(f"data.bankAccount.{name}", reason) for name, reason in reasons.items() if reason is not None]
