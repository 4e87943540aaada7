-- Charges of loans: agreed with a loan or made later, paid before interest, waived in whole or in part.

alter table loan add column agreed text not null default '';
comment on column loan.agreed is 'what was agreed besides rate and installments, as JSON; empty if nothing was';

-- The charges that stand on an installment, and what was paid and written off of them. Both sums are without the other.
alter table loan_installment add column charges text not null default '';
comment on column loan_installment.charges is 'its charges with what was waived of each, as JSON; empty if it has none';
alter table loan_installment add column charge bigint not null default 0 check (charge >= 0);
comment on column loan_installment.charge is 'sum of its charges, without what was waived';
alter table loan_installment add column vat bigint not null default 0 check (vat >= 0);
comment on column loan_installment.vat is 'sum of the VAT on them';
alter table loan_installment add column paid_charge bigint not null default 0 check (paid_charge >= 0);
comment on column loan_installment.paid_charge is 'charges that were paid';
alter table loan_installment add column paid_vat bigint not null default 0 check (paid_vat >= 0);
comment on column loan_installment.paid_vat is 'VAT on charges that was paid';
alter table loan_installment add column lost_charge bigint not null default 0 check (lost_charge >= 0);
comment on column loan_installment.lost_charge is 'charges that were written off and not recovered';
alter table loan_installment add column lost_vat bigint not null default 0 check (lost_vat >= 0);
comment on column loan_installment.lost_vat is 'VAT on charges that was written off and not recovered';
alter table loan_installment add constraint loan_installment_charged check (
    paid_charge + lost_charge <= charge and paid_vat + lost_vat <= vat);

-- A charge that was made later and a waiver are acts on the loan, as repayments are.
alter table loan_act add column content text not null default '';
comment on column loan_act.content is 'of a charge, what it is, as JSON; of a waiver, what was waived';
alter table loan_act drop constraint loan_act_kind_check;
alter table loan_act add constraint loan_act_kind_check check (kind in ('repayment', 'charge', 'waiver', 'write_off'));
