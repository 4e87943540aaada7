"""The tier of a client: what the merchant knows of the person, by the requirements in data/client_tiers.json.

A client has the highest tier whose requirements, and those of all tiers below it, are met; tier 0 lacks something of
tier 1. Contract: clients#tiers
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kasuwa.methods.clients.model import Client, Unsealer, unseal_detail
from kasuwa.terms.client_tiers import TIER_NAMES, load_requirements

NIN = "nin"


class TierDetail(msgspec.Struct):
    """The part of a client's detail that decides the tier."""

    phone: str = ""
    dob: str = ""
    photo: str = ""
    addresses: list[dict[str, Any]] = []
    identification: dict[str, Any] = {}


TIER_DETAIL_DECODER: "msgspec.json.Decoder[TierDetail]" = msgspec.json.Decoder(TierDetail)


def has_bvn_or_nin(client: Client, detail: TierDetail) -> bool:
    return client.bvn_hash is not None or detail.identification.get("type") == NIN


def has_address(detail: TierDetail) -> bool:
    return any(address.get("line1") and address.get("city") for address in detail.addresses)


CHECKS: Mapping[str, Callable[[Client, TierDetail], bool]] = {
    "phone": lambda client, detail: bool(detail.phone),
    "dob": lambda client, detail: bool(detail.dob),
    "photo": lambda client, detail: bool(detail.photo),
    "bvn_or_nin": has_bvn_or_nin,
    "bvn_verified": lambda client, detail: client.bvn_verified,
    "addresses": lambda client, detail: has_address(detail),
    "identification": lambda client, detail: bool(detail.identification.get("number")),
}


def find_missing(client: Client, unseal: Unsealer) -> dict[int, list[str]]:
    """Returns what each tier needs beyond the one below it and the client lacks."""
    detail = TIER_DETAIL_DECODER.decode(unseal_detail(client, unseal))
    missing: dict[int, list[str]] = {}
    for tier, need in load_requirements():
        if not CHECKS[need](client, detail):
            missing.setdefault(tier, []).append(need)
    return missing


def find_tier(client: Client, unseal: Unsealer) -> int:
    """Returns the tier of a client, 0 to 3."""
    return min(find_missing(client, unseal), default=len(TIER_NAMES)) - 1
