"""The rails of a deployment, together."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kasuwa.core.collection_vendors import NO_VENDORS, CollectionVendors
from kasuwa.rails.account_port import AccountRail
from kasuwa.rails.feeds import FeedRail
from kasuwa.rails.identity_port import DeploymentIdentity
from kasuwa.rails.issuer_port import IssuerRail
from kasuwa.rails.ports import BankRail, BillerRail, CatalogueCache, CollectionRail

# A deployment has all rails (composition.py). A test passes only those that it uses.
NOT_CONFIGURED: Any = None


class Rails(msgspec.Struct, frozen=True):
    """The rails of a deployment, the catalogue of the biller rail, and what the vendors of collections serve."""

    bank: BankRail
    card: CollectionRail = NOT_CONFIGURED
    debit: CollectionRail = NOT_CONFIGURED
    mobile: CollectionRail = NOT_CONFIGURED
    identity: DeploymentIdentity = NOT_CONFIGURED
    biller: BillerRail = NOT_CONFIGURED
    catalogue_cache: CatalogueCache = NOT_CONFIGURED
    issuer: IssuerRail = NOT_CONFIGURED
    vendors: CollectionVendors = NO_VENDORS  # the vendors among the rails of collections
    accounts: Mapping[str, AccountRail] = {}  # by name: every rail that may have opened accounts
    feeds: Mapping[str, FeedRail] = {}  # by name: every rail that tells of disputes
