"""What was sent to the service and answered: exchanges, and the one form in which files have them.

Golden files (golden.py), recordings (integration/recording.py) and cases (cases/case_file.py) are written and read
here. `recorder.py` records the clients of a test's merchant, `integration/gateway.py` any application at the wire. No
client is needed here.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Fields that name something with a timeline, in requests and replies.
REFERENCE_NAMES = frozenset(
    {
        "txnRef",
        "orderRef",
        "batchRef",
        "refundRef",
        "refundOf",
        "customer_txnref",
        "loan_id",
        "savings_id",
        "thrift_id",
        "client_id",
        "ref_code",
        "reference",
    }
)


@dataclass
class Exchange:
    """One request with its reply, or with the failure of the attempt."""

    action: str  # the path and the action, such as disburse.transfer
    request: Mapping[str, Any]
    http_status: int | None = None
    reply: Any = None
    failure: str | None = None
    timing: Mapping[str, int] | None = None  # `at_ms` since the first request, and `ms`; not in golden files


class UnreadableRecording(Exception):
    """A file has no exchanges. The text says why."""


def references_in(body: Any) -> Iterator[str]:
    if isinstance(body, Mapping):
        for name, value in body.items():
            if name in REFERENCE_NAMES and isinstance(value, str) and value:
                yield value
            else:
                yield from references_in(value)
    elif isinstance(body, list | tuple):
        for part in body:
            yield from references_in(part)


def write_exchanges(exchanges: Iterable[Exchange], events: Sequence[Any], *, seed: str) -> str:
    """Returns the text of a file with exchanges."""
    shown = [
        {
            "action": exchange.action,
            **({"timing": exchange.timing} if exchange.timing is not None else {}),
            "request": exchange.request,
            **({"failure": exchange.failure} if exchange.failure else {"http": exchange.http_status}),
            **({} if exchange.failure else {"reply": exchange.reply}),
        }
        for exchange in exchanges
    ]
    contents = {"seed": seed, "exchanges": shown, "events": events}
    return json.dumps(contents, indent=2, ensure_ascii=False, default=str) + "\n"


def read_exchanges(contents: Mapping[str, Any]) -> list[Exchange]:
    """Returns the exchanges of a file's contents. Raises KeyError, ValueError and TypeError if they are none."""
    return [read_exchange(line) for line in contents["exchanges"]]


def read_exchange(line: Mapping[str, Any]) -> Exchange:
    exchange = Exchange(str(line["action"]), dict(line["request"]), timing=line.get("timing"))
    if "failure" in line:
        exchange.failure = str(line["failure"])
    else:
        exchange.http_status, exchange.reply = int(line["http"]), line["reply"]
    return exchange
