"""`kasuwa split`: beneficiaries and their statements."""

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment


def add(deployment: Deployment, shop: MerchantClient, name: str = "Bola Ade") -> str:
    output = deployment.run_command("split", "add", shop.mid, name, "058", "0000000000")
    word, ref_code = output.split()
    assert word == "ref_code"
    return ref_code


def test_the_statement_of_a_beneficiary_lists_shares_and_payouts(shop: MerchantClient, deployment: Deployment) -> None:
    ref_code, payments_client = add(deployment, shop), PaymentClient(shop)
    assert deployment.run_command("split", "statement", shop.mid, ref_code).strip() == "nothing has been posted yet"
    payments = [payments_client.paid(split=[{"ref_code": ref_code, "share": share}]) for share in ("100.00", "250.50")]
    assert [paid["txnStatus"] for paid in payments] == ["successful", "successful"]
    (listed,) = deployment.run_command("split", "list", shop.mid).splitlines()
    assert listed.split() == [ref_code, "058", "0000000000", "350.50", "Bola", "Ade"]
    shop.advance(days=2)
    lines = [line.split() for line in deployment.run_command("split", "statement", shop.mid, ref_code).splitlines()]
    assert [line[1:] for line in lines[:2]] == [
        ["part", payments[0]["txnRef"], "100.00", "100.00"],
        ["part", payments[1]["txnRef"], "250.50", "350.50"],
    ]
    assert (lines[2][1], lines[2][3:], len(lines)) == ("payout", ["-350.50", "0.00"], 3)
    assert [line[0] for line in lines] == sorted(line[0] for line in lines)


def test_beneficiaries_are_listed_oldest_first(shop: MerchantClient, deployment: Deployment) -> None:
    assert "no beneficiaries" in deployment.run_command("split", "list", shop.mid)
    codes = [add(deployment, shop, name) for name in ("A", "B")]
    assert [line.split()[0] for line in deployment.run_command("split", "list", shop.mid).splitlines()] == codes


def test_split_commands_report_errors_in_one_line(shop: MerchantClient, deployment: Deployment) -> None:
    refused = deployment.run_refused_command("split", "add", shop.mid, "Bola", "058", "0123456780")
    assert "accountnumber: " in refused
    assert "bankcode: " in deployment.run_refused_command("split", "add", shop.mid, "Bola", "nowhere", "0000000000")
    assert "name: " in deployment.run_refused_command("split", "add", shop.mid, "", "058", "0000000000")
    assert "no merchant" in deployment.run_refused_command("split", "add", "GP9999999", "Bola", "058", "0000000000")
    assert "no beneficiary" in deployment.run_refused_command("split", "statement", shop.mid, "RSnobody")
