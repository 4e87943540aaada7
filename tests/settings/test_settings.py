"""Settings: where they come from, what they may be."""

from pathlib import Path

import pytest

from kasuwa.settings.processors import default_workers
from kasuwa.settings.settings import (
    SWITCHES,
    Settings,
    choose_account_terms,
    get_public_url,
    is_configured,
    parse_peer_terms,
    rail_loopback_allowed,
    rail_of_purpose,
    read_settings,
)
from kasuwa.settings.values import SettingsError
from kasuwa.terms.accounts import AccountTerms

REPOSITORY = Path(__file__).parents[2]


def one_line(error: pytest.ExceptionInfo[SettingsError]) -> str:
    text = str(error.value)
    assert text
    assert "\n" not in text
    return text


def test_without_settings_the_defaults_apply() -> None:
    found = read_settings({})
    assert (found.environment, found.host, found.port) == ("test", "127.0.0.1", 8080)
    assert found.workers == default_workers()
    assert (found.database_url, found.secret_key, found.sandbox_seed) == (None, None, None)
    assert found.data == REPOSITORY / "data", "the service runs from a clone; test_distribution.py installs it"


# A value of every setting, as a variable has it.
EVERY_SETTING = {
    "environment": "live",
    "host": "0.0.0.0",
    "port": "9000",
    "console": "off",
    "console_port": "9001",
    "console_url": "https://console.example.com",
    "metrics_port": "9002",
    "data": "/srv/kasuwa",
    "console_host": "10.0.0.2",
    "metrics_host": "10.0.0.3",
    "trusted_proxies": "10.0.0.0/8",
    "workers": "3",
    "database_url": "postgresql://db/kasuwa",
    "database_owner_url": "postgresql://owner@db/kasuwa",
    "database_reader_url": "postgresql://reader@db/kasuwa",
    "peer_listen": "10.0.0.4:7400",
    "peer_address": "kasuwa-1.example:7500",
    "peer_certificate": "/etc/kasuwa/peer.pem",
    "peer_key": "/etc/kasuwa/peer.key",
    "peer_ca": "/etc/kasuwa/peer-ca.pem",
    "secret_key": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "secret_key_command": "/usr/local/bin/print-key --of kasuwa",
    "new_secret_key": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "new_secret_key_command": "/usr/local/bin/print-key --of kasuwa --next",
    "sandbox_seed": "seven",
    "sandbox_advance_seconds": "30",
    "request_log": "stdout",
    "hash_header": "x-shop-hash",
    "webhook_loopback": "off",
    "checkout_cards": "on",
    "public_url": "https://pay.example",
    "invitations": "command",
    "smtp_url": "smtps://mail.example",
    "mail_from": "Ada <ada@example.com>",
    "mail_bounces": "bounces@example.com",
    "mail_rate": "60",
    "cooling_off_hours": "12",
    "large_amount": "5000.00",
    "card_label": "ADA",
    "card_ranges": "visa:400001",
    "close_key": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "close_copy": "/mnt/closes",
    "close_command": "/usr/local/bin/send-close --to auditor",
    "stop_with": "4711",
    "longest_step_ms": "99",
    "rail_bank": "paystack",
    "paystack_secret_key": "sk_live_1",
    "paystack_base_url": "https://paystack.example",
    "monnify_api_key": "MK_PROD_1",
    "monnify_secret_key": "s",
    "monnify_wallet_account": "8016472829",
    "monnify_base_url": "https://monnify.example",
    "rail_bank_shadow": "monnify",
    "rail_in_flight": "4",
    "rail_timeout": "5",
    "rail_float_least": "NGN:5.00",
    "rail_balance_seconds": "30",
    "monnify_contract_code": "4934121686",
    "rail_card": "paystack",
    "rail_collect": "monnify",
    "rail_email_domain": "pay.example.com",
    "rail_accounts": "paystack",
    "paystack_phone": "08031234567",
    "paystack_account_bank": "wema-bank",
    "suspense_mid": "GP0000009",
    "rail_bills": "vtpass",
    "rail_identity": "dojah",
    "rail_loopback": "on",
    "vtpass_api_key": "a",
    "vtpass_public_key": "PK_1",
    "vtpass_secret_key": "SK_1",
    "vtpass_base_url": "https://vtpass.example/api",
    "vtpass_phone": "08031234567",
    "vtpass_callback_secret": "x" * 24,
    "dojah_app_id": "app",
    "dojah_secret_key": "sk",
    "dojah_lookup": "match",
    "dojah_base_url": "https://dojah.example",
    "termii_api_key": "TL1",
    "termii_channel": "generic",
    "termii_base_url": "https://termii.example",
    "sms_from": "Ada Stores",
    "sms_rate": "90",
    "remote_base_url": "https://rail.example",
    "remote_methods": "card,ussd",
    "remote_currencies": "NGN,USD",
    "remote_key_id": "key-2",
    "remote_secret": "s" * 32,
    "paystack_callback_addresses": "52.31.139.75,52.49.173.169",
    "monnify_callback_addresses": "35.242.133.146",
    "monnify_unsigned": "off",
    "vtpass_callback_addresses": "10.0.0.0/8",
    "remote_identity": "consent",
    "remote_cards": "on",
    "remote_callback_addresses": "10.0.0.0/8",
    "remote_old_key_id": "key-1",
    "remote_old_secret": "o" * 32,
    "rail_former_accounts": '[{"rail": "paystack", "secret_key": "sk_live_0"}]',
}


def test_every_setting_can_come_from_the_environment() -> None:
    assert set(EVERY_SETTING) == set(Settings.__struct_fields__)
    found = read_settings({f"KASUWA_{name.upper()}": value for name, value in EVERY_SETTING.items()})
    switches = {name: EVERY_SETTING[name] == "on" for name in SWITCHES}
    read = {"large_amount": 500_000, "rail_float_least": {"NGN": 500}, **switches}
    for name, value in EVERY_SETTING.items():
        assert getattr(found, name) == read[name] if name in read else str(getattr(found, name)) == value


def test_the_command_line_wins_over_the_environment_and_that_over_the_defaults() -> None:
    environ = {"KASUWA_PORT": "9000", "KASUWA_HOST": "10.0.0.1", "KASUWA_DATA": "/srv/one"}
    found = read_settings(environ, port=9100, host=None, data=Path("/srv/two"))
    assert (found.port, found.host, found.data) == (9100, "10.0.0.1", Path("/srv/two"))
    assert found.console is True


def test_an_empty_variable_is_not_set_and_others_are_not_ours() -> None:
    found = read_settings({"KASUWA_PORT": "", "KASUWA_DATABASE_URL": "", "PORT": "9000", "kasuwa_port": "9000"})
    assert (found.port, found.database_url) == (8080, None)


@pytest.mark.parametrize("name", ["port", "console_port", "metrics_port", "workers"])
@pytest.mark.parametrize("text", ["-1", "65536", "1.5", "eighty", " 80", "8_0", "٨٠", "1e3", "9" * 5_000])
def test_what_is_no_such_whole_number_is_refused_in_one_line(name: str, text: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings({f"KASUWA_{name.upper()}": text})
    least = 1 if name == "workers" else 0
    assert one_line(error).startswith(f"KASUWA_{name.upper()} must be a whole number from {least} to ")


def test_port_0_is_allowed_and_0_workers_are_not() -> None:
    found = read_settings({"KASUWA_PORT": "0", "KASUWA_METRICS_PORT": "0"}, console_port=0)
    assert (found.port, found.console_port, found.metrics_port) == (0, 0, 0)
    with pytest.raises(SettingsError, match="from 1 to 64 or auto, not '0'"):
        read_settings({"KASUWA_WORKERS": "0"})


def test_the_number_of_workers_can_be_left_to_the_service() -> None:
    assert read_settings({"KASUWA_WORKERS": "auto"}).workers == default_workers()
    assert read_settings({"KASUWA_WORKERS": "3"}, workers="auto").workers == default_workers()
    assert read_settings({"KASUWA_WORKERS": "auto"}, workers="3").workers == 3


@pytest.mark.parametrize(
    ("name", "text", "rule"), [("ENVIRONMENT", "prod", "test or live"), ("REQUEST_LOG", "on", "off or stdout")]
)
def test_an_unknown_word_is_refused_in_one_line(name: str, text: str, rule: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings({f"KASUWA_{name}": text})
    assert one_line(error) == f"KASUWA_{name} must be {rule}, not {text!r}"


REMOTE = {
    "KASUWA_RAIL_BANK": "remote",
    "KASUWA_REMOTE_BASE_URL": "https://rail.example",
    "KASUWA_REMOTE_KEY_ID": "key-1",
    "KASUWA_REMOTE_SECRET": "s" * 32,
}
VTPASS = {
    "KASUWA_RAIL_BILLS": "vtpass",
    "KASUWA_VTPASS_API_KEY": "a",
    "KASUWA_VTPASS_PUBLIC_KEY": "p",
    "KASUWA_VTPASS_SECRET_KEY": "s",
    "KASUWA_VTPASS_PHONE": "08031234567",
}


@pytest.mark.parametrize(
    ("environ", "refusal"),
    [
        ({"KASUWA_RAIL_BILLS": "dojah"}, "KASUWA_RAIL_BILLS must be sandbox or vtpass or remote, not 'dojah'"),
        ({"KASUWA_RAIL_IDENTITY": "x"}, "KASUWA_RAIL_IDENTITY must be sandbox or dojah or monnify or remote, not 'x'"),
        (
            {"KASUWA_RAIL_BILLS": "vtpass", "KASUWA_VTPASS_API_KEY": "a"},
            "KASUWA_RAIL_BILLS is vtpass, which needs KASUWA_VTPASS_PUBLIC_KEY, KASUWA_VTPASS_SECRET_KEY, "
            "KASUWA_VTPASS_PHONE",
        ),
        (
            {"KASUWA_RAIL_IDENTITY": "dojah"},
            "KASUWA_RAIL_IDENTITY is dojah, which needs KASUWA_DOJAH_APP_ID, KASUWA_DOJAH_SECRET_KEY",
        ),
        (
            {"KASUWA_ENVIRONMENT": "live", "KASUWA_RAIL_BILLS": "sandbox"},
            "KASUWA_RAIL_BILLS must not be sandbox in live: no money would move",
        ),
        ({"KASUWA_RAIL_BANK": "paystack"}, "KASUWA_RAIL_BANK is paystack, which needs KASUWA_PAYSTACK_SECRET_KEY"),
        (
            {"KASUWA_RAIL_BANK": "paystack", "KASUWA_PAYSTACK_SECRET_KEY": "sk_live_1"},
            "KASUWA_PAYSTACK_SECRET_KEY must begin with sk_test_ in test",
        ),
        (
            {
                "KASUWA_ENVIRONMENT": "live",
                "KASUWA_RAIL_BANK": "paystack",
                "KASUWA_PAYSTACK_SECRET_KEY": "sk_test_1",
            },
            "KASUWA_PAYSTACK_SECRET_KEY must begin with sk_live_ in live",
        ),
        ({"KASUWA_MONNIFY_API_KEY": "MK_PROD_1"}, "KASUWA_MONNIFY_API_KEY must begin with MK_TEST in test"),
        ({"KASUWA_MONNIFY_WALLET_ACCOUNT": "1"}, "KASUWA_MONNIFY_WALLET_ACCOUNT must have ten digits, not '1'"),
        (
            {"KASUWA_RAIL_CARD": "vtpass"},
            "KASUWA_RAIL_CARD must be sandbox or paystack or monnify or remote, not 'vtpass'",
        ),
        (
            {"KASUWA_RAIL_COLLECT": "paystack", "KASUWA_PAYSTACK_SECRET_KEY": "sk_test_1"},
            "KASUWA_RAIL_COLLECT is paystack, which needs KASUWA_RAIL_EMAIL_DOMAIN",
        ),
        (
            {"KASUWA_RAIL_CARD": "monnify", "KASUWA_RAIL_EMAIL_DOMAIN": "pay.example.com"},
            "KASUWA_RAIL_CARD is monnify, which needs KASUWA_MONNIFY_API_KEY, KASUWA_MONNIFY_SECRET_KEY, "
            "KASUWA_MONNIFY_WALLET_ACCOUNT, KASUWA_MONNIFY_CONTRACT_CODE",
        ),
        (
            {"KASUWA_ENVIRONMENT": "live", "KASUWA_RAIL_COLLECT": "sandbox"},
            "KASUWA_RAIL_COLLECT must not be sandbox in live: no money would move",
        ),
        (
            {"KASUWA_RAIL_EMAIL_DOMAIN": "ada@example.com"},
            "KASUWA_RAIL_EMAIL_DOMAIN must be a domain such as pay.example.com, not 'ada@example.com'",
        ),
        ({"KASUWA_MONNIFY_CONTRACT_CODE": "x"}, "KASUWA_MONNIFY_CONTRACT_CODE must have 6 to 20 digits, not 'x'"),
        (
            {"KASUWA_RAIL_ACCOUNTS": "paystack", "KASUWA_PAYSTACK_SECRET_KEY": "sk_test_1"},
            "KASUWA_RAIL_ACCOUNTS is paystack, which needs KASUWA_PAYSTACK_PHONE, KASUWA_RAIL_EMAIL_DOMAIN",
        ),
        (
            {"KASUWA_RAIL_ACCOUNTS": "sandbox", "KASUWA_ENVIRONMENT": "live"},
            "KASUWA_RAIL_ACCOUNTS must not be sandbox in live: no money would move",
        ),
        (
            {"KASUWA_RAIL_EMAIL_DOMAIN": "nowhere"},
            "KASUWA_RAIL_EMAIL_DOMAIN must be a domain such as pay.example.com, not 'nowhere'",
        ),
        (
            {"KASUWA_SUSPENSE_MID": "1"},
            "KASUWA_SUSPENSE_MID must be the mid of a merchant of the operator's own, not '1'",
        ),
        ({"KASUWA_RAIL_LOOPBACK": "yes"}, "KASUWA_RAIL_LOOPBACK must be on or off, not 'yes'"),
        (
            {**VTPASS, "KASUWA_VTPASS_BASE_URL": "ftp://x"},
            "KASUWA_VTPASS_BASE_URL must be an https address, not 'ftp://x'",
        ),
        (
            {**VTPASS, "KASUWA_VTPASS_BASE_URL": "http://vtpass.example/api"},
            "KASUWA_VTPASS_BASE_URL must be an https address, not 'http://vtpass.example/api'",
        ),
        (
            {"KASUWA_ENVIRONMENT": "live", "KASUWA_DOJAH_BASE_URL": "http://127.0.0.1:9000"},
            "KASUWA_DOJAH_BASE_URL must be an https address, not 'http://127.0.0.1:9000'",
        ),
        (
            {
                "KASUWA_ENVIRONMENT": "live",
                "KASUWA_RAIL_LOOPBACK": "on",
                "KASUWA_DOJAH_BASE_URL": "http://127.0.0.1.example:9000",
            },
            "KASUWA_DOJAH_BASE_URL must be an https address, not 'http://127.0.0.1.example:9000'",
        ),
        (
            {"KASUWA_TERMII_API_KEY": "hidden"},
            "KASUWA_TERMII_API_KEY needs KASUWA_SMS_FROM, the name that text messages are sent from",
        ),
        ({"KASUWA_SMS_FROM": "Ad"}, "KASUWA_SMS_FROM must have 3 to 11 letters, digits, spaces or dashes, not 'Ad'"),
        ({"KASUWA_TERMII_CHANNEL": "whatsapp"}, "KASUWA_TERMII_CHANNEL must be dnd or generic, not 'whatsapp'"),
        (
            {**VTPASS, "KASUWA_VTPASS_PHONE": "12345"},
            "KASUWA_VTPASS_PHONE must be a Nigerian mobile number, not '12345'",
        ),
        (
            {**VTPASS, "KASUWA_VTPASS_CALLBACK_SECRET": "short"},
            "KASUWA_VTPASS_CALLBACK_SECRET must have 24 to 128 letters, digits, dashes or underscores",
        ),
        (
            {"KASUWA_RAIL_BANK": "remote"},
            "KASUWA_RAIL_BANK is remote, which needs KASUWA_REMOTE_BASE_URL, KASUWA_REMOTE_KEY_ID, "
            "KASUWA_REMOTE_SECRET",
        ),
        (
            {**REMOTE, "KASUWA_REMOTE_BASE_URL": "http://rail.example"},
            "KASUWA_REMOTE_BASE_URL must be an https address, not 'http://rail.example'",
        ),
        (
            {**REMOTE, "KASUWA_REMOTE_KEY_ID": "key 1"},
            "KASUWA_REMOTE_KEY_ID must have 1 to 64 letters, digits, dots or dashes",
        ),
        (
            {**REMOTE, "KASUWA_REMOTE_SECRET": "too short"},
            "KASUWA_REMOTE_SECRET must have 32 to 256 characters",
        ),
        (
            {**REMOTE, "KASUWA_REMOTE_OLD_KEY_ID": "key-0"},
            "KASUWA_REMOTE_OLD_KEY_ID needs KASUWA_REMOTE_OLD_SECRET",
        ),
        (
            {**REMOTE, "KASUWA_REMOTE_OLD_KEY_ID": "key-1", "KASUWA_REMOTE_OLD_SECRET": "o" * 32},
            "KASUWA_REMOTE_OLD_KEY_ID must differ from KASUWA_REMOTE_KEY_ID",
        ),
    ],
)
def test_rails_that_cannot_be_used_are_refused(environ: dict[str, str], refusal: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings(environ)
    assert one_line(error) == refusal


BVN_RAILS = frozenset({"monnify"})


def test_terms_of_accounts_follow_from_their_rails() -> None:
    monnify = {
        "KASUWA_RAIL_ACCOUNTS": "monnify",
        "KASUWA_MONNIFY_API_KEY": "MK_TEST_1",
        "KASUWA_MONNIFY_SECRET_KEY": "s",
        "KASUWA_MONNIFY_CONTRACT_CODE": "4934121686",
    }
    assert choose_account_terms(read_settings({})) == AccountTerms(("sandbox",), bvn_rails=BVN_RAILS)
    assert choose_account_terms(read_settings({"KASUWA_ENVIRONMENT": "live"})) == AccountTerms(
        (), frozenset(), BVN_RAILS
    )
    assert choose_account_terms(read_settings(monnify)) == AccountTerms(
        ("monnify",), frozenset({"monnify", "sandbox"}), BVN_RAILS
    )
    # A rail that may have opened accounts before is asked for their payments, also if another one is chosen.
    assert is_configured(read_settings({**monnify, "KASUWA_RAIL_ACCOUNTS": "sandbox"}), "accounts", "monnify")
    assert not is_configured(read_settings({}), "accounts", "monnify")


def test_rails_of_purposes_by_environment() -> None:
    test, live = read_settings({}), read_settings({"KASUWA_ENVIRONMENT": "live"})
    assert [rail_of_purpose(found, "bills") for found in (test, live, read_settings(VTPASS))] == [
        "sandbox",
        "",
        "vtpass",
    ]
    assert [rail_loopback_allowed(found) for found in (test, live)] == [True, False]
    assert rail_loopback_allowed(read_settings({"KASUWA_ENVIRONMENT": "live", "KASUWA_RAIL_LOOPBACK": "on"}))


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({}, "http://127.0.0.1:8080"),
        ({"KASUWA_HOST": "10.0.0.1", "KASUWA_PORT": "9000"}, "http://10.0.0.1:9000"),
        ({"KASUWA_HOST": "0.0.0.0"}, "http://127.0.0.1:8080"),
        ({"KASUWA_HOST": "::"}, "http://[::1]:8080"),
        ({"KASUWA_PUBLIC_URL": "https://pay.example"}, "https://pay.example"),
        ({"KASUWA_PUBLIC_URL": "https://shop.example:8443/kasuwa/"}, "https://shop.example:8443/kasuwa"),
    ],
)
def test_the_public_url_is_as_set_or_else_the_listening_address(fields: dict[str, str], url: str) -> None:
    assert get_public_url(read_settings(fields)) == url


@pytest.mark.parametrize(
    "text",
    ["pay.example", "ftp://pay.example", "https://", "https://a b", "https://a?x=1", "https://a#b", "https://u@a"],
)
def test_what_is_no_address_to_go_to_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings({"KASUWA_PUBLIC_URL": text})
    assert one_line(error) == f"KASUWA_PUBLIC_URL must be an http or https address, not {text!r}"


# --- the secret ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Host",
        "content-length",
        "Content-Type",
        "CONTENT-ENCODING",
        "Transfer-Encoding",
        "connection",
        "TE",
        "Upgrade",
        "Expect",
        "webhook-id",
        "Webhook-Signature",
        "webhook-anything",
        "User-Agent",
        "Accept",
        "two words",
        "x_y",
        "x:y",
        "x" * 65,
        "naïve",
        "x\r\ny",
    ],
)
def test_a_header_that_would_break_the_request_holds_no_hash(text: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings({"KASUWA_HASH_HEADER": text})
    assert one_line(error).startswith("KASUWA_HASH_HEADER must be the name of a header of its own")


def test_what_is_no_proxy_is_refused_in_one_line() -> None:
    with pytest.raises(SettingsError) as error:
        read_settings({"KASUWA_TRUSTED_PROXIES": "10.0.0.0/8, proxy.example"})
    assert one_line(error).startswith("KASUWA_TRUSTED_PROXIES takes addresses and networks")


def test_opening_the_api_to_the_network_does_not_open_console_and_metrics() -> None:
    found = read_settings({"KASUWA_HOST": "0.0.0.0"})
    assert (found.console_host, found.metrics_host) == ("127.0.0.1", "127.0.0.1")


PEERS = {
    "KASUWA_PEER_LISTEN": "10.0.0.1:7400",
    "KASUWA_PEER_CERTIFICATE": "peer.pem",
    "KASUWA_PEER_KEY": "peer.key",
    "KASUWA_PEER_CA": "ca.pem",
    "KASUWA_DATABASE_URL": "postgresql://db/kasuwa",
    "KASUWA_WORKERS": "3",
}


@pytest.mark.parametrize(
    ("listen", "address", "listens_on", "names"),
    [
        ("10.0.0.1:7400", "", ("10.0.0.1", 7400), ["10.0.0.1:7400", "10.0.0.1:7401", "10.0.0.1:7402"]),
        ("0.0.0.0:7400", "db-1.example", ("0.0.0.0", 7400), ["db-1.example:7400", "db-1.example:7401"]),
        ("0.0.0.0:7400", "203.0.113.1:9000", ("0.0.0.0", 7400), ["203.0.113.1:9000", "203.0.113.1:9001"]),
        ("[fd00::1]:7400", "", ("fd00::1", 7400), ["[fd00::1]:7400"]),
        ("[::]:7400", "[fd00::2]", ("::", 7400), ["[fd00::2]:7400"]),
    ],
)
def test_each_api_process_has_a_port_for_other_hosts(
    listen: str, address: str, listens_on: tuple[str, int], names: list[str]
) -> None:
    terms = parse_peer_terms(read_settings({**PEERS, "KASUWA_PEER_LISTEN": listen, "KASUWA_PEER_ADDRESS": address}))
    assert terms is not None
    assert (terms.listen_host, terms.get_listen_port(0)) == listens_on
    assert [terms.make_address(number) for number in range(len(names))] == names


def test_hosts_listen_for_others_only_if_that_is_set() -> None:
    assert parse_peer_terms(read_settings({})) is None
    assert parse_peer_terms(read_settings({"KASUWA_PEER_CA": "ca.pem"})) is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"KASUWA_PEER_KEY": ""}, "KASUWA_PEER_LISTEN needs KASUWA_PEER_KEY"),
        (
            {"KASUWA_PEER_CERTIFICATE": "", "KASUWA_PEER_KEY": "", "KASUWA_PEER_CA": ""},
            "KASUWA_PEER_LISTEN needs KASUWA_PEER_CERTIFICATE, KASUWA_PEER_KEY, KASUWA_PEER_CA",
        ),
        ({"KASUWA_DATABASE_URL": ""}, "KASUWA_PEER_LISTEN needs KASUWA_DATABASE_URL"),
        ({"KASUWA_PEER_LISTEN": "10.0.0.1"}, "KASUWA_PEER_LISTEN must be a host and a port"),
        ({"KASUWA_PEER_LISTEN": ":7400"}, "KASUWA_PEER_LISTEN must be a host and a port"),
        ({"KASUWA_PEER_LISTEN": "fd00::1:7400"}, "KASUWA_PEER_LISTEN must be a host and a port"),
        ({"KASUWA_PEER_LISTEN": "10.0.0.1:0"}, "KASUWA_PEER_LISTEN must leave a port for each of 3 API processes"),
        ({"KASUWA_PEER_LISTEN": "10.0.0.1:65534"}, "KASUWA_PEER_LISTEN must leave a port for each of 3 API processes"),
        ({"KASUWA_PEER_LISTEN": "0.0.0.0:7400"}, "KASUWA_PEER_ADDRESS must say how other hosts reach this one"),
        ({"KASUWA_PEER_LISTEN": "[::]:7400"}, "KASUWA_PEER_ADDRESS must say how other hosts reach this one"),
        ({"KASUWA_PEER_ADDRESS": "0.0.0.0"}, "KASUWA_PEER_ADDRESS must be an address of this host"),
        ({"KASUWA_PEER_ADDRESS": "http://a"}, "KASUWA_PEER_ADDRESS must be a host"),
        ({"KASUWA_PEER_ADDRESS": "a:65535"}, "KASUWA_PEER_ADDRESS must leave a port for each of 3 API processes"),
    ],
)
def test_settings_of_hosts_that_cannot_work_are_refused(changed: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings({**PEERS, **changed})
    assert one_line(error).startswith(message)
