"""Docstrings of generated code: wrapped, indented and escaped."""

import textwrap
from collections.abc import Sequence

LINE_LENGTH = 120


def wrap_text(text: str, width: int, continuation: str = "") -> list[str]:
    """Returns the lines of a text. Lines after the first begin with `continuation`."""
    return textwrap.wrap(
        text, width, subsequent_indent=continuation, break_long_words=False, break_on_hyphens=False
    ) or [""]


def docstring(paragraphs: Sequence[str], indent: int) -> str:
    """Returns a docstring with its quotes and a newline. A paragraph of several lines is not wrapped again."""
    width = LINE_LENGTH - indent
    lines: list[str] = []
    for number, paragraph in enumerate(paragraphs):
        taken = 6 if number == 0 else 0  # the quotes
        wrapped = paragraph.splitlines() if "\n" in paragraph else wrap_text(paragraph, width - taken)
        lines += [*([""] if lines else []), *wrapped]
    escaped = [line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') for line in lines]
    if len(escaped) == 1:
        text = escaped[0] + ("\\" if escaped[0].endswith('"') else "")
        return f'{" " * indent}"""{text}"""\n'
    body = "\n".join((" " * indent + line).rstrip() for line in escaped[1:])
    return f'{" " * indent}"""{escaped[0]}\n{body}\n{" " * indent}"""\n'
