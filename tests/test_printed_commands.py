"""Every command line that documentation and help print is run as printed, or is listed here with the reason why not."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from kasuwa.__main__ import COMMANDS, load_command
from kasuwa.cluster.certificates import CertificateFiles, PeerCertificates, try_own
from kasuwa.doctor.peers import examine_certificates
from tests.cli.test_command_trail import RECORDED
from tests.commands import is_option, leaf_commands
from tests.merchant_client import MerchantClient
from tests.methods.disputes.dispute_client import open_dispute
from tests.methods.payment.payment_client import PaymentClient
from tests.printed_commands import commands_of, printed_commands
from tests.running import Deployment, Deployments, copy_cluster
from tests.simulate.processes import run_command
from tests.source_rules import REPOSITORY

PRINTED = printed_commands()
LEAVES = dict(leaf_commands())
# Pages that a test of their own follows line by line.
FOLLOWED = {
    "docs/quickstart.md": "tests/test_quickstart.py",
    "docs/going-live.md": "tests/test_going_live.py",
    "docs/recipes/rail/README.md": "tests/rails/remote/test_remote_live.py",
}
UNTIL_STOPPED = "runs until it is stopped"
# Command lines of `kasuwa` that are not run here.
NOT_RUN = {
    "kasuwa serve": f"{UNTIL_STOPPED}: tests/cli/test_command_serve.py",
    "KASUWA_DATA=$RESTORED kasuwa serve": f"{UNTIL_STOPPED}: tests/simulate/test_restore.py",
    "kasuwa serve --port 0 --console-port 0 --data DIRECTORY --ready-file FILE": "tests/cli/test_command_serve.py",
    "kasuwa serve --port 0 --console-port 0 --ready-file PATH": "tests/cli/test_command_serve.py",
    "KASUWA_PEER_LISTEN=10.0.0.1:7400 KASUWA_PEER_CERTIFICATE=/etc/kasuwa/peer.pem "
    "KASUWA_PEER_KEY=/etc/kasuwa/peer.key KASUWA_PEER_CA=/etc/kasuwa/peer-ca.pem kasuwa serve": "needs hosts",
    "kasuwa listen": f"{UNTIL_STOPPED}: tests/cli/test_listen.py",
    "kasuwa listen --forward-to URL": f"{UNTIL_STOPPED}: tests/cli/test_listen.py",
    "kasuwa listen --forward-to http://127.0.0.1:9000/events": f"{UNTIL_STOPPED}: tests/cli/test_listen.py",
    "kasuwa log --follow": f"{UNTIL_STOPPED}: tests/cli/test_listen.py",
    "kasuwa serve --replay": f"{UNTIL_STOPPED}: tests/certify/test_record.py",
    "kasuwa serve --replay flow.json --port 8080": f"{UNTIL_STOPPED}: tests/certify/test_record.py",
    "kasuwa record --to flow.json -- python my_app.py": "needs an application: tests/certify/test_record.py",
    'kasuwa certify --app http://127.0.0.1:9000/events --secret "$KASUWA_SIGNING_SECRET"': (
        "needs an application: tests/certify/test_command.py"
    ),
    'kasuwa certify --app http://127.0.0.1:9000/events --run "python shop.py" --order http://127.0.0.1:9000/orders '
    "--order-body book --payout http://127.0.0.1:9000/payouts "
    '--fulfilled "http://127.0.0.1:9000/orders/{txnRef}" --html report.html --junit report.xml': (
        "needs an application: tests/certify/test_command.py"
    ),
    **{
        f"kasuwa case {words}": "needs an incident: tests/cases/test_incidents.py"
        for words in (
            'export "GP|FD|652185982|20261119P" --to lost-answer.json',
            "replay lost-answer.json",
            "replay lost-answer.json --pytest tests/test_lost_answer.py",
            "replay FILE --pytest TEST",
        )
    },
    **dict.fromkeys(
        (
            "kasuwa mcp",
            "kasuwa mcp --http 8090",
            "KASUWA_URL=https://pay.example.com KASUWA_MID=GP0000042 KASUWA_KEY=… kasuwa mcp",
        ),
        f"{UNTIL_STOPPED}: tests/assistant",
    ),
    "kasuwa twin paystack": f"{UNTIL_STOPPED}: tests/cli/test_command_twin.py",
    "kasuwa database distribute": "needs Citus: tests/distributed/citus_checks.py",
    "kasuwa rail check https://rail.example --secret-file secret --key-id key-1": "needs a rail: tests/rails/remote",
    "kasuwa rail accounts --same RAIL": "needs a vendor's account: tests/rails/vendors/test_live_choice.py",
    'kasuwa merchant set MID --rails \'{"bank": ["monnify"], "card": ["paystack"]}\'': "needs two vendors' keys",
    "kasuwa reconcile assign REFERENCE MID --reason … --as EMAIL": "needs unclaimed money: test_suspense.py",
    "kasuwa reconcile return REFERENCE …": "needs unclaimed money: tests/console/test_suspense.py",
    "kasuwa reconcile feed --account rail:card:NGN@paystack": "needs a vendor's settlements: cli/test_command_trail.py",
    "KASUWA_NEW_SECRET_KEY_FILE=new_key kasuwa keys rotate --kek": "tests/privacy/test_key_rotation.py",
    "kasuwa keys rotate --kek": "needs a new key: tests/privacy/test_key_rotation.py",
    "kasuwa keys drop --kek": "needs a rotation that has ended: tests/privacy/test_key_rotation.py",
    "kasuwa keys drop VERSION": "needs a rotation that has ended: tests/privacy/test_key_rotation.py",
    "kasuwa --install-completion": "changes the settings of a shell: tests/cli/test_commands.py",
    "kasuwa --show-completion": "needs a shell: tests/cli/test_commands.py",
}
# Lines whose command ends with 1 if it has something to report.
REPORTS = {"kasuwa doctor", "kasuwa evidence --out DIR"}
# Commands whose usage is in docs/commands.md and that neither a line here nor cli/test_command_trail.py runs.
RUN_ELSEWHERE = {
    **{name: NOT_RUN["kasuwa twin paystack"] for name in LEAVES if name.startswith("twin ")},
    **{name: "tests/cli/test_world.py" for name in LEAVES if name.startswith("world ")},
    "serve": NOT_RUN["kasuwa serve"],
    "listen": NOT_RUN["kasuwa listen"],
    "database distribute": NOT_RUN["kasuwa database distribute"],
    "reconcile assign": "tests/console/test_suspense.py",
    "reconcile return": "tests/console/test_suspense.py",
    "reconcile settlements": "tests/reconciliation",
    "keys drop": "tests/privacy/test_key_rotation.py",
    "rail check": "tests/rails/remote/test_conformance_kit.py",
    "trigger": "tests/cli/test_listen.py",
    "certify": "tests/certify/test_command.py",
    "mcp": "tests/assistant",
    "record": "tests/certify/test_record.py",
    "case replay": "tests/cases/test_incidents.py",
    "docs": "tests/documentation/test_site.py",
    "merchant list": "tests/cli/test_command.py",
    "merchant keys": "tests/cli/test_command.py",
    "rates list": "tests/cli/test_command_rates.py",
    "split list": "tests/cli/test_command_split.py",
    "split statement": "tests/cli/test_command_split.py",
    "user list": "tests/cli/test_command.py",
}
# A word in capitals, or a variable, stands for something of the reader's.
PLACEHOLDER = re.compile(r"[A-Z][A-Z_]+|\$\w+|.*…")
# Targets of other programs.
OTHER_MAKE = {"make install"}


def words_of(line: str) -> list[str]:
    """Returns the words of a line after `kasuwa`, without the redirection of its output."""
    words = shlex.split(line)
    return words[words.index("kasuwa") + 1 : words.index(">") if ">" in words else None]


def leaf_of(words: list[str]) -> str | None:
    """Returns the command that is named, or None if it is a group."""
    for count in (2, 1):
        if (name := " ".join(words[:count])) in LEAVES:
            return name
    return None


def is_complete(line: str) -> bool:
    """Whether a line has the arguments that its command requires. If not, the line only mentions the command."""
    name = leaf_of(words_of(line))
    if name is None:
        return words_of(line)[0].startswith("-")
    given = words_of(line)[len(name.split()) :]
    required = [one for one in LEAVES[name].params if one.required]
    options = sum(1 for one in required if is_option(one) and one.opts[0] in given)
    values = [word for word in given if not word.startswith("-")]
    return len(required) == options + min(len(values), len(required) - sum(map(is_option, required)))


def own_lines(program: str) -> list[str]:
    """Returns the lines of a program that are on pages which no other test follows."""
    return sorted(
        line for line, places in PRINTED.items() if re.search(rf"(^| ){program} ", line) and places - set(FOLLOWED)
    )


KASUWA = [line for line in own_lines("kasuwa") if "[OPTIONS]" not in line and "kasuwa verify FILE" not in line]
RUN = [line for line in KASUWA if is_complete(line) and line not in NOT_RUN and line != "kasuwa docs --out OUT"]


def statement_in_two_pages(shop: MerchantClient) -> list[Any]:
    """Returns the pages of the wallet's statement of today, with their proofs."""
    today = shop.put("sandbox", action="clock").body["now"][:10]
    period: dict[str, Any] = {"inquire": "statement", "account": "wallet", "from": today, "to": today, "proof": True}
    first = shop.put("resources", **period, limit=1).body
    assert first["next_cursor"] is not None
    second = shop.put("resources", **period, cursor=first["next_cursor"]).body
    assert second["next_cursor"] is None
    return [first, second]


class Reader:
    """A reader of the pages, with a deployment and the files that the lines name."""

    def __init__(self, deployment: Deployment, directory: Path) -> None:
        self.deployment = deployment
        self.directory = directory
        shop = deployment.open_shop()
        payments = PaymentClient(shop)
        dispute = open_dispute(payments, payments.paid()["txnRef"])["data"]["dispute_id"]
        evidence = {"explanation": "The parcel was handed over."}
        payments.pay(action="dispute_respond", dispute_id=dispute, evidence=evidence)
        paid = payments.paid()["txnRef"]
        deployment.run_command("close")
        proof = shop.put("resources", inquire="proof", reference=paid).body
        (directory / "proof.json").write_text(json.dumps(proof))
        for n, page in enumerate(statement_in_two_pages(shop), 1):
            (directory / f"page{n}.json").write_text(json.dumps(page))
        (directory / "october.csv").write_text("date,amount,reference\n2026-10-02,1.00,a\n")
        (directory / "mapping.json").write_text('{"date": "date", "amount": "amount", "reference": ["reference"]}')
        restored = directory / "restored"
        copy_cluster(restored)
        assert run_command(["migrate"], {"KASUWA_DATA": str(restored)}).returncode == 0
        shop.connection.close()
        self.given: Mapping[str, str] = {
            "MID": shop.mid,
            "DISPUTE_ID": dispute,
            "$RESTORED": str(restored),
            "KEY": deployment.run_command("close", "--public-key").strip(),
        }

    def run(self, line: str) -> "subprocess.CompletedProcess[str]":
        """Runs a line. The server that it means by default is at another port here."""
        words = [self.fill_in(word, n) for n, word in enumerate(words_of(line))]
        name = leaf_of(words)
        options = {spelling for one in LEAVES[name].params for spelling in one.opts} if name else set()
        if "--server" in options and "--server" not in words:
            words += ["--server", f"http://127.0.0.1:{self.deployment.port}"]
        return self.deployment.run_any_command(*words)

    def fill_in(self, word: str, n: int) -> str:
        for name in ("DIR", "proof.json", "page", "october", "mapping.json"):
            place = f"dir{n}" if word == "DIR" else word.removeprefix("@").replace("DIR", "evidence")
            if word.removeprefix("@").startswith(name):
                return ("@" if word.startswith("@") else "") + str(self.directory / place)
        return self.given.get(word, word)


@pytest.fixture(scope="module")
def reader(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    with deployments.fresh("printed-commands") as deployment:
        yield Reader(deployment, tmp_path_factory.mktemp("printed"))


def test_the_printed_commands_run_as_printed(reader: Reader) -> None:
    """They are run in one test, because some use what others have made."""
    reader.deployment.run_any_command("evidence", "--out", str(reader.directory / "evidence"))
    wrong: dict[str, Any] = {}
    # A statement is imported with its mapping before it is imported and shown without.
    for line in sorted(RUN, key=lambda line: ("reconcile" in line, "@mapping.json" not in line)):
        done = reader.run(line)
        if done.stderr or done.returncode > (line in REPORTS):
            wrong[line] = (done.returncode, done.stdout[-500:], done.stderr[-500:])
    assert wrong == {}, "\n".join(map(repr, wrong.items()))


def test_the_printed_certificates_of_hosts_are_accepted(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs/operating.md").read_text()
    section = page.partition('<a id="certificates"></a>')[2].partition("\n## Logins")[0]
    blocks = re.findall("```sh\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 2
    done = subprocess.run(["sh", "-ec", "".join(blocks)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    files = CertificateFiles(tmp_path / "peer.pem", tmp_path / "peer.key", tmp_path / "peer-ca.pem")
    made = PeerCertificates(files)
    assert try_own(made, "10.0.0.1") == ""
    assert [finding.what for finding in examine_certificates(made, "10.0.0.1") if finding.remedy] == []


@pytest.mark.parametrize("line", KASUWA)
def test_printed_commands_and_options_exist(line: str) -> None:
    words = words_of(line)
    if words[0].startswith("-"):
        return
    found = load_command(words[0]) if words[0] in COMMANDS else None
    assert found is not None, line
    if isinstance(found, TyperGroup) and len(words) > 1:
        assert words[1] in found.commands, line
    name = leaf_of(words)
    options = {spelling for one in LEAVES[name].params for spelling in one.opts} if name else set()
    # What follows -- alone are the words of another program.
    ours = words[: words.index("--")] if "--" in words else words
    assert {word for word in ours if word.startswith("--")} <= options, line


def test_every_line_that_is_run_says_all_that_it_needs() -> None:
    """A word for something of the reader's must be known here, else the line would fail for its own sake."""
    known = {"MID", "DISPUTE_ID", "DIR", "KEY", "$RESTORED"}
    unknown = {word for line in RUN for word in words_of(line) if PLACEHOLDER.fullmatch(word)} - known
    assert unknown == set()


def test_the_lists_of_lines_have_nothing_that_is_printed_no_more() -> None:
    assert set(NOT_RUN) <= set(KASUWA)
    assert set(RUN_ELSEWHERE) <= set(LEAVES)
    assert [place for pair in FOLLOWED.items() for place in pair if not (REPOSITORY / place).exists()] == []


def test_every_command_is_run_by_some_test() -> None:
    here = {leaf_of(words_of(line)) for line in RUN}
    assert set(LEAVES) - here - set(RECORDED) == set(RUN_ELSEWHERE) - here - set(RECORDED)


def test_printed_targets_of_make_and_modules_of_python_exist() -> None:
    """They take minutes, or write files of the repository: the tests run them in pieces."""
    makefile = (REPOSITORY / "Makefile").read_text()
    for line in own_lines("make"):
        target = line.split()[1]
        assert line in OTHER_MAKE or re.search(rf"^{target}:", makefile, re.MULTILINE), line
    for line in own_lines("python"):
        words = line.split()
        if words[1] == "-m":
            assert find_spec(words[2]) is not None, line
        elif words[1].startswith("docs/"):
            assert (REPOSITORY / words[1]).exists(), line


def test_commands_are_found_in_text_and_in_blocks_of_a_shell() -> None:
    shell = "```sh\nkasuwa user add a@b.co \\\n    --role x  # why\n```\n"
    page = f"Run `kasuwa audit` or\n{shell}```json\nkasuwa no\n```\n"
    assert list(commands_of(page)) == ["kasuwa audit", "kasuwa user add a@b.co --role x"]
    assert list(commands_of("`kasuwa head 1` `kasuwa.events` `MID`")) == []
