"""Look-ups. From memory: banks and cards. From a rail: names; nothing learnt is 204, or 201."""

import msgspec

from kasuwa.core.banks import bank_names, banks_by_code, may_exist
from kasuwa.core.cards import bin_of
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.scenario import PlanCall
from kasuwa.methods.resources.wire import (
    AccountName,
    AccountNameReply,
    AccountNameRequest,
    BanksRequest,
    BvnPerson,
    BvnReply,
    BvnRequest,
    CardFacts,
    CardReply,
    CardRequest,
)
from kasuwa.rails.ports import IdentityEnquiry, NameEnquiry, NoAnswer, Rails, Unavailable, refuse_unanswered


def list_banks(request: BanksRequest, merchant: Merchant, rails: Rails) -> dict[str, str]:
    return bank_names()


def show_card(request: CardRequest, merchant: Merchant, rails: Rails) -> CardReply:
    return CardReply(data=CardFacts(**msgspec.structs.asdict(bin_of(request.card_no))))


async def ask_account_name(
    request: AccountNameRequest, merchant: Merchant, rails: Rails, plan: PlanCall
) -> AccountNameReply | Refusal:
    bank = banks_by_code()[request.bank_code]
    if not may_exist(merchant, bank, request.account_number):
        return no_such_account(f"Not an account number of {bank.name}")
    try:
        # One bank, by whichever of its codes it was called.
        enquiry = NameEnquiry(bank.nip_code or request.bank_code, request.account_number, await plan())
        answer = await rails.bank.account_name(enquiry)
    except (Unavailable, NoAnswer) as trouble:
        return refuse_unanswered("bank", trouble)
    if answer.name is None:
        return no_such_account(answer.message)
    reply = AccountNameReply(status="success", resolved=True, data=AccountName(account_name=answer.name))
    if answer.message:
        reply.message = answer.message
    return reply


def no_such_account(why: str) -> AccountNameReply:
    return AccountNameReply(status="error", resolved=False, error="Account not found", message=why)


async def ask_bvn(request: BvnRequest, merchant: Merchant, rails: Rails, plan: PlanCall) -> BvnReply | Refusal:
    try:
        person = await rails.identity.find_person(IdentityEnquiry(request.bvn, await plan()))
    except (Unavailable, NoAnswer) as trouble:
        return refuse_unanswered("BVN register", trouble)
    if person is None:
        why = "The register has no such BVN"
        return BvnReply(status="error", resolved=False, error="BVN not found", message=why)
    found = BvnPerson(
        firstname=person.firstname, lastname=person.lastname, dob=person.dob, bvn=person.bvn, phone=person.phone
    )
    reply = BvnReply(status="success", data=found)
    if person.watch_listed:
        reply.message = "This BVN is watch-listed"
    return reply
