"""The twin of VTpass: sells airtime, data, television, electricity and examination PINs.

It is as strict as the vendor: keys by kind of request, a request_id of today in Lagos that is used once, products and
bounds, and no two bills of a customer within thirty seconds. The customer reference chooses special outcomes:

    …201  stays pending until `settle` decides         …500  a code that nobody documents
    …016  fails                                        …040  reversed
    …777  delivered, and the token of a prepaid meter follows at the next query

`bills` keeps what was sold, to be compared with our books.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, timezone
from hashlib import blake2b
from typing import Any

import msgspec
from aiohttp import web

from kasuwa.twins.facts import VTPASS

LAGOS = timezone(timedelta(hours=1))
CATEGORIES = {
    "airtime": "Airtime Recharge",
    "data": "Data Services",
    "tv-subscription": "TV Subscription",
    "electricity-bill": "Electricity Bill",
    "education": "Education",
    "insurance": "Insurance",
}


class Service(msgspec.Struct, frozen=True):
    service_id: str
    name: str
    category: str
    least: str
    most: str
    variations: tuple[tuple[str, str, str, str], ...] = ()  # code, name, amount, fixedPrice
    fee: str = "0 %"


SERVICES = (
    Service("mtn", "MTN Airtime VTU", "airtime", "50", "500000"),
    Service("etisalat", "9mobile Airtime VTU", "airtime", "50", "500000"),
    Service(
        "mtn-data",
        "MTN Data",
        "data",
        "1",
        "1000000",
        (("mtn-10mb-100", "N100 100MB - 24 hrs", "100.00", "Yes"), ("mtn-odd", "Odd price", "100.50", "Yes")),
    ),
    Service(
        "dstv",
        "DSTV Subscription",
        "tv-subscription",
        "100",
        "100000",
        (("dstv-padi", "DStv Padi N1,850", "1850.00", "Yes"),),
    ),
    Service(
        "ikeja-electric",
        "Ikeja Electric Payment - IKEDC",
        "electricity-bill",
        "500",
        "2000000",
        (("prepaid", "Prepaid", "0", "No"), ("postpaid", "Postpaid", "0", "No")),
        "N0",
    ),
    Service("waec", "WAEC Result Checker PIN", "education", "1", "10000", (("waecdirect", "WAEC", "900.00", "Yes"),)),
    Service("ui-insure", "Third party insurance", "insurance", "1", "10000", (("1", "Private", "3000.00", "Yes"),)),
    Service("costly", "With a percentage", "airtime", "50", "500000", (), "1.5 %"),
)


class SoldBill(msgspec.Struct):
    """A bill that was accepted."""

    request_id: str
    service: str
    customer: str
    amount: int  # in naira
    status: str
    at: datetime
    queries: int = 0


class VtpassRules:
    name = "vtpass"
    facts = VTPASS

    def __init__(
        self,
        api_key: str = "api-1",
        public_key: str = "PK_1",
        secret_key: str = "SK_1",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.keys = (api_key, public_key, secret_key)
        self.now = now
        self.balance = 1_000_000
        self.bills: dict[str, SoldBill] = {}
        self.services = {service.service_id: service for service in SERVICES}
        self.are_twins_held_apart = True  # refuses a second bill of a customer within 30 s

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.get("/service-categories", self.list_categories),
            web.get("/services", self.list_services),
            web.get("/service-variations", self.list_variations),
            web.get("/balance", self.tell_balance),
            web.post("/merchant-verify", self.verify_customer),
            web.post("/pay", self.pay),
            web.post("/requery", self.requery),
        ]

    def settle(self, request_id: str, status: str) -> dict[str, Any]:
        """Ends a bill as the vendor's staff would. Returns the body of the call-back."""
        bill = self.bills[request_id]
        bill.status = status
        return {"type": "transaction-update", "data": self.describe(bill)}

    # --- the catalogue -------------------------------------------------------------------------------------------

    async def list_categories(self, request: web.Request) -> web.Response:
        rows = [{"identifier": code, "name": name} for code, name in CATEGORIES.items()]
        return self.refuse_reading(request) or listed(rows)

    async def list_services(self, request: web.Request) -> web.Response:
        rows = [
            {
                "serviceID": service.service_id,
                "name": service.name,
                "minimium_amount": service.least,
                "maximum_amount": int(service.most),
                "convinience_fee": service.fee,
                "product_type": "fix" if service.variations else "flexible",
                "image": "logo.jpg",
            }
            for service in self.services.values()
            if service.category == request.query.get("identifier")
        ]
        return self.refuse_reading(request) or listed(rows)

    async def list_variations(self, request: web.Request) -> web.Response:
        service = self.services.get(request.query.get("serviceID", ""))
        refusal = self.refuse_reading(request)
        if refusal is not None or service is None or not service.variations:
            return refusal or answer("012", "PRODUCT DOES NOT EXIST")
        rows = [
            {"variation_code": code, "name": name, "variation_amount": amount, "fixedPrice": fixed}
            for code, name, amount, fixed in service.variations
        ]
        spelled = "varations" if service.category == "data" else "variations"
        content = {"ServiceName": service.name, "serviceID": service.service_id, spelled: rows}
        return web.json_response({"response_description": "000", "content": content})

    async def tell_balance(self, request: web.Request) -> web.Response:
        contents = {"balance": float(self.balance)}
        return self.refuse_reading(request) or web.json_response({"code": 1, "contents": contents})

    async def verify_customer(self, request: web.Request) -> web.Response:
        body = await request.json()
        refusal = self.refuse_writing(request)
        if refusal is not None:
            return refusal
        if body.get("serviceID") not in self.services:
            return answer("012", "PRODUCT DOES NOT EXIST")
        if str(body.get("billersCode", "")).endswith("99"):
            wrong = {"error": "This meter is not correct", "WrongBillersCode": True}
            return web.json_response({"code": "000", "content": wrong})
        content = {"Customer_Name": "TESTMETER1", "Address": "ABULE EGBA", "Min_Purchase_Amount": ""}
        return web.json_response({"code": "000", "content": content})

    # --- bills ---------------------------------------------------------------------------------------------------

    async def pay(self, request: web.Request) -> web.Response:
        refusal = self.refuse_writing(request)
        if refusal is not None:
            return refusal
        body = await request.json()
        request_id = str(body.get("request_id", ""))
        if not self.is_request_id(request_id):
            return answer("085", "IMPROPER REQUEST ID")
        if request_id in self.bills:
            return answer("014", "REQUEST ID ALREADY EXIST")
        service = self.services.get(str(body.get("serviceID")))
        if service is None:
            return answer("012", "PRODUCT DOES NOT EXIST")
        code, amount = self.check_bill(service, body)
        if code:
            return answer(code, "TRANSACTION REFUSED")
        customer = str(body.get("billersCode") or body["phone"])
        now = self.now()
        recent = (bill for bill in self.bills.values() if now - bill.at < timedelta(seconds=30))
        if self.are_twins_held_apart and any((b.service, b.customer) == (service.service_id, customer) for b in recent):
            return answer("019", "LIKELY DUPLICATE TRANSACTION")
        if customer.endswith("500"):
            return answer("777", "SOMETHING ELSE")
        status = {"201": "pending", "016": "failed", "040": "reversed"}.get(customer[-3:], "delivered")
        bill = SoldBill(request_id, service.service_id, customer, amount, status, now)
        self.bills[request_id] = bill
        if status in ("delivered", "pending"):
            self.balance -= amount
        return web.json_response(self.describe(bill))

    async def requery(self, request: web.Request) -> web.Response:
        refusal = self.refuse_writing(request)
        if refusal is not None:
            return refusal
        bill = self.bills.get(str((await request.json()).get("request_id")))
        if bill is None:
            return answer("015", "INVALID REQUEST ID")
        bill.queries += 1
        return web.json_response(self.describe(bill))

    def check_bill(self, service: Service, body: dict[str, Any]) -> tuple[str, int]:
        """Returns the code of a refusal, or "" and the amount in naira."""
        if not str(body.get("phone", "")).isdecimal():
            return "011", 0
        if not service.variations:
            amount = body.get("amount")
            return self.check_amount(service, amount)
        variation = next((row for row in service.variations if row[0] == body.get("variation_code")), None)
        if variation is None:
            return "010", 0
        if service.category != "education" and not str(body.get("billersCode", "")).isdecimal():
            return "011", 0
        if service.category == "tv-subscription" and body.get("subscription_type") not in ("change", "renew"):
            return "011", 0
        if variation[3] == "Yes":
            price = int(float(variation[2]))
            return ("", price) if price <= self.balance else ("018", 0)
        return self.check_amount(service, body.get("amount"))

    def check_amount(self, service: Service, amount: Any) -> tuple[str, int]:
        if not isinstance(amount, int):
            return "011", 0
        if amount < int(service.least):
            return "013", 0
        if amount > int(service.most):
            return "017", 0
        return ("", amount) if amount <= self.balance else ("018", 0)

    def is_request_id(self, request_id: str) -> bool:
        today = self.now().astimezone(LAGOS).strftime("%Y%m%d")
        return (
            len(request_id) >= 12 and request_id[:12].isdecimal() and request_id[:8] == today and request_id.isalnum()
        )

    def describe(self, bill: SoldBill) -> dict[str, Any]:
        body: dict[str, Any] = {
            "code": {"failed": "016", "reversed": "040"}.get(bill.status, "000"),
            "response_description": "TRANSACTION SUCCESSFUL" if bill.status == "delivered" else "TRANSACTION UPDATE",
            "requestId": bill.request_id,
            "amount": f"{bill.amount}.00",
            "purchased_code": "",
            "content": {
                "transactions": {"status": bill.status, "transactionId": "1", "total_amount": bill.amount * 0.98}
            },
        }
        if bill.status == "delivered":
            body |= self.goods(bill)
        return body

    def goods(self, bill: SoldBill) -> dict[str, Any]:
        if bill.service == "ikeja-electric":
            if bill.customer.endswith("777") and not bill.queries:
                return {}
            digits = str(int.from_bytes(blake2b(bill.request_id.encode(), digest_size=8).digest(), "big")).zfill(20)
            grouped = "-".join(digits[n : n + 4] for n in range(0, 20, 4))
            return {"purchased_code": f"Token : {grouped}", "units": "79.9 kWh"}
        if bill.service == "waec":
            return {"purchased_code": "", "cards": [{"Serial": "WRN182135587", "Pin": "373820665258"}]}
        return {}

    # --- keys ----------------------------------------------------------------------------------------------------

    def refuse_parameter(self, name: str) -> web.Response:
        return answer("011", f"INVALID ARGUMENTS: {name}")

    def refuse_reading(self, request: web.Request) -> web.Response | None:
        return self.refuse(request, "public-key", self.keys[1])

    def refuse_writing(self, request: web.Request) -> web.Response | None:
        return self.refuse(request, "secret-key", self.keys[2])

    def refuse(self, request: web.Request, header: str, key: str) -> web.Response | None:
        if request.headers.get("api-key") == self.keys[0] and request.headers.get(header) == key:
            return None
        return answer("087", "INVALID CREDENTIALS")


def answer(code: str, words: str) -> web.Response:
    return web.json_response({"code": code, "response_description": words})


def listed(rows: list[dict[str, Any]]) -> web.Response:
    return web.json_response({"response_description": "000", "content": rows})
