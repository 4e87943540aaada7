"""The field with the file of a world."""

import binascii
from typing import Any

from kasuwa.wire.fields import CustomFieldType

MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_BASE64 = (MAX_FILE_BYTES + 2) // 3 * 4
FILE_REASON = "a file of at most 10 MiB in base64, as export_world returns it"


class WorldFile(str, CustomFieldType):
    """The base64 text of a file, and its content."""

    content: bytes

    @classmethod
    def read(cls, raw: Any) -> "WorldFile":
        if not isinstance(raw, str) or not raw or len(raw) > MAX_BASE64:
            raise ValueError(FILE_REASON)
        try:
            content = binascii.a2b_base64(raw, strict_mode=True)
        except ValueError:
            raise ValueError(FILE_REASON) from None
        if len(content) > MAX_FILE_BYTES:
            raise ValueError(FILE_REASON)
        file = cls(raw)
        file.content = content
        return file

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {"type": "string", "contentEncoding": "base64", "maxLength": MAX_BASE64, "description": FILE_REASON}
