"""Uses the client that openapi-python-client makes of /openapi.json: `use_paths.py URL MID KEY`.

Prints what the service replied as one JSON object, with the names of the classes that the replies were read as.
"""

import json
import sys

from kasuwa_paths import Client  # type: ignore[import-not-found]
from kasuwa_paths.api.disburse import disburse  # type: ignore[import-not-found]
from kasuwa_paths.api.health import healthz  # type: ignore[import-not-found]
from kasuwa_paths.models import DisburseTransferRequest, DisburseVerifyRequest  # type: ignore[import-not-found]

url, mid, key = sys.argv[1:]
client = Client(base_url=url, headers={"mid": mid, "key": key})
order = DisburseTransferRequest(amount="1500.00", bankcode="058", accountnumber="0000000000")
sent = disburse.sync(client=client, body=order)
replies = {
    "transfer": sent,
    "verify": disburse.sync(client=client, body=DisburseVerifyRequest(txn_ref=sent.txn_ref)),
    "unknown": disburse.sync(client=client, body=DisburseVerifyRequest(txn_ref="no-such")),
    "health": healthz.sync(client=client),
}
print(json.dumps({name: {"class": type(reply).__name__, **reply.to_dict()} for name, reply in replies.items()}))
