-- The schema of version 1.0.0: every table by subject, each with its constraints, indexes and triggers.
--
-- Conventions:
--   * Every primary key of a merchant's table has merchant_id, so that the schema can be distributed by it (postgres/distribution/placement.py).
--   * `key` is the row key: 128 bits over merchant, table and reference (core/references.py). Rules find rows by it.
--   * `row_code` is the authentication code of a row that decides where money goes: made and checked by the service, over the
--     table, the merchant, the key and the columns that matter (docs/decisions/0076). It begins with the version of its key.
--   * Amounts are integers in minor units of their currency, unless the comment says otherwise.
--   * Business time is the merchant's clock, which the test environment can move; wall time is the database's.
--   * Columns that end in `sealed` are ciphertexts that name the version of their key. Columns with keyed hashes find what is
--     stored encrypted. JSON columns are decoded by the slice that owns the table.
--   * Append-only tables refuse changes by a trigger, and by the rights of the logins.
--   * Row-level security and rights are granted after every migration, because the names of the logins are the operator's
--     (postgres/logins.py). The table `migration` is made by the runner (postgres/migrate.py).

-- Refuses any change of an append-only table, also by the owner of the tables.
create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
-- Refuses any change but that of the row's code, which is made after the row, and again when a key is replaced.
create function refuse_change_but_code() returns trigger language plpgsql as $$
begin
    if to_jsonb(new) - 'row_code' <> to_jsonb(old) - 'row_code' then
        raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;


-- ------------------------------------------------------------------------------------------------------------------------
-- The deployment
-- ------------------------------------------------------------------------------------------------------------------------

-- The deployment itself: one row, ever. The root secret is wrapped by the key-encryption key of the settings.
create table deployment (
    -- allows one row only
    singleton boolean default true primary key check (singleton),
    -- test or live, for as long as the database exists
    environment text not null check (environment in ('test', 'live')),
    wrapped_root bytea not null,                    -- the root secret, encrypted
    created_at timestamptz not null default now(),  -- when the database was first prepared
    -- how long processes may take to read a new version of the data keys
    key_update_seconds integer not null default 60 check (key_update_seconds > 0)
);

-- Versions of the keys that encrypt (`seal`) and of those whose hashes find personal data (`index`). Version 1 of both is derived
-- from the root secret; later ones are random. Ciphertexts name their version in a header. See docs/decisions/0061.
create table data_key (
    purpose text not null check (purpose in ('seal', 'index')),  -- what the key is for
    version integer not null check (version > 0),                -- counted from 1 for each purpose
    merchant_id bigint,                                          -- whose data it encrypts; null: those of all merchants
    created_at timestamptz not null default now(),               -- when it was added
    -- from then on processes encrypt with it; they have all read it by then
    active_from timestamptz not null,
    -- from then on no process encrypts with the versions before it, and their rows are rewritten
    moves_from timestamptz not null,
    -- the versions before it decrypt at least until then: links and forms outside of the database have them
    refuses_from timestamptz not null,
    moved_at timestamptz,                                        -- when all rows of the versions before it were rewritten
    finished_at timestamptz,                                     -- when the versions that it replaces were retired
    retired_at timestamptz,                                      -- when it was replaced: it is refused since
    dropped_at timestamptz,                                      -- when its wrapped key was deleted
    created_by text not null default '',                         -- who added it
    primary key (purpose, version)
);

-- Data keys, and the root as version 0, encrypted with a key-encryption key. While that one is replaced there are two rows for
-- each key.
create table wrapped_key (
    -- `root`, or the purpose of the data key
    purpose text not null check (purpose in ('root', 'seal', 'index')),
    version integer not null,                       -- that of the data key; 0 for the root
    kek text not null,                              -- the name of the key-encryption key: a hash of it
    wrapped bytea not null,                         -- the key, encrypted
    created_at timestamptz not null default now(),  -- when it was wrapped
    primary key (purpose, version, kek)
);

-- How far the rewriting of rows for a version of a data key has come, so that it goes on after a crash.
create table key_move (
    purpose text not null,                         -- the purpose of the data key
    version integer not null,                      -- the version that rows are rewritten for
    place text not null default '',                -- the column that is being rewritten; empty before the first one
    position json not null default '[]',           -- the primary key of the last row that was looked at
    rewritten bigint not null default 0,           -- rows that were rewritten, in all passes
    rewritten_in_pass bigint not null default 0,   -- rows that were rewritten, in the pass that runs
    unreadable_in_pass bigint not null default 0,  -- ciphertexts that no key opened, in the pass that runs
    unreadable bigint not null default 0,          -- ciphertexts that no key opened, in the last pass that ended
    primary key (purpose, version)
);

-- The API processes of hosts that send each other writes. Each renews its lease by the database's time, and is ignored when that
-- has passed. A row of the past is deleted by whoever finds it.
create table api_process (
    address text primary key,                       -- where other hosts reach it, as host:port; also its name
    host_id text not null,                          -- random, of one start of `kasuwa serve`
    machine text not null,                          -- the name of the machine, for people
    number bigint not null,                         -- of the process on its host, from 0
    protocol text not null,                         -- processes of different protocols send each other nothing
    version text not null,                          -- of the service, for people
    clock_skew_ms bigint not null,                  -- how far the host's clock is ahead of the database's
    started_at timestamptz not null default now(),  -- when the process joined
    lease_until timestamptz not null                -- when the lease expires
);


-- ------------------------------------------------------------------------------------------------------------------------
-- Merchants
-- ------------------------------------------------------------------------------------------------------------------------

-- A merchant's books. `reset` in the test environment gives the same mid new books and keeps the old ones, so several rows may
-- share a mid and one of them is current.
create table merchant (
    merchant_id bigint primary key,                  -- the number of the books
    mid text not null check (mid ~ '^GP[0-9]{7}$'),  -- what the merchant calls itself
    name text not null,                              -- the merchant's name
    current boolean not null default true,           -- whether these are the books that the mid stands for
    settings jsonb not null default '{}',            -- limits, tariffs and other terms that differ from the defaults
    created_at timestamptz not null default now(),   -- when the books were opened
    row_code bytea                                   -- code of the row
);
create unique index merchant_current_mid on merchant (mid) where current;

-- Numbers of merchants.
create sequence merchant_number as bigint start 1;
-- The mids of the merchant that a session of the reader has chosen. In place of a sub-select in a policy, which Citus does not
-- take.
create function reader_mids() returns text[] language sql stable security definer set search_path = public as $$
    select coalesce(array_agg(m.mid), '{}') from merchant m
    where m.merchant_id = nullif(current_setting('kasuwa.merchant_id', true), '')::bigint
$$;

-- API keys: a verifier to check them with, and a ciphertext to sign events with. A rolled key works until it expires.
create table merchant_key (
    merchant_id bigint not null references merchant,      -- the merchant
    key_id bigint not null,                               -- of the key, among those of the merchant
    verifier bytea not null,                              -- keyed hash that a key is checked with
    sealed bytea not null,                                -- the key, encrypted
    created_at timestamptz not null default now(),        -- when it was made
    expires_at timestamptz,                               -- when it stops working; null: never
    name text not null default 'default',                 -- what people call it
    scopes text[] not null default '{all}',               -- what it may be used for
    addresses text[] not null default '{}',               -- the addresses and networks that may use it; empty: all
    created_by text not null default '',                  -- who made it
    -- the first of the keys that were rolled into this one; null for a key that was not rolled from another
    lineage bigint,
    replaced_by bigint,                                   -- the key that replaced this one, when it was rolled
    -- events are signed with the key until then; '-infinity' for keys that never sign
    signs_until timestamptz not null default 'infinity',
    last_used_at timestamptz,                             -- when it was used last; written at most once a minute
    last_used_from text not null default '',              -- the address of that request
    refused_at timestamptz,                               -- when it was refused last, because of its address or scope
    refused_from text not null default '',                -- the address of that request
    holders text[] not null default '{}',                 -- the people who made or rolled the key, so that they know it
    makers text[] not null default '{}',                  -- the holders, and their makers at that time
    approves_from timestamptz,                            -- when a key that may approve begins to; null: at once
    row_code bytea,                                       -- code of the row
    primary key (merchant_id, key_id)
);

-- The secrets that events are signed with, apart from keys. A rolled one signs until it expires.
create table signing_secret (
    merchant_id bigint not null references merchant,  -- the merchant
    secret_id bigint not null,                        -- of the secret, among those of the merchant
    verifier bytea not null,                          -- keyed hash that a secret is compared with
    sealed bytea not null,                            -- the secret, encrypted
    created_by text not null default '',              -- who made it
    created_at timestamptz not null default now(),    -- when it was made
    expires_at timestamptz,                           -- when it stops signing; null: never
    primary key (merchant_id, secret_id)
);

-- One row per merchant: its counters, its clock and the ends of its chains. It is the merchant's lock too: whoever writes anything
-- of a merchant raises `version`, under the lock of this row.
create table merchant_state (
    key bytea not null,                             -- row key
    merchant_id bigint not null,                    -- the merchant
    version bigint not null default 0,              -- raised by every write
    last_number bigint not null default 0,          -- the last number of a reference that was given out
    last_posting_seq bigint not null default 0,     -- the last posting
    last_event_seq bigint not null default 0,       -- the last event
    clock_offset_us bigint not null default 0,      -- microseconds that business time is ahead of wall time
    clock_fixed_at timestamptz,                     -- the business time of a clock that stands still; null if it runs
    -- the endpoints that its events are sent to, by number, each with the kinds of events that it gets (none: every kind), as JSON;
    -- rules write one delivery for each
    endpoints text not null default '{}',
    faults json,                                    -- what the sandbox was asked to do wrong, as JSON; null: nothing
    decision_count bigint not null default 0,       -- decisions that changed something; with a seed, randomness follows from it
    -- the value of the chain of postings after the last one
    posting_head bytea not null default decode(repeat('00', 32), 'hex'),
    -- the value of the chain of events after the last one
    event_head bytea not null default decode(repeat('00', 32), 'hex'),
    -- raised whenever the settings change: a request under earlier ones is decided again (docs/decisions/0078)
    settings_version bigint not null default 0,
    primary key (key, merchant_id)
) with (fillfactor = 50);
create unique index merchant_state_merchant on merchant_state (merchant_id);

-- While `advance` moves the clock of a merchant of the test environment, the worker leaves the merchant's jobs alone.
create table advance_lease (
    merchant_id bigint primary key,             -- the merchant
    leased_until timestamptz not null,          -- in wall time: a crash ends the lease by itself
    holder bytea not null default ''            -- who has the lease: whoever lost it must neither renew nor end it
);

-- What is found without a merchant, by a keyed hash: account numbers, card numbers, cashcodes, tokens of pages. Call-backs of
-- rails and pages of payers look here.
create table token_index (
    key bytea not null,           -- keyed hash of kind and token
    merchant_id bigint not null,  -- the merchant
    kind text not null,           -- what the token is
    reference text not null,      -- what it stands for, in the merchant's books
    row_code bytea,               -- code of the row
    primary key (key, merchant_id)
);
-- A token belongs to one merchant: if two draw the same account number at once, the second draws again.
create unique index token_index_whose on token_index (key);


-- ------------------------------------------------------------------------------------------------------------------------
-- The ledger
-- ------------------------------------------------------------------------------------------------------------------------

-- An account of the ledger. Balances are credit-positive.
create table account (
    key bytea not null,                      -- row key
    merchant_id bigint not null,             -- the merchant
    name text not null,                      -- kind:owner:currency
    currency text not null,                  -- three letters
    posted bigint not null,                  -- the balance
    held bigint not null check (held >= 0),  -- the part of it that pending transactions have reserved
    floor bigint,                            -- posted - held never falls below it; null: no limit
    primary key (key, merchant_id),
    constraint account_floor check (floor is null or posted - held >= floor)
) with (fillfactor = 50);
create index account_merchant on account (merchant_id);
-- Lists join savings with their balances.
create index account_savings on account (merchant_id, name) where name like 'savings:%';

-- The journal. Each row balances by itself; rows of one group happened together. Append-only.
create table posting (
    merchant_id bigint not null,                -- the merchant
    seq bigint not null,                        -- counted from 1 for each merchant
    group_seq bigint not null,                  -- the first posting of its group
    reference text not null,                    -- of the transaction
    debit text not null,                        -- the account that is debited
    credit text not null,                       -- the account that is credited
    amount bigint not null check (amount > 0),  -- what is moved
    debit_after bigint not null,                -- the balance of the debited account after it
    credit_after bigint not null,               -- the balance of the credited account after it
    -- what the money means, set by the rule that posts it and read by settlements, statements, reports and the audit
    -- (ledger/posting_kinds.py)
    kind text not null constraint posting_kind check (kind in (
        -- collections
        'payment', 'settlement', 'collection fee', 'collection VAT', 'split', 'refund', 'reserve', 'reserve released',
        -- disputes
        'dispute', 'dispute fee', 'dispute VAT', 'dispute advance', 'dispute debt',
        -- money that came in otherwise than a payment asked for it
        'inbound transfer', 'applied', 'paid after the payment had failed', 'paid more than was asked for',
        'returned to the payer', 'received for nobody known', 'assigned from suspense', 'returned from suspense',
        -- transfers, and payouts by schedule
        'transfer', 'payout', 'transfer fee', 'transfer VAT', 'stamp duty',
        -- bills and cashcodes
        'bill', 'bill fee', 'bill VAT', 'bill commission', 'cash drawn', 'cashcode fee', 'cashcode VAT',
        -- cards
        'card purchase', 'card refund', 'card refund taken back', 'card funding', 'card withdrawal', 'card termination',
        'card issuance fee', 'card funding fee', 'card withdrawal fee', 'card termination fee', 'card monthly fee',
        'card VAT', 'USD bought', 'USD sold', 'GHS bought', 'GHS sold', 'KES bought', 'KES sold',
        -- loans
        'principal agreed', 'interest agreed', 'tax agreed', 'penalty agreed', 'principal by the schedule computed anew',
        'interest by the schedule computed anew', 'tax by the schedule computed anew',
        'penalty by the schedule computed anew', 'principal repaid', 'interest repaid', 'tax repaid', 'penalty repaid',
        'principal not used', 'interest not used', 'tax not used', 'penalty not used', 'principal written off',
        'interest written off', 'tax written off', 'penalty written off', 'principal recovered', 'interest recovered',
        'tax recovered', 'penalty recovered', 'penalty for lateness', 'paid too much', 'paid back',
        -- savings
        'savings deposit', 'savings cash-out', 'savings closed meanwhile', 'interest', 'withholding tax',
        'thrift contribution', 'thrift payout', 'thrift debt',
        -- the operator
        'wallet funding', 'manual posting', 'write-off', 'reversed by the rail', 'paid by the rail',
        'reconciliation: fee of the bank or rail', 'reconciliation: unknown: keep it in suspense',
        'reconciliation: write it off', 'reconciliation: the merchant''s: its wallet'
    )),
    at timestamptz not null,                    -- business time
    hash bytea,                                 -- the value of the merchant's chain after the group, on the group's last posting
    primary key (merchant_id, seq)
);
-- Statements of loans and savings are their postings, found by the id in the name of the account.
create index posting_loan_credit on posting (merchant_id, split_part(credit, ':', 2), seq) where starts_with(credit, 'loan_');
create index posting_loan_debit on posting (merchant_id, split_part(debit, ':', 2), seq) where starts_with(debit, 'loan_');
-- What one transaction moved.
create index posting_reference on posting (merchant_id, reference) where seq = group_seq;
create index posting_savings_credit on posting (merchant_id, split_part(credit, ':', 2), seq) where starts_with(credit, 'savings:');
create index posting_savings_debit on posting (merchant_id, split_part(debit, ':', 2), seq) where starts_with(debit, 'savings:');
-- Statements of cards, beneficiaries and wallets in foreign currencies. The wallet in NGN has a part in nearly every posting.
create index posting_owned_credit on posting (merchant_id, credit, seq)
    where starts_with(credit, 'card:') or starts_with(credit, 'beneficiary:')
        or (starts_with(credit, 'wallet:') and credit <> 'wallet:main:NGN');
create index posting_owned_debit on posting (merchant_id, debit, seq)
    where starts_with(debit, 'card:') or starts_with(debit, 'beneficiary:')
        or (starts_with(debit, 'wallet:') and debit <> 'wallet:main:NGN');
-- Postings of some days, over all merchants. A block range index costs a posting next to nothing.
create index posting_time on posting using brin (at) with (pages_per_range = 32);
create trigger posting_append_only before update or delete on posting for each statement execute function refuse_change();
create trigger posting_no_truncate before truncate on posting for each statement execute function refuse_change();


-- ------------------------------------------------------------------------------------------------------------------------
-- Transactions, jobs and idempotency
-- ------------------------------------------------------------------------------------------------------------------------

-- Copies a failed transaction to failed_transaction.
create function record_failure() returns trigger language plpgsql security definer set search_path = public as $$
begin
    insert into failed_transaction (merchant_id, created_at, seq, key, kind, txn_ref, order_ref, currency, amount, fee,
        vat, duty, status, message, detail, final_at)
    values (new.merchant_id, new.created_at, new.seq, new.key, new.kind, new.txn_ref, new.order_ref, new.currency,
        new.amount, new.fee, new.vat, new.duty, new.status, new.message, new.detail, new.final_at)
    on conflict (merchant_id, created_at, seq, key) do update set (order_ref, amount, fee, vat, duty, message, detail,
        final_at) = (excluded.order_ref, excluded.amount, excluded.fee, excluded.vat, excluded.duty, excluded.message,
        excluded.detail, excluded.final_at);
    return null;
end $$;

-- Every transaction of every kind. It is written a second time moments after the first, so its pages have room for a HOT update:
-- no column of an index changes after the insert. PostgreSQL parses each constraint for every statement that writes, so the
-- amounts have one in common.
create table transaction (
    -- row key of kind and order reference: a repeated reference finds the first transaction
    key bytea not null,
    merchant_id bigint not null,                  -- the merchant
    kind text not null,                           -- payment, transfer, refund, ...
    txn_ref text not null,                        -- our reference
    order_ref text not null,                      -- the merchant's reference
    batch_ref text,                               -- of the bulk that it is part of
    currency text not null,                       -- three letters
    amount bigint not null,                       -- without fees
    fee bigint not null,                          -- what the merchant or the payer is charged
    vat bigint not null,                          -- value added tax on the fee
    duty bigint not null,                         -- stamp duty
    -- pending, processing, successful or failed
    status text not null check (status in ('pending', 'processing', 'successful', 'failed')),
    code text,                                    -- the rail's code of the outcome
    message text not null,                        -- the outcome in words
    digest bytea not null,                        -- of the request: another request under the same reference is refused
    detail json not null,                         -- fields of its kind, as JSON
    trail json not null,                          -- what happened to it, step by step, as JSON
    created_at timestamptz not null,              -- business time
    final_at timestamptz,                         -- when it became successful or failed, in business time
    seq bigint generated by default as identity,  -- order of insertion, which within a merchant is the order of commits
    rail text not null default '',                -- the rail that it goes to; '' if it needs none
    rail_account text not null default '',        -- our account with the rail, a hash as in vendor_account; '' for the sandbox
    -- what it reserves as long as it is open; its fees on the wallet as well if that is not the account here
    held bigint not null default 0,
    held_on text not null default '',             -- the account that it reserves it on
    row_code bytea,                               -- code of the row
    primary key (key, merchant_id),
    constraint transaction_amounts_check check (least(amount, fee, vat, duty, held) >= 0)
) with (fillfactor = 50);
create unique index transaction_txn_ref on transaction (merchant_id, txn_ref);
-- Refunds of a payment.
create index transaction_refund_of on transaction (merchant_id, (detail ->> 'payment')) where kind = 'refund';
-- Repayments and deposits from the wallet by the merchant's reference.
create index transaction_wallet_order on transaction (merchant_id, order_ref) where kind in ('repayment', 'deposit');
-- Lists are in the order (created_at, seq, key). The list of all kinds reads payments, transfers, and the index of all others.
create index transaction_kind_time on transaction (merchant_id, kind, created_at, seq, key);
-- Payments by the merchant's reference, which is not unique. For other kinds it makes the key.
create index transaction_order_ref on transaction (merchant_id, order_ref, created_at, seq) where kind = 'payment';
-- Filters of the list that few rows pass. `customer` is the keyed hash of the payer's email address, empty if it is unknown or
-- erased.
create index transaction_customer on transaction (merchant_id, (detail ->> 'customer'), created_at, seq, key)
    where kind = 'payment' and detail ->> 'customer' <> '';
create index transaction_method on transaction (merchant_id, (detail ->> 'method'), created_at, seq, key) where kind = 'payment';
create index transaction_foreign on transaction (merchant_id, currency, created_at, seq, key) where currency <> 'NGN';
create index transaction_large on transaction (merchant_id, created_at, seq, key) where amount >= 100000000;
create index transaction_others on transaction (merchant_id, created_at, seq, key) where kind <> all ('{payment,transfer}');
create trigger transaction_failed after update on transaction for each row
    when (new.status = 'failed') execute function record_failure();
create trigger transaction_failed_at_once after insert on transaction for each row
    when (new.status = 'failed') execute function record_failure();

-- Copies of transactions that failed, for the list of them: `status` changes, so that an index on it would make every update of a
-- transaction more expensive. A trigger writes them.
create table failed_transaction (
    merchant_id bigint not null,      -- the merchant
    created_at timestamptz not null,  -- of the transaction, as are all other columns
    seq bigint not null,              -- second part of the order of the list
    key bytea not null,               -- row key of the transaction
    kind text not null,               -- its kind
    txn_ref text not null,            -- our reference
    order_ref text not null,          -- the merchant's reference
    currency text not null,           -- three letters
    amount bigint not null,           -- without fees
    fee bigint not null,              -- its fee
    vat bigint not null,              -- value added tax on the fee
    duty bigint not null,             -- stamp duty
    status text not null,             -- failed
    message text not null,            -- the outcome in words
    detail json not null,             -- fields of its kind, as JSON
    final_at timestamptz,             -- when it failed
    primary key (merchant_id, created_at, seq, key)
);

-- The wall time at which a job runs that is due at a business time, as engine/merchant_state.py has it; `at` is now. Citus refuses
-- conditional expressions in an update that are not immutable. This one is: an interval of seconds is the same in every time
-- zone.
create function job_run_at(due timestamptz, clock_offset_us bigint, clock_fixed_at timestamptz, at timestamptz)
returns timestamptz language sql immutable parallel safe as $$
    select case when clock_fixed_at is null then due - make_interval(secs => clock_offset_us / 1000000.0)
        when due <= clock_fixed_at then at else 'infinity' end
$$;

-- Keeps an order from being sent to two rails, whatever processes do at the same time. A job that is claimed a second time may
-- have been sent by the first process, so its rail is fixed from then on. A process that was paused, and writes an older state
-- of the job, cannot undo that.
create function fix_rail() returns trigger language plpgsql as $$
begin
    if old.rail <> '' and new.rail <> old.rail and (old.is_rail_fixed or old.claims > 1) then
        raise exception 'the order of job % may have reached its rail', encode(old.key, 'hex');
    end if;
    new.is_rail_fixed := new.is_rail_fixed or old.is_rail_fixed or old.claims > 1 or new.claims > 1;
    return new;
end $$;
-- Keeps an order at the account that it may have been sent with, as fix_rail keeps it at its rail.
create function fix_rail_account() returns trigger language plpgsql as $$
begin
    if old.is_rail_fixed or old.claims > 1 or new.claims > 1 then
        raise exception 'the order of job % may have reached its account', encode(old.key, 'hex');
    end if;
    return new;
end $$;
-- Remembers a second claim, whatever older state of the job a process writes.
create function remember_second_claim() returns trigger language plpgsql as $$
begin
    new.is_queried_first := true;
    return new;
end $$;

-- Work that is due at a time. A finished job is deleted: what it did is in the trail of the transaction. Vacuum does not give the
-- end of the file back: that locks everybody out for a moment, and the room is needed again at once.
create table scheduled_job (
    key bytea not null,                               -- row key
    merchant_id bigint not null,                      -- the merchant
    kind text not null,                               -- slice.verb
    lane text not null,                               -- which worker takes it
    reference text not null,                          -- what it is about
    subject bytea not null,                           -- row key of what it is about
    due timestamptz not null,                         -- business time
    run_at timestamptz not null,                      -- the same moment in wall time
    leased_until timestamptz,                         -- the end of the lease; null if nobody has one
    claims bigint not null,                           -- how often it was claimed
    attempt bigint not null,                          -- how often it was tried
    idempotency_claim bytea,                          -- row key of the idempotency record whose reply it completes
    work json not null,                               -- data of the job, as JSON
    seq bigint generated by default as identity,      -- order of insertion: of jobs that are due at once, the first comes first
    rail text not null default '',                    -- the rail of its order
    is_rail_fixed boolean not null default false,     -- whether the order may have reached the rail, and stays there
    -- whether a process that died may have sent the order: its rail is asked before it is sent again
    is_queried_first boolean not null default false,
    rail_account text not null default '',            -- our account with the rail of the order
    endpoint_id bigint not null default 0,            -- the endpoint of a delivery; 0 for every other job
    row_code bytea,                                   -- code of the row
    primary key (key, merchant_id),
    constraint scheduled_job_endpoint check ((lane = 'webhook') = (endpoint_id > 0))
) with (autovacuum_vacuum_scale_factor = 0.02, vacuum_truncate = false);
-- Claims read these in their order. While a clock stands still, all that is due has one run_at: due comes next.
create index scheduled_job_due on scheduled_job (lane, run_at, due, seq);
create index scheduled_job_merchant on scheduled_job (merchant_id, due, seq);
-- Deliveries of each endpoint in the order of their times: a few of each endpoint are taken at once.
create index scheduled_job_deliveries on scheduled_job (merchant_id, endpoint_id, run_at, due, seq) where lane = 'webhook';
create trigger scheduled_job_fix_rail before update on scheduled_job for each row
    when (new.rail <> '' and (old.rail <> new.rail or old.claims > 1 or new.claims > 1
        or (old.is_rail_fixed and not new.is_rail_fixed)))
    execute function fix_rail();
create trigger scheduled_job_fix_rail_account before update on scheduled_job for each row
    when (old.rail_account <> '' and new.rail_account <> old.rail_account)
    execute function fix_rail_account();
create trigger scheduled_job_remember_second_claim before update on scheduled_job for each row
    when (not new.is_queried_first and (old.is_queried_first or old.claims > 1 or new.claims > 1))
    execute function remember_second_claim();

-- One row per batch, written with it: whether a COMMIT whose answer was lost has happened is looked up here. The number of a
-- transaction would not do: after a crash PostgreSQL gives those out again that it had not yet written.
create table commit_mark (
    merchant_id bigint not null,  -- the merchant
    mark bytea not null,          -- random
    at timestamptz not null,      -- when it was written
    primary key (merchant_id, mark)
);
create index commit_mark_at on commit_mark (at);

-- Replies stored under an Idempotency-Key, for a day.
create table idempotency_record (
    key bytea not null,               -- row key
    merchant_id bigint not null,      -- the merchant
    request_digest bytea not null,    -- of the request: another one under the same key is refused
    sealed_reply bytea,               -- the reply, encrypted; null while the request is in progress
    is_in_progress boolean not null,  -- whether the request has not ended
    expires_at timestamptz not null,  -- when it may be deleted
    primary key (key, merchant_id)
);
create index idempotency_record_expiry on idempotency_record (expires_at);


-- ------------------------------------------------------------------------------------------------------------------------
-- Events and their deliveries
-- ------------------------------------------------------------------------------------------------------------------------

-- Events that are sent to merchants: one row per transaction that became final, and for other changes. Append-only.
create table event (
    merchant_id bigint not null,  -- the merchant
    seq bigint not null,          -- counted from 1 for each merchant
    reference text not null,      -- of what happened; an event is recorded once
    object text not null,         -- what it is about: a payment and its refunds are one object
    object_seq bigint not null,   -- number of the event among those of its object
    kind text not null,           -- the kind of event
    payload text not null,        -- the JSON text that is sent
    at timestamptz not null,      -- business time
    hash bytea not null,          -- the value of the merchant's chain after the event
    primary key (merchant_id, seq)
);
create unique index event_reference on event (merchant_id, reference);
-- The events of an object in order, for merchants who ask for strict order.
create index event_object on event (merchant_id, object, object_seq);
create trigger event_append_only before update or delete on event for each statement execute function refuse_change();
create trigger event_no_truncate before truncate on event for each statement execute function refuse_change();

-- An endpoint while it fails.
create table failing_endpoint (
    merchant_id bigint not null,         -- the merchant
    endpoint_id bigint not null,         -- the endpoint
    failing_since timestamptz not null,  -- business time
    off_at timestamptz,                  -- when it was disabled, in business time; null unless it was
    primary key (merchant_id, endpoint_id)
);

-- Every attempt to deliver an event to an endpoint. Append-only.
create table delivery_attempt (
    merchant_id bigint not null,  -- the merchant
    endpoint_id bigint not null,  -- the endpoint
    event_seq bigint not null,    -- the event
    number bigint not null,       -- of the attempt, from 1
    at timestamptz not null,      -- business time
    http bigint,                  -- status of the answer; null if there was none
    error text,                   -- why there was none
    ms bigint not null,           -- how long it took
    response text,                -- the beginning of the answer, with anything that looks like a secret masked
    primary key (merchant_id, endpoint_id, event_seq, number)
);
create trigger delivery_attempt_append_only before update or delete on delivery_attempt
    for each statement execute function refuse_change();
create trigger delivery_attempt_no_truncate before truncate on delivery_attempt for each statement execute function refuse_change();

-- Events whose last delivery attempt at an endpoint failed. A trigger keeps them; a delivery that succeeds at once, which is
-- nearly every one, touches nothing. Rows of an endpoint that was removed stay: readers leave them out.
create table undelivered_event (
    merchant_id bigint not null,  -- the merchant
    event_seq bigint not null,    -- the event
    endpoint_id bigint not null,  -- the endpoint
    primary key (merchant_id, event_seq, endpoint_id)
);

create function record_undelivered() returns trigger language plpgsql security definer set search_path = public as $$
begin
    if new.http between 200 and 299 then
        delete from undelivered_event where merchant_id = new.merchant_id and event_seq = new.event_seq
            and endpoint_id = new.endpoint_id;
    else
        insert into undelivered_event (merchant_id, event_seq, endpoint_id)
        values (new.merchant_id, new.event_seq, new.endpoint_id) on conflict do nothing;
    end if;
    return null;
end $$;
create trigger attempt_undelivered after insert on delivery_attempt
    for each row when (new.number > 1 or new.http is null or new.http not between 200 and 299)
    execute function record_undelivered();

-- Further webhook endpoints of a merchant. The one with number 1 is the setting `webhook_url`. A delivery to any of them is a job
-- (docs/decisions/0084).
create table webhook_endpoint (
    merchant_id bigint not null references merchant,      -- the merchant
    endpoint_id bigint not null check (endpoint_id > 1),  -- from 2
    url text not null,                                    -- where events are sent
    kinds text[] not null,                                -- of the events that it gets; empty: every kind
    verifier bytea not null,                              -- keyed hash that the secret is compared with
    sealed bytea not null,                                -- the secret that its events are signed with, encrypted
    previous_verifier bytea,                              -- that of the secret before it
    previous_sealed bytea,                                -- the secret before it, which signs as well for a while
    previous_until timestamptz,                           -- until when it does
    created_by text not null,                             -- who added it
    created_at timestamptz not null default now(),        -- when it was added
    removed_at timestamptz,                               -- when it was removed
    row_code bytea,                                       -- code of the row
    primary key (merchant_id, endpoint_id)
);


-- ------------------------------------------------------------------------------------------------------------------------
-- Audit trail, closes and invariants
-- ------------------------------------------------------------------------------------------------------------------------

-- Who did what to what, when, from where: a chain of hashes per merchant; merchant 0 is the operator. Whoever inserts says what was
-- done. The trigger sets number, time and hash, one entry of a chain at a time, so that the writer, the console and commands may
-- all write. Append-only.
create table audit_entry (
    merchant_id bigint not null,  -- the merchant
    seq bigint not null,          -- counted from 1 for each merchant
    at timestamptz not null,      -- when it was inserted
    actor text not null,          -- who did it
    address text not null,        -- from where
    action text not null,         -- what was done
    subject text not null,        -- to what
    before text not null,         -- the state before
    after text not null,          -- the state after
    hash bytea not null,          -- over the entry and the hash of the entry before
    primary key (merchant_id, seq)
);
create index audit_entry_at on audit_entry (at);

-- A field with its length before it, so that no two different entries are hashed as the same bytes.
create function audit_part(part text) returns bytea language sql immutable as $$
    select int4send(octet_length(convert_to(part, 'UTF8'))) || convert_to(part, 'UTF8')
$$;
-- The hash of an entry from its fields, and not from the table's row type: where the table is distributed, the rows are in a
-- table of another name, and so of another type.
create function audit_hash_of(
    previous bytea, merchant_id bigint, seq bigint, at timestamptz, actor text, address text, action text, subject text,
    before text, after text
) returns bytea language sql immutable as $$
    select sha256(
        previous || int8send(merchant_id) || int8send(seq) || int8send((extract(epoch from at) * 1000000)::bigint)
        || audit_part(actor) || audit_part(address) || audit_part(action) || audit_part(subject)
        || audit_part(before) || audit_part(after))
$$;
create function audit_link() returns trigger language plpgsql as $$
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
create trigger audit_entry_chain before insert on audit_entry for each row execute function audit_link();
create trigger audit_entry_append_only before update or delete on audit_entry for each statement execute function refuse_change();
create trigger audit_entry_no_truncate before truncate on audit_entry for each statement execute function refuse_change();

-- A close: the signed root of a Merkle tree over the heads of all merchants and of the operators' audit trail (docs/proofs.md).
-- Append-only.
create table book_close (
    number bigint primary key check (number > 0),  -- of the close, from 1
    closed_at timestamptz not null,                -- when
    tree_size bigint not null,                     -- number of leaves
    root bytea not null,                           -- of the tree
    previous bytea not null,                       -- hash of the close before
    public_key bytea not null,                     -- the key that verifies the signature
    signature bytea not null,                      -- over all of the above
    members bytea not null                         -- the merchants of the leaves in their order, eight bytes each
);
alter table book_close alter column members set storage external;
create trigger book_close_append_only before update or delete on book_close for each statement execute function refuse_change();
create trigger book_close_no_truncate before truncate on book_close for each statement execute function refuse_change();

-- The head of a merchant at a close, where it differs from that of the close before. Merchant 0 is the operators' audit trail.
-- Append-only.
create table book_close_head (
    merchant_id bigint not null,   -- the merchant
    close_number bigint not null,  -- the close
    posting_seq bigint not null,   -- the last posting
    posting_head bytea not null,   -- the value of the chain of postings
    mark_count bigint not null,    -- number of the merchant's marks
    mark_root bytea not null,      -- root of the tree of the merchant's marks
    event_seq bigint not null,     -- the last event
    event_head bytea not null,     -- the value of the chain of events
    audit_seq bigint not null,     -- the last entry of the audit trail
    audit_head bytea not null,     -- its hash
    primary key (merchant_id, close_number)
);
create index book_close_head_number on book_close_head (close_number);
create trigger book_close_head_append_only before update or delete on book_close_head
    for each statement execute function refuse_change();
create trigger book_close_head_no_truncate before truncate on book_close_head for each statement execute function refuse_change();

-- Values of a merchant's chain of postings at every 256th posting or shortly after, in the tree of the close that follows: the
-- proof of a posting needs the groups up to the next mark. Append-only.
create table book_close_mark (
    merchant_id bigint not null,  -- the merchant
    seq bigint not null,          -- the posting
    hash bytea not null,          -- the value after it
    primary key (merchant_id, seq)
);
create trigger book_close_mark_append_only before update or delete on book_close_mark
    for each statement execute function refuse_change();
create trigger book_close_mark_no_truncate before truncate on book_close_mark for each statement execute function refuse_change();

-- The hashes of a close's tree, level by level from the leaves up: an inclusion proof reads one of each. Append-only.
create table book_close_level (
    close_number bigint not null,  -- the close
    level bigint not null,         -- from 0, the leaves
    hashes bytea not null,         -- 32 bytes each
    primary key (close_number, level)
);
alter table book_close_level alter column hashes set storage external;
create trigger book_close_level_append_only before update or delete on book_close_level
    for each statement execute function refuse_change();
create trigger book_close_level_no_truncate before truncate on book_close_level for each statement execute function refuse_change();

-- The last check of each invariant of the ledger.
create table invariant_result (
    invariant text primary key,       -- its sentence
    checked_at timestamptz not null,  -- when it was checked
    checked_by text not null,         -- the process or command that did
    violations text[] not null        -- the first places; empty if it holds
);

-- What an operator should know: a rail that contradicts a final state, and the like. Append-only.
create table operator_notice (
    merchant_id bigint not null,                      -- the merchant
    notice_id bigint generated always as identity,    -- order of insertion
    reference text not null,                          -- what it is about
    message text not null,                            -- the notice
    at timestamptz not null,                          -- business time
    -- whether a rail contradicts the end of a transaction: open until two operators have decided (docs/decisions/0079)
    is_contradiction boolean not null default false,
    primary key (merchant_id, notice_id)
);
create index operator_notice_newest on operator_notice (notice_id);
create index operator_notice_contradiction on operator_notice (merchant_id, reference) where is_contradiction;
create trigger operator_notice_append_only before update or delete on operator_notice
    for each statement execute function refuse_change();
create trigger operator_notice_no_truncate before truncate on operator_notice for each statement execute function refuse_change();


-- ------------------------------------------------------------------------------------------------------------------------
-- Payments
-- ------------------------------------------------------------------------------------------------------------------------

-- The words of a payer who is erased are removed in the same commit. No other update sets the column.
create function forget_payment_words() returns trigger language plpgsql security definer set search_path = public as $$
begin
    delete from payment_word where merchant_id = new.merchant_id and txn_ref = new.txn_ref;
    return null;
end $$;

-- A payment's state beside its transaction, under the same reference.
create table payment (
    key bytea not null,                                        -- row key
    merchant_id bigint not null,                               -- the merchant
    txn_ref text not null,                                     -- our reference
    method text not null,                                      -- how the payer pays
    charged bigint not null check (charged >= 0),              -- what the payer pays
    -- what the merchant gets, before a split
    settled bigint not null check (settled between 0 and charged),
    expires_at timestamptz not null,                           -- when it fails unless it was paid
    detail json not null,                                      -- the request, without personal data, as JSON
    stage text not null,                                       -- where it is in its flow
    auth text not null,                                        -- authentication that the rail asks for
    session text not null,                                     -- the rail's own reference
    tries bigint not null,                                     -- wrong OTPs so far
    sealed_card bytea,                                         -- the encrypted card, until it is tokenized or discarded
    token text,                                                -- of the saved card
    received bigint not null check (received >= 0),            -- what was transferred in so far
    refunded bigint not null check (refunded >= 0),            -- what was refunded
    refunding bigint not null check (refunding >= 0),          -- the amount of refunds in progress
    refunds bigint not null,                                   -- number of refunds that have ended
    facts json not null,                                       -- what the rail reported, as JSON
    -- the amount of disputes that were not won: it cannot be refunded as well
    disputed bigint not null default 0 check (disputed >= 0),
    -- name, addresses, device, meta and account of the payer, encrypted; null if unknown or erased
    payer_sealed bytea,
    row_code bytea,                                            -- code of the row
    primary key (key, merchant_id),
    constraint payment_refunds check (refunded + refunding + disputed <= charged)
) with (fillfactor = 70);
-- Payments that were made for a loan, savings, a plan or a checkout, by its reference.
create index payment_purpose on payment (merchant_id, (detail -> 'purpose' ->> 'reference'))
    where detail -> 'purpose' ->> 'reference' is not null;
create trigger payment_words_forgotten after update of payer_sealed on payment for each row
    when (old.payer_sealed is not null and new.payer_sealed is null) execute function forget_payment_words();

-- Final payments by the words of the payer's name and by the last four digits of the card or account (docs/decisions/0081). The
-- worker adds them from the log of events, up to the mark of the merchant.
create table payment_word (
    merchant_id bigint not null,  -- the merchant
    word bytea not null,          -- keyed hash
    event_seq bigint not null,    -- the event of the payment's end
    txn_ref text not null,        -- the payment
    primary key (merchant_id, word, event_seq)
);

-- How far payment_word goes.
create table payment_word_mark (
    merchant_id bigint primary key,  -- the merchant
    event_seq bigint not null        -- the last event that was looked at
);

-- A card that may be charged again by its token.
create table saved_card (
    key bytea not null,                           -- row key
    merchant_id bigint not null,                  -- the merchant
    token text not null,                          -- what the merchant calls it
    sealed bytea not null,                        -- the number, encrypted
    detail json not null,                         -- mask, brand and issuer, as JSON
    created_at timestamptz not null,              -- when it was saved
    seq bigint generated by default as identity,  -- order of insertion
    primary key (key, merchant_id)
);

-- Recurrent payments and installment plans. There is one job while a plan waits, and none while it charges.
create table payment_plan (
    key bytea not null,                           -- row key
    merchant_id bigint not null,                  -- the merchant
    plan_id text not null,                        -- its id
    -- recurrent or instalment
    kind text not null check (kind in ('recurrent', 'instalment')),
    token text not null,                          -- of the saved card
    currency text not null,                       -- three letters
    first_ref text not null,                      -- the payment that started the plan
    detail json not null,                         -- its terms, without personal data, as JSON
    created_at timestamptz not null,              -- when it began
    -- an installment plan ends as finished (all collected), incomplete (a part), unpaid (nothing) or cancelled
    state text not null check (state in ('active', 'paused', 'stopped', 'finished', 'incomplete', 'unpaid', 'cancelled')),
    cycle bigint not null,                        -- number of the current due date, from 1
    cycle_due timestamptz not null,               -- the due date that is charged next, or now
    attempt bigint not null,                      -- charges made for it so far
    misses bigint not null,                       -- cycles that failed in a row
    paid bigint not null,                         -- collected so far, the first charge included
    last_ref text not null,                       -- the newest charge
    charging boolean not null,                    -- whether a charge is in progress
    facts json not null,                          -- what happened so far, as JSON
    seq bigint generated by default as identity,  -- order of insertion
    payer_sealed bytea,                           -- name, email address and meta of the payer, encrypted
    primary key (key, merchant_id)
);
create index payment_plan_merchant on payment_plan (merchant_id, kind, created_at, seq);

-- Telephones that have paid a merchant before: the first payment enrolls them.
create table enrolled_phone (
    key bytea not null,           -- row key of the keyed hash of the number
    merchant_id bigint not null,  -- the merchant
    primary key (key, merchant_id)
);


-- ------------------------------------------------------------------------------------------------------------------------
-- Settlement, splits and reserves
-- ------------------------------------------------------------------------------------------------------------------------

-- Somebody who gets a part of split payments.
create table beneficiary (
    key bytea not null,                           -- row key
    merchant_id bigint not null,                  -- the merchant
    ref_code text not null,                       -- its id
    name text not null,                           -- the name on the account
    bank_code text not null,                      -- the bank
    account_number text not null,                 -- the account
    created_at timestamptz not null,              -- when it was added
    seq bigint generated by default as identity,  -- order of insertion
    row_code bytea,                               -- code of the row
    primary key (key, merchant_id)
);
create index beneficiary_merchant on beneficiary (merchant_id, created_at, seq);

-- Money that is moved together on one day: a merchant's settlement, a beneficiary's payout, or the part of payments that is kept
-- back until a day (rolling reserve).
create table settlement_batch (
    key bytea not null,                          -- row key
    merchant_id bigint not null,                 -- the merchant
    -- settlement, payout or reserve
    kind text not null check (kind in ('settlement', 'payout', 'reserve')),
    owner text not null,                         -- `merchant`, or the ref_code of a beneficiary
    day text not null,                           -- YYYYMMDD
    currency text not null,                      -- three letters
    amount bigint not null check (amount >= 0),  -- what is moved; zero if fees and split parts took all of it
    -- due, sent or done
    state text not null check (state in ('due', 'sent', 'done')),
    fee bigint not null default 0,               -- fees that were deducted before
    vat bigint not null default 0,               -- value added tax that was deducted before
    split bigint not null default 0,             -- parts of beneficiaries that were deducted before
    reserved bigint not null default 0,          -- what was kept back before
    primary key (key, merchant_id)
);

-- Sums of settlements. projections/settlement_sums.py adds to them from the journal, which stays the truth: a row is the sum of the postings
-- of one line up to the merchant's mark, and may be made again from them at any time.
create table settlement_sum (
    merchant_id bigint not null,  -- the merchant
    day date not null,            -- in Lagos, of the postings
    currency text not null,       -- three letters
    line text not null,           -- as ledger/settlement_lines.py names it
    reference text not null,      -- of a settled batch or of a payout, else ''
    amount bigint not null,       -- negative if it left the wallet
    count bigint not null,        -- number of the postings
    primary key (merchant_id, day, currency, line, reference)
);

-- How far settlement_sum goes. A merchant with few postings has none.
create table settlement_sum_mark (
    merchant_id bigint primary key,  -- the merchant
    posting_seq bigint not null      -- the last posting that is summed
);

-- Whether a merchant gets an event for each settlement of a day that has ended. One row for each merchant that has ever turned
-- them on; while they are on there is one job, which names the day that is reported next.
create table settlement_events (
    key bytea not null,               -- row key
    merchant_id bigint not null,      -- the merchant
    is_daily boolean not null,        -- whether they are on
    changed_at timestamptz not null,  -- when that was changed
    last_day date,                    -- in Lagos: the last day that was reported; null before the first
    primary key (key, merchant_id)
);

-- Daily totals of final transactions. projections/daily_totals.py adds to them from the log of events: a final transaction has exactly one
-- event, so that each is counted once. Rows of merchant 0 are the sums of all merchants, without code and reason.
create table daily_total (
    merchant_id bigint not null,  -- the merchant
    day date not null,            -- in Lagos, of the transaction's creation
    kind text not null,           -- of the transactions
    currency text not null,       -- three letters
    status text not null,         -- successful or failed
    rail text not null,           -- '' if it needed none
    code text not null,           -- of a failed transaction, else ''
    reason text not null,         -- message of a failed transaction, else ''; '' also once a day has too many
    count bigint not null,        -- number of transactions
    amount bigint not null,       -- their sum
    primary key (merchant_id, day, kind, currency, status, rail, code, reason)
);

-- How far daily_total goes.
create table daily_total_mark (
    merchant_id bigint primary key,  -- the merchant
    event_seq bigint not null        -- the last event whose transaction is counted
);


-- ------------------------------------------------------------------------------------------------------------------------
-- Accounts for payers and money that arrives
-- ------------------------------------------------------------------------------------------------------------------------

-- An account number that a rail opens for a reference of the merchant. Payers find it through the token index.
create table personalized_account (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    reference text not null,                  -- the merchant's reference
    account_number text not null,             -- empty until the account is open, as are code and name of its bank
    bank_code text not null,                  -- the bank
    bank_name text not null,                  -- its name
    bvn_sealed bytea,                         -- the owner's BVN, encrypted, if the merchant gave it
    created_at timestamptz not null,          -- when it was asked for
    -- `opening` until the rail has answered, `closing` until it has confirmed that nobody can pay into it
    state text not null check (state in ('opening', 'open', 'failed', 'closing', 'closed')),
    rail text not null,                       -- the rail that opened it and is asked for its payments
    rail_reference text not null,             -- ours, by which the rail knows the account
    facts json not null default '{}',         -- the rail's identifiers of the account, as JSON
    message text not null default '',         -- the rail's words, if it did not open or close the account
    closed_at timestamptz,                    -- when it was closed
    rail_account text not null default '',    -- our account with the rail
    person_sealed bytea,                      -- name and email address of the owner, encrypted
    row_code bytea,                           -- code of the row
    primary key (key, merchant_id)
);
-- Accounts whose payments are listed from their rail.
create index personalized_account_rail on personalized_account (rail, key) where rail <> 'sandbox';
create index personalized_account_list on personalized_account (merchant_id, created_at, key);

-- When the payments into an account of a rail were listed last. A worker that lists them holds a lease.
create table account_listing (
    key bytea primary key,              -- row key of the personalized account
    listed_at timestamptz,              -- when they were listed last
    leased_until timestamptz not null   -- the end of the lease
);

-- Money that came into an account, booked once.
create table inbound_receipt (
    key bytea not null,                         -- row key
    merchant_id bigint not null,                -- the merchant
    rail text not null,                         -- the rail that reported it
    rail_reference text not null,               -- the rail's reference
    account_number text not null,               -- where it came in
    amount bigint not null check (amount > 0),  -- how much
    currency text not null,                     -- three letters
    -- the payment; '' if the money is in suspense, because nobody is known to whom it belongs
    txn_ref text not null,
    booked_at timestamptz not null,             -- when it was booked
    rail_account text not null default '',      -- our account with the rail: money is returned with the same one
    primary key (key, merchant_id)
);
create unique index inbound_receipt_reference on inbound_receipt (rail, rail_reference);

-- What two operators decided about money in suspense, one row for a receipt of the merchant's books. Assigned: it is in the
-- merchant's wallet, or in that of another, whose books have the row `received`. Returning: the rail is asked to refund it; then
-- returned, or failed, after which it can be decided again.
create table suspense_decision (
    key bytea not null,                         -- row key
    merchant_id bigint not null,                -- the merchant
    rail text not null,                         -- of the receipt
    rail_reference text not null,               -- of the receipt
    -- what became of it
    state text not null check (state in ('assigned', 'received', 'returning', 'returned', 'failed')),
    amount bigint not null check (amount > 0),  -- of the receipt
    currency text not null,                     -- three letters
    approval_id bigint not null,                -- the approval that decided it
    other_merchant_id bigint not null,          -- the other merchant, or the same
    reference text not null,                    -- of the refund at the rail
    message text not null,                      -- the rail's words
    decided_at timestamptz not null,            -- when it was decided
    primary key (key, merchant_id)
);
create index suspense_decision_reference on suspense_decision (rail, rail_reference);


-- ------------------------------------------------------------------------------------------------------------------------
-- Customers, checkouts, links, invoices and tickets
-- ------------------------------------------------------------------------------------------------------------------------

-- A person who pays. The key is made of the keyed hash of the email address, so the same address is the same customer. An erased
-- customer's row stays, and nothing in it tells who it was.
create table customer (
    key bytea not null,               -- row key
    merchant_id bigint not null,      -- the merchant
    customer_id text not null,        -- its id
    number bigint not null,           -- place in the merchant's list
    detail_sealed bytea,              -- all personal data, encrypted; null once erased
    email_hash bytea,                 -- keyed hash of the email address
    phone_hash bytea,                 -- keyed hash of the telephone number
    words text not null,              -- keyed hashes of the beginnings of the words of the name, separated by spaces
    created_at timestamptz not null,  -- when it was first known
    changed_at timestamptz not null,  -- when it was changed last
    erased_at timestamptz,            -- when it was erased
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index customer_id on customer (merchant_id, customer_id);
create unique index customer_number on customer (merchant_id, number);
create index customer_phone on customer (merchant_id, phone_hash) where phone_hash is not null;
create index customer_words on customer using gin (string_to_array(words, ' '));

-- The customer of an id. Customers are stored under the keyed hash of their email address, and a request names the id.
create table customer_index (
    key bytea not null,           -- row key of the id
    merchant_id bigint not null,  -- the merchant
    customer_key bytea not null,  -- row key of the customer
    primary key (key, merchant_id)
);

-- A checkout asks one payer for one amount on a page of ours. Each attempt to pay is an ordinary payment whose purpose names the
-- checkout; at most one of them succeeds.
create table checkout (
    key bytea not null,                           -- row key
    merchant_id bigint not null,                  -- the merchant
    txn_ref text not null,                        -- our reference
    source text not null,                         -- what it was opened for: checkout, link, ticket or invoice
    source_id text not null,                      -- its id
    customer_txnref text not null,                -- the merchant's reference
    currency text not null,                       -- three letters
    amount bigint not null check (amount > 0),    -- what is asked for
    -- open, paid or expired
    state text not null check (state in ('open', 'paid', 'expired')),
    payment_ref text not null,                    -- the attempt that succeeded
    attempt_ref text not null,                    -- the newest attempt
    attempts bigint not null,                     -- number of attempts
    expires_at timestamptz not null,              -- when it expires
    detail json not null,                         -- the request, without personal data, as JSON
    created_at timestamptz not null,              -- when it was opened
    ended_at timestamptz,                         -- when it was paid or expired
    seq bigint generated by default as identity,  -- order of insertion
    -- name, email address, telephone and meta of the payer, encrypted until it ends: the payment has them
    payer_sealed bytea,
    primary key (key, merchant_id),
    check ((state = 'paid') = (payment_ref <> '')),
    check ((state = 'open') = (ended_at is null))
) with (fillfactor = 70);
create index checkout_merchant on checkout (merchant_id, created_at, seq);
create index checkout_source on checkout (merchant_id, source, source_id, created_at, seq) where source_id <> '';
create index checkout_customer_txnref on checkout (merchant_id, customer_txnref, created_at, seq) where customer_txnref <> '';

-- A link that anybody may open to pay. The token index finds it.
create table pay_link (
    key bytea not null,                           -- row key
    merchant_id bigint not null,                  -- the merchant
    link_id text not null,                        -- its id
    kind text not null,                           -- what it sells: link or ticket
    slug text not null,                           -- its last part in the URL
    title text not null,                          -- what payers read
    currency text not null,                       -- three letters
    amount bigint not null check (amount >= 0),   -- 0: the payer chooses it
    -- active or disabled
    state text not null check (state in ('active', 'disabled')),
    detail json not null,                         -- the request, as JSON
    created_at timestamptz not null,              -- when it was made
    changed_at timestamptz not null,              -- when it was changed last
    seq bigint generated by default as identity,  -- order of insertion
    primary key (key, merchant_id)
);
create index pay_link_merchant on pay_link (merchant_id, kind, created_at, seq);

-- The last number that a merchant gave to an invoice. Numbers have no holes: the invoice is in the same commit.
create table invoice_counter (
    key bytea not null,           -- row key
    merchant_id bigint not null,  -- the merchant
    last_number bigint not null,  -- of an invoice
    primary key (key, merchant_id)
) with (fillfactor = 50);

-- An invoice.
create table invoice (
    key bytea not null,                              -- row key
    merchant_id bigint not null,                     -- the merchant
    invoice_id text not null,                        -- its id
    number bigint not null,                          -- given out without holes
    customer_id text not null,                       -- who is to pay
    currency text not null,                          -- three letters
    subtotal bigint not null,                        -- the sum of the items
    discount bigint not null,                        -- what is taken off it
    vat bigint not null,                             -- value added tax
    shipping bigint not null,                        -- what is added for shipping
    total bigint not null,                           -- subtotal - discount + vat + shipping
    paid bigint not null,                            -- paid so far, of the price
    -- what attempts that have not ended would add to paid, so that payments never exceed the total
    reserved bigint not null,
    refunded bigint not null check (refunded >= 0),  -- refunded so far, of the price
    -- unpaid, partly_paid, paid, overdue or void
    status text not null check (status in ('unpaid', 'partly_paid', 'paid', 'overdue', 'void')),
    allows_parts boolean not null,                   -- whether it may be paid in parts
    due_on date,                                     -- the day on which it is due
    detail json not null,                            -- items and rates, as JSON
    -- name and address of the customer, as of the last change, and the note, encrypted; null once erased
    personal_sealed bytea,
    event_count bigint not null,                     -- number of its events
    created_at timestamptz not null,                 -- when it was made
    changed_at timestamptz not null,                 -- when it was changed last
    paid_at timestamptz,                             -- when it was paid
    voided_at timestamptz,                           -- when it was voided
    primary key (key, merchant_id),
    check (total = subtotal - discount + vat + shipping),
    check (paid >= 0 and reserved >= 0 and paid + reserved <= total)
) with (fillfactor = 80);
create unique index invoice_number on invoice (merchant_id, number);
create index invoice_customer on invoice (merchant_id, customer_id, number);
create index invoice_status on invoice (merchant_id, status, number);

-- A kind of ticket of a payment link of kind `ticket`.
create table ticket_kind (
    key bytea not null,                              -- row key
    merchant_id bigint not null,                     -- the merchant
    link_id text not null,                           -- the link
    place bigint not null,                           -- number of the kind in the link
    name text not null,                              -- what buyers read
    amount bigint not null check (amount > 0),       -- the price
    quantity bigint,                                 -- how many there are; null: no limit
    sold bigint not null check (sold >= 0),          -- how many were sold
    reserved bigint not null check (reserved >= 0),  -- what attempts to pay that have not ended would add to sold
    used bigint not null check (used >= 0),          -- how many were used
    primary key (key, merchant_id),
    check (sold + reserved <= coalesce(quantity, 1000000))
) with (fillfactor = 70);
create unique index ticket_kind_link on ticket_kind (merchant_id, link_id, place);

-- A ticket that was sold. The token index finds it by its code.
create table ticket (
    key bytea not null,               -- row key
    merchant_id bigint not null,      -- the merchant
    link_id text not null,            -- the link
    place bigint not null,            -- number of its kind in the link
    checkout_ref text not null,       -- the checkout that sold it
    payment_ref text not null,        -- the payment
    number bigint not null,           -- among those of the checkout
    -- valid, used or void
    state text not null check (state in ('valid', 'used', 'void')),
    code_sealed bytea not null,       -- the code, encrypted
    person_sealed bytea,              -- who bought it, encrypted; null once erased
    created_at timestamptz not null,  -- when it was sold
    used_at timestamptz,              -- when it was used
    changed_at timestamptz not null,  -- when it was changed last
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index ticket_purchase on ticket (merchant_id, checkout_ref, number);
create index ticket_link on ticket (merchant_id, link_id, created_at, checkout_ref, number);
create index ticket_payment on ticket (merchant_id, payment_ref, number);


-- ------------------------------------------------------------------------------------------------------------------------
-- Disputes
-- ------------------------------------------------------------------------------------------------------------------------

-- A payer's bank disputes a payment.
create table dispute (
    key bytea not null,                                   -- row key
    merchant_id bigint not null,                          -- the merchant
    dispute_id text not null,                             -- its id
    number bigint not null,                               -- order of the disputes of a merchant
    txn_ref text not null,                                -- the payment
    method text not null,                                 -- how it was paid
    currency text not null,                               -- three letters
    amount bigint not null check (amount > 0),            -- what is disputed
    fee bigint not null check (fee >= 0),                 -- the fee for the dispute
    vat bigint not null check (vat >= 0),                 -- value added tax on the fee
    -- what the hold on the wallet has of amount, fee and VAT
    covered bigint not null check (covered between 0 and amount + fee + vat),
    reason text not null,                                 -- the bank's reason
    plan_id text not null,                                -- the plan that the payment belongs to, else ''
    rail text not null,                                   -- the rail that announced it, else ''
    rail_dispute_id text not null,                        -- the rail's id of it
    opened_at timestamptz not null,                       -- when it was opened
    due_at timestamptz not null,                          -- until when the merchant may respond
    -- where it is in its flow
    state text not null check (state in ('needs_response', 'under_review', 'won', 'lost', 'accepted', 'expired')),
    responded_at timestamptz,                             -- when the merchant responded
    ended_at timestamptz,                                 -- when it was decided
    events bigint not null,                               -- number of its events
    files bigint not null check (files between 0 and 5),  -- number of files of the evidence
    evidence_sealed bytea,                                -- the merchant's answer, encrypted
    trail json not null,                                  -- what happened to it, step by step, as JSON
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index dispute_id on dispute (merchant_id, dispute_id);
create unique index dispute_number on dispute (merchant_id, number);
create index dispute_payment on dispute (merchant_id, txn_ref);
-- Answers that are to be handed in at a rail.
create index dispute_answered on dispute (responded_at, key) where rail <> '' and responded_at is not null;

-- A file of the evidence. An erased one is empty.
create table dispute_file (
    key bytea not null,                     -- row key
    merchant_id bigint not null,            -- the merchant
    dispute_id text not null,               -- the dispute
    place bigint not null,                  -- number of the file
    media_type text not null,               -- what it is
    size bigint not null check (size > 0),  -- in bytes
    content_sealed bytea not null,          -- the content, encrypted, which does not compress
    primary key (key, merchant_id)
);
alter table dispute_file alter column content_sealed set storage external;
create unique index dispute_file_place on dispute_file (merchant_id, dispute_id, place);

-- The dispute that was opened for one of a rail, so that an announcement opens it once.
create table dispute_origin (
    key bytea not null,             -- row key
    merchant_id bigint not null,    -- the merchant
    rail text not null,             -- the rail
    rail_dispute_id text not null,  -- the rail's id of it
    dispute_id text not null,       -- our dispute
    primary key (key, merchant_id)
);

-- Answers of merchants to disputes, which are handed in at the rail. A worker that does so holds a lease: due_at is in the future.
create table dispute_hand_in (
    merchant_id bigint not null,       -- the merchant
    dispute_id text not null,          -- the dispute
    attempts bigint not null,          -- how often it was tried
    due_at timestamptz not null,       -- when to try
    done_at timestamptz,               -- when it ended
    outcome text not null default '',  -- what came of it
    primary key (merchant_id, dispute_id)
);


-- ------------------------------------------------------------------------------------------------------------------------
-- Transfers and payouts
-- ------------------------------------------------------------------------------------------------------------------------

-- A bulk transfer that was accepted. Append-only.
create table transfer_batch (
    key bytea not null,               -- row key
    merchant_id bigint not null,      -- the merchant
    batch_ref text not null,          -- the merchant's reference
    -- its orders in the order in which they were sent, each with its transfer or why there is none, as JSON
    detail json not null,
    created_at timestamptz not null,  -- when it was accepted
    primary key (key, merchant_id)
);
create trigger transfer_batch_append_only before update or delete on transfer_batch
    for each statement execute function refuse_change();
create trigger transfer_batch_no_truncate before truncate on transfer_batch for each statement execute function refuse_change();

-- Transfers that wait, or waited, for the approval of another party.
create table transfer_approval (
    key bytea not null,                   -- row key
    merchant_id bigint not null,          -- the merchant
    txn_ref text not null,                -- the transfer
    order_ref text not null,              -- the merchant's reference
    batch_ref text,                       -- of the bulk that it is part of
    amount bigint not null,               -- of the transfer
    -- waiting, approved, rejected or expired
    state text not null check (state in ('waiting', 'approved', 'rejected', 'expired')),
    detail json not null,                 -- who made it, and why it waits, as JSON
    created_at timestamptz not null,      -- when it was made
    expires_at timestamptz not null,      -- when it expires
    decided_by text not null default '',  -- who decided it
    decided_at timestamptz,               -- when it was decided
    row_code bytea,                       -- code of the row
    primary key (key, merchant_id)
);
create unique index transfer_approval_reference on transfer_approval (merchant_id, txn_ref);
create index transfer_approval_waiting on transfer_approval (merchant_id, created_at) where state = 'waiting';

-- Money out of the current hour and day, of a merchant, of each beneficiary and of each client. Kept only for merchants that have
-- a payout policy.
create table payout_counter (
    key bytea not null,            -- row key
    merchant_id bigint not null,   -- the merchant
    hour_at timestamptz not null,  -- the beginning of the hour
    hour_count bigint not null,    -- payouts of the hour
    hour_amount bigint not null,   -- their sum
    day_at timestamptz not null,   -- the beginning of the day
    day_count bigint not null,     -- payouts of the day
    day_amount bigint not null,    -- their sum
    paid_at timestamptz,           -- the first payment that the beneficiary received
    row_code bytea,                -- code of the row
    primary key (key, merchant_id)
) with (fillfactor = 70);

-- Payouts of the wallet to the merchant's own bank account. A schedule that is off has no job.
create table payout_schedule (
    key bytea not null,                        -- row key
    merchant_id bigint not null,               -- the merchant
    currency text not null,                    -- of the wallet
    -- when money is paid out
    frequency text not null check (frequency in ('daily', 'weekly', 'monthly', 'above', 'off')),
    least bigint not null check (least >= 0),  -- the least amount that is paid out
    bank_code text not null,                   -- the bank
    account_number text not null,              -- the account
    changed_at timestamptz not null,           -- when it was changed last
    last_ref text not null,                    -- the last payout
    set_by text not null,                      -- who made it, as JSON: somebody else approves payouts that wait for approval
    row_code bytea,                            -- code of the row
    primary key (key, merchant_id)
);


-- ------------------------------------------------------------------------------------------------------------------------
-- Virtual cards and exchange rates
-- ------------------------------------------------------------------------------------------------------------------------

-- A virtual card. Its balance is the account card:<short_id>:<currency>. The CVV is derived from a key and not stored.
create table virtual_card (
    key bytea not null,                                         -- row key
    merchant_id bigint not null,                                -- the merchant
    reference text not null,                                    -- the merchant's reference
    short_id text not null,                                     -- its id
    currency text not null check (currency in ('NGN', 'USD')),  -- NGN or USD
    network text not null,                                      -- the card network
    mask text not null,                                         -- first and last digits of the number
    sealed_pan bytea not null,                                  -- the number, encrypted
    expiration text not null,                                   -- month and year
    -- active, blocked or terminated
    state text not null check (state in ('active', 'blocked', 'terminated')),
    -- what may be spent at once, in a day and in a month, and where, as JSON
    limits json not null,
    spent_on text not null,                                     -- the day in Lagos that spent_day and spent_month count up to
    spent_day bigint not null check (spent_day >= 0),           -- spent on that day
    -- spent in its month
    spent_month bigint not null check (spent_month >= spent_day),
    unpaid bigint not null check (unpaid >= 0),                 -- monthly fees in a row that the balance did not cover
    fee_job bytea not null,                                     -- row key of the job that takes the next fee
    created_at timestamptz not null,                            -- when it was made
    seq bigint generated by default as identity,                -- order of insertion
    holder_sealed bytea not null,                                        -- name and billing address of the holder, encrypted
    row_code bytea,                                                      -- code of the row
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index virtual_card_short_id on virtual_card (merchant_id, short_id);

-- What the holder of a card sees of it, line by line. The lines of a card add up to its balance.
create table virtual_card_entry (
    key bytea not null,                              -- row key
    merchant_id bigint not null,                     -- the merchant
    card bytea not null,                             -- row key of the card
    number bigint not null,                          -- keeps lines of one instant in order
    shown_id bigint not null,                        -- the id that is shown: the number behind the permutation of references
    txn_ref text,                                    -- the transaction, if there is one
    narration text not null,                         -- what it was
    -- Successful or Failed
    status text not null check (status in ('Successful', 'Failed')),
    currency text not null,                          -- that the shop asked for
    amount bigint not null check (amount >= 0),      -- of the line
    fee bigint not null check (fee >= 0),            -- of the line
    refunded bigint not null check (refunded >= 0),  -- what came back of a purchase
    refunds bigint not null check (refunds >= 0),    -- in how many refunds
    created_at timestamptz not null,                 -- business time
    primary key (key, merchant_id)
) with (fillfactor = 90);
create index virtual_card_entry_newest on virtual_card_entry (merchant_id, card, created_at desc, number desc);

-- What the operator pays (buy) and asks (sell) for one unit of a currency, in kobo; the newest row is in force. Append-only.
create table exchange_rate (
    rate_id bigint generated always as identity primary key,  -- order of insertion
    currency text not null,                                   -- three letters
    buy bigint not null check (buy > 0),                      -- what the operator pays
    sell bigint not null check (sell >= buy),                 -- what the operator asks
    set_at timestamptz not null default now(),                -- when it was set
    set_by text not null,                                     -- who set it
    row_code bytea                                            -- code of the row
);
create index exchange_rate_newest on exchange_rate (currency, rate_id desc);
create trigger exchange_rate_append_only before update on exchange_rate for each row execute function refuse_change_but_code();
create trigger exchange_rate_no_delete before delete on exchange_rate for each statement execute function refuse_change();
create trigger exchange_rate_no_truncate before truncate on exchange_rate for each statement execute function refuse_change();


-- ------------------------------------------------------------------------------------------------------------------------
-- Cashcodes
-- ------------------------------------------------------------------------------------------------------------------------

-- What a cashcode has besides its transaction. The code itself is not stored: the token index finds it.
create table cashcode (
    key bytea not null,                                   -- row key
    merchant_id bigint not null,                          -- the merchant
    txn_ref text not null,                                -- our reference
    order_ref text not null,                              -- the merchant's reference
    -- where it can be redeemed
    channel text not null check (channel in ('ATM', 'POS', 'WEB')),
    source text not null,                                 -- the account that pays what is drawn
    pin bytea not null,                                   -- keyed hash of the PIN
    expires_at timestamptz not null,                      -- when it expires
    -- active, redeemed, expired, cancelled or locked
    state text not null check (state in ('active', 'redeemed', 'expired', 'cancelled', 'locked')),
    tries bigint not null check (tries between 0 and 3),  -- wrong PINs
    paid bigint not null check (paid >= 0),               -- what was paid
    primary key (key, merchant_id)
) with (fillfactor = 80);

-- How often the tellers of a merchant named a code that does not exist: guessing is bounded.
create table cashcode_attempts (
    key bytea not null,           -- row key
    merchant_id bigint not null,  -- the merchant
    wrong bigint not null,        -- how often
    since timestamptz not null,   -- business time
    primary key (key, merchant_id)
) with (fillfactor = 80);


-- ------------------------------------------------------------------------------------------------------------------------
-- Bills
-- ------------------------------------------------------------------------------------------------------------------------

-- One row for every time that the catalogue was fetched from the biller rail. The newest edition is listed. The catalogue belongs
-- to the deployment, not to a merchant.
create table bill_edition (
    edition bigint primary key,     -- counted from 1
    taken_at timestamptz not null,  -- when it was fetched
    items bigint not null           -- number of its items
);

-- Categories of billers. What an edition no longer has is retired, not deleted: yesterday's paycodes are accepted for a day.
create table bill_category (
    code text primary key,    -- its id
    name text not null,       -- what people read
    place bigint not null,    -- the rail's own order
    edition bigint not null,  -- the last edition that had it
    retired_at timestamptz    -- when an edition came without it
);

-- Billers.
create table biller (
    id bigint primary key,    -- its id
    name text not null,       -- what people read
    reference text not null,  -- the label of what its customers are known by
    category text not null,   -- code of its category
    slug text not null,       -- its short name
    pattern text not null,    -- a regular expression of the customer's reference
    least bigint,             -- the least open amount
    most bigint,              -- the largest open amount
    place bigint not null,    -- the rail's own order
    edition bigint not null,  -- the last edition that had it
    retired_at timestamptz,   -- when an edition came without it
    -- an open amount must be a multiple of it
    amount_step bigint not null default 1 check (amount_step > 0)
);

-- What a paycode pays for.
create table bill_item (
    key bytea not null,                          -- row key, with 0 in place of the merchant, so that rules can need one
    -- 0
    merchant_id bigint not null default 0 check (merchant_id = 0),
    paycode text not null,                       -- its id
    name text not null,                          -- what people read
    bills_id bigint not null references biller,  -- the biller
    amount text not null,                        -- as it is shown; "0" is open
    price bigint not null check (price >= 0),    -- the same in minor units
    fee bigint not null check (fee >= 0),        -- the fee
    discount text not null,                      -- as it is shown
    require_name_query boolean not null,         -- whether the customer's name must be looked up first
    fulfilment text not null,                    -- what paying it brings
    place bigint not null,                       -- the rail's own order
    since bigint not null,                       -- the edition that brought it
    edition bigint not null,                     -- the last edition that had it
    retired_at timestamptz,                      -- when an edition came without it
    primary key (key, merchant_id)
);
create index bill_item_retired on bill_item (retired_at);

-- What the rules see of a paycode. Whether it is still accepted depends on wall time, which rules do not know; and the writer's
-- transaction may have begun long ago, so the clock is asked and not the transaction. Read with the rights of whoever reads it.
create view paycode with (security_invoker = true) as
select i.key, i.merchant_id, i.paycode, i.name, i.bills_id, b.name as biller, b.slug, b.pattern, b.least, b.most,
    i.price, i.fee, i.discount, i.fulfilment,
    (i.retired_at is null or i.retired_at > clock_timestamp() - interval '24 hours') as accepted, b.amount_step
from bill_item i join biller b on b.id = i.bills_id;

-- When a vendor last announced a change of its catalogue. At most one row.
create table bill_refresh (
    is_only boolean default true primary key check (is_only),  -- allows one row only
    requested_at timestamptz not null                          -- when it was announced
);

-- When a merchant last paid this amount to this customer of this biller: another order within half a minute is taken for a mistake.
create table bill_guard (
    key bytea not null,           -- row key of the three
    merchant_id bigint not null,  -- the merchant
    order_ref text not null,      -- the merchant's reference of that order
    at timestamptz not null,      -- business time
    primary key (key, merchant_id)
) with (fillfactor = 80);

-- What a bill brought: an electricity token, a PIN. These are worth money, so they are encrypted.
create table bill_voucher (
    key bytea not null,           -- row key
    merchant_id bigint not null,  -- the merchant
    txn_ref text not null,        -- the payment of the bill
    sealed bytea not null,        -- the voucher, encrypted
    primary key (key, merchant_id)
);
create unique index bill_voucher_txn_ref on bill_voucher (merchant_id, txn_ref);


-- ------------------------------------------------------------------------------------------------------------------------
-- Clients, loans and savings
-- ------------------------------------------------------------------------------------------------------------------------

-- A person whom a merchant lends to and saves for. An erased person's row stays, because the books name it, and nothing in it tells
-- who it was.
create table client (
    key bytea not null,                                        -- row key
    merchant_id bigint not null,                               -- the merchant
    client_id text not null,                                   -- its id
    number bigint not null,                                    -- place in the merchant's list
    -- where it is in its flow
    status text not null check (status in ('pending_approval', 'inactive', 'active', 'rejected', 'exited', 'blacklisted')),
    bvn_verified boolean not null,                             -- whether the BVN was verified
    -- loans and savings that are not closed: whoever has one stays active
    open_accounts bigint not null check (open_accounts >= 0),
    bvn_hash bytea,                                            -- keyed hash of the BVN
    bvn_mask text,                                             -- the BVN as it is shown
    bvn_sealed bytea,                                          -- the BVN, encrypted
    created_at timestamptz not null,                           -- when it was added
    changed_at timestamptz not null,                           -- when it was changed last
    erased_at timestamptz,                                     -- when it was erased
    detail_sealed bytea,                                       -- personal data of the client, encrypted
    phone_hash bytea,                                          -- keyed hash of the telephone number
    email_hash bytea,                                          -- keyed hash of the email address
    -- how the BVN was verified, or the page on which the person must consent first, encrypted
    bvn_check_sealed bytea,
    -- payments for their loans and savings that have not ended (docs/decisions/0080)
    pending_payments bigint not null default 0 check (pending_payments >= 0),
    credit bigint not null default 0 check (credit >= 0),      -- what they paid beyond loans
    row_code bytea,                                            -- code of the row
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index client_number on client (merchant_id, number);
create index client_bvn_hash on client (merchant_id, bvn_hash) where bvn_hash is not null;
create index client_phone_hash on client (merchant_id, phone_hash, number) where phone_hash is not null;
create index client_email_hash on client (merchant_id, email_hash, number) where email_hash is not null;

-- Whose a BVN is: one merchant has no two clients with the same.
create table client_bvn (
    key bytea not null,           -- row key of the keyed hash of the BVN
    merchant_id bigint not null,  -- the merchant
    client_id text,               -- null if its client got another BVN or was erased
    primary key (key, merchant_id)
);

-- A loan. Its terms never change once it is asked for. What the client owes is in the ledger, in accounts named after the loan.
create table loan (
    key bytea not null,                                          -- row key
    merchant_id bigint not null,                                 -- the merchant
    loan_id text not null,                                       -- its id
    number bigint not null,                                      -- place in the merchant's list
    client_id text not null,                                     -- the borrower
    -- where it is in its flow
    state text not null check (state in ('pending_approval', 'approved', 'disbursing', 'active', 'active_in_arrears',
        'closed_repaid', 'closed_rejected', 'closed_withdrawn', 'closed_written_off')),
    amount bigint not null check (amount > 0),                   -- the principal
    rate text not null,                                          -- the interest rate, as text
    -- the period that the rate is of
    frequency text not null check (frequency in ('annualized', 'every_month', 'every_four_weeks', 'every_week', 'every_day')),
    period bigint not null check (period > 0),                   -- number of installments
    -- how interest is computed
    method text not null check (method in ('declining_equal_instalments', 'equal_principal', 'flat')),
    tax_applied boolean not null,                                -- whether tax is due on interest
    tax_rate text not null,                                      -- the rate of that tax, as text
    tolerance_days bigint not null check (tolerance_days >= 0),  -- days after a due date without a penalty
    penalty_rate text not null,                                  -- the rate of the penalty, as text
    transfer text,                                               -- the newest disbursement
    aged_to date,                                                -- the business day up to which lateness was computed
    created_at timestamptz not null,                             -- when it was asked for
    disbursed_at timestamptz,                                    -- when it was paid out
    closed_at timestamptz,                                       -- when it was closed
    trail json not null,                                         -- what happened to it, step by step, as JSON
    row_code bytea,                                              -- code of the row
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index loan_number on loan (merchant_id, number);
create index loan_client on loan (merchant_id, client_id, number);

-- An installment: what it asks for and what was paid of it. Written when the loan is paid out.
create table loan_installment (
    key bytea not null,                                      -- row key
    merchant_id bigint not null,                             -- the merchant
    loan_id text not null,                                   -- the loan
    n bigint not null check (n > 0),                         -- number of the installment, from 1
    due date not null,                                       -- due date
    principal bigint not null check (principal >= 0),        -- what it asks for
    interest bigint not null check (interest >= 0),          -- interest that it asks for
    tax bigint not null check (tax >= 0),                    -- tax that it asks for
    penalty bigint not null check (penalty >= 0),            -- penalty that it asks for
    -- what was paid of it
    paid_principal bigint not null check (paid_principal between 0 and principal),
    -- interest that was paid
    paid_interest bigint not null check (paid_interest between 0 and interest),
    -- tax that was paid
    paid_tax bigint not null check (paid_tax between 0 and tax),
    -- penalty that was paid
    paid_penalty bigint not null check (paid_penalty between 0 and penalty),
    -- what rounding has left over of the penalty, in hundred-millionths of a kobo
    carry bigint not null,
    accrued bigint not null default 0 check (accrued >= 0),  -- interest that the interval had earned by accrued_on
    -- the last day on which principal was paid ahead: the days after it earn the rest of the interest
    accrued_on date,
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index loan_installment_of on loan_installment (merchant_id, loan_id, n);

-- A savings account of a client. Its balance is the account savings:<savings_id>:NGN.
create table savings (
    key bytea not null,                                          -- row key
    merchant_id bigint not null,                                 -- the merchant
    savings_id text not null,                                    -- its id
    number bigint not null,                                      -- place in the merchant's list
    client_id text not null,                                     -- the saver
    name text not null,                                          -- what people call it
    rate text not null,                                          -- the interest rate, as text
    -- the period that the rate is of
    frequency text not null check (frequency in ('annualized', 'every_month', 'every_four_weeks', 'every_week', 'every_day')),
    annual bigint not null check (annual >= 0),                  -- the same for a year, as an integer
    tax_applied boolean not null,                                -- whether tax is due on interest
    tax_rate text not null,                                      -- the rate of that tax, as text
    period bigint not null check (period > 0),                   -- months of its term
    opened_at timestamptz not null,                              -- when it was opened
    opened_on date not null,                                     -- the same as a day
    matures_on date not null,                                    -- the end of its term
    -- pending, active, matured or closed
    state text not null check (state in ('pending', 'active', 'matured', 'closed')),
    accrued bigint not null check (accrued >= 0),                -- interest of the ends of day before counted_to
    -- its rest, in units of 1/36,500,000,000 of a kobo
    accrued_rest bigint not null check (accrued_rest between 0 and 36499999999),
    counted_to date not null,                                    -- the day up to which interest is counted
    months bigint not null check (months between 0 and period),  -- months of its term that are closed
    due_interest bigint not null check (due_interest >= 0),      -- interest of months that ended, not yet paid
    -- tax on it
    due_tax bigint not null check (due_tax between 0 and due_interest),
    -- its thrift plans that are not over, and the debts it owes in them, oldest first, as JSON
    detail json not null,
    last_balance bigint not null,                                -- the balance when the row was last written
    -- what came in since the last posting, by day, as JSON: a cash-out forfeits what that money earned, last in first out
    layers text not null,
    -- payments for it that have not ended (docs/decisions/0080)
    pending_deposits bigint not null check (pending_deposits >= 0),
    -- thrift debts that others owe to it
    receivable bigint not null check (receivable >= 0),
    primary key (key, merchant_id)
) with (fillfactor = 50);
create unique index savings_number on savings (merchant_id, number);
create index savings_client on savings (merchant_id, client_id, number);

-- Savings that were opened on one day, so that their interest is posted on the same days: one job posts for all of them.
create table interest_batch (
    key bytea not null,           -- row key
    merchant_id bigint not null,  -- the merchant
    opened_on date not null,      -- the day
    sheet bigint not null,        -- number of the row, for a day with many savings
    opened bigint not null,       -- how many were opened on that day, on its first sheet
    members text not null,        -- their references, separated by commas, until they have matured and were paid
    primary key (key, merchant_id)
) with (fillfactor = 50);

-- A thrift plan.
create table thrift_plan (
    key bytea not null,                         -- row key
    merchant_id bigint not null,                -- the merchant
    thrift_id text not null,                    -- its id
    number bigint not null,                     -- place in the merchant's list
    name text not null,                         -- what people call it
    amount bigint not null check (amount > 0),  -- what each member contributes in a cycle
    -- how often
    frequency text not null check (frequency in ('every_day', 'every_week', 'every_four_weeks', 'every_month')),
    start_date date not null,                   -- the first day that was asked for
    -- how many members it needs
    member_required bigint not null check (member_required > 1),
    -- how many it has
    members bigint not null check (members between 0 and member_required),
    -- open, running, completed or cancelled
    state text not null check (state in ('open', 'running', 'completed', 'cancelled')),
    begins date,                                -- the day of its first cycle, known when it is full
    -- number of its cycles that are done
    cycle bigint not null check (cycle between 0 and member_required),
    tries bigint not null check (tries >= 0),   -- how often the next one was tried without everybody being able to pay
    next_date date,                             -- when it is tried next
    created_at timestamptz not null,            -- when it was made
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index thrift_plan_number on thrift_plan (merchant_id, number);

-- A member of a thrift plan.
create table thrift_member (
    key bytea not null,                                    -- row key
    merchant_id bigint not null,                           -- the merchant
    thrift_id text not null,                               -- the plan
    position bigint not null check (position > 0),         -- which is also the cycle whose pot it receives
    savings_id text not null,                              -- the savings that pay and receive
    client_id text not null,                               -- the saver
    contributed bigint not null check (contributed >= 0),  -- what it paid in
    received bigint not null check (received >= 0),        -- what it got
    owed bigint not null check (owed >= 0),                -- what it owes
    paid_on date,                                          -- when it got the pot
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index thrift_member_position on thrift_member (merchant_id, thrift_id, position);
create index thrift_member_savings on thrift_member (merchant_id, savings_id);


-- ------------------------------------------------------------------------------------------------------------------------
-- Rails
-- ------------------------------------------------------------------------------------------------------------------------

-- What rails announced by call-backs, and what was found by asking them: to be fetched from the rail and recorded.
create table rail_inbox (
    rail text not null,                             -- the rail
    -- receipt, dispute or settlement
    kind text not null check (kind in ('receipt', 'dispute', 'settlement')),
    reference text not null,                        -- the rail's own
    seq bigint generated always as identity,        -- order of insertion
    arrived_at timestamptz not null default now(),  -- when it was announced
    due_at timestamptz not null default now(),      -- when to fetch it
    attempts bigint not null default 0,             -- how often it was tried
    done_at timestamptz,                            -- when it was recorded
    outcome text not null default '',               -- what came of it
    detail json not null default '{}',              -- what the rail answered, as JSON
    primary key (rail, kind, reference)
);
create index rail_inbox_due on rail_inbox (due_at) where done_at is null;

-- Disputes as rails report them.
create table rail_dispute (
    rail text not null,                                -- the rail
    dispute_id text not null,                          -- the rail's id of it
    payment_reference text not null,                   -- what the rail says is disputed
    merchant_id bigint,                                -- the merchant of the payment, if it is known here
    txn_ref text not null default '',                  -- the payment, if it is known here
    amount bigint,                                     -- what is disputed
    currency text not null,                            -- three letters
    status text not null,                              -- the rail's word
    resolution text not null default '',               -- the rail's word
    due_at timestamptz,                                -- when the rail needs our answer
    first_seen_at timestamptz not null default now(),  -- when it was first reported
    changed_at timestamptz not null default now(),     -- when it changed last
    primary key (rail, dispute_id)
);

-- What a rail paid out to the operator.
create table rail_settlement (
    rail text not null,                                -- the rail
    settlement_id text not null,                       -- the rail's id of it
    status text not null,                              -- the rail's word
    currency text not null,                            -- three letters
    gross bigint,                                      -- before the rail's fees
    fees bigint,                                       -- what the rail kept
    amount bigint not null,                            -- what arrived
    payments bigint,                                   -- number of payments
    settled_on date,                                   -- the day
    first_seen_at timestamptz not null default now(),  -- when it was first reported
    changed_at timestamptz not null default now(),     -- when it changed last
    primary key (rail, settlement_id)
);

-- When a rail's disputes and settlements were listed last. A worker that lists them holds a lease.
create table rail_listing (
    rail text primary key,              -- the rail
    listed_at timestamptz,              -- when they were listed last
    leased_until timestamptz not null   -- the end of the lease
);

-- Money that a rail gave back, or took back, after it had reported a transaction as successful. Two operators decide that it is
-- booked, once for a transaction.
create table rail_reversal (
    key bytea not null,           -- row key
    merchant_id bigint not null,  -- the merchant
    txn_ref text not null,        -- the transaction
    approval_id bigint not null,  -- the approval that decided it
    primary key (key, merchant_id)
);

-- Our balances with vendors, as the worker read them last.
create table rail_balance (
    rail text not null,                     -- the vendor
    currency text not null,                 -- three letters
    amount bigint not null,                 -- the balance
    is_low boolean not null default false,  -- below KASUWA_RAIL_FLOAT_LEAST, and a notice was written
    read_at timestamptz not null,           -- when it was read
    primary key (rail, currency)
);

-- What each process knows of the vendors it calls. A process writes its rows every few seconds; rows of processes that have ended
-- are deleted.
create table rail_health (
    process text not null,                   -- the process
    rail text not null,                      -- the vendor
    in_flight bigint not null,               -- calls that have not ended
    held_seconds double precision not null,  -- how long calls are held back by its rate limit
    is_paused boolean not null,              -- whether calls are paused after failures
    unmapped_banks text[],                   -- banks of the vendor that we do not know
    errors json not null,                    -- its last errors, as JSON
    seen_at timestamptz not null,            -- when the row was written
    primary key (process, rail)
);

-- How the answers of a rail in shadow mode compare with those of the rail that serves, by day. No answer is stored.
create table rail_shadow (
    day date not null,          -- the day
    purpose text not null,      -- what the rails are for
    rail text not null,         -- the rail that serves
    shadow text not null,       -- the rail in shadow mode
    question text not null,     -- the call
    outcome text not null,      -- how the answers compare
    count bigint not null,      -- how often
    rail_ms bigint not null,    -- time that the rail took, in all
    shadow_ms bigint not null,  -- time that the shadow took, in all
    primary key (day, purpose, rail, shadow, question, outcome)
);

-- The last differences, masked.
create table rail_shadow_difference (
    -- order of insertion
    difference_id bigint generated always as identity primary key,
    at timestamptz not null,  -- when
    shadow text not null,     -- the rail in shadow mode
    question text not null,   -- the call
    ours text not null,       -- the answer of the rail that serves
    theirs text not null      -- the answer of the shadow
);

-- The times at which processes used an account with a vendor. A vendor's word that it does not know an order counts only if no
-- process used another account when it was sent.
create table vendor_account (
    rail text not null,                               -- the vendor
    account text not null,                            -- hash of the vendor's address and of our key
    began_at timestamptz not null default now(),      -- when it was first used
    last_used_at timestamptz not null default now(),  -- when it was last used
    primary key (rail, account, began_at)
);

-- Two keys of one account with a vendor. An operator declared them the same, or an order of the one was found with the other.
create table vendor_account_alias (
    rail text not null,     -- the vendor
    account text not null,  -- hash as in vendor_account
    same_as text not null,  -- the other hash
    primary key (rail, account, same_as)
);


-- ------------------------------------------------------------------------------------------------------------------------
-- The console: people, approvals and pages
-- ------------------------------------------------------------------------------------------------------------------------

-- A person of the console. Addresses are unique among those who joined, and within one merchant.
create table console_user (
    user_id bigint generated always as identity primary key,  -- its number
    email text not null,                                      -- the address
    mid text,                                                 -- the merchant, also after `reset`; null for operators
    role text not null,                                       -- what the person may do
    password text,                                            -- an Argon2id hash
    totp_sealed bytea,                                        -- the TOTP secret, encrypted
    totp_step bigint not null default 0,                      -- the last step used, so that a code works once
    disabled_at timestamptz,                                  -- when it was disabled
    created_at timestamptz not null default now(),            -- when it was invited
    -- when somebody first came in by their link; before that an address is only what somebody typed
    joined_at timestamptz,
    -- the operator who invited, reset or promoted this one: neither decides the other's proposals
    made_by bigint references console_user,
    approves_from timestamptz,                                -- not before then may the person approve anything
    -- addresses of those who invited, promoted or reset this person, and of their makers at that time
    makers text[] not null default '{}',
    account_since timestamptz,                                -- when that was done last; null for created_at
    row_code bytea,                                           -- code of the row
    check ((mid is null) = (role like 'operator:%'))
);
create index console_user_mid on console_user (mid);
create unique index console_user_email on console_user (lower(email)) where joined_at is not null;
create unique index console_user_place on console_user (coalesce(mid, ''), lower(email));

-- Links that sign in once: an invitation, which asks for a password first, or a plain sign-in.
create table console_link (
    token_hash bytea primary key,                     -- hash of the token
    user_id bigint not null references console_user,  -- who signs in
    -- invitation or sign_in
    purpose text not null check (purpose in ('invitation', 'sign_in')),
    expires_at timestamptz not null,                  -- when it expires
    used_at timestamptz,                              -- when it was used
    row_code bytea                                    -- code of the row
);

-- A browser that is signed in, or half so until it has given its code. Its token changes on the way; for a moment the one before
-- still works, for requests that were under way.
create table console_session (
    session_id bigint generated always as identity primary key,  -- its number
    user_id bigint not null references console_user,             -- who is signed in
    token_hash bytea not null unique,                            -- hash of the token
    previous_hash bytea unique,                                  -- hash of the token before
    rotated_at timestamptz not null,                             -- when the token was changed
    csrf text not null,                                          -- what forms must send
    is_whole boolean not null,                                   -- whether the code was given
    created_at timestamptz not null,                             -- when it began
    seen_at timestamptz not null,                                -- when it was used last
    -- when the person last gave a password or a code: what matters most asks for it again
    verified_at timestamptz not null default now(),
    row_code bytea                                               -- code of the row
);
create index console_session_user on console_session (user_id);

-- Browsers in which somebody signed in before.
create table console_device (
    token_hash bytea primary key,                     -- hash of a token that only the browser has
    user_id bigint not null references console_user,  -- who signed in
    seen_at timestamptz not null                      -- when it was used last
);
create index console_device_user on console_device (user_id);

-- Wrong passwords and codes, by address and by where they came from: a network, or a browser that signed in before.
create table sign_in_throttle (
    email_hash bytea not null,     -- of the address, whether or not it has a user: who guesses learns nothing
    source bytea not null,         -- a hash; that of nothing counts an address everywhere
    failures bigint not null,      -- how many in a row
    locked_until timestamptz,      -- until when the next try is refused
    last_at timestamptz not null,  -- when the last one was
    primary key (email_hash, source)
);
create index sign_in_throttle_last on sign_in_throttle (last_at);

-- Lists of the console as a user wants them.
create table console_list (
    user_id bigint not null references console_user,  -- the user
    list text not null,                               -- the path of the list without its slash
    name text not null,                               -- of a saved filter; '' for the columns that the user chose
    query text not null,                              -- the text after the question mark, or the columns, separated by commas
    saved_at timestamptz not null default now(),      -- when it was saved
    primary key (user_id, list, name)
);

-- What one person proposes and another decides. A proposal of a command has no proposer: two operators approve it.
create table approval (
    -- its number
    approval_id bigint generated always as identity primary key,
    mid text,                                          -- the merchant; null for rates, policies and vendors
    -- what is proposed
    kind text not null check (kind in ('posting', 'write_off', 'tariff', 'rate', 'person', 'reversal', 'suspense_assign',
        'suspense_return', 'policy', 'settings', 'key', 'loan_write_off', 'dispute_open', 'dispute_outcome', 'beneficiary',
        'vendor_account')),
    proposal json not null,                            -- the proposal, as JSON
    reason text not null,                              -- why
    proposed_by bigint references console_user,        -- who proposed it; null if a command did
    proposed_at timestamptz not null default now(),    -- when
    -- open, approved or rejected
    state text not null default 'open' check (state in ('open', 'approved', 'rejected')),
    decided_by bigint references console_user,         -- who decided it, or the second who approved it
    decided_at timestamptz,                            -- when
    unproven_by text not null default '',              -- who ran the command that proposed it, else ''
    first_approved_by bigint references console_user,  -- the first of two who approved it
    first_approved_at timestamptz,                     -- when
    row_code bytea,                                    -- code of the row
    constraint approval_of_merchant
        check (kind = 'person' or (mid is null) = (kind in ('rate', 'policy', 'vendor_account'))),
    constraint approval_proposer check ((proposed_by is null) = (unproven_by <> '')),
    constraint decided_whole check ((state = 'open') = (decided_by is null)),
    constraint first_of_two check (first_approved_by is null or proposed_by is null),
    constraint two_persons check (decided_by <> proposed_by or (decided_by is not null and state = 'rejected'))
);
create index approval_open on approval (approval_id) where state = 'open';

-- Whoever approves is not new, and is another person than who proposed it, or than the first who approved it: neither made the
-- other. A proposal is void if its proposer was disabled or made anew since. An approval agrees with the verdict in the books. Checked when somebody decides, and not when the row's code is made.
create function approval_decider() returns trigger language plpgsql as $$
declare
    approver bigint := case when new.state = 'approved' then new.decided_by
        when new.first_approved_by is distinct from old.first_approved_by then new.first_approved_by end;
begin
    if exists (select 1 from manual_posting m
        where m.approval_id = new.approval_id and new.state <> 'open' and m.state <> new.state)
    then
        raise exception 'approval %: its posting was decided otherwise', new.approval_id;
    end if;
    if approver is not null and not exists (
        select 1 from manual_posting m where m.approval_id = new.approval_id and m.decided_by = approver)
    then
        if new.state = 'approved' and new.proposed_by is null and not exists (
            select 1 from console_user f where f.user_id = new.first_approved_by and f.disabled_at is null)
        then
            raise exception 'approval % needs two operators', new.approval_id;
        end if;
        if exists (select 1 from console_user p where p.user_id = new.proposed_by and (p.disabled_at is not null
            or coalesce(p.account_since, p.created_at) > new.proposed_at))
        then
            raise exception 'approval % has no proposer any more', new.approval_id;
        end if;
        if exists (select 1 from console_user d where d.user_id = approver and (d.approves_from > now()
            or d.disabled_at is not null or coalesce(d.account_since, d.created_at) > new.proposed_at))
            or exists (select 1 from console_user d, console_user p
                where d.user_id = approver and p.user_id = coalesce(new.proposed_by, new.first_approved_by)
                    and new.state = 'approved' and (d.user_id = new.first_approved_by or d.made_by = p.user_id
                        or p.made_by = d.user_id or d.email = any(p.makers) or p.email = any(d.makers)))
        then
            raise exception 'approval % cannot be approved by this person', new.approval_id;
        end if;
    end if;
    return new;
end $$;
create trigger approval_decider before update of state, decided_by, proposed_by, first_approved_by on approval
    for each row execute function approval_decider();

-- The verdict on a proposed posting, in the merchant's books: one row, so that the first verdict stands and approving twice posts
-- once. Once a posting was made by somebody who was allowed to approve it, it stays approved by them.
create table manual_posting (
    key bytea not null,           -- row key
    merchant_id bigint not null,  -- the merchant
    approval_id bigint not null,  -- the approval
    -- approved or rejected
    state text not null check (state in ('approved', 'rejected')),
    decided_by bigint not null,   -- who decided it
    primary key (key, merchant_id)
);
create index manual_posting_approval on manual_posting (approval_id);

-- The deployment's policy. The newest row is in force. The first is written when the service starts for the first time; every other
-- one is proposed and approved. Append-only.
create table authority_policy (
    policy_id bigint generated always as identity primary key,  -- order of insertion
    -- how long new people and keys wait before they may approve
    cooling_off_hours bigint not null check (cooling_off_hours >= 0),
    set_by text not null,                                       -- who set it
    row_code bytea                                              -- code of the row
);
create trigger authority_policy_append_only before update on authority_policy
    for each row execute function refuse_change_but_code();
create trigger authority_policy_no_delete before delete on authority_policy for each statement execute function refuse_change();
create trigger authority_policy_no_truncate before truncate on authority_policy for each statement execute function refuse_change();

-- The newest API requests of each merchant of the test environment, without bodies. Losing them in a crash does no harm.
create unlogged table request_record (
    mid text not null,                           -- the merchant
    number bigint generated always as identity,  -- order of insertion
    at timestamptz not null,                     -- when
    request_id text not null,                    -- of the request
    path text not null,                          -- what was called
    action text not null,                        -- the action
    http integer not null,                       -- status of the answer
    status integer not null,                     -- status code of the reply
    ms real not null,                            -- how long it took
    primary key (mid, number)
);


-- ------------------------------------------------------------------------------------------------------------------------
-- Statements of banks and rails, and reconciliation
-- ------------------------------------------------------------------------------------------------------------------------

-- An account that is reconciled.
create table statement_account (
    account_id bigint generated always as identity primary key,  -- its number
    -- an account of the ledger, over all merchants, such as rail:bank:NGN; with @vendor, only what that vendor carried
    name text not null unique,
    mapping json,                                                -- how to read its CSV files, as JSON
    -- the number in its MT940 and CAMT.053 files: a file of another account is refused
    bank_account text not null default ''
);

-- A file, or a settlement feed, that was imported. The same content is imported once for an account. Append-only.
create table statement_import (
    account_id bigint not null references statement_account,  -- the account
    import_id bigint generated always as identity,            -- order of insertion
    content_hash bytea not null,                              -- of the content
    format text not null,                                     -- of the file
    file_name text not null,                                  -- of the file
    line_count bigint not null,                               -- lines of the file
    new_count bigint not null,                                -- lines that no earlier file had
    first_day date,                                           -- of the first line
    last_day date,                                            -- of the last line
    opening bigint,                                           -- the opening balance; null if the file states none
    closing bigint,                                           -- the closing balance; null if the file states none
    imported_by text not null,                                -- who imported it
    imported_at timestamptz not null default now(),           -- when
    primary key (account_id, import_id)
);
create unique index statement_import_content on statement_import (account_id, content_hash);
create trigger statement_import_append_only before update or delete on statement_import
    for each statement execute function refuse_change();
create trigger statement_import_no_truncate before truncate on statement_import for each statement execute function refuse_change();

-- A line of a statement. What it says does not change and is not deleted: only its match changes, and a description may be emptied.
create table statement_line (
    account_id bigint not null,                       -- the account
    line_id bigint generated by default as identity,  -- its number
    import_id bigint not null,                        -- the file that brought it
    number bigint not null,                           -- of the line in the file
    booked_on date not null,                          -- the day
    amount bigint not null check (amount <> 0),       -- above zero if money came in
    -- what the bank or rail kept of it, so that amount + fee is what the books have
    fee bigint not null default 0 check (fee >= 0),
    digest bytea not null,                            -- identifies it in overlapping files, with occurrence
    occurrence bigint not null,                       -- number among equal lines
    merchant_id bigint,                               -- the merchant of the reference that it carries, if any
    txn_ref text not null,                            -- the reference of ours that it carries, else ''
    bank_reference text not null,                     -- the bank's reference
    description text not null,                        -- the bank's text
    -- lines and entries of reconciled_entry with the same one are matched together; null: nothing matches
    match_id bigint,
    rule text not null default '',                    -- the rule that matched it
    difference bigint not null default 0,             -- of the match, theirs less ours, on the line whose line_id is the match_id
    primary key (account_id, line_id)
);
create unique index statement_line_identity on statement_line (account_id, digest, occurrence);
create index statement_line_day on statement_line (account_id, booked_on, line_id);
create index statement_line_open on statement_line (account_id, booked_on, line_id) where match_id is null or difference <> 0;

create function refuse_statement_change() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE'
        or (old.account_id, old.line_id, old.import_id, old.number, old.booked_on, old.amount, old.digest, old.occurrence,
            old.bank_reference)
            is distinct from (new.account_id, new.line_id, new.import_id, new.number, new.booked_on, new.amount, new.digest,
                new.occurrence, new.bank_reference)
        or (new.description <> old.description and new.description <> '') then
        raise exception 'lines of statements are append-only' using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
create trigger statement_line_append_only before update or delete on statement_line
    for each row execute function refuse_statement_change();
create trigger statement_line_no_truncate before truncate on statement_line
    for each statement execute function refuse_change();

-- The postings of a group on a reconciled account that a match accounts for.
create table reconciled_entry (
    account_id bigint not null,   -- the account
    merchant_id bigint not null,  -- the merchant
    group_seq bigint not null,    -- the group of postings
    match_id bigint not null,     -- the match
    amount bigint not null,       -- with the sign of a statement
    primary key (account_id, merchant_id, group_seq)
);
create index reconciled_entry_match on reconciled_entry (account_id, match_id);

-- A person's decision about a line that differs or is not ours, or about an entry that is not theirs: a posting that two operators
-- decide. It counts once its approval is approved.
create table reconciliation_decision (
    approval_id bigint primary key references approval,       -- the approval
    account_id bigint not null references statement_account,  -- the account
    line_id bigint,                                           -- the line; null if it is about an entry
    merchant_id bigint,                                       -- the merchant of the entry
    group_seq bigint,                                         -- the entry; null if it is about a line
    check ((line_id is null) <> (group_seq is null))
);
create index reconciliation_decision_line on reconciliation_decision (account_id, line_id);
create index reconciliation_decision_entry on reconciliation_decision (account_id, merchant_id, group_seq);
