"""Recorded examples: `python -m tests.examples` writes docs/examples/ and the replies that the service itself tells of
(kasuwa/data/replies.json), and tests/test_examples.py replays them.

One file for each row of the action tables: the request, ready for any client that reads .http files, and below
it the reply as it came. The rows are sent in the order of the tables to one fresh merchant whose clock stands
still at NOW, so times and balances are the same in every run. What is not is replaced by its name in angle
brackets: `"txnRef": "<txnRef>"`. A map of more than MOST_ENTRIES entries shows its first few and a dot-dot-dot.
"""

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tests.merchant_client import MerchantClient, RawReply
from tests.running import running_cluster, running_deployment
from tests.walk.rows import NOW, ActionRow, send_examples

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "examples"
# The same replies as the service itself tells them, in /openapi.json and the console's reference.
REPLIES = ROOT / "src" / "kasuwa" / "data" / "replies.json"

# Fields and headers whose values differ from one merchant, deployment or run to the next.
VOLATILE = frozenset(
    {
        "txnRef",
        "batchRef",
        "mid",
        "key",
        "x-request-id",
        "event_id",
        "body",
        "ms",
        "token",
        "client_id",
        "accountNumber",
        "cardToken",
        "loan_id",
        "guarantee_id",
        "product_id",
        "tops_up",
        "topped_up_by",
        "collateral_id",
        "borrower_id",
        "savings_id",
        "class_id",
        "holding_id",
        "redemption_id",
        "order_id",
        "dividend_id",
        "to_client_id",
        "thrift_id",
        "origin",
        "hash",
        "qr_code",
        "qr_image",
        "ussd_code",
        "refundRef",
        "refundOf",
        "ref_code",
        "customer_id",
        "next_cursor",
        "dispute_id",
        "link_id",
        "link",
        "proof_link",
        "checkoutURL",
        "access_code",
        "receiptURL",
        "invoice_id",
        "mail_id",
        "group_id",
        "group_loan_id",
        "auto_repay_id",
    }
)
VOLATILE_OF = {
    "virtualcard": frozenset({"reference", "cardpan", "maskedpan", "cvv", "id"}),
    "resources": frozenset({"id", "account", "code", "made_at", "last_used_at", "last_used_from", "text", "html"}),
    "cashcode": frozenset({"cashcode"}),
    "loans": frozenset({"leader"}),
    "investments": frozenset({"cashcode", "pin", "requestedBy", "decidedBy", "proposed_by", "to"}),
    "sandbox": frozenset({"close_number", "closed_at", "root", "public_key", "bytes", "business_time", "made_at"})
    | frozenset(
        {"file", "rows", "answered_at", "last", "milliseconds", "number", "reply_body", "request_body", "request_id"}
    ),
}
# A reference of ours, where it stands in the place of a merchant's own.
OURS = re.compile(
    r"GP\|[A-Z]{2}\|[0-9]{9}\|[0-9]{8}[A-Z]|GP[0-9]{17}[A-Z]|KSW\|GVC\|[0-9]+\|[0-9A-Za-z]{22}"
    r"|(?:LN|LP|IN|SC|SH|SR|DV|GR|GL|AR|CL)[0-9A-Za-z]{22}"
)
SHOWN_HEADERS = ("content-type", "x-api-version", "x-request-id")

MOST_ENTRIES, SHOWN_ENTRIES, MORE = 30, 5, "…"

HEAD = """\
# {summary}
#
# Recorded with `python -m tests.examples` and replayed by the tests, on a merchant of the test environment whose
# clock stands still. Below the request is its reply; there, a name in angle brackets stands for a value that is
# another each time.

@address = http://127.0.0.1:8080
@mid = GP0000001
@key = 123456789

PUT {{{{address}}}}/{method}
mid: {{{{mid}}}}
key: {{{{key}}}}
content-type: application/json

"""
REPLY = "\n\n### Its reply\n\n"

REQUEST = re.compile(r"^PUT \{\{address\}\}/(\w+)\n(?:[\w-]+: .*\n)+\n(.*?)\n\n###", re.DOTALL | re.MULTILINE)


class Recorded(NamedTuple):
    method: str
    fields: dict[str, Any]


# --- writing ------------------------------------------------------------------------------------------------


def file_of(row: ActionRow) -> Path:
    return FOLDER / f"{row.title}.http"


def render(row: ActionRow, received: RawReply) -> str:
    head = HEAD.format(summary=row.action.summary, method=row.method)
    shown_headers = {name: f"<{name}>" if name in VOLATILE else received.headers[name] for name in SHOWN_HEADERS}
    reply = [f"HTTP/1.1 {received.http}", *(f"{name}: {value}" for name, value in shown_headers.items()), ""]
    volatile = VOLATILE | VOLATILE_OF.get(row.method, frozenset())
    reply += pretty(mask_volatile(received.body, volatile)).splitlines()
    return head + pretty(row.example) + REPLY + "\n".join(f"# {line}".rstrip() for line in reply) + "\n"


def pretty(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def mask_volatile(given: Any, volatile: frozenset[str]) -> Any:
    if isinstance(given, Mapping):
        shown = list(given.items())
        if len(shown) > MOST_ENTRIES:
            shown = [*shown[:SHOWN_ENTRIES], (MORE, MORE)]
        return {
            name: f"<{name}>" if name in volatile and not isinstance(value, Mapping) else mask_volatile(value, volatile)
            for name, value in shown
        }
    if isinstance(given, list):
        return [mask_volatile(value, volatile) for value in given]
    return "<reference>" if isinstance(given, str) and OURS.fullmatch(given) else given


# --- reading, and a run ------------------------------------------------------------------------------------


def read(text: str) -> Recorded:
    found = REQUEST.search(text)
    assert found is not None, text
    return Recorded(found[1], msgspec.json.decode(found[2]))


def replies(texts: Mapping[Path, str]) -> str:
    """The replies of all files, by the name of each."""
    replies = {path.stem: parse_reply(text) for path, text in sorted(texts.items())}
    return pretty(replies) + "\n"


def parse_reply(text: str) -> Any:
    lines = [line.removeprefix("#").removeprefix(" ") for line in text.partition(REPLY)[2].splitlines()]
    return msgspec.json.decode("\n".join(lines[lines.index("") :]))


def record(shop: MerchantClient) -> dict[Path, str]:
    """The text of every file, from a run over all rows; of what is sent twice, the first."""
    return {file_of(row): render(row, received) for row, _, received in reversed(send_examples(shop))}


def main() -> None:
    with (
        running_cluster() as cluster,
        tempfile.TemporaryDirectory() as place,
        running_deployment(Path(place), cluster.dsn) as deployment,
    ):
        shop = deployment.open_shop(now=NOW)
        with shop.connection:
            texts = record(shop)
    for old in FOLDER.glob("*.http"):
        old.unlink()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text)
    REPLIES.write_text(replies(texts))
    print(f"{len(texts)} examples in {FOLDER}")


if __name__ == "__main__":
    main()
