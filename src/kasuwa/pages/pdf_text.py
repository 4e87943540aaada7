"""Text of PDF files that takes several lines."""

from kasuwa.pages.statement_files import FONT, printable

# Characters of a word that fit into the narrowest column.
LONGEST_WORD = 36


def wrap_words(text: str, length: int) -> list[str]:
    """Returns a text in lines of at most `length` characters. A longer word is cut."""
    lines: list[str] = []
    for word in printable(" ".join(text.split()), 2000).split(" "):
        for start in range(0, len(word), length):
            piece = word[start : start + length]
            if lines and start == 0 and len(lines[-1]) + 1 + len(piece) <= length:
                lines[-1] += f" {piece}"
            else:
                lines.append(piece)
    return lines


def wrap_width(text: str, width: float, size: float, font: str = FONT) -> list[str]:
    """Returns a text in lines of at most a width in points: capitals take more of it. A long word is cut."""
    from reportlab.lib.utils import simpleSplit

    lines: list[str] = simpleSplit(" ".join(wrap_words(text, LONGEST_WORD)), font, size, width)
    return lines
