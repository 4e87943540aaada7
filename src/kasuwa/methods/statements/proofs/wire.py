"""The request and reply of `resources` for proofs of postings. Contract: resources#proofs"""

from typing import Literal

import msgspec
from msgspec import field

from kasuwa.wire.fields import Reference


class ProofRequest(msgspec.Struct, kw_only=True):
    """Asks for the proof of what a transaction posted."""

    reference: Reference
    "The transaction's `txnRef` or your own reference of it, or a `reference` of a statement."


class ProofPosting(msgspec.Struct, kw_only=True):
    """One posting of a group."""

    debit_account: str
    "Account that it left, such as `wallet:main:NGN`. The last part is the currency."
    credit_account: str
    "Account that it entered."
    amount_minor: str
    "Amount in minor units."
    debit_after: str
    "Balance of the debited account after it, in minor units."
    credit_after: str
    "Balance of the credited account after it, in minor units."
    kind: str
    "What it is, such as `transfer` or `VAT on fee`."


class ProofGroup(msgspec.Struct, kw_only=True):
    """Postings that happened together."""

    number: int
    "Number of the first posting. The others follow without a gap."
    at: int
    "Time in microseconds since 1970, UTC."
    reference: str
    "Reference of the transaction, or of what caused it."
    postings: list[ProofPosting]
    "The postings, in order."


class ProofMark(msgspec.Struct, kw_only=True):
    """The place of the chain's value in the tree of marks of the head."""

    index: int
    "Place of the mark, counted from 0."
    path: list[str]
    "Hashes of the inclusion proof, from the leaf up, in hexadecimal."


class ProofHead(msgspec.Struct, kw_only=True):
    """The head of your chains at the close: a leaf of the close's tree."""

    merchant_id: int
    "Number of your books. It changes when the test environment resets them."
    posting_seq: int
    "Number of the last posting."
    posting_head: str
    "Value of the chain of postings there, in hexadecimal."
    mark_count: int
    "Number of marks since the close before."
    mark_root: str
    "Root of the tree of those marks."
    event_seq: int
    "Number of the last event."
    event_head: str
    "Value of the chain of events there."
    audit_seq: int
    "Number of the last entry of your audit trail."
    audit_head: str
    "Hash of that entry. Empty if there is none."


class ProofClose(msgspec.Struct, kw_only=True):
    """A close, as it is published."""

    number: int
    "Number of the close."
    closed_at: str
    "Time of the close, in UTC."
    tree_size: int
    "Number of leaves of the tree."
    root: str
    "Root of the tree, in hexadecimal."
    previous: str
    "Hash of the close before."
    public_key: str
    "Ed25519 key that signed it. Compare it with the one that the operator published."
    signature: str
    "The signature."


class Proof(msgspec.Struct, kw_only=True):
    """All that is needed to check postings against a close. docs/proofs.md describes how."""

    state: Literal["closed", "pending"]
    "`pending` until the next close: then the fields that follow `last` are null or empty."
    first: int
    "Number of the first posting that is proven."
    last: int
    "Number of the last posting that is proven."
    start: str | None = None
    "Value of the chain before the first group, in hexadecimal."
    groups: list[ProofGroup] = field(default_factory=list)
    """All groups from the one before `first` to the next mark, or to the head if there is none: no group between is
    left out."""
    mark: ProofMark | None = None
    "Place of the mark at which the groups end. Null if they end at the head."
    head: ProofHead | None = None
    "Your head at the close."
    index: int | None = None
    "Place of the head in the close's tree, counted from 0."
    path: list[str] = field(default_factory=list)
    "Hashes of the inclusion proof of the head, from the leaf up, in hexadecimal."
    close: ProofClose | None = None
    "The close."


class ProofReply(msgspec.Struct, kw_only=True):
    """The proofs of what has the reference."""

    status: Literal[200] = 200
    "200: there is such a reference."
    message: str
    "The outcome in words."
    data: list[Proof]
    "A proof for each group of postings, oldest first, at most 20. Empty if no money moved."
    format: Literal["kasuwa proof 1"] = field(default="kasuwa proof 1")
    "Format of the proofs."
