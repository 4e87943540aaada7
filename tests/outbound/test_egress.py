"""Outgoing HTTP that is answered: what is sent, what is stored of the answer, and how connections are reused."""

import asyncio
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kasuwa.outbound.egress import MAX_BODY_BYTES, MAX_PER_HOST, RequestFailed, read_retry_after
from tests.outbound.receivers import OK, Receiver, answering, on_both_loops, receiving, sending

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = 86_400


def answer(status: str, *headers: str, body: bytes = b"") -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}"])
    return head.encode() + b"\r\n\r\n" + body


# --- what is sent ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", bytes(range(256)), b"\r\n\r\n0\r\n", "₦ 1,000".encode(), bytes(range(256)) * 4096],
    ids=["nothing", "json", "every byte", "line ends", "text", "a mebibyte"],
)
@on_both_loops
async def test_a_body_arrives_byte_for_byte(body: bytes) -> None:
    async with receiving(answering(OK)) as shop, sending() as egress:
        await egress.post(shop.url, body, {"content-type": "application/json"})
        assert [received for _, received in shop.requests] == [body]


@on_both_loops
async def test_the_headers_are_ours_and_hardly_any_besides() -> None:
    async with receiving(answering(OK)) as shop, sending(user_agent="Kasuwa/1") as egress:
        await egress.post(shop.url, b"{}", {"content-type": "application/json", "service-hash": "ab12"})
        first, *lines = shop.requests[0][0].decode().strip().split("\r\n")
        assert first == "POST /hook?a=1 HTTP/1.1"
        assert {line.partition(":")[0].lower(): line.partition(": ")[2] for line in lines} == {
            "host": f"127.0.0.1:{shop.port}",
            "user-agent": "Kasuwa/1",
            "accept": "*/*",
            "content-type": "application/json",
            "content-length": "2",
            "service-hash": "ab12",
        }


@on_both_loops
async def test_what_the_environment_says_of_proxies_and_passwords_is_not_heeded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("default login joe password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    async with receiving(answering(OK)) as shop, receiving(answering(OK)) as proxy, sending() as egress:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        await egress.post(shop.url, b"{}", {})
        assert (shop.connections, proxy.connections) == (1, 0)
        assert b"authorization" not in shop.requests[0][0].lower()


@on_both_loops
async def test_cookies_are_not_kept() -> None:
    async def resolve(host: str) -> Sequence[str]:
        return ["127.0.0.1"]

    async with receiving(answering(answer("200 OK", "Set-Cookie: a=b"))) as shop, sending(resolve=resolve) as egress:
        for _ in range(2):
            await egress.post(f"http://shop.example:{shop.port}/", b"{}", {})
        assert [b"cookie" in head.lower() for head, _ in shop.requests] == [False, False]


# --- what comes back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 201, 202, 204, 304, 400, 401, 404, 410, 429, 500, 503, 599])
@on_both_loops
async def test_an_answer_is_its_status(status: int) -> None:
    async with receiving(answering(answer(f"{status} Whatever"))) as shop, sending() as egress:
        sent = await egress.post(shop.url, b"{}", {})
        assert (sent.status, sent.body, sent.retry_after) == (status, b"", None)
        assert sent.response_ms > 0


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@on_both_loops
async def test_a_redirect_is_not_followed(status: int) -> None:
    async with receiving(answering(OK)) as other:
        away = answering(answer(f"{status} Elsewhere", f"Location: {other.url}"))
        async with receiving(away) as shop, sending() as egress:
            assert (await egress.post(shop.url, b"{}", {})).status == status
            assert (other.connections, len(shop.requests)) == (0, 1)


@pytest.mark.parametrize("length", [1, MAX_BODY_BYTES - 1, MAX_BODY_BYTES, MAX_BODY_BYTES + 1, 60_000, 1_000_000])
@on_both_loops
async def test_of_a_long_body_the_first_part_is_kept(length: int) -> None:
    body = bytes(number % 251 for number in range(length))
    async with receiving(answering(answer("200 OK", body=body))) as shop, sending() as egress:
        for _ in range(3):
            assert (await egress.post(shop.url, b"{}", {})).body == body[:MAX_BODY_BYTES]


@on_both_loops
async def test_a_packed_body_is_not_unpacked() -> None:
    packed = b"\x1f\x8b not really gzip"
    async with (
        receiving(answering(answer("200 OK", "Content-Encoding: gzip", body=packed))) as shop,
        sending() as egress,
    ):
        assert (await egress.post(shop.url, b"{}", {})).body == packed


@on_both_loops
async def test_chunks_are_put_together() -> None:
    chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
    async with receiving(answering(chunks)) as shop, sending() as egress:
        assert [(await egress.post(shop.url, b"{}", {})).body for _ in range(2)] == [b"abcde", b"abcde"]
        assert shop.connections == 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("1", 1),
        ("120", 120),
        ("00120", 120),
        ("86400", DAY),
        ("86401", DAY),
        ("9" * 5000, DAY),
        ("-1", None),
        ("1.5", None),
        ("١", None),
        ("soon", None),
        ("", None),
        ("1e3", None),
        ("0x10", None),
        *((format_datetime(NOW + timedelta(seconds=n), usegmt=True), n) for n in (0, 1, 90, DAY)),
        (format_datetime(NOW + timedelta(days=2), usegmt=True), DAY),
        (format_datetime(NOW - timedelta(days=2), usegmt=True), 0),
        ("Sun, 31 Feb 2027 12:00:00 GMT", None),
        ("Sun, 15 Nov 2026 25:00:00 GMT", None),
        ("Sun, 15 Nov 2026 12:99:00 GMT", None),
        ("Sun, 15 Nov 2026 12:00:00 +0000", None),
        ("Abc, 15 Xyz 2026 12:00:00 GMT", None),
        ("2026-11-15T12:00:00Z", None),
    ],
)
def test_when_to_come_again_is_read(text: str, seconds: int | None) -> None:
    assert read_retry_after(text, NOW) == seconds


@on_both_loops
async def test_when_to_come_again_comes_with_the_answer() -> None:
    busy = answering(answer("503 Busy", "Retry-After: 30"), answer("429 Busy", "Retry-After: whenever"))
    async with receiving(busy) as shop, sending() as egress:
        answers = [await egress.post(shop.url, b"{}", {}) for _ in range(2)]
        assert [(sent.status, sent.retry_after) for sent in answers] == [(503, 30), (429, None)]


# --- connections ----------------------------------------------------------------------------------------------------


@on_both_loops
async def test_a_connection_is_used_again() -> None:
    async with receiving(answering(OK)) as shop, sending() as egress:
        for _ in range(20):
            assert (await egress.post(shop.url, b"{}", {})).body == b"ok"
        assert (shop.connections, len(shop.requests)) == (1, 20)


@on_both_loops
async def test_a_host_has_so_many_connections_and_no_more() -> None:
    async with receiving(answering(OK)) as shop, sending() as egress:
        answers = await asyncio.gather(*(egress.post(shop.url, b"%d" % n, {}) for n in range(500)))
        assert {sent.status for sent in answers} == {200}
        assert sorted(int(body) for _, body in shop.requests) == list(range(500))
        assert 1 < shop.connections <= MAX_PER_HOST


@on_both_loops
async def test_a_connection_that_the_receiver_closes_is_not_used_again() -> None:
    async with receiving(answering(answer("200 OK", "Connection: close"))) as shop, sending() as egress:
        for _ in range(3):
            assert (await egress.post(shop.url, b"{}", {})).status == 200
        assert shop.connections == 3


@on_both_loops
async def test_loopback_of_the_sixth_version_works_too() -> None:
    async with receiving(answering(OK), host="::1") as shop, sending() as egress:
        assert (await egress.post(shop.url, b"{}", {})).status == 200
        assert shop.requests[0][0].count(f"Host: [::1]:{shop.port}".encode()) == 1


# --- TLS ------------------------------------------------------------------------------------------------------------


def write_certificate(path: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Writes a self-signed certificate. Returns the contexts of its server and of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    names = x509.SubjectAlternativeName([x509.DNSName(name), x509.IPAddress(ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    signed = made.add_extension(names, critical=False).sign(key, hashes.SHA256())
    private = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, *private) + signed.public_bytes(serialization.Encoding.PEM)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    return server, ssl.create_default_context(cadata=signed.public_bytes(serialization.Encoding.PEM).decode())


@on_both_loops
async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(tmp_path: Path) -> None:
    server, _ = write_certificate(tmp_path / "pem", "shop.example")
    async with receiving(answering(OK), tls=server) as shop, sending() as egress:
        with pytest.raises(RequestFailed, match=r"^The certificate is not trusted$") as failure:
            await egress.post(shop.url, b"{}", {})
        assert not failure.value.may_have_arrived
        assert shop.requests == []


@on_both_loops
async def test_a_trusted_certificate_is_good_for_its_own_names_alone(tmp_path: Path) -> None:
    async def resolve(host: str) -> Sequence[str]:
        return ["127.0.0.1"]

    server, client = write_certificate(tmp_path / "pem", "shop.example")
    async with receiving(answering(OK), tls=server) as shop, sending(resolve=resolve, tls=client) as egress:
        for _ in range(2):
            assert (await egress.post(f"https://shop.example:{shop.port}/", b"{}", {})).body == b"ok"
        assert (shop.connections, len(shop.requests)) == (1, 2)
        with pytest.raises(RequestFailed, match=r"^The certificate is not trusted$"):
            await egress.post(f"https://other.example:{shop.port}/", b"{}", {})
        assert len(shop.requests) == 2


@on_both_loops
async def test_a_receiver_that_does_not_speak_tls_is_not_spoken_to() -> None:
    async def talk(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(OK)

    async with receiving(talk) as shop, sending() as egress:
        with pytest.raises(RequestFailed, match=r"^No (TLS )?connection could be made$") as failure:
            await egress.post(shop.url.replace("http:", "https:"), b"{}", {})
        assert not failure.value.may_have_arrived
