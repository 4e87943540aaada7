-- Delivery of events: what was tried, and endpoints that do not answer.

-- Every attempt to deliver an event, for the merchant to read. Never changed, never deleted.
create table attempt (
    merchant_id bigint not null,
    event_seq bigint not null,
    number bigint not null,
    at timestamptz not null,
    http bigint,
    error text,
    ms bigint not null,
    primary key (merchant_id, event_seq, number)
);
create trigger attempt_append_only before update or delete on attempt for each statement execute function refuse_change();
create trigger attempt_no_truncate before truncate on attempt for each statement execute function refuse_change();

-- A merchant's endpoint while it fails: since when (business time), and from when on it is switched off.
create table endpoint (
    merchant_id bigint primary key,
    failing_since timestamptz not null,
    off_at timestamptz
);

-- A merchant's due deliveries, oldest first: the courier takes a few of each, so that one cannot crowd out others.
create index job_deliveries on job (merchant_id, run_at) where lane = 'webhook';
