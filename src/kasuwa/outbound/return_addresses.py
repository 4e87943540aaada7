"""The addresses that bounces go to: one of each try to send a mail (VERP), so that a bounce says which mail it is of.

`bounces@example.com` becomes `bounces+TOKEN@example.com`. The token names the try and has a keyed code: only who got
the mail, or had it on its way, can write a bounce of it. It is also in a header, for mail servers that write another
sender.
"""

import base64
import re
from collections.abc import Iterator
from itertools import islice

from kasuwa.core.mail import MailTry
from kasuwa.core.vault import Vault

CODE_BYTES, ID_BYTES = 10, 16
MERCHANT_MAIL, PERSON_MAIL = "ML", "PM"  # what the ids of mails begin with
HEADER = "X-Mail-Try"
MAX_MERCHANT_BYTES = 4
# A token behind the plus of an address, or in the header. What else looks so has no valid code.
TOKENS = re.compile(rb"(?:\+|X-Mail-Try:[ \t]*)([A-Za-z2-7]{44,50})(?![A-Za-z0-9])", re.IGNORECASE)
MAX_TOKENS = 100


def may_name_try(content: bytes) -> bool:
    """Returns whether something in a mail looks like a token."""
    return TOKENS.search(content) is not None


class ReturnAddresses:
    """Makes the address of a try, and finds the try that a mail was returned for."""

    def __init__(self, vault: Vault, address: str) -> None:
        self._vault = vault
        self._local, _, self._domain = address.rpartition("@")

    def make_token(self, sent_as: MailTry) -> str:
        merchant = sent_as.merchant_id.to_bytes(MAX_MERCHANT_BYTES, "big").lstrip(b"\0")
        content = bytes([sent_as.number % 256]) + bytes.fromhex(sent_as.mail_id[2:]) + merchant
        return base64.b32encode(self._make_code(content) + content).decode().rstrip("=").lower()

    def make_address(self, token: str) -> str:
        return f"{self._local}+{token}@{self._domain}"

    def read_token(self, token: str) -> MailTry | None:
        """Returns the try that a token names, or None if the token is not ours."""
        try:
            decoded = base64.b32decode(token.upper() + "=" * (-len(token) % 8))
        except ValueError:
            return None
        code, content = decoded[:CODE_BYTES], decoded[CODE_BYTES:]
        if code != self._make_code(content) or len(content) < ID_BYTES + 1:
            return None
        merchant_id = int.from_bytes(content[ID_BYTES + 1 :], "big")
        prefix = MERCHANT_MAIL if merchant_id else PERSON_MAIL
        return MailTry(merchant_id, prefix + content[1 : ID_BYTES + 1].hex(), content[0])

    def find_try(self, content: bytes) -> MailTry | None:
        """Returns the try that the first valid token in a mail names. The address it was sent to comes before what it
        returns."""
        return next(self._find_tries(content), None)

    def _find_tries(self, content: bytes) -> Iterator[MailTry]:
        for match in islice(TOKENS.finditer(content), MAX_TOKENS):
            sent_as = self.read_token(match[1].decode())
            if sent_as is not None:
                yield sent_as

    def _make_code(self, content: bytes) -> bytes:
        return self._vault.digest(b"mail try " + content)[:CODE_BYTES]
