"""Paystack: the merchant's answer to a dispute. Files go to an address of a third party, which the vendor signs.

The vendor has no keys for answers. It takes one only while the dispute waits for the merchant, so that is looked at
before anything is sent. Every answer has a file, also an acceptance: the vendor's specification requires it.
"""

from typing import Any
from urllib.parse import quote

from kasuwa.rails.ports import orders
from kasuwa.rails.ports.disputes import DisputeAnswer, EvidenceFile
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable
from kasuwa.rails.ports.transport import AnswerLost, HttpTransport, NotSent
from kasuwa.rails.vendors.client import CallObserver, VendorClient, VendorReply
from kasuwa.rails.vendors.paystack.transfers import (
    LONGEST_MESSAGE,
    NAME,
    PaystackKeys,
    get_data,
    is_envelope,
    read_message,
)

# States of a dispute in which the vendor has an answer.
ANSWERED = frozenset({"awaiting-bank-feedback", "resolved"})
DONE = Answer(orders.SUCCESSFUL, None, "The answer is handed in")
ANSWERED_BEFORE = Answer(orders.SUCCESSFUL, None, "The dispute was answered before")
NO_FILE = Answer(orders.FAILED, None, "paystack takes no evidence without a file")
ACCEPTED = "Accepted by the merchant"


def make_pdf(words: str) -> bytes:
    """Returns a PDF document of one page with a line of ASCII text."""
    page = f"BT /F1 14 Tf 72 720 Td ({words}) Tj ET"
    objects = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(page)}>>stream\n{page}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    document, offsets = "%PDF-1.4\n", ""
    for number, content in enumerate(objects, start=1):
        offsets += f"{len(document):010d} 00000 n \n"
        document += f"{number} 0 obj{content}\nendobj\n"
    table = f"xref\n0 6\n0000000000 65535 f \n{offsets}trailer<</Root 1 0 R/Size 6>>\n"
    return f"{document}{table}startxref\n{len(document)}\n%%EOF\n".encode()


# The file of an acceptance, for which the merchant gives none.
ACCEPTANCE = EvidenceFile("acceptance.pdf", "application/pdf", make_pdf(ACCEPTED))


class PaystackDisputes:
    def __init__(self, transport: HttpTransport, base_url: str, keys: PaystackKeys, observe: CallObserver) -> None:
        self._client = VendorClient(NAME, base_url, transport, is_envelope, observe)
        self._transport = transport
        self._headers = {"Authorization": f"Bearer {keys.secret_key}"}

    async def answer_dispute(self, answer: DisputeAnswer) -> Answer:
        path = f"/dispute/{quote(answer.dispute_id, safe='')}"
        dispute_reply = await self._look_up(path)
        if dispute_reply.status >= 300:
            return refuse_or_raise(dispute_reply)
        if get_data(dispute_reply).get("status") in ANSWERED:
            return ANSWERED_BEFORE
        if answer.is_accepted:
            body = {
                "resolution": "merchant-accepted",
                "message": ACCEPTED,
                "refund_amount": answer.amount,
                "uploaded_filename": await self._upload(path, ACCEPTANCE),
            }
        else:
            handed_in = await self._send_evidence(path, answer)
            if isinstance(handed_in, Answer):
                return handed_in
            body = {"resolution": "declined", "message": make_message(answer), "refund_amount": 0, **handed_in}
        reply = await self._send("PUT", f"{path}/resolve", body)
        return DONE if is_good(reply) else refuse_or_raise(reply)

    async def _send_evidence(self, path: str, answer: DisputeAnswer) -> dict[str, Any] | Answer:
        """Hands in texts and files. Returns the fields by which the vendor finds them, or its refusal."""
        if not answer.files:
            return NO_FILE
        names = [await self._upload(path, file) for file in answer.files]
        fields: dict[str, Any] = {"uploaded_filename": names[0]}
        customer = (answer.customer_email, answer.customer_name, answer.customer_phone)
        if not all(customer) or not answer.service:
            return fields  # the vendor takes these texts together, or none of them
        keys = ("customer_email", "customer_name", "customer_phone", "service_details")
        texts = dict(zip(keys, (*customer, answer.service), strict=True))
        reply = await self._send("POST", f"{path}/evidence", texts)
        if not is_good(reply):
            return refuse_or_raise(reply)
        evidence_id = get_data(reply).get("id")
        return fields if evidence_id is None else {**fields, "evidence": evidence_id}

    async def _upload(self, path: str, file: EvidenceFile) -> str:
        """Uploads a file. Returns the vendor's name of it."""
        target = get_data(await self._look_up(f"{path}/upload_url", {"upload_filename": file.name}))
        url, name = target.get("signedUrl"), target.get("fileName")
        if not isinstance(url, str) or not isinstance(name, str):
            raise Unavailable("paystack gives no address for a file")
        try:
            reply = await self._transport.send("PUT", url, file.content, {"Content-Type": file.media_type})
        except (NotSent, AnswerLost) as error:
            raise Unavailable(f"a file was not uploaded: {error}") from None
        if reply.status >= 300:
            raise Unavailable(f"a file was not uploaded: HTTP {reply.status}")
        return name

    async def _look_up(self, path: str, query: dict[str, str] | None = None) -> VendorReply:
        return await self._client.call("GET", path, moves_money=False, headers=self._headers, query=query)

    async def _send(self, method: str, path: str, body: dict[str, Any]) -> VendorReply:
        return await self._client.call(method, path, moves_money=True, headers=self._headers, body=body)


def make_message(answer: DisputeAnswer) -> str:
    return (answer.explanation or answer.service or "See the evidence")[:LONGEST_MESSAGE]


def is_good(reply: VendorReply) -> bool:
    return bool(reply.body["status"]) and reply.status < 300


def refuse_or_raise(reply: VendorReply) -> Answer:
    """Returns the vendor's refusal of an answer. Raises NoAnswer for a reply that is none."""
    if reply.status < 400:
        raise NoAnswer(read_message(reply))
    return Answer(orders.FAILED, None, read_message(reply))
