-- What the console shows of transfers beyond 1.0.0.

-- The newest bulk transfers of a merchant.
create index transfer_batch_newest on transfer_batch (merchant_id, created_at, key);
