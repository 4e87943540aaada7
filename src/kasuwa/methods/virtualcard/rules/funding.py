"""Rules that move money between wallet and card: create, fund, withdraw, terminate.

Postings, if the merchant has a wallet in the card's currency:

    create      wallet → card             amount
                wallet → income:card      issuance fee          wallet → tax:vat    its VAT
    fund        wallet → card             amount
                wallet → income:card      funding fee           wallet → tax:vat    its VAT
    withdraw    card → wallet             amount
    terminate   card → wallet             all that is left and not held
                (fees of these two, if the tariff has any, as above)

A USD card of a merchant without a USD wallet is paid for in NGN, through the operator's currency positions
(Contract: #fx):

    wallet:NGN → fx:NGN      the sum at the sell rate           fx:USD → card, income:card, tax:vat
    card → fx:USD            amount                             fx:NGN → wallet:NGN    at the buy rate
"""

from collections.abc import Iterable

import msgspec

from kasuwa.core.calendar import add_months, lagos_day, lagos_moment
from kasuwa.core.codes import ERROR, INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    refuse_fields,
)
from kasuwa.core.dry_run import preview_decision
from kasuwa.core.keyring import derive
from kasuwa.core.money import convert_to_minor, format_minor
from kasuwa.core.references import account_key, first_number, opaque_id
from kasuwa.core.token_index import TokenIndexEntry, make_token_entry, own_token_key
from kasuwa.ledger import chart
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import UNKNOWN_CLIENT, Client, add_card, client_key, refuse_inactive, remove_card
from kasuwa.methods.clients.rules.check_limits import check_deposit
from kasuwa.methods.virtualcard.card_limits import encode_limits
from kasuwa.methods.virtualcard.model import (
    ACTIVE,
    BLOCKED,
    CARD_FUNDING,
    CARD_FUNDING_DEBIT,
    CARD_ISSUANCE_FEE,
    CARD_TERMINATED,
    CARD_TERMINATION,
    CARD_WITHDRAWAL,
    PAN_ENTRY,
    TERMINATED,
    UNKNOWN_CARD,
    Card,
    CardEntry,
    Cardholder,
    card_key,
    derive_cvv,
    get_balance,
    get_held,
    has_all_rows,
    holder_aad,
    make_card_records,
    pan_aad,
    reply_card,
    show_card,
    vat_entries,
)
from kasuwa.methods.virtualcard.rules.explain import explain_balance, explain_fees, explain_state, explain_wallet
from kasuwa.methods.virtualcard.wire import AmountRequest, CardReply, CardRequest, CreateRequest, DoneReply
from kasuwa.terms.conversion import HOME, ExchangeRate, ExchangeRates, kobo_from_sale, kobo_to_buy
from kasuwa.terms.issuing import CardIssuingSettings, make_pan, mask_pan
from kasuwa.terms.tariff import CardTariff, FeeBreakdown, Tariff, calculate_flat_fees, calculate_funding_fees
from kasuwa.transactions.transactions import encode_text, make_ordered_job
from kasuwa.wire.interest_wire import DryRunFigure

MONTHLY_FEE_JOB = "virtualcard.monthly"
LANE = "virtualcard"

# Contract: virtualcard#create
VALIDITY_MONTHS = 36
# Random card numbers tried for a new card. One may be taken by chance; if all are, the range is nearly exhausted.
CANDIDATES = 8

# Refusals, in order of precedence. UNKNOWN_CARD and CARD_TERMINATED come before them.
CARD_BLOCKED = Refusal(INVALID_REQUEST, "The card is blocked; unblock it first", error_code="card_blocked")
CARD_EXPIRED = Refusal(INVALID_REQUEST, "The card has expired", error_code="card_expired")
OTHER_CURRENCY = refuse_fields(
    FieldError("client_id", "left out: limits by tier are in naira, and the card is not", "client_card_currency")
)
NO_RATE = Refusal(
    INVALID_REQUEST,
    "There is no exchange rate for the card's currency; hold a wallet in it",
    error_code="exchange_rate_missing",
)
NO_FREE_CARD_NUMBER = Refusal(
    ERROR, "No card number was found; nothing was changed, try again", error_code="card_number_unavailable"
)
CARD_INSUFFICIENT = Refusal(INSUFFICIENT_FUNDS, "The card does not cover the amount", error_code="card_insufficient")
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS,
    "The wallet does not cover the amount and its fee; fund it and try again",
    error_code="insufficient_funds",
)


# --- funding source -----------------------------------------------------------------------------------------


class WalletDebit(msgspec.Struct, frozen=True):
    """An amount that the wallet pays to one account of the card's currency."""

    account: str
    amount: int
    kind: str


class FundingSource(msgspec.Struct, frozen=True):
    """The wallet that funds a card and gets its money back: that of its currency, or the NGN wallet at a rate."""

    currency: str  # of the card
    rate: ExchangeRate | None = None  # None if the wallet has the card's currency

    def debit_wallet(self, debits: Iterable[WalletDebit]) -> tuple[Posting, ...]:
        """Returns the postings from the wallet to accounts of the card's currency. Zero amounts are left out."""
        wanted = [piece for piece in debits if piece.amount]
        if self.rate is None:
            return tuple(Posting(chart.wallet(self.currency), p.account, p.amount, p.kind) for p in wanted)
        if not wanted:
            return ()
        cost = kobo_to_buy(self.rate, sum(piece.amount for piece in wanted))
        bought = Posting(chart.wallet(HOME), chart.fx_position_account(HOME), cost, f"{self.currency} bought")
        position = chart.fx_position_account(self.currency)
        return (bought, *(Posting(position, piece.account, piece.amount, piece.kind) for piece in wanted))

    def credit_wallet(self, account: str, amount: int, kind: str) -> tuple[Posting, ...]:
        """Returns the postings from an account of the card's currency to the wallet.

        `account` may be the currency position itself; then the posting into the position is left out.
        """
        if self.rate is None:
            posts = [Posting(account, chart.wallet(self.currency), amount, kind)]
        else:
            position, worth = chart.fx_position_account(self.currency), kobo_from_sale(self.rate, amount)
            postings = [] if account == position else [Posting(account, position, amount, kind)]
            posts = [
                *postings,
                Posting(chart.fx_position_account(HOME), chart.wallet(HOME), worth, f"{self.currency} sold"),
            ]
        return tuple(post for post in posts if post.amount)


def money_accounts(account: str, currency: str) -> tuple[str, ...]:
    """Returns all accounts that money of a card may move on. Which wallet is used is known once they are loaded."""
    at_home = (account, chart.wallet(currency), chart.income("card", currency), chart.tax("vat", currency))
    if currency == HOME:
        return at_home
    return (*at_home, chart.wallet(HOME), chart.fx_position_account(HOME), chart.fx_position_account(currency))


def find_funding_source(currency: str, context: Context, rows: LoadedRows) -> FundingSource | Refusal:
    """Returns the wallet of the card's currency if the merchant has one, else the NGN wallet with the exchange rate.
    Contract: #fx"""
    own = rows.get(Account, account_key(context.merchant.merchant_id, chart.wallet(currency)))
    if currency == HOME or own is not None:
        return FundingSource(currency)
    rate = context.merchant.terms(ExchangeRates).by_currency.get(currency)
    return NO_RATE if rate is None else FundingSource(currency, rate)


def fee_debits(charge: FeeBreakdown, currency: str, kind: str) -> tuple[WalletDebit, ...]:
    vat = WalletDebit(chart.tax("vat", currency), charge.vat, "card VAT")
    return WalletDebit(chart.income("card", currency), charge.fee, kind), vat


def get_card_tariff(merchant: Merchant, currency: str) -> CardTariff:
    return merchant.terms(Tariff).virtual_card.of_currency(currency)


# --- create -------------------------------------------------------------------------------------------------


def check_initial_amount(merchant: Merchant, currency: str, amount: int) -> str | None:
    limits, tariff = merchant.limits[currency], get_card_tariff(merchant, currency)
    least = max(limits.min_amount, convert_to_minor(tariff.min_initial))
    most = min(limits.max_amount, convert_to_minor(tariff.max_balance))
    return None if least <= amount <= most else f"between {format_minor(least)} and {format_minor(most)}"


def need_create(request: CreateRequest, merchant: Merchant) -> Needs:
    """Returns nothing. A new card's account and number are random, so the rule requests them itself."""
    return Needs()


def decide_create(
    request: CreateRequest, context: Context, rows: LoadedRows
) -> Decision[CardReply] | Refusal | NeedsMore:
    ranges, merchant_id = context.terms(CardIssuingSettings).ranges, context.merchant.merchant_id
    network = request.card_type or next(iter(ranges))
    if network not in ranges:
        return refuse_fields(FieldError("card_type", f"one of {', '.join(ranges)}"))
    currency, short_id = str(request.currency), opaque_id("", derive(context.entropy, "card"))
    account = chart.card(short_id, currency)
    random_seeds = [derive(context.entropy, f"pan {first_number(merchant_id)} {n}") for n in range(CANDIDATES)]
    pans = [make_pan(ranges[network], random_number) for random_number in random_seeds]
    entries = {pan: own_token_key(context, PAN_ENTRY, pan) for pan in pans}
    wanted = Needs(tuple((TokenIndexEntry, key) for key in entries.values()), money_accounts(account, currency))
    if not has_all_rows(wanted, merchant_id, rows):
        return NeedsMore(wanted)
    pan = next((pan for pan, key in entries.items() if rows.get(TokenIndexEntry, key) is None), None)
    if pan is None:
        return NO_FREE_CARD_NUMBER
    funding_source = find_funding_source(currency, context, rows)
    if isinstance(funding_source, Refusal):
        return funding_source
    owner = find_owner(request, context, rows)
    if isinstance(owner, Refusal | NeedsMore):
        return owner
    card, job = make_card(request, context, short_id, network, pan)
    issued = issue_card(int(request.amount), context, funding_source, card, pan, job)
    if request.dry_run:
        return preview_card(issued, int(request.amount), context, funding_source)
    if owner is not None:
        issued.rows = (*issued.rows, add_card(owner, short_id))
    return issued


def find_owner(request: CreateRequest, context: Context, rows: LoadedRows) -> Client | Refusal | NeedsMore | None:
    """Returns the client whose card is made, if it is a client's, or why it is not made."""
    if request.client_id is None:
        return None
    if str(request.currency) != HOME:
        return OTHER_CURRENCY
    return find_depositor(request.client_id, int(request.amount), context, rows)


def find_depositor(client_id: str, amount: int, context: Context, rows: LoadedRows) -> Client | Refusal | NeedsMore:
    """Returns the client of a card that gets an amount, or why it does not: they are not active, or have too much."""
    client = load_client(client_id, context, rows)
    if not isinstance(client, Client):
        return client
    beyond = refuse_inactive(client) or check_deposit(client.client_id, amount, context, rows)
    return client if beyond is None else beyond


def load_client(client_id: str, context: Context, rows: LoadedRows) -> Client | Refusal | NeedsMore:
    key = client_key(context.merchant.merchant_id, client_id)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((Client, key),)))
    return rows.get(Client, key) or UNKNOWN_CLIENT


def make_card(request: CreateRequest, context: Context, short_id: str, network: str, pan: str) -> tuple[Card, Job]:
    today, billing = lagos_day(context.now), request.billing
    reference = f"{context.terms(CardIssuingSettings).label}|GVC|{max(0, int(context.now.timestamp()))}|{short_id}"
    key = card_key(context.merchant.merchant_id, reference)
    holder = Cardholder(
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
        sealed_pan=context.seal(pan_aad(key), pan.encode()),
        expiration=add_months(today, VALIDITY_MONTHS).isoformat()[:7],
        state=ACTIVE,
        limits=encode_limits(request.limits),
        spent_on=today.isoformat(),
        spent_day=0,
        spent_month=0,
        unpaid=0,
        fee_job=b"",
        created_at=context.now,
        holder_sealed=context.seal(holder_aad(key), msgspec.json.encode(holder)),
        client_id=request.client_id or "",
    )
    first_fee = lagos_moment(add_months(today, 1), 0)
    job = make_ordered_job(context, MONTHLY_FEE_JOB, LANE, card, reference, first_fee, encode_text({"month": 1}))
    card.fee_job = job.key
    return card, job


def issue_card(
    amount: int, context: Context, funding_source: FundingSource, card: Card, pan: str, job: Job
) -> Decision:
    charge = get_issuance_fee(context.merchant, card.currency)
    funding = WalletDebit(card.account, amount, "card funding")
    posts = funding_source.debit_wallet((funding, *fee_debits(charge, card.currency, "card issuance fee")))
    lines = make_card_records(
        context,
        card,
        context.number,
        CardEntry(CARD_FUNDING_DEBIT, amount),
        CardEntry(CARD_ISSUANCE_FEE, charge.fee),
        *vat_entries(charge.vat, f"VAT on {CARD_ISSUANCE_FEE}"),
        CardEntry(CARD_FUNDING, amount),
    )
    data = show_card(card, amount, context.vault.unseal)
    shown = msgspec.structs.replace(data, cardpan=pan, cvv=derive_cvv(context, pan, card.expiration))
    return Decision(
        reply=reply_card(card, shown, "Created Successfully"),
        replay_reply=reply_card(card, data, "Created Successfully"),
        groups=(PostingGroup(card.reference, WALLET_INSUFFICIENT, postings=posts),),
        rows=(card, *lines, make_token_entry(context, PAN_ENTRY, pan, card.reference)),
        jobs=(job,),
        numbers_used=len(lines),
    )


def get_issuance_fee(merchant: Merchant, currency: str) -> FeeBreakdown:
    return calculate_flat_fees(merchant.terms(Tariff), get_card_tariff(merchant, currency).issuance)


def preview_card(
    issued: Decision[CardReply], amount: int, context: Context, source: FundingSource
) -> Decision[CardReply]:
    """Returns the dry run of a creation. The card would have another reference and number, so neither is shown."""
    data = msgspec.structs.replace(issued.replay_reply.card_data, reference="", maskedpan="")
    charge = get_issuance_fee(context.merchant, source.currency)
    figures = (
        DryRunFigure("amount", format_minor(amount), f"{source.currency}, from the wallet to the card"),
        *explain_fees(charge, source.currency, context.merchant, "issuance fee"),
        explain_wallet(issued.groups, source.currency, source.rate),
    )
    return preview_decision(issued, figures, card_data=data)


# --- fund, withdraw, terminate ------------------------------------------------------------------------------


class CardPosition(msgspec.Struct, frozen=True):
    """A card that is not terminated, with its funding source and balance."""

    card: Card
    funding_source: FundingSource
    balance: int
    held: int  # by open authorizations
    fee_job: Job | None  # the pending monthly fee


def find_card_position(reference: str, context: Context, rows: LoadedRows) -> CardPosition | Refusal | NeedsMore:
    merchant_id = context.merchant.merchant_id
    card = rows.get(Card, card_key(merchant_id, reference))
    if card is None:
        return UNKNOWN_CARD
    if card.state == TERMINATED:
        return CARD_TERMINATED
    wanted = Needs(((Job, card.fee_job),), money_accounts(card.account, card.currency))
    if not has_all_rows(wanted, merchant_id, rows):
        return NeedsMore(wanted)
    funding_source = find_funding_source(card.currency, context, rows)
    if isinstance(funding_source, Refusal):
        return funding_source
    balance, held = get_balance(card, rows), get_held(card, rows)
    return CardPosition(card, funding_source, balance, held, rows.get(Job, card.fee_job))


def need_amount(request: AmountRequest, merchant: Merchant) -> Needs:
    return Needs(((Card, card_key(merchant.merchant_id, request.reference)),))


def decide_fund(
    request: AmountRequest, context: Context, rows: LoadedRows
) -> Decision[DoneReply] | Refusal | NeedsMore:
    position = find_card_position(request.reference, context, rows)
    if not isinstance(position, CardPosition):
        return position
    card, amount = position.card, int(request.amount)
    if request.currency not in (None, card.currency):
        return refuse_fields(FieldError("currency", other_currency(card)))
    if card.state == BLOCKED:
        return CARD_BLOCKED
    if card.is_expired(context.now):
        return CARD_EXPIRED
    fault = check_funding(context.merchant, position, amount)
    if fault is not None:
        return refuse_fields(FieldError("amount", fault))
    depositor = find_depositor(card.client_id, amount, context, rows) if card.client_id else None
    if isinstance(depositor, Refusal | NeedsMore):
        return depositor
    charge = calculate_funding_fees(context.merchant.terms(Tariff), card.currency, amount)
    funding = WalletDebit(card.account, amount, "card funding")
    posts = position.funding_source.debit_wallet((funding, *fee_debits(charge, card.currency, "card funding fee")))
    debit, credit = CardEntry(CARD_FUNDING_DEBIT, amount, charge.fee), CardEntry(CARD_FUNDING, amount, charge.fee)
    vat = vat_entries(charge.vat, "VAT on Card Funding Fee")
    lines = make_card_records(context, card, context.number, debit, *vat, credit)
    funded = Decision(
        reply=DoneReply(message="Virtual card funded successfully"),
        groups=(PostingGroup(card.reference, WALLET_INSUFFICIENT, postings=posts),),
        rows=lines,
        numbers_used=len(lines),
    )
    return preview_movement(funded, position, amount, charge, context) if request.dry_run else funded


def other_currency(card: Card) -> str:
    """Returns the error for a currency that is not the card's."""
    return f"{card.currency}, or left out: the currency of this card"


def check_funding(merchant: Merchant, position: CardPosition, amount: int) -> str | None:
    limits, most = (
        merchant.limits[position.card.currency],
        get_card_tariff(merchant, position.card.currency).max_balance,
    )
    if not limits.min_amount <= amount <= limits.max_amount:
        return f"between {format_minor(limits.min_amount)} and {format_minor(limits.max_amount)}"
    if position.balance + position.held + amount > convert_to_minor(most):
        return f"a card may hold at most {format_minor(convert_to_minor(most))}"
    return None


def decide_withdraw(
    request: AmountRequest, context: Context, rows: LoadedRows
) -> Decision[DoneReply] | Refusal | NeedsMore:
    """Moves money from a card to the wallet, also from a blocked or expired card. Contract: virtualcard#fund"""
    position = find_card_position(request.reference, context, rows)
    if not isinstance(position, CardPosition):
        return position
    card, amount = position.card, int(request.amount)
    if request.currency not in (None, card.currency):
        return refuse_fields(FieldError("currency", other_currency(card)))
    charge = calculate_flat_fees(
        context.merchant.terms(Tariff), get_card_tariff(context.merchant, card.currency).withdraw
    )
    posts = position.funding_source.credit_wallet(card.account, amount, "card withdrawal")
    vat = vat_entries(charge.vat, "VAT on Card Withdrawal Fee")
    lines = make_card_records(context, card, context.number, *vat, CardEntry(CARD_WITHDRAWAL, amount, charge.fee))
    withdrawn = Decision(
        reply=DoneReply(message="Withdrawal Successful"),
        groups=(
            PostingGroup(card.reference, CARD_INSUFFICIENT, postings=posts),
            *fee_groups(position, charge, "card withdrawal fee"),
        ),
        rows=lines,
        numbers_used=len(lines),
    )
    return preview_movement(withdrawn, position, -amount, charge, context) if request.dry_run else withdrawn


def decide_terminate(
    request: CardRequest, context: Context, rows: LoadedRows
) -> Decision[DoneReply] | Refusal | NeedsMore:
    position = find_card_position(request.reference, context, rows)
    if not isinstance(position, CardPosition):
        return position
    card, balance = position.card, position.balance
    holder = load_client(card.client_id, context, rows) if card.client_id else None
    if isinstance(holder, Refusal | NeedsMore):
        return holder
    charge = calculate_flat_fees(
        context.merchant.terms(Tariff), get_card_tariff(context.merchant, card.currency).terminate
    )
    posts = position.funding_source.credit_wallet(card.account, balance, "card termination")
    emptied = (PostingGroup(card.reference, CARD_INSUFFICIENT, postings=posts),) if posts else ()
    vat = vat_entries(charge.vat, "VAT on Card Termination Fee")
    lines = make_card_records(context, card, context.number, *vat, CardEntry(CARD_TERMINATION, balance, charge.fee))
    ended = Decision(
        reply=DoneReply(message="Card terminated successfully"),
        groups=(*emptied, *fee_groups(position, charge, "card termination fee")),
        rows=(
            msgspec.structs.replace(card, state=TERMINATED),
            *lines,
            *(() if holder is None else (remove_card(holder, card.short_id),)),
        ),
        jobs_done=() if position.fee_job is None else (position.fee_job,),
        numbers_used=len(lines),
    )
    if request.dry_run:
        return preview_movement(ended, position, -balance, charge, context, TERMINATED)
    return ended


def preview_movement(
    moved: Decision[DoneReply],
    position: CardPosition,
    amount: int,
    charge: FeeBreakdown,
    context: Context,
    state: str = "",
) -> Decision[DoneReply]:
    """Returns the dry run of a movement between wallet and card. `amount` is negative if it leaves the card; `state` is
    that of the card afterwards, if it is another one."""
    card, before = position.card, position.balance
    way = "from the wallet to the card" if amount > 0 else "from the card to the wallet"
    return preview_decision(
        moved,
        (
            DryRunFigure("amount", format_minor(abs(amount)), f"{card.currency}, {way}"),
            *explain_fees(charge, card.currency, context.merchant, "fee"),
            explain_wallet(moved.groups, card.currency, position.funding_source.rate),
            *explain_balance(before, before + amount, card.currency),
            *((explain_state(card, state),) if state else ()),
        ),
    )


def fee_groups(position: CardPosition, charge: FeeBreakdown, kind: str) -> tuple[PostingGroup, ...]:
    """Returns the fee of a withdrawal or termination, paid by the wallet that has just been credited."""
    posts = position.funding_source.debit_wallet(fee_debits(charge, position.card.currency, kind))
    return (PostingGroup(position.card.reference, WALLET_INSUFFICIENT, postings=posts),) if posts else ()
