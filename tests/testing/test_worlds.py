"""Worlds of the pytest plugin."""

from decimal import Decimal
from pathlib import Path

from kasuwa.testing import SandboxMerchant


def test_a_merchant_is_put_back_to_a_snapshot(kasuwa: SandboxMerchant) -> None:
    start = kasuwa.snapshot()
    kasuwa.client.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000")
    assert kasuwa.wallet() < Decimal("50000.00")
    kasuwa.restore(start)
    assert kasuwa.wallet() == Decimal("50000.00")
    assert (
        kasuwa.client.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000").txn_status
        == "successful"
    )


def test_a_fork_is_a_merchant_with_events_of_its_own(kasuwa: SandboxMerchant) -> None:
    kasuwa.client.disburse.transfer(amount="1000.00", bankcode="058", accountnumber="0000000000")
    kasuwa.events.one("transfer")
    copy = kasuwa.fork()
    assert copy.wallet() == kasuwa.wallet()
    sent = copy.client.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000")
    assert copy.events.one("transfer", ref=sent.txn_ref).txn_status == "successful"
    assert copy.wallet() < kasuwa.wallet()
    assert [world.name for world in kasuwa.worlds().data] == []


def test_a_world_goes_to_a_file_and_to_another_merchant(kasuwa: SandboxMerchant, tmp_path: Path) -> None:
    kasuwa.client.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000")
    kasuwa.export_world(kasuwa.snapshot(), tmp_path / "world", passphrase="of these tests")
    other = kasuwa.shop()
    name = other.import_world(tmp_path / "world", passphrase="of these tests")
    copy = other.fork(name)
    sent = copy.client.disburse.transfer(amount="100.00", bankcode="058", accountnumber="0000000000")
    assert copy.events.one("transfer", ref=sent.txn_ref).txn_status == "successful"
    other.restore(name)
    assert other.wallet() == kasuwa.wallet()
    assert other.client.disburse.transfer(amount="100.00", bankcode="058", accountnumber="0000000000").txn_ref
