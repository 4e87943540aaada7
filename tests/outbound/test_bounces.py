"""What is read out of bounces, whoever wrote them, and the addresses that they come back to."""

import base64
import quopri

import pytest

from kasuwa.core.mail import MailTry
from kasuwa.core.vault import Vault
from kasuwa.outbound.delivery_reports import DELAYED, FAILED, MAX_BYTES, DeliveryReport, read_report
from kasuwa.outbound.return_addresses import HEADER, ReturnAddresses
from kasuwa.settings.settings import parse_bounce_address, read_settings
from kasuwa.settings.values import SettingsError
from tests.outbound import bounce_samples as samples
from tests.outbound.bounce_samples import fill

TO = "bounces+token@example.com"
RETURNS = ReturnAddresses(Vault(bytes(32)), "bounces@example.com")
TRY = MailTry(4711, "ML" + "0f" * 16, 2)
OTHER = MailTry(4712, "ML" + "a0" * 16, 0)


@pytest.mark.parametrize(
    ("sample", "code"),
    [
        (samples.POSTFIX, "550 5.1.1"),
        (samples.EXIM, "550 5.1.1"),
        (samples.EXIM_OLD, ""),
        (samples.EXCHANGE, "550 5.1.10"),
        (samples.GMAIL, "550 5.1.1"),
        (samples.SES, "552 5.2.2"),
        (samples.POSTFIX_EXPIRED, "4.4.1"),
    ],
    ids=["postfix", "exim", "exim before reports", "exchange", "gmail", "ses", "postfix after days"],
)
def test_a_bounce_of_each_mail_server_is_read(sample: str, code: str) -> None:
    assert read_report(fill(sample, TO)) == DeliveryReport(FAILED, code)
    assert read_report(fill(sample, TO).replace(b"\r\n", b"\n")) == DeliveryReport(FAILED, code)


def test_a_mail_that_is_late_has_not_failed() -> None:
    assert read_report(fill(samples.POSTFIX_DELAYED, TO)) == DeliveryReport(DELAYED, "4.4.1")


@pytest.mark.parametrize("sample", [samples.VACATION, samples.RECEIPT, samples.COMPLAINT])
def test_what_reports_no_delivery_is_no_bounce(sample: str) -> None:
    assert read_report(fill(sample, TO, "X-Failed-Recipients: ada@shop.example")) is None


@pytest.mark.parametrize("action", ["delivered", "relayed", "expanded"])
def test_a_mail_that_has_reached_somebody_has_not_failed(action: str) -> None:
    reached = (
        f"Final-Recipient: rfc822; b@shop.example\nAction: {action}\nStatus: 2.0.0\n\nFinal-Recipient: rfc822; ada"
    )
    sample = samples.POSTFIX.replace("Final-Recipient: rfc822; ada", reached)
    assert sample != samples.POSTFIX
    assert read_report(fill(sample, TO)) is None


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable"])
def test_an_encoded_report_is_read(encoding: str) -> None:
    body = b"Reporting-MTA: dns; x\n\nFinal-Recipient: rfc822; a@b.example\nAction: failed (today)\nStatus: 5.7.1\n"
    encoded = base64.encodebytes(body) if encoding == "base64" else quopri.encodestring(body)
    head = f"Content-Type: multipart/report; boundary=x\n\n--x\nContent-Transfer-Encoding: {encoding}\n".encode()
    content = head + b"Content-Type: message/delivery-status\n\n" + encoded + b"\n--x--\n"
    assert read_report(content) == DeliveryReport(FAILED, "5.7.1")


def test_a_report_inside_a_mail_that_a_list_has_wrapped_is_read() -> None:
    inner = fill(samples.EXIM, TO).partition(b"Content-Type: ")[2]
    wrapped = (
        b"To: x\r\nContent-Type: multipart/mixed; boundary=w\r\n\r\n--w\r\nContent-Type: " + inner + b"\r\n--w--\r\n"
    )
    assert read_report(wrapped) == DeliveryReport(FAILED, "550 5.1.1")


# --- what is malformed or hostile -------------------------------------------------------------------------------------


def test_a_report_without_a_recipient_or_an_action_counts_by_what_it_has() -> None:
    nobody = samples.POSTFIX.replace("Final-Recipient: rfc822; ada@shop.example\n", "")
    assert read_report(fill(nobody, TO)) == DeliveryReport(FAILED, "550 5.1.1")
    assert read_report(fill(samples.POSTFIX.replace("Action: failed\n", ""), TO)) == DeliveryReport(FAILED, "550 5.1.1")
    assert read_report(fill(samples.POSTFIX_DELAYED.replace("Action: delayed\n", ""), TO)) is None


def nested(depth: int) -> bytes:
    head = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(depth))
    return (head + "Content-Type: message/delivery-status\n\nAction: failed\nStatus: 5.1.1\n").encode()


HOSTILE = {
    "nothing": b"",
    "line ends alone": b"\r\n" * 100_000,
    "bytes": bytes(range(256)) * 1000,
    "deep": nested(20_000),
    "many parts": b"Content-Type: multipart/report; boundary=x\n\n" + b"--x\n" * 200_000,
    "many fields": b"A: b\n" * 200_000,
    "one long line": b"Content-Type: multipart/report; boundary=" + b"x" * MAX_BYTES,
    "empty boundary": b'Content-Type: multipart/report; boundary=""\n\n--\nAction: failed\n',
    "boundary of a pattern": b'Content-Type: multipart/report; boundary="(a+)+$"\n\n--' + b"a" * 99 + b"!",
    "many groups": b"Content-Type: message/delivery-status\n\n" + b"X: y\n\n" * 100_000,
    "folds": b"Content-Type: multipart/report;" + b"\n " * 200_000,
    "wrong charset": fill(samples.POSTFIX, TO).decode().encode("utf-16"),
    "broken base64": b"Content-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\n=a=b!",
    "too late": fill(samples.POSTFIX, TO).replace(b"This is a MIME", b"x" * MAX_BYTES + b"\r\nThis is a MIME", 1),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_read_is_no_bounce(content: bytes) -> None:
    assert read_report(content) is None
    assert RETURNS.find_try(content) is None


def test_reports_are_read_to_a_depth_of_three() -> None:
    assert read_report(nested(3)) == DeliveryReport(FAILED, "5.1.1")
    assert read_report(nested(4)) is None


def test_nothing_but_digits_of_a_report_is_kept() -> None:
    diagnostic = "Diagnostic-Code: smtp; 550 5.1.1 <script>ada@shop.example</script> 4111111111111111"
    report = read_report(
        f"Content-Type: message/delivery-status\n\nAction: failed\nStatus: 5.1.1 {diagnostic}\n{diagnostic}\n".encode()
    )
    assert report == DeliveryReport(FAILED, "550 5.1.1")


# --- addresses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tried", [TRY, OTHER, MailTry(0, "PM" + "00" * 16, 9), MailTry(2**32 - 1, "ML" + "ff" * 16, 255)]
)
def test_an_address_names_the_try_and_has_at_most_64_characters_before_the_at(tried: MailTry) -> None:
    token = RETURNS.make_token(tried)
    assert RETURNS.read_token(token) == tried
    assert RETURNS.read_token(token.upper()) == tried
    longest = ReturnAddresses(Vault(bytes(32)), "b" * 13 + "@example.com").make_address(token)
    assert len(longest.partition("@")[0]) <= 64


def test_a_token_with_any_other_character_is_not_ours() -> None:
    token = RETURNS.make_token(TRY)
    # The last one has bits that belong to nothing.
    for place in range(len(token) - 1):
        other = "a" if token[place] != "a" else "b"
        assert RETURNS.read_token(token[:place] + other + token[place + 1 :]) is None
    assert ReturnAddresses(Vault(bytes([1]) * 32), "bounces@example.com").read_token(token) is None


@pytest.mark.parametrize("sample", [samples.POSTFIX, samples.EXIM, samples.EXIM_OLD, samples.EXCHANGE, samples.SES])
def test_the_try_is_found_by_the_address_or_by_the_header(sample: str) -> None:
    token = RETURNS.make_token(TRY)
    other = f"{HEADER}: {RETURNS.make_token(OTHER)}"
    assert RETURNS.find_try(fill(sample, RETURNS.make_address(token), other)) == TRY
    assert RETURNS.find_try(fill(sample, "mailbox@example.com", f"{HEADER}: {token}")) == TRY
    assert RETURNS.find_try(fill(sample, "mailbox@example.com")) is None


def test_many_forged_tokens_hide_no_mail_and_are_not_all_tried() -> None:
    forged = b"+" + b"a" * 48 + b"@example.com\n"
    token = RETURNS.make_address(RETURNS.make_token(TRY)).encode()
    assert RETURNS.find_try(forged * 50 + token) == TRY
    assert RETURNS.find_try(forged * 200 + token) is None


def test_the_setting_must_be_an_address_with_room_for_a_token() -> None:
    assert parse_bounce_address(read_settings({})) is None
    assert parse_bounce_address(read_settings({"KASUWA_MAIL_BOUNCES": "bounces@example.com"})) == "bounces@example.com"
    for wrong in ("bounces", "Ada <bounces@example.com>", "b" * 14 + "@example.com"):
        with pytest.raises(SettingsError, match="KASUWA_MAIL_BOUNCES"):
            parse_bounce_address(read_settings({"KASUWA_MAIL_BOUNCES": wrong}))
