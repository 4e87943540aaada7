"""Accounts, disputes and settlements of the twin of Paystack.

An account needs a customer with a name and a telephone number, and a bank that the vendor offers. A customer who has an
account gets the same one again. `pay_into` simulates a payer. The returned call-back need not be delivered. A test
may change `holds_assignments`: accounts then have no number until `assign` is called.

The last name of a customer chooses the outcome: `Refused` is refused for want of an identity, `Limited` because of our
own limit, `Vague` without a reason.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec
from aiohttp import web

from kasuwa.rails.twins.paystack_disputes import PaystackDisputeRules
from kasuwa.rails.twins.paystack_envelope import PageMarker, good, paged, refused
from kasuwa.rails.twins.server import BODY, deliver

BANKS = {"wema-bank": "Wema Bank", "titan-paystack": "Paystack-Titan", "test-bank": "Test Bank"}


class Customer(msgspec.Struct):
    """A customer, with the account that was opened for them."""

    id: int
    code: str
    email: str
    first_name: str
    last_name: str
    phone: str
    account: "Account | None" = None
    closed: list["Account"] = []  # accounts that the customer had before


class Account(msgspec.Struct):
    """A dedicated account."""

    id: int
    number: str
    bank: str
    is_assigned: bool = True
    is_active: bool = True


class Payment(msgspec.Struct):
    """Money that a payer paid into an account."""

    reference: str
    amount: int  # in kobo
    number: str
    sender: str
    status: str
    at: datetime
    currency: str = "NGN"
    channel: str = "dedicated_nuban"


class Dispute(msgspec.Struct):
    """A payment that the payer's bank disputes."""

    id: int
    payment: str
    amount: int
    at: datetime
    due_at: datetime
    status: str = "awaiting-merchant-feedback"
    resolution: str | None = None


class PaystackAccountRules:
    """The part of the vendor that knows customers, accounts, disputes and settlements."""

    def __init__(
        self,
        domain: str,
        sign: Callable[[dict[str, Any]], tuple[bytes, dict[str, str]]],
    ) -> None:
        self.domain = domain
        self.sign = sign
        self.holds_assignments = False
        self.keeps_accounts = False  # refuses to close them
        self.repeats_accounts = True  # gives a customer's account again; if not, a second one is refused
        self.not_found_http: Literal[400, 404] = 400  # of unknown transactions
        self.page_size_name: Literal["per_page", "perPage"] = "per_page"  # of the list of transactions
        self.page_marker: PageMarker = "pageCount"
        # Answers for transactions that are no payments into accounts, if another part of the API has them.
        self.verify_other: Callable[[web.Request], Awaitable[web.Response]] | None = None
        self.customers: dict[str, Customer] = {}  # by email address
        self.payments: dict[str, Payment] = {}
        self.disputes: dict[int, Dispute] = {}
        self.dispute_answers = PaystackDisputeRules(self.find_dispute)
        self.settlements: list[dict[str, Any]] = []

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.post("/_twin/pay_into", self.pay_on_request),
            web.post("/customer", self.make_customer),
            web.get("/customer/{customer}", self.show_customer),
            web.post("/dedicated_account", self.open_account),
            web.get("/dedicated_account", self.list_accounts),
            web.delete("/dedicated_account/{id}", self.close_account),
            web.get("/transaction", self.list_payments),
            web.get("/transaction/verify/{reference}", self.verify),
            web.get("/dispute", self.list_disputes),
            web.get("/dispute/{id}", self.show_dispute),
            web.get("/settlement", self.list_settlements),
            *self.dispute_answers.routes(),
        ]

    # --- what happens outside ----------------------------------------------------------------------------------

    def pay_into(self, number: str, amount: int, sender: str = "CHIDI EZE") -> tuple[bytes, dict[str, str]]:
        """Pays into an account. Returns the body and the headers of the call-back."""
        reference = f"{1_700_000_000_000 + len(self.payments)}{number}"
        self.payments[reference] = Payment(reference, amount, number, sender, "success", datetime.now(UTC))
        return self.announce(reference)

    async def pay_on_request(self, request: web.Request) -> web.Response:
        """Pays into an account for a person who tries the twin: `account_number`, `amount` in kobo, `callback_url`."""
        body = await request.json()
        event = self.pay_into(body["account_number"], int(body["amount"]))
        status = await deliver(body["callback_url"], event) if body.get("callback_url") else None
        return web.json_response({"event": event[0].decode(), "headers": event[1], "answer": status})

    def announce(self, reference: str) -> tuple[bytes, dict[str, str]]:
        return self.sign({"event": "charge.success", "data": self.describe_payment(self.payments[reference])})

    def assign(self, email: str) -> tuple[bytes, dict[str, str]]:
        """Gives an account its number. Returns the body and the headers of the call-back."""
        customer = self.customers[email]
        assert customer.account is not None
        customer.account.is_assigned = True
        data = {
            "customer": self.describe_customer(customer),
            "dedicated_account": self.describe_account(customer, customer.account),
        }
        return self.sign({"event": "dedicatedaccount.assign.success", "data": data})

    def dispute(self, payment: str, amount: int) -> tuple[bytes, dict[str, str]]:
        """Disputes a payment. Returns the body and the headers of the call-back."""
        number, now = 358_950 + len(self.disputes), datetime.now(UTC)
        self.disputes[number] = Dispute(number, payment, amount, now, now + timedelta(hours=16))
        return self.sign({"event": "charge.dispute.create", "data": self.describe_dispute(self.disputes[number])})

    def resolve(self, number: int, resolution: str) -> tuple[bytes, dict[str, str]]:
        """Ends a dispute. Returns the body and the headers of the call-back."""
        dispute = self.disputes[number]
        dispute.status, dispute.resolution = "resolved", resolution
        return self.sign({"event": "charge.dispute.resolve", "data": self.describe_dispute(dispute)})

    def settle_payments(self) -> None:
        """Pays out what came in."""
        total = sum(payment.amount for payment in self.payments.values() if payment.status == "success")
        self.settlements.append(
            {
                "id": 3_090_024 + len(self.settlements),
                "domain": self.domain,
                "status": "success",
                "currency": "NGN",
                "total_amount": total - 5000,
                "effective_amount": total - 5000,
                "total_fees": 5000,
                "total_processed": total,
                "settlement_date": datetime.now(UTC).strftime("%Y-%m-%dT00:00:00.000Z"),
            }
        )

    # --- customers and accounts ----------------------------------------------------------------------------------

    async def make_customer(self, request: web.Request) -> web.Response:
        body = request[BODY]
        email = body["email"].lower()
        if "@" not in email or "." not in email.partition("@")[2]:
            return refused(400, "Email is invalid", type="validation_error")
        if email not in self.customers:
            number = 90_758_908 + len(self.customers)
            first, last, phone = (body.get(name, "") for name in ("first_name", "last_name", "phone"))
            self.customers[email] = Customer(number, f"CUS_{number}", email, first, last, phone)
        return good("Customer created", self.describe_customer(self.customers[email]))

    async def show_customer(self, request: web.Request) -> web.Response:
        customer = self.customers.get(request.match_info["customer"].lower())
        if customer is None:
            return refused(404, "Customer not found", type="validation_error", code="customer_not_found")
        return good("Customer retrieved", self.describe_customer(customer))

    async def open_account(self, request: web.Request) -> web.Response:
        body = request[BODY]
        customer = next(
            (candidate for candidate in self.customers.values() if candidate.code == body["customer"]), None
        )
        if customer is None:
            return refused(404, "Customer not found", type="validation_error")
        if not customer.first_name or not customer.last_name or not customer.phone:
            return refused(400, "Customer phone number and names are required", type="validation_error")
        bank = body["preferred_bank"]
        if bank not in BANKS or (bank == "test-bank") != (self.domain == "test"):
            return refused(400, "Preferred bank is invalid", type="validation_error")
        match customer.last_name:
            case "Refused":
                return refused(400, "Customer must be identified before an account is created", type="api_error")
            case "Limited":
                return refused(400, "You have reached the limit of dedicated accounts", type="api_error")
            case "Vague":
                return refused(400, "Something is wrong", type="api_error", code="unknown")
        if customer.account is not None and not self.repeats_accounts:
            return refused(400, "Customer already has a dedicated account", type="validation_error")
        if customer.account is None:
            number = f"99{60_000_000 + customer.id % 10_000_000:08d}"
            is_assigned = not self.holds_assignments
            customer.account = Account(customer.id - 90_000_000, number, bank, is_assigned)
        return good("NUBAN successfully created", self.describe_account(customer, customer.account))

    async def list_accounts(self, request: web.Request) -> web.Response:
        wanted, active = request.query.get("customer"), request.query.get("active")
        rows = [
            self.describe_account(customer, account)
            for customer in self.customers.values()
            for account in (*customer.closed, customer.account)
            if account is not None
            and wanted in (None, str(customer.id))
            and active in (None, "true" if account.is_active else "false")
        ]
        words = "Managed accounts successfully retrieved"
        return paged(words, rows, request.query, marker=self.page_marker)

    async def close_account(self, request: web.Request) -> web.Response:
        if self.keeps_accounts:
            return refused(400, "Dedicated account cannot be deactivated", type="api_error")
        for customer in self.customers.values():
            if customer.account is not None and str(customer.account.id) == request.match_info["id"]:
                customer.account.is_active = False
                return good(
                    "Managed Account Successfully Unassigned", self.describe_account(customer, customer.account)
                )
        return refused(404, "Dedicated account not found", type="validation_error")

    # --- payments, disputes, settlements ---------------------------------------------------------------------------

    async def verify(self, request: web.Request) -> web.Response:
        payment = self.payments.get(request.match_info["reference"])
        if payment is None and self.verify_other is not None:
            return await self.verify_other(request)
        return self.not_found() if payment is None else good("Verification successful", self.describe_payment(payment))

    def not_found(self) -> web.Response:
        words = "Transaction reference not found."
        return refused(self.not_found_http, words, type="validation_error", code="transaction_not_found")

    async def list_payments(self, request: web.Request) -> web.Response:
        query = request.query
        rows = [
            self.describe_payment(payment)
            for payment in reversed(self.payments.values())
            if is_between(payment.at, query)
            and query.get("virtual_account_number") in (None, payment.number)
            and query.get("status") in (None, payment.status)
            and query.get("channel") in (None, payment.channel)
        ]
        return paged("Transactions retrieved", rows, query, self.page_size_name, self.page_marker)

    async def list_disputes(self, request: web.Request) -> web.Response:
        query = request.query
        rows = [
            self.describe_dispute(dispute)
            for dispute in reversed(self.disputes.values())
            if is_between(dispute.at, query)
            and query.get("status") in (None, dispute.status)
            and query.get("transaction") in (None, dispute.payment)
        ]
        return paged("Disputes retrieved", rows, query, marker=self.page_marker)

    def find_dispute(self, number: str) -> Dispute | None:
        return self.disputes.get(int(number)) if number.isdigit() else None

    async def show_dispute(self, request: web.Request) -> web.Response:
        dispute = self.find_dispute(request.match_info["id"])
        return (
            refused(404, "Dispute not found")
            if dispute is None
            else good("Dispute retrieved", self.describe_dispute(dispute))
        )

    async def list_settlements(self, request: web.Request) -> web.Response:
        rows = [
            row
            for row in reversed(self.settlements)
            if is_between(datetime.fromisoformat(row["settlement_date"]), request.query)
            and request.query.get("status") in (None, row["status"])
        ]
        return paged("Settlements retrieved", rows, request.query, marker=self.page_marker)

    # --- forms -------------------------------------------------------------------------------------------------------

    def describe_customer(self, customer: Customer) -> dict[str, Any]:
        return {
            "id": customer.id,
            "customer_code": customer.code,
            "email": customer.email,
            "first_name": customer.first_name,
            "last_name": customer.last_name,
            "phone": customer.phone,
            "domain": self.domain,
        }

    def describe_account(self, customer: Customer, account: Account) -> dict[str, Any]:
        return {
            "id": account.id,
            "account_number": account.number if account.is_assigned else "",
            "account_name": f"KASUWA/{customer.first_name} {customer.last_name}".upper(),
            "bank": {"id": 20, "name": BANKS[account.bank], "slug": account.bank},
            "assigned": account.is_assigned,
            "active": account.is_active,
            "currency": "NGN",
            "customer": self.describe_customer(customer),
        }

    def describe_payment(self, payment: Payment) -> dict[str, Any]:
        return {
            "id": int(payment.reference[:13]),
            "domain": self.domain,
            "status": payment.status,
            "reference": payment.reference,
            "amount": payment.amount,
            "currency": payment.currency,
            "channel": payment.channel,
            "paid_at": payment.at.isoformat(),
            "metadata": {"receiver_account_number": payment.number},
            "authorization": {
                "channel": payment.channel,
                "receiver_bank_account_number": payment.number,
                "receiver_bank": "Wema Bank",
                "sender_name": payment.sender,
                "sender_bank": "Access Bank",
                "sender_bank_account_number": "XXXXXX4321",
                "narration": "NIP transfer",
            },
        }

    def describe_dispute(self, dispute: Dispute) -> dict[str, Any]:
        return {
            "id": dispute.id,
            "domain": self.domain,
            "refund_amount": dispute.amount,
            "currency": "NGN",
            "status": dispute.status,
            "resolution": dispute.resolution,
            "dueAt": dispute.due_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "transaction": {"reference": dispute.payment, "amount": dispute.amount, "currency": "NGN"},
        }


def is_between(at: datetime, query: Mapping[str, str]) -> bool:
    """Returns whether a time is not before `from` and not after `to`, where they are given. A date is its midnight."""
    first, last = (datetime.fromisoformat(query[name]) if name in query else None for name in ("from", "to"))
    first, last = (time.replace(tzinfo=time.tzinfo or UTC) if time else None for time in (first, last))
    return (first is None or at >= first) and (last is None or at <= last)
