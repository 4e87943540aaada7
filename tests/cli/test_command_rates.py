"""`kasuwa rates`. Uses a deployment of its own, because rates apply to all merchants."""

import pytest

from kasuwa.commands.rates import parse_rate
from kasuwa.terms.conversion import ExchangeRate
from tests.merchant_client import MerchantClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployments


def test_rates_are_set_by_the_operator_and_used_at_once(deployments: Deployments) -> None:
    with deployments.fresh("rates") as own:
        assert "USD/NGN  buy      1500.00  sell      1540.00  the test environment" in own.run_command("rates", "list")
        own.run_command("rates", "set", "USD", "--buy", "1499.99", "--sell", "1600.01")
        mid, key, _ = (line.split()[1] for line in own.run_command("merchant", "add", "Plain Stores").splitlines())
        with own.connect() as wire:
            shop = MerchantClient(wire, mid, key)
            shop.put("sandbox", action="fund_wallet", currency="NGN", amount="100000.00")
            CardClient(shop, amount=10)
            assert shop.wallet().balance == 10_000_000 - -(-1_215 * 160_001 // 100)
        newest, oldest = own.run_command("rates", "list").splitlines()
        assert ("1499.99" in newest, "1500.00" in oldest) == (True, True)
        chain = own.fetch(
            "select action, subject, after from audit_entry where actor like 'command:%' and action = 'rate set'"
        )
        assert [tuple(row) for row in chain] == [("rate set", "USD", "buy 1499.99, sell 1600.01")]
        assert "sell must not be below buy" in own.run_refused_command("rates", "set", "USD", "--buy=2", "--sell=1")
        assert own.run_command("audit") == "the books are right\n"
        assert own.new_stderr() == ""


def test_a_rate_is_parsed_to_minor_units() -> None:
    assert parse_rate("USD", "1500", "1540.5") == ExchangeRate(150_000, 154_050)
    assert parse_rate("GHS", "0.01", "0.01") == ExchangeRate(1, 1)


@pytest.mark.parametrize(
    ("currency", "buy", "sell", "text"),
    [
        ("NGN", "1", "1", "one of USD, GHS, KES"),
        ("EUR", "1", "1", "one of USD, GHS, KES"),
        *(("USD", wrong, "5", "figures") for wrong in ("0", "-1", "x", "1e3", "1.001", "", "٣", " 1")),
        ("USD", "5", "0", "figures"),
        ("USD", "1540", "1539.99", "a round trip would earn"),
    ],
)
def test_an_invalid_rate_is_refused_in_one_line(currency: str, buy: str, sell: str, text: str) -> None:
    with pytest.raises(SystemExit) as refused:
        parse_rate(currency, buy, sell)
    assert text in str(refused.value)
    assert "\n" not in str(refused.value)
