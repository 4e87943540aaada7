"""A merchant with records of every kind, and the paths of their pages."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from kasuwa.console.routes import ConsolePage
from tests.merchant_client import MerchantClient
from tests.methods.investments import savers
from tests.methods.loan_products.test_products import PRODUCT
from tests.methods.loans.lending_client import LendingClient
from tests.methods.payment.payment_client import PaymentClient, card
from tests.methods.virtualcard.card_client import CardClient
from tests.payer_pages import pay_on_page
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

PREPAID = "IfuR3XxiIpxqbZQ"

# A vendor in trouble, as a process would publish it.
RAIL_IN_TROUBLE = """
    insert into rail_health values ('host worker 1', 'sandbox', 8, 41.5, true,
        array['A microfinance bank with a long name', 'Zenith Bank'],
        '[{"at":1767605400,"call":"GET /api/v2/disbursements/single/summary","outcome":"not sent"}]',
        now() + interval '1 day')
    on conflict (process, rail) do nothing
"""
RAIL_BALANCE = """
    insert into rail_balance values ('sandbox', 'NGN', 123456789012, true, now() + interval '1 day')
    on conflict (rail, currency) do nothing
"""
NOTICE = """
    insert into operator_notice (merchant_id, reference, message, at)
    select merchant_id, $1, 'The rail says that it paid what the books have as failed', now() from merchant
    where mid = $2 and current returning merchant_id, notice_id
"""
# A statement with a line that is not in the books, and one that differs. Returns the account and the first line.
STATEMENT = """
    with account as (
        insert into statement_account (name, bank_account) values ('rail:bank:NGN', '0123456789')
        on conflict (name) do update set name = excluded.name returning account_id),
    file as (
        insert into statement_import (account_id, content_hash, format, file_name, line_count, new_count, first_day,
            last_day, opening, closing, imported_by)
        select account_id, $1::text::bytea, 'mt940', 'october.sta', 2, 2, '2020-01-01', '2020-01-31', 0, -100400,
            'ada@example.com'
        from account returning account_id, import_id)
    insert into statement_line (account_id, import_id, number, booked_on, amount, fee, digest, occurrence, txn_ref,
        bank_reference, description, match_id, rule, difference)
    select f.account_id, f.import_id, n, '2020-01-15', -400 * n, 0, $1::text::bytea, n, '',
        'kz1-gp-fd-000000001-20200101x', 'SMS alert charge for the month of January', case n when 2 then n end,
        case n when 2 then 'reference' else '' end, case n when 2 then -50 else 0 end
    from file f, generate_series(1, 2) n returning account_id, line_id
"""


class SampleMerchant:
    """`records` has a reference of each kind; `told` says what the other names in paths stand for."""

    def __init__(self, deployment: Deployment) -> None:
        self.shop = deployment.open_shop(name="Ada Stores")
        self.mid = self.shop.mid
        with self.shop.connection:
            self.shop.put("sandbox", action="webhook", url="http://127.0.0.1:9/nobody")
            self.reference = self.shop.transfer(narration="Invoice 1042")["txnRef"]
            self.shop.transfer(accountnumber="0000005100")
            self.shop.transfer(accountnumber="0000000020", orderRef="open")
            self.records = make_records(self.shop)
            self.batch_ref = make_waiting_bulk(self.shop)
            self.shop.put("sandbox", action="advance", days=1)
            self.shop.put("sandbox", action="settle", txnRef=self.reference, outcome="failed")
            [logged] = wait_until("a request is recorded", lambda: list_logged_requests(self.shop))
        [[merchant_id, notice_id]] = deployment.fetch(NOTICE, self.reference, self.mid)
        deployment.fetch(RAIL_IN_TROUBLE)
        deployment.fetch(RAIL_BALANCE)
        account_id, line_id = deployment.fetch(STATEMENT, self.mid)[0]
        self.path_values = {
            "account_id": str(account_id),
            "item": f"line-{line_id}",
            "merchant_id": str(merchant_id),
            "notice_id": str(notice_id),
            "ref": self.reference,
            "batch_ref": self.batch_ref,
            "transaction_form": "refund",
            "seq": "1",
            "method": "disburse",
            "action": "transfer",
            "mid": self.mid,
            "name": "wallet:main:NGN",
            "token": "nonsense",
            "key_id": "1",
            "list_name": "transactions",
            "verdict": "approve",
            "kind": "wallet",
            "endpoint_id": "2",
            "number": str(logged["number"]),
        }

    def path_of(self, path: str) -> str:
        """Returns the path of a route, filled with this merchant's objects."""
        values = {**self.path_values, "reference": self.records.get(path.split("/")[1], self.reference)}
        for name, value in values.items():
            path = path.replace("{" + name + "}", quote(value, safe=""))
        assert "{" not in path, f"{path}: say here what it shows"
        return path


def belongs_to_merchant(page: ConsolePage) -> bool:
    """Whether its path names something that belongs to one merchant; the operator sees those of all."""
    named = any("{" + name + "}" in page.path for name in ("ref", "seq", "reference", "batch_ref", "number"))
    return named and not page.path.startswith("/operator")


def list_logged_requests(shop: MerchantClient) -> list[dict[str, Any]]:
    """Returns the first request of a merchant that was recorded, or none."""
    return list(shop.put("sandbox", action="requests", after=0, limit=1).body["data"])


def make_waiting_bulk(shop: MerchantClient) -> str:
    """Makes a bulk that waits for approval. Later transfers need none."""
    order = {"amount": "2500.00", "bankcode": "058", "accountnumber": "0000000000", "narration": "Salary of January"}
    shop.put("sandbox", action="payout_policy", approve_bulk=True)
    batch: Any = shop.bulk([{**order, "orderRef": f"salary-{n}"} for n in range(3)])
    shop.put("sandbox", action="payout_policy")
    return str(batch["batchRef"])


def make_records(shop: MerchantClient) -> dict[str, str]:
    bank, lending = LendingClient(shop.connection, shop.mid, shop.key), PaymentClient(shop)
    given = card(auth="PIN")
    begun = lending.initiate(given, is_recurring=True, recurrent={"frequency": "daily", "value": "09"})
    lending.charge(begun, given)
    today = datetime.fromisoformat(shop.now())
    later = {f"{today + timedelta(days=30 * n):%d-%m-%Y}": share for n, share in ((1, 60), (2, 40))}
    lending.paid(amount=None, installment={"payment_schedule": later, "total": "1000.00"})
    client, other = bank.client(), bank.client()
    bank.lend()
    savings = savers.open_savings(shop, client, "700.00")
    thrift = savers.make_plan(shop, 3)
    savers.join(shop, thrift, savings)
    payment_terms = {
        "from": savings,
        "to": savers.open_savings(shop, client),
        "amount": "300.00",
        "frequency": "every_month",
    }
    order = savers.invest(shop, "standing_order", **payment_terms, from_date=shop.now()[:10])
    split = shop.put("sandbox", action="beneficiary", name="Bola Ade", bankcode="058", accountnumber="0000000000").body
    shop.put("cashcode", action="generate", amount="5000.00", pin="2580", channel="ATM", orderRef="cash-1")
    payee: dict[str, Any] = {"name": "Ada Obi", "reference": "customer-17", "email": "ada@example.com"}
    shop.put("resources", request="personalized-accounts", **payee)
    bill: dict[str, Any] = {"paycode": PREPAID, "reference": "45012345678", "amount": "5000.00", "orderRef": "bill-1"}
    disputed: dict[str, Any] = {"txnRef": lending.paid()["txnRef"], "reason": "fraudulent", "hours": 720}
    dispute = shop.put("sandbox", action="dispute", **disputed).body["data"]["dispute_id"]
    [settlement, *_] = shop.put("resources", inquire="settlements").body["data"]
    return {
        "disputes": str(dispute),
        "settlements": str(settlement["settlement_id"]),
        "clients": other,
        "loans": bank.request(client)["data"]["loan_id"],
        "savings": savings,
        "thrift": thrift,
        "standing-orders": str(order["data"]["order_id"]),
        **make_card_dispute(shop),
        **make_group(bank, [client, other]),
        "loan-products": str(bank.loans("create_product", **PRODUCT)["data"]["product_id"]),
        "cashcodes": "cash-1",
        "bills": str(shop.put("bills", action="pay", **bill).body["txnRef"]),
        "accounts": "customer-17",
        "beneficiaries": str(split["ref_code"]),
        "shares": str(
            shop.put("investments", action="create_share_class", name="Ordinary", price="1000.00").body["data"][
                "class_id"
            ]
        ),
        **make_sales(shop),
        "links": str(shop.put("resources", request="paylink", title="Cooking class").body["data"]["link_id"]),
        "recurrents": newest(shop, "recurrents"),
        "instalments": newest(shop, "installments"),
    }


def make_card_dispute(shop: MerchantClient) -> dict[str, str]:
    """Makes a card and a purchase of it that its holder disputes."""
    card_client = CardClient(shop)
    bought = card_client.buy("5.00")["txnRef"]
    evidence = {"explanation": "It never came"}
    disputed = card_client.ask("dispute", id=bought, reason="not received", evidence=evidence)
    return {"cards": card_client.reference, "card-disputes": str(disputed["data"]["dispute_id"])}


def make_group(bank: LendingClient, members: list[str]) -> dict[str, str]:
    """Makes a group that has borrowed."""
    group = bank.loans("create_group", name="Weavers", members=members, leader=members[0])["data"]["group_id"]
    parts = [{"client_id": member, "amount": "1000.00"} for member in members]
    terms = {"interestSettings": {"interestRate": "0.1", "interestFrequency": "every_week"}, "period": 10}
    asked = bank.loans("request_group_loan", group_id=group, loans=parts, disbursement="one", **terms)["data"]
    bank.loans("process_group_loan", group_loan_id=asked["group_loan_id"], status="approve")
    return {"groups": str(group)}


def make_sales(shop: MerchantClient) -> dict[str, str]:
    """Makes an invoice that is partly paid, a sale with a ticket sold, and their checkouts."""
    person: dict[str, Any] = {"name": "Adaeze Obiora-Nwachukwu", "email": "adaeze.obiora@example.com"}
    customer = shop.put("resources", request="customer", **person).body["data"]["customer_id"]
    goods: dict[str, Any] = {"items": [{"description": "Ankara fabric, 6 yards", "quantity": 2, "amount": "12500.00"}]}
    terms: dict[str, Any] = {"charge_user": "parts", "vat": "7.5", "date_due": "2099-01-01", "note": "Thank you, Ada."}
    invoice = shop.put("resources", request="invoice", customer_id=customer, **goods, **terms).body["data"]
    pay_on_page(shop, invoice["link"], {"amount": "10000.00"})
    kinds = [{"name": "Regular", "amount": "5000.00", "quantity": 9}, {"name": "Table for four", "amount": "40000.00"}]
    sale = shop.put("resources", request="ticket", title="Lagos Jazz Night", ticket_data=kinds).body["data"]
    pay_on_page(shop, sale["link"], {"fullname": person["name"], "email": person["email"], "count_0": "1"})
    [ticket] = shop.put("resources", inquire="ticket", link_id=sale["link_id"]).body["data"]
    mail = shop.put("resources", request="invoice_send", invoice_id=invoice["invoice_id"]).body["data"]
    return {
        "mails": str(mail["mail_id"]),
        "customers": str(customer),
        "invoices": str(invoice["invoice_id"]),
        "tickets": str(sale["link_id"]),
        "checkouts": str(ticket["checkoutRef"]),
    }


def newest(shop: MerchantClient, kind: str) -> str:
    body: Any = shop.put("resources", inquire=kind).body
    return str((body if isinstance(body, list) else body["data"])[0]["id"])
