"""Personalized accounts: one account number per reference of the merchant, to receive money on.

The same reference always returns the same account, whatever name and email come with it later. An inbound payment finds
its account through the token index: see core/inbound_accounts.py.

Contract: resources#personalized-accounts
"""

from typing import Any

from kasuwa.core.banks import Bank, banks_by_code, find_bank
from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, NeedsMore
from kasuwa.core.inbound_accounts import ACCOUNT, PERSONALIZED, PersonalizedAccountRow, free_number, personalized_key
from kasuwa.core.token_index import make_token_entry
from kasuwa.methods.resources.wire import PersonalizedAccount, PersonalizedReply, PersonalizedRequest

MAX_BANK_TEXT_LENGTH = 200


def choose_bank(merchant: Merchant, requested: Any) -> Bank:
    """Returns the requested bank if it can issue account numbers, else the merchant's inbound bank.

    Only the test environment issues numbers of any bank with a CBN code, except mobile money.

    Contract: resources#personalized-accounts
    """
    inbound_bank = banks_by_code()[merchant.inbound_bank]
    if isinstance(requested, int) and not isinstance(requested, bool):
        requested = f"{requested:03d}"
    bank = find_bank(requested) if isinstance(requested, str) and len(requested) <= MAX_BANK_TEXT_LENGTH else None
    if bank is None or bank.cbn_code is None or bank.kind == "mobile_money":
        return inbound_bank
    return bank if merchant.environment == "test" else inbound_bank


def need_personalized(request: PersonalizedRequest, merchant: Merchant) -> Needs:
    return Needs(((PersonalizedAccountRow, personalized_key(merchant.merchant_id, request.reference)),))


def decide_personalized(
    request: PersonalizedRequest, context: Context, seen: LoadedRows
) -> Decision[PersonalizedReply] | NeedsMore:
    merchant = context.merchant
    key = personalized_key(merchant.merchant_id, request.reference)
    first = seen.get(PersonalizedAccountRow, key)
    if first is not None:
        return Decision(reply=reply_personalized(first))
    bank = choose_bank(merchant, request.bank)
    assert bank.cbn_code is not None
    number = free_number(bank, context, seen)
    if isinstance(number, NeedsMore):
        return number
    row = PersonalizedAccountRow(
        key=key,
        merchant_id=merchant.merchant_id,
        reference=request.reference,
        account_number=number,
        bank_code=bank.cbn_code,
        bank_name=bank.name,
        account_name=request.name,
        email=request.email,
        bvn_sealed=None if request.bvn is None else context.seal(bvn_aad(key), request.bvn.encode()),
        created_at=context.now,
    )
    entry = make_token_entry(context, ACCOUNT, number, f"{PERSONALIZED} {request.reference}")
    return Decision(reply=reply_personalized(row), rows=(row, entry), numbers_used=1)


def bvn_aad(key: bytes) -> str:
    return f"personalized_account.bvn_sealed {key.hex()}"


def reply_personalized(row: PersonalizedAccountRow) -> PersonalizedReply:
    return PersonalizedReply(
        message="Personalized account ready",
        data=PersonalizedAccount(
            account_number=row.account_number,
            account_name=row.account_name,
            bank_name=row.bank_name,
            reference=row.reference,
        ),
    )
