"""Writes the statement of a month as banks write it: CSV, MT940 or CAMT.053, with the same lines."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from kasuwa.core.money import format_minor

# The columns of the CSV file, as `kasuwa reconcile import` takes them.
CSV_MAPPING = (
    '{"date":"Date","date_form":"DD/MM/YYYY","debit":"Debit","credit":"Credit","reference":["Ref"],'
    '"description":["Narration"]}'
)
BANK_ACCOUNT = "0123456789"
OPENING = 1_000_000_000_000_00


class PaidLine(NamedTuple):
    """Money that left the account: the day, the bank's reference or nothing, the text, and minor units."""

    booked_on: date
    reference: str
    narration: str
    amount: int


def write_csv(file: Path, lines: Iterable[PaidLine]) -> None:
    with file.open("w") as out:
        out.write("Date,Ref,Narration,Debit,Credit\n")
        for line in lines:
            out.write(f"{line.booked_on:%d/%m/%Y},{line.reference},{line.narration},{format_minor(line.amount)},\n")


def write_mt940(file: Path, lines: Iterable[PaidLine]) -> None:
    """Writes a message for each day, with its balances."""
    balance = OPENING
    with file.open("w", newline="") as out:
        for number, (day, booked) in enumerate(by_day(lines), start=1):
            head = (f":20:{day:%y%m%d}{number:05d}", f":25:{BANK_ACCOUNT}", f":28C:{number}/1")
            out.write("\r\n".join([*head, f":60F:C{day:%y%m%d}NGN{swift_amount(balance)}"]) + "\r\n")
            for line in booked:
                balance -= line.amount
                out.write(
                    f":61:{day:%y%m%d%m%d}D{swift_amount(line.amount)}NTRF{line.reference or 'NONREF'}\r\n"
                    f":86:{line.narration}\r\n"
                )
            out.write(f":62F:C{day:%y%m%d}NGN{swift_amount(balance)}\r\n-\r\n")


def write_camt(file: Path, lines: Iterable[PaidLine]) -> None:
    """Writes a statement for each day, with its balances."""
    balance = OPENING
    with file.open("w") as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        out.write('<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>\n')
        for day, booked in by_day(lines):
            out.write(f"<Stmt><Id>{day}</Id><Acct><Id><Othr><Id>{BANK_ACCOUNT}</Id></Othr></Id></Acct>")
            out.write(camt_balance("OPBD", balance, day))
            for line in booked:
                balance -= line.amount
                out.write(
                    f'<Ntry><Amt Ccy="NGN">{format_minor(line.amount)}</Amt><CdtDbtInd>DBIT</CdtDbtInd>'
                    f"<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>{day}</Dt></BookgDt><NtryDtls><TxDtls>"
                    f"<Refs><EndToEndId>{line.reference or 'NOTPROVIDED'}</EndToEndId></Refs>"
                    f"<RmtInf><Ustrd>{line.narration}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>\n"
                )
            out.write(camt_balance("CLBD", balance, day) + "</Stmt>\n")
        out.write("</BkToCstmrStmt></Document>\n")


def camt_balance(kind: str, balance: int, day: date) -> str:
    return (
        f'<Bal><Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp><Amt Ccy="NGN">{format_minor(balance)}</Amt>'
        f"<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>{day}</Dt></Dt></Bal>\n"
    )


def by_day(lines: Iterable[PaidLine]) -> Iterator[tuple[date, Iterable[PaidLine]]]:
    """Yields the lines of each day. Banks list them by day, and the lines of a transfer may be a day late."""
    return groupby(sorted(lines, key=lambda line: line.booked_on), key=lambda line: line.booked_on)


def swift_amount(minor: int) -> str:
    return format_minor(minor).replace(".", ",")


# The formats by the ending of their file names.
WRITERS: dict[str, Callable[[Path, Iterable[PaidLine]], None]] = {
    "csv": write_csv,
    "mt940": write_mt940,
    "camt053": write_camt,
}
