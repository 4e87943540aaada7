"""Makes an event happen for a merchant of the test environment: sends the requests of triggers.py as the merchant, and
puts back the settings and ends the keys that they have made. Contract: sandbox#trigger"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from weakref import WeakValueDictionary

import msgspec

from kasuwa.core.callers import NO_CALLER
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import FieldError, Merchant, Refusal
from kasuwa.core.vault import Vault
from kasuwa.merchants import merchants
from kasuwa.merchants.keys import KeyRefused, UnknownKey, revoke_key
from kasuwa.merchants.merchant_settings import MerchantSettings
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.postgres.connection_pool import Pool
from kasuwa.sandbox import triggers

# Answers a request of a merchant to a path of the API, with its fields.
SendRequest = Callable[[Merchant, str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
# Plays the operators who book that a transaction was taken back, by its reference. Returns a reply.
BookReversal = Callable[[Pool, Merchant, str], Awaitable[Mapping[str, Any]]]

NOT_TRIGGERED = Refusal(INVALID_REQUEST, "{reason}", error_code="event_not_triggered")
# A merchant's requests for one event begin within this time. An advance among them may go on for 20 seconds more.
MOST_SECONDS = 60.0
# The settings that requests of events change, by the action of the sandbox that sets them.
SETTINGS_SET_BY = {"payout_policy": ("payouts", "payouts_change"), "client_tiers": ("client_tiers",)}


class Leftovers(msgspec.Struct):
    """Keys and settings that the requests for an event leave behind."""

    keys: list[int] = []
    settings: dict[str, tuple[Any, Any]] = {}  # as they were, and as they were set


class EventMaker:
    """Makes one event at a time for each merchant, so that none takes for a setting of the merchant's what another
    has set."""

    def __init__(self, operators: Pool, vault: Vault, directory: MerchantDirectory) -> None:
        self._operators = operators
        self._vault = vault
        self._directory = directory
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._is_stopping = False
        self.send: SendRequest | None = None
        self.book_reversal: BookReversal | None = None

    def stop(self) -> None:
        """Begins no further request for an event."""
        self._is_stopping = True

    def turn(self, mid: str) -> asyncio.Lock:
        """Returns what whoever makes an event of a merchant holds: what is set for it is not the merchant's own."""
        return self._turns.setdefault(mid, asyncio.Lock())

    async def make(self, merchant: Merchant, requests: triggers.Requests, *, is_pending: bool) -> Any:
        """Returns the event's entry in the log of events, or a Refusal."""
        async with self.turn(merchant.mid):
            left = Leftovers()
            keeps_keys = False
            try:
                event = await triggers.run(requests, lambda request: self._answer(merchant, left, request))
                # What waits for another party ends with the key of who sent it.
                keeps_keys = is_pending
                return event
            except triggers.TriggerError as failed:
                return NOT_TRIGGERED.fill(reason=failed)
            finally:
                try:
                    await self._put_back(merchant.mid, left.settings)
                finally:
                    await self._end_keys(merchant.mid, [] if keeps_keys else left.keys)

    def make_requests(self, event: str, changes: Mapping[str, Any]) -> triggers.Requests | FieldError:
        """Returns the requests that lead to an event, or the error of its name or of a field."""
        refused = sorted(triggers.SELECTORS & set(changes))
        if refused:
            return FieldError("fields", f"fields of the requests, and not {', '.join(refused)}: another would be sent")
        begun_at = time.monotonic()

        def go_on() -> None:
            if self._is_stopping:
                raise triggers.TriggerError(f"{event}: the service is being stopped")
            if time.monotonic() - begun_at > MOST_SECONDS:
                raise triggers.TriggerError(f"{event}: it did not happen within {MOST_SECONDS:.0f} seconds")

        try:
            return triggers.make_requests(event, changes, go_on)
        except triggers.UnknownEvent as unknown:
            return FieldError("event", str(unknown))

    async def _answer(self, merchant: Merchant, left: Leftovers, request: triggers.Request) -> Mapping[str, Any]:
        assert self.send is not None, "a process with a dispatch sends requests"
        if request.path == triggers.OPERATORS:
            assert self.book_reversal is not None, "a process with a dispatch books reversals"
            return await self.book_reversal(self._operators, merchant, request.fields["txnRef"])
        action = str(request.fields.get("action", ""))
        sender: Merchant | None = merchant
        if request.key:
            sender = await self._directory.authenticate(merchant.mid, request.key)
        elif action == "new_key":
            # Nobody's, so that it counts as another party than whoever wants the event.
            sender = msgspec.structs.replace(merchant, caller=NO_CALLER)
        if sender is None:
            raise triggers.TriggerError("a key that was made for the event was ended meanwhile")
        names = SETTINGS_SET_BY.get(action, ())
        before = await self._read_settings(merchant.mid) if names else None
        reply = await self.send(sender, request.path, request.fields)
        if action == "new_key" and "key_id" in reply:
            left.keys.append(reply["key_id"])
        if before is not None:
            after = await self._read_settings(merchant.mid)
            for name in names:
                earlier, _ = left.settings.get(name, (getattr(before, name), None))
                left.settings[name] = earlier, getattr(after, name)
        return reply

    async def _read_settings(self, mid: str) -> MerchantSettings:
        return await self._change_settings(mid, lambda settings: settings)

    async def _put_back(self, mid: str, changed: Mapping[str, tuple[Any, Any]]) -> None:
        """Puts settings back that are still as they were set: a change that came meanwhile stays."""

        def change(settings: MerchantSettings) -> MerchantSettings:
            still = {name: earlier for name, (earlier, now) in changed.items() if getattr(settings, name) == now}
            return msgspec.structs.replace(settings, **still)

        if changed:
            await self._change_settings(mid, change)

    async def _change_settings(
        self, mid: str, change: Callable[[MerchantSettings], MerchantSettings]
    ) -> MerchantSettings:
        async with self._operators.acquire() as connection, connection.transaction():
            changed = await merchants.change_settings(connection, self._vault, mid, change, is_endpoint_set=False)
        self._directory.evict(mid)
        return changed

    async def _end_keys(self, mid: str, numbers: list[int]) -> None:
        for number in numbers:
            try:
                async with self._operators.acquire() as connection, connection.transaction():
                    await revoke_key(connection, self._vault, await merchants.lock_merchant(connection, mid), number)
            except (UnknownKey, KeyRefused):  # somebody has ended it, or the merchant's others
                continue
            self._directory.evict(mid)
