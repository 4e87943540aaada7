"""The conformance kit against the example rail, which passes, and against rails with one fault each, which do not."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from kasuwa.rails.check import card_checks, collection_checks
from kasuwa.rails.check.all_checks import ALL_CHECKS
from kasuwa.rails.check.callback_listener import CallbackListener
from kasuwa.rails.check.client import RailClient, TooLate
from kasuwa.rails.check.run import Check, CheckRun, Options, Report, run_checks
from tests.command_processes import run_kasuwa
from tests.rails.remote.example_rails import FOLDER, SECRET, ExampleRail, running_rail
from tests.running import free_port

LONGEST_RAIL = 150


def check(rail: ExampleRail, callback_port: int | None = None, checks: dict[str, Check] = ALL_CHECKS) -> Report:
    async def run() -> Report:
        listener = CallbackListener(SECRET)
        if callback_port is not None:
            await listener.start("127.0.0.1", callback_port)
        keys = None if callback_port is None else listener.keys
        network = None if callback_port is None else listener.network
        try:
            async with RailClient(rail.url, SECRET) as client:
                return await run_checks(client, checks, Options(restart=rail.restart, callbacks=keys, network=network))
        finally:
            await listener.stop()

    return asyncio.run(run())


def test_the_example_rail_passes_every_check(tmp_path: Path) -> None:
    port = free_port()
    callback = f"http://127.0.0.1:{port}/rails/remote"
    with running_rail(tmp_path, {}, **{"callback": callback, "open-seconds": "0.2"}) as rail:
        report = check(rail, port)
    assert [result for result in report.checks if result.result != "passed"] == []
    assert len(report.checks) == len(ALL_CHECKS) + 4
    assert report.calls > 100


def test_the_example_rail_is_short() -> None:
    lines = [line for line in (FOLDER / "example_rail.py").read_text().splitlines() if line.strip()]
    assert len(lines) <= LONGEST_RAIL


# Each mutant: its name, what is replaced in the example rail, and a part of a sentence that the kit must say.
FOUND = "                return found[1]\n            answer = {"
RESPENT = (
    '                self.db.execute("update entry set spent = 2 * spent where key = ?", (request["key"],))\n' + FOUND
)
DECIDED = "            answer |= self.orders"
NOT_KNOWN = 'else {"outcome": "not_found", "key": key}'
MUTANTS = {
    "tells of a person who refuses": (
        {'return {"outcome": "consent_refused"}': "return PERSON"},
        "/identity answered 'found' for a person who refuses: nothing of the person may be shown.",
    ),
    "pays twice on repeat": ({FOUND: RESPENT}, "A repeated transfer was paid twice"),
    "forgets after a restart": (
        {"sqlite3.connect(data,": 'sqlite3.connect(":memory:",'},
        "After a restart the rail does not know a transfer that it has paid.",
    ),
    "says not found while in progress": (
        {
            "return found[1] if found else": 'return found[1] if found and found[1]["outcome"] != "processing" else',
            'return self.query(kind, request["key"])': 'return self.find(kind, request["key"])[1]',
        },
        "The query of a transfer in progress answered not_found: money could be sent twice.",
    ),
    "ignores signatures": (
        {"if not hmac.compare_digest(expected, given[3]) or": "if"},
        "A transfer signed with a wrong secret was answered HTTP 200 'successful' instead of HTTP 401.",
    ),
    "ignores times": (
        {" or abs(time.time() - int(given[1])) > WINDOW_SECONDS": ""},
        "A transfer signed six minutes ago was answered HTTP 200 'successful' instead of HTTP 401.",
    ),
    "answers floats": (
        {
            DECIDED: f'            answer["amount"] = request.get("amount", 1) / 1\n{DECIDED}',
        },
        "has another form than the protocol says: Expected `int | null`, got `float`",
    ),
    "answers another amount": (
        {
            DECIDED: f'            answer["amount"] = request.get("amount", 1) + 1\n{DECIDED}',
        },
        "/transfers answered with the amount 10001 instead of 10000.",
    ),
    "takes fractions": (
        {"type(amount) is not int": "not isinstance(amount, int | float)"},
        "A transfer of the amount 100.5 was answered HTTP 200 'successful' instead of HTTP 400.",
    ),
    "does two at once": (
        {
            "with self.lock:\n            if found": "if True:\n            if found",
            "            spent = request": "            time.sleep(0.05)\n            spent = request",
            ", primary key (kind, key)": "",
        },
        "8 equal transfers at once were paid",
    ),
    "answers 404 for an unknown key": (
        {NOT_KNOWN: "else exec(\"raise Refused(404, 'no_such_order', '')\")"},
        "The query of a key that was never used answered HTTP 404 'no_such_order' instead of HTTP 200 'not_found'.",
    ),
    "takes a used key for another order": (
        {"if found[0] != content:": "if False:"},
        "A used key with another amount was answered HTTP 200 'successful' instead of HTTP 409.",
    ),
    "does not sign answers": (
        {'self.send_header("Kasuwa-Signature"': 'self.send_header("Signature"'},
        "is not signed rightly: there is no signature.",
    ),
    "signs answers without their request": (
        {"str(status), digest, reply)": 'str(status), "", reply)'},
        "is not signed rightly: the signature is not that of the message.",
    ),
    "takes money for failed transfers": (
        {' and answer["outcome"] != "failed"': ""},
        "After a failed transfer the balance fell by 10000 instead of 0.",
    ),
    "has a new reference for each answer": (
        {"        return row[0], answer": '        return row[0], answer | {"rail_reference": str(time.time())}'},
        "of /transfers answered another rail_reference",
    ),
    "fails when it is repeated": (
        {FOUND: FOUND.replace("return found[1]", "raise RuntimeError")},
        "/transfers was not answered",
    ),
    "believes every code": (
        {'"successful" if otp == OTP else "wrong_code"': '"successful"'},
        "A wrong code was answered HTTP 200 'successful' instead of 'wrong_code'.",
    ),
    "refunds without end": (
        {'if total + request["amount"] > limit:': "if not limit:"},
        "More was refunded than was paid.",
    ),
    "opens accounts again": (
        {
            'if found := self.find(kind, request["key"]):': (
                'found = self.find(kind, request["key"])\n            if found and kind != "accounts":'
            )
        },
        "A repeat of /accounts opened another account",
    ),
    "has a list for balances": (
        {'{"NGN": self.balance()}': "[self.balance()]"},
        "An answer has another form than the protocol says",
    ),
    "delivers nothing": (
        {'"facts": {"token": f"{len(order[\'key\']):020}"}': '"facts": {}'},
        "A paid bill that delivers electricity_token has no token in its facts.",
    ),
}

MUTANT_COLLECTIONS = {
    "pays pages by itself": (
        {"else NEVER": "else 0"},
        "A card payment without a card was answered HTTP 200 'successful' instead of 'challenge'",
    ),
    "shows no page": (
        {'"auth": "redirect", "url": f"https://rail.example/pay/{key}"': '"auth": "redirect"'},
        "A card payment has no fact url: the payer cannot be sent to the page.",
    ),
    "takes every token": (
        {'if order.get("token") == "T-1" else "failed"': 'if order.get("token") else "failed"'},
        "A charge with an unknown token is 'successful' instead of 'failed'.",
    ),
    "lists a credit twice": (
        {
            '            self.record("credits", credit["rail_reference"]': (
                '            self.record("credits", "D", json.dumps(credit | {"rail_reference": "D"}), answer, 0)\n'
                '            self.record("credits", credit["rail_reference"]'
            )
        },
        "One payment into an account was listed as 2 credits.",
    ),
    "lists the credits of everybody": (
        {'wanted = asked.get("key", "")': 'wanted = ""'},
        "/accounts/credits lists credits of other accounts than the one it was asked for.",
    ),
    "lists without an end": (
        {'(asked.get("after", ""),)': '("",)'},
        "/accounts/credits lists the same credit again after its reference: the list does not end.",
    ),
}
# The other checks wait for payers, and find nothing in these.
CHECKS_OF_MUTANTS = {name: found for name, found in ALL_CHECKS.items() if name not in collection_checks.CHECKS}


@pytest.mark.parametrize("name", [*MUTANTS, *MUTANT_COLLECTIONS])
def test_a_rail_with_a_fault_fails_with_its_sentence(name: str, tmp_path: Path) -> None:
    changes, sentence = {**MUTANTS, **MUTANT_COLLECTIONS}[name]
    checks = CHECKS_OF_MUTANTS if name in MUTANTS else collection_checks.CHECKS
    with running_rail(tmp_path, changes, **{"open-seconds": "0.2"}) as rail:
        report = check(rail, checks=checks)
    sentences = [result.sentence for result in report.failed]
    assert any(sentence in found for found in sentences), sentences


MUTANT_NETWORKS = {
    "signs card messages for another path": (
        {'"/rails/remote/cards"': '"/rails/remote"'},
        "A message about a card was not signed rightly.",
    ),
    "captures without an authorization's key": (
        {'"original_key": key, "amount"': '"original_key": "", "amount"'},
        "A message about a card has another form than documented: original_key is required.",
    ),
    "captures under the key of the authorization": (
        {'"key": f"{key}-c"': '"key": key'},
        "A capture has the key of its authorization: each message has its own.",
    ),
    "captures what was given up": (
        {'"event": "reverse"': '"event": "refund", "amount": 1'},
        "The reversal of",
    ),
    "captures what was declined": (
        {'["outcome"] != "approved":': '["outcome"] == "none":'},
        "An authorization that was declined was captured.",
    ),
    "takes a lost decision for an approval": (
        {"pass  # it was not answered, or with an error": 'return {"outcome": "approved"}'},
        "After a lost decision the rail announced 'reverse'",
    ),
    "repeats under another key": (
        {
            "pass  # it was not answered, or with an error": (
                'body = json.dumps(message | {"key": secrets.token_hex(6)}).encode()'
            )
        },
        "instead of the authorization again.",
    ),
    "believes every decision": (
        {"if given and hmac.compare_digest(": "if given or hmac.compare_digest("},
        "After a decision with a wrong signature the rail announced 'reverse'",
    ),
    "announces another amount": (
        {
            'self.announce({"event": "authorize", "key": key} | wanted | shop)': (
                'self.announce({"event": "authorize", "key": key} | wanted | shop | {"amount": 1})'
            )
        },
        "was announced as 'authorize' of 1 NGN.",
    ),
}


@pytest.mark.parametrize("name", MUTANT_NETWORKS)
def test_a_rail_with_a_fault_about_cards_fails_with_its_sentence(name: str, tmp_path: Path) -> None:
    changes, sentence = MUTANT_NETWORKS[name]
    port = free_port()
    callback = f"http://127.0.0.1:{port}/rails/remote"
    with running_rail(tmp_path, changes, **{"callback": callback, "open-seconds": "0.2"}) as rail:
        report = check(rail, port, card_checks.CHECKS)
    sentences = [result.sentence for result in report.failed]
    assert any(sentence in found for found in sentences), sentences


def test_call_backs_with_a_wrong_signature_are_reported(tmp_path: Path) -> None:
    port = free_port()
    callback = f"http://127.0.0.1:{port}/rails/remote"
    changes = {"'POST', '/rails/remote', body": "'POST', '/', body"}
    with running_rail(tmp_path, changes, **{"callback": callback, "open-seconds": "0.2"}) as rail:
        report = check(rail, port)
    assert {result.sentence for result in report.failed} == {
        "A call-back was not signed rightly, or had no event and key."
    }


def test_a_rail_that_does_not_answer_in_time_answers_too_late() -> None:
    async def run() -> str:
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
            async with RailClient(f"http://127.0.0.1:{silent.getsockname()[1]}", SECRET, seconds=0.2) as client:
                with pytest.raises(TooLate) as raised:
                    await client.call("/transfers", {})
                assert client.faults["slow"] == str(raised.value)
                return str(raised.value)

    assert asyncio.run(run()).startswith("/transfers answers too late: there was no answer within")


def test_no_further_check_is_run_against_a_rail_that_answers_too_late(tmp_path: Path) -> None:
    ran: list[str] = []

    def late(name: str) -> Check:
        async def run(_: CheckRun) -> None:
            ran.append(name)
            raise TooLate(f"{name} answers too late.")

        return run

    with running_rail(tmp_path) as rail:
        report = check(rail, checks={name: late(name) for name in ("first", "second", "third", "fourth")})
    assert ran == ["first", "second"]
    found = {result.name: (result.result, result.sentence) for result in report.checks}
    assert found["second"] == ("failed", "second answers too late.")
    assert found["third"] == found["fourth"] == ("not run", "the rail answers too late")


# --- the command --------------------------------------------------------------------------------------------------


def run_kit(rail: ExampleRail, *words: str) -> "subprocess.CompletedProcess[str]":
    secret = str(rail.directory / "secret")
    return run_kasuwa(["rail", "check", rail.url, "--secret-file", secret, *words], os.environ)


def test_the_command_reports_in_words_and_in_json(tmp_path: Path) -> None:
    with running_rail(tmp_path) as rail:
        done = run_kit(rail)
        assert (done.returncode, done.stderr) == (0, "")
        assert "passed   a repeat is not paid again\n" in done.stdout
        assert "not run  orders outlive a restart\n         give a command" in done.stdout
        report = json.loads(run_kit(rail, "--json").stdout)
        assert (report["rail"], report["environment"]) == ("Example rail", "test")
        assert {entry["result"] for entry in report["checks"]} == {"passed", "not run"}
    gone = run_kit(rail)
    assert (gone.returncode, gone.stdout) == (2, "")
    assert gone.stderr.startswith("kasuwa: no check was run. /about was not answered")
    assert SECRET.secret not in done.stdout + gone.stderr


def test_a_live_rail_is_not_touched_without_the_flag(tmp_path: Path) -> None:
    with running_rail(tmp_path, environment="live") as rail:
        refused = run_kit(rail)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert (
            refused.stderr
            == "kasuwa: no check was run. This rail moves real money: add --live to order small amounts from it.\n"
        )
        assert run_kit(rail, "--live", "--key-id", "other").stderr.startswith(
            "kasuwa: no check was run. The rail refuses the signature"
        )
        allowed = run_kit(rail, "--live")
        assert allowed.returncode == 0, allowed.stdout
        assert "a live rail may have a least amount" in allowed.stdout
