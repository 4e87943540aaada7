"""Masks personal data in replies to keys that only read. Contract: keys#scopes

A key of scope `read` sees what other scopes show, but nobody's name, address, telephone number or date of birth, and no
code that whoever has it can use.
"""

from collections.abc import Collection
from typing import Any

import msgspec

from kasuwa.core.callers import ActionScope, Caller

MASK = "***"
# Names of fields. One with a dot is masked in that object alone: other reasons are codes or words of a bank or of ours,
# other descriptions products. The payload of an event has the name of its kind.
PERSONAL_FIELDS = frozenset(
    {
        # Who somebody is.
        "name",
        "fullname",
        "firstname",
        "middlename",
        "lastname",
        "customer_name",
        "custName",
        "accountName",
        "sender_name",
        "account_name",
        "accountDetails",
        "dob",
        "gender",
        "bvn",
        "identification",
        "photo",
        # How to reach them.
        "email",
        "customer_email",
        "notification_email",
        "phone",
        "phonenumber",
        "customer_phone",
        "contact_phone",
        "address",
        "addresses",
        # What they have, and where they were.
        "bankAccount",
        "sender_account",
        "ip",
        "fingerprint",
        "mask",
        "bin",
        # What somebody wrote about them.
        "meta",
        "narration",
        "note",
        "comment",
        "explanation",
        "customer_note",
        "collateral.description",
        "waiting_write_off.reason",
        "waiting_reactivation.reason",
        "schedules.reason",
        "card_dispute.reason",
        "loan.reason",
        "reactivation.reason",
        # What whoever has it can use: saved cards, vouchers, tickets, and pages that show the person.
        "cardToken",
        "token",
        "pin",
        "consent_url",
    }
)
# Objects whose name is that of a product or a page.
PRODUCTS = frozenset({"items", "ticket_data", "categories", "bills", "plans"})
# Replies about no person: names are those of keys, billers and plans.
ABOUT_NO_PERSON = frozenset(
    {"resources keys", "bills pull", "investments list_plans", "investments list_share_classes"}
)
# Fields of one reply that have the same name as others which name nobody.
PERSONAL_IN = {
    "resources invoices": frozenset({"link"}),
    "resources invoice_detail": frozenset({"link", "reference"}),
    "resources ticket_sales": frozenset({"code"}),
    "resources mails": frozenset({"to", "to_name", "subject"}),
    "resources mail_detail": frozenset({"to", "to_name", "subject", "text", "html"}),
    "sandbox people_mails": frozenset({"to", "subject", "text", "html"}),
}
# Scopes whose keys see the people whom events and transactions are about.
SCOPES_WITH_PEOPLE = frozenset({"collect", "lend"})


def is_masked(caller: Caller, scope: ActionScope, title: str) -> bool:
    """Returns whether a reply to this caller is masked: the key may request the action, such as `clients list`, only
    because it may read."""
    scopes = caller.scopes
    if scope == "any" or "read" not in scopes or "all" in scopes or title in ABOUT_NO_PERSON:
        return False
    return SCOPES_WITH_PEOPLE.isdisjoint(scopes) if scope == "read" else scope not in scopes


def mask_reply(body: bytes, title: str) -> bytes:
    """Returns the JSON of a reply with its personal data masked. Its fields stay."""
    masked = PERSONAL_FIELDS | PERSONAL_IN.get(title, frozenset())
    return msgspec.json.encode(mask_fields(msgspec.json.decode(body), masked))


def mask_fields(value: Any, masked: Collection[str], parent: str = "") -> Any:
    if isinstance(value, list):
        return [mask_fields(item, masked, parent) for item in value]
    if not isinstance(value, dict):
        return value
    if parent == "payload":
        parent = value.get("kind", parent)
    return {
        name: mask_value(inner)
        if (name in masked and not (name == "name" and parent in PRODUCTS)) or f"{parent}.{name}" in masked
        else mask_fields(inner, masked, name)
        for name, inner in value.items()
    }


def mask_value(value: Any) -> Any:
    """Returns a value of the same shape that says nothing."""
    if isinstance(value, dict):
        return {name: mask_value(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [mask_value(item) for item in value]
    if isinstance(value, str):
        return MASK if value else value
    return value if value is None or isinstance(value, bool) else 0
