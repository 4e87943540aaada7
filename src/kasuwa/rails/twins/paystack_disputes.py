"""Answers to disputes of the twin of Paystack: files by a signed address, texts, and the merchant's decision.

It is as strict as the vendor: an answer is taken once, while the dispute waits for the merchant; evidence has all of
its texts; a dispute is declined with a file that was uploaded, and accepted with one while `asks_file_of_acceptance`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from aiohttp import web

from kasuwa.rails.twins.paystack_envelope import good, refused
from kasuwa.rails.twins.server import BODY

WAITING = "awaiting-merchant-feedback"


class PaystackDisputeRules:
    """`find` returns a dispute by its number, or None. `files`, `evidence` and `answers` keep what was handed in."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        self._find = find
        self.asks_file_of_acceptance = True
        self.files: dict[str, bytes] = {}
        self.evidence: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.get("/dispute/{id}/upload_url", self.give_address),
            web.put("/_files/{name}", self.take_file),
            web.post("/dispute/{id}/evidence", self.take_evidence),
            web.put("/dispute/{id}/resolve", self.take_answer),
        ]

    async def give_address(self, request: web.Request) -> web.Response:
        name = f"{request.match_info['id']}-{request.query['upload_filename']}"
        data = {"signedUrl": f"http://{request.host}/_files/{name}?signature=1", "fileName": name}
        return self._refuse_answer(request) or good("Upload url generated", data)

    async def take_file(self, request: web.Request) -> web.Response:
        """Plays the third party that keeps the files: it knows no keys of ours."""
        if request.query.get("signature") != "1" or "Authorization" in request.headers:
            return web.Response(status=403)
        self.files[request.match_info["name"]] = await request.read()
        return web.Response()

    async def take_evidence(self, request: web.Request) -> web.Response:
        refusal = self._refuse_answer(request)
        if refusal is not None:
            return refusal
        self.evidence.append(request[BODY])
        return good("Evidence created", {"id": len(self.evidence), "dispute": int(request.match_info["id"])})

    async def take_answer(self, request: web.Request) -> web.Response:
        refusal = self._refuse_answer(request)
        if refusal is not None:
            return refusal
        body, dispute = request[BODY], self._find(request.match_info["id"])
        resolution, file = body["resolution"], body.get("uploaded_filename")
        needs_file = resolution == "declined" or self.asks_file_of_acceptance
        if file not in self.files and (needs_file or file is not None):
            return refused(400, "uploaded_filename is required", type="validation_error")
        if body["refund_amount"] > dispute.amount:
            return refused(400, "refund_amount is above the amount of the dispute", type="validation_error")
        self.answers.append(body)
        dispute.status = "awaiting-bank-feedback" if resolution == "declined" else "resolved"
        dispute.resolution = resolution
        return good("Dispute successfully resolved", {"id": dispute.id, "status": dispute.status})

    def _refuse_answer(self, request: web.Request) -> web.Response | None:
        dispute = self._find(request.match_info["id"])
        if dispute is None:
            return refused(404, "Dispute not found")
        return None if dispute.status == WAITING else refused(400, "Dispute is not awaiting your feedback")
