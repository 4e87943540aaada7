"""Checks of bills, payments, refunds, accounts that customers pay into, identities, and call-backs."""

import asyncio
from typing import Any

import msgspec

from kasuwa.rails.catalogue.catalogue import InvalidCatalogue, check_edition
from kasuwa.rails.check.client import Fault, RailReply
from kasuwa.rails.check.run import CURRENCY, Check, CheckRun, NotRun, Order
from kasuwa.rails.check.transfer_checks import expect_same
from kasuwa.rails.remote.biller import read_catalogue
from kasuwa.rails.remote.client import DECLINED
from kasuwa.rails.remote.messages import (
    AccountAnswer,
    CatalogueAnswer,
    ConsentAnswer,
    NameFound,
    OrderAnswer,
    PersonAnswer,
)

CALLBACK_SECONDS = 30.0
WRONG_CALLBACK = "A call-back was not signed rightly, or had no event and key."
VOUCHERS = {"electricity_token": "token", "pin": "pin"}


# --- bills --------------------------------------------------------------------------------------------------------


async def check_catalogue(run: CheckRun) -> None:
    paycode = run.sample("bills", "paycode")
    reply = await run.client.call("/bills/catalogue", {})
    try:
        catalogue = msgspec.convert(reply.fields, CatalogueAnswer)
        check_edition(read_catalogue(catalogue))
    except (msgspec.ValidationError, InvalidCatalogue) as error:
        raise Fault(f"The catalogue cannot be sold from: {error}.") from None
    if paycode not in [item.paycode for item in catalogue.items]:
        raise Fault(f"The catalogue does not have the sample paycode {paycode!r}.")


async def check_customers(run: CheckRun) -> None:
    paycode, reference = run.sample("bills", "paycode"), run.sample("bills", "reference")
    reply = await run.client.call("/bills/customer", {"paycode": paycode, "reference": reference})
    run.client.note_form("/bills/customer", reply, NameFound)
    if reply.outcome != "found":
        raise Fault(f"/bills/customer answered {reply} for the sample customer.")
    unknown = {"paycode": paycode, "reference": run.sample("bills", "unknown_reference")}
    reply = await run.client.call("/bills/customer", unknown)
    if (reply.status, reply.outcome) != (200, "not_found"):
        raise Fault(f"/bills/customer answered {reply} for an unknown customer instead of HTTP 200 'not_found'.")


async def check_bill(run: CheckRun) -> None:
    order, before = run.new_bill(), await run.read_balance()
    ended = await run.pay(order)
    fulfillment = await find_fulfillment(run)
    voucher = VOUCHERS.get(fulfillment)
    if voucher and not (ended.fields.get("facts") or {}).get(voucher):
        raise Fault(f"A paid bill that delivers {fulfillment} has no {voucher} in its facts.")
    repeated = await run.send(order)
    await run.expect_spent(before, order.amount, "A repeated bill")
    expect_same(order, ended, repeated, "A repeat")
    expect_same(order, ended, await run.query(order), "A query")
    await run.expect_unknown(run.new_bill(), "A bill that was never sent")


async def find_fulfillment(run: CheckRun) -> str:
    reply = await run.client.call("/bills/catalogue", {})
    paycode, items = run.sample("bills", "paycode"), reply.fields.get("items") or []
    return next((str(item.get("fulfillment", "none")) for item in items if item.get("paycode") == paycode), "none")


# --- payments and refunds -----------------------------------------------------------------------------------------


def new_payment(run: CheckRun, **changes: Any) -> Order:
    samples = run.about.samples.get("payments", {})
    names = ("payer", "payer_account", "provider", "network")
    chosen: dict[str, str] = {name: samples[name] for name in names if name in samples}
    request: dict[str, Any] = {
        "key": run.new_key(),
        "amount": run.least,
        "currency": CURRENCY,
        "method": run.sample("payments", "method"),
        "merchant_name": "Conformance kit",
        **chosen,
        **changes,
    }
    return Order("/payments/begin", request)


async def query_step(run: CheckRun, order: Order, step: str) -> RailReply:
    reply = await run.client.call("/payments/query", {"key": order.key, "step": step, "attempt": 1})
    if reply.status != 200 or not reply.outcome:
        raise Fault(f"/payments/query answered {reply}: the state of a step is HTTP 200 with its outcome.")
    return reply


async def begin(run: CheckRun) -> tuple[Order, str]:
    """Begins a payment. Returns it with its session."""
    order = new_payment(run)
    reply = await run.send(order)
    if reply.outcome not in ("challenge", "successful"):
        raise Fault(f"/payments/begin answered {reply} for the sample payer.")
    facts = reply.fields.get("facts") or {}
    if not facts.get("auth"):
        raise Fault("/payments/begin has no fact auth: the payer would not know what to do.")
    expect_same(order, reply, await query_step(run, order, "begin"), "A query")
    return order, str(facts.get("session", ""))


async def validate(run: CheckRun, order: Order, session: str, otp: str | None) -> RailReply:
    reply = await run.client.call("/payments/validate", {"key": order.key, "session": session, "otp": otp})
    run.client.note_form("/payments/validate", reply, OrderAnswer)
    return reply


async def check_payment(run: CheckRun) -> None:
    right, wrong = run.sample("payments", "otp"), run.sample("payments", "wrong_otp")
    order, session = await begin(run)
    unproved = await query_step(run, order, "validate")
    if unproved.outcome == "successful":
        raise Fault("A payment is successful before the payer's code was checked.")
    reply = await validate(run, order, session, wrong)
    if reply.outcome not in ("wrong_code", "challenge"):
        raise Fault(f"A wrong code was answered {reply} instead of 'wrong_code'.")
    paid = await validate(run, order, session, right)
    if paid.outcome not in ("successful", "processing"):
        raise Fault(f"The right code was answered {paid} instead of 'successful'.")
    again = await validate(run, order, session, wrong)
    if again.outcome != paid.outcome:
        raise Fault(f"A code after the end of a payment changed it to {again.outcome!r}.")
    answer = await query_step(run, order, "validate")
    if (answer.outcome, answer.fields.get("amount")) != (paid.outcome, order.amount):
        raise Fault(f"/payments/query answered {answer} for a paid payment.")


async def check_declined_payment(run: CheckRun) -> None:
    order, session = await begin(run)
    reply = await validate(run, order, session, None)
    if reply.outcome != "failed":
        raise Fault(f"A payment that its payer declined is {reply.outcome!r} instead of 'failed'.")
    unknown = await query_step(run, new_payment(run), "begin")
    if unknown.outcome != "not_found":
        raise Fault(f"The query of a payment that was never begun answered {unknown}.")


async def check_refunds(run: CheckRun) -> None:
    order, session = await begin(run)
    await validate(run, order, session, run.sample("payments", "otp"))
    half = order.amount // 2
    refunds = [
        Order("/refunds", {"key": run.new_key(), "payment_key": order.key, "amount": half, "currency": CURRENCY})
        for _ in range(3)
    ]
    first = await run.wait_for_end(refunds[0], await run.send(refunds[0]))
    expect_same(refunds[0], first, await run.send(refunds[0]), "A repeat")
    second = await run.wait_for_end(refunds[1], await run.send(refunds[1]))
    if (first.outcome, second.outcome) != ("successful", "successful"):
        raise Fault("Two refunds of half a payment each did not both succeed: a repeat may have counted as a refund.")
    third = await run.client.call("/refunds", refunds[2].request)
    if third.status == 200 and third.outcome != "failed":
        raise Fault("More was refunded than was paid.")
    await run.expect_unknown(Order("/refunds", {"key": run.new_key(), "amount": half}), "A refund that was never sent")


# --- accounts and identities --------------------------------------------------------------------------------------


async def check_accounts(run: CheckRun) -> None:
    request = {"key": run.new_key(), "name": run.sample("accounts", "name"), "currency": CURRENCY}
    opened = await run.client.call("/accounts", request)
    run.client.note_form("/accounts", opened, AccountAnswer)
    if opened.outcome not in ("open", "processing"):
        raise Fault(f"/accounts answered {opened} instead of 'open'.")
    number = opened.fields.get("account_number")
    repeated = await run.client.call("/accounts", request)
    if repeated.fields.get("account_number") != number:
        raise Fault(f"A repeat of /accounts opened another account: {repeated.fields.get('account_number')!r}.")
    other = await run.client.call("/accounts", {**request, "key": run.new_key()})
    if other.outcome == "open" and other.fields.get("account_number") == number:
        raise Fault("Two keys got the same account number.")
    unknown = await run.client.call("/accounts/query", {"key": run.new_key()})
    if (unknown.status, unknown.outcome) != (200, "not_found"):
        raise Fault(f"/accounts/query answered {unknown} for an unknown key instead of HTTP 200 'not_found'.")
    for account in (request["key"], other.fields.get("key")):
        closed = await run.client.call("/accounts/close", {"key": account})
        if closed.outcome != "closed":
            raise Fault(f"/accounts/close answered {closed} instead of 'closed'.")


async def check_identity(run: CheckRun) -> None:
    bvn = run.sample("identity", "bvn")
    reply = await run.client.call("/identity", {"bvn": bvn})
    if reply.status == DECLINED and "consenting_bvn" in run.about.samples["identity"]:
        return  # the person must agree first: see check_consent
    run.client.note_form("/identity", reply, PersonAnswer)
    if reply.outcome != "found" or reply.fields.get("bvn") != bvn:
        raise Fault(f"/identity answered {reply} without the person of the sample BVN.")
    reply = await run.client.call("/identity", {"bvn": run.sample("identity", "unknown_bvn")})
    if (reply.status, reply.outcome) != (200, "not_found"):
        raise Fault(f"/identity answered {reply} for an unknown BVN instead of HTTP 200 'not_found'.")


async def check_consent(run: CheckRun) -> None:
    """A person agrees on a page before the look-up. For rails that give samples of it."""
    bvn, refusing = run.sample("identity", "consenting_bvn"), run.sample("identity", "refusing_bvn")
    outcomes = []
    for number in (bvn, refusing):
        consent = await run.client.call("/identity/consent", {"bvn": number, "firstname": "ADA", "lastname": "OBI"})
        run.client.note_form("/identity/consent", consent, ConsentAnswer)
        reference, url = consent.fields.get("reference"), consent.fields.get("url")
        if consent.outcome != "found" or not reference or not str(url).startswith("https://"):
            raise Fault(f"/identity/consent answered {consent} without a reference and an https page.")
        reply = await run.client.call("/identity", {"bvn": number, "consent": reference})
        run.client.note_form("/identity", reply, PersonAnswer)
        outcomes.append(reply.outcome)
    if outcomes[0] not in ("found", "consent_awaited"):
        raise Fault(f"/identity answered {outcomes[0]!r} for a person who consents.")
    if outcomes[1] not in ("consent_refused", "consent_awaited"):
        raise Fault(f"/identity answered {outcomes[1]!r} for a person who refuses: nothing of the person may be shown.")


# --- call-backs ---------------------------------------------------------------------------------------------------


async def check_callback(run: CheckRun) -> None:
    """A transfer that ends later is announced by a signed call-back."""
    received = run.options.callbacks
    if received is None:
        raise NotRun("give the address that the rail calls back with --listen")
    order = run.new_transfer("open_account_number")
    await run.send(order)
    try:
        async with asyncio.timeout(CALLBACK_SECONDS):
            while (key := await received.get()) != order.key:
                if not key:
                    raise Fault(WRONG_CALLBACK)
    except TimeoutError:
        raise Fault(f"No call-back came within {CALLBACK_SECONDS:.0f} seconds after a transfer in progress.") from None
    if (await run.query(order)).outcome == "not_found":
        raise Fault("A call-back named an order that its query does not find.")


CHECKS: dict[str, Check] = {
    "the catalogue of bills can be sold from": check_catalogue,
    "customers of billers are found": check_customers,
    "a bill is paid once and delivers": check_bill,
    "a payment needs its payer's code": check_payment,
    "a declined payment fails": check_declined_payment,
    "refunds are made once and not beyond the payment": check_refunds,
    "accounts are opened once and closed": check_accounts,
    "people are found by BVN": check_identity,
    "nothing is shown of a person who refuses": check_consent,
    "call-backs are signed": check_callback,
}
