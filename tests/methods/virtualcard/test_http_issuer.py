"""The `Issuer` port on real books: a card of one merchant pays in another's shop, from a process of its own.

Contract: virtualcard#create
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from kasuwa.boot.composition import Services
from kasuwa.core.references import rail_key
from kasuwa.core.scenario import Scenario
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.issuer import IssuerRail, PurchaseOrder, RefundOrder
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable
from kasuwa.settings.settings import read_settings
from tests.merchant_client import MerchantClient, new_reference
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment

T = TypeVar("T")


def with_issuer(deployment: Deployment, work: Callable[[IssuerRail], Awaitable[T]]) -> T:
    """Beside the running service, as its worker would be."""

    async def run() -> T:
        settings = read_settings({}, data=deployment.directory)
        services = await Services.build(settings, deployment.dsn)
        services.writer.start()
        try:
            return await work(services.rails.issuer)
        finally:
            await services.close()

    return asyncio.run(run())


def order(card: CardClient, **changes: Any) -> PurchaseOrder:
    shown = card.data
    ordinary = {"key": rail_key(9, new_reference("order")), "pan": shown["cardpan"], "expiry": shown["expiration"]}
    asked = {"cvv": shown["cvv"], "amount": 1_000, "currency": "USD", "merchant_name": "Book Shop"}
    return PurchaseOrder(**{**ordinary, **asked, **changes})


def test_a_card_pays_by_its_number_wherever_it_is_shown(shop: MerchantClient, deployment: Deployment) -> None:
    card = CardClient(shop)
    good, short = order(card), order(card, amount=100_000)

    async def work(issuer: IssuerRail) -> list[Answer]:
        asked = [await issuer.authorize(one) for one in (good, good, short)]
        return [
            *asked,
            await issuer.query(good.key),
            await issuer.query(short.key),
            await issuer.query(rail_key(9, "never")),
        ]

    paid, again, declined, asked, asked_short, never = with_issuer(deployment, work)
    assert (paid.status, paid.code, paid.facts["txnRef"][:6]) == (orders.SUCCESSFUL, "00", "GP|CP|")
    assert paid == again == asked
    assert (declined.status, declined.code) == (orders.FAILED, "51")
    assert asked_short == declined
    assert never.status == orders.NOT_FOUND
    assert card.balance == 9_000
    assert [line[3] for line in card.record_summaries()[:2]] == ["Failed", "Successful"]


def test_what_is_no_card_of_ours_is_not_found(shop: MerchantClient, deployment: Deployment) -> None:
    stranger = order(CardClient(shop), pan="4111111111111111")
    answer = with_issuer(deployment, lambda issuer: issuer.authorize(stranger))
    assert (answer.status, answer.code) == (orders.NOT_FOUND, "14")


def test_a_key_is_one_orders_also_over_two_merchants(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    mine, theirs = CardClient(open_shop()), CardClient(open_shop())
    first = order(mine)
    other = order(theirs, key=first.key)

    async def work(issuer: IssuerRail) -> list[Answer]:
        return [await issuer.authorize(one) for one in (first, other, order(mine, key=first.key, amount=2))]

    answers = with_issuer(deployment, work)
    assert [answer.code for answer in answers] == ["00", "94", "94"]
    assert (mine.balance, theirs.balance) == (9_000, 10_000)


def test_copies_of_one_order_at_once_pay_once(shop: MerchantClient, deployment: Deployment) -> None:
    card = CardClient(shop)
    one = order(card)

    async def work(issuer: IssuerRail) -> list[Answer]:
        return list(await asyncio.gather(*(issuer.authorize(one) for _ in range(50))))

    answers = with_issuer(deployment, work)
    assert {answer.facts["txnRef"] for answer in answers} == {answers[0].facts["txnRef"]}
    assert card.balance == 9_000


def test_a_purchase_is_given_back_by_its_key_once(shop: MerchantClient, deployment: Deployment) -> None:
    card = CardClient(shop)
    bought = order(card)
    back = RefundOrder(rail_key(9, new_reference("refund")), bought.key, 400)

    async def work(issuer: IssuerRail) -> list[Answer]:
        await issuer.authorize(bought)
        rest = RefundOrder(rail_key(9, new_reference("refund")), bought.key, 601)
        unknown = RefundOrder(rail_key(9, new_reference("refund")), rail_key(9, "never"), 1)
        answers = [await issuer.refund(one) for one in (back, back, rest, unknown)]
        return [*answers, await issuer.query(back.key)]

    first, again, too_much, unknown, asked = with_issuer(deployment, work)
    assert first == again == asked
    assert (first.status, too_much.status, unknown.status) == (orders.SUCCESSFUL, orders.FAILED, orders.NOT_FOUND)
    assert card.balance == 9_400


@pytest.mark.parametrize(
    ("http", "raised", "done"),
    [("unavailable", Unavailable, False), ("reset", NoAnswer, False), ("timeout", NoAnswer, True)],
)
def test_a_line_that_breaks_is_asked_after(
    shop: MerchantClient, deployment: Deployment, http: str, raised: type[Exception], done: bool
) -> None:
    card = CardClient(shop)
    broken = order(card, scenario=Scenario(http=http))

    async def work(issuer: IssuerRail) -> Answer:
        with pytest.raises(raised):
            await issuer.authorize(broken)
        return await issuer.query(broken.key)

    assert with_issuer(deployment, work).status == (orders.SUCCESSFUL if done else orders.NOT_FOUND)
    assert card.balance == (9_000 if done else 10_000)
