"""Reads the keys of former accounts with vendors (KASUWA_RAIL_FORMER_ACCOUNTS).

Orders that were sent with an account are asked after, refunded and listed with its keys until they have ended, also
when another account takes new orders.
"""

from collections.abc import Mapping

import msgspec

# The fields of an account, by vendor: those that it must have, and those that it may have. A field `secret_key` of
# paystack stands for the setting KASUWA_PAYSTACK_SECRET_KEY.
REQUIRED_FIELDS: Mapping[str, tuple[str, ...]] = {
    "paystack": ("secret_key",),
    "monnify": ("api_key", "secret_key"),
    "vtpass": ("api_key", "public_key", "secret_key"),
    "remote": ("base_url", "key_id", "secret"),
}
OPTIONAL_FIELDS: Mapping[str, tuple[str, ...]] = {
    "paystack": ("base_url",),
    "monnify": ("wallet_account", "contract_code", "base_url"),
    "vtpass": ("base_url",),
    "remote": (),
}
FORM = 'a JSON array of objects such as {"rail": "paystack", "secret_key": "…"}'


class FormerAccount(msgspec.Struct, frozen=True):
    """A former account: its vendor, and the settings that its keys stand for."""

    rail: str
    settings: Mapping[str, str]

    def __repr__(self) -> str:
        return f"FormerAccount({self.rail})"


def read_former_accounts(text: str) -> list[FormerAccount]:
    """Returns the former accounts. Raises ValueError that names every fault, and no value."""
    try:
        entries = msgspec.json.decode(text, type=list[dict[str, str]])
    except msgspec.DecodeError:
        raise ValueError(f"it must be {FORM}") from None
    faults = [f"entry {place}: {fault}" for place, entry in enumerate(entries, 1) for fault in list_faults(entry)]
    if faults:
        raise ValueError("; ".join(faults))
    return [
        FormerAccount(
            entry["rail"], {f"{entry['rail']}_{name}": value for name, value in entry.items() if name != "rail"}
        )
        for entry in entries
    ]


def list_faults(entry: Mapping[str, str]) -> list[str]:
    rail = entry.get("rail", "")
    if rail not in REQUIRED_FIELDS:
        return [f"rail must be {' or '.join(REQUIRED_FIELDS)}"]
    known = (*REQUIRED_FIELDS[rail], *OPTIONAL_FIELDS[rail])
    missing = [f"{name} is missing" for name in REQUIRED_FIELDS[rail] if not entry.get(name)]
    unknown = [f"{rail} has no field {name!r}" for name in entry if name not in ("rail", *known)]
    return missing + unknown
