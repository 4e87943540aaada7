"""Delivers sign-in links: by mail, or left to the administrator's command. In test they may be printed as well.

The person who requests a link for somebody else never sees it: whoever has the link can sign in as that user. The mail
is queued in the transaction that makes the link (people/mails.py), so that no link is lost between the two.
"""

import sys

from kasuwa.core.vault import Vault
from kasuwa.people import mails
from kasuwa.postgres.connection_pool import Connection


class LinkSender:
    """Delivers links by the configured method: `mail`, `command`, or in test `print`, which mails them too."""

    def __init__(self, method: str, vault: Vault, console_url: str) -> None:
        self._method = method
        self._vault = vault
        self._console_url = console_url

    async def queue(self, connection: Connection, token: str) -> None:
        """Queues the mail with a link. Call it in the transaction that makes the link."""
        if self._method != "command":
            await mails.queue_link(connection, self._vault, token, self._console_url)

    def announce(self, email: str, token: str) -> str:
        """Returns what the requesting page says about a link, after the commit. The text never has the link."""
        if self._method == "print":
            sys.stdout.write(f"link for {email}: {self._console_url}/link/{token}\n")
            sys.stdout.flush()
            return f"The link for {email} is printed where the server was started, and is in the outbox."
        if self._method == "command":
            return f"The system administrator hands the link over: kasuwa user link {email}"
        return f"A link is on its way to {email}."
