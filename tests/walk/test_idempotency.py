"""Every write that accepts an Idempotency-Key: the same key and request give the same reply and change nothing.
(Contract: #repeats)

The merchants' clocks are fixed, and due jobs are run before a request is repeated. Then not a row may differ after it.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kasuwa.api.idempotency_key import idempotency_payload
from kasuwa.core.action import Write
from tests.generators.request_digests import (
    FILE,
    REPEATABLE,
    add_missing,
    digest_of_order,
    digest_under_key,
    read_request,
)
from tests.merchant_client import MerchantClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment
from tests.walk.rows import (
    ACTION_ROWS,
    NOW,
    ActionRow,
    Path,
    example_paths,
    prepare_example,
    value_at,
    with_fresh_references,
    with_value,
)
from tests.walk.test_tenancy import everything_of

ORDERED = [row for row in REPEATABLE if "orderRef" in row.example]

# Requests with the digests that earlier versions made of them.
RECORDED: dict[str, Any] = msgspec.json.decode(FILE.read_bytes())

# Fields that only the first reply may show.
SHOWN_ONCE = frozenset({"cardpan", "cvv", "cashcode", "pin"})

# Writes that are possible once: with another key they are refused.
ONCE = frozenset(
    {
        "payment-validate",
        "investments-declare_dividend",
        "clients-update",
        "loans-process",
        "loans-validate",
        "loans-reverse",
        "loans-waive",
        "loans-write_off",
        "loans-top_up",
        "loans-close_product",
        "loans-decide_write_off",
        "loans-release_guarantee",
        "loans-process_group_loan",
        "loans-return_collateral",
        "virtualcard-terminate",
        "investments-validate",
        "investments-subscribe",
        "investments-reactivate_savings",
        "investments-decide_reactivation",
        "investments-cancel_plan",
        "resources-ticket_use",
        "payment-dispute_respond",
        "sandbox-dispute_outcome",
        "virtualcard-dispute",
        "virtualcard-withdraw_dispute",
        "sandbox-card_dispute_outcome",
        "sandbox-card_capture",
        "sandbox-card_reverse",
    }
)

UNKNOWN_TICKET_CODE = "2222-2222-2222"

KEY = {"idempotency-key": "a key of the tests"}


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def title(row: ActionRow) -> str:
    return row.title


AMOUNTS = ("amount", "least")


def another(row: ActionRow, fields: dict[str, Any]) -> dict[str, Any]:
    """Returns a different request that is valid too: another amount, count, text or choice."""
    selecting = {row.selector, *(row.action.variant or ())[:1]}
    paths = [
        path
        for path in example_paths(fields, ())
        if path[0] not in selecting and path[-1] != "orderRef" and not isinstance(value_at(fields, path), dict | list)
    ]

    def rank(path: Path) -> int:
        value = value_at(fields, path)
        whole = isinstance(value, int) and not isinstance(value, bool)
        return 0 if path[-1] in AMOUNTS else 1 if whole else 2 if isinstance(value, str) else 3

    path = min(paths, key=rank)
    value = value_at(fields, path)
    if path[-1] == "code":
        # A longer one would have a wrong check character.
        return with_value(fields, path, UNKNOWN_TICKET_CODE)
    if isinstance(value, bool):
        return with_value(fields, path, not value)
    changed = f"1{value}" if path[-1] in AMOUNTS else value + 1 if isinstance(value, int) else f"{value}x"
    return with_value(fields, path, changed)


def without_what_is_shown_once(given: Any) -> Any:
    if isinstance(given, dict):
        return {name: without_what_is_shown_once(value) for name, value in given.items() if name not in SHOWN_ONCE}
    return given


@pytest.mark.parametrize("row", REPEATABLE, ids=title)
def test_a_key_answers_its_own_request_alone_and_once(
    shop: MerchantClient, deployment: Deployment, row: ActionRow
) -> None:
    """The same key and request return the first reply, another request with the key is refused, and neither changes a
    row. With another key it is another request."""
    fields = prepare_example(shop, row)
    first = shop.send_fields(row.method, fields, headers=KEY)
    assert first.body["status"] in (200, 202)
    shop.advance(seconds=0)
    before, had = everything_of(deployment, shop), shop.wallets()
    for _ in range(3):
        again = shop.send_fields(row.method, fields, headers=KEY)
        assert (again.http, again.body) == (first.http, without_what_is_shown_once(first.body))
    assert everything_of(deployment, shop) == before
    refused = shop.send_fields(row.method, another(row, fields), headers=KEY)
    assert (refused.body["status"], "Idempotency-Key" in refused.body["message"]) == (104, True)
    assert everything_of(deployment, shop) == before
    received = shop.send_fields(row.method, with_fresh_references(row, fields), headers={"idempotency-key": "another"})
    if row.title.endswith("-validate"):
        # For a successful payment, a repeated `validate` returns the outcome.
        assert (received.body["status"], received.body["txnStatus"]) == (200, "successful")
        assert shop.wallets() == had
    elif row.title in ONCE:
        assert received.body["status"] in (104, 203)
        assert "Idempotency-Key" not in received.body["message"]
    else:
        assert received.body["status"] in (200, 202)
        assert everything_of(deployment, shop) != before


def test_a_key_is_one_merchants_own(open_shop: Callable[..., MerchantClient]) -> None:
    one, other = open_shop(now=NOW), open_shop(now=NOW)
    assert one.transfer(headers=KEY)["txnStatus"] == "successful"
    assert other.transfer(headers=KEY, amount="2.00")["txnStatus"] == "successful"
    assert (one.wallet().balance, other.wallet().balance) == (999_848_925, 999_998_725)


def test_a_key_covers_all_methods(shop: MerchantClient) -> None:
    assert shop.transfer(headers=KEY)["status"] == 200
    funding = shop.put("sandbox", headers=KEY, action="fund_wallet", currency="NGN", amount="5.00")
    assert funding.body["status"] == 104


def test_a_key_used_to_fund_a_card_is_refused_for_a_withdrawal(shop: MerchantClient) -> None:
    card = CardClient(shop)
    fields = {"reference": card.reference, "amount": "10.00"}
    assert shop.put("virtualcard", headers=KEY, action="fund", **fields).body["status"] == 200
    refused = shop.put("virtualcard", headers=KEY, action="withdraw", **fields).body
    assert (refused["status"], "Idempotency-Key" in refused["message"]) == (104, True)
    assert card.balance == 11_000


def test_what_a_key_stands_for_differs_between_any_two_actions_of_the_same_fields() -> None:
    """Two actions that share a request type, on one path or on two, have different payloads."""
    request = read_request(REPEATABLE[0], REPEATABLE[0].example)
    payloads = [
        idempotency_payload(row.method, row.action, request) for row in REPEATABLE if isinstance(row.action, Write)
    ]
    assert len(set(payloads)) == len(REPEATABLE) > 10


class FewerFields(msgspec.Struct):
    amount: int


class MoreFields(msgspec.Struct):
    amount: int
    note: str | None = None


def test_an_optional_field_that_a_later_version_gains_counts_only_if_it_is_sent() -> None:
    row = REPEATABLE[0]
    assert isinstance(row.action, Write)
    before, gained, sent = (
        idempotency_payload(row.method, row.action, request)
        for request in (FewerFields(5), MoreFields(5), MoreFields(5, "note"))
    )
    assert before == gained != sent


@pytest.mark.parametrize("title", sorted(RECORDED["keys"]))
def test_a_repeat_of_a_request_to_an_earlier_version_is_recognized(title: str) -> None:
    recorded = RECORDED["keys"][title]
    assert digest_under_key(title, recorded["body"]) == recorded["digest"], RECORDED["what to do"]


@pytest.mark.parametrize("title", sorted(RECORDED["orders"]))
def test_a_repeated_order_reference_of_an_earlier_version_is_recognized(title: str) -> None:
    recorded = RECORDED["orders"][title]
    assert digest_of_order(title, recorded["body"]) == recorded["digest"], RECORDED["what to do"]


def test_a_request_of_every_action_that_takes_a_key_is_recorded() -> None:
    assert add_missing(RECORDED) == RECORDED, "run `python -m tests.generators.request_digests`"


def test_a_refusal_is_not_kept(shop: MerchantClient) -> None:
    fields = {"orderRef": "later", "amount": "10000000.00"}
    assert shop.transfer(headers=KEY, **fields)["status"] == 301
    shop.put("sandbox", action="fund_wallet", currency="NGN", amount="100.00")
    assert shop.transfer(headers=KEY, **fields)["txnStatus"] == "successful"
    assert shop.wallet().balance == 4_625


def test_a_kept_reply_of_an_open_transfer_is_the_one_that_was_given(shop: MerchantClient) -> None:
    first = shop.transfer(headers=KEY, orderRef="open", accountnumber="0000000900")
    assert first["txnStatus"] == "pending"
    shop.advance(seconds=5)
    assert shop.status_of("open") == "successful"
    assert shop.transfer(headers=KEY, orderRef="open", accountnumber="0000000900") == first


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_that_cannot_be_kept_is_refused(shop: MerchantClient, key: str) -> None:
    assert shop.transfer(headers={"idempotency-key": key})["status"] == 104
    assert shop.wallet().balance == 1_000_000_000


@pytest.mark.parametrize("key", ["clé", "ключ".encode().decode("latin-1"), "x" * 255, "a b;c=d", '"quoted"'])
def test_a_key_is_kept_or_refused_but_never_passed_over(shop: MerchantClient, key: str) -> None:
    for _ in range(2):
        shop.transfer(headers={"idempotency-key": key}, orderRef=None)
    assert shop.wallet().balance in (1_000_000_000, 999_848_925)


# --- orderRef -----------------------------------------------------------------------------------------------


def test_the_rows_with_a_unique_reference_are_those_of_orders() -> None:
    """A process that lost the reply of another decides such a request again (api/forwarding.py)."""
    writes = {row.title: row.action for row in ACTION_ROWS if isinstance(row.action, Write)}
    marked = {name: action.unique_reference for name, action in writes.items() if action.unique_reference is not None}
    assert marked == dict.fromkeys((row.title for row in ORDERED), "orderRef")


@pytest.mark.parametrize("row", ORDERED, ids=title)
def test_the_same_order_ref_is_the_same_order(shop: MerchantClient, deployment: Deployment, row: ActionRow) -> None:
    fields = prepare_example(shop, row)
    first = shop.send_fields(row.method, fields)
    assert first.body["status"] == 200
    shop.advance(seconds=0)
    before = everything_of(deployment, shop)
    assert shop.send_fields(row.method, fields).body == without_what_is_shown_once(first.body)
    assert shop.send_fields(row.method, another(row, fields)).body["status"] == 104
    assert everything_of(deployment, shop) == before
