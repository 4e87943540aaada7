-- A transfer reserves its amount in its own row instead of a row of `hold`, which had to be written twice (docs/decisions/0073).
-- Transfers that an earlier version began have their row of `hold` until they end.
alter table transaction add column held bigint not null default 0;
alter table transaction add column held_on text not null default '';

-- One constraint in place of four: PostgreSQL parses each of them again for every statement that writes. It need not be validated,
-- because the rows so far were checked when they were written.
alter table transaction drop constraint transaction_amount_check;
alter table transaction drop constraint transaction_fee_check;
alter table transaction drop constraint transaction_vat_check;
alter table transaction drop constraint transaction_duty_check;
alter table transaction add constraint transaction_amounts_check check (least(amount, fee, vat, duty, held) >= 0) not valid;
