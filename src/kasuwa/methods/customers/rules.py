"""Registers, updates and erases customers. Contract: resources#customers"""

from collections.abc import Callable

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, NeedsMore, Refusal
from kasuwa.core.references import opaque_id
from kasuwa.methods.customers.model import (
    DATA_DECODER,
    ID_PREFIX,
    UNKNOWN_CUSTOMER,
    Customer,
    CustomerData,
    CustomerIndex,
    customer_index_key,
    customer_key,
    detail_aad,
    hash_name,
    hash_phones,
)
from kasuwa.methods.customers.wire import CustomerRecord, CustomerReply, CustomerRequest
from kasuwa.privacy.erasure import RowErasure, erase_rows, need_rows
from kasuwa.terms.sms import is_sms_number
from kasuwa.transactions.payers import hash_customer
from kasuwa.wire.people import canonical_phone, identify_customer

Unsealer = Callable[[int, str, bytes], bytes]

NEEDS_CODE = "needs + and its country's code: there is no email address"


def check_identity(merchant: Merchant, email: str | None, phone: str | None) -> str | None:
    """Field rule: returns what is wrong with the number of a customer without an email address, or None."""
    return NEEDS_CODE if email is None and phone is not None and not is_sms_number(canonical_phone(phone)) else None


def need_customer(request: CustomerRequest, merchant: Merchant) -> Needs:
    """The key is made with the vault's keyed hash, which only the decision has: it asks for the row itself."""
    return Needs()


def decide_customer(
    request: CustomerRequest, context: Context, rows: LoadedRows
) -> Decision[CustomerReply] | NeedsMore:
    merchant_id = context.merchant.merchant_id
    identity = identify_customer(request.email or "", str(request.phone or ""))
    email_hash = hash_customer(context.digest, merchant_id, identity)
    key = customer_key(merchant_id, email_hash)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((Customer, key),)))
    before = rows.get(Customer, key)
    customer = before if before is not None else begin_customer(key, context)
    earlier = read_data(customer, context.vault.unseal)
    data_before = earlier or CustomerData("", "")
    data = CustomerData(
        name=request.name,
        email=request.email or "",
        phone=data_before.phone if request.phone is None else str(request.phone),
        address=data_before.address if request.address is None else request.address,
    )
    if data == earlier:
        return Decision(reply=CustomerReply(message="Customer found", data=show_customer(customer, data)))
    changed = msgspec.structs.replace(
        customer,
        detail_sealed=context.seal(detail_aad(customer.customer_id), msgspec.json.encode(data)),
        email_hash=email_hash,
        phone_hash=None if data.phone is None else hash_phones(context.digest, merchant_id, data.phone)[0],
        words=hash_name(context.digest, merchant_id, data.name),
        changed_at=context.now,
        erased_at=None,
    )
    message = "Customer created" if before is None else "Customer updated"
    reply = CustomerReply(message=message, data=show_customer(changed, data))
    if before is not None:
        return Decision(reply=reply, rows=(changed,))
    index = CustomerIndex(customer_index_key(merchant_id, customer.customer_id), merchant_id, key)
    return Decision(reply=reply, rows=(changed, index), numbers_used=1)


# --- for invoices ---------------------------------------------------------------------------------------------------


def find_customer_row(customer_id: str, context: Context, rows: LoadedRows) -> Customer | NeedsMore | None:
    """Returns the customer of an id, None if there is none, or NeedsMore."""
    merchant_id = context.merchant.merchant_id
    index_key = customer_index_key(merchant_id, customer_id)
    if not rows.is_loaded(index_key):
        return NeedsMore(Needs(((CustomerIndex, index_key),)))
    index = rows.get(CustomerIndex, index_key)
    if index is None:
        return None
    key = bytes(index.customer_key)
    return rows.get(Customer, key) if rows.is_loaded(key) else NeedsMore(Needs(((Customer, key),)))


def begin_customer(key: bytes, context: Context) -> Customer:
    return Customer(
        key=key,
        merchant_id=context.merchant.merchant_id,
        customer_id=opaque_id(ID_PREFIX, context.entropy),
        number=context.number,
        detail_sealed=None,
        email_hash=None,
        phone_hash=None,
        words="",
        created_at=context.now,
        changed_at=context.now,
        erased_at=None,
    )


def read_data(customer: Customer, unseal: Unsealer) -> CustomerData | None:
    """Returns the personal data of a customer, or None if they were erased."""
    if customer.detail_sealed is None:
        return None
    plain = unseal(customer.merchant_id, detail_aad(customer.customer_id), customer.detail_sealed)
    return DATA_DECODER.decode(plain)


def show_customer(customer: Customer, data: CustomerData | None) -> CustomerRecord:
    return CustomerRecord(
        customer_id=customer.customer_id,
        name=None if data is None else data.name,
        email=None if data is None else data.email or None,
        phone=None if data is None else data.phone,
        address=None if data is None else data.address,
        created_at=utc_text(customer.created_at),
    )


# --- erase ------------------------------------------------------------------------------------------------------


def need_erase(key: bytes, erasures: tuple[RowErasure, ...]) -> Needs:
    return Needs(((Customer, key), *need_rows(erasures)))


def decide_erase(
    key: bytes, erasures: tuple[RowErasure, ...], context: Context, rows: LoadedRows
) -> Decision[CustomerRecord] | Refusal:
    """Erases the personal data of a customer, in its own row, its payments and its saved cards.

    The row stays under its id. Plans of the customer end. Refused while a payment of the customer is open. May be
    repeated.
    """
    customer = rows.get(Customer, key)
    if customer is None:
        return UNKNOWN_CUSTOMER
    others = erase_rows(erasures, context, rows)
    if isinstance(others, Refusal):
        return others
    if customer.erased_at is not None:
        decision = Decision(reply=show_customer(customer, None))
        decision.add(others)
        return decision
    erased = msgspec.structs.replace(
        customer,
        detail_sealed=None,
        email_hash=None,
        phone_hash=None,
        words="",
        changed_at=context.now,
        erased_at=context.now,
    )
    decision = Decision(reply=show_customer(erased, None), rows=(erased,))
    decision.add(others)
    return decision
