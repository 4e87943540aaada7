"""Invariants that compare rows with the audit trail, which is chained and closed. They find rows that were deleted, and
older ones that were put back with their codes: core/row_codes.py does not."""

from kasuwa.audit.invariants.invariant import Invariant, merchant_filter

TRAIL_INVARIANTS = (
    Invariant(
        "a key that the audit trail says was made is there, and one that was revoked has ended",
        f"""select e.merchant_id, e.subject as place
            from audit_entry e left join merchant_key k
                on k.merchant_id = e.merchant_id and 'key ' || k.key_id = e.subject and {merchant_filter("k")}
            where {merchant_filter("e")} and e.action in ('made a key', 'revoked a key') and (k.key_id is null
                or e.action = 'revoked a key' and coalesce(k.expires_at, 'infinity') > e.at)""",
    ),
    # Whoever is enabled again, or given another role, has an account since then.
    Invariant(
        "an account that was disabled is, and has the role that it was given last, unless it was made anew since",
        f"""select e.merchant_id, e.subject as place
            from audit_entry e left join merchant m on m.merchant_id = e.merchant_id and {merchant_filter("m")}
            join console_user u on u.email = e.subject and u.mid is not distinct from m.mid
            where {merchant_filter("e")} and coalesce(u.account_since, u.created_at) <= e.at
                and (e.action = 'disabled' and u.disabled_at is null
                    or e.action = 'changed a role' and u.role <> e.after)""",
    ),
)
