"""Tests of the payroll service, with the fixtures of the pytest plugin and the test client of FastAPI."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

import pytest
from fastapi.testclient import TestClient
from payroll import Payroll, app, get_payroll

from kasuwa.testing import SandboxMerchant
from kasuwa_client import AsyncKasuwa

SALARY = {"id": "ada-january", "amount": "20000.00", "bankcode": "058", "accountnumber": "0000000000"}


@pytest.fixture
def web(kasuwa: SandboxMerchant, kasuwa_async: AsyncKasuwa) -> Iterator[TestClient]:
    payroll = Payroll(kasuwa_async, kasuwa.key)
    app.dependency_overrides[get_payroll] = lambda: payroll
    with TestClient(app) as client:
        yield client
    app.dependency_overrides.clear()


def deliver(kasuwa: SandboxMerchant, web: TestClient) -> list[int]:
    """Hands the new events to the webhook of the application, and returns its answers."""

    def post(body: bytes, headers: Mapping[str, str]) -> int:
        return int(web.post("/webhooks/kasuwa", content=body, headers=dict(headers)).status_code)

    return kasuwa.events.hand_over(post)


def test_a_salary_is_paid_once_although_it_is_sent_twice(kasuwa: SandboxMerchant, web: TestClient) -> None:
    for _ in range(2):
        assert web.post("/salaries", json=SALARY).json() == {"state": "successful"}
    assert deliver(kasuwa, web) == [200]
    assert kasuwa.wallet() == Decimal("50000.00") - Decimal("20000.00") - Decimal("26.88")


def test_a_salary_whose_answer_is_lost_ends_with_its_event(kasuwa: SandboxMerchant, web: TestClient) -> None:
    with kasuwa.fault("bank", "timeout", times=1):
        assert web.post("/salaries", json=SALARY).json() == {"state": "processing"}
    kasuwa.advance(hours=1)
    assert kasuwa.events.one("transfer", ref=SALARY["id"]).txn_status == "successful"
    assert deliver(kasuwa, web) == [200]
    assert web.get(f"/salaries/{SALARY['id']}").json() == {"state": "successful"}


def test_a_salary_beyond_the_wallet_is_refused(kasuwa: SandboxMerchant, web: TestClient) -> None:
    reply = web.post("/salaries", json={**SALARY, "amount": "60000.00"})
    assert reply.status_code == 402
    assert kasuwa.wallet() == Decimal("50000.00")


def test_an_event_with_a_wrong_hash_changes_nothing(kasuwa: SandboxMerchant, web: TestClient) -> None:
    with kasuwa.scenario(webhook="bad-hash"):
        web.post("/salaries", json=SALARY)
    assert kasuwa.events.all() == []
    assert kasuwa.events.rejected == ["The webhook-signature header does not fit the body and the key"]
