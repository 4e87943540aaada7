"""Uses the client that openapi-python-client makes of /openapi-actions.json: `use_actions.py URL MID KEY`.

Prints what the service replied as one JSON object, with the names of the classes that the replies were read as.
"""

import json
import sys

from kasuwa_actions import Client  # type: ignore[import-not-found]
from kasuwa_actions.api.disburse import disburse_transfer, disburse_verify  # type: ignore[import-not-found]
from kasuwa_actions.api.resources import (  # type: ignore[import-not-found]
    resources_accountname,
    resources_banks,
    resources_wallet,
)
from kasuwa_actions.models import (  # type: ignore[import-not-found]
    DisburseTransferRequest,
    DisburseVerifyRequest,
    ResourcesAccountnameRequest,
    ResourcesBanksRequest,
    ResourcesWalletRequest,
)

url, mid, key = sys.argv[1:]
client = Client(base_url=url, headers={"mid": mid, "key": key})
stranger = Client(base_url=url, headers={"mid": mid, "key": "wrong"})


def transfer_of(amount: str) -> DisburseTransferRequest:
    return DisburseTransferRequest(amount=amount, bankcode="058", accountnumber="0000000000", order_ref=f"o-{amount}")


sent = disburse_transfer.sync(client=client, body=transfer_of("1500.00"))
unauthorized = disburse_transfer.sync_detailed(client=stranger, body=transfer_of("1500.00"))
replies = {
    "transfer": sent,
    "verify": disburse_verify.sync(client=client, body=DisburseVerifyRequest(txn_ref=sent.txn_ref)),
    "repeated": disburse_transfer.sync(client=client, body=transfer_of("1500.00"), idempotency_key="k-1"),
    "invalid": disburse_transfer.sync(client=client, body=transfer_of("0")),
    "uncovered": disburse_transfer.sync(client=client, body=transfer_of("9999999.00")),
    "unauthorized": unauthorized.parsed,
    "banks": resources_banks.sync(client=client, body=ResourcesBanksRequest()),
    "accountname": resources_accountname.sync(
        client=client, body=ResourcesAccountnameRequest(accountnumber="0000000000", bankcode="058")
    ),
    "wallet": resources_wallet.sync(client=client, body=ResourcesWalletRequest()),
}
seen = {name: {"class": type(reply).__name__, **reply.to_dict()} for name, reply in replies.items()}
seen["unauthorized"]["http"] = unauthorized.status_code.value
print(json.dumps(seen))
