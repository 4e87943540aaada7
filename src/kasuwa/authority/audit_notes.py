"""Audit entries of API actions that users run in the console."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kasuwa.core.decision import AuditEntry, Decision

# Reply and request fields that identify the subject of an action, best first. None of them is secret.
REFERENCE_FIELDS = (
    "txnRef",
    "batchRef",
    "refundRef",
    "loan_id",
    "savings_id",
    "saving_id",
    "thrift_id",
    "client_id",
    "ref_code",
    "id",
    "event_id",
    "orderRef",
    "customer_txnref",
    "reference",
    "accountNumber",
)
# Request fields that are copied to the entry.
DETAIL_FIELDS = ("amount", "currency", "bankcode", "accountnumber", "status", "txnStatus")


class ActionNote(msgspec.Struct, frozen=True):
    """Makes the audit entry of an action that a user runs, once it is decided. It can be sent to the process that
    decides the action."""

    actor: str
    address: str  # network address of the actor
    audit_text: str  # what the entry says
    title: str  # the action's name in the API
    fields: Mapping[str, Any]  # of the request

    def __call__(self, decision: Decision) -> AuditEntry:
        """Returns the audit entry of the decision."""
        fields = self.fields
        reply = msgspec.json.decode(msgspec.json.encode(decision.reply))
        reply = reply if isinstance(reply, dict) else {}
        nested = [inner for inner in reply.values() if isinstance(inner, dict)]
        facts = dict(decision.audit_facts or {})
        rows = [{"txnRef": row.txn_ref} for row in decision.rows if hasattr(row, "txn_ref")]
        subject = next(
            (
                str(source[name])
                for source in (*rows[:1], reply, *nested, facts, fields)
                for name in REFERENCE_FIELDS
                if source.get(name)
            ),
            "",
        )
        details: dict[str, Any] = {"action": self.title}
        details |= {name: fields[name] for name in DETAIL_FIELDS if fields.get(name) is not None}
        if isinstance(fields.get("data"), list):
            details["orders"] = len(fields["data"])
        after = msgspec.json.encode({**details, **facts}).decode()
        return AuditEntry(self.actor, self.audit_text, subject, self.address, after=after)
