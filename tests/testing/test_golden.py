"""Golden files: what is recorded, what is compared, and what is replaced because it differs between runs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kasuwa.testing import SandboxMerchant, Server
from kasuwa.testing.golden import GoldenFiles, StableNames
from kasuwa_client.types import CardDetails, ItemFields, Payer

CARD = "4111111111111111"
URL = "http://127.0.0.1:4711"


def play(kasuwa: SandboxMerchant, name: str, amount: str = "100.00") -> None:
    with kasuwa.golden(name) as shop:
        card: CardDetails = {"card_no": CARD, "expiry_month": "12", "expiry_year": "30", "ccv": "000"}
        user: Payer = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
        shop.client.payment.initiate_card(amount=amount, card=card, user=user)
        with shop.fault("bank", "timeout", times=1):
            shop.client.disburse.transfer(amount=amount, bankcode="058", accountnumber="0000000000")
        shop.advance(hours=1)


@contextmanager
def merchant_with_files(server: Server, directory: Path, *, is_updating: bool = False) -> Iterator[SandboxMerchant]:
    with server.merchant(golden_files=GoldenFiles(directory, is_updating)) as kasuwa:
        yield kasuwa


def test_a_scenario_is_recorded_once_and_then_compared(kasuwa_server: Server, tmp_path: Path) -> None:
    expected = "record it with --kasuwa-update-golden"
    with merchant_with_files(kasuwa_server, tmp_path) as kasuwa, pytest.raises(AssertionError, match=expected):
        play(kasuwa, "flow")
    with merchant_with_files(kasuwa_server, tmp_path, is_updating=True) as kasuwa:
        play(kasuwa, "flow")
    text = (tmp_path / "flow.json").read_text()
    for secret in (CARD, kasuwa.key, kasuwa.url):
        assert secret not in text
    recorded = json.loads(text)
    assert [exchange["action"] for exchange in recorded["exchanges"]] == [
        "payment.initiate_card",
        "sandbox.fault",
        "disburse.transfer",
        "sandbox.fault",
        "sandbox.advance",
    ]
    sent = recorded["exchanges"][2]
    assert (sent["request"]["orderRef"], sent["reply"]["txnRef"]) == ("<made 1>", "<txnRef 2>")
    assert [(event["txnRef"], event["txnStatus"]) for event in recorded["events"]] == [
        ("<txnRef 2>", "successful"),
        ("<txnRef 1>", "failed"),  # nobody entered the code in time
    ]
    with merchant_with_files(kasuwa_server, tmp_path) as kasuwa:
        play(kasuwa, "flow")
        with pytest.raises(AssertionError) as error:
            play(kasuwa, "flow", amount="100.01")
    lines = str(error.value).splitlines()
    assert lines[0] == f"{tmp_path / 'flow.json'} differs. If that is right, use --kasuwa-update-golden."
    assert '-        "amount": "100.00"' in [line.rstrip(",") for line in lines]
    assert '+        "amount": "100.01"' in [line.rstrip(",") for line in lines]
    assert json.loads((tmp_path / "flow.json").read_text()) == recorded


def play_by_chance(kasuwa: SandboxMerchant, name: str) -> list[str]:
    """Plays sixteen transfers with a bank that declines half of them. Returns their states."""
    with kasuwa.golden(name) as shop:
        shop.fault("bank", "decline", probability="0.5")
        sent = [
            shop.client.disburse.transfer(amount="10.00", bankcode="058", accountnumber="0000000000") for _ in range(16)
        ]
    return [one.txn_status for one in sent]


def test_random_outcomes_of_a_scenario_follow_from_its_seed(kasuwa_server: Server, tmp_path: Path) -> None:
    with merchant_with_files(kasuwa_server, tmp_path, is_updating=True) as kasuwa:
        recorded = play_by_chance(kasuwa, "chance")
        other = play_by_chance(kasuwa, "other")
    assert set(recorded) == set(other) == {"successful", "failed"}
    assert recorded != other
    assert json.loads((tmp_path / "chance.json").read_text())["seed"] == "kasuwa chance"
    with merchant_with_files(kasuwa_server, tmp_path) as kasuwa:
        kasuwa.client.disburse.transfer(amount="10.00", bankcode="058", accountnumber="0000000000")
        assert play_by_chance(kasuwa, "chance") == recorded
    files = GoldenFiles(tmp_path, seed="another")
    with (
        kasuwa_server.merchant(golden_files=files) as kasuwa,
        pytest.raises(AssertionError, match=r'[+]  "seed": "another chance"'),
    ):
        play_by_chance(kasuwa, "chance")


def test_merchants_with_one_seed_have_the_same_outcomes_and_different_references(kasuwa_server: Server) -> None:
    seen = []
    for seed in ("same", "same", "x" * 300):
        with kasuwa_server.merchant(seed=seed) as kasuwa:
            kasuwa.fault("bank", "decline", probability="0.5")
            sent = [
                kasuwa.client.disburse.transfer(amount="10.00", bankcode="058", accountnumber="0000000000")
                for _ in range(12)
            ]
            payment = kasuwa.client.payment.charge_bank_transfer(amount="50.00")
            seen.append(([one.txn_status for one in sent], payment.account_number, {one.txn_ref for one in sent}))
    assert seen[0][0] == seen[1][0] != seen[2][0]
    assert seen[0][1] != seen[1][1]
    assert not seen[0][2] & seen[1][2]


def test_a_scenario_that_fails_is_not_compared(kasuwa_server: Server, tmp_path: Path) -> None:
    with merchant_with_files(kasuwa_server, tmp_path, is_updating=True) as kasuwa:
        with pytest.raises(ZeroDivisionError), kasuwa.golden("broken"):
            raise ZeroDivisionError
        with pytest.raises(ValueError, match="cannot be named"), kasuwa.golden("../elsewhere"):
            pass
    assert list(tmp_path.iterdir()) == []


def test_what_differs_between_runs_gets_a_stable_name() -> None:
    stable = StableNames(URL)
    first, second = "GP|FD|260025594|20260105L", "GP|FD|438904480|20260105R"
    assert stable.replace({"txnRef": first, "lines": [{"txnRef": second}], "message": f"{first} and {second}"}) == {
        "txnRef": "<txnRef 1>",
        "lines": [{"txnRef": "<txnRef 2>"}],
        "message": "<txnRef 1> and <txnRef 2>",
    }
    assert stable.replace({"next": f"{URL}/pay/x", "amount": "5.00", "ms": 12, "token": "", "ok": True}) == {
        "next": "<url>/pay/x",
        "amount": "5.00",
        "ms": "<ms 1>",
        "token": "",
        "ok": True,
    }
    assert stable.replace({"orderRef": "kc-" + "0" * 32}) == {"orderRef": "<made 1>"}


def test_ids_and_pages_differ_between_runs_and_not_in_the_file(kasuwa_server: Server, tmp_path: Path) -> None:
    for is_updating in (True, False):
        with (
            merchant_with_files(kasuwa_server, tmp_path, is_updating=is_updating) as kasuwa,
            kasuwa.golden("pages") as shop,
        ):
            shop.client.payment.checkout(amount="20.00", title="book", user={"email": "ada@example.com"})
            shop.client.resources.paylink(title="Shirts", amount="10.00")
            customer = shop.client.resources.customer(name="Ada Obi", email="ada@example.com").data.customer_id
            items: list[ItemFields] = [{"description": "Fabric", "quantity": 1, "amount": "10.00"}]
            shop.client.resources.invoice(customer_id=customer, items=items)
    recorded = json.loads((tmp_path / "pages.json").read_text())["exchanges"]
    assert recorded[0]["reply"]["checkoutURL"] == "<url>/pay/checkout/<page 1>"
    assert recorded[0]["reply"]["access_code"] == "<page 1>"
