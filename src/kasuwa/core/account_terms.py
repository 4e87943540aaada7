"""How a deployment opens the accounts that customers pay into."""

import msgspec

SANDBOX_RAIL = "sandbox"


class AccountTerms(msgspec.Struct, frozen=True):
    """The rail that opens new accounts, and what it requires of their owners."""

    rail: str = SANDBOX_RAIL  # `sandbox`, a vendor, or "": the deployment opens no accounts
    is_bvn_required: bool = False


DEFAULT_ACCOUNT_TERMS = AccountTerms()
