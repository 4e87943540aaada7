"""The rules that open personalized accounts: one reference, one account, found by whoever pays into it.

Contract: resources#personalized-accounts
"""

import asyncio
from typing import Any

import msgspec
import pytest

from kasuwa.core.banks import banks_by_code, is_account_number
from kasuwa.core.decision import Decision, Job, LoadedRows, NeedsMore, Refusal, Row
from kasuwa.core.references import COPY_UNIT, job_key
from kasuwa.core.token_index import TokenIndexEntry, make_token_entry, token_key
from kasuwa.methods.resources.model import OPEN_ACCOUNT, QUERY_ACCOUNT, bvn_aad
from kasuwa.methods.resources.rules.open_account import (
    NO_ACCOUNTS,
    choose_bank,
    decide_account_answer,
    decide_personalized,
)
from kasuwa.methods.resources.steps import call_account_rail, restore_secrets
from kasuwa.methods.resources.wire import PersonalizedRequest
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import AccountOrder
from kasuwa.rails.ports.all_rails import NOT_CONFIGURED, Rails
from kasuwa.rails.ports.orders import Answer
from kasuwa.rails.sandbox.accounts import SandboxAccounts
from kasuwa.terms.accounts import DEFAULT_ACCOUNT_TERMS, AccountTerms
from kasuwa.transactions.inbound_accounts import (
    ACCOUNT,
    AccountOwner,
    PersonalizedAccountRow,
    personalized_key,
    read_owner,
)
from tests.rule_context import MERCHANT, NOW, VAULT, context, merchant

REQUEST = PersonalizedRequest(name="Ada Obi", reference="r 1", email="ada@example.com")
NO_BANKS: tuple[Any, ...] = ("no such bank", "999", True, 5.5, {}, [], -1, 10**30, "x" * 10_000, "bank")
KEY = personalized_key(MERCHANT.merchant_id, "r 1")
MONNIFY, MONNIFY_WITH_BVN = AccountTerms(("monnify",)), AccountTerms(("monnify",), bvn_rails=frozenset({"monnify"}))
NUMBER = "9912345678"
OPENED = Answer(orders.SUCCESSFUL, "00", "open", {"account_number": NUMBER, "bank_name": "Wema bank"})


def request_account(
    kept: PersonalizedAccountRow | None = None,
    request: PersonalizedRequest = REQUEST,
    terms: AccountTerms = DEFAULT_ACCOUNT_TERMS,
) -> Decision | Refusal:
    given = context()
    given.deployment_terms = {AccountTerms: terms}
    decision = decide_personalized(request, given, LoadedRows({KEY: kept}))
    assert not isinstance(decision, NeedsMore)
    return decision


def begin(request: PersonalizedRequest = REQUEST, terms: AccountTerms = MONNIFY) -> tuple[PersonalizedAccountRow, Job]:
    decision = request_account(request=request, terms=terms)
    assert isinstance(decision, Decision)
    [row], [job] = decision.rows, decision.jobs
    assert isinstance(row, PersonalizedAccountRow)
    assert decision.follow_up is job
    return row, job


def answer_account(
    row: PersonalizedAccountRow, job: Job | None, answer: Answer, entry: TokenIndexEntry | None = None
) -> Decision:
    """Decides on the rail's answer. `entry` is what the token index has for the number in it."""
    rows: dict[bytes, Row | None] = {KEY: row, job_key(KEY): job}
    sent = msgspec.structs.replace(begin()[1], reference=row.rail_reference) if job is None else job
    outcome = decide_account_answer(sent, answer, context(), LoadedRows(rows))
    if isinstance(outcome, NeedsMore):
        rows |= {key: entry for _, key in outcome.needs.rows}
        outcome = decide_account_answer(sent, answer, context(), LoadedRows(rows))
    assert isinstance(outcome, Decision)
    return outcome


def open_in_sandbox(request: PersonalizedRequest = REQUEST) -> tuple[PersonalizedAccountRow, TokenIndexEntry]:
    row, job = begin(request, DEFAULT_ACCOUNT_TERMS)
    rails = Rails(bank=NOT_CONFIGURED, accounts={"sandbox": SandboxAccounts()})
    answer = asyncio.run(call_account_rail(rails, job, NOW, restore_secrets(job, VAULT)))
    opened, entry = answer_account(row, job, answer).rows
    assert isinstance(opened, PersonalizedAccountRow)
    assert isinstance(entry, TokenIndexEntry)
    return opened, entry


def test_an_account_is_kept_under_its_reference() -> None:
    row, _ = open_in_sandbox()
    assert (row.key, row.reference, row.bank_code, row.bank_name) == (KEY, "r 1", "035", "Wema Bank")
    assert read_owner(row, VAULT.unseal) == AccountOwner("Ada Obi", "ada@example.com")
    assert "account_name" not in row.facts


def test_the_bank_chooses_the_name_of_an_account() -> None:
    row, job = begin()
    named = msgspec.structs.replace(OPENED, facts={**OPENED.facts, "account_name": "SHOP/ADA OBI"})
    decision = answer_account(row, job, named)
    opened = decision.rows[0]
    assert isinstance(opened, PersonalizedAccountRow)
    assert read_owner(opened, VAULT.unseal) == AccountOwner("SHOP/ADA OBI", "ada@example.com")
    assert decision.reply.data.account_name == "SHOP/ADA OBI"


def test_a_job_has_the_owner_encrypted() -> None:
    owner, (_, job) = AccountOwner("Ada Obi", "ada@example.com"), begin()
    assert ("Ada" in job.work, "example.com" in job.work) == (False, False)
    assert restore_secrets(job, VAULT).owner == owner


def test_the_token_index_leads_back_to_the_account() -> None:
    row, entry = open_in_sandbox()
    assert (entry.kind, entry.key) == (ACCOUNT, token_key(VAULT, ACCOUNT, row.account_number))
    what, _, reference = entry.reference.partition(" ")
    assert (what, personalized_key(entry.merchant_id, reference)) == ("personalized", row.key)


def test_the_same_reference_answers_the_same_account() -> None:
    row, _ = open_in_sandbox()
    again = request_account(row, PersonalizedRequest(name="Other", reference="r 1", email="o@example.com"))
    assert isinstance(again, Decision)
    assert (again.rows, again.numbers_used, again.in_progress) == ((), 0, False)
    assert (again.reply.status, again.reply.data.account_number) == (200, row.account_number)


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
    row, _ = open_in_sandbox(msgspec.structs.replace(REQUEST, bvn="22212345678"))
    assert row.bvn_sealed is not None
    assert context().unseal(bvn_aad(KEY), row.bvn_sealed) == b"22212345678"


# --- opened by a rail ----------------------------------------------------------------------------------------------


def test_a_deployment_without_an_account_rail_refuses_and_invents_no_number() -> None:
    assert request_account(terms=AccountTerms(())) == NO_ACCOUNTS


def test_a_rail_that_needs_a_bvn_is_not_ordered_an_account_without() -> None:
    refused = request_account(terms=MONNIFY_WITH_BVN)
    assert isinstance(refused, Refusal)
    assert [error.field for error in refused.field_errors] == ["bvn"]
    row, job = begin(msgspec.structs.replace(REQUEST, bvn="22212345678"), MONNIFY_WITH_BVN)
    assert (row.state, row.rail, row.account_number) == ("opening", "monnify", "")
    assert "22212345678" not in job.work
    assert restore_secrets(job, VAULT).bvn == "22212345678"


def test_a_copy_of_a_request_waits_until_the_rail_has_answered() -> None:
    row, job = begin()
    copy = request_account(row)
    assert isinstance(copy, Decision)
    assert (copy.in_progress, copy.reply.status, copy.jobs) == (True, 202, ())
    [waiting] = answer_account(row, job, Answer(orders.PROCESSING, "09", "The bank is opening it")).rows
    assert isinstance(waiting, PersonalizedAccountRow)
    later = request_account(waiting)
    assert isinstance(later, Decision)
    assert (later.in_progress, later.reply.status, later.reply.data) == (False, 202, msgspec.UNSET)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (orders.UNAVAILABLE, OPEN_ACCOUNT),
        (orders.NOT_FOUND, OPEN_ACCOUNT),
        (orders.UNKNOWN, QUERY_ACCOUNT),
        (orders.PROCESSING, QUERY_ACCOUNT),
        (orders.UNREADABLE, QUERY_ACCOUNT),
    ],
)
def test_an_answer_that_is_not_final_is_asked_after_under_the_same_reference(status: str, kind: str) -> None:
    row, job = begin()
    decision = answer_account(row, job, Answer(status, None, "words"))
    [next_job] = decision.jobs
    assert (next_job.kind, next_job.reference, next_job.due > job.due) == (kind, row.rail_reference, True)
    assert decision.reply.status == 202


def test_an_unavailable_rail_that_is_queried_is_queried_again() -> None:
    row, job = begin()
    querying = msgspec.structs.replace(job, kind=QUERY_ACCOUNT)
    [next_job] = answer_account(row, querying, orders.RAIL_UNAVAILABLE).jobs
    assert next_job.kind == QUERY_ACCOUNT


def test_a_refused_account_fails_and_is_ordered_anew_when_asked_again() -> None:
    row, job = begin()
    decision = answer_account(row, job, Answer(orders.FAILED, "05", "Invalid BVN supplied", notice="look"))
    [failed] = decision.rows
    assert isinstance(failed, PersonalizedAccountRow)
    assert (failed.state, decision.jobs_done, len(decision.notices)) == ("failed", (job,), 1)
    assert decision.reply == Refusal(
        204, "The account could not be opened: Invalid BVN supplied", error_code="account_not_opened"
    )
    again = request_account(failed, terms=MONNIFY)
    assert isinstance(again, Decision)
    assert len(again.jobs) == 1


def test_a_notice_is_given_once_while_the_rail_says_the_same() -> None:
    row, job = begin()
    answer = Answer(orders.NOT_FOUND, None, "Something went wrong", notice="the rail opens no account")
    first = answer_account(row, job, answer)
    [waiting], [next_job] = first.rows, first.jobs
    assert isinstance(waiting, PersonalizedAccountRow)
    assert [notice.message for notice in first.notices] == ["the rail opens no account"]
    assert answer_account(waiting, next_job, answer).notices == ()


def test_a_number_of_another_account_is_not_taken() -> None:
    row, job = begin()
    other = make_token_entry(context(), ACCOUNT, NUMBER, "personalized other")
    decision = answer_account(row, job, OPENED, other)
    [waiting], [notice] = decision.rows, decision.notices
    assert isinstance(waiting, PersonalizedAccountRow)
    assert (waiting.state, "belongs to another account" in notice.message) == ("opening", True)


def test_a_number_that_is_none_is_not_taken() -> None:
    row, job = begin()
    bad = msgspec.structs.replace(OPENED, facts={**OPENED.facts, "account_number": "12345"})
    assert answer_account(row, job, bad).reply.status == 202


def test_a_late_second_answer_changes_nothing() -> None:
    row, job = begin()
    opened = answer_account(row, job, OPENED).rows[0]
    assert isinstance(opened, PersonalizedAccountRow)
    late = answer_account(opened, None, Answer(orders.FAILED, "05", "no"))
    assert (late.rows, late.jobs, late.reply.data.account_number) == ((), (), NUMBER)


def test_the_sandbox_gives_another_number_if_the_first_is_taken() -> None:
    order = AccountOrder("7 GP|PA|1", "Ada Obi", "a@b.co", "035", seed="00" * 32)
    numbers = {
        asyncio.run(SandboxAccounts().open(msgspec.structs.replace(order, attempt=attempt))).facts["account_number"]
        for attempt in range(5)
    }
    assert len(numbers) == 5
    assert all(is_account_number(banks_by_code()["035"], number) for number in numbers)


def test_the_sandbox_gives_the_same_number_in_a_copy_of_the_books() -> None:
    order = AccountOrder("7 GP|PA|1", "Ada Obi", "a@b.co", "035", seed="00" * 32)
    keys = (order.key, f"{123 * COPY_UNIT + 7} GP|PA|1", f"{124 * COPY_UNIT + 7} GP|PA|1")
    answers = [asyncio.run(SandboxAccounts().open(msgspec.structs.replace(order, key=key))) for key in keys]
    assert len({answer.facts["account_number"] for answer in answers}) == 1
    other = asyncio.run(SandboxAccounts().open(msgspec.structs.replace(order, key="8 GP|PA|1")))
    assert other.facts != answers[0].facts
