"""Writes books for accounting programs, as lines of text: beancount, or CSV.

All is read in one snapshot and written as it is read. Opening balances are a transaction of their own. Every posting
group is a transaction with its reference. Closing balances are assertions that do not come from the written lines, but
from the accounts themselves, so that a program that reads the file checks it. Debits are above zero.
"""

import csv
import io
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from itertools import groupby
from typing import Protocol

from kasuwa.accounting import books
from kasuwa.accounting.beancount_accounts import beancount_account
from kasuwa.accounting.books import AccountBalances, BookPosting, BookScope
from kasuwa.core.calendar import lagos_day, lagos_text
from kasuwa.core.money import CURRENCIES, format_minor
from kasuwa.postgres.connection_pool import Connection
from kasuwa.wire.spreadsheet_cells import guard_cell

CSV_COLUMNS = ("entry", "date", "time", "mid", "transaction", "reference", "kind", "account", "currency", "amount")


class BookWriter(Protocol):
    """A format. Each method returns the text of one thing."""

    def head(self, scope: BookScope) -> str: ...

    def account(self, account: AccountBalances) -> str: ...

    def opening(self, scope: BookScope, mid: str, accounts: list[AccountBalances]) -> str: ...

    def group(self, postings: list[BookPosting]) -> str: ...

    def closing(self, scope: BookScope, account: AccountBalances) -> str: ...


async def export_books(connection: Connection, scope: BookScope, writer: BookWriter) -> AsyncIterator[str]:
    """Yields the text of an export. The connection must be in a snapshot."""
    yield writer.head(scope)
    async for account in books.iterate_balances(connection, scope):
        yield writer.account(account)
    async for mid, accounts in group_accounts(books.iterate_balances(connection, scope)):
        yield writer.opening(scope, mid, accounts)
    async for group in group_postings(books.iterate_postings(connection, scope)):
        yield writer.group(group)
    async for account in books.iterate_balances(connection, scope):
        yield writer.closing(scope, account)


async def group_accounts(
    accounts: AsyncIterator[AccountBalances],
) -> AsyncIterator[tuple[str, list[AccountBalances]]]:
    """Yields the accounts of each merchant that have an opening balance."""
    mid, of_merchant = "", list[AccountBalances]()
    async for account in accounts:
        if account.mid != mid and of_merchant:
            yield mid, of_merchant
            of_merchant = []
        mid = account.mid
        if account.opening:
            of_merchant.append(account)
    if of_merchant:
        yield mid, of_merchant


async def group_postings(postings: AsyncIterator[BookPosting]) -> AsyncIterator[list[BookPosting]]:
    """Yields the postings of each group."""
    group: list[BookPosting] = []
    async for posting in postings:
        if group and (posting.merchant_id, posting.group_seq) != (group[0].merchant_id, group[0].group_seq):
            yield group
            group = []
        group.append(posting)
    if group:
        yield group


# --- beancount --------------------------------------------------------------------------------------------------------


class BeancountWriter:
    """Writes the format of beancount, which `bean-check` reads."""

    def head(self, scope: BookScope) -> str:
        currencies = "".join(f'option "operating_currency" "{currency}"\n' for currency in CURRENCIES)
        days = f"{scope.first_day} to {scope.last_day}"
        return f'option "title" "Books from {days}"\n{currencies}\n'

    def account(self, account: AccountBalances) -> str:
        name, currency = beancount_account(account.mid, account.name), get_currency(account.name)
        return f'1970-01-01 open {name} {currency}\n  ledger: "{account.name}"\n'

    def opening(self, scope: BookScope, mid: str, accounts: list[AccountBalances]) -> str:
        legs = "".join(self._leg(mid, account.name, -account.opening) for account in accounts)
        return f'\n{scope.first_day} * "opening balances" "{mid}"\n{legs}'

    def group(self, postings: list[BookPosting]) -> str:
        first = postings[0]
        kinds = ", ".join(kind for kind, _ in groupby(posting.kind for posting in postings))
        head = f"\n{lagos_day(first.at)} * {quoted(kinds)} {quoted(first.reference)}\n"
        facts = f'  mid: "{first.mid}"\n  transaction: "{first.group_seq}"\n  time: "{lagos_text(first.at)}"\n'
        legs = "".join(
            self._leg(first.mid, posting.debit, posting.amount) + self._leg(first.mid, posting.credit, -posting.amount)
            for posting in postings
        )
        return head + facts + legs

    def closing(self, scope: BookScope, account: AccountBalances) -> str:
        name, currency = beancount_account(account.mid, account.name), get_currency(account.name)
        day = scope.last_day + timedelta(days=1)
        return f"{day} balance {name}  {format_minor(-account.closing)} ~ 0.00 {currency}\n"

    def _leg(self, mid: str, name: str, amount: int) -> str:
        return f"  {beancount_account(mid, name)}  {format_minor(amount)} {get_currency(name)}\n"


def get_currency(name: str) -> str:
    return name.rpartition(":")[2]


def quoted(text: str) -> str:
    """Returns a text as beancount has strings: on one line, in quotation marks."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(character if character.isprintable() else " " for character in plain) + '"'


# --- CSV --------------------------------------------------------------------------------------------------------------


class LedgerCsvWriter:
    """Writes one row for each side of a posting, and for each opening and closing balance."""

    def head(self, scope: BookScope) -> str:
        return csv_text(*CSV_COLUMNS)

    def account(self, account: AccountBalances) -> str:
        return ""

    def opening(self, scope: BookScope, mid: str, accounts: list[AccountBalances]) -> str:
        return "".join(
            csv_text("opening", scope.first_day, "", mid, "", "", "", *side(one.name, -one.opening)) for one in accounts
        )

    def group(self, postings: list[BookPosting]) -> str:
        rows = []
        for one in postings:
            facts = ("posting", lagos_day(one.at), lagos_text(one.at), one.mid, one.group_seq, one.reference, one.kind)
            rows += [csv_text(*facts, *side(one.debit, one.amount)), csv_text(*facts, *side(one.credit, -one.amount))]
        return "".join(rows)

    def closing(self, scope: BookScope, account: AccountBalances) -> str:
        day = scope.last_day
        return csv_text("closing", day, "", account.mid, "", "", "", *side(account.name, -account.closing))


def side(name: str, amount: int) -> tuple[str, str, str]:
    return name, get_currency(name), format_minor(amount)


def csv_text(*cells: object) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(guard_cell(str(cell)) for cell in cells)
    return out.getvalue()


WRITERS: dict[str, Callable[[], BookWriter]] = {"beancount": BeancountWriter, "ledger-csv": LedgerCsvWriter}
