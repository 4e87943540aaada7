"""Uses the Python client that openapi-generator makes of /openapi-actions.json: `generated_client.py URL MID KEY`.

Prints what the service replied as one JSON object, with the names of the classes that the replies were read as.
"""

import json
import sys

import kasuwa_generated as kasuwa  # type: ignore[import-not-found]

url, mid, key = sys.argv[1:]
client = kasuwa.ApiClient(kasuwa.Configuration(host=url, api_key={"mid": mid, "key": key}))
disburse = kasuwa.DisburseApi(client)


def transfer_of(amount: str) -> kasuwa.DisburseTransferRequest:
    return kasuwa.DisburseTransferRequest(action="transfer", amount=amount, bankcode="058", accountnumber="0000000000")


sent = disburse.disburse_transfer(transfer_of("1500.00"), idempotency_key="k-1").actual_instance
verified = disburse.disburse_verify(kasuwa.DisburseVerifyRequest(action="verify", txn_ref=sent.txn_ref))
refused = disburse.disburse_transfer(transfer_of("0"))
replies = {"transfer": sent, "verify": verified.actual_instance, "refused": refused.actual_instance}
print(json.dumps({name: {"class": type(reply).__name__, **reply.to_dict()} for name, reply in replies.items()}))
