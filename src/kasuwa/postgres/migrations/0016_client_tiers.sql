-- Limits by the tier of clients, and money that arrived above them.

-- ------------------------------------------------------------------------------------------------------------------------
-- Clients, loans and savings
-- ------------------------------------------------------------------------------------------------------------------------

-- The open savings accounts of a client, separated by commas: the limits by tier add up their balances.
alter table client add column savings text not null default '';
-- What was paid out to the client on a day in Lagos, while the limits by tier apply.
alter table client add column spent_on date;
alter table client add column spent bigint not null default 0 check (spent >= 0);
-- Virtual cards of the client in NGN, by their short ids, separated by commas.
alter table client add column cards text not null default '';
-- Payments whose money is held above the limits, by txnRef, separated by commas.
alter table client add column held text not null default '';

update client c set savings = s.savings
from (
    select merchant_id, client_id, string_agg(savings_id, ',' order by number) as savings
    from savings where state <> 'closed' group by merchant_id, client_id
) s
where s.merchant_id = c.merchant_id and s.client_id = c.client_id;

-- The client whom a personalized account is for; '' if it is nobody's.
alter table personalized_account add column client_id text not null default '';

-- The client whose card it is; '' if it is nobody's.
alter table virtual_card add column client_id text not null default '';

-- A deposit that arrived above the limits of its client's tier. Its money is in suspense while it is held.
create table held_deposit (
    key bytea not null,                        -- row key
    merchant_id bigint not null,               -- the merchant
    txn_ref text not null,                     -- of the payment that brought it
    savings_id text not null,                  -- the savings that it is for; '' if it is for the wallet
    client_id text not null,                   -- who saves
    amount bigint not null check (amount > 0), -- in kobo
    reason text not null,                      -- the limit, in words
    -- held, released, or returned to whom it came from
    state text not null check (state in ('held', 'released', 'returned')),
    held_at timestamptz not null,              -- when it arrived
    due_at timestamptz not null,               -- when it goes back unless it was released
    ended_at timestamptz,                      -- when it was released or sent back
    lost bigint not null default 0 check (lost >= 0), -- what disputes and the rail took of the payment from the wallet
    row_code bytea,                            -- code of the row
    primary key (key, merchant_id)
) with (fillfactor = 90);
create unique index held_deposit_listed on held_deposit (merchant_id, held_at, txn_ref);

-- ------------------------------------------------------------------------------------------------------------------------
-- Books
-- ------------------------------------------------------------------------------------------------------------------------
