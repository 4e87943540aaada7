-- The list of all transactions reads three indexes in its order: payments, transfers (transaction_kind_time) and this one of
-- all other kinds, which no transfer is part of.
create index transaction_others on transaction (merchant_id, created_at, seq, key)
    where kind <> all ('{payment,transfer}');
