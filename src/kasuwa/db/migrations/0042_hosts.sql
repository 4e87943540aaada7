-- The API processes of hosts that send each other writes. Each renews its lease by the database's time, and is ignored
-- when that has passed. A row of the past is deleted by whoever finds it.
create table api_process (
    address text primary key,             -- where other hosts reach it: host:port. It is also its name
    host_id text not null,                -- random, of one start of `kasuwa serve`
    machine text not null,                -- the name of the machine, for people
    number bigint not null,               -- of the process on its host, from 0
    protocol text not null,               -- processes of different protocols send each other nothing
    version text not null,                -- of the service, for people
    clock_skew_ms bigint not null,        -- how far the host's clock is ahead of the database's
    started_at timestamptz not null default now(),
    lease_until timestamptz not null
);
