"""Checks of transfers: paid once, whatever is lost, repeated or contradicted; and of names on accounts."""

import asyncio
from typing import Any

from kasuwa.rails.check.client import Fault, RailReply
from kasuwa.rails.check.run import CURRENCY, Check, CheckRun, NotRun, Order
from kasuwa.rails.remote.messages import LARGEST_AMOUNT, NameFound

REPEATS_AT_ONCE = 8
NO_AMOUNTS: tuple[Any, ...] = (0, -1, 100.5, "10000", True, None)
TOO_LARGE = LARGEST_AMOUNT + 1


def expect_same(order: Order, first: RailReply, other: RailReply, what: str) -> None:
    """Raises Fault unless two answers for one order agree."""
    for name in ("outcome", "rail_reference", "facts"):
        if first.fields.get(name) != other.fields.get(name):
            raise Fault(
                f"{what} of {order.path} answered another {name}: "
                f"{other.fields.get(name)!r} instead of {first.fields.get(name)!r}."
            )


# --- the way of an order ------------------------------------------------------------------------------------------


async def check_paid(run: CheckRun) -> None:
    order, before = run.new_transfer(), await run.read_balance()
    ended = await run.pay(order)
    await run.expect_spent(before, order.amount, "A transfer")
    for _ in range(2):
        expect_same(order, ended, await run.query(order), "A query")


async def check_repeat(run: CheckRun) -> None:
    order, before = run.new_transfer(), await run.read_balance()
    ended = await run.pay(order)
    for _ in range(2):
        repeated = await run.send(order)
        await run.expect_spent(before, order.amount, "A repeated transfer")
        expect_same(order, ended, repeated, "A repeat")


async def check_repeats_at_once(run: CheckRun) -> None:
    order, before = run.new_transfer(), await run.read_balance()
    replies = await asyncio.gather(*(run.client.call(order.path, order.request) for _ in range(REPEATS_AT_ONCE)))
    ended = await run.wait_for_end(order, run.read_state(order, replies[0]))
    spent = 0 if run.is_live else before - await run.read_balance()
    if spent > order.amount:
        times = spent // order.amount
        raise Fault(f"{REPEATS_AT_ONCE} equal transfers at once were paid {times} times: the balance fell by {spent}.")
    references = {reply.fields.get("rail_reference") for reply in replies} - {None, ""}
    if len(references) > 1:
        raise Fault(f"{REPEATS_AT_ONCE} equal transfers at once got {len(references)} references.")
    for reply in replies:
        if reply.status != 200:
            raise Fault(f"One of {REPEATS_AT_ONCE} equal transfers at once was answered {reply}.")
    expect_same(order, ended, await run.query(order), "A query")


async def check_contradiction(run: CheckRun) -> None:
    order, before = run.new_transfer(), await run.read_balance()
    ended = await run.pay(order)
    others: dict[str, dict[str, Any]] = {"amount": {"amount": order.amount + 1}, "narration": {"narration": "Other"}}
    if not run.is_live:
        others["account"] = {"account_number": run.sample("transfers", "failing_account_number")}
    for name, change in others.items():
        reply = await run.client.call(order.path, {**order.request, **change})
        if reply.status != 409:
            raise Fault(f"A used key with another {name} was answered {reply} instead of HTTP 409.")
    await run.expect_spent(before, order.amount, "A used key with other content")
    expect_same(order, ended, await run.query(order), "A query after a contradiction")


async def check_lost_answer(run: CheckRun) -> None:
    """The connection is cut after the order is sent. The rail may have taken it or not; either way it is paid once
    under its key."""
    order, before = run.new_transfer(), await run.read_balance()
    await run.client.send_and_cut(run.client.prepare(order.path, order.request))
    for _ in range(10):
        answer = await run.query(order)
        if answer.outcome != "not_found":
            break
        await asyncio.sleep(0.05)
    else:
        answer = await run.send(order)
    ended = await run.wait_for_end(order, answer)
    if ended.outcome != "successful":
        raise Fault(f"A transfer whose answer was lost ended as {ended.outcome!r}.")
    repeated = await run.send(order)
    await run.expect_spent(before, order.amount, "A transfer whose answer was lost")
    expect_same(order, ended, repeated, "A repeat")


async def check_failure(run: CheckRun) -> None:
    order, before = run.new_transfer("failing_account_number"), await run.read_balance()
    ended = await run.wait_for_end(order, await run.send(order))
    if ended.outcome != "failed":
        raise Fault(f"The transfer to the failing account is {ended.outcome!r} instead of 'failed'.")
    if not ended.fields.get("message"):
        raise Fault("A failed transfer has no message that says why.")
    expect_same(order, ended, await run.send(order), "A repeat")
    await run.expect_spent(before, 0, "A failed transfer")


async def check_open_order(run: CheckRun) -> None:
    order = run.new_transfer("open_account_number")
    first = await run.send(order)
    if first.outcome != "processing":
        raise Fault(f"The transfer to the open account is {first.outcome!r} instead of 'processing'.")
    answer = await run.query(order)
    if answer.outcome == "not_found":
        raise Fault("The query of a transfer in progress answered not_found: money could be sent twice.")
    if answer.outcome not in ("processing", "successful", "failed"):
        raise Fault(f"The query of a transfer in progress answered {answer.outcome!r}.")
    repeated = await run.send(order)
    if repeated.outcome not in ("processing", "successful", "failed"):
        raise Fault(f"A repeat of a transfer in progress answered {repeated.outcome!r}.")
    if repeated.fields.get("rail_reference") != first.fields.get("rail_reference"):
        raise Fault("A repeat of a transfer in progress got another rail_reference: it was begun twice.")


async def check_unknown(run: CheckRun) -> None:
    order = run.new_transfer()
    reply = await run.client.call(f"{order.path}/query", {"key": order.key})
    if (reply.status, reply.outcome) != (200, "not_found"):
        raise Fault(f"The query of a key that was never used answered {reply} instead of HTTP 200 'not_found'.")


async def check_restart(run: CheckRun) -> None:
    if run.options.restart is None:
        raise NotRun("give a command that restarts the rail with --restart")
    order, before = run.new_transfer(), await run.read_balance()
    ended = await run.pay(order)
    await run.options.restart()
    answer = await run.query(order)
    if answer.outcome == "not_found":
        raise Fault("After a restart the rail does not know a transfer that it has paid.")
    expect_same(order, ended, answer, "A query after a restart")
    expect_same(order, ended, await run.send(order), "A repeat after a restart")
    await run.expect_spent(before, order.amount, "A transfer that was repeated after a restart")


# --- amounts and requests -----------------------------------------------------------------------------------------


async def check_smallest(run: CheckRun) -> None:
    if run.is_live:
        raise NotRun("a live rail may have a least amount")
    order, before = run.new_transfer(amount=1), await run.read_balance()
    await run.pay(order)
    await run.expect_spent(before, 1, "A transfer of one minor unit")


async def check_largest(run: CheckRun) -> None:
    """The failing account takes the largest amount, so that no balance is needed."""
    order = run.new_transfer("failing_account_number", amount=LARGEST_AMOUNT)
    reply = await run.client.call(order.path, order.request)
    if reply.status == 402:
        return
    run.read_state(order, reply)
    amount = (await run.query(order)).fields.get("amount")
    if amount != LARGEST_AMOUNT:
        raise Fault(f"The amount {LARGEST_AMOUNT} came back as {amount!r}: amounts must stay exact.")


async def check_no_amounts(run: CheckRun) -> None:
    before = await run.read_balance()
    for amount in NO_AMOUNTS if run.is_live else (*NO_AMOUNTS, TOO_LARGE):
        order = run.new_transfer(amount=amount)
        reply = await run.client.call(order.path, order.request)
        if reply.status != 400:
            raise Fault(f"A transfer of the amount {amount!r} was answered {reply} instead of HTTP 400.")
        await run.expect_unknown(order, f"A transfer of the amount {amount!r}")
    await run.expect_spent(before, 0, "transfers of impossible amounts")


async def check_other_currency(run: CheckRun) -> None:
    order, before = run.new_transfer(currency="XTS"), await run.read_balance()
    reply = await run.client.call(order.path, order.request)
    if reply.status == 200 and reply.outcome != "failed":
        raise Fault(f"A transfer in a currency that does not exist was answered {reply}.")
    await run.expect_spent(before, 0, "a transfer in a currency that does not exist")


async def check_unreadable_body(run: CheckRun) -> None:
    for body, what in ((b'{"key": ', "half a JSON object"), (b"[]", "a JSON array"), (b"", "an empty body")):
        reply = await run.client.call("/transfers", body)
        if reply.status != 400:
            raise Fault(f"{what.capitalize()} was answered {reply} instead of HTTP 400.")


async def check_missing_fields(run: CheckRun) -> None:
    order = run.new_transfer()
    for name in ("amount", "currency", "bank_code", "account_number"):
        request = {field: value for field, value in order.request.items() if field != name}
        reply = await run.client.call(order.path, request)
        if reply.status != 400:
            raise Fault(f"A transfer without {name} was answered {reply} instead of HTTP 400.")
    await run.expect_unknown(order, "A transfer with a field missing")


async def check_unknown_fields(run: CheckRun) -> None:
    order = run.new_transfer(narration="Ẹ̀bùn for Ñọ́ 日本", added_in_a_later_version={"a": 1})
    await run.pay(order)


async def check_unknown_path(run: CheckRun) -> None:
    reply = await run.client.call("/no-such-path", {})
    if reply.status != 404 or not reply.fields.get("error"):
        raise Fault(f"A path that does not exist was answered {reply} instead of HTTP 404 with an error.")


async def check_names(run: CheckRun) -> None:
    bank_code = run.sample("transfers", "bank_code")
    account = {"bank_code": bank_code, "account_number": run.sample("transfers", "account_number")}
    reply = await run.client.call("/names", account)
    run.client.note_form("/names", reply, NameFound)
    if reply.outcome != "found" or not reply.fields.get("name"):
        raise Fault(f"/names answered {reply} without a name for the sample account.")
    unknown = {"bank_code": bank_code, "account_number": run.sample("transfers", "unknown_account_number")}
    reply = await run.client.call("/names", unknown)
    if (reply.status, reply.outcome) != (200, "not_found"):
        raise Fault(f"/names answered {reply} for an unknown account instead of HTTP 200 'not_found'.")


async def check_balance(run: CheckRun) -> None:
    reply = await run.client.call("/balance", {})
    balance = (reply.fields.get("balances") or {}).get(CURRENCY)
    if type(balance) is not int:
        raise Fault(f"The balance in {CURRENCY} is {balance!r}: it must be a whole number of minor units.")


CHECKS: dict[str, Check] = {
    "a balance is a whole number": check_balance,
    "a transfer is paid and found": check_paid,
    "a repeat is not paid again": check_repeat,
    "repeats at the same time are paid once": check_repeats_at_once,
    "a used key with other content is refused": check_contradiction,
    "a lost answer is found, and paid once": check_lost_answer,
    "a failed transfer stays failed": check_failure,
    "a transfer in progress is known": check_open_order,
    "an unknown key is not found": check_unknown,
    "orders outlive a restart": check_restart,
    "the smallest amount is paid": check_smallest,
    "the largest amount stays exact": check_largest,
    "impossible amounts are refused": check_no_amounts,
    "an unknown currency is not paid": check_other_currency,
    "an unreadable body is refused": check_unreadable_body,
    "a missing field is refused": check_missing_fields,
    "unknown fields are ignored": check_unknown_fields,
    "an unknown path is refused": check_unknown_path,
    "names on accounts are found": check_names,
}
