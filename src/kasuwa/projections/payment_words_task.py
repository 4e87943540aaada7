"""The task of the worker that makes payments findable by the names of their payers."""

from kasuwa.postgres import connections
from kasuwa.postgres.polling import Polling
from kasuwa.projections import payment_words
from kasuwa.projections.payment_words import HashWords

POLL_SECONDS = 5.0
STATEMENT_SECONDS = 60.0
SETTINGS = {**connections.KEYED_SETTINGS, "application_name": "kasuwa payment words"}


class PaymentWords(Polling):
    """Adds the words of payments that ended. One process adds at a time, in whichever worker."""

    def __init__(self, dsn: str, hash_words: HashWords) -> None:
        super().__init__()
        self._dsn = dsn
        self._hash_words = hash_words

    async def run(self) -> None:
        """Adds words every few seconds, until it is stopped."""
        await self.repeat(self.index_all, POLL_SECONDS, "adding the words of payments failed")

    async def index_all(self) -> None:
        """Adds until no payment is left, or another process adds."""
        connection = await connections.connect(self._dsn, SETTINGS, statement_seconds=STATEMENT_SECONDS)
        try:
            while not self._stopping.is_set() and await payment_words.index_next(connection, self._hash_words):
                pass
        finally:
            connection.terminate()
