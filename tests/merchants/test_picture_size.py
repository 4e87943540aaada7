"""The size that a picture declares, and logos that declare too much."""

import pytest

from kasuwa.merchants.merchant_settings import MAX_LOGO_SIDE, read_logo
from kasuwa.merchants.picture_size import picture_size


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + bytes((0, 0, 0, 13)) + b"IHDR" + width.to_bytes(4) + height.to_bytes(4) + bytes(9)


def jpeg(width: int, height: int, marker: int = 0xC0) -> bytes:
    before = b"\xff\xe0" + (16).to_bytes(2) + bytes(14) + b"\xff\xff\xc4" + (4).to_bytes(2) + bytes(2)
    frame = bytes((0xFF, marker)) + (17).to_bytes(2) + b"\x08" + height.to_bytes(2) + width.to_bytes(2) + bytes(10)
    return b"\xff\xd8" + before + frame + b"\xff\xd9"


@pytest.mark.parametrize("picture", [png(64, 32), jpeg(64, 32), jpeg(64, 32, 0xC2), jpeg(64, 32, 0xCF)])
def test_the_declared_size_is_read(picture: bytes) -> None:
    assert picture_size(picture) == (64, 32)


@pytest.mark.parametrize(
    "picture", [b"", b"GIF89a", png(1, 1)[:20], jpeg(64, 32)[:20], jpeg(64, 32, 0xC4), b"\xff\xd8\xff" + bytes(50)]
)
def test_a_file_that_does_not_tell_has_no_size(picture: bytes) -> None:
    assert picture_size(picture) is None


@pytest.mark.parametrize("make", [png, jpeg])
def test_a_logo_has_a_limited_number_of_pixels(make: object) -> None:
    assert callable(make)
    assert read_logo(make(MAX_LOGO_SIDE, MAX_LOGO_SIDE)).startswith("data:image/")
    for size in ((30_000, 30_000), (MAX_LOGO_SIDE + 1, 1), (1, MAX_LOGO_SIDE + 1), (0, 10)):
        with pytest.raises(ValueError, match="2,000 pixels"):
            read_logo(make(*size))
