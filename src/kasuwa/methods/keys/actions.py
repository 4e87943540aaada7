"""The actions about API keys and the policy for money out: a list of keys on `PUT /resources`, and a way to make keys
and to set the policy in the test environment.
"""

from kasuwa.core.action import INTEGRATE, AdminCommand, Read
from kasuwa.methods.keys import commands, store, wire

RESOURCES = (
    Read(
        name="keys",
        scope="read",
        request=wire.KeysRequest,
        reply=wire.KeysReply,
        read=store.list_keys,
        summary="The valid API keys, without the keys themselves",
        example={"inquire": "keys"},
    ),
)

SANDBOX = (
    AdminCommand(
        name="new_key",
        request=wire.NewKeyRequest,
        reply=wire.NewKeyReply,
        run=commands.new_key,
        permission=INTEGRATE,
        summary="Make a further API key of this merchant, with the scopes that it is to have",
        example={"action": "new_key", "name": "payroll", "scopes": ["payout"]},
    ),
    AdminCommand(
        name="payout_policy",
        request=wire.PolicyRequest,
        reply=wire.PolicyReply,
        run=commands.set_policy,
        permission=INTEGRATE,
        summary="Set which transfers of this merchant wait for approval, and its velocity limits",
        example={"action": "payout_policy", "limits": {"daily_amount": "9000000.00"}},
    ),
)
