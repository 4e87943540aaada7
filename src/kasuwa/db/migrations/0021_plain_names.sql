-- Plain names for tables and columns that people write SQL against.
--
-- The version before may still be serving: every old name stays as a view that can be read, locked and written like the
-- table (its statements find rows by ctid, so the views have that column too). The next version's migration drops the
-- views. Keys of rows are hashed over the old names and stay as they are.

alter table book rename to merchant_state;
alter table merchant_state rename column numbers to last_number;
alter table merchant_state rename column postings to last_posting_seq;
alter table merchant_state rename column events to last_event_seq;
alter table merchant_state rename column decisions to decision_count;
alter table merchant_state rename column clock_offset to clock_offset_us;
alter table merchant_state rename column clock_fixed to clock_fixed_at;
alter table merchant_state rename column listens to has_webhook;
alter table job rename to scheduled_job;
alter table scheduled_job rename column repeat to idempotency_claim;
alter table repeat rename to idempotency_record;
alter table idempotency_record rename column digest to request_digest;
alter table idempotency_record rename column reply to sealed_reply;
alter table idempotency_record rename column open to is_in_progress;
alter table notice rename to operator_notice;
alter table operator_notice rename column what to message;
alter table attempt rename to delivery_attempt;
alter table directory rename to token_index;
alter table gathering rename to settlement_batch;
alter table plan rename to payment_plan;
alter table card rename to virtual_card;
alter table card_record rename to virtual_card_entry;
alter table loan_line rename to loan_installment;
alter table savings_round rename to interest_batch;
alter table cashcode_guess rename to cashcode_attempts;
alter table rate rename to exchange_rate;
alter table audit rename to audit_entry;
alter table audit_entry rename column what to action;
alter table audit_entry rename column about to subject;

-- Indexes, sequences and triggers follow their tables.
do $$
declare
    pair record;
    part record;
begin
    for pair in select * from (values
        ('book', 'merchant_state'),
        ('job', 'scheduled_job'),
        ('repeat', 'idempotency_record'),
        ('notice', 'operator_notice'),
        ('attempt', 'delivery_attempt'),
        ('directory', 'token_index'),
        ('gathering', 'settlement_batch'),
        ('plan', 'payment_plan'),
        ('card', 'virtual_card'),
        ('card_record', 'virtual_card_entry'),
        ('loan_line', 'loan_installment'),
        ('savings_round', 'interest_batch'),
        ('cashcode_guess', 'cashcode_attempts'),
        ('rate', 'exchange_rate'),
        ('audit', 'audit_entry')) as renamed (old, new)
    loop
        for part in
            select i.relname as name, 'index' as kind from pg_index x
                join pg_class i on i.oid = x.indexrelid where x.indrelid = pair.new::regclass
            union all
            select s.relname, 'sequence' from pg_depend d join pg_class s on s.oid = d.objid and s.relkind = 'S'
                where d.refobjid = pair.new::regclass and d.classid = 'pg_class'::regclass
            union all
            select t.tgname, 'trigger' from pg_trigger t where t.tgrelid = pair.new::regclass and not t.tgisinternal
        loop
            continue when not starts_with(part.name, pair.old || '_');
            if part.kind = 'trigger' then
                execute format('alter trigger %I on %I rename to %I', part.name, pair.new,
                    pair.new || substr(part.name, length(pair.old) + 1));
            else
                execute format('alter %s %I rename to %I', part.kind, part.name,
                    pair.new || substr(part.name, length(pair.old) + 1));
            end if;
        end loop;
    end loop;
end $$;

-- The functions of the audit trail name its table and columns.
create or replace function audit_hash(previous bytea, entry audit_entry) returns bytea language sql immutable as $$
    select sha256(
        previous || int8send(entry.merchant_id) || int8send(entry.seq)
        || int8send((extract(epoch from entry.at) * 1000000)::bigint)
        || audit_part(entry.actor) || audit_part(entry.address) || audit_part(entry.action) || audit_part(entry.subject)
        || audit_part(entry.before) || audit_part(entry.after))
$$;
create or replace function audit_link() returns trigger language plpgsql as $$
declare
    last record;
begin
    perform pg_advisory_xact_lock(hashtextextended('kasuwa audit', new.merchant_id));
    select seq, hash into last from audit_entry where merchant_id = new.merchant_id order by seq desc limit 1;
    new.seq := coalesce(last.seq, 0) + 1;
    new.at := clock_timestamp();
    new.hash := audit_hash(coalesce(last.hash, ''), new);
    return new;
end $$;

-- The old names, for processes of the version before.
create view book as
    select key, merchant_id, version, last_number as numbers, last_posting_seq as postings, last_event_seq as
        events, clock_offset_us as clock_offset, clock_fixed_at as clock_fixed, has_webhook as listens, faults,
        decision_count as decisions, ctid
    from merchant_state;
create view job as
    select key, merchant_id, kind, lane, reference, subject, due, run_at, leased_until, claims, attempt,
        idempotency_claim as repeat, work, seq, ctid
    from scheduled_job;
create view repeat as
    select key, merchant_id, request_digest as digest, sealed_reply as reply, is_in_progress as open,
        expires_at, ctid
    from idempotency_record;
create view notice as select merchant_id, notice_id, reference, message as what, at, ctid from operator_notice;
create view attempt as select merchant_id, event_seq, number, at, http, error, ms, ctid from delivery_attempt;
create view directory as select key, merchant_id, kind, reference, ctid from token_index;
create view gathering as
    select key, merchant_id, kind, owner, day, currency, amount, state, ctid
    from settlement_batch;
create view plan as
    select key, merchant_id, plan_id, kind, token, currency, first_ref, detail, created_at, state, cycle,
        cycle_due, attempt, misses, paid, last_ref, charging, facts, seq, ctid
    from payment_plan;
create view card as
    select key, merchant_id, reference, short_id, currency, network, mask, sealed_pan, expiration, state,
        detail, limits, spent_on, spent_day, spent_month, unpaid, fee_job, created_at, seq, ctid
    from virtual_card;
create view card_record as
    select key, merchant_id, card, number, shown_id, txn_ref, narration, status, currency, amount, fee,
        refunded, refunds, created_at, ctid
    from virtual_card_entry;
create view loan_line as
    select key, merchant_id, loan_id, n, due, principal, interest, tax, penalty, paid_principal, paid_interest,
        paid_tax, paid_penalty, carry, accrued, accrued_on, ctid
    from loan_installment;
create view savings_round as select key, merchant_id, opened_on, sheet, opened, members, ctid from interest_batch;
create view cashcode_guess as select key, merchant_id, wrong, since, ctid from cashcode_attempts;
create view rate as select rate_id, currency, buy, sell, set_at, set_by, ctid from exchange_rate;
create view audit as
    select merchant_id, seq, at, actor, address, action as what, subject as about, before, after, hash, ctid
    from audit_entry;
create function audit_hash(previous bytea, entry audit) returns bytea language sql immutable as $$
    select audit_hash(previous, row(entry.merchant_id, entry.seq, entry.at, entry.actor, entry.address, entry.what,
        entry.about, entry.before, entry.after, entry.hash)::audit_entry)
$$;

-- Whoever may use a table may use its old name the same way, from this commit on.
do $$
declare
    held record;
begin
    for held in
        select v.oid::regclass as view, a.grantee::regrole as grantee, a.privilege_type
        from pg_class v
        join pg_rewrite r on r.ev_class = v.oid
        join pg_depend d on d.objid = r.oid and d.classid = 'pg_rewrite'::regclass and d.refobjid <> v.oid
        join pg_class t on t.oid = d.refobjid and t.relkind = 'r'
        cross join lateral aclexplode(t.relacl) a
        where v.relnamespace = 'public'::regnamespace and v.relname in ('book', 'job', 'repeat', 'notice', 'attempt',
            'directory', 'gathering', 'plan', 'card', 'card_record', 'loan_line', 'savings_round', 'cashcode_guess',
            'rate', 'audit')
            and a.grantee <> 0 and a.grantee <> t.relowner
            and a.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
        group by 1, 2, 3
    loop
        execute format('grant %s on %s to %s', held.privilege_type, held.view, held.grantee);
    end loop;
end $$;
