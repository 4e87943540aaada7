"""Row keys and references: unique, not guessable, and protected against typing errors."""

import re
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.references import (
    COPY_UNIT,
    KEY_BYTES,
    NUMBER_COUNT,
    Permutation,
    account_key,
    check_letter,
    compact_reference,
    first_key,
    first_number,
    is_opaque_id,
    is_reference,
    key_mask,
    mask_key,
    merchant_state_key,
    movement_reference,
    opaque_id,
    ordered_key,
    parse_compact_reference,
    parse_wire_reference,
    payment_reference,
    rail_key,
    read_rail_key,
    reference_of_rail_key,
    row_key,
    wire_reference,
)
from kasuwa.rails.inbox.card_messages import rail_order_key
from kasuwa.webhooks.signatures import event_id

FIRST = Permutation(b"one secret")
FIRST_AGAIN = Permutation(b"one secret")
SECOND = Permutation(b"another secret")
DAY = date(2026, 1, 5)
DIGITS = "0123456789"

numbers = st.integers(min_value=0, max_value=NUMBER_COUNT - 1)
days = st.dates(min_value=date(1900, 1, 1), max_value=date(8999, 12, 31))

# --- the permutation ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0, 1 << 15, 123_456_789, NUMBER_COUNT - 20_000])
def test_consecutive_numbers_have_different_images_in_range(start: int) -> None:
    images = {FIRST(number) for number in range(start, start + 20_000)}
    assert len(images) == 20_000
    assert min(images) >= 0
    assert max(images) < NUMBER_COUNT


@given(st.sets(numbers, min_size=2, max_size=200))
def test_no_two_numbers_share_an_image(chosen: set[int]) -> None:
    assert len({FIRST(number) for number in chosen}) == len(chosen)


@given(numbers)
def test_the_same_secret_always_makes_the_same_permutation(number: int) -> None:
    assert FIRST_AGAIN(number) == FIRST(number)


def test_another_secret_makes_another_permutation() -> None:
    same = sum(FIRST(number) == SECOND(number) for number in range(10_000))
    assert same <= 2  # one in 10^9 each, by chance


def test_images_do_not_follow_the_count() -> None:
    images = [FIRST(number) for number in range(1_000)]
    rising = sum(left < right for left, right in pairwise(images))
    assert 400 < rising < 600
    assert len({image // (NUMBER_COUNT // 10) for image in images}) == 10  # every tenth of the range is met


def test_every_merchant_has_another_first_number_and_no_number_twice() -> None:
    firsts = {FIRST.of_merchant(merchant)(1) for merchant in range(1, 1_001)}
    assert len(firsts) == 1_000
    mine = FIRST.of_merchant(7)
    images = [mine(number) for number in range(NUMBER_COUNT - 10_000, NUMBER_COUNT + 10_000)]
    assert len(set(images)) == 20_000
    assert images[:3] == [FIRST_AGAIN.of_merchant(7)(NUMBER_COUNT - 10_000 + n) for n in range(3)]


def test_a_rails_key_is_one_merchants_and_holds_its_reference() -> None:
    keys = {rail_key(merchant, reference) for merchant in (1, 11) for reference in ("1 GP|FD|1", "GP|FD|1", "1")}
    assert len(keys) == 6
    assert reference_of_rail_key(rail_key(7, "GP|FD|1")) == "GP|FD|1"


# --- keys -----------------------------------------------------------------------------------------------------

names = st.text(max_size=12)
triples = st.tuples(st.integers(min_value=0, max_value=10**6), names, names)

TRICKY = [
    ((1, "a", "b"), (1, "ab", "")),
    ((1, "", "ab"), (1, "ab", "")),
    ((1, "a", "1:b"), (1, "a1:", "b")),
    ((1, "1:a", ""), (11, ":a", "")),
    ((1, "a1", ":b"), (1, "a", "1:b")),
    ((1, "12:", "x"), (11, "2:", "x")),
    ((1, "t", "0:"), (1, "t0:", "")),
    ((1, "é", "x"), (1, "e\u0301", "x")),
    ((1, "ab", "c"), (1, "a", "bc")),
    ((12, "3", "4"), (1, "23", "4")),
    ((1, "transaction", "transfer x"), (1, "transaction transfer", "x")),
]


@pytest.mark.parametrize(("left", "right"), TRICKY)
def test_texts_that_only_look_alike_when_joined_have_different_keys(
    left: tuple[int, str, str], right: tuple[int, str, str]
) -> None:
    assert row_key(*left) != row_key(*right)


@given(triples, triples)
def test_merchant_table_and_reference_each_make_another_key(
    left: tuple[int, str, str], right: tuple[int, str, str]
) -> None:
    assert (row_key(*left) == row_key(*right)) == (left == right)


@given(st.integers(min_value=1), names)
def test_the_key_of_a_row_is_of_its_own_merchant_and_table(merchant_id: int, text: str) -> None:
    keys = [
        row_key(merchant_id, "transaction", text),
        row_key(merchant_id + 1, "transaction", text),
        row_key(merchant_id, "repeat", text),
        account_key(merchant_id, text),
        account_key(merchant_id + 1, text),
        merchant_state_key(merchant_id),
        merchant_state_key(merchant_id + 1),
    ]
    assert len(set(keys)) == len(keys)
    assert {len(key) for key in keys} == {KEY_BYTES}


@given(
    st.integers(min_value=0, max_value=2**48 - 1),
    st.integers(min_value=0, max_value=2**48 - 1),
    st.binary(min_size=16, max_size=16),
    st.binary(min_size=16, max_size=16),
)
def test_ordered_keys_sort_by_time_first(one: int, other: int, left: bytes, right: bytes) -> None:
    first, second = ordered_key(one, "bank", left), ordered_key(other, "bank", right)
    assert len(first) == len(second) == KEY_BYTES
    if one != other:
        assert (first < second) == (one < other)


def test_two_jobs_of_one_subject_and_moment_differ_by_their_lanes() -> None:
    lanes = ("bank", "webhook")
    assert len({ordered_key(1_767_605_400_000, lane, bytes(16)) for lane in lanes}) == len(lanes)


# --- the check letter -------------------------------------------------------------------------------------------

references = st.one_of(
    st.builds(payment_reference, numbers, days),
    st.builds(movement_reference, st.sampled_from(["FD", "BP", "RF", "BT"]), numbers, days),
)


@given(references)
def test_every_generated_reference_passes_its_own_check(reference: str) -> None:
    assert is_reference(reference)


@given(references)
def test_every_change_of_a_single_digit_or_of_the_letter_is_caught(reference: str) -> None:
    for place, character in enumerate(reference[:-1]):
        if character in DIGITS:
            for other in DIGITS.replace(character, ""):
                assert not is_reference(reference[:place] + other + reference[place + 1 :])
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ".replace(reference[-1], ""):
        assert not is_reference(reference[:-1] + letter)


def heads_in_every_state() -> dict[str, str]:
    """One text for each check letter: the letter shows the state of the sum, so these are all its states."""
    found: dict[str, str] = {}
    for number in range(2_000):
        head = f"GP{number:09d}"
        found.setdefault(check_letter(head), head)
    return found


def test_swapped_adjacent_digits_are_detected_unless_they_differ_by_one() -> None:
    """All there is to know, by trying every state and pair: a swap of digits that differ by two or more is
    always caught; one of digits that differ by one is missed in a single state of the 26."""
    heads = heads_in_every_state()
    assert len(heads) == 26
    for left in DIGITS:
        for right in DIGITS.replace(left, ""):
            missed = sum(
                check_letter(head + left + right) == check_letter(head + right + left) for head in heads.values()
            )
            assert missed <= (1 if abs(int(left) - int(right)) == 1 else 0), (left, right)


@pytest.mark.parametrize(
    "text",
    ["", "A", "G", "GP", "gp00000000120260105A", "GQ00000000120260105A", "order-1042", "GP|fd|1", "GP é", "\0"],
)
def test_other_texts_are_no_references(text: str) -> None:
    assert not is_reference(text)


@given(st.text(max_size=40))
def test_is_reference_accepts_any_text(text: str) -> None:
    assert not is_reference(text) or text.startswith("GP")


# --- their form (Contract: #references) ----------------------------------------------------------------------


@given(numbers, days)
def test_a_payment_reference_is_gp_nine_digits_the_day_and_a_letter(number: int, day: date) -> None:
    reference = payment_reference(number, day)
    assert re.fullmatch(r"GP[0-9]{9}[0-9]{8}[A-Z]", reference)
    assert reference[2:-1] == f"{number:09d}{day.year:04d}{day.month:02d}{day.day:02d}"


@given(st.sampled_from(["FD", "BP", "RF", "BT"]), numbers, days)
def test_a_movement_reference_has_its_kind_between_bars(kind: str, number: int, day: date) -> None:
    reference = movement_reference(kind, number, day)
    assert re.fullmatch(rf"GP\|{kind}\|[0-9]{{9}}\|[0-9]{{8}}[A-Z]", reference)
    assert reference.split("|")[2] == f"{number:09d}"


def test_references_read_as_in_the_contract() -> None:
    assert movement_reference("FD", 42, DAY)[:-1] == "GP|FD|000000042|20260105"
    assert payment_reference(42, DAY)[:-1] == "GP00000004220260105"


# --- ids that nobody can guess --------------------------------------------------------------------------------


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_an_opaque_id_depends_on_its_entropy_alone(entropy: bytes, other: bytes) -> None:
    made = opaque_id("LN", entropy)
    assert re.fullmatch("LN[0-9A-Za-z]{22}", made)
    assert is_opaque_id("LN", made)
    assert not is_opaque_id("CL", made)
    assert made == opaque_id("LN", entropy)
    assert made[2:] != opaque_id("CL", entropy)[2:]
    assert (made == opaque_id("LN", other)) == (entropy == other)


@pytest.mark.parametrize("text", ["", "LN", "LN" + "a" * 21, "LN" + "a" * 23, "LN" + "a" * 21 + ":", "LN" + "ä" * 22])
def test_texts_without_the_form_of_an_opaque_id_are_rejected(text: str) -> None:
    assert not is_opaque_id("LN", text)


# --- references on the wire of a rail --------------------------------------------------------------------------


@given(st.integers(1, 10**17), numbers, days, st.sampled_from(["", "FD", "BP", "RF", "CC", "LN"]))
def test_compact_references_read_back(merchant_id: int, number: int, day: date, kind: str) -> None:
    reference = movement_reference(kind, number, day) if kind else payment_reference(number, day)
    key = rail_key(merchant_id, reference)
    compact = compact_reference(key)
    assert compact.isalnum()
    assert compact == compact.lower()
    assert parse_compact_reference(compact) == key


@given(st.integers(1, 10**17), numbers, days, st.sampled_from(["", "FD", "BP", "RF", "CC", "LN"]))
def test_wire_references_read_back(merchant_id: int, number: int, day: date, kind: str) -> None:
    reference = movement_reference(kind, number, day) if kind else payment_reference(number, day)
    key = rail_key(merchant_id, reference)
    wire = wire_reference(key)
    assert re.fullmatch("[a-z0-9-]{16,50}", wire)
    assert parse_wire_reference(wire) == key


def test_a_rail_key_names_its_books_and_an_announced_order_has_none() -> None:
    assert read_rail_key(rail_key(12, "GP|FD|123456789|20260105X")) == (12, "GP|FD|123456789|20260105X")
    assert read_rail_key(rail_order_key("net-1")) == (0, "net-1")


@pytest.mark.parametrize("text", ["", "kz7", "kz7-gp-fd-123456789", "kz0-gp-fd-123456789-20260105x", "KZ7-gp", "hello"])
def test_other_texts_are_no_wire_references(text: str) -> None:
    assert parse_wire_reference(text) is None


@pytest.mark.parametrize(
    "text", ["", "7", "7gpbp123456789", "0gpbp12345678920260105x", "7gpbp12345678920260105x\n", "x7"]
)
def test_other_texts_are_no_compact_references(text: str) -> None:
    assert parse_compact_reference(text) is None


def test_compact_references_have_a_check_letter() -> None:
    compact = compact_reference(rail_key(7, movement_reference("BP", 123_456_789, DAY)))
    assert parse_compact_reference(compact[:-1] + ("a" if compact[-1] != "a" else "b")) is None


copies = st.integers(100_000_000, 999_999_999)


@given(st.integers(1, COPY_UNIT - 1), copies, copies, st.text(max_size=20))
def test_keys_of_a_copy_are_those_of_the_first_books_masked(first: int, one: int, other: int, reference: str) -> None:
    numbers = [first, *(copy * COPY_UNIT + first for copy in (one, other))]
    keys = [row_key(number, "payment", reference) for number in numbers]
    assert len(set(keys)) == len(set(numbers))
    for number, key in zip(numbers, keys, strict=True):
        assert first_number(number) == first
        assert first_key(number, key) == keys[0] == mask_key(key, key_mask(number))


@given(st.integers(1, COPY_UNIT - 1), copies, numbers)
def test_a_copy_continues_with_the_references_and_event_ids_of_the_first_books(
    first: int, copy: int, number: int
) -> None:
    permutation, copied = Permutation(b"secret"), copy * COPY_UNIT + first
    assert permutation.of_merchant(copied)(number) == permutation.of_merchant(first)(number)
    assert event_id(copied, number) == event_id(first, number)
