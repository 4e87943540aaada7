"""The texts of a PDF that reportlab wrote."""

import re
import zlib
from base64 import a85decode


def read_pdf_pages(file: bytes) -> list[list[str]]:
    """Returns the texts of each page in the order in which they were drawn."""
    streams = re.findall(rb"stream\r?\n(.*?)~>\s*endstream", file, re.DOTALL)
    contents = [zlib.decompress(a85decode(stream)).decode("latin-1") for stream in streams]
    return [re.findall(r"\((.*?)\) Tj", content) for content in contents if " Tj" in content]
