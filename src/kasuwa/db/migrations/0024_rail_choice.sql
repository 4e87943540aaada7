-- The rail of an order: chosen before the order is first sent, and written with it. '' for transactions that call no rail,
-- and for those of earlier versions, which went to the only rail there was.
alter table transaction add column rail text not null default '';

-- A job carries the rail of its order. `is_rail_fixed`: the order may have reached the rail, and stays there.
alter table scheduled_job add column rail text not null default '';
alter table scheduled_job add column is_rail_fixed boolean not null default false;

-- Keeps an order from being sent to two rails, whatever processes do at the same time. A job that is claimed a second time
-- may have been sent by the first process, so its rail is fixed from then on. A process that was paused, and writes an
-- older view of the job, cannot undo that.
create function fix_rail() returns trigger language plpgsql as $$
begin
    if old.rail <> '' and new.rail <> old.rail and (old.is_rail_fixed or old.claims > 1) then
        raise exception 'the order of job % may have reached its rail', encode(old.key, 'hex');
    end if;
    new.is_rail_fixed := new.is_rail_fixed or old.is_rail_fixed or old.claims > 1 or new.claims > 1;
    return new;
end $$;
create trigger scheduled_job_fix_rail before update on scheduled_job for each row
    when (new.rail <> '' and (old.rail <> new.rail or old.claims > 1 or new.claims > 1
        or (old.is_rail_fixed and not new.is_rail_fixed)))
    execute function fix_rail();

-- Our balances with vendors, as the worker read them last, in minor units. `is_low`: below KASUWA_RAIL_FLOAT_LEAST, and a
-- notice was written.
create table rail_balance (
    rail text not null,
    currency text not null,
    amount bigint not null,
    is_low boolean not null default false,
    read_at timestamptz not null,
    primary key (rail, currency)
);

-- What each process knows of the vendors it calls. A process writes its rows every few seconds; rows of processes that
-- have ended are deleted.
create table rail_health (
    process text not null,
    rail text not null,
    in_flight bigint not null,
    held_seconds double precision not null,
    is_paused boolean not null,
    unmapped_banks text[],
    errors json not null,
    seen_at timestamptz not null,
    primary key (process, rail)
);

-- How the answers of a rail in shadow mode compare with those of the rail that serves, by day. No answer is stored.
create table rail_shadow (
    day date not null,
    purpose text not null,
    rail text not null,
    shadow text not null,
    question text not null,
    outcome text not null,
    count bigint not null,
    rail_ms bigint not null,
    shadow_ms bigint not null,
    primary key (day, purpose, rail, shadow, question, outcome)
);
-- The last differences, masked.
create table rail_shadow_difference (
    difference_id bigint generated always as identity primary key,
    at timestamptz not null,
    shadow text not null,
    question text not null,
    ours text not null,
    theirs text not null
);

-- When a vendor last announced a change of its catalogue of bills. At most one row.
create table bill_refresh (
    is_only boolean primary key default true check (is_only),
    requested_at timestamptz not null
);
