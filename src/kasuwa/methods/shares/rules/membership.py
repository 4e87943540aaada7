"""Rules of classes of shares, and of buying and transferring shares. Postings are listed in model.py.

Contract: investments#shares
"""

from decimal import Decimal

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key, opaque_id
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import UNKNOWN_CLIENT, Client, client_key, refuse_inactive
from kasuwa.methods.investments.model import (
    CLOSED,
    SAVINGS_CLOSED,
    SAVINGS_DORMANT,
    SAVINGS_INSUFFICIENT,
    UNKNOWN_SAVINGS,
    WALLET,
    WALLET_INSUFFICIENT,
    Savings,
    SavingsChanges,
    has_unseen_rows,
    is_dormant,
    need_savings,
    savings_key,
)
from kasuwa.methods.investments.rules.cash_out import withdraw_savings
from kasuwa.methods.investments.rules.dry_run import total_repaid, wallet_available
from kasuwa.methods.investments.rules.savings import DEFAULT_TAX_RATE, debt_groups, repay_thrift_debts
from kasuwa.methods.shares.model import (
    MAX_HOLDERS,
    PAGE_HOLDERS,
    UNKNOWN_CLASS,
    RegisterPage,
    ShareClass,
    Shareholding,
    change_shares,
    class_key,
    holding_key,
    make_class_record,
    make_holding_record,
    page_key,
)
from kasuwa.methods.shares.wire import (
    BuySharesRequest,
    CreateShareClassRequest,
    HoldingReply,
    ShareClassReply,
    TransferSharesReply,
    TransferSharesRequest,
)

# Of one request; more is taken for a typing error. Contract: investments#shares
MAX_SHARES = 1_000_000

# Refusals, in order of precedence: unknown class, unknown and inactive client, and these.
SAME_MEMBER = refuse_fields(FieldError("to_client_id", "another member than client_id", "same_member"))
SHARES_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The member has {free} shares that can be given away", error_code="shares_insufficient"
)
SAVINGS_REQUIRED = refuse_fields(
    FieldError("savings_id", "required: the member has no shares of this class yet", "savings_required")
)
OTHER_SAVINGS = refuse_fields(
    FieldError("savings_id", "not the savings that the member's shares pay into", "other_savings")
)
NOT_THE_MEMBERS_SAVINGS = refuse_fields(FieldError("savings_id", "not savings of this member", "not_the_owner"))
FIXED_SAVINGS = refuse_fields(
    FieldError("savings_id", "a fixed deposit receives no dividends", "fixed_deposit_for_shares")
)
CLASS_FULL = Refusal(
    INVALID_REQUEST, f"The register of this class has {MAX_HOLDERS:,} members and is full", error_code="register_full"
)


def check_shares(merchant: Merchant, shares: int) -> str | None:
    return None if 1 <= shares <= MAX_SHARES else f"a number of shares from 1 to {MAX_SHARES}"


def check_tax_rate(merchant: Merchant, tax_rate: str | None) -> str | None:
    return None if tax_rate is None or Decimal(tax_rate) <= 100 else "a percentage from 0 to 100"


# --- classes ------------------------------------------------------------------------------------------------


def need_nothing(request: CreateShareClassRequest, merchant: Merchant) -> Needs:
    return Needs()


def decide_create_class(
    request: CreateShareClassRequest, context: Context, rows: LoadedRows
) -> Decision[ShareClassReply]:
    merchant_id, class_id = context.merchant.merchant_id, opaque_id("SC", context.entropy)
    share_class = ShareClass(
        key=class_key(merchant_id, class_id),
        merchant_id=merchant_id,
        class_id=class_id,
        number=context.number,
        name=request.name,
        price=int(request.price),
        votes=request.votes or "member",
        tax_rate=str(request.tax_rate or DEFAULT_TAX_RATE),
        created_at=context.now,
    )
    record = make_class_record(share_class)
    if request.dry_run:
        record.class_id = None
        return Decision(reply=ShareClassReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True))
    return Decision(
        reply=ShareClassReply(message="Share Class Created", data=record), rows=(share_class,), numbers_used=1
    )


# --- the register -------------------------------------------------------------------------------------------


class Place(msgspec.Struct, frozen=True):
    """A member's place on a register: the holding, and the rows that change if it is new."""

    holding: Shareholding
    share_class: ShareClass
    pages: tuple[RegisterPage, ...] = ()


def find_holding_account(class_id: str, client_id: str) -> str:
    """Returns the ledger account of a holding. Its id follows from class and client alone, so that it needs no look-up,
    and is the same in a copy of the books."""
    return chart.shares(make_holding_id(class_id, client_id))


def make_holding_id(class_id: str, client_id: str) -> str:
    return opaque_id("SH", f"{class_id} {client_id}".encode())


def need_member(merchant_id: int, class_id: str, client_id: str, savings_id: str | None = None) -> Needs:
    """Returns the client, the holding with its account, and the savings if they are named."""
    account = find_holding_account(class_id, client_id)
    needs = need_savings(
        merchant_id,
        () if savings_id is None else (savings_id,),
        (ShareClass, class_key(merchant_id, class_id)),
        (Client, client_key(merchant_id, client_id)),
        (Shareholding, holding_key(merchant_id, class_id, client_id)),
        (Account, account_key(merchant_id, account)),
    )
    return Needs(needs.rows, (*needs.accounts, account))


def take_place(
    client_id: str, savings_id: str | None, share_class: ShareClass, context: Context, rows: LoadedRows
) -> Place | Refusal | NeedsMore:
    """Returns the place of a member who gets shares: a new one at the end of the register unless there is one.

    A member who has shares keeps the savings that they pay into."""
    merchant_id = share_class.merchant_id
    client = rows.get(Client, client_key(merchant_id, client_id))
    if client is None:
        return UNKNOWN_CLIENT
    inactive = refuse_inactive(client)
    if inactive is not None:
        return inactive
    holding = rows.get(Shareholding, holding_key(merchant_id, share_class.class_id, client_id))
    if holding is not None and holding.shares:
        return Place(holding, share_class) if savings_id in (None, holding.savings_id) else OTHER_SAVINGS
    if savings_id is None:
        return SAVINGS_REQUIRED
    refusal = refuse_savings(savings_id, client_id, merchant_id, rows)
    if refusal is not None:
        return refusal
    if holding is not None:
        return Place(msgspec.structs.replace(holding, savings_id=savings_id), share_class)
    return join_register(client_id, savings_id, share_class, context, rows)


def refuse_savings(savings_id: str, client_id: str, merchant_id: int, rows: LoadedRows) -> Refusal | None:
    savings = rows.get(Savings, savings_key(merchant_id, savings_id))
    if savings is None:
        return UNKNOWN_SAVINGS
    if savings.client_id != client_id:
        return NOT_THE_MEMBERS_SAVINGS
    if savings.state == CLOSED:
        return SAVINGS_CLOSED
    return FIXED_SAVINGS if savings.is_fixed else None


def join_register(
    client_id: str, savings_id: str, share_class: ShareClass, context: Context, rows: LoadedRows
) -> Place | Refusal | NeedsMore:
    merchant_id, class_id, holders = share_class.merchant_id, share_class.class_id, share_class.holders
    if holders >= MAX_HOLDERS:
        return CLASS_FULL
    number = holders // PAGE_HOLDERS
    key = page_key(merchant_id, class_id, number)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((RegisterPage, key),)))
    page = rows.get(RegisterPage, key) or RegisterPage(key, merchant_id, class_id, number, "")
    holding = Shareholding(
        key=holding_key(merchant_id, class_id, client_id),
        merchant_id=merchant_id,
        holding_id=make_holding_id(class_id, client_id),
        class_id=class_id,
        client_id=client_id,
        savings_id=savings_id,
        position=holders + 1,
        since=lagos_day(context.now),
    )
    longer = msgspec.structs.replace(page, members=",".join((*page.client_ids, client_id)))
    return Place(holding, msgspec.structs.replace(share_class, holders=holders + 1), (longer,))


def count_holder(changes: SavingsChanges, before: Shareholding, after: Shareholding) -> None:
    """Counts for the savings of a holding that it has shares now, or has none any more."""
    by = bool(after.shares) - bool(before.shares)
    if by:
        changes.count_holding(after.savings_id, by)


# --- buying -------------------------------------------------------------------------------------------------


def need_purchase(request: BuySharesRequest, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    needs = need_member(merchant_id, request.class_id, request.client_id, request.savings_id)
    return Needs((*needs.rows, (Account, account_key(merchant_id, WALLET))), (*needs.accounts, WALLET))


def decide_purchase(
    request: BuySharesRequest, context: Context, rows: LoadedRows
) -> Decision[HoldingReply] | Refusal | NeedsMore:
    merchant_id = context.merchant.merchant_id
    share_class = rows.get(ShareClass, class_key(merchant_id, request.class_id))
    if share_class is None:
        return UNKNOWN_CLASS
    place = take_place(request.client_id, request.savings_id, share_class, context, rows)
    if not isinstance(place, Place):
        return place
    needs = need_savings(merchant_id, (place.holding.savings_id,))
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    changes, number = SavingsChanges(context, rows), int(request.shares)
    bought = change_shares(place.holding, number, changes.today)
    count_holder(changes, place.holding, bought)
    groups = pay_for_shares(request, changes, bought, number * share_class.price, context.merchant)
    if not isinstance(groups, tuple):
        return groups
    record = make_holding_record(bought, share_class)
    reply = HoldingReply(message="Shares Bought", amount=format_minor(number * share_class.price), data=record)
    if request.dry_run:
        reply.message, reply.dry_run = DRY_RUN_MESSAGE, True
        if not place.holding.shares and place.pages:
            record.holding_id = None
        return Decision(reply=reply)
    grown = msgspec.structs.replace(place.share_class, shares=share_class.shares + number)
    return Decision(reply=reply, groups=groups, rows=(grown, bought, *place.pages, *changes.rows))


def pay_for_shares(
    request: BuySharesRequest, changes: SavingsChanges, holding: Shareholding, amount: int, merchant: Merchant
) -> tuple[PostingGroup, ...] | Refusal | NeedsMore:
    """Returns the postings that pay for shares, or why they cannot be paid. Thrift debts are repaid before savings
    pay, as before every cash-out. Contract: investments#debts"""
    account, savings_id = chart.shares(holding.holding_id), holding.savings_id
    if request.payment_method == "wallet":
        if wallet_available(changes) < amount:
            return WALLET_INSUFFICIENT
        bring = Posting(WALLET, account, amount, "shares bought")
        return (PostingGroup(holding.holding_id, WALLET_INSUFFICIENT, postings=(bring,)),)
    if is_dormant(changes.load_savings(savings_id), changes.today, merchant):
        return SAVINGS_DORMANT
    available = changes.account(savings_id).available
    more = repay_thrift_debts(changes, savings_id, available)
    if more is not None:
        return more
    if available - total_repaid(changes) < amount:
        return SAVINGS_INSUFFICIENT
    debts = debt_groups(changes, savings_id)
    changes.record_own_movement(savings_id)
    withdraw_savings(changes, savings_id, amount)
    take = Posting(chart.savings(savings_id), account, amount, "shares bought")
    return (*debts, PostingGroup(holding.holding_id, SAVINGS_INSUFFICIENT, postings=(take,)))


# --- transfers ----------------------------------------------------------------------------------------------


def need_share_transfer(request: TransferSharesRequest, merchant: Merchant) -> Needs:
    giver = need_member(merchant.merchant_id, request.class_id, request.client_id)
    taker = need_member(merchant.merchant_id, request.class_id, request.to_client_id, request.savings_id)
    return Needs(tuple(dict.fromkeys((*giver.rows, *taker.rows))), tuple({*giver.accounts, *taker.accounts}))


def find_giver(client_id: str, number: int, share_class: ShareClass, rows: LoadedRows) -> Shareholding | Refusal:
    """Returns the holding of a member who gives shares away, if enough of them are free."""
    if rows.get(Client, client_key(share_class.merchant_id, client_id)) is None:
        return UNKNOWN_CLIENT
    holding = rows.get(Shareholding, holding_key(share_class.merchant_id, share_class.class_id, client_id))
    free = 0 if holding is None else holding.free
    return SHARES_INSUFFICIENT.fill(free=free) if holding is None or free < number else holding


def decide_share_transfer(
    request: TransferSharesRequest, context: Context, rows: LoadedRows
) -> Decision[TransferSharesReply] | Refusal | NeedsMore:
    merchant_id, number = context.merchant.merchant_id, int(request.shares)
    share_class = rows.get(ShareClass, class_key(merchant_id, request.class_id))
    if share_class is None:
        return UNKNOWN_CLASS
    if request.client_id == request.to_client_id:
        return SAME_MEMBER
    giver = find_giver(request.client_id, number, share_class, rows)
    if isinstance(giver, Refusal):
        return giver
    place = take_place(request.to_client_id, request.savings_id, share_class, context, rows)
    if not isinstance(place, Place):
        return place
    needs = need_savings(merchant_id, (giver.savings_id, place.holding.savings_id))
    if has_unseen_rows(needs, rows):
        return NeedsMore(needs)
    changes = SavingsChanges(context, rows)
    seller = change_shares(giver, -number, changes.today)
    buyer = change_shares(place.holding, number, changes.today)
    reply = TransferSharesReply(
        message="Shares Transferred",
        data=make_holding_record(seller, share_class),
        to=make_holding_record(buyer, share_class),
    )
    if request.dry_run:
        reply.message, reply.dry_run = DRY_RUN_MESSAGE, True
        return Decision(reply=reply)
    count_holder(changes, place.holding, buyer)
    count_holder(changes, giver, seller)
    if not seller.shares:
        changes.close_emptied((giver.savings_id,))
    more = changes.missing_clients()
    if more is not None:
        return more
    accounts = chart.shares(giver.holding_id), chart.shares(buyer.holding_id)
    post = Posting(*accounts, number * share_class.price, "shares transferred")
    group = PostingGroup(giver.holding_id, SHARES_INSUFFICIENT.fill(free=giver.free), postings=(post,))
    rows_changed: tuple[Row, ...] = (seller, buyer, *place.pages, *changes.rows)
    if place.pages:
        rows_changed = (place.share_class, *rows_changed)
    return Decision(reply=reply, groups=(group,), rows=rows_changed)
