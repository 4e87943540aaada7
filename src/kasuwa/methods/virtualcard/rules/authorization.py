"""Rules of authorizations: a shop has a card hold an amount, and captures it later, in whole, in part or above.

    (none) ── authorize ──▶ pending ── capture ──▶ successful          a purchase of its own takes the amount
                                    ── reverse, or 7 days ──▶ failed   nothing is taken

An authorization is decided as a purchase is (purchase.py), and counts for the limits of the card when it is given. The
capture is a transaction of the kind of purchases, so it is refunded as they are. Neither a reversal nor a capture of
less makes room in the limits; a capture of more counts for the day and the month, and is never declined by a limit.

Postings:

    authorize          none: the transaction holds the amount on the card
    capture            the postings of a purchase, under the reference of the capture; the hold is released
    after termination  card → wallet       what the hold leaves, as the balance of the card went to the wallet

An amount in another currency is billed at the rate of the authorization. Contract: virtualcard#authorizations
"""

from datetime import timedelta

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Event,
    FieldError,
    HeldAmount,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    PostingGroup,
    Refusal,
    make_job,
    refuse_fields,
    replace_faults,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key, movement_reference
from kasuwa.core.scenario import NO_SCENARIO, Scenario, take_call_scenario
from kasuwa.ledger.holds import find_hold
from kasuwa.methods.clients.model import Client, client_key
from kasuwa.methods.virtualcard.card_decider import encode_decision
from kasuwa.methods.virtualcard.model import (
    CARD_AUTHORIZATION,
    CARD_AUTHORIZATION_END,
    CARD_PURCHASE,
    CARD_TERMINATION,
    DECLINED,
    TERMINATED,
    Card,
    CardEntry,
    card_key,
    get_balance,
    has_all_rows,
    make_card_records,
)
from kasuwa.methods.virtualcard.rules.controls import add_spending, count_for_client, count_purchase
from kasuwa.methods.virtualcard.rules.declines import (
    CURRENCY_NOT_SUPPORTED,
    AuthorizationRequest,
    Decline,
    response_code_meanings,
)
from kasuwa.methods.virtualcard.rules.funding import CARD_INSUFFICIENT, LANE, find_funding_source, money_accounts
from kasuwa.methods.virtualcard.rules.purchase import (
    APPROVED,
    METHOD,
    PURCHASE_DETAIL_DECODER,
    RAIL,
    PurchaseCost,
    PurchaseDetail,
    begin_purchase,
    bill_purchase,
    digest_purchase,
    find_card,
    find_decline,
    judge_purchase,
    make_detail,
    need_card_rows,
    need_purchase,
    price_purchase,
    purchase_accounts,
    read_purchase,
    scripted_decline,
)
from kasuwa.methods.virtualcard.wire import (
    AuthorizeReply,
    AuthorizeRequest,
    CaptureRequest,
    PurchaseReply,
    ReverseRequest,
)
from kasuwa.rails.ports.decider import DeciderAnswer, DeciderQuestion
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.event_payloads import build_event
from kasuwa.transactions.transactions import (
    FAILED,
    PENDING,
    SUCCESSFUL,
    NewTransaction,
    Transaction,
    TransactionOutcome,
    begin_transaction,
    end_transaction,
    make_delivery_jobs,
    transaction_key,
)

KIND = "card_authorization"
REFERENCE_TYPE = "CA"
EXPIRE = "virtualcard.expire"

# Contract: virtualcard#authorizations
LIFE = timedelta(days=7)
# How much more than it authorized a shop may capture: a tip, or fuel that was drawn after the card was read.
MOST_ABOVE_PERCENT = 20
# A hold that cannot go to the wallet of a terminated card, for want of an exchange rate, is tried again.
RETRY = timedelta(days=1)

# The places of the events of an authorization.
GIVEN_PLACE, END_PLACE = 1, 2

# What became of an authorization: the message of its transaction.
CAPTURED, REVERSED, EXPIRED = "Captured", "Reversed by the shop", "Expired"
STATES = {CAPTURED: "captured", REVERSED: "reversed", EXPIRED: "expired"}

# Refusals, in order of precedence.
UNKNOWN_AUTHORIZATION = Refusal(INVALID_REQUEST, "Invalid Transaction Reference", error_code="transaction_not_found")
WAS_CAPTURED = Refusal(INVALID_REQUEST, "The authorization was captured already", error_code="authorization_captured")
WAS_REVERSED = Refusal(
    INVALID_REQUEST, "The authorization was reversed; it holds nothing any more", error_code="authorization_reversed"
)
HAS_EXPIRED = Refusal(
    INVALID_REQUEST, "The authorization has expired; it holds nothing any more", error_code="authorization_expired"
)
WAS_DECLINED = Refusal(
    INVALID_REQUEST, "The authorization was declined; it holds nothing", error_code="authorization_declined"
)
TOO_MUCH_CAPTURED = refuse_fields(
    FieldError("amount", f"at most {MOST_ABOVE_PERCENT} percent above the authorized amount", "captured_too_much")
)

ENDED = {CAPTURED: WAS_CAPTURED, REVERSED: WAS_REVERSED, EXPIRED: HAS_EXPIRED}


# --- authorize ----------------------------------------------------------------------------------------------


def authorize_hold(
    card: Card,
    request: AuthorizationRequest,
    scenario: Scenario,
    context: Context,
    rows: LoadedRows,
    answer: DeciderAnswer | None,
    key: str | None = None,
) -> tuple[Transaction, Decision] | DeciderQuestion | NeedsMore:
    """Gives or declines an authorization. Returns its transaction, and its decision without a reply, or what the
    decider must be asked first. `key` is that of the order, if a rail announced it."""
    currency = request.currency or card.currency
    wanted = need_card_rows(card, currency)
    if not has_all_rows(wanted, card.merchant_id, rows):
        return NeedsMore(wanted)
    cost = price_purchase(card, request.amount, currency, context)
    own = scripted_decline(scenario) or find_decline(card, request, cost, context, rows)
    verdict = judge_purchase(card, request, cost, own, rows, answer, is_hold=True)
    if isinstance(verdict, DeciderQuestion):
        return verdict
    detail = make_detail(card, request)
    if verdict is not None or cost is None:
        return decline_hold(
            card,
            begin_hold(card, detail, None, context, key),
            verdict or CURRENCY_NOT_SUPPORTED,
            scenario,
            context,
            answer,
        )
    held = HeldAmount(card.account, cost.amount)
    row = begin_hold(card, detail, held, context, key)
    event, deliveries = tell_given(card, row, scenario, context)
    entry = CardEntry(CARD_AUTHORIZATION, row.amount, txn_ref=row.txn_ref, decision=encode_decision(answer))
    return row, Decision(
        # find_decline checked the balance under the lock, so the account's floor never refuses here.
        groups=(PostingGroup(row.txn_ref, CARD_INSUFFICIENT, holds=held),),
        rows=(
            row,
            *make_card_records(context, card, context.number + 1, entry),
            *count_purchase(card, cost.amount, context, rows),
        ),
        jobs=(make_expiry(row, context), *deliveries),
        events=(event,),
        numbers_used=2,
    )


def begin_hold(
    card: Card, detail: PurchaseDetail, held: HeldAmount | None, context: Context, key: str | None
) -> Transaction:
    """Returns the transaction of an authorization. Without a hold, of one that is declined, its amount is what the shop
    asked for."""
    return begin_transaction(
        context,
        NewTransaction(
            kind=KIND,
            txn_ref=movement_reference(REFERENCE_TYPE, context.permutation(context.number), lagos_day(context.now)),
            amount=detail.amount if held is None else held.amount,
            currency=detail.currency if held is None else card.currency,
            order_ref=key,
            status=PENDING,
            message=response_code_meanings()[APPROVED],
            digest=digest_purchase(detail, context),
            detail=detail,
            held=held,
        ),
    )


def make_expiry(row: Transaction, context: Context) -> Job:
    return make_job(
        key=job_key(row.key),
        merchant_id=row.merchant_id,
        kind=EXPIRE,
        lane=LANE,
        reference=row.txn_ref,
        subject=row.key,
        due=context.now + LIFE,
    )


def tell_given(card: Card, row: Transaction, scenario: Scenario, context: Context) -> tuple[Event, tuple[Job, ...]]:
    """Returns the event of an authorization that was given, and the jobs that deliver it."""
    payload = {
        "status": 200,
        "txn_status": PENDING,
        "txn_ref": row.txn_ref,
        "charged_amount": "0.00",
        "payment_method": METHOD,
        "endpoint": context.merchant.environment,
        "currency": row.currency,
        "reference": card.reference,
        "amount": format_minor(row.amount),
        "state": "authorized",
    }
    # An event is found by its reference, and the end of the authorization has that of the transaction.
    encoded = msgspec.json.encode(build_event(KIND, payload))
    event = Event(f"{row.txn_ref}|authorized", KIND, encoded, row.txn_ref, GIVEN_PLACE)
    return event, make_delivery_jobs(context, row, event, scenario)


def decline_hold(
    card: Card,
    row: Transaction,
    decline: Decline,
    scenario: Scenario,
    context: Context,
    answer: DeciderAnswer | None,
) -> tuple[Transaction, Decision]:
    end = end_transaction(
        context,
        row,
        TransactionOutcome(
            status=FAILED,
            code=decline.code,
            message=decline.message,
            method=METHOD,
            scenario=scenario,
            event_fields={
                "reference": card.reference,
                "amount": format_minor(row.amount),
                "state": "declined",
                "decline_reason": decline.reason,
            },
        ),
    )
    entry = CardEntry(
        CARD_AUTHORIZATION,
        row.amount,
        status=DECLINED,
        txn_ref=row.txn_ref,
        currency=row.currency,
        decline_reason=decline.reason,
        decision=encode_decision(answer),
    )
    records = make_card_records(context, card, context.number + 1, entry)
    return end.row, Decision(rows=(end.row, *records), jobs=end.jobs, events=(end.event,), numbers_used=2)


# --- the end ------------------------------------------------------------------------------------------------


class OpenHold(msgspec.Struct, frozen=True):
    """An authorization that holds its amount, with all that its end needs."""

    row: Transaction
    detail: PurchaseDetail
    card: Card
    held: HeldAmount
    expiry: Job


def find_open_hold(reference: str, context: Context, rows: LoadedRows) -> OpenHold | Refusal | NeedsMore:
    merchant_id = context.merchant.merchant_id
    row = rows.get(Transaction, transaction_key(merchant_id, KIND, reference))
    if row is None:
        return UNKNOWN_AUTHORIZATION
    if row.is_final:
        return ENDED.get(row.message, WAS_DECLINED)
    detail = PURCHASE_DETAIL_DECODER.decode(row.detail)
    card_id, expiry_id = card_key(merchant_id, detail.card), job_key(row.key)
    wanted = Needs(((Card, card_id), (Job, expiry_id)))
    if not has_all_rows(wanted, merchant_id, rows):
        return NeedsMore(wanted)
    card, expiry, held = rows.get(Card, card_id), rows.get(Job, expiry_id), find_hold(row)
    assert card is not None
    assert expiry is not None, "an open authorization has a job that ends it"
    assert held is not None
    accounts = {*purchase_accounts(card, detail.currency), *money_accounts(card.account, card.currency)}
    client = ((Client, client_key(merchant_id, card.client_id)),) if card.client_id else ()
    wanted = Needs(client, tuple(sorted(accounts)))
    if not has_all_rows(wanted, merchant_id, rows):
        return NeedsMore(wanted)
    return OpenHold(row, detail, card, held, expiry)


def release_hold(hold: OpenHold, state: str, purchase: Transaction | None, context: Context) -> Decision:
    """Returns the end of an authorization, without what its capture and the termination of its card do."""
    fields = {
        "reference": hold.card.reference,
        "amount": format_minor(hold.held.amount),
        "state": STATES[state],
        **({} if purchase is None else {"purchase_ref": purchase.txn_ref}),
    }
    end = end_transaction(
        context,
        hold.row,
        TransactionOutcome(
            status=FAILED if purchase is None else SUCCESSFUL,
            code=None if purchase is None else APPROVED,
            message=state,
            method=METHOD,
            scenario=NO_SCENARIO,
            charged=None if purchase is None else purchase.amount,
            event_fields=fields,
        ),
    )
    event = msgspec.structs.replace(end.event, object=hold.row.txn_ref, object_seq=END_PLACE)
    return Decision(
        groups=(PostingGroup(hold.row.txn_ref, CARD_INSUFFICIENT, releases=hold.held),),
        rows=(end.row,),
        jobs=end.jobs,
        jobs_done=(hold.expiry,),
        events=(event,),
    )


def move_rest(hold: OpenHold, amount: int, context: Context, rows: LoadedRows) -> PostingGroup | Refusal | None:
    """Returns the postings of what the hold leaves of a terminated card, to the wallet. None if there are none."""
    if hold.card.state != TERMINATED or amount <= 0:
        return None
    source = find_funding_source(hold.card.currency, context, rows)
    if isinstance(source, Refusal):
        return source
    posts = source.credit_wallet(hold.card.account, amount, "card termination")
    return PostingGroup(hold.card.reference, CARD_INSUFFICIENT, postings=posts)


def add_records(decision: Decision, hold: OpenHold, context: Context, *entries: CardEntry) -> None:
    """Adds the records of an end of an authorization to its decision, after its other rows."""
    released = CardEntry(CARD_AUTHORIZATION_END, hold.held.amount, txn_ref=hold.row.txn_ref, is_further=True)
    records = make_card_records(context, hold.card, context.number + decision.numbers_used, released, *entries)
    decision.rows = (*decision.rows, *records)
    decision.numbers_used += len(records)


def give_up(hold: OpenHold, state: str, context: Context, rows: LoadedRows) -> Decision | Refusal:
    """Ends an authorization of which nothing is captured."""
    rest = move_rest(hold, hold.held.amount, context, rows)
    if isinstance(rest, Refusal):
        return rest
    decision = release_hold(hold, state, None, context)
    if rest is None:
        add_records(decision, hold, context)
        return decision
    decision.groups = (*decision.groups, rest)
    add_records(decision, hold, context, CardEntry(CARD_TERMINATION, hold.held.amount))
    return decision


def capture_hold(
    hold: OpenHold, amount: int, context: Context, rows: LoadedRows, key: str | None = None
) -> tuple[Transaction, Decision] | Refusal:
    """Captures an authorization. Returns the purchase, and the decision without a reply."""
    card, whole = hold.card, hold.detail.amount
    if amount > whole + whole * MOST_ABOVE_PERCENT // 100:
        return TOO_MUCH_CAPTURED
    billed = -(-hold.held.amount * amount // whole)  # rounded up, as a purchase is billed
    if billed - hold.held.amount > get_balance(card, rows):
        return CARD_INSUFFICIENT
    rest = move_rest(hold, hold.held.amount - billed, context, rows)
    if isinstance(rest, Refusal):
        return rest
    cost = bill_purchase(card, billed, amount, hold.detail.currency)
    detail = msgspec.structs.replace(hold.detail, amount=amount)
    purchase, decision = take_purchase(hold, detail, cost, context, key)
    decision.add(release_hold(hold, CAPTURED, purchase, context))
    # The hold is released before the purchase takes its amount.
    *taken, released = decision.groups
    decision.groups = (released, *taken, *(() if rest is None else (rest,)))
    above = billed - hold.held.amount
    if above > 0:
        spent = add_spending(card, above, context), *count_for_client(card, above, context, rows)
        decision.rows = (*decision.rows, *spent)
    entries = [CardEntry(CARD_PURCHASE, billed, txn_ref=purchase.txn_ref, order_key=key)]
    if rest is not None:
        entries.append(CardEntry(CARD_TERMINATION, hold.held.amount - billed))
    add_records(decision, hold, context, *entries)
    return purchase, decision


def take_purchase(
    hold: OpenHold, detail: PurchaseDetail, cost: PurchaseCost, context: Context, key: str | None
) -> tuple[Transaction, Decision]:
    """Returns the purchase of a capture, and its decision without records."""
    row = begin_purchase(hold.card, detail, cost, key, context, hold.row.txn_ref)
    end = end_transaction(
        context,
        row,
        TransactionOutcome(
            status=SUCCESSFUL,
            code=APPROVED,
            message=response_code_meanings()[APPROVED],
            method=METHOD,
            scenario=NO_SCENARIO,
            event_fields={"reference": hold.card.reference, "authorization_ref": hold.row.txn_ref},
        ),
    )
    return end.row, Decision(
        groups=(PostingGroup(row.txn_ref, CARD_INSUFFICIENT, postings=cost.posts),),
        rows=(end.row,),
        jobs=end.jobs,
        events=(end.event,),
        numbers_used=1,
    )


# --- the job that ends it -------------------------------------------------------------------------------------


def need_expiry(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Transaction, job.subject), (Job, job.key)))


def decide_expiry(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    row, current_job = rows.get(Transaction, job.subject), rows.get(Job, job.key)
    if current_job is None or row is None or row.is_final:
        return Decision()  # it was captured or reversed meanwhile
    if context.now < current_job.due:
        return Decision(jobs=(current_job,))  # not due yet in business time: release it unchanged
    hold = find_open_hold(row.order_ref, context, rows)
    if isinstance(hold, NeedsMore):
        return hold
    assert isinstance(hold, OpenHold), "the authorization is open"
    decision = give_up(hold, EXPIRED, context, rows)
    if isinstance(decision, Refusal):
        later = msgspec.structs.replace(current_job, due=context.now + RETRY, attempt=current_job.attempt + 1)
        return Decision(jobs=(later,))
    return decision


# --- sandbox ------------------------------------------------------------------------------------------------


def need_authorize(request: AuthorizeRequest, merchant: Merchant) -> Needs:
    return need_purchase(request, merchant)


def decide_authorize(
    request: AuthorizeRequest, context: Context, rows: LoadedRows, answer: DeciderAnswer | None = None
) -> Decision[AuthorizeReply] | Refusal | NeedsMore:
    card = find_card(request, context, rows)
    if not isinstance(card, Card):
        return card
    random_number = int.from_bytes(context.entropy[:8], "big")
    scenario, faults = take_call_scenario(context.scenario, context.injected_faults, RAIL, "authorize", random_number)
    authorized = authorize_hold(card, read_purchase(request), scenario, context, rows, answer)
    if isinstance(authorized, NeedsMore):
        return authorized
    if isinstance(authorized, DeciderQuestion):
        return Decision(question=authorized)
    row, decision = authorized
    decision.reply = reply = AuthorizeReply(txn_status=row.status, txn_ref=row.txn_ref, bank_message=row.message)  # type: ignore[arg-type]
    if row.status == FAILED:
        reply.message = f"Declined: the card's issuer says: {row.message}"
    decision.sandbox = replace_faults(faults)
    return decision


def need_hold(request: CaptureRequest | ReverseRequest, merchant: Merchant) -> Needs:
    return Needs(((Transaction, transaction_key(merchant.merchant_id, KIND, request.txn_ref)),))


def decide_capture(
    request: CaptureRequest, context: Context, rows: LoadedRows
) -> Decision[PurchaseReply] | Refusal | NeedsMore:
    hold = find_open_hold(request.txn_ref, context, rows)
    if not isinstance(hold, OpenHold):
        return hold
    amount = hold.detail.amount if request.amount is None else int(request.amount)
    captured = capture_hold(hold, amount, context, rows)
    if isinstance(captured, Refusal):
        return captured
    row, decision = captured
    decision.reply = PurchaseReply(txn_status="successful", txn_ref=row.txn_ref, bank_message=row.message)
    return decision


def decide_reverse(
    request: ReverseRequest, context: Context, rows: LoadedRows
) -> Decision[AuthorizeReply] | Refusal | NeedsMore:
    hold = find_open_hold(request.txn_ref, context, rows)
    if not isinstance(hold, OpenHold):
        return hold
    decision = give_up(hold, REVERSED, context, rows)
    if isinstance(decision, Refusal):
        return decision
    decision.reply = AuthorizeReply(txn_status="failed", txn_ref=hold.row.txn_ref, bank_message=REVERSED)
    return decision
