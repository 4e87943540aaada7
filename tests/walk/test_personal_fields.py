"""Marked values (canaries) in every field that names a person; then every column of the database is searched for them.

The search is done while payments and checkouts wait for their payers, and again after all jobs were done. A column in
which a canary is found must be in ALLOWED, with its reason.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import msgspec
import pytest

from kasuwa.core.action import only_shows
from tests.merchant_client import MerchantClient, RawReply
from tests.payer_pages import begin_card, open_payment, pay_on_page
from tests.running import NEWEST, Deployment, Deployments
from tests.walk.rows import ACTION_ROWS, NOW, ActionRow, SentExample, fields_of, is_refusal, send_examples, with_value
from tests.walk.test_secrets import spellings

# One process sends and searches for all of these tests.
pytestmark = pytest.mark.xdist_group("personal fields")

numbers = count(1)
# A value of each field that names a person, different each time.
CANARIES = {
    **dict.fromkeys(
        ("firstname", "middlename", "lastname", "fullname", "name", "customer_name", "sender_name"),
        lambda n: f"Kanarie Name{n:04d}x",
    ),
    **dict.fromkeys(("email", "customer_email"), lambda n: f"kanarie{n:04d}x@example.com"),
    **dict.fromkeys(("phone", "phonenumber", "customer_phone"), lambda n: f"0803{7_310_000 + n}"),
    **dict.fromkeys(("address", "street", "line1"), lambda n: f"Kanarie Close {n:04d}x"),
    "ip": lambda n: f"2001:db8:ca4a::{n:x}:51e7",
    "fingerprint": lambda n: f"kanarie-device-{n:04d}x",
    "meta": lambda n: {"note": f"kanarie-meta-{n:04d}x"},
    "accountnumber": lambda n: PAYER_ACCOUNT,
    "identification": lambda n: {"type": "passport", "number": f"kanarie-document-{n:04d}x"},
    "photo": lambda n: f"ca4a71e{n:057x}",
    "reason": lambda n: f"Kanarie reason {n:04d}x",
    "description": lambda n: f"Kanarie thing {n:04d}x",
}
# The account that payers pay from. Its last digits choose no outcome.
PAYER_ACCOUNT = "0731905480"

# Fields of these names that name no person: products, groups, charges such as "Legal fee", files, keys, the reasons of
# disputes, which are codes, and the accounts and beneficiaries of payouts. The officer of a loan is a code too.
NO_PERSON = {
    "disburse-transfer": {"accountnumber", "sender_name"},
    "disburse-transfer-bulk": {"data.0.accountnumber", "data.0.sender_name"},
    "payment-dispute_respond": {"evidence.files.0.name"},
    "payment-checkout": {"description"},
    "virtualcard-dispute": {"evidence.files.0.name", "reason"},
    "resources-paylink": {"description"},
    "loans-charge": {"name"},
    "loans-create_product": {"name", "charges.0.name"},
    "loans-update_product": {"name"},
    "loans-create_group": {"name"},
    "loans-update_group": {"name"},
    "investments-create_savings": {"name"},
    "investments-create_plan": {"name"},
    "investments-create_share_class": {"name"},
    "resources-payout_schedule": {"accountnumber"},
    "resources-ticket": {"description", "ticket_data.0.name", "ticket_data.1.name"},
    "resources-invoice": {f"items.{n}.{field}" for n in (0, 1) for field in ("name", "description")},
    "sandbox-dispute": {"reason"},
    "sandbox-beneficiary": {"name", "accountnumber"},
    "sandbox-new_merchant": {"name"},
    "sandbox-new_key": {"name"},
    **{f"sandbox-{act}": {"name"} for act in ("snapshot", "restore", "fork", "compare_worlds", "delete_world")},
    **{f"sandbox-{act}": {"name", "file"} for act in ("export_world", "import_world")},
}
# Fields that find something by its value, that must equal those of an earlier request, or that another payment method
# takes.
NOT_SENT = {
    "clients-list": {"phone", "email"},
    "payment-charge-card": {"meta"},
    "loans-repay": {"accountnumber", "phonenumber", "account.accountnumber"},
    "investments-deposit": {"accountnumber", "phonenumber", "account.accountnumber"},
}

# Columns that have personal data in clear, with the reason.
ALLOWED = {
    "loan_collateral.description": "the merchant's words for a thing, erased with the client",
    "loan_schedule.reason": "why the merchant made a schedule anew, in its words, erased with the client",
    "savings_reactivation.detail": "why the merchant asks for it, in its words, erased with the client",
    "event.payload": "what merchants are sent about a personalized account, in a chain that is never rewritten",
}
# The name of the business is in clear in many columns, because payers are shown it. It shows that the search finds.
BUSINESS, CONTROL = "Kanarie Stores 0000x", "merchant name"
# Rows whose money may also come out of the wallet, which leaves no payment.
FROM_WALLET = {"loans-repay": "100.00", "investments-deposit": "100.00"}


class Searched(NamedTuple):
    """Columns in which canaries were found, with the fields in which they were sent."""

    sent: list[SentExample]
    waiting: dict[str, set[str]]  # while payments and checkouts waited for their payers
    done: dict[str, set[str]]  # after all jobs
    read: dict[str, RawReply]  # replies of all actions that a key of scope read may request, to such a key
    canaries: "Canaries"


class Canaries:
    """The values that were sent, with the field of each."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {BUSINESS: CONTROL}

    def make(self, name: str, place: str) -> Any:
        value = CANARIES[name](next(numbers))
        self.fields[str(list(value.values())[-1] if isinstance(value, dict) else value)] = f"{place} {name}"
        return value

    def put_into(self, row: ActionRow, fields: dict[str, Any]) -> None:
        """Puts a canary into every field of a request that names a person."""
        for path in canary_paths(row):
            fields.update(with_value(fields, path, self.make(str(path[-1]), row.title)))


def canary_paths(row: ActionRow) -> Iterator[tuple[str | int, ...]]:
    left_out = NO_PERSON.get(row.title, set()) | NOT_SENT.get(row.title, set())
    return (field.path for field in fields_of(row) if field.path[-1] in CANARIES and field.title not in left_out)


@pytest.fixture(scope="module")
def searched(deployments: Deployments) -> Searched:
    deployment, canaries, waiting = deployments.for_version(NEWEST), Canaries(), {}
    shop = deployment.open_shop(now=NOW, name=BUSINESS)
    reading = shop.put("sandbox", action="new_key", name="reader", scopes=["read"]).body["key"]
    reader = MerchantClient(shop.connection, shop.mid, reading)
    read: dict[str, RawReply] = {}
    last: list[tuple[ActionRow, dict[str, Any]]] = []

    def read_last() -> None:
        """Asks again, with the key that only reads, for what the row before showed."""
        for row, fields in last:
            if only_shows(row.action):
                read[row.title] = reader.send_fields(row.method, fields)

    def before_each(row: ActionRow, fields: dict[str, Any]) -> None:
        read_last()
        last[:] = [(row, fields)]
        if row.title == "sandbox-advance":
            visit_pages(shop, canaries)
            waiting.update(find_columns(deployment, shop, canaries))
        canaries.put_into(row, fields)
        if row.title in FROM_WALLET:
            payer = {name: canaries.make(name, f"{row.title} wallet") for name in ("ip", "fingerprint", "meta")}
            moved = {name: value for name, value in fields.items() if name in ("action", "loan_id", "savings_id")}
            order = {**moved, **payer, "payment_method": "wallet", "amount": FROM_WALLET[row.title]}
            assert not is_refusal(shop.send_fields(row.method, order).body)

    with shop.connection:
        sent = send_examples(shop, before_each=before_each)
        shop.put("sandbox", action="advance", days=2)
        done = find_columns(deployment, shop, canaries)
        read_last()
    return Searched(sent, waiting, done, read, canaries)


def visit_pages(shop: MerchantClient, canaries: Canaries) -> None:
    """Pays by a link, and leaves one checkout before and one after its payer has begun to pay."""
    link = shop.put("resources", request="paylink", title="Donation", amount="1500.00", accept_number=True).body
    for visit in (pay_on_page, begin_page, open_page):
        payer = {name: canaries.make(name, visit.__name__) for name in ("fullname", "email")}
        payer["contact_phone"] = canaries.make("phone", visit.__name__)
        visit(shop, link["data"]["link"], payer)


def begin_page(shop: MerchantClient, url: str, fields: dict[str, str]) -> None:
    begin_card(shop.connection, open_payment(shop.connection, url, fields))


def open_page(shop: MerchantClient, url: str, fields: dict[str, str]) -> None:
    assert open_payment(shop.connection, url, fields)


ALL_TABLES = """
    select t.table_name, exists (select 1 from information_schema.columns c where c.table_schema = 'public'
        and c.table_name = t.table_name and c.column_name = 'merchant_id')
    from information_schema.tables t where t.table_schema = 'public' and t.table_type = 'BASE TABLE'
"""


def find_columns(deployment: Deployment, shop: MerchantClient, canaries: Canaries) -> dict[str, set[str]]:
    """Returns the fields whose canaries are found, by column."""
    searched_for = [(field, spellings(canary)) for canary, field in canaries.fields.items()]
    found: dict[str, set[str]] = {}
    for table, has_merchant in deployment.fetch(ALL_TABLES):
        own = "merchant_id in (select merchant_id from merchant where mid = $1)" if has_merchant else "$1 <> ''"
        rows = [text for (text,) in deployment.fetch(f'select to_json(t)::text from "{table}" t where {own}', shop.mid)]
        # Most canaries are in no row: they are searched in all of them at once.
        whole = "\n".join(rows).encode()
        present = [(field, written) for field, written in searched_for if any(one in whole for one in written)]
        for text in rows if present else ():
            for column, value in msgspec.json.decode(text).items():
                where = value.encode() if isinstance(value, str) else msgspec.json.encode(value)
                fields = {field for field, written in present if any(one in where for one in written)}
                if fields:
                    found.setdefault(f"{table}.{column}", set()).update(fields)
    return found


def test_no_personal_data_are_stored_in_clear(searched: Searched) -> None:
    in_clear: set[str] = set()
    for found in (searched.waiting, searched.done):
        others = {column: fields - {CONTROL} for column, fields in found.items() if fields != {CONTROL}}
        assert {column: fields for column, fields in others.items() if column not in ALLOWED} == {}
        in_clear |= set(others)
    assert set(ALLOWED) - in_clear == set(), "no longer in clear"


def test_the_requests_with_canaries_were_accepted(searched: Searched) -> None:
    refused = {one.row.title: one.received.body for one in searched.sent if is_refusal(one.received.body)}
    assert refused == {}
    named = {row.title for row in ACTION_ROWS if list(canary_paths(row))}
    assert {"payment-charge-account", "payment-checkout", "loans-repay", "clients-create"} <= named


def test_a_key_that_only_reads_sees_no_personal_data(searched: Searched) -> None:
    found = {}
    for title, reply in searched.read.items():
        assert not is_refusal(reply.body), (title, reply.body)
        sent = searched.canaries.fields.items()
        seen = {field for canary, field in sent if any(one in reply.raw for one in spellings(canary))}
        if seen - {CONTROL}:
            found[title] = seen
    assert found == {}
    assert {"clients-list", "clients-view", "resources-customers", "resources-events"} <= set(searched.read)


def test_the_same_replies_show_personal_data_to_a_key_of_all(searched: Searched) -> None:
    shown = {
        one.row.title
        for one in searched.sent
        if only_shows(one.row.action)
        and any(canary in str(one.received.body) for canary in searched.canaries.fields if canary != BUSINESS)
    }
    assert {"clients-list", "clients-view", "payment-verify", "resources-customer_detail"} <= shown


def test_the_search_finds_what_is_in_clear(searched: Searched) -> None:
    assert searched.waiting["merchant.name"] == searched.done["merchant.name"] == {CONTROL}
