"""The rules of personalized accounts: one reference, one account, found by whoever pays into it. (D37)"""

import msgspec

from kasuwa.core.decision import Decision, More, Seen
from kasuwa.core.directory import Entry, directory_key
from kasuwa.core.inbound import ACCOUNT, Personalized, personalized_key
from kasuwa.methods.resources.decide import decide_personalized, gives_numbers, sealed_place
from kasuwa.methods.resources.wire import PersonalizedRequest
from tests.rules import MERCHANT, VAULT, context, merchant

REQUEST = PersonalizedRequest(name="Ada Obi", reference="r 1", email="ada@example.com")
KEY = personalized_key(MERCHANT.merchant_id, "r 1")


def decide(kept: Personalized | None = None, request: PersonalizedRequest = REQUEST) -> Decision:
    outcome = decide_personalized(request, context(), Seen({KEY: kept}))
    if isinstance(outcome, More):
        seen = Seen({KEY: kept, **{key: None for _, key in outcome.needs.rows}})
        outcome = decide_personalized(request, context(), seen)
    assert isinstance(outcome, Decision)
    return outcome


def made(request: PersonalizedRequest = REQUEST) -> tuple[Personalized, Entry]:
    row, entry = decide(request=request).rows
    assert isinstance(row, Personalized)
    assert isinstance(entry, Entry)
    return row, entry


def test_an_account_is_kept_under_its_reference() -> None:
    row, _ = made()
    assert (row.key, row.reference, row.account_name, row.email, row.bank_code, row.bank_name) == (
        *(KEY, "r 1", "Ada Obi", "ada@example.com", "035", "Wema Bank"),
    )


def test_the_directory_leads_back_to_the_account() -> None:
    row, entry = made()
    assert (entry.kind, entry.key) == (ACCOUNT, directory_key(VAULT, ACCOUNT, row.account_number))
    what, _, reference = entry.reference.partition(" ")
    assert (what, personalized_key(entry.merchant_id, reference)) == ("personalized", row.key)


def test_the_same_reference_answers_the_same_account() -> None:
    row, _ = made()
    again = decide(row, PersonalizedRequest(name="Other", reference="r 1", email="o@example.com"))
    assert (again.rows, again.numbers, again.reply) == ((), 0, decide().reply)


def test_a_bank_may_be_asked_for_that_gives_numbers() -> None:
    elsewhere = merchant(inbound_bank="058")
    for code in (None, "035", "000017"):
        assert gives_numbers(MERCHANT, code) is None
    for code in (None, "058", "000013"):
        assert gives_numbers(elsewhere, code) is None
    for code in ("", "058", "035 ", "Wema Bank", "999"):
        assert gives_numbers(MERCHANT, code) == "035 (Wema Bank), or left out"


def test_a_bvn_is_sealed_for_its_account() -> None:
    row, _ = made(msgspec.structs.replace(REQUEST, bvn="22212345678"))
    assert row.bvn_sealed is not None
    assert context().unseal(sealed_place(KEY), row.bvn_sealed) == b"22212345678"
