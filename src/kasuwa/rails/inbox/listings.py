"""Lists daily what rails may never have announced: payments into accounts, disputes and settlements.

A receipt that is listed and not known goes to the inbox of rails, which fetches and books it. One process at a time
lists an account or a rail: it holds a lease.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import msgspec
import structlog

from kasuwa.core.references import rail_key
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.polling import Polling
from kasuwa.rails.inbox import inbox_table, rail_accounts, rail_feeds
from kasuwa.rails.inbox.feed_recording import DisputeBooks, FeedRecorder
from kasuwa.rails.inbox.rail_accounts import ListedAccount
from kasuwa.rails.ports.accounts import AccountOrder, AccountRail
from kasuwa.rails.ports.feeds import FeedRail
from kasuwa.rails.ports.orders import NoAnswer, Unavailable

log = structlog.get_logger("kasuwa.rails")

# How often it is checked whether something is due to be listed.
POLL_SECONDS = 5.0
MAX_CLAIMED = 20
# Each list begins this long before the last one: rails report some payments late.
OVERLAP = timedelta(days=2)
# How far back the first list of disputes and settlements goes.
FIRST_FEED = timedelta(days=30)
RETRY_DELAY = timedelta(minutes=15)

FACTS_DECODER: "msgspec.json.Decoder[dict[str, str]]" = msgspec.json.Decoder(dict[str, str])


class RailListings(Polling):
    def __init__(
        self,
        pool: Pool,
        accounts: Mapping[str, AccountRail],
        feeds: Mapping[str, FeedRail],
        books: DisputeBooks,
    ) -> None:
        super().__init__()
        self._pool = pool
        self._accounts = accounts
        self._feeds = feeds
        self._recorder = FeedRecorder(pool, books)

    async def run(self) -> None:
        if self._accounts or self._feeds:
            await self.repeat(self.run_once, POLL_SECONDS, "listing at rails failed")

    async def run_once(self) -> None:
        """Lists all accounts and rails that are due."""
        for name, feed in self._feeds.items():
            await self._list_feed(name, feed)
        while not self._stopping.is_set():
            accounts = await rail_accounts.claim_listings(self._pool, list(self._accounts), MAX_CLAIMED)
            for account in accounts:
                await self._list_account(account)
            if len(accounts) < MAX_CLAIMED:
                return

    async def _list_account(self, account: ListedAccount) -> None:
        """Lists the payments into an account. If the rail does not answer, its lease expires and it is tried again."""
        order = AccountOrder(
            key=rail_key(account.merchant_id, account.rail_reference),
            name="",
            email="",
            account=account.rail_account,
            facts=FACTS_DECODER.decode(account.facts),
        )
        since = (account.listed_at or account.created_at).astimezone(UTC) - OVERLAP
        try:
            references = await self._accounts[account.rail].list_receipts(order, since)
        except (Unavailable, NoAnswer):
            log.warning("the payments into an account were not listed", rail=account.rail)
            return
        missed = await inbox_table.add_listed(self._pool, account.rail, references)
        if missed:
            log.warning("payments into an account were never announced", rail=account.rail, references=missed[:10])
        await rail_accounts.record_listing(self._pool, account)

    async def _list_feed(self, name: str, feed: FeedRail) -> None:
        due = await rail_feeds.claim_feed(self._pool, name)
        if due is None:
            return
        listed_at, began_at = due
        since = first_day(listed_at, began_at)
        try:
            for dispute in await feed.list_disputes(since):
                await self._recorder.record_dispute(name, dispute)
            for settlement in await feed.list_settlements(since):
                await self._recorder.record_settlement(name, settlement)
        except (Unavailable, NoAnswer):
            log.warning("disputes and settlements were not listed", rail=name)
            await rail_feeds.release_feed(self._pool, name, RETRY_DELAY)
            return
        await rail_feeds.record_feed(self._pool, name, began_at)


def first_day(listed_at: datetime | None, now: datetime) -> datetime:
    """Returns the time from which disputes and settlements are listed.

    Disputes change for weeks, so that the list always reaches back as far as the first one did."""
    return min(listed_at or now, now).astimezone(UTC) - FIRST_FEED
