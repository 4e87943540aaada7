-- Controls of virtual cards.

-- What a card with a velocity or a single use has paid. Cards without such limits have no row.
create table virtual_card_usage (
    key bytea not null,           -- row key
    merchant_id bigint not null,  -- the merchant
    reference text not null,      -- the card
    is_used boolean not null,     -- whether it has paid since it is of a single use
    -- the purchases of the longest window as JSON, oldest first: business time in milliseconds, and amount
    recent json not null,
    row_code bytea,               -- code of the row
    primary key (key, merchant_id)
) with (fillfactor = 70);

-- Why a purchase was declined, as a code; null for all other lines, and for those of release 1.0.0.
alter table virtual_card_entry add column decline_reason text;
