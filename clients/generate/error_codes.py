"""The codes of errors as types of the clients, from the refusals of the service."""

from collections.abc import Iterator

from kasuwa.documentation.error_list import list_error_codes

PYTHON_HEADER = '''"""Codes of errors, for `error.code` and the `code` of each entry of `error.errors`.

A newer service may have further ones: `code` is a plain text.

Written by `python -m clients.generate` from the refusals of the service. Do not edit.
"""

from __future__ import annotations

from enum import Enum
'''


def list_codes(*, of_fields: bool) -> list[str]:
    """Returns the codes of replies, or those of the entries of `errors`. `field_invalid` is one of both."""
    codes = {one.code for one in list_error_codes() if one.is_of_field == of_fields}
    return sorted(codes | {"field_invalid"})


def render_python() -> Iterator[str]:
    yield PYTHON_HEADER
    for name, title, of_fields in (
        ("ErrorCode", "The code of a refused request: `error.code == ErrorCode.CARD_BLOCKED` compares.", False),
        ("FieldCode", "The code of an entry of `errors`.", True),
    ):
        yield f'\n\nclass {name}(str, Enum):\n    """{title}"""\n\n'
        yield from (f'    {code.upper()} = "{code}"\n' for code in list_codes(of_fields=of_fields))


def render_typescript(header: str) -> str:
    lines = [header]
    for constant, name, title, of_fields in (
        ("ERROR_CODES", "ErrorCode", "What is wrong with a request: `code` of a refusal.", False),
        ("FIELD_CODES", "FieldCode", "What is wrong with a field: `code` of an entry of `errors`.", True),
    ):
        lines += [f"/** {title} A newer service may have further ones. */", f"export const {constant} = ["]
        lines += [f'  "{code}",' for code in list_codes(of_fields=of_fields)]
        lines += ["] as const;", "", f"export type {name} = (typeof {constant})[number];", ""]
    return "\n".join(lines)
