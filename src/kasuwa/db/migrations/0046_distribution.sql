-- The hash of an audit entry from its fields. That of the table's row type cannot be used where the table is distributed:
-- there the rows are in a table of another name, and so of another type; it gives the same.
create function audit_hash_of(
    previous bytea, merchant_id bigint, seq bigint, at timestamptz, actor text, address text, action text, subject text,
    before text, after text
) returns bytea language sql immutable as $$
    select sha256(
        previous || int8send(merchant_id) || int8send(seq) || int8send((extract(epoch from at) * 1000000)::bigint)
        || audit_part(actor) || audit_part(address) || audit_part(action) || audit_part(subject)
        || audit_part(before) || audit_part(after))
$$;
create or replace function audit_hash(previous bytea, entry audit_entry) returns bytea language sql immutable as $$
    select audit_hash_of(previous, entry.merchant_id, entry.seq, entry.at, entry.actor, entry.address, entry.action,
        entry.subject, entry.before, entry.after)
$$;
create or replace function audit_link() returns trigger language plpgsql as $$
declare
    last record;
begin
    perform pg_advisory_xact_lock(hashtextextended('kasuwa audit', new.merchant_id));
    select seq, hash into last from audit_entry where merchant_id = new.merchant_id order by seq desc limit 1;
    new.seq := coalesce(last.seq, 0) + 1;
    new.at := clock_timestamp();
    new.hash := audit_hash_of(coalesce(last.hash, ''), new.merchant_id, new.seq, new.at, new.actor, new.address,
        new.action, new.subject, new.before, new.after);
    return new;
end $$;
-- The wall time at which a job runs that is due at a business time, as db/merchant_state.py has it; `at` is now. Citus
-- refuses conditional expressions in an update that are not immutable. This one is: an interval of seconds is the same in
-- every time zone.
create function job_run_at(due timestamptz, clock_offset_us bigint, clock_fixed_at timestamptz, at timestamptz)
returns timestamptz language sql immutable parallel safe as $$
    select case when clock_fixed_at is null then due - make_interval(secs => clock_offset_us / 1000000.0)
        when due <= clock_fixed_at then at else 'infinity' end
$$;
-- The mids of the merchant that a session of the reader has chosen. In place of a sub-select in a policy, which Citus does
-- not take.
create function reader_mids() returns text[] language sql stable security definer set search_path = public as $$
    select coalesce(array_agg(m.mid), '{}') from merchant m
    where m.merchant_id = nullif(current_setting('kasuwa.merchant_id', true), '')::bigint
$$;
