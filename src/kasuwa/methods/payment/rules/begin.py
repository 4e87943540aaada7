"""The begin of a payment, for every method: its rows, and the job that sends it to its rail.

Rules build a PaymentOrder from their request. From there on methods differ only in data.
"""

from datetime import datetime

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Decision, Job, Merchant, PostingGroup, Row, make_job, replace_faults
from kasuwa.core.references import job_key, payment_reference
from kasuwa.core.scenario import take_call_scenario
from kasuwa.core.token_index import make_page_entry, make_token_entry
from kasuwa.ledger import chart
from kasuwa.ledger.holds import find_hold
from kasuwa.methods.payment.model import (
    CARD_SUMMARY_DECODER,
    CHARGING,
    KIND,
    OPEN,
    OPENING,
    PAGE,
    PAYER_TIMEOUT,
    PENDING_MESSAGE,
    RAIL_ROUTES,
    WALLET_INSUFFICIENT,
    Payment,
    PaymentDetail,
    PaymentFacts,
    PaymentJobData,
    SavedCard,
    SealedCardData,
    payment_key,
    sealed_card_aad,
)
from kasuwa.methods.payment.payer_model import seal_detail, seal_job_payer
from kasuwa.methods.payment.rules.vendor_choice import choose_vendor
from kasuwa.methods.payment.wire_reply import PaymentReply
from kasuwa.rails.ports.orders import CardSecrets
from kasuwa.rails.sandbox.magic import DEFAULT_OUTCOME, SandboxOutcome, outcome_of_card
from kasuwa.terms.issuing import CardIssuingSettings
from kasuwa.transactions.inbound_accounts import ACCOUNT, PAYMENT
from kasuwa.transactions.payers import make_mark, mark_payment
from kasuwa.transactions.pricing import Price
from kasuwa.transactions.purpose import get_purpose_rules, make_subject_field
from kasuwa.transactions.sealed_payers import PayerData
from kasuwa.transactions.transactions import PENDING, Transaction, begin_trail, encode_text, transaction_key
from kasuwa.wire.people import identify_customer

# Hexadecimal digits of a page token: 192 bits.
PAGE_TOKEN_DIGITS = 48


class PaymentOrder(msgspec.Struct, frozen=True):
    """A validated payment that is ready to begin."""

    method: str
    currency: str
    price: Price
    detail: PaymentDetail
    customer_txnref: str = ""
    # The card as entered by the payer. Held in memory only.
    card_secrets: CardSecrets | None = None
    # The saved card to charge, for method token, and its encrypted data in base64, copied into the job.
    saved_card: SavedCard | None = None
    sealed_card: str = ""
    attempt: int = 1  # of a plan's charge for its due date
    is_hosted: bool = False  # the payer enters the card on the vendor's page
    rows: tuple[Row, ...] = ()  # further rows to write with the payment

    def __repr__(self) -> str:
        return f"PaymentOrder({self.method})"


def begin_payment(order: PaymentOrder, context: Context, kind: str, number: int | None = None) -> Decision:
    """Creates the rows of a payment and the job that sends it to its rail.

    `kind` is the job's kind: OPEN or CHARGE. `number` is the number of the new reference, by default the context's.
    """
    number = context.number if number is None else number
    order = msgspec.structs.replace(
        order, detail=msgspec.structs.replace(order.detail, vendor=find_vendor(order, context))
    )
    row = make_transaction(order, number, context)
    random_number = int.from_bytes(context.entropy[:8], "big") + number
    operation = "initiate" if kind == OPEN else "charge"
    scenario, faults = take_call_scenario(
        context.scenario, context.injected_faults, RAIL_ROUTES[order.method].fault_rail, operation, random_number
    )
    payment = make_payment(order, row, kind, context)
    rail_payer = PayerData(
        order.detail.fullname,
        order.detail.email,
        payer=order.detail.payer,
        payer_account=order.detail.payer_account,
    )
    work = PaymentJobData(
        sent_at=context.now.timestamp(),
        method=order.method,
        amount=order.price.charged,
        currency=order.currency,
        last_step=kind,
        sealed_payer=seal_job_payer(rail_payer, row.txn_ref, context),
        provider=order.detail.provider,
        network=order.detail.network,
        attempt=order.attempt,
        token="" if order.saved_card is None else order.saved_card.token,
        sealed_card=order.sealed_card,
        merchant_name=context.merchant.name,
        vendor=order.detail.vendor,
        return_url=make_return_url(order.detail, context),
        expires_at=payment.expires_at.timestamp() if order.detail.vendor else 0,
        is_hosted=order.is_hosted,
        is_own_card=order.card_secrets is not None
        and context.terms(CardIssuingSettings).is_own_number(order.card_secrets.number),
        test_outcomes=read_card_test_outcomes(order.card_secrets, context.merchant),
        scenario=scenario,
    )
    job = payment_job(row, order.method, kind, context.now, work)
    return Decision(
        reply=PaymentReply(
            txn_ref=row.txn_ref,
            txn_status="pending",
            message=PENDING_MESSAGE,
            **make_subject_field(order.detail.purpose),
        ),
        groups=hold_fee(row),
        rows=(row, payment, *order.rows, *make_token_entries(order.detail, row.txn_ref, context)),
        jobs=(job,),
        numbers_used=1,
        follow_up=job,
        secrets=order.card_secrets,
        sandbox=replace_faults(faults),
    )


def find_vendor(order: PaymentOrder, context: Context) -> str:
    """Returns the vendor that a payment is sent to, or "" for a rail that is no vendor's.

    A saved card is charged where it was saved. A card number is taken only if the deployment's own rail takes it.
    """
    if order.saved_card is not None:
        return CARD_SUMMARY_DECODER.decode(order.saved_card.detail).vendor
    if order.card_secrets is not None:
        return ""
    return choose_vendor(order.method, order.detail.provider, order.currency, order.price.charged, context)


def find_vendor_account(order: PaymentOrder, context: Context) -> str:
    """Returns our account with the vendor of a payment. A saved card is known to the account it was saved with."""
    card_account = (
        "" if order.saved_card is None else CARD_SUMMARY_DECODER.decode(order.saved_card.detail).vendor_account
    )
    return context.find_rail_account(order.detail.vendor, card_account)


def make_return_url(detail: PaymentDetail, context: Context) -> str:
    """Returns the page to which a vendor sends the payer back: our own if the payment has one, else the merchant's."""
    if not detail.vendor:
        return ""
    return f"{context.public_url}/pay/{detail.page_token}" if detail.page_token else detail.redirect_url


def make_page_token(context: Context) -> str:
    """Returns a new unguessable token for the URL of a hosted page."""
    return context.draw_page_token("page")[:PAGE_TOKEN_DIGITS]


def read_card_test_outcomes(card: CardSecrets | None, merchant: Merchant) -> SandboxOutcome:
    """Returns the outcomes that a magic test card selects, the default ones in the live environment."""
    if card is None or merchant.environment != "test":
        return DEFAULT_OUTCOME
    return outcome_of_card(card.number, card.cvv, card.pin)


def make_token_entries(detail: PaymentDetail, txn_ref: str, context: Context) -> tuple[Row, ...]:
    """Returns the token index entries by which a payment is found: of its hosted page and of its account number."""
    page = (make_page_entry(context, PAGE, detail.page_token, txn_ref),) if detail.page_token else ()
    account = (
        (make_token_entry(context, ACCOUNT, detail.inbound_account_number, f"{PAYMENT} {txn_ref}"),)
        if detail.inbound_account_number
        else ()
    )
    return (*page, *account)


def make_transaction(order: PaymentOrder, number: int, context: Context) -> Transaction:
    merchant_id = context.merchant.merchant_id
    txn_ref = payment_reference(context.permutation(number), lagos_day(context.now))
    held = calculate_held_fees(order, context)
    return Transaction(
        key=transaction_key(merchant_id, KIND, txn_ref),
        merchant_id=merchant_id,
        kind=KIND,
        txn_ref=txn_ref,
        order_ref=order.customer_txnref,
        batch_ref=None,
        currency=order.currency,
        amount=order.price.amount,
        fee=order.price.fee,
        vat=order.price.vat,
        duty=0,
        status=PENDING,
        code=None,
        message=PENDING_MESSAGE,
        digest=b"",
        detail=mark_payment(
            context.digest,
            merchant_id,
            identify_customer(order.detail.email, order.detail.phone),
            make_mark(order.method, order.detail.vendor, order.price.charged),
        ),
        trail=begin_trail(context.now, "requested", order.method),
        created_at=context.now,
        final_at=None,
        rail=order.detail.vendor,
        rail_account=find_vendor_account(order, context),
        held=held,
        held_on=chart.wallet(order.currency) if held else "",
    )


def make_payment(order: PaymentOrder, row: Transaction, kind: str, context: Context) -> Payment:
    sealed = None
    if order.card_secrets is not None:
        card = SealedCardData(
            order.card_secrets.number, order.card_secrets.expiry_month, order.card_secrets.expiry_year
        )
        sealed = context.seal(sealed_card_aad(row.txn_ref), msgspec.json.encode(card))
    detail, payer_sealed = seal_detail(order.detail, row.txn_ref, context)
    return Payment(
        key=payment_key(row.merchant_id, row.txn_ref),
        merchant_id=row.merchant_id,
        txn_ref=row.txn_ref,
        method=order.method,
        charged=order.price.charged,
        settled=order.price.settled,
        expires_at=context.now + PAYER_TIMEOUT,
        detail=detail,
        stage=OPENING if kind == OPEN else CHARGING,
        auth="",
        session="",
        tries=0,
        sealed_card=sealed,
        token=None if order.saved_card is None else order.saved_card.token,
        received=0,
        refunded=0,
        refunding=0,
        refunds=0,
        facts=encode_text(PaymentFacts()),
        payer_sealed=payer_sealed,
    )


def payment_job(row: Transaction, method: str, kind: str, due: datetime, work: PaymentJobData) -> Job:
    return make_job(
        key=job_key(row.key),
        merchant_id=row.merchant_id,
        kind=kind,
        lane=RAIL_ROUTES[method].rail,
        reference=row.txn_ref,
        subject=row.key,
        due=due,
        work=encode_text(work),
        rail=row.rail,
        rail_account=row.rail_account,
    )


def calculate_held_fees(order: PaymentOrder, context: Context) -> int:
    """Returns the fee and VAT that are held on the wallet: all if the payment's money goes in full to its purpose's
    account. Other payments pay the fee out of the money collected."""
    purpose = order.detail.purpose
    if purpose is None or get_purpose_rules(purpose, context).destination_account is None:
        return 0
    return order.price.fee + order.price.vat


def hold_fee(row: Transaction) -> tuple[PostingGroup, ...]:
    held = find_hold(row)
    return () if held is None else (PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, holds=held),)


def requeue_for_rail(job: Job, kind: str, work: PaymentJobData, context: Context) -> Job:
    """Returns the payment's job, due now, to take this step at the rail. The requesting process runs it."""
    work = msgspec.structs.replace(work, last_step=kind)
    return msgspec.structs.replace(job, kind=kind, due=context.now, attempt=0, work=encode_text(work))
