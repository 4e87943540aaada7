"""The fields of a hosted checkout's forms: what is asked for by each channel, and how each field is checked.

Texts are for payers: each error says what to do, and is shown beside its field.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kasuwa.core.money import parse_minor
from kasuwa.methods.checkout.payer_model import EnteredCard
from kasuwa.methods.payment.rules.channels import chargeable_banks
from kasuwa.wire.fields import read_card_number

EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]+\.[^@\s]+", re.ASCII)
PHONE = re.compile(r"\+?[0-9]{7,15}", re.ASCII)
EXPIRY = re.compile(r"(0?[1-9]|1[0-2])\s*[/-]?\s*(?:20)?([0-9]{2})", re.ASCII)
MAX_EMAIL, MAX_NAME = 254, 100

Options = tuple[tuple[str, str], ...]


class FormField(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a form."""

    name: str
    label: str
    read: Callable[[str], str]  # returns the value to use. Raises ValueError with the text for the payer
    type: str = "text"  # of the input; or select, or radio
    inputmode: str = ""
    autocomplete: str = "off"
    maxlength: int = 100
    placeholder: str = ""
    hint: str = ""
    options: Options = ()
    is_required: bool = True
    is_secret: bool = False  # never sent back to the page


# --- values -----------------------------------------------------------------------------------------------------


def matching(pattern: str, reason: str, *, squeeze: bool = True) -> Callable[[str], str]:
    """Returns a reader of texts that match a pattern. With `squeeze`, spaces and hyphens within do not count."""
    compiled = re.compile(pattern, re.ASCII)

    def read(text: str) -> str:
        value = re.sub(r"[\s-]", "", text) if squeeze else text.strip()
        if not compiled.fullmatch(value):
            raise ValueError(reason)
        return value

    return read


def make_option_reader(options: Options, reason: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in {value for value, _ in options}:
            raise ValueError(reason)
        return text

    return read


def read_number(text: str) -> str:
    try:
        return str(read_card_number(re.sub(r"[\s-]", "", text)))
    except ValueError:
        raise ValueError("Check the card number") from None


def read_expiry(text: str) -> str:
    match = EXPIRY.fullmatch(text.strip())
    if match is None:
        raise ValueError("Enter month and year, such as 09/27")
    return f"{int(match[1]):02d}{match[2]}"


def read_name(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise ValueError("Enter your name")
    return name


def read_email(text: str) -> str:
    address = text.strip()
    if len(address) > MAX_EMAIL or not EMAIL.fullmatch(address):
        raise ValueError("Enter your email address, such as ada@example.com")
    return address


def read_amount_text(text: str) -> str:
    """Returns an amount in minor units as digits. Separators of thousands do not count."""
    minor = parse_minor(text.strip().replace(",", ""))
    if not minor:
        raise ValueError("Enter an amount, such as 1500 or 1500.50")
    return str(minor)


read_phone = matching(PHONE.pattern, "Enter a telephone number, such as 08031234567")
read_account = matching("[0-9]{10}", "Enter the ten digits of the account number")
read_pin = matching("[0-9]{4}", "Enter the four digits of your PIN")
read_otp = matching("[0-9]{4,8}", "Enter the code that your bank has sent you, 4 to 8 digits")


# --- fields -----------------------------------------------------------------------------------------------------

FULLNAME = FormField(name="fullname", label="Name", read=read_name, autocomplete="name")
EMAIL_FIELD = FormField(
    name="email", label="Email", read=read_email, type="email", autocomplete="email", maxlength=MAX_EMAIL
)
CONTACT_PHONE = FormField(
    name="contact_phone", label="Telephone", read=read_phone, type="tel", inputmode="tel", autocomplete="tel"
)
CARD_FIELDS = (
    FormField(
        name="number",
        label="Card number",
        read=read_number,
        inputmode="numeric",
        autocomplete="cc-number",
        maxlength=30,
        placeholder="0000 0000 0000 0000",
        is_secret=True,
    ),
    FormField(
        name="expiry",
        label="Expires",
        read=read_expiry,
        inputmode="numeric",
        autocomplete="cc-exp",
        maxlength=9,
        placeholder="MM/YY",
        is_secret=True,
    ),
    FormField(
        name="cvv",
        label="Security code",
        read=matching("[0-9]{3,4}", "Enter the three or four digits on the back of the card"),
        type="password",
        inputmode="numeric",
        autocomplete="cc-csc",
        maxlength=4,
        placeholder="CVV",
        is_secret=True,
    ),
)
PIN_FIELD = FormField(
    name="pin",
    label="Card PIN",
    read=read_pin,
    type="password",
    inputmode="numeric",
    maxlength=4,
    is_secret=True,
)
OTP_FIELD = FormField(
    name="otp",
    label="One-time code",
    read=read_otp,
    inputmode="numeric",
    autocomplete="one-time-code",
    maxlength=8,
    is_secret=True,
)
ACCOUNT_NUMBER = FormField(
    name="account_number", label="Account number", read=read_account, inputmode="numeric", maxlength=14
)
PHONE_FIELD = FormField(
    name="phone", label="Telephone number", read=read_phone, type="tel", inputmode="tel", autocomplete="tel"
)
NETWORKS: Options = (("mtn", "MTN"), ("vodafone", "Telecel (Vodafone)"), ("tigo", "AirtelTigo"))
USSD_BANKS = {"gtb": "GTBank (*737#)", "zenith": "Zenith Bank (*966#)"}
PROVIDERS = {"paga": "Paga", "ghana": "Mobile money", "mpesa": "M-Pesa"}
AMOUNT_FIELD = FormField(
    name="amount", label="Amount", read=read_amount_text, inputmode="decimal", maxlength=18, placeholder="0.00"
)


def select(name: str, label: str, options: Options) -> FormField:
    return FormField(
        name=name,
        label=label,
        read=make_option_reader(options, f"Choose your {label.lower()}"),
        type="select",
        options=options,
    )


def optional(field: FormField, label: str) -> FormField:
    return msgspec.structs.replace(field, label=label, is_required=False)


def account_fields() -> tuple[FormField, ...]:
    banks = tuple((bank.cbn_code or "", bank.name) for bank in chargeable_banks())
    return (select("bank_code", "Bank", banks), ACCOUNT_NUMBER)


def ussd_fields(banks: tuple[str, ...]) -> tuple[FormField, ...]:
    choice = select("ussd_bank", "Bank", tuple((bank, USSD_BANKS[bank]) for bank in banks))
    if "zenith" not in banks:
        return (choice,)
    return (
        choice,
        optional(PHONE_FIELD, "Telephone number (Zenith Bank only)"),
        optional(ACCOUNT_NUMBER, "Account number (Zenith Bank only)"),
    )


def mobile_fields(provider: str) -> tuple[FormField, ...]:
    if provider == "paga":
        return ()
    if provider == "ghana":
        return (select("network", "Network", NETWORKS), PHONE_FIELD)
    return (PHONE_FIELD,)


def saved_card_field(cards: Options) -> FormField:
    return FormField(
        name="saved", label="Saved card", read=make_option_reader(cards, "Choose a card"), type="radio", options=cards
    )


# --- reading ----------------------------------------------------------------------------------------------------


class ReadForm(msgspec.Struct, frozen=True):
    """The values of a form that could be read, and what is wrong with the others, by the name of the field."""

    values: dict[str, str]
    errors: dict[str, str]

    def __repr__(self) -> str:
        return "ReadForm(…)"


def read_fields(fields: tuple[FormField, ...], entered: Mapping[str, str]) -> ReadForm:
    values, errors = {}, {}
    for field in fields:
        text = entered.get(field.name, "")
        if not text.strip() and not field.is_required:
            continue
        try:
            values[field.name] = field.read(text)
        except ValueError as error:
            errors[field.name] = str(error)
    return ReadForm(values, errors)


def make_card(values: Mapping[str, str], pin: str = "") -> EnteredCard:
    expiry = values["expiry"]
    return EnteredCard(values["number"], expiry[:2], expiry[2:], values["cvv"], pin)


# Fields of the API's refusals, and where the page shows their errors.
SHOWN_AT = {
    "card.card_no": "number",
    "card.expiry_year": "expiry",
    "card.expiry_month": "expiry",
    "card.ccv": "cvv",
    "card.pin": "pin",
    "account.accountnumber": "account_number",
    "account.bankcode": "bank_code",
    "phonenumber": "phone",
    "accountnumber": "account_number",
    "network": "network",
    "bank": "ussd_bank",
    "amount": "amount",
    "token": "saved",
}
WORDS_FOR_PAYERS = {
    "required for zenith": "Enter it: Zenith Bank asks for it",
    "the card has expired": "This card has expired",
    "the card that was initiated": "Enter the same card again",
}


def errors_for_payer(field_errors: Any, shown: tuple[FormField, ...]) -> tuple[dict[str, str], str]:
    """Returns the errors of a refusal by field of the form, and the text of those that belong to none."""
    names = {field.name for field in shown}
    errors, others = {}, []
    for error in field_errors:
        reason = WORDS_FOR_PAYERS.get(error.reason, error.reason)
        name = SHOWN_AT.get(error.field, "")
        if name in names:
            errors[name] = reason[:1].upper() + reason[1:]
        else:
            others.append(reason[:1].upper() + reason[1:])
    return errors, "; ".join(others)
