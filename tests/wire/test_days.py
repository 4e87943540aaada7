"""Dates on the wire: `YYYY-MM-DD`, with or without a time that is ignored."""

from datetime import date

import pytest

from kasuwa.wire.fields import DAY_REASON, read_date


@pytest.mark.parametrize(
    "text",
    ["2026-01-05", "2026-01-05T09:30:00", "2026-01-05T23:59:59.999Z", "2026-01-05 10:00:00+01:00", "2026-01-05T00"],
)
def test_a_time_after_a_date_is_ignored(text: str) -> None:
    assert read_date(text).plain() == date(2026, 1, 5)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "2026",
        "2026-1-5",
        "2026-02-30",
        "2026-13-01",
        "05-01-2026",
        "20260105",
        "2026-01-05T",
        "2026-01-05x",
        "2026-01-05T--",
        "2026-01-05 09:75",
        "2026-01-05T09:30 or so",
        "٢٠٢٦-٠١-٠٥",
        "1899-12-31",
        "9000-01-01",
        20260105,
        None,
        True,
        ["2026-01-05"],
    ],
)
def test_an_invalid_date_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=DAY_REASON):
        read_date(value)
