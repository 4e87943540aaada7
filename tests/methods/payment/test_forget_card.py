"""A saved card whose payer is erased is deactivated at its vendor. Contract: payment#payer"""

import msgspec
import pytest

from kasuwa.core.decision import Decision, Job, LoadedRows, Refusal
from kasuwa.methods.payment.model import CardSummary, SavedCard, SealedCardData, saved_card_aad, saved_card_key
from kasuwa.methods.payment.rules.erase import FOLLOWING_JOBS, erase_saved_card
from kasuwa.methods.payment.rules.forget_card import DEACTIVATE, decide_deactivation, make_deactivation
from kasuwa.methods.payment.steps import unseal_forgotten_card
from kasuwa.privacy.erasure import RowErasure, erase_rows
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, VendorToken
from tests.rule_context import MERCHANT, NOW, VAULT, context

TOKEN = "abcdefgh.1"


def saved(vendor: str = "paystack") -> SavedCard:
    plain = SealedCardData(vendor=vendor, vendor_token="AUTH_1", email="ada@example.com")
    summary = CardSummary("h", "408408******4081", "408408", None, None, None, None, vendor)
    return SavedCard(
        key=saved_card_key(MERCHANT.merchant_id, TOKEN),
        merchant_id=MERCHANT.merchant_id,
        token=TOKEN,
        sealed=context().seal(saved_card_aad(TOKEN), msgspec.json.encode(plain)),
        detail=msgspec.json.encode(summary).decode(),
        created_at=NOW,
    )


def job_of(card: SavedCard) -> Job:
    [job] = make_deactivation(card, context())
    return job


def decide(job: Job, answer: Answer, current: Job | None) -> Decision:
    return decide_deactivation(job, answer, context(), LoadedRows({job.key: current}))


def test_the_job_has_the_token_sealed_and_only_for_cards_of_vendors() -> None:
    job = job_of(saved())
    assert (job.kind, "AUTH_1" in job.work) == (DEACTIVATE, False)
    assert unseal_forgotten_card(job, VAULT) == VendorToken("paystack", "AUTH_1", "ada@example.com")
    assert make_deactivation(saved(""), context()) == ()
    assert make_deactivation(erase_saved_card(saved()), context()) == ()


def test_an_erasure_makes_the_job_once() -> None:
    card = saved()
    erasure = RowErasure(SavedCard, card.key, erase_saved_card, FOLLOWING_JOBS["saved_card"])
    first = erase_rows((erasure,), context(), LoadedRows({card.key: card}))
    assert not isinstance(first, Refusal)
    [erased], [job] = first.rows, first.jobs
    assert isinstance(erased, SavedCard)
    assert (erased.sealed, job.kind) == (b"", DEACTIVATE)
    again = erase_rows((erasure,), context(), LoadedRows({card.key: erased}))
    assert not isinstance(again, Refusal)
    assert (again.rows, again.jobs) == ((), ())


@pytest.mark.parametrize("status", [orders.UNAVAILABLE, orders.UNKNOWN])
def test_a_vendor_that_does_not_answer_is_asked_again(status: str) -> None:
    job = job_of(saved())
    decision = decide(job, Answer(status, None, "", notice="look"), job)
    [again] = decision.jobs
    assert (again.key, again.due > job.due, len(decision.notices)) == (job.key, True, 1)
    assert decide(again, Answer(status, None, "", notice="look"), again).notices == ()


def test_a_deactivated_card_ends_the_job_and_a_refusal_is_a_notice() -> None:
    job = job_of(saved())
    done = decide(job, Answer(orders.SUCCESSFUL, "00", ""), job)
    assert (done.jobs_done, done.notices) == ((job,), ())
    refused = decide(job, Answer(orders.FAILED, "05", "not yours"), job)
    [notice] = refused.notices
    assert (refused.jobs_done, "remove it there (not yours)" in notice.message) == ((job,), True)
    assert decide(job, Answer(orders.SUCCESSFUL, "00", ""), None) == Decision()
