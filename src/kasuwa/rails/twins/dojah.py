"""The twin of Dojah: look-ups and comparisons of BVNs.

A BVN that begins with 222 belongs to somebody, any other to nobody. The last digits choose special answers:

    …404  no such BVN          …424  the register behind does not answer
    …402  our balance is used up        …400  another refusal
    …001  on the watch list
"""

from collections.abc import Iterable
from typing import Any

from aiohttp import web

from kasuwa.rails.twins.facts import DOJAH
from kasuwa.rails.twins.forms import Problem

SPECIAL = {
    "404": (404, "BVN not found"),
    "424": (424, "Third party API failed"),
    "402": (402, "Insufficient balance in your wallet"),
    "400": (400, "Invalid request"),
}


class DojahRules:
    name = "dojah"
    facts = DOJAH

    def __init__(self, app_id: str = "app-1", secret_key: str = "test_sk_1") -> None:
        self.app_id = app_id
        self.secret_key = secret_key
        self.balance = 5_000.50
        self.compares_in_full = False  # answers a comparison where a person is asked for

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.get("/api/v1/kyc/bvn/full", self.look_up),
            web.get("/api/v1/kyc/bvn", self.compare),
            web.get("/api/v1/balance", self.tell_balance),
        ]

    def refuse_form(self, problem: Problem) -> web.Response:
        words = "BVN must be 11 digits" if problem.name == "bvn" else f"{problem.name} is {problem.kind}"
        return web.json_response({"error": words}, status=400)

    def refuse(self, request: web.Request) -> web.Response | None:
        known = request.headers.get("AppId") == self.app_id
        if known and request.headers.get("Authorization") == self.secret_key:
            return None
        return web.json_response({"error": "Your secret key could not be authorized"}, status=401)

    async def tell_balance(self, request: web.Request) -> web.Response:
        return web.json_response({"entity": {"wallet_balance": self.balance}})

    async def look_up(self, request: web.Request) -> web.Response:
        bvn = request.query["bvn"]
        entity = {"bvn": {"value": bvn, "status": True}} if self.compares_in_full else describe_person(bvn)
        return self.refuse_bvn(bvn) or web.json_response({"entity": entity})

    async def compare(self, request: web.Request) -> web.Response:
        refusal = self.refuse_bvn(request.query["bvn"])
        if refusal is not None:
            return refusal
        query, person = request.query, describe_person(request.query["bvn"])
        compared: dict[str, Any] = {"bvn": {"value": query["bvn"], "status": True}}
        for name in ("first_name", "last_name"):
            is_same = query.get(name, "").upper() == person[name]
            compared[name] = {"confidence_value": 100 if is_same else 0, "status": is_same}
        if "dob" in query:
            compared["dob"] = {"value": query["dob"], "status": query["dob"] == "1990-06-28"}
        return web.json_response({"entity": compared})

    def refuse_bvn(self, bvn: str) -> web.Response | None:
        special = SPECIAL.get(bvn[-3:])
        if special is not None:
            return web.json_response({"error": special[1]}, status=special[0])
        return None if bvn.startswith("222") else web.json_response({"entity": {}})


def describe_person(bvn: str) -> dict[str, Any]:
    return {
        "bvn": bvn,
        "first_name": "ADAEZE",
        "last_name": "OKAFOR",
        "middle_name": "CHIOMA",
        "date_of_birth": "28-Jun-1990",
        "phone_number1": "08031234567",
        "phone_number2": None,
        "gender": "Female",
        "watch_listed": "YES" if bvn.endswith("001") else "NO",
        "residential_address": "12 Broad Street, Lagos",
        "image": "/9j/" + "A" * 20_000,
    }
