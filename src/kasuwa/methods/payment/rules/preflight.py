"""Preflight checks of payments: run only on a body that is already refused, to report further errors in the same reply.

Each calls the function that the rules use. Errors that depend on stored rows (a token, the beneficiaries of a split) or
on a whole schedule are found by the rules only.
Contract: #errors
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
from kasuwa.methods.payment.rules.hosted_card import CARD_REQUIRED, has_card_page

# Decoded field values by path: those that the rule named.
FieldValues = Mapping[str, Any]
FindFaults = Callable[[Merchant, PreflightContext, FieldValues], list[FieldError]]


def preflight_rule(find: FindFaults, *fields: str, reported_field: str = "") -> FieldRule:
    """Builds a preflight rule that reports the errors of its last field, given all of them.

    `reported_field` is the last field's name on the wire, if it differs.
    """
    named = reported_field or fields[-1]

    def reason(merchant: Merchant, preflight: PreflightContext, *values: Any) -> str | None:
        return reason_at(named, find(merchant, preflight, dict(zip(fields, values, strict=True))))

    return FieldRule(fields, reason, is_preflight=True)


def country_and_currency(values: FieldValues) -> tuple[str, str]:
    return values.get("country") or HOME_COUNTRY, str(values.get("currency") or HOME_CURRENCY)


def find_limit_faults(merchant: Merchant, preflight: PreflightContext, values: FieldValues) -> list[FieldError]:
    return (
        []
        if values["amount"] is None
        else limit_faults(merchant, country_and_currency(values)[1], int(values["amount"]))
    )


def find_home_money_faults(merchant: Merchant, preflight: PreflightContext, values: FieldValues) -> list[FieldError]:
    return home_money_faults(*country_and_currency(values))


def find_card_money_faults(merchant: Merchant, preflight: PreflightContext, values: FieldValues) -> list[FieldError]:
    return card_money_faults(*country_and_currency(values))


def find_expiry_faults(merchant: Merchant, preflight: PreflightContext, values: FieldValues) -> list[FieldError]:
    month, year = values["card.expiry_month"], values["card.expiry_year"]
    if month is None:
        return []  # no card was sent
    return expiry_faults(month, year, lagos_day(preflight.now), merchant, str(values["card.card_no"]))


def find_missing_card(merchant: Merchant, preflight: PreflightContext, values: FieldValues) -> list[FieldError]:
    return [CARD_REQUIRED] if values["card"] is None and not has_card_page(merchant, preflight) else []


def find_account_faults(merchant: Merchant, preflight: PreflightContext, values: FieldValues) -> list[FieldError]:
    return account_faults(merchant, values["account.bank_code"], values.get("account.account_number"))


def find_ussd_faults(merchant: Merchant, preflight: PreflightContext, values: FieldValues) -> list[FieldError]:
    return ussd_faults(values["bank"], values.get("phonenumber"), values.get("accountnumber"))


def find_mobile_money_faults(merchant: Merchant, preflight: PreflightContext, values: FieldValues) -> list[FieldError]:
    return mobile_money_faults(
        values["type"], *country_and_currency(values), *(values.get(name) for name in MOBILE_FIELDS)
    )


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
    preflight_rule(find_missing_card, "card"),
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
