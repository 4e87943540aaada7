"""With KASUWA_SANDBOX_SEED and `now`, a fresh server replays the same requests with the same answers."""

import re
from functools import partial
from typing import Any

from tests.merchant_client import MerchantClient
from tests.methods.sandbox.test_http_world_files import take, write
from tests.methods.sandbox.test_http_worlds import act, fork_of
from tests.methods.virtualcard.card_client import BILLING
from tests.running import NEWEST, Deployment, Deployments
from tests.walk import rows
from tests.walk.rows import NOW
from tests.webhooks.event_log import wait_until

SEED = "a seed of the tests"
PAGES = "https://pay.example.com"
ORDER = {"amount": "1500.00", "bankcode": "058"}

# The faults with a probability are what a seed must foretell besides the references.
SCRIPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("disburse", {"action": "transfer", "accountnumber": "0000000000", "orderRef": "one", **ORDER}),
    ("disburse", {"action": "transfer", "accountnumber": "0000000900", **ORDER}),
    ("disburse", {"action": "transfer", "accountnumber": "0000000500", **ORDER}),
    ("sandbox", {"action": "fault", "rail": "bank", "kind": "decline", "times": 8, "probability": 0.5}),
    *[("disburse", {"action": "transfer", "accountnumber": "0000000000", **ORDER})] * 8,
    ("disburse", {"action": "transfer", "type": "bulk", "data": [{"accountnumber": "0000000000", **ORDER}] * 3}),
    ("resources", {"inquire": "accountname", "accountnumber": "0040000008", "bankcode": "058"}),
    ("sandbox", {"action": "advance", "minutes": 1}),
    ("disburse", {"action": "verify", "txnRef": "one"}),
    ("resources", {"inquire": "wallet"}),
    ("virtualcard", {"action": "create", "billing": BILLING, "amount": 10, "currency": "USD"}),
    ("sandbox", {"action": "clock"}),
    ("disburse", {"action": "nonsense"}),
)

# Addresses of receipts and files are keyed by the deployment, so that they cannot be guessed.
KEYED = re.compile(rb'"(receiptURL|link|proof_link)":"[^"]*/(pay/receipt|statements)/[^"]*"')
DUE_NOW = "select count(*) from scheduled_job join merchant using (merchant_id) where mid = $1 and run_at <= now()"


def play(deployment: Deployment) -> list[tuple[int, bytes]]:
    """Waits for the worker to finish the jobs that are due, so that `advance` finds the same jobs each time."""
    shop = deployment.open_shop(now="2026-01-05T09:30:00+01:00")
    answers = []
    with shop.connection:
        for method, fields in SCRIPT:
            reply = shop.send_fields(method, fields)
            answers.append((reply.http, KEYED.sub(b"", reply.raw)))
            wait_for_worker(deployment, shop)
    assert deployment.broken_invariants([shop.mid]) == []
    return answers


def wait_for_worker(deployment: Deployment, shop: MerchantClient, *_: object) -> None:
    wait_until("the worker is done", lambda: deployment.fetch(DUE_NOW, shop.mid) == [(0,)])


def test_two_servers_with_one_seed_give_the_same_answers(deployments: Deployments) -> None:
    with (
        deployments.fresh("seed_one", KASUWA_SANDBOX_SEED=SEED, KASUWA_PUBLIC_URL=PAGES) as one,
        deployments.fresh("seed_two", KASUWA_SANDBOX_SEED=SEED, KASUWA_PUBLIC_URL=PAGES) as two,
    ):
        first, second = play(one), play(two)
    assert first == second
    assert first != play(deployments.for_version(NEWEST))


# --- every action, on every merchant --------------------------------------------------------------------------------

# How long a delivery took is measured; nothing else in a body may differ between two runs.
# Durations, and the times at which keys were made and used.
# How well a world is compressed depends on the times in it, and how many rows it has on the deliveries until then.
# A world in a file is sealed with a new key.
# A close is of the whole deployment, signed with its own key at the time of its machine.
MEASURED = re.compile(
    rb'"(ms|made_at|business_time|bytes|rows|last_used_at|last_used_from|closed_at|root|public_key|file)":([0-9]+|null|"[^"]*")'
)
# Told by the connection and not by the books.
OWN_HEADERS = frozenset({"x-request-id", "date", "content-length"})
CARD = {"card_no": "4111111111111111", "expiry_month": "12", "expiry_year": "30", "ccv": "200"}
PAYER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
# Each of these makes something that is found without its merchant: a page's token, an account number.
FINDABLE: tuple[dict[str, Any], ...] = (
    {"action": "initiate", "paymentType": "card", "amount": "100.00", "user": PAYER, "card": CARD},
    {"action": "charge", "paymentType": "bank_transfer", "amount": "100.00", "user": PAYER},
    {"action": "charge", "paymentType": "qrpay", "amount": "100.00", "user": PAYER},
)


# The books that these make have a random number, so that nobody can foretell their keys.
COPYING = frozenset({"sandbox-restore", "sandbox-fork"})


def play_examples(deployment: Deployment) -> list[tuple[str, int, bytes, dict[str, str]]]:
    """Every example of the action tables, sent to two merchants in turn: replies with their headers. Each is sent when
    the worker has done what is due, so that both decide in the same order."""
    replies = []
    for _ in range(2):
        shop = deployment.open_shop(now=NOW)
        with shop.connection:
            wait = partial(wait_for_worker, deployment, shop)
            for row, _, reply in rows.send_examples(shop, before_each=wait, without=COPYING):
                headers = {name: value for name, value in reply.headers.items() if name not in OWN_HEADERS}
                replies.append((row.title, reply.http, MEASURED.sub(b"", KEYED.sub(b"", reply.raw)), headers))
        assert deployment.broken_invariants([shop.mid]) == []
        assert deployment.new_stderr() == ""
    return replies


def test_every_example_is_answered_with_the_same_bytes_by_servers_of_one_seed(deployments: Deployments) -> None:
    world = {"KASUWA_SANDBOX_SEED": SEED, "KASUWA_PUBLIC_URL": PAGES}
    with deployments.fresh("examples_one", **world) as one, deployments.fresh("examples_two", **world) as two:
        first, second = play_examples(one), play_examples(two)
    for one_reply, other_reply in zip(first, second, strict=True):
        assert one_reply == other_reply
    half = len(first) // 2
    assert {entry[0] for entry in first} == {row.title for row in rows.ACTION_ROWS} - COPYING
    assert [entry[0] for entry in first[:half]] == [entry[0] for entry in first[half:]]
    assert all(entry[1] == 200 for entry in first)


def test_every_merchant_of_a_seeded_server_has_references_and_tokens_of_its_own(deployments: Deployments) -> None:
    made: list[str] = []
    with deployments.fresh("seed_merchants", KASUWA_SANDBOX_SEED=SEED, KASUWA_PUBLIC_URL=PAGES) as deployment:
        for _ in range(3):
            shop = deployment.open_shop(now=NOW)
            with shop.connection:
                made += make_findable(shop)
                shop.put("sandbox", action="reset")
                made += make_findable(shop)
            assert deployment.broken_invariants([shop.mid]) == []
        assert deployment.new_stderr() == ""
    assert len(made) == 3 * 2 * len(FINDABLE) * 2
    assert len(set(made)) == len(made)


def test_merchants_of_a_seeded_server_with_the_same_books_have_keys_of_their_own(deployments: Deployments) -> None:
    """A fork and a restored file go on from the books of the first merchant."""
    with deployments.fresh("seed_keys", KASUWA_SANDBOX_SEED=SEED) as deployment:
        first, other = deployment.open_shop(now=NOW), deployment.open_shop(now=NOW)
        with first.connection, other.connection:
            act(first, "snapshot", name="start")
            content = write(first, "start")
            copy = fork_of(first, name="start")
            take(other, "start", content)
            act(other, "restore", name="start")
            shops = (first, other, copy)
            made = [act(shop, "new_key", name=str(number))["key"] for number in range(2) for shop in shops]
            # A number is not used again while a later key is valid.
            deployment.run_command("merchant", "revoke-key", other.mid, "2")
            act(other, "restore", name="start")
            made.append(act(other, "new_key", name="2")["key"])
            act(first, "reset")
            made.append(act(first, "new_key", name="2")["key"])
    assert len({*made, *(shop.key for shop in shops)}) == len(made) + len(shops)


def make_findable(shop: MerchantClient) -> list[str]:
    """The references and the tokens or account numbers that were given."""
    made = []
    for fields in FINDABLE:
        reply = shop.send_fields("payment", fields)
        assert reply.http == 200, reply.raw
        body = reply.body
        made += [body["txnRef"], body.get("authURL") or body.get("accountNumber") or body["qr_image"]]
    return made


def test_what_was_made_twice_in_a_row_on_a_seeded_server_is_not_the_same(deployments: Deployments) -> None:
    """Nothing is posted or numbered between them: the second is another all the same."""
    account: dict[str, Any] = {"name": "Ada Obi", "bankcode": "058", "accountnumber": "0040000008"}
    with deployments.fresh("seed_twice", KASUWA_SANDBOX_SEED=SEED) as deployment:
        shop = deployment.open_shop(now=NOW)
        with shop.connection:
            codes = [shop.put("sandbox", action="beneficiary", **account).body["ref_code"] for _ in range(3)]
    assert len(set(codes)) == 3
