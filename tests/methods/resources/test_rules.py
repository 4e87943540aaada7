"""The rules of personalized accounts: one reference, one account, found by whoever pays into it.

Contract: resources#personalized-accounts
"""

from typing import Any

import msgspec
import pytest

from kasuwa.core.banks import banks_by_code
from kasuwa.core.decision import Decision, LoadedRows, NeedsMore
from kasuwa.core.inbound_accounts import ACCOUNT, PersonalizedAccountRow, personalized_key
from kasuwa.core.token_index import TokenIndexEntry, token_key
from kasuwa.methods.resources.rules import bvn_aad, choose_bank, decide_personalized
from kasuwa.methods.resources.wire import PersonalizedRequest
from tests.rule_context import MERCHANT, VAULT, context, merchant

REQUEST = PersonalizedRequest(name="Ada Obi", reference="r 1", email="ada@example.com")
NO_BANKS: tuple[Any, ...] = ("no such bank", "999", True, 5.5, {}, [], -1, 10**30, "x" * 10_000, "bank")
KEY = personalized_key(MERCHANT.merchant_id, "r 1")


def decide(kept: PersonalizedAccountRow | None = None, request: PersonalizedRequest = REQUEST) -> Decision:
    outcome = decide_personalized(request, context(), LoadedRows({KEY: kept}))
    if isinstance(outcome, NeedsMore):
        seen = LoadedRows({KEY: kept, **{key: None for _, key in outcome.needs.rows}})
        outcome = decide_personalized(request, context(), seen)
    assert isinstance(outcome, Decision)
    return outcome


def made(request: PersonalizedRequest = REQUEST) -> tuple[PersonalizedAccountRow, TokenIndexEntry]:
    row, entry = decide(request=request).rows
    assert isinstance(row, PersonalizedAccountRow)
    assert isinstance(entry, TokenIndexEntry)
    return row, entry


def test_an_account_is_kept_under_its_reference() -> None:
    row, _ = made()
    assert (row.key, row.reference, row.account_name, row.email, row.bank_code, row.bank_name) == (
        *(KEY, "r 1", "Ada Obi", "ada@example.com", "035", "Wema Bank"),
    )


def test_the_token_index_leads_back_to_the_account() -> None:
    row, entry = made()
    assert (entry.kind, entry.key) == (ACCOUNT, token_key(VAULT, ACCOUNT, row.account_number))
    what, _, reference = entry.reference.partition(" ")
    assert (what, personalized_key(entry.merchant_id, reference)) == ("personalized", row.key)


def test_the_same_reference_answers_the_same_account() -> None:
    row, _ = made()
    again = decide(row, PersonalizedRequest(name="Other", reference="r 1", email="o@example.com"))
    assert (again.rows, again.numbers_used, again.reply) == ((), 0, decide().reply)


@pytest.mark.parametrize(
    ("value", "chosen"),
    [
        *((value, "Wema Bank") for value in (None, "", "035", "000017", "wema", "WEMA bank plc", 35)),
        *((value, "Providus Bank") for value in ("providus", " Providus  Bank ", "101", "000023", 101)),
        *((value, "Guaranty Trust Bank") for value in ("058", "gtb", "Guaranty Trust Bank", 58)),
        *((other, "Wema Bank") for other in NO_BANKS),
    ],
)
def test_a_bank_is_a_preference_by_name_or_code_and_never_refused(value: Any, chosen: str) -> None:
    assert choose_bank(MERCHANT, value).name == chosen


def test_a_deployment_that_has_one_bank_gives_its_numbers_whatever_is_preferred() -> None:
    live = merchant("live", inbound_bank="058")
    assert {choose_bank(live, value).cbn_code for value in (None, "providus", "035", "058")} == {"058"}


def test_a_wallet_provider_without_numbers_of_its_own_is_not_chosen() -> None:
    without = [bank for bank in banks_by_code().values() if bank.cbn_code is None or bank.kind == "mobile_money"]
    assert without
    assert {choose_bank(MERCHANT, bank.nip_code).name for bank in without} == {"Wema Bank"}


def test_a_bvn_is_sealed_for_its_account() -> None:
    row, _ = made(msgspec.structs.replace(REQUEST, bvn="22212345678"))
    assert row.bvn_sealed is not None
    assert context().unseal(bvn_aad(KEY), row.bvn_sealed) == b"22212345678"
