"""Certificates of fixed deposits: the links to a certificate and to what proves it, and what both say.

A certificate shows the deposit as it is when it is opened. Its QR code leads to the proof: the newest posting of the
deposit, which left the balance that the certificate shows, and the signed close of the books that has it. The whole
proof of that posting (`inquire: proof`) also shows what was posted next to it, so only the merchant gives it out.

No writes; every WHERE names the merchant_id. Contract: investments#certificate
"""

from datetime import datetime

import msgspec

from kasuwa.core.calendar import add_months, lagos_day, lagos_moment, utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.methods.clients.model import PAYEE_DETAIL_DECODER, Unsealer, detail_aad, format_full_name
from kasuwa.methods.investments.model import CLOSED, PENDING, UNKNOWN_SAVINGS, Savings, state_on
from kasuwa.methods.investments.rules.fixed_deposit import NOT_FIXED
from kasuwa.methods.investments.store import read_last_posting, read_savings, savings_line
from kasuwa.methods.investments.wire import CertificateReply, CertificateRequest, SavingsRecord
from kasuwa.methods.statements.links import encode_link
from kasuwa.methods.statements.model import (
    CERTIFICATE,
    CERTIFICATE_PROOF,
    LINK_AAD,
    LINK_LIFETIME,
    LINK_OWNER,
    StatementTerms,
)

# Months for which the proof of a certificate works after the end of the running term.
PROOF_MONTHS = 12

HOLDS_NOTHING = Refusal(
    INVALID_REQUEST,
    "The fixed deposit is {state}; a certificate shows one that holds money",
    error_code="fixed_deposit_holds_nothing",
)

HOLDER = "select detail_sealed from client where merchant_id = $1 and client_id = $2"
CLOSE = """
    select c.number, c.closed_at, c.root, c.public_key, c.signature
    from book_close_head h join book_close c on c.number = h.close_number
    where h.merchant_id = $1 and h.posting_seq >= $2 order by h.close_number limit 1
"""


class LastPosting(msgspec.Struct, frozen=True):
    """The newest posting of a deposit."""

    number: int
    at: datetime
    reference: str
    balance: int  # that it left


class Close(msgspec.Struct, frozen=True):
    """The first signed close of the books that has a posting."""

    number: int
    closed_at: datetime
    root: bytes
    public_key: bytes
    signature: bytes


class Certificate(msgspec.Struct, frozen=True):
    """The content of a certificate."""

    record: SavingsRecord
    holder: str  # the client's name; empty if it was erased
    posting: LastPosting
    close: Close | None  # None until the next close


# --- links --------------------------------------------------------------------------------------------------


async def show_certificate(
    request: CertificateRequest, merchant: Merchant, reader: ActionReader
) -> CertificateReply | Refusal:
    merchant_id = merchant.merchant_id
    async with reader.snapshot() as snapshot:
        row = await read_savings(request.savings_id, merchant_id, snapshot)
    if row is None:
        return UNKNOWN_SAVINGS
    *columns, _posted, _held, _plans, _plans_total, now = row
    savings = Savings(*columns)
    if not savings.is_fixed:
        return NOT_FIXED
    state = state_on(savings, lagos_day(now))
    if state in (PENDING, CLOSED):
        return HOLDS_NOTHING.fill(state=state)
    proof_ends = lagos_moment(add_months(max(savings.matures_on, lagos_day(now)), PROOF_MONTHS), 0)
    proof = seal_link(savings, CERTIFICATE_PROOF, now, proof_ends, reader)
    token = seal_link(savings, CERTIFICATE, now, now + LINK_LIFETIME, reader, proof)
    return CertificateReply(
        link=f"{reader.public_url}/statements/{token}.pdf",
        expires=utc_text(now + LINK_LIFETIME),
        proof_link=f"{reader.public_url}/statements/{proof}.json",
        proof_expires=utc_text(proof_ends),
    )


def seal_link(
    savings: Savings, format_name: str, now: datetime, expires: datetime, reader: ActionReader, proof: str = ""
) -> str:
    """Returns the token of a link: what it shows, encrypted."""
    day = lagos_day(now).isoformat()
    terms = StatementTerms(
        merchant_id=savings.merchant_id,
        account="savings",
        id=savings.savings_id,
        currency="NGN",
        first_day=day,
        last_day=day,
        format=format_name,
        expires=int(expires.timestamp()),
        proof=proof,
    )
    return encode_link(reader.seal(LINK_OWNER, LINK_AAD, msgspec.json.encode(terms)))


# --- what they show -----------------------------------------------------------------------------------------


async def read_certificate(savings_id: str, merchant_id: int, reader: Reader, unseal: Unsealer) -> Certificate | None:
    """Returns the certificate of a fixed deposit, or None if no money was ever in it."""
    row = await read_savings(savings_id, merchant_id, reader)
    posting = await read_last_posting(savings_id, merchant_id, reader)
    if row is None or posting is None:
        return None
    record, last = savings_line(row), LastPosting(*posting)
    sealed = await reader.fetchrow(HOLDER, merchant_id, record.client_id)
    close = await reader.fetchrow(CLOSE, merchant_id, last.number)
    detail = b"{}"
    if sealed is not None and sealed[0] is not None:
        detail = unseal(merchant_id, detail_aad(record.client_id), sealed[0])
    holder = format_full_name(PAYEE_DETAIL_DECODER.decode(detail))
    return Certificate(record, holder, last, None if close is None else Close(*close))
