"""Payment links: the row, its terms, and how it is found. Checkouts are in transactions/checkouts.py.

Contract: resources#paylinks
"""

from datetime import datetime
from typing import ClassVar

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Refusal, Row
from kasuwa.core.references import row_key

# Kind of the token index entries that find a link by its slug. A slug is unique in the deployment.
LINK = "paylink"
# Kinds of links. Other slices may sell other things by a link.
PLAIN = "link"
ID_PREFIX = "PL"

ACTIVE, DISABLED = "active", "disabled"
ONE_TIME, RECURRING = "one_time", "recurring"

UNKNOWN_LINK = Refusal(INVALID_REQUEST, "Invalid Link Reference", error_code="payment_link_not_found")


class LinkDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The terms of a link (column pay_link.detail)."""

    description: str = ""
    type: str = ONE_TIME
    frequency: str = ""  # of a recurring link: daily, weekly or monthly
    payer_bears_fees: bool = False
    asks_phone: bool = False  # `accept_number`: the page asks for a telephone number
    redirect_url: str = ""
    message: str = ""  # shown after the payment
    notification_email: str = ""


LINK_DETAIL_DECODER: "msgspec.json.Decoder[LinkDetail]" = msgspec.json.Decoder(LinkDetail)


class PayLink(Row):
    """A link that anybody may open to pay. Each payer who fills in its page gets a checkout."""

    table: ClassVar[str] = "pay_link"
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "changed_at")

    link_id: str
    kind: str
    slug: str  # the last part of its URL
    title: str
    currency: str
    amount: int  # in minor units; 0 if the payer chooses it
    state: str
    detail: str  # a LinkDetail
    created_at: datetime
    changed_at: datetime

    @property
    def is_open(self) -> bool:
        return False


def link_key(merchant_id: int, link_id: str) -> bytes:
    return row_key(merchant_id, "pay link", link_id)


def link_url(public_url: str, slug: str) -> str:
    return f"{public_url}/pay/link/{slug}"
