"""The operator's search over all merchants by references, names, numbers and amounts, over people who sign in and over
proposals, and the page of a find."""

from urllib.parse import quote

from starlette.responses import Response

from kasuwa.authority.approvals import Approval, find_approvals
from kasuwa.authority.roles import CAN_MANAGE_USERS
from kasuwa.console.kit.people import SHORTEST_NAME, parse_amount, parse_invoice_number, question_amount
from kasuwa.console.kit.timelines import page_timeline
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant import store
from kasuwa.console.operator import reads
from kasuwa.console.operator.approvals import APPROVAL_TITLES
from kasuwa.console.operator.merchants import find_merchant_in_path
from kasuwa.console.operator.search_reads import (
    MAX_FOUND,
    FoundReference,
    find_account_number,
    find_by_words,
    find_event,
    find_everywhere,
    find_invoices,
    list_merchant_ids,
    read_names,
)
from kasuwa.core.reading import Reader
from kasuwa.core.references import parse_compact_reference, parse_wire_reference, read_rail_key
from kasuwa.people.users import ConsoleUser, find_users
from kasuwa.wire.search_words import question_words

MAX_SEARCH_LENGTH = 200
SHOWN_MERCHANTS = SHOWN_PEOPLE = SHOWN_APPROVALS = 10


async def show_search(visit: Visit) -> Response:
    text = visit.query.get("q", "").strip()[:MAX_SEARCH_LENGTH]
    references: list[FoundReference] = []
    people: list[ConsoleUser] = []
    proposals: list[Approval] = []
    async with visit.snapshot() as reader:
        merchants = await reads.list_merchants(reader, store.MAX_SEQ, text, SHOWN_MERCHANTS) if text else []
        if text:
            references = await find_references(reader, visit, text)
        if len(text) >= SHORTEST_NAME:
            people = await find_users(reader, text, SHOWN_PEOPLE)
            proposals = await find_approvals(reader, text.split(), parse_amount(text), SHOWN_APPROVALS)
        names = await read_names(reader, {one.merchant_id for one in references})
    lines = [(one, *names[one.merchant_id]) for one in references if one.merchant_id in names]
    if len(lines) == 1 and not (merchants or people or proposals):
        [(one, mid, _)] = lines
        return visit.redirect(record_url(mid, one.reference))
    return visit.render(
        "operator_search.html",
        search=text,
        merchants=merchants,
        people=people,
        sees_team=visit.user.role in CAN_MANAGE_USERS,
        proposals=proposals,
        titles=APPROVAL_TITLES,
        lines=[(one, mid, name, record_url(mid, one.reference)) for one, mid, name in lines[:MAX_FOUND]],
        is_limited=len(lines) >= MAX_FOUND,
    )


def record_url(mid: str, reference: str) -> str:
    return f"/operator/merchants/{mid}/records/{quote(reference, safe='')}"


async def find_references(reader: Reader, visit: Visit, text: str) -> list[FoundReference]:
    """Returns what a text may stand for: an order at a rail, an event, an account number, any reference, the number of
    an invoice, words of a name or title, last digits, an email address, or an amount."""
    rail_key = parse_wire_reference(text.lower()) or parse_compact_reference(text.lower())
    if rail_key is not None:
        merchant_id, reference = read_rail_key(rail_key)
        return await find_everywhere(reader, [merchant_id], reference)
    merchants = await list_merchant_ids(reader)
    if text.startswith("evt_"):
        event = await find_event(reader, merchants, text)
        return [] if event is None else [event]
    references = await find_everywhere(reader, merchants, text)
    invoice = parse_invoice_number(text)
    if invoice is not None:
        return [*references, *await find_invoices(reader, merchants, invoice)]
    if len(text) == 10 and text.isascii() and text.isdecimal():
        owner = await find_account_number(reader, visit.services.vault, text)
        references += [] if owner is None else [owner]
    known = set(references)
    others = await find_by_words(reader, visit.services.vault, merchants, question_words(text), question_amount(text))
    return [*references, *(one for one in others if one not in known)]


async def show_record(visit: Visit) -> Response:
    """Shows anything of a merchant that has a reference, as the API describes it, with its postings."""
    reference = visit.path_parameter("reference")
    async with visit.snapshot() as reader:
        summary = await find_merchant_in_path(visit, reader)
        merchant = await visit.services.merchant_directory.get_by_id(summary.merchant_id)
        fields = {"inquire": "transaction", "reference": reference}
        reply = await visit.services.run_action(merchant, "resources", fields, within=visit.open_snapshot)
        if reply.get("status") != 200:
            raise NotFound
        record = reply["data"]
        row = await store.find_transaction(reader, merchant, record["reference"])
        postings = await store.list_postings(reader, merchant, record["reference"])
        timeline = (
            [{"at": line["at"], "what": line["step"], "said": line["message"]} for line in record["timeline"]]
            if row is None
            else await visit.services.read_timeline(reader, row)
        )
    return visit.render(
        "operator_record.html",
        summary=summary,
        record=record,
        row=row,
        postings=postings,
        **page_timeline(visit, timeline),
    )
