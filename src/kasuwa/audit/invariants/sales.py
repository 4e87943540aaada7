"""The invariants of what checkouts sell: invoices and tickets.

Both count what was paid in rows of their own (`invoice.paid`, `ticket_kind.sold`), and what attempts that have not
ended would add (`reserved`). The queries count it again from the payments.
"""

from kasuwa.audit.invariants.invariant import Invariant, count_jobs, merchant_filter

# The attempts to pay the checkouts of a source, each with its checkout and its transaction.
ATTEMPTS = f"""
    select c.merchant_id, c.source_id, c.txn_ref, c.detail, t.amount, t.status, p.refunded
    from checkout c
    join payment p on p.merchant_id = c.merchant_id and p.detail -> 'purpose' ->> 'purpose' = 'checkout'
        and p.detail -> 'purpose' ->> 'reference' = c.txn_ref
    join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
    where {merchant_filter("c")} and {merchant_filter("p")} and {merchant_filter("t")} and c.source = '{{source}}'
"""
OF_INVOICES = ATTEMPTS.format(source="invoice")
OF_TICKETS = ATTEMPTS.format(source="ticket")

SALE_INVARIANTS = (
    Invariant(
        "what an invoice counts as paid, refunded and reserved is that of its payments, and of receipts outside",
        f"""with summed as (
                select merchant_id, source_id,
                    coalesce(sum(amount) filter (where status = 'successful'), 0) as paid,
                    coalesce(sum(least(refunded, amount)) filter (where status = 'successful'), 0) as refunded,
                    coalesce(sum(amount) filter (where status not in ('successful', 'failed')), 0) as reserved
                from ({OF_INVOICES}) a group by 1, 2)
            select i.merchant_id, i.invoice_id as place
            from invoice i left join summed s on s.merchant_id = i.merchant_id and s.source_id = i.invoice_id
            where {merchant_filter("i")} and (i.paid - i.received_outside <> coalesce(s.paid, 0)
                or i.received_outside <> (select coalesce(sum((r.one ->> 'amount')::bigint), 0)
                    from json_array_elements(i.receipts) r (one) where r.one -> 'undone_at' is null)
                or i.refunded <> coalesce(s.refunded, 0)
                or i.reserved <> coalesce(s.reserved, 0) or i.paid + i.reserved > i.total)""",
    ),
    Invariant(
        "an invoice is paid if its total was, void only if nothing was, and watched by one job until its due date",
        f"""select i.merchant_id, i.invoice_id as place from invoice i {count_jobs("i")}
            where {merchant_filter("i")} and (
                (i.status = 'paid') <> (i.paid = i.total) or (i.status = 'paid') <> (i.paid_at is not null)
                or (i.status = 'void') <> (i.voided_at is not null)
                or (i.status in ('void', 'unpaid') and i.paid <> 0) or (i.status = 'void' and i.reserved <> 0)
                or (i.status = 'partly_paid' and i.paid = 0) or (i.status = 'overdue' and i.due_on is null)
                or coalesce(j.jobs, 0) not between
                    (i.status in ('unpaid', 'partly_paid') and i.due_on is not null)::int
                    and (i.status not in ('paid', 'void') and i.due_on is not null)::int)""",
    ),
    Invariant(
        "every change of an invoice has an event",
        f"""with reported as (
                select merchant_id, object as invoice_id, count(*) as events from event
                where {merchant_filter()} and kind = 'invoice' group by 1, 2)
            select i.merchant_id, i.invoice_id as place
            from invoice i left join reported using (merchant_id, invoice_id)
            where {merchant_filter("i")} and i.event_count <> coalesce(events, 0)""",
    ),
    Invariant(
        "a mail is queued exactly while it has a job, and has a time of sending only if it was sent",
        f"""select m.merchant_id, m.mail_id as place from mail m {count_jobs("m")}
            where {merchant_filter("m")} and ((m.status = 'queued')::int <> coalesce(j.jobs, 0)
                or (m.status = 'sent') <> (m.sent_at is not null))""",
    ),
    Invariant(
        "the invoices of a merchant are numbered without a gap, up to its counter",
        f"""select merchant_id, coalesce(n.last_number, 0) || ' counted' as place
            from (select merchant_id, count(*) as invoices, max(number) as highest from invoice
                where {merchant_filter()} group by 1) i
            full join (select merchant_id, last_number from invoice_counter where {merchant_filter()}) n
                using (merchant_id)
            where n.last_number is distinct from i.highest or i.highest is distinct from i.invoices""",
    ),
    Invariant(
        "what a kind of ticket counts as sold and used are its tickets, with reserved ones never above its quantity",
        f"""with counted as (
                select merchant_id, link_id, place, count(*) filter (where state <> 'void') as sold,
                    count(*) filter (where state = 'used') as used
                from ticket where {merchant_filter()} group by 1, 2, 3)
            select k.merchant_id, k.link_id || ' ' || k.name as place from ticket_kind k
            left join counted t on t.merchant_id = k.merchant_id and t.link_id = k.link_id and t.place = k.place
            where {merchant_filter("k")} and (k.sold <> coalesce(t.sold, 0) or k.used <> coalesce(t.used, 0)
                or k.sold + k.reserved > k.quantity)""",
    ),
    Invariant(
        "what is reserved of a kind of ticket is what open attempts to pay would buy",
        f"""with buying as (
                select a.merchant_id, a.source_id, (o.item ->> 'reference')::bigint as place,
                    sum(coalesce((o.item ->> 'quantity')::bigint, 1)) as reserved
                from ({OF_TICKETS}) a cross join lateral json_array_elements(a.detail -> 'items') o (item)
                where a.status not in ('successful', 'failed') group by 1, 2, 3)
            select k.merchant_id, k.link_id || ' ' || k.name as place from ticket_kind k
            left join buying b on b.merchant_id = k.merchant_id and b.source_id = k.link_id and b.place = k.place
            where {merchant_filter("k")} and k.reserved <> coalesce(b.reserved, 0)""",
    ),
    Invariant(
        "a paid purchase has as many tickets of each kind as were paid for, and any other none",
        f"""with bought as (
                select c.merchant_id, c.txn_ref as checkout_ref, c.payment_ref,
                    (o.item ->> 'reference')::bigint as place,
                    sum(coalesce((o.item ->> 'quantity')::bigint, 1)) as tickets
                from checkout c cross join lateral json_array_elements(c.detail -> 'items') o (item)
                where {merchant_filter("c")} and c.source = 'ticket' and c.state = 'paid' group by 1, 2, 3, 4),
            issued as (
                select merchant_id, checkout_ref, payment_ref, place, count(*) as tickets from ticket
                where {merchant_filter()} group by 1, 2, 3, 4)
            select merchant_id, checkout_ref as place
            from bought b full join issued i using (merchant_id, checkout_ref, payment_ref, place)
            where b.tickets is distinct from i.tickets""",
    ),
    Invariant(
        "every ticket is found by its code, and is void only if its whole price went back",
        f"""with found as (
                select merchant_id, reference, count(*) as times from token_index
                where {merchant_filter()} and kind = 'ticket' group by 1, 2)
            select t.merchant_id, t.checkout_ref || ' ' || t.number as place
            from ticket t left join payment p
                on p.merchant_id = t.merchant_id and p.txn_ref = t.payment_ref and {merchant_filter("p")}
            left join transaction x
                on x.merchant_id = t.merchant_id and x.txn_ref = t.payment_ref and {merchant_filter("x")}
            left join found f on f.merchant_id = t.merchant_id and f.reference = t.checkout_ref || ' ' || t.number
            where {merchant_filter("t")} and (f.times is distinct from 1
                or (t.state = 'used') <> (t.used_at is not null)
                or (t.state = 'void' and p.refunded + p.disputed < x.amount)
                or (t.state = 'valid' and p.refunded >= x.amount))""",
    ),
)
