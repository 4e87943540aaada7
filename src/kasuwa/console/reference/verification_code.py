"""Code that verifies events, in four languages, as the page shows it. tests/console/test_verification_code.py runs it.

Each checks the Standard Webhooks signature and the age of the event. Contract: events#signatures
"""

import msgspec


class Language(msgspec.Struct, frozen=True):
    """Code in one language."""

    name: str
    code: str


PYTHON = '''\
import base64, hashlib, hmac, time

def is_genuine(headers, body, secret, now=None):
    """headers: a dict with names in lower case; body: the raw bytes; secret: your signing secret, whsec_..."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message_id, sent_at = headers["webhook-id"], headers["webhook-timestamp"]
    if abs((now or time.time()) - int(sent_at)) > 300:
        return False
    signed = f"{message_id}.{sent_at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return any(hmac.compare_digest(expected, given) for given in headers["webhook-signature"].split(" "))
'''

JAVASCRIPT = """\
const crypto = require("node:crypto");

// headers: an object with names in lower case; body: the raw Buffer; secret: your signing secret, whsec_...
function isGenuine(headers, body, secret, now = Date.now() / 1000) {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const id = headers["webhook-id"], sentAt = headers["webhook-timestamp"];
  if (Math.abs(now - Number(sentAt)) > 300) return false;
  const expected = crypto.createHmac("sha256", key).update(`${id}.${sentAt}.`).update(body).digest();
  return headers["webhook-signature"].split(" ").some((given) => {
    const value = Buffer.from(given.replace(/^v1,/, ""), "base64");
    return value.length === expected.length && crypto.timingSafeEqual(value, expected);
  });
}
"""

PHP = """\
<?php
// $headers: an array with names in lower case; $body: file_get_contents('php://input'); $secret: whsec_...
function is_genuine(array $headers, string $body, string $secret, ?int $now = null): bool {
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    [$id, $sentAt] = [$headers['webhook-id'], $headers['webhook-timestamp']];
    if (abs(($now ?? time()) - (int) $sentAt) > 300) return false;
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sentAt.$body", $key, true));
    foreach (explode(' ', $headers['webhook-signature']) as $given) {
        if (hash_equals($expected, $given)) return true;
    }
    return false;
}
"""

SHELL = """\
# is_genuine <webhook-id> <webhook-timestamp> <webhook-signature> <secret> < body
is_genuine() {
  age=$(( ${NOW:-$(date +%s)} - $2 ))
  [ "${age#-}" -le 300 ] || return 1
  key=$(printf %s "${4#whsec_}" | base64 -d | od -An -tx1 | tr -d ' \\n')
  expected=$( { printf '%s.%s.' "$1" "$2"; cat; } |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
  for given in $3; do [ "$given" = "v1,$expected" ] && return 0; done
  return 1
}
"""

LANGUAGES = (
    Language("Python", PYTHON),
    Language("JavaScript (Node.js)", JAVASCRIPT),
    Language("PHP", PHP),
    Language("Shell", SHELL),
)
