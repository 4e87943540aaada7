"""The PHP client and the events of the service: a real delivery is verified, and what is not genuine is refused."""

import json
from pathlib import Path
from typing import Any

from clients.generate.surface import read_surface
from tests.clients.php_client import SOURCE, run_tests
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.inbox import running_inbox

TRANSFER: dict[str, Any] = {"action": "transfer", "amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000"}


def test_a_delivery_is_verified_and_a_forged_one_refused(
    deployment: Deployment, shop: MerchantClient, tmp_path: Path
) -> None:
    with running_inbox() as inbox:
        shop.put("sandbox", action="webhook", url=inbox.url)
        shop.put("disburse", **TRANSFER, orderRef="order-1")
        [letter] = inbox.wait_for(1)
    facts = {"headers": letter.headers, "body": letter.body.decode(), "key": shop.key, "orderRef": "order-1"}
    delivery = tmp_path / "delivery.json"
    delivery.write_text(json.dumps(facts))
    assert len(run_tests(deployment, tmp_path, "events.php", DELIVERY_FILE=str(delivery))) == 4


def test_every_type_of_event_has_a_class() -> None:
    files = {path.stem for path in (SOURCE / "src" / "Events").glob("*Event.php")}
    assert files == {event.type.name for event in read_surface().events} | {"Event", "UnknownEvent"}
