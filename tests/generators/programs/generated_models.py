"""Uses the pydantic models that datamodel-code-generator makes of /openapi-actions.json: `generated_models.py URL MID
KEY`. Prints what the service replied as one JSON object."""

import json
import sys
import urllib.request
from typing import Any

from kasuwa_models import (  # type: ignore[import-not-found]
    DisburseTransferReply,
    DisburseTransferRequest,
    DisburseVerifyReply,
    DisburseVerifyRequest,
    ErrorBody,
)
from pydantic import BaseModel

url, mid, key = sys.argv[1:]


def put(request: BaseModel, reply: type[BaseModel]) -> Any:
    headers = {"mid": mid, "key": key, "content-type": "application/json"}
    body = request.model_dump_json(exclude_none=True).encode()
    sent = urllib.request.Request(f"{url}/disburse", body, headers, method="PUT")
    with urllib.request.urlopen(sent) as received:
        return reply.model_validate_json(received.read())


def transfer_of(amount: str) -> Any:
    return DisburseTransferRequest(action="transfer", amount=amount, bankcode="058", accountnumber="0000000000")


transfer = put(transfer_of("1500.00"), DisburseTransferReply)
replies = {
    "transfer": transfer,
    "verify": put(DisburseVerifyRequest(action="verify", txnRef=transfer.txnRef), DisburseVerifyReply),
    "refused": put(transfer_of("0"), ErrorBody),
}
print(json.dumps({name: reply.model_dump(mode="json", exclude_none=True) for name, reply in replies.items()}))
