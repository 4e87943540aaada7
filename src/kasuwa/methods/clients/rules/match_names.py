"""Compares a client's names and birth date with the register of Bank Verification Numbers, as a bank officer would.

Case, accents, hyphens, apostrophes and the spaces of a double name are ignored. The claim matches if:

- Its first and last name, in either order, match a given name (first or middle) and the surname of the register. One
  part of a double name is enough, but not an initial or a particle (Al, De, Van) alone.
- The remaining words do not conflict, wherever they were written. If both sides have remaining words, they must be
  equal, or one the initial of the other: Ada Grace Obi is not Ada Mary Obi. Words that only the register has do not
  matter. The claim alone may have one such word (a middle name or a married name), not more. Particles are compared
  only with particles.
- The birth dates are equal, if the claim has one.

Contract: clients#verify-bvn
"""

import re
import unicodedata
from collections import Counter

import msgspec

from kasuwa.rails.ports.orders import Person

# Letters that Unicode does not decompose: the hooked letters of Hausa, and those that bank forms write without marks.
PLAIN_LETTERS = str.maketrans(
    {"ɓ": "b", "ɗ": "d", "ƙ": "k", "ƴ": "y", "ŋ": "n", "ɛ": "e", "ɔ": "o"}
    | {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"}
)
# Removed from within a word: O'Neil becomes ONeil.
APOSTROPHES = re.compile(r"['’‘ʼʻ`´]")
WORDS = re.compile(r"[^\W_]+")

# Parts of surnames that too many families share to identify anybody.
PARTICLES = frozenset(
    {
        "abd",
        "abdul",
        "abdur",
        "abu",
        "al",
        "bin",
        "bint",
        "da",
        "dan",
        "das",
        "de",
        "del",
        "della",
        "den",
        "der",
        "di",
        "do",
        "dos",
        "du",
        "el",
        "ibn",
        "la",
        "le",
        "les",
        "mac",
        "mc",
        "san",
        "st",
        "van",
        "von",
    }
)
# How many words of a claim may be missing in the register.
MAX_UNKNOWN_WORDS = 1

FIELDS = ("firstname", "middlename", "lastname")

Words = tuple[str, ...]
Names = dict[str, Words]


class ClaimedIdentity(msgspec.Struct, frozen=True):
    """The names and birth date of a client as the merchant gave them."""

    firstname: str
    lastname: str
    middlename: str = ""
    dob: str = ""


def split_name(name: str) -> Words:
    """Returns the words of a name in lower case without accents: Ọlá-Ada D’Souza becomes ola, ada, dsouza."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    plain = "".join(sign for sign in decomposed if not unicodedata.combining(sign)).translate(PLAIN_LETTERS)
    return tuple(WORDS.findall(APOSTROPHES.sub("", plain)))


def find_differing_fields(claimed: ClaimedIdentity, person: Person) -> tuple[str, ...]:
    """Returns the fields in which a claim differs from the register; empty if it matches."""
    names = [field for field in differing_names(claimed, person) if field not in person.always_matching]
    born = claimed.dob and person.dob and claimed.dob != person.dob and "dob" not in person.always_matching
    return (*names, "dob") if born else tuple(names)


def differing_names(claimed: ClaimedIdentity, person: Person) -> tuple[str, ...]:
    claimed_words, registered_words = split_names(claimed), split_names(person)
    claim = {field: join_known_words(name, registered_words) for field, name in claimed_words.items()}
    registered = {field: join_known_words(name, claimed_words) for field, name in registered_words.items()}
    return find_unmatched_names(claim, registered) or find_conflicting_fields(claim, registered)


def split_names(person: ClaimedIdentity | Person) -> Names:
    return {field: split_name(getattr(person, field)) for field in FIELDS}


def join_known_words(name: Words, others: Names) -> Words:
    """Joins adjacent words of a name that the other side writes as one word."""
    known = {word for words in others.values() for word in (*words, "".join(words))}
    for length in range(len(name), 1, -1):
        for start in range(len(name) - length + 1):
            joined = "".join(name[start : start + length])
            if joined in known:
                return (*name[:start], joined, *join_known_words(name[start + length :], others))
    return name


def is_name_match(one: Words, other: Words) -> bool:
    """Returns whether two names are the same, or share a word that is neither an initial nor a particle."""
    if set(one) == set(other):
        return bool(one)
    return any(len(word) > 1 and word not in PARTICLES for word in set(one) & set(other))


def find_unmatched_names(claim: Names, registered: Names) -> tuple[str, ...]:
    """Returns which of first and last name do not match the register in either order."""
    first, last, surname = claim["firstname"], claim["lastname"], registered["lastname"]
    first_names = (registered["firstname"], registered["middlename"])
    for one, other in ((first, last), (last, first)):
        if is_name_match(other, surname) and any(is_name_match(one, name) for name in first_names):
            return ()
    everything = (*first_names, surname)
    names = {"firstname": first, "lastname": last}
    unknown = [field for field, name in names.items() if not any(is_name_match(name, known) for known in everything)]
    misplaced = [field for field, name in names.items() if not is_name_match(name, registered[field])]
    return tuple(unknown or misplaced) or ("firstname", "lastname")


def find_conflicting_fields(claim: Names, registered: Names) -> tuple[str, ...]:
    """Returns the fields with unmatched words, if they are too many or the register has others instead."""
    ours, theirs = unmatched_words(claim, registered), unmatched_words(registered, claim)
    wrong: set[str] = set()
    for of_particles in (False, True):
        unknown = [word for word in ours if (word in PARTICLES) is of_particles]
        instead = [word for word in theirs if (word in PARTICLES) is of_particles]
        if unknown and (instead or (len(unknown) > MAX_UNKNOWN_WORDS and not of_particles)):
            wrong.update(unknown)
    return tuple(field for field in ("firstname", "lastname", "middlename") if wrong & set(claim[field]))


def unmatched_words(one: Names, other: Names) -> list[str]:
    """Returns the words of one side that the other side does not have, neither in full nor as an initial."""
    mine = Counter(word for words in one.values() for word in words)
    others = Counter(word for words in other.values() for word in words)
    mine, others = mine - others, others - mine
    rest = []
    for word in mine.elements():
        match = next((other for other in +others if is_initial(other, word) or is_initial(word, other)), None)
        if match is None:
            rest.append(word)
        else:
            others[match] -= 1
    return rest


def is_initial(letter: str, word: str) -> bool:
    return len(letter) == 1 and word.startswith(letter) and word not in PARTICLES
