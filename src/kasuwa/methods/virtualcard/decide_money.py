"""The money of virtual cards: created, funded, withdrawn from, terminated. A card's balance is an account.

Postings, where the wallet is of the card's currency (D12):

    create      wallet → card             amount
                wallet → income:card      issuance fee          wallet → tax:vat    its VAT
    fund        wallet → card             amount
                wallet → income:card      funding fee           wallet → tax:vat    its VAT
    withdraw    card → wallet             amount
    terminate   card → wallet             all that is left
                (fees of these two, where the tariff has any, as above)

A USD card of a merchant without a USD wallet is paid for in NGN, through the operator's positions:

    wallet:NGN → fx:NGN      the sum at the sell rate           fx:USD → card, income:card, tax:vat
    card → fx:USD            amount                             fx:NGN → wallet:NGN    at the buy rate
"""

from collections.abc import Iterable

import msgspec

from kasuwa.core.calendar import add_months, lagos_day, moment_of
from kasuwa.core.codes import ERROR, INVALID_REQUEST, NOT_COVERED
from kasuwa.core.decision import (
    Context,
    Decision,
    Fault,
    Group,
    Job,
    Merchant,
    More,
    Needs,
    Post,
    Refusal,
    Seen,
    refuse_fields,
)
from kasuwa.core.directory import Entry, directory_key, list_as
from kasuwa.core.issuing import make_pan, mask_pan
from kasuwa.core.money import format_minor, minor_of
from kasuwa.core.rates import HOME, Rate, cost_in_home, worth_in_home
from kasuwa.core.references import account_key, opaque_id
from kasuwa.core.secrets import derive
from kasuwa.core.tariff import CardTariff, Charge, charge_flat, charge_funding
from kasuwa.core.transactions import encode_text, schedule
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.virtualcard.decide import (
    ACTIVE,
    BLOCKED,
    CARD_FUNDING,
    CARD_FUNDING_DEBIT,
    CARD_ISSUANCE_FEE,
    CARD_TERMINATED,
    CARD_TERMINATION,
    CARD_WITHDRAWAL,
    PAN,
    TERMINATED,
    UNKNOWN_CARD,
    Card,
    Holder,
    Told,
    balance_of,
    card_key,
    cvv_of,
    pan_place,
    read_bounds,
    reply_card,
    sees_all,
    show_card,
    vat_line,
    write_lines,
)
from kasuwa.methods.virtualcard.wire import AmountRequest, CardRequest, CreateRequest, DoneReply

MONTHLY = "virtualcard.monthly"
LANE = "virtualcard"

# How long a card is good for. Spec silent: D38
GOOD_FOR_MONTHS = 36
# A number of a range is taken by chance once in a while; that all of these are is not chance any more.
CANDIDATES = 8

# Refusals, in order of precedence; UNKNOWN_CARD and CARD_TERMINATED come first.
CARD_BLOCKED = Refusal(INVALID_REQUEST, "The card is blocked; unblock it first")
CARD_EXPIRED = Refusal(INVALID_REQUEST, "The card has expired")
NO_RATE = Refusal(INVALID_REQUEST, "There is no exchange rate for the card's currency; hold a wallet in it")
NO_NUMBER = Refusal(ERROR, "No card number was found; nothing was changed, try again")
CARD_SHORT = Refusal(NOT_COVERED, "The card does not cover the amount")
WALLET_SHORT = Refusal(NOT_COVERED, "The wallet does not cover the amount and its fee; fund it and try again")


# --- which wallet, and how it is reached --------------------------------------------------------------------


class Piece(msgspec.Struct, frozen=True):
    """So much for one account."""

    account: str
    amount: int
    kind: str


class Purse(msgspec.Struct, frozen=True):
    """Where the money of a card comes from and goes to: the wallet of its currency, or at a rate the one in NGN."""

    currency: str
    rate: Rate | None = None

    def take(self, pieces: Iterable[Piece]) -> tuple[Post, ...]:
        """From the wallet to these accounts of the card's currency."""
        wanted = [piece for piece in pieces if piece.amount]
        if self.rate is None:
            return tuple(Post(chart.wallet(self.currency), p.account, p.amount, p.kind) for p in wanted)
        if not wanted:
            return ()
        cost = cost_in_home(self.rate, sum(piece.amount for piece in wanted))
        bought = Post(chart.wallet(HOME), chart.position(HOME), cost, f"{self.currency} bought")
        position = chart.position(self.currency)
        return (bought, *(Post(position, piece.account, piece.amount, piece.kind) for piece in wanted))

    def give(self, account: str, amount: int, kind: str) -> tuple[Post, ...]:
        """From an account of the card's currency to the wallet. The position itself need not be given to itself."""
        if self.rate is None:
            posts = [Post(account, chart.wallet(self.currency), amount, kind)]
        else:
            position, worth = chart.position(self.currency), worth_in_home(self.rate, amount)
            given = [] if account == position else [Post(account, position, amount, kind)]
            posts = [*given, Post(chart.position(HOME), chart.wallet(HOME), worth, f"{self.currency} sold")]
        return tuple(post for post in posts if post.amount)


def money_accounts(account: str, currency: str) -> tuple[str, ...]:
    """All that may move with a card: which of the wallets does is known when they are seen."""
    at_home = (account, chart.wallet(currency), chart.income("card", currency), chart.tax("vat", currency))
    if currency == HOME:
        return at_home
    return (*at_home, chart.wallet(HOME), chart.position(HOME), chart.position(currency))


def find_purse(currency: str, context: Context, seen: Seen) -> Purse | Refusal:
    """The wallet of the card's currency if the merchant has one, else that in NGN. Spec silent: D12"""
    own = seen.get(Account, account_key(context.merchant.merchant_id, chart.wallet(currency)))
    if currency == HOME or own is not None:
        return Purse(currency)
    rate = context.merchant.exchange.get(currency)
    return NO_RATE if rate is None else Purse(currency, rate)


def fee_pieces(charge: Charge, currency: str, kind: str) -> tuple[Piece, ...]:
    vat = Piece(chart.tax("vat", currency), charge.vat, "VAT on fee")
    return Piece(chart.income("card", currency), charge.fee, kind), vat


def tariff_of(merchant: Merchant, currency: str) -> CardTariff:
    return merchant.tariff.virtual_card.of_currency(currency)


# --- create -------------------------------------------------------------------------------------------------


def initial_fits(merchant: Merchant, currency: str, amount: int) -> str | None:
    limits, tariff = merchant.limits[currency], tariff_of(merchant, currency)
    least = max(limits.least, minor_of(tariff.min_initial))
    most = min(limits.most, minor_of(tariff.max_balance))
    return None if least <= amount <= most else f"between {format_minor(least)} and {format_minor(most)}"


def need_create(request: CreateRequest, merchant: Merchant) -> Needs:
    """A new card's account and number are drawn by luck: the rule asks for them when it has drawn."""
    return Needs()


def decide_create(request: CreateRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    ranges, merchant_id = context.issuing.ranges, context.merchant.merchant_id
    network = request.card_type or next(iter(ranges))
    if network not in ranges:
        return refuse_fields(Fault("card_type", f"one of {', '.join(ranges)}"))
    currency, short_id = str(request.currency), opaque_id("", derive(context.entropy, "card"))
    account = chart.card(short_id, currency)
    lucks = [derive(context.entropy, f"pan {merchant_id} {n}") for n in range(CANDIDATES)]
    pans = [make_pan(ranges[network], luck) for luck in lucks]
    entries = {pan: directory_key(context.vault, PAN, pan) for pan in pans}
    wanted = Needs(tuple((Entry, key) for key in entries.values()), money_accounts(account, currency))
    if not sees_all(wanted, merchant_id, seen):
        return More(wanted)
    pan = next((pan for pan, key in entries.items() if seen.get(Entry, key) is None), None)
    if pan is None:
        return NO_NUMBER
    purse = find_purse(currency, context, seen)
    if isinstance(purse, Refusal):
        return purse
    card, job = make_card(request, context, short_id, network, pan)
    return issue_card(int(request.amount), context, purse, card, pan, job)


def make_card(request: CreateRequest, context: Context, short_id: str, network: str, pan: str) -> tuple[Card, Job]:
    today, billing = lagos_day(context.now), request.billing
    reference = f"{context.issuing.label}|GVC|{max(0, int(context.now.timestamp()))}|{short_id}"
    key = card_key(context.merchant.merchant_id, reference)
    holder = Holder(
        billing.address, billing.name, billing.city, billing.state, str(billing.postal_code), request.country or "NG"
    )
    card = Card(
        key=key,
        merchant_id=context.merchant.merchant_id,
        reference=reference,
        short_id=short_id,
        currency=str(request.currency),
        network=network,
        mask=mask_pan(pan),
        sealed_pan=context.seal(pan_place(key), pan.encode()),
        expiration=add_months(today, GOOD_FOR_MONTHS).isoformat()[:7],
        state=ACTIVE,
        detail=encode_text(holder),
        limits=read_bounds(request.limits),
        spent_on=today.isoformat(),
        spent_day=0,
        spent_month=0,
        unpaid=0,
        fee_job=b"",
        created_at=context.now,
    )
    first_fee = moment_of(add_months(today, 1), 0)
    job = schedule(context, MONTHLY, LANE, card, reference, first_fee, encode_text({"month": 1}))
    card.fee_job = job.key
    return card, job


def issue_card(amount: int, context: Context, purse: Purse, card: Card, pan: str, job: Job) -> Decision:
    charge = charge_flat(context.merchant.tariff, tariff_of(context.merchant, card.currency).issuance)
    funding = Piece(card.account, amount, "card funding")
    posts = purse.take((funding, *fee_pieces(charge, card.currency, "card issuance fee")))
    lines = write_lines(
        context,
        card,
        context.number,
        Told(CARD_FUNDING_DEBIT, amount),
        Told(CARD_ISSUANCE_FEE, charge.fee),
        *vat_line(charge.vat, f"VAT on {CARD_ISSUANCE_FEE}"),
        Told(CARD_FUNDING, amount),
    )
    data = show_card(card, amount)
    shown = msgspec.structs.replace(data, cardpan=pan, cvv=cvv_of(context, pan, card.expiration))
    return Decision(
        reply=reply_card(card, shown, "Created Successfully"),
        repeat=reply_card(card, data, "Created Successfully"),
        groups=(Group(card.reference, WALLET_SHORT, posts=posts),),
        rows=(card, *lines, list_as(context, PAN, pan, card.reference)),
        jobs=(job,),
        numbers=len(lines),
    )


# --- fund, withdraw, terminate ------------------------------------------------------------------------------


class Seat(msgspec.Struct, frozen=True):
    """A card with all that its money needs in sight."""

    card: Card
    purse: Purse
    balance: int
    job: Job | None


def sit_down(reference: str, context: Context, seen: Seen) -> Seat | Refusal | More:
    merchant_id = context.merchant.merchant_id
    card = seen.get(Card, card_key(merchant_id, reference))
    if card is None:
        return UNKNOWN_CARD
    if card.state == TERMINATED:
        return CARD_TERMINATED
    wanted = Needs(((Job, card.fee_job),), money_accounts(card.account, card.currency))
    if not sees_all(wanted, merchant_id, seen):
        return More(wanted)
    purse = find_purse(card.currency, context, seen)
    if isinstance(purse, Refusal):
        return purse
    return Seat(card, purse, balance_of(card, seen), seen.get(Job, card.fee_job))


def need_amount(request: AmountRequest, merchant: Merchant) -> Needs:
    return Needs(((Card, card_key(merchant.merchant_id, request.reference)),))


def decide_fund(request: AmountRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    seat = sit_down(request.reference, context, seen)
    if not isinstance(seat, Seat):
        return seat
    card, amount = seat.card, int(request.amount)
    if request.currency not in (None, card.currency):
        return refuse_fields(Fault("currency", other_currency(card)))
    if card.state == BLOCKED:
        return CARD_BLOCKED
    if card.is_expired(context.now):
        return CARD_EXPIRED
    fault = funding_fault(context.merchant, seat, amount)
    if fault is not None:
        return refuse_fields(Fault("amount", fault))
    charge = charge_funding(context.merchant.tariff, card.currency, amount)
    funding = Piece(card.account, amount, "card funding")
    posts = seat.purse.take((funding, *fee_pieces(charge, card.currency, "card funding fee")))
    debit, credit = Told(CARD_FUNDING_DEBIT, amount, charge.fee), Told(CARD_FUNDING, amount, charge.fee)
    vat = vat_line(charge.vat, "VAT on Card Funding Fee")
    lines = write_lines(context, card, context.number, debit, *vat, credit)
    return Decision(
        reply=DoneReply(message="Virtual card funded successfully"),
        groups=(Group(card.reference, WALLET_SHORT, posts=posts),),
        rows=lines,
        numbers=len(lines),
    )


def other_currency(card: Card) -> str:
    """Amounts are in the card's currency; read as another one they would be many times too much or too little."""
    return f"{card.currency}, or left out: the currency of this card"


def funding_fault(merchant: Merchant, seat: Seat, amount: int) -> str | None:
    limits, most = merchant.limits[seat.card.currency], tariff_of(merchant, seat.card.currency).max_balance
    if not limits.least <= amount <= limits.most:
        return f"between {format_minor(limits.least)} and {format_minor(limits.most)}"
    if seat.balance + amount > minor_of(most):
        return f"a card may hold at most {format_minor(minor_of(most))}"
    return None


def decide_withdraw(request: AmountRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    """Also from a blocked or an expired card: the money is the merchant's. Spec silent: D38"""
    seat = sit_down(request.reference, context, seen)
    if not isinstance(seat, Seat):
        return seat
    card, amount = seat.card, int(request.amount)
    if request.currency not in (None, card.currency):
        return refuse_fields(Fault("currency", other_currency(card)))
    charge = charge_flat(context.merchant.tariff, tariff_of(context.merchant, card.currency).withdraw)
    posts = seat.purse.give(card.account, amount, "card withdrawal")
    vat = vat_line(charge.vat, "VAT on Card Withdrawal Fee")
    lines = write_lines(context, card, context.number, *vat, Told(CARD_WITHDRAWAL, amount, charge.fee))
    return Decision(
        reply=DoneReply(message="Withdrawal Successful"),
        groups=(Group(card.reference, CARD_SHORT, posts=posts), *fee_groups(seat, charge, "card withdrawal fee")),
        rows=lines,
        numbers=len(lines),
    )


def decide_terminate(request: CardRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    seat = sit_down(request.reference, context, seen)
    if not isinstance(seat, Seat):
        return seat
    card, left = seat.card, seat.balance
    charge = charge_flat(context.merchant.tariff, tariff_of(context.merchant, card.currency).terminate)
    posts = seat.purse.give(card.account, left, "card termination")
    emptied = (Group(card.reference, CARD_SHORT, posts=posts),) if posts else ()
    vat = vat_line(charge.vat, "VAT on Card Termination Fee")
    lines = write_lines(context, card, context.number, *vat, Told(CARD_TERMINATION, left, charge.fee))
    return Decision(
        reply=DoneReply(message="Card terminated successfully"),
        groups=(*emptied, *fee_groups(seat, charge, "card termination fee")),
        rows=(msgspec.structs.replace(card, state=TERMINATED), *lines),
        jobs_done=() if seat.job is None else (seat.job,),
        numbers=len(lines),
    )


def fee_groups(seat: Seat, charge: Charge, kind: str) -> tuple[Group, ...]:
    """What taking money off a card costs, from the wallet that has just got it."""
    posts = seat.purse.take(fee_pieces(charge, seat.card.currency, kind))
    return (Group(seat.card.reference, WALLET_SHORT, posts=posts),) if posts else ()
