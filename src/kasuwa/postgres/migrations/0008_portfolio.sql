-- The portfolio of loans on any day, and what is set aside for their losses.

-- What an installment was until it changed, without its penalty. A portfolio of a past day is read from the installments and
-- from these. The penalty is left out: it changes with every late day. Append-only.
create table loan_installment_version (
    key bytea not null,                        -- row key
    merchant_id bigint not null,               -- the merchant
    loan_id text not null,                     -- the loan
    n bigint not null check (n > 0),           -- number of the installment
    version bigint not null check (version > 0), -- place among the versions of the installment, from 1
    until timestamptz not null,                -- business time of the change
    due date not null,                         -- due date
    asked bigint not null check (asked >= 0),  -- principal, interest and tax
    paid bigint not null check (paid between 0 and asked), -- the part of it that was paid
    primary key (key, merchant_id)
);
create trigger loan_installment_version_append_only before update or delete on loan_installment_version
    for each statement execute function refuse_change();
create trigger loan_installment_version_no_truncate before truncate on loan_installment_version
    for each statement execute function refuse_change();
create index loan_installment_version_until on loan_installment_version (merchant_id, until);
alter table loan_installment add column versions bigint not null default 0 check (versions >= 0);
comment on column loan_installment.versions is 'number of its rows in loan_installment_version';

alter table loan add column provision bigint not null default 0 check (provision >= 0);
comment on column loan.provision is 'set aside for its loss: the balance of its account provision';

-- Who answers for a loan and where it was made: portfolios are counted by them.
alter table loan add column officer text not null default '';
comment on column loan.officer is 'who of the merchant''s people answers for it; empty if nobody was named';
alter table loan add column branch text not null default '';
comment on column loan.branch is 'the branch that made it; empty if none was named';

-- What lending moved in a period, and since.
create index posting_lending on posting (merchant_id, at)
    where starts_with(debit, 'lending:') or starts_with(credit, 'lending:');
