"""What a payment would be refused for besides, named at once where its body is refused anyway. (Contract: #errors)

Each asks the function that decides it for good. What hangs on kept rows (a token, the beneficiaries of a split) and on
a whole schedule is found then.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kasuwa.core.action import FieldRule, PreflightContext
from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import FieldError, Merchant
from kasuwa.methods.payment.rules.channels import account_faults, mobile_money_faults, ussd_faults
from kasuwa.methods.payment.rules.check_request import (
    HOME_COUNTRY,
    HOME_CURRENCY,
    card_money_faults,
    expiry_faults,
    home_money_faults,
    limit_faults,
    reason_at,
)

# The fields that could be read and a rule named, by their paths.
FieldValues = Mapping[str, Any]
FindFaults = Callable[[Merchant, PreflightContext, FieldValues], list[FieldError]]


def preflight_rule(find: FindFaults, *fields: str, reported_field: str = "") -> FieldRule:
    """What is found at the last of the fields, by the name it has on the wire, given all of them."""
    named = reported_field or fields[-1]

    def reason(merchant: Merchant, preflight: PreflightContext, *values: Any) -> str | None:
        return reason_at(named, find(merchant, preflight, dict(zip(fields, values, strict=True))))

    return FieldRule(fields, reason, is_preflight=True)


def country_and_currency(said: FieldValues) -> tuple[str, str]:
    return said.get("country") or HOME_COUNTRY, str(said.get("currency") or HOME_CURRENCY)


def find_limit_faults(merchant: Merchant, preflight: PreflightContext, said: FieldValues) -> list[FieldError]:
    return [] if said["amount"] is None else limit_faults(merchant, country_and_currency(said)[1], int(said["amount"]))


def find_home_money_faults(merchant: Merchant, preflight: PreflightContext, said: FieldValues) -> list[FieldError]:
    return home_money_faults(*country_and_currency(said))


def find_card_money_faults(merchant: Merchant, preflight: PreflightContext, said: FieldValues) -> list[FieldError]:
    return card_money_faults(*country_and_currency(said))


def find_expiry_faults(merchant: Merchant, preflight: PreflightContext, said: FieldValues) -> list[FieldError]:
    month, year = said["card.expiry_month"], said["card.expiry_year"]
    return expiry_faults(month, year, lagos_day(preflight.now), merchant, str(said["card.card_no"]))


def find_account_faults(merchant: Merchant, preflight: PreflightContext, said: FieldValues) -> list[FieldError]:
    return account_faults(merchant, said["account.bank_code"], said.get("account.account_number"))


def find_ussd_faults(merchant: Merchant, preflight: PreflightContext, said: FieldValues) -> list[FieldError]:
    return ussd_faults(said["bank"], said.get("phonenumber"), said.get("accountnumber"))


def find_mobile_money_faults(merchant: Merchant, preflight: PreflightContext, said: FieldValues) -> list[FieldError]:
    return mobile_money_faults(said["type"], *country_and_currency(said), *(said.get(name) for name in MOBILE_FIELDS))


MOBILE_FIELDS = ("redirect_url", "phonenumber", "network")

LIMITS = preflight_rule(find_limit_faults, "currency", "amount")
HOME_RULES = (
    LIMITS,
    preflight_rule(find_home_money_faults, "country"),
    preflight_rule(find_home_money_faults, "currency"),
)
TOKEN_RULES = (
    LIMITS,
    preflight_rule(find_card_money_faults, "country"),
    preflight_rule(find_card_money_faults, "country", "currency"),
)
EXPIRY = ("card.expiry_month", "card.expiry_year")
CARD_RULES = (
    *TOKEN_RULES,
    preflight_rule(find_expiry_faults, "card.card_no", *EXPIRY),
    preflight_rule(find_expiry_faults, "card.card_no", *reversed(EXPIRY)),
)
ACCOUNT_RULES = (
    *HOME_RULES,
    preflight_rule(find_account_faults, "account.bank_code", reported_field="account.bankcode"),
    preflight_rule(
        find_account_faults, "account.bank_code", "account.account_number", reported_field="account.accountnumber"
    ),
)
USSD_RULES = (
    *HOME_RULES,
    preflight_rule(find_ussd_faults, "bank", "phonenumber"),
    preflight_rule(find_ussd_faults, "bank", "accountnumber"),
)
MOBILE_RULES = (
    LIMITS,
    *(preflight_rule(find_mobile_money_faults, "type", name) for name in ("country", "currency", *MOBILE_FIELDS)),
)
