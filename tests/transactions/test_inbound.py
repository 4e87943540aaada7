"""Inbound account numbers: valid for their bank, never magic, never assigned twice."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.banks import MAGIC_PREFIX, all_banks, banks_by_code, is_account_number
from kasuwa.core.decision import Context, LoadedRows, NeedsMore
from kasuwa.core.token_index import TokenIndexEntry, make_token_entry, token_key
from kasuwa.transactions.inbound_accounts import ACCOUNT, CANDIDATES, account_number, free_number
from tests.rule_context import MERCHANT, VAULT, context

WEMA = banks_by_code()["035"]
WITH_CODE = [bank for bank in all_banks() if bank.cbn_code is not None]


@given(st.binary(min_size=32, max_size=32), st.sampled_from(WITH_CODE))
def test_any_number_is_an_account_of_its_bank(entropy: bytes, bank: Any) -> None:
    number = account_number(bank, entropy)
    assert len(number) == 10
    assert is_account_number(bank, number)
    assert not number.startswith(MAGIC_PREFIX)


def test_no_number_is_a_magic_number_of_the_sandbox() -> None:
    assert [account_number(WEMA, n.to_bytes(32, "big"))[:6] for n in (0, 999)] == ["100000", "100000"]


def assign_number(of: Context, taken: dict[bytes, TokenIndexEntry]) -> str | NeedsMore:
    more = free_number(WEMA, of, LoadedRows({}))
    assert isinstance(more, NeedsMore)
    keys = [key for _, key in more.needs.rows]
    assert len(set(keys)) == CANDIDATES
    return free_number(WEMA, of, LoadedRows({key: taken.get(key) for key in keys}))


def test_an_assigned_number_is_not_assigned_again() -> None:
    taken: dict[bytes, TokenIndexEntry] = {}
    for _ in range(CANDIDATES):
        number = assign_number(context(), taken)
        assert isinstance(number, str)
        entry = make_token_entry(context(), ACCOUNT, number, "x")
        assert entry.key == token_key(VAULT, ACCOUNT, number)
        assert entry.key not in taken
        taken[entry.key] = entry
    assert isinstance(assign_number(context(), taken), NeedsMore), "none of those drawn is free"


def test_two_merchants_with_the_same_entropy_get_different_numbers() -> None:
    other = msgspec.structs.replace(MERCHANT, merchant_id=8)
    assert assign_number(context(), {}) != assign_number(context(merchant=other), {})
