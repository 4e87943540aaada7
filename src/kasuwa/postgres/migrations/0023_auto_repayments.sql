-- Automatic collection of what is due of a loan.

-- How a loan is collected. One row a loan; a new agreement replaces the one before. Its job collects.
create table loan_auto_repayment (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    auto_repay_id text not null,              -- its identifier
    loan_id text not null,                    -- the loan
    client_id text not null,                  -- the client who borrows
    source text not null check (source in ('token', 'savings', 'wallet')), -- where the money comes from
    card_token text not null,                 -- of the saved card; empty for another source
    savings_id text not null,                 -- the savings that pay; empty for another source
    hour bigint not null check (hour between 0 and 23), -- of the day in Lagos
    retry text not null,                      -- days after a due date on which it is tried again, by commas
    -- paused: until the merchant agrees again; stopped: by the merchant; ended: with its loan
    state text not null check (state in ('active', 'paused', 'stopped', 'ended')),
    step text not null check (step in ('wait', 'notice', 'collect')), -- what its job does next
    due_on date,                              -- the day that is collected next, or now; null until the loan is paid out
    next_at timestamptz,                      -- when its job is due; null unless it is active and nothing is charged
    tries bigint not null check (tries >= 0), -- attempts for the day so far
    misses bigint not null check (misses >= 0), -- days that failed in a row
    charging text not null,                   -- txnRef of the charge in progress; empty if there is none
    attempts bigint not null check (attempts >= 0), -- number of its rows in loan_collection
    collections bigint not null check (collections between 0 and attempts), -- attempts that succeeded
    collected bigint not null check (collected >= 0), -- sum of them, in kobo
    missed bigint not null check (missed >= 0), -- days that were given up
    reason text not null,                     -- why the last attempt failed, or why it does not go on; a code
    events bigint not null check (events >= 0), -- number of its events
    created_at timestamptz not null,          -- when it was first agreed on
    row_code bytea,                           -- code of the row
    constraint loan_auto_repayment_waits check ((state = 'active' and charging = '') = (next_at is not null)),
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index loan_auto_repayment_loan on loan_auto_repayment (merchant_id, loan_id);
create index loan_auto_repayment_client on loan_auto_repayment (merchant_id, client_id);

-- One attempt to collect what was due.
create table loan_collection (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    loan_id text not null,                    -- the loan
    n bigint not null check (n > 0),          -- place among those of the loan, from 1
    number bigint not null,                   -- order of the list
    due_on date not null,                     -- the day that was collected
    source text not null,                     -- where the money was to come from
    amount bigint not null check (amount > 0), -- what was due, in kobo
    state text not null check (state in ('charging', 'collected', 'declined')), -- charging: the rail was not heard of yet
    reason text not null,                     -- why it was declined, as a code; empty unless it was
    message text not null,                    -- the same in words
    is_final boolean not null,                -- whether nothing is tried again for the day
    txn_ref text not null,                    -- of the repayment or of the charge; empty if there was none
    made_at timestamptz not null,             -- when it was tried
    next_on date,                             -- day of the next attempt; null if nothing is collected any more
    primary key (key, merchant_id)
) with (fillfactor = 90);
create unique index loan_collection_of on loan_collection (merchant_id, loan_id, n);
create index loan_collection_number on loan_collection (merchant_id, number);
