"""What the pure tests of every slice give to a rule: a merchant, and a context that a test can read through."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from kasuwa.core.decision import Context, Merchant
from kasuwa.core.endpoints import FIRST_ENDPOINT, Endpoint
from kasuwa.core.scenario import NO_SCENARIO, InjectedFault, Scenario
from kasuwa.core.vault import Vault
from kasuwa.merchants.merchant_settings import MerchantSettings, make_merchant
from kasuwa.terms.mail import MailService
from kasuwa.terms.vendors import NO_VENDORS, CollectionVendors
from kasuwa.transactions.checkouts import CheckoutSource, CheckoutSources
from kasuwa.transactions.purpose import PurposeRules, Purposes

NOW = datetime(2026, 1, 5, 9, 30, 0, 123_457, tzinfo=UTC)


def merchant(environment: str = "test", **settings: Any) -> Merchant:
    return make_merchant(7, "GP0000007", "Ada Stores", environment, MerchantSettings(**settings))


def with_terms(of: Merchant, *terms: Any) -> Merchant:
    """Returns a merchant with other terms of some subjects."""
    return msgspec.structs.replace(of, subject_terms={**of.subject_terms, **{type(one): one for one in terms}})


MERCHANT = merchant()
VAULT = Vault(bytes(32))


def context(
    now: datetime = NOW,
    *,
    merchant: Merchant = MERCHANT,
    number: int = 1,
    scenario: Scenario = NO_SCENARIO,
    faults: tuple[InjectedFault, ...] = (),
    has_webhook: bool = False,
    entropy: bytes = bytes(32),
    purposes: Mapping[str, PurposeRules] = {},
    sources: Mapping[str, CheckoutSource] = {},
    public_url: str = "",
    vendors: CollectionVendors = NO_VENDORS,
    sends_mail: bool = True,
    sends_sms: bool = True,
) -> Context:
    """The permutation adds 1,000 and the digest hides nothing, so that a test can read both."""
    return Context(
        merchant=merchant,
        now=now,
        entropy=entropy,
        number=number,
        permutation=lambda given: given + 1_000,
        digest=lambda value: value,
        vault=VAULT,
        scenario=scenario,
        injected_faults=faults,
        endpoints=(Endpoint(FIRST_ENDPOINT),) if has_webhook else (),
        public_url=public_url,
        deployment_terms={
            CollectionVendors: vendors,
            Purposes: Purposes(purposes),
            CheckoutSources: CheckoutSources(sources),
            MailService: MailService(sends_mail, sends_sms),
        },
    )
