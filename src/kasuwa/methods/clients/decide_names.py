"""Whether a person is who the register of Bank Verification Numbers says, as a bank would judge it. (D31)

Case, accents, hyphens and apostrophes do not count. First and last name may stand in each other's place. A second
first name or a double surname may be there on one side alone, written apart or together. A middle name may be
missing, be an initial, or be the name a person goes by; but where both sides have one left over, it is the same.
The surname of the register is always one of the names that were found; a birth date, where one was said, is equal.
"""

import re
import unicodedata
from itertools import permutations

import msgspec

from kasuwa.rails.ports import Person

# Letters that Unicode does not take apart: Hausa's hooked ones, and those that banks' forms write plain.
PLAIN_LETTERS = str.maketrans(
    {"ɓ": "b", "ɗ": "d", "ƙ": "k", "ƴ": "y", "ŋ": "n", "ɛ": "e", "ɔ": "o"}
    | {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"}
)
# Marks inside a word: O'Neil is ONeil.
APOSTROPHES = re.compile(r"['’‘ʼʻ`´]")
WORDS = re.compile(r"[^\W_]+")

Words = tuple[str, ...]


class Claimed(msgspec.Struct, frozen=True):
    """Who a merchant says its client is."""

    firstname: str
    lastname: str
    middlename: str = ""
    dob: str = ""


def words_of(name: str) -> Words:
    """A name as its bare words, in order: Ọlá-Ada D’Souza is ola, ada, dsouza."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    bare = "".join(sign for sign in apart if not unicodedata.combining(sign)).translate(PLAIN_LETTERS)
    return tuple(WORDS.findall(APOSTROPHES.sub("", bare)))


def same_name(one: Words, other: Words) -> bool:
    """Equal words in any order, or written together; or a double name of which the other side has a part, which is
    more than an initial."""
    if not one or not other:
        return False
    part = min(set(one), set(other), key=len)
    is_part = part <= set(one) & set(other) and max(map(len, part)) > 1
    return is_part or "".join(one) == "".join(other)


def same_middle_name(one: Words, other: Words) -> bool:
    """As any name; an initial will do."""
    first, second = one[0], other[0]
    return same_name(one, other) or (min(len(first), len(second)) == 1 and first[0] == second[0])


def what_differs(claimed: Claimed, person: Person) -> tuple[str, ...]:
    """The fields in which a claim and the register differ; none where a bank would accept it."""
    names = [field for field in differing_names(claimed, person) if field not in person.agrees]
    born = claimed.dob and person.dob and claimed.dob != person.dob and "dob" not in person.agrees
    return (*names, "dob") if born else tuple(names)


def differing_names(claimed: Claimed, person: Person) -> tuple[str, ...]:
    first, last, middle = words_of(claimed.firstname), words_of(claimed.lastname), words_of(claimed.middlename)
    kept = [words_of(person.firstname), words_of(person.lastname), words_of(person.middlename)]
    surname = 1
    near = None
    for first_at, last_at in permutations(range(3), 2):
        found = same_name(first, kept[first_at]) and same_name(last, kept[last_at])
        if not found or surname not in (first_at, last_at):
            continue
        left_over = kept[3 - first_at - last_at]
        if not middle or not left_over or same_middle_name(middle, left_over):
            return ()
        near = ("middlename",)
    if near is not None:
        return near
    strangers = [field for field, said in (("firstname", first), ("lastname", last)) if not known(said, kept)]
    if strangers:
        return tuple(strangers)
    straight = [("firstname", same_name(first, kept[0])), ("lastname", same_name(last, kept[surname]))]
    return tuple(field for field, equal in straight if not equal) or ("firstname", "lastname")


def known(said: Words, kept: list[Words]) -> bool:
    return any(same_name(said, name) for name in kept)
