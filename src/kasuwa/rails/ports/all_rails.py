"""The rails of a deployment, together."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kasuwa.rails.ports.accounts import AccountRail
from kasuwa.rails.ports.decider import CardDecider
from kasuwa.rails.ports.feeds import FeedRail
from kasuwa.rails.ports.identities import DeploymentIdentity
from kasuwa.rails.ports.issuer import IssuerRail
from kasuwa.rails.ports.mail import MailRail
from kasuwa.rails.ports.orders import BankRail, BillerRail, CatalogueCache, CollectionRail
from kasuwa.rails.ports.shops import ShopRail
from kasuwa.rails.ports.sms import SmsRail
from kasuwa.terms.vendors import NO_VENDORS, CollectionVendors

# A deployment has all rails (boot/composition.py). A test passes only those that it uses.
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
    shops: ShopRail = NOT_CONFIGURED
    decider: CardDecider = NOT_CONFIGURED
    mail: MailRail = NOT_CONFIGURED
    sms: SmsRail = NOT_CONFIGURED
    vendors: CollectionVendors = NO_VENDORS  # the vendors among the rails of collections
    accounts: Mapping[str, AccountRail] = {}  # by name: every rail that may have opened accounts
    feeds: Mapping[str, FeedRail] = {}  # by name: every rail that reports disputes
