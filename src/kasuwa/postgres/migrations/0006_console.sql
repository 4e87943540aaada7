-- What the console shows of transfers beyond 1.0.0.

-- The newest bulk transfers of a merchant.
create index transfer_batch_newest on transfer_batch (merchant_id, created_at, key);

-- What the rail reported of a transfer that it paid: the name on the account, and its id of the payment.
alter table transaction add column facts_sealed bytea;
comment on column transaction.facts_sealed is 'encrypted facts of the rail about a transfer, such as the name on the account';
-- They come with the second version of the row, which is longer than the first: with half of a page free every fifth had no room
-- there, and got an entry in each index again.
alter table transaction set (fillfactor = 40);

-- What waits for a merchant's people: each index has only that.
create index dispute_unanswered on dispute (merchant_id, due_at, key) where state = 'needs_response';
create index loan_in_arrears on loan (merchant_id, number) where state = 'active_in_arrears';
create index payment_plan_paused on payment_plan (merchant_id, created_at, key) where state = 'paused';
-- Money of nobody known, for operators.
create index inbound_receipt_unidentified on inbound_receipt (booked_at, key) where txn_ref = '';
