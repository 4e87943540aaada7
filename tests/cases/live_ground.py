"""A live deployment with the vendors' twins behind it, on which incidents happen, each to a merchant of its own."""

import asyncio
import base64
import contextlib
from collections.abc import Iterator
from typing import Any

import asyncpg
import msgspec

from kasuwa.boot.composition import Services
from kasuwa.core.references import rail_key, wire_reference
from kasuwa.merchants import merchants
from kasuwa.rails.twins.dojah import DojahRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.paystack_collection import PaystackCollectionRules
from kasuwa.rails.twins.server import Twin, TwinThread
from kasuwa.rails.twins.vtpass import VtpassRules
from kasuwa.sandbox.operations import fund_new_merchant
from kasuwa.settings.settings import read_settings
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until

SECRET = base64.b64encode(bytes(range(32))).decode()
PATH_SECRET = "callbacks-of-the-vendor-1234567890"

NEXT_JOB = """
    select key, due, kind from scheduled_job where merchant_id = $1 and lane <> 'webhook' and ($2 = '' or kind = $2)
    order by due, key limit 1
"""
# Sets the merchant's clock to a time, unless it is past, and has the worker find what is due.
GO_TO_JOB = """
    with moved as (update merchant_state set version = version + 1, clock_offset_us =
            greatest(clock_offset_us, (extract(epoch from ($2::timestamptz - now())) * 1000000)::bigint)
            where merchant_id = $1 returning clock_offset_us)
    update scheduled_job set run_at = job_run_at(due, moved.clock_offset_us, null, now()) from moved
    where merchant_id = $1 and run_at < 'infinity'
"""


# Answers of rails are recorded or, of a bill, in the trail of the transaction.
COUNT_ANSWERS = """
    select (select count(*) from decision_input where reference = $1 and kind = 'answer')
        + (select count(*) from transaction t, json_array_elements(t.trail) e
            where t.txn_ref = $1 and t.kind = 'bill' and e ->> 'step' in ('sent', 'asked'))
"""


class Twins:
    """The vendors, and the rules that each plays by."""

    def __init__(self) -> None:
        self.bank = PaystackRules("sk_live_1")
        self.collections = PaystackCollectionRules(self.bank)
        self.bills = VtpassRules()
        self.bills.are_twins_held_apart = False
        self.paystack = Twin(self.bank, self.collections)
        self.vtpass, self.dojah = Twin(self.bills), Twin(DojahRules())

    def settings(self) -> dict[str, str]:
        return {
            "KASUWA_ENVIRONMENT": "live",
            "KASUWA_CONSOLE": "off",
            "KASUWA_SECRET_KEY": SECRET,
            "KASUWA_RAIL_LOOPBACK": "on",
            "KASUWA_RAIL_BANK": "paystack",
            "KASUWA_RAIL_CARD": "paystack",
            "KASUWA_RAIL_COLLECT": "paystack",
            "KASUWA_RAIL_EMAIL_DOMAIN": "payers.example.com",
            "KASUWA_PAYSTACK_BASE_URL": self.paystack.url,
            "KASUWA_PAYSTACK_SECRET_KEY": "sk_live_1",
            "KASUWA_RAIL_BILLS": "vtpass",
            "KASUWA_VTPASS_BASE_URL": self.vtpass.url,
            "KASUWA_VTPASS_API_KEY": "api-1",
            "KASUWA_VTPASS_PUBLIC_KEY": "PK_1",
            "KASUWA_VTPASS_SECRET_KEY": "SK_1",
            "KASUWA_VTPASS_PHONE": "08039999999",
            "KASUWA_VTPASS_CALLBACK_SECRET": PATH_SECRET,
            "KASUWA_RAIL_IDENTITY": "dojah",
            "KASUWA_DOJAH_BASE_URL": self.dojah.url,
            "KASUWA_DOJAH_APP_ID": "app-1",
            "KASUWA_DOJAH_SECRET_KEY": "test_sk_1",
        }


class LiveShop:
    """A merchant of the live deployment, as it and its vendors see it."""

    def __init__(self, deployment: Deployment, twins: Twins, merchant_id: int, client: MerchantClient) -> None:
        self.deployment, self.twins = deployment, twins
        self.merchant_id, self.client = merchant_id, client

    def put(self, path: str, **fields: Any) -> Any:
        body = self.client.put(path, **fields).body
        assert body["status"] in (200, 202), body
        return body

    def wait_for(self, path: str, reference: str, status: str, name: str = "txnRef") -> Any:
        def look() -> Any:
            fields: dict[str, Any] = {name: reference}
            body = self.client.put(path, action="verify", **fields).body
            return body if body.get("txnStatus") == status else None

        return wait_until(f"{reference} is {status}", look)

    def wait_for_answers(self, reference: str, count: int) -> None:
        wait_until(f"{count} answers", lambda: self.deployment.fetch(COUNT_ANSWERS, reference)[0][0] >= count)

    def go_to_next_job(self, kind: str = "") -> Any:
        """Moves the merchant's clock to when its next job is due. Returns the job and its time."""
        [found] = wait_until("it has a job", lambda: self.deployment.fetch(NEXT_JOB, self.merchant_id, kind))
        self.deployment.fetch(GO_TO_JOB, self.merchant_id, found["due"])
        return found

    def has_run(self, job: Any) -> bool:
        """Whether a job is done, or due at another time."""
        query = "select 1 from scheduled_job where key = $1 and due = $2 and kind = $3"
        return not self.deployment.fetch(query, job["key"], job["due"], job["kind"])

    def wire(self, txn_ref: str) -> str:
        """Returns what vendors call a transaction."""
        return wire_reference(rail_key(self.merchant_id, txn_ref))

    def call_back(self, event: tuple[bytes, dict[str, str]]) -> None:
        body, headers = event
        with self.deployment.connect() as connection:
            assert connection.send("POST", "/rails/paystack", body, headers).http == 200

    def call_back_about_bill(self, event: Any) -> None:
        with self.deployment.connect() as connection:
            path = f"/rails/vtpass/{PATH_SECRET}"
            assert connection.send("POST", path, msgspec.json.encode(event)).http == 200

    def export(self, reference: str, *words: str) -> Any:
        """Returns the case of a reference."""
        text = self.deployment.run_command("case", "export", reference, "--mid", self.client.mid, *words)
        return msgspec.json.decode(text)


class LiveGround:
    """A live deployment with merchants that have money."""

    def __init__(self, deployment: Deployment, twins: Twins) -> None:
        self.deployment, self.twins = deployment, twins

    def open_shops(self, count: int) -> list[LiveShop]:
        """Adds merchants with opening balances. Live has no command for the money: it comes in by rails."""
        made = asyncio.run(self._add(count))
        return [
            LiveShop(self.deployment, self.twins, number, MerchantClient(self.deployment.connect(), mid, key))
            for number, mid, key in made
        ]

    async def _add(self, count: int) -> list[tuple[int, str, str]]:
        services = await Services.build(read_settings(self.twins.settings()), self.deployment.dsn)
        services.writer.start()
        try:
            return [await self._add_one(services, f"Ada Stores {number + 1}") for number in range(count)]
        finally:
            await services.close()

    async def _add_one(self, services: Services, name: str) -> tuple[int, str, str]:
        connection = await asyncpg.connect(self.deployment.dsn)
        try:
            made = await merchants.add_merchant(connection, services.vault, name)
        finally:
            await connection.close()
        await fund_new_merchant(services.writer, await services.merchant_directory.get_by_id(made[0]))
        return made


@contextlib.contextmanager
def running(deployments: Deployments, name: str = "live-cases") -> Iterator[LiveGround]:
    twins = Twins()
    with (
        TwinThread(twins.paystack),
        TwinThread(twins.vtpass),
        TwinThread(twins.dojah),
        deployments.fresh(name, **twins.settings()) as deployment,
    ):
        yield LiveGround(deployment, twins)
