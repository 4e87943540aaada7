"""One text message (SMS) to one telephone, and what fits into one."""

import re
import unicodedata

import msgspec

from kasuwa.core.mail import make_one_line

# A single message has 160 characters of the GSM 7-bit alphabet. A longer one, or one with another character, is sent
# in parts and charged as several.
MAX_SMS_LENGTH = 160
# The characters that are written: those of ASCII that the alphabet has with a length of one. Without the semicolon and
# the apostrophe, which vendors charge as foreign ones.
SMS_CHARACTERS = re.compile(r'[A-Za-z0-9 @$_!"#%&()*+,\-./:<=>?]*', re.ASCII)
REPLACEMENTS = {"'": "", "\u2018": "", "\u2019": "", "\u2013": "-", "\u2014": "-", "|": "-", ";": ",", "\u20a6": "NGN "}
# What is left of a name that is cut. If less would be left, the link is left out.
SHORTEST_NAME = 6
E164 = re.compile(r"\+[1-9][0-9]{7,14}", re.ASCII)


class Sms(msgspec.Struct, frozen=True, kw_only=True):
    """One text message to one telephone."""

    to: str  # in E.164 form, such as +2348031234567
    text: str

    def __repr__(self) -> str:
        return "Sms(…)"


class SmsText(msgspec.Struct, frozen=True):
    """The whole text of a message."""

    text: str


def is_sms_number(number: str) -> bool:
    """Tells whether a text is a telephone number in E.164 form."""
    return E164.fullmatch(number) is not None


def is_one_sms(text: str) -> bool:
    """Tells whether a text is sent as a single message."""
    return 0 < len(text) <= MAX_SMS_LENGTH and SMS_CHARACTERS.fullmatch(text) is not None


def fold_text(text: str) -> str:
    """Returns a text in the characters of a message: letters without their accents, and ? for what has no place."""
    plain = unicodedata.normalize("NFKD", "".join(REPLACEMENTS.get(letter, letter) for letter in make_one_line(text)))
    letters = (letter for letter in plain if not unicodedata.combining(letter))
    return "".join(letter if SMS_CHARACTERS.fullmatch(letter) else "?" for letter in letters)


def write_sms(name: str, words: str, link: str = "") -> SmsText:
    """Writes a message: the name of who sends it, cut to what fits, the words and a link.

    A link is whole or left out. The words must leave room for a name."""
    folded = fold_text(words)
    for end in (f"{folded} {link}", folded) if link else (folded,):
        room = MAX_SMS_LENGTH - len(end) - len(": ")
        if room >= SHORTEST_NAME and SMS_CHARACTERS.fullmatch(end):
            return SmsText(f"{fold_text(name)[:room].strip()}: {end}")
    return SmsText(folded[:MAX_SMS_LENGTH])
