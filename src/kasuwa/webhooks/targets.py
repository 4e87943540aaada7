"""Where the events of an endpoint are sent, and the secrets that they are signed with. Contract: events#signatures

The URL of the first endpoint is a setting of its merchant, and its secrets are the merchant's. Every other endpoint has
its own. Rows are used only as the service wrote them (docs/decisions/0076).
"""

import contextlib
from collections.abc import Iterable
from itertools import groupby, islice
from operator import itemgetter

import msgspec

from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.core.keyring import UnsealError
from kasuwa.core.row_codes import RowChanged
from kasuwa.core.vault import Vault
from kasuwa.merchants.endpoints import ENDPOINTS, SEAL_CONTEXT
from kasuwa.merchants.keys import unseal_key
from kasuwa.merchants.merchants import read_webhook_urls
from kasuwa.postgres import row_codes
from kasuwa.postgres.connection_pool import QueryRunner
from kasuwa.webhooks.deliveries import EndpointKey
from kasuwa.webhooks.signatures import MAX_SIGNING_KEYS

# The secrets that events of merchants are signed with, the newest first: several while a rolled one overlaps with the
# new one. A key signs as well, until the merchant has a secret of its own.
SIGNING_SECRETS = """
    select merchant_id, sealed, verifier, place from (
        select merchant_id, sealed, verifier, 'merchant_key.sealed' as place, created_at, key_id as number
        from merchant_key where merchant_id = any($1) and (expires_at is null or expires_at > now())
            and signs_until > now()
        union all
        select merchant_id, sealed, verifier, 'signing_secret.sealed', created_at, secret_id
        from signing_secret where merchant_id = any($1) and (expires_at is null or expires_at > now())) s
    order by merchant_id, place desc, number desc
"""
# An endpoint that was removed has no URL.
FURTHER = f"""
    select w.endpoint_id, case when w.removed_at is null then w.url else '' end, w.sealed, w.verifier,
        case when w.previous_until > now() then w.previous_sealed end, w.previous_verifier, w.row_code,
        {ENDPOINTS.content_sql("w")}
    from webhook_endpoint w where w.merchant_id = $1 and w.endpoint_id = any($2)
"""

# An encrypted secret, its verifier, and the place that it is encrypted for.
SealedSecret = tuple[bytes, bytes, str]


class Target(msgspec.Struct, frozen=True):
    """The URL of an endpoint, and the keys that its events are signed with, the newest first."""

    url: str  # empty if the endpoint was removed
    keys: list[bytes]


async def read_targets(
    connection: QueryRunner, vault: Vault, wanted: Iterable[EndpointKey]
) -> dict[EndpointKey, Target]:
    """Returns the targets of endpoints. One is left out if its newest secret is missing or cannot be decrypted, or if
    its row is not as the service wrote it. An older secret that cannot be decrypted is left out."""
    by_merchant: dict[int, list[int]] = {}
    for merchant_id, endpoint_id in wanted:
        by_merchant.setdefault(merchant_id, []).append(endpoint_id)
    targets = await read_first(connection, vault, [one for one, ids in by_merchant.items() if FIRST_ENDPOINT in ids])
    for merchant_id, numbers in by_merchant.items():
        if further := [number for number in numbers if number != FIRST_ENDPOINT]:
            targets |= await read_further(connection, vault, merchant_id, further)
    return targets


async def read_first(connection: QueryRunner, vault: Vault, merchants: list[int]) -> dict[EndpointKey, Target]:
    """Reads the targets of the first endpoints of merchants."""
    if not merchants:
        return {}
    urls = await read_webhook_urls(connection, vault, merchants)
    targets = {}
    for merchant_id, rows in groupby(await connection.fetch(SIGNING_SECRETS, merchants), itemgetter(0)):
        secrets: list[SealedSecret] = [(row[1], row[2], row[3]) for row in islice(rows, MAX_SIGNING_KEYS)]
        keys = open_keys(vault, merchant_id, secrets)
        if keys and merchant_id in urls:
            targets[merchant_id, FIRST_ENDPOINT] = Target(urls[merchant_id], keys)
    return targets


async def read_further(
    connection: QueryRunner, vault: Vault, merchant_id: int, numbers: list[int]
) -> dict[EndpointKey, Target]:
    """Reads the targets of further endpoints of a merchant."""
    targets = {}
    for row in await connection.fetch(FURTHER, merchant_id, numbers):
        number, url, sealed, verifier, previous_sealed, previous_verifier, code, *content = row
        secrets = [(sealed, verifier, SEAL_CONTEXT)]
        if previous_sealed is not None:
            secrets.append((previous_sealed, previous_verifier, SEAL_CONTEXT))
        with contextlib.suppress(RowChanged):
            row_codes.check_content(vault, ENDPOINTS, content, code)
            if keys := open_keys(vault, merchant_id, secrets):
                targets[merchant_id, number] = Target(url, keys)
    return targets


def open_keys(vault: Vault, merchant_id: int, secrets: list[SealedSecret]) -> list[bytes]:
    """Returns the secrets that can be decrypted, none if the newest cannot."""
    newest, *older = secrets
    keys = []
    with contextlib.suppress(UnsealError):
        keys.append(unseal_key(vault, merchant_id, *newest))
        for secret in older:
            with contextlib.suppress(UnsealError):
                keys.append(unseal_key(vault, merchant_id, *secret))
    return keys
