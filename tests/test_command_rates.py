"""`kasuwa rates`: what it takes, what it keeps, and when it is in force. On a deployment of its own: a rate is
everybody's."""

import pytest

from kasuwa.commands.rates import given_rate
from kasuwa.core.rates import Rate
from tests.methods.virtualcard.holders import Card
from tests.running import Deployments
from tests.shop import Shop


def test_rates_are_set_by_the_operator_and_used_at_once(deployments: Deployments) -> None:
    with deployments.fresh("rates") as own:
        assert "USD/NGN  buy      1500.00  sell      1540.00  the test environment" in own.command("rates", "list")
        own.command("rates", "set", "USD", "--buy", "1499.99", "--sell", "1600.01")
        mid, key = (line.split()[1] for line in own.command("merchant", "add", "Plain Stores").splitlines())
        with own.wire() as wire:
            shop = Shop(wire, mid, key)
            shop.put("sandbox", action="fund_wallet", currency="NGN", amount="100000.00")
            Card(shop, amount=10)
            assert shop.wallet().balance == 10_000_000 - -(-1_215 * 160_001 // 100)
        newest, oldest = own.command("rates", "list").splitlines()
        assert ("1499.99" in newest, "1500.00" in oldest) == (True, True)
        chain = own.fetch("select what, about, after from audit where actor like 'command:%' and what = 'rate set'")
        assert [tuple(row) for row in chain] == [("rate set", "USD", "buy 1499.99, sell 1600.01")]
        assert "sell must not be below buy" in own.refused_command("rates", "set", "USD", "--buy=2", "--sell=1")
        assert own.command("audit") == "the books are right\n"
        assert own.complaints() == ""


def test_a_rate_is_two_figures() -> None:
    assert given_rate("USD", "1500", "1540.5") == Rate(150_000, 154_050)
    assert given_rate("GHS", "0.01", "0.01") == Rate(1, 1)


@pytest.mark.parametrize(
    ("currency", "buy", "sell", "said"),
    [
        ("NGN", "1", "1", "one of USD, GHS, KES"),
        ("EUR", "1", "1", "one of USD, GHS, KES"),
        *(("USD", wrong, "5", "figures") for wrong in ("0", "-1", "x", "1e3", "1.001", "", "٣", " 1")),
        ("USD", "5", "0", "figures"),
        ("USD", "1540", "1539.99", "a round trip would earn"),
    ],
)
def test_what_is_no_rate_is_refused_in_one_line(currency: str, buy: str, sell: str, said: str) -> None:
    with pytest.raises(SystemExit) as refused:
        given_rate(currency, buy, sell)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
