"""Answers to disputes of the twin of Paystack: files by a signed address, texts, and the merchant's decision.

It is as strict as the vendor: an answer is taken once, while the dispute waits for the merchant; evidence has all of
its texts; a dispute is declined with a file that was uploaded.
"""

from collections.abc import Callable, Iterable
from typing import Any

from aiohttp import web

from kasuwa.twins.paystack_envelope import good, refused

WAITING = "awaiting-merchant-feedback"
TEXTS = ("customer_email", "customer_name", "customer_phone", "service_details")
RESOLUTIONS = ("merchant-accepted", "declined")


class PaystackDisputeRules:
    """`find` returns a dispute by its number, or None. `files`, `evidence` and `answers` keep what was handed in."""

    def __init__(self, refuse: Callable[[web.Request], web.Response | None], find: Callable[[str], Any]) -> None:
        self._refuse = refuse
        self._find = find
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
        name = f"{request.match_info['id']}-{request.query.get('upload_filename', '')}"
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
        body = await request.json()
        missing = [name for name in TEXTS if not body.get(name)]
        if refusal is not None or missing:
            return refusal or refused(400, f"{missing[0]} is required", type="validation_error")
        self.evidence.append(body)
        return good("Evidence created", {"id": len(self.evidence), "dispute": int(request.match_info["id"])})

    async def take_answer(self, request: web.Request) -> web.Response:
        refusal = self._refuse_answer(request)
        if refusal is not None:
            return refusal
        body = await request.json()
        resolution, has_amount = body.get("resolution"), isinstance(body.get("refund_amount"), int)
        if resolution not in RESOLUTIONS or not body.get("message") or not has_amount:
            return refused(400, "resolution, message and refund_amount are required", type="validation_error")
        if resolution == "declined" and body.get("uploaded_filename") not in self.files:
            return refused(400, "uploaded_filename is required", type="validation_error")
        dispute = self._find(request.match_info["id"])
        self.answers.append(body)
        dispute.status = "awaiting-bank-feedback" if resolution == "declined" else "resolved"
        dispute.resolution = resolution
        return good("Dispute successfully resolved", {"id": dispute.id, "status": dispute.status})

    def _refuse_answer(self, request: web.Request) -> web.Response | None:
        refusal, dispute = self._refuse(request), self._find(request.match_info["id"])
        if refusal is not None or dispute is None:
            return refusal or refused(404, "Dispute not found")
        return None if dispute.status == WAITING else refused(400, "Dispute is not awaiting your feedback")
