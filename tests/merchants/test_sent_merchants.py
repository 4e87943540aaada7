"""A merchant that one process sends to another has the same terms there."""

import msgspec
import pytest

from kasuwa.merchants.merchant_settings import (
    MerchantSettings,
    SentMerchant,
    make_merchant,
    pack_merchant,
    unpack_merchant,
)
from kasuwa.terms.conversion import ExchangeRate
from kasuwa.terms.issuing import CardIssuingSettings
from kasuwa.terms.loan_schedule import LendingSettings
from kasuwa.terms.payouts import PayoutPolicy
from kasuwa.terms.reserve import ReserveTerms


def test_a_merchant_has_no_terms_that_nobody_filled() -> None:
    merchant = make_merchant(7, "GP0000007", "Ada Stores", "test", MerchantSettings())
    assert merchant.terms(ReserveTerms) == ReserveTerms()
    with pytest.raises(KeyError):
        merchant.terms(CardIssuingSettings)


def test_a_merchant_arrives_with_all_its_terms() -> None:
    settings = MerchantSettings(
        tariff={"vat_percent_on_fees": "10"},
        lending=LendingSettings(tolerance_days=3),
        reserve=ReserveTerms("5", 30),
        payouts=PayoutPolicy(approve_above="100.00"),
        limits={"NGN": ("5.00", "10.00")},
        settlement_days=2,
        checkout_origins=("https://shop.example",),
    )
    merchant = make_merchant(7, "GP0000007", "Ada Stores", "live", settings, {"USD": ExchangeRate(1, 2)})
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(pack_merchant(merchant)), type=SentMerchant)
    assert unpack_merchant(sent) == merchant
    assert len(merchant.subject_terms) == len(sent.terms)
