-- Personal data that were in clear are encrypted. Small tables of earlier versions are encrypted when the service is prepared
-- to serve, transactions by the worker, as payments are (0047; db/rows_in_clear.py). Until then, and while a process of an
-- earlier version still writes, a row may hold them in clear.

-- The name and the email address of an account's owner. `account_name` and `email` are empty, and `facts` has no name.
alter table personalized_account add column person_sealed bytea;
create index personalized_account_in_clear on personalized_account (merchant_id, key)
    where account_name <> '' or email <> '' or facts ->> 'account_name' <> '';

-- The holder of a card and the billing address. `detail` has the same fields, empty: a process of an earlier version can
-- decode it.
alter table virtual_card add column holder_sealed bytea;
create index virtual_card_in_clear on virtual_card (merchant_id, key) where detail ->> 'name' <> '';

-- The payer of a repayment or deposit from the wallet is encrypted in `detail`, in the field payer_sealed. The name on a
-- beneficiary's account is no longer written: the column stays, because processes of an earlier version still write it, and
-- the worker empties it.
comment on column transaction.counterparty_name is 'no longer written';

-- The inbox of rails does not keep the name of who sent the money.
update rail_inbox set detail = (detail::jsonb - 'sender_name')::json where detail ->> 'sender_name' <> '';
