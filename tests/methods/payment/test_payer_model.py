"""The personal data of payers: encrypted where payments, plans and jobs are stored, and whole where they are used."""

from typing import Any

import msgspec
import pytest

from kasuwa.methods.payment.model import DETAIL_DECODER, JOB_DATA_DECODER, WATCH, PaymentDetail
from kasuwa.methods.payment.payer_model import (
    add_payer,
    make_payer_data,
    open_payment_job,
    read_detail,
    read_terms,
    remove_payer,
    seal_detail,
)
from kasuwa.methods.payment.steps import make_collection_order
from kasuwa.transactions.purpose import TransactionPurpose
from kasuwa.transactions.sealed_payers import NO_PAYER, PayerData, PayerMetadata
from kasuwa.transactions.transactions import encode_text
from tests.methods.payment.in_memory_payments import (
    BEGUN,
    BODIES,
    DECLINED,
    InMemoryPayments,
    PaymentInProgress,
    paid_card,
)
from tests.methods.payment.test_vendor_payments import PAYSTACK
from tests.rule_context import VAULT, context

USER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com", "ip": "102.89.2.1", "fingerprint": "f0e1"}
PURPOSE = TransactionPurpose("loan-repayment", "LN1", '{"a":1}', "102.89.2.2", "a9")
WHOLE = PaymentDetail(
    "NG",
    "Ada Obi",
    "ada@example.com",
    "102.89.2.1",
    "f0e1",
    '{"basket":7}',
    business_name="Ada Stores",
    payer="08031234567",
    payer_account="0123456789",
    provider="zenith",
    purpose=PURPOSE,
)


def test_a_detail_is_whole_again_after_it_was_taken_apart() -> None:
    stored = remove_payer(WHOLE)
    assert add_payer(stored, make_payer_data(WHOLE)) == WHOLE
    assert stored == PaymentDetail(
        business_name="Ada Stores", provider="zenith", purpose=TransactionPurpose("loan-repayment", "LN1")
    )
    assert make_payer_data(stored) == NO_PAYER
    assert make_payer_data(WHOLE).purpose == PayerMetadata('{"a":1}', "102.89.2.2", "a9")


def test_every_field_of_the_payer_is_one_of_the_detail() -> None:
    assert set(PayerData.__struct_fields__) <= set(PaymentDetail.__struct_fields__)
    assert set(PayerMetadata.__struct_fields__) <= set(TransactionPurpose.__struct_fields__)


def test_the_name_of_a_personalized_account_is_personal() -> None:
    paid = PaymentDetail(business_name="Ada Obi", account_reference="tenant 12")
    assert (make_payer_data(paid).business_name, remove_payer(paid).business_name) == ("Ada Obi", "")


def test_nothing_is_encrypted_if_nothing_is_known_of_the_payer() -> None:
    assert seal_detail(PaymentDetail(country="GH"), "GP1", context()) == ('{"country":"GH"}', None)


@pytest.mark.parametrize("method", BODIES)
def test_rows_and_jobs_have_nothing_of_the_payer_in_clear(method: str) -> None:
    payments = InMemoryPayments()
    body: dict[str, Any] = {**BODIES[method], "user": USER, "meta": {"basket": "kept apart"}}
    paying = PaymentInProgress(payments, payments.put("charge", method, amount="1500.00", **body))
    detail, work = paying.detail, JOB_DATA_DECODER.decode(paying.opened_job.work)
    assert (detail.fullname, detail.email, work.fullname, work.email) == (*(("Ada Obi", "ada@example.com") * 2),)
    assert (work.payer, work.payer_account) == (detail.payer, detail.payer_account)
    stored = paying.row.detail + paying.payment.detail + paying.payment.facts + paying.job.work
    personal = [*msgspec.structs.astuple(make_payer_data(detail))[:-1], "kept apart"]
    assert [text for text in personal if text and text in stored] == []


def test_the_charges_of_a_plan_are_those_of_its_payer() -> None:
    payments = InMemoryPayments()
    paid_card(payments, user=USER, is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
    plan = payments.plan()
    assert [text for text in ("Ada Obi", "ada@example.com") if text in plan.detail] == []
    terms = read_terms(plan, VAULT.unseal)
    assert (terms.detail.fullname, terms.detail.email) == ("Ada Obi", "ada@example.com")


def test_a_payment_of_an_earlier_version_is_read_from_its_detail() -> None:
    paid = paid_card(InMemoryPayments(), user=USER).payment
    earlier = msgspec.structs.replace(paid, detail=encode_text(read_detail(paid, VAULT.unseal)), payer_sealed=None)
    assert (
        read_detail(earlier, VAULT.unseal) == read_detail(paid, VAULT.unseal) == DETAIL_DECODER.decode(earlier.detail)
    )


def test_a_job_of_an_earlier_version_calls_the_rail_with_its_payer() -> None:
    payments = InMemoryPayments()
    paying = PaymentInProgress(payments, payments.put("charge", "phone", amount="1500.00", **BODIES["phone"]))
    earlier = paying.opened_job
    assert open_payment_job(earlier, VAULT) == earlier
    order = make_collection_order(earlier, JOB_DATA_DECODER.decode(earlier.work), payments.now)
    assert order.payer == BODIES["phone"]["phonenumber"]


def test_a_payment_that_is_watched_keeps_no_name_and_address_in_its_job() -> None:
    payments = InMemoryPayments(vendors=PAYSTACK)
    body = {"bank": "gtb", "user": USER}
    paying = PaymentInProgress(payments, payments.put("charge", "ussd", amount="1500.00", **body))
    paying.receive_answer(BEGUN["ussd"])
    paying.receive_answer(DECLINED)
    [watch] = [job for job in payments.jobs(paying.payment.key) if job.kind == WATCH]
    work = JOB_DATA_DECODER.decode(open_payment_job(watch, VAULT).work)
    assert (work.fullname, work.email, work.sealed_payer) == ("", "", "")
