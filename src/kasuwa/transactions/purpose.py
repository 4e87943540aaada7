"""Purposes of transactions: a payment or transfer that is made for another slice, such as a loan repayment.

Slices do not import each other. The transaction stores the purpose's name and a reference ("loan-repayment", "LN…").
methods/tables.py registers the owning slice's rules by name, and the decision that ends the transaction adds their
effects in the same commit.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kasuwa.core.decision import (
    Context,
    Effects,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
)
from kasuwa.core.vault import Unsealer
from kasuwa.transactions.sealed_payers import PayerMetadata
from kasuwa.transactions.transactions import Transaction


class TransactionPurpose(msgspec.Struct, frozen=True, omit_defaults=True):
    """The purpose of a transaction. Stored in its detail under `purpose`."""

    purpose: str  # name of the purpose, see get_purpose_rules
    reference: str  # of the loan, savings account or plan that it is for
    # Details of the payer that the merchant sent with a repayment or deposit. `meta` is a JSON object as text.
    meta: str = ""
    ip: str = ""
    fingerprint: str = ""
    beneficiary: str = ""  # whose part of split payments is paid out
    spent_by: str = ""  # the client for whose limits by tier a cash-out was counted


# Purpose of the attempts to pay a checkout, and kind of its event.
CHECKOUT = "checkout"
# Purpose of the transfers of payouts by schedule.
SCHEDULED_PAYOUT = "scheduled-payout"

# Purpose of payments into a client's personalized account that are above the limits of the client's tier.
HELD_INBOUND = "held-inbound"

# Field of replies and events that names the loan, savings account or checkout of a transaction, by purpose. Others name
# none: a payment of a plan, a payout, and money in a personalized account, whose reference is in the reply.
# Contract: loans#request, events#payload
SUBJECT_FIELDS = {
    CHECKOUT: "checkout_ref",
    "loan-disbursement": "loan_id",
    "loan-repayment": "loan_id",
    "group-disbursement": "group_loan_id",
    "savings-deposit": "savings_id",
    "savings-cashout": "savings_id",
}


def make_subject_field(purpose: TransactionPurpose | None) -> dict[str, Any]:
    """Returns the field that names the loan, loan of a group, savings account or checkout. Empty for any other."""
    if purpose is None or purpose.purpose not in SUBJECT_FIELDS:
        return {}
    return {SUBJECT_FIELDS[purpose.purpose]: purpose.reference}


class SubjectDetail(msgspec.Struct, frozen=True):
    """Fields of any transaction's detail that name its loan or savings account, purpose and payer."""

    # Payments, transfers and cashcodes have a purpose.
    purpose: TransactionPurpose | None = None
    # Movements within the books name their loan or savings account directly.
    loan_id: str = ""
    savings_id: str = ""
    # An encrypted PayerMetadata in base64, of a movement within the books. `read_subject` fills in the fields below.
    payer_sealed: str = ""
    meta: str = ""
    ip: str = ""
    fingerprint: str = ""


PAYER_METADATA_DECODER: "msgspec.json.Decoder[PayerMetadata]" = msgspec.json.Decoder(PayerMetadata)
# Kinds of movements that have one.
MOVEMENTS_WITH_PAYER = ("deposit", "repayment")
# Field of a transaction's detail that has a ciphertext.
PAYER_FIELD = "payer_sealed"


SUBJECT_DETAIL_DECODER: "msgspec.json.Decoder[SubjectDetail]" = msgspec.json.Decoder(SubjectDetail)


def subject_in(detail: str) -> dict[str, Any]:
    """Like `make_subject_field`, from the detail of any transaction."""
    decoded = SUBJECT_DETAIL_DECODER.decode(detail)
    direct = {"loan_id": decoded.loan_id, "savings_id": decoded.savings_id}
    return make_subject_field(decoded.purpose) or {name: reference for name, reference in direct.items() if reference}


def payer_aad(txn_ref: str) -> str:
    return f"transaction.detail.payer_sealed {txn_ref}"


def seal_payer_field(context: Context, txn_ref: str, payer: Mapping[str, str]) -> dict[str, str]:
    """Returns the field of a movement's detail that has what is known of the payer. Empty if nothing is."""
    if not payer:
        return {}
    return {PAYER_FIELD: b64encode(context.seal(payer_aad(txn_ref), msgspec.json.encode(payer))).decode()}


def read_subject(merchant_id: int, txn_ref: str, detail: str, unseal: Unsealer) -> SubjectDetail:
    """Returns the fields of a transaction's detail, with those of the payer decrypted."""
    decoded = SUBJECT_DETAIL_DECODER.decode(detail)
    if not decoded.payer_sealed:
        return decoded
    plain = unseal(merchant_id, payer_aad(txn_ref), b64decode(decoded.payer_sealed))
    return msgspec.structs.replace(decoded, **msgspec.structs.asdict(PAYER_METADATA_DECODER.decode(plain)))


def device_in(detail: str) -> dict[str, str]:
    """Returns the payer's IP address and device fingerprint, as far as a detail has them in clear."""
    return subject_device(SUBJECT_DETAIL_DECODER.decode(detail))


def subject_device(decoded: SubjectDetail) -> dict[str, str]:
    purpose = decoded.purpose or TransactionPurpose("", "")
    device = {"ip": decoded.ip or purpose.ip, "fingerprint": decoded.fingerprint or purpose.fingerprint}
    return {name: value for name, value in device.items() if value}


class TransactionEffects(Effects, kw_only=True):
    """Effects that are added to the decision on a transaction: those of its purpose, or of its settlement. Their groups
    are applied after the transaction's own. The decision itself applies the fields below; `add` does not."""

    reply: Any = None  # replaces the transaction's own reply
    posts: tuple[Posting, ...] = ()  # put into the transaction's own group
    surplus: int = 0  # part of a payment that the purpose does not use: in the wallet, and can be refunded


class TakenMoney(msgspec.Struct, frozen=True):
    """Money of a successful payment that a dispute or its rail took back, or gave back if the amount is below zero."""

    txn_ref: str  # of the payment
    reference: str  # of what it was made for
    amount: int
    reason: str  # in words: what took it


class TakenEffects(Effects, kw_only=True):
    """Effects that a purpose adds to the decision that takes money of its payment back. The decision itself applies the
    field below; `add` does not."""

    surplus: int | None = None  # the part of the payment that can be refunded from now on; None if that is as before


class PurposeRules(msgspec.Struct, frozen=True):
    """The rules of the slice that owns a purpose, called when its transaction changes state."""

    name: str
    # needs(merchant, reference): the rows that the rules must see.
    needs: Callable[[Merchant, str], Needs]
    # on_answer(row, reference, context, rows): called on each rail answer. While the row is not final, it may return a
    # reply and no other effect.
    on_answer: Callable[[Transaction, str, Context, LoadedRows], TransactionEffects | NeedsMore]
    # destination_account(reference, currency): receives the full payment in place of the wallet. The wallet still pays
    # the fee.
    destination_account: Callable[[str, str], str] | None = None
    # final_reply(row, reference, context, rows): the reply to a request that still waits for a transaction which a
    # callback has ended. It has no effects: they were applied with the callback.
    final_reply: Callable[[Transaction, str, Context, LoadedRows], Any] | None = None
    # on_refund(reference, amount, context, rows): called when part of a payment's surplus was refunded. None forbids
    # refunds of such payments.
    on_refund: Callable[[str, int, Context, LoadedRows], TransactionEffects | NeedsMore] | None = None
    # on_taken(taken, context, rows): called when a dispute or a rail took money of a payment back, or gave it back.
    on_taken: Callable[[TakenMoney, Context, LoadedRows], TakenEffects | NeedsMore] | None = None


class Purposes(msgspec.Struct, frozen=True):
    """The rules of all purposes by name, among the terms of the deployment."""

    rules: Mapping[str, PurposeRules] = {}


def get_purpose_rules(purpose: TransactionPurpose, context: Context) -> PurposeRules:
    """Returns the rules of a purpose. Raises KeyError if the deployment has none of that name."""
    return context.terms(Purposes).rules[purpose.purpose]


def effects_of_purpose(
    row: Transaction, purpose: TransactionPurpose | None, context: Context, rows: LoadedRows
) -> TransactionEffects | NeedsMore:
    """Returns what a transaction's purpose adds to the decision, or NeedsMore."""
    if purpose is None:
        return TransactionEffects()
    rules = get_purpose_rules(purpose, context)
    missing = missing_needs(rules, purpose, context, rows)
    return missing or rules.on_answer(row, purpose.reference, context, rows)


def reply_of_purpose(row: Transaction, purpose: TransactionPurpose | None, context: Context, rows: LoadedRows) -> Any:
    """Returns the purpose's reply for a final transaction, None if it has none, or NeedsMore."""
    if purpose is None:
        return None
    rules = get_purpose_rules(purpose, context)
    if rules.final_reply is None:
        return None
    missing = missing_needs(rules, purpose, context, rows)
    return missing or rules.final_reply(row, purpose.reference, context, rows)


def missing_needs(
    rules: PurposeRules, purpose: TransactionPurpose, context: Context, rows: LoadedRows
) -> NeedsMore | None:
    needs = rules.needs(context.merchant, purpose.reference)
    return None if all(rows.is_loaded(key) for _, key in needs.rows) else NeedsMore(needs)
