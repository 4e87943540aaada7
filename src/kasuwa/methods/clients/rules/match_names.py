"""Whether a person is who the register of Bank Verification Numbers says, as a bank's officer would judge it.
Contract: clients#create

Case, accents, hyphens and apostrophes do not count, nor whether a double name is written apart or together. Two names
must be found: the register's surname, and one of its given names (the middle name may be the one a person goes by),
as the claim's last and first name or in each other's place. Of a double name a part will do, if it is a name: an
initial or a particle (Al, De, Van) alone is none.

What is then left over is compared wherever it was written, as second first name, middle name or second surname. Left
over on both sides it must be the same, or the initial of it: Ada Grace Obi is not Ada Mary Obi. What the register
alone has was merely not said. Of what the claim alone has, one word is a middle name or a married name that the
register was not told; more than one is somebody else. A particle is compared with particles only. A birth date, where
one was said, is equal.
"""

import re
import unicodedata
from collections import Counter

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

# Parts of surnames that are shared by families without number.
PARTICLES = frozenset(
    {
        *("abd", "abdul", "abdur", "abu", "al", "bin", "bint", "da", "dan", "das", "de", "del", "della", "den", "der"),
        *("di", "do", "dos", "du", "el", "ibn", "la", "le", "les", "mac", "mc", "san", "st", "van", "von"),
    }
)
# How many words of a claim the register may know nothing of.
MAX_UNKNOWN_WORDS = 1

FIELDS = ("firstname", "middlename", "lastname")

Words = tuple[str, ...]
Names = dict[str, Words]


class ClaimedIdentity(msgspec.Struct, frozen=True):
    """Who a merchant says its client is."""

    firstname: str
    lastname: str
    middlename: str = ""
    dob: str = ""


def split_name(name: str) -> Words:
    """A name as its bare words, in order: Ọlá-Ada D’Souza is ola, ada, dsouza."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    bare = "".join(sign for sign in apart if not unicodedata.combining(sign)).translate(PLAIN_LETTERS)
    return tuple(WORDS.findall(APOSTROPHES.sub("", bare)))


def find_differing_fields(claimed: ClaimedIdentity, person: Person) -> tuple[str, ...]:
    """The fields in which a claim and the register differ; none where a bank would accept it."""
    names = [field for field in differing_names(claimed, person) if field not in person.always_matching]
    born = claimed.dob and person.dob and claimed.dob != person.dob and "dob" not in person.always_matching
    return (*names, "dob") if born else tuple(names)


def differing_names(claimed: ClaimedIdentity, person: Person) -> tuple[str, ...]:
    apart, kept_apart = names_of(claimed), names_of(person)
    said = {field: join_known_words(name, kept_apart) for field, name in apart.items()}
    kept = {field: join_known_words(name, apart) for field, name in kept_apart.items()}
    return find_unmatched_names(said, kept) or find_conflicting_fields(said, kept)


def names_of(person: ClaimedIdentity | Person) -> Names:
    return {field: split_name(getattr(person, field)) for field in FIELDS}


def join_known_words(name: Words, others: Names) -> Words:
    """A name with those of its words as one that are one on the other side."""
    known = {word for words in others.values() for word in (*words, "".join(words))}
    for length in range(len(name), 1, -1):
        for start in range(len(name) - length + 1):
            joined = "".join(name[start : start + length])
            if joined in known:
                return (*name[:start], joined, *join_known_words(name[start + length :], others))
    return name


def is_name_match(said: Words, kept: Words) -> bool:
    """The same name, or one that shares a part that is a name by itself."""
    if set(said) == set(kept):
        return bool(said)
    return any(len(word) > 1 and word not in PARTICLES for word in set(said) & set(kept))


def find_unmatched_names(said: Names, kept: Names) -> tuple[str, ...]:
    """Which of first and last name the register does not have, in either order."""
    first, last, surname = said["firstname"], said["lastname"], kept["lastname"]
    given = (kept["firstname"], kept["middlename"])
    for one, other in ((first, last), (last, first)):
        if is_name_match(other, surname) and any(is_name_match(one, name) for name in given):
            return ()
    everything = (*given, surname)
    names = {"firstname": first, "lastname": last}
    strangers = [field for field, name in names.items() if not any(is_name_match(name, known) for known in everything)]
    straight = [field for field, name in names.items() if not is_name_match(name, kept[field])]
    return tuple(strangers or straight) or ("firstname", "lastname")


def find_conflicting_fields(said: Names, kept: Names) -> tuple[str, ...]:
    """The fields with words that the register does not have, where those are too many or it has others instead."""
    ours, theirs = unmatched_words(said, kept), unmatched_words(kept, said)
    wrong: set[str] = set()
    for of_particles in (False, True):
        unknown = [word for word in ours if (word in PARTICLES) is of_particles]
        instead = [word for word in theirs if (word in PARTICLES) is of_particles]
        if unknown and (instead or (len(unknown) > MAX_UNKNOWN_WORDS and not of_particles)):
            wrong.update(unknown)
    return tuple(field for field in ("firstname", "lastname", "middlename") if wrong & set(said[field]))


def unmatched_words(one: Names, other: Names) -> list[str]:
    """The words of one side that the other has nowhere, neither whole nor by an initial."""
    mine = Counter(word for words in one.values() for word in words)
    others = Counter(word for words in other.values() for word in words)
    mine, others = mine - others, others - mine
    rest = []
    for word in mine.elements():
        stands_for = next((seen for seen in +others if is_initial(seen, word) or is_initial(word, seen)), None)
        if stands_for is None:
            rest.append(word)
        else:
            others[stands_for] -= 1
    return rest


def is_initial(letter: str, word: str) -> bool:
    return len(letter) == 1 and word.startswith(letter) and word not in PARTICLES
