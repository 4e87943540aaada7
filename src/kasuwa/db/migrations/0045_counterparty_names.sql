-- The name of the other party as the rail has found it: that on the account of a transfer's beneficiary. Known when the
-- transaction ends. Not part of `detail`, which indexes are made of: an update that changes it is no HOT update.
alter table transaction add column counterparty_name text not null default '';
