"""The form of mails: the same words as plain text and as HTML. No I/O, no pictures, nothing that is loaded."""

from datetime import date
from html import escape

import msgspec

from kasuwa.core.mail import make_one_line

MAX_SUBJECT_LENGTH = 200


class MailText(msgspec.Struct, frozen=True):
    """The words of a mail."""

    subject: str
    greeting: str
    paragraphs: tuple[str, ...]
    facts: tuple[tuple[str, str], ...] = ()  # label and value
    links: tuple[tuple[str, str], ...] = ()  # label and address; the first is the button

    def __post_init__(self) -> None:
        # A header has one line.
        subject = make_one_line(self.subject)[:MAX_SUBJECT_LENGTH]
        msgspec.structs.force_setattr(self, "subject", subject)


def format_day(day: date) -> str:
    """Returns a date as people write it, such as 5 March 2026."""
    return f"{day.day} {day:%B %Y}"


def make_footer(merchant_name: str) -> str:
    return f"{merchant_name} sent you this mail through Kasuwa. If it is not for you, ignore it."


def render_text(mail: MailText, footer: str) -> str:
    parts = [mail.greeting, *mail.paragraphs]
    if mail.facts:
        parts.append("\n".join(f"{label}: {value}" for label, value in mail.facts))
    parts += [f"{label}:\n{url}" for label, url in mail.links]
    return "\n\n".join([*parts, f"-- \n{footer}"]) + "\n"


PARAGRAPH = '<p style="margin:0 0 16px">{}</p>'
BUTTON = (
    '<p style="margin:24px 0"><a href="{}" style="background:#1a5c4a;color:#fff;padding:12px 20px;'
    'border-radius:6px;text-decoration:none">{}</a></p>'
)
LINK = '<p style="margin:0 0 16px"><a href="{}">{}</a></p>'
ROW = '<tr><td style="padding:4px 16px 4px 0;color:#555">{}</td><td style="padding:4px 0">{}</td></tr>'
PAGE = """<!doctype html>
<html lang="en"><body style="font:16px/1.5 sans-serif;color:#111;max-width:600px;margin:0 auto;padding:24px">
{}
<hr style="border:0;border-top:1px solid #ccc;margin:24px 0"><p style="color:#555;font-size:13px">{}</p>
</body></html>
"""


def render_html(mail: MailText, footer: str) -> str:
    parts = [PARAGRAPH.format(escape(text)) for text in (mail.greeting, *mail.paragraphs)]
    if mail.facts:
        rows = "".join(ROW.format(escape(label), escape(value)) for label, value in mail.facts)
        parts.append(f"<table>{rows}</table>")
    parts += [
        (LINK if place else BUTTON).format(escape(url), escape(label)) for place, (label, url) in enumerate(mail.links)
    ]
    return PAGE.format("\n".join(parts), escape(footer))
