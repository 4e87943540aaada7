"""The tier of a client, the settings of the limits, and what each limit refuses."""

from datetime import date
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import LoadedRows, NeedsMore, Refusal, Row
from kasuwa.core.references import account_key
from kasuwa.ledger import chart
from kasuwa.merchants.merchant_settings import MerchantSettings, check_settings
from kasuwa.methods.clients.model import (
    PAYMENT_PENDING,
    Client,
    add_savings,
    client_key,
    count_spent,
    refuse_leaving,
    remove_savings,
    spent_today,
)
from kasuwa.methods.clients.rules.check_limits import check_deposit, check_spending, find_excess
from kasuwa.methods.clients.rules.find_tier import CHECKS, find_missing, find_tier
from kasuwa.methods.clients.store import MAX_HELD_SHOWN, show_tier
from kasuwa.terms.client_tiers import (
    ClientTiers,
    TierFigures,
    TierLimits,
    TierTerms,
    load_requirements,
    read_tiers,
)
from tests.methods.clients.people import BVN, InMemoryClients
from tests.methods.clients.tiered import ADDRESS, PASSPORT
from tests.rule_context import MERCHANT, NOW, VAULT, context, with_terms
from tests.walk.bounds import HELD_DAYS

ON = read_tiers(ClientTiers(is_on=True))
KNOWN: dict[str, Any] = {"dob": "1990-04-17", "photo": "ab" * 32}
TODAY, TOMORROW = date(2026, 1, 5), date(2026, 1, 6)


def enroll(**data: Any) -> Client:
    books = InMemoryClients()
    books.create(**data)
    [client] = [row for row in books.rows.values() if isinstance(row, Client)]
    return client


def loaded(client: Client, balances: dict[str, int] | None = None) -> LoadedRows:
    rows: dict[bytes, Row | None] = {client.key: client}
    for name, posted in (balances or {}).items():
        account = chart.open_account(client.merchant_id, name)
        rows[account_key(client.merchant_id, name)] = msgspec.structs.replace(account, posted=posted)
    return LoadedRows(rows)


def limited() -> Any:
    return context(merchant=with_terms(MERCHANT, ON))


@pytest.mark.parametrize(
    ("facts", "verified", "tier", "missing"),
    [
        ({}, False, 0, ["dob", "photo", "bvn_or_nin"]),
        (KNOWN, False, 0, ["bvn_or_nin"]),
        ({**KNOWN, "bvn": BVN}, False, 1, ["bvn_verified"]),
        ({**KNOWN, "identification": {"type": "nin", "number": "1"}}, False, 1, ["bvn_verified"]),
        ({**KNOWN, "identification": PASSPORT}, False, 0, ["bvn_or_nin"]),
        ({**KNOWN, "bvn": BVN}, True, 2, ["addresses", "identification"]),
        ({**KNOWN, "bvn": BVN, "addresses": [{"line1": "12 Marina Road"}]}, True, 2, ["addresses", "identification"]),
        ({**KNOWN, "bvn": BVN, "addresses": [ADDRESS], "identification": PASSPORT}, True, 3, None),
        ({"bvn": BVN, "addresses": [ADDRESS], "identification": PASSPORT}, True, 0, ["dob", "photo"]),
    ],
)
def test_the_tier_is_the_highest_whose_needs_and_those_below_are_met(
    facts: dict[str, Any], verified: bool, tier: int, missing: list[str] | None
) -> None:
    client = msgspec.structs.replace(enroll(**facts), bvn_verified=verified)
    assert find_tier(client, VAULT.unseal) == tier
    assert find_missing(client, VAULT.unseal).get(tier + 1) == missing


def test_every_requirement_of_the_data_can_be_checked() -> None:
    assert {need for _, need in load_requirements()} == set(CHECKS)
    assert {tier for tier, _ in load_requirements()} == {1, 2, 3}


def test_the_figures_are_those_of_the_circulars() -> None:
    assert ON.by_tier == (
        TierLimits(0, 0, 0),
        TierLimits(5_000_000, 30_000_000, 5_000_000),
        TierLimits(10_000_000, 50_000_000, 20_000_000),
        TierLimits(None, None, 500_000_000),
    )
    assert read_tiers(ClientTiers()) == TierTerms((), 7)


def test_a_setting_replaces_single_figures_and_lifts_others() -> None:
    own = ClientTiers(is_on=True, held_days=30, figures={"1": TierFigures(daily="30000", balance="unlimited")})
    terms = read_tiers(own)
    assert (terms.by_tier[1], terms.held_days) == (TierLimits(5_000_000, None, 3_000_000), 30)
    assert terms.by_tier[2] == ON.by_tier[2]


@pytest.mark.parametrize(
    ("tiers", "words"),
    [
        (ClientTiers(figures={"1": TierFigures(daily="much")}), "tier 1 daily must be an amount in naira"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(tiers: ClientTiers, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_settings(MerchantSettings(client_tiers=tiers))


def test_a_deposit_is_held_for_1_to_90_days() -> None:
    for days, is_within in HELD_DAYS.sides:
        tiers = ClientTiers(held_days=days)
        if is_within:
            assert read_tiers(tiers).held_days == days
        else:
            with pytest.raises(ValueError, match="held_days must be 1 to 90"):
                read_tiers(tiers)


def test_without_the_setting_nothing_is_loaded_or_refused() -> None:
    nothing = LoadedRows({})
    assert find_excess("CL1", 10**12, context(), nothing) == ""
    assert check_deposit("CL1", 10**12, context(), nothing) is None
    assert check_spending("CL1", 10**12, context(), nothing) is None


def test_a_deposit_asks_for_the_client_and_then_for_all_that_the_client_holds() -> None:
    client = msgspec.structs.replace(enroll(**KNOWN, bvn=BVN), savings="SV1,SV2", cards="abc")
    first = check_deposit(client.client_id, 1, limited(), LoadedRows({}))
    assert isinstance(first, NeedsMore)
    assert [key for _, key in first.needs.rows] == [client_key(client.merchant_id, client.client_id)]
    second = check_deposit(client.client_id, 1, limited(), LoadedRows({client.key: client}))
    assert isinstance(second, NeedsMore)
    names = [chart.savings("SV1"), chart.savings("SV2"), chart.card("abc", "NGN")]
    assert [key for _, key in second.needs.rows] == [account_key(client.merchant_id, name) for name in names]


def test_a_deposit_fits_up_to_the_kobo() -> None:
    client = msgspec.structs.replace(enroll(**KNOWN, bvn=BVN), savings="SV1,SV2")
    rows = loaded(client, {chart.savings("SV1"): 20_000_000, chart.savings("SV2"): 7_000_000})
    assert check_deposit(client.client_id, 3_000_000, limited(), rows) is None
    beyond = check_deposit(client.client_id, 3_000_001, limited(), rows)
    assert isinstance(beyond, Refusal)
    [fault] = beyond.field_errors
    assert (fault.field, fault.code) == ("amount", "beyond_tier_limit")
    assert "may hold at most 300000.00, and holds 270000.00" in fault.reason
    single = find_excess(client.client_id, 5_000_001, limited(), rows)
    assert single == "beyond the limits of tier 1: a deposit is at most 50000.00"


def test_a_day_is_spent_up_to_the_kobo_and_another_day_begins_at_zero() -> None:
    client = count_spent(enroll(**KNOWN, bvn=BVN), 4_000_000, TODAY)
    assert check_spending(client.client_id, 1_000_000, limited(), loaded(client)) is None
    assert isinstance(check_spending(client.client_id, 1_000_001, limited(), loaded(client)), Refusal)
    yesterday = msgspec.structs.replace(client, spent_on=date(2026, 1, 4))
    assert check_spending(client.client_id, 5_000_000, limited(), loaded(yesterday)) is None
    assert (spent_today(client, TODAY), spent_today(client, TOMORROW)) == (4_000_000, 0)
    assert spent_today(count_spent(client, -9_000_000, TODAY), TODAY) == 0
    assert NOW.date() == TODAY


def test_of_many_held_deposits_the_newest_are_shown() -> None:
    refs = [f"GP{number}" for number in range(MAX_HELD_SHOWN + 1)]
    for held in (refs[:-1], refs):
        client = msgspec.structs.replace(enroll(), held=",".join(held))
        shown = show_tier(client, 0, TODAY, ON, VAULT.unseal)
        assert shown.used.held == held[-MAX_HELD_SHOWN:]


def test_a_client_lists_open_savings_and_does_not_leave_while_money_is_held() -> None:
    client = add_savings(add_savings(enroll(), "SV1"), "SV2")
    assert (client.savings_ids, client.open_accounts) == (["SV1", "SV2"], 2)
    left = remove_savings(client, ("SV1", "SV2"))
    assert (left.savings_ids, left.open_accounts, refuse_leaving(left)) == ([], 0, None)
    assert refuse_leaving(msgspec.structs.replace(left, held="GP1")) == PAYMENT_PENDING
