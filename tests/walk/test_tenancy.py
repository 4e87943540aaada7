"""Every action with every kind of another merchant's reference: the reply is that of an unknown reference, and nothing
changes.

The other merchant first sends all examples, so its replies contain every kind of reference. It lives on another
business day than the stranger: references contain their date, and so differ.
"""

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from kasuwa.core.action import Read
from kasuwa.core.cards import BIN_DIGITS, is_card_number, luhn_digit
from kasuwa.core.references import check_letter, is_reference
from kasuwa.wire.masking import mask_reference
from tests.merchant_client import MerchantClient, new_reference
from tests.running import NEWEST, Deployment, Deployments
from tests.walk.rows import (
    ACTION_ROWS,
    NOW,
    RESET,
    ActionRow,
    Field,
    fields_of,
    leaves,
    send_examples,
    with_fresh_references,
    with_value,
)
from tests.webhooks.event_log import wait_until

# Fields that hold references: the service's, the merchant's own, and those of funding sources.
REFERENCES = re.compile(r"([rR]ef|ref_code|reference|_id|mid|[tT]oken|cashcode|cardpan|accountNumber)$")

# References made for the stranger itself differ from one request to the next.
MADE = re.compile(
    r"GP\|[A-Z]{2}\|[0-9]{9}\|[0-9]{8}[A-Z]|GP[0-9]{17}[A-Z]|(AR|CL|CT|CU|DV|GL|GR|GU|LN|LP|PL|SC|SH|SR|SV|TH)[0-9A-Za-z]{22}|walk-[0-9]+"
    r"|\w+\|GVC\|[0-9]+\|\w{22}"
)
# Values made for the stranger itself, and answers of a register that are the same for every merchant.
OWN_FIELDS = frozenset(
    {
        "mid",
        "key",
        "now",
        "accountNumber",
        "receiptURL",
        "bytes",
        "made_at",
        "authURL",
        "enrolment",
        "qr_code",
        "qr_image",
        "ref_code",
        "ussd_code",
        "token",
        "custName",
        "cardpan",
        "maskedpan",
        "cvv",
        "cashcode",
        "checkoutURL",
        "access_code",
        "link",
        "key_id",
    }
)

OTHER_DAY = "2031-07-01T12:00:00+01:00"

# Daily totals and the sums of settlements are counted in the background, where payers' words are also indexed.
TABLES = (
    "select table_name from information_schema.columns where column_name = 'merchant_id' and table_schema = 'public'"
    " and table_name not in ('daily_total', 'daily_total_mark', 'settlement_sum', 'settlement_sum_mark',"
    " 'payment_word', 'payment_word_mark', 'record_word', 'record_word_due')"
)
# When a key was last used is written in the background.
ROW_TEXTS = {"merchant_key": "(to_jsonb(t) - '{last_used_at,last_used_from}'::text[])::text"}
# The words of payers are added in the background, once for each event.
WITHOUT_WORDS = """
    select 1 from merchant_state s join merchant m using (merchant_id) left join payment_word_mark k using (merchant_id)
    where m.mid = $1 and s.last_event_seq > coalesce(k.event_seq, 0)
"""


class World(NamedTuple):
    """The stranger, the other merchant, and the other's references by the name of their field."""

    stranger: MerchantClient
    other: MerchantClient
    references: dict[str, str]


@pytest.fixture(scope="module")
def other(deployments: Deployments) -> Iterator[tuple[MerchantClient, dict[str, str]]]:
    """The other merchant, shared by all strangers: none of them may change it."""
    deployment = deployments.for_version(NEWEST)
    other = deployment.open_shop(now=OTHER_DAY)
    with other.connection:
        played = send_examples(other, until=RESET)
        other.transfer(orderRef=new_reference("pending"), accountnumber="0000000020")
        other.advance(seconds=0)
        wait_until("the words are added", lambda: not deployment.fetch(WITHOUT_WORDS, other.mid))
        result = [pair for one in played for pair in (*leaves(one.fields), *leaves(one.received.body))]
        found = {name: value for name, value in result if isinstance(value, str) and REFERENCES.search(name)}
        yield other, {**found, "mid": other.mid, "orderRef": "order-1042"}


@pytest.fixture
def world(other: tuple[MerchantClient, dict[str, str]], open_shop: Callable[..., MerchantClient]) -> World:
    return World(open_shop(now=NOW), *other)


@functools.cache
def digests_query(deployment: Deployment) -> str:
    return " union all ".join(
        f"select '{table}', md5(string_agg({row}, '|' order by {row})) from {table} t where merchant_id = any($1)"
        for (table,) in deployment.fetch(TABLES)
        for row in [ROW_TEXTS.get(table, "t::text")]
    )


def everything_of(deployment: Deployment, shop: MerchantClient) -> dict[str, str | None]:
    """Returns a digest of each table's rows of one merchant."""
    numbers = [number for (number,) in deployment.fetch("select merchant_id from merchant where mid = $1", shop.mid)]
    return dict(deployment.fetch(digests_query(deployment), numbers))


def never_made(reference: str) -> str:
    """Returns a reference of the same form that does not exist. An account number keeps its check digit; a card number
    keeps its issuer, and has a check digit."""
    if re.fullmatch("[0-9]{10}", reference):
        return f"{reference[:5]}{(int(reference[5]) + 1) % 10}{(int(reference[6]) - 1) % 10}{reference[7:]}"
    turned = "".join(str((int(sign) + 5) % 10) if sign.isdecimal() else sign for sign in reference)
    if is_card_number(reference):
        head = reference[:BIN_DIGITS] + turned[BIN_DIGITS:-1]
        return head + luhn_digit(head)
    if is_reference(reference):
        return turned[:-1] + check_letter(turned[:-1])
    return turned if turned != reference else f"{reference}x"


def worth_trying(field: Field, references: dict[str, str]) -> dict[str, str]:
    """Returns every reference for a field that takes one; for other fields, the most common references."""
    if REFERENCES.search(str(field.path[-1])):
        return references
    return {name: references[name] for name in ("txnRef", "orderRef")}


def outline(given: Any, reference: str) -> Any:
    """Returns a reply without what must differ: the reference that was sent, masked if it is a card number, and what
    was made for the stranger."""
    if isinstance(given, dict):
        # A fault repeats what was sent.
        left_out = {*OWN_FIELDS, "value"} if "reason" in given else OWN_FIELDS
        return {name: outline(value, reference) for name, value in given.items() if name not in left_out}
    if isinstance(given, list):
        return [outline(value, reference) for value in given]
    if not isinstance(given, str):
        return given
    return MADE.sub("made", given.replace(reference, "sent").replace(mask_reference(reference), "sent"))


@pytest.mark.parametrize("row", ACTION_ROWS, ids=lambda row: row.title)
def test_anothers_reference_answers_like_an_unknown_one(world: World, deployment: Deployment, row: ActionRow) -> None:
    before = everything_of(deployment, world.other)
    for field in fields_of(row):
        for name, reference in worth_trying(field, world.references).items():
            answers = []
            for sent in (reference, never_made(reference)):
                fields = with_value(with_fresh_references(row, row.example), field.path, sent)
                received = world.stranger.send_fields(row.method, fields)
                answers.append((received.http, outline(received.body, sent)))
            assert answers[0] == answers[1], (field.title, name)
    assert everything_of(deployment, world.other) == before


# Lists that the examples of the other merchant fill. Settlements and a few more stay empty.
LEAST_LISTS = 13


def references_in(body: Any) -> list[tuple[str, str]]:
    found = [(name, value) for name, value in leaves(body) if isinstance(value, str) and REFERENCES.search(name)]
    return [pair for pair in found if pair != ("reference", "opening")]


def test_a_list_shows_nothing_of_another_merchant(world: World) -> None:
    """A stranger who has done nothing sees no reference in any list, whereas the other merchant sees its own."""
    seen_by_other = 0
    for row in ACTION_ROWS:
        required = {str(field.path[0]) for field in fields_of(row) if field.required} - {row.selector, "type"}
        if not isinstance(row.action, Read) or required:
            continue
        chosen = {name: value for name, value in row.example.items() if name in (row.selector, "type")}
        for fields in (chosen, row.example):
            received = world.stranger.send_fields(row.method, fields)
            assert (received.http, references_in(received.body)) == (200, []), row.title
        seen_by_other += references_in(world.other.send_fields(row.method, chosen).body) != []
    assert seen_by_other >= LEAST_LISTS


def test_the_other_merchant_itself_is_answered_otherwise(world: World) -> None:
    """Control: the owner of the references gets another reply."""
    assert {"txnRef", "orderRef", "batchRef", "mid"} <= set(world.references)
    for name in ("txnRef", "orderRef"):
        reference = world.references[name]
        assert world.other.verify(reference)["status"] == 200
        assert world.other.verify(never_made(reference))["status"] == 104


def test_merchants_that_do_the_same_on_the_same_day_are_given_other_references(deployment: Deployment) -> None:
    """Neither can guess the other's reference from its own, and a biller that recognizes orders by our keys delivers to
    both."""
    references = []
    for _ in range(2):
        shop = deployment.open_shop(now=NOW)
        with shop.connection:
            pulled = shop.put("bills", action="pull", bills_id=14).body["data"]
            paycode = pulled["items"][0]["paycode"]
            order = {"paycode": paycode, "reference": "45012345678", "amount": "1000", "orderRef": "same"}
            paid = shop.send_fields("bills", {"action": "pay", **order}).body
            references.append((shop.transfer(orderRef="same")["txnRef"], paid["txnRef"], paid["token"]))
    assert all(one != other for one, other in zip(*references, strict=True))
