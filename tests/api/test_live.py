"""Live is the same service without the scripted world: no demo merchant, no sandbox, no magic.

Contract: #paths, #rates, #authentication
"""

import base64

from tests.merchant_client import MerchantClient
from tests.running import DEMO_KEY, DEMO_MID, Deployments
from tests.walk.openapi_documents import actions_document, paths_document
from tests.webhooks.event_log import wait_until

SECRET = base64.b64encode(bytes(range(32))).decode()


def test_live_has_nothing_of_the_scripted_world(deployments: Deployments) -> None:
    settings = {"KASUWA_ENVIRONMENT": "live", "KASUWA_CONSOLE": "off", "KASUWA_SECRET_KEY": SECRET}
    with deployments.fresh("live", **settings) as live, live.connect() as wire:
        demo = MerchantClient(wire, DEMO_MID, DEMO_KEY)
        assert demo.send_fields("resources", {"inquire": "wallet"}).http == 401
        mid, key, _ = (line.split()[1] for line in live.run_command("merchant", "add", "Ada Stores").splitlines())
        shop = MerchantClient(wire, mid, key)
        reply = shop.send_fields("sandbox", {"action": "clock"})
        assert (reply.http, reply.body["status"]) == (404, 102)
        assert wire.send("GET", "/openapi.json").body == paths_document("live")
        assert wire.send("GET", "/openapi-actions.json").body == actions_document("live")
        # The documentation is that of test too, and says what live lacks.
        assert wire.send("GET", "/docs/guides/go-live.html").http == 200
        assert b"Exists in the test environment only" in wire.send("GET", "/docs/reference/sandbox-clock.html").raw
        # The first merchant of an empty database has the mid that was just refused: that is forgotten in a second.
        wait_until("the merchant is known", lambda: shop.send_fields("resources", {"inquire": "wallet"}).http == 200)
        assert shop.put("resources", inquire="wallet").body["data"] == [
            {"currency": "NGN", "balance": "0.00", "available": "0.00", "held": "0.00"}
        ]
        # A magic account is an ordinary one here: its check digit is wrong.
        assert shop.transfer(accountnumber="0000000500")["errors"][0]["field"] == "accountnumber"
        assert shop.transfer(bankcode="011", accountnumber="0123456784")["status"] == 301
        headers = {"x-sandbox-scenario": "nonsense"}
        assert shop.transfer(bankcode="011", accountnumber="0123456784", headers=headers)["status"] == 301
        assert live.broken_invariants([mid]) == []
        assert live.new_stderr() == ""
