"""Keys and signing secrets that operators make for a merchant: by command, in live after two people approved it."""

from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

from kasuwa.core.callers import KeyScope
from kasuwa.core.vault import Vault
from kasuwa.merchants import keys, merchants
from kasuwa.merchants.keys import NewKey, Roller
from kasuwa.postgres.connection_pool import Connection


class KeyChange(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A key to be made or rolled, or a signing secret to be rolled. Stored as JSON in approval.proposal."""

    change: Literal["add", "roll", "secret"]
    name: str = ""
    scopes: tuple[KeyScope, ...] = ()
    addresses: tuple[str, ...] = ()
    expires_days: int | None = None
    key_id: int = 0  # the key to be rolled; 0 for all keys of scope `all`
    overlap_hours: float = 24.0

    @property
    def description(self) -> str:
        if self.change == "add":
            return f"make a key of scope {', '.join(self.scopes)}"
        return "roll the signing secret" if self.change == "secret" else f"roll {self.rolled}"

    @property
    def rolled(self) -> str:
        return f"key {self.key_id}" if self.key_id else "the keys of scope all"


class MadeKey(msgspec.Struct, frozen=True):
    """A key or signing secret that a change made. It is shown once."""

    mid: str
    key_id: int  # 0 for a signing secret
    text: str  # the key or the secret


async def apply_key_change(
    connection: Connection, vault: Vault, mid: str, change: KeyChange, roller: Roller
) -> MadeKey:
    """Makes or rolls a key in the caller's transaction, who records it and drops the merchant from the directory after
    the commit. Raises UnknownKey and KeyRefused."""
    merchant_id, overlap = await merchants.lock_merchant(connection, mid), timedelta(hours=change.overlap_hours)
    if change.change == "secret":
        return MadeKey(mid, 0, await keys.replace_secret(connection, vault, merchant_id, overlap))
    if change.change == "roll":
        number_and_key = await keys.replace_key(connection, vault, merchant_id, overlap, change.key_id, roller)
        return MadeKey(mid, *number_and_key)
    days = change.expires_days
    new = NewKey(
        name=change.name,
        scopes=change.scopes,
        addresses=change.addresses,
        expires_at=None if days is None else datetime.now(UTC) + timedelta(days=days),
    )
    return MadeKey(mid, *await keys.create_key(connection, vault, merchant_id, roller.make(new)))


def audit_change(change: KeyChange, new_key: MadeKey) -> tuple[str, str, str]:
    """Returns action, subject and the value after of the audit entry."""
    hours = f"{change.overlap_hours:g} h"
    if change.change == "secret":
        return "rolled the signing secret", new_key.mid, f"the old one signs for {hours}"
    if change.change == "roll":
        return "rolled the key", new_key.mid, f"key {new_key.key_id}; old keys end after {hours}"
    return "made a key", f"key {new_key.key_id}", msgspec.json.encode(change).decode()
