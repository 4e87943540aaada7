"""Audit entries of what people do through actions of the API: which action, to what, and for how much."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kasuwa.core.decision import AuditEntry, Decision

# Where a reply or a request names what it is about, best first. None of these is a secret.
REFERENCE_FIELDS = (
    *("txnRef", "batchRef", "refundRef", "loan_id", "savings_id", "saving_id", "thrift_id", "client_id", "ref_code"),
    *("id", "event_id", "orderRef", "customer_txnref", "reference", "accountNumber"),
)
DETAIL_FIELDS = ("amount", "currency", "bankcode", "accountnumber", "status", "txnStatus")


def describe_action(
    actor: str, address: str, audit_text: str, title: str, fields: Mapping[str, Any], decision: Decision
) -> AuditEntry:
    """The entry for an action that was decided. `title` is the action's own name, whatever `what` calls it."""
    replied = msgspec.json.decode(msgspec.json.encode(decision.reply))
    replied = replied if isinstance(replied, dict) else {}
    nested = [inner for inner in replied.values() if isinstance(inner, dict)]
    rows = [{"txnRef": row.txn_ref} for row in decision.rows if hasattr(row, "txn_ref")]
    about = next(
        (
            str(said[name])
            for said in (*rows[:1], replied, *nested, fields)
            for name in REFERENCE_FIELDS
            if said.get(name)
        ),
        "",
    )
    figures: dict[str, Any] = {"action": title}
    figures |= {name: fields[name] for name in DETAIL_FIELDS if fields.get(name) is not None}
    if isinstance(fields.get("data"), list):
        figures["orders"] = len(fields["data"])
    return AuditEntry(actor, audit_text, about, address, after=msgspec.json.encode(figures).decode())
