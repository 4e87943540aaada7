"""Incidents of a live deployment on the vendors' twins, each exported as a case and played in a test server."""

import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from kasuwa.cases.export import CaseRefused, collect_case, find_merchant
from kasuwa.integration.recording import read_recording
from kasuwa.testing.cases.case_file import CaseFile, read_case, render_case
from kasuwa.testing.cases.case_merchant import CannotReplay
from kasuwa.testing.cases.replay import Report, run_replay
from kasuwa.testing.exchanges import Exchange, UnreadableRecording
from tests.cases.incidents import ACCOUNT, INCIDENTS, METER, OTHER_ACCOUNT, OTP, PENDING_ACCOUNT, WRONG_OTP
from tests.cases.live_ground import SECRET, LiveGround, LiveShop, running
from tests.command_processes import run_kasuwa
from tests.merchant_client import MerchantClient
from tests.running import DEMO_KEY, DEMO_MID, Deployment, Deployments
from tests.webhooks.event_log import wait_until

# One live deployment serves all of them.
pytestmark = pytest.mark.xdist_group("live cases")

NAMES = [incident.__name__ for incident in INCIDENTS]
# What people are called, how they are reached, and what opens something.
PEOPLE = ("Obi", "ada@payers.example.com", "8031234567", "803123456", "chidi", ACCOUNT, PENDING_ACCOUNT, OTHER_ACCOUNT)
SECRETS = (METER, OTP, WRONG_OTP, "sk_live_1", "api-1", "PK_1", "SK_1", "test_sk_1", SECRET, "salary-1", "light-bill")


class Incident(msgspec.Struct):
    """An incident that has happened."""

    shop: LiveShop
    reference: str
    text: str  # of its file


@pytest.fixture(scope="module")
def ground(deployments: Deployments) -> Iterator[LiveGround]:
    with running(deployments) as ground:
        yield ground


@pytest.fixture(scope="module")
def incidents(ground: LiveGround) -> dict[str, Incident]:
    shops = ground.open_shops(len(INCIDENTS))
    catalogue: dict[str, Any] = {"action": "pull"}
    wait_until("the catalogue is fetched", lambda: shops[0].client.put("bills", **catalogue).body["data"]["items"])
    happened = {}
    for shop, incident in zip(shops, INCIDENTS, strict=True):
        reference = incident(shop)
        happened[incident.__name__] = Incident(shop, reference, export(ground.deployment, shop, reference))
    assert ground.deployment.broken_invariants([shop.client.mid for shop in shops]) == []
    return happened


def export(deployment: Deployment, shop: LiveShop, reference: str) -> str:
    async def work(connection: Any) -> str:
        vault = await deployment.open_vault(connection)
        return render_case(await collect_case(connection, vault, shop.merchant_id, reference, "live"))

    return deployment.run_on_connection(work)


def replay(file: CaseFile, deployment: Deployment) -> Report:
    return run_replay(file, f"http://127.0.0.1:{deployment.port}", (DEMO_MID, DEMO_KEY), 5.0)


def write_case(incidents: Mapping[str, Incident], name: str, directory: Path) -> Path:
    path = directory / f"{name}.json"
    path.write_text(incidents[name].text)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_an_incident_is_the_same_when_it_is_played(
    name: str, incidents: dict[str, Incident], deployment: Deployment, tmp_path: Path
) -> None:
    file = read_case(write_case(incidents, name, tmp_path))
    assert file.case.outcome
    assert file.case.missing == []
    report = replay(file, deployment)
    assert [one.text for one in report.differences] == []
    assert report.lines[-1] == "equal"


@pytest.mark.parametrize("name", NAMES)
def test_a_case_names_nobody_and_has_no_secret(name: str, incidents: dict[str, Incident]) -> None:
    incident = incidents[name]
    texts = incident.text + json.dumps(json.loads(incident.text))
    references = (incident.reference, incident.shop.client.mid, incident.shop.client.key)
    for hidden in (*PEOPLE, *SECRETS, *references):
        for form in (hidden, b64encode(hidden.encode()).decode().rstrip("="), hidden.encode().hex(), quote(hidden)):
            assert form not in texts, form


def test_the_same_person_has_the_same_pseudonym_in_all_cases(incidents: dict[str, Incident]) -> None:
    emails = set()
    for incident in incidents.values():
        exchanges = json.loads(incident.text)["exchanges"]
        emails |= {one["request"]["user"]["email"] for one in exchanges if "user" in one["request"]}
    assert len(emails) == 1


def test_a_case_is_a_recording(incidents: dict[str, Incident], tmp_path: Path) -> None:
    path = write_case(incidents, "refund_in_several_answers", tmp_path)
    exchanges = read_recording(path, "http://127.0.0.1:1")
    assert [one.action for one in exchanges] == ["payment.initiate card", "payment.refund"]
    assert exchanges[1].reply["refundRef"] == "<refundRef 1>"


# --- differences ----------------------------------------------------------------------------------------------------


def test_another_tariff_shows_in_the_postings_that_differ(
    incidents: dict[str, Incident], deployment: Deployment, tmp_path: Path
) -> None:
    file = read_case(write_case(incidents, "lose_the_answer_of_a_transfer", tmp_path))
    file.case.terms = {"tariff": {"transfer": {"bands": [{"up_to": None, "fee": "77.00"}]}}}
    texts = [one.text for one in replay(file, deployment).differences]
    assert any("missing: posting kind transfer fee" in text for text in texts), texts
    assert any("not recorded: posting kind transfer fee amount 77.00" in text for text in texts)


def test_a_rail_that_answers_otherwise_is_reported(
    incidents: dict[str, Incident], deployment: Deployment, tmp_path: Path
) -> None:
    file = read_case(write_case(incidents, "wait_long_for_a_bill", tmp_path))
    file.case.inputs[-1].content["status"] = "failed"
    texts = [one.text for one in replay(file, deployment).differences]
    assert any("missing: successful" in text for text in texts), texts
    assert any("not recorded: failed" in text for text in texts)


def test_a_later_end_is_reported_with_the_seconds(
    incidents: dict[str, Incident], deployment: Deployment, tmp_path: Path
) -> None:
    file = read_case(write_case(incidents, "wait_long_for_a_bill", tmp_path))
    file.case.inputs[-1].at_ms += 60_000
    texts = [one.text for one in replay(file, deployment).differences]
    assert any("successful came 60.0 s later" in text for text in texts), texts


def test_a_file_changes_nothing_of_the_server_and_sets_no_address(
    incidents: dict[str, Incident], deployment: Deployment, tmp_path: Path
) -> None:
    file = read_case(write_case(incidents, "lose_the_answer_of_a_transfer", tmp_path))
    sent = {"action": "webhook", "url": "http://127.0.0.1:9/"}
    file.exchanges.append(Exchange("sandbox.webhook", sent, 200, {}, timing={"at_ms": 1, "ms": 0}))
    file.exchanges.append(Exchange("../sandbox.webhook", sent, 200, {}, timing={"at_ms": 2, "ms": 0}))
    lines = replay(file, deployment).lines
    assert [line.strip().split("  ", 1)[1] for line in lines if "webhook" in line] == [
        "sandbox.webhook: not played",
        "../sandbox.webhook: not played",
    ]


def test_a_step_that_makes_no_sense_is_refused_in_one_line(
    incidents: dict[str, Incident], deployment: Deployment, tmp_path: Path
) -> None:
    file = read_case(write_case(incidents, "wait_long_for_a_bill", tmp_path))
    file.case.inputs[0].kind, file.case.inputs[0].reference = "dispute", "<txnRef 9>"
    with pytest.raises(CannotReplay, match=r"the step at 00:00:00.* cannot be played"):
        replay(file, deployment)


def test_the_wallet_was_short_and_is_short_again(
    incidents: dict[str, Incident], deployment: Deployment, tmp_path: Path
) -> None:
    file = read_case(write_case(incidents, "lose_the_answer_of_a_transfer", tmp_path))
    file.case.wallets["NGN"] = "10.00"
    texts = [one.text for one in replay(file, deployment).differences]
    assert any("disburse.transfer is refused" in text for text in texts), texts


# --- the commands ---------------------------------------------------------------------------------------------------


def test_the_command_exports_and_replays_and_writes_a_test(
    ground: LiveGround, incidents: dict[str, Incident], deployment: Deployment, tmp_path: Path
) -> None:
    incident = incidents["reverse_one_order_of_a_bulk"]
    file, test = tmp_path / "bulk.json", tmp_path / "suite" / "test_bulk.py"
    assert ground.deployment.run_command("case", "export", incident.reference, "--to", str(file)) == ""
    assert file.read_text() == incident.text
    entry = "select actor, subject from audit_entry where merchant_id = $1 and action = 'exported a case'"
    [(actor, subject)] = ground.deployment.fetch(entry, incident.shop.merchant_id)
    assert (actor.startswith("command:"), subject) == (True, incident.reference)
    test.parent.mkdir()
    url = f"http://127.0.0.1:{deployment.port}"
    played = run_kasuwa(("case", "replay", str(file), "--url", url, "--pytest", str(test)), {})
    assert (played.returncode, played.stdout.splitlines()[-1]) == (0, "equal"), played
    assert (test.parent / "bulk.json").read_text() == incident.text
    run = run_pytest(test, url)
    assert run.returncode == 0, run.stdout
    case = json.loads(file.read_text())
    # The orders of a bulk are answered in any order.
    succeeded = [one for one in case["case"]["inputs"] if one["content"].get("status") == "successful"]
    succeeded[-1]["content"] = {"status": "failed", "code": "51"}
    file.write_text(json.dumps(case))
    differing = run_kasuwa(("case", "replay", str(file), "--url", url), {})
    assert (differing.returncode, differing.stdout.splitlines()[-1][-11:]) == (1, "differences"), differing


def run_pytest(test: Path, url: str) -> Any:
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--kasuwa-url", url, str(test))
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=test.parent)


def test_a_reference_of_two_merchants_is_refused_until_one_is_named(ground: LiveGround) -> None:
    first, second = ground.open_shops(2)
    fields = {"amount": "120.00", "bankcode": "058", "accountnumber": ACCOUNT, "orderRef": "rent-of-july"}
    for shop in (first, second):
        shop.put("disburse", action="transfer", **fields, narration=f"for {shop.client.mid}")

    async def find(connection: Any) -> int:
        return await find_merchant(connection, "rent-of-july")

    with pytest.raises(CaseRefused, match=f"several merchants .* {first.client.mid}, {second.client.mid}"):
        ground.deployment.run_on_connection(find)
    text = export(ground.deployment, first, "rent-of-july")
    assert json.loads(text)["case"]["reference"] == "<orderRef 1>"
    assert len(json.loads(text)["exchanges"]) == 1
    assert second.client.mid not in text


def test_a_case_of_a_test_server_is_played_too(
    open_shop: Callable[..., MerchantClient], deployment: Deployment, tmp_path: Path
) -> None:
    client = open_shop(now="2026-01-05T09:30:00+01:00")
    [(merchant_id,)] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", client.mid)
    shown = client.put("payment", action="charge", paymentType="bank_transfer", amount="1800.00").body
    client.advance(minutes=3)
    paid = client.put("sandbox", action="pay_account", accountNumber=shown["accountNumber"], amount="1800.00").body
    assert paid["txnStatus"] == "successful"

    async def work(connection: Any) -> str:
        vault = await deployment.open_vault(connection)
        return render_case(await collect_case(connection, vault, merchant_id, shown["txnRef"], "test"))

    file = tmp_path / "case.json"
    file.write_text(deployment.run_on_connection(work))
    assert shown["accountNumber"] not in file.read_text()
    report = replay(read_case(file), deployment)
    assert [one.text for one in report.differences] == []


def test_an_unknown_reference_is_refused(ground: LiveGround, incidents: dict[str, Incident]) -> None:
    shop = incidents["lose_the_answer_of_a_transfer"].shop

    async def find(connection: Any) -> int:
        return await find_merchant(connection, "nobody's")

    with pytest.raises(CaseRefused, match="no merchant has this reference"):
        ground.deployment.run_on_connection(find)
    with pytest.raises(CaseRefused, match="nothing is recorded"):
        export(ground.deployment, shop, "nobody's")
    other = incidents["wait_long_for_a_bill"].reference
    with pytest.raises(CaseRefused, match="nothing is recorded"):
        export(ground.deployment, shop, other)


def test_a_file_that_is_no_case_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    for text, reason in (("{", "is no case"), ('{"exchanges": []}', "is no case"), ('{"case": {"form": 9}}', "form 9")):
        file.write_text(text)
        with pytest.raises(UnreadableRecording, match=reason):
            read_case(file)
    with pytest.raises(UnreadableRecording, match="cannot be read"):
        read_case(tmp_path / "missing.json")
