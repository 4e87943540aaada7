"""Look-ups: banks and cards from memory, names on bank accounts and BVNs from a rail.

A rail that cannot be reached is status 204 (error). An answer that cannot be read is status 201.
"""

import msgspec

from kasuwa.core.banks import bank_names, banks_by_code, can_account_exist
from kasuwa.core.cards import find_bin
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.scenario import TakeCallScenario
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
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.orders import IdentityQuery, NameEnquiry, NoAnswer, Unavailable, refuse_unanswered


def list_banks(request: BanksRequest, merchant: Merchant, rails: Rails) -> dict[str, str]:
    return bank_names()


def show_card(request: CardRequest, merchant: Merchant, rails: Rails) -> CardReply:
    return CardReply(data=CardFacts(**msgspec.structs.asdict(find_bin(request.card_no))))


async def resolve_account_name(
    request: AccountNameRequest, merchant: Merchant, rails: Rails, take_scenario: TakeCallScenario
) -> AccountNameReply | Refusal:
    bank = banks_by_code()[request.bank_code]
    if not can_account_exist(merchant, bank, request.account_number):
        return reply_account_not_found(f"Not an account number of {bank.name}")
    try:
        rails_of_merchant = merchant.rails.get("bank", ())
        enquiry = NameEnquiry(bank, request.account_number, await take_scenario(), rails_of_merchant)
        answer = await rails.bank.find_account_name(enquiry)
    except (Unavailable, NoAnswer) as error:
        return refuse_unanswered("bank", error)
    if answer.name is None:
        return reply_account_not_found(answer.message)
    reply = AccountNameReply(status="success", resolved=True, data=AccountName(account_name=answer.name))
    if answer.message:
        reply.message = answer.message
    return reply


def reply_account_not_found(message: str) -> AccountNameReply:
    return AccountNameReply(status="error", resolved=False, error="Account not found", message=message)


async def resolve_bvn(
    request: BvnRequest, merchant: Merchant, rails: Rails, take_scenario: TakeCallScenario
) -> BvnReply | Refusal:
    try:
        query = IdentityQuery(request.bvn, await take_scenario(), merchant.rails.get("identity", ()))
        person = await rails.identity.find_person(query)
    except (Unavailable, NoAnswer) as error:
        return refuse_unanswered("BVN register", error)
    if person is None:
        message = "The register has no such BVN"
        return BvnReply(status="error", resolved=False, error="BVN not found", message=message)
    data = BvnPerson(
        firstname=person.firstname, lastname=person.lastname, dob=person.dob, bvn=person.bvn, phone=person.phone
    )
    reply = BvnReply(status="success", data=data)
    if person.is_watch_listed:
        reply.message = "This BVN is watch-listed"
    return reply
