"""Plays a case in a test server, step by step, and compares what becomes of it with what was recorded."""

import contextlib
import re
import sys
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from kasuwa.testing.cases import plan
from kasuwa.testing.cases.case_file import CaseFile, CaseInput
from kasuwa.testing.cases.case_merchant import CannotReplay, Wire
from kasuwa.testing.cases.comparing import Difference, compare_lines
from kasuwa.testing.cases.outcome import list_lines
from kasuwa.testing.exchanges import Exchange
from kasuwa.testing.server import ServerFailed, serve

GOOD = (200, 201, 202)
# Requests that play the outside in a case of a test server. A file is somebody else's: it sets no address that events
# or questions go to, and changes nothing of the server. What counts is the body that is sent, not what the file calls
# it.
OUTSIDE = frozenset(
    {
        "beneficiary",
        "card_authorize",
        "card_capture",
        "card_purchase",
        "card_refund",
        "card_reverse",
        "dispute",
        "dispute_outcome",
        "fault",
        "fund_wallet",
        "pay_account",
        "redeem_cashcode",
    }
)
PATH = re.compile(r"[a-z]{1,20}", re.ASCII)
ADDRESS_NAME = re.compile(r"(.*_)?url|webhook", re.IGNORECASE)
FEES_OF_BILLS = frozenset({"bill fee", "bill VAT", "bill commission"})
# A code that a payer typed wrong is answered with a refusal.
MAY_BE_REFUSED = frozenset({"payment.validate"})


class Report(msgspec.Struct):
    """The result of a replay: its steps in words, and what differs."""

    lines: list[str] = []
    differences: list[Difference] = []

    def check(self) -> None:
        """Raises AssertionError with the differences, if there are any."""
        __tracebackhide__ = True
        if self.differences:
            raise AssertionError("\n".join(["the case differs:", *(one.text for one in self.differences)]))


def run_replay(file: CaseFile, url: str | None, credentials: tuple[str, str], tolerance: float) -> Report:
    """Plays a case on the server at an address, or on one that is started for it. Raises CannotReplay."""
    with contextlib.ExitStack() as stack:
        if url is None:
            try:
                url = stack.enter_context(serve()).url
            except ServerFailed as error:
                raise CannotReplay(str(error)) from None
        return Player(file, Wire(url, *credentials), tolerance).play()


class Player:
    """Plays one case, for a new merchant."""

    def __init__(self, file: CaseFile, creator: Wire, tolerance: float) -> None:
        self._file, self._case = file, file.case
        self._tolerance = tolerance
        self._report = Report()
        self._values: dict[str, str] = {}  # of this run, by the names of the case
        self._cards: dict[str, dict[str, str]] = {}  # by the payment
        self._deadlines: dict[str, int] = {}  # of disputes that are open, by their names
        self._left_out: set[str] = set()  # kinds of postings that are not compared
        self._known: set[str] = set()  # references of transactions that are named
        self._now_ms = 0
        self._run = uuid.uuid4().hex[:8]
        self._creator = creator
        self._wire = self._open_merchant(creator)

    def _open_merchant(self, creator: Wire) -> Wire:
        case = self._case
        fields: dict[str, Any] = {"name": "Case", "now": case.starts_at.isoformat(), "terms": case.terms}
        created = creator.act("new_merchant", balance=positive(case.wallets.get("NGN", "0.00")), **fields)
        wire = Wire(creator.url, created["mid"], created["key"])
        for currency, amount in case.wallets.items():
            if currency != "NGN" and positive(amount) != "0.00":
                wire.act("fund_wallet", currency=currency, amount=amount)
        return wire

    # --- playing ----------------------------------------------------------------------------------------------------

    def play(self) -> Report:
        for at_ms, step in self._list_steps():
            try:
                self._play_step(at_ms, step)
            except (KeyError, TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
                reason = f"{type(error).__name__}: {error}"
                raise CannotReplay(f"the step at {describe_time(at_ms)} cannot be played ({reason})") from None
        self._run_due()
        self._compare()
        return self._report

    def _play_step(self, at_ms: int, step: Exchange | CaseInput) -> None:
        self._prepare(step)
        self._advance(at_ms)
        if isinstance(step, Exchange):
            self._request(step, at_ms)
        else:
            self._tell(step)

    def _list_steps(self) -> Iterator[tuple[int, Exchange | CaseInput]]:
        steps: list[tuple[int, int, Exchange | CaseInput]] = [
            *((one.timing["at_ms"], 0, one) for one in self._file.exchanges if one.timing),
            *((one.at_ms, 1, one) for one in self._case.inputs),
        ]
        for at_ms, _, step in sorted(steps, key=lambda entry: entry[:2]):
            yield at_ms, step

    def _say(self, at_ms: int, text: str) -> None:
        self._report.lines.append(f"{describe_time(at_ms):>14}  {text}")

    def _differ(self, at_ms: int, text: str) -> None:
        difference = Difference(at_ms, f"{describe_time(at_ms)}  differs: {text}")
        self._report.differences.append(difference)
        self._report.lines.append(f"{describe_time(at_ms):>14}  differs: {text}")

    def _advance(self, at_ms: int) -> None:
        """Moves business time to that of a step. Everything that is due until then happens, in order."""
        at_ms = min(at_ms, self._find_limit())
        if at_ms <= self._now_ms:
            return
        until = (self._case.starts_at + timedelta(milliseconds=at_ms)).isoformat()
        while self._wire.act("advance", until=until).get("more"):
            pass
        self._now_ms = at_ms

    def _run_due(self) -> None:
        """Has everything done that is due now: an order of a bulk is sent by a job."""
        while self._wire.act("advance", seconds=0).get("more"):
            pass

    def _find_limit(self) -> int:
        """Returns the time that must not be passed yet. The sandbox ends a dispute at its deadline by itself, where a
        vendor is asked first and answers a moment later."""
        waiting = [
            self._deadlines[name] - 1
            for name, ends_ms in self._list_ends()
            if name in self._deadlines and ends_ms < self._deadlines[name] + self._tolerance * 1000
        ]
        return min(waiting, default=sys.maxsize)

    def _list_ends(self) -> Iterator[tuple[str, int]]:
        """Yields the disputes that payers' banks end, each with the first time."""
        ends: dict[str, int] = {}
        for one in self._case.inputs:
            outcome = one.content.get("outcome") or one.content.get("facts", {}).get("outcome")
            name = one.results.get("dispute_id", "")
            if outcome in ("won", "lost") and name:
                ends.setdefault(name, one.at_ms)
        yield from ends.items()

    def _prepare(self, step: Exchange | CaseInput) -> None:
        """Plans the faults of orders that the jobs of a step send by themselves."""
        if isinstance(step, CaseInput) and step.kind == "job":
            for reference in step.opened:
                fault = plan.plan_fault(self._case, reference)
                if fault is not None:
                    self._wire.act("fault", **fault)

    # --- requests ---------------------------------------------------------------------------------------------------

    def _request(self, exchange: Exchange, at_ms: int) -> None:
        path, _, title = exchange.action.partition(".")
        if not is_played(path, title, exchange.request):
            self._say(at_ms, f"{exchange.action}: not played")
            return
        body, scenario = self._make_body(exchange, at_ms)
        reply = self._wire.send(path, body, scenario)
        self._say(at_ms, f"{exchange.action}: {reply.get('status')} {reply.get('txnStatus', '')}".rstrip())
        if reply.get("status") not in GOOD and exchange.action not in MAY_BE_REFUSED:
            self._differ(at_ms, f"{exchange.action} is refused: {reply.get('message')}")
        self._learn(exchange.reply, reply)
        for one in self._case.inputs:
            if one.reference in exchange.reply.get("opened", ()):
                self._learn(one.results, reply)

    def _make_body(self, exchange: Exchange, at_ms: int) -> tuple[dict[str, Any], str]:
        """Returns a request of the case as this run sends it, and its scenario."""
        body = dict(self._fill(exchange.request))
        opened = list(exchange.reply.get("opened", ()))
        reference = opened[0] if len(opened) == 1 else str(exchange.reply.get("txnRef", ""))
        answers = plan.find_answers(self._file, reference, at_ms)
        # All orders of a request share its header.
        orders = [plan.find_answers(self._file, one, at_ms) for one in opened]
        scenarios = {one.scenario() for one in orders if one.inputs}
        scenario = scenarios.pop() if len(scenarios) == 1 else ""
        change = getattr(self, f"_change_{exchange.action.replace('.', '_').replace(' ', '_')}", None)
        if change is not None:
            scenario = change(body, opened or [reference], answers, scenario)
        return body, scenario

    def _change_disburse_transfer(self, body: Any, opened: list[str], answers: plan.Answers, scenario: str) -> str:
        body["accountnumber"] = plan.ACCOUNT
        return scenario

    def _change_disburse_transfer_bulk(self, body: Any, opened: list[str], answers: plan.Answers, scenario: str) -> str:
        at_ms = answers.sent_ms
        for order, reference in zip(body["data"], opened, strict=False):
            order["accountnumber"] = plan.make_account(plan.find_answers(self._file, reference, at_ms))
        return ""

    def _change_clients_create(self, body: Any, opened: list[str], answers: plan.Answers, scenario: str) -> str:
        """Money can be sent to the client. Whose face a photo shows nobody may know, no bank knows the account, and the
        number of a document is not recorded."""
        data = body.get("data")
        if not isinstance(data, dict):
            return scenario
        data.pop("photo", None)
        if "identification" in data:
            data["identification"] = {**data["identification"], "number": plan.DOCUMENT_NUMBER}
        if "bankAccount" in data:
            data["bankAccount"] = {**data["bankAccount"], "account_number": plan.ACCOUNT}
        return scenario

    _change_clients_update = _change_clients_create

    def _change_bills_pay(self, body: Any, opened: list[str], answers: plan.Answers, scenario: str) -> str:
        body["reference"], at_ms = plan.CUSTOMER, answers.sent_ms
        items = self._wire.send("bills", {"action": "pull"})["data"]["items"]
        recorded = self._case.items.get(body["paycode"])
        if not any(item["paycode"] == body["paycode"] for item in items) and recorded is not None:
            chosen = plan.choose_item(recorded, items)
            body["paycode"] = chosen["paycode"]
            if chosen["discount"] != float(recorded["discount"]) or chosen["fee"] != float(recorded["fee"]):
                self._say(at_ms, "the test server sells no bill with this fee and commission: they are not compared")
                self._left_out |= FEES_OF_BILLS
        return scenario

    def _change_payment_initiate_card(self, body: Any, opened: list[str], answers: plan.Answers, scenario: str) -> str:
        """The payer entered a card on a vendor's page. Here it is entered at once, and charged when the payer paid."""
        body["card"] = self._cards[opened[0]] = plan.make_card(answers)
        return ""

    def _change_payment_charge_account(self, body: Any, opened: list[str], answers: plan.Answers, scenario: str) -> str:
        body["account"] = {**body.get("account", {}), "accountnumber": plan.ACCOUNT}
        return ""

    def _change_payment_charge_bank_transfer(
        self, body: Any, opened: list[str], answers: plan.Answers, scenario: str
    ) -> str:
        return ""

    def _change_payment_validate(self, body: Any, opened: list[str], answers: plan.Answers, scenario: str) -> str:
        body["otp"] = plan.choose_otp(answers)
        return ""

    def _fill(self, value: Any) -> Any:
        """Returns a part of a request with the values of this run. What the client named itself gets a name of this
        run's."""
        if isinstance(value, dict):
            return {name: self._fill(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self._fill(part) for part in value]
        if isinstance(value, str) and value.startswith("<") and value.endswith(">"):
            return self._values.setdefault(value, f"case-{self._run}-{len(self._values)}")
        return value

    # --- answers ----------------------------------------------------------------------------------------------------

    def _tell(self, step: CaseInput) -> None:
        tell = partial(getattr(self, f"_tell_{step.kind}"), step)
        tell()
        self._learn_opened(step.opened)

    def _tell_job(self, step: CaseInput) -> None:
        self._say(step.at_ms, f"{step.name} of {step.reference}")

    def _tell_rejection(self, step: CaseInput) -> None:
        self._say(step.at_ms, f"a transfer for {step.reference} was sent back: not played")

    def _tell_answer(self, step: CaseInput) -> None:
        status, code = str(step.content.get("status")), step.content.get("code")
        outcome = step.content.get("facts", {}).get("outcome")
        self._say(step.at_ms, f"{step.name} of {step.reference} answers {status} {code or ''}".rstrip())
        reference = self._values.get(step.reference)
        if status not in plan.FINAL or reference is None:
            return
        if step.name == "dispute.ask":
            if outcome in ("won", "lost"):
                self._deadlines.pop(step.reference, None)
                self._wire.send("sandbox", {"action": "dispute_outcome", "dispute_id": reference, "outcome": outcome})
            return
        self._run_due()
        card = self._cards.pop(step.reference, None)
        if card is not None:
            self._charge(step, reference, card)
        elif self._is_inbound(step.reference):
            self._pay_account(step, step.reference)
        elif step.name.endswith(".ended") or self._is_open(reference):
            known = plan.choose_code(step.content)
            fields = {"outcome": status, **({"code": known} if len(known) == 2 else {})}
            self._wire.send("sandbox", {"action": "settle", "txnRef": reference, **fields})

    def _charge(self, step: CaseInput, reference: str, card: dict[str, str]) -> None:
        opener = self._find_request(step.reference)
        filled = self._fill(opener.request).items()
        body = {name: value for name, value in filled if name != "action" and not ADDRESS_NAME.fullmatch(name)}
        charged = {"action": "charge", **body, "txnRef": reference, "card": card, "auth_type": "PIN"}
        reply = self._wire.send("payment", charged)
        self._learn(opener.reply, reply)
        results = {name: value for name, value in step.results.items() if name != "status"}
        self._learn(results, reply)

    def _find_request(self, reference: str) -> Exchange:
        return next(one for one in self._file.exchanges if reference in one.reply.get("opened", ()))

    def _is_inbound(self, reference: str) -> bool:
        opener = next((one for one in self._file.exchanges if reference in one.reply.get("opened", ())), None)
        return opener is not None and opener.action == "payment.charge bank_transfer"

    def _pay_account(self, step: CaseInput, payment: str) -> None:
        if step.content.get("status") == "failed":
            return
        opener = self._find_request(payment)
        account = self._verify(self._values[payment]).get("accountNumber") or self._values.get(f"account {payment}")
        amount = step.content.get("amount") or opener.request["amount"]
        fields = {"accountNumber": account, "amount": amount}
        # What is returned to the payer is sent by a rail that is told later.
        reply = self._wire.send("sandbox", {"action": "pay_account", **fields}, plan.OPEN if step.opened else "")
        if reply.get("status") != 200:
            self._differ(step.at_ms, f"the transfer for {payment} is refused: {reply.get('message')}")

    def _tell_receipt(self, step: CaseInput) -> None:
        self._say(step.at_ms, f"money arrives for {step.reference}")

    def _tell_dispute(self, step: CaseInput) -> None:
        outcome = step.content.get("outcome")
        name = step.results.get("dispute_id", "")
        dispute_id = self._values.get(name)
        self._say(step.at_ms, f"the payer's bank: dispute {name} {outcome or 'opened'}")
        if dispute_id is None:
            due = msgspec.convert(step.content["due_at"], datetime) if step.content.get("due_at") else None
            opened_at = self._case.starts_at + timedelta(milliseconds=step.at_ms)
            hours = 168 if due is None else max(1, min(2160, round((due - opened_at).total_seconds() / 3600)))
            self._deadlines[name] = step.at_ms + hours * 3_600_000
            amount = {"amount": major(step.content["amount"])} if step.content.get("amount") else {}
            fields = {"txnRef": self._values[step.reference], "reason": "case", "hours": hours, **amount}
            reply = self._wire.send("sandbox", {"action": "dispute", **fields})
            self._learn({"dispute_id": name}, reply)
        elif outcome is not None:
            self._deadlines.pop(name, None)
            self._wire.send("sandbox", {"action": "dispute_outcome", "dispute_id": dispute_id, "outcome": outcome})

    def _is_open(self, reference: str) -> bool:
        lines = self._wire.send("sandbox", {"action": "explain", "reference": reference}).get("data", [])
        return not any(line["what"] in plan.FINAL for line in lines)

    def _verify(self, reference: str) -> dict[str, Any]:
        return self._wire.send("payment", {"action": "verify", "txnRef": reference})

    # --- names ------------------------------------------------------------------------------------------------------

    def _learn(self, recorded: dict[str, Any], reply: dict[str, Any]) -> None:
        """Notes which values of a reply stand for those of the case."""
        self._learn_names(recorded, [reply, reply.get("data")])
        opened, orders = list(recorded.get("opened", ())), reply.get("data")
        if isinstance(orders, list):
            named = [order.get("txnRef") for order in orders if isinstance(order, dict) and order.get("txnRef")]
            for name, actual in zip(opened, named, strict=False):
                self._values[name] = str(actual)
                self._known.add(str(actual))
        else:
            self._learn_opened(opened)
        if reply.get("accountNumber") and opened:
            self._values[f"account {opened[0]}"] = str(reply["accountNumber"])

    def _learn_names(self, recorded: dict[str, Any], places: list[Any]) -> None:
        for name, value in recorded.items():
            actual = next((part[name] for part in places if isinstance(part, dict) and part.get(name)), None)
            if isinstance(value, list) and isinstance(actual, list):
                for line, actual_line in zip(value, actual, strict=False):
                    if isinstance(line, dict):
                        self._learn_names(line, [actual_line])
            elif actual is not None and str(value).startswith("<"):
                self._values[str(value)] = str(actual)
                self._known.add(str(actual))

    def _learn_opened(self, opened: list[str]) -> None:
        """Finds the transactions that opened by themselves, in their order."""
        unnamed = [name for name in opened if name not in self._values]
        if not unnamed:
            return
        listed = self._wire.send("resources", {"inquire": "transactions", "limit": 100}).get("data", [])
        new = [line["txnRef"] for line in reversed(listed) if line["txnRef"] not in self._known]
        for name, actual in zip(unnamed, new, strict=False):
            self._values[name] = actual
            self._known.add(actual)

    # --- the outcome ------------------------------------------------------------------------------------------------

    def _compare(self) -> None:
        for name, recorded in self._case.outcome.items():
            actual = self._values.get(name)
            if actual is None:
                self._differ(recorded[0].at_ms, f"{name} does not exist")
                continue
            reply = self._wire.send("sandbox", {"action": "explain", "reference": actual})
            lines = list_lines(reply.get("data", []), self._case.starts_at)
            pair = [
                [line for line in part if line.facts.get("kind") not in self._left_out] for part in (recorded, lines)
            ]
            for at_ms, text in compare_lines(pair[0], pair[1], self._tolerance):
                self._differ(at_ms, f"{name}: {text}")
        count = len(self._report.differences)
        self._report.lines.append(f"{count} differences" if count else "equal")


def is_played(path: str, title: str, body: Mapping[str, Any]) -> bool:
    """Whether a request of a case is sent to a test server."""
    if path == "pages" or not PATH.fullmatch(path) or has_address(body):
        return False
    return path != "sandbox" or (title in OUTSIDE and body.get("action") == title)


def has_address(value: Any) -> bool:
    """Whether a field of a body, at any depth, is one that an address is set by."""
    if isinstance(value, Mapping):
        return any(ADDRESS_NAME.fullmatch(name) or has_address(part) for name, part in value.items())
    return isinstance(value, list) and any(map(has_address, value))


def positive(amount: str) -> str:
    return "0.00" if amount.startswith("-") else amount


def major(amount: Any) -> str:
    """Returns an amount of minor units as requests have it."""
    return f"{int(amount) // 100}.{int(amount) % 100:02d}"


def describe_time(at_ms: int) -> str:
    days, rest = divmod(at_ms, 86_400_000)
    hours, rest = divmod(rest, 3_600_000)
    text = f"{hours:02d}:{rest // 60_000:02d}:{rest % 60_000 / 1000:06.3f}"
    return f"{days}d {text}" if days else text
