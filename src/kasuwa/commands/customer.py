"""`kasuwa customer`: data subject requests of people who pay. Exports and erases their personal data."""

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import typer

from kasuwa.api.dispatch import with_audit_entry
from kasuwa.boot.supervise import ServeError
from kasuwa.commands.client import YesOption
from kasuwa.commands.database import make_audit_entry, record_audit_entry, run_with_connection, run_with_services
from kasuwa.commands.directory_option import DataOption
from kasuwa.commands.payer_rows import PAYER_ERASURES, export_disputes, make_erasures
from kasuwa.core.decision import Decision, Refusal
from kasuwa.core.vault import Vault
from kasuwa.engine.batch import Submission
from kasuwa.engine.entropy import draw_entropy
from kasuwa.merchants import merchants
from kasuwa.methods.checkout.rules.erase import erase_checkout_payer
from kasuwa.methods.checkout.store import iterate_open_checkouts
from kasuwa.methods.customers.model import UNKNOWN_CUSTOMER, Customer, customer_key, hash_phones
from kasuwa.methods.customers.rules import decide_erase, need_erase, read_data, show_customer
from kasuwa.methods.customers.store import find_customer
from kasuwa.methods.invoices.model import Invoice
from kasuwa.methods.invoices.rules.states import erase_person, read_person, show_invoice
from kasuwa.methods.invoices.store import list_customer_invoices
from kasuwa.methods.mail.model import MailRow, erase_content, read_content
from kasuwa.methods.mail.records import show_mail
from kasuwa.methods.mail.store import list_customer_mails
from kasuwa.methods.resources.rules.erase import erase_owner
from kasuwa.methods.resources.store import iterate_accounts
from kasuwa.methods.tickets.model import Ticket
from kasuwa.methods.tickets.rules.records import erase_buyer
from kasuwa.methods.tickets.rules.records import read_person as read_buyer
from kasuwa.methods.tickets.store import list_tickets_of_payments
from kasuwa.privacy import customer_rows
from kasuwa.privacy.erasure import RowErasure
from kasuwa.settings.settings import Settings
from kasuwa.transactions.checkouts import Checkout, read_checkout_detail
from kasuwa.transactions.inbound_accounts import PersonalizedAccountRow, read_owner
from kasuwa.transactions.payers import hash_customer
from kasuwa.wire.people import identify_customer

if TYPE_CHECKING:
    from kasuwa.boot.composition import Services

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Export, find and erase the data of a customer.")


async def find_rows(connection: Any, customer: Customer, vault: Vault) -> customer_rows.CustomerRows:
    """Returns the rows that belong to a customer. An erased one has those of payments made after the erasure."""
    if customer.email_hash is not None:
        payer_hash: str | None = bytes(customer.email_hash).hex()
    else:
        payer_hash = await customer_rows.find_payer_hash(connection, customer.merchant_id, bytes(customer.key))
    if payer_hash is None:
        return customer_rows.CustomerRows()
    return await customer_rows.find_customer_rows(connection, customer.merchant_id, payer_hash, vault.unseal)


async def find_unlinked_rows(
    connection: Any, customer: Customer, vault: Vault
) -> tuple[list[Checkout], list[PersonalizedAccountRow]]:
    """Returns the open checkouts and the personalized accounts with the customer's address, or with the number that
    the customer is known by.

    They have no hash of it, so those of all persons are decrypted."""
    merchant_id, key = customer.merchant_id, bytes(customer.key)

    def is_customer(email: str, phone: str = "") -> bool:
        identity = identify_customer(email, phone)
        return identity != "" and customer_key(merchant_id, hash_customer(vault.digest, merchant_id, identity)) == key

    checkouts: list[Checkout] = []
    async for checkout in iterate_open_checkouts(merchant_id, connection):
        detail = read_checkout_detail(checkout, vault.unseal)
        if is_customer(detail.email, detail.phone):
            checkouts.append(checkout)
    accounts = [
        account
        async for account in iterate_accounts(merchant_id, connection)
        if is_customer(read_owner(account, vault.unseal).email)
    ]
    return checkouts, accounts


@command.command(name="find")
def find_by_identity(mid: str, email_or_phone: str, data: DataOption = None) -> None:
    """Print the id of the customer with an email address, or of all with a telephone number, one per line."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> str:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        is_address = "@" in email_or_phone
        key = customer_key(merchant_id, hash_customer(vault.digest, merchant_id, email_or_phone))
        phones = [] if is_address else hash_phones(vault.digest, merchant_id, email_or_phone)
        customer_ids = await customer_rows.find_customer_ids(connection, merchant_id, key, phones)
        act = f"looked for a customer by {'email' if is_address else 'telephone'}"
        await record_audit_entry(connection, merchant_id, act, ", ".join(customer_ids) or "nobody")
        if not customer_ids:
            raise ServeError("no customer of this merchant has this email address or number")
        return "\n".join(customer_ids)

    typer.echo(run_with_connection(data, work))


@command.command(name="export")
def export_customer(mid: str, customer_id: str, data: DataOption = None) -> None:
    """Print everything stored about a customer as JSON: the profile, payments, saved cards, disputes, invoices,
    mails, tickets, open checkouts and personalized accounts."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> bytes:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        customer = await find_customer(merchant_id, customer_id, connection)
        if customer is None:
            raise ServeError(UNKNOWN_CUSTOMER.message)
        await record_audit_entry(connection, merchant_id, "exported a customer", customer_id)
        customer_data = await find_rows(connection, customer, vault)
        records: dict[str, list[Any]] = {
            kind: [msgspec.Raw(text.encode()) for text in rows] for kind, rows in customer_data.records.items() if rows
        }
        records |= export_disputes(merchant_id, customer_data.disputes, vault)
        profile = show_customer(customer, read_data(customer, vault.unseal))
        records |= await export_sales(merchant_id, customer_id, customer_data.payment_refs, connection, vault)
        records |= await export_unlinked_rows(connection, customer, vault)
        return msgspec.json.encode({"mid": mid, "customer": profile, "records": records})

    typer.echo(msgspec.json.format(run_with_connection(data, work), indent=2).decode())


async def export_sales(
    merchant_id: int, customer_id: str, payment_refs: list[str], connection: Any, vault: Vault
) -> dict[str, list[Any]]:
    """Returns the invoices of a customer, the mails about them and the tickets that were bought, by kind, without
    tickets' codes."""
    invoices = [
        show_invoice(invoice, read_person(invoice, vault.unseal), "")
        for invoice in await list_customer_invoices(merchant_id, customer_id, connection)
    ]
    for record in invoices:
        record.link = ""  # whoever has it can see the invoice
    mails = [
        show_mail(mail, read_content(mail, vault.unseal))
        for mail in await list_customer_mails(merchant_id, customer_id, payment_refs, connection)
    ]
    for mail in mails:
        mail.text = mail.html = None  # they have the link of the invoice
    tickets = [
        {"link_id": ticket.link_id, "payment": ticket.payment_ref, "state": ticket.state, **format_buyer(ticket, vault)}
        for ticket in await list_tickets_of_payments(merchant_id, payment_refs, connection)
    ]
    return {kind: rows for kind, rows in (("invoice", invoices), ("mail", mails), ("ticket", tickets)) if rows}


async def export_unlinked_rows(connection: Any, customer: Customer, vault: Vault) -> dict[str, list[Any]]:
    """Returns the open checkouts and the personalized accounts of a customer, by kind."""
    checkouts, accounts = await find_unlinked_rows(connection, customer, vault)
    details = [(checkout, read_checkout_detail(checkout, vault.unseal)) for checkout in checkouts]
    opened = [
        {
            "txn_ref": checkout.txn_ref,
            "fullname": detail.fullname,
            "email": detail.email,
            "phone": detail.phone,
            "meta": detail.meta,
        }
        for checkout, detail in details
    ]
    owned = [
        {
            "reference": account.reference,
            "account_number": account.account_number,
            "state": account.state,
            **msgspec.structs.asdict(read_owner(account, vault.unseal)),
        }
        for account in accounts
    ]
    return {kind: rows for kind, rows in (("checkout", opened), ("personalized_account", owned)) if rows}


def format_buyer(ticket: Ticket, vault: Vault) -> dict[str, str]:
    buyer = read_buyer(ticket, vault.unseal)
    return {"name": buyer.name, "email": buyer.email, "phone": buyer.phone}


@command.command(name="erase")
def erase_customer_data(mid: str, customer_id: str, yes: YesOption = False, data: DataOption = None) -> None:
    """Erase a customer's personal data, also in payments, plans, invoices, mails, tickets, open checkouts and
    personalized accounts, and the cards saved with payments. The books keep their records. Refused while a payment or a
    dispute is open. Erasing again also erases what was paid with the address since."""
    if not yes:
        typer.confirm(f"Erase all personal data of {customer_id}? This cannot be undone", abort=True)

    async def work(services: "Services") -> Any:
        async with services.reader.acquire() as connection:
            merchant_id = await merchants.find_merchant_id(connection, mid)
            customer = await find_customer(merchant_id, customer_id, connection)
            if customer is None:
                raise ServeError(UNKNOWN_CUSTOMER.message)
            rows = await find_rows(connection, customer, services.vault)
            invoices = await list_customer_invoices(merchant_id, customer_id, connection)
            mails = await list_customer_mails(merchant_id, customer_id, rows.payment_refs, connection)
            tickets = await list_tickets_of_payments(merchant_id, rows.payment_refs, connection)
            checkouts, accounts = await find_unlinked_rows(connection, customer, services.vault)
        merchant = await services.merchant_directory.get_by_id(merchant_id)
        erasures = make_erasures(PAYER_ERASURES, rows.keys)
        erasures += tuple(RowErasure(Invoice, bytes(invoice.key), erase_person) for invoice in invoices)
        erasures += tuple(RowErasure(MailRow, bytes(mail.key), erase_content, ends_job=True) for mail in mails)
        erasures += tuple(RowErasure(Ticket, bytes(ticket.key), erase_buyer) for ticket in tickets)
        erasures += tuple(RowErasure(Checkout, bytes(row.key), erase_checkout_payer) for row in checkouts)
        erasures += tuple(RowErasure(PersonalizedAccountRow, bytes(row.key), erase_owner) for row in accounts)
        key = bytes(customer.key)
        rule = with_audit_entry(
            partial(decide_erase, key, erasures), lambda _: make_audit_entry("erased a customer", customer_id)
        )
        submission = Submission(merchant, need_erase(key, erasures), rule, draw_entropy())
        result = await services.writer.submit(submission)
        if isinstance(result, Refusal):
            raise ServeError(result.message)
        assert isinstance(result, Decision), result
        return result.reply

    typer.echo(msgspec.json.encode(run_with_services(data, work)).decode())
