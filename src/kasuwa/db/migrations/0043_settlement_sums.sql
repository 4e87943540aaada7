-- Sums of settlements. db/settlement_sums.py adds to them from the journal, which stays the truth: a row is the sum of
-- the postings of one line up to the merchant's mark, and may be made again from them at any time.
create table settlement_sum (
    merchant_id bigint not null,
    day date not null,                  -- in Lagos, of the postings
    currency text not null,
    line text not null,                 -- as ledger/settlement_lines.py names it
    reference text not null,            -- of a settled batch or of a payout, else ''
    amount bigint not null,             -- in minor units; negative if it left the wallet
    count bigint not null,              -- number of the postings
    primary key (merchant_id, day, currency, line, reference)
);
-- The last posting of each merchant that is summed. A merchant with few postings has none.
create table settlement_sum_mark (
    merchant_id bigint primary key,
    posting_seq bigint not null
);
