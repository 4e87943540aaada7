"""Audit entries of API actions that users run in the console."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kasuwa.core.decision import AuditEntry, Decision

# Reply and request fields that identify the subject of an action, best first. None of them is secret.
REFERENCE_FIELDS = (
    *("txnRef", "batchRef", "refundRef", "loan_id", "savings_id", "saving_id", "thrift_id", "client_id", "ref_code"),
    *("id", "event_id", "orderRef", "customer_txnref", "reference", "accountNumber"),
)
# Request fields that are copied to the entry.
DETAIL_FIELDS = ("amount", "currency", "bankcode", "accountnumber", "status", "txnStatus")


def describe_action(
    actor: str, address: str, audit_text: str, title: str, fields: Mapping[str, Any], decision: Decision
) -> AuditEntry:
    """Builds the audit entry of a decided action. `title` is its name in the API, `audit_text` what the entry says."""
    reply = msgspec.json.decode(msgspec.json.encode(decision.reply))
    reply = reply if isinstance(reply, dict) else {}
    nested = [inner for inner in reply.values() if isinstance(inner, dict)]
    rows = [{"txnRef": row.txn_ref} for row in decision.rows if hasattr(row, "txn_ref")]
    subject = next(
        (
            str(source[name])
            for source in (*rows[:1], reply, *nested, fields)
            for name in REFERENCE_FIELDS
            if source.get(name)
        ),
        "",
    )
    details: dict[str, Any] = {"action": title}
    details |= {name: fields[name] for name in DETAIL_FIELDS if fields.get(name) is not None}
    if isinstance(fields.get("data"), list):
        details["orders"] = len(fields["data"])
    return AuditEntry(actor, audit_text, subject, address, after=msgspec.json.encode(details).decode())
