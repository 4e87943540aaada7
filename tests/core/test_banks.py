"""Bank codes in their three forms, and the check digit of an account number (Contract: resources#banks)."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.banks import (
    SAMPLE_ACCOUNTS,
    Bank,
    all_banks,
    bank_names,
    banks_by_code,
    can_account_exist,
    check_bank_code,
    is_account_number,
    is_sample_account,
    nuban_check_digit,
)
from kasuwa.merchants.merchant_settings import MerchantSettings, make_merchant

VECTORS = msgspec.json.decode((Path(__file__).parents[1] / "data" / "nuban_vectors.json").read_bytes())
PRINTED = VECTORS["source_examples"]
COMPUTED = VECTORS["computed_vectors"]

IN_TEST = make_merchant(1, "GP0000001", "Ada Stores", "test", MerchantSettings())
IN_LIVE = make_merchant(2, "GP0000002", "Bola Foods", "live", MerchantSettings())

GTB = banks_by_code()["058"]


@pytest.mark.parametrize("vector", PRINTED, ids=lambda vector: vector["nuban"])
def test_the_examples_that_the_central_bank_printed_check(vector: dict[str, str]) -> None:
    assert vector["nuban"] == vector["serial"] + str(nuban_check_digit(vector["bank_code"], vector["serial"]))


@pytest.mark.parametrize("vector", COMPUTED, ids=lambda vector: f"{vector['bank_code']} {vector['nuban']}")
def test_every_computed_vector_checks(vector: dict[str, str]) -> None:
    assert str(nuban_check_digit(vector["bank_code"], vector["serial"])) == vector["check_digit"]


def test_the_vectors_have_codes_of_three_and_five_digits() -> None:
    assert {len(vector["bank_code"]) for vector in COMPUTED} == {3, 5}


@pytest.mark.parametrize(
    ("short", "padded"), [("058", "000058"), ("011", "000011"), ("50211", "950211"), ("090267", "090267")]
)
@pytest.mark.parametrize("serial", ["000000022", "012345678", "987654321"])
def test_a_short_code_checks_as_its_padded_form(short: str, padded: str, serial: str) -> None:
    assert nuban_check_digit(short, serial) == nuban_check_digit(padded, serial)


def spelled_out(bank_code: str, serial: str) -> int:
    """The rule as it is written down: weights 3, 7, 3 and the tens' complement."""
    code = {3: "000", 5: "9", 6: ""}[len(bank_code)] + bank_code
    total = sum(int(digit) * (3, 7, 3)[place % 3] for place, digit in enumerate(code + serial))
    return (10 - total % 10) % 10


@given(st.from_regex(r"[0-9]{3}|[0-9]{5}|[0-9]{6}", fullmatch=True), st.from_regex(r"[0-9]{9}", fullmatch=True))
def test_the_check_digit_follows_the_written_rule(bank_code: str, serial: str) -> None:
    assert nuban_check_digit(bank_code, serial) == spelled_out(bank_code, serial)


# --- codes ------------------------------------------------------------------------------------------------------


def test_all_forms_of_a_code_find_the_same_bank() -> None:
    codes = banks_by_code()
    assert codes["058"] is codes["000013"]
    assert codes["044"] is codes["000014"]
    for bank in all_banks():
        if bank.status != "closed" and bank.cbn_code is not None and bank.nip_code is not None:
            assert codes[bank.cbn_code] == codes[bank.nip_code]


def test_codes_of_three_five_and_six_digits_are_known() -> None:
    assert {len(code) for code in banks_by_code()} == {3, 5, 6}


def test_no_code_means_two_banks() -> None:
    named: dict[str, set[str]] = {}
    for bank in all_banks():
        for code in {bank.cbn_code, bank.nip_code} - {None}:
            named.setdefault(str(code), set()).add(bank.name)
    assert {code: names for code, names in named.items() if len(names) > 1} == {}


def test_a_closed_bank_is_not_found_by_any_of_its_codes() -> None:
    closed = [bank for bank in all_banks() if bank.status == "closed"]
    assert {bank.name for bank in closed} == {"Heritage Bank", "Enterprise Bank"}
    for bank in closed:
        assert bank.cbn_code not in banks_by_code()
        assert bank.nip_code not in banks_by_code()
        assert bank.name not in bank_names().values()


def test_the_list_of_banks_has_codes_of_three_and_six_digits_in_order() -> None:
    listed = bank_names()
    assert {len(code) for code in listed} == {3, 6}
    assert list(listed) == sorted(listed)
    assert listed["058"] == listed["000013"] == GTB.name


@pytest.mark.parametrize("code", ["058", "000013"])
def test_a_known_code_breaks_no_rule(code: str) -> None:
    assert check_bank_code(IN_TEST, code) is None


@pytest.mark.parametrize("code", ["", "000", "058\n", "999999", "0058", "030", "000020"])
def test_an_unknown_code_is_named_as_such(code: str) -> None:
    reason = check_bank_code(IN_TEST, code)
    assert reason is not None
    assert "no bank has this code" in reason


# --- accounts ---------------------------------------------------------------------------------------------------


@given(st.sampled_from(sorted(banks_by_code())), st.from_regex(r"[0-9]{10}", fullmatch=True))
def test_a_checked_bank_takes_exactly_one_last_digit(code: str, account: str) -> None:
    bank = banks_by_code()[code]
    taken = [digit for digit in "0123456789" if is_account_number(bank, account[:9] + digit)]
    unchecked = bank.cbn_code is None or bank.kind == "mobile_money"
    assert len(taken) == (10 if unchecked else 1)


@pytest.mark.parametrize("bank", [bank for bank in all_banks() if bank.kind == "mobile_money"], ids=lambda b: b.name)
def test_a_wallet_takes_any_ten_digits(bank: Bank) -> None:
    assert all(is_account_number(bank, f"801234567{digit}") for digit in range(10))


def test_some_wallet_has_a_code_that_could_be_checked_and_is_not() -> None:
    assert [bank for bank in all_banks() if bank.kind == "mobile_money" and bank.cbn_code is not None]


@pytest.mark.parametrize("account", sorted(SAMPLE_ACCOUNTS["000013"]))
def test_a_documented_sample_exists_in_the_test_environment_alone(account: str) -> None:
    assert is_sample_account(GTB, account)
    assert can_account_exist(IN_TEST, GTB, account)
    assert can_account_exist(IN_LIVE, GTB, account) == is_account_number(GTB, account)


def test_a_sample_belongs_to_its_own_bank() -> None:
    assert not is_sample_account(banks_by_code()["044"], "0040000008")


@given(st.from_regex(r"000000[0-9]{4}", fullmatch=True))
def test_a_magic_account_needs_its_check_digit_in_live_alone(account: str) -> None:
    assert can_account_exist(IN_TEST, GTB, account)
    assert can_account_exist(IN_LIVE, GTB, account) == is_account_number(GTB, account)


@given(st.from_regex(r"[1-9][0-9]{9}", fullmatch=True))
def test_an_ordinary_account_needs_its_check_digit_everywhere(account: str) -> None:
    assert (
        can_account_exist(IN_TEST, GTB, account)
        == can_account_exist(IN_LIVE, GTB, account)
        == is_account_number(GTB, account)
    )
