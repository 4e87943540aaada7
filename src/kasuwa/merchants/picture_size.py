"""Width and height that a PNG or JPEG file declares, read from its head: a file of 1 kB may declare gigabytes."""

PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
# The markers of a JPEG that begin a frame, with its size. Three in their midst are others.
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def picture_size(picture: bytes) -> tuple[int, int] | None:
    """Returns width and height in pixels, or None if the file is no PNG or JPEG, or does not tell."""
    if picture.startswith(PNG):
        if picture[12:16] != b"IHDR" or len(picture) < 24:
            return None
        return int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big")
    return jpeg_size(picture) if picture.startswith(JPEG) else None


def jpeg_size(picture: bytes) -> tuple[int, int] | None:
    """Goes from segment to segment: a marker, its length and its content."""
    place = 2
    while place + 9 <= len(picture) and picture[place] == 0xFF:
        marker = picture[place + 1]
        if marker == 0xFF:  # filling
            place += 1
        elif marker in FRAMES:
            height, width = (int.from_bytes(picture[at : at + 2], "big") for at in (place + 5, place + 7))
            return width, height
        else:
            place += 2 + int.from_bytes(picture[place + 2 : place + 4], "big")
    return None
