"""Forbidden targets of outgoing HTTP: URLs that are refused when set, addresses that are refused when used. Contract:
events#payload

While loopback is not allowed, a server listens there: any spelling of its address that is not refused would reach it.
"""

import asyncio
import re
import socket
from collections.abc import Sequence

import pytest

from kasuwa.outbound.egress import EgressClient, TargetRefused
from kasuwa.outbound.url_policy import address_fault, url_fault
from tests.outbound.receivers import OK, answering, on_both_loops, receiving, sending


def words(text: str) -> list[str]:
    return text.split()


LOOPBACK_HOSTS = words("""
    127.0.0.1 127.0.0.2 127.255.255.254 [::1] [0:0:0:0:0:0:0:1] localhost LOCALHOST localhost.localdomain
    shop.localhost ip6-localhost ip6-loopback ℓocalhost １２７.0.0.1 ①②⑦.⓪.⓪.① 127。0。0。1 127．0．0．1
""")
ODD_HOSTS = words("""
    127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0x7f.0.0.1 0X7F.0x0.0x0.0x1 017700000001 0177.0.0.1 127.0.0.01
    0177.0x0.1 00127.0.0.1 127.0.0.1. 127.0.0.1.. 127.1. localhost. localhost.. 0 0x0 00000000 0x 4294967296
    %31%32%37.0.0.1 %6cocalhost 2852039166 0xa9fea9fe 0251.0376.0251.0376 1.2.3 1.2.3.4.5 256.1.1.1 1.1.1.1.
    [127.0.0.1] [v1.fe80::] [::1%25lo] [fe80::1%25eth0] [2606:4700::1%25eth0] a..example.com .example.com
    example.com. *.example.com exa%6dple.com example.com%00 metadata postgres metadata.google.internal
    printer.local router.home.arpa host.docker.internal
""")
SPECIAL_ADDRESSES = words("""
    0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 168.63.129.16
    169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.0 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1
    192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255
    198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.254 255.255.255.255
    :: ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 ::10.0.0.1 ::2
    ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::7f00:1 100::1 100:0:0:1::1 2001::1
    2001:0:7f00:1:: 2001:2::1 2001:3::1 2001:10::1 2001:20::1 2001:1ff::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::
    2620:4f:8000::1 3fff::1 4000::1 5f00::1 8000::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 febf::1 fec0::1
    ff02::1 ff0e::1
""")
PUBLIC_ADDRESSES = words("""
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.17
    169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255
    198.20.0.0 223.255.255.255 2001:200::1 2001:4860:4860::8888 2003::1 2606:4700:4700::1111 2a00:1450:4001::1
    3ffe:ffff::1
""")
ODD_URLS = [
    "",
    "x",
    "example.com",
    "//example.com/",
    "http:",
    "http://",
    "http:///hook",
    "http:example.com",
    "http:/x",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/",
    "unix:///run/x",
    "javascript:1",
    "ws://127.0.0.1:{port}/",
    "tcp://127.0.0.1:{port}/",
    "http+unix://x/",
    "data:,x",
    "https://?x",
    "https://#x",
    "https://user@example.com/",
    "https://user:secret@example.com/",
    "https://:@example.com/",
    "https://@example.com/",
    "http://example.com@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}@example.com/",
    "http://1.1.1.1 &@127.0.0.1:{port}# @example.com/",
    "http://127.0.0.1:{port}\\@example.com/",
    " http://127.0.0.1:{port}/",
    "http://127.0.0.1:{port}/ x",
    "http://127.0.0.1:{port}/\r\nx: y",
    "ht\ttp://127.0.0.1:{port}/",
    "http://127.0.0.1\x00:{port}/",
    "http://loc\u00adalhost:{port}/",
    "https://example.com:0/",
    "https://example.com:65536/",
    "https://example.com:x/",
    "https://example.com:1:2/",
    "https://[::1",
    "https://::1/",
    "https://[]/",
    "https://" + "a" * 64 + ".com/",
    "https://example.com/\u202e",
    "https://" + "a." * 130 + "com/",
    "https://example.com/" + "a" * 2048,
]
HOSTILE = [
    *(f"http://{host}:{{port}}/" for host in LOOPBACK_HOSTS + ODD_HOSTS),
    *(f"http://{f'[{address}]' if ':' in address else address}:{{port}}/" for address in SPECIAL_ADDRESSES),
    *ODD_URLS,
]


async def refusals(egress: EgressClient, urls: Sequence[str]) -> list[str]:
    """Returns the URLs that were refused with a reason that can be shown."""
    refused = []
    for url in urls:
        try:
            await egress.post(url, b"{}", {})
        except TargetRefused as refusal:
            if re.fullmatch(r"[A-Z][-a-zA-Z0-9 ,.:/'6]{10,99}", str(refusal)):
                refused.append(url)
    return refused


def test_there_are_enough_spellings() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE)
    assert len(LOOPBACK_HOSTS + ODD_HOSTS) >= 60
    assert len(SPECIAL_ADDRESSES) >= 60


@pytest.mark.parametrize("environment", ["test", "live"])
def test_hostile_urls_are_refused_and_nothing_is_connected_to(environment: str) -> None:
    @on_both_loops
    async def check() -> None:
        async with (
            receiving(answering(OK)) as canary,
            receiving(answering(OK), host="::1", port=canary.port) as other,
        ):
            async with sending(environment=environment, loopback_allowed=environment == "live") as egress:
                urls = [url.replace("{port}", str(canary.port)) for url in HOSTILE]
                assert await refusals(egress, urls) == urls
            assert (canary.connections, other.connections) == (0, 0)

    check()


@on_both_loops
async def test_the_canary_hears_what_is_allowed_to_reach_it() -> None:
    async with receiving(answering(OK)) as canary, sending() as egress:
        for number, host in enumerate(["127.0.0.1", "localhost", "１２７.0.0.1"], start=1):
            sent = await egress.post(f"http://{host}:{canary.port}/", b"{}", {})
            assert (sent.status, len(canary.requests)) == (200, number)


@pytest.mark.parametrize("url", HOSTILE)
def test_a_hostile_url_is_refused_when_it_is_set(url: str) -> None:
    url = url.replace("{port}", "9000")
    assert url_fault(url, environment="test", loopback_allowed=False)
    assert url_fault(url, environment="live", loopback_allowed=True)
    assert url_fault(url.replace("http://", "https://"), environment="live", loopback_allowed=True)


@pytest.mark.parametrize("host", LOOPBACK_HOSTS)
def test_loopback_may_be_set_in_test_alone(host: str) -> None:
    url = f"https://{host}:9000/hook"
    assert url_fault(url, environment="test", loopback_allowed=True) is None
    assert url_fault(url, environment="test", loopback_allowed=False)
    assert url_fault(url, environment="live", loopback_allowed=True)


@pytest.mark.parametrize("host", [*ODD_HOSTS, *(a for a in SPECIAL_ADDRESSES if ":" not in a)])
def test_allowing_loopback_allows_nothing_else(host: str) -> None:
    assert url_fault(f"http://{host}:9000/", environment="test", loopback_allowed=True)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "https://example.com/hook?a=%20b#c",
        "HTTPS://Example.COM:8443/",
        "https://1.1.1.1/",
        "https://[2606:4700:4700::1111]:8443/",
        "https://münchen.example/",
        "https://xn--mnchen-3ya.example/",
        "https://my_shop.example.co.uk/a@b",
        "https://127.0.0.1.example.com/",
        "https://example.com/" + "a" * 2028,
    ],
)
def test_an_ordinary_url_may_be_set(url: str) -> None:
    assert url_fault(url, environment="live", loopback_allowed=False) is None
    assert url_fault(url, environment="test", loopback_allowed=True) is None


def test_live_wants_https() -> None:
    assert url_fault("http://example.com/", environment="test", loopback_allowed=False) is None
    assert url_fault("http://example.com/", environment="live", loopback_allowed=False)


@pytest.mark.parametrize("address", SPECIAL_ADDRESSES)
def test_a_special_address_is_refused(address: str) -> None:
    assert address_fault(address, loopback_allowed=False)
    assert address_fault(address, loopback_allowed=True)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.255.255.255", "::1"])
def test_loopback_is_refused_unless_it_is_allowed(address: str) -> None:
    assert address_fault(address, loopback_allowed=False)
    assert address_fault(address, loopback_allowed=True) is None


@pytest.mark.parametrize("text", ["", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "example.com", "1.1.1.1 "])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert address_fault(text, loopback_allowed=True)


@pytest.mark.parametrize("address", PUBLIC_ADDRESSES)
def test_a_public_address_is_let_be(address: str) -> None:
    assert address_fault(address, loopback_allowed=False) is None


# --- names: what they resolve to is looked at when they are used ----------------------------------------------------


@on_both_loops
async def test_a_name_that_leads_to_a_special_address_is_refused() -> None:
    found = ""

    async def resolve(host: str) -> Sequence[str]:
        return [found]

    async with receiving(answering(OK)) as canary, sending(loopback_allowed=False, resolve=resolve) as egress:
        for found in [*SPECIAL_ADDRESSES, "127.0.0.1", "::1", "127.1", "localhost", ""]:
            url = f"http://shop.example:{canary.port}/"
            assert await refusals(egress, [url]) == [url], found
        assert canary.connections == 0


@on_both_loops
async def test_all_addresses_of_a_name_must_be_allowed() -> None:
    async def resolve(host: str) -> Sequence[str]:
        return ["127.0.0.1", "10.0.0.1"] if host.startswith("first") else ["10.0.0.1", "127.0.0.1"]

    async with receiving(answering(OK)) as canary, sending(resolve=resolve) as egress:
        urls = [f"http://{name}.example:{canary.port}/" for name in ("first", "last")]
        assert await refusals(egress, urls) == urls
        assert canary.connections == 0


@on_both_loops
async def test_the_address_that_was_checked_is_the_one_that_is_connected_to() -> None:
    lookups: list[str] = []

    async def resolve(host: str) -> Sequence[str]:
        lookups.append(host)
        return ["127.0.0.1"] if len(lookups) == 1 else ["127.0.0.2"]

    async with (
        receiving(answering(OK)) as checked,
        receiving(answering(OK), host="127.0.0.2", port=checked.port) as other,
    ):
        async with sending(resolve=resolve) as egress:
            await egress.post(f"http://shop.example:{checked.port}/", b"{}", {})
        assert (checked.connections, other.connections, lookups) == (1, 0, ["shop.example"])


@on_both_loops
async def test_a_name_that_turns_private_later_is_refused_from_then_on() -> None:
    answers = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "127.0.0.1"]

    async def resolve(host: str) -> Sequence[str]:
        return [answers.pop(0)]

    closing = answering(OK.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"))
    async with receiving(closing) as shop, sending(resolve=resolve) as egress:
        url = f"http://shop.example:{shop.port}/"
        assert (await egress.post(url, b"{}", {})).status == 200
        assert await refusals(egress, [url, url]) == [url, url]
        assert shop.connections == 1
        assert (await egress.post(url, b"{}", {})).status == 200


@on_both_loops
async def test_many_who_ask_for_a_name_at_once_are_refused_together() -> None:
    async def resolve(host: str) -> Sequence[str]:
        await asyncio.sleep(0.01)
        return ["10.0.0.1"]

    async with sending(resolve=resolve) as egress:
        results = await asyncio.gather(
            *(egress.post("http://shop.example/", b"{}", {}) for _ in range(20)), return_exceptions=True
        )
        assert [type(one) for one in results] == [TargetRefused] * 20


def test_no_socket_is_opened_to_a_special_address_whoever_asks() -> None:
    egress = EgressClient(environment="live", loopback_allowed=True)
    for address in [*SPECIAL_ADDRESSES, "127.0.0.1", "::1"]:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with pytest.raises(PermissionError):
            egress._open_socket((family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, 80)))
