"""Works on the inbox of rails: fetches what was announced from the rail, and records what the rail answers.

Nothing is booked from an announcement. Money is booked in the books of the merchant whose account received it, once by
the rail's own reference, no matter which process handles it, or how often. Unidentified money goes to the suspense
account of the operator's own merchant, if one is set; else it stays in the inbox, is shown as unclaimed and is looked
at again daily.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial

import msgspec
import structlog

from kasuwa.concurrency.deadlines import Deadlines
from kasuwa.core.decision import Context, LoadedRows, Merchant, Needs, Outcome
from kasuwa.core.money import CURRENCIES, format_minor
from kasuwa.core.references import read_rail_key
from kasuwa.core.vault import Vault
from kasuwa.engine import token_index
from kasuwa.engine.decision_inputs import DecisionInput
from kasuwa.engine.rule_submission import submit_rule
from kasuwa.engine.writer import Writer
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.polling import Polling, log_failure
from kasuwa.rails.inbox import inbox_table, rail_accounts
from kasuwa.rails.inbox.feed_recording import DisputeBooks, DisputeRules, FeedRecorder
from kasuwa.rails.inbox.inbox_table import UNCLAIMED, InboxEntry
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import AccountRail, Receipt
from kasuwa.rails.ports.feeds import FeedRail
from kasuwa.rails.ports.orders import NoAnswer, Unavailable
from kasuwa.transactions.inbound_accounts import ACCOUNT, PERSONALIZED, ArrivedReceipt, InboundReceipt

log = structlog.get_logger("kasuwa.rails")

POLL_SECONDS = 1.0
MAX_CLAIMED = 16
CLEANUP_SECONDS = 3600.0
# How long the work on an entry may take: until just before its lease expires. Then it is due again. Its parts have
# deadlines of their own that add up to less.
ENTRY_SECONDS = inbox_table.LEASE.total_seconds() - 5.0
# Waits before the next attempt: rails need a moment until they know what they announced.
DELAYS = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 1800, 3600))
# Attempts after which a receipt that the rail does not know is given up, and an unidentified one is unclaimed.
LAST_ATTEMPT = 6
UNCLAIMED_ATTEMPT = 3
UNCLAIMED_DELAY = timedelta(days=1)


class ReceiptRules(msgspec.Struct, frozen=True):
    """The rule that books a receipt."""

    needs: Callable[[ArrivedReceipt, Merchant], Needs]
    decide: Callable[[ArrivedReceipt, Context, LoadedRows], Outcome]


class InboxServices(msgspec.Struct, frozen=True):
    """The services that the inbox uses."""

    pool: Pool
    writer: Writer
    directory: MerchantDirectory
    vault: Vault
    accounts: Mapping[str, AccountRail]
    feeds: Mapping[str, FeedRail]
    receipt_rules: ReceiptRules
    dispute_rules: DisputeRules
    suspense_mid: str | None = None  # the operator's own merchant, whose books take unidentified money


def dispute_books(services: InboxServices) -> DisputeBooks:
    return DisputeBooks(services.writer, services.directory, services.dispute_rules)


class RailInbox(Polling):
    def __init__(self, services: InboxServices) -> None:
        super().__init__()
        self._services = services
        self._deadlines = Deadlines()
        self._recorder = FeedRecorder(services.pool, dispute_books(services))
        self._rails = sorted({*services.accounts, *services.feeds})

    async def run(self) -> None:
        if self._rails:
            delete_old = partial(inbox_table.delete_old, self._services.pool)
            await asyncio.gather(
                self.repeat(partial(self.drain, self.run_once), POLL_SECONDS, "the inbox of rails failed"),
                self.repeat(delete_old, CLEANUP_SECONDS, "cleaning the inbox of rails failed"),
            )

    async def run_once(self) -> int:
        """Works on the entries that are due, concurrently, and returns their number."""
        entries = await inbox_table.claim(self._services.pool, self._rails, MAX_CLAIMED)
        await asyncio.gather(*(self._run_entry(entry) for entry in entries))
        return len(entries)

    async def _run_entry(self, entry: InboxEntry) -> None:
        where = {"rail": entry.rail, "kind": entry.kind, "reference": entry.reference}
        deadline = self._deadlines.within(ENTRY_SECONDS)
        try:
            with deadline:
                await self._record(entry)
        except (Unavailable, NoAnswer) as trouble:
            notice = trouble.notice if isinstance(trouble, Unavailable) else ""
            if notice:
                await inbox_table.add_notice(self._services.pool, entry.rail, notice)
            await self._postpone(entry, "the rail did not answer")
        except Exception as error:
            # The entry is due again when its lease has expired.
            if deadline.has_expired:
                log.warning("an entry of the inbox of rails was given up at its deadline", **where)
            else:
                log_failure("an entry of the inbox of rails failed", error, **where)

    async def _record(self, entry: InboxEntry) -> None:
        pool, account_rail = self._services.pool, self._services.accounts.get(entry.rail)
        feed = self._services.feeds.get(entry.rail)
        if entry.kind == "receipt" and account_rail is not None:
            await self._record_receipt(entry, await account_rail.find_receipt(entry.reference))
            return
        is_recorded = False
        if entry.kind == "dispute" and feed is not None:
            dispute = await feed.find_dispute(entry.reference)
            is_recorded = dispute is not None
            if dispute is not None:
                await self._recorder.record_dispute(entry.rail, dispute)
        elif entry.kind == "settlement" and feed is not None:
            settlement = await feed.find_settlement(entry.reference)
            is_recorded = settlement is not None
            if settlement is not None:
                await self._recorder.record_settlement(entry.rail, settlement)
        if is_recorded:
            await inbox_table.finish(pool, entry, "recorded")
        else:
            await self._give_up_or_postpone(entry)

    # --- receipts ------------------------------------------------------------------------------------------------

    async def _record_receipt(self, entry: InboxEntry, receipt: Receipt | None) -> None:
        pool = self._services.pool
        if receipt is None:
            await self._give_up_or_postpone(entry)
        elif receipt.status == orders.FAILED:
            await inbox_table.finish(pool, entry, "failed at the rail", without_sender(receipt))
        elif receipt.status == orders.UNREADABLE or receipt.currency not in CURRENCIES:
            message = f"{entry.rail} reports a payment into an account that cannot be read: look at it there"
            await inbox_table.add_notice(pool, entry.reference, message)
            await self._postpone(entry, "unreadable")
        elif receipt.status != orders.SUCCESSFUL:
            await self._postpone(entry, "in progress at the rail")
        else:
            await self._book(entry, receipt)

    async def _book(self, entry: InboxEntry, receipt: Receipt) -> None:
        pool = self._services.pool
        merchant_id, account_reference = await self._find_owner(receipt)
        if merchant_id is None and entry.attempts < UNCLAIMED_ATTEMPT:
            # The answer that tells the account's number may be on its way.
            await self._postpone(entry, "the account is not known")
            return
        if merchant_id is None:
            merchant_id = await self._find_suspense_merchant()
        if merchant_id is None:
            amount = f"{receipt.currency} {format_minor(receipt.amount)}"
            number = receipt.account_number or "unknown"
            message = f"{amount} came into account {number} at {entry.rail}, which is nobody's: see `kasuwa reconcile`"
            await inbox_table.add_notice(pool, entry.reference, message)
            await inbox_table.postpone(pool, entry, UNCLAIMED_DELAY, UNCLAIMED, without_sender(receipt))
            return
        arrived = ArrivedReceipt(
            rail=entry.rail,
            rail_reference=entry.reference,
            account_number=receipt.account_number,
            account_reference=account_reference,
            amount=receipt.amount,
            currency=receipt.currency,
            sender_name=receipt.sender_name,
            rail_account=receipt.rail_account,
        )
        merchant, rules = await self._services.directory.get_by_id(merchant_id), self._services.receipt_rules
        decide = partial(rules.decide, arrived)
        sent = DecisionInput("receipt", entry.rail, arrived, account_reference)
        booked = await submit_rule(self._services.writer, merchant, rules.needs(arrived, merchant), decide, sent)
        row = booked.reply
        assert isinstance(row, InboundReceipt)
        await inbox_table.finish(pool, entry, "booked" if row.txn_ref else "in suspense", {"txn_ref": row.txn_ref})

    async def _find_owner(self, receipt: Receipt) -> tuple[int | None, str]:
        """Returns the merchant of an account, and the merchant's reference of it if it is a personalized account."""
        services = self._services
        if receipt.account_number:
            owner = await token_index.find_owner(services.pool, services.vault, ACCOUNT, receipt.account_number)
            if owner is not None:
                target, _, reference = owner[1].partition(" ")
                return owner[0], reference if target == PERSONALIZED else ""
        merchant, rail_reference = read_rail_key(receipt.account_key)
        if merchant:
            owned = await rail_accounts.find_reference(services.pool, merchant, rail_reference)
            if owned is not None:
                return merchant, owned
        return None, ""

    async def _find_suspense_merchant(self) -> int | None:
        mid = self._services.suspense_mid
        if mid is None:
            return None
        cached = await self._services.directory.load(mid)
        return None if cached.merchant is None else cached.merchant.merchant_id

    # --- later ---------------------------------------------------------------------------------------------------

    async def _give_up_or_postpone(self, entry: InboxEntry) -> None:
        if entry.attempts >= LAST_ATTEMPT:
            await inbox_table.finish(self._services.pool, entry, "unknown at the rail")
        else:
            await self._postpone(entry, "not found at the rail")

    async def _postpone(self, entry: InboxEntry, outcome: str) -> None:
        delay = DELAYS[min(entry.attempts, len(DELAYS)) - 1]
        await inbox_table.postpone(self._services.pool, entry, delay, outcome)


def without_sender(receipt: Receipt) -> Receipt:
    """Returns a receipt as the inbox stores it. The name of the sender is fetched again when the receipt is booked."""
    return msgspec.structs.replace(receipt, sender_name="")
