"""The example rail with the other services of the protocol: bills, payments, accounts, identity.

python example_full_rail.py --secret-file secret
"""

import hmac
import json
import secrets
import threading
import time
import urllib.request
from typing import ClassVar

from example_rail import SIGNATURE, Fields, Rail, Refused, serve, sign

METER, OTP, BVN = "45012345678", "123456", "22212345678"
REFUSING_BVN = "22212345679"  # of a person who refuses
# A payer who pays on the rail's page, and an account into which somebody pays, both after --open-seconds.
PAYING_EMAIL, CREDITED_NAME, CREDIT = "pays@example.com", "CREDITED OBI", 250_000
NEVER = 1e12  # seconds since the epoch
PAGE_CARD = {"identity": "card-1", "mask": "408408******4081", "bin": "408408", "brand": "visa", "country": "NG"}
BILLER = {"id": 1, "name": "Power", "reference": "Meter number", "category": "power", "slug": "power"}
CATALOGUE = {
    "categories": [{"code": "power", "name": "Electricity"}],
    "billers": [BILLER | {"pattern": "[0-9]{11}", "least": 100, "most": 10_000_000}],
    "items": [{"paycode": "power", "name": "Units", "biller": 1, "amount": 0, "fulfillment": "electricity_token"}],
}
PERSON = {"bvn": BVN, "firstname": "ADA", "lastname": "OBI", "dob": "1990-01-02", "phone": "08031234567"}
BEGUN_STEPS = ("payments/validate", "payments/charge", "payments/begin")


class FullRail(Rail):
    """A rail that serves everything."""

    samples: ClassVar[dict[str, Fields]] = Rail.samples | {
        "bills": {"paycode": "power", "reference": METER, "unknown_reference": "45099999999", "amount": "500000"},
        "payments": {"method": "account", "payer": "0123456785", "provider": "058", "otp": OTP, "wrong_otp": "000000"},
        "accounts": {"name": "ADA OBI", "credited_name": CREDITED_NAME},
        "cards": {"card_number": "5399410000000003", "currency": "NGN"},
        "identity": {"bvn": BVN, "unknown_bvn": "33312345678", "consenting_bvn": BVN, "refusing_bvn": REFUSING_BVN},
    }
    samples["payments"]["paying_email"] = PAYING_EMAIL
    spending: ClassVar[tuple[str, ...]] = ("transfers", "bills")

    def __init__(self, data: str, secrets: dict[str, bytes], callback: str, open_seconds: float) -> None:
        super().__init__(data, secrets, callback, open_seconds)
        self.orders |= {
            "bills": lambda order: {"code": "00", "facts": {"token": f"{len(order['key']):020}"}},
            "payments/begin": self.begin,
            "payments/charge": lambda order: {"outcome": "successful" if order.get("token") == "T-1" else "failed"},
            "refunds": self.refund,
            "accounts": self.open_account,
        }
        self.lookups |= {
            "bills/catalogue": lambda _: CATALOGUE,
            "bills/customer": lambda asked: {"name": "ADA OBI"} if asked["reference"] == METER else {},
            "identity": self.find_person,
            "identity/consent": self.begin_consent,
            "identity/match": self.compare_person,
            "cards/simulate": self.simulate_purchase,
            "payments/validate": self.validate,
            "payments/query": lambda asked: self.query(f"payments/{asked['step']}", asked["key"]),
            "accounts/close": self.close_account,
            "accounts/credits": self.list_credits,
            "accounts/credits/query": self.find_credit,
        }

    # --- identity --------------------------------------------------------------------------------------------------

    def find_person(self, asked: Fields) -> Fields:
        if asked.get("consent", "").endswith(REFUSING_BVN):
            return {"outcome": "consent_refused"}
        return PERSON if asked["bvn"] == BVN else {}

    def begin_consent(self, asked: Fields) -> Fields:
        """Opens a page on which the person agrees. Here the person has agreed or refused at once."""
        reference = f"consent-{asked['bvn']}"
        known = asked["bvn"] in (BVN, REFUSING_BVN)
        return {"reference": reference, "url": f"https://rail.example/consent/{reference}"} if known else {}

    def compare_person(self, asked: Fields) -> Fields:
        names = (asked["firstname"].upper(), asked["lastname"].upper())
        name = "full" if names == ("ADA", "OBI") else "no"
        dob = "full" if asked.get("dob") == PERSON["dob"] else "no"
        return {"fields": {"name": name, "dob": dob}} if asked["bvn"] == BVN else {}

    # --- cards that Kasuwa's merchants issue -----------------------------------------------------------------------

    def simulate_purchase(self, asked: Fields) -> Fields:
        threading.Thread(target=self.buy, args=[asked], daemon=True).start()
        return {"outcome": "found"}

    def buy(self, asked: Fields) -> None:
        """Asks for an authorization. One that is approved is captured, or given up."""
        key = f"net-{secrets.token_hex(6)}"
        shop = {"merchant_name": "Example shop", "country": "NG", "channel": "online"}
        wanted = {name: asked[name] for name in ("card_number", "amount", "currency")}
        if self.announce({"event": "authorize", "key": key} | wanted | shop)["outcome"] != "approved":
            return
        if asked.get("capture"):
            taken = {"event": "capture", "key": f"{key}-c", "original_key": key, "amount": asked["capture"]}
            self.announce(taken)
        else:
            self.announce({"event": "reverse", "key": f"{key}-r", "original_key": key})

    def announce(self, message: Fields) -> Fields:
        """Sends a message until it has a decision that is signed rightly. Nobody knows what another answer means."""
        body, path = json.dumps(message).encode(), "/rails/remote/cards"
        key_id, secret = next(iter(self.secrets.items()))
        for _ in range(100):
            moment = int(time.time())
            digest = sign(secret, moment, "POST", path, body)
            header = {"Kasuwa-Signature": f"t={moment},k={key_id},v1={digest}"}
            try:
                with urllib.request.urlopen(urllib.request.Request(self.callback + "/cards", body, header)) as reply:
                    answer = reply.read()
                    given = SIGNATURE.fullmatch(reply.headers.get("Kasuwa-Signature", ""))
                if given and hmac.compare_digest(sign(secret, int(given[1]), "200", digest, answer), given[3]):
                    return dict(json.loads(answer))
            except OSError:
                pass  # it was not answered, or with an error
            time.sleep(0.1)
        return {"outcome": "declined"}

    # --- payments --------------------------------------------------------------------------------------------------

    def begin(self, order: Fields) -> Fields:
        """Asks the payer of a bank account for a code. All others pay on the rail's own page, or by what it shows."""
        key, method = order["key"], order["method"]
        if method == "account":
            return {"outcome": "challenge", "facts": {"session": key, "auth": "OTP"}}
        facts = {"session": key, "auth": "redirect", "url": f"https://rail.example/pay/{key}"}
        if method == "ussd":
            facts = {"session": key, "auth": "ussd", "ussd_code": "*966*000*1#"}
        if method == "bank_transfer":
            facts = {"session": key, "auth": "device", "account_number": "9800000001", "bank_name": "Example Bank"}
        pays = order.get("email") == PAYING_EMAIL
        paid_at = time.time() + self.open_seconds if pays else NEVER
        if pays:
            threading.Timer(self.open_seconds + 0.05, self.call_back, [key]).start()
        card = {"card": PAGE_CARD | {"token": "T-1", "email": order.get("email", "")}} if method == "card" else {}
        before = {"outcome": "challenge", "facts": facts, "card": None}
        return {"code": "00", "open_until": paid_at, "before": before, **card}

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
        """Gives back a payment, or money that came into an account."""
        paid = self.find("credits", request["credit"]) if request.get("credit") else None
        answers = [paid[1]] if paid else [self.query(step, request["payment_key"]) for step in BEGUN_STEPS]
        limit = next((answer["amount"] for answer in answers if answer["outcome"] == "successful"), 0)
        rows = self.db.execute("select content, answer from entry where kind = 'refunds'").fetchall()
        earlier = [json.loads(content) for content, answer in rows if json.loads(answer)["outcome"] == "successful"]
        total = sum(refund["amount"] for refund in earlier if refund["payment_key"] == request["payment_key"])
        if total + request["amount"] > limit:
            return {"outcome": "failed", "message": "More than was paid"}
        return {}

    # --- accounts --------------------------------------------------------------------------------------------------

    def open_account(self, request: Fields) -> Fields:
        number = self.db.execute("select 9900000000 + count(*) from entry where kind = 'accounts'").fetchone()[0]
        if request["name"] == CREDITED_NAME:
            threading.Timer(self.open_seconds, self.credit, [request["key"], str(number), CREDIT]).start()
        return {
            "outcome": "open",
            "account_number": str(number),
            "bank_code": "000013",
            "account_name": request["name"],
        }

    def close_account(self, request: Fields) -> Fields:
        found = self.find("accounts", request["key"])
        if found is None:
            return {"outcome": "not_found", "key": request["key"]}
        closed = found[1] | {"outcome": "closed"}
        self.record("accounts", request["key"], found[0], closed, 0)
        return closed

    def credit(self, key: str, number: str, amount: int) -> None:
        """Records money that came into an account, then announces it."""
        with self.lock:
            count = self.db.execute("select count(*) from entry where kind = 'credits'").fetchone()[0]
            credit: Fields = {"rail_reference": f"C-{count + 1:06}", "key": key, "account_number": number}
            credit |= {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "sender_name": "BOLA ADE"}
            credit |= {"amount": amount, "currency": "NGN"}
            answer = {"outcome": "successful", "amount": amount}
            self.record("credits", credit["rail_reference"], json.dumps(credit), answer, 0)
        self.call_back(key, "credit", credit["rail_reference"])

    def find_credit(self, asked: Fields) -> Fields:
        found = self.find("credits", asked["rail_reference"])
        return {"credit": json.loads(found[0])} if found else {}

    def list_credits(self, asked: Fields) -> Fields:
        """Lists at most 100 credits, by their reference, which grows with time."""
        query = "select content from entry where kind = 'credits' and key > ? order by key"
        credits = [json.loads(row[0]) for row in self.db.execute(query, (asked.get("after", ""),))]
        wanted = asked.get("key", "")
        return {
            "outcome": "found",
            "credits": [c for c in credits if c["at"] >= asked["since"] and c["key"] in (wanted or c["key"],)][:100],
        }


if __name__ == "__main__":
    serve(FullRail)
