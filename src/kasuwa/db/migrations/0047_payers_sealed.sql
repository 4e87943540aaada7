-- The personal data of payers, encrypted (docs/decisions/0069). `detail` of earlier rows has them in clear: the job worker
-- encrypts those an hour later, when no process of the release before runs that could not read them.
alter table payment add column payer_sealed bytea;
alter table payment_plan add column payer_sealed bytea;
alter table checkout add column payer_sealed bytea;
comment on column payment.payer_sealed is 'name, addresses, device, meta and account of the payer, encrypted; null if unknown or erased';
comment on column payment_plan.payer_sealed is 'name, email address and meta of the payer, encrypted';
comment on column checkout.payer_sealed is 'name, email address, telephone and meta of the payer, encrypted until it ends';

-- How far the encryption of what is in clear has come is a row of its own.
alter table key_move add column begins_at timestamptz;
alter table key_move add column finished_at timestamptz;
comment on column key_move.begins_at is 'of the purpose clear: when the encryption of personal data in clear may begin';
comment on column key_move.finished_at is 'of the purpose clear: when a whole pass has found none in clear';
insert into key_move (purpose, version, begins_at, finished_at)
select 'clear', 1, now() + interval '1 hour', case when not exists (select 1 from merchant) then now() end;
