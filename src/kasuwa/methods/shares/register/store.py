"""The register of members: the link to its file, and what the file says. Links are those of statements.

No writes; every WHERE names the merchant_id. Contract: investments#register
"""

from datetime import datetime

import msgspec

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.methods.clients.model import Unsealer
from kasuwa.methods.shares.model import MAX_HOLDERS, UNKNOWN_CLASS
from kasuwa.methods.shares.store import read_class, read_register
from kasuwa.methods.shares.wire import HoldingRecord, ShareClassRecord, ShareRegisterReply, ShareRegisterRequest
from kasuwa.methods.statements.links import encode_link
from kasuwa.methods.statements.model import (
    LINK_AAD,
    LINK_LIFETIME,
    LINK_OWNER,
    REGISTER_ACCOUNT,
    REGISTER_CSV,
    REGISTER_PDF,
    StatementTerms,
)

FORMATS = {"csv": REGISTER_CSV, "pdf": REGISTER_PDF}
NOW = """
    select coalesce(clock_fixed_at, now() + clock_offset_us * interval '1 microsecond')
    from merchant_state where merchant_id = $1
"""


class ShareRegister(msgspec.Struct, frozen=True):
    """The content of a register."""

    share_class: ShareClassRecord
    members: list[HoldingRecord]  # who have shares
    made_at: datetime  # in business time

    @property
    def votes(self) -> int:
        return sum(member.votes for member in self.members)


async def show_register(
    request: ShareRegisterRequest, merchant: Merchant, reader: ActionReader
) -> ShareRegisterReply | Refusal:
    merchant_id = merchant.merchant_id
    async with reader.snapshot() as snapshot:
        share_class = await read_class(request.class_id, merchant_id, snapshot)
        [now] = await snapshot.fetchrow(NOW, merchant_id)
    if share_class is None:
        return UNKNOWN_CLASS
    day, expires = lagos_day(now).isoformat(), now + LINK_LIFETIME
    terms = StatementTerms(
        merchant_id=merchant_id,
        account=REGISTER_ACCOUNT,
        id=request.class_id,
        currency="NGN",
        first_day=day,
        last_day=day,
        format=FORMATS[request.format],
        expires=int(expires.timestamp()),
        # A key that only reads sees no personal data.
        has_names=merchant.caller.has_scope("lend", only_shows=False),
    )
    token = encode_link(reader.seal(LINK_OWNER, LINK_AAD, msgspec.json.encode(terms)))
    link = f"{reader.public_url}/statements/{token}.{request.format}"
    return ShareRegisterReply(link=link, expires=utc_text(expires))


async def read_share_register(
    terms: StatementTerms, now: datetime, reader: Reader, unseal: Unsealer
) -> ShareRegister | None:
    """Returns the register that a link stands for: of those who have shares. None if the class is unknown."""
    class_id, merchant_id = terms.id, terms.merchant_id
    share_class = await read_class(class_id, merchant_id, reader)
    if share_class is None:
        return None
    members = await read_register(class_id, merchant_id, MAX_HOLDERS, reader, unseal)
    if not terms.has_names:
        members = [msgspec.structs.replace(member, name=msgspec.UNSET) for member in members]
    return ShareRegister(share_class, [member for member in members if member.shares], now)
