"""`kasuwa world` in a terminal, against a running server."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from kasuwa.__main__ import command
from kasuwa.commands import listening, world
from tests.merchant_client import MerchantClient
from tests.running import Deployment

PASSPHRASE = ("--passphrase", "correct horse battery")


class Terminal:
    """Runs commands as a merchant."""

    def __init__(self, deployment: Deployment, shop: MerchantClient) -> None:
        self._account = ("--server", f"http://127.0.0.1:{deployment.port}", "--mid", shop.mid, "--key", shop.key)

    def run(self, *words: str, code: int = 0) -> str:
        done = CliRunner().invoke(command, ["world", *words, *self._account])
        assert done.exit_code == code, done.output
        return done.output


@pytest.fixture
def terminal(deployment: Deployment, shop: MerchantClient) -> Terminal:
    return Terminal(deployment, shop)


def test_worlds_are_stored_compared_restored_copied_and_deleted(terminal: Terminal, shop: MerchantClient) -> None:
    assert terminal.run("snapshot", "early").startswith("early ")
    wallet = shop.wallet()
    shop.transfer(accountnumber="0000000000")
    terminal.run("snapshot", "late")
    assert [line.split()[0] for line in terminal.run("list").splitlines()] == ["late", "early"]
    differences = terminal.run("compare", "early", "late", code=1).splitlines()
    assert [line.split() for line in differences if line.startswith("transaction ")] == [
        ["transaction", "0", "only", "in", "early", "1", "only", "in", "late", "0", "changed"]
    ]
    assert terminal.run("compare", "early", "early") == "Both worlds are the same\n"
    assert terminal.run("restore", "early").startswith("The merchant is as it was in early: ")
    assert shop.wallet() == wallet
    mid, key = (line.split()[1] for line in terminal.run("fork", "late").splitlines())
    copy = MerchantClient(shop.connection, mid, key)
    assert copy.wallet() != wallet
    assert terminal.run("delete", "late") == "late is deleted\n"
    assert terminal.run("delete", "late", code=1) == "kasuwa: There is no world of this name\n"


def test_a_world_goes_to_a_file_and_comes_back(terminal: Terminal, shop: MerchantClient, tmp_path: Path) -> None:
    file = tmp_path / "shop.kasuwa-world"
    terminal.run("snapshot", "first")
    written = terminal.run("export", "first", str(file), *PASSPHRASE)
    assert f"{file.stat().st_size:,} bytes" in written
    # A file that exists is not written over.
    assert "File exists" in terminal.run("export", "first", str(file), *PASSPHRASE, code=1)
    shop.transfer(accountnumber="0000000000")
    assert terminal.run("import", str(file), "back", *PASSPHRASE).startswith("back ")
    wrong = terminal.run("import", str(file), "other", "--passphrase", "another passphrase", code=1)
    assert wrong == "kasuwa: The passphrase is not that of the file\n"
    terminal.run("restore", "back")
    assert terminal.run("compare", "first", "back", code=1)


def test_a_file_that_is_too_large_is_not_sent(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "large"
    with file.open("wb") as out:
        out.truncate(10 * 1024 * 1024 + 1)
    assert "has more than 10 MiB" in terminal.run("import", str(file), "large", *PASSPHRASE, code=1)


def test_a_command_that_takes_long_says_that_it_still_waits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(world, "PROGRESS_SECONDS", 0.01)
    output = ""
    nobody = listening.MerchantClient("http://127.0.0.1:9", "GP1", "key")
    with world.progress(nobody, "restore"):
        while "restore: 0 s" not in output:
            output += capsys.readouterr().err
    assert output.startswith("restore: 0 s")
