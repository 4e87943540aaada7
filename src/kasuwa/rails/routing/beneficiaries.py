"""The name on the account that a transfer goes to.

Each bank rail looks it up before it sends an order. It is kept with the order, also if the order is refused or gets no
answer. A rail that the order is given to later compares it: a bank that one vendor maps wrongly would send the money to
the wrong account.
"""

import contextlib
from collections.abc import Iterator

import msgspec

from kasuwa.rails.ports.orders import BENEFICIARY_NAME, FAILED, Answer, NoAnswer, Unavailable

# The answer to a transfer whose account belongs to somebody else by this rail than by the one before. One of them maps
# the bank wrongly. Nothing was sent.
OTHER_BENEFICIARY = Answer(
    FAILED,
    "07",
    "The account belongs to another name than was found before",
    notice="two vendors know an account by different names: compare how they map its bank before it is paid",
    is_unsent=True,
)


def are_names_of_one(first: str, second: str) -> bool:
    """Tells whether two vendors' names of an account can be one person's: they may differ in order, case and middle
    names."""
    one, other = (
        {word for word in "".join(c if c.isalnum() else " " for c in name.casefold()).split() if len(word) > 1}
        for name in (first, second)
    )
    return bool(one and other) and (one <= other or other <= one or len(one & other) > 1)


def add_name(answer: Answer, name: str) -> Answer:
    """Returns the answer to a transfer with the name on its account."""
    return msgspec.structs.replace(answer, facts={**answer.facts, BENEFICIARY_NAME: name})


@contextlib.contextmanager
def with_name(name: str) -> Iterator[None]:
    """Marks the sending of a transfer: the name that was looked up before is kept also if no answer comes."""
    try:
        yield
    except (Unavailable, NoAnswer) as error:
        error.facts = {BENEFICIARY_NAME: name}
        raise
