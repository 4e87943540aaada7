-- Payments: where each stands, saved cards, plans that charge by themselves, and money gathered for a later day.

-- A card that is only authenticated and saved, with nothing due today, is a payment of nothing.
alter table transaction drop constraint transaction_amount_check;
alter table transaction add constraint transaction_amount_check check (amount >= 0);

-- A payment beside its transaction. `detail` is what it was asked with, `facts` what the rail told; `sealed_card` is the
-- card's number under encryption, from its charge until its token is made.
create table payment (
    key bytea not null,
    merchant_id bigint not null,
    txn_ref text not null,
    method text not null,
    charged bigint not null check (charged >= 0),
    settled bigint not null check (settled between 0 and charged),
    expires_at timestamptz not null,
    detail json not null,
    stage text not null,
    auth text not null,
    session text not null,
    tries bigint not null,
    sealed_card bytea,
    token text,
    received bigint not null check (received >= 0),
    refunded bigint not null check (refunded >= 0),
    refunding bigint not null check (refunding >= 0),
    refunds bigint not null,
    facts json not null,
    primary key (key, merchant_id),
    constraint payment_refunds check (refunded + refunding <= charged)
) with (fillfactor = 70);

-- A card that may be charged again by its token; the number is sealed.
create table saved_card (
    key bytea not null,
    merchant_id bigint not null,
    token text not null,
    sealed bytea not null,
    detail json not null,
    created_at timestamptz not null,
    primary key (key, merchant_id)
);

-- Recurrent payments and instalment plans. `detail` are its terms; one job while it waits, none while it charges.
create table plan (
    key bytea not null,
    merchant_id bigint not null,
    plan_id text not null,
    kind text not null check (kind in ('recurrent', 'instalment')),
    token text not null,
    currency text not null,
    first_ref text not null,
    detail json not null,
    created_at timestamptz not null,
    state text not null check (state in ('active', 'paused', 'stopped', 'finished')),
    cycle bigint not null,
    cycle_due timestamptz not null,
    attempt bigint not null,
    misses bigint not null,
    paid bigint not null,
    last_ref text not null,
    charging boolean not null,
    facts json not null,
    primary key (key, merchant_id)
);
create index plan_merchant on plan (merchant_id, kind, created_at);

-- Somebody who gets a part of split payments.
create table beneficiary (
    key bytea not null,
    merchant_id bigint not null,
    ref_code text not null,
    name text not null,
    bank_code text not null,
    account_number text not null,
    created_at timestamptz not null,
    primary key (key, merchant_id)
);
create index beneficiary_merchant on beneficiary (merchant_id, created_at);

-- Money that is moved on one day: a merchant's settlement, or a beneficiary's payout.
create table gathering (
    key bytea not null,
    merchant_id bigint not null,
    kind text not null check (kind in ('settlement', 'payout')),
    owner text not null,
    day text not null,
    currency text not null,
    amount bigint not null check (amount > 0),
    state text not null check (state in ('due', 'sent', 'done')),
    primary key (key, merchant_id)
);

-- Telephones that have paid a merchant before, by keyed hash: the first payment enrols.
create table enrolled_phone (
    key bytea not null,
    merchant_id bigint not null,
    primary key (key, merchant_id)
);
