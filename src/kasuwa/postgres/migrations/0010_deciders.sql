-- Deciders of virtual cards: services of merchants that approve or decline purchases.

-- Who decides on the purchases of a card besides its limits. Without a row, nobody does.
create table virtual_card_decider (
    key bytea not null,           -- row key
    merchant_id bigint not null,  -- the merchant
    reference text not null,      -- the card; empty: all cards that have none of their own
    url text not null,            -- where purchases are sent; empty if it was removed
    on_timeout text not null check (on_timeout in ('approve', 'decline')),  -- what counts without an answer
    row_code bytea,               -- code of the row
    primary key (key, merchant_id)
) with (fillfactor = 70);

-- What the decider said of a purchase, as JSON; null if none was asked.
alter table virtual_card_entry add column decision text;
