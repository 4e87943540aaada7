-- Groups of clients who borrow together and answer for each other.

-- A group. Its members at present are in its row, those that it has had in group_member.
create table client_group (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    group_id text not null,                   -- its identifier
    number bigint not null,                   -- order of the list
    name text not null,                       -- what the merchant calls it
    leader text not null,                     -- client_id of the member who leads it; empty once it is closed
    state text not null check (state in ('active', 'closed')), -- a closed one borrows no more, and stays closed
    members text not null,                    -- client_ids of its members, by commas
    unsettled text not null,                  -- group_loan_ids of loans that were not seen closed, by commas
    loans bigint not null check (loans >= 0), -- number of its rows in group_loan
    events bigint not null check (events >= 0), -- number of its events
    created_at timestamptz not null,          -- when it was made
    closed_at timestamptz,                    -- when it was closed
    row_code bytea,                           -- code of the row
    constraint client_group_is_closed check ((state = 'closed') = (closed_at is not null)),
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index client_group_id on client_group (merchant_id, group_id);
create unique index client_group_number on client_group (merchant_id, number);

-- That a client is, or was, a member of a group.
create table group_member (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    group_id text not null,                   -- the group
    client_id text not null,                  -- the client
    joined_at timestamptz not null,           -- when the client joined it, the last time
    left_at timestamptz,                      -- when the client left it; null for a member
    primary key (key, merchant_id)
) with (fillfactor = 90);
create unique index group_member_of on group_member (merchant_id, group_id, client_id);
create index group_member_client on group_member (merchant_id, client_id);

-- A loan of a group: a loan of each member who borrows, requested and paid out together.
create table group_loan (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    group_loan_id text not null,              -- its identifier
    group_id text not null,                   -- the group
    n bigint not null check (n > 0),          -- place among those of the group, from 1
    disbursement text not null check (disbursement in ('one', 'each')), -- one transfer to the leader, or one to each
    client_id text not null,                  -- who receives the one transfer; empty if each member receives one
    loans text not null,                      -- the loan_ids of the members, by commas
    transfer text,                            -- txnRef of the newest transfer of all; null if there is none
    created_at timestamptz not null,          -- when it was requested
    row_code bytea,                           -- code of the row
    primary key (key, merchant_id)
) with (fillfactor = 90);
create unique index group_loan_of on group_loan (merchant_id, group_id, n);
create unique index group_loan_id on group_loan (merchant_id, group_loan_id);
create index group_loan_client on group_loan (merchant_id, client_id);

alter table loan add column group_id text not null default '';
comment on column loan.group_id is 'the group whose member borrows it; empty for a loan of nobody else';
alter table loan add column group_loan_id text not null default '';
comment on column loan.group_loan_id is 'the loan of the group that it is a part of; empty if it is of none';
create index loan_group on loan (merchant_id, group_id) where group_id <> '';

alter table client add column groups bigint not null default 0 check (groups >= 0);
comment on column client.groups is 'groups that the client is a member of';
