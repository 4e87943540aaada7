"""Makes events happen in the test environment: for each kind, the requests that lead to it. Contract: sandbox#trigger

The requests are those of a merchant, so that what they make is as real as anything else in its books. The module sends
none itself: `make_requests` yields one after the other, and takes the reply of each.
"""

import contextlib
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, Generator, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from kasuwa.wire.masking import make_echo

# Most characters of an unknown name in a message.
MAX_ECHOED = 60
PLAIN_AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?", re.ASCII)
# What a wallet that is too short for a request is filled with at least, in major units.
LEAST_FILLED = Decimal(100_000)
# The code of every refusal for a wallet that is too short. Status 301 is also that of cards, savings and shares.
SHORT_WALLET = "insufficient_funds"
HOME = "NGN"
# More naira than a unit of any other currency costs. The rate is the operator's, and no request of a merchant shows it.
MOST_NAIRA_FOR_ONE = 10_000


class Step(NamedTuple):
    """A request. A value `<name>` stands for that of the replies so far, `<unique>` for a new text."""

    path: str
    fields: Mapping[str, Any]
    has_further_key: bool = False  # it is sent with the key that an earlier step has made
    after: bool = False  # it comes after the event, and puts back what was set for it; changes are not sent with it
    keeps: tuple[str, str] = ("", "")  # a value of its reply, and the name under which later replies do not replace it


class Request(NamedTuple):
    """A request as it is sent."""

    path: str
    fields: Mapping[str, Any]
    key: str  # a further key of the merchant, or "" for that of whoever wants the event


Reply = Mapping[str, Any]
# Yields requests, takes their replies, and returns the entry of the event in the log.
Requests = Generator[Request, Reply, dict[str, Any]]
GoOn = Callable[[], None]
# Fields of an event of which one names what was requested. That of a settlement names its day alone.
SUBJECTS = ("txnRef", "paymentRef", "accountReference")
OF_A_DAY = frozenset({"settlement"})
# What says which request it is. Changed, it would be another one.
SELECTORS = frozenset({"action", "inquire", "request"})


class TriggerError(ValueError):
    """The event did not happen. The text says so in one line."""


class UnknownEvent(ValueError):
    """There is no such event. The text names the nearest, or all."""


# In place of a path: what follows is no request of the merchant, but the decision of the operators about a transaction.
OPERATORS = "operators"
LAGOS = timezone(timedelta(hours=1))
PAYER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
CARD = {"card_no": "5123450000000008", "expiry_month": "12", "expiry_year": "30", "ccv": "100", "pin": "1234"}
BY_CARD = {"paymentType": "card", "amount": "1500.00", "user": PAYER, "card": CARD, "customer_txnref": "<unique>"}
INITIATE = Step("payment", {"action": "initiate", **BY_CARD})
CHARGE = Step("payment", {"action": "charge", **BY_CARD, "txnRef": "<txnRef>", "auth_type": "PIN"})
PAY = (INITIATE, CHARGE)
SHOW_ACCOUNT = Step("payment", {"action": "charge", "paymentType": "bank_transfer", "amount": "1500.00", "user": PAYER})
TRANSFER = {"action": "transfer", "amount": "1500.00", "bankcode": "058", "orderRef": "<unique>"}
BILL = {"action": "pay", "paycode": "IfuR3XxiIpxqbZQ", "amount": "5000.00", "orderRef": "<unique>"}
DISPUTE = Step("sandbox", {"action": "dispute", "txnRef": "<txnRef>", "reason": "product not received"})
# The rail contradicts what it said, and the operators book it. A change of another field is of the requests before.
TAKEN_BACK = (
    Step("sandbox", {"action": "settle", "txnRef": "<txnRef>", "outcome": "failed"}),
    Step(OPERATORS, {"txnRef": "<txnRef>"}),
)
CASHCODE = Step(
    "cashcode", {"action": "generate", "amount": "5000.00", "pin": "2580", "channel": "ATM", "orderRef": "<unique>"}
)
BILLING = {"address": "12 Marina Road", "name": "Ada Obi", "city": "Lagos", "state": "Lagos", "postal_code": "101241"}
MAKE_CARD = Step(
    "virtualcard", {"action": "create", "billing": BILLING, "amount": "20.00", "currency": "USD", "country": "NG"}
)
DISPUTE_PURCHASE = Step(
    "virtualcard", {"action": "dispute", "reference": "<reference>", "id": "<txnRef>", "reason": "not received"}
)
BUY = Step("sandbox", {"action": "card_purchase", "reference": "<reference>", "amount": "7.50"})
ENROLL = Step(
    "clients",
    {
        "action": "create",
        "data": {
            "firstname": "Ada",
            "lastname": "Obi",
            "phone": "08031234567",
            "bankAccount": {"account_number": "0000000000", "bank_code": "058"},
        },
        "status": "active",
    },
)
RATE = {"interestRate": "24", "interestFrequency": "annualized"}
LEND = (
    ENROLL,
    Step(
        "loans",
        {
            "action": "request",
            "client_id": "<client_id>",
            "interestSettings": RATE,
            "amount": "120000.00",
            "period": 12,
        },
    ),
    Step("loans", {"action": "process", "loan_id": "<loan_id>", "status": "approve"}),
)
SAVE = (
    ENROLL,
    Step(
        "investments",
        {
            "action": "create_savings",
            "name": "School fees",
            "client_id": "<client_id>",
            "period": 12,
            "interestSettings": RATE,
        },
    ),
    Step(
        "investments",
        {"action": "deposit", "savings_id": "<savings_id>", "payment_method": "wallet", "amount": "5000.00"},
    ),
)
CUSTOMER = Step("resources", {"request": "customer", "name": "Ada Obi", "email": "<unique>@example.com"})
INVOICE = Step(
    "resources",
    {
        "request": "invoice",
        "customer_id": "<customer_id>",
        "items": [{"description": "Tailoring", "amount": "8000.00"}],
        "currency": "NGN",
    },
)


RATE_OF_NONE = {"interestRate": "0", "interestFrequency": "annualized"}
OPEN_SAVINGS = Step(
    "investments",
    {
        "action": "create_savings",
        "name": "Rent",
        "client_id": "<client_id>",
        "period": 36,
        "interestSettings": RATE_OF_NONE,
    },
)
FUND_SAVINGS = Step(
    "investments",
    {"action": "deposit", "savings_id": "<savings_id>", "payment_method": "wallet", "amount": "5000.00"},
)
LEND_LITTLE = (
    Step(
        "loans",
        {
            "action": "request",
            "client_id": "<client_id>",
            "interestSettings": RATE_OF_NONE,
            "amount": "1200.00",
            "period": 12,
        },
    ),
    Step("loans", {"action": "process", "loan_id": "<loan_id>", "status": "approve"}),
)
COLLECTED_LOAN = (
    ENROLL,
    *LEND_LITTLE,
    Step("loans", {"action": "auto_repay", "loan_id": "<loan_id>", "source": "wallet"}),
)
# What another key asks for waits for the merchant's own.
WAITING_TRANSFER = (
    Step("sandbox", {"action": "payout_policy", "approve_above": "0.00"}),
    Step("sandbox", {"action": "new_key", "name": "payer <unique>", "scopes": ["payout"]}),
    Step("disburse", {**TRANSFER, "accountnumber": "0000000000"}, has_further_key=True),
)
CLERK = Step("sandbox", {"action": "new_key", "name": "clerk <unique>", "scopes": ["lend"]})
SHARES = (
    ENROLL,
    OPEN_SAVINGS,
    Step("investments", {"action": "create_share_class", "name": "Ordinary <unique>", "price": "100.00"}),
    Step(
        "investments",
        {
            "action": "buy_shares",
            "class_id": "<class_id>",
            "client_id": "<client_id>",
            "shares": 10,
            "payment_method": "wallet",
            "savings_id": "<savings_id>",
        },
    ),
)
REDEEM = (
    *SHARES,
    CLERK,
    Step(
        "investments",
        {"action": "redeem_shares", "class_id": "<class_id>", "client_id": "<client_id>", "shares": 2},
        has_further_key=True,
    ),
)
DORMANT = (
    ENROLL,
    OPEN_SAVINGS,
    FUND_SAVINGS,
    Step("sandbox", {"action": "advance", "days": 367}),
    CLERK,
    Step(
        "investments",
        {"action": "reactivate_savings", "savings_id": "<savings_id>", "reason": "Came with her passport"},
        has_further_key=True,
    ),
)
# A client of tier 1: names, telephone, date of birth and address are known.
PERSON_IN_TIER = {
    **ENROLL.fields["data"],
    "date_of_birth": "1990-04-12",
    "address": {"street": "12 Marina Road", "city": "Lagos", "state": "Lagos"},
}
ENROLL_IN_TIER = Step("clients", {**ENROLL.fields, "data": PERSON_IN_TIER})


def decide_dispute(outcome: str) -> Step:
    return Step("sandbox", {"action": "dispute_outcome", "dispute_id": "<dispute_id>", "outcome": outcome})


def decide_card_dispute(outcome: str) -> Step:
    return Step("sandbox", {"action": "card_dispute_outcome", "dispute_id": "<dispute_id>", "outcome": outcome})


def drop(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {field: value for field, value in fields.items() if field not in names}


def advance(days: int) -> Step:
    return Step("sandbox", {"action": "advance", "days": days})


# By the name of the event: its kind, and what has become of it.
TRIGGERS: Mapping[str, tuple[Step, ...]] = {
    "payment.successful": PAY,
    "payment.failed": (
        SHOW_ACCOUNT,
        Step("sandbox", {"action": "settle", "txnRef": "<txnRef>", "outcome": "failed"}),
    ),
    "payment_rejected": (
        SHOW_ACCOUNT,
        Step(
            "sandbox",
            {"action": "pay_account", "accountNumber": "<accountNumber>", "amount": "1.00", "rejected": True},
        ),
    ),
    "transfer.successful": (Step("disburse", {**TRANSFER, "accountnumber": "0000000000"}),),
    "transfer.failed": (Step("disburse", {**TRANSFER, "accountnumber": "0000000500"}),),
    "bill.successful": (Step("bills", {**BILL, "reference": "45012345678"}),),
    "bill.failed": (Step("bills", {**BILL, "reference": "00000000005"}),),
    "refund.successful": (*PAY, Step("payment", {"action": "refund", "txnRef": "<txnRef>", "amount": "1500.00"})),
    "dispute.opened": (*PAY, DISPUTE),
    "dispute.won": (*PAY, DISPUTE, decide_dispute("won")),
    "dispute.lost": (*PAY, DISPUTE, decide_dispute("lost")),
    "transfer_approval.pending": WAITING_TRANSFER,
    "transfer_approval.failed": (*WAITING_TRANSFER, Step("disburse", {"action": "reject", "txnRef": "<txnRef>"})),
    "settlement": (
        Step("resources", {"inquire": "settlement_events"}, keeps=("daily", "daily_before")),
        Step("resources", {"request": "settlement_events", "daily": True}),
        *PAY,
        advance(2),
        Step("resources", {"request": "settlement_events", "daily": "<daily_before>"}, after=True),
    ),
    "account_closed": (
        Step(
            "resources",
            {
                "request": "personalized_account",
                "name": "Ada Obi",
                "reference": "<unique>",
                "email": "ada@example.com",
            },
        ),
        Step("resources", {"request": "close_personalized_account", "reference": "<unique>"}),
    ),
    "cashcode.successful": (
        CASHCODE,
        Step(
            "sandbox",
            {
                "action": "redeem_cashcode",
                "cashcode": "<cashcode>",
                "pin": "2580",
                "amount": "5000.00",
                "channel": "ATM",
            },
        ),
    ),
    "cashcode.failed": (CASHCODE, Step("cashcode", {"action": "cancel", "orderRef": "<orderRef>"})),
    "card_purchase.successful": (MAKE_CARD, BUY),
    "card_purchase.failed": (MAKE_CARD, Step("sandbox", {**BUY.fields, "amount": "5000.00"})),
    "card_authorization": (MAKE_CARD, Step("sandbox", {**BUY.fields, "action": "card_authorize"})),
    "card_refund": (MAKE_CARD, BUY, Step("sandbox", {"action": "card_refund", "txnRef": "<txnRef>"})),
    "card_dispute.submitted": (MAKE_CARD, BUY, DISPUTE_PURCHASE),
    "card_dispute.won": (MAKE_CARD, BUY, DISPUTE_PURCHASE, decide_card_dispute("won")),
    "card_dispute.lost": (MAKE_CARD, BUY, DISPUTE_PURCHASE, decide_card_dispute("lost")),
    "card_dispute.withdrawn": (
        MAKE_CARD,
        BUY,
        DISPUTE_PURCHASE,
        Step("virtualcard", {"action": "withdraw_dispute", "dispute_id": "<dispute_id>"}),
    ),
    "loan.late": (*LEND, advance(40)),
    "loan_product": (
        Step(
            "loans",
            {
                "action": "create_product",
                "name": "Market women",
                "code": "<unique>",
                "ranges": {
                    "amount": {"min": "10000.00", "max": "500000.00"},
                    "period": {"min": 3, "max": 24},
                    "interestRate": {"min": 18, "max": 36},
                },
                "interestFrequency": "annualized",
            },
        ),
    ),
    "loan_due": (*COLLECTED_LOAN, advance(31)),
    "loan_collected": (*COLLECTED_LOAN, advance(32)),
    "loan_collection_failed": (
        ENROLL,
        OPEN_SAVINGS,
        *LEND_LITTLE,
        Step(
            "loans",
            {"action": "auto_repay", "loan_id": "<loan_id>", "source": "savings", "savings_id": "<savings_id>"},
        ),
        advance(32),
    ),
    "group": (
        ENROLL._replace(keeps=("client_id", "leader_id")),
        ENROLL,
        Step(
            "loans",
            {
                "action": "create_group",
                "name": "Kasuwa Women",
                "members": ["<leader_id>", "<client_id>"],
                "leader": "<leader_id>",
            },
        ),
    ),
    "repayment": (
        *LEND,
        Step("loans", {"action": "repay", "loan_id": "<loan_id>", "payment_method": "wallet", "amount": "1000.00"}),
    ),
    "deposit": SAVE,
    "cashout": (
        *SAVE,
        Step(
            "investments",
            {
                "action": "cashout",
                "savings_id": "<savings_id>",
                "client_id": "<client_id>",
                "amount": "2500.00",
                "method": "cash",
            },
        ),
    ),
    "savings": (*SAVE, advance(32)),
    "savings.matured": (ENROLL, Step("investments", {**OPEN_SAVINGS.fields, "period": 1}), FUND_SAVINGS, advance(32)),
    "thrift_payout": (
        ENROLL,
        OPEN_SAVINGS._replace(keeps=("savings_id", "recipient")),
        OPEN_SAVINGS._replace(keeps=("savings_id", "other")),
        FUND_SAVINGS,
        Step("sandbox", {"action": "clock"}),
        Step(
            "investments",
            {
                "action": "create_plan",
                "name": "Esusu",
                "amount": "1000.00",
                "frequency": "every_month",
                "member_required": 2,
                "start_date": "<day after>",
            },
        ),
        Step("investments", {"action": "subscribe", "thrift_id": "<thrift_id>", "savings_id": "<recipient>"}),
        Step("investments", {"action": "subscribe", "thrift_id": "<thrift_id>", "savings_id": "<other>"}),
        advance(2),
    ),
    "fixed_deposit": (
        ENROLL,
        Step("investments", {**drop(OPEN_SAVINGS.fields, "period"), "term_days": 90}),
        FUND_SAVINGS,
        advance(91),
    ),
    "held_deposit": (
        ENROLL_IN_TIER,
        OPEN_SAVINGS,
        Step("sandbox", {"action": "client_tiers", "is_on": False}),
        Step(
            "investments",
            {
                "action": "deposit",
                "savings_id": "<savings_id>",
                "payment_method": "card",
                "amount": "100.00",
                "card": {**CARD, "ccv": "000"},
            },
        ),
        Step("sandbox", {"action": "client_tiers", "is_on": True, "tiers": [{"tier": 1, "balance": "1.00"}]}),
        Step("investments", {"action": "validate", "txnRef": "<txnRef>", "otp": "123456"}),
    ),
    "dividend": (
        *SHARES,
        Step("sandbox", {"action": "clock"}),
        advance(1),
        Step(
            "investments",
            {"action": "declare_dividend", "class_id": "<class_id>", "rate": "10", "record_date": "<day before>"},
        ),
    ),
    "share_redemption.pending": REDEEM,
    "share_redemption.successful": (
        *REDEEM,
        Step("investments", {"action": "approve_redemption", "redemption_id": "<redemption_id>"}),
    ),
    "share_redemption.failed": (
        *REDEEM,
        Step("investments", {"action": "reject_redemption", "redemption_id": "<redemption_id>"}),
    ),
    "reactivation.pending": DORMANT,
    "reactivation.successful": (
        *DORMANT,
        Step("investments", {"action": "decide_reactivation", "savings_id": "<savings_id>", "status": "approve"}),
    ),
    "standing_order": (
        ENROLL,
        OPEN_SAVINGS,
        *LEND_LITTLE,
        Step("sandbox", {"action": "clock"}),
        Step(
            "investments",
            {
                "action": "standing_order",
                "from": "<savings_id>",
                "to": "<loan_id>",
                "amount": "100.00",
                "frequency": "every_month",
                "from_date": "<day after>",
            },
        ),
        advance(10),
    ),
    "reversal.credit": (Step("disburse", {**TRANSFER, "accountnumber": "0000000000"}), *TAKEN_BACK),
    "reversal.debit": (*PAY, *TAKEN_BACK),
    "invoice": (CUSTOMER, INVOICE),
    "invoice.voided": (
        CUSTOMER,
        INVOICE,
        Step("resources", {"inquire": "invoice", "invoice_id": "<invoice_id>", "status": "void"}),
    ),
    "checkout.failed": (
        Step("payment", {"action": "checkout", "amount": "1500.00", "currency": "NGN", "user": PAYER}),
        advance(30),
    ),
}


def make_requests(name: str, changes: Mapping[str, Any], go_on: GoOn = lambda: None) -> Requests:
    """Returns the requests that make an event happen.

    `changes` replace fields of the requests that have them, and others are sent with the last request. `go_on` is
    called before each request, and raises TriggerError to end it. Raises UnknownEvent, and TriggerError as soon as a
    request is refused, or if no such event comes of them. What was set is put back, whatever is raised."""
    return request_steps(name, find_steps(name), changes, go_on)


def request_steps(name: str, steps: tuple[Step, ...], changes: Mapping[str, Any], go_on: GoOn) -> Requests:
    kind = name.partition(".")[0]
    newest = (yield from ask(name, "resources", {"inquire": "events", "limit": 1}))["data"]
    before = int(newest[0]["sequence"]) if newest else 0
    known: dict[str, Any] = {"unique": secrets.token_hex(8)}
    try:
        replied = yield from request_all(name, [step for step in steps if not step.after], changes, known, go_on)
        event = yield from find_event(kind, before, replied, name)
    except Exception:
        with contextlib.suppress(Exception):  # what came first says why
            yield from put_back(name, steps, known)
        raise
    yield from put_back(name, steps, known)
    return event


def request_all(
    name: str, steps: list[Step], changes: Mapping[str, Any], known: dict[str, Any], go_on: GoOn
) -> Generator[Request, Reply, set[str]]:
    """Requests step after step, and adds the values of their replies to those known. What the merchant changes is sent
    as it is. Returns all texts of the replies: they name what was made."""
    replied: set[str] = set()
    named = {field for step in steps for field in step.fields}
    last = [step for step in steps if step.path != OPERATORS][-1]
    for step in steps:
        changed = {field: value for field, value in changes.items() if field in step.fields}
        if step is last:
            changed |= {field: value for field, value in changes.items() if field not in named}
        fields = {**fill_fields(drop(step.fields, *changed), known), **changed}
        key = known["key"] if step.has_further_key else ""
        reply = yield from ask(name, step.path, fields, key, go_on, known)
        known |= collect_values(reply)
        known |= find_days(known)
        value, name_kept = step.keeps
        if name_kept:
            known[name_kept] = known[value]
        replied.update(walk_texts(reply))
    return replied


def put_back(name: str, steps: tuple[Step, ...], known: Mapping[str, Any]) -> Generator[Request, Reply, None]:
    """Puts back what was set, if it was read before."""
    for step in steps:
        if not step.after:
            continue
        try:
            fields = fill_fields(step.fields, known)
        except KeyError:
            continue
        yield from ask(name, step.path, fields)


def ask(
    name: str,
    path: str,
    fields: Mapping[str, Any],
    key: str = "",
    go_on: GoOn = lambda: None,
    known: Mapping[str, Any] = MappingProxyType({}),
) -> Generator[Request, Reply, Reply]:
    """Makes one request, and goes on with an advance until it is there. A wallet that is too short is filled once.
    Raises TriggerError if the request is refused."""
    is_filled = False
    while True:
        go_on()
        reply = yield Request(path, fields, key)
        if reply.get("code") == SHORT_WALLET and not is_filled:
            is_filled = True
            currency = fields.get("currency", HOME)
            wallets = {HOME}
            if currency != HOME:
                listed = yield from ask(name, "resources", {"inquire": "wallet"}, go_on=go_on)
                wallets = {line["currency"] for line in listed["data"]}
            yield Request("sandbox", fill_wallet(fields, known, currency, wallets), "")
            continue
        if reply["status"] not in (200, 202):
            raise TriggerError(f"{name}: {path} refused a request: {reply.get('message')}")
        if fields.get("action") != "advance" or not reply.get("more"):
            return reply
        fields = {"action": "advance", "until": reply["until"]}


def fill_wallet(
    fields: Mapping[str, Any], known: Mapping[str, Any], currency: str, wallets: Collection[str]
) -> dict[str, Any]:
    """Returns the request that gives the wallet more than a request may cost. One of a currency without a wallet is
    paid from the naira wallet: a wallet that was made for it would pay all later ones."""
    factor = 2 if currency in wallets else 2 * MOST_NAIRA_FOR_ONE
    texts = [str(named["amount"]) for named in (fields, known) if "amount" in named]
    amounts = [factor * Decimal(text) for text in texts if PLAIN_AMOUNT.fullmatch(text)]
    amount = max((LEAST_FILLED, *amounts))
    filled = currency if currency in wallets else HOME
    return {"action": "fund_wallet", "currency": filled, "amount": f"{amount:.2f}"}


async def run(requests: Requests, answer: Callable[[Request], Awaitable[Reply]]) -> dict[str, Any]:
    """Answers requests until the event has happened. Returns its entry in the log of events."""
    take: Callable[[], Request] = partial(next, requests)
    while True:
        try:
            request = take()
        except StopIteration as ended:
            event: dict[str, Any] = ended.value
            return event
        try:
            take = partial(requests.send, await answer(request))
        except Exception as error:
            take = partial(requests.throw, error)


def find_steps(name: str) -> tuple[Step, ...]:
    if name in TRIGGERS:
        return TRIGGERS[name]
    shown, small = make_echo(name, MAX_ECHOED), name.lower()
    of_kind = [known for known in TRIGGERS if known.startswith(f"{small}.")]
    if of_kind:
        raise UnknownEvent(f"no event is called {shown}: did you mean {' or '.join(of_kind)}?")
    near = get_close_matches(small, TRIGGERS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(TRIGGERS)}"
    raise UnknownEvent(f"no event is called {shown}: {hint}")


def find_event(kind: str, after: int, replied: Collection[str], name: str) -> Requests:
    """Finds the newest event of a kind after a sequence number, about what the replies name. The merchant may have done
    the same meanwhile, and its clock has moved for all that it has."""
    newest = None
    has_more = True
    while has_more:
        page = yield from ask(name, "resources", {"inquire": "event_feed", "after": after, "limit": 200})
        newer = (dict(event) for event in reversed(page["data"]) if event["kind"] == kind and is_about(event, replied))
        newest = next(newer, newest)
        after, has_more = page["last"], page["more"]
    if newest is None:
        raise TriggerError(f"{name}: the requests were answered, and no event of kind {kind} came of them")
    return newest


def is_about(event: Mapping[str, Any], replied: Collection[str]) -> bool:
    """Whether an event is about something that the replies name."""
    return event["kind"] in OF_A_DAY or any(event["payload"].get(name) in replied for name in SUBJECTS)


def fill_fields(value: Any, known: Mapping[str, Any]) -> Any:
    """Returns a value of a request with the values that its placeholders stand for."""
    if isinstance(value, Mapping):
        return {name: fill_fields(inner, known) for name, inner in value.items()}
    if isinstance(value, list):
        return [fill_fields(inner, known) for inner in value]
    if isinstance(value, str) and "<" in value:
        before, _, rest = value.partition("<")
        name, _, after = rest.partition(">")
        return known[name] if not before and not after else f"{before}{known[name]}{after}"
    return value


def find_days(known: Mapping[str, Any]) -> dict[str, str]:
    """Returns the days that a step may name, by the merchant's business time once a reply has shown it."""
    if "now" not in known:
        return {}
    today = datetime.fromisoformat(str(known["now"])).astimezone(LAGOS)
    return {"day before": f"{today - timedelta(days=1):%Y-%m-%d}", "day after": f"{today + timedelta(days=1):%Y-%m-%d}"}


def walk_texts(reply: Any) -> Iterator[str]:
    """Yields the texts of a reply, at whatever depth."""
    if isinstance(reply, str):
        yield reply
    for value in reply.values() if isinstance(reply, Mapping) else reply if isinstance(reply, list) else ():
        yield from walk_texts(value)


def collect_values(reply: Any) -> dict[str, Any]:
    """Returns the values of a reply by their names, at whatever depth. Outer ones take precedence."""
    values: dict[str, Any] = {}
    for name, value in reply.items() if isinstance(reply, Mapping) else ():
        if isinstance(value, Mapping):
            values = {**collect_values(value), **values}
        elif not isinstance(value, list):
            values[name] = value
    return values
