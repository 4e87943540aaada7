"""Account numbers that customers pay into: one for each bank-transfer payment, one for each personalized account.

They are numbers of the operator's collecting bank, with its check digit, and are found again through the directory.
"""

from kasuwa.core.banks import Bank, nuban_check_digit
from kasuwa.core.decision import Context, More, Needs, Seen
from kasuwa.core.directory import Entry, directory_key

# The directory's word for them, and what the reference there begins with.
ACCOUNT = "account"
PAYMENT = "payment"
PERSONALIZED = "personalized"

SERIALS = 10**9
# Of a billion numbers the next is free; three taken in a row are beyond any operator's size.
CANDIDATES = 3


def free_number(bank: Bank, context: Context, seen: Seen) -> str | More:
    """A number of the bank that nobody was given: the directory knows all that were."""
    assert bank.cbn_code is not None, "only a bank with a code of its own makes account numbers"
    keys = []
    for place in range(CANDIDATES):
        serial = int.from_bytes(context.entropy[place * 8 : place * 8 + 8], "big") % SERIALS
        digits = f"{serial:09d}"
        number = f"{digits}{nuban_check_digit(bank.cbn_code, digits)}"
        key = directory_key(context.vault, ACCOUNT, number)
        keys.append(key)
        if seen.has(key) and seen.get(Entry, key) is None:
            return number
    return More(Needs(tuple((Entry, key) for key in keys)))
