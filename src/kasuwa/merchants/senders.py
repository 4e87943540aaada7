"""Senders of transfers that wait for approval: which of them may not send any more. Contract: keys#approvals"""

from collections.abc import Collection

from kasuwa.core.callers import Caller
from kasuwa.core.decision import Merchant
from kasuwa.core.reading import Reader
from kasuwa.core.row_codes import is_intact
from kasuwa.core.vault import Vault
from kasuwa.merchants.keys import IS_VALID, KEYS
from kasuwa.people.users import USERS

SELECT_KEYS = f"""
    select key_id, replaced_by, {IS_VALID}, row_code, {KEYS.content_sql()} from merchant_key where merchant_id = $1
"""
SELECT_ACTIVE_PEOPLE = f"""
    select email, row_code, {USERS.content_sql()} from console_user
    where mid = $1 and email = any($2::text[]) and disabled_at is null
"""


async def find_ended_senders(
    reader: Reader, vault: Vault, merchant: Merchant, senders: Collection[Caller]
) -> frozenset[Caller]:
    """Returns those of the senders whose key was revoked or has expired, or whose account was disabled. A key or an
    account counts as ended too if its row is not as the service wrote it."""
    keys = {sender for sender in senders if sender.key_id}
    people = {sender for sender in senders if not sender.key_id and sender.person}
    valid_keys = await find_valid_keys(reader, vault, merchant, {key.key_id for key in keys})
    active_people = await find_active_people(reader, vault, merchant, {one.person for one in people})
    ended_keys = {key for key in keys if key.key_id not in valid_keys}
    return frozenset(ended_keys | {one for one in people if one.person not in active_people})


async def find_valid_keys(reader: Reader, vault: Vault, merchant: Merchant, key_ids: set[int]) -> set[int]:
    """Returns the keys that are valid, or were rolled, once or several times, into one that is."""
    if not key_ids:
        return set()
    successors, valid = dict[int, int | None](), set[int]()
    for key_id, replaced_by, is_valid, code, *content in await reader.fetch(SELECT_KEYS, merchant.merchant_id):
        if is_intact(vault, KEYS.table, content, code):
            successors[key_id] = replaced_by
            valid |= {key_id} if is_valid else set()
    # A key is replaced by a younger one only, which has a larger number.
    for key_id in sorted(successors, reverse=True):
        if successors[key_id] in valid:
            valid.add(key_id)
    return valid & key_ids


async def find_active_people(reader: Reader, vault: Vault, merchant: Merchant, addresses: set[str]) -> set[str]:
    if not addresses:
        return set()
    rows = await reader.fetch(SELECT_ACTIVE_PEOPLE, merchant.mid, list(addresses))
    return {email for email, code, *content in rows if is_intact(vault, USERS.table, content, code)}
