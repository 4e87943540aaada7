"""A logged request as code that sends it again: with curl, Python and TypeScript, and no client library.

The body is text, as it was sent: it need not be JSON, and its numbers stay as they were written.
"""

import json

from kasuwa.console.reference.verification_code import Language
from kasuwa.documentation.samples import write_curl_of_text

PYTHON = """\
import os
import urllib.request

body = {body}
headers = {{"mid": os.environ["KASUWA_MID"], "key": os.environ["KASUWA_KEY"], "content-type": "application/json"}}
request = urllib.request.Request(f"{{os.environ['KASUWA_URL']}}/{path}", body.encode(), headers, method="PUT")
with urllib.request.urlopen(request) as reply:
    print(reply.read().decode())
"""
TYPESCRIPT = """\
const body = {body};
const {{ KASUWA_URL, KASUWA_MID = "", KASUWA_KEY = "" }} = process.env;
const headers = {{ mid: KASUWA_MID, key: KASUWA_KEY, "content-type": "application/json" }};
const reply = await fetch(`${{KASUWA_URL}}/{path}`, {{ method: "PUT", headers, body }});
console.log(await reply.text());
"""


def write_request(path: str, text: str) -> list[Language]:
    """Returns code that sends a text to a path of the API. Address, mid and key come from the environment."""
    # An escape of a surrogate pair is one character in TypeScript, and two that cannot be sent in Python.
    literal = json.dumps(text, ensure_ascii=False)
    return [
        Language("curl", write_curl_of_text(path, text)),
        Language("Python", PYTHON.format(body=literal, path=path)),
        Language("TypeScript", TYPESCRIPT.format(body=literal, path=path)),
    ]
