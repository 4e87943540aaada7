"""The key-encryption key: given or made once, never twice, and never quoted."""

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kasuwa.settings import secret_key
from kasuwa.settings.secret_key import SECRET_FILE, decode_key, load_secret_key, make_secret
from kasuwa.settings.settings import read_settings
from kasuwa.settings.values import SettingsError

REPOSITORY = Path(__file__).parents[2]
KEY = bytes(range(32))
KEY_TEXT = base64.b64encode(KEY).decode()

# Waits for the starting shot, then asks for the key as `serve` would, and says which one it got.
ASK_FOR_KEY = """
import sys
from pathlib import Path
from kasuwa.settings.settings import Settings
from kasuwa.settings.secret_key import load_secret_key
print("ready", flush=True)
sys.stdin.readline()
print(load_secret_key(Settings(data=Path(sys.argv[1]))).hex())
"""


def one_line(error: pytest.ExceptionInfo[SettingsError]) -> str:
    text = str(error.value)
    assert text
    assert "\n" not in text
    return text


def test_a_key_that_is_given_is_the_key(tmp_path: Path) -> None:
    assert load_secret_key(read_settings({"KASUWA_SECRET_KEY": f" {KEY_TEXT}\n"}, data=tmp_path)) == KEY
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["x", "12345", KEY_TEXT[:-4], KEY_TEXT + "AAAA", "*" * 44, "é" * 44, "\ud800"])
def test_a_key_that_is_none_is_refused_in_one_line_that_does_not_quote_it(text: str) -> None:
    with pytest.raises(SettingsError) as error:
        decode_key(text, "KASUWA_SECRET_KEY")
    assert one_line(error) == "KASUWA_SECRET_KEY must hold 32 bytes in base64"


def test_live_without_a_key_is_refused_and_makes_none(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        load_secret_key(read_settings({"KASUWA_ENVIRONMENT": "live"}, data=tmp_path))
    assert one_line(error).startswith("KASUWA_SECRET_KEY is not set")
    assert list(tmp_path.iterdir()) == []


def test_live_does_not_take_the_key_that_test_left_behind(tmp_path: Path) -> None:
    load_secret_key(read_settings({}, data=tmp_path))
    with pytest.raises(SettingsError):
        load_secret_key(read_settings({"KASUWA_ENVIRONMENT": "live"}, data=tmp_path))


def test_in_test_a_key_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    settings = read_settings({}, data=tmp_path / "new" / "place")
    first = load_secret_key(settings)
    path = settings.data / SECRET_FILE
    assert len(first) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_secret_key(settings) == first
    assert [entry.name for entry in settings.data.iterdir()] == [SECRET_FILE]


def test_two_places_have_two_keys(tmp_path: Path) -> None:
    assert load_secret_key(read_settings({}, data=tmp_path / "a")) != load_secret_key(
        read_settings({}, data=tmp_path / "b")
    )


@pytest.mark.parametrize("held", [b"", b"short\n", b"\xff\xfe\x00"])
def test_a_damaged_key_file_is_named_in_one_line_and_left_as_it_is(tmp_path: Path, held: bytes) -> None:
    path = tmp_path / SECRET_FILE
    path.write_bytes(held)
    with pytest.raises(SettingsError) as error:
        load_secret_key(read_settings({}, data=tmp_path))
    assert one_line(error) == f"{path} must hold 32 bytes in base64"
    assert path.read_bytes() == held


def test_what_a_killed_process_left_half_done_is_no_hindrance(tmp_path: Path) -> None:
    """The next process has the same process id, as in a container."""
    (tmp_path / f"{SECRET_FILE}.{os.getpid()}").write_bytes(b"")
    assert len(load_secret_key(read_settings({}, data=tmp_path))) == 32


def test_who_makes_a_key_and_finds_one_leaves_it_alone(tmp_path: Path) -> None:
    """The race as the slower of two processes sees it."""
    path = tmp_path / SECRET_FILE
    make_secret(path)
    first = path.read_bytes()
    make_secret(path)
    assert path.read_bytes() == first
    assert [entry.name for entry in tmp_path.iterdir()] == [SECRET_FILE]


def test_of_many_processes_that_start_at_once_all_get_one_key(tmp_path: Path) -> None:
    for attempt in range(3):
        data = tmp_path / str(attempt)
        started = [
            subprocess.Popen(
                [sys.executable, "-c", ASK_FOR_KEY, str(data)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(6)
        ]
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in started:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        keys = {process.communicate()[0] for process in started}
        assert [process.returncode for process in started] == [0] * 6
        assert len(keys) == 1
        assert [entry.name for entry in data.iterdir()] == [SECRET_FILE]


def test_the_name_of_a_new_key_is_synced_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data encrypted with the key is durable, so the key's file must survive a power cut under its name."""
    synced: list[tuple[str, bool]] = []

    def note(descriptor: int) -> None:
        synced.append((os.readlink(f"/proc/self/fd/{descriptor}"), (tmp_path / "secret.key").exists()))

    monkeypatch.setattr(os, "fsync", note)
    make_secret(tmp_path / "secret.key")
    assert (str(tmp_path), True) in synced
    assert synced[0][0].startswith(f"{tmp_path}/secret.key.")


# --- a command that prints the key ------------------------------------------------------------------------------------


def command_key(tmp_path: Path, command: str, **more: str) -> bytes:
    return load_secret_key(read_settings({"KASUWA_SECRET_KEY_COMMAND": command, **more}, data=tmp_path))


def test_a_command_gives_the_key_in_live_too(tmp_path: Path) -> None:
    command = f"echo ' {KEY_TEXT} '"
    assert command_key(tmp_path, command) == KEY
    assert command_key(tmp_path, command, KASUWA_ENVIRONMENT="live") == KEY
    assert list(tmp_path.iterdir()) == []


def test_a_command_is_run_without_a_shell(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with pytest.raises(SettingsError) as error:
        command_key(tmp_path, f"echo {KEY_TEXT} ; touch {made}")
    assert one_line(error) == "the output of KASUWA_SECRET_KEY_COMMAND must hold 32 bytes in base64"
    assert not made.exists()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("sh -c 'echo a-secret; echo a-secret >&2; exit 3'", "ended with exit code 3"),
        ("/no/such/program", "cannot be run: No such file or directory"),
        ("echo 'a-secret", "must be a program and its arguments, quoted as in a shell"),
        (" ", "must be a program and its arguments, quoted as in a shell"),
        ("echo a-secret", "must hold 32 bytes in base64"),
        ("head -c 70000 /dev/zero", "must be 32 bytes in base64"),
    ],
)
def test_a_command_that_gives_no_key_is_refused_without_its_output(tmp_path: Path, command: str, reason: str) -> None:
    with pytest.raises(SettingsError) as error:
        command_key(tmp_path, command)
    assert one_line(error).endswith(reason)
    assert "a-secret" not in str(error.value)


def test_a_command_that_does_not_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_key, "COMMAND_SECONDS", 0.2)
    with pytest.raises(SettingsError, match="KASUWA_SECRET_KEY_COMMAND took longer than 0 s"):
        command_key(tmp_path, "sleep 60")


def test_a_key_and_a_command_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="KASUWA_SECRET_KEY and KASUWA_SECRET_KEY_COMMAND are both set"):
        command_key(tmp_path, f"echo {KEY_TEXT}", KASUWA_SECRET_KEY=KEY_TEXT)
