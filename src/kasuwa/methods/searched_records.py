"""The tables whose records are found by words, and what their words are made of. See docs/decisions/0104."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kasuwa.core.keyring import UnsealError
from kasuwa.core.vault import Unsealer, Vault
from kasuwa.methods.clients import model as clients
from kasuwa.methods.customers import model as customers
from kasuwa.methods.virtualcard.model import read_holder
from kasuwa.projections.record_words import NO_TEXT, SearchedTable, SearchedText
from kasuwa.transactions.inbound_accounts import AccountOwner, open_owner
from kasuwa.transactions.sealed_payers import plan_payer_aad, unseal_payer
from kasuwa.wire.search_words import address_words, hash_words, number_words, split_name

# Takes an unsealer, the merchant, the row key, the reference and the columns. Returns what the record is found by.
ReadText = Callable[..., SearchedText]


class ClientNames(msgspec.Struct, frozen=True):
    """The fields of a client's detail that a search finds it by."""

    firstname: str | None = None
    middlename: str | None = None
    lastname: str | None = None
    email: str | None = None


CLIENT_NAMES_DECODER: "msgspec.json.Decoder[ClientNames]" = msgspec.json.Decoder(ClientNames)


def client_text(unseal: Unsealer, merchant_id: int, key: bytes, client_id: str, sealed: bytes | None) -> SearchedText:
    if sealed is None:
        return NO_TEXT
    person = CLIENT_NAMES_DECODER.decode(unseal(merchant_id, clients.detail_aad(client_id), sealed))
    names = filter(None, (person.firstname, person.middlename, person.lastname))
    return SearchedText(" ".join(names), person.email or "")


def customer_text(
    unseal: Unsealer, merchant_id: int, key: bytes, customer_id: str, sealed: bytes | None
) -> SearchedText:
    if sealed is None:
        return NO_TEXT
    person = customers.DATA_DECODER.decode(unseal(merchant_id, customers.detail_aad(customer_id), sealed))
    return SearchedText(person.name, person.email)


def account_text(
    unseal: Unsealer, merchant_id: int, key: bytes, reference: str, number: str, sealed: bytes | None
) -> SearchedText:
    owner = AccountOwner() if sealed is None else open_owner(merchant_id, key, sealed, unseal)
    return SearchedText(owner.name, owner.email, number)


def plan_text(unseal: Unsealer, merchant_id: int, key: bytes, plan_id: str, sealed: bytes | None) -> SearchedText:
    payer = unseal_payer(merchant_id, plan_payer_aad(plan_id), sealed, unseal)
    return SearchedText(payer.fullname, payer.email)


def card_text(unseal: Unsealer, merchant_id: int, key: bytes, reference: str, mask: str, sealed: bytes) -> SearchedText:
    return SearchedText(read_holder(merchant_id, key, sealed, unseal).name, "", mask)


def beneficiary_text(
    unseal: Unsealer, merchant_id: int, key: bytes, ref_code: str, name: str, number: str
) -> SearchedText:
    return SearchedText(name, "", number)


def title_text(unseal: Unsealer, merchant_id: int, key: bytes, reference: str, title: str) -> SearchedText:
    return SearchedText(title)


def list_words(text: SearchedText) -> list[str]:
    return [*split_name(text.name), *address_words(text.email), *number_words(text.number)]


def make_reader(vault: Vault, read_text: ReadText) -> ReadText:
    def read(merchant_id: int, *record: Any) -> SearchedText:
        """Returns what a record is found by: nothing if it cannot be decrypted any more."""
        try:
            return read_text(vault.unseal, merchant_id, *record)
        except UnsealError:
            return NO_TEXT

    return read


# Kind, table, reference, state, page, columns and their reader.
TABLES: tuple[tuple[str, str, str, str, str, str, ReadText], ...] = (
    ("client", "client", "client_id", "status", "'client'", "detail_sealed", client_text),
    ("customer", "customer", "customer_id", "'active'", "'customer'", "detail_sealed", customer_text),
    (
        "personalized_account",
        "personalized_account",
        "reference",
        "state",
        "'personalized_account'",
        "account_number, person_sealed",
        account_text,
    ),
    ("plan", "payment_plan", "plan_id", "state", "kind", "payer_sealed", plan_text),
    ("virtual_card", "virtual_card", "reference", "state", "'virtual_card'", "mask, holder_sealed", card_text),
    ("beneficiary", "beneficiary", "ref_code", "'active'", "'beneficiary'", "name, account_number", beneficiary_text),
    ("link", "pay_link", "link_id", "state", "kind", "title", title_text),
    ("savings", "savings", "savings_id", "state", "'savings'", "name", title_text),
    ("thrift_plan", "thrift_plan", "thrift_id", "state", "'thrift_plan'", "name", title_text),
    ("share_class", "share_class", "class_id", "'active'", "'share_class'", "name", title_text),
)


def make_searched_tables(vault: Vault) -> Mapping[str, SearchedTable]:
    """Returns the tables by kind."""
    return {
        kind: SearchedTable(kind, table, reference, state, page, columns, make_reader(vault, read_text))
        for kind, table, reference, state, page, columns, read_text in TABLES
    }


def hash_text(vault: Vault, merchant_id: int, text: SearchedText) -> set[bytes]:
    return hash_words(vault.digest, merchant_id, list_words(text))
