-- Standing orders of clients' savings, and savings that are dormant.

-- ------------------------------------------------------------------------------------------------------------------------
-- Clients, loans and savings
-- ------------------------------------------------------------------------------------------------------------------------

-- An amount that leaves a client's savings on a schedule. Its job pays it.
create table standing_order (
    key bytea not null,                                      -- row key
    merchant_id bigint not null,                             -- the merchant
    order_id text not null,                                  -- its identifier
    number bigint not null,                                  -- order of the list
    client_id text not null,                                 -- the client whose money moves
    savings_id text not null,                                -- the savings that pay
    pays text not null check (pays in ('savings', 'loan', 'thrift')), -- what the target is
    target text not null,                                    -- what is paid: savings, a loan or a thrift plan
    target_savings text not null,                            -- the savings that receive; empty if a loan is paid
    amount bigint not null check (amount > 0),               -- of each payment, in kobo
    frequency text not null,                                 -- time between two payments
    from_date date not null,                                 -- day of the first payment
    -- ended: there is nothing more to pay; cancelled: by the merchant
    state text not null check (state in ('active', 'paused', 'ended', 'cancelled')),
    created_at timestamptz not null,                         -- when it was made
    dates bigint not null check (dates >= 0),                -- dates of the schedule that are over
    next_at timestamptz,                                     -- when its job is due; null unless it is active
    is_retry boolean not null,                               -- whether the job tries a date again
    payments bigint not null check (payments between 0 and dates), -- payments that were made
    paid bigint not null check (paid >= 0),                  -- sum of them, in kobo
    missed bigint not null check (missed >= 0 and payments + missed <= dates), -- dates given up for lack of money
    reason text not null,                                    -- why the last attempt failed, or why it ended
    events bigint not null check (events >= 0),              -- number of its events
    row_code bytea,                                          -- code of the row
    constraint standing_order_waits check ((state = 'active') = (next_at is not null)),
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index standing_order_number on standing_order (merchant_id, number);
create index standing_order_client on standing_order (merchant_id, client_id);
create index standing_order_savings on standing_order (merchant_id, savings_id);

-- When the client last moved money of the savings. For savings of before, dormancy is counted from the upgrade.
alter table savings add column moved_on date not null default current_date;
-- Reactivations that were proposed so far.
alter table savings add column reactivations bigint not null default 0 check (reactivations >= 0);

-- Reactivations of dormant savings that wait, or waited, for the approval of another party.
create table savings_reactivation (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    savings_id text not null,                 -- the savings
    n bigint not null check (n > 0),          -- number within the savings
    -- waiting, approved or rejected
    state text not null check (state in ('waiting', 'approved', 'rejected')),
    detail json not null,                     -- who asked for it, and why, as JSON
    created_at timestamptz not null,          -- when it was asked for
    expires_at timestamptz not null,          -- from when on it cannot be decided any more
    decided_by text not null,                 -- who decided it
    decided_at timestamptz,                   -- when it was decided
    row_code bytea,                           -- code of the row
    primary key (key, merchant_id)
) with (fillfactor = 90);
