"""What is agreed about the mails that are sent in a merchant's name."""

import msgspec

from kasuwa.core.mail import clean_display_name, is_address

MAX_NAME_LENGTH = 80
MAX_ADDRESS_LENGTH = 200


class MailTerms(msgspec.Struct, frozen=True, omit_defaults=True):
    """The choices of a merchant for its mails."""

    sender_name: str = ""  # empty: the merchant's name
    reply_to: str = ""  # empty: answers go to the address that sends
    receipts: bool = False  # whether payers get a receipt of each successful payment
    sms: bool = False  # whether who has a telephone number and no address gets a text message instead


NO_MAIL_TERMS = MailTerms()


class MailService(msgspec.Struct, frozen=True):
    """Whether this deployment can send mails, and text messages (SMS). In test they stay in the merchant's outbox."""

    is_configured: bool = False
    sends_sms: bool = False


def find_sender_name_fault(name: str) -> str | None:
    if len(name) > MAX_NAME_LENGTH or not name.isprintable():
        return f"at most {MAX_NAME_LENGTH} characters on one line"
    if name != clean_display_name(name):
        return "a name, not an address: without @, < and >"
    return None


def find_reply_to_fault(address: str) -> str | None:
    if address and (len(address) > MAX_ADDRESS_LENGTH or not is_address(address)):
        return "must be an email address such as office@example.com"
    return None


def check_mail_terms(terms: MailTerms) -> None:
    """Raises ValueError if the terms are invalid."""
    fault = find_sender_name_fault(terms.sender_name)
    if fault is not None:
        raise ValueError(f"mail: the sender's name must have or be {fault}")
    if find_reply_to_fault(terms.reply_to) is not None:
        raise ValueError("mail: reply_to must be an email address")
