"""What money is moved for, where that is more than the wallet's: a repayment, a deposit, a disbursement.

Slices do not import each other. A payment or a transfer made for another slice carries a purpose: a name and a
reference ("loan", "LN…"). app.py hands the owners' rules over by name, and the decision that ends the payment or
transfer adds what the purpose's rule answers, in the same group and the same commit.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from kasuwa.core.decision import (
    Context,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Posting,
    PostingGroup,
    Row,
)
from kasuwa.core.transactions import Transaction


class TransactionPurpose(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a transaction is for: kept in its detail."""

    purpose: str
    reference: str
    # What the merchant told of the payer with a repayment or a deposit; `meta` is a JSON object as text.
    meta: str = ""
    ip: str = ""
    fingerprint: str = ""


# The field of replies and events that names what a transaction belongs to, by its purpose.
# Contract: loans#request, events#payload
SUBJECT_FIELDS = {
    "loan-disbursement": "loan_id",
    "loan-repayment": "loan_id",
    "savings-deposit": "savings_id",
    "savings-cashout": "savings_id",
}


def subject_of(errand: TransactionPurpose | None) -> dict[str, Any]:
    """The loan or savings that a transaction belongs to, by the name of its field; empty for any other."""
    if errand is None or errand.purpose not in SUBJECT_FIELDS:
        return {}
    return {SUBJECT_FIELDS[errand.purpose]: errand.reference}


class SubjectDetail(msgspec.Struct, frozen=True):
    """What the detail of any transaction says about what it belongs to: the movements within the books name it plainly,
    payments, transfers and cashcodes by their errand. `ip` and `fingerprint` are the payer's."""

    purpose: TransactionPurpose | None = msgspec.field(default=None, name="errand")
    loan_id: str = ""
    savings_id: str = ""
    meta: str = ""
    ip: str = ""
    fingerprint: str = ""


SUBJECT_DETAIL_DECODER: "msgspec.json.Decoder[SubjectDetail]" = msgspec.json.Decoder(SubjectDetail)


def subject_in(detail: str) -> dict[str, Any]:
    """As `subject_of`, from the detail of any transaction."""
    said = SUBJECT_DETAIL_DECODER.decode(detail)
    plain = {"loan_id": said.loan_id, "savings_id": said.savings_id}
    return subject_of(said.purpose) or {name: reference for name, reference in plain.items() if reference}


def payer_in(detail: str) -> dict[str, str]:
    """The address and the device of the payer, as far as the detail of a payment or a movement has them."""
    said = SUBJECT_DETAIL_DECODER.decode(detail)
    errand = said.purpose or TransactionPurpose("", "")
    found = {"ip": said.ip or errand.ip, "fingerprint": said.fingerprint or errand.fingerprint}
    return {name: value for name, value in found.items() if value}


class PurposeEffects(msgspec.Struct, frozen=True):
    """What a purpose adds to the decision on its transaction."""

    reply: Any = None  # for whoever waits, where that is not the transaction's own reply
    posts: tuple[Posting, ...] = ()  # in the transaction's own group
    groups: tuple[PostingGroup, ...] = ()  # after that group, under references of their own
    surplus: int = 0  # how much of a payment its purpose has no use for: it can be refunded
    rows: tuple[Row, ...] = ()
    jobs: tuple[Job, ...] = ()
    jobs_done: tuple[Job, ...] = ()
    notices: tuple[OperatorNotice, ...] = ()


NO_EFFECTS = PurposeEffects()


class PurposeRules(msgspec.Struct, frozen=True):
    """`needs(merchant, reference)` are the rows its rule must see; `end(row, reference, context, seen)` is asked each
    time the rail has answered, and may ask for `More`. While the row is not final it adds its reply and nothing else;
    once the row is successful or failed, all that follows from it. `account(reference, currency)` is where a payment's
    money goes, whole, where that is not the wallet; the fee is the wallet's all the same. `tell(row, reference,
    context, seen)` is the reply to whoever still waits for a transaction that a call-back has ended meanwhile: nothing
    follows from it twice. `end_refund(reference, amount, context, seen)` is asked when some of a payment's surplus
    has been refunded; without it nothing of such a payment can be."""

    name: str
    needs: Callable[[Merchant, str], Needs]
    on_answer: Callable[[Transaction, str, Context, LoadedRows], PurposeEffects | NeedsMore]
    destination_account: Callable[[str, str], str] | None = None
    final_reply: Callable[[Transaction, str, Context, LoadedRows], Any] | None = None
    on_refund: Callable[[str, int, Context, LoadedRows], PurposeEffects | NeedsMore] | None = None


def effects_of_purpose(
    row: Transaction, errand: TransactionPurpose | None, context: Context, seen: LoadedRows
) -> PurposeEffects | NeedsMore:
    """What a transaction's purpose adds to what was decided of it."""
    if errand is None:
        return NO_EFFECTS
    purpose: PurposeRules = context.purposes[errand.purpose]
    unseen = unseen_needs(purpose, errand, context, seen)
    return unseen or purpose.on_answer(row, errand.reference, context, seen)


def reply_of_purpose(row: Transaction, errand: TransactionPurpose | None, context: Context, seen: LoadedRows) -> Any:
    """What a purpose tells of a transaction that is over: its reply, None where it has none of its own, or `More`."""
    if errand is None:
        return None
    purpose: PurposeRules = context.purposes[errand.purpose]
    if purpose.final_reply is None:
        return None
    unseen = unseen_needs(purpose, errand, context, seen)
    return unseen or purpose.final_reply(row, errand.reference, context, seen)


def unseen_needs(
    purpose: PurposeRules, errand: TransactionPurpose, context: Context, seen: LoadedRows
) -> NeedsMore | None:
    needs = purpose.needs(context.merchant, errand.reference)
    return None if all(seen.is_loaded(key) for _, key in needs.rows) else NeedsMore(needs)
