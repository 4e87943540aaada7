"""People on pages: names of clients and customers, the payers of payments, and the search by name or email address.

All that reads or searches personal data for a page is here. Names and addresses are found by the same hashes as in the
API: a whole email address or telephone number, or the beginnings of words of a customer's name.
"""

import asyncio
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from kasuwa.console.kit.forms import FormField
from kasuwa.console.kit.values import remove_separators
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant.store import find_invoice_id
from kasuwa.core.banks import bank_names
from kasuwa.core.money import parse_minor
from kasuwa.core.reading import Reader
from kasuwa.methods.clients.rules.manage_client import show_client
from kasuwa.methods.clients.store import find_clients
from kasuwa.methods.customers.rules import read_data
from kasuwa.methods.customers.store import find_customers
from kasuwa.methods.disburse.receipts import open_facts
from kasuwa.methods.payment.model import FACTS_DECODER, CardSummary, PaymentDetail, payment_key
from kasuwa.methods.payment.payer_model import open_detail
from kasuwa.methods.searched_records import make_searched_tables
from kasuwa.methods.transactions.store import list_details, list_payers
from kasuwa.projections import payment_words, record_words
from kasuwa.projections.record_words import FoundRecord
from kasuwa.wire.people import NATIONAL_NUMBERS, is_telephone
from kasuwa.wire.search_words import amount_word, hash_search, question_words

# Decrypting so many records takes a millisecond. Other requests are served in between.
DECRYPTED_AT_ONCE = 5
# Fields of records that have the id of a client.
CLIENT_FIELDS = ("borrower_id", "client_id", "leader")
# People whom one search shows.
MAX_FOUND = 5
SHORTEST_NAME = 3


# --- names of ids --------------------------------------------------------------------------------------------------


async def read_names(visit: Visit, reader: Reader, records: Any) -> dict[str, str]:
    """Returns the names of all clients and customers that records refer to, by id."""
    merchant_id, unseal = visit.merchant.merchant_id, visit.services.vault.unseal
    names: dict[str, str] = {}
    clients = sorted({one for field in CLIENT_FIELDS for one in iterate_values(records, field)})
    if clients:
        for n, client in enumerate(await find_clients(merchant_id, clients, reader)):
            shown = show_client(client, unseal)
            names[str(shown.client_id)] = " ".join(filter(None, (shown.firstname or "", shown.lastname or "")))
            if n % DECRYPTED_AT_ONCE == 0:
                await asyncio.sleep(0)
    customers = sorted(set(iterate_values(records, "customer_id")))
    if customers:
        for customer in await find_customers(merchant_id, customers, reader):
            data = read_data(customer, unseal)
            names[customer.customer_id] = "" if data is None else data.name
    return {reference: name for reference, name in names.items() if name}


def iterate_values(records: Any, name: str) -> Iterator[str]:
    """Yields the texts of a field in records, at any depth."""
    if isinstance(records, dict):
        for field, value in records.items():
            if field == name and isinstance(value, str):
                yield value
            else:
                yield from iterate_values(value, name)
    elif isinstance(records, list):
        for record in records:
            yield from iterate_values(record, name)


# --- the other side of a transaction --------------------------------------------------------------------------------


class Counterparty(msgspec.Struct, frozen=True):
    """The other side of a transaction, as lists show it. Unknown texts are empty."""

    name: str = ""
    email: str = ""
    instrument: str = ""  # a masked card and its brand, or a bank and an account number
    badge: str = ""  # refunded, partly_refunded or disputed
    narration: str = ""  # of a transfer


NO_COUNTERPARTY = Counterparty()


class OtherDetail(msgspec.Struct, frozen=True):
    """The fields of transfers, bills and card purchases that name the other side."""

    bank_code: str = ""
    account_number: str = ""
    biller: str = ""
    reference: str = ""
    merchant_name: str = ""
    narration: str = ""


OTHER_DETAIL_DECODER: "msgspec.json.Decoder[OtherDetail]" = msgspec.json.Decoder(OtherDetail)


async def read_counterparties(
    visit: Visit, reader: Reader, lines: Iterable[Mapping[str, Any]]
) -> dict[str, Counterparty]:
    """Returns the other sides of the transactions of a list, by txnRef."""
    merchant_id, unseal = visit.merchant.merchant_id, visit.services.vault.unseal
    listed = list(lines)
    payments = [line["txnRef"] for line in listed if line["kind"] == "payment"]
    others = [line["txnRef"] for line in listed if line["kind"] != "payment"]
    counterparties: dict[str, Counterparty] = {}
    if payments:
        keys = [payment_key(merchant_id, reference) for reference in payments]
        for reference, charged, refunded, disputed, detail, sealed, facts in await list_payers(
            merchant_id, keys, reader
        ):
            payment = open_detail(merchant_id, reference, detail, sealed, unseal)
            counterparties[reference] = read_payer(payment, facts, refund_badge(charged, refunded, disputed))
    if others:
        for reference, detail, sealed in await list_details(merchant_id, others, reader):
            other = read_other_side(detail)
            name = other.name or open_facts(merchant_id, reference, sealed, unseal).name
            counterparties[reference] = msgspec.structs.replace(other, name=name)
    return counterparties


def refund_badge(charged: int, refunded: int, disputed: int) -> str:
    """Returns the state of a payment that was refunded or disputed, or nothing."""
    if disputed:
        return "disputed"
    if not refunded:
        return ""
    return "refunded" if refunded >= charged else "partly_refunded"


def read_payer(payment: PaymentDetail, facts: str, badge: str = "") -> Counterparty:
    """Returns the payer of a payment."""
    card = payment.card or FACTS_DECODER.decode(facts).card
    account = payment.payer_account or payment.payer
    provider = bank_names().get(payment.provider, payment.provider)
    instrument = card_text(card) if card is not None else " ".join(filter(None, (provider, mask_account(account))))
    return Counterparty(payment.fullname, payment.email, instrument, badge)


def read_other_side(detail: str) -> Counterparty:
    """Returns the account, biller or shop of a transaction that is not a payment."""
    try:
        other = OTHER_DETAIL_DECODER.decode(detail)
    except msgspec.ValidationError:  # a field of the same name with another meaning
        return NO_COUNTERPARTY
    if other.bank_code:
        bank = bank_names().get(other.bank_code, other.bank_code)
        return Counterparty(instrument=f"{bank} {other.account_number}", narration=other.narration)
    if other.biller:
        return Counterparty(name=other.biller, instrument=other.reference)
    return Counterparty(name=other.merchant_name)


def card_text(card: CardSummary) -> str:
    """Returns brand and last four digits of a card: "Visa •••• 1234"."""
    return f"{(card.brand or 'card').capitalize()} •••• {card.mask[-4:]}"


def mask_account(number: str) -> str:
    """Returns the last four digits of a payer's account or telephone number."""
    return f"•••• {number[-4:]}" if len(number) > 4 else number


# --- suggestions of forms ------------------------------------------------------------------------------------------

MAX_SUGGESTED = 20


async def list_suggestions(visit: Visit, fields: Iterable[FormField]) -> dict[str, list[tuple[str, str]]]:
    """Returns (id, name) of the newest clients, customers and loan products, if a field takes one."""
    wanted = {field.refers_to for field in fields if field.value_type == "text"}
    suggestions: dict[str, list[tuple[str, str]]] = {}
    if "clients" in wanted:
        reply = await visit.call_action("clients", action="list", status="active", limit=MAX_SUGGESTED)
        rows = reply.body["data"] if reply.is_success else []
        suggestions["clients"] = [
            (row["client_id"], " ".join(filter(None, (row.get("firstname"), row.get("lastname"))))) for row in rows
        ]
    if "customers" in wanted:
        reply = await visit.call_action("resources", inquire="customer", limit=MAX_SUGGESTED)
        rows = reply.body["data"] if reply.is_success else []
        suggestions["customers"] = [
            (row["customer_id"], f"{row['name']}, {row['email'] or row['phone']}") for row in rows
        ]
    if "loan-products" in wanted:
        reply = await visit.call_action("loans", action="list_products", limit=MAX_SUGGESTED)
        rows = reply.body["data"] if reply.is_success else []
        suggestions["loan-products"] = [(row["product_id"], f"{row['name']}, {row['code']}") for row in rows]
    return suggestions


# --- search --------------------------------------------------------------------------------------------------------

# Payments that one search shows, the newest.
MAX_PAYMENTS = 20
# Records that one search shows.
MAX_RECORDS = 30
INVOICE_NUMBER = re.compile(r"(?:INV-?)0*([1-9][0-9]{0,11})", re.ASCII | re.IGNORECASE)


async def find_invoice(visit: Visit, reader: Reader, text: str) -> str:
    """Returns the id of the invoice whose number a text is, or nothing."""
    number = parse_invoice_number(text)
    return "" if number is None else await find_invoice_id(reader, visit.merchant, number)


def parse_invoice_number(text: str) -> int | None:
    match = INVOICE_NUMBER.fullmatch(text)
    return None if match is None else int(match[1])


def parse_amount(text: str) -> int:
    """Returns the amount that a text is, as people write it: "1,500" or "1500.00". 0 if it is none."""
    return parse_minor(remove_separators(text)) or 0


def question_amount(text: str) -> str:
    """Returns the word of the amount that a text is, empty if it is none."""
    minor = parse_amount(text)
    return amount_word(minor) if minor else ""


async def find_payments(visit: Visit, reader: Reader, text: str) -> list[str]:
    """Returns the txnRefs of payments and transfers that a text finds: by whole words of the name of the payer or of
    the account, by the last four digits of a card or account, by the payer's email address, or by the number of the
    invoice that they pay."""
    merchant_id = visit.merchant.merchant_id
    invoice = await find_invoice(visit, reader, text)
    if invoice:
        reply = await visit.call_action("resources", inquire="transaction", reference=invoice)
        related = reply.body["data"]["related"] if reply.is_success else []
        return [one["reference"] for one in related if one["kind"] == "payment"][:MAX_PAYMENTS]
    words = hash_question(visit, merchant_id, text)
    return await payment_words.find_payments(reader, merchant_id, words, MAX_PAYMENTS)


def hash_question(visit: Visit, merchant_id: int, text: str) -> list[bytes]:
    """Returns the hashes that something must all have to be found by a text."""
    return [hash_search(visit.services.vault.digest, merchant_id, word) for word in question_words(text)]


async def find_records(visit: Visit, reader: Reader, text: str, known: Collection[str]) -> list[FoundRecord]:
    """Returns the records that a text finds by whole words of a name or title, by the last four digits of a number, or
    by an email address. Those whose reference is known already are left out."""
    merchant_id, tables = visit.merchant.merchant_id, make_searched_tables(visit.services.vault)
    words = hash_question(visit, merchant_id, text)
    records = await record_words.find_records(reader, tables, merchant_id, words, MAX_RECORDS)
    return [record for record in records if record.reference not in known]


class FoundPeople(msgspec.Struct, frozen=True):
    """Customers and clients that a search found, as the API shows them."""

    customers: list[dict[str, Any]]
    clients: list[dict[str, Any]]

    @property
    def references(self) -> set[str]:
        return {one["customer_id"] for one in self.customers} | {one["client_id"] for one in self.clients}


async def find_people(visit: Visit, text: str) -> FoundPeople:
    """Returns the customers and clients that a text names. Must be called while the page's snapshot is open."""
    if len(text) < SHORTEST_NAME:
        return FoundPeople([], [])
    customers = await visit.call_action("resources", inquire="customer", search=text, limit=MAX_FOUND)
    clients: list[dict[str, Any]] = []
    exact = client_filter(text)
    if exact and visit.services.has_action("clients", "list"):
        reply = await visit.call_action("clients", action="list", limit=MAX_FOUND, **exact)
        clients = reply.body["data"] if reply.is_success else []
    return FoundPeople(customers.body["data"] if customers.is_success else [], clients)


def client_filter(text: str) -> dict[str, str]:
    """Returns the filter of the list of clients that a text stands for. Clients are found by whole values only."""
    if "@" in text:
        return {"email": text}
    return {"phone": text} if is_telephone(text, NATIONAL_NUMBERS) else {}
