-- Depth of lending: parts of a loan that are written off while it goes on, and write-offs that wait for another party.

alter table loan_act add column parts text not null default '';
comment on column loan_act.parts is 'of a write-off after which the loan goes on: the parts that it names, by commas';

-- What was written off of an installment while its loan went on, as far as it was not recovered. It is not owed any more.
alter table loan_installment add column lost_principal bigint not null default 0 check (lost_principal >= 0);
comment on column loan_installment.lost_principal is 'principal that was written off and not recovered';
alter table loan_installment add column lost_interest bigint not null default 0 check (lost_interest >= 0);
comment on column loan_installment.lost_interest is 'interest that was written off and not recovered';
alter table loan_installment add column lost_tax bigint not null default 0 check (lost_tax >= 0);
comment on column loan_installment.lost_tax is 'tax that was written off and not recovered';
alter table loan_installment add column lost_penalty bigint not null default 0 check (lost_penalty >= 0);
comment on column loan_installment.lost_penalty is 'penalty that was written off and not recovered';
alter table loan_installment add constraint loan_installment_lost check (
    paid_principal + lost_principal <= principal and paid_interest + lost_interest <= interest
    and paid_tax + lost_tax <= tax and paid_penalty + lost_penalty <= penalty);

alter table loan add column write_offs bigint not null default 0 check (write_offs >= 0);
comment on column loan.write_offs is 'number of its rows in loan_write_off';

-- Write-offs that wait, or waited, for the approval of another party.
create table loan_write_off (
    key bytea not null,                   -- row key
    merchant_id bigint not null,          -- the merchant
    loan_id text not null,                -- the loan
    n bigint not null check (n > 0),      -- place among those of the loan, from 1
    -- waiting, approved or rejected
    state text not null check (state in ('waiting', 'approved', 'rejected')),
    amount bigint not null check (amount > 0), -- what would have been written off when it was proposed
    detail json not null,                 -- who proposed it, which parts and why, as JSON
    created_at timestamptz not null,      -- when it was proposed
    expires_at timestamptz not null,      -- when it can be approved no more
    decided_by text not null default '',  -- who decided it
    decided_at timestamptz,               -- when it was decided
    row_code bytea,                       -- code of the row
    primary key (key, merchant_id)
);
create unique index loan_write_off_of on loan_write_off (merchant_id, loan_id, n);
