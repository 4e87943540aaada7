"""Texts of the API's documentation as HTML."""

from markupsafe import Markup


def inline_code(text: str) -> Markup:
    """Returns a text as HTML, with what is in backticks as code."""
    parts = text.split("`")
    return Markup("").join(Markup("<code>{}</code>").format(part) if n % 2 else part for n, part in enumerate(parts))
