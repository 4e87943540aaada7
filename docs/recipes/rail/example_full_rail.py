"""The example rail with the other services of the protocol: bills, payments, accounts, identity.

python example_full_rail.py --secret-file secret
"""

import json
from typing import ClassVar

from example_rail import Fields, Rail, Refused, serve

METER, OTP, BVN = "45012345678", "123456", "22212345678"
BILLER = {"id": 1, "name": "Power", "reference": "Meter number", "category": "power", "slug": "power"}
CATALOGUE = {
    "categories": [{"code": "power", "name": "Electricity"}],
    "billers": [BILLER | {"pattern": "[0-9]{11}", "least": 100, "most": 10_000_000}],
    "items": [{"paycode": "power", "name": "Units", "biller": 1, "amount": 0, "fulfillment": "electricity_token"}],
}
PERSON = {"bvn": BVN, "firstname": "ADA", "lastname": "OBI", "dob": "1990-01-02", "phone": "08031234567"}


class FullRail(Rail):
    """A rail that serves everything."""

    samples: ClassVar[dict[str, Fields]] = Rail.samples | {
        "bills": {"paycode": "power", "reference": METER, "unknown_reference": "45099999999", "amount": "500000"},
        "payments": {"method": "account", "payer": "0123456785", "provider": "058", "otp": OTP, "wrong_otp": "000000"},
        "accounts": {"name": "ADA OBI"},
        "identity": {"bvn": BVN, "unknown_bvn": "33312345678"},
    }
    spending: ClassVar[tuple[str, ...]] = ("transfers", "bills")

    def __init__(self, data: str, secrets: dict[str, bytes], callback: str, open_seconds: float) -> None:
        super().__init__(data, secrets, callback, open_seconds)
        self.orders |= {
            "bills": lambda order: {"code": "00", "facts": {"token": f"{len(order['key']):020}"}},
            "payments/begin": lambda order: {"outcome": "challenge", "facts": {"session": order["key"], "auth": "OTP"}},
            "refunds": self.refund,
            "accounts": self.open_account,
        }
        self.lookups |= {
            "bills/catalogue": lambda _: CATALOGUE,
            "bills/customer": lambda asked: {"name": "ADA OBI"} if asked["reference"] == METER else {},
            "identity": lambda asked: PERSON if asked["bvn"] == BVN else {},
            "payments/validate": self.validate,
            "payments/query": lambda asked: self.query(f"payments/{asked['step']}", asked["key"]),
            "accounts/close": self.close_account,
            "accounts/credits": lambda _: {"credits": []},
            "accounts/credits/query": lambda _: {},
        }

    def validate(self, request: Fields) -> Fields:
        """Checks the payer's code. A payment that has ended stays as it is."""
        with self.lock:
            payment = self.query("payments/begin", request["key"])
            if payment["outcome"] == "not_found":
                raise Refused(400, "invalid_request", "there is no such payment")
            known = self.query("payments/validate", request["key"])
            if known["outcome"] in ("successful", "failed"):
                return known
            otp = request.get("otp")
            outcome = "failed" if otp is None else "successful" if otp == OTP else "wrong_code"
            answer = payment | {"outcome": outcome}
            self.record("payments/validate", request["key"], "", answer, 0)
            return answer

    def refund(self, request: Fields) -> Fields:
        paid = self.query("payments/validate", request["payment_key"])
        rows = self.db.execute("select content, answer from entry where kind = 'refunds'").fetchall()
        earlier = [json.loads(content) for content, answer in rows if json.loads(answer)["outcome"] == "successful"]
        total = sum(refund["amount"] for refund in earlier if refund["payment_key"] == request["payment_key"])
        if paid["outcome"] != "successful" or total + request["amount"] > paid["amount"]:
            return {"outcome": "failed", "message": "More than was paid"}
        return {}

    def open_account(self, request: Fields) -> Fields:
        number = self.db.execute("select 9900000000 + count(*) from entry where kind = 'accounts'").fetchone()[0]
        return {
            "outcome": "open",
            "account_number": str(number),
            "bank_code": "000013",
            "account_name": request["name"],
        }

    def close_account(self, request: Fields) -> Fields:
        found = self.find("accounts", request["key"])
        if found is None:
            return {}
        closed = found[1] | {"outcome": "closed"}
        self.record("accounts", request["key"], found[0], closed, 0)
        return closed


if __name__ == "__main__":
    serve(FullRail)
