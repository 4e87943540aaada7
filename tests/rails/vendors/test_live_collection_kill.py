"""Every process of the service dies between a vendor and our books, with all payments but cards at Paystack.

After the restart there is one payment and one refund at the vendor, and the books agree.
"""

import contextlib
import http.client
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.rails.vendors.live_collection import CollectionHarness, collecting
from tests.rails.vendors.test_live import kill_service
from tests.running import Deployments, stop, terminated_with_us
from tests.webhooks.event_log import wait_until


@contextlib.contextmanager
def killed_during(harness: CollectionHarness, call: Callable[[], Any], is_done: Callable[[], Any]) -> Iterator[None]:
    """Kills every process while a request waits for the vendor, and starts the service again."""
    with ThreadPoolExecutor(max_workers=1) as threads:
        calling = threads.submit(call)
        wait_until("the vendor has it", is_done)
        kill_service(harness.deployment)
        with pytest.raises((OSError, http.client.HTTPException)):
            calling.result()
    # The leases of the dead processes end: half a minute later, were it not for this.
    harness.deployment.fetch("update scheduled_job set leased_until = now() where leased_until is not null")
    process = harness.deployment.start()
    try:
        with terminated_with_us(process.pid, signal.SIGTERM):
            harness.deployment.wait_ready(process)
            yield
    finally:
        stop(process)


def find_account(harness: CollectionHarness, customer_txnref: str) -> Any:
    """Returns the payment once it shows an account. Has the vendor queried now, and not by the schedule."""
    harness.run_open_jobs()
    found = harness.put(action="verify", customer_txnref=customer_txnref)
    return found if "accountNumber" in found else None


def test_kill_between_begin_and_query_and_during_a_refund(deployments: Deployments) -> None:
    with collecting(deployments, "live-collection-kill", "monnify", "paystack") as harness:
        twin, rules = harness.vendors.paystack, harness.paystack
        twin.add_fault("hang", "/charge", method="POST")
        with killed_during(
            harness,
            lambda: harness.put(action="charge", paymentType="bank_transfer", amount="2500.00", customer_txnref="b1"),
            lambda: rules.payments,
        ):
            shown = wait_until("the account is shown", lambda: find_account(harness, "b1"))
            txn_ref = shown["txnRef"]
            assert list(rules.payments) == [harness.wire(txn_ref)]
            harness.call_back("paystack", rules.pay(harness.wire(txn_ref)))
            harness.wait_for(txn_ref, "successful")
            twin.add_fault("hang", "/refund", method="POST")
            with killed_during(
                harness,
                lambda: harness.refund(txn_ref, "1000.00"),
                lambda: rules.refunds,
            ):
                [refund] = rules.refunds
                refund_ref = harness.deployment.fetch("select txn_ref from transaction where kind = 'refund'")[0][0]
                assert refund.note == harness.wire(refund_ref)
                rules.end_refund(refund.id)
                harness.run_open_jobs()
                wait_until(
                    "it is refunded",
                    lambda: harness.put(action="verify", refundRef=refund_ref)["txnStatus"] == "successful",
                )
                assert len(rules.refunds) == 1
                harness.compare_books()
