-- Daily totals of final transactions. db/daily_totals.py adds to them from the log of events: a final transaction has
-- exactly one event, so that each is counted once, whatever its time. Rows of merchant 0 are the sums of all merchants,
-- without code and reason.
create table daily_total (
    merchant_id bigint not null,
    day date not null,                  -- in Lagos, of the transaction's creation
    kind text not null,
    currency text not null,
    status text not null,               -- successful or failed
    rail text not null,                 -- '' if it needed none
    code text not null,                 -- of a failed transaction, else ''
    reason text not null,               -- message of a failed transaction, else ''; '' also once a day has too many
    count bigint not null,
    amount bigint not null,             -- in minor units
    primary key (merchant_id, day, kind, currency, status, rail, code, reason)
);
-- The last event of each merchant whose transaction is counted.
create table daily_total_mark (
    merchant_id bigint primary key,
    event_seq bigint not null
);

-- The beginning of what an endpoint answered, with anything that looks like a secret masked. Null: it answered nothing,
-- or an earlier version recorded the attempt.
alter table delivery_attempt add column response text;

-- The last check of each invariant of the ledger, by its sentence.
create table invariant_result (
    invariant text primary key,
    checked_at timestamptz not null,
    checked_by text not null,
    violations text[] not null          -- the first places; empty if it holds
);

-- Events whose last delivery attempt failed. A trigger keeps them, so that they are right whichever version records an
-- attempt; a delivery that succeeds at once, which is nearly every one, touches nothing.
create table undelivered_event (
    merchant_id bigint not null,
    event_seq bigint not null,
    primary key (merchant_id, event_seq)
);
create function record_undelivered() returns trigger language plpgsql security definer set search_path = public as $$
begin
    if new.http between 200 and 299 then
        delete from undelivered_event where merchant_id = new.merchant_id and event_seq = new.event_seq;
    else
        insert into undelivered_event (merchant_id, event_seq) values (new.merchant_id, new.event_seq)
        on conflict do nothing;
    end if;
    return null;
end $$;
create trigger attempt_undelivered after insert on delivery_attempt
    for each row when (new.number > 1 or new.http is null or new.http not between 200 and 299)
    execute function record_undelivered();
insert into undelivered_event (merchant_id, event_seq)
select distinct a.merchant_id, a.event_seq from delivery_attempt a
where (a.http is null or a.http not between 200 and 299) and not exists (
    select 1 from delivery_attempt b where b.merchant_id = a.merchant_id and b.event_seq = a.event_seq
        and b.number > a.number and b.http between 200 and 299);

-- Further webhook endpoints of a merchant. Its first endpoint stays the setting `webhook_url`, with jobs of its own: a
-- version that knows no others goes on with it. Deliveries to the others are made from the log of events, up to
-- `listed_seq`, so that writing an event costs the same however many endpoints there are.
create table webhook_endpoint (
    merchant_id bigint not null references merchant,
    endpoint_id bigint not null check (endpoint_id > 1),
    url text not null,
    kinds text[] not null,              -- of the events that it gets; empty: every kind
    verifier bytea not null,
    sealed bytea not null,              -- the secret that its events are signed with
    previous_verifier bytea,            -- the secret before it, which signs as well for a while
    previous_sealed bytea,
    previous_until timestamptz,
    created_by text not null,
    created_at timestamptz not null default now(),
    removed_at timestamptz,
    listed_seq bigint not null,
    failing_since timestamptz,          -- in business time; null while it works
    off_at timestamptz,                 -- in business time; null unless it was disabled
    primary key (merchant_id, endpoint_id)
);
-- Deliveries that are not done. `run_at` is real time.
create table endpoint_delivery (
    merchant_id bigint not null,
    endpoint_id bigint not null,
    event_seq bigint not null,
    run_at timestamptz not null,
    leased_until timestamptz,
    attempt bigint not null default 0,
    primary key (merchant_id, endpoint_id, event_seq)
);
create index endpoint_delivery_due on endpoint_delivery (merchant_id, endpoint_id, run_at, event_seq);
create table endpoint_attempt (
    merchant_id bigint not null,
    endpoint_id bigint not null,
    event_seq bigint not null,
    number bigint not null,
    at timestamptz not null,            -- business time
    http bigint,
    error text,
    ms bigint not null,
    response text,
    primary key (merchant_id, endpoint_id, event_seq, number)
);
create trigger endpoint_attempt_append_only before update or delete on endpoint_attempt
    for each statement execute function refuse_change();
create trigger endpoint_attempt_no_truncate before truncate on endpoint_attempt
    for each statement execute function refuse_change();
