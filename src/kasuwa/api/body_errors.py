"""Refusals of bodies that are not one JSON object: forms, XML, other JSON, and JSON with a mistake, by line and column.

Contract: #requests, #errors
"""

import json
import re

from kasuwa.core.codes import INVALID_JSON
from kasuwa.core.decision import Refusal

EMPTY = Refusal(INVALID_JSON, "Invalid JSON request: the body is empty; send one JSON object", error_code="body_empty")
FORM = Refusal(
    INVALID_JSON,
    "Invalid JSON request: the body is a form; send one JSON object in its place",
    error_code="body_is_form",
)
XML = Refusal(
    INVALID_JSON,
    "Invalid JSON request: the body is XML or HTML; send one JSON object in its place",
    error_code="body_is_xml",
)
NO_OBJECT = Refusal(
    INVALID_JSON, "Invalid JSON request: the body is {kind}; send one JSON object", error_code="body_not_object"
)
MALFORMED = Refusal(
    INVALID_JSON,
    "Invalid JSON request: send one JSON object; line {line}, column {column}: {problem}",
    error_code="json_malformed",
)
NOT_ONE_OBJECT = Refusal(INVALID_JSON, "Invalid JSON request: send one JSON object", error_code="json_malformed")
# Valid as JSON, but not UTF-8 or beyond the limits of depth and size.
BEYOND_LIMITS = Refusal(INVALID_JSON, "Invalid JSON request: {error}", error_code="json_not_accepted")

KINDS = {dict: "an object", list: "an array", str: "a text", bool: "true or false", type(None): "null"}
# Only the beginning of a body is looked at to tell a form.
LOOKED_AT = 512
FORM_BODY = re.compile(rb"[A-Za-z_][\w.\-\[\]%]{0,100}=[^{}\"]*", re.ASCII)
MULTIPART_BODY = re.compile(rb"--[^\r\n]{1,200}\r?\n(?i:content-disposition)", re.ASCII)
# Longer bodies are not read a second time to find the mistake.
MAX_EXPLAINED_BYTES = 64 * 1024


class OtherConstant(ValueError):
    """Raised for NaN and Infinity, which are no JSON."""


def refuse_constant(name: str) -> None:
    raise OtherConstant(name)


# Numbers stay text: converting one of thousands of digits would fail or take long.
DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=refuse_constant)


def refuse_body(body: bytes) -> Refusal:
    """Returns the refusal of a body that is not one JSON object, with the place of the first mistake."""
    beginning = body[:LOOKED_AT].strip()
    if not beginning:
        return NOT_ONE_OBJECT if body.strip() else EMPTY
    if beginning.startswith(b"<"):
        return XML
    if MULTIPART_BODY.match(beginning) or FORM_BODY.fullmatch(beginning):
        return FORM
    if len(body) > MAX_EXPLAINED_BYTES:
        return NOT_ONE_OBJECT
    try:
        value = DECODER.decode(body.decode())
    except json.JSONDecodeError as error:
        mistake = find_trailing_comma(error)
        return MALFORMED.fill(line=mistake.lineno, column=mistake.colno, problem=mistake.msg)
    except (ValueError, RecursionError):
        return NOT_ONE_OBJECT
    if isinstance(value, dict):
        return NOT_ONE_OBJECT
    # Numbers are texts here: see DECODER.
    kind = "a number" if isinstance(value, str) and not beginning.startswith(b'"') else KINDS[type(value)]
    return NO_OBJECT.fill(kind=kind)


def find_trailing_comma(error: json.JSONDecodeError) -> json.JSONDecodeError:
    """Returns the mistake of a comma before a closing bracket, in the same words on every version of Python. Any other
    mistake is returned as it is."""
    text = error.doc
    comma = error.pos if text[error.pos : error.pos + 1] == "," else len(text[: error.pos].rstrip()) - 1
    closing = text[comma + 1 :].lstrip()[:1]
    if comma < 0 or text[comma] != "," or closing not in ("}", "]"):
        return error
    return json.JSONDecodeError(f"Illegal trailing comma before {closing}", text, comma)
