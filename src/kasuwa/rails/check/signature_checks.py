"""Checks of signatures: a request that is not signed rightly is answered HTTP 401, and nothing is done."""

import msgspec

from kasuwa.rails.check.client import Call, Fault
from kasuwa.rails.check.run import Check, CheckRun, Order
from kasuwa.rails.remote.signing import WINDOW_SECONDS, RemoteSecret

OTHER_SECRET = "a secret that nobody has given to this rail"


async def expect_refused(run: CheckRun, order: Order, call: Call, what: str) -> None:
    """Raises Fault unless a request is answered HTTP 401 and its order was not recorded."""
    reply = await run.client.send(call)
    if reply.status != 401:
        raise Fault(f"{what} was answered {reply} instead of HTTP 401.")
    await run.expect_unknown(order, what)


async def check_wrong_signature(run: CheckRun) -> None:
    order = run.new_transfer()
    signed = run.client.prepare(order.path, order.request).signature
    assert signed is not None
    wrong = RemoteSecret(signed.key_id, OTHER_SECRET)
    call = run.client.prepare(order.path, order.request, secret=wrong)
    await expect_refused(run, order, call, "A transfer signed with a wrong secret")


async def check_missing_signature(run: CheckRun) -> None:
    order = run.new_transfer()
    call = run.client.prepare(order.path, order.request)
    unsigned = msgspec.structs.replace(call, signature=None)
    await expect_refused(run, order, unsigned, "A transfer without a signature")


async def check_changed_body(run: CheckRun) -> None:
    order = run.new_transfer()
    signature = run.client.prepare(order.path, order.request).signature
    changed = msgspec.json.encode({**order.request, "amount": run.least + 1})
    await expect_refused(run, order, Call(order.path, changed, signature), "A transfer that was changed after signing")


async def check_other_path(run: CheckRun) -> None:
    order = run.new_transfer()
    call = run.client.prepare(order.path, order.request, signed_path="/transfers/query")
    await expect_refused(run, order, call, "A transfer with the signature of another path")


async def check_unknown_key(run: CheckRun) -> None:
    order = run.new_transfer()
    call = run.client.prepare(order.path, order.request, secret=RemoteSecret("check-unknown", OTHER_SECRET))
    await expect_refused(run, order, call, "A transfer signed with an unknown key id")


async def check_old_time(run: CheckRun) -> None:
    order = run.new_transfer()
    call = run.client.prepare(order.path, order.request, age=WINDOW_SECONDS + 60)
    await expect_refused(run, order, call, "A transfer signed six minutes ago")


async def check_future_time(run: CheckRun) -> None:
    order = run.new_transfer()
    call = run.client.prepare(order.path, order.request, age=-WINDOW_SECONDS - 60)
    await expect_refused(run, order, call, "A transfer signed six minutes ahead")


async def check_clock_tolerance(run: CheckRun) -> None:
    """Clocks may be apart: a request that is signed four minutes ago is accepted."""
    reply = await run.client.send(run.client.prepare("/balance", {}, age=WINDOW_SECONDS - 60))
    if reply.status != 200:
        raise Fault(f"A request signed four minutes ago was answered {reply}: clocks may be five minutes apart.")


CHECKS: dict[str, Check] = {
    "a wrong signature is refused": check_wrong_signature,
    "a missing signature is refused": check_missing_signature,
    "a body that was changed is refused": check_changed_body,
    "the signature of another path is refused": check_other_path,
    "an unknown key id is refused": check_unknown_key,
    "an old time is refused": check_old_time,
    "a time in the future is refused": check_future_time,
    "clocks may be some minutes apart": check_clock_tolerance,
}
