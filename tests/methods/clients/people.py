"""People and in-memory rows for the pure tests of clients."""

from typing import Any

import msgspec

from kasuwa.core.action import PreflightContext
from kasuwa.core.decision import Context, Decision, LoadedRows, NeedsMore, Refusal, Row, refuse_fields
from kasuwa.methods.clients.model import BvnGuard, Client, client_key, unseal_detail
from kasuwa.methods.clients.rules.manage_client import decide_create, decide_update
from kasuwa.methods.clients.rules.validate_person import CREATE_RULES, UPDATE_RULES
from kasuwa.methods.clients.wire import CreateRequest, UpdateRequest
from kasuwa.rails.ports.orders import Person
from kasuwa.wire.decoding import decode
from tests.rule_context import MERCHANT, context

ADA: dict[str, Any] = {"firstname": "Ada", "lastname": "Obi", "phone": "08031234567"}
BVN, OTHER_BVN, ANYONE = "22212345678", "22287654321", "22222222222"


def person(**facts: Any) -> Person:
    """Ada as the register has her."""
    ada: dict[str, Any] = {"firstname": "ADA", "lastname": "OBI", "middlename": "", "dob": "1990-04-17", "phone": ""}
    return Person(**{"bvn": BVN, **ada, **facts})


class InMemoryClients:
    """The rows of one merchant. Stores what is decided, and loads what a rule needs."""

    def __init__(self, now: Context | None = None) -> None:
        self.rows: dict[bytes, Row] = {}
        self.context = now or context()

    def seen(self, keys: list[bytes]) -> LoadedRows:
        return LoadedRows({key: self.rows.get(key) for key in keys})

    def decide(self, rule: Any, request: Any, keys: list[bytes], **extra: Any) -> Decision | Refusal:
        """Runs the rule as the writer does: loads rows until the rule needs no more."""
        for _ in range(3):
            outcome = rule(request, self.context, self.seen(keys), **extra)
            if not isinstance(outcome, NeedsMore):
                break
            keys = [*keys, *(key for _, key in outcome.needs.rows)]
        assert isinstance(outcome, Decision | Refusal)
        if isinstance(outcome, Decision):
            self.rows |= {row.key: row for row in outcome.rows}
        return outcome

    def create(
        self, answer: Any = None, *, entropy: int = 0, verify_bvn: bool = False, status: Any = None, **data: Any
    ) -> Any:
        """Returns the reply to a new client. Different `entropy` makes different clients."""
        self.context = msgspec.structs.replace(self.context, entropy=bytes([entropy]) * 32)
        fields = {"data": {**ADA, **data}, "verify_bvn": verify_bvn, "status": status}
        return self.submit(CreateRequest, CREATE_RULES, decide_create, fields, [], answer)

    def update(self, client: Client, answer: Any = None, **fields: Any) -> Any:
        fields = {"client_id": client.client_id, **fields}
        return self.submit(UpdateRequest, UPDATE_RULES, decide_update, fields, [client.key], answer)

    def submit(
        self, kind: Any, rules: Any, rule: Any, value: Any, keys: list[bytes], answer: Any
    ) -> Decision | Refusal:
        """Returns the errors of the body, else the decision, as dispatch does."""
        preflight = PreflightContext(self.context.now, None)
        request = decode(kind, msgspec.json.encode(value), rules, self.context.merchant, preflight)
        if isinstance(request, tuple):
            return refuse_fields(*request)
        return self.decide(rule, request, keys, answer=answer)

    def enroll(self, **fields: Any) -> Client:
        decided = self.create(**fields)
        assert isinstance(decided, Decision), decided
        return self.now(decided.reply.data.client_id)

    def now(self, client_id: str) -> Client:
        row = self.rows[client_key(MERCHANT.merchant_id, client_id)]
        assert isinstance(row, Client)
        return row

    def detail_of(self, client_id: str) -> str:
        """Returns the stored detail of a client, decrypted."""
        return unseal_detail(self.now(client_id), self.context.vault.unseal)

    def guards(self) -> list[str | None]:
        return [row.client_id for row in self.rows.values() if isinstance(row, BvnGuard)]


def shown(decided: Any) -> Any:
    """The reply as it leaves."""
    assert isinstance(decided, Decision), decided
    return msgspec.json.decode(msgspec.json.encode(decided.reply))["data"]


def faults(decided: Any) -> dict[str, str]:
    assert isinstance(decided, Refusal), decided
    assert decided.code == 104
    return {fault.field: fault.reason for fault in decided.field_errors}
