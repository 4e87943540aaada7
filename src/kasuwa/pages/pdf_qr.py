"""Draws QR codes onto pages of a PDF."""

from typing import Any

import segno

from kasuwa.pages.render import ERROR_CORRECTION


def draw_qr(canvas: Any, payload: str, left: float, bottom: float, side: float) -> None:
    """Draws a QR code as black squares. The caller leaves a margin around it."""
    rows = [bytes(row) for row in segno.make(payload, error=ERROR_CORRECTION, micro=False).matrix]
    square = side / len(rows)
    for place, row in enumerate(rows):
        y = bottom + side - (place + 1) * square
        for column, is_dark in enumerate(row):
            if is_dark:
                canvas.rect(left + column * square, y, square, square, stroke=0, fill=1)
