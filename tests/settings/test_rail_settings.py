"""Settings of several rails for one purpose, of shadow mode and of least balances, and the rails of a merchant."""

import pytest

from kasuwa.rails.choice import list_collection_vendors
from kasuwa.rails.vendor_rails import list_known_accounts
from kasuwa.settings.available_rails import check_merchant_rails, configured_rails, list_purposes
from kasuwa.settings.settings import (
    list_former_settings,
    rail_of_purpose,
    rails_of_purpose,
    read_settings,
)
from kasuwa.settings.values import SettingsError

PAYSTACK = {"KASUWA_PAYSTACK_SECRET_KEY": "sk_test_1"}
MONNIFY = {
    "KASUWA_MONNIFY_API_KEY": "MK_TEST_1",
    "KASUWA_MONNIFY_SECRET_KEY": "secret",
    "KASUWA_MONNIFY_WALLET_ACCOUNT": "8016472829",
}
LIVE = {"KASUWA_ENVIRONMENT": "live", "KASUWA_PAYSTACK_SECRET_KEY": "sk_live_1"}
PAYERS = {**PAYSTACK, "KASUWA_RAIL_EMAIL_DOMAIN": "pay.example.com"}
REMOTE_NEEDS = "KASUWA_REMOTE_BASE_URL, KASUWA_REMOTE_KEY_ID, KASUWA_REMOTE_SECRET"
BOTH = {**PAYSTACK, **MONNIFY, "KASUWA_RAIL_BANK": "paystack, monnify"}


def test_comma_makes_a_second_choice() -> None:
    settings = read_settings(BOTH)
    assert rails_of_purpose(settings, "bank") == ("paystack", "monnify")
    assert rail_of_purpose(settings, "bank") == "paystack"
    assert rails_of_purpose(settings, "bills") == ("sandbox",)
    assert rails_of_purpose(read_settings({"KASUWA_ENVIRONMENT": "live"}), "bank") == ()


def test_vendor_with_keys_is_configured_also_without_new_orders() -> None:
    settings = read_settings({**BOTH, "KASUWA_RAIL_BANK": "monnify"})
    assert configured_rails(settings, "bank") == ("paystack", "monnify", "sandbox")
    assert configured_rails(read_settings(LIVE), "bank") == ("paystack",)


@pytest.mark.parametrize(
    ("environ", "refusal"),
    [
        ({**PAYSTACK, "KASUWA_RAIL_BANK": "paystack,paystack"}, "KASUWA_RAIL_BANK names a rail twice"),
        (
            {**PAYSTACK, "KASUWA_RAIL_BANK": "paystack,"},
            "KASUWA_RAIL_BANK must be sandbox or paystack or monnify or remote, not ''",
        ),
        (
            {**PAYSTACK, "KASUWA_RAIL_BANK": "paystack,monnify"},
            "KASUWA_RAIL_BANK is monnify, which needs KASUWA_MONNIFY_API_KEY, KASUWA_MONNIFY_SECRET_KEY,"
            " KASUWA_MONNIFY_WALLET_ACCOUNT",
        ),
        (
            {**LIVE, "KASUWA_RAIL_BANK": "paystack,sandbox"},
            "KASUWA_RAIL_BANK must not be sandbox in live: no money would move",
        ),
        (
            {**BOTH, "KASUWA_RAIL_BANK_SHADOW": "monnify"},
            "KASUWA_RAIL_BANK_SHADOW must not be one of KASUWA_RAIL_BANK, which pay",
        ),
        (
            {"KASUWA_RAIL_BANK_SHADOW": "vtpass"},
            "KASUWA_RAIL_BANK_SHADOW must be sandbox or paystack or monnify or remote, not 'vtpass'",
        ),
        (
            {"KASUWA_RAIL_BANK_SHADOW": "paystack"},
            "KASUWA_RAIL_BANK_SHADOW is paystack, which needs KASUWA_PAYSTACK_SECRET_KEY",
        ),
        (
            {**PAYERS, "KASUWA_RAIL_CARD": "paystack,sandbox"},
            "KASUWA_RAIL_CARD must not have the sandbox beside a vendor: the one takes card numbers, the other shows a"
            " page",
        ),
        ({"KASUWA_RAIL_COLLECT": "remote"}, f"KASUWA_RAIL_COLLECT is remote, which needs {REMOTE_NEEDS}"),
        ({"KASUWA_RAIL_ACCOUNTS": "remote"}, f"KASUWA_RAIL_ACCOUNTS is remote, which needs {REMOTE_NEEDS}"),
        (
            {"KASUWA_REMOTE_METHODS": "card,cash"},
            "KASUWA_REMOTE_METHODS must be of card, token, account, bank_transfer, ussd, phone, mobile_money, not"
            " 'cash'",
        ),
        ({"KASUWA_REMOTE_CURRENCIES": "EUR"}, "KASUWA_REMOTE_CURRENCIES must be of NGN, USD, GHS, KES, not 'EUR'"),
        ({"KASUWA_MONNIFY_UNSIGNED": "yes"}, "KASUWA_MONNIFY_UNSIGNED must be on or off, not 'yes'"),
        (
            {**LIVE, "KASUWA_MONNIFY_UNSIGNED": "on"},
            "KASUWA_MONNIFY_UNSIGNED must be off in live: call-backs without a signature are forged",
        ),
        (
            {"KASUWA_PAYSTACK_CALLBACK_ADDRESSES": "52.31.139.75,paystack"},
            "KASUWA_PAYSTACK_CALLBACK_ADDRESSES takes addresses and networks, by commas: 'paystack' does not appear to"
            " be an IPv4 or IPv6 network",
        ),
        ({"KASUWA_RAIL_IN_FLIGHT": "0"}, "KASUWA_RAIL_IN_FLIGHT must be a whole number from 1 to 1000, not '0'"),
        ({"KASUWA_RAIL_TIMEOUT": "10"}, "KASUWA_RAIL_TIMEOUT must be a whole number from 1 to 9, not '10'"),
    ],
)
def test_rails_that_cannot_be_used_are_refused(environ: dict[str, str], refusal: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings(environ)
    assert str(error.value) == refusal


@pytest.mark.parametrize("text", ["500000", "EUR:5.00", "NGN:0.00", "NGN:5.00,NGN:6.00", "NGN:-1", "NGN:"])
def test_least_balances_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^KASUWA_RAIL_FLOAT_LEAST must be amounts such as NGN:500000\.00"):
        read_settings({"KASUWA_RAIL_FLOAT_LEAST": text})


def test_least_balances_are_in_minor_units_by_currency() -> None:
    assert read_settings({}).rail_float_least == {}
    settings = read_settings({"KASUWA_RAIL_FLOAT_LEAST": "NGN:500000.00, USD:100"})
    assert settings.rail_float_least == {"NGN": 50_000_000, "USD": 10_000}


def test_rails_of_a_merchant_must_be_configured_and_not_in_shadow_mode() -> None:
    settings = read_settings({**BOTH, "KASUWA_RAIL_BANK": "paystack", "KASUWA_RAIL_BANK_SHADOW": "monnify"})
    assert check_merchant_rails(settings, {"bank": ["paystack", "sandbox"], "bills": []}) == []
    assert check_merchant_rails(settings, {"bank": ["monnify", "monnify"], "cards": ["x"]}) == [
        "there is no choice of rails for cards",
        "monnify is not configured for bank (paystack or sandbox is)",
        "the rails for bank name one of them twice",
    ]
    [bank, *_] = list_purposes(settings)
    assert (bank.name, bank.order, bank.shadow) == ("bank", ("paystack",), "monnify")


def test_merchant_may_have_rails_of_its_own_for_every_purpose() -> None:
    settings = read_settings({**MONNIFY, **PAYERS, "KASUWA_MONNIFY_CONTRACT_CODE": "4934121686"})
    own = {
        "card": ["monnify", "paystack"],
        "collect": ["sandbox"],
        "accounts": ["monnify", "sandbox"],
        "identity": ["sandbox"],
    }
    assert check_merchant_rails(settings, own) == []
    assert check_merchant_rails(settings, {"card": ["paystack", "sandbox"], "accounts": ["paystack"]}) == [
        "the rails for card have the sandbox beside a vendor: the one takes card numbers, the other shows a page",
        "paystack is not configured for accounts (monnify or sandbox is)",
    ]


def test_vendors_of_payments_are_those_of_the_settings_in_their_order() -> None:
    remote = {
        "KASUWA_REMOTE_BASE_URL": "https://rail.example",
        "KASUWA_REMOTE_KEY_ID": "key-1",
        "KASUWA_REMOTE_SECRET": "s" * 32,
        "KASUWA_REMOTE_METHODS": "card, ussd",
        "KASUWA_RAIL_CARD": "remote,paystack",
        "KASUWA_RAIL_COLLECT": "paystack",
    }
    vendors = list_collection_vendors(read_settings({**PAYERS, **remote}))
    assert [vendor.name for vendor in vendors.card] == ["remote", "paystack"]
    assert [vendor.name for vendor in vendors.collect] == ["paystack"]
    assert sorted(vendors.configured) == ["paystack", "remote"]
    assert (vendors.card[0].methods, vendors.card[0].currencies) == (frozenset({"card", "ussd"}), frozenset({"NGN"}))


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("{}", ["it must be a JSON array of objects"]),
        ("nonsense", ["it must be a JSON array of objects"]),
        ('[{"rail": "dojah"}]', ["entry 1: rail must be paystack or monnify or vtpass or remote"]),
        ('[{"rail": "paystack", "wallet": "8"}]', ["secret_key is missing", "paystack has no field 'wallet'"]),
        (
            '[{"rail": "paystack", "secret_key": "sk_test_0"}, {"rail": "monnify", "api_key": "MK_TEST_0"}]',
            ["entry 2: secret_key is missing"],
        ),
        ('[{"rail": "paystack", "secret_key": "hidden"}]', ["paystack: KASUWA_PAYSTACK_SECRET_KEY must begin with"]),
        (
            '[{"rail": "paystack", "secret_key": "sk_test_hidden", "base_url": "http://vendor.example"}]',
            ["KASUWA_PAYSTACK_BASE_URL must be an https address"],
        ),
    ],
)
def test_every_fault_of_a_former_account_is_named_without_its_keys(text: str, faults: list[str]) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"KASUWA_RAIL_FORMER_ACCOUNTS": text})
    assert str(caught.value).startswith("KASUWA_RAIL_FORMER_ACCOUNTS")
    for fault in faults:
        assert fault in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_former_account_is_the_settings_that_it_had() -> None:
    text = '[{"rail": "monnify", "api_key": "MK_TEST_0", "secret_key": "s0", "wallet_account": "8016472820"}]'
    settings = read_settings({"KASUWA_RAIL_FORMER_ACCOUNTS": text, "KASUWA_MONNIFY_API_KEY": "MK_TEST_1"})
    [(rail, former)] = list_former_settings(settings)
    assert (rail, former.monnify_api_key, former.monnify_wallet_account) == ("monnify", "MK_TEST_0", "8016472820")
    known = list_known_accounts(settings)
    assert {account for _, account in known.former}.isdisjoint(known.own.values())
