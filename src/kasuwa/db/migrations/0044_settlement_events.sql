-- Whether a merchant gets an event for each settlement of a day that has ended. One row for each merchant that has ever
-- turned them on; while they are on there is one job, which names the day that is reported next.
create table settlement_events (
    key bytea not null,
    merchant_id bigint not null,
    is_daily boolean not null,
    changed_at timestamptz not null,
    last_day date,                      -- in Lagos: the last day that was reported; null before the first
    primary key (key, merchant_id)
);
