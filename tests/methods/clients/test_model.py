"""The rules of clients: what may be said of a person, the states and their steps, what updates do.

Contract: clients#create
"""

import re
from itertools import product
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, Refusal, refuse_fields
from kasuwa.methods.clients.model import (
    ACCOUNTS_OPEN,
    CLIENT_INACTIVE,
    PAYMENT_PENDING,
    UNKNOWN_CLIENT,
    BankAccount,
    adjust_credit,
    adjust_open_accounts,
    adjust_pending_payments,
    client_key,
    detail_aad,
    read_bank_account,
    refuse_inactive,
)
from kasuwa.methods.clients.rules.manage_client import (
    MAX_DETAIL_BYTES,
    NOTHING_TO_UPDATE,
    TOO_LARGE,
    decide_create,
    decide_update,
)
from kasuwa.methods.clients.wire import ClientStatus, CreateRequest, UpdateRequest
from kasuwa.wire.decoding import decode
from tests.methods.clients.people import ADA, InMemoryClients, faults, shown
from tests.rule_context import MERCHANT, VAULT, context, merchant

OPEN = VAULT.unseal
STATES: tuple[str, ...] = ClientStatus.__args__  # type: ignore[attr-defined]
STEPS = {
    ("pending_approval", "inactive"),
    ("pending_approval", "active"),
    ("pending_approval", "rejected"),
    ("inactive", "active"),
    ("active", "inactive"),
    ("rejected", "pending_approval"),
    ("inactive", "exited"),
    ("inactive", "blacklisted"),
    ("active", "exited"),
    ("active", "blacklisted"),
}


@pytest.fixture
def clients() -> InMemoryClients:
    return InMemoryClients()


def bad_fields(**data: Any) -> set[str]:
    """The fields that a create is refused for when it is read."""
    body = msgspec.json.encode({"data": {**ADA, **data}})
    read_faults = decode(CreateRequest, body, (), MERCHANT)
    return {fault.field for fault in read_faults} if isinstance(read_faults, tuple) else set()


# --- create -------------------------------------------------------------------------------------------------


def test_a_client_is_returned_with_all_its_fields(clients: InMemoryClients) -> None:
    fields = {
        **ADA,
        "middlename": "Grace",
        "email": "ada@example.com",
        "gender": "female",
        "dob": "1990-04-17",
        "addresses": [{"line1": "1 Marina", "country": "NG", "landmark": {"near": ["the bank"]}}],
        "bankAccount": {"account_number": "0000000000", "bank_code": "058", "kind": "savings"},
        "meta": {"id_card_no": "A1", "scores": [1, 2.50, -1e3, None, True], "empty": {}},
    }
    record = shown(clients.create(**fields))
    assert re.fullmatch("CL[0-9A-Za-z]{22}", record.pop("client_id"))
    assert record == {
        **fields,
        "status": "pending_approval",
        "bvn_verified": False,
        "dateCreated": "2026-01-05T09:30:00.123Z",
    }


def test_numbers_of_what_is_kept_whole_stay_as_they_were_sent(clients: InMemoryClients) -> None:
    body = (
        b'{"data":{"firstname":"A","lastname":"B","email":"a@b.co","meta":{"n":[1.10,1E2,-0.0,12345678901234567890]}}}'
    )
    request = decode(CreateRequest, body, (), MERCHANT)
    decided = clients.decide(decide_create, request, [])
    assert isinstance(decided, Decision)
    assert b'"n":[1.10,1E2,-0.0,12345678901234567890]' in msgspec.json.encode(decided.reply)


def test_a_clients_number_is_used_up_so_that_lists_have_an_order(clients: InMemoryClients) -> None:
    decided = clients.create()
    assert (decided.numbers_used, decided.rows[0].number) == (1, clients.context.number)


@pytest.mark.parametrize("status", ["pending_approval", "inactive", "active"])
def test_the_status_that_is_sent_is_kept(clients: InMemoryClients, status: str) -> None:
    assert clients.enroll(status=status).status == status


def test_a_phone_or_an_email_is_required(clients: InMemoryClients) -> None:
    assert set(faults(clients.create(phone=None))) == {"data.phone"}
    assert shown(clients.create(phone=None, email="ada@example.com"))["email"] == "ada@example.com"


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("firstname", ["", " ", "x" * 101, 1, None]),
        ("lastname", ["", "\t", [], None]),
        ("middlename", [" ", {}]),
        (
            "email",
            [" ", "ada", "ada@", "@example.com", "ada@example", "a b@example.com", "a@b..com", "ada@example.com\n", 5],
        ),
        ("meta", [{"a\0": 1}, {"deep": [{"\0": {}}]}]),
        ("gender", [" ", "Male", "f", "unknown", 1]),
        ("dob", [" ", "17-04-1990", "1990-02-30", "1990-4-17", "1899-12-31", "١٩٩٠-٠٤-١٧", 19900417]),
        ("dob", ["1990-01-01 junk", "1990-01-01\n"]),
        ("phone", [" ", "123", "0803123456", "080312345678", "01012345678", "+23480312345", "phone", "٠٨٠٣١٢٣٤٥٦٧"]),
        ("phone", ["+1415555267", "+0123456789", "+4479111234567890", "08031234567x", 8031234567]),
        ("bvn", [" ", "2221234567", "222123456789", "12345678902", "22２12345678", 22212345678]),
        ("addresses", ["x", {}, [{}] * 21, [{"city": 5}], ["x"]]),
        ("bankAccount", ["x", [1], {"account_number": "123"}, {"bank_code": "x"}, {"account_number": 1}]),
        ("meta", ["x", [1], 5, {"n": 2**64}, {"deep": [{"n": -(2**63) - 1}]}]),
    ],
)
def test_a_field_that_is_wrong_is_named(field: str, values: list[Any]) -> None:
    for value in values:
        named = {name.removeprefix("data.").split(".")[0] for name in bad_fields(**{field: value})}
        assert named == {field}, value


def test_faults_inside_are_named_by_their_own_path() -> None:
    named = bad_fields(
        firstname=None,
        gender="x",
        addresses=[{"city": "Lagos"}, {"city": 5, "line1": []}],
        bankAccount={"account_number": "1", "bank_code": "2"},
    )
    assert named == {
        "data.firstname",
        "data.gender",
        "data.addresses.1.city",
        "data.addresses.1.line1",
        "data.bankAccount.account_number",
        "data.bankAccount.bank_code",
    }


@pytest.mark.parametrize(
    "phone",
    [
        "08031234567",
        "+2348031234567",
        "2348031234567",
        "00234 803 123 4567",
        "0803-123-4567",
        "09112345678",
        "(0201) 2345678",
        "08000000051",
        "+233240000051",
        "+254700000051",
        "+14155552671",
        "+447911123456",
    ],
)
def test_a_telephone_of_its_country_is_kept_as_it_was_sent(clients: InMemoryClients, phone: str) -> None:
    assert shown(clients.create(phone=phone))["phone"] == phone


@pytest.mark.parametrize(
    ("phone", "country"), [("0240000051", "GH"), ("0700000051", "Kenya"), ("0241234567", "gha"), ("2125551234", "US")]
)
def test_without_a_code_it_is_of_nigeria_or_of_where_the_client_lives(
    clients: InMemoryClients, phone: str, country: str
) -> None:
    assert set(faults(clients.create(phone=phone))) == {"data.phone"}
    assert set(faults(clients.create(phone=phone, addresses=[{"country": "NG"}, {}]))) == {"data.phone"}
    assert shown(clients.create(phone=phone, addresses=[{"country": country}]))["phone"] == phone


def test_a_birthday_is_in_the_past_and_may_carry_a_time(clients: InMemoryClients) -> None:
    for day in ("2026-01-05", "2026-01-06", "9999-12-31"):
        assert set(faults(clients.create(dob=day))) == {"data.dob"}
    assert shown(clients.create(dob="2026-01-04"))["dob"] == "2026-01-04"
    assert shown(clients.create(dob="1990-04-17T00:00:00.000Z"))["dob"] == "1990-04-17"


@pytest.mark.parametrize(
    ("account", "field"),
    [
        ({}, "account_number"),
        ({}, "bank_code"),
        ({"account_number": "0000000000"}, "bank_code"),
        ({"bank_code": "058"}, "account_number"),
        ({"account_number": "0000000000", "bank_code": "999"}, "bank_code"),
        ({"account_number": "0123456780", "bank_code": "011"}, "account_number"),
    ],
)
def test_a_bank_account_is_one_that_money_can_be_sent_to(clients: InMemoryClients, account: Any, field: str) -> None:
    assert f"data.bankAccount.{field}" in faults(clients.create(bankAccount=account))


def test_in_live_no_account_and_no_bvn_is_magic() -> None:
    clients = InMemoryClients(context(merchant=merchant("live")))
    account = {"account_number": "0000000000", "bank_code": "058"}
    assert set(faults(clients.create(bankAccount=account, bvn="12345678901"))) == {
        "data.bankAccount.account_number",
        "data.bvn",
    }


def test_everything_wrong_with_the_whole_is_named_at_once(clients: InMemoryClients) -> None:
    decided = clients.create(phone=None, dob="2030-01-01", bankAccount={"bank_code": "058"}, verify_bvn=True)
    assert set(faults(decided)) == {"data.phone", "data.dob", "data.bankAccount.account_number", "data.bvn"}


WHOLE_ACCOUNT = {"bankAccount.bank_code", "bankAccount.account_number"}
MUCH = {
    "firstname": None,
    "phone": None,
    "dob": "2999-01-01",
    "bankAccount": {"account_number": "1234567890", "bank_code": "058"},
    "verify_bvn": True,
}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        (MUCH, {"firstname", "phone", "dob", "bankAccount.account_number", "bvn"}),
        ({"gender": "x", "dob": "2999-01-01"}, {"gender", "dob"}),
        ({"gender": "x", "dob": "2026-01-04"}, {"gender"}),
        ({"bankAccount": {"bank_code": "999", "account_number": "1"}}, WHOLE_ACCOUNT),
        ({"bankAccount": {"bank_code": "999"}}, WHOLE_ACCOUNT),
        ({"bankAccount": {"bank_code": 5}, "bvn": "12345678902"}, {*WHOLE_ACCOUNT, "bvn"}),
        ({"gender": "x", "phone": "0240000051"}, {"gender", "phone"}),
        ({"gender": "x", "phone": "0240000051", "addresses": [{"country": "GH"}]}, {"gender"}),
        ({"phone": "x", "email": None, "dob": "2999-01-01"}, {"phone", "dob"}),
        ({"bvn": "x", "verify_bvn": True, "dob": "2999-01-01"}, {"bvn", "dob"}),
        ({"meta": {"n": 2**64}, "dob": "2999-01-01"}, {"meta", "dob"}),
    ],
)
def test_a_fault_of_one_fields_form_hides_no_other(
    clients: InMemoryClients, fields: dict[str, Any], named: set[str]
) -> None:
    assert set(faults(clients.create(**fields))) == {f"data.{name}" for name in named}


def test_a_fault_of_the_status_hides_none_of_the_person(clients: InMemoryClients) -> None:
    data = {"dob": "2999-01-01", "bankAccount": {"bank_code": "058"}}
    whole = {"status", "data.dob", "data.bankAccount.account_number"}
    assert set(faults(clients.update(clients.enroll(), status="exited", data=data))) == whole
    client = adjust_open_accounts(clients.enroll(entropy=1, status="active"), 1)
    clients.rows[client.key] = client
    refused = clients.update(client, status="exited", data=data, verify_bvn=True)
    assert set(faults(refused)) == {*whole, "data.bvn"}
    assert isinstance(refused, Refusal)
    assert refused.message == ACCOUNTS_OPEN.message


def test_what_a_change_is_wrong_in_by_itself_is_named_with_its_form(clients: InMemoryClients) -> None:
    data: dict[str, Any] = {"gender": "x", "dob": "2999-01-01", "phone": "0240000051", "addresses": [{"country": "NG"}]}
    data["bankAccount"] = {"account_number": "1234567890", "bank_code": "058"}
    named = {"data.gender", "data.dob", "data.phone", "data.bankAccount.account_number"}
    assert set(faults(clients.update(clients.enroll(), data=data))) == named
    del data["addresses"]
    assert set(faults(clients.update(clients.enroll(entropy=1), data=data))) == named - {"data.phone"}


# --- states -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after"), list(product(STATES, STATES)))
def test_a_status_moves_only_as_the_steps_say(clients: InMemoryClients, before: str, after: str) -> None:
    client = msgspec.structs.replace(clients.enroll(), status=before)
    clients.rows[client.key] = client
    decided = clients.update(client, status=after)
    if (before, after) in STEPS:
        assert shown(decided)["status"] == after
    else:
        assert before in faults(decided)["status"]
        assert clients.now(client.client_id).status == before


@pytest.mark.parametrize("after", ["inactive", "exited", "blacklisted"])
def test_a_client_with_an_open_account_stays_active(clients: InMemoryClients, after: str) -> None:
    client = adjust_open_accounts(clients.enroll(status="active"), 1)
    clients.rows[client.key] = client
    assert clients.update(client, status=after) == ACCOUNTS_OPEN
    assert shown(clients.update(client, data={"middlename": "Grace"}))["status"] == "active"
    clients.rows[client.key] = adjust_open_accounts(clients.now(client.client_id), -1)
    assert shown(clients.update(client, status=after))["status"] == after


@pytest.mark.parametrize("before", ["inactive", "active"])
@pytest.mark.parametrize("after", ["exited", "blacklisted"])
def test_a_client_whom_money_can_still_reach_does_not_leave(clients: InMemoryClients, before: str, after: str) -> None:
    client = adjust_credit(adjust_pending_payments(clients.enroll(status=before), 1), 150)
    clients.rows[client.key] = client
    assert clients.update(client, status=after) == PAYMENT_PENDING
    clients.rows[client.key] = adjust_pending_payments(client, -1)
    refused = clients.update(client, status=after)
    assert isinstance(refused, Refusal)
    assert (refused.message, set(faults(refused))) == (
        "The client is owed 1.50, paid beyond a loan; refund it first",
        {"status"},
    )
    clients.rows[client.key] = adjust_credit(adjust_pending_payments(client, -1), -150)
    assert shown(clients.update(client, status=after))["status"] == after


def test_only_an_active_client_may_borrow_and_save(clients: InMemoryClients) -> None:
    client = clients.enroll(status="active")
    assert refuse_inactive(client) is None
    for status in STATES:
        refusal = refuse_inactive(msgspec.structs.replace(client, status=status))
        assert (refusal is None) == (status == "active")
        assert refusal is None or refusal == CLIENT_INACTIVE.fill(status=status)


# --- update -------------------------------------------------------------------------------------------------


def test_an_update_merges_objects_and_replaces_arrays(clients: InMemoryClients) -> None:
    client = clients.enroll(
        addresses=[{"city": "Lagos"}, {"city": "Abuja"}],
        bankAccount={"account_number": "0000000000", "bank_code": "058", "kind": "savings"},
        meta={"id": 1, "extra": {"a": [1, 2], "b": {"c": 1}}},
    )
    record = shown(
        clients.update(
            client,
            data={
                "lastname": "Eze",
                "addresses": [{"city": "Kano"}],
                "bankAccount": {"account_number": "0000000510"},
                "meta": {"extra": {"a": [3], "b": {"d": 2}}, "phone": "x"},
            },
        )
    )
    assert (record["firstname"], record["lastname"], record["addresses"]) == ("Ada", "Eze", [{"city": "Kano"}])
    assert record["bankAccount"] == {"account_number": "0000000510", "bank_code": "058", "kind": "savings"}
    assert record["meta"] == {"id": 1, "extra": {"a": [3], "b": {"c": 1, "d": 2}}, "phone": "x"}


def test_a_null_changes_nothing(clients: InMemoryClients) -> None:
    client = clients.enroll(middlename="Grace", meta={"a": 1})
    before = clients.detail_of(client.client_id)
    clients.update(client, data={"middlename": None, "phone": None, "meta": None, "addresses": None})
    assert clients.detail_of(client.client_id) == before


def test_a_null_inside_a_bank_account_changes_nothing(clients: InMemoryClients) -> None:
    account = {"account_number": "0000000000", "bank_code": "058", "account_name": None, "kind": None}
    client = clients.enroll(bankAccount=account)
    assert read_bank_account(client, OPEN) == BankAccount("058", "0000000000", "Ada Obi")
    record = shown(clients.update(client, data={"bankAccount": {"account_number": None, "bank_code": "044"}}))
    assert record["bankAccount"] == {"account_number": "0000000000", "bank_code": "044", "kind": None}


def test_a_bank_that_is_no_more_does_not_stand_in_the_way_of_other_changes(clients: InMemoryClients) -> None:
    client = clients.enroll()
    gone = (
        '{"firstname":"Ada","lastname":"Obi","email":"a@b.co","bankAccount":{"bank_code":"999","account_number":"0"}}'
    )
    sealed = VAULT.seal(client.merchant_id, detail_aad(client.client_id), gone.encode(), bytes(12))
    clients.rows[client.key] = msgspec.structs.replace(client, detail_sealed=sealed)
    assert shown(clients.update(client, status="active", data={"middlename": "Grace"}))["status"] == "active"
    assert set(faults(clients.update(client, data={"bankAccount": {"account_name": "x"}}))) == {
        "data.bankAccount.bank_code"
    }


def test_what_an_update_makes_of_the_whole_is_checked(clients: InMemoryClients) -> None:
    client = clients.enroll(bankAccount={"account_number": "0123456784", "bank_code": "011"})
    wrong = clients.update(client, data={"bankAccount": {"bank_code": "058"}, "dob": "2030-01-01"})
    assert set(faults(wrong)) == {"data.bankAccount.account_number", "data.dob"}
    assert read_bank_account(clients.now(client.client_id), OPEN) == BankAccount("011", "0123456784", "Ada Obi")


def test_an_update_without_changes_is_refused(clients: InMemoryClients) -> None:
    client = clients.enroll()
    assert clients.update(client) == NOTHING_TO_UPDATE
    assert shown(clients.update(client, data={}))["firstname"] == "Ada"


def test_an_unknown_client_is_refused(clients: InMemoryClients) -> None:
    nobody = UpdateRequest(client_id="CLx", status="active")
    assert clients.decide(decide_update, nobody, [client_key(MERCHANT.merchant_id, "CLx")]) == UNKNOWN_CLIENT


def test_the_size_of_one_client_is_limited(clients: InMemoryClients) -> None:
    client = clients.enroll()
    part = "x" * (MAX_DETAIL_BYTES // 5)
    for name in "abcd":
        assert isinstance(clients.update(client, data={"meta": {name: part}}), Decision)
        client = clients.now(client.client_id)
    assert clients.update(client, data={"meta": {"e": part}}) == refuse_fields(TOO_LARGE)
    assert isinstance(clients.update(client, data={"meta": {"a": part[1:]}}), Decision)


# --- what is kept of a person -----------------------------------------------------------------------------------


def test_personal_details_are_stored_encrypted(clients: InMemoryClients) -> None:
    client = clients.enroll(email="ada@example.com", dob="1990-04-17", meta={"passport": "A1234567"})
    kept = b" ".join(str(value).encode() for value in msgspec.structs.astuple(client))
    for secret in (b"Ada", b"Obi", b"8031234567", b"ada@example.com", b"1990", b"A1234567"):
        assert secret not in kept
    assert '"passport":"A1234567"' in clients.detail_of(client.client_id)


@pytest.mark.parametrize("spelling", ["08031234567", "0803 123 4567", "+234 803-123-4567", "2348031234567"])
def test_every_spelling_of_a_telephone_has_one_hash(clients: InMemoryClients, spelling: str) -> None:
    assert clients.enroll(phone=spelling).phone_hash == clients.enroll(entropy=1, phone="08031234567").phone_hash


def test_a_telephone_is_of_the_country_that_its_owner_lives_in(clients: InMemoryClients) -> None:
    at_home = clients.enroll(phone="0712345678", addresses=[{"country": "KE"}])
    assert at_home.phone_hash == clients.enroll(entropy=1, phone="+254712345678").phone_hash


def test_an_email_address_is_hashed_whatever_its_case(clients: InMemoryClients) -> None:
    assert (
        clients.enroll(email="Ada@Example.com").email_hash
        == clients.enroll(entropy=1, email="ada@example.com").email_hash
    )
    assert clients.enroll(entropy=2).email_hash is None


# --- what loans and savings borrow ------------------------------------------------------------------------------


def test_a_bank_account_carries_its_own_name_or_its_clients(clients: InMemoryClients) -> None:
    account = {"account_number": "0000000000", "bank_code": "058"}
    client = clients.enroll(bankAccount=account)
    assert read_bank_account(client, OPEN) == BankAccount("058", "0000000000", "Ada Obi")
    clients.update(client, data={"bankAccount": {"account_name": "Ada Stores"}})
    assert read_bank_account(clients.now(client.client_id), OPEN) == BankAccount("058", "0000000000", "Ada Stores")


def test_a_client_without_a_bank_account_has_none(clients: InMemoryClients) -> None:
    assert read_bank_account(clients.enroll(), OPEN) is None
