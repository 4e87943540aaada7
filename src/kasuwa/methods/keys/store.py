"""Reads the API keys of a merchant. Never writes; every WHERE has the merchant_id."""

from datetime import datetime
from typing import Any

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant
from kasuwa.core.reading import ReplyReader
from kasuwa.methods.keys.wire import KeyLine, KeysReply, KeysRequest

KEYS = """
    select key_id, name, scopes, addresses, created_by, created_at, expires_at, replaced_by, last_used_at,
        last_used_from, refused_at, refused_from, signs_until > now()
    from merchant_key where merchant_id = $1 and (expires_at is null or expires_at > now())
    order by key_id desc limit $2
"""
MAX_KEYS_SHOWN = 100


async def list_keys(request: KeysRequest, merchant: Merchant, reader: ReplyReader) -> KeysReply:
    rows = await reader.fetch(KEYS, merchant.merchant_id, MAX_KEYS_SHOWN)
    return KeysReply(data=[key_line(merchant.caller.key_id, *row) for row in rows])


def key_line(caller: int, key_id: int, *columns: Any) -> KeyLine:
    name, scopes, addresses, created_by, created_at, expires_at, replaced_by, *uses, signs_events = columns
    used_at, used_from, refused_at, refused_from = uses
    return KeyLine(
        key_id=key_id,
        name=name,
        scopes=scopes,
        addresses=addresses,
        made_by=created_by,
        made_at=utc_text(created_at),
        expires_at=time_or_null(expires_at),
        replaced_by=replaced_by,
        last_used_at=time_or_null(used_at),
        last_used_from=used_from or None,
        refused_at=time_or_null(refused_at),
        refused_from=refused_from or None,
        signs_events=signs_events,
        is_this=key_id == caller,
    )


def time_or_null(at: datetime | None) -> str | None:
    return None if at is None else utc_text(at)
