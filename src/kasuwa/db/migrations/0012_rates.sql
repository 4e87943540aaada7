-- Who set a rate, beside when. Those that were set before say nothing.
alter table rate add column set_by text not null default '';
alter table rate alter column set_by drop default;

-- A rate takes two as well. It is no merchant's, so its proposal names none.
alter table approval alter column mid drop not null;
alter table approval drop constraint approval_kind_check;
alter table approval add constraint approval_kind_check check (kind in ('posting', 'write_off', 'tariff', 'rate'));
alter table approval add constraint approval_of_merchant check ((mid is null) = (kind = 'rate'));
