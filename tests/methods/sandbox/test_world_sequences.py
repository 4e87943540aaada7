"""A sequence of requests with a snapshot and a restore anywhere in it is answered as if it was never interrupted.

Two servers with one seed play the same requests. One of them stores a world on the way, does something else, and
restores the world. From then on both give the same bytes, and so does a copy of the world, but for its pages and keys.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.sandbox.triggers import (
    ENROLL,
    FUND_SAVINGS,
    MAKE_CARD,
    OPEN_SAVINGS,
    SHARES,
    TRIGGERS,
    Step,
    collect_values,
    fill_fields,
    find_days,
)
from tests.hypothesis_settings import without_deadline
from tests.merchant_client import MerchantClient
from tests.methods.virtualcard.card_client import BILLING
from tests.running import Deployment, Deployments
from tests.walk.rows import NOW
from tests.webhooks.event_log import wait_until

Request = tuple[str, dict[str, Any]]
Acts = list[tuple[Step, ...]]

ORDER = {"action": "transfer", "amount": "1500.00", "bankcode": "058"}
PAYER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
CARD = {"card_no": "4111111111111111", "expiry_month": "12", "expiry_year": "30", "ccv": "200"}
CASH = {"action": "generate", "amount": "5000.00", "pin": "2580", "channel": "ATM"}
REQUESTS: tuple[Request, ...] = (
    ("disburse", {**ORDER, "accountnumber": "0000000000"}),
    ("disburse", {**ORDER, "accountnumber": "0000000910"}),
    ("disburse", {**ORDER, "accountnumber": "0000000510"}),
    ("disburse", {**ORDER, "accountnumber": "0000000000", "orderRef": "always the same"}),
    ("payment", {"action": "initiate", "paymentType": "card", "amount": "100.00", "user": PAYER, "card": CARD}),
    ("payment", {"action": "charge", "paymentType": "bank_transfer", "amount": "100.00", "user": PAYER}),
    ("cashcode", CASH),
    ("virtualcard", {"action": "create", "billing": BILLING, "amount": 10, "currency": "USD"}),
    ("sandbox", {"action": "fault", "rail": "bank", "kind": "decline", "times": 2, "probability": 0.5}),
    ("sandbox", {"action": "fund_wallet", "currency": "KES", "amount": "70.00"}),
    ("sandbox", {"action": "advance", "minutes": 3}),
    ("sandbox", {"action": "advance", "days": 2}),
    ("resources", {"inquire": "wallet"}),
    ("resources", {"inquire": "transactions"}),
    ("resources", {"inquire": "transactions", "limit": 1}),
    ("payment", {"action": "checkout", "amount": "1500.00", "currency": "NGN", "user": PAYER}),
    ("resources", {"inquire": "event_feed"}),
    ("resources", {"inquire": "customers"}),
)
NO_INTEREST = {"interestRate": "0", "interestFrequency": "annualized"}
LEND = (
    ENROLL,
    Step(
        "loans",
        {
            "action": "request",
            "client_id": "<client_id>",
            "interestSettings": NO_INTEREST,
            "amount": "1200.00",
            "period": 12,
        },
    ),
    Step("loans", {"action": "process", "loan_id": "<loan_id>", "status": "approve"}),
    Step("loans", {"action": "charge", "loan_id": "<loan_id>", "name": "Returned check", "amount": "15.00"}),
)
PLEDGE = {"client_id": "<client_id>", "savings_id": "<savings_id>", "loan_id": "<loan_id>", "amount": "500.00"}
# Acts of several requests. What a later one names is of the replies before it: a part may have happened before the
# snapshot and the rest after the restore.
ACTS: tuple[tuple[Step, ...], ...] = (
    (MAKE_CARD, *TRIGGERS["card_authorization"][1:]),
    (Step("sandbox", {"action": "card_capture", "txnRef": "<txnRef>", "amount": "2.00"}),),
    SHARES,
    TRIGGERS["standing_order"][:-1],
    LEND,
    (ENROLL, OPEN_SAVINGS, FUND_SAVINGS, Step("loans", {"action": "guarantee", **PLEDGE})),
    (Step("loans", {"action": "repay", "loan_id": "<loan_id>", "payment_method": "wallet", "amount": "10.00"}),),
    (*TRIGGERS["invoice"], Step("resources", {"request": "invoice_send", "invoice_id": "<invoice_id>"})),
    (Step("resources", {"inquire": "mail"}),),
    TRIGGERS["account_closed"],
    (Step("sandbox", {"action": "new_key", "name": "clerk", "scopes": ["lend"]}),),
    *((Step(*request),) for request in REQUESTS),
)

# Not in the books: how long a delivery took, and when a key was used. The address of a receipt names its books and is
# keyed by the deployment.
MEASURED = re.compile(rb'"(ms|last_used_at|last_used_from|receiptURL)":([0-9]+|null|"[^"]*")')
# A copy has pages and keys of its own, and one key more.
OF_A_COPY = re.compile(rb'"(checkoutURL|access_code|authURL|link|pdf|key|key_id)":([0-9]+|"[^"]*")')
DUE_NOW = """
    select count(*) from scheduled_job join merchant using (merchant_id) where mid = $1 and current and run_at <= now()
"""

acts = st.lists(st.sampled_from(ACTS), max_size=4)


class Player:
    """Sends requests to a server, each when the worker has done what was due before."""

    def __init__(self, deployment: Deployment, shop: MerchantClient | None = None) -> None:
        self.deployment = deployment
        self.shop = deployment.open_shop(now=NOW) if shop is None else shop
        # What the replies have shown. A request that names something else is refused, in both servers alike.
        self.known: defaultdict[str, Any] = defaultdict(lambda: "nothing")
        self.count = 0

    def send(self, method: str, fields: dict[str, Any]) -> bytes:
        reply = self.shop.send_fields(method, fields)
        mid = self.shop.mid
        wait_until("the worker is done", lambda: self.deployment.fetch(DUE_NOW, mid) == [(0,)])
        self.known |= collect_values(reply.body)
        self.known |= find_days(self.known)
        return MEASURED.sub(b"", reply.raw)

    def play(self, acts: list[tuple[Step, ...]]) -> list[bytes]:
        replies = []
        for step in (step for act in acts for step in act):
            self.count += 1
            self.known["unique"] = f"n{self.count}"
            replies.append(self.send(step.path, fill_fields(step.fields, self.known)))
        return replies


@pytest.fixture(scope="module")
def servers(deployments: Deployments) -> Iterator[tuple[Deployment, Deployment]]:
    seeded = {"KASUWA_SANDBOX_SEED": "worlds", "KASUWA_PUBLIC_URL": "https://pay.example.com"}
    with deployments.fresh("worlds_one", **seeded) as one, deployments.fresh("worlds_two", **seeded) as two:
        yield one, two


@without_deadline(max_examples=12)
@given(before=acts, meanwhile=acts, after=st.lists(st.sampled_from(ACTS), min_size=1, max_size=4))
def test_a_restored_sequence_is_answered_as_if_it_was_never_interrupted(
    servers: tuple[Deployment, Deployment], before: Acts, meanwhile: Acts, after: Acts
) -> None:
    straight, interrupted = (Player(server) for server in servers)
    assert straight.shop.mid == interrupted.shop.mid
    assert straight.play(before) == interrupted.play(before)
    assert b'"status":200' in interrupted.send("sandbox", {"action": "snapshot", "name": "here"})
    known, count = interrupted.known.copy(), interrupted.count
    interrupted.play(meanwhile)
    # Both make one, so that the next merchant has the same number in both.
    assert straight.shop.put("sandbox", action="fork").body["status"] == 200
    made = interrupted.shop.put("sandbox", action="fork", name="here").body
    copy = Player(servers[1], MerchantClient(servers[1].connect(), made["mid"], interrupted.shop.key))
    copy.known, copy.count = known.copy(), count
    interrupted.known, interrupted.count = known, count
    assert b'"status":200' in interrupted.send("sandbox", {"action": "restore", "name": "here"})
    replies = straight.play(after)
    assert interrupted.play(after) == replies
    assert [OF_A_COPY.sub(b"", reply) for reply in copy.play(after)] == [OF_A_COPY.sub(b"", reply) for reply in replies]
    for player in (straight, interrupted, copy):
        assert player.deployment.broken_invariants([player.shop.mid]) == []
        player.shop.connection.close()
