"""The rows of the table of adapters (adapter_table.py), and what a pair of an adapter and a row says."""

from collections.abc import Mapping

import msgspec

ROWS = {
    "statuses": "each status and refusal that the vendor documents",
    "undocumented": "a status and a code that nobody documents are unreadable, and decide nothing",
    "faults": "a fault before the connection, after the request, within the answer; HTML, 502, an empty answer",
    "lost": "a lost answer, then a query: success, failure, not found, not found then success; sent once",
    "duplicate": "a refusal as a duplicate at the first sending is looked up",
    "token": "a token that expires in the middle of an order: one log-in, and the order is sent once",
    "midnight": "midnight in Lagos between two sendings: no second identifier",
    "refund twice": "a refund whose answer was lost is paid once",
    "signature": "call-backs with a right, wrong or missing signature, or a body changed by a space",
    "order of call-backs": "call-backs that repeat, come before the answer of the sending, or after the end",
    "strangers": "call-backs about a reference of nobody, or with an amount that differs",
    "amounts": "1 kobo, 99 kobo and 2^53 kobo are exact on the wire and back",
    "secrets": "nothing secret in logs, traces, metrics and repr",
}


class Shown(msgspec.Struct, frozen=True):
    """The tests that show it, as `path::name` below tests/rails. `note` says what they leave out, and why."""

    tests: tuple[str, ...]
    note: str = ""


class NotNeeded(msgspec.Struct, frozen=True):
    """Says why it cannot apply to an adapter."""

    reason: str


Cell = Shown | NotNeeded


def shown(*tests: str, note: str = "") -> Shown:
    return Shown(tests, note)


EVERY = "vendors/test_every_adapter.py::test_fault_is_unavailable_or_no_answer_and_shows_no_key"
QUIET = "vendors/test_every_adapter.py::test_adapter_and_its_orders_show_no_secret"
LOST = "vendors/test_lost_orders.py::test_lost_order_is_sent_once_whatever_its_query_says"
LIVE, LIVE_ACCOUNTS = "vendors/test_live.py", "vendors/test_live_accounts.py"
LIVE_COLLECTION = "vendors/test_live_collection.py"
REMOTE, REMOTE_ACCOUNTS = "remote/test_remote_adapters.py", "remote/test_remote_accounts.py"

NO_TOKENS = NotNeeded("its key does not expire: there is nothing to log in for")
NO_DATE = NotNeeded("its identifiers have no date that the vendor compares")
NO_REFUNDS = NotNeeded("it refunds nothing: refunds are the payments rail's")
LOOK_UP = NotNeeded("it is a look-up: nothing is sent that could be lost or sent twice")
NO_CALL_BACKS = NotNeeded("the vendor calls nobody back about it")
NO_AMOUNTS = NotNeeded("a look-up that carries no amount")
OWN_ACCOUNTS = NotNeeded("opening again under the same key returns the same account: there is no such refusal")

EARLY = f"{LIVE}::test_call_back_before_the_answer_of_the_send_ends_it_once"
SHARED_ROUTE = "call-backs of all vendors take one way (rails/inbox/callbacks.py), which is shown with Paystack"
SHARED_CLIENT = "all orders of the protocol are sent and read by one client (rails/remote/client.py)"

OF_LOOK_UPS: Mapping[str, Cell] = {
    "lost": LOOK_UP,
    "duplicate": LOOK_UP,
    "midnight": NO_DATE,
    "refund twice": NO_REFUNDS,
    "signature": NO_CALL_BACKS,
    "order of call-backs": NO_CALL_BACKS,
    "strangers": NO_CALL_BACKS,
    "amounts": NO_AMOUNTS,
}
