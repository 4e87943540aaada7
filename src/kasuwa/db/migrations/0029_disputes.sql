-- Disputes of payments with their evidence, rolling reserves, and payouts by schedule.

-- The part of a payment that is disputed and was not won: it cannot be refunded as well.
alter table payment add column disputed bigint not null default 0 check (disputed >= 0);
alter table payment drop constraint payment_refunds;
alter table payment add constraint payment_refunds check (refunded + refunding + disputed <= charged);

-- A payer's bank disputes a payment. Amounts are in minor units: `covered` is what the hold on the wallet has of amount,
-- fee and VAT. `rail` and `rail_dispute_id` name the dispute at the rail that announced it. `evidence_sealed` is the
-- merchant's answer under encryption. `number` orders the disputes of a merchant.
create table dispute (
    key bytea not null,
    merchant_id bigint not null,
    dispute_id text not null,
    number bigint not null,
    txn_ref text not null,
    method text not null,
    currency text not null,
    amount bigint not null check (amount > 0),
    fee bigint not null check (fee >= 0),
    vat bigint not null check (vat >= 0),
    covered bigint not null check (covered between 0 and amount + fee + vat),
    reason text not null,
    plan_id text not null,
    rail text not null,
    rail_dispute_id text not null,
    opened_at timestamptz not null,
    due_at timestamptz not null,
    state text not null
        check (state in ('needs_response', 'under_review', 'won', 'lost', 'accepted', 'expired')),
    responded_at timestamptz,
    ended_at timestamptz,
    events bigint not null,
    files bigint not null check (files between 0 and 5),
    evidence_sealed bytea,
    trail json not null,
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index dispute_id on dispute (merchant_id, dispute_id);
create unique index dispute_number on dispute (merchant_id, number);
create index dispute_payment on dispute (merchant_id, txn_ref);

-- A file of the evidence, encrypted. An erased one is empty.
create table dispute_file (
    key bytea not null,
    merchant_id bigint not null,
    dispute_id text not null,
    place bigint not null,
    media_type text not null,
    size bigint not null check (size > 0),
    content_sealed bytea not null,
    primary key (key, merchant_id)
);
-- Encrypted content does not compress.
alter table dispute_file alter column content_sealed set storage external;
create unique index dispute_file_place on dispute_file (merchant_id, dispute_id, place);

-- The dispute that was opened for one of a rail, so that an announcement opens it once.
create table dispute_origin (
    key bytea not null,
    merchant_id bigint not null,
    rail text not null,
    rail_dispute_id text not null,
    dispute_id text not null,
    primary key (key, merchant_id)
);

-- What was deducted before the amount of a later day's settlement was left, in minor units. A `reserve` batch is the part of
-- payments that is kept back until a day (rolling reserve).
alter table settlement_batch drop constraint if exists gathering_kind_check;
alter table settlement_batch drop constraint if exists settlement_batch_kind_check;
alter table settlement_batch add constraint settlement_batch_kind_check
    check (kind in ('settlement', 'payout', 'reserve'));
alter table settlement_batch
    add column fee bigint not null default 0,
    add column vat bigint not null default 0,
    add column split bigint not null default 0,
    add column reserved bigint not null default 0;

-- Payouts of the wallet to the merchant's own bank account. A schedule that is off has no job. `set_by` is who made it, in
-- JSON: somebody else approves payouts that wait for approval.
create table payout_schedule (
    key bytea not null,
    merchant_id bigint not null,
    currency text not null,
    frequency text not null check (frequency in ('daily', 'weekly', 'monthly', 'above', 'off')),
    least bigint not null check (least >= 0),
    bank_code text not null,
    account_number text not null,
    changed_at timestamptz not null,
    last_ref text not null,
    set_by text not null,
    primary key (key, merchant_id)
);
