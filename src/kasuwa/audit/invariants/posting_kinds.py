"""The invariants of kinds that share a title.

The chain of postings covers the title of a posting. That is its kind, but for these (docs/decisions/0094). These
invariants compare such a kind with the other postings of its group, which the chain covers, and with its transaction.
"""

from kasuwa.audit.invariants.invariant import Invariant, merchant_filter
from kasuwa.ledger.posting_kinds import PAYOUT, TRANSFER, VAT_OF_FEES
from kasuwa.transactions.purpose import SCHEDULED_PAYOUT

VAT_KINDS = ", ".join(f"'{kind}'" for kind in VAT_OF_FEES)
FEES = ", ".join(f"('{kind}', '{fee}')" for kind, fees in VAT_OF_FEES.items() for fee in fees)

KIND_INVARIANTS = (
    Invariant(
        "the VAT on a fee is posted with a fee of its kind",
        f"""with fees as (
                select p.merchant_id, p.group_seq, f.vat from posting p
                join (values {FEES}) as f (vat, fee) on f.fee = p.kind where {merchant_filter("p")})
            select p.merchant_id, 'posting ' || p.seq as place from posting p
            where {merchant_filter("p")} and p.kind in ({VAT_KINDS}) and not exists (select 1 from fees f
                where f.merchant_id = p.merchant_id and f.group_seq = p.group_seq and f.vat = p.kind)""",
    ),
    Invariant(
        "a payout is posted for a transfer that a schedule made, and a transfer for any other",
        f"""select p.merchant_id, 'posting ' || p.seq as place
            from posting p left join transaction t
                on t.merchant_id = p.merchant_id and t.txn_ref = p.reference and {merchant_filter("t")}
            where {merchant_filter("p")} and p.kind in ('{PAYOUT}', '{TRANSFER}') and (p.kind = '{PAYOUT}')
                <> (coalesce(t.detail -> 'purpose' ->> 'purpose', '') = '{SCHEDULED_PAYOUT}')""",
    ),
)
