"""The rows of the action tables, for the tests that walk over all of them. A new row is included at once.

The tests start from the row's own example request. `send_examples` sends the examples of all rows to one merchant in
the order of the tables, so that an example can name what an earlier one made. A placeholder in an example
(`"<client_id>"`, `"GP…"`) stands for the value of that name in the newest reply that has it.
"""

import copy
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from kasuwa.api.openapi.schemas import to_wire_names
from kasuwa.core.action import Action, Write, make_action_title
from kasuwa.core.codes import (
    AUTHENTICATION_FAILED,
    ERROR,
    INSUFFICIENT_FUNDS,
    INVALID_JSON,
    INVALID_METHOD,
    INVALID_REQUEST,
    NOT_VALIDATED,
)
from kasuwa.methods.tables import list_methods
from tests.merchant_client import MerchantClient, RawReply, new_reference, reference_numbers
from tests.payer_pages import pay_on_page

REFUSALS = frozenset(
    {AUTHENTICATION_FAILED, ERROR, INVALID_JSON, INVALID_METHOD, INVALID_REQUEST, INSUFFICIENT_FUNDS, NOT_VALIDATED}
)

# A business day that no other merchant of the tests has. References contain the date, so they differ from all others.
NOW = "2026-01-05T09:30:00+01:00"

Path = tuple[str | int, ...]


class ActionRow(NamedTuple):
    method: str
    selector: str
    action: Action

    @property
    def title(self) -> str:
        return f"{self.method}-{make_action_title(self.action).replace(' ', '-')}"

    @property
    def example(self) -> dict[str, Any]:
        return copy.deepcopy(dict(self.action.example))


ACTION_ROWS = tuple(
    ActionRow(method.name, action.selector or method.selectors[0], action)
    for method in list_methods("test")
    for action in method.actions
)


# Rows that reset a merchant's books: its references and its clock would be gone.
[RESET] = [row for row in ACTION_ROWS if row.title == "sandbox-reset"]


# --- the fields of a request --------------------------------------------------------------------------------


class Field(NamedTuple):
    path: Path
    required: bool

    @property
    def title(self) -> str:
        return ".".join(str(step) for step in self.path)


def fields_of(row: ActionRow) -> list[Field]:
    """Returns every field of the request's type, nested ones too, and any other field of its example."""
    found = {field.path: field for field in typed_fields(inspect.type_info(row.action.request), ())}
    for path in example_paths(row.action.example, ()):
        found.setdefault(path, Field(path, False))
    return list(found.values())


def typed_fields(kind: inspect.Type, path: Path) -> Iterator[Field]:
    for option in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if isinstance(option, inspect.Metadata):
            yield from typed_fields(option.type, path)
        if isinstance(option, inspect.StructType):
            for field in option.fields:
                here = (*path, field.encode_name)
                yield Field(here, field.required and not path)
                yield from typed_fields(field.type, here)


def example_paths(given: Any, path: Path) -> Iterator[Path]:
    steps: Any = (
        given.items() if isinstance(given, Mapping) else enumerate(given) if isinstance(given, list | tuple) else ()
    )
    for step, value in steps:
        yield (*path, step)
        yield from example_paths(value, (*path, step))


def with_value(fields: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Returns a copy with another value at one path. Missing objects on the path are made."""
    changed = copy.deepcopy(fields)
    place: Any = changed
    for step in path[:-1]:
        if isinstance(step, str) and not isinstance(place.get(step), dict | list):
            place[step] = {}
        place = place[step]
    place[path[-1]] = value
    return changed


def value_at(fields: Any, path: Path) -> Any:
    for step in path:
        fields = fields[step]
    return fields


# --- sending examples ---------------------------------------------------------------------------------------


class SentExample(NamedTuple):
    """A request and its reply. If `fields` is empty, it is not the example of `row`: it made what an example names."""

    row: ActionRow
    fields: dict[str, Any]
    received: RawReply


# No server listens there: events stay scheduled, and can be sent again.
UNREACHABLE_URL = "http://127.0.0.1:9/events"
NEEDS_ENDPOINT = frozenset({"resources-resend"})
# The webhook URL is set only for a moment, so that deliveries of the worker do not change the replies of later rows.
SETS_ENDPOINT = frozenset({"resources-resend", "sandbox-webhook"})

# The clients of the examples have no tier: with the limits they could neither pay in nor out.
SETS_TIERS = frozenset({"sandbox-client_tiers"})

# Rows that decide a write-off which waits for approval, of a loan of their own.
NEEDS_WAITING_WRITE_OFF = frozenset({"loans-decide_write_off"})
# Rows that decide a transfer which waits for approval.
NEEDS_WAITING = frozenset({"disburse-approve", "disburse-reject"})
# The process that answers may be another than the one that set the policy, and knows it within a second.
POLICY_TRIES = 30

# Rows that need a day that has ended.
NEEDS_DAY = frozenset({"investments-declare_dividend"})
# Rows that need a society of two members, one with shares, and a redemption that another key asked for.
NEEDS_SOCIETY = frozenset(
    {
        "investments-transfer_shares",
        "investments-approve_redemption",
        "investments-reject_redemption",
    }
)

# Rows that need a loan that savings of another client guarantee, and of these the rows that need it called.
NEEDS_GUARANTOR = frozenset(
    {
        "loans-guarantee",
        "loans-guarantees",
        "loans-call_guarantee",
        "loans-pay_guarantor",
        "loans-release_guarantee",
        "loans-collateral",
        "loans-return_collateral",
    }
)
NEEDS_WRITTEN_OFF = frozenset({"loans-call_guarantee", "loans-pay_guarantor"})
# Rows that need a client with savings and a loan, or the standing order between them.
NEEDS_BORROWER = frozenset({"investments-standing_order", "loans-auto_repay"})
OF_STANDING_ORDERS = NEEDS_BORROWER | {"investments-change_standing_order", "investments-list_standing_orders"}
OF_PRODUCT = "request_group_loan_of_product"
# Rows that need a group: with a loan that is not paid out, or with one that is.
NEEDS_GROUP_LOAN = frozenset({"loans-process_group_loan"})
NEEDS_PAID_GROUP = frozenset({"loans-collection_sheet", "loans-collect"})
NEEDS_GROUP = (NEEDS_GROUP_LOAN | NEEDS_PAID_GROUP).union(
    f"loans-{name}"
    for name in ("create_group", "update_group", "view_group", "list_groups", "request_group_loan", OF_PRODUCT)
)

# Rows of the automatic collection of that client's loan.
OF_COLLECTIONS = frozenset({"loans-stop_auto_repay", "loans-collections"})

# Rows that need dormant savings, and for a decision a reactivation that another key asked for. A year passes for them.
NEEDS_DORMANT = frozenset({"investments-reactivate_savings"})
NEEDS_REACTIVATION = frozenset({"investments-decide_reactivation"})

# Nothing is due on the day of creation: the saved card is only confirmed.
LATER_INSTALLMENTS = {"payment_schedule": {"30-11-2030": "1000.00", "31-12-2030": "500.00"}, "total": "1500.00"}

# Rows that use up an object, or need one that no earlier row has used: it is made by the example of another row.
EXTRA_EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "sandbox-pay_account": ("payment-charge-bank_transfer", {}),
    "sandbox-card_purchase": ("virtualcard-create", {}),
    "virtualcard-dispute": ("sandbox-card_purchase", {"amount": "6.00"}),
    "sandbox-card_dispute_outcome": ("virtualcard-dispute", {}),
    "sandbox-card_reverse": ("sandbox-card_authorize", {"amount": "1.00"}),
    "sandbox-redeem_cashcode": ("cashcode-generate", {"orderRef": "cash-1043"}),
    "investments-set_rollover": ("investments-create_savings", {"period": None, "term_days": 90}),
    # Savings that are no fixed deposit.
    "investments-buy_shares": ("investments-create_savings", {}),
    # Into the fixed deposit that was made for the row before.
    "investments-certificate": (
        "investments-deposit",
        {"payment_method": "wallet", "card": None, "ip": None, "fingerprint": None},
    ),
    "sandbox-compare_worlds": ("sandbox-snapshot", {"name": "after the refund"}),
    "payment-disputes": ("sandbox-dispute", {}),
    "payment-dispute_respond": ("sandbox-dispute", {"amount": "100.00"}),
    "sandbox-dispute": ("payment-charge-token", {}),
    "resources-installments": ("payment-charge-token", {"amount": None, "installment": LATER_INSTALLMENTS}),
}


# An example names objects of its own path or of these.
BUILDS_ON = {
    "loans": {"clients"},
    "investments": {"clients"},
    "resources": {"payment"},
    "sandbox": {"payment"},
}
# Look-ups and simulations that name an object of a path besides.
NAMES_ALSO = {
    "resources-transaction": "disburse",
    "resources-proof": "disburse",
    "sandbox-settle": "disburse",
    "sandbox-explain": "disburse",
    "sandbox-card_purchase": "virtualcard",
    "sandbox-card_refund": "virtualcard",
    "sandbox-card_authorize": "virtualcard",
    "sandbox-card_capture": "virtualcard",
    "sandbox-card_reverse": "virtualcard",
    "sandbox-card_dispute_outcome": "virtualcard",
    "sandbox-redeem_cashcode": "cashcode",
}


# Fields in which an example gives what it makes a reference of the merchant's own; others name it by that.
GIVEN_REFERENCES = frozenset({"orderRef", "customer_txnref", "reference"})


# Rows whose example names a world, or has the file of one, and the rows that make it.
OF_WORLD = {
    **dict.fromkeys(
        ("sandbox-restore", "sandbox-fork", "sandbox-export_world", "sandbox-delete_world"), ("sandbox-snapshot",)
    ),
    "sandbox-import_world": ("sandbox-snapshot", "sandbox-export_world"),
}


def names_nothing(row: ActionRow) -> bool:
    """Returns whether the example of a row needs nothing that the examples of other rows make."""
    given = {
        value_at(other.action.example, path)
        for other in ACTION_ROWS
        if other != row
        for path in example_paths(other.action.example, ())
        if path[-1] in GIVEN_REFERENCES
    }
    values = [(path[-1], value_at(row.action.example, path)) for path in example_paths(row.action.example, ())]
    return row.title not in {*EXTRA_EXAMPLES, *NEEDS_ENDPOINT, *OF_WORLD} and not any(
        is_placeholder(name, value) or (isinstance(value, str) and value in given) for name, value in values
    )


def is_prerequisite(row: ActionRow, wanted: ActionRow) -> bool:
    """Returns whether the example of a row may make what that of the wanted one names. A walk sends those of every
    prerequisite for every row."""
    if wanted.title in OF_WORLD:
        return row == wanted or row.title in OF_WORLD[wanted.title]
    paths = {wanted.method, NAMES_ALSO.get(wanted.title), *BUILDS_ON.get(wanted.method, ())}
    # A reset leaves nothing of what was made before: all of it is there to see.
    return wanted == RESET or row.method in paths


def find_turn(row: ActionRow) -> int:
    """Returns when a row has its turn. Those of societies come after the look-ups, because they change balances and the
    log of events; that of a waiting write-off before the simulations of the test environment, whose fault the
    disbursement of its loan would have; what needs another day after them. Then the books are reset, and what is left
    are waiting transfers."""
    if row.title in NEEDS_WAITING:
        return 7
    if row == RESET:
        return 6
    if row.title in NEEDS_DORMANT | NEEDS_REACTIVATION:
        return 5
    if row.title in NEEDS_DAY:
        return 4
    if row.method == "sandbox":
        return 3
    if row.title in NEEDS_WAITING_WRITE_OFF | NEEDS_GUARANTOR | NEEDS_GROUP:
        return 2
    return int(row.title in NEEDS_SOCIETY | OF_STANDING_ORDERS | OF_COLLECTIONS)


def send_examples(
    shop: MerchantClient,
    until: ActionRow | None = None,
    before_each: Callable[[ActionRow, dict[str, Any]], None] = lambda row, fields: None,
    without: frozenset[str] = frozenset(),
) -> list[SentExample]:
    """Send the examples in order, all of them or those before one row that it may build on. `before_each` is called
    with each row and the fields that are about to be sent. Rows with the titles `without` are left out."""
    played: list[SentExample] = []
    society_day = ""
    for row in sorted(ACTION_ROWS, key=find_turn):
        if row.title in without or (until is not None and not is_prerequisite(row, until)):
            continue
        if row.title in NEEDS_ENDPOINT:
            shop.put("sandbox", action="webhook", url=UNREACHABLE_URL)
        if row.title in EXTRA_EXAMPLES:
            title, changes = EXTRA_EXAMPLES[row.title]
            made = next(other for other in ACTION_ROWS if other.title == title)
            made_of = resolve_references({**made.example, **changes}, played)
            played.append(SentExample(made, {}, shop.send_fields(made.method, made_of)))
        if row.title in NEEDS_WAITING:
            played.append(SentExample(ACTION_ROWS[0], {}, make_waiting_transfer(shop)))
        if row.title in NEEDS_WAITING_WRITE_OFF:
            played.append(SentExample(ACTION_ROWS[0], {}, make_waiting_write_off(shop, played)))
        if row.title in NEEDS_GUARANTOR:
            played.append(SentExample(ACTION_ROWS[0], {}, make_guaranteed_loan(shop, row.title)))
        if row.title in NEEDS_GROUP:
            played.append(SentExample(ACTION_ROWS[0], {}, make_group(shop, row.title)))
        if row.title in NEEDS_SOCIETY:
            society_day = shop.now()[:10]
            played.append(SentExample(ACTION_ROWS[0], {}, make_society(shop)))
        if row.title in NEEDS_DORMANT:
            dormant, later = make_dormant(shop)
            played.append(SentExample(ACTION_ROWS[0], {}, dormant))
        if row.title in NEEDS_REACTIVATION:
            ask_for_reactivation(shop, later.body["savings_id"])
            played.append(SentExample(ACTION_ROWS[0], {}, later))
        if row.title in NEEDS_BORROWER:
            played.append(SentExample(ACTION_ROWS[0], {}, make_borrower(shop)))
        if row.title in NEEDS_DAY:
            shop.put("sandbox", action="advance", days=1)
        if row.title in NEEDS_FAILED_MAIL:
            [sends] = [other for other in ACTION_ROWS if other.title in SENDS_MAIL]
            played.append(SentExample(sends, {}, mail_to_nobody(shop)))
        if row == until and row.title not in NEEDS_TICKET:
            break
        if row.title in NEEDS_TICKET and (until is None or until.title in SHOWS_TICKET):
            buy_ticket(shop, played)
        if row == until:
            break
        fields = resolve_references(row.example, played)
        if row.title in NEEDS_DAY:
            fields |= {"record_date": society_day}
        before_each(row, fields)
        played.append(SentExample(row, fields, shop.send_fields(row.method, fields)))
        if row.title in SETS_TIERS:
            shop.put("sandbox", action="client_tiers", is_on=False)
        if row.title in SENDS_MAIL | NEEDS_FAILED_MAIL:
            wait_until_mailed(shop)
        if row.title in NEEDS_DAY:
            wait_until_paid(shop)
        if row.title in SETS_ENDPOINT:
            wait_until_tried(shop)
            shop.put("sandbox", action="webhook", url="")
    return played


def make_waiting_transfer(shop: MerchantClient) -> RawReply:
    """Makes a transfer with another key, which waits for approval."""
    shop.put("sandbox", action="payout_policy", approve_above="0.00")
    made = shop.put("sandbox", action="new_key", name="payroll", scopes=["payout"]).body
    payer = MerchantClient(shop.connection, shop.mid, made["key"])
    order = {"action": "transfer", "amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000"}
    waiting = payer.send_fields("disburse", order)
    for _ in range(POLICY_TRIES):
        if waiting.body["txnStatus"] == "pending":
            break
        time.sleep(0.1)
        waiting = payer.send_fields("disburse", order)
    shop.put("sandbox", action="payout_policy")
    return waiting


def make_waiting_write_off(shop: MerchantClient, played: list[SentExample]) -> RawReply:
    """Pays a loan out to a client of its own, and proposes its write-off with another key: it waits for approval."""
    shop.put("sandbox", action="payout_policy", approve_write_off_above="0.00")
    bank = {"account_number": "0000000000", "bank_code": "058"}
    person = {"firstname": "Bola", "lastname": "Ojo", "phone": "08031234568", "bankAccount": bank}
    enrolled = {"action": "create", "data": person, "status": "active"}
    played.append(SentExample(ACTION_ROWS[0], {}, shop.send_fields("clients", enrolled)))
    for title in ("loans-request", "loans-process"):
        made = next(row for row in ACTION_ROWS if row.title == title)
        fields = resolve_references(made.example, played)
        played.append(SentExample(ACTION_ROWS[0], {}, shop.send_fields(made.method, fields)))
    key = shop.put("sandbox", action="new_key", name="lending", scopes=["lend"]).body["key"]
    officer = MerchantClient(shop.connection, shop.mid, key)
    loan_id = played[-1].received.body["loan_id"]
    proposed = {"action": "write_off", "loan_id": loan_id, "reason": "The client has died"}
    for _ in range(POLICY_TRIES):
        shown = officer.send_fields("loans", proposed | {"dry_run": True})
        if any(figure["what"] == "approval" for figure in shown.body["explained"]):
            break
        time.sleep(0.1)
    waiting = officer.send_fields("loans", proposed)
    shop.put("sandbox", action="payout_policy")
    return waiting


def make_borrower(shop: MerchantClient) -> RawReply:
    """Makes a client with savings and a loan that is not paid out yet. Returns the references of all of them."""
    person = {"firstname": "Chi", "lastname": "Eze", "phone": "08031234569"}
    client_id = shop.put("clients", action="create", data=person, status="active").body["data"]["client_id"]
    terms: dict[str, Any] = {
        "interestSettings": {"interestRate": "0", "interestFrequency": "every_month"},
        "period": 12,
    }
    saved = shop.put("investments", action="create_savings", name="Salary", client_id=client_id, **terms).body
    lent = {"action": "request", "client_id": client_id, "amount": "1000.00", **terms}
    requested = shop.send_fields("loans", lent)
    references = {"client_id": client_id, "savings_id": saved["data"]["savings_id"]}
    return requested._replace(raw=msgspec.json.encode({**references, "loan_id": requested.body["data"]["loan_id"]}))


def make_dormant(shop: MerchantClient) -> list[RawReply]:
    """Makes two savings with one deposit each, and lets one year pass for both: its jobs are half of all the work."""
    made = [make_saver(shop), make_saver(shop)]
    # An event of every day of that year would cost as much again.
    assert shop.put("resources", request="settlement_events", daily=False).body["status"] == 200
    shop.advance(days=367)
    # For what comes later: a schedule may have paid out what there was.
    assert shop.put("sandbox", action="fund_wallet", amount="1000000.00").body["status"] == 200
    return made


def make_saver(shop: MerchantClient) -> RawReply:
    """Makes a client with savings and one deposit, and returns both. Payouts may have emptied the wallet before."""
    person = {"firstname": "Dayo", "lastname": "Ojo", "phone": "08031234570"}
    client_id = shop.put("clients", action="create", data=person, status="active").body["data"]["client_id"]
    terms: dict[str, Any] = {"interestSettings": {"interestRate": "0", "interestFrequency": "annualized"}}
    wanted = {"action": "create_savings", "name": "Rent", "client_id": client_id, "period": 36, **terms}
    opened = shop.send_fields("investments", wanted)
    savings_id = opened.body["data"]["savings_id"]
    assert shop.put("sandbox", action="fund_wallet", amount="500.00").body["status"] == 200
    deposit = {"savings_id": savings_id, "payment_method": "wallet", "amount": "500.00"}
    assert shop.put("investments", action="deposit", **deposit).body["status"] == 200
    return opened._replace(raw=msgspec.json.encode({"client_id": client_id, "savings_id": savings_id}))


def ask_for_reactivation(shop: MerchantClient, savings_id: str) -> None:
    """Has another key ask for the reactivation of dormant savings."""
    key = shop.put("sandbox", action="new_key", name="clerk", scopes=["lend"]).body["key"]
    clerk = MerchantClient(shop.connection, shop.mid, key)
    asked = {"action": "reactivate_savings", "savings_id": savings_id, "reason": "Came with her passport"}
    assert clerk.send_fields("investments", asked).body["status"] == 200


def make_society(shop: MerchantClient) -> RawReply:
    """Makes a class of shares with a member, another member with savings, and a redemption that waits. Returns the
    references of all of them."""

    def invest(caller: MerchantClient, **fields: Any) -> Any:
        body = caller.put("investments", **fields).body
        assert body["status"] == 200, body
        return body["data"]

    members = []
    for name in ("Ada", "Bola"):
        person = {"firstname": name, "lastname": "Obi", "phone": "08031234567"}
        client = shop.put("clients", action="create", data=person, status="active").body["data"]
        terms: dict[str, Any] = {"interestSettings": {"interestRate": "0", "interestFrequency": "annualized"}}
        opened = invest(shop, action="create_savings", name=name, client_id=client["client_id"], period=12, **terms)
        members.append((client["client_id"], opened["savings_id"]))
    [(ada, savings), (bola, other)] = members
    class_id = invest(shop, action="create_share_class", name="Ordinary", price="100.00")["class_id"]
    bought: dict[str, Any] = {"class_id": class_id, "client_id": ada, "shares": 10}
    invest(shop, action="buy_shares", **bought, payment_method="wallet", savings_id=savings)
    made = shop.put("sandbox", action="new_key", name="secretary", scopes=["lend"]).body
    secretary = MerchantClient(shop.connection, shop.mid, made["key"])
    redemption = {"action": "redeem_shares", "class_id": class_id, "client_id": ada, "shares": 2}
    asked = secretary.send_fields("investments", redemption)
    references = {"class_id": class_id, "client_id": ada, "redemption_id": asked.body["data"]["redemption_id"]}
    return asked._replace(raw=msgspec.json.encode({**references, "to_client_id": bola, "to_savings_id": other}))


def make_guaranteed_loan(shop: MerchantClient, title: str) -> RawReply:
    """Pays a loan out that another client guarantees and a tricycle secures. For a row that calls guarantees it is
    written off, so that no time must pass. Returns the references of all of them."""

    def ask(path: str, **fields: Any) -> Any:
        body = shop.put(path, **fields).body
        assert body["status"] == 200, body
        return body["data"]

    terms: dict[str, Any] = {"interestSettings": {"interestRate": "0", "interestFrequency": "annualized"}, "period": 12}
    clients = []
    for name in ("Ada", "Bola"):
        bank = {"account_number": "0000000000", "bank_code": "058"}
        person = {"firstname": name, "lastname": "Obi", "phone": "08031234567", "bankAccount": bank}
        clients.append(ask("clients", action="create", data=person, status="active")["client_id"])
    borrower, guarantor = clients
    savings = ask("investments", action="create_savings", name="Bola", client_id=guarantor, **terms)["savings_id"]
    deposit = {"savings_id": savings, "payment_method": "wallet", "amount": "100000.00"}
    shop.put("investments", action="deposit", **deposit)
    loan_id = ask("loans", action="request", client_id=borrower, amount="50000.00", **terms)["loan_id"]
    ask("loans", action="process", loan_id=loan_id, status="approve")
    references = {"loan_id": loan_id, "client_id": guarantor, "savings_id": savings}
    pledged = ask("loans", action="guarantee", **references, amount="20000.00")
    secured = ask("loans", action="collateral", loan_id=loan_id, description="A tricycle", value="850000.00")
    if title in NEEDS_WRITTEN_OFF:
        ask("loans", action="write_off", loan_id=loan_id, reason="The client has moved away")
    if title == "loans-pay_guarantor":
        ask("loans", action="call_guarantee", loan_id=loan_id, amount="5000.00")
    shown = shop.send_fields("loans", {"action": "guarantees", "loan_id": loan_id})
    references |= {"guarantee_id": pledged["guarantee_id"], "collateral_id": secured["collateral_id"]}
    return shown._replace(raw=msgspec.json.encode(references))


def make_group(shop: MerchantClient, title: str) -> RawReply:
    """Makes a group of two, unless the row makes one, and the loan or the product that the row needs. Returns the
    references of all of them: those of the clients in the order in which an example of a group names them."""

    def ask(path: str, **fields: Any) -> Any:
        body = shop.put(path, **fields).body
        assert body["status"] == 200, body
        return body["data"]

    clients = []
    for name in ("Ngozi", "Sade"):
        bank = {"account_number": "0000000000", "bank_code": "058"}
        person = {"firstname": name, "lastname": "Obi", "phone": "08031234567", "bankAccount": bank}
        clients.append(ask("clients", action="create", data=person, status="active")["client_id"])
    if title == "loans-create_group":
        shown = shop.send_fields("clients", {"action": "view", "client_id": clients[0]})
        return shown._replace(raw=msgspec.json.encode({"client_id": clients[0], "member_id": clients[1]}))
    made = ask("loans", action="create_group", name="Weavers", members=clients, leader=clients[0])
    references = {"group_id": made["group_id"], "client_id": clients[0]}
    if title in NEEDS_GROUP_LOAN | NEEDS_PAID_GROUP:
        terms = {"interestSettings": {"interestRate": "0", "interestFrequency": "every_week"}, "period": 10}
        parts = [{"client_id": clients[0], "amount": "50000.00"}]
        asked = {"group_id": made["group_id"], "loans": parts, "disbursement": "one", **terms}
        lent = ask("loans", action="request_group_loan", **asked)
        references |= {"group_loan_id": lent["group_loan_id"], "loan_id": lent["loans"][0]["loan_id"]}
        if title in NEEDS_PAID_GROUP:
            ask("loans", action="process_group_loan", group_loan_id=lent["group_loan_id"], status="approve")
    if title == f"loans-{OF_PRODUCT}":
        product = next(row for row in ACTION_ROWS if row.title == "loans-create_product")
        references |= {"product_id": ask("loans", **{**product.example, "code": "group"})["product_id"]}
    shown = shop.send_fields("loans", {"action": "view_group", "group_id": made["group_id"]})
    return shown._replace(raw=msgspec.json.encode(references))


# The worker sends mails: later reads are the same once it has. A mail can be sent again if it failed.
SENDS_MAIL = frozenset({"resources-invoice_send"})
NEEDS_FAILED_MAIL = frozenset({"resources-mail"})


def wait_until_mailed(shop: MerchantClient) -> None:
    until = time.monotonic() + 30
    while shop.put("resources", inquire="mail", status="queued").body["total"]:
        assert time.monotonic() < until, "the mail was not sent"
        time.sleep(0.05)


def wait_until_paid(shop: MerchantClient) -> None:
    until = time.monotonic() + 30
    while any(one["state"] != "paid" for one in shop.put("investments", action="list_dividends").body["data"]):
        assert time.monotonic() < until, "the dividend was not paid"
        time.sleep(0.05)


def mail_to_nobody(shop: MerchantClient) -> RawReply:
    """Mails an invoice to an address that refuses it."""
    customer = shop.put("resources", request="customer", name="Nobody", email="bounce@example.com").body["data"]
    items = [{"name": "Fabric", "amount": "500.00"}]
    made = shop.put("resources", request="invoice", customer_id=customer["customer_id"], items=items).body["data"]
    sent = shop.send_fields("resources", {"request": "invoice_send", "invoice_id": made["invoice_id"]})
    wait_until_mailed(shop)
    return sent


# Rows that show or use a ticket, and the first of them, before which one is bought. A payer buys it, not the merchant.
SHOWS_TICKET = frozenset({"resources-ticket_sales", "resources-ticket_by_code", "resources-ticket_use"})
NEEDS_TICKET = frozenset({"resources-ticket_sales"})


def buy_ticket(shop: MerchantClient, played: list[SentExample]) -> None:
    """Buys one ticket of the newest link that sells tickets, on its page."""
    [link] = [one.received.body["data"]["link"] for one in played if one.row.title == "resources-ticket"]
    pay_on_page(shop, link, {"count_0": "1", "fullname": "Ada Obi", "email": "ada@example.com"})


def prepare_example(shop: MerchantClient, row: ActionRow) -> dict[str, Any]:
    """Returns a row's example with references of its own, after the examples that it builds on were sent."""
    played = [] if names_nothing(row) else send_examples(shop, until=row)
    return with_fresh_references(row, resolve_references(row.example, played))


def wait_until_tried(shop: MerchantClient) -> None:
    """Waits until the worker has recorded an attempt for every event, so that later reads are the same."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        _, log = shop.put("resources", inquire="events")
        if all(line["attempts"] or line["state"] == "no_endpoint" for line in log["data"]):
            return
        time.sleep(0.05)
    raise AssertionError("the events were not tried")


def resolve_references(fields: dict[str, Any], played: list[SentExample]) -> dict[str, Any]:
    for path in list(example_paths(fields, ())):
        if is_placeholder(path[-1], value_at(fields, path)):
            wanted = placeholder_field(value_at(fields, path)) or path[-1]
            made = [value for one in played for name, value in leaves(one.received.body) if name == wanted]
            fields = with_value(fields, path, made[-1]) if made else fields
    return fields


# References of digits, and codes. An example shows some value, and stands for the one that the service assigned.
NUMBERED = frozenset({"accountNumber", "cashcode"})
TICKET_CODE = re.compile(r"[A-Z0-9]{4}-[A-Z0-9]{4}-[A-Z0-9]{4}")


def is_placeholder(name: str | int, value: Any) -> bool:
    """Returns whether a value of an example is a placeholder for one that the service makes."""
    if placeholder_field(value) is not None:
        return True
    if not isinstance(name, str) or not isinstance(value, str):
        return False
    is_code = name == "code" and TICKET_CODE.fullmatch(value) is not None
    return value.startswith("GP") or name.endswith("_id") or name in NUMBERED or is_code


def placeholder_field(value: Any) -> str | None:
    """Returns the field of an earlier reply that a placeholder such as `<cardToken>` names."""
    return value[1:-1] if isinstance(value, str) and value.startswith("<") and value.endswith(">") else None


# Besides orderRef: fields in which a merchant names an object that it creates.
REFERENCE_FIELDS = {
    **dict.fromkeys(("resources-personalized-accounts", "resources-personalized_account"), "reference"),
    "loans-create_product": "code",
}


# Email addresses that name an object.
ADDRESS_FIELDS = frozenset({("resources-customer", "email")})


def with_fresh_references(row: ActionRow, fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the request with new references, if it creates something under them. A bill also gets a new customer,
    because paying the same one twice would be refused as a likely duplicate."""
    if isinstance(row.action, Write) and row.action.accepts_idempotency_key:
        for path in list(example_paths(fields, ())):
            if path[-1] in ("orderRef", REFERENCE_FIELDS.get(row.title)):
                fields = with_value(fields, path, new_reference("walk"))
            if (row.title, path[-1]) in ADDRESS_FIELDS:
                fields = with_value(fields, path, f"{new_reference('walk')}@example.com")
        if "paycode" in fields:
            fields = with_value(fields, ("reference",), str(45_000_000_000 + next(reference_numbers)))
    return fields


def leaves(given: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every single value of a reply with the name of its field."""
    if isinstance(given, dict):
        for key, value in given.items():
            yield from leaves(value, key)
    elif isinstance(given, list):
        for value in given:
            yield from leaves(value, name)
    else:
        yield name, given


# --- judging replies ----------------------------------------------------------------------------------------


def is_refusal(body: Any) -> bool:
    return isinstance(body, dict) and body.get("status") in REFUSALS and isinstance(body.get("status"), int)


REFUSAL_FIELDS = ("status", "message", "code", "doc_url")


def check_reply(row: ActionRow, received: RawReply, text: str = "") -> None:
    """Asserts that a reply is a refusal in the form of the contract, or exactly of the action's reply type."""
    body = received.body
    assert received.http < 500, (text[:100], body)
    if is_refusal(body):
        assert set(REFUSAL_FIELDS) <= set(body) <= {*REFUSAL_FIELDS, "errors"}, body
        assert isinstance(body["message"], str), body
        for fault in body.get("errors", ()):
            assert {"field", "reason", "code"} <= set(fault) <= {"field", "reason", "code", "value"}, body
        return
    read = msgspec.json.decode(received.raw, type=row.action.reply)
    assert msgspec.to_builtins(read) == body, body
    if isinstance(row.action, Write) and row.action.reply_fields:
        assert set(body) <= set(to_wire_names(row.action.reply, row.action.reply_fields)), body
