-- The console: who may sign in, what they did, and what two of them must agree on.

-- A person. `mid` names the merchant they belong to (it outlives `reset`, which gives a mid fresh books); operators
-- have none. One place each: who works for two merchants has two addresses. The password is an Argon2id hash, the
-- TOTP secret is sealed; `totp_step` is the last step used, so that a code works once.
create table console_user (
    user_id bigint generated always as identity primary key,
    email text not null,
    mid text,
    role text not null,
    password text,
    totp_sealed bytea,
    totp_step bigint not null default 0,
    disabled_at timestamptz,
    created_at timestamptz not null default now(),
    check ((mid is null) = (role like 'operator:%'))
);
create unique index console_user_email on console_user (lower(email));
create index console_user_mid on console_user (mid);

-- Wrong passwords and codes by address, whether or not it has a user: who guesses learns nothing from being slowed.
create table sign_in_failure (
    email_hash bytea primary key,
    failures bigint not null,
    locked_until timestamptz
);

-- Links that sign in once: an invitation, which asks for a password first, or a plain sign-in.
create table console_link (
    token_hash bytea primary key,
    user_id bigint not null references console_user,
    purpose text not null check (purpose in ('invitation', 'sign_in')),
    expires_at timestamptz not null,
    used_at timestamptz
);

-- A browser that is signed in, or half so until it has given its code. Its token changes on the way; for a moment
-- the one before still works, for requests that were under way.
create table console_session (
    session_id bigint generated always as identity primary key,
    user_id bigint not null references console_user,
    token_hash bytea not null unique,
    previous_hash bytea unique,
    rotated_at timestamptz not null,
    csrf text not null,
    is_whole boolean not null,
    created_at timestamptz not null,
    seen_at timestamptz not null
);
create index console_session_user on console_session (user_id);

-- What one operator proposes and another decides: manual postings, write-offs, tariffs.
create table approval (
    approval_id bigint generated always as identity primary key,
    mid text not null,
    kind text not null check (kind in ('posting', 'write_off', 'tariff')),
    proposal json not null,
    reason text not null,
    proposed_by bigint not null references console_user,
    proposed_at timestamptz not null default now(),
    state text not null default 'open' check (state in ('open', 'approved', 'rejected')),
    decided_by bigint references console_user,
    decided_at timestamptz,
    constraint two_persons check (decided_by <> proposed_by or (decided_by is not null and state = 'rejected')),
    constraint decided_whole check ((state = 'open') = (decided_by is null))
);
create index approval_open on approval (approval_id) where state = 'open';

-- A manual posting that was made, by its approval: approving twice posts once.
create table manual_posting (
    key bytea not null,
    merchant_id bigint not null,
    approval_id bigint not null,
    primary key (key, merchant_id)
);

-- Lists of transactions, newest first, of all kinds or one. None of these columns ever changes: updates stay cheap.
create index transaction_kind_time on transaction (merchant_id, kind, created_at, key);
-- What one transaction moved, for its page. Its holds are found by their keys.
create index posting_reference on posting (merchant_id, reference) where seq = group_seq;
create index notice_newest on notice (notice_id);
