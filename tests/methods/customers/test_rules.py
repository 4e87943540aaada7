"""The rules of customers: one email address, one customer. (Contract: resources#customers)"""

from typing import Any

import msgspec

from kasuwa.core.decision import Decision, LoadedRows, NeedsMore, Refusal
from kasuwa.methods.customers.model import (
    UNKNOWN_CUSTOMER,
    Customer,
    customer_key,
    hash_name,
    hash_phones,
    hash_word,
)
from kasuwa.methods.customers.rules import decide_customer, decide_erase, need_customer, read_data
from kasuwa.methods.customers.wire import CustomerReply, CustomerRequest
from kasuwa.privacy.erasure import TRANSACTION_IN_PROGRESS, RowErasure
from kasuwa.transactions.payers import PaymentMark, erase_mark, hash_customer, mark_payment
from kasuwa.wire.people import split_words
from tests.rule_context import MERCHANT, VAULT, context

ID = MERCHANT.merchant_id
# The digest of the other tests hides nothing.
CONTEXT = msgspec.structs.replace(context(), digest=VAULT.digest)
KEY = customer_key(ID, hash_customer(VAULT.digest, ID, "ada@example.com"))


def request(**changes: Any) -> CustomerRequest:
    fields: dict[str, Any] = {"name": "Ada Obi", "email": "ada@example.com", "phone": "08031234567", **changes}
    return CustomerRequest(**fields)


def decide(asked: CustomerRequest, stored: Customer | None = None) -> Decision[CustomerReply]:
    outcome = decide_customer(asked, CONTEXT, LoadedRows({KEY: stored}))
    assert isinstance(outcome, Decision)
    return outcome


def made(**changes: Any) -> Customer:
    row = decide(request(**changes)).rows[0]
    assert isinstance(row, Customer)
    return row


def test_the_rule_asks_for_the_row_of_the_address() -> None:
    assert need_customer(request(), MERCHANT).rows == ()
    outcome = decide_customer(request(email=" ADA@example.com"), CONTEXT, LoadedRows({}))
    assert isinstance(outcome, NeedsMore)
    assert outcome.needs.rows == ((Customer, KEY),)


def test_a_new_customer_is_stored_encrypted() -> None:
    row = made()
    assert row.key == KEY
    assert row.customer_id.startswith("CU")
    stored = repr(msgspec.structs.asdict(row))
    for secret in ("Ada", "ada@", "0803"):
        assert secret not in stored
    data = read_data(row, VAULT.unseal)
    assert data is not None
    assert (data.name, data.email, data.phone, data.address) == ("Ada Obi", "ada@example.com", "08031234567", None)


def test_the_same_address_is_brought_up_to_date_and_keeps_what_is_not_sent() -> None:
    row = made(address="12 Marina Road")
    decision = decide(request(name="Ada Eze", phone=None), row)
    [changed] = decision.rows
    assert isinstance(changed, Customer)
    assert (changed.customer_id, decision.numbers_used, decision.reply.message) == (
        row.customer_id,
        0,
        "Customer updated",
    )
    assert (decision.reply.data.name, decision.reply.data.phone) == ("Ada Eze", "08031234567")
    assert decision.reply.data.address == "12 Marina Road"


def test_the_same_request_again_changes_nothing() -> None:
    row = made()
    again = decide(request(), row)
    assert (again.rows, again.numbers_used, again.reply.data.customer_id) == ((), 0, row.customer_id)


def test_names_are_found_by_the_beginnings_of_their_words() -> None:
    stored = set(hash_name(VAULT.digest, ID, "Adébáyọ̀ O'Neil-Smith Jo").split())
    for word in ("ade", "adebay", "adebayo", "nei", "smith", "jo"):
        assert hash_word(VAULT.digest, ID, split_words(word)[0]) in stored, word
    for word in ("ad", "bayo", "smi th", "adebayor"):
        assert hash_word(VAULT.digest, ID, word) not in stored, word
    assert not stored & set(hash_name(VAULT.digest, ID + 1, "Adebayo").split())


def test_a_telephone_number_has_the_same_hash_in_every_spelling() -> None:
    stored = hash_phones(VAULT.digest, ID, "0803 123 4567")[0]
    assert stored in hash_phones(VAULT.digest, ID, "+2348031234567")
    assert stored in hash_phones(VAULT.digest, ID, "08031234567")
    assert stored not in hash_phones(VAULT.digest, ID, "08031234568")


def test_a_payment_is_marked_by_the_hash_of_its_payer() -> None:
    mark = msgspec.json.decode(mark_payment(VAULT.digest, ID, "ADA@Example.com", PaymentMark("card")))
    assert mark == {"method": "card", "customer": hash_customer(VAULT.digest, ID, "ada@example.com").hex()}
    assert msgspec.json.decode(mark_payment(VAULT.digest, ID, "", PaymentMark("ussd"))) == {
        "method": "ussd",
        "customer": "",
    }
    assert erase_mark(mark_payment(VAULT.digest, ID, "a@b.c", PaymentMark("card"))) == '{"method":"card","customer":""}'


def test_without_an_address_a_customer_is_known_by_the_telephone_number() -> None:
    outcome = decide_customer(request(email=None, phone="0803 123 4567"), CONTEXT, LoadedRows({}))
    assert isinstance(outcome, NeedsMore)
    [(_, key)] = outcome.needs.rows
    again = decide_customer(request(email=None, phone="+2348031234567"), CONTEXT, LoadedRows({}))
    assert again == outcome != decide_customer(request(), CONTEXT, LoadedRows({}))
    made_by_phone = decide_customer(request(email=None), CONTEXT, LoadedRows({key: None}))
    assert isinstance(made_by_phone, Decision)
    assert (made_by_phone.reply.data.email, made_by_phone.reply.data.phone) == (None, "08031234567")


# --- erasure ------------------------------------------------------------------------------------------------------


def test_an_erased_customer_keeps_its_id_alone() -> None:
    row = made()
    outcome = decide_erase(KEY, (), CONTEXT, LoadedRows({KEY: row}))
    assert isinstance(outcome, Decision)
    [erased] = outcome.rows
    assert isinstance(erased, Customer)
    assert (erased.detail_sealed, erased.email_hash, erased.phone_hash, erased.words) == (None, None, None, "")
    assert erased.erased_at is not None
    assert (outcome.reply.customer_id, outcome.reply.name, outcome.reply.email) == (row.customer_id, None, None)
    again = decide_erase(KEY, (), CONTEXT, LoadedRows({KEY: erased}))
    assert isinstance(again, Decision)
    assert again.rows == ()


def test_nothing_is_erased_while_a_payment_is_open() -> None:
    row, other = made(), made()
    erasure = RowErasure(Customer, b"other", lambda _: TRANSACTION_IN_PROGRESS)
    outcome = decide_erase(KEY, (erasure,), CONTEXT, LoadedRows({KEY: row, b"other": other}))
    assert outcome == TRANSACTION_IN_PROGRESS


def test_an_unknown_customer_is_not_erased() -> None:
    outcome = decide_erase(KEY, (), CONTEXT, LoadedRows({KEY: None}))
    assert isinstance(outcome, Refusal)
    assert outcome == UNKNOWN_CUSTOMER


def test_a_customer_who_was_erased_can_register_again() -> None:
    outcome = decide_erase(KEY, (), CONTEXT, LoadedRows({KEY: made()}))
    assert isinstance(outcome, Decision)
    [erased] = outcome.rows
    assert isinstance(erased, Customer)
    decision = decide(request(phone=None), erased)
    [row] = decision.rows
    assert isinstance(row, Customer)
    assert (row.erased_at, decision.reply.data.phone) == (None, None)
