"""What a payment would be refused for besides, named at once where its body is refused anyway. (D4)

Each asks the function that decides it for good. What hangs on kept rows (a token, the beneficiaries of a split) and on
a whole schedule is found then.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kasuwa.core.action import Foresight, Rule
from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Fault, Merchant
from kasuwa.methods.payment.decide_ask import (
    HOME,
    HOME_CURRENCY,
    card_money_faults,
    expiry_faults,
    home_money_faults,
    limit_faults,
    reason_at,
)
from kasuwa.methods.payment.decide_types import account_faults, mobile_faults, ussd_faults

# The fields that could be read and a rule named, by their paths.
Said = Mapping[str, Any]
Faults = Callable[[Merchant, Foresight, Said], list[Fault]]


def foretold(find: Faults, *fields: str, at: str = "") -> Rule:
    """What is found at the last of the fields, by the name it has on the wire, given all of them."""
    named = at or fields[-1]

    def reason(merchant: Merchant, foresight: Foresight, *values: Any) -> str | None:
        return reason_at(named, find(merchant, foresight, dict(zip(fields, values, strict=True))))

    return Rule(fields, reason, foretells=True)


def money_of(said: Said) -> tuple[str, str]:
    return said.get("country") or HOME, str(said.get("currency") or HOME_CURRENCY)


def find_limits(merchant: Merchant, foresight: Foresight, said: Said) -> list[Fault]:
    return [] if said["amount"] is None else limit_faults(merchant, money_of(said)[1], int(said["amount"]))


def find_home(merchant: Merchant, foresight: Foresight, said: Said) -> list[Fault]:
    return home_money_faults(*money_of(said))


def find_card_money(merchant: Merchant, foresight: Foresight, said: Said) -> list[Fault]:
    return card_money_faults(*money_of(said))


def find_expiry(merchant: Merchant, foresight: Foresight, said: Said) -> list[Fault]:
    month, year = said["card.expiry_month"], said["card.expiry_year"]
    return expiry_faults(month, year, lagos_day(foresight.now), merchant, str(said["card.card_no"]))


def find_account(merchant: Merchant, foresight: Foresight, said: Said) -> list[Fault]:
    return account_faults(merchant, said["account.bank_code"], said.get("account.account_number"))


def find_ussd(merchant: Merchant, foresight: Foresight, said: Said) -> list[Fault]:
    return ussd_faults(said["bank"], said.get("phonenumber"), said.get("accountnumber"))


def find_mobile(merchant: Merchant, foresight: Foresight, said: Said) -> list[Fault]:
    return mobile_faults(said["type"], *money_of(said), *(said.get(name) for name in MOBILE_FIELDS))


MOBILE_FIELDS = ("redirect_url", "phonenumber", "network")

LIMITS = foretold(find_limits, "currency", "amount")
HOME_RULES = (LIMITS, foretold(find_home, "country"), foretold(find_home, "currency"))
TOKEN_RULES = (LIMITS, foretold(find_card_money, "country"), foretold(find_card_money, "country", "currency"))
EXPIRY = ("card.expiry_month", "card.expiry_year")
CARD_RULES = (
    *TOKEN_RULES,
    foretold(find_expiry, "card.card_no", *EXPIRY),
    foretold(find_expiry, "card.card_no", *reversed(EXPIRY)),
)
ACCOUNT_RULES = (
    *HOME_RULES,
    foretold(find_account, "account.bank_code", at="account.bankcode"),
    foretold(find_account, "account.bank_code", "account.account_number", at="account.accountnumber"),
)
USSD_RULES = (*HOME_RULES, foretold(find_ussd, "bank", "phonenumber"), foretold(find_ussd, "bank", "accountnumber"))
MOBILE_RULES = (LIMITS, *(foretold(find_mobile, "type", name) for name in ("country", "currency", *MOBILE_FIELDS)))
