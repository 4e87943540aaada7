"""Encrypted cards decrypt only in their own row: swapped ciphertexts are rejected."""

from base64 import b64encode

import msgspec
import pytest

from kasuwa.core.keyring import UnsealError
from kasuwa.methods.payment.model import JOB_DATA_DECODER, SavedCard, payment_key, saved_card_key
from kasuwa.methods.payment.steps import unseal_saved_card
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    NOBODY_ASKED,
    InMemoryPayments,
    charge,
    charge_token,
    initiate,
    opened,
    paid_card,
)
from tests.rule_context import VAULT, merchant

OTHER_CARD = {"card_no": "5123450000000008", "expiry_month": "12", "expiry_year": "30", "ccv": "000", "pin": "1234"}


def test_the_card_of_a_pending_payment_does_not_decrypt_in_another_payment() -> None:
    payments = InMemoryPayments()
    first, second = initiate(payments), initiate(payments, card=OTHER_CARD)
    sealed = first.payment.sealed_card, second.payment.sealed_card
    for paying, card in ((first, sealed[1]), (second, sealed[0])):
        key = payment_key(payments.merchant.merchant_id, paying.txn_ref)
        payments.rows[key] = msgspec.structs.replace(paying.payment, sealed_card=card)
    first.receive_answer(opened("PIN"))
    charge(payments, first, "PIN")
    with pytest.raises(UnsealError):
        first.receive_answer(APPROVED)


def test_a_saved_card_does_not_decrypt_under_another_token() -> None:
    payments = InMemoryPayments()
    tokens = [paid_card(payments).payment.token or ""]
    second = initiate(payments, card=OTHER_CARD)
    second.receive_answer(opened("PIN"))
    charge(payments, second, "PIN", card=OTHER_CARD)
    second.receive_answer(APPROVED)
    tokens.append(second.payment.token or "")
    keys = [saved_card_key(payments.merchant.merchant_id, token) for token in tokens]
    one, other = (payments.rows[key] for key in keys)
    assert isinstance(one, SavedCard)
    assert isinstance(other, SavedCard)
    assert unseal_saved_card(charge_token(payments, tokens[0]).job, VAULT) is not None
    payments.rows[keys[0]] = msgspec.structs.replace(one, sealed=other.sealed)
    payments.rows[keys[1]] = msgspec.structs.replace(other, sealed=one.sealed)
    for token in tokens:
        with pytest.raises(UnsealError):
            unseal_saved_card(charge_token(payments, token).job, VAULT)


def test_a_card_in_a_job_does_not_decrypt_for_another_token_or_merchant() -> None:
    payments = InMemoryPayments()
    token = paid_card(payments).payment.token or ""
    job = charge_token(payments, token).job
    work = JOB_DATA_DECODER.decode(job.work)
    moved = msgspec.structs.replace(job, merchant_id=job.merchant_id + 1)
    renamed = msgspec.structs.replace(
        job, work=msgspec.json.encode(msgspec.structs.replace(work, token="aaaaaaaa.1")).decode()
    )
    for other in (moved, renamed):
        with pytest.raises(UnsealError):
            unseal_saved_card(other, VAULT)


def test_a_plan_charge_does_not_decrypt_a_swapped_card() -> None:
    payments = InMemoryPayments()
    first = paid_card(payments, recurrent={"frequency": "daily", "value": "12"})
    second = initiate(payments, card=OTHER_CARD)
    second.receive_answer(opened("PIN"))
    charge(payments, second, "PIN", card=OTHER_CARD)
    second.receive_answer(APPROVED)
    keys = [saved_card_key(payments.merchant.merchant_id, paying.payment.token or "") for paying in (first, second)]
    one, other = (payments.rows[key] for key in keys)
    assert isinstance(one, SavedCard)
    assert isinstance(other, SavedCard)
    payments.rows[keys[0]] = msgspec.structs.replace(one, sealed=other.sealed)
    (due,) = payments.jobs(payments.plan().key)
    payments.now = due.due
    decision = payments.receive_answer(due, NOBODY_ASKED)
    (job,) = decision.jobs
    assert JOB_DATA_DECODER.decode(job.work).sealed_card == b64encode(other.sealed).decode()
    with pytest.raises(UnsealError):
        unseal_saved_card(job, VAULT)


def test_a_live_payment_stores_no_test_outcome_of_pin_or_otp() -> None:
    """Magic values are read in the test environment only."""
    for environment, pin in (("test", "55"), ("live", "")):
        payments = InMemoryPayments(of=merchant(environment))
        wrong = {**OTHER_CARD, "ccv": "100", "pin": "0000"}
        paying = initiate(payments, card=wrong)
        paying.receive_answer(opened("PIN"))
        charge(payments, paying, "PIN", card=wrong)
        assert JOB_DATA_DECODER.decode(paying.job.work).test_outcomes.pin == pin
        asked = initiate(payments)
        asked.receive_answer(opened("OTP"))
        payments.put("validate", txnRef=asked.txn_ref, otp="000000")
        assert JOB_DATA_DECODER.decode(asked.job.work).test_outcomes.proof == ("wrong" if environment == "test" else "")
