-- Disputes of purchases by the holders of cards that were issued here.

-- A dispute of a card purchase, or of a part of it.
create table virtual_card_dispute (
    key bytea not null,                          -- row key
    merchant_id bigint not null,                 -- the merchant that issued the card
    dispute_id text not null,                    -- its identifier
    number bigint not null,                      -- order of the list
    reference text not null,                     -- the card
    client_id text not null,                     -- the client whose card it is; empty if it is nobody's
    txn_ref text not null,                       -- the purchase
    currency text not null,                      -- that of the shop
    amount bigint not null check (amount > 0),   -- what is disputed and was not refunded meanwhile, in minor units
    card_currency text not null,                 -- that of the card
    credited bigint not null check (credited >= 0), -- what the card got for it, in minor units of its currency
    refund_ref text not null,                    -- the refund by which the card got it; empty if it got nothing
    reason text not null,                        -- the cardholder's reason
    shop_key text not null,                      -- the order of a shop of this deployment; empty for any other shop
    -- submitted: it waits for the network or the shop
    state text not null check (state in ('submitted', 'won', 'lost', 'withdrawn', 'closed')),
    outcome text not null,                       -- how it ended, in words; empty while it is open
    filed_at timestamptz not null,               -- when it was filed
    ended_at timestamptz,                        -- when it ended; null while it is open
    events bigint not null check (events >= 0),  -- number of its events
    files bigint not null check (files >= 0),    -- files of the evidence, which are in dispute_file
    evidence_sealed bytea,                       -- texts of the evidence, encrypted; null without any, or if erased
    trail json not null,                         -- its steps
    constraint virtual_card_dispute_ends check ((state = 'submitted') = (ended_at is null)),
    constraint virtual_card_dispute_credits check (credited = 0 or (state = 'won' and refund_ref <> '')),
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index virtual_card_dispute_id on virtual_card_dispute (merchant_id, dispute_id);
create unique index virtual_card_dispute_number on virtual_card_dispute (merchant_id, number);
create index virtual_card_dispute_card on virtual_card_dispute (merchant_id, reference);
create index virtual_card_dispute_purchase on virtual_card_dispute (merchant_id, txn_ref);

-- An operator proposes the outcome of one, and two people decide it. The kinds of before are a part of these.
alter table approval drop constraint approval_kind_check;
alter table approval add constraint approval_kind_check check (kind in ('posting', 'write_off', 'tariff', 'rate',
    'person', 'reversal', 'suspense_assign', 'suspense_return', 'policy', 'settings', 'key', 'loan_write_off',
    'dispute_open', 'dispute_outcome', 'card_dispute_outcome', 'beneficiary', 'vendor_account'));

-- The last dispute of a purchase; null if there was none.
alter table virtual_card_entry add column dispute_id text;
-- The order by which a shop of this deployment was paid; null for any other record.
alter table virtual_card_entry add column order_key text;
update virtual_card_entry e set order_key = t.order_ref from transaction t
where t.merchant_id = e.merchant_id and t.txn_ref = e.txn_ref and t.kind = 'card_purchase' and t.order_ref <> t.txn_ref;
