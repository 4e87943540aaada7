"""Settings from files: every secret can be given by the path of a file, and no error quotes what is in it."""

import base64
from pathlib import Path

import pytest

from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import SECRET_SETTINGS, Settings, choose_invitations, parse_mail_server, read_settings
from kasuwa.settings.values import MAX_SECRET_BYTES, SettingsError

KEY = bytes(range(32))
VALUES = {
    "secret_key": base64.b64encode(KEY).decode(),
    "rail_former_accounts": '[{"rail": "paystack", "secret_key": "sk_live_pass-word"}]',
    "new_secret_key": base64.b64encode(bytes(reversed(KEY))).decode(),
    "close_key": base64.b64encode(bytes(32)).decode(),
    "database_url": "postgresql://kasuwa:pass-word@db/kasuwa",
    "database_owner_url": "postgresql://owner:pass-word@db/kasuwa",
    "database_reader_url": "postgresql://reader:pass-word@db/kasuwa",
    "smtp_url": "smtp://me:pass-word@mail.example:587",
    "paystack_secret_key": "sk_live_1",
    "monnify_api_key": "MK_PROD_1",
    "monnify_secret_key": "pass-word",
    "vtpass_api_key": "pass-word",
    "vtpass_public_key": "pass-word",
    "vtpass_secret_key": "pass-word",
    "vtpass_callback_secret": "a-secret-of-twenty-four-characters",
    "dojah_secret_key": "pass-word",
    "termii_api_key": "pass-word",
    "remote_secret": "a pass-word of thirty-two characters",
    "remote_old_secret": "a pass-word of thirty-two letters, once",
}


# Beside a mail server and a vendor of text messages, what they send from.
LIVE = {"KASUWA_ENVIRONMENT": "live", "KASUWA_MAIL_FROM": "us@example.com", "KASUWA_SMS_FROM": "Kasuwa"}


def write(directory: Path, content: bytes, name: str = "secret") -> Path:
    path = directory / name
    path.write_bytes(content)
    return path


def refusal(environ: dict[str, str]) -> str:
    with pytest.raises(SettingsError) as error:
        read_settings(environ)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_settings_that_hold_secrets_are_the_ones_read_from_files() -> None:
    assert set(VALUES) == set(SECRET_SETTINGS)
    assert set(SECRET_SETTINGS) < set(Settings.__struct_fields__)


@pytest.mark.parametrize("name", SECRET_SETTINGS)
@pytest.mark.parametrize("end", ["", "\n", "\r\n", " \n\n"])
def test_every_secret_can_come_from_a_file(tmp_path: Path, name: str, end: str) -> None:
    path = write(tmp_path, (VALUES[name] + end).encode())
    environ = {**LIVE, f"KASUWA_{name.upper()}_FILE": str(path)}
    assert getattr(read_settings(environ), name) == VALUES[name]


def test_values_from_files_are_checked_and_used_like_others(tmp_path: Path) -> None:
    environ = {
        f"KASUWA_{name.upper()}_FILE": str(write(tmp_path, value.encode(), name)) for name, value in VALUES.items()
    }
    found = read_settings(environ | LIVE)
    assert (load_secret_key(found), found.database_url) == (KEY, VALUES["database_url"])
    server = parse_mail_server(found)
    assert server is not None
    assert (server[0].host, server[0].password, choose_invitations(found)) == ("mail.example", "pass-word", "mail")
    write(tmp_path, b"smtp-pass-word", "smtp_url")
    message = refusal(environ | LIVE)
    assert message.startswith("KASUWA_SMTP_URL must be ")
    assert "pass-word" not in message


@pytest.mark.parametrize("name", SECRET_SETTINGS)
def test_a_secret_given_twice_is_refused_and_not_quoted(tmp_path: Path, name: str) -> None:
    variable = f"KASUWA_{name.upper()}"
    path = write(tmp_path, VALUES[name].encode())
    message = refusal({variable: VALUES[name], f"{variable}_FILE": str(path)})
    assert message == f"{variable} and {variable}_FILE are both set: remove one of them"


@pytest.mark.parametrize("name", sorted(set(Settings.__struct_fields__) - set(SECRET_SETTINGS)))
def test_a_setting_that_is_no_secret_is_not_read_from_a_file(tmp_path: Path, name: str) -> None:
    variable = f"KASUWA_{name.upper()}_FILE"
    message = refusal({variable: str(write(tmp_path, b"1"))})
    assert message == f"{variable} is not a setting: only secrets are read from files"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"pass-word\nanother", "must hold one line of text"),
        (b"pass-word \xff\xfe", "must hold one line of text"),
        (b"p" * (MAX_SECRET_BYTES + 1), "must hold one line of text"),
    ],
)
def test_a_file_without_one_line_of_text_is_refused_by_name(tmp_path: Path, content: bytes, why: str) -> None:
    path = write(tmp_path, content)
    assert refusal({"KASUWA_SECRET_KEY_FILE": str(path)}) == f"KASUWA_SECRET_KEY_FILE: {path} {why}"


def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    message = refusal({"KASUWA_DATABASE_URL_FILE": str(missing)})
    assert message == f"KASUWA_DATABASE_URL_FILE: {missing} cannot be read: No such file or directory"
    message = refusal({"KASUWA_DATABASE_URL_FILE": str(tmp_path)})
    assert message == f"KASUWA_DATABASE_URL_FILE: {tmp_path} cannot be read: Is a directory"


def test_an_empty_file_variable_is_not_set() -> None:
    found = read_settings({"KASUWA_SECRET_KEY_FILE": "", "KASUWA_SECRET_KEY": VALUES["secret_key"]})
    assert found.secret_key == VALUES["secret_key"]
