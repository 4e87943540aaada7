"""How a deployment opens the accounts that customers pay into."""

import msgspec

SANDBOX_RAIL = "sandbox"


class AccountTerms(msgspec.Struct, frozen=True):
    """The rails that open new accounts, and what they require of the accounts' owners."""

    rails: tuple[str, ...] = (SANDBOX_RAIL,)  # the first choice first; empty: the deployment opens no accounts
    configured: frozenset[str] = frozenset({SANDBOX_RAIL})  # all whose settings are there
    bvn_rails: frozenset[str] = frozenset()  # those that require the owner's BVN

    def of_merchant(self, own: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the rails for the accounts of a merchant. `own` are rails of its own."""
        return tuple(name for name in own if name in self.configured) or self.rails


DEFAULT_ACCOUNT_TERMS = AccountTerms()
