"""Groups in memory: members, their loans, what meetings collect, and joint liability."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Refusal
from kasuwa.methods.clients.model import CLIENT_INACTIVE, IN_A_GROUP, NO_BANK_ACCOUNT, UNKNOWN_CLIENT, refuse_leaving
from kasuwa.methods.disburse.rules.transfer import WALLET_INSUFFICIENT
from kasuwa.methods.groups.model import GROUP_CLOSED, UNKNOWN_GROUP, UNKNOWN_GROUP_LOAN
from kasuwa.methods.groups.rules.lend import AS_A_WHOLE, NOT_A_PART
from kasuwa.methods.groups.rules.membership import (
    ALREADY_MEMBER,
    CLOSE_WITH_OTHERS,
    GROUP_OWES,
    LEADER_IS_NO_MEMBER,
    LEADER_LEAVES,
    MEMBER_OWES,
    NO_MEMBER,
    NOTHING_ASKED,
    TOO_FEW,
    TOO_MANY,
)
from kasuwa.methods.groups.rules.request import TOO_MANY_OPEN
from kasuwa.methods.loans.rules.origination import LOAN_OF_GROUP
from kasuwa.methods.loans.rules.top_up import TOP_UP_OF_GROUP
from tests.methods.groups.group_lender import MEMBERS, GroupLender, expect_members
from tests.methods.loans.in_memory_lender import BAD, GOOD, SLOW
from tests.walk.bounds import GROUP_INSTALLMENTS, GROUP_LOANS, GROUP_MEMBERS, GROUP_PERIOD, MEETING_AMOUNT


@pytest.fixture
def lender() -> GroupLender:
    return GroupLender()


# --- members ----------------------------------------------------------------------------------------------------


def test_a_group_is_made_of_active_clients(lender: GroupLender) -> None:
    record = lender.create(name="Weavers").data
    assert (record.name, record.state, record.leader, record.members) == ("Weavers", "active", "ADA", MEMBERS)
    assert (record.member_count, record.loan_count) == (3, 0)
    assert lender.client("ADA").groups == 2
    expect_members(lender)
    assert lender.list_steps()[-1] == ("created", "")


def test_a_dry_run_of_a_group_stores_nothing(lender: GroupLender) -> None:
    reply = lender.create(dry_run=True)
    assert (reply.data.group_id, reply.dry_run, lender.client("ADA").groups) == (None, True, 1)


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"members": ["ADA", "NOBODY"]}, UNKNOWN_CLIENT),
        ({"leader": "CL1"}, LEADER_IS_NO_MEMBER),
    ],
)
def test_a_group_that_cannot_be_made_is_refused(lender: GroupLender, fields: dict[str, Any], refusal: Refusal) -> None:
    assert lender.create(**fields) == refusal


def test_a_client_is_named_once_and_active(lender: GroupLender) -> None:
    refused = lender.create(members=["ADA", "ADA", "BOLA"])
    assert [error.reason for error in refused.field_errors] == ["a client is named once"]
    lender.add_client("DAYO", status="inactive")
    assert lender.create(members=["ADA", "DAYO"]) == CLIENT_INACTIVE.fill(status="inactive")
    assert lender.update(add=["DAYO"]) == CLIENT_INACTIVE.fill(status="inactive")


@GROUP_MEMBERS.tries
def test_a_group_has_2_to_30_members(lender: GroupLender, value: int, is_within: bool) -> None:
    names = [f"M{n}" for n in range(value)]
    for name in names:
        lender.add_client(name)
    made = lender.create(members=names, leader=names[0])
    assert isinstance(made, Refusal) != is_within


def test_members_join_and_leave_and_join_again(lender: GroupLender) -> None:
    lender.add_client("DAYO")
    joined = lender.update(add=["DAYO"], name="Weavers").data
    assert (joined.name, joined.members) == ("Weavers", [*MEMBERS, "DAYO"])
    assert lender.update(remove=["DAYO", "CHI"]).data.members == ["ADA", "BOLA"]
    assert (lender.client("DAYO").groups, lender.client("CHI").groups) == (0, 0)
    assert lender.update(add=["CHI"]).data.members == ["ADA", "BOLA", "CHI"]
    expect_members(lender)
    assert lender.list_steps()[1:] == [
        ("member_joined", "DAYO"),
        ("renamed", ""),
        ("member_left", "DAYO"),
        ("member_left", "CHI"),
        ("member_joined", "CHI"),
    ]


def test_a_dry_run_of_a_change_changes_nothing(lender: GroupLender) -> None:
    assert lender.update(remove=["CHI"], dry_run=True).data.members == ["ADA", "BOLA"]
    assert (lender.group.client_ids, lender.client("CHI").groups) == (MEMBERS, 1)


def test_a_leader_leaves_when_another_member_is_named(lender: GroupLender) -> None:
    assert lender.update(remove=["ADA"]) == LEADER_LEAVES
    assert lender.update(remove=["ADA"], leader="ADA") == LEADER_IS_NO_MEMBER
    assert lender.update(remove=["ADA"], leader="CL1") == LEADER_IS_NO_MEMBER
    changed = lender.update(remove=["ADA"], leader="CHI").data
    assert (changed.leader, changed.members) == ("CHI", ["BOLA", "CHI"])
    assert lender.list_steps()[-1] == ("leader_changed", "CHI")


def test_changes_that_are_not_possible_are_refused(lender: GroupLender) -> None:
    assert lender.update() == NOTHING_ASKED
    assert lender.update(close=True, name="Weavers") == CLOSE_WITH_OTHERS
    assert lender.update(group_id="GRnobody", name="Weavers") == UNKNOWN_GROUP
    assert lender.update(remove=["CL1"]) == NO_MEMBER
    assert lender.update(remove=["BOLA", "CHI"]) == TOO_FEW
    assert lender.update(add=["CHI"]) == ALREADY_MEMBER
    names = [f"M{n}" for n in range(28)]
    for name in names:
        lender.add_client(name)
    assert lender.update(add=names) == TOO_MANY


def test_a_closed_group_is_over(lender: GroupLender) -> None:
    assert lender.update(close=True, dry_run=True).data.state == "closed"
    closed = lender.update(close=True)
    assert (closed.message, closed.data.state, closed.data.members) == ("Group Closed", "closed", [])
    assert lender.client("ADA").groups == 0
    assert lender.update(name="Weavers") == GROUP_CLOSED
    assert lender.request_group() == GROUP_CLOSED


def test_a_client_leaves_after_the_group(lender: GroupLender) -> None:
    assert refuse_leaving(lender.client("CHI")) == IN_A_GROUP
    lender.update(remove=["CHI"])
    assert refuse_leaving(lender.client("CHI")) is None


# --- a loan of the group ----------------------------------------------------------------------------------------


def test_a_loan_of_a_group_has_a_loan_for_each_member(lender: GroupLender) -> None:
    record = lender.request_group({"ADA": "1000.00", "BOLA": "500.00"}).data
    assert (record.amount, record.disbursement, record.group_id) == ("1500.00", "each", lender.group_id)
    assert [(line.client_id, line.amount, line.state) for line in record.loans] == [
        ("ADA", "1000.00", "pending_approval"),
        ("BOLA", "500.00", "pending_approval"),
    ]
    loans = [lender.loan(line.loan_id) for line in record.loans]
    assert {(loan.group_id, loan.group_loan_id) for loan in loans} == {(lender.group_id, record.group_loan_id)}
    assert len({loan.number for loan in loans}) == 2
    assert (lender.client("BOLA").open_accounts, lender.group.loans) == (1, 1)
    assert lender.group.unsettled_ids == [record.group_loan_id]


def test_a_dry_run_of_a_loan_explains_it(lender: GroupLender) -> None:
    reply = lender.request_group(disbursement="one", dry_run=True)
    assert (reply.data.group_loan_id, {line.loan_id for line in reply.data.loans}) == (None, {None})
    assert [figure.amount for figure in reply.explained] == ["3000.00", "1000.00", "1000.00", "1000.00"]
    assert "by one transfer to the leader" in reply.explained[0].how
    assert lender.group.loans == 0


def test_a_loan_that_cannot_be_requested_is_refused(lender: GroupLender) -> None:
    assert lender.request_group(group_id="GRnobody") == UNKNOWN_GROUP
    stranger = lender.request_group({"CL1": "1.00"})
    assert [(error.field, error.code) for error in stranger.field_errors] == [("loans[0].client_id", "not_a_member")]
    assert [error.field for error in lender.request_group({"ADA": "0.01"}).field_errors] == ["loans"]
    twice = [{"client_id": "ADA", "amount": "1.00"}] * 2
    assert lender.request_group(loans=twice).field_errors[0].reason == "one loan for each member"


def test_a_member_who_is_not_active_borrows_nothing_and_neither_do_the_others(lender: GroupLender) -> None:
    lender.add_client("BOLA", status="inactive")
    refused = lender.request_group()
    assert (refused.error_code, refused.message.startswith("loans[1]: ")) == ("client_inactive", True)
    assert (lender.group.loans, lender.client("ADA").open_accounts) == (0, 0)


@GROUP_INSTALLMENTS.tries
def test_loans_of_a_group_have_at_most_2000_installments(lender: GroupLender, value: int, is_within: bool) -> None:
    """`value` installments, by ten members."""
    names = [f"M{n}" for n in range(10)]
    for name in names:
        lender.add_client(name)
    lender.update(add=names)
    made = lender.request_group(dict.fromkeys(names, "1000.00"), period=value // 10)
    assert isinstance(made, Refusal) != is_within


@GROUP_PERIOD.tries
def test_loans_of_a_group_have_1_to_366_installments_each(lender: GroupLender, value: int, is_within: bool) -> None:
    assert isinstance(lender.request_group({"ADA": "1000.00"}, period=value), Refusal) != is_within


@GROUP_LOANS.tries
def test_a_group_has_at_most_10_open_loans(lender: GroupLender, value: int, is_within: bool) -> None:
    made = [lender.request_group({"ADA": "1.00"}) for _ in range(value)]
    assert (made[-1] == TOO_MANY_OPEN) != is_within
    first = made[0].data.group_loan_id
    lender.process_group(first, "reject")
    assert not isinstance(lender.request_group({"ADA": "1.00"}), Refusal) or value > 10


def test_one_transfer_pays_all_members_out(lender: GroupLender) -> None:
    made = lender.request_group(disbursement="one").data
    before = lender.wallet()
    explained = lender.process_group(made.group_loan_id, dry_run=True)
    assert explained.explained[0].amount == "3000.00"
    assert "by 1 transfer" in explained.explained[0].how
    done = lender.process_group(made.group_loan_id)
    assert (done.message, {line.state for line in done.data.loans}) == ("Loan Disbursed", {"active"})
    assert done.data.client_id == "ADA"
    [transfer] = {lender.loan(line.loan_id).transfer for line in done.data.loans}
    assert (transfer, lender.group_loan(made.group_loan_id).transfer) == (done.data.txn_ref, transfer)
    fees = before - lender.wallet() - 300_000
    assert 0 < fees < 10_000
    assert [lender.owed(line.loan_id)["principal"] for line in done.data.loans] == [100_000] * 3


@pytest.mark.parametrize("dry_run", [True, False])
def test_one_transfer_goes_to_no_leader_who_is_inactive(lender: GroupLender, dry_run: bool) -> None:
    made = lender.request_group({"BOLA": "1000.00"}, disbursement="one").data
    lender.set_status("ADA", "inactive")
    refused = lender.process_group(made.group_loan_id, dry_run=dry_run)
    assert refused == CLIENT_INACTIVE.fill(status="inactive")
    assert (lender.group_loan(made.group_loan_id).transfer, lender.loan(made.loans[0].loan_id).transfer) == (None, None)
    lender.update(leader="BOLA")
    assert {line.state for line in lender.process_group(made.group_loan_id).data.loans} == {"active"}


def test_a_failed_transfer_of_all_leaves_the_loans_approved(lender: GroupLender) -> None:
    made = lender.request_group(disbursement="one").data
    failed = lender.process_group(made.group_loan_id, bank=BAD)
    assert {line.state for line in failed.data.loans} == {"approved"}
    assert "approve again" in failed.message
    again = lender.process_group(made.group_loan_id)
    assert {line.state for line in again.data.loans} == {"active"}


def test_a_transfer_of_all_may_take_a_while(lender: GroupLender) -> None:
    made = lender.request_group(disbursement="one").data
    slow = lender.process_group(made.group_loan_id, bank=SLOW)
    assert {line.state for line in slow.data.loans} == {"disbursing"}
    refused = lender.process_group(made.group_loan_id)
    assert refused.error_code == "group_loan_state"


def test_each_member_receives_a_transfer(lender: GroupLender) -> None:
    made = lender.request_group().data
    explained = lender.process_group(made.group_loan_id, dry_run=True).explained
    assert "by 3 transfers" in explained[0].how
    done = lender.process_group(made.group_loan_id)
    assert {line.state for line in done.data.loans} == {"disbursing"}
    for job in lender.waiting("disburse.send"):
        lender.receive_answer(job, BAD if job.reference == lender.loan(made.loans[0].loan_id).transfer else GOOD)
    assert [lender.loan(line.loan_id).state for line in made.loans] == ["approved", "active", "active"]
    again = lender.process_group(made.group_loan_id).data
    assert [line.state for line in again.loans] == ["disbursing", "active", "active"]


def test_a_member_without_a_bank_account_does_not_keep_the_others(lender: GroupLender) -> None:
    made = lender.request_group().data
    client = lender.client("BOLA")
    lender.add_client("BOLA", bank=None)
    without_bank = msgspec.structs.replace(client, detail_sealed=lender.client("BOLA").detail_sealed)
    lender.database.rows[client.key] = without_bank
    done = lender.process_group(made.group_loan_id)
    assert done.message == "2 of 3 loans were approved"
    assert [line.code for line in done.data.loans if line.client_id == "BOLA"] == ["client_bank_account_missing"]
    assert [line.state for line in done.data.loans] == ["disbursing", "pending_approval", "disbursing"]
    assert lender.process_group(made.group_loan_id) == NO_BANK_ACCOUNT


def test_a_wallet_that_covers_two_transfers_makes_two() -> None:
    lender = GroupLender()
    spent = lender.lend(client_id="CL1", amount=str((lender.wallet() - 250_000) // 100), period=4)
    assert spent
    made = lender.request_group().data
    shown = lender.process_group(made.group_loan_id, dry_run=True)
    assert (shown.dry_run, shown.explained[0].amount) == (True, "2000.00")
    done = lender.process_group(made.group_loan_id)
    for record in (shown.data, done.data):
        assert sorted(line.state for line in record.loans) == ["disbursing", "disbursing", "pending_approval"]
        assert [line.code for line in record.loans if line.state == "pending_approval"] == ["insufficient_funds"]
    assert lender.list_amounts()[-1] == ("loan_approved", "2000.00")


def test_an_event_has_the_sum_of_the_loans_that_were_approved(lender: GroupLender) -> None:
    made = lender.request_group({"ADA": "1000.00", "BOLA": "500.00"}).data
    lender.set_status("BOLA", "inactive")
    assert lender.process_group(made.group_loan_id, dry_run=True).explained[0].amount == "1000.00"
    assert lender.process_group(made.group_loan_id).data.loans[1].code == "client_inactive"
    lender.process_group(made.group_loan_id, "reject")
    assert lender.list_amounts()[-2:] == [("loan_approved", "1000.00"), ("loan_rejected", "500.00")]


def test_a_wallet_that_covers_no_transfer_approves_nothing(lender: GroupLender) -> None:
    made = lender.request_group().data
    assert lender.lend(client_id="CL1", amount=str((lender.wallet() - 50_000) // 100), period=4)
    for dry_run in (True, False):
        assert lender.process_group(made.group_loan_id, dry_run=dry_run) == WALLET_INSUFFICIENT
    assert {lender.loan(line.loan_id).state for line in made.loans} == {"pending_approval"}
    assert lender.list_amounts()[-1] == ("loan_requested", "3000.00")


def test_a_wallet_that_is_short_pays_nothing_out_by_one_transfer() -> None:
    lender = GroupLender()
    assert lender.lend(client_id="CL1", amount=str((lender.wallet() - 250_000) // 100), period=4)
    made = lender.request_group(disbursement="one").data
    assert lender.process_group(made.group_loan_id, dry_run=True) == WALLET_INSUFFICIENT
    assert lender.process_group(made.group_loan_id) == WALLET_INSUFFICIENT
    assert lender.group_loan(made.group_loan_id).transfer is None


def test_a_loan_is_rejected_or_cancelled_whole_or_in_part(lender: GroupLender) -> None:
    made = lender.request_group(disbursement="one").data
    first = made.loans[0].loan_id
    assert lender.process_group(made.group_loan_id, loan_id=first) == AS_A_WHOLE
    assert lender.process_group(made.group_loan_id, loan_id="LNnobody") == NOT_A_PART
    one = lender.process_group(made.group_loan_id, "cancel", loan_id=first).data
    assert [line.state for line in one.loans] == ["closed_withdrawn", "pending_approval", "pending_approval"]
    shown = lender.process_group(made.group_loan_id, "reject", dry_run=True)
    assert (shown.dry_run, shown.explained) == (True, [])
    rest = lender.process_group(made.group_loan_id, "reject").data
    assert [line.state for line in rest.loans] == ["closed_withdrawn", "closed_rejected", "closed_rejected"]
    assert lender.client("ADA").open_accounts == 0
    refused = lender.process_group(made.group_loan_id)
    assert refused.message == "None of the loans can be approved: they are closed_rejected, closed_withdrawn"
    assert lender.process_group("GLnobody") == UNKNOWN_GROUP_LOAN


def test_a_loan_of_a_group_is_not_processed_by_itself(lender: GroupLender) -> None:
    loan_id = lender.request_group().data.loans[0].loan_id
    for status in ("approve", "reject", "cancel"):
        assert lender.process(loan_id, status) == LOAN_OF_GROUP


# --- a meeting --------------------------------------------------------------------------------------------------


def test_a_meeting_records_all_its_amounts(lender: GroupLender) -> None:
    loans = lender.lend_group()
    wallet = lender.wallet()
    done = lender.collect({loans["ADA"]: "250.00", loans["BOLA"]: "100.00"}, customer_txnref="meeting-1")
    assert (done.message, done.amount, [line.state for line in done.data]) == ("Collected", "350.00", ["collected"] * 2)
    assert [line.outstanding for line in done.data] == ["750.00", "900.00"]
    assert [line.allocation.principal for line in done.data] == ["250.00", "100.00"]
    assert len({line.txn_ref for line in done.data}) == 2
    assert (lender.owed(loans["ADA"])["principal"], lender.wallet()) == (75_000, wallet)
    assert lender.list_steps()[-1] == ("collected", "")
    assert lender.reverse(done.data[0].txn_ref).data.outstanding.total == "1000.00"
    assert lender.owed(loans["BOLA"])["principal"] == 90_000


@MEETING_AMOUNT.tries
def test_a_meeting_records_what_closes_a_loan_and_no_more(lender: GroupLender, value: str, is_within: bool) -> None:
    loan_id = lender.lend_group()["ADA"]
    assert isinstance(lender.collect({loan_id: value}), Refusal) != is_within
    assert (lender.loan(loan_id).state == "closed_repaid") == (value == "1000.00")


def test_a_meeting_with_an_amount_that_is_refused_records_none(lender: GroupLender) -> None:
    loans = lender.lend_group()
    refused = lender.collect({loans["ADA"]: "250.00", loans["BOLA"]: "1000.01", "LNnobody": "1.00"})
    assert [(error.field, error.code) for error in refused.field_errors] == [
        ("amounts[1].amount", "field_invalid"),
        ("amounts[2].loan_id", "not_of_group"),
    ]
    assert lender.owed(loans["ADA"])["principal"] == 100_000


def test_a_meeting_may_record_those_that_are_possible(lender: GroupLender) -> None:
    loans = lender.lend_group()
    amounts = {loans["ADA"]: "250.00", loans["BOLA"]: "1000.01", "LNnobody": "1.00"}
    shown = lender.collect(amounts, apply="each", dry_run=True)
    assert (shown.amount, shown.explained[0].how) == ("250.00", "the sum of 1 of 3 amounts; the others are refused")
    assert lender.owed(loans["ADA"])["principal"] == 100_000
    done = lender.collect(amounts, apply="each")
    assert (done.message, [line.state for line in done.data]) == (
        "1 of 3 amounts were recorded",
        ["collected", "refused", "refused"],
    )
    assert (lender.owed(loans["ADA"])["principal"], lender.owed(loans["BOLA"])["principal"]) == (75_000, 100_000)
    assert isinstance(lender.collect({loans["BOLA"]: "1000.01"}, apply="each"), Refusal)


def test_a_loan_is_named_once_and_of_the_group(lender: GroupLender) -> None:
    loans = lender.lend_group()
    twice = [{"loan_id": loans["ADA"], "amount": "1.00"}] * 2
    refused = lender.ask("collect", {"group_id": lender.group_id, "amounts": twice})
    assert refused.field_errors[0].reason == "each loan once"
    own = lender.lend(client_id="CL1")
    assert lender.collect({own: "1.00"}).field_errors[0].code == "not_of_group"
    assert lender.collect({loans["ADA"]: "1.00"}, group_id="GRnobody") == UNKNOWN_GROUP


def test_a_member_with_two_loans_repays_both_at_one_meeting(lender: GroupLender) -> None:
    first, second = lender.lend_group()["ADA"], lender.lend_group()["ADA"]
    assert lender.client("ADA").open_accounts == 2
    lender.collect({first: "1000.00", second: "1000.00"})
    assert (lender.client("ADA").open_accounts, lender.loan(first).state) == (0, "closed_repaid")


# --- joint liability --------------------------------------------------------------------------------------------


def test_arrears_of_one_member_are_those_of_all(lender: GroupLender) -> None:
    loans = lender.lend_group()
    pending = lender.request_group({"CHI": "1.00"}).data.group_loan_id
    lender.pass_days(30)
    lender.collect({loans["BOLA"]: "1000.00", loans["CHI"]: "1000.00"})
    assert lender.loan(loans["ADA"]).state == "active_in_arrears"
    lender.process_group(pending, "reject")
    for refused in (lender.request_group({"CHI": "1.00"}), lender.update(remove=["CHI"])):
        assert refused.error_code == "group_in_arrears"
    lender.collect({loans["ADA"]: "250.00"})
    assert lender.update(remove=["CHI"]).data.members == ["ADA", "BOLA"]


def test_a_loan_that_opens_again_is_open_for_its_group_again(lender: GroupLender) -> None:
    loans = lender.lend_group()
    repaid = {name: lender.repay(loan_id, "1000.00").txn_ref for name, loan_id in loans.items()}
    lender.request_group({"CHI": "1.00"})
    assert len(lender.group.unsettled_ids) == 1
    lender.reverse(repaid["ADA"])
    lender.reverse(repaid["BOLA"])
    assert len(lender.group.unsettled_ids) == 2
    assert lender.update(remove=["BOLA"]) == MEMBER_OWES.fill(client_id="BOLA")
    lender.pass_days(30)
    assert lender.request_group({"CHI": "1.00"}).error_code == "group_in_arrears"


def test_a_loan_of_a_group_is_not_topped_up_by_one_that_nobody_answers_for(lender: GroupLender) -> None:
    loan_id = lender.lend_group()["ADA"]
    assert lender.top_up(loan_id) == TOP_UP_OF_GROUP
    assert (lender.loan(loan_id).state, lender.loan(loan_id).topped_up_by) == ("active", "")
    assert lender.client("ADA").open_accounts == 1


def test_a_loan_is_not_paid_out_to_a_group_in_arrears(lender: GroupLender) -> None:
    lender.lend_group()
    pending = lender.request_group({"CHI": "1.00"}).data.group_loan_id
    lender.pass_days(30)
    assert lender.process_group(pending).error_code == "group_in_arrears"


def test_arrears_are_those_of_the_moment_also_before_they_were_checked(lender: GroupLender) -> None:
    loans = lender.lend_group({"ADA": "1000.00"})
    pending = {
        way: lender.request_group({"CHI": "1.00"}, disbursement=way).data.group_loan_id for way in ("one", "each")
    }
    lender.now += timedelta(days=30)
    assert lender.loan(loans["ADA"]).state == "active"
    for group_loan_id in pending.values():
        assert lender.process_group(group_loan_id).error_code == "group_in_arrears"
    for refused in (lender.request_group({"CHI": "1.00"}), lender.update(remove=["BOLA"])):
        assert refused.error_code == "group_in_arrears"
    lender.collect({loans["ADA"]: "250.00"})
    assert lender.update(remove=["BOLA"]).data.members == ["ADA", "CHI"]
    for group_loan_id in pending.values():
        assert lender.process_group(group_loan_id).status == 200


def test_a_member_whose_loan_is_open_stays(lender: GroupLender) -> None:
    loans = lender.lend_group({"ADA": "1000.00"})
    assert lender.update(remove=["ADA"], leader="BOLA") == MEMBER_OWES.fill(client_id="ADA")
    assert lender.update(close=True) == GROUP_OWES
    assert lender.update(remove=["CHI"]).data.members == ["ADA", "BOLA"]
    lender.collect({loans["ADA"]: "1000.00"})
    assert lender.update(close=True).data.state == "closed"


def test_a_member_whose_loan_was_written_off_may_be_removed(lender: GroupLender) -> None:
    loans = lender.lend_group({"ADA": "1000.00"})
    lender.write_off(loans["ADA"])
    assert lender.update(remove=["ADA"], leader="CHI").data.members == ["BOLA", "CHI"]
    assert lender.collect({loans["ADA"]: "100.00"}).amount == "100.00"
    assert abs(lender.lending("recovered")) == 10_000
