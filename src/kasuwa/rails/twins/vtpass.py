"""The twin of VTpass: sells airtime, data, television, electricity and examination PINs.

It is as strict as the vendor: keys by kind of request, a request_id of today in Lagos that is used once, products and
bounds, and no two bills of a customer within thirty seconds. The customer reference chooses special outcomes:

    …201  stays pending until `settle` decides         …500  a code that nobody documents
    …016  fails                                        …040  reversed
    …777  delivered, and the token of a prepaid meter follows at the next query

vtpass_calls.py has the forms of its calls. `bills` keeps what was sold, to be compared with our books.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from hashlib import blake2b
from typing import Any, Literal

import msgspec
from aiohttp import web

from kasuwa.rails.twins.facts import VTPASS
from kasuwa.rails.twins.forms import Problem
from kasuwa.rails.twins.server import BODY

# The fields of a bill by the category of its product, besides request_id, serviceID and phone: those that are needed,
# and those that may be there.
BILL_FIELDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "airtime": (frozenset({"amount"}), frozenset()),
    "data": (frozenset({"billersCode", "variation_code"}), frozenset({"amount"})),
    "tv-subscription": (
        frozenset({"billersCode", "subscription_type"}),
        frozenset({"variation_code", "amount", "quantity"}),
    ),
    "electricity-bill": (frozenset({"billersCode", "variation_code", "amount"}), frozenset()),
    "education": (frozenset({"variation_code"}), frozenset({"amount", "quantity"})),
    "insurance": (frozenset({"billersCode", "variation_code"}), frozenset({"amount"})),
}
REQUEST_ID = re.compile("[0-9]{12}[A-Za-z0-9]{0,32}", re.ASCII)
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
        self.tells_status = True  # in content.transactions
        self.confirming_code: Literal["000", "020"] = "000"  # of a customer who is known
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
        return listed(rows)

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
            if service.category == request.query["identifier"]
        ]
        return listed(rows)

    async def list_variations(self, request: web.Request) -> web.Response:
        service = self.services.get(request.query["serviceID"])
        if service is None or not service.variations:
            return answer("012", "PRODUCT DOES NOT EXIST")
        rows = [
            {"variation_code": code, "name": name, "variation_amount": amount, "fixedPrice": fixed}
            for code, name, amount, fixed in service.variations
        ]
        spelled = "varations" if service.category == "data" else "variations"
        content = {"ServiceName": service.name, "serviceID": service.service_id, spelled: rows}
        return web.json_response({"response_description": "000", "content": content})

    async def tell_balance(self, request: web.Request) -> web.Response:
        contents = {"balance": float(self.balance)}
        return web.json_response({"code": 1, "contents": contents})

    async def verify_customer(self, request: web.Request) -> web.Response:
        body = request[BODY]
        service = self.services.get(body["serviceID"])
        if service is None:
            return answer("012", "PRODUCT DOES NOT EXIST")
        if (service.category == "electricity-bill") != ("type" in body):
            return answer("011", "INVALID ARGUMENTS: type")
        if body["billersCode"].endswith("99"):
            wrong = {"error": "This meter is not correct", "WrongBillersCode": True}
            return web.json_response({"code": "000", "content": wrong})
        content = {"Customer_Name": "TESTMETER1", "Address": "ABULE EGBA", "Min_Purchase_Amount": ""}
        return web.json_response({"code": self.confirming_code, "content": content})

    # --- bills ---------------------------------------------------------------------------------------------------

    async def pay(self, request: web.Request) -> web.Response:
        body = request[BODY]
        request_id = body["request_id"]
        if not self.is_request_id(request_id):
            return answer("085", "IMPROPER REQUEST ID")
        if request_id in self.bills:
            return answer("014", "REQUEST ID ALREADY EXIST")
        service = self.services.get(body["serviceID"])
        if service is None:
            return answer("012", "PRODUCT DOES NOT EXIST")
        code, amount = self.check_bill(service, body)
        if code:
            return answer(code, "TRANSACTION REFUSED")
        customer = body.get("billersCode", body["phone"])
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
        bill = self.bills.get(request[BODY]["request_id"])
        if bill is None:
            return answer("015", "INVALID REQUEST ID")
        bill.queries += 1
        return web.json_response(self.describe(bill))

    def check_bill(self, service: Service, body: dict[str, Any]) -> tuple[str, int]:
        """Returns the code of a refusal, or "" and the amount in naira."""
        needed, possible = BILL_FIELDS[service.category]
        named = body.keys() - {"request_id", "serviceID", "phone"}
        if needed - named or named - needed - possible:
            return "011", 0
        if not service.variations:
            return self.check_amount(service, body["amount"])
        if body.get("subscription_type") == "renew":
            return self.check_amount(service, body.get("amount", 0))
        variation = next((row for row in service.variations if row[0] == body.get("variation_code")), None)
        if variation is None:
            return "010", 0
        if variation[3] == "Yes":
            price = int(float(variation[2]))
            return ("", price) if price <= self.balance else ("018", 0)
        return self.check_amount(service, body["amount"])

    def check_amount(self, service: Service, amount: int) -> tuple[str, int]:
        if amount < int(service.least):
            return "013", 0
        if amount > int(service.most):
            return "017", 0
        return ("", amount) if amount <= self.balance else ("018", 0)

    def is_request_id(self, request_id: str) -> bool:
        today = self.now().astimezone(LAGOS).strftime("%Y%m%d")
        return REQUEST_ID.fullmatch(request_id) is not None and request_id[:8] == today

    def describe(self, bill: SoldBill) -> dict[str, Any]:
        body: dict[str, Any] = {
            "code": {"failed": "016", "reversed": "040"}.get(bill.status, "000"),
            "response_description": "TRANSACTION SUCCESSFUL" if bill.status == "delivered" else "TRANSACTION UPDATE",
            "requestId": bill.request_id,
            "amount": f"{bill.amount}.00",
            "purchased_code": "",
        }
        if self.tells_status:
            transaction = {"status": bill.status, "transactionId": "1", "total_amount": bill.amount * 0.98}
            body["content"] = {"transactions": transaction}
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

    def refuse_form(self, problem: Problem) -> web.Response:
        return answer("011", f"INVALID ARGUMENTS: {problem.name}")

    def refuse(self, request: web.Request) -> web.Response | None:
        """Wants the key of the kind of request, and no key of the other kind."""
        api_key, public_key, secret_key = self.keys
        wanted = {"public-key": public_key} if request.method == "GET" else {"secret-key": secret_key}
        keys = {name: request.headers[name] for name in ("public-key", "secret-key") if name in request.headers}
        if request.headers.get("api-key") == api_key and keys == wanted:
            return None
        return answer("087", "INVALID CREDENTIALS")


def answer(code: str, words: str) -> web.Response:
    return web.json_response({"code": code, "response_description": words})


def listed(rows: list[dict[str, Any]]) -> web.Response:
    return web.json_response({"response_description": "000", "content": rows})
