"""The search for card data: what it finds, and what it takes for something else."""

import gzip
from pathlib import Path

import pytest

from kasuwa.core.cards import luhn_digit
from kasuwa.evidence import card_scan
from kasuwa.evidence.card_scan import CANARY, CANARY_SPELLINGS, find_card_data, is_searching, scan_logs
from kasuwa.evidence.reads import text_of_columns
from tests.running import Deployment

VERVE = "506099000000000000" + luhn_digit("506099000000000000")


@pytest.mark.parametrize("text", [*CANARY_SPELLINGS, f"%B{CANARY}^ADA/OBI", f"card={VERVE};", "378282246310005."])
def test_a_whole_card_number_is_found_and_shown_masked(text: str) -> None:
    [found] = find_card_data(text)
    assert found.startswith("card number ")
    assert "*****" in found
    assert CANARY not in found


@pytest.mark.parametrize("name", ["ccv", "cvv", "cvc", "pin", "track2"])
def test_a_code_with_its_name_is_found(name: str) -> None:
    assert list(find_card_data(f'{{"{name}": "7890"}}')) == [f"value of the field {name}"]


@pytest.mark.parametrize(
    "text",
    [
        "411111******1111",
        "4111111111111112",  # check digit
        f"GP{CANARY}O",  # a reference
        f"a{CANARY}",  # hexadecimal
        f"1{CANARY}234",  # a longer number
        "2026-11-05 13:14:15.123456",
        '{"pin": null, "opinion": "123456"}',
    ],
)
def test_other_digits_are_left_alone(text: str) -> None:
    assert list(find_card_data(text)) == []


def test_the_search_proves_that_it_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_searching()
    monkeypatch.setattr(card_scan, "find_range", lambda digits: None)
    assert not is_searching()


def test_logs_are_searched_in_pieces_compressed_ones_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_scan, "PIECE_BYTES", 200)
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.log").write_text("".join(f"line {n}\n" for n in range(100)) + f"paid with {CANARY}\nend\n")
    # A line longer than a piece, with the number over the edge of two.
    (logs / "b.log").write_text("x" * 190 + f" {CANARY} " + "y" * 500)
    with gzip.open(logs / "c.log.1.gz", "wb") as file:
        file.write(f'{{"cvv":"123"}} {CANARY}\n'.encode())
    (logs / "broken.log.gz").write_bytes(b"not compressed")
    result = scan_logs([logs, tmp_path / "missing.log"])
    assert (result.places, result.found) == (3, 4)
    assert {Path(finding.place).name for finding in result.findings} == {"a.log", "b.log", "c.log.1.gz"}
    assert {Path(path).name for path in result.unreadable} == {"broken.log.gz", "missing.log"}


def test_numbers_of_two_columns_are_not_one_card_number(deployment: Deployment) -> None:
    """Counts beside a time: 4, 1 and 1, and an hour of a day, are the digits of a card number."""
    row = text_of_columns(["place", "since", "edition", "at"], ["bigint", "bigint", "bigint", "text"])
    query = f"select {row} from (values (4, 1, 1, '{{}}')) t (place, since, edition, at)"
    [[counts]] = deployment.fetch(query.format("2026-11-18 22:25"))
    assert list(find_card_data("4\n1\n1\n2026-11-18 22:25")) != []
    assert list(find_card_data(counts)) == []
    [[alone]] = deployment.fetch(query.format(CANARY))
    assert len(list(find_card_data(alone))) == 1
