"""Reads what a mail system says of a mail that it took before: delivery status notifications (RFC 3464, in a report of
RFC 6522), and the older form of Exim and Gmail that names who was not reached in a header.

Nobody knows who wrote it, so that nothing of it is believed but an action and a code, and of bounded size and depth.
"""

import base64
import quopri
import re
from collections.abc import Iterator
from itertools import islice

import msgspec

FAILED, DELAYED = "failed", "delayed"
# Somebody has it: a mailbox, another mail system, or the members of a list.
REACHED = frozenset({"delivered", "relayed", "expanded"})
STATUS_TYPES = ("message/delivery-status", "message/global-delivery-status")

MAX_BYTES = 1024 * 1024
MAX_DEPTH, MAX_PARTS, MAX_FIELDS, MAX_GROUPS = 3, 20, 1000, 100

EMPTY_LINE = re.compile(rb"\r?\n[ \t]*\r?\n")
FOLD = re.compile(rb"\r?\n(?=[ \t])")
BOUNDARY = re.compile(r"""boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))""", re.IGNORECASE)
# The enhanced status code (RFC 3463), and the code of the reply that a mail server gave for it.
ENHANCED = re.compile(r"(?<![0-9.])[245]\.[0-9]{1,3}\.[0-9]{1,3}(?![0-9.])", re.ASCII)
REPLY = re.compile(r"smtp\s*;\s*(?:[^0-9]{0,40})([45][0-9]{2})(?![0-9])", re.IGNORECASE | re.ASCII)

Fields = dict[str, str]


class DeliveryReport(msgspec.Struct, frozen=True):
    """The outcome of a delivery, by the word of a mail system."""

    action: str  # FAILED or DELAYED
    code: str  # such as `550 5.1.1` or `5.1.1`; empty if there is none


def read_report(content: bytes) -> DeliveryReport | None:
    """Returns what a mail reports of a delivery, or None: an answer of a person or a machine, a receipt of a reader, a
    complaint, or the report of a delivery that has succeeded."""
    fields, body = split_fields(content[:MAX_BYTES])
    groups = [group for part in find_status_parts(fields, body, MAX_DEPTH) for group in read_groups(part)]
    if groups:
        return combine(groups)
    return DeliveryReport(FAILED, "") if fields.get("x-failed-recipients") else None


def combine(groups: list[Fields]) -> DeliveryReport | None:
    """Returns what the reports of all recipients say together. A mail is to one person, whose address may lead on to
    several: it has failed if it reached none of them."""
    actions = [read_action(group) for group in groups]
    if REACHED & set(actions):
        return None
    for action in (FAILED, DELAYED):
        if action in actions:
            return DeliveryReport(action, read_code(groups[actions.index(action)]))
    return None


def read_action(group: Fields) -> str:
    words = group.get("action", "").lower().split()
    if words:
        return words[0]
    return FAILED if group.get("status", "").strip().startswith("5.") else ""


def read_code(group: Fields) -> str:
    """Returns the code of a reply with its enhanced status code, and nothing else of what a mail server wrote."""
    diagnostic = group.get("diagnostic-code", "")[:1000]
    status, reply, explained = (
        ENHANCED.search(group.get("status", "")),
        REPLY.search(diagnostic),
        ENHANCED.search(diagnostic),
    )
    enhanced = "" if status is None else status[0]
    if explained is not None and enhanced[1:] in ("", ".0.0"):
        enhanced = explained[0]
    return " ".join(part for part in ("" if reply is None else reply[1], enhanced) if part)


def find_status_parts(fields: Fields, body: bytes, depth: int) -> Iterator[bytes]:
    """Yields the bodies of the parts that report a delivery. What is returned with them is not looked into."""
    kind = fields.get("content-type", "").strip()
    if kind.lower().startswith(STATUS_TYPES):
        yield decode_body(fields, body)
    boundary = BOUNDARY.search(kind) if kind.lower().startswith("multipart/") and depth else None
    if boundary is not None:
        for part in split_parts(body, boundary[1] or boundary[2]):
            yield from find_status_parts(*split_fields(part), depth - 1)


def split_parts(body: bytes, boundary: str) -> list[bytes]:
    line = re.compile(
        rb"(?:\A|\n)--" + re.escape(boundary.encode("latin-1", "replace")) + rb"(?:--)?[ \t]*\r?(?=\n|\Z)"
    )
    return [part.removeprefix(b"\n") for part in line.split(body, MAX_PARTS)[1:]]


def split_fields(content: bytes) -> tuple[Fields, bytes]:
    """Splits what has a head into its fields, by their name in lower case, and its body. The first field of a name
    counts."""
    if content.startswith((b"\n", b"\r\n")):
        return {}, content
    end = EMPTY_LINE.search(content)
    head, body = (content, b"") if end is None else (content[: end.start()], content[end.end() :])
    return read_fields(head), body


def read_fields(head: bytes) -> Fields:
    fields: Fields = {}
    for line in islice(FOLD.sub(b"", head).split(b"\n"), MAX_FIELDS):
        name, colon, value = line.decode("latin-1").partition(":")
        if colon:
            fields.setdefault(name.strip().lower(), value.strip())
    return fields


def read_groups(status: bytes) -> list[Fields]:
    """Returns the fields of each recipient. Those before them are about the mail as a whole."""
    groups = (read_fields(group) for group in islice(EMPTY_LINE.split(status.strip()), MAX_GROUPS))
    return [group for group in groups if "action" in group or "status" in group]


def decode_body(fields: Fields, body: bytes) -> bytes:
    encoding = fields.get("content-transfer-encoding", "").strip().lower()
    if encoding == "quoted-printable":
        return quopri.decodestring(body)
    if encoding == "base64":
        try:
            return base64.b64decode(body)
        except ValueError:
            return b""
    return body
