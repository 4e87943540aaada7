"""The client address of requests behind trusted proxies and with forged headers."""

import pytest

from kasuwa.core.addresses import client_address, read_networks

PROXIES = read_networks("10.0.0.0/8, 192.168.1.7, fd00::/8")


@pytest.mark.parametrize(
    ("peer", "forwarded", "came_from"),
    [
        ("203.0.113.9:5000", "", "203.0.113.9"),
        ("203.0.113.9:5000", "198.51.100.1", "203.0.113.9"),
        ("10.1.2.3:5000", "", "10.1.2.3"),
        ("10.1.2.3:5000", "198.51.100.1", "198.51.100.1"),
        ("10.1.2.3:5000", "127.0.0.1, 198.51.100.1", "198.51.100.1"),
        ("10.1.2.3:5000", "198.51.100.1, 192.168.1.7", "198.51.100.1"),
        ("10.1.2.3:5000", "198.51.100.1, 192.168.1.8", "192.168.1.8"),
        ("10.1.2.3", "198.51.100.1:6000", "198.51.100.1"),
        ("[fd00::1]:5000", "[2001:db8::2]:6000", "2001:db8::2"),
        ("[fd00::1]:5000", "2001:db8::2", "2001:db8::2"),
        ("::ffff:10.1.2.3", "198.51.100.1", "198.51.100.1"),
        ("10.1.2.3:5000", "unknown", "10.1.2.3"),
        ("10.1.2.3:5000", "198.51.100.1, <script>", "10.1.2.3"),
        ("10.1.2.3:5000", ",".join(["198.51.100.1"] + ["10.0.0.1"] * 99), "10.0.0.1"),
        ("unix:", "198.51.100.1", "unix:"),
    ],
)
def test_only_what_a_trusted_proxy_says_is_believed(peer: str, forwarded: str, came_from: str) -> None:
    assert client_address(peer, forwarded, PROXIES) == came_from


def test_without_trusted_proxies_the_header_is_ignored() -> None:
    assert client_address("10.1.2.3:5000", "198.51.100.1", ()) == "10.1.2.3"


def test_an_invalid_network_is_named_in_the_error() -> None:
    with pytest.raises(ValueError, match=r"10\.0\.0\.1/8"):
        read_networks("10.0.0.1/8")
