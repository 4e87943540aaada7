-- Loans: what was agreed, how it stands, and its instalments.

-- One loan. Its terms never change once it is asked for, the merchant's settings of that day among them. `number` is
-- its place in the merchant's list. `transfer` is the newest disbursement; `aged_to` the business day up to which
-- lateness has been reckoned. What the client owes is in the books, in accounts named after the loan.
create table loan (
    key bytea not null,
    merchant_id bigint not null,
    loan_id text not null,
    number bigint not null,
    client_id text not null,
    state text not null check (state in ('pending_approval', 'approved', 'disbursing', 'active', 'active_in_arrears',
        'closed_repaid', 'closed_rejected', 'closed_withdrawn', 'closed_written_off')),
    amount bigint not null check (amount > 0),
    rate text not null,
    frequency text not null
        check (frequency in ('annualized', 'every_month', 'every_four_weeks', 'every_week', 'every_day')),
    period bigint not null check (period > 0),
    method text not null check (method in ('declining_equal_instalments', 'equal_principal', 'flat')),
    tax_applied boolean not null,
    tax_rate text not null,
    tolerance_days bigint not null check (tolerance_days >= 0),
    penalty_rate text not null,
    transfer text,
    aged_to date,
    created_at timestamptz not null,
    disbursed_at timestamptz,
    closed_at timestamptz,
    trail json not null,
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index loan_number on loan (merchant_id, number);

-- One instalment: what it asks for and what was paid of it, part by part. Written when the loan is paid out.
-- `carry` is what rounding has left over of its penalty, in hundred-millionths of a kobo.
create table loan_line (
    key bytea not null,
    merchant_id bigint not null,
    loan_id text not null,
    n bigint not null check (n > 0),
    due date not null,
    principal bigint not null check (principal >= 0),
    interest bigint not null check (interest >= 0),
    tax bigint not null check (tax >= 0),
    penalty bigint not null check (penalty >= 0),
    paid_principal bigint not null check (paid_principal between 0 and principal),
    paid_interest bigint not null check (paid_interest between 0 and interest),
    paid_tax bigint not null check (paid_tax between 0 and tax),
    paid_penalty bigint not null check (paid_penalty between 0 and penalty),
    carry bigint not null,
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index loan_line_of on loan_line (merchant_id, loan_id, n);

-- A loan's statement is its postings: found by the loan's id, whichever of its accounts they are on. Postings of
-- anything else are not in these indexes and cost nothing more.
create index posting_loan_credit on posting (merchant_id, split_part(credit, ':', 2), seq)
    where starts_with(credit, 'loan_');
create index posting_loan_debit on posting (merchant_id, split_part(debit, ':', 2), seq)
    where starts_with(debit, 'loan_');
