"""Values without people and secrets, in the form in which `engine/decision_inputs.py` stores what was decided on.

A text is kept only if its type or its name says that it is no person's. Others are replaced by pseudonyms, and codes,
cards and files are left out (docs/decisions/0105).
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from kasuwa.core.money import format_minor
from kasuwa.core.references import is_any_opaque_id
from kasuwa.wire.documents import Document, read_document
from kasuwa.wire.fields import Amount, ChosenCurrency, Currency, CustomFieldType, PercentOrAmount, PercentRate
from kasuwa.wire.masking import SECRET_FIELDS, mask_reference
from kasuwa.wire.pseudonyms import Hash, make_pseudonym

# Texts that say nothing of a person, by their names: codes of tables, and words of the service. A value of another form
# is taken for a person's.
WORD = re.compile(r"[A-Za-z][A-Za-z_]{0,29}", re.ASCII)
PLAIN_FORMS = {
    **dict.fromkeys(("bank_code", "bankcode"), re.compile(r"[0-9]{3}|[0-9]{5,6}", re.ASCII)),
    **dict.fromkeys(("auth", "bank", "country", "network", "outcome", "provider", "rail", "status"), WORD),
    "code": re.compile(r"[0-9A-Z]{2}", re.ASCII),
    "currency": re.compile(r"[A-Z]{3}", re.ASCII),
    "excess": re.compile(r"[0-9]{1,15}", re.ASCII),
    # A rule looks it up before anything is decided.
    "paycode": re.compile(r"[A-Za-z0-9][A-Za-z0-9_./|-]{0,59}", re.ASCII),
}
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.+Z-]{5,24})?", re.ASCII)
# Of an untyped object. A longer number may be somebody's, such as a card's.
AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?", re.ASCII)
SHORT_NUMBER = re.compile(r"[0-9]{1,3}(\.[0-9]{1,4})?", re.ASCII)
# Fields that are known of untyped objects. The names of others may be somebody's. An order of a bulk has those of a
# transfer; facts of rails have these, those above and references.
ORDER_NAMES = frozenset({"accountnumber", "amount", "bankcode", "currency", "narration", "orderRef", "sender_name"})
FACT_NAMES = frozenset({"accountnumber", "amount", "beneficiary_name", "due_at", "narration", "sender_name", "token"})
# Types of texts that are no person's.
HARMLESS_TYPES = (ChosenCurrency, Currency, PercentOrAmount, PercentRate)
# Names of references. They are told apart from people's values, and renamed when a case is exported. `reference` is
# none of them: it may be the number of a biller's customer. Every one of an action is here
# (tests/cases/test_references.py).
REFERENCE_NAMES = frozenset(
    {
        "txnRef",
        "txn_ref",
        "orderRef",
        "order_ref",
        "batchRef",
        "batch_ref",
        "refundRef",
        "refund_ref",
        "customer_txnref",
        "ref_code",
        "plan_id",
        "dispute_id",
        "client_id",
        "loan_id",
        "savings_id",
        "thrift_id",
        "rail_dispute_id",
        "guarantee_id",
        "link_id",
        "invoice_id",
        "auto_repay_id",
        "borrower_id",
        "charge_id",
        "checkoutRef",
        "class_id",
        "collateral_id",
        "customer_id",
        "dividend_id",
        "group_id",
        "group_loan_id",
        "holding_id",
        "mail_id",
        "order_id",
        "product_id",
        "redemption_id",
        "saving_id",
        "to_client_id",
    }
)
# The same, where the type of the field says that it holds references and the value is an opaque id. Elsewhere
# these names have other values.
OTHER_REFERENCE_NAMES = frozenset({"add", "from", "id", "leader", "members", "remove", "to"})
# Names of secrets that have a pseudonym: a saved card is named by that of its token. A code may be a plain form.
NAMED_SECRETS = frozenset({"cardtoken", "bvn", "nin", "code", "token"})
# Names of what is left out with everything below it.
SECRET_NAMES = SECRET_FIELDS - NAMED_SECRETS | {"file", "files", "picture", "image", "session", "meta", "logo"}


def clean(value: Any, hash_text: Hash, name: str = "", mode: str = "") -> Any:
    """Returns a value without personal data and secrets. What is None or absent is left out of objects."""
    if isinstance(value, msgspec.Struct):
        fields = ((wire, mode, getattr(value, attribute)) for attribute, wire, mode in plan_fields(type(value)))
        cleaned = ((wire, clean(part, hash_text, wire, mode)) for wire, mode, part in fields if mode != "secret")
        return {wire: part for wire, part in cleaned if part is not None}
    if value is None or isinstance(value, bool | msgspec.UnsetType) or mode == "secret":
        return value if isinstance(value, bool) else None
    if isinstance(value, msgspec.Raw):
        return clean_untyped(value, hash_text, name)
    if isinstance(value, Document):
        return clean_document(value, hash_text)
    if isinstance(value, dict):
        return clean_object(value, hash_text, is_fact)
    if isinstance(value, list | tuple):
        return [clean(part, hash_text, name, mode) for part in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, date) and name != "dob":
        return value.isoformat()
    if isinstance(value, int | float):
        return clean_number(value)
    return clean_text(str(value), hash_text, name, mode or guess_mode(name))


def clean_document(document: Document, hash_text: Hash) -> dict[str, Any] | None:
    """Returns the fields of a document that are known. A number may be a person's, and is treated as a text."""
    if document.known_struct is None:
        return None
    parts = document.read_parts(read_document(document))
    texts = {name: str(part) if isinstance(part, int) else part for name, part in parts.items()}
    fields = plan_fields(document.known_struct)
    cleaned = {
        wire: clean(texts.get(attribute), hash_text, wire, mode) for attribute, wire, mode in fields if mode != "secret"
    }
    return {wire: part for wire, part in cleaned.items() if part is not None}


def clean_untyped(raw: msgspec.Raw, hash_text: Hash, name: str) -> Any:
    """Returns a value that was not decoded by a type: an order of a bulk."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    if isinstance(value, dict):
        return clean_object(value, hash_text, ORDER_NAMES.__contains__)
    return clean_scalar(value, hash_text, name)


def clean_object(value: dict[Any, Any], hash_text: Hash, is_field: Callable[[Any], bool]) -> dict[str, Any]:
    """Returns the fields of an untyped object that are known. What is None is left out."""
    parts = {key: clean_scalar(part, hash_text, key) for key, part in value.items() if is_field(key)}
    return {key: part for key, part in parts.items() if part is not None}


def clean_scalar(value: Any, hash_text: Hash, name: str) -> Any:
    """Returns a value of an untyped object. A number may be a person's as well as a text, and is treated as one; lists
    and objects are left out, because no field has them."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str | int | float):
        return None
    text = str(value)
    if name == "amount" and AMOUNT.fullmatch(text):
        return value
    return clean_text(text, hash_text, name, guess_mode(name))


def clean_number(value: float) -> Any:
    """Returns a number. Amounts are written as on the wire."""
    if isinstance(value, Amount):
        return format_minor(int(value))
    return int(value) if isinstance(value, int) else float(value)


def clean_text(text: str, hash_text: Hash, name: str, mode: str) -> str:
    if mode == "choice":
        return text
    if mode == "reference":
        return mask_reference(text)
    if mode == "opaque id" and is_any_opaque_id(text):
        return text
    form = DATE if name.endswith("_date") else PLAIN_FORMS.get(name)
    if SHORT_NUMBER.fullmatch(text) or (mode == "plain" and form is not None and form.fullmatch(text)):
        return text
    return make_pseudonym(text, hash_text)


def is_fact(key: Any) -> bool:
    """Whether a key of the facts of a rail is one of ours. Others may be somebody's name."""
    return key in FACT_NAMES or key in PLAIN_FORMS or key in REFERENCE_NAMES


def guess_mode(name: str) -> str:
    if name.lower() in SECRET_NAMES:
        return "secret"
    if name in REFERENCE_NAMES:
        return "reference"
    return "plain" if name in PLAIN_FORMS or name.endswith("_date") else "person"


@cache
def plan_fields(kind: type[msgspec.Struct]) -> list[tuple[str, str, str]]:
    """Returns the fields of a struct: the attribute, the name on the wire, and how its texts are treated."""
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return [(field.name, field.encode_name, choose_mode(field.encode_name, field.type)) for field in described.fields]


def choose_mode(name: str, kind: inspect.Type) -> str:
    mode = guess_mode(name)
    if mode == "secret":
        return mode
    if isinstance(kind, inspect.UnionType):
        modes = {choose_mode(name, part) for part in kind.types if not isinstance(part, inspect.NoneType)}
        return modes.pop() if len(modes) == 1 else mode
    if isinstance(kind, inspect.LiteralType | inspect.EnumType):
        return "choice"
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        return choose_mode(name, kind.item_type)
    if isinstance(kind, inspect.CustomType):
        return "choice" if issubclass(kind.cls, HARMLESS_TYPES) or has_choices(kind.cls) else mode
    if isinstance(kind, inspect.Metadata):
        extra = kind.extra or {}
        if name in OTHER_REFERENCE_NAMES and extra.get("reference_text"):
            return "opaque id"
        # Whatever its name is, people write what they like in a free text.
        return "person" if extra.get("free_text") else choose_mode(name, kind.type)
    # The keys of an untyped object may be anything. Those of a rail's facts are words of the service.
    return "secret" if isinstance(kind, inspect.DictType) and name != "facts" else mode


def has_choices(kind: type) -> bool:
    """Whether a type of texts has a list of its values."""
    return issubclass(kind, CustomFieldType) and "enum" in kind.schema()
