-- Shares of a society, their redemption and dividends.

-- ------------------------------------------------------------------------------------------------------------------------
-- Clients, loans and savings
-- ------------------------------------------------------------------------------------------------------------------------

-- Holdings of shares that pay their dividends into the savings: they keep them open.
alter table savings add column holdings bigint not null default 0 check (holdings >= 0);

-- A class of shares. What members paid for theirs is on the accounts of their holdings.
create table share_class (
    key bytea not null,                                       -- row key
    merchant_id bigint not null,                              -- the merchant
    class_id text not null,                                   -- its identifier
    number bigint not null,                                   -- order of the list
    name text not null,                                       -- what people call it
    price bigint not null check (price > 0),                  -- of one share, in kobo
    votes text not null check (votes in ('member', 'share')), -- what has a vote
    tax_rate text not null,                                   -- percent of a dividend that is withheld
    created_at timestamptz not null,                          -- when it was made
    holders bigint not null check (holders >= 0),             -- members on the register
    shares bigint not null check (shares >= 0),               -- of all members
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index share_class_number on share_class (merchant_id, number);
create unique index share_class_id on share_class (merchant_id, class_id);

-- A page of the register of a class: members in the order in which they joined.
create table share_register (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    class_id text not null,                   -- the class
    page bigint not null check (page >= 0),   -- from 0
    members text not null,                    -- client ids, separated by commas
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index share_register_page on share_register (merchant_id, class_id, page);

-- A member's shares of a class.
create table shareholding (
    key bytea not null,                                          -- row key
    merchant_id bigint not null,                                 -- the merchant
    holding_id text not null,                                    -- names its account
    class_id text not null,                                      -- the class
    client_id text not null,                                     -- the member
    savings_id text not null,                                    -- the savings that dividends are paid into
    position bigint not null check (position > 0),               -- on the register
    since date not null,                                         -- day of the first purchase
    shares bigint not null check (shares >= 0),                  -- that the member has
    reserved bigint not null check (reserved between 0 and shares), -- of redemptions that wait
    history text not null,                                       -- JSON: shares at the end of each day on which they changed
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index shareholding_position on shareholding (merchant_id, class_id, position);
create index shareholding_client on shareholding (merchant_id, client_id);

-- Shares that a member gives back, which wait for the consent of another party.
create table share_redemption (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    redemption_id text not null,              -- its identifier
    number bigint not null,                   -- order of the list
    class_id text not null,                   -- the class
    client_id text not null,                  -- the member
    shares bigint not null check (shares > 0), -- number of shares
    amount bigint not null check (amount > 0), -- what they are paid out for
    -- waiting, approved, rejected or expired
    state text not null check (state in ('waiting', 'approved', 'rejected', 'expired')),
    maker text not null,                      -- who asked for it, as JSON
    created_at timestamptz not null,          -- when it was asked for
    expires_at timestamptz not null,          -- when it expires
    decided_by text not null,                 -- who decided it
    decided_at timestamptz,                   -- when it was decided
    row_code bytea,                           -- code of the row
    primary key (key, merchant_id)
) with (fillfactor = 90);
create unique index share_redemption_number on share_redemption (merchant_id, number);

-- A dividend on the shares of a class. What is not paid yet is on its own account.
create table dividend (
    key bytea not null,                                     -- row key
    merchant_id bigint not null,                            -- the merchant
    dividend_id text not null,                              -- its identifier
    number bigint not null,                                 -- order of the list
    class_id text not null,                                 -- the class
    rate text not null,                                     -- percent of the price
    record_date date not null,                              -- day at whose end shares are counted
    members bigint not null check (members > 0),            -- who have a dividend
    gross bigint not null check (gross > 0),                -- sum of all dividends before tax
    holders bigint not null check (holders > 0),            -- members on the register when it was declared
    declared_at timestamptz not null,                       -- when it was declared
    state text not null check (state in ('paying', 'paid')), -- paid when every member has it
    page bigint not null check (page >= 0),                 -- of the register, to be paid next
    paid bigint not null check (paid >= 0),                 -- paid so far, before tax
    tax bigint not null check (tax between 0 and paid),     -- withheld so far
    members_paid bigint not null check (members_paid between 0 and members), -- members who have it
    returned bigint not null check (returned >= 0),         -- of closed savings: back in the wallet
    paid_at timestamptz,                                    -- when every member had it
    constraint dividend_sum check (paid + returned <= gross and (state = 'paid') = (paid_at is not null)),
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index dividend_number on dividend (merchant_id, number);
