"""Failed authentications are limited by address, and nobody is locked out by a neighbor's failures."""

import base64
from typing import Any

from kasuwa.http.shared_buckets import SharedBuckets
from kasuwa.http.throttle import BURST, MAX_FAILED_ADDRESSES, AuthenticationThrottle, SharedThrottle
from tests.merchant_client import HttpConnection, MerchantClient
from tests.running import Deployments
from tests.webhooks.event_log import wait_until

SECRET = base64.b64encode(bytes(range(32))).decode()


def test_an_address_that_fails_too_often_waits_and_others_do_not() -> None:
    throttle = AuthenticationThrottle()
    for _ in range(BURST):
        assert throttle.wait_seconds("198.51.100.1", "GP1") == 0
        throttle.record_failure("198.51.100.1")
    assert throttle.wait_seconds("198.51.100.1", "GP1") > 0
    assert throttle.wait_seconds("198.51.100.2", "GP1") == 0


def test_a_merchant_that_authenticated_from_an_address_is_still_let_in_there() -> None:
    throttle = AuthenticationThrottle()
    throttle.record_failure("198.51.100.1")
    throttle.record_success("198.51.100.1", "GP1")
    for _ in range(BURST):
        throttle.record_failure("198.51.100.1")
    assert throttle.wait_seconds("198.51.100.1", "GP1") == 0
    assert throttle.wait_seconds("198.51.100.1", "GP2") > 0


def test_memory_is_bounded_however_many_addresses_fail() -> None:
    throttle = AuthenticationThrottle()
    for n in range(MAX_FAILED_ADDRESSES + 10):
        throttle.record_failure(f"address {n}")
    for _ in range(BURST):
        throttle.record_failure("address 5")
    assert throttle.wait_seconds("address 5", "GP1") > 0
    assert len(throttle.failures) == MAX_FAILED_ADDRESSES


def test_processes_that_share_a_throttle_count_failures_together() -> None:
    buckets = SharedBuckets()
    first, second = SharedThrottle(buckets), SharedThrottle(buckets)
    had_failures = second.has_failures
    for throttle in (first, second) * (BURST // 2):
        assert throttle.wait_seconds("198.51.100.1", "GP1") == 0
        throttle.record_failure("198.51.100.1")
    assert (had_failures, second.has_failures) == (False, True)
    assert first.wait_seconds("198.51.100.1", "GP1") > 0
    assert second.wait_seconds("198.51.100.1", "GP1") > 0
    assert second.wait_seconds("198.51.100.2", "GP1") == 0


def test_a_merchant_known_to_one_process_is_let_in_by_the_others() -> None:
    buckets = SharedBuckets()
    first, second = SharedThrottle(buckets), SharedThrottle(buckets)
    first.record_success("198.51.100.1", "GP3")
    first.record_failure("198.51.100.1")
    first.record_success("198.51.100.1", "GP1")
    for _ in range(BURST):
        second.record_failure("198.51.100.1")
    assert second.wait_seconds("198.51.100.1", "GP1") == 0
    assert second.wait_seconds("198.51.100.1", "GP2") > 0
    assert second.wait_seconds("198.51.100.1", "GP3") > 0


def failed(wire: HttpConnection, came_from: str, mid: str = "GP7654321") -> Any:
    headers = {"mid": mid, "key": "wrong", "x-forwarded-for": came_from}
    return wire.send("PUT", "/resources", b'{"inquire":"wallet"}', headers)


def test_in_live_a_guesser_behind_a_trusted_proxy_is_stopped_alone(deployments: Deployments) -> None:
    settings = {
        "KASUWA_ENVIRONMENT": "live",
        "KASUWA_CONSOLE": "off",
        "KASUWA_SECRET_KEY": SECRET,
        "KASUWA_TRUSTED_PROXIES": "127.0.0.0/8",
    }
    with deployments.fresh("throttle", **settings) as live, live.connect() as wire:
        mid, key, _ = (line.split()[1] for line in live.run_command("merchant", "add", "Ada Stores").splitlines())
        answers = [failed(wire, "198.51.100.1").http for _ in range(BURST + 5)]
        assert answers[:BURST] == [401] * BURST
        stopped = failed(wire, "198.51.100.1")
        assert (stopped.http, stopped.body["status"]) == (429, 204)
        assert int(stopped.headers["retry-after"]) >= 1
        assert failed(wire, "198.51.100.2").http == 401
        headers = {"mid": mid, "key": key, "x-forwarded-for": "198.51.100.3"}
        assert wire.send("PUT", "/resources", b'{"inquire":"wallet"}', headers).http == 200
        assert MerchantClient(wire, mid, key).put("resources", inquire="wallet").http == 200
        wait_until("the log has the address", lambda: '"address":"198.51.100.3"' in live.out.read_text())
        assert live.new_stderr() == ""
