"""Every command that changes or reveals something is in the audit trail, with the system's user.

The tree of commands is walked: one that is added must be named here, as one that only looks or with how it is run.
"""

import getpass
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest

from kasuwa.commands import database
from tests.commands import leaf_commands
from tests.merchant_client import MerchantClient, new_reference
from tests.methods.clients.enrollment import BVN, enroll
from tests.methods.disputes.dispute_client import open_dispute
from tests.methods.loans.lending_client import LendingClient
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment, Deployments

WORLD_VERBS = ("snapshot", "restore", "fork", "list", "compare", "export", "import", "delete")
# What changes nothing and shows nothing that is personal or secret. `migrate` on an empty or current database has
# nothing to tell; what it applies to one of before is noted, and so is what `serve` starts with.
ONLY_LOOK = {"serve", "migrate", "audit", "doctor", "listen", "trigger", "log"}
ONLY_LOOK |= {
    "reconcile disputes",
    "reconcile settlements",
    "reconcile unclaimed",
    "reconcile suspense",
    "reconcile show",
    "report tax",
}
# They are clients of a test server, with a merchant's key.
ONLY_LOOK |= {"certify", "mcp", "record", "case replay"} | {f"world {verb}" for verb in WORLD_VERBS}
ONLY_LOOK |= {"twin dojah", "twin monnify", "twin paystack", "twin termii", "twin vtpass"}  # simulators
ONLY_LOOK |= {"rail accounts"}  # with --same it is recorded, see tests/rails/vendors/test_live_choice.py
ONLY_LOOK |= {"rail check"}  # it orders from a rail, and knows no deployment
ONLY_LOOK |= {"verify"}  # it reads a file
ONLY_LOOK |= {"docs"}  # it writes pages that are public
ONLY_LOOK |= {"keys list"}
ONLY_LOOK |= {"close"}  # closes are a record of their own, which nobody can change
ONLY_LOOK |= {
    "status",
    "merchant list",
    "merchant keys",
    "rail shadow",
    "rates list",
    "split list",
    "split statement",
    "user list",
}

# Recorded by tests of their own, which make what they need.
RECORDED_ELSEWHERE = {
    "reconcile assign",
    "reconcile return",  # tests/console/test_suspense.py
    "keys drop",  # tests/privacy/test_key_rotation.py
    "mail bounced",  # tests/methods/mail/test_bounces_live.py
    "database distribute",  # tests/distributed/citus_checks.py
}

MAPPING = '{"date": "date", "amount": "amount"}'
# How each of the others is run, for a merchant {mid} with a client and a loan; and what the trail says of it.
RECORDED = {
    "merchant add": (("Ada Stores",), "added the merchant"),
    "merchant add-key": (("{mid}", "--name", "payroll", "--scope", "payout", "--scope", "read"), "made a key"),
    "merchant roll-key": (("{mid}",), "rolled the key"),
    "merchant revoke-key": (("{mid}", "2"), "revoked a key"),
    "merchant roll-secret": (("{mid}",), "rolled the signing secret"),
    "merchant set": (
        ("{mid}", "--http-codes", "strict", "--tariff", '{"vat_percent_on_fees": "7.5"}'),
        "changed settings",
    ),
    "merchant logo": (("{mid}",), "changed the logo"),
    "dispute open": (("{mid}", "{payment}", "fraudulent", "--hours", "720"), "opened a dispute"),
    "dispute evidence": (("{mid}", "{answered}"), "read the evidence of a dispute"),
    "dispute outcome": (("{mid}", "{answered}", "won"), "dispute won"),
    "dispute card-outcome": (("{mid}", "{filed}", "won"), "card dispute won"),
    "case export": (("{payment}", "--mid", "{mid}"), "exported a case"),
    "client export": (("{mid}", "{client}", "--reveal"), "exported a client, the BVN revealed"),
    "client find": (("{mid}", "--bvn", BVN), "looked for clients by a BVN"),
    "client erase": (("{mid}", "{client}", "--yes"), "erased a client"),
    "customer find": (("{mid}", "ada@example.com"), "looked for a customer by email"),
    "customer export": (("{mid}", "{customer}"), "exported a customer"),
    "customer erase": (("{mid}", "{customer}", "--yes"), "erased a customer"),
    "loan write-off": (("{mid}", "{loan}"), "wrote off a loan"),
    "rates set": (("KES", "--buy", "11.00", "--sell", "12.00"), "rate set"),
    "split add": (("{mid}", "Bola Ade", "058", "0000000000"), "added a beneficiary"),
    "bills refresh": ((), "took the bill catalogue"),
    "reconcile mapping": (("--account", "rail:bank:NGN", "--set", MAPPING), "changed a CSV mapping"),
    "reconcile import": (("{statement}", "--account", "rail:bank:NGN"), "imported a statement"),
    "reconcile feed": (("--account", "rail:card:NGN@trail"), "imported a settlement feed"),
    "reconcile clear-descriptions": ((), "emptied descriptions of statements"),
    "export books": (("{mid}",), "exported the books"),
    "keys rotate": (("--root",), "rotated a key"),
    "restore-test": (("{dsn}",), "tested a restore"),
    "evidence": (("--out", "{evidence}", "--logs", "{statement}"), "made evidence"),
    "user add": (("{email}", "--role", "merchant:finance", "--mid", "{mid}"), "added a person"),
    "user link": (("{email}",), "made a link"),
    "user disable": (("{email}",), "disabled"),
}


@pytest.fixture(scope="module")
def deployment(deployments: Deployments) -> Iterator[Deployment]:
    """A deployment of its own: a new catalogue of bills would show in other tests."""
    with deployments.fresh("command-trail") as running:
        yield running
        assert running.new_stderr() == ""


def test_every_command_is_listed_here() -> None:
    assert {name for name, _ in leaf_commands()} == ONLY_LOOK | RECORDED_ELSEWHERE | set(RECORDED)


def test_every_command_that_changes_or_reveals_data_is_recorded(
    deployment: Deployment, shop: MerchantClient, tmp_path: Path
) -> None:
    statement = tmp_path / "statement.csv"
    statement.write_text("date,amount\n2026-11-02,1.00\n")
    deployment.fetch(
        "insert into rail_settlement (rail, settlement_id, status, currency, amount, settled_on)"
        " values ('trail', 'T-1', 'paid', 'NGN', 100, '2026-11-02')"
    )
    deployment.run_command("close")  # so that the evidence has nothing that needs attention
    payments = PaymentClient(shop)
    payer = {"email": "payer@example.com"}
    opened = open_dispute(payments, payments.paid(user=payer)["txnRef"])
    evidence = {"explanation": "The parcel was handed over."}
    payments.pay(action="dispute_respond", dispute_id=opened["data"]["dispute_id"], evidence=evidence)
    card = CardClient(shop, currency="NGN", amount="2000")
    filed = card.ask("dispute", id=card.buy("40.00")["txnRef"], reason="not received")
    given = {
        "{mid}": shop.mid,
        "{filed}": filed["data"]["dispute_id"],
        "{payment}": payments.paid(user=payer)["txnRef"],
        "{answered}": opened["data"]["dispute_id"],
        "{client}": enroll(shop, bvn=BVN)["client_id"],
        "{customer}": shop.put("resources", request="customer", name="Ada", email="ada@example.com").body["data"][
            "customer_id"
        ],
        "{dsn}": deployment.dsn,
        "{loan}": LendingClient(shop.connection, shop.mid, shop.key).lend(),
        "{statement}": str(statement),
        "{evidence}": str(tmp_path / "evidence"),
        "{email}": f"{new_reference('commanded')}.{shop.mid}@example.com",
    }
    newest = (
        "select actor, address, action, subject, before, after from audit_entry "
        "where actor like 'command:%' order by at"
    )
    for name, (words, what) in RECORDED.items():
        before = len(deployment.fetch(newest))
        deployment.run_command(*name.split(), *(given.get(word, word) for word in words))
        entries = deployment.fetch(newest)[before:]
        assert [entry["action"] for entry in entries] == [what], name
        assert getpass.getuser() in entries[0]["actor"]
        assert entries[0]["address"], "the machine it was run on"
        assert BVN not in str(tuple(entries[0]))
    settings = deployment.fetch(f"select * from ({newest}) e where action = 'changed settings'")[-1]
    assert ('"http_codes":"compat"' in settings["before"], '"http_codes":"strict"' in settings["after"]) == (True, True)
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_refused_command_is_not_recorded(deployment: Deployment, shop: MerchantClient) -> None:
    # Not those of the start of the service, which may still be writing its own.
    entries = (
        "select count(*) from audit_entry where actor like 'command:%' and (action like 'exported a client%'"
        " or action in ('wrote off a loan', 'disabled', 'rolled the key'))"
    )
    before = deployment.fetch(entries)[0][0]
    deployment.run_refused_command("loan", "write-off", shop.mid, "LN999")
    deployment.run_refused_command("user", "disable", "nobody-at-all@example.com")
    deployment.run_refused_command("client", "export", shop.mid, "CL999")
    deployment.run_refused_command("merchant", "roll-key", "GP9999999")
    assert deployment.fetch(entries)[0][0] == before


def test_through_sudo_the_audit_entry_names_the_invoking_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only root's word for it counts: anybody can set a variable."""
    monkeypatch.setenv("SUDO_USER", "ada")
    monkeypatch.setattr("os.getuid", lambda: 0)
    assert database.system_user() == f"ada as {pwd.getpwuid(0).pw_name}"
    monkeypatch.setattr("os.getuid", lambda: 54_321)
    assert database.system_user() == "uid 54321"


def test_user_link_makes_a_new_link_and_needs_reset_for_joined_users(
    deployment: Deployment, shop: MerchantClient
) -> None:
    email = f"{new_reference('linked')}.{shop.mid}@example.com"
    first = deployment.run_command("user", "add", email, "--role", "merchant:owner", "--mid", shop.mid)
    assert "user link" in deployment.run_refused_command(
        "user", "add", email, "--role", "merchant:owner", "--mid", shop.mid
    )
    assert deployment.run_command("user", "link", email) != first
    deployment.fetch_as_service("update console_user set joined_at = now(), password = 'x' where email = $1", email)
    assert "--reset" in deployment.run_refused_command("user", "link", email)
    assert "/link/" in deployment.run_command("user", "link", email, "--reset")
    [[password]] = deployment.fetch("select password from console_user where email = $1", email)
    assert password is None
