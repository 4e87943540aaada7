"""Recurrent payments and installment plans over HTTP, by business time."""

from typing import Any

import pytest

from kasuwa.transactions.schedule import COUNT_REASON, MAX_INSTALLMENTS
from tests.methods.payment.payment_client import VISA_OK, PaymentClient, card
from tests.walk.bounds import INSTALLMENT_SUM

NOW = "2026-01-30T08:00:00+01:00"
TOKEN_51 = "4111110051000011"
TOKEN_54 = "4111110054000018"
TOKEN_91 = "4111110091000013"


@pytest.fixture
def client(open_shop: Any) -> PaymentClient:
    return PaymentClient(open_shop(now=NOW))


def recurrent(client: PaymentClient, number: str = VISA_OK, **rule: str) -> Any:
    return client.paid(number, is_recurring=True, recurrent=rule or {"frequency": "monthly", "value": "30"})


def plans(client: PaymentClient) -> list[Any]:
    return list(client.shop.put("resources", inquire="recurrents").body)


def charges(client: PaymentClient) -> list[Any]:
    """The payments so far, oldest first: their times and statuses."""
    log = client.shop.put("resources", inquire="event_feed", limit=200).body["data"]
    return [(line["dateCreated"][:16], line["payload"]["txnStatus"]) for line in log if line["kind"] == "payment"]


def test_a_monthly_payment_clamps_to_the_months_end_and_keeps_its_day(client: PaymentClient) -> None:
    assert recurrent(client)["txnStatus"] == "successful"
    (plan,) = plans(client)
    assert (plan["state"], plan["next_charge"]) == ("active", "2026-02-28T08:00:00.000Z")
    ran = client.shop.advance(until="2026-05-01T00:00:00+01:00")["ran"]
    assert ran["recurrent"] == 3
    assert [at for at, _ in charges(client)] == [
        "2026-01-30T07:00",
        "2026-02-28T08:00",
        "2026-03-30T08:00",
        "2026-04-30T08:00",
    ]
    assert plans(client)[0]["paid"] == "6000.00"


def test_a_soft_decline_is_tried_again_after_one_three_and_seven_days(client: PaymentClient) -> None:
    recurrent(client, TOKEN_51)
    client.shop.advance(until="2026-03-10T00:00:00+01:00")
    assert charges(client)[1:] == [
        ("2026-02-28T08:00", "failed"),
        ("2026-03-01T08:00", "failed"),
        ("2026-03-03T08:00", "failed"),
        ("2026-03-07T08:00", "failed"),
    ]
    assert plans(client)[0]["state"] == "active"
    client.shop.advance(until="2026-05-15T00:00:00+01:00")
    assert plans(client)[0]["state"] == "paused"
    assert len(charges(client)) == 1 + 3 * 4
    client.shop.advance(days=90)
    assert len(charges(client)) == 1 + 3 * 4


def test_an_issuer_that_is_down_is_back_for_the_third_attempt(client: PaymentClient) -> None:
    recurrent(client, TOKEN_91)
    client.shop.advance(until="2026-03-10T00:00:00+01:00")
    assert [status for _, status in charges(client)[1:]] == ["failed", "failed", "successful"]


def test_a_hard_decline_pauses_at_once_until_somebody_starts_it(client: PaymentClient) -> None:
    recurrent(client, TOKEN_54)
    client.shop.advance(days=40)
    (plan,) = plans(client)
    assert (plan["state"], plan["next_charge"], len(charges(client))) == ("paused", None, 2)
    started = client.shop.put("resources", inquire="recurrent", id=plan["id"], status="start").body
    assert started["data"]["state"] == "active"
    assert started["data"]["next_charge"] == "2026-03-30T08:00:00.000Z"


def test_a_stopped_payment_is_not_charged_and_can_be_started_again(client: PaymentClient) -> None:
    recurrent(client, frequency="daily", value="10")
    (plan,) = plans(client)
    stopped = client.shop.put("resources", inquire="recurrent", id=plan["id"], status="stop").body
    assert stopped["data"]["state"] == "stopped"
    client.shop.advance(days=3)
    assert len(charges(client)) == 1
    client.shop.put("resources", inquire="recurrent", id=plan["id"], status="start")
    client.shop.advance(days=2)
    assert [at for at, _ in charges(client)[1:]] == ["2026-02-02T09:00", "2026-02-03T09:00"]
    shown = client.shop.put("resources", inquire="recurrent", id=plan["id"]).body
    assert shown["data"]["state"] == "active"


def test_weekly_and_daily_payments_fall_due_on_their_days(client: PaymentClient) -> None:
    recurrent(client, frequency="weekly", value="1")
    client.shop.advance(days=15)
    assert [at for at, _ in charges(client)[1:]] == ["2026-02-02T08:00", "2026-02-09T08:00"]


def test_a_pending_charge_holds_the_plan_until_it_is_known(client: PaymentClient) -> None:
    recurrent(client, frequency="daily", value="10")
    client.shop.put("sandbox", action="fault", rail="card", kind="timeout", times=1)
    client.shop.advance(until="2026-01-30T10:00:01+01:00")
    assert len(charges(client)) == 1
    client.shop.advance(seconds=10)
    assert [status for _, status in charges(client)] == ["successful", "successful"]
    client.shop.advance(days=1)
    assert len(charges(client)) == 3


def test_is_recurring_without_recurrent_only_saves_the_card(client: PaymentClient) -> None:
    assert client.paid(is_recurring=True)["cardToken"]
    assert plans(client) == []


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"frequency": "daily", "value": "24"}, "recurrent.value"),
        ({"frequency": "weekly", "value": "0"}, "recurrent.value"),
        ({"frequency": "monthly", "value": "31"}, "recurrent.value"),
        ({"frequency": "yearly", "value": "1"}, "recurrent.frequency"),
    ],
)
def test_a_recurrence_value_out_of_range_is_named(client: PaymentClient, rule: dict[str, str], field: str) -> None:
    refused = client.initiate(card(), is_recurring=True, recurrent=rule)
    assert [fault["field"] for fault in refused["errors"]] == [field]


def test_another_merchants_plan_is_unknown(client: PaymentClient, open_shop: Any) -> None:
    recurrent(client)
    (plan,) = plans(client)
    stranger = open_shop()
    answers = [stranger.put("resources", inquire="recurrent", id=value).body for value in (plan["id"], "RCnothing")]
    assert answers[0] == answers[1]
    assert answers[0]["status"] == 104


# --- installments ---------------------------------------------------------------------------------------------------


def installments(client: PaymentClient, number: str = VISA_OK, **changes: Any) -> Any:
    schedule = {"30-01-2026": 50, "28-02-2026": 30, "30-03-2026": 20}
    body = {"amount": None, "installment": {"payment_schedule": schedule, "total": "1000.01"}, **changes}
    return client.paid(number, **body)


def listed(client: PaymentClient) -> list[Any]:
    return list(client.shop.put("resources", inquire="installments").body)


def test_installments_are_charged_on_their_dates_to_the_last_kobo(client: PaymentClient) -> None:
    first = installments(client)
    assert (first["txnStatus"], first["chargedAmount"]) == ("successful", "500.01")
    client.shop.advance(days=90)
    (plan,) = listed(client)
    assert (plan["state"], plan["paid"], plan["total"]) == ("finished", "1000.01", "1000.01")
    assert [(line["date"], line["amount"], line["paid"]) for line in plan["payment_schedule"]] == [
        ("30-01-2026", "500.01", True),
        ("28-02-2026", "300.00", True),
        ("30-03-2026", "200.00", True),
    ]


def test_with_nothing_due_today_the_card_is_only_saved(client: PaymentClient) -> None:
    before = client.shop.wallet().balance
    schedule = {"28-02-2026": "600.00", "30-03-2026": "400.00"}
    first = installments(client, installment={"payment_schedule": schedule, "total": "1000.00"})
    assert (first["txnStatus"], first["chargedAmount"], client.shop.wallet().balance) == ("successful", "0.00", before)
    client.shop.advance(days=90)
    assert listed(client)[0]["paid"] == "1000.00"


def test_a_missed_installment_is_shown_as_unpaid(client: PaymentClient) -> None:
    installments(client, TOKEN_51)
    client.shop.advance(days=120)
    (plan,) = listed(client)
    assert [line["paid"] for line in plan["payment_schedule"]] == [True, False, False]
    assert plan["paid"] == "500.01"


def test_a_saved_card_can_be_charged_by_installments(client: PaymentClient) -> None:
    token = client.token()
    schedule = {"30-01-2026": "250.00", "01-02-2026": "250.00"}
    done = client.charge_token(token, amount=None, installment={"payment_schedule": schedule, "total": "500.00"})
    assert done["chargedAmount"] == "250.00"
    client.shop.advance(days=5)
    assert listed(client)[0]["state"] == "finished"


def test_a_schedule_adds_up_to_all_and_no_more(client: PaymentClient) -> None:
    for percent, is_within in INSTALLMENT_SUM.sides:
        schedule = {"30-01-2026": 50, "30-03-2026": percent}
        body = client.body(amount=None, installment={"payment_schedule": schedule, "total": "1000.00"})
        reply = client.pay(action="initiate", card=card(), **body)
        refused = [] if is_within else ["installment.payment_schedule"]
        assert [fault["field"] for fault in reply.get("errors", [])] == refused, percent


@pytest.mark.parametrize(
    ("schedule", "total", "amount", "field"),
    [
        ({"29-01-2026": 100}, "1000.00", None, "installment.payment_schedule"),
        ({"30-01-2026": 50, "30-03-2026": 40}, "1000.00", None, "installment.payment_schedule"),
        ({"2026-03-30": 100}, "1000.00", None, "installment.payment_schedule"),
        ({"30-01-2026": 100}, "1000.00", "999.00", "amount"),
        ({}, "1000.00", None, "installment.payment_schedule"),
    ],
)
def test_a_schedule_that_does_not_add_up_is_refused(
    client: PaymentClient, schedule: dict[str, Any], total: str, amount: str | None, field: str
) -> None:
    body = client.body(amount=amount, installment={"payment_schedule": schedule, "total": total})
    refused = client.pay(action="initiate", card=card(), **body)
    assert [fault["field"] for fault in refused["errors"]] == [field]


def test_as_many_dates_as_the_field_describes_are_accepted_and_no_more(client: PaymentClient) -> None:
    days = [f"{day:02}-{month:02}-2027" for month in range(1, 13) for day in range(1, 12)]
    found = []
    for count in (MAX_INSTALLMENTS, MAX_INSTALLMENTS + 1):
        schedule = dict.fromkeys(days[:count], "10.00")
        body = client.body(amount=None, installment={"payment_schedule": schedule, "total": f"{count * 10}.00"})
        found.append(client.pay(action="initiate", card=card(), **body).get("errors"))
    fault = {"field": "installment.payment_schedule", "reason": COUNT_REASON, "code": "field_invalid"}
    assert found == [None, [fault]]
    described = client.shop.connection.send("GET", "/openapi.json").body["components"]["schemas"]["PaymentInstallment"]
    described = described["properties"]["payment_schedule"]
    assert (described["minProperties"], described["maxProperties"]) == (1, MAX_INSTALLMENTS)


def test_both_lists_of_plans_are_read_in_parts_newest_first(client: PaymentClient) -> None:
    for _ in range(3):
        recurrent(client)
        installments(client)
    for word in ("recurrents", "installments"):
        whole = client.shop.put("resources", inquire=word).body
        assert len(whole) == 3
        parts = [client.shop.put("resources", inquire=word, offset=n, limit=2).body for n in (0, 2, 4)]
        assert parts == [whole[:2], whole[2:], []]
        assert client.shop.put("resources", inquire=word, limit=201).body["status"] == 104
