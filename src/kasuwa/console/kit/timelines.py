"""Timelines on pages: the steps of a transaction or another record in plain sentences, and pages of a long one.

The sandbox action `explain` gives the same steps in the words of the API: names of stages, accounts and jobs.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kasuwa.console.kit.values import IDENTIFIER, group_thousands
from kasuwa.console.kit.visit import Visit
from kasuwa.console.kit.vocabulary import humanize, label, method_text
from kasuwa.console.merchant.events import parse_int

# Steps of a page: deliveries that fail for days have a thousand.
MAX_STEPS = 60

# Steps of a transaction, as its trail names them. Other names are kinds of records, which are written as words.
STEP_TEXTS = {
    "requested": "Requested",
    "sent": "Sent",
    "asked": "Asked for the outcome",
    "moved": "Given to another provider",
    "initiated": "Ready to be charged",
    "charged": "Charge sent",
    "validated": "The payer's answer was sent on",
    "awaiting_otp": "Waiting for the payer's one-time code",
    "awaiting_3ds": "Waiting for the payer to confirm on the bank's page",
    "awaiting_payer": "Waiting for the payer",
    "wrong code": "The payer entered a wrong code",
    "rail away": "The provider could not be reached",
    "underpaid": "Less was paid than expected",
    "approved": "Approved",
    "rejected": "Rejected",
    "successful": "Successful",
    "failed": "Failed",
    "created": "Created",
    "left out": "Not shown",
}
DISPUTE_TEXTS = {
    "opened": "The payer's bank opened a dispute",
    "reminder": "The dispute must be answered soon",
    "needs_response": "The dispute waits for an answer",
    "under_review": "The payer's bank reviews the answer to the dispute",
    "won": "The dispute was won",
    "lost": "The dispute was lost",
    "accepted": "The dispute was accepted",
    "expired": "The dispute was lost: nobody answered it in time",
    "submitted": "The cardholder disputes the purchase",
    "reduced": "The shop has refunded a part of what is disputed",
    "withdrawn": "The dispute was withdrawn",
    "closed": "The dispute was closed: nothing is left of the purchase",
}
# What a job does when it falls due.
JOB_TEXTS = {
    "account.close": "The account number is closed",
    "account.open": "The account number is opened",
    "account.query": "The bank is asked for the account number",
    "bills.ask": "The biller is asked for the outcome",
    "bills.send": "The bill is sent to the biller",
    "cashcode.expire": "The cash code expires",
    "checkout.expire": "The checkout expires",
    "disburse.ask": "The bank is asked for the outcome",
    "disburse.expire": "The transfer expires unless it is approved",
    "disburse.send": "The transfer is sent to the bank",
    "dispute.collect": "What a dispute still costs is taken from the wallet",
    "dispute.deadline": "The dispute is lost unless it is answered",
    "dispute.review": "The payer's bank decides the dispute",
    "dispute.ask": "The rail is asked what it has decided",
    "dispute.pay_card": "The card gets what the dispute took",
    "dispute.take_card": "What the card got is taken back",
    "dispute.tell_card": "The cardholder's dispute ends",
    "instalment.charge": "The next installment is charged",
    "invoices.overdue": "The invoice becomes overdue",
    "invoices.remind": "The customer is reminded by mail",
    "loans.collect": "What is due of the loan is collected",
    "loans.watch": "The loan's installments are checked",
    "mail.send": "The mail is sent",
    "payment.ask": "The provider is asked for the outcome",
    "payment.ask_refund": "The provider is asked for the outcome of the refund",
    "payment.ask_return": "The provider is asked whether the money went back",
    "payment.charge": "The charge is sent to the provider",
    "payment.expire": "The payment expires",
    "payment.forget_card": "The provider is asked to delete the card",
    "payment.open": "The payment is announced to the provider",
    "payment.refund": "The refund is sent to the provider",
    "payment.return_receipt": "The money is sent back to its sender",
    "payment.validate": "The payer's answer is sent to the provider",
    "payment.watch": "The provider is asked whether the payer has paid after all",
    "payout.send": "The beneficiary's share is paid out",
    "payouts.send": "The wallet is paid out to the bank account",
    "recurrent.charge": "The next charge of the plan is made",
    "savings.end_held": "The held deposit goes back unless the client's tier rises",
    "savings.post_interest": "Interest is added to the savings account",
    "settlement.release": "The reserve is released to the wallet",
    "settlement.settle": "The money is settled to the wallet",
    "settlements.report": "The settlements of the day are sent as events",
    "shares.expire": "The redemption of shares expires",
    "shares.pay_dividend": "The dividend is paid to the members",
    "standing_orders.run": "The standing order pays",
    "thrift.run_cycle": "The next cycle of the thrift plan is run",
    "virtualcard.monthly": "The card's monthly fee is charged",
    "virtualcard.dispute_end": "The shop's dispute ends too",
    "virtualcard.dispute_open": "The shop's dispute is opened",
    "virtualcard.dispute_review": "The operator is reminded of the dispute",
    "virtualcard.expire": "The card's authorization expires",
    "webhook.deliver": "The event is sent to the webhook",
}
JOB_SUFFIX = " falls due"
# Fields of an entry that its texts say already, or that repeat another one.
HIDDEN_FIELDS = frozenset({"at", "what", "said", "body", "error", "lane"})
DETAIL_LABELS = {
    "attempt": "Attempts",
    "credit": "To",
    "credit_after": "Balance of the receiving account",
    "debit": "From",
    "debit_after": "Balance of the paying account",
    "fingerprint": "Device",
    "http": "HTTP code",
    "ip": "IP address",
    "ms": "Milliseconds",
    "number": "Attempt",
    "seq": "Posting",
}


class TimelineStep(msgspec.Struct, frozen=True):
    """A step as pages show it."""

    at: str
    title: str
    text: str  # empty if the title says all
    details: dict[str, Any]  # further fields of the entry, by their labels


def make_step(entry: Mapping[str, Any]) -> TimelineStep:
    """Returns an entry of a timeline in plain words."""
    title, text = describe(entry)
    fields = {name: value for name, value in entry.items() if name not in HIDDEN_FIELDS and value not in (None, "")}
    details = {DETAIL_LABELS.get(name) or label(name): value for name, value in fields.items()}
    return TimelineStep(entry["at"], title, text, details)


def describe(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the title and the text of an entry."""
    what, message = entry["what"], entry["said"] or ""
    match what:
        case "hold":
            return "Set aside", f"{format_amount(entry, entry['account'])} of {name_account(entry['account'])}"
        case "posting":
            return "Booked", f"{plain(message)}, {format_amount(entry, entry['debit'])}"
        case "job":
            return "Next", JOB_TEXTS.get(message.removesuffix(JOB_SUFFIX), "The next step is taken")
        case "event":
            return "Event written", ""
        case "webhook":
            return ("Event not delivered", message) if entry["error"] else ("Event delivered", "")
        case "dispute":
            return DISPUTE_TEXTS.get(message) or f"Dispute: {plain(message)}", ""
        case "requested":
            return STEP_TEXTS[what], method_text(message)
    # The text of a step that is not known may be a reference, which stays as it is.
    return (STEP_TEXTS[what], plain(message)) if what in STEP_TEXTS else (humanize(what), message)


def plain(text: str) -> str:
    """Returns a text that is a name of the API as words, any other as it is."""
    return text.replace("_", " ") if IDENTIFIER.fullmatch(text) else text


def format_amount(entry: Mapping[str, Any], account: str) -> str:
    """Returns the amount of a hold or posting with the currency of its account."""
    return f"{account.rpartition(':')[2]} {group_thousands(entry['amount'])}"


def name_account(account: str) -> str:
    """Returns an account on which money is held in words: the wallet, or its kind and whose it is."""
    kind, _, rest = account.partition(":")
    return "the wallet" if kind == "wallet" else f"{kind.replace('_', ' ')} {rest.rpartition(':')[0]}"


def page_timeline(visit: Visit, timeline: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns what templates need of a timeline: the newest steps before those that the query skips.

    `earlier_steps` is the number of steps before these, `earlier_url` their address.
    """
    end = max(0, len(timeline) - parse_int(visit.query.get("skip", ""), 0))
    start = max(0, end - MAX_STEPS)
    return {
        "timeline": [make_step(entry) for entry in timeline[start:end]],
        "earlier_steps": start,
        "earlier_url": f"?skip={len(timeline) - start}",
    }
