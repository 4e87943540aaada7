"""The operator's pages of a merchant's books: trial balance, account statement and posting."""

from typing import Any
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from kasuwa.authority.roles import CAN_KEEP_BOOKS
from kasuwa.console.kit.timelines import page_timeline
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant import store
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.store import MAX_SEQUENCE, PAGE_ROWS
from kasuwa.console.operator import reads
from kasuwa.console.operator.manual_posting import MAX_ACCOUNT_NAME_LENGTH
from kasuwa.console.operator.merchants import find_merchant_in_path
from kasuwa.console.operator.reads import AccountBalance, AccountSum
from kasuwa.core.money import CURRENCIES
from kasuwa.ledger import chart
from kasuwa.ledger.posting_kinds import LOAN_PARTS

# Accounts of one kind that the trial balance shows. The others are on a page of their kind.
ACCOUNTS_SHOWN = 12

# The first level of the tree: a title and the kinds of accounts below it.
ACCOUNT_GROUPS = (
    ("Owed to the merchant", ("wallet", "settling", "reserve", "card", "unapplied")),
    (
        "Owed to customers and partners",
        ("savings", "thrift", "shares", "dividend", "beneficiary", "loan_credit", "suspense"),
    ),
    (
        "Lent to clients",
        ("lending", "provision", *(f"loan_{part}" for part in LOAN_PARTS), "guarantor"),
    ),
    ("Owed by others", ("rail", "receivable", "outside")),
    ("The operator's own", ("income", "tax", "fx")),
)


class KindBranch(msgspec.Struct, frozen=True):
    """The accounts of one kind in the tree."""

    sum: AccountSum
    meaning: str
    accounts: list[AccountBalance]

    @property
    def hidden_count(self) -> int:
        return self.sum.count - len(self.accounts)


class GroupBranch(msgspec.Struct, frozen=True):
    """A group of kinds in the tree."""

    title: str
    kinds: list[KindBranch]

    @property
    def debit(self) -> int:
        return sum(kind.sum.debit for kind in self.kinds)

    @property
    def credit(self) -> int:
        return sum(kind.sum.credit for kind in self.kinds)


class TrialBalance(msgspec.Struct, frozen=True):
    """The trial balance of one currency. It balances if debits and credits are equal."""

    currency: str
    groups: list[GroupBranch]

    @property
    def debit(self) -> int:
        return sum(group.debit for group in self.groups)

    @property
    def credit(self) -> int:
        return sum(group.credit for group in self.groups)


def build_trial_balances(sums: list[AccountSum], accounts: list[AccountBalance]) -> list[TrialBalance]:
    """Returns the tree of each currency: groups, kinds and accounts. Kinds that no group names come last."""
    named = {kind for _, kinds in ACCOUNT_GROUPS for kind in kinds}
    others = tuple(kind for kind in chart.ACCOUNT_KINDS if kind not in named)
    balances = []
    for currency in [
        currency_code for currency_code in CURRENCIES if any(total.currency == currency_code for total in sums)
    ]:
        branches = {
            total.kind: KindBranch(
                total,
                chart.ACCOUNT_KINDS[total.kind].meaning if total.kind in chart.ACCOUNT_KINDS else "",
                [one for one in accounts if one.currency == currency and one.name.startswith(f"{total.kind}:")],
            )
            for total in sums
            if total.currency == currency
        }
        groups = [
            GroupBranch(title, [branches[kind] for kind in kinds if kind in branches])
            for title, kinds in (*ACCOUNT_GROUPS, ("Other", others))
        ]
        balances.append(TrialBalance(currency, [group for group in groups if group.kinds]))
    return balances


async def show_books(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        summary = await find_merchant_in_path(visit, reader)
        sums = await reads.list_account_sums(reader, summary.merchant_id)
        accounts = await reads.list_first_accounts(reader, summary.merchant_id, ACCOUNTS_SHOWN)
    return visit.render("operator_books.html", summary=summary, balances=build_trial_balances(sums, accounts))


async def show_kind(visit: Visit) -> Response:
    """Shows all accounts of one kind, page by page."""
    kind, after = visit.path_parameter("kind"), visit.query.get("after", "")[:MAX_ACCOUNT_NAME_LENGTH]
    if kind not in chart.ACCOUNT_KINDS:
        raise NotFound
    async with visit.snapshot() as reader:
        summary = await find_merchant_in_path(visit, reader)
        accounts = await reads.list_accounts_of_kind(reader, summary.merchant_id, kind, after, PAGE_ROWS + 1)
    shown, url = accounts[:PAGE_ROWS], f"/operator/merchants/{summary.mid}/books/{kind}"
    return visit.render(
        "operator_accounts.html",
        summary=summary,
        kind=kind,
        meaning=chart.ACCOUNT_KINDS[kind].meaning,
        accounts=shown,
        next_url=f"{url}?after={quote(shown[-1].name, safe='')}" if len(accounts) > PAGE_ROWS else "",
        first_url=url if after else "",
    )


async def show_statement(visit: Visit) -> Response:
    name, before = visit.path_parameter("name"), parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    async with visit.snapshot() as reader:
        summary = await find_merchant_in_path(visit, reader)
        account = await reads.find_account(reader, summary.merchant_id, name)
        postings = await reads.list_statement(reader, summary.merchant_id, name, before)
    if account is None:
        raise NotFound
    shown = postings[:PAGE_ROWS]
    statement_url = f"/operator/merchants/{summary.mid}/accounts/{quote(name, safe='')}"
    next_url = f"{statement_url}?before={shown[-1].seq}" if len(postings) > PAGE_ROWS else ""
    first_url = statement_url if before != MAX_SEQUENCE else ""
    values: dict[str, Any] = {"account": account, "postings": shown, "next_url": next_url, "first_url": first_url}
    return visit.render("operator_statement.html", summary=summary, **values)


async def show_posting(visit: Visit) -> Response:
    """Shows a posting, the others of its group, and the timeline of its transaction."""
    seq = parse_int(visit.path_parameter("seq"), 0)
    async with visit.snapshot() as reader:
        summary = await find_merchant_in_path(visit, reader)
        merchant = await visit.services.merchant_directory.get_by_id(summary.merchant_id)
        group = await reads.list_posting_group(reader, summary.merchant_id, seq)
        if not group:
            raise NotFound
        row = await store.find_transaction(reader, merchant, group[0].reference)
        timeline = [] if row is None else await visit.services.read_timeline(reader, row)
    return visit.render(
        "operator_posting.html",
        summary=summary,
        seq=seq,
        group=group,
        row=row,
        can_propose=visit.user.role in CAN_KEEP_BOOKS,
        **page_timeline(visit, timeline),
    )
