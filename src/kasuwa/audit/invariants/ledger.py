"""The invariants of the ledger, each a statement and a query that returns where it is violated.

`kasuwa audit` checks them over the whole database, and the tests after everything that moves money.
"""

from typing import Any

from kasuwa.audit.audit_scope import split_scope
from kasuwa.audit.chain_audit import Violation, find_chain_violations
from kasuwa.audit.invariants.card_disputes import CARD_DISPUTE_INVARIANTS
from kasuwa.audit.invariants.collections import COLLECTION_INVARIANTS
from kasuwa.audit.invariants.disputes import DISPUTE_INVARIANTS
from kasuwa.audit.invariants.groups import GROUP_INVARIANTS
from kasuwa.audit.invariants.holds import HOLD_INVARIANTS
from kasuwa.audit.invariants.invariant import ALL_MERCHANTS, PREPARE_AUDIT, Invariant, count_jobs, merchant_filter
from kasuwa.audit.invariants.lending import LENDING_INVARIANTS
from kasuwa.audit.invariants.posting_kinds import KIND_INVARIANTS
from kasuwa.audit.invariants.sales import SALE_INVARIANTS
from kasuwa.audit.invariants.shares import SHARE_INVARIANTS
from kasuwa.audit.invariants.standing_orders import STANDING_ORDER_INVARIANTS
from kasuwa.audit.invariants.suspense import SUSPENSE_INVARIANTS
from kasuwa.audit.invariants.totals import TOTAL_INVARIANTS
from kasuwa.audit.invariants.trail import TRAIL_INVARIANTS
from kasuwa.postgres.layout import find_layout

INVARIANTS = (
    Invariant(
        "a posting moves money between two accounts of one currency",
        f"""select merchant_id, 'posting ' || seq as place from posting where {merchant_filter()}
            and (debit = credit or split_part(debit, ':', 3) <> split_part(credit, ':', 3))""",
    ),
    Invariant(
        "all balances of a merchant sum to zero per currency, external accounts included",
        f"""select merchant_id, currency || ': ' || sum(posted) as place from account where {merchant_filter()}
            group by merchant_id, currency having sum(posted) <> 0""",
    ),
    Invariant(
        "an account's balance is the sum of its postings",
        f"""with moved as (
                select merchant_id, debit as name, -amount as amount from posting where {merchant_filter()}
                union all select merchant_id, credit, amount from posting where {merchant_filter()}),
            summed as (select merchant_id, name, sum(amount) as posted from moved group by 1, 2),
            mine as (select merchant_id, name, posted from account where {merchant_filter()})
            select merchant_id, name || ': ' || coalesce(a.posted, 0) || ' kept, ' || coalesce(s.posted, 0)
                || ' posted' as place
            from mine a full join summed s using (merchant_id, name)
            where coalesce(a.posted, 0) <> coalesce(s.posted, 0)""",
    ),
    Invariant(
        "every posting shows the balances that it left",
        f"""with moved as (
                select merchant_id, seq, debit as name, -amount as amount, debit_after as after
                from posting where {merchant_filter()}
                union all select merchant_id, seq, credit, amount, credit_after from posting where {merchant_filter()}),
            running as (
                select *, sum(amount) over (partition by merchant_id, name order by seq) as expected from moved)
            select merchant_id, 'posting ' || seq || ' on ' || name as place from running
            where after <> expected""",
    ),
    *KIND_INVARIANTS,
    Invariant(
        "postings and events are numbered without a gap, up to their book's counters",
        f"""with posted as (select merchant_id, count(*) as postings from posting where {merchant_filter()} group by 1),
            reported as (select merchant_id, count(*) as events from event where {merchant_filter()} group by 1)
            select b.merchant_id, b.last_posting_seq || ' postings, ' || b.last_event_seq || ' events counted' as place
            from merchant_state b left join posted using (merchant_id) left join reported using (merchant_id)
            where {merchant_filter("b")}
            and (b.last_posting_seq, b.last_event_seq) <> (coalesce(postings, 0), coalesce(events, 0))""",
    ),
    Invariant(
        "no account is below its floor, holds counted",
        f"""select merchant_id, name as place from account
            where {merchant_filter()} and floor is not null and posted - held < floor""",
    ),
    *HOLD_INVARIANTS,
    Invariant(
        "the list of failed transactions shows all of them, each as it is",
        f"""with listed as (select * from failed_transaction where {merchant_filter()}),
            failed as (select * from transaction where {merchant_filter()} and status = 'failed')
            select merchant_id, coalesce(t.txn_ref, f.txn_ref) as place
            from failed t full join listed f using (merchant_id, created_at, seq, key)
            where (t.kind, t.txn_ref, t.order_ref, t.currency, t.amount, t.fee, t.vat, t.duty, t.status, t.message,
                t.detail::text, t.final_at) is distinct from (f.kind, f.txn_ref, f.order_ref, f.currency, f.amount,
                f.fee, f.vat, f.duty, f.status, f.message, f.detail::text, f.final_at)""",
    ),
    Invariant(
        "every final transaction has exactly one event, and an open one none",
        f"""with reported as (
                select merchant_id, reference as txn_ref, count(*) as events from event
                where {merchant_filter()} group by 1, 2)
            select t.merchant_id, t.txn_ref as place
            from transaction t left join reported using (merchant_id, txn_ref)
            where {merchant_filter("t")} and (t.status in ('successful', 'failed'))::int <> coalesce(events, 0)""",
    ),
    *TOTAL_INVARIANTS,
    Invariant(
        "every order of a bulk that was not in conflict is a transfer",
        f"""with both_sides as (
                select b.merchant_id, o.entry ->> 'txn_ref' as txn_ref, false as is_transfer,
                    b.batch_ref || ' ' || (o.entry ->> 'order_ref') as place
                from transfer_batch b cross join lateral json_array_elements(b.detail) as o(entry)
                where {merchant_filter("b")} and o.entry ->> 'conflict' is null
                union all select merchant_id, txn_ref, true, null
                from transaction where {merchant_filter()} and kind = 'transfer')
            select merchant_id, min(place) as place from both_sides group by merchant_id, txn_ref
            having not bool_or(is_transfer)""",
    ),
    Invariant(
        "a successful bill gave its commission back to the wallet, any other nothing",
        f"""with given as (
                select merchant_id, reference as txn_ref, sum(amount) as commission from posting
                where {merchant_filter()} and kind = 'bill commission' group by 1, 2)
            select t.merchant_id, t.txn_ref as place from transaction t left join given using (merchant_id, txn_ref)
            where {merchant_filter("t")} and t.kind = 'bill' and coalesce(commission, 0)
                <> case t.status when 'successful' then (t.detail ->> 'commission')::bigint else 0 end""",
    ),
    Invariant(
        "what a bill brought is kept if it promised a token or a PIN and was delivered, and only then",
        f"""with kept as (select merchant_id, txn_ref, true as is_kept from bill_voucher where {merchant_filter()})
            select t.merchant_id, t.txn_ref as place from transaction t left join kept using (merchant_id, txn_ref)
            where {merchant_filter("t")} and t.kind = 'bill' and coalesce(is_kept, false)
                <> (t.status = 'successful' and t.detail ->> 'fulfilment' in ('electricity_token', 'pin'))""",
    ),
    Invariant(
        "whoever guards a BVN has one, and shares it with no other client",
        f"""with owners as (
                select merchant_id, client_id, count(*) over (partition by merchant_id, bvn_hash) as sharing
                from client where {merchant_filter()} and bvn_hash is not null)
            select b.merchant_id, b.client_id as place
            from client_bvn b left join owners using (merchant_id, client_id)
            where {merchant_filter("b")} and b.client_id is not null and sharing is distinct from 1""",
    ),
    Invariant(
        "of an erased client nothing tells who it was, and no account is open",
        f"""select merchant_id, client_id as place from client where {merchant_filter()} and erased_at is not null
            and (open_accounts > 0 or bvn_verified
                or num_nonnulls(bvn_hash, bvn_mask, bvn_sealed, bvn_check_sealed) > 0
                or num_nonnulls(detail_sealed, phone_hash, email_hash) > 0)""",
    ),
    Invariant(
        "whoever has an open loan or savings is active",
        f"""select merchant_id, client_id as place from client where {merchant_filter()}
            and open_accounts > 0 and status <> 'active'""",
    ),
    Invariant(
        "a personalized account that was opened is in the directory",
        f"""with found as (
                select merchant_id, reference from token_index where {merchant_filter()} and kind = 'account')
            select p.merchant_id, p.reference as place from personalized_account p
            left join found d on d.merchant_id = p.merchant_id and d.reference = 'personalized ' || p.reference
            where {merchant_filter("p")} and p.state in ('open', 'closing', 'closed') and d.reference is null""",
    ),
    Invariant(
        "a cashcode stands as its transaction does, and three wrong PINs lock it",
        f"""select c.merchant_id, c.txn_ref as place
            from cashcode c left join transaction t
                on t.merchant_id = c.merchant_id and t.txn_ref = c.txn_ref and {merchant_filter("t")}
            where {merchant_filter("c")} and (t.kind is distinct from 'cashcode' or t.order_ref <> c.order_ref
                or t.status <> case c.state when 'active' then 'pending' when 'redeemed' then 'successful'
                    else 'failed' end
                or (c.tries = 3) <> (c.state = 'locked'))""",
    ),
    Invariant(
        "a redeemed cashcode took what was drawn, its fee and VAT, and any other nothing",
        f"""with taken as (
                select p.merchant_id, p.reference, p.credit, sum(p.amount) as amount from posting p
                where {merchant_filter("p")} and p.credit in ('rail:cash:NGN', 'income:cashcode:NGN', 'tax:vat:NGN')
                group by 1, 2, 3)
            select c.merchant_id, c.txn_ref || ' ' || x.credit as place
            from cashcode c join transaction t
                on t.merchant_id = c.merchant_id and t.txn_ref = c.txn_ref and {merchant_filter("t")}
            cross join lateral (values ('rail:cash:NGN', c.paid), ('income:cashcode:NGN', t.fee),
                ('tax:vat:NGN', t.vat)) as x(credit, amount)
            left join taken k on k.merchant_id = c.merchant_id and k.reference = c.txn_ref and k.credit = x.credit
            where {merchant_filter("c")} and (
                coalesce(k.amount, 0) <> case c.state when 'redeemed' then x.amount else 0 end
                or c.paid > t.amount or (c.paid > 0) <> (c.state = 'redeemed'))""",
    ),
    Invariant(
        "cash that a cashcode drew came from the account that it was made for",
        f"""select p.merchant_id, c.txn_ref as place
            from posting p join cashcode c on c.merchant_id = p.merchant_id and c.txn_ref = p.reference
            where {merchant_filter("p")} and {merchant_filter("c")}
            and p.credit = 'rail:cash:NGN' and p.debit <> c.source""",
    ),
    Invariant(
        "every cashcode is found by the directory, once",
        f"""with found as (
                select merchant_id, reference, count(*) as times from token_index
                where {merchant_filter()} and kind = 'cashcode' group by 1, 2)
            select c.merchant_id, c.txn_ref as place from cashcode c
            left join found d on d.merchant_id = c.merchant_id and d.reference = c.order_ref
            where {merchant_filter("c")} and d.times is distinct from 1""",
    ),
    Invariant(
        "a payment is done when it is final, and then keeps no card",
        f"""select p.merchant_id, p.txn_ref as place
            from payment p join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
            where {merchant_filter("p")} and {merchant_filter("t")} and (
                (t.status in ('successful', 'failed')) <> (p.stage = 'done')
                or (p.stage = 'done' and p.sealed_card is not null))""",
    ),
    Invariant(
        "a successful payment posted what was charged, its fee and its VAT, any other nothing",
        f"""with both_sides as (
                select p.merchant_id, p.txn_ref, true as is_payment,
                    case t.status when 'successful' then p.charged else 0 end as charged,
                    case t.status when 'successful' then t.fee else 0 end as fee,
                    case t.status when 'successful' then t.vat else 0 end as vat
                from payment p join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
                where {merchant_filter("p")} and {merchant_filter("t")}
                union all select merchant_id, reference, false, case kind when 'payment' then -amount else 0 end,
                    case kind when 'collection fee' then -amount else 0 end,
                    case kind when 'collection VAT' then -amount else 0 end
                from posting
                where {merchant_filter()} and kind in ('payment', 'collection fee', 'collection VAT'))
            select merchant_id, txn_ref as place from both_sides group by 1, 2
            having bool_or(is_payment) and (sum(charged) <> 0 or sum(fee) <> 0 or sum(vat) <> 0)""",
    ),
    Invariant(
        "each part of a successful split payment was posted to its beneficiary, to the kobo, and no other",
        f"""with told as (
                select p.merchant_id, p.txn_ref, p.settled, d.part ->> 'ref_code' as ref_code,
                    sum(coalesce((d.part ->> 'share')::numeric,
                        floor(p.settled * (d.part ->> 'percentage')::numeric / 100 + 0.5)))
                        over (partition by p.merchant_id, p.txn_ref order by d.n) as up_to, d.n
                from payment p join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
                cross join lateral json_array_elements(p.detail -> 'split') with ordinality d (part, n)
                where {merchant_filter("p")} and {merchant_filter("t")} and t.status = 'successful'),
            due as (
                select merchant_id, txn_ref, ref_code, least(settled, up_to) - least(settled, lag(up_to, 1, 0::numeric)
                    over (partition by merchant_id, txn_ref order by n)) as amount from told),
            posted as (
                select merchant_id, reference as txn_ref, split_part(credit, ':', 2) as ref_code, sum(amount) as amount
                from posting where {merchant_filter()} and kind = 'split' group by 1, 2, 3)
            select merchant_id, txn_ref || ' ' || ref_code as place
            from due full join posted using (merchant_id, txn_ref, ref_code)
            where coalesce(due.amount, 0) <> coalesce(posted.amount, 0)""",
    ),
    Invariant(
        "what went back of a payment is the sum of its successful refunds, with the open ones never above its charge",
        f"""with both_sides as (
                select merchant_id, txn_ref, true as is_payment, refunded, refunding,
                    refunded + refunding + disputed > charged as is_above
                from payment where {merchant_filter()}
                union all select merchant_id, detail ->> 'payment', false,
                    case when status = 'successful' then -amount else 0 end,
                    case when status not in ('successful', 'failed') then -amount else 0 end, false
                from transaction where {merchant_filter()} and kind = 'refund'
                    and (detail ->> 'is_return' is null or detail ->> 'is_of_charge' is not null))
            select merchant_id, txn_ref as place from both_sides group by 1, 2
            having bool_or(is_payment) and (sum(refunded) <> 0 or sum(refunding) <> 0 or bool_or(is_above))""",
    ),
    *DISPUTE_INVARIANTS,
    *SUSPENSE_INVARIANTS,
    Invariant(
        "the batch of a day has the balance of its account, and a job settles it",
        f"""with gathered as (
                select g.merchant_id, case kind when 'payout' then 'beneficiary:' || owner when 'reserve'
                    then 'reserve:' || day else 'settling:' || day end || ':' || currency as name,
                    sum(amount) as amount, bool_and(state = 'sent' or j.jobs is not null) as moves
                from settlement_batch g {count_jobs("g")}
                where {merchant_filter("g")} and state <> 'done' group by 1, 2),
            mine as (
                select merchant_id, name, posted from account
                where {merchant_filter()} and split_part(name, ':', 1) in ('beneficiary', 'settling', 'reserve'))
            select merchant_id, name as place from mine full join gathered using (merchant_id, name)
            where coalesce(posted, 0) <> coalesce(amount, 0) or not coalesce(moves, true)""",
    ),
    Invariant(
        "an active plan has one job or one open charge, any other no job; its paid total is that of its charges",
        f"""with charges as (
                select p.merchant_id, p.detail -> 'purpose' ->> 'reference' as plan_id,
                    sum(t.amount) filter (where t.status = 'successful') as paid,
                    count(*) filter (where t.status not in ('successful', 'failed')) as under_way
                from payment p join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
                    and {merchant_filter("t")}
                where {merchant_filter("p")} and p.detail -> 'purpose' ->> 'purpose' in ('recurrent', 'instalment')
                group by 1, 2)
            select p.merchant_id, p.plan_id as place
            from payment_plan p join transaction f on f.merchant_id = p.merchant_id and f.txn_ref = p.first_ref
            left join charges c on c.merchant_id = p.merchant_id and c.plan_id = p.plan_id
            {count_jobs("p")}
            where {merchant_filter("p")} and {merchant_filter("f")} and (p.charging::int <> coalesce(c.under_way, 0)
                or p.paid <> f.amount + coalesce(c.paid, 0)
                or (p.state = 'active' and not p.charging)::int <> coalesce(j.jobs, 0))""",
    ),
    Invariant(
        "a checkout is paid by one successful payment or not at all, and an open one has a job that ends it",
        f"""with paid as (
                select p.merchant_id, p.detail -> 'purpose' ->> 'reference' as reference, count(*) as times,
                    min(p.txn_ref) as txn_ref
                from payment p join transaction t on t.merchant_id = p.merchant_id and t.txn_ref = p.txn_ref
                    and {merchant_filter("t")}
                where {merchant_filter("p")} and p.detail -> 'purpose' ->> 'purpose' = 'checkout'
                    and t.status = 'successful'
                group by 1, 2)
            select c.merchant_id, c.txn_ref as place
            from checkout c left join paid d on d.merchant_id = c.merchant_id and d.reference = c.txn_ref
            {count_jobs("c")}
            where {merchant_filter("c")} and (coalesce(d.times, 0) <> (c.state = 'paid')::int
                or (c.state = 'paid' and c.payment_ref <> d.txn_ref)
                or (c.state = 'open')::int <> coalesce(j.jobs, 0))""",
    ),
    *CARD_DISPUTE_INVARIANTS,
    *SALE_INVARIANTS,
    *LENDING_INVARIANTS,
    *SHARE_INVARIANTS,
    *STANDING_ORDER_INVARIANTS,
    *COLLECTION_INVARIANTS,
    *GROUP_INVARIANTS,
    Invariant(
        "a terminated card is empty but for what is held and has no job, any other has one at most",
        f"""select c.merchant_id, c.reference as place
            from virtual_card c left join account a on a.merchant_id = c.merchant_id
                and a.name = 'card:' || c.short_id || ':' || c.currency and {merchant_filter("a")}
            {count_jobs("c")}
            where {merchant_filter("c")} and (j.jobs > (c.state <> 'terminated')::int
                or c.state = 'terminated' and a.posted <> a.held)""",
    ),
    Invariant(
        "a card purchase took its amount from a card if it was paid, and gave no more back; a declined one nothing",
        f"""with moved as (
                select p.merchant_id, p.reference, sum(p.amount) as amount from posting p
                where {merchant_filter("p")} and p.debit like 'card:%' group by 1, 2)
            select t.merchant_id, t.txn_ref as place
            from transaction t
            join virtual_card_entry r on r.merchant_id = t.merchant_id and r.txn_ref = t.txn_ref
            left join moved m on m.merchant_id = t.merchant_id and m.reference = t.txn_ref
            where {merchant_filter("t")} and {merchant_filter("r")} and t.kind = 'card_purchase' and (
                coalesce(m.amount, 0) <> case t.status when 'successful' then t.amount else 0 end
                or r.refunded > case t.status when 'successful' then (t.detail ->> 'amount')::bigint else 0 end)""",
    ),
    Invariant(
        "an authorization that was captured has one purchase, of a fifth above its amount at most, any other none",
        f"""with captures as (
                select p.merchant_id, p.batch_ref, count(*) as times, sum((p.detail ->> 'amount')::bigint) as amount
                from transaction p
                where {merchant_filter("p")} and p.kind = 'card_purchase' and p.status = 'successful'
                    and p.batch_ref is not null group by 1, 2),
            given as (select * from transaction t where {merchant_filter("t")} and t.kind = 'card_authorization')
            select coalesce(g.merchant_id, c.merchant_id) as merchant_id, coalesce(g.txn_ref, c.batch_ref) as place
            from given g full join captures c on c.merchant_id = g.merchant_id and c.batch_ref = g.txn_ref
            where g.txn_ref is null or coalesce(c.times, 0) <> (g.status = 'successful')::int
                or c.amount * 5 > (g.detail ->> 'amount')::bigint * 6""",
    ),
    Invariant(
        "the audit trail is a chain without a gap",
        f"""select a.merchant_id, 'entry ' || a.seq as place
            from (select x.*, lag(hash, 1, ''::bytea) over w as previous, row_number() over w as place
                from audit_entry x where {merchant_filter("x")} window w as (partition by merchant_id order by seq)) a
            where a.seq <> a.place or a.hash <> audit_hash_of(a.previous, a.merchant_id, a.seq, a.at, a.actor,
                a.address, a.action, a.subject, a.before, a.after)""",
    ),
    *TRAIL_INVARIANTS,
)


# The invariants of some merchants in one statement: one by one they take three times as long. Each row begins with the
# place of its invariant in INVARIANTS.
VIOLATIONS_OF_MERCHANTS = " union all ".join(
    f"(select {n}, v.merchant_id, v.place from ({invariant.query.replace(ALL_MERCHANTS, '')}) v limit 20)"
    for n, invariant in enumerate(INVARIANTS)
)
# For a million postings. The usual time is for one invariant.
MERCHANTS_SECONDS = 120
# Planning takes ten times as long as the statement: one plan is kept for all merchants.
KEEP_PLAN = f"set local plan_cache_mode = force_generic_plan; set local statement_timeout = '{MERCHANTS_SECONDS}s'"


async def check_invariants(
    connection: Any, merchants: list[int] | None = None, seconds: int | None = None
) -> list[str]:
    """Returns one line per violation, from one snapshot of the database.

    Raises TimeoutError if a query takes longer than `seconds`, or than the connection's own timeout if None.
    """
    return describe_violations(await find_violations(connection, merchants, seconds))


NamedViolation = tuple[str, str, str]  # whose books, the description of the invariant, and the place

# The merchant of a number, which nobody outside of the database knows.
MERCHANTS = "select merchant_id, mid from merchant where merchant_id = any($1)"
# The number of the operator's audit trail.
OPERATOR = 0


def describe_violations(violations: list[NamedViolation]) -> list[str]:
    """Returns one line for each of the violations that `find_violations` returned."""
    return [": ".join(violation) for violation in violations]


async def find_violations(
    connection: Any, merchants: list[int] | None = None, seconds: int | None = None
) -> list[NamedViolation]:
    """Like `check_invariants`, but returns the parts of each line."""
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        await connection.execute(PREPARE_AUDIT)
        if merchants is not None and find_layout(connection).spans_merchants:
            violations = await find_violations_together(connection, merchants)
        else:
            violations = await find_violations_one_by_one(connection, merchants, seconds)
        violations += await find_chain_violations(connection, merchants)
        return await name_violations(connection, violations)


async def find_violations_together(connection: Any, merchants: list[int]) -> list[Violation]:
    """Returns the violations in the books of some merchants, by one statement. The caller executed PREPARE_AUDIT."""
    await connection.execute(KEEP_PLAN)
    rows = await connection.fetch(VIOLATIONS_OF_MERCHANTS, merchants, timeout=MERCHANTS_SECONDS)
    return [(merchant_id, INVARIANTS[n].description, place) for n, merchant_id, place in rows]


async def find_violations_one_by_one(
    connection: Any, merchants: list[int] | None, seconds: int | None
) -> list[Violation]:
    """Returns the violations by a statement for each invariant, which may take `seconds`: over all books each is long,
    and a database of several servers answers for one merchant at a time."""
    violations: list[Violation] = []
    scopes = await split_scope(connection, merchants)
    for invariant in INVARIANTS:
        for scope in scopes:
            # Without the condition for all merchants, one plan serves every audit of some, and uses their index.
            query = invariant.query if scope is None else invariant.query.replace(ALL_MERCHANTS, "")
            rows = await connection.fetch(f"{query} limit 20", scope, timeout=seconds)
            violations += [(merchant_id, invariant.description, place) for merchant_id, place in rows]
    return violations


async def name_violations(connection: Any, violations: list[Violation]) -> list[NamedViolation]:
    """Returns violations with whose books they are in."""
    names = await name_owners(connection, {merchant_id for merchant_id, _, _ in violations})
    return [(names[merchant_id], description, place) for merchant_id, description, place in violations]


async def name_owners(connection: Any, merchants: set[int]) -> dict[int, str]:
    """Returns whose books have these numbers, as operators know them."""
    if not merchants:
        return {}
    mids = {row[0]: row[1] for row in await connection.fetch(MERCHANTS, list(merchants))}
    return {
        number: "operator" if number == OPERATOR else f"merchant {mids.get(number, number)}" for number in merchants
    }
