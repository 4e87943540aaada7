"""pyright on the Python client: its sources are clean in strict mode for Python 3.9, and users see full types."""

import json
import os
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tests.made_once import digest_of, made_once
from tests.node import CACHE, MANIFESTS, NodeFailed, install_npm_packages, run_node

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "clients" / "python" / "src"
LOCK = Path(__file__).parent / "pyright"

# Each line that ends with "# wrong" must be reported, and no other.
SAMPLE = """# pyright: strict
# pyright: reportUnusedExpression=false
import asyncio
from decimal import Decimal

from kasuwa_client import AsyncKasuwa, BillEvent, EventApp, Kasuwa, OutcomeUnknown, Page, verify_event
from kasuwa_client.types import ClientRecord, LoanReply, PaymentState, RepayReply, TransferState

shop = Kasuwa(mid="GP0000001", key="secret")
transfer = shop.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000")
shop.disburse.transfer(amount=Decimal("1500.00"), bankcode="058", accountnumber="0000000000")
shop.disburse.transfer(amount=1500, bankcode="058", accountnumber="0000000000")
shop.disburse.transfer(amount=1500.0, bankcode="058", accountnumber="0000000000")  # wrong
shop.disburse.transfer(amount="1500.00", bankcode=58, accountnumber="0000000000")  # wrong
shop.disburse.transfer(amount="1500.00", bankcode="058")  # wrong
shop.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000", narative="x")  # wrong
shop.disburse.transfer_bulk(data=[{"amount": 10, "bankcode": "058", "accountnumber": "0000000000"}])
shop.disburse.transfer_bulk(data=[{"amount": 10, "bankcode": "058"}])  # wrong
shop.payment.charge_ussd(amount=10, bank="gtb")
shop.payment.charge_ussd(amount=10, bank="uba")  # wrong
print(transfer.txn_ref.upper(), transfer.txnref)  # wrong
if transfer.txn_status == "successfull":  # wrong
    pass
final: TransferState = shop.disburse.wait(transfer, seconds=60)
fee: Decimal = final.fee  # wrong
page: Page[ClientRecord] = shop.clients.list(status="active")
names = [person.lastname for person in page]
try:
    shop.bills.pay(paycode="a", reference="b", amount=1)
except OutcomeUnknown as unknown:
    shop.bills.wait(unknown)


def settle(loan: LoanReply, repayment: RepayReply) -> None:
    paid_out: TransferState = shop.loans.wait(loan)
    repaid: PaymentState = shop.loans.wait(repayment)
    mixed: PaymentState = shop.loans.wait(loan)  # wrong
    print(paid_out, repaid, mixed)


async def pay(shop: AsyncKasuwa) -> None:
    wallet = await shop.resources.wallet()
    total: Decimal = wallet.data[0].available
    people = [person.client_id async for person in shop.clients.list()]
    first = (await shop.clients.list(limit=1)).data
    shop.resources.wallet().data  # wrong
    print(total, people, first)


asyncio.run(pay(AsyncKasuwa(mid="GP0000001", key="secret")))
event = verify_event(b"", {}, "key")
amount: Decimal = event.charged_amount
print(event.order_ref)  # wrong
if event.kind == "transfer":
    order: str = event.order_ref
elif isinstance(event, BillEvent):
    commission: Decimal = event.commission
    print(event.refund_of)  # wrong
elif event.kind == "payout":  # wrong
    pass
elif event.kind == "unknown":
    kind: str = event.sent_kind  # wrong
paid: bool = shop.payment.is_paid("GP1", amount=1500.0)  # wrong
app = EventApp(shop, lambda event: event.txn_ref.upper())
EventApp(shop, lambda event: event.order_ref)  # wrong
"""


def check_types(folder: Path, include: list[Path]) -> str:
    """Returns what pyright reports as JSON, for the oldest Python that the client supports."""
    modules = install_npm_packages(LOCK)
    config = {
        "include": [os.path.relpath(path, folder) for path in include],
        "extraPaths": [str(SOURCES)],
        "pythonVersion": "3.9",
        "typeCheckingMode": "strict",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    arguments: list[str | Path] = [modules / "pyright" / "index.js", "--outputjson", "--pythonpath", sys.executable]
    try:
        output = run_node([*arguments, "--project", folder], folder)
    except NodeFailed as error:
        output = str(error).partition("\n")[2]
    return output[output.index("{") :]


@pytest.fixture(scope="module")
def diagnostics() -> list[tuple[Path, int, str]]:
    """The errors and warnings of one run over the client and the sample: starting pyright takes longer than checking.
    It runs once for the same texts and packages."""
    texts = [*sorted(SOURCES.rglob("*.py")), *(LOCK / name for name in MANIFESTS), Path(__file__)]
    installed = sorted(f"{one.name} {one.version}" for one in distributions())

    def make(folder: Path) -> None:
        folder.mkdir()
        (folder / "sample.py").write_text(SAMPLE)
        (folder / "found.json").write_text(check_types(folder, [SOURCES, folder / "sample.py"]))

    digest = digest_of(*texts, sys.version.encode(), "\n".join(installed).encode())
    found = json.loads((made_once(CACHE / "built" / f"pyright-{digest}", make) / "found.json").read_text())
    return [
        (Path(one["file"]), one["range"]["start"]["line"] + 1, one["message"])
        for one in found["generalDiagnostics"]
        if one["severity"] in ("error", "warning")
    ]


def test_the_client_is_clean_in_strict_mode_for_python_3_9(diagnostics: list[tuple[Path, int, str]]) -> None:
    assert [found for found in diagnostics if found[0].name != "sample.py"] == []


def test_wrong_calls_are_reported_and_right_ones_are_not(diagnostics: list[tuple[Path, int, str]]) -> None:
    wrong = {number for number, line in enumerate(SAMPLE.splitlines(), 1) if line.endswith("# wrong")}
    reported = {line: text for path, line, text in diagnostics if path.name == "sample.py"}
    assert set(reported) == wrong, reported
